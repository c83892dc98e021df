"""Right answers to 04.dot in other styles than the solution's: loops, einsum, built-ins, other names and precisions."""

import torch

RIGHT = [
    lambda s, h: torch.einsum("btd,bsd->bts", s, h),
    lambda s, h: torch.bmm(s, h.transpose(1, 2)),
    lambda s, h: (s.unsqueeze(2) * h.unsqueeze(1)).sum(-1),
    lambda s, h: torch.stack([torch.stack([torch.stack([a @ b for b in hs]) for a in ss]) for ss, hs in zip(s, h)]),  # noqa: B905
]
