"""What the tasks on angles share: the frequencies, right and as they often come out, and inputs. No task is declared here."""

from math import pi

import torch

BASE = 10_000


def frequencies(width, base=BASE):
    """base^(-2i/D) for each pair i: D/2."""
    return base ** (-torch.arange(0, width, 2).double() / width)


def doubled_twice(width):
    return BASE ** (-2 * torch.arange(0, width, 2).double() / width)


def halved(width):
    return BASE ** (-torch.arange(width // 2).double() / width)


def all_alike(width):
    return torch.ones(width // 2, dtype=torch.float64)


def counted_from_1(width):
    return BASE ** (-torch.arange(2, width + 1, 2).double() / width)


def base_1000(width):
    return frequencies(width, 1000)


def base_of_a_decimal_logarithm(width):
    """exp(-log10(10,000) · 2i/D), where the natural logarithm belongs."""
    return torch.exp(-4 * torch.arange(0, width, 2).double() / width)


def up_to_the_base(width):
    """From 1 to 1/base, with both ends: i/(D/2 - 1) in the exponent."""
    return BASE ** (-torch.arange(width // 2).double() / max(width // 2 - 1, 1))


def slowest_first(width):
    return frequencies(width).flip(0)


def degrees(width):
    return frequencies(width) * pi / 180


def without_brackets(width):
    """10000 ** 2 * i / D, as Python reads it, below p."""
    return torch.arange(width // 2).double() / BASE**2 / width


WRONG = {  # by the name of a mistake: frequencies of the pairs, and what to say of them
    "exponent_doubled_twice": (
        doubled_twice,
        "Your frequencies fall too fast: the pair i has 10000^(−4i/D), the square of what it should have. In 10000^(−2i/D) the letter i counts pairs. A loop over columns in steps of 2 has 2i already, so do not double it once more.",
    ),
    "exponent_halved": (
        halved,
        "Your frequencies fall too slowly: the pair i has 10000^(−i/D), the root of what it should have. If you count pairs, the exponent is −2i/D.",
    ),
    "all_frequencies_alike": (
        all_alike,
        "All of your pairs have the frequency 1. Only the first pair has: for pair i it is 10000^(−2i/D). Does the exponent depend on i, and is it a fraction? In Python `//` would round it to a whole number.",
    ),
    "pairs_counted_from_1": (
        counted_from_1,
        "Your pairs are counted from 1: each has the frequency of the pair after it. Count them from 0, so that the first one has the frequency 1.",
    ),
    "base_1000": (base_1000, "The base of your frequencies is 1,000. It should be 10,000."),
    "base_of_a_decimal_logarithm": (
        base_of_a_decimal_logarithm,
        "The base of your frequencies is e⁴, which is about 55, and not 10,000. That comes from exp(−4 · 2i/D), as with a logarithm to base 10 inside exp: exp needs the natural logarithm, `math.log`.",
    ),
    "up_to_the_base": (
        up_to_the_base,
        "Your last pair has the frequency 1/10,000 (unless it is the only pair), as if the exponent were divided by the number of pairs less one. Some libraries do that. Here the exponent is −2i/D, and the last pair stays a little faster.",
    ),
    "degrees": (
        degrees,
        "Your angles are read as degrees. They are in radians, as `torch.sin` and `torch.cos` take them: leave out the factor π/180.",
    ),
    "without_brackets": (
        without_brackets,
        "All of your angles are almost 0. Did you leave out brackets? Python reads 10000 ** 2 * i / D as (10000²) · i / D, and a division by it from left to right. Write 10000 ** (2 * i / D).",
    ),
    "slowest_first": (
        slowest_first,
        "Your frequencies stand in reverse order: the first pair is the slowest. The first pair has the frequency 1, and the last one is the slowest.",
    ),
}
