"""Task 22.unpack: numbers of four bits in blocks of 32 that share a scale and a minimum, as GGUF's Q4_1 has them."""

from operator import add, mul

import torch

from course_utils.checks.reference_trace import left_out
from course_utils.checks.running.contract import Case
from course_utils.checks.task import Task, count

task = Task(
    "22.unpack",
    "weights of four bits",
    arguments=("scale N", "minimum N", "packed N×16"),
    result="weights N×32",
    difficulty=2,
    importance=3,
    minutes=15,
    hints=(
        "A byte holds two whole numbers from 0 to 15: byte = 16 · high + low. First extract the two numbers from each byte, then put them in order, and only then use the scale and the minimum.",
        "Take one block with the scale 0.5, the minimum -4, the first byte 47 and the second byte 0. Because 47 = 16 · 2 + 15, its low half is 15 and its high half is 2. The weight at position 0 is 0.5 · 15 - 4 = 3.5, and the weight at position 16 is 0.5 · 2 - 4 = -3. The weights at positions 1 and 17 are -4.",
        "low = packed % 16; high = packed // 16; numbers = low and then high along the last axis; multiply each row by its scale and add its minimum.",
    ),
    gradient_not_asked=("scale", "minimum"),
)


@task.cases
def _(draw):
    for N in (1, 2, 5):
        scale = draw.numbers(N).abs() + 0.5
        yield Case(count(N, "block"), (scale, draw.numbers(N) - 1, draw.whole(0, 256, N, 16)))
    yield Case("a negative scale", (-draw.numbers(3).abs() - 0.5, draw.numbers(3), draw.whole(0, 256, 3, 16)))
    yield Case(
        "a positive minimum", (draw.numbers(3).abs() + 0.5, draw.numbers(3).abs() + 0.5, draw.whole(0, 256, 3, 16))
    )
    ones = torch.ones(2)
    yield Case("scale 1 and minimum 0", (ones, 0 * ones, draw.whole(0, 256, 2, 16)))
    yield Case("no block", (torch.ones(0), torch.ones(0), draw.whole(0, 256, 0, 16)), hazard=True)


LOW, HIGH, NUMBERS = "the low halves", "the high halves", "the whole numbers"


@task.steps
def _(scale, minimum, packed):
    low = yield LOW, lambda packed: packed % 16, packed
    high = yield HIGH, lambda packed: packed // 16, packed
    numbers = yield NUMBERS, lambda low, high: torch.cat([low, high], dim=-1), low, high
    spread = yield "the scale as a column", lambda scale: scale[:, None], scale
    scaled = yield "the scaled numbers", mul, numbers, spread
    lowest = yield "the minimum as a column", lambda minimum: minimum[:, None], minimum
    weights = yield "the weights", add, scaled, lowest
    return weights


task.changed_each(
    ("interleaved", "You put the two halves of each byte side by side. In this format the low halves of all 16 bytes come first, then the high halves.", {NUMBERS: lambda low, high: torch.stack([low, high], dim=-1).flatten(-2)}),
    ("one_below_the_other", "Without `dim`, `torch.cat` joins along the first axis, so the high halves become further blocks. Join each block's halves along its numbers: dim=1.", {NUMBERS: lambda low, high: torch.cat([low, high])}),
    ("high_first", "You put the high halves first. Positions 0 to 15 are the low halves.", {NUMBERS: lambda low, high: torch.cat([high, low], dim=-1)}),
    ("interleaved_high_first", "You put the two halves of each byte side by side, the high one first. In this format the low halves of all 16 bytes come first, then the high halves.", {NUMBERS: lambda low, high: torch.stack([high, low], dim=-1).flatten(-2)}),
    ("high_not_shifted", "Your high halves are multiples of 16: the bits were kept but not shifted down. Divide by 16, or shift by four bits.", {HIGH: lambda packed: packed // 16 * 16}),
    ("high_is_the_byte", "Your high halves still contain the low ones: you divide by 16 without dropping the remainder. Use // or >>.", {HIGH: lambda packed: packed / 16}),
    ("low_is_the_byte", "Your low halves are whole bytes. Keep only the lowest four bits, with % 16 or & 15.", {LOW: lambda packed: packed}),
    ("low_of_three_bits", "You keep three bits of the low half: 15 is the mask for four bits, 7 the mask for three.", {LOW: lambda packed: packed % 8}),
    ("modulo_15", "You take the remainder by 15. Four bits can represent 16 different numbers: use % 16 or & 15.", {LOW: lambda packed: packed % 15}),
    ("subtracted", "You subtract the minimum. It is the weight for the number 0, so it is added.", {"the weights": lambda scaled, lowest: scaled - lowest}),
    ("no_minimum", "The minimum has no effect: every weight is too high or too low by it. Add it to each weight of its block.", {"the weights": left_out}),
    ("added_before", "You add the minimum before you multiply by the scale, so it is also scaled. Multiply first.", {"the scaled numbers": lambda numbers, spread, *, minimum: (numbers + minimum[:, None]) * spread, "the weights": left_out}),
    ("exchanged", "You have swapped the scale and the minimum.", {"scale": lambda scale, *, minimum: minimum, "minimum": lambda minimum, *, scale: scale}),
    ("signed", "You subtract 8, as in formats without a minimum. Here the minimum does that job: a number from 0 to 15 is multiplied by the scale as it is.", {NUMBERS: lambda low, high: torch.cat([low, high], dim=-1) - 8}),
    ("over_fifteen", "You divide the numbers by 15, so that they go from 0 to 1. The scale is the step from one number to the next: multiply by it directly.", {NUMBERS: lambda low, high: torch.cat([low, high], dim=-1) / 15}),
    ("no_scale", "The scale has no effect. Multiply each number by the scale of its block.", {"the scaled numbers": left_out}),
    ("first_scale_for_all", "All blocks are multiplied by the first block's scale. Each block has its own scale.", {"the scale as a column": lambda scale: scale[:1, None]}),
    ("first_minimum_for_all", "All blocks get the first block's minimum. Each block has its own minimum.", {"the minimum as a column": lambda minimum: minimum[:1, None]}),
    ("flat", "You return all weights in one long row. Return a row of 32 for each block.", {"result": lambda weights: weights.flatten()}),
)  # fmt: skip
