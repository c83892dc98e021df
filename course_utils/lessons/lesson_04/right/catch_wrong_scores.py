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


def catch_score_number_by_number(name, candidate):
    generator = torch.Generator().manual_seed(5)

    def numbers(*shape):
        return torch.randn(*shape, generator=generator)

    B, T, S, D, E, A = 2, 4, 3, 6, 5, 7
    state, hidden, same_width = numbers(B, T, D), numbers(B, S, E), numbers(B, S, D)
    state[1, 2] = 0
    same_width[0, 1] = 0
    inputs = {
        "dot": (state, same_width),
        "scaled_dot": (state, same_width),
        "content_based": (state, same_width),
        "location_based": (state, numbers(S, D)),
        "general": (state, hidden, numbers(D, E)),
        "concatenating": (state, hidden, numbers(D + E)),
        "additive": (state, hidden, numbers(A, D + E), numbers(A)),
        "perceptron": (state, hidden, numbers(A, D), numbers(A, E), numbers(A)),
    }
    right = reference.SCORES[name](*inputs[name])
    try:
        received = candidate(*[tensor.clone() for tensor in inputs[name]])
        if list(received.shape) != [B, T, S]:
            return False
        for b in range(B):
            for t in range(T):
                for s in range(S):
                    difference = abs(received[b, t, s].item() - right[b, t, s].item())
                    if not difference < 1e-4:
                        return False
    except Exception:
        return False
    return True


def catch_score_by_own_formulas(name, candidate):
    def cosine(s, h):
        if s.norm() == 0 or h.norm() == 0:
            return torch.tensor(0.0)
        return torch.dot(s, h) / (s.norm() * h.norm())

    formulas = {
        "dot": lambda s, h: torch.dot(s, h),
        "scaled_dot": lambda s, h: torch.dot(s, h) / np.sqrt(len(s)),
        "additive": lambda s, h, weight, v: torch.dot(v, torch.tanh(weight @ torch.cat([s, h]))),
        "general": lambda s, h, weight: torch.dot(s, weight @ h),
        "concatenating": lambda s, h, weight: torch.dot(weight, torch.cat([s, h])),
        "perceptron": lambda s, h, weight_s, weight_h, v: torch.dot(v, torch.tanh(weight_s @ s + weight_h @ h)),
        "content_based": cosine,
    }
    for sizes in [(3, 2, 4, 5, 6, 3), (2, 5, 3, 4, 2, 8)]:
        B, T, S = sizes[:3]
        torch.manual_seed(B)
        arguments = [torch.randn(shape) for shape in SHAPES[name](*sizes)]
        arguments[0][0, 0] = 0.0
        expected = torch.zeros(B, T, S)
        for b in range(B):
            for t in range(T):
                if name == "location_based":
                    expected[b, t] = torch.softmax(arguments[1] @ arguments[0][b, t], dim=0)
                    continue
                for i in range(S):
                    expected[b, t, i] = formulas[name](arguments[0][b, t], arguments[1][b, i], *arguments[2:])
        try:
            received = candidate(*arguments)
            if received.shape != expected.shape or not (received - expected).abs().max() < 1e-4:
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
RIGHT = [
    *OWN,
    catch_score_by_value,
    catch_score_by_numpy,
    # As beginners write them
    catch_score_by_a_chain_of_ifs,
    catch_score_number_by_number,
    catch_score_by_own_formulas,
    # In odd styles
    catch_score_by_comparing(),
    catch_score_by_comparing((3, 4, 5, 6, 7, 8), off=1e-4),
    lambda name, candidate: all(
        catch_score_by_comparing(n)(name, candidate) for n in ((2, 3, 5, 7, 11, 13), (2, 3, 5, 4, 4, 4))
    ),
    lambda name, candidate: torch.tensor([catch_score_by_comparing()(name, candidate)]).all(),
]
