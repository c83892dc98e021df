"""Task 17.temporal_link: what was written after what, kept up to date at each step."""

from operator import add, mul, sub

import torch

from course_utils.checks.running.contract import Case
from course_utils.checks.task import Task, count
from course_utils.tasks.lesson_17._drawn import links, shares
from course_utils.tasks.shares import USUAL

ORDER = "Return the new link, then the new precedence."
task = Task(
    "17.temporal_link",
    "what was written after what",
    arguments=("link B×N×N", "precedence B×N", "weights B×N"),
    result=("link B×N×N", "precedence B×N"),
    difficulty=4,
    importance=3,
    minutes=20,
    hints=(
        "The precedence says where the last write went, and the link keeps for each pair of places to what degree place i was written directly after place j. A new write at place i links it to where the write before it went, which is the old precedence. Whatever the link knew of the row and of the column of a place fades as far as that place is overwritten. A place is never linked to itself.",
        "Take two places with the link [[0, 0.5], [0, 0]], the precedence [0.8, 0.2] and the write weights [0, 0.5]. Row 0, column 1 becomes (1 - 0 - 0.5)·0.5 + 0·0.2 = 0.25. Row 1, column 0 becomes (1 - 0.5 - 0)·0 + 0.5·0.8 = 0.4: place 1 was written, half of it, after place 0. On the diagonal, row 1 would get 0.5·0.2 = 0.1, and it is set to 0. The write weights sum to 0.5, so the new precedence is 0.5·0.8 + 0 = 0.4 and 0.5·0.2 + 0.5 = 0.6.",
        "row = weights as B×N×1, column = weights as B×1×N; new link = (1 minus row minus column) times link, plus row times the old precedence as B×1×N; put zeros on its diagonal; new precedence = (1 minus the sum of each row of weights) times the old precedence, plus weights.",
    ),
    partial=USUAL,
)


@task.property
def no_place_follows_itself(case, value):
    """The diagonal is 0."""
    wrong = value[0].diagonal(dim1=1, dim2=2).abs() > 1e-5
    if not wrong.any():
        return None
    row, place = divmod(int(wrong.int().argmax()), wrong.shape[1])
    return f"No place is linked to itself, so the diagonal of the link is 0. Yours has {value[0][row, place, place]:.4g} for place {place} of row {row}."


@task.property
def nothing_is_negative(case, value):
    """Links and precedence are shares."""
    for name, part in zip(("link", "precedence"), value, strict=True):
        if (part < -1e-5).any():
            return f"Links and precedence are shares, and none is negative. The smallest number of your {name} is {part.min():.4g}."
    return None


def _inputs(draw, B, N, dtype=torch.float32):
    return links(draw, B, N, dtype), shares(draw, B, N, dtype=dtype), shares(draw, B, N, dtype=dtype)


@task.cases
def _(draw):
    for B, N in ((1, 2), (2, 2), (1, 3), (2, 4), (3, 5)):
        yield Case(f"{count(B, 'row')}, {N} places", _inputs(draw, B, N), N == 5)
    yield Case("2 rows, 7 places", _inputs(draw, 2, 7), True)
    yield Case("as many rows as places", _inputs(draw, 3, 3))
    link, precedence, weights = _inputs(draw, 2, 3)
    diagonal = torch.diag_embed(shares(draw, 2, 3))
    yield Case("a link with numbers on its diagonal", (link + diagonal, precedence, weights), True)
    yield Case("a single place", _inputs(draw, 2, 1), True, edge=True)
    link, precedence, weights = _inputs(draw, 3, 5)
    yield Case("the first step", (0 * link, 0 * precedence, weights), True, edge=True)
    yield Case("a step that writes nothing", (link, precedence, 0 * weights), True, edge=True)
    one, other = torch.eye(5)[draw.distinct(5, 0, 5)[:4]].split(2)
    yield Case("a write into one place", (link[:2], other, one), True, edge=True)
    yield Case("the same place written twice", (link[:2], one, one), True, edge=True)
    full = weights / weights.sum(1, keepdim=True)
    yield Case("write weights that sum to 1", (link, precedence, full), True, edge=True)
    yield Case("20 places", _inputs(draw, 2, 20), True, edge=True)
    yield Case("float64 numbers", _inputs(draw, 3, 5, torch.float64), True, edge=True)


