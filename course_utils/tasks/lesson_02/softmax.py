"""Task 02.softmax: softmax with a temperature."""

from operator import sub, truediv

import torch

from course_utils.checks.running.contract import Case
from course_utils.checks.task import Task, count, sizes
from course_utils.tasks.properties import no_weight_is_negative, rows_sum_to_one

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
            "exp makes every score positive, and dividing by the total of a row makes the row sum to 1. exp overflows for large scores, but "
            "subtracting the same number from all scores of a row does not change the result."
        ),
        (
            "Take the scores 1, 2 and 4 at temperature 1. Subtract the largest: -3, -2 and 0. Their exponentials are 0.0498, 0.1353 and 1, with "
            "a total of 1.1851. Divided by it, the weights are 0.0420, 0.1142 and 0.8438, which sum to 1. At temperature 2 you would start from "
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
    yield Case("scores of ±10,000", (far,), edge=True)
    yield Case("a single score", (torch.tensor([[3.0], [-1.0]]),), edge=True)
    yield Case("float64 numbers", (draw.numbers(3, 5, dtype=torch.float64), 0.5), edge=True)


@task.oracle
def _(scores, temperature=1.0):
    return torch.exp(scores / temperature - torch.logsumexp(scores / temperature, dim=-1, keepdim=True))


@task.steps
def _(scores, temperature=1.0):
    z = yield "the scores divided by the temperature", truediv, scores, temperature
    largest = yield "the largest of each row", lambda z: z.amax(-1, keepdim=True), z
    shifted = yield "the scores less the largest", sub, z, largest
    e = yield "the exponentials", torch.exp, shifted
    total = yield "the total of each row", lambda e: e.sum(-1, keepdim=True), e
    weights = yield "the exponentials divided by their total", truediv, e, total
    return weights


@task.mistake(
    "You normalise over the first axis, so columns sum to 1 and rows do not. The scores of one row share the weight: normalise over the "
    "last axis."
)
def first_axis(scores, temperature=1.0):
    return (scores / temperature).softmax(0)


@task.mistake(
    "You divide by the total of all rows together. Each row has its own total: sum over the last axis, and keep that axis "
    "(keepdim=True)."
)
def total_of_everything(scores, temperature=1.0):
    return (scores / temperature).reshape(-1).softmax(0).reshape(scores.shape)


@task.mistake(
    "exp overflows: for a score above about 88 it is infinite in float32, and infinity divided by infinity is NaN. Subtract each row's "
    "maximum first."
)
def overflow(scores, temperature=1.0):
    e = (scores / temperature).exp()
    return e / e.sum(-1, keepdim=True)


@task.mistake(
    "You subtract the largest score of the whole tensor. In a row whose scores are all far below it, exp leaves only zeros, and 0/0 is "
    "NaN. Subtract each row's own maximum."
)
def maximum_of_everything(scores, temperature=1.0):
    e = (scores / temperature - (scores / temperature).max()).exp()
    return e / e.sum(-1, keepdim=True)


@task.mistake(
    "The totals have lost their axis. Where `e / e.sum(-1)` runs at all, it lines up one total with each column instead of each row. "
    "Keep the axis: `e.sum(-1, keepdim=True)`."
)
def total_without_its_axis(scores, temperature=1.0):
    e = (scores / temperature - (scores / temperature).amax(-1, keepdim=True)).exp()
    return e / e.sum(-1)


@task.mistake(
    "The maxima have lost their axis. Where `z - z.max(-1).values` runs at all, it lines up one maximum with each column instead of each "
    "row. Keep the axis: `z.max(-1, keepdim=True).values`."
)
def maximum_without_its_axis(scores, temperature=1.0):
    z = scores / temperature
    e = (z - z.amax(-1)).exp()
    return e / e.sum(-1, keepdim=True)


@task.mistake(
    "The maxima and the totals have both lost their axis. Where this runs at all, they line up with columns instead of rows. Keep the "
    "axis in both: keepdim=True."
)
def both_without_their_axis(scores, temperature=1.0):
    z = scores / temperature
    e = (z - z.amax(-1)).exp()
    return e / e.sum(-1)


@task.mistake(
    "`e.sum()` adds up the whole tensor, so all rows together sum to 1. Each row has its own total: sum over the last axis, with "
    "keepdim=True."
)
def one_total(scores, temperature=1.0):
    z = scores / temperature
    e = (z - z.amax(-1, keepdim=True)).exp()
    return e / e.sum()


@task.mistake(
    "You subtract the mean of each row. For a score far above the mean, exp still overflows. No score is above the maximum: subtract "
    "that."
)
def mean_subtracted(scores, temperature=1.0):
    z = scores / temperature
    e = (z - z.mean(-1, keepdim=True)).exp()
    return e / e.sum(-1, keepdim=True)


@task.mistake("You multiply by the temperature. A high temperature should make the weights more equal: divide by it.")
def temperature_multiplies(scores, temperature=1.0):
    return (scores * temperature).softmax(-1)


@task.mistake("You divide by the square of the temperature, as if you divided by it twice. Once is right.")
def temperature_twice(scores, temperature=1.0):
    return (scores / temperature**2).softmax(-1)


@task.mistake("The temperature has no effect. The scores should be divided by it.")
def temperature_unused(scores, temperature=1.0):
    return scores.softmax(-1)


@task.mistake(
    "You apply the temperature to the weights, after the softmax, so the rows no longer sum to 1. Divide the scores by it, before the "
    "softmax."
)
def temperature_after(scores, temperature=1.0):
    return scores.softmax(-1) / temperature


@task.mistake("These are the logarithms of the weights (log-softmax). Return the weights themselves.")
def logarithms(scores, temperature=1.0):
    return (scores / temperature).log_softmax(-1)


@task.mistake(
    "The totals have lost their axis. Where `e / e.sum(-1)` runs at all, it lines up one total with each column instead of each row: keep the axis, "
    "`e.sum(-1, keepdim=True)`. And before exp, each row's own maximum has to be subtracted (keepdim=True there too), or large scores overflow."
)
def total_without_its_axis_and_no_maximum_of_rows(scores, temperature=1.0):
    e = (scores / temperature).exp()
    return e / e.sum(-1)
