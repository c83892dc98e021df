"""Correct answers to 12.catch_wrong_masks in other styles than the solution's."""

import functools

import numpy as np
import torch
import torch.nn.functional as F


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
    close = functools.partial(torch.testing.assert_close, atol=2e-5, rtol=1e-4)
    try:
        for more_source, more_target in ((0, 0), (3, 0), (0, 3), (3, 3)):
            together = model(F.pad(source, (0, more_source)), F.pad(target, (0, more_target)))
            for b in range(4):
                bare_s, bare_t = source[b, source[b] > 0][None], target[b, target[b] > 0][None]
                alone = model(bare_s, bare_t)[0]
                close(together[b, : len(alone)], alone)
                for end in range(1, len(alone)):
                    other = torch.where(torch.arange(len(alone)) < end, bare_t, bare_t % 5 + 1)
                    close(model(bare_s, other)[0, :end], alone[:end])
    except Exception:
        return False
    return True


def by_numpy(model):
    """Differences over several batches; the later words are changed in a whole batch at once."""
    try:
        for seed in range(3):
            source, target = _batch(10 + seed, (3, 5, 1), (4, 2, 4))
            real, zeros = target.numpy() != 0, torch.zeros(3, 1 + seed, dtype=torch.long)
            right = model(source, target).numpy()

            def assert_same(came, where=real, rows=(0, 1, 2), right=right):
                rows = list(rows)
                np.testing.assert_allclose(
                    came.numpy()[:, :4][where[rows]], right[rows][where[rows]], atol=1e-4, equal_nan=False
                )

            assert_same(model(torch.hstack([source, zeros]), target))
            assert_same(model(source, torch.hstack([target, zeros])))
            for rows in ([2, 0], [1], [0, 1, 2, 0]):
                assert_same(model(source[rows], target[rows]), rows=rows)
            for t in range(3):
                other = torch.where((torch.arange(4) > t) & (target > 0), target % 5 + 1, target)
                assert_same(model(source, other), real & (np.arange(4) <= t))
    except Exception:
        return False
    return True


NONE_OF_ITS_OWN = "A model is tested by what moves when its inputs change."
CORRECT = [against_bare_sentences, by_numpy]
