"""Correct answers to 06.catch_blind_decoder in other styles than the solution's."""

import numpy as np
import torch


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
CORRECT = [
    a_table_of_changes,
    # As beginners write them
    one_question_after_another,
]
