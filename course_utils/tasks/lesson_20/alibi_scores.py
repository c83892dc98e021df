"""Task 20.alibi_scores: scores less a slope times the distance (Press et al. 2022, section 3)."""

from operator import mul, sub

import torch

from course_utils.checks.running.contract import Case
from course_utils.checks.task import Task, count, sizes
from course_utils.tasks.shares import EDGE, SIDE_EFFECT

task = Task(
    "20.alibi_scores",
    "scores that fall with the distance",
    arguments=("scores B×H×T×T",),
    result="biased B×H×T×T",
    difficulty=2,
    importance=4,
    minutes=10,
    hints=(
        "Nothing is learned here: what is taken off a score depends only on its head, its row i and its column j. So make one number for each head and one for each pair of places, and let broadcasting multiply them.",
        "Take H = 2 heads and T = 3 places. The slopes are 2^(-8/2) = 0.0625 for the first head, 2^(-16/2) = 0.0039 for the second. The distances from place 0 are 0, 1 and 2, those from place 1 are 1, 0 and 1. If all scores of the first head are 5, its row 0 becomes 5, 4.9375 and 4.875, and its row 1 becomes 4.9375, 5 and 4.9375.",
        "slopes = 2 to the power of -8·h/H for h = 1, 2, …, H, and two axes of size 1 after them: H×1×1; places = 0, 1, …, T - 1; distance = the absolute value of the places as a column less the places as a row: T×T; return scores minus slopes times distance.",
    ),
    partial=EDGE
    | SIDE_EFFECT
    | {
        "gradient": (0.75, "every score is right, but its gradient is not."),
    },
)


@task.property
def the_diagonal_stays(case, value):
    """A place is at the distance 0 from itself."""
    off = (value - case.args[0]).diagonal(dim1=-2, dim2=-1).abs() > 1e-3
    return (
        f"The score of a place for itself should stay as it is, since its distance is 0. For the input “{case.name}” yours changes."
        if off.any()
        else None
    )


@task.property
def both_directions_lose_as_much(case, value):
    """The distance from i to j is that from j to i."""
    less = case.args[0] - value
    return (
        f"The distance has no sign: as much is taken off for j places back as for j places ahead. For the input “{case.name}” that is not so in your result."
        if ((less - less.mT).abs() > 1e-3 * (1 + less.abs())).any()
        else None
    )


@task.cases
def _(draw):
    for size in sizes(B=2, H=3, T=5):
        T = size.T if size.full else size.T + 2
        name = f"{count(size.B, 'sentence')}, {size.H} heads, T = {T}"
        yield Case(name, (draw.numbers(size.B, size.H, T, T),), size.full)
    yield Case("8 heads", (draw.numbers(2, 8, 5, 5),), True)
    yield Case("as many sentences as heads", (draw.numbers(3, 3, 5, 5),))
    yield Case("as many heads as places", (draw.numbers(2, 5, 5, 5),))
    yield Case("as many sentences as places", (draw.numbers(5, 2, 5, 5),))
    yield Case("B, H and T all 3", (draw.numbers(3, 3, 3, 3),))
    yield Case("a single head", (draw.numbers(2, 1, 5, 5),), True, edge=True)
    yield Case("a single place", (draw.numbers(2, 3, 1, 1),), True, edge=True)
    yield Case("50 places", (draw.numbers(1, 3, 50, 50),), True, edge=True)
    yield Case("scores of ±10,000", (draw.numbers(2, 3, 5, 5) * 1e4,), True, hazard=True)
    yield Case("float64 numbers", (draw.numbers(2, 3, 5, 5, dtype=torch.float64),), True, edge=True)


@task.oracle
def _(scores):
    _, H, T, _ = scores.shape
    less = [[[2 ** (-8 * (h + 1) / H) * abs(i - j) for j in range(T)] for i in range(T)] for h in range(H)]
    return scores - torch.tensor(less, dtype=scores.dtype)


def _slopes(H, T=0):
    return 2.0 ** (-8 * torch.arange(1, H + 1) / H)


def _signed(T):
    places = torch.arange(T)
    return places[:, None] - places


def _distance(T):
    return _signed(T).abs()


def _column(slopes):
    return slopes[:, None, None]


@task.steps
def _(scores):
    slopes = yield "the slopes", lambda scores: _column(_slopes(scores.shape[1])).to(scores), scores
    distance = yield "the distances", lambda scores: _distance(scores.shape[-1]).to(scores), scores
    less = yield "slopes times distances", mul, slopes, distance
    biased = yield "the scores less the slopes times the distances", sub, scores, less
    return biased


