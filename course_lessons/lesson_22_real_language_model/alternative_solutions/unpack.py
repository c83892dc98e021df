"""Correct answers to 22.unpack in other styles than the solution's."""

import torch


def byte_by_byte(scale, minimum, packed):
    rows = []
    for s, m, block in zip(scale, minimum, packed, strict=True):
        numbers = [int(byte) & 15 for byte in block] + [int(byte) >> 4 for byte in block]
        rows.append(torch.tensor([float(s) * number + float(m) for number in numbers]))
    return torch.stack(rows) if rows else torch.zeros(0, 32)


def by_linear_algebra(scale, minimum, packed):
    high = torch.div(packed, 16, rounding_mode="floor")
    numbers = torch.hstack([packed - 16 * high, high]).to(scale.dtype)
    return torch.addcmul(minimum[:, None], scale[:, None], numbers)


NONE_OF_ITS_OWN = "PyTorch has quantised tensors, and none of them keeps two numbers in a byte in this order."
CORRECT = [byte_by_byte, by_linear_algebra]
INPUTS = {"packed": lambda draw: draw.whole("N×16", 0, 256)}
WORKED = [(([0.5], [-4.0], [[47] + 15 * [0]]), " ".join(["3.5"] + 15 * ["-4"] + ["-3"] + 15 * ["-4"]))]