@task.oracle
def _(link, precedence, weights):
    B, N = weights.shape
    rows = [
        (link[b, i] * (1 - weights[b, i] - weights[b]) + weights[b, i] * precedence[b]) * (torch.arange(N) != i)
        for b in range(B)
        for i in range(N)
    ]
    kept = [precedence[b] - precedence[b] * sum(weights[b]) + weights[b] for b in range(B)]
    return torch.stack(rows).view(B, N, N), torch.stack(kept)


@task.steps
def _(link, precedence, weights):
    less = yield "1 minus the weight of the row's place", sub, 1, weights[:, :, None]
    share = yield "what stays of each link", sub, less, weights[:, None]
    kept = yield "the old link, faded", mul, share, link
    linked = yield "what is linked anew", mul, weights[:, :, None], precedence[:, None]
    total = yield "the new link with its diagonal", add, kept, linked
    new = yield "the new link", _cleared, total
    written = yield "the sum of the write weights", lambda weights: weights.sum(1, keepdim=True), weights
    left = yield "1 minus the sum of the write weights", sub, 1, written
    before = yield "the old precedence, faded", mul, left, precedence
    latest = yield "the new precedence", add, before, weights
    return new, latest


def _cleared(link):
    return link.masked_fill(torch.eye(link.shape[1], dtype=torch.bool), 0.0)


def _stays(row, column):
    return 1 - row - column


def _linked(weights, precedence):
    return weights[:, :, None] * precedence[:, None]


def _latest(precedence, weights):
    return (1 - weights.sum(1, keepdim=True)) * precedence + weights


def _step(
    link,
    precedence,
    weights,
    stays=_stays,
    linked=_linked,
    clear=_cleared,
    latest=_latest,
    used=lambda old, new: old,
    returned=lambda link, new, old: (link, new),
):
    new = latest(precedence, weights)
    kept = stays(weights[:, :, None], weights[:, None]) * link
    return returned(clear(kept + linked(weights, used(precedence, new))), new, precedence)


def _mistake(name, sentence, **parts):
    """Register a step that is right but for the parts that are given."""
    task.mistake(sentence, name)(lambda link, precedence, weights: _step(link, precedence, weights, **parts))


# What is linked anew