def _alibi(scores, slopes=_slopes, distance=_distance, column=_column, join=sub):
    _, H, T, _ = scores.shape
    return join(scores, column(slopes(H, T)).to(scores) * distance(T).to(scores))


def _mistake(name, sentence, **parts):
    """Register scores that are right but for the parts that are given."""
    task.mistake(sentence, name)(lambda scores: _alibi(scores, **parts))


# The slopes

_mistake(
    "slopes_from_zero",
    "You number the heads from 0, so the first slope is 2^0 = 1. Number them from 1: torch.arange(1, H + 1), so that the first slope is 2^(-8/H) and the last one 2^-8.",
    slopes=lambda H, T: 2.0 ** (-8 * torch.arange(H) / H),
)
_mistake(
    "last_slope_for_all",
    "All heads have the slope 2^-8. Only the last one has: that of head h is 2^(-8·h/H).",
    slopes=lambda H, T: torch.full((H,), 2.0**-8),
)
_mistake(
    "first_slope_for_all",
    "All heads have the slope 2^(-8/H). Only the first one has: that of head h is 2^(-8·h/H).",
    slopes=lambda H, T: torch.full((H,), 2 ** (-8 / H)),
)
_mistake(
    "no_slopes",
    "The slopes are missing: you subtract the distance itself in all heads. Multiply it by 2^(-8·h/H) first.",
    slopes=lambda H, T: torch.ones(H),
)
_mistake(
    "slopes_reversed",
    "Your slopes stand the wrong way round: the first head has the smallest. It should have the largest, 2^(-8/H), and the last head 2^-8.",
    slopes=lambda H, T: _slopes(H).flip(0),
)
_mistake(
    "halved_from_head_to_head",
    "Your slopes are 1/2, 1/4, 1/8 and so on, which is right only for 8 heads. That of head h is 2^(-8·h/H), so the last one is always 2^-8.",
    slopes=lambda H, T: 2.0 ** -torch.arange(1, H + 1),
)
_mistake(
    "halved_from_one",
    "Your slopes are 1, 1/2, 1/4 and so on. That of head h is 2^(-8·h/H), with h from 1, so the last one is always 2^-8.",
    slopes=lambda H, T: 2.0 ** -torch.arange(H),
)
_mistake(
    "minus_forgotten_in_the_exponent",
    "The minus in the exponent is missing, so your slopes grow from 2^(8/H) to 256. They should fall: 2^(-8·h/H).",
    slopes=lambda H, T: 2.0 ** (8 * torch.arange(1, H + 1) / H),
)
_mistake(
    "powers_of_e",
    "You take powers of e. The slopes are powers of 2: 2 ** (…), not exp.",
    slopes=lambda H, T: torch.exp(-8 * torch.arange(1, H + 1) / H),
)
_mistake(
    "eight_forgotten",
    "Your slopes are 2^(-h/H). The 8 is missing: 2^(-8·h/H).",
    slopes=lambda H, T: 2.0 ** (-torch.arange(1, H + 1) / H),
)
_mistake(
    "h_under_the_line",
    "Your slopes are 2^(-8/h), so they grow from head to head. They should be 2^(-8·h/H): divide by the number of heads.",
    slopes=lambda H, T: 2.0 ** (-8 / torch.arange(1, H + 1)),
)
_mistake(
    "places_for_heads",
    "You divide by T, the number of places, in the exponent. Divide by H, the number of heads: 2^(-8·h/H).",
    slopes=lambda H, T: 2.0 ** (-8 * torch.arange(1, H + 1) / T),
)
_mistake(
    "slopes_added_up",
    "Your slopes add up from head to head. That of head h is 2^(-8·h/H) by itself.",
    slopes=lambda H, T: _slopes(H).cumsum(0),
)


# Their axis

_mistake(
    "slopes_along_the_batch",
    "Your slopes lie along the batch, axis 0, so each sentence has a slope of its own, and this runs only if there are as many sentences as heads. Give the slopes the shape H×1×1, so that they lie along axis 1.",
    column=lambda slopes: slopes[:, None, None, None],
)
_mistake(
    "slopes_along_the_rows",
    "Your slopes lie along the rows of the scores, axis 2, and this runs only if there are as many heads as places. Give them the shape H×1×1, so that they lie along axis 1.",
    column=lambda slopes: slopes[:, None],
)
_mistake(
    "slopes_along_the_columns",
    "Your slopes lie along the columns of the scores, the last axis, and this runs only if there are as many heads as places. Give them the shape H×1×1, so that they lie along axis 1.",
    column=lambda slopes: slopes,
)


