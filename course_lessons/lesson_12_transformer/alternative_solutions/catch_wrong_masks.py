"""Correct answers to 12.catch_wrong_masks in other styles than the solution's."""

import numpy as np
import torch


def _batch(seed, source_lengths, target_lengths):
    g = torch.Generator().manual_seed(seed)
    pair = []
    for lengths in (source_lengths, target_lengths):
        rows = [torch.randint(1, 6, (n,), generator=g) for n in lengths]
        pair.append(torch.nn.utils.rnn.pad_sequence(rows, batch_first=True))
    return pair


def against_bare_sentences(model):
    """What each sentence gets alone, without padding, is the truth; then two more columns, and other words behind."""
    source, target = _batch(1, (4, 6, 2, 6), (5, 1, 3, 4))
    g = torch.Generator().manual_seed(2)
    try:
        wide = [torch.nn.functional.pad(ids, (0, 3)) for ids in (source, target)]
        for s, t in ((source, target), (wide[0], target), (source, wide[1]), wide):
            together = model(s, t)
            for b in range(4):
                bare_s, bare_t = source[b, source[b] > 0][None], target[b, target[b] > 0][None]
                alone = model(bare_s, bare_t)[0]
                torch.testing.assert_close(together[b, : len(alone)], alone, atol=2e-5, rtol=1e-4)
                for end in range(1, len(alone)):
                    other = bare_t.clone()
                    other[0, end:] = torch.randint(1, 6, (len(alone) - end,), generator=g)
                    if torch.equal(other, bare_t):
                        other[0, end:] = bare_t[0, end:] % 5 + 1
                    torch.testing.assert_close(model(bare_s, other)[0, :end], alone[:end], atol=2e-5, rtol=1e-4)
    except Exception:
        return False
    return True


def by_numpy(model):
    """Largest differences over several batches; the later words are changed in a whole batch at once."""
    rng = np.random.default_rng(4)
    largest = 0.0
    try:
        for seed in range(3):
            source, target = _batch(10 + seed, (3, 5, 1), (4, 2, 4))
            real = (target != 0).numpy()
            right = model(source, target).numpy()

            def apart(came, where, right=right):
                return np.abs(came.numpy()[:, : right.shape[1]] - right)[where].max()

            zeros = torch.zeros(3, 1 + seed, dtype=torch.long)
            found = [apart(model(torch.hstack([source, zeros]), target), real)]
            found.append(apart(model(source, torch.hstack([target, zeros])), real))
            for keep in ([2, 0], [1], [0, 1, 2, 0]):
                came = model(source[keep], target[keep]).numpy()
                found.append(np.abs(came - right[keep])[real[keep]].max())
            for t in range(3):
                other = target.numpy().copy()
                other[:, t + 1 :] = (other[:, t + 1 :] - 1 + rng.integers(1, 5, other[:, t + 1 :].shape)) % 5 + 1
                other[~real] = 0
                where = real & (np.arange(4) <= t)
                found.append(apart(model(source, torch.tensor(other)), where))
            largest = max(largest, *found) if not np.isnan(found).any() else np.nan
    except Exception:
        return False
    return bool(largest < 1e-4)


NONE_OF_ITS_OWN = "A model is tested by what moves when its inputs change."
CORRECT = [
    against_bare_sentences,
    by_numpy,
]
