"""Correct answers to 19.two_blocks in other styles than the solution's."""

import torch
import torch.nn.functional as F


def by_the_library(x, weight_f, weight_g, dilation, weight_q, weight_k, weight_v):
    padded = F.pad(x.mT, (dilation, 0))
    f, g = (F.conv1d(padded, weight, dilation=dilation).mT for weight in (weight_f, weight_g))
    dense = torch.cat([x, f.tanh() * g.sigmoid()], -1)
    read = F.scaled_dot_product_attention(dense @ weight_q, dense @ weight_k, dense @ weight_v, is_causal=True)
    return torch.cat([dense, read], -1)


def as_beginners_write(x, weight_f, weight_g, dilation, weight_q, weight_k, weight_v):
    rows, result = [], []
    for t in range(x.shape[1]):
        f, g = x[:, t] @ weight_f[:, :, 1].T, x[:, t] @ weight_g[:, :, 1].T
        if t - dilation >= 0:
            f = f + x[:, t - dilation] @ weight_f[:, :, 0].T
            g = g + x[:, t - dilation] @ weight_g[:, :, 0].T
        rows.append(torch.cat([x[:, t], torch.tanh(f) * torch.sigmoid(g)], dim=1))
    for t in range(len(rows)):
        scores = [((rows[t] @ weight_q) * (rows[s] @ weight_k)).sum(1) / weight_q.shape[1] ** 0.5 for s in range(t + 1)]
        weights = torch.softmax(torch.stack(scores), dim=0)
        read = sum(weights[s][:, None] * (rows[s] @ weight_v) for s in range(t + 1))
        result.append(torch.cat([rows[t], read], dim=1))
    return torch.stack(result, dim=1)


OWN = [by_the_library]
CORRECT = [*OWN, as_beginners_write]
INPUTS = {"dilation": lambda draw: draw.randint(1, 4)}
