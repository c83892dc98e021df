"""Correct answers to 17.backwards in other styles than the solution's."""

import torch


def waits_at_the_last_one(length, places):
    """Both go together; the read head waits at the delimiter and at the first step of the silence."""
    shifts = [(1, 1)] * length + [(0, 0)] * 2 + [(0, -1)] * (length - 1)
    return torch.stack([torch.eye(3)[torch.tensor(pair) + 1] for pair in shifts])


def step_by_step(length, places):
    back, wait, on = [1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]
    kernels = []
    for step in range(2 * length + 1):
        kernels.append([on, on] if step < length else [wait, wait] if step < length + 2 else [wait, back])
    return torch.tensor(kernels, dtype=torch.float64)


NONE_OF_ITS_OWN = "The heads' ways are found by thinking, and many are right."
CORRECT = [waits_at_the_last_one, step_by_step]
INPUTS = {"length": lambda draw: draw.randint(1, 8), "places": lambda draw: draw.randint(8, 30)}
