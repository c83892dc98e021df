"""Correct answers to 13.cache_bytes in other styles than the solution's."""

import torch


def by_both_attentions(sentences, layers, width, heads, source, written, bytes_each):
    to_itself = 2 * sentences * written * width
    to_source = 2 * sentences * source * width
    return layers * (to_itself + to_source) * bytes_each


def by_the_tensors(sentences, layers, width, heads, source, written, bytes_each):
    total = 0
    for tokens in (source, written):
        keys = torch.empty(sentences, heads, tokens, width // heads, device="meta")
        total += 2 * layers * keys.numel() * bytes_each
    return total


def as_beginners_write(sentences, layers, width, heads, source, written, bytes_each):
    numbers = 0
    for _ in range(layers):
        for tokens in [source, written]:
            numbers += sentences * tokens * width  # keys
            numbers += sentences * tokens * width  # values
    return numbers * bytes_each


# PyTorch's own
OWN = [
    # PyTorch's own
    by_the_tensors,
]
CORRECT = [
    *OWN,
    by_both_attentions,
    as_beginners_write,
]


def inputs(draw):
    heads = draw.randint(1, 4)
    sizes = draw.randint(1, 5), draw.randint(1, 4), heads * draw.randint(1, 5), heads
    return *sizes, draw.randint(1, 30), draw.randint(0, 30), draw.choice([2, 4, 8])
