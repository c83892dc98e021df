"""Correct answers to 15.pointing_accuracy in other styles than the solution's."""

import torch


def real_words_first(weights, true, mask):
    hits = weights[mask].argmax(1) == true[mask]
    return hits.double().mean() if len(hits) else 0


def by_masked_mean(weights, true, mask):
    """The mean of no words is NaN."""
    return torch.masked.mean((weights.argmax(-1) == true).double(), mask=mask).nan_to_num()


OWN = [by_masked_mean]
CORRECT = [*OWN, real_words_first]
INPUTS = {"true": lambda draw: draw.whole("B×T", 0, draw.size("L"))}
