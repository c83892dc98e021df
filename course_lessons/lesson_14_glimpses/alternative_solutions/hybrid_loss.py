"""Correct answers to 14.hybrid_loss in other styles than the solution's."""

import torch
import torch.nn.functional as F


def by_library_losses(logits, label, log_probability, reward, baseline):
    repeated = reward.unsqueeze(1).repeat(1, baseline.shape[1])
    look = torch.sum(log_probability * (repeated - baseline.detach()), dim=1)
    return F.nll_loss(F.log_softmax(logits, dim=1), label) - torch.mean(look) + F.mse_loss(baseline, repeated)


def as_beginners_write(logits, label, log_probability, reward, baseline):
    B, T = log_probability.shape
    total = 0
    for b in range(B):
        total = total - torch.log_softmax(logits[b], 0)[label[b]] / B
        for t in range(T):
            difference = reward[b] - baseline[b, t]
            total = total - difference.detach() * log_probability[b, t] / B + difference**2 / (B * T)
    return total


OWN = [by_library_losses]
CORRECT = [*OWN, as_beginners_write]
INPUTS = {"label": lambda draw: draw.whole("B", 0, draw.size("V"))}
