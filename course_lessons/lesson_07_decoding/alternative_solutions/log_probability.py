"""Correct answers to 07.log_probability in other styles than the solution's."""

import torch
import torch.nn.functional as F

OWN = [lambda logits, target: -F.cross_entropy(logits, target, reduction="sum")]
CORRECT = [
    *OWN,
    lambda logits, target: torch.tensor(
        [log_p[word] for log_p, word in zip(logits.log_softmax(-1).tolist(), target.tolist(), strict=True)]
    ).sum(),
]
