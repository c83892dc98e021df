"""Correct answers to 06.catch_blind_decoder in other styles than the solution's."""

import numpy as np
import torch


def a_table_of_changes(decoder):
    """Of each change of the annotations, which of the two sentences it has to move."""
    rng = np.random.default_rng(3)
    shapes = (2, 3, 3), (2, 4), (2, 4, 5), (2, 4, 5)
    words, state, annotations, noise = (torch.tensor(rng.normal(size=n), dtype=torch.float32) for n in shapes)
    mask = torch.tensor([[True, True, False, True], [False, True, False, True]])
    turned = [3, 1, 0, 2]
    opposite = torch.zeros(2, 4, 5)
    opposite[:, 1], opposite[:, 3] = noise[:, 1], -noise[:, 1]
    table = [(annotations[:, turned], mask[:, turned], []), (annotations + opposite, mask, [0, 1])]
    for b, place in np.ndindex(2, 4):
        changed = annotations.clone()
        changed[b, place] = noise[b, place]
        table.append((changed, mask, [b] if mask[b, place] else []))
    try:
        before = decoder(words, state, annotations, mask).numpy()
        for changed, seen, moves in table:
            close = np.isclose(decoder(words, state, changed, seen).numpy(), before, atol=1e-5, rtol=1e-5).all((1, 2))
            if close.tolist() != [b not in moves for b in range(2)]:
                return False
        for t in (1, 2):
            changed = torch.where(torch.arange(3)[:, None] == t, -words, words)
            after = decoder(changed, state, annotations, mask).numpy()
            np.testing.assert_allclose(after[:, :t], before[:, :t], atol=1e-5)
    except Exception:
        return False
    return True


def one_question_after_another(decoder):
    torch.manual_seed(1)
    words, state, annotations = torch.randn(2, 3, 3), torch.randn(2, 4), torch.randn(2, 6, 5)
    mask = torch.tensor([[True, True, False, True, False, False], [False, True, True, True, True, False]])

    def moved(a, b):
        return bool(((a - b).abs() > 1e-5).any())

    try:
        features = decoder(words, state, annotations, mask)
        for b in range(2):
            for s in range(6):
                changed = annotations.clone()
                changed[b, s] = torch.randn(5)
                new = decoder(words, state, changed, mask)
                if moved(new[1 - b], features[1 - b]) or moved(new[b], features[b]) != bool(mask[b, s]):
                    return False
        for b, first, second in [(0, 0, 1), (0, 1, 3), (1, 1, 2), (1, 3, 4)]:  # what a mean does not see
            changed = annotations.clone()
            changed[b, [first, second]] += torch.randn(5) * torch.tensor([[1.0], [-1.0]])
            if not moved(decoder(words, state, changed, mask)[b], features[b]):
                return False
        order, later = torch.randperm(6), words.clone()
        later[:, 2] = torch.randn(2, 3)
        reordered = decoder(words, state, annotations[:, order], mask[:, order])
        return not (
            moved(reordered, features) or moved(decoder(later, state, annotations, mask)[:, :2], features[:, :2])
        )
    except Exception:
        return False


NONE_OF_ITS_OWN = "A decoder is tested by what moves when its inputs change."
CORRECT = [a_table_of_changes, one_question_after_another]
