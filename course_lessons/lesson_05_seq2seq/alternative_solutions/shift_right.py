"""Correct answers to 05.shift_right in other styles than the solution's."""

import numpy as np
import torch
import torch.nn.functional as F


def by_numpy(target, bos):
    return torch.from_numpy(np.insert(target.numpy(), 0, bos, axis=1)[:, :-1].copy())


OWN = [lambda target, bos: F.pad(target, (1, -1), value=bos)]
CORRECT = [*OWN, by_numpy]
