"""Correct answers to 16.catch_cheating_memory in other styles than the solution's."""

import torch


def many_draws(model):
    """Other sizes at each draw, and each thing replaced by another one."""
    draw = torch.Generator().manual_seed(5)
    for B, M, counts in ((2, 10, [9, 4]), (3, 9, [7, 2, 8])):
        question, other_question = torch.randn(2, B, 4, generator=draw)
        facts, others = torch.randn(2, B, M, 4, generator=draw)
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


def one_question_after_another(model):
    torch.manual_seed(1)
    question, facts, mask = torch.randn(2, 4), torch.randn(2, 11, 4), torch.zeros(2, 11, dtype=torch.bool)
    mask[0, :9] = True
    mask[1, :5] = True

    def different(a, b):
        return bool(((a - b).abs() > 1e-5).any())

    try:
        first = model(question, facts, mask)
        for b in range(2):
            new_question = question.clone()
            new_question[b] = torch.randn(4)
            if not different(model(new_question, facts, mask)[b], first[b]):
                return False
            for m in range(11):
                new_facts = facts.clone()
                new_facts[b, m] = torch.randn(4)
                new = model(question, new_facts, mask)
                if not different(new[b], first[b]) if mask[b, m] else different(new, first):
                    return False
    except Exception:
        return False
    return True


NONE_OF_ITS_OWN = "A model is tested by what moves when its inputs change."
CORRECT = [many_draws, one_question_after_another]
