"""Task 02.masked_softmax: softmax over the positions that may be attended to."""

import torch

from course_lessons.shared.finite_fill_mistakes import finite_fill_mistakes
from course_lessons.shared.mask_mistakes import masked_softmax_mistakes, plus_infinity_mistakes
from course_lessons.shared.partial_credit import SIDE_EFFECT
from course_lessons.shared.weight_properties import no_weight_is_negative, nothing_where_masked, rows_sum_to_one
from course_utils.checks.reference_trace import left_out
from course_utils.checks.running.contract import Case
from course_utils.checks.task import Task, count, sizes

task = Task(
    "02.masked_softmax",
    "softmax with a mask",
    arguments=("scores …×S", "mask …×S"),
    result="weights …×S",
    difficulty=3,
    importance=5,
    minutes=20,
    hints=(
        "A score that must not count has to be removed before the softmax is computed. exp turns minus infinity into exactly 0.",
        (
            "Take the scores 2, 0 and 5 and the mask True, True, False. With -inf instead of the 5, the exponentials are 7.3891, 1 and 0, and "
            "their total is 8.3891. The weights are 0.8808, 0.1192 and 0. If all three mask values were False, the total would be 0, and 0/0 is "
            "NaN: return 0, 0, 0 there."
        ),
        (
            "Set scores to -inf where the mask is False; take the softmax over the last axis; a row that contained only -inf is now NaN, so set weights to 0 where the mask is False."
        ),
    ),
    partial=SIDE_EFFECT
    | {
        "empty_row_nan": (0.5, "right in every row with something to attend to."),
        "empty_row_uniform": (0.5, "right in every row with something to attend to."),
        "gradient": (0.75, "every weight is right, but its gradient is not."),
    },
)


task.property(rows_sum_to_one)


task.property(no_weight_is_negative)


task.property(lambda case, value: nothing_where_masked(value, case.args[1]))


@task.cases
def _(draw):
    first, last = (draw.distinct(2, 1, 6) / 2).tolist()  # and a 0 that is not masked
    yield Case(
        "three scores, the last one masked", (torch.tensor([[first, 0.0, last]]), torch.tensor([[True, True, False]]))
    )
    for size in sizes(B=3, S=5):
        args = (draw.numbers(size.B, size.S), draw.mask(size.B, size.S))
        yield Case(f"{count(size.B, 'row')} of {size.S} scores", args, size.full)
    yield Case("scores of shape (2, 3, 5)", (draw.numbers(2, 3, 5), draw.mask(2, 3, 5)), True)
    yield Case("as many rows as scores", (draw.numbers(5, 5), draw.mask(5, 5)))
    some = torch.tensor([[True, True, True], [True, True, False]])
    yield Case("a row in which nothing is masked", (draw.numbers(2, 3), some))
    open_and_empty = torch.tensor([[True, False], [False, False]])
    yield Case(
        "2 rows of 2 scores, nothing to attend to in the second", (draw.numbers(2, 2), open_and_empty), edge=True
    )
    empty = draw.mask(3, 5)
    empty[1] = False
    yield Case("a row with nothing to attend to", (draw.numbers(3, 5), empty), True, edge=True)
    high = torch.tensor([[1000.0, 999.0, 0.0]])
    yield Case("scores of 1,000 and a masked 0", (high, torch.tensor([[True, True, False]])), edge=True)
    low = torch.tensor([[-29_999.0, -3e4, 0.0, 1.0], [-1e4, 3.0, 1e4, 9e3]])
    yield Case(
        "scores of -30,000 next to a masked 0",
        (low, torch.tensor([[True, True, False, False], [True, True, False, True]])),
        edge=True,
    )


@task.steps
def _(scores, mask):
    masked = yield "the masked scores", lambda scores, mask: scores.masked_fill(~mask, -torch.inf), scores, mask
    weights = yield "the softmax", lambda masked: masked.softmax(-1), masked
    kept = yield ZEROS, lambda w, mask: w.masked_fill(~mask, 0.0), weights, mask
    return kept


MASKED, SOFTMAX, ZEROS = "the masked scores", "the softmax", "the weights with zeros"
masked_softmax_mistakes(
    task,
    *("mask_unused", "mask_inverted", "mask_inverted_nan", "mask_inverted_level"),
    *("masked_after", "masked_with_zeros", "mask_added"),
    *("empty_row_nan", "empty_row_uniform"),
    one="A row",
    others="places",
    nothing="Return zeros there.",
    zeros=ZEROS,
)


