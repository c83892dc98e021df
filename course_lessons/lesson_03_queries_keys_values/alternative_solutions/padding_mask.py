"""Correct answers to 03.padding_mask in other styles than the solution's."""

import torch

OWN = [
    lambda n, size: torch.nn.utils.rnn.pad_sequence(
        [*(torch.ones(k, dtype=torch.bool) for k in n.tolist()), torch.ones(size) > 0], batch_first=True
    )[:-1]
]
CORRECT = [
    *OWN,
    lambda lengths, size: torch.arange(size).expand(len(lengths), size) < lengths.unsqueeze(1),
    lambda lengths, size, *, device=None: torch.arange(size, device=device).lt(lengths.view(-1, 1)),
]
