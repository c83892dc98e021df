"""Right answers to 03.causal_mask in other styles than the solution's: loops, einsum, built-ins, other names and precisions."""

import torch

RIGHT = [
    lambda size: torch.arange(size)[None] <= torch.arange(size)[:, None],
    lambda n: ~torch.triu(torch.ones(n, n), diagonal=1).bool(),
    lambda n: torch.tril(torch.ones(n, n)) == 1,
    lambda n: torch.tensor([[j <= i for j in range(n)] for i in range(n)]),
]
