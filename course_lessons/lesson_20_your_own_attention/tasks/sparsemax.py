"""Task 20.sparsemax: the weights nearest to the scores (Martins & Astudillo 2016, equation 2 and algorithm 1)."""

import torch

from course_lessons.shared.partial_credit import EDGE, SIDE_EFFECT
from course_lessons.shared.weight_properties import no_weight_is_negative, rows_sum_to_one
from course_utils.base.words import count
from course_utils.checks.task import Case, Task, sizes

task = Task(
    __name__,
    "weights of which many are 0",
    arguments=("scores B×T×S", "mask B×T×S"),
    result="weights B×T×S",
    difficulty=3,
    importance=4,
    minutes=15,
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
    if (leaked > 1e-6).any():
        return f"Where the mask is False the weight should be 0; one of yours is {leaked.max():.4g}."
    return None


@task.property
def one_threshold_for_each_row(case, value):
    """Weights above 0 are scores less the same number."""
    scores, mask = case.args
    above = (value > 1e-4) & mask
    less = scores - value
    least, most = less.masked_fill(~above, torch.inf).amin(-1), less.masked_fill(~above, -torch.inf).amax(-1)
    off = most - least > 1e-3 * (1 + most.abs())
    if off.any():
        return f"Each weight above 0 should be its score minus one number, which is the same in the whole row. For the input “{case.name}” a row of yours has weights that do not differ by as much as their scores do."
    return None


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
