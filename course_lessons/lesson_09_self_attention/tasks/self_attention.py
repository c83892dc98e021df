"""Task 09.self_attention: each word of a sentence looks at all of its words, through three projections and with scaled scores."""

import torch

from course_lessons.shared.partial_credit import USUAL
from course_lessons.shared.weight_properties import outside_the_values
from course_utils.base.words import count
from course_utils.checks.task import Case, Task, sizes

task = Task(
    __name__,
    "self-attention, scaled and safe",
    arguments=("x B×T×D", "weight_q D×d", "weight_k D×d", "weight_v D×E", "mask B×T×T"),
    result="context B×T×E",
    difficulty=3,
    importance=5,
    minutes=25,
    partial=USUAL
    | {
        "empty_row_nan": (0.5, "right for every word that may attend to something."),
        "empty_row_uniform": (0.5, "right for every word that may attend to something."),
    },
)


@task.property
def contexts_lie_between_the_values(case, value):
    """A weighted sum whose weights are not negative and sum to 1 lies between the smallest and the largest value."""
    x, _, _, weight_v, mask = case.args
    if x.isnan().any() or x.isinf().any():
        return None
    allowed = torch.ones(1, 1, 1, dtype=torch.bool) if mask is None else mask
    outside = outside_the_values(value, x.double() @ weight_v.double(), allowed) & allowed.any(2)[..., None]
    if outside.any():
        return "Each entry of a context should lie between the smallest and the largest of the values that its word may attend to; one of yours lies outside. Are the weights of each word at least 0, do they sum to 1, and are they 0 where the mask is False?"
    return None


@task.property
def nothing_to_attend_gives_zeros(case, value):
    """A word that may attend to nothing has a context of zeros."""
    mask = case.args[4]
    empty = None if mask is None else value[~mask.any(2)]
    if empty is not None and empty.numel() and empty.abs().max() > 1e-6:
        return f"A word with nothing to attend to should have a context of zeros; one of yours contains {empty.flatten()[empty.abs().argmax()]:.4g}."
    return None


def _inputs(draw, B, T, D, d, E, mask):
    x, *weights = (draw.numbers(*shape) for shape in ((B, T, D), (D, d), (D, d), (D, E)))
    return (x, *(weight / 2 + 0.125 for weight in weights), mask)


def _with_padding(draw, B, T):
    """Return a mask B×T×T and the padding B×T: real words stand anywhere, and attend to some of one another; padding takes no part."""
    real = draw.mask(B, T)
    both = real[:, :, None] & real[:, None, :]
    return both & (draw.mask(B, T, T) | torch.eye(T, dtype=torch.bool)), ~real


@task.cases
def _(draw):
    for size in sizes(B=2, T=5, D=7, d=3, E=11):
        B, T = size.B, size.T if size.full else size.T + 1
        dims = (B, T, size.D, size.d, size.E)
        name = f"{count(B, 'sentence')} of {T} words, widths D={size.D}, d={size.d}, E={size.E}"
        yield Case(f"{name}, no mask", _inputs(draw, *dims, None), size.full)
        yield Case(f"{name}, with a mask", _inputs(draw, *dims, draw.mask(B, T, T)), size.full)
    yield Case("D, d and E all 3", _inputs(draw, 2, 5, 3, 3, 3, draw.mask(2, 5, 5)))
    causal = torch.ones(5, 5).tril().bool().repeat(2, 1, 1)
    yield Case("each word may attend to itself and to earlier ones", _inputs(draw, 2, 5, 7, 3, 4, causal))
    unseen = draw.mask(2, 5, 5) | torch.eye(5, dtype=torch.bool).roll(1, 1)
    unseen[:, 2] = True  # with a single word to attend to, it would not matter what it asks
    unseen[:, :, 2] = False
    unseen[:, 1, 3] = True
    yield Case("a word that nothing attends to, and that attends to others", _inputs(draw, 2, 5, 2, 3, 7, unseen))
    yield Case("as many sentences as words", _inputs(draw, 3, 3, 5, 2, 7, draw.mask(3, 3, 3)))
    yield Case("a single word, widths of 1", _inputs(draw, 2, 1, 1, 1, 1, None), True, edge=True)
    empty = draw.mask(2, 5, 5) | torch.eye(5, dtype=torch.bool)
    empty[1, 2] = False
    empty[1, 0, 2] = True
    yield Case("a word that may attend to nothing", _inputs(draw, 2, 5, 7, 3, 11, empty), True, edge=True)
    mask, padding = _with_padding(draw, 3, 5)
    x, weight_q, weight_k, weight_v, mask = _inputs(draw, 3, 5, 7, 3, 11, mask)
    weights = (weight_q, weight_k, 4 * weight_v, mask)  # large: the greatest number of float32 does not stay finite
    garbage = torch.tensor([torch.nan, torch.inf, -torch.inf, torch.nan, torch.inf, torch.nan, -torch.inf])
    yield Case(
        "NaN and infinity at padding", (torch.where(padding[..., None], garbage, x), *weights), True, hazard=True
    )
    yield Case("NaN at padding", (x.masked_fill(padding[..., None], torch.nan), *weights), hazard=True)
    yield Case("200 words", _inputs(draw, 1, 200, 3, 2, 5, draw.mask(1, 200, 200)), edge=True)
    # The first word's allowed scores lie far below the one that is hidden from it.
    x = torch.tensor([[[100.0], [-100.0], [-70.0]], [[-100.0], [110.0], [90.0]]])
    far = torch.tensor([[False, True, True], [True, True, False], [False, True, True]]).repeat(2, 1, 1)
    one = torch.ones(1, 1)
    yield Case("very large scores, near ±10,000", (x, one, one, draw.numbers(1, 2) / 50 + 0.0525, far), hazard=True)
