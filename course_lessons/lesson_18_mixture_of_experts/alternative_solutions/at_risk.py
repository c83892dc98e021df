"""Correct answers to 18.at_risk in other styles than the solution's."""

import torch


def by_the_sum(old, new):
    return torch.where(new.amax(0) > 0, old, 0.0).sum(1) > 0


NONE_OF_ITS_OWN = "PyTorch has no function that tells who depends on whom."
CORRECT = [by_the_sum, lambda old, new: ((old != 0).double() @ (new != 0).double().T > 0).any(1)]
INPUTS = {
    name: lambda draw, shape=shape: draw.probabilities(shape, zeros=0.6)
    for name, shape in (("old", "B×N"), ("new", "C×N"))
}
