"""Right answers to 04.perceptron in other styles than the solution's: loops, einsum, built-ins, other names and precisions."""

import torch
import torch.nn.functional as F

from course_utils.models import attention as reference

RIGHT = [
    lambda s, h, W, U, v: torch.tanh(F.linear(s, W).unsqueeze(2) + F.linear(h, U).unsqueeze(1)) @ v,
    lambda s, h, W, U, v: torch.einsum(
        "btsa,a->bts",
        torch.tanh(torch.einsum("btd,ad->bta", s, W)[:, :, None] + torch.einsum("bse,ae->bsa", h, U)[:, None]),
        v,
    ),
    lambda s, h, W, U, v: reference.additive(s, h, torch.cat([W, U], 1), v),
    lambda s, h, W, U, v: torch.stack(
        [torch.stack([torch.tanh(W @ a + hs @ U.T) @ v for a in ss]) for ss, hs in zip(s, h)]  # noqa: B905
    ),
]
