"""Correct answers to 22.to_neighbours in other styles than the solution's."""

import torch


def row_by_row(weight, heads):
    d = len(weight) // heads
    order = []
    for head in range(heads):
        for pair in range(d // 2):
            order += [head * d + pair, head * d + d // 2 + pair]
    return weight[order]


def by_stacking(weight, heads):
    parts = []
    for head in weight.chunk(heads):
        first, second = head.chunk(2)
        parts.append(torch.stack([first, second], dim=1).reshape(head.shape))
    return torch.cat(parts)


def by_slices(weight, heads):
    new = torch.empty_like(weight).reshape(heads, -1, weight.shape[1])
    old = weight.reshape(new.shape)
    half = old.shape[1] // 2
    new[:, 0::2], new[:, 1::2] = old[:, :half], old[:, half:]
    return new.reshape(weight.shape)


OWN = [
    lambda weight, heads: torch.nn.functional.channel_shuffle(weight.reshape(heads, -1, weight.shape[1], 1), 2).reshape(
        weight.shape
    )
]
CORRECT = [*OWN, row_by_row, by_stacking, by_slices]


def inputs(draw):
    heads = draw.randint(1, 4)
    return torch.randn(heads * 2 * draw.randint(1, 4), draw.size("D"), generator=draw.generator), heads