# The distance

_mistake(
    "signed_distance",
    "You subtract the slope times i - j, which has a sign: later places gain as much as earlier ones lose. Take the absolute value.",
    distance=_signed,
)
_mistake(
    "signed_the_other_way",
    "You subtract the slope times j - i, which has a sign: earlier places gain as much as later ones lose. Take the absolute value.",
    distance=lambda T: -_signed(T),
)
_mistake(
    "earlier_places_only",
    "Only earlier places lose something; later ones stay as they are. Take the absolute value of i - j, so that it counts in both directions.",
    distance=lambda T: _signed(T).clamp(min=0),
)
_mistake(
    "later_places_only",
    "Only later places lose something; earlier ones stay as they are. Take the absolute value of i - j, so that it counts in both directions.",
    distance=lambda T: (-_signed(T)).clamp(min=0),
)
_mistake(
    "squared",
    "You subtract the slope times the square of the distance. Take the distance itself.",
    distance=lambda T: _signed(T) ** 2,
)
_mistake(
    "place_of_the_key",
    "You subtract the slope times j, the place of the column. Take the distance from the row's place to it, |i - j|.",
    distance=lambda T: torch.arange(T).expand(T, T),
)
_mistake(
    "place_of_the_query",
    "You subtract the slope times i, the place of the row. That is the same for the whole row, and a softmax does not notice it. Take the distance from i to j, |i - j|.",
    distance=lambda T: torch.arange(T)[:, None].expand(T, T),
)
_mistake(
    "one_more",
    "Your distances are too large by 1, so that a place is at the distance 1 from itself. They should be |i - j|, which is 0 there.",
    distance=lambda T: _distance(T) + 1,
)
_mistake(
    "between_them",
    "Your distances count the places between two, so neighbours lose nothing. They should be |i - j|, which is 1 for neighbours.",
    distance=lambda T: (_distance(T) - 1).clamp(min=0),
)
_mistake(
    "share_of_the_length",
    "You divide the distances by T, so what is taken off depends on the length of the sentence. Take |i - j| as it is.",
    distance=lambda T: _distance(T) / T,
)
_mistake(
    "distance_without_an_effect",
    "You subtract a head's slope from all scores of other places alike, however far they are. Multiply it by the distance |i - j|.",
    distance=lambda T: _distance(T) > 0,
)


# What is done with it

_mistake(
    "added",
    "You add the slope times the distance, so far places gain. Subtract it.",
    join=lambda scores, less: scores + less,
)
_mistake(
    "multiplied",
    "You multiply the scores by the slope times the distance. Subtract it from them.",
    join=mul,
)
_mistake(
    "from_the_other_side",
    "You subtract the scores from the slope times the distance: the sign is turned round. It is scores minus that.",
    join=lambda scores, less: less - scores,
)
_mistake(
    "returned_by_itself",
    "You return only what is to be taken off. Subtract it from the scores.",
    join=lambda scores, less: less.expand_as(scores),
)
_mistake(
    "returned_below_zero",
    "You return only the bias, without the scores. Add it to them.",
    join=lambda scores, less: -less.expand_as(scores),
)
_mistake(
    "weights_returned",
    "You return the softmax of the result. Return the scores themselves: the softmax comes later, after the mask.",
    join=lambda scores, less: (scores - less).softmax(-1),
)
_mistake(
    "taken_off_weights",
    "You subtract from the softmax of the scores. Subtract from the scores themselves: the softmax comes later.",
    join=lambda scores, less: scores.softmax(-1) - less,
)
_mistake(
    "masked",
    "You put -inf at later places. That is the work of a mask, which comes later: here the scores of later places fall with the distance, too.",
    join=lambda scores, less: (scores - less).masked_fill(_signed(scores.shape[-1]) < 0, -torch.inf),
)


@task.mistake("You return the scores as they came in. Subtract the slope of each head times the distance.")
def nothing_taken_off(scores):
    return scores.clone()


@task.mistake("The numbers are right, but no gradient reaches the scores. Leave out `detach` and `no_grad`.")
def gradient_cut(scores):
    return _alibi(scores.detach())


@task.mistake(
    "The numbers are right, but you subtract in place, from the scores that came in, and whoever uses them later finds other numbers there. Write `scores - …`, not `scores -= …`."
)
def written_into_the_scores(scores):
    right = _alibi(scores)
    with torch.no_grad():
        scores.sub_(1.0)
    return right
