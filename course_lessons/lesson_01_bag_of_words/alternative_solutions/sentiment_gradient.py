"""Correct answers to 01.sentiment_gradient in other styles than the solution's."""

import torch
import torch.nn.functional as F


def gradient_by_autograd(sums, labels, weight, bias):
    w, b = weight.clone().requires_grad_(), bias.clone().requires_grad_()
    F.binary_cross_entropy(torch.sigmoid(sums @ w + b), labels).backward()
    return w.grad, b.grad


OWN = [lambda x, y, w, b: torch.func.grad(lambda w, b: F.binary_cross_entropy_with_logits(x @ w + b, y), (0, 1))(w, b)]
CORRECT = [
    *OWN,
    gradient_by_autograd,
    lambda s, y, w, b: [s.T @ (torch.sigmoid(s @ w + b) - y) / len(y), float((torch.sigmoid(s @ w + b) - y).mean())],
]
WORKED = [(([[2, 0], [0, 4]], [1, 0], [0, 0], 0), "-0.5 1 0")]
INPUTS = {"labels": lambda draw: (draw.numbers("B") > 0).float()}
