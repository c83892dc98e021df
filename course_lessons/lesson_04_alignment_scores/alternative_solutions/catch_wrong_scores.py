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


def catch_score_by_a_chain_of_ifs(name, candidate):
    torch.manual_seed(0)
    for B, T, S, D, E, A in [(2, 3, 5, 7, 4, 6), (3, 4, 2, 5, 8, 3), (1, 1, 1, 1, 1, 1)]:
        state = torch.randn(B, T, D)
        hidden = torch.randn(B, S, E)
        if name == "dot" or name == "scaled_dot":
            arguments = [state, torch.randn(B, S, D)]
        elif name == "content_based":
            hidden = torch.randn(B, S, D)
            state[0, 0] = 0.0
            hidden[-1, -1] = 0.0
            arguments = [state, hidden]
        elif name == "additive":
            arguments = [state, hidden, torch.randn(A, D + E), torch.randn(A)]
        elif name == "general":
            arguments = [state, hidden, torch.randn(D, E)]
        elif name == "concatenating":
            arguments = [state, hidden, torch.randn(D + E)]
        elif name == "perceptron":
            arguments = [state, hidden, torch.randn(A, D), torch.randn(A, E), torch.randn(A)]
        else:
            arguments = [state, torch.randn(S, D)]
        right = reference.SCORES[name](*arguments)
        try:
            received = candidate(*arguments)
            if not isinstance(received, torch.Tensor):
                return False
            if received.shape != right.shape:
                return False
            if not torch.allclose(received, right, atol=1e-5, rtol=1e-4):
                return False
        except Exception:
            return False
    return True


def catch_score_by_comparing(sizes=(2, 3, 5, 7, 11, 13), off=1e-5):
    """A test with other sizes, or with more room for rounding."""

    def test(name, candidate):
        args = _score_inputs(name, sizes, 0)
        try:
            right, received = reference.SCORES[name](*args), candidate(*args)
            return right.shape == received.shape and bool((right - received).abs().max() < off)
        except Exception:
            return False

    return test


# PyTorch's own
OWN = [
    catch_score_by_assert_close,
]
CORRECT = [
    *OWN,
    # As beginners write them
    catch_score_by_a_chain_of_ifs,
    lambda name, candidate: torch.tensor([catch_score_by_comparing()(name, candidate)]).all(),
]
