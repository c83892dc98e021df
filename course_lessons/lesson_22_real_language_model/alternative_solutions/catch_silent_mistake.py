"""Correct answers to 22.catch_silent_mistake in other styles than the solution's."""

import numpy as np
import torch


def by_numpy_and_every_first(read, reference):
    texts, right = zip(*reference, strict=True)
    try:
        for first in range(1, 13):
            for found, logits in zip(read(list(texts), first), right, strict=True):
                if not np.all(np.abs(found.numpy() - logits.numpy()) < 1e-3):
                    return False
    except Exception:
        return False
    return True


def backwards_and_in_pairs(read, reference):
    try:
        for a in reference[::-1]:
            for b in reference:
                for first in (1, 2, 5):
                    for (_, right), came in zip((a, b), read([a[0], b[0]], first), strict=True):
                        torch.testing.assert_close(came, right, atol=1e-4, rtol=0)
    except Exception:
        return False
    return True


def by_log_probabilities(read, reference):
    """What a model says is its distribution; the same logits up to a number for each id are also the same distribution."""
    texts, right = zip(*reference, strict=True)
    try:
        return all(
            ((came.log_softmax(-1) - logits.log_softmax(-1)).abs() < 1e-4).all().item()
            for first in (1, 6)
            for came, logits in zip(read(list(texts), first), right, strict=True)
        )
    except (RuntimeError, ValueError, IndexError):
        return False


NONE_OF_ITS_OWN = "It tests the behaviour of a given model."
CORRECT = [by_numpy_and_every_first, backwards_and_in_pairs, by_log_probabilities]
