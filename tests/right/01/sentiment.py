"""Right answers to 01.sentiment in other styles than the solution's: loops, einsum, built-ins, other names and precisions."""

import torch
import torch.nn.functional as F

RIGHT = [
    lambda sums, weight, bias: 1 / (1 + torch.exp(-(sums @ weight + bias))),
    lambda x, w, b: F.linear(x, w[None], b.reshape(1)).squeeze(-1).sigmoid(),
    lambda x, w, b: torch.stack([torch.sigmoid((row * w).sum() + b) for row in x]),
    lambda x, w, b: torch.exp(F.logsigmoid(torch.einsum("bd,d->b", x, w) + b)),
    lambda x, w, b: torch.stack([torch.zeros(len(x), dtype=x.dtype), x @ w + b]).softmax(0)[1],
]