_mistake(
    "new_precedence_used",
    "You update the precedence first and use the new one for the link, so a place seems to be written after itself and the other places of the same step. The link needs the precedence from before the step.",
    used=lambda old, new: new,
)
_mistake(
    "transposed",
    "Your new links are turned round: w_j p_i says that the old place was written after the new one. Row i is the place that is written now, and column j the one before it: w_i p_j.",
    linked=lambda weights, precedence: _linked(precedence, weights),
)
_mistake(
    "linked_to_itself",
    "You multiply the write weights with themselves, so places of the same step are linked. Multiply the write weight of row i by the old precedence of column j.",
    linked=lambda weights, precedence: _linked(weights, weights),
)
_mistake(
    "precedence_with_itself",
    "You multiply the precedence with itself, so what is written now is not linked to anything. Multiply the write weight of row i by the old precedence of column j.",
    linked=lambda weights, precedence: _linked(precedence, precedence),
)
_mistake(
    "both_directions",
    "You link the places in both directions. Only row i, the place that is written now, is linked to column j, the place before it: w_i p_j.",
    linked=lambda weights, precedence: _linked(weights, precedence) + _linked(precedence, weights),
)
_mistake(
    "same_place_only",
    "You multiply write weights and precedence place by place, so the product w_i p_i is added to all of row i. Each pair of places has a product of its own: give the weights a last axis of size 1, and the precedence a middle one.",
    linked=lambda weights, precedence: (weights * precedence)[:, :, None],
)
_mistake(
    "same_place_along_the_row",
    "You multiply write weights and precedence place by place, so the product w_j p_j is added to all of column j. Each pair of places has a product of its own: give the weights a last axis of size 1, and the precedence a middle one.",
    linked=lambda weights, precedence: (weights * precedence)[:, None],
)
_mistake(
    "precedence_unused",
    "The old precedence has no effect on your link: the write weight of row i is added to every column. Multiply it by the old precedence of column j.",
    linked=lambda weights, precedence: weights[:, :, None],
)
_mistake(
    "weights_not_multiplied",
    "The old precedence of column j is added to every row of your link, also for places that are not written. Multiply it by the write weight of row i.",
    linked=lambda weights, precedence: precedence[:, None],
)
_mistake(
    "sum_for_product",
    "You add write weight and precedence of each pair of places. Multiply them.",
    linked=lambda weights, precedence: weights[:, :, None] + precedence[:, None],
)
_mistake(
    "nothing_linked",
    "Nothing new is linked: your old link only fades. Add the write weight of row i times the old precedence of column j.",
    linked=lambda weights, precedence: 0 * _linked(weights, precedence),
)
_mistake(
    "linked_over_the_batch",
    "You add up the new links of all rows of the batch, so that memories are mixed. Each row has links of its own: keep the axis B in the outer product.",
    linked=lambda weights, precedence: (weights.T @ precedence)[None],
)
_mistake(
    "links_subtracted",
    "You subtract what is linked anew. Add it.",
    linked=lambda weights, precedence: -_linked(weights, precedence),
)


@task.mistake(
    "Brackets are missing or too many: what is linked anew fades like the old link. Only the old link is multiplied by 1 - w_i - w_j."
)
def new_links_fade_too(link, precedence, weights):
    return _step(link + _linked(weights, precedence), precedence, weights, linked=lambda w, p: 0 * _linked(w, p))


# What stays of the old link

_mistake(
    "row_only",
    "Your old link fades only with the weight of its row's place. A link says something about two places, and fades when either is overwritten: subtract the weight of the column's place as well.",
    stays=lambda row, column: (1 - row).expand(-1, -1, column.shape[2]),
)
_mistake(
    "column_only",
    "Your old link fades only with the weight of its column's place. A link says something about two places, and fades when either is overwritten: subtract the weight of the row's place as well.",
    stays=lambda row, column: (1 - column).expand(-1, row.shape[1], -1),
)
_mistake(
    "row_twice",
    "You subtract the weight of the row's place twice. Subtract that of the row's place and that of the column's place: one needs a last axis of size 1, the other a middle one.",
    stays=lambda row, column: 1 - row - row,
)
_mistake(
    "column_twice",
    "You subtract the weight of the column's place twice. Subtract that of the row's place and that of the column's place: one needs a last axis of size 1, the other a middle one.",
    stays=lambda row, column: 1 - column - column,
)
_mistake(
    "product_of_both",
    "You multiply 1 - w_i by 1 - w_j. That is a sensible way to let a link fade, but the paper subtracts both: 1 - w_i - w_j.",
    stays=lambda row, column: (1 - row) * (1 - column),
)
_mistake(
    "product_subtracted",
    "You subtract the product of the two weights, so a link hardly fades when only one of its places is overwritten. Subtract each: 1 - w_i - w_j.",
    stays=lambda row, column: 1 - row * column,
)
_mistake(
    "sign_of_the_column",
    "A sign is wrong, or brackets are missing: you have 1 - w_i + w_j. Subtract both weights.",
    stays=lambda row, column: 1 - row + column,
)
_mistake(
    "sign_of_the_row",
    "A sign is wrong: you have 1 + w_i - w_j. Subtract both weights.",
    stays=lambda row, column: 1 + row - column,
)
_mistake(
    "nothing_fades",
    "Your old link doesn't fade: new links are added to what was there. Multiply the old link by 1 - w_i - w_j first.",
    stays=lambda row, column: torch.ones_like(row),
)
_mistake(
    "old_link_lost",
    "The old link is gone: only this step's links are left. Add what stays of the old one, (1 - w_i - w_j) times it.",
    stays=lambda row, column: torch.zeros_like(row),
)
_mistake(
    "fades_with_the_sum",
    "You let every link fade by 1 minus the sum of the write weights, as the precedence does. A link fades only as far as its own two places are overwritten: 1 - w_i - w_j.",
    stays=lambda row, column: 1 - row.sum(1, keepdim=True),
)
_mistake(
    "share_written",
    "Your old link is multiplied by w_i + w_j, so links stay where their places are overwritten and vanish elsewhere. Subtract both weights from 1.",
    stays=lambda row, column: row + column,
)


