"""Right answers to 01.sentiment_gradient in other styles than the solution's: loops, einsum, built-ins, other names and precisions."""

import numpy as np
import torch
import torch.nn.functional as F


def gradient_by_loops(sums, labels, weight, bias):
    gw, gb = torch.zeros_like(weight), 0.0
    for x, y in zip(sums, labels, strict=True):
        p = torch.sigmoid(x @ weight + bias)
        gw += (p - y) * x / len(sums)
        gb += ((p - y) / len(sums)).item()
    return gw, gb


def gradient_by_autograd(sums, labels, weight, bias):
    w, b = weight.clone().requires_grad_(), bias.clone().requires_grad_()
    F.binary_cross_entropy(torch.sigmoid(sums @ w + b), labels).backward()
    return w.grad, b.grad


def gradient_in_zero_buffers(sums, labels, weight, bias):
    B, D = sums.shape
    weight_gradient = torch.zeros(D)
    bias_gradient = torch.tensor(0.0)
    for b in range(B):
        p = torch.sigmoid(torch.dot(weight, sums[b]) + bias)
        error = p - labels[b]
        for d in range(D):
            weight_gradient[d] += error * sums[b, d]
        bias_gradient += error
    return weight_gradient / B, bias_gradient / B


def gradient_by_lists_of_rows(sums, labels, weight, bias):
    gradients_of_weight = []
    gradients_of_bias = []
    for i in range(len(labels)):
        probability = torch.sigmoid((sums[i] * weight).sum() + bias)
        difference = probability - labels[i]
        gradients_of_weight.append(difference * sums[i])
        gradients_of_bias.append(difference)
    return torch.stack(gradients_of_weight).mean(dim=0), torch.stack(gradients_of_bias).mean()


def gradient_by_numpy(sums, labels, weight, bias):
    x, y = sums.numpy(), labels.numpy()
    z = np.dot(x, weight.numpy()) + bias.numpy()
    with np.errstate(over="ignore"):
        p = 1 / (1 + np.exp(-z))
    gradient = np.zeros(x.shape[1])
    for i in range(len(x)):
        gradient += (p[i] - y[i]) * x[i]
    gradient = gradient / len(x)
    return torch.tensor(gradient).float(), torch.tensor(np.mean(p - y)).float()


def gradient(x, y, w, b):
    e = (torch.sigmoid(x @ w + b) - y) / len(y)
    return e @ x, e.sum()


# PyTorch's own
OWN = [
    lambda x, y, w, b: torch.func.grad(lambda w, b: F.binary_cross_entropy_with_logits(x @ w + b, y), (0, 1))(w, b),
]
RIGHT = [
    *OWN,
    gradient_by_loops,
    gradient_by_autograd,
    lambda s, y, w, b: [s.T @ (torch.sigmoid(s @ w + b) - y) / len(y), (torch.sigmoid(s @ w + b) - y).mean()],
    lambda s, y, w, b: (
        ((torch.sigmoid(s @ w + b) - y)[:, None] * s).mean(0),
        float((torch.sigmoid(s @ w + b) - y).mean()),
    ),
    # As beginners write them
    gradient_in_zero_buffers,
    gradient_by_lists_of_rows,
    gradient_by_numpy,
    # In odd styles
    lambda x, y, w, b: (gradient(x, y, w, b)[0], gradient(x, y, w, b)[1].item()),
    lambda x, y, w, b: (gradient(x, y, w, b)[0], gradient(x, y, w, b)[1][None]),  # a number in a tensor of one
    lambda x, y, w, b: (gradient(x, y, w, b)[0], gradient(x, y, w, b)[1].numpy()[()]),
    lambda x, y, w, b: tuple(p.to(x.dtype) for p in gradient(x.double(), y.double(), w.double(), b.double())),
    lambda x, y, w, b: (lambda g: (g[:-1], g[-1]))(
        F.pad(x, (0, 1), value=1.0).T @ (torch.sigmoid(x @ w + b) - y) / len(y)
    ),
]
WORKED = [(([[2, 0], [0, 4]], [1, 0], [0, 0], 0), "-0.5 1 0")]
INPUTS = {"labels": lambda draw: (draw.numbers("B") > 0).float()}
