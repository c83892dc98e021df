"""Correct answers to 04.catch_wrong_scores in other styles than the solution's."""

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


def catch_score_by_assert_close(name, candidate):
    args = _score_inputs(name, (2, 3, 5, 7, 4, 6), 1)
    try:
        torch.testing.assert_close(candidate(*args), reference.SCORES[name](*args), rtol=1e-4, atol=1e-5)
    except (AssertionError, RuntimeError, IndexError, ValueError, TypeError):
        return False
    return True


def catch_score_by_the_largest_difference(name, candidate):
    args = _score_inputs(name, (2, 3, 5, 7, 11, 13), 0)
    try:
        right, received = reference.SCORES[name](*args), candidate(*args)
        return right.shape == received.shape and (right - received).abs().max() < 1e-5
    except Exception:
        return False


OWN = [catch_score_by_assert_close]
CORRECT = [*OWN, catch_score_by_the_largest_difference]
