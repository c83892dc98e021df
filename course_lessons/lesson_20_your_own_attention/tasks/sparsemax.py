"""Task 20.sparsemax: the weights nearest to the scores (Martins & Astudillo 2016, equation 2 and algorithm 1)."""

from operator import add, gt, mul, sub, truediv

import torch

from course_lessons.shared.mask_mistakes import filled
from course_lessons.shared.partial_credit import EDGE, SIDE_EFFECT
from course_lessons.shared.weight_properties import no_weight_is_negative, rows_sum_to_one
from course_utils.checks.reference_trace import left_out
from course_utils.checks.running.contract import Case
from course_utils.checks.task import Task, count, sizes
from course_utils.models.attention import masked_softmax

task = Task(
    "20.sparsemax",
    "weights of which many are 0",
    arguments=("scores B×T×S", "mask B×T×S"),
    result="weights B×T×S",
    difficulty=3,
    importance=4,
    minutes=15,
    hints=(
        "All weights above 0 are their score minus one number, the threshold of the row, and all others are 0. So the task is to find the threshold, and for that you need to know how many weights are above 0. Sort the scores from the largest down: it is always the first few of them.",
        "Take the scores 0.2, 1 and 0.7, nothing masked. From the largest down they are 1, 0.7 and 0.2, and their running sums are 1, 1.7 and 1.9. Compare 1 + k·score with the running sum: 2 > 1 and 2.4 > 1.7, but 1.6 is not above 1.9. So k = 2 weights are above 0, and the threshold is (1.7 - 1) / 2 = 0.35. The weights are 0, 0.65 and 0.35.",
        "hidden = scores with -inf where the mask is False; down = hidden sorted along the last axis, the largest first; total = running sums of down (cumsum); count = in how many positions 1 + k times down is above total, with k = 1, 2, …, S, and at least 1; threshold = (total at position count - 1, taken with gather, minus 1) divided by count; weights = hidden minus threshold, 0 where that is below 0; and 0 where the mask is False, also in rows without a True.",
    ),
    partial=EDGE
    | SIDE_EFFECT
    | {
        "empty_row_nan": (0.5, "correct in every row with something to attend to."),
        "empty_row_stops": (0.5, "correct in every row with something to attend to."),
        "empty_row_even": (0.5, "correct in every row with something to attend to."),
        "gradient": (0.75, "every weight is correct, but its gradient is not."),
    },
)


task.property(rows_sum_to_one)
task.property(no_weight_is_negative)


@task.property
def nothing_where_masked(case, value):
    """No weight where the mask is False."""
    leaked = value[~case.args[1]].abs()
    return (
        f"Where the mask is False the weight should be 0; one of yours is {leaked.max():.4g}."
        if (leaked > 1e-6).any()
        else None
    )


@task.property
def one_threshold_for_each_row(case, value):
    """Weights above 0 are scores less the same number."""
    scores, mask = case.args
    above = (value > 1e-4) & mask
    less = scores - value
    least, most = less.masked_fill(~above, torch.inf).amin(-1), less.masked_fill(~above, -torch.inf).amax(-1)
    off = most - least > 1e-3 * (1 + most.abs())
    return (
        f"Each weight above 0 should be its score minus one number, which is the same in the whole row. For the input “{case.name}” a row of yours has weights that do not differ by as much as their scores do."
        if off.any()
        else None
    )


def _drawn(draw, B, T, S, spread=1.0, dtype=torch.float32):
    return draw.numbers(B, T, S, dtype=dtype) * spread, draw.mask(B, T, S)


@task.cases
def _(draw):
    for size in sizes(B=2, T=3, S=7):
        name = f"{count(size.B, 'sentence')}, T = {size.T}, S = {size.S}"
        yield Case(name, _drawn(draw, size.B, size.T, size.S), size.full)
    scores, everything = draw.numbers(2, 3, 7), torch.ones(2, 3, 7, dtype=torch.bool)
    yield Case("nothing masked", (scores, everything), True)
    yield Case("nothing masked, scores close together", (draw.numbers(2, 3, 7) / 20, everything), True)
    yield Case("scores close together", _drawn(draw, 2, 3, 7, 0.3), True)
    yield Case("scores far apart", _drawn(draw, 2, 3, 7, 3.0))
    yield Case("all scores above 0", (draw.numbers(2, 3, 7) + 5, draw.mask(2, 3, 7)))
    yield Case("all scores below 0", (draw.numbers(2, 3, 7) - 5, draw.mask(2, 3, 7)))
    yield Case("as many queries as keys", _drawn(draw, 2, 5, 5), True)
    yield Case("B, T and S all 3", _drawn(draw, 3, 3, 3))
    yield Case("a single key", _drawn(draw, 2, 3, 1), True, edge=True)
    scores, mask = _drawn(draw, 2, 3, 7)
    mask[0, 1] = mask[1, 0] = False
    yield Case("rows with nothing to attend to", (scores, mask), True, edge=True)
    scores, mask = _drawn(draw, 2, 3, 7)
    strange = torch.tensor([torch.nan, torch.inf, -torch.inf])[draw.whole(0, 3, 2, 3, 7)]
    yield Case("NaN and infinity where the mask is False", (scores.where(mask, strange), mask), True, hazard=True)
    yield Case("all scores equal", (draw.numbers(2, 3, 1).expand(2, 3, 7).clone(), draw.mask(2, 3, 7)), True, edge=True)
    far = torch.stack([draw.distinct(5, 0, 5) for _ in range(6)]).view(2, 3, 5) * 5e3 - 1e4
    yield Case("very large scores, near ±10,000", (far, draw.mask(2, 3, 5)), True, hazard=True)
    yield Case("scores near 10,000", (1e4 + draw.whole(-8, 9, 2, 3, 7) / 8, draw.mask(2, 3, 7)), hazard=True)
    yield Case("scores near -20,000", (-2e4 + draw.whole(-8, 9, 2, 3, 7) / 8, draw.mask(2, 3, 7)), hazard=True)
    yield Case("200 keys", _drawn(draw, 2, 3, 200), True, edge=True)
    yield Case("float64 numbers", _drawn(draw, 2, 3, 7, dtype=torch.float64), True, hazard=True)