# What takes the place of minus infinity

plus_infinity_mistakes(task, weights_returned=True, others="places", zeros=ZEROS)

finite_fill_mistakes(
    task,
    *("fill_undercut", "filled_with_minus_hundred"),
    others="the masked places",
    empty_row="a row with nothing to attend to",
    zeros=ZEROS,
)
task.changed(
    "lowered_by_a_hundred",
    "You lower masked scores by a finite number, such as 100. Such scores still get some weight: nearly all of it if the other scores are far lower, and a share of it in a row with nothing to attend to. Set masked scores to -inf, and set the weights to 0 in such a row.",
    {MASKED: lambda scores, mask: scores - ~mask * 100.0, ZEROS: left_out},
)
task.changed(
    "zero_times_infinity",
    "You multiply the mask by -inf. 0 times infinity is NaN, which spoils the scores that should not change. Use masked_fill or torch.where.",
    {MASKED: lambda scores, mask: scores + ~mask * -torch.inf, ZEROS: left_out},
)
task.changed(
    "zero_is_masked",
    "A score that is exactly 0 is treated as masked, which happens if you look for the zeros in scores * mask. Use the mask itself.",
    {"mask": lambda mask, *, scores: scores * mask != 0},
)


# The softmax, and masks after it

task.changed(
    "first_axis",
    "You normalise over the first axis. The scores in each row share the weight among themselves: normalise over the last axis.",
    {SOFTMAX: lambda masked: masked.softmax(0)},
)


def divided(weights, mask):
    """Take the place of the zeros: what is masked is taken out here, and the rest divided by its total."""
    kept = weights * mask
    return kept / kept.sum(-1, keepdim=True)


def divided_safely(weights, mask):
    return torch.nan_to_num(divided(weights, mask))


task.changed(
    "masked_after_and_divided",
    "Masked scores still count before you remove them: in the softmax whose weights you divide by their new total, or in the maximum that you subtract. If they are far larger than the rest, or a row has nothing to attend to, this gives 0/0. Mask with -inf before the softmax, and return zeros for a row with nothing to attend to.",
    {MASKED: left_out, ZEROS: divided},
)
task.changed(
    "masked_after_and_divided_safely",
    "Your zeros are right in a row with nothing to attend to. But masked scores still count before you remove them, because you mask after the softmax, or after the maximum, or because you only lower them by a finite number such as 100. If they are far larger than the rest, the remaining weights also become 0. Set them to -inf before the softmax.",
    {MASKED: left_out, ZEROS: divided_safely},
)


# exp without a maximum

OVERFLOW = (
    "exp overflows: for a score above about 88 it is infinite in float32, and infinity divided by infinity is NaN. For a score far below 0 it is 0. Subtract "
    "the largest score that may be attended to first, row by row."
)
for name, sentence, weights in (
    ("overflow_and_empty_row_nan", "And a row with nothing to attend to gives 0/0, which is also NaN: return zeros there.", divided),
    ("overflow", "Adding a small number to the total does not help.", lambda e, mask: e * mask / ((e * mask).sum(-1, keepdim=True) + 1e-9)),
    ("overflow_turned_into_zeros", "Zeros instead of NaN do not help: those rows should have weights that sum to 1.", divided_safely),
    ("overflow_in_rows_with_something", "Your zeros in a row with nothing to attend to are right.", lambda e, mask: torch.where(mask.any(-1, keepdim=True), divided(e, mask), 0.0)),
):  # fmt: skip
    task.changed(name, f"{OVERFLOW} {sentence}", {MASKED: left_out, SOFTMAX: torch.exp, ZEROS: weights})


# The gradient

task.changed(
    "gradient_nan",
    "The values are right, but in a row with nothing to attend to, the gradient is NaN. Such a row is NaN or infinite at some step, and the gradient still flows through that step when NaN is replaced afterwards. masked_fill on the scores stops the gradient there; adding -inf or dividing 0 by 0 does not.",
    {MASKED: lambda scores, mask: scores + torch.where(mask, 0.0, -torch.inf)},
)
task.changed(
    "written_into_softmax",
    "The values are right, but you write into the result of softmax, which PyTorch still needs for the gradient. Make a new tensor instead, with masked_fill or nan_to_num.",
    {ZEROS: lambda weights, mask: weights.nan_to_num_()},
)
