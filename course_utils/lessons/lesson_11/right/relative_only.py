"""Right answers to 11.relative_only in other styles than the solution's: a grid, the spread over moves, NumPy, loops."""

import numpy as np
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


def by_numpy(score):
    rng = np.random.default_rng(0)

    def moved(_):
        query, key = (torch.tensor(rng.normal(size=4), dtype=torch.float32) for _ in range(2))
        p, s, k = (int(n) for n in rng.integers(0, 330, 3))
        return abs(float(score(query, key, p, s)) - float(score(query, key, p + k, s + k)))

    return all(moved(i) < 3e-4 for i in range(300))


def with_a_flag(score):
    """Compares with the pair moved back until one of the two is at 0."""
    torch.manual_seed(0)
    relative = True
    for _ in range(200):
        q = torch.randn(4)
        k = torch.randn(4)
        p = int(torch.randint(0, 500, (1,)))
        s = int(torch.randint(0, 500, (1,)))
        low = min(p, s)
        if abs(score(q, k, p, s) - score(q, k, p - low, s - low)) > 5e-4:
            relative = False
    return relative


NONE_OF_ITS_OWN = "It tests the behaviour of a given score."
RIGHT = [by_a_grid, by_the_spread, by_numpy, with_a_flag]
