"""Right answers to 04.location_based in other styles than the solution's: loops, einsum, built-ins, other names and precisions."""

import torch
import torch.nn.functional as F

RIGHT = [
    lambda s, W: F.softmax(F.linear(s, W), dim=2),
    lambda s, W: torch.einsum("btd,sd->bts", s, W).log_softmax(-1).exp(),
    lambda s, W: torch.stack([torch.stack([torch.softmax(W @ a, 0) for a in ss]) for ss in s]),
]
