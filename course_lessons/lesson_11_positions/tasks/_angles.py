"""What the tasks on angles share: the frequencies, and the mistakes that they invite. No task is declared here."""

from math import log, pi

import torch

BASE = 10_000


def frequencies(width):
    """10,000^(-2i/D) for each pair i: D/2."""
    return BASE ** (-torch.arange(0, width, 2).double() / width)


def interleaved(even, odd):
    """One table of two: their columns in turn."""
    return torch.stack([even, odd], -1).flatten(-2)


def _up_to_the_base(right):
    """From 1 to 1/10,000, with both ends: i/(D/2 - 1) in the exponent."""
    return BASE ** (-torch.arange(len(right)).double() / max(len(right) - 1, 1))


def _without_brackets(right):
    """10000 ** 2 * i / D, as Python reads it, below p."""
    return torch.arange(len(right)).double() / BASE**2 / (2 * len(right))


WRONG = {  # by the name of a mistake: what takes the place of the right frequencies, and what to say of it
    "exponent_doubled_twice": (
        lambda right: right**2,
        "Your frequencies fall too fast: pair i has 10000^(−4i/D), the square of what it should have. In 10000^(−2i/D), the letter i counts pairs. A loop over columns in steps of 2 already has 2i, so do not double it again.",
    ),
    "exponent_halved": (
        lambda right: right**0.5,
        "Your frequencies fall too slowly: pair i has 10000^(−i/D), the square root of what it should have. If you count pairs, the exponent is −2i/D.",
    ),
    "all_frequencies_alike": (
        torch.ones_like,
        "All your pairs have a frequency of 1. Only the first pair should have it: for pair i, the frequency is 10000^(−2i/D). Does the exponent depend on i, and is it a fraction? In Python `//` would round it to a whole number.",
    ),
    "pairs_counted_from_1": (
        lambda right: right * BASE ** (-1 / len(right)),
        "You count the pairs from 1: each has the frequency of the next pair. Count them from 0, so that the first pair has a frequency of 1.",
    ),
    "base_1000": (lambda right: right**0.75, "The base of your frequencies is 1,000. It should be 10,000."),
    "base_of_a_decimal_logarithm": (
        lambda right: right ** (4 / log(BASE)),
        "The base of your frequencies is e⁴, which is about 55, instead of 10,000. This happens with exp(−4 · 2i/D), where the logarithm inside exp has base 10: exp needs the natural logarithm, `math.log`.",
    ),
    "up_to_the_base": (
        _up_to_the_base,
        "Your last pair has a frequency of 1/10,000 (unless it is the only pair), as if the exponent were divided by the number of pairs minus one. Some libraries do that. Here the exponent is −2i/D, so the last pair is faster.",
    ),
    "degrees": (
        lambda right: right * pi / 180,
        "You treat your angles as degrees. They are in radians, as `torch.sin` and `torch.cos` expect: leave out the factor π/180.",
    ),
    "without_brackets": (
        _without_brackets,
        "All your angles are almost 0. Did you leave out brackets? Python reads 10000 ** 2 * i / D as (10000²) · i / D, and a division by it runs from left to right. Write 10000 ** (2 * i / D).",
    ),
    "slowest_first": (
        lambda right: right.flip(0),
        "Your frequencies are in reverse order: the first pair is the slowest. The first pair should have a frequency of 1, and the last one should be the slowest.",
    ),
}


def frequency_mistakes(task):
    """Declare the mistakes of a task among whose steps are "the frequencies"."""
    for name, (wrong, sentence) in WRONG.items():
        task.changed(name, sentence, {"the frequencies": lambda *of, right, wrong=wrong: wrong(right(*of))})
