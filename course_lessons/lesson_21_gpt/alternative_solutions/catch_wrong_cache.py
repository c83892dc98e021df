"""Correct answers to 21.catch_wrong_cache in other styles than the solution's."""

import numpy as np
import torch


def by_numpy(model):
    rng = np.random.default_rng(3)
    try:
        for B in (1, 4):
            ids = torch.tensor(rng.integers(0, 6, (B, 10)))
            whole = model(ids, None)[0].numpy()
            for cuts in ([1, 2, 3, 4, 5, 6, 7, 8, 9], [4, 5, 6], [2, 4, 9]):
                cache, found = None, []
                for piece in np.split(ids.numpy(), cuts, axis=1):
                    logits, cache = model(torch.tensor(piece), cache)
                    found.append(logits.numpy())
                if not np.abs(np.concatenate(found, 1) - whole).max() < 2e-5:
                    return False
            for b in range(B):
                if not np.all(np.abs(model(ids[b : b + 1], None)[0].numpy()[0] - whole[b]) < 2e-5):
                    return False
    except Exception:
        return False
    return True


def in_random_pieces(model):
    torch.manual_seed(5)
    try:
        for longest in (1, 2, 3, 4, 5, 6):
            ids = torch.randint(6, (torch.randint(1, 5, ()), 11))
            cache, start, found = None, 0, []
            while start < 11:
                end = start + int(torch.randint(1, longest + 1, ()))
                logits, cache = model(ids[:, start:end], cache)
                found.append(logits)
                start = end
            whole, alone = model(ids, None)[0], torch.cat([model(row.unsqueeze(0), None)[0] for row in ids])
            for other in (torch.hstack(found), alone):
                assert bool(((other - whole).abs() < 2e-5).all())
    except Exception:
        return False
    return True


NONE_OF_ITS_OWN = "It tests the behaviour of a given model."
CORRECT = [by_numpy, in_random_pieces]
