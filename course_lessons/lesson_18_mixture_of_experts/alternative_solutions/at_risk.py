"""Correct answers to 18.at_risk in other styles than the solution's."""

import torch


def by_the_sum(old, new):
    return torch.where(new.amax(0) > 0, old, 0.0).sum(1) > 0


def input_by_input(old, new):
    result = []
    for b in range(len(old)):
        risk = False
        for c in range(len(new)):
            for i in range(old.shape[1]):
                if old[b, i] != 0 and new[c, i] != 0:
                    risk = True
        result.append(risk)
    return torch.tensor(result)


NONE_OF_ITS_OWN = "PyTorch has no function that tells who depends on whom."
CORRECT = [
    by_the_sum,
    # As beginners write them
    input_by_input,
]
INPUTS = {
    name: lambda draw, shape=shape: draw.probabilities(shape, zeros=0.6)
    for name, shape in (("old", "B×N"), ("new", "C×N"))
}
