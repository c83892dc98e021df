"""Right answers to 04.catch_wrong_scores in other styles than the solution's: loops, einsum, built-ins, other names and precisions."""

import numpy as np
import torch

from course_utils.models import attention as reference

SHAPES = {
    "dot": lambda B, T, S, D, E, A: ((B, T, D), (B, S, D)),
    "scaled_dot": lambda B, T, S, D, E, A: ((B, T, D), (B, S, D)),
    "additive": lambda B, T, S, D, E, A: ((B, T, D), (B, S, E), (A, D + E), (A,)),
    "general": lambda B, T, S, D, E, A: ((B, T, D), (B, S, E), (D, E)),
    "concatenating": lambda B, T, S, D, E, A: ((B, T, D), (B, S, E), (D + E,)),
    "perceptron": lambda B, T, S, D, E, A: ((B, T, D), (B, S, E), (A, D), (A, E), (A,)),
    "content_based": lambda B, T, S, D, E, A: ((B, T, D), (B, S, D)),
    "location_based": lambda B, T, S, D, E, A: ((B, T, D), (S, D)),
}


def _score_inputs(name, sizes, seed):
    g = torch.Generator().manual_seed(seed)
    args = [torch.randn(shape, generator=g) for shape in SHAPES[name](*sizes)]
    args[0][0, 1] = 0
    return args


def catch_score_by_value(name, candidate):
    for sizes in ((2, 3, 4, 5, 6, 7), (3, 2, 5, 4, 3, 2)):
        args = _score_inputs(name, sizes, 0)
        try:
            received = candidate(*args)
        except Exception:
            return False
        expected = reference.SCORES[name](*args)
        if received.shape != expected.shape or not torch.allclose(received, expected, atol=1e-4):
            return False
    return True


def catch_score_by_assert_close(name, candidate):
    args = _score_inputs(name, (2, 3, 5, 7, 4, 6), 1)
    try:
        torch.testing.assert_close(candidate(*args), reference.SCORES[name](*args), rtol=1e-4, atol=1e-5)
    except (AssertionError, RuntimeError, IndexError, ValueError, TypeError):
        return False
    return True


def catch_score_by_numpy(which, function):
    args = _score_inputs(which, (4, 3, 2, 5, 3, 8), 2)
    try:
        got, want = function(*args).numpy(), reference.SCORES[which](*args).numpy()
        return got.shape == want.shape and np.allclose(got, want, atol=1e-4)
    except Exception:
        return False


RIGHT = [
    catch_score_by_value,
    catch_score_by_assert_close,
    catch_score_by_numpy,
]
