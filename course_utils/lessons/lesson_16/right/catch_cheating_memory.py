"""Right answers to 16.catch_cheating_memory in other styles than the solution's: many draws, one batch, NumPy, questions."""

import numpy as np
import torch


def many_draws(model):
    """Other sizes at each draw, and each thing replaced by another one."""
    draw = torch.Generator().manual_seed(5)
    for B, M, counts in ((2, 10, [9, 4]), (3, 9, [7, 2, 8])):
        shapes = (B, 4), (B, M, 4), (B, 4), (B, M, 4)
        question, facts, other_question, others = (torch.randn(*shape, generator=draw) for shape in shapes)
        mask = torch.arange(M) < torch.tensor(counts)[:, None]
        try:
            before = model(question, facts, mask)
            for b in range(B):
                asked = torch.where((torch.arange(B) == b)[:, None], other_question, question)
                if not (model(asked, facts, mask) - before)[b].abs().max() > 3e-5:
                    return False
                for m in range(M):
                    changed = facts.clone()
                    changed[b, m] = others[b, m]
                    off = (model(question, changed, mask) - before).abs()
                    if not (off[b].max() > 3e-5 if mask[b, m] else off.max() < 1e-5):
                        return False
        except Exception:
            return False
    return True


def all_changes_in_one_batch(model):
    """Copies of one story side by side, each with one thing changed; another story and question stand first and last."""
    g = torch.Generator().manual_seed(8)
    n, M = 8, 10
    asked, story, noise = torch.randn(4, generator=g), torch.randn(M, 4, generator=g), torch.randn(4, generator=g)
    others, other_asked = torch.randn(1, M, 4, generator=g), torch.randn(1, 4, generator=g)
    changes = torch.cat([torch.zeros(2, M), torch.eye(M)])  # the first as it is, the second with another question
    stories = torch.cat([others, story + changes[:, :, None] * noise, others])
    questions = asked + (torch.arange(M + 2) == 1)[:, None] * noise
    questions = torch.cat([other_asked, questions, other_asked])
    mask = torch.arange(M) < torch.tensor([3, *[n] * (M + 2), 9])[:, None]
    try:
        came = model(questions, stories, mask)
        alone = torch.cat([model(*(part[i : i + 1] for part in (questions, stories, mask))) for i in range(M + 4)])
    except Exception:
        return False
    moved = (came[1:-1] - came[1]).abs().amax(1)
    read, heard, left = moved[2 : 2 + n], moved[1], moved[2 + n :]
    return bool((read > 1e-5).all() and heard > 1e-5 and (left < 1e-5).all()) and torch.allclose(came, alone, atol=1e-5)


def by_numpy(model):
    rng = np.random.default_rng(2)
    counts = [3, 9, 7]

    def run(question, facts):
        mask = torch.tensor(np.arange(12)[None] < np.array(counts)[:, None])
        return model(
            torch.tensor(question, dtype=torch.float32), torch.tensor(facts, dtype=torch.float32), mask
        ).numpy()

    question, facts = rng.normal(size=(3, 4)), rng.normal(size=(3, 12, 4))
    try:
        before = run(question, facts)
        for b, m in np.ndindex(3, 12):
            changed = facts.copy()
            changed[b, m] -= rng.normal(size=4)
            after = run(question, changed)
            if np.allclose(after[b], before[b], atol=1e-5) == (m < counts[b]):
                return False
            if m >= counts[b] and not np.allclose(after, before, atol=1e-5):
                return False
        for b in range(3):
            changed = question.copy()
            changed[b] += rng.normal(size=4)
            if np.allclose(run(changed, facts)[b], before[b], atol=1e-5):
                return False
    except Exception:
        return False
    return True


def one_question_after_another(model):
    torch.manual_seed(1)
    question = torch.randn(2, 4)
    facts = torch.randn(2, 11, 4)
    mask = torch.zeros(2, 11, dtype=torch.bool)
    mask[0, :9] = True
    mask[1, :5] = True

    def different(a, b):
        return bool(((a - b).abs() > 1e-5).any())

    try:
        first = model(question, facts, mask)
        # Does it hear each question?
        for b in range(2):
            new_question = question.clone()
            new_question[b] = torch.randn(4)
            if not different(model(new_question, facts, mask)[b], first[b]):
                return False
        # Does it read each fact, and no padding?
        for b in range(2):
            for m in range(11):
                new_facts = facts.clone()
                new_facts[b, m] = torch.randn(4)
                new = model(question, new_facts, mask)
                if mask[b, m] and not different(new[b], first[b]):
                    return False
                if not mask[b, m] and different(new, first):
                    return False
    except Exception:
        return False
    return True


def with_large_padding(model):
    """Padding is exchanged all at once, for numbers near 1000."""
    draw = torch.Generator().manual_seed(2)
    question, facts, mask = (
        torch.randn(3, 4, generator=draw),
        torch.randn(3, 9, 4, generator=draw),
        torch.zeros(3, 9) > 0,
    )
    mask[0, :7], mask[1, :8], mask[2, :2] = True, True, True
    try:
        before = model(question, facts, mask)
        for size in (1, 1000):
            other = torch.where(mask[..., None], facts, size * torch.randn(3, 9, 4, generator=draw))
            if not torch.allclose(model(question, other, mask), before, atol=1e-5):
                return False
        for b in range(3):
            changed = question.clone()
            changed[b] = torch.randn(4, generator=draw)
            if torch.allclose(model(changed, facts, mask)[b], before[b], atol=1e-5):
                return False
            for m in mask[b].nonzero()[:, 0]:
                changed = facts.clone()
                changed[b, m] = torch.randn(4, generator=draw)
                if torch.allclose(model(question, changed, mask)[b], before[b], atol=1e-5):
                    return False
    except Exception:
        return False
    return True


NONE_OF_ITS_OWN = "A model is tested by what moves when its inputs change."
RIGHT = [
    many_draws,
    with_large_padding,
    all_changes_in_one_batch,
    by_numpy,
    # As beginners write them
    one_question_after_another,
]
