"""Right answers to 01.sentiment in other styles than the solution's: loops, einsum, built-ins, other names and precisions."""

import torch
import torch.nn.functional as F


def sentiment_in_a_zero_buffer(sums, weight, bias):
    probabilities = torch.zeros(len(sums))
    for b in range(len(sums)):
        score = torch.dot(sums[b], weight) + bias
        probabilities[b] = torch.sigmoid(score)
    return probabilities


def sentiment_number_by_number(sums, weight, bias):
    result = []
    for row in sums:
        score = torch.tensor(0.0)
        for d in range(len(weight)):
            score += weight[d] * row[d]
        score = score + bias
        result.append(torch.sigmoid(score))
    return torch.stack(result)


def sentiment_with_own_sigmoid(sums, weight, bias):
    def sigmoid(z):
        return 1 / (1 + torch.exp(-z))

    scores = (sums * weight).sum(dim=1)
    return sigmoid(scores + bias)


def by_layers(sums, weight, bias):
    layers = torch.nn.Sequential(torch.nn.Linear(len(weight), 1), torch.nn.Sigmoid(), torch.nn.Flatten(0))
    return torch.func.functional_call(layers, {"0.weight": weight[None], "0.bias": bias[None]}, sums)


# PyTorch's own
OWN = [
    by_layers,
    lambda x, w, b: F.linear(x, w[None], b.reshape(1)).squeeze(-1).sigmoid(),
]
RIGHT = [
    *OWN,
    lambda sums, weight, bias: 1 / (1 + torch.exp(-(sums @ weight + bias))),
    lambda x, w, b: torch.stack([torch.sigmoid((row * w).sum() + b) for row in x]),
    lambda x, w, b: torch.exp(F.logsigmoid(torch.einsum("bd,d->b", x, w) + b)),
    lambda x, w, b: torch.stack([torch.zeros(len(x), dtype=x.dtype), x @ w + b]).softmax(0)[1],
    # As beginners write them
    sentiment_in_a_zero_buffer,
    sentiment_number_by_number,
    sentiment_with_own_sigmoid,
    # In odd styles
    lambda x, w, b: torch.special.expit(torch.addmv(b, x, w)),
    lambda x, w, b: torch.where(
        x @ w + b > 0, 1 / (1 + torch.exp(-(x @ w + b).abs())), 1 - 1 / (1 + torch.exp(-(x @ w + b).abs()))
    ),
    lambda x, w, b: 0.5 * (1 + torch.tanh(0.5 * (x @ w + b))),
    lambda *a: torch.sigmoid(sum([(a[0] * a[1]).sum(-1), a[2]])),
]
WORKED = [(([[2, 1], [3, 1]], [1, -3], 1), "0.5 0.7311")]