HIDDEN, DOWN = "the masked scores", "the sorted scores"
TIMES_K, STRETCHED = "the k-fold scores", "1 plus the k-fold score"
ABOVE, NUMBER = "the comparison with the sums", "the number that stay"
SUM, LESS = "the sum that stays", "that sum minus 1"
THRESHOLD, REST = "the threshold", "the shifted scores"
POSITIVE, WEIGHTS = "the positive parts", "the weights with zeros"


@task.steps
def _(scores, mask):
    hidden = yield HIDDEN, lambda scores, mask: scores.masked_fill(~mask, -torch.inf), scores, mask
    down = yield DOWN, lambda hidden: hidden.sort(-1, descending=True).values, hidden
    total = yield "the running sums", lambda down: down.cumsum(-1), down
    times_k = yield TIMES_K, mul, torch.arange(1, 1 + scores.shape[-1]), down
    stretched = yield STRETCHED, add, times_k, 1
    above = yield ABOVE, gt, stretched, total
    number = yield NUMBER, lambda above: above.sum(-1, keepdim=True).clamp(min=1), above
    summed = yield SUM, lambda total, number: total.gather(-1, number - 1), total, number
    less = yield LESS, sub, summed, 1
    threshold = yield THRESHOLD, truediv, less, number
    rest = yield REST, sub, hidden, threshold
    positive = yield POSITIVE, lambda rest: rest.clamp(min=0), rest
    weights = yield WEIGHTS, lambda weights, mask: weights.masked_fill(~mask, 0.0), positive, mask
    return weights


task.mistake(
    "This is the softmax, which leaves some weight everywhere. Subtract a threshold from the scores and set what falls below it to 0.",
    "softmax",
)(lambda scores, mask: masked_softmax(scores, mask))


task.changed(
    "plus_infinity",
    "Masked scores become +inf, so they come first when you sort, and the threshold is infinite: nothing is left above it. Put -inf there.",
    {HIDDEN: filled(torch.inf)},
)
task.changed(
    "positive_scores_divided",
    "You set scores below 0 to 0 and divide the others by their sum. Sparsemax subtracts a threshold from the scores of the row and sets what falls below it to 0.",
    {
        WEIGHTS: lambda weights, mask, *, scores: (
            (kept := scores.relu() * mask) / kept.sum(-1, keepdim=True).clamp(min=1e-9)
        )
    },
)

# How many weights are above 0

task.changed_each(
    ("ascending", "You sort the scores in ascending order, as `sort` does by default. The largest come first: descending=True.", {DOWN: lambda hidden: hidden.sort(-1).values}),
    ("ascending_with_a_finite_fill", "You sort the scores in ascending order, as `sort` does by default, and masked scores come first: a large negative number such as -1e9. The largest come first: descending=True.", {HIDDEN: lambda scores, mask: scores.masked_fill(~mask, -1e9), DOWN: lambda hidden: hidden.sort(-1).values}),
    ("not_sorted", "You add up the scores in their given order. Sort them first, the largest first; then it is always the first few that get a weight.", {DOWN: left_out}),
    ("k_from_zero", "You count k from 0 in 1 + k·score. For the largest score k is 1: torch.arange(1, S + 1).", {TIMES_K: lambda k, down: (k - 1) * down}),
    ("k_forgotten", "You compare 1 + score with the running sum. The score is multiplied by its position k first: 1 + k·score, with k = 1, 2, …", {TIMES_K: lambda k, down: down}),
)  # fmt: skip
task.changed(
    "all_kept",
    "You compute the threshold as if every position got a weight above 0, from the sum of all scores, and then set what is below 0 to 0, so the row sums to more than 1. First find out how many weights are above 0.",
    {ABOVE: lambda stretched, total: stretched > -torch.inf},
)


task.changed(
    "one_forgotten_in_the_comparison",
    "You compare k·score with the running sum, without the 1, so it is never above the sum. Compare 1 + k·score.",
    {STRETCHED: left_out},
)
# The threshold

