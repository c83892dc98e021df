"""Correct answers to 22.to_neighbours in other styles than the solution's."""

import torch


def row_by_row(weight, heads):
    d = len(weight) // heads
    order = []
    for head in range(heads):
        for pair in range(d // 2):
            order += [head * d + pair, head * d + d // 2 + pair]
    return weight[order]


OWN = [
    lambda weight, heads: torch.nn.functional.channel_shuffle(weight.reshape(heads, -1, weight.shape[1], 1), 2).reshape(
        weight.shape
    )
]
CORRECT = [*OWN, row_by_row]


def inputs(draw):
    heads = draw.randint(1, 4)
    return torch.randn(heads * 2 * draw.randint(1, 4), draw.size("D"), generator=draw.generator), heads
