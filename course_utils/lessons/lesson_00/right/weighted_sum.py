"""Right answers to 00.weighted_sum in other styles than the solution's: loops, einsum, built-ins, other names and precisions."""

import functools

import numpy as np
import torch
import torch.nn.functional as F


def by_loop(w, v):
    total = torch.zeros_like(v[0])
    for i in range(len(w)):
        total = total + w[i] * v[i]
    return total


def by_einsum(w, v):
    return torch.einsum("s,sd->d", w, v)


def total_in_a_zero_buffer(weights, values):
    total = torch.zeros(values.shape[1])
    for s in range(len(weights)):
        total += weights[s] * values[s]
    return total


def every_number_by_index(weights, values):
    S, D = values.shape
    result = torch.zeros(D)
    for s in range(S):
        for d in range(D):
            result[d] += weights[s] * values[s, d]
    return result


def list_of_numbers_stacked(weights, values):
    numbers = []
    for d in range(values.shape[1]):
        number = torch.tensor(0.0)
        for s in range(values.shape[0]):
            number = number + weights[s] * values[s][d]
        numbers.append(number)
    return torch.stack(numbers)


def products_in_a_buffer_then_summed(weights, values):
    products = torch.zeros(values.shape)
    for i in range(len(values)):
        products[i] = weights[i] * values[i]
    return torch.sum(products, dim=0)


def recursive_sum(weights, values):
    return (
        weights[0] * values[0] + recursive_sum(weights[1:], values[1:])
        if len(weights)
        else torch.zeros_like(values.sum(0))
    )


def sum_in_place(weights, values):
    values = values.clone()
    values *= weights.unsqueeze(1)
    print("after weighting:", values)
    return values.sum(dim=0)


def generated(weights, values):
    return torch.stack(tuple((weights * column).sum() for column in values.unbind(1)))


# PyTorch's own
OWN = [
    torch.matmul,
    lambda w, v: F.embedding_bag(torch.arange(len(w))[None], v, per_sample_weights=w[None], mode="sum")[0],
]
RIGHT = [
    *OWN,
    by_loop,
    by_einsum,
    lambda weights, values: (weights[:, None] * values).sum(0),
    lambda a, b: torch.mv(b.T, a),
    lambda weights, values: sum(w * v for w, v in zip(weights, values)),  # noqa: B905
    lambda w, v: torch.from_numpy(w.numpy() @ v.numpy()),
    lambda w, v: (w.double() @ v.double()).to(v.dtype),
    # As beginners write them
    total_in_a_zero_buffer,
    every_number_by_index,
    list_of_numbers_stacked,
    products_in_a_buffer_then_summed,
    # In odd styles
    lambda w, v: w.float() @ v.float(),
    lambda w, v: torch.tensor((w @ v).tolist()),  # float64 becomes float32
    recursive_sum,
    sum_in_place,
    generated,
    functools.partial(torch.einsum, "i,ij->j"),
    functools.partial(torch.tensordot, dims=1),
    lambda *args: torch.vmap(torch.mul)(*args).sum(0),
    lambda w, v: torch.linalg.multi_dot([w, v]),
    lambda w, v: F.linear(w, v.T),
    lambda w, v: torch.as_tensor(np.average(v.numpy(), axis=0, weights=np.ones(len(w))) * 0 + w.numpy() @ v.numpy()),
    lambda w, v: (torch.diag(w) @ v).sum(0),
    lambda w, v: functools.reduce(torch.add, map(torch.mul, w, v)),
    lambda w, v: torch.sparse.mm(v.T.to_sparse(), w[:, None]).squeeze(1),
]
WORKED = [(([2, 3], [[1, 0], [4, 5]]), "14 15")]