# The diagonal

_mistake(
    "diagonal_left",
    "You leave the numbers on the diagonal, where a place is linked to itself. Set the diagonal of the new link to 0.",
    clear=lambda link: link,
)
_mistake(
    "only_the_diagonal",
    "You keep the diagonal and set everything else to 0. Turn your mask round: the diagonal is to be 0.",
    clear=lambda link: link * torch.eye(link.shape[1], dtype=link.dtype),
)
_mistake(
    "one_subtracted_from_the_diagonal",
    "You subtract 1 on the diagonal. Set it to 0: multiply by 1 minus the identity matrix, or use masked_fill.",
    clear=lambda link: link - torch.eye(link.shape[1], dtype=link.dtype),
)
_mistake(
    "ones_on_the_diagonal",
    "You put 1 on the diagonal. Put 0 there: no place is linked to itself.",
    clear=lambda link: link.masked_fill(torch.eye(link.shape[1], dtype=torch.bool), 1.0),
)
_mistake(
    "lower_half",
    "You keep only what lies below the diagonal, so a place can't be linked to one that stands after it. Places are written in any order: set only the diagonal to 0.",
    clear=lambda link: link.tril(-1),
)
_mistake(
    "upper_half",
    "You keep only what lies above the diagonal, so a place can't be linked to one that stands before it. Places are written in any order: set only the diagonal to 0.",
    clear=lambda link: link.triu(1),
)


_mistake(
    "new_precedence_used_and_diagonal_left",
    "Two things differ. You update the precedence first and use the new one for the link, which needs the precedence from before the step. And you leave the numbers on the diagonal: set it to 0.",
    used=lambda old, new: new,
    clear=lambda link: link,
)
_mistake(
    "filled_through_the_batch",
    "`fill_diagonal_` takes the batch for an axis of the matrix: it stops unless all three axes are equally long, and sets only number i, i, i of each to 0. Use masked_fill with a mask N×N, or multiply by 1 minus the identity matrix.",
    clear=lambda link: link.clone().fill_diagonal_(0.0),
)


@task.mistake(
    "You clear the diagonal of this step's links, and the old link's diagonal stays. Set the diagonal of the sum to 0."
)
def diagonal_of_the_new_part(link, precedence, weights):
    return _step(link, precedence, weights, linked=lambda w, p: _cleared(_linked(w, p)), clear=lambda new: new)


@task.mistake(
    "You clear the diagonal of the old link, and then this step links places to themselves. Set the diagonal of the sum to 0."
)
def diagonal_of_the_old_part(link, precedence, weights):
    return _step(_cleared(link), precedence, weights, clear=lambda new: new)


_mistake(
    "each_row_made_to_sum_to_1",
    "You divide each row of the link by its sum. A row may sum to less than 1, where a place was written little: leave it as it is.",
    clear=lambda link: _cleared(link) / _cleared(link).sum(2, keepdim=True).clamp(min=1e-9),
)


# The precedence

