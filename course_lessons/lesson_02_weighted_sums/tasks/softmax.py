"""Task 02.softmax: softmax with a temperature."""

from operator import mul, sub, truediv

import torch

from course_lessons.shared.weight_properties import no_weight_is_negative, rows_sum_to_one
from course_utils.checks.reference_trace import left_out
from course_utils.checks.running.contract import Case
from course_utils.checks.task import Task, count, sizes

task = Task(
    "02.softmax",
    "softmax with a temperature",
    arguments=("scores …×S", "temperature"),
    result="weights …×S",
    difficulty=2,
    importance=5,
    minutes=15,
    hints=(
        (
            "exp makes every score positive, and dividing a row by its total makes the row sum to 1. exp overflows for large scores, but "
            "subtracting the same number from all scores in a row does not change the result."
        ),
        (
            "Take the scores 1, 2 and 4 at temperature 1. Subtract the largest: -3, -2 and 0. Their exponentials are 0.0498, 0.1353 and 1; "
            "their total is 1.1851. Divided by it, the weights are 0.0420, 0.1142 and 0.8438, which sum to 1. At temperature 2, you would start from "
            "0.5, 1 and 2."
        ),
        (
            "z = scores / temperature; subtract from z its maximum over the last axis (keep that axis); e = the exponentials; return e divided "
            "by its sum over the last axis (keep that axis)."
        ),
    ),
    partial={"overflow": (0.5, "right until a score is too large for exp.")},
)


task.property(rows_sum_to_one)


task.property(no_weight_is_negative)


@task.cases
def _(draw):
    three = draw.distinct(3, 0, 7).float()
    yield Case("three scores", (three,))
    yield Case("three scores, temperature 2", (three, 2.0))
    for size in sizes(B=3, S=5):
        yield Case(f"{count(size.B, 'row')} of {size.S} scores", (draw.numbers(size.B, size.S),), size.full)
    low, high, highest = sorted(draw.distinct(3, 0, 6).tolist())
    maxima = torch.tensor([[low, high], [highest, low]]).float()
    yield Case("2 rows of 2 scores, with different maxima", (maxima,))
    yield Case("3 rows of 5 scores, temperature 0.5", (draw.numbers(3, 5), 0.5), True)
    yield Case("scores of shape (2, 3, 5), temperature 3", (draw.numbers(2, 3, 5), 3.0), True)
    far = torch.tensor([[1e4, -1e4, 0.0, 9e3], [-1e4, -2e4, -3e4, -1.5e4]])
    yield Case("very large scores, near ±10,000", (far,), edge=True)
    yield Case("scores of ±10,000, temperature 1,000", (far, 1000.0), edge=True)
    yield Case("a single score", (torch.tensor([[3.0], [-1.0]]),), edge=True)


@task.steps
def _(scores, temperature=1.0):
    z = yield "the scores divided by the temperature", truediv, scores, temperature
    largest = yield "the largest of each row", lambda z: z.amax(-1, keepdim=True), z
    shifted = yield "the scores minus the largest", sub, z, largest
    e = yield "the exponentials", torch.exp, shifted
    total = yield "the total of each row", lambda e: e.sum(-1, keepdim=True), e
    weights = yield "the quotients", truediv, e, total
    return weights


Z, LARGEST, SHIFTED = "the scores divided by the temperature", "the largest of each row", "the scores minus the largest"
TOTAL, WEIGHTS = "the total of each row", "the quotients"


# The temperature

task.changed_each(
    ("temperature_multiplies", "You multiply by the temperature. A high temperature should make the weights more equal: divide by it.", {Z: mul}),
    ("temperature_twice", "You divide by the square of the temperature, perhaps because you divide by it twice. Divide by it once.", {Z: lambda scores, t: scores / t**2}),
    ("temperature_unused", "The temperature has no effect. The scores should be divided by it.", {Z: left_out}),
    ("temperature_after", "You apply the temperature to the weights, after the softmax, so the rows no longer sum to 1. Divide the scores by it, before the softmax.", {Z: left_out, "result": lambda weights, *, temperature: weights / temperature}),
    ("logarithms", "These are the logarithms of the weights (log-softmax). Return the weights themselves.", {WEIGHTS: lambda _, total, *, done: done[SHIFTED] - total.log()}),
)  # fmt: skip


# The maximum and the total of each row

KEEP_TOTAL = "If `e / e.sum(-1)` runs at all, it lines up one total with each column instead of each row"


def guessed_axis(z):
    """Return the axis that `torch.nn.functional.softmax` takes without `dim`."""
    return 0 if z.dim() in (0, 1, 3) else 1


maximum_alone, total_alone = {LARGEST: lambda z: z.amax(-1)}, {TOTAL: lambda e: e.sum(-1)}
task.changed_each(
    ("first_axis", "You normalise over the first axis, so columns sum to 1 and rows do not. The scores of one row share the weight: normalise over the last axis.", {LARGEST: lambda z: z.amax(0, True), TOTAL: lambda e: e.sum(0, True)}),
    ("axis_left_out", "Without `dim`, the softmax guesses the axis, and for scores with three axes, it takes the first. Name the axis: `dim=-1`.", {LARGEST: lambda z: z.amax(guessed_axis(z), True), TOTAL: lambda e: e.sum(guessed_axis(e), True)}),
    ("total_of_everything", "You divide by the total of all rows together. Each row has its own total: sum over the last axis, and keep that axis (keepdim=True).", {LARGEST: torch.max, TOTAL: torch.sum}),
    ("one_total", "`e.sum()` adds up the whole tensor, so all rows together sum to 1. Each row has its own total: sum over the last axis, with keepdim=True.", {TOTAL: torch.sum}),
    ("overflow", "exp overflows: for a score above about 88 it is infinite in float32, and infinity divided by infinity is NaN. Subtract each row's maximum first.", {SHIFTED: left_out}),
    ("maximum_of_everything", "You subtract the largest score of the whole tensor. In a row whose scores are all far below it, exp leaves only zeros, and 0/0 is NaN. Subtract each row's own maximum.", {LARGEST: torch.max}),
    ("maximum_of_undivided_scores", "You subtract the largest score as it was before the division by the temperature. If scores are large, exp then leaves only zeros at a high temperature, and 0/0 is NaN; at a low temperature, it may overflow. Divide the scores by the temperature first, and take the maximum of the result.", {LARGEST: lambda _, *, scores: scores.amax(-1, keepdim=True)}),
    ("mean_subtracted", "You subtract the mean of each row. For a score far above the mean, exp still overflows. No score is above the maximum, so subtract the maximum.", {LARGEST: lambda z: z.mean(-1, True)}),
    ("total_without_its_axis", f"The totals have lost their axis. {KEEP_TOTAL}. Keep the axis: `e.sum(-1, keepdim=True)`.", total_alone),
    ("maximum_without_its_axis", "The maxima have lost their axis. If `z - z.max(-1).values` runs at all, it lines up one maximum with each column instead of each row. Keep the axis: `z.max(-1, keepdim=True).values`.", maximum_alone),
    ("both_without_their_axis", "The maxima and the totals have both lost their axis. If this runs at all, they line up with columns instead of rows. Keep the axis in both: keepdim=True.", maximum_alone | total_alone),
    ("total_without_its_axis_and_no_maximum_of_rows", f"The totals have lost their axis. {KEEP_TOTAL}: keep the axis, `e.sum(-1, keepdim=True)`. And before exp, subtract each row's own maximum (again with keepdim=True), or large scores overflow.", {SHIFTED: left_out} | total_alone),
)  # fmt: skip
