"""Right answers to 02.error_through_attention in other styles than the solution's: loops, einsum, built-ins, other names and precisions."""

import numpy as np
import torch


def error_in_a_zero_buffer(weights, error):
    B, S = weights.shape
    D = error.shape[1]
    result = torch.zeros(B, S, D)
    for b in range(B):
        for s in range(S):
            result[b, s] = weights[b, s] * error[b]
    return result


def error_number_by_number(weights, error):
    result = torch.zeros(weights.shape[0], weights.shape[1], error.shape[1])
    for b in range(result.shape[0]):
        for s in range(result.shape[1]):
            for d in range(result.shape[2]):
                result[b, s, d] += weights[b, s] * error[b, d]
    return result


def error_by_lists_of_rows(weights, error):
    sentences = []
    for b in range(len(weights)):
        words = []
        for weight in weights[b]:
            words.append(weight * error[b])
        sentences.append(torch.stack(words))
    return torch.stack(sentences)


def error_by_vjp(weights, error):
    words = torch.zeros(*weights.shape, error.shape[1], dtype=error.dtype)
    return torch.func.vjp(lambda x: (weights[..., None] * x).sum(1), words)[1](error)[0]


def error_by_jacobian(weights, error):
    words = torch.zeros(*weights.shape, error.shape[1], dtype=error.dtype)
    return torch.autograd.functional.jacobian(lambda x: ((weights[..., None] * x).sum(1) * error).sum(), words)


# PyTorch's own
OWN = [
    error_by_vjp,
    lambda w, e: torch.bmm(w[:, :, None], e[:, None, :]),
]
RIGHT = [
    *OWN,
    lambda w, e: torch.einsum("bs,bd->bsd", w, e),
    lambda w, e: w.unsqueeze(2) @ e.unsqueeze(1),
    lambda w, e: torch.stack([torch.outer(a, d) for a, d in zip(w, e)]),  # noqa: B905
    # As beginners write them
    error_in_a_zero_buffer,
    error_number_by_number,
    error_by_lists_of_rows,
    # In odd styles
    lambda w, e: torch.kron(w[0], e[0]).reshape(1, w.shape[1], -1) if len(w) == 1 else torch.einsum("bi,bj->bij", w, e),
    lambda w, e: torch.vmap(torch.outer)(w, e),
    lambda w, e: torch.from_numpy(np.einsum("bs,bd->bsd", w.numpy(), e.numpy())),
    error_by_jacobian,
]
WORKED = [(([[0.8, 0.2]], [[10, -5]]), "8 -4 2 -1")]