FADING = "The old one is multiplied by 1 minus the sum of the write weights, and the weights are added."
_mistake(
    "precedence_does_not_fade",
    f"Your old precedence doesn't fade, so it may sum to more than 1. {FADING}",
    latest=lambda precedence, weights: precedence + weights,
)
_mistake(
    "each_place_fades_by_itself",
    f"In your precedence each place fades with its own write weight. It says where the last write went, so it fades everywhere as much as is written in all. {FADING}",
    latest=lambda precedence, weights: (1 - weights) * precedence + weights,
)
_mistake(
    "weights_not_added",
    f"Your precedence fades, and this step's write is not added to it. {FADING}",
    latest=lambda precedence, weights: (1 - weights.sum(1, keepdim=True)) * precedence,
)
_mistake(
    "precedence_replaced",
    f"Your new precedence is the write weights themselves, so a step that writes nothing would erase it. {FADING}",
    latest=lambda precedence, weights: weights,
)
_mistake(
    "share_kept_is_what_is_written",
    f"You multiply the old precedence by the sum of the write weights; the `1 -` is missing. {FADING}",
    latest=lambda precedence, weights: weights.sum(1, keepdim=True) * precedence + weights,
)
_mistake(
    "mean_for_sum",
    f"You use the mean of the write weights. {FADING}",
    latest=lambda precedence, weights: (1 - weights.mean(1, keepdim=True)) * precedence + weights,
)
_mistake(
    "largest_for_sum",
    f"You use the largest write weight. {FADING}",
    latest=lambda precedence, weights: (1 - weights.amax(1, keepdim=True)) * precedence + weights,
)
_mistake(
    "sum_over_the_batch",
    f"Your sum of the write weights runs over the batch. Each row has a sum of its own, over its places. {FADING}",
    latest=lambda precedence, weights: (1 - weights.sum(0)) * precedence + weights,
)
_mistake(
    "sum_of_everything",
    f"Your sum of the write weights runs over the whole batch. Each row has a sum of its own, over its places. {FADING}",
    latest=lambda precedence, weights: (1 - weights.sum()) * precedence + weights,
)
_mistake(
    "sum_along_the_places",
    f"Your sums of the write weights meet the places and not the rows. This runs without an error only where there are as many rows as places, or one row: keep the axis with keepdim=True. {FADING}",
    latest=lambda precedence, weights: (1 - weights.sum(1)) * precedence + weights,
)
_mistake(
    "weights_fade_too",
    f"You add the write weights before you multiply, so they fade as well. {FADING}",
    latest=lambda precedence, weights: (1 - weights.sum(1, keepdim=True)) * (precedence + weights),
)
_mistake(
    "weights_scaled_too",
    f"You multiply the write weights by their sum once more. {FADING}",
    latest=lambda precedence, weights: _latest(precedence, weights) - weights + weights.sum(1, keepdim=True) * weights,
)
_mistake(
    "sum_of_the_precedence",
    f"You use the sum of the old precedence. {FADING}",
    latest=lambda precedence, weights: (1 - precedence.sum(1, keepdim=True)) * precedence + weights,
)


# What is returned

_mistake(
    "old_precedence_returned",
    f"The precedence that you return is the one that came in, so the next step would not know of this write. {ORDER}",
    returned=lambda link, new, old: (link, old),
)
_mistake(
    "precedence_first",
    f"You return the precedence before the link. {ORDER}",
    returned=lambda link, new, old: (new, link),
)
_mistake(
    "link_only",
    f"You return the link only, and the next step needs the precedence as well. {ORDER}",
    returned=lambda link, new, old: link,
)
_mistake(
    "precedence_only",
    f"You return the precedence only. {ORDER}",
    returned=lambda link, new, old: new,
)
_mistake(
    "link_transposed",
    "The link that you return is transposed. Row i, column j says to what degree place i was written directly after place j.",
    returned=lambda link, new, old: (link.mT, new),
)
