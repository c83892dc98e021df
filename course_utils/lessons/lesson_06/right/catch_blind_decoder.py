"""Right answers to 06.catch_blind_decoder in other styles than the solution's: many draws, all changes in one batch, a table, questions."""

import numpy as np
import torch


def many_draws(decoder):
    """Other sizes at each draw, each sentence in an order of its own, and one pair of neighbours after another."""
    draw = torch.Generator().manual_seed(5)
    for B, T, S in ((2, 2, 4), (3, 3, 6), (1, 2, 3)):
        words, state, annotations = (torch.randn(*n, generator=draw) for n in ((B, T, 3), (B, 4), (B, S, 5)))
        mask = torch.rand(B, S, generator=draw) < 0.7
        mask[torch.arange(B), torch.arange(B) % S] = True
        rows = torch.arange(B)[:, None]
        try:
            before = decoder(words, state, annotations, mask)
            for b in range(B):
                places = mask[b].nonzero()[:, 0].tolist()
                for here, there in zip(places, [*places[1:], None], strict=True):
                    noise = torch.randn(5, generator=draw)
                    one, two = annotations.clone(), annotations.clone()
                    one[b, here] += noise
                    two[b, here] += noise
                    if there is not None:
                        two[b, there] -= noise
                    for other in (one, two):
                        apart = (decoder(words, state, other, mask) - before).abs().amax((1, 2))
                        if not apart[b] > 1e-5 or bool((apart[torch.arange(B) != b] > 1e-5).any()):
                            return False
            garbage = torch.where(mask[..., None], annotations, torch.full_like(annotations, torch.nan))
            order = torch.rand(B, S, generator=draw).argsort(1)
            same = [
                decoder(words, state, garbage, mask),
                decoder(words, state, annotations[rows, order], mask[rows, order]),
            ]
            if not all(torch.allclose(after, before, atol=1e-5, rtol=0) for after in same):
                return False
            for t in range(1, T):
                later = words.clone()
                later[:, t:] = torch.randn(B, T - t, 3, generator=draw)
                if not torch.allclose(decoder(later, state, annotations, mask)[:, :t], before[:, :t], atol=1e-5):
                    return False
        except Exception:
            return False
    return True


def all_changes_in_one_batch(decoder):
    """Copies of one sentence, each with another change, side by side; and once more beside other sentences."""
    g = torch.Generator().manual_seed(8)
    T, S = 2, 5
    word, state, annotation = (
        torch.randn(1, T, 3, generator=g),
        torch.randn(1, 4, generator=g),
        torch.randn(S, 5, generator=g),
    )
    mask, noise = torch.tensor([True, False, True, True, False]), torch.randn(5, generator=g)
    order = torch.tensor([4, 2, 3, 0, 1])
    moved = []
    for changes in ({0: 1}, {2: 1}, {3: 1}, {0: 1, 2: -1}, {2: 1, 3: -1}):
        moved.append(annotation.clone())
        for place, sign in changes.items():
            moved[-1][place] += sign * noise
    padded = annotation.clone()
    padded[~mask] = 3 * noise
    sentences = torch.stack([annotation, *moved, padded, annotation[order]])
    masks = torch.stack([mask] * 7 + [mask[order]])
    n = len(sentences)
    words = word.repeat(n, 1, 1)
    try:
        together = decoder(words, state.repeat(n, 1), sentences, masks)
        alone = torch.cat([decoder(word, state, a[None], m[None]) for a, m in zip(sentences, masks, strict=True)])
        beside = decoder(words[:2], state.repeat(2, 1), sentences[[0, 5]], torch.stack([mask, torch.ones(S).bool()]))
        later = decoder(torch.cat([word[:, :1], word[:, 1:] - 2], 1), state, annotation[None], mask[None])
    except Exception:
        return False
    apart = (alone - alone[:1]).abs().amax((1, 2))
    stays = [(together, alone), (beside[0], alone[0]), (later[:, 0], alone[:1, 0])]
    wants = torch.tensor([False] + [True] * 5 + [False] * 2)
    return torch.equal(apart > 1e-5, wants) and all(torch.allclose(a, b, atol=1e-5) for a, b in stays)


