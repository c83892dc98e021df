"""Right answers to 02.error_through_attention in other styles than the solution's: loops, einsum, built-ins, other names and precisions."""

import torch

RIGHT = [
    lambda w, e: torch.einsum("bs,bd->bsd", w, e),
    lambda w, e: w.unsqueeze(2) @ e.unsqueeze(1),
    lambda w, e: torch.stack([torch.outer(a, d) for a, d in zip(w, e)]),  # noqa: B905
    lambda w, e: torch.bmm(w[:, :, None], e[:, None, :]),
]
