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


def by_the_largest_difference(read, reference):
    """Each way of reading is compared as a whole: one tensor for all texts, and the largest of its differences."""
    texts, right = zip(*reference, strict=True)
    try:
        return all(
            float((torch.cat(read(list(texts), first)) - torch.cat(right)).abs().max()) < 1e-3 for first in (1, 6)
        )
    except (RuntimeError, ValueError, IndexError):
        return False


NONE_OF_ITS_OWN = "It tests the behaviour of a given model."
CORRECT = [by_numpy_and_every_first, backwards_and_in_pairs, by_the_largest_difference]
