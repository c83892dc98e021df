"""Right answers to 21.cache_bytes in other styles than the solution's: a tensor's size, a loop, a product of a list."""

import math

import torch


def by_a_tensor(layers, heads, groups, d, length, bytes):
    """A tensor of one number, spread out, takes no memory."""
    cache = torch.zeros((), dtype=torch.int8).expand(layers, 2, groups, length, d)
    return cache.numel() * bytes


def by_prod(layers, heads, groups, d, length, bytes):
    return math.prod([2, layers, groups, d, length, bytes])


def of_all_heads_shared(layers, heads, groups, d, length, bytes):
    without_groups = layers * 2 * heads * d * length * bytes
    return without_groups * groups // heads


def layer_by_layer(layers, heads, groups, d, length, bytes):
    total = 0
    for _ in range(layers):
        keys = groups * length * d
        values = groups * length * d
        total += (keys + values) * bytes
    return total


OWN = [by_a_tensor]
RIGHT = [
    *OWN,
    by_prod,
    of_all_heads_shared,
    # As beginners write them
    layer_by_layer,
]


def inputs(draw):
    groups = draw.randint(1, 5)
    return (
        draw.randint(1, 6),
        groups * draw.randint(1, 4),
        groups,
        draw.randint(1, 8),
        draw.randint(1, 40),
        draw.randint(1, 8),
    )
