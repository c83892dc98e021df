"""Correct answers to 11.relative_only in other styles than the solution's."""

import torch


def by_a_grid(score):
    g = torch.Generator().manual_seed(8)
    vectors = [(torch.randn(4, generator=g), torch.randn(4, generator=g)) for _ in range(4)]
    for query, key in vectors:
        for distance in (-41, -7, -2, 0, 1, 3, 20, 90):
            first = max(0, -distance)
            came = [float(score(query, key, s + distance, s)) for s in range(first, first + 140, 3)]
            if max(came) - min(came) > 4e-4:
                return False
    return True


def by_the_spread(score):
    torch.manual_seed(2)
    spreads = []
    for _ in range(60):
        query, key = torch.randn(4), torch.randn(4)
        p, s = torch.randint(0, 100, (2,)).tolist()
        moved = torch.stack(
            [torch.as_tensor(score(query, key, p + k, s + k)).float() for k in (0, 1, 5, 13, 70, 333, 800)]
        )
        spreads.append(moved.max() - moved.min())
    return bool(torch.stack(spreads).max() < 5e-4)


NONE_OF_ITS_OWN = "It tests the behaviour of a given score."
CORRECT = [by_a_grid, by_the_spread]
