"""Correct answers to 02.masked_softmax in other styles than the solution's."""

import torch

OWN = [lambda s, m: torch.masked.softmax(s, -1, mask=m).nan_to_num(0.0)]
CORRECT = [
    *OWN,
    lambda s, m: (
        s.masked_fill(~m, -torch.inf)
        - torch.where(m.any(-1, keepdim=True), s.masked_fill(~m, -torch.inf).logsumexp(-1, keepdim=True), 0)
    ).exp(),
]
WORKED = [(([2, 0, 5], [True, True, False]), "0.8808 0.1192 0"), (([2, 0, 5], [False, False, False]), "0 0 0")]