task.changed(
    "one_forgotten_in_the_threshold",
    "You divide the sum of the largest scores by their number, without subtracting 1 first. That 1 is the total weight of a row: the threshold is (sum - 1) / k.",
    {LESS: left_out},
)
task.changed(
    "one_subtracted_last",
    "You subtract 1 after the division. The brackets go around the sum: (sum - 1) / k.",
    {LESS: left_out, THRESHOLD: lambda summed, number: summed / number - 1},
)
task.changed(
    "one_place_too_far",
    "You read the running sum one position too far on: `total` counts its positions from 0, so the sum of the k largest scores is at position k - 1. If every position gets a weight, yours raises an error.",
    {SUM: lambda total, number: total.gather(-1, number)},
)
task.changed(
    "divided_by_one_less",
    "The sum of the k largest scores is correct, but you divide by k - 1, which is 0 if only one position gets a weight. Divide by k: a position that is counted from 0 is one less than the number of scores up to it.",
    {THRESHOLD: lambda less, number: less / (number - 1)},
)
task.changed(
    "not_clamped",
    "Weights below 0 are left: what falls below the threshold gets 0. Use clamp(min=0) or relu.",
    {POSITIVE: left_out},
)
task.changed(
    "threshold_not_subtracted",
    "The scores above the threshold stay as they are in your result. Subtract the threshold from them.",
    {REST: lambda hidden, threshold: hidden.masked_fill(hidden <= threshold, 0.0), POSITIVE: left_out},
)


# The order of the result, and its axes

task.changed(
    "in_order_of_size",
    "Your weights are in order of size, the largest first. Subtract the threshold from the given scores, not from the sorted ones.",
    {"result": lambda weights: weights.sort(-1, descending=True).values},
)
task.changed(
    "over_the_queries",
    "You sort and add up along the queries, axis 1. The weights of one query sum to 1: use the last axis.",
    dict.fromkeys(("scores", "mask", "result"), lambda x: x.mT),
)


# The mask

task.changed(
    "mask_unused",
    "The mask has no effect. Set the scores to -inf where it is False, before you sort them.",
    {HIDDEN: left_out, WEIGHTS: left_out},
)
task.changed(
    "mask_inverted",
    "The mask is the wrong way round: True marks what may be attended to. Set scores to -inf where the mask is False, with ~mask.",
    {"mask": torch.logical_not},
)
task.changed(
    "mask_inverted_nan",
    "The mask is the wrong way round: True marks what may be attended to. A row without a False then has nothing left, and -inf minus -inf is NaN. Set scores to -inf where the mask is False, with ~mask.",
    {"mask": torch.logical_not, WEIGHTS: left_out},
)
task.changed(
    "masked_after",
    "You set weights to 0 at the end, where the mask is False, but those positions affected the threshold, so the rest of a row sums to less than 1. Set their scores to -inf before you sort them.",
    {HIDDEN: left_out},
)
task.changed_each(
    ("finite_fill", "The number that you put where the mask is False is not small enough: if all other scores are below it, those positions win. Put -inf there, as -torch.inf or float('-inf').", {HIDDEN: filled(-1e4)}),
    ("fill_added", "You add a number far below 0 where the mask is False. If the score is NaN or infinity, it stays and spoils the row. Replace it: masked_fill.", {HIDDEN: lambda scores, mask: scores + ~mask * -1e9}),
    ("empty_row_nan", "A row with nothing to attend to gives NaN: all its scores are -inf, and so is its threshold. Return zeros there: set weights to 0 where the mask is False, at the end.", {WEIGHTS: left_out}),
)  # fmt: skip
task.changed(
    "empty_row_stops",
    "In a row with nothing to attend to, no score is above the running sum, so k is 0, and k - 1 is not a position: your function raises an error there. Make k at least 1, with clamp(min=1), and set weights to 0 where the mask is False, at the end.",
    {NUMBER: lambda above: above.sum(-1, keepdim=True)},
)
task.changed(
    "empty_row_even",
    "A row with nothing to attend to gets uniform weights, since all its scores are the same number far below 0. Return zeros there: set weights to 0 where the mask is False, at the end.",
    {HIDDEN: filled(-1e5), WEIGHTS: left_out},
)


# Gradients, and what came in

task.changed(
    "threshold_cut_off",
    "The weights are correct, but no gradient flows through the threshold. It also depends on the scores: leave out `detach` and `no_grad`.",
    {THRESHOLD: lambda less, number: (less / number).detach()},
)
task.changed(
    "gradient_cut",
    "The weights are correct, but no gradient reaches the scores, so nothing could be learned from them. Leave out `detach` and `no_grad`; comparing and counting pass no gradient anyway.",
    {"scores": torch.Tensor.detach},
)


def _written_over(weights, *, scores, mask):
    with torch.no_grad():
        scores.masked_fill_(~mask, -torch.inf)
    return weights


task.changed(
    "written_into_the_scores",
    "The weights are correct, but you write -inf into `scores` itself, and code that uses it later finds -inf there. Use masked_fill without the underscore, which makes a copy.",
    {"result": _written_over},
)
