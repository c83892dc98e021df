"""Correct answers to 01.sentiment_gradient in other styles than the solution's."""

import numpy as np
import torch
import torch.nn.functional as F


def gradient_by_autograd(sums, labels, weight, bias):
    w, b = weight.clone().requires_grad_(), bias.clone().requires_grad_()
    F.binary_cross_entropy(torch.sigmoid(sums @ w + b), labels).backward()
    return w.grad, b.grad


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
CORRECT = [
    *OWN,
    gradient_by_autograd,
    lambda s, y, w, b: [s.T @ (torch.sigmoid(s @ w + b) - y) / len(y), (torch.sigmoid(s @ w + b) - y).mean()],
    lambda s, y, w, b: (
        ((torch.sigmoid(s @ w + b) - y)[:, None] * s).mean(0),
        float((torch.sigmoid(s @ w + b) - y).mean()),
    ),
    gradient_by_numpy,
]
WORKED = [(([[2, 0], [0, 4]], [1, 0], [0, 0], 0), "-0.5 1 0")]
INPUTS = {"labels": lambda draw: (draw.numbers("B") > 0).float()}
