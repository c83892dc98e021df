"""Right answers to 00.weighted_sum in other styles than the solution's: loops, einsum, built-ins, other names and precisions."""

import torch


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


RIGHT = [
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
]
WORKED = [(([2, 3], [[1, 0], [4, 5]]), "14 15")]