def a_table_of_changes(decoder):
    rng = np.random.default_rng(3)

    def normal(*shape):
        return torch.tensor(rng.normal(size=shape), dtype=torch.float32)

    inputs = {"words": normal(2, 3, 3), "state": normal(2, 4), "annotations": normal(2, 4, 5)}
    inputs["mask"] = torch.tensor([[True, True, False, True], [False, True, False, True]])
    added = {}
    for b, place in ((0, 0), (0, 1), (0, 3), (1, 1), (1, 3)):
        added[b, place] = torch.zeros(2, 4, 5)
        added[b, place][b, place] = normal(5)
    added["opposite"] = torch.zeros(2, 4, 5)
    added["opposite"][:, 1] = normal(5)
    added["opposite"][:, 3] = -added["opposite"][:, 1]
    table = [
        ({"annotations": inputs["annotations"] + more}, [key[0]] if key != "opposite" else [0, 1])
        for key, more in added.items()
    ]
    turned = [3, 1, 0, 2]
    table.append(({"annotations": inputs["annotations"][:, turned], "mask": inputs["mask"][:, turned]}, []))
    table.append(({"annotations": inputs["annotations"] * inputs["mask"][..., None]}, []))
    try:
        before = decoder(**inputs).numpy()
        for change, moves in table:
            after = decoder(**{**inputs, **change}).numpy()
            close = np.isclose(after, before, atol=1e-5, rtol=1e-5).all((1, 2))
            if close.tolist() != [b not in moves for b in range(2)]:
                return False
        for t in (1, 2):
            words = inputs["words"].clone()
            words[:, t] = -words[:, t]
            after = decoder(**{**inputs, "words": words}).numpy()
            np.testing.assert_allclose(after[:, :t], before[:, :t], atol=1e-5)
    except Exception:
        return False
    return True


def one_question_after_another(decoder):
    torch.manual_seed(1)
    words = torch.randn(2, 3, 3)
    state = torch.randn(2, 4)
    annotations = torch.randn(2, 6, 5)
    mask = torch.tensor([[True, True, False, True, False, False], [False, True, True, True, True, False]])

    def moved(a, b):
        return bool(((a - b).abs() > 1e-5).any())

    try:
        features = decoder(words, state, annotations, mask)
        # Does each annotation count, in its own sentence only?
        for b in range(2):
            for s in range(6):
                changed = annotations.clone()
                changed[b, s] = torch.randn(5)
                new = decoder(words, state, changed, mask)
                if moved(new[1 - b], features[1 - b]):
                    return False
                if moved(new[b], features[b]) != bool(mask[b, s]):
                    return False
        # Is it more than a mean?
        for b, first, second in [(0, 0, 1), (0, 1, 3), (1, 1, 2), (1, 3, 4)]:
            noise = torch.randn(5)
            changed = annotations.clone()
            changed[b, first] = changed[b, first] + noise
            changed[b, second] = changed[b, second] - noise
            if not moved(decoder(words, state, changed, mask)[b], features[b]):
                return False
        # Does the order matter?
        if moved(decoder(words, state, annotations.flip(1), mask.flip(1)), features):
            return False
        order = torch.randperm(6)
        if moved(decoder(words, state, annotations[:, order], mask[:, order]), features):
            return False
        # Does it see words to come?
        changed = words.clone()
        changed[:, 2] = torch.randn(2, 3)
        if moved(decoder(changed, state, annotations, mask)[:, :2], features[:, :2]):
            return False
    except Exception:
        return False
    return True


NONE_OF_ITS_OWN = "A decoder is tested by what moves when its inputs change."
RIGHT = [
    many_draws,
    all_changes_in_one_batch,
    a_table_of_changes,
    # As beginners write them
    one_question_after_another,
]
