"""Task 17.link_step: note what was written after what, and follow it."""

from operator import add, mul, sub

import torch

from course_utils.checks.running.contract import Case
from course_utils.checks.task import Task, count
from course_utils.tasks.lesson_17._drawn import drawn_weights, links, shares
from course_utils.tasks.shares import USUAL

task = Task(
    "17.link_step",
    "one step of the links",
    arguments=("link B×N×N", "precedence B×N", "weights B×N", "at B×N", "content B×N", "modes B×3"),
    result=("link B×N×N", "precedence B×N", "at B×N"),
    difficulty=4,
    importance=3,
    minutes=30,
    hints=(
        "The precedence says where the last write went. A new write at position i links it to that, and old links fade as far as either of their positions is overwritten. The read head then goes where the new link leads from where it was: forward to what was written next, backward to what was written before, or by content; its modes say how much of each.",
        "Take two positions, a link of zeros, the precedence [1, 0], and a write of [0, 1]. Row 1, column 0 of the link becomes 1: position 1 was written right after position 0. The precedence becomes [0, 1]. A head that read with [0.75, 0.25] goes forward to [0, 0.75], since the link leads from 0 to 1, and backward to [0.25, 0]. With content [0.5, 0.5] and the modes [0.2, 0.2, 0.6] it reads with 0.2·0.25 + 0.2·0.5 = 0.15 and 0.2·0.5 + 0.6·0.75 = 0.55.",
        "row, column = weights as B×N×1 and B×1×N; link = (1 - row - column)·link + row·(old precedence as B×1×N), with zeros on its diagonal; precedence = (1 - sum of weights)·precedence + weights; forward = link @ at, backward = transposed link @ at; return link, precedence, and the three columns of modes times backward, content and forward, added up.",
    ),
    partial=USUAL,
)


@task.property
def no_position_follows_itself(case, value):
    """The diagonal is 0."""
    if not (value[0].diagonal(dim1=1, dim2=2).abs() > 1e-5).any():
        return None
    return "No position is linked to itself, so the diagonal of the link is 0. Yours has another number there."


def _inputs(draw, B, N, dtype=torch.float32):
    link, written = links(draw, B, N, dtype), [shares(draw, B, N, dtype=dtype) for _ in range(2)]
    return link, *written, *(drawn_weights(draw, B, size, dtype) for size in (N, N, 3))


@task.cases
def _(draw):
    for B, N in ((1, 2), (2, 2), (1, 3), (2, 4), (3, 5)):
        yield Case(f"{count(B, 'row')}, {N} positions", _inputs(draw, B, N), N == 5)
    yield Case("2 rows, 7 positions", _inputs(draw, 2, 7), True)
    yield Case("as many rows as positions", _inputs(draw, 3, 3))
    link, precedence, weights, at, *others = _inputs(draw, 2, 3)
    marked = link + torch.diag_embed(shares(draw, 2, 3))
    yield Case("a link with numbers on its diagonal", (marked, precedence, weights, at, *others), True)
    yield Case("the first step", (0 * link, 0 * precedence, weights, 0 * at, *others), edge=True)
    yield Case("a step that writes nothing", (link, precedence, 0 * weights, at, *others), edge=True)
    yield Case("a single position", _inputs(draw, 2, 1), edge=True)
    yield Case("float64 numbers", _inputs(draw, 3, 5, torch.float64), True, edge=True)


@task.oracle
def _(link, precedence, weights, at, content, modes):
    links, lasts, reads = [], [], []
    for b in range(len(link)):
        N, w = weights.shape[1], weights[b]
        rows = [(link[b, i] * (1 - w[i] - w) + w[i] * precedence[b]) * (torch.arange(N) != i) for i in range(N)]
        new = torch.stack(rows)
        forward = sum(new[:, j] * at[b, j] for j in range(N))
        backward = sum(new[i] * at[b, i] for i in range(N))
        links.append(new)
        lasts.append(precedence[b] - precedence[b] * sum(w) + w)
        reads.append(modes[b, 0] * backward + modes[b, 1] * content[b] + modes[b, 2] * forward)
    return torch.stack(links), torch.stack(lasts), torch.stack(reads)


def _cleared(link):
    return link.masked_fill(torch.eye(link.shape[1], dtype=torch.bool), 0.0)


def _stays(row, column):
    return 1 - row - column


def _linked(weights, precedence):
    return weights[:, :, None] * precedence[:, None]


def _latest(precedence, weights):
    return (1 - weights.sum(1, keepdim=True)) * precedence + weights


def _along(link, at):
    return (link @ at[..., None])[..., 0]


def _by_modes(modes, backward, content, forward):
    return modes[:, :1] * backward + modes[:, 1:2] * content + modes[:, 2:] * forward


@task.steps
def _(link, precedence, weights, at, content, modes):
    share = yield "what stays of each link", _stays, weights[:, :, None], weights[:, None]
    kept = yield "the old link, faded", mul, share, link
    linked = yield "what is linked anew", _linked, weights, precedence
    total = yield "the new link with its diagonal", add, kept, linked
    new = yield "the new link", _cleared, total
    left = yield "1 minus the sum of the write weights", sub, 1, weights.sum(1, keepdim=True)
    before = yield "the old precedence, faded", mul, left, precedence
    latest = yield "the new precedence", add, before, weights
    forward = yield "forward", _along, new, at
    backward = yield "backward", _along, new.mT, at
    one = yield "the mode for backward times backward", mul, modes[:, :1], backward
    two = yield "the mode for content times content", mul, modes[:, 1:2], content
    three = yield "the mode for forward times forward", mul, modes[:, 2:], forward
    both = yield "backward and content together", add, one, two
    read = yield "where the head reads", add, both, three
    return new, latest, read


# A right step, of which mistakes change one part


def _step(
    link,
    precedence,
    weights,
    at,
    content,
    modes,
    stays=_stays,
    linked=_linked,
    clear=_cleared,
    latest=_latest,
    used=lambda old, new: old,
    followed=lambda old, new: new,
    ways=lambda link, at: (_along(link.mT, at), _along(link, at)),
    mix=_by_modes,
    returned=lambda *results: results,
):
    last = latest(precedence, weights)
    new = clear(stays(weights[:, :, None], weights[:, None]) * link + linked(weights, used(precedence, last)))
    backward, forward = ways(followed(link, new), at)
    return returned(new, last, mix(modes, backward, content, forward))


def _mistake(name, sentence, **parts):
    """Register a step that is right but for the parts that are given."""
    task.mistake(sentence, name)(lambda *args: _step(*args, **parts))


_mistake(
    "new_precedence_used",
    "You update the precedence first and use the new one for the link, so a position seems to be written after itself and the others of the same step. The link needs the precedence from before the step.",
    used=lambda old, new: new,
)
_mistake(
    "transposed",
    "Your new links are turned round: w_j p_i says that the old position was written after the new one. Row i is the position that is written now, and column j the one before it: w_i p_j.",
    linked=lambda weights, precedence: _linked(precedence, weights),
)
_mistake(
    "linked_to_itself",
    "You multiply the write weights with themselves, so positions of the same step are linked. Multiply the write weight of row i by the old precedence of column j.",
    linked=lambda weights, precedence: _linked(weights, weights),
)
_mistake(
    "nothing_linked",
    "Nothing new is linked: your old link only fades. Add the write weight of row i times the old precedence of column j.",
    linked=lambda weights, precedence: 0 * _linked(weights, precedence),
)
_mistake(
    "row_only",
    "Your old link fades only with the weight of its row's position. A link says something about two positions, and fades when either is overwritten: subtract the weight of the column's position as well.",
    stays=lambda row, column: (1 - row).expand(-1, -1, column.shape[2]),
)
_mistake(
    "product_of_both",
    "You multiply 1 - w_i by 1 - w_j. That is a sensible way to let a link fade, but the paper subtracts both: 1 - w_i - w_j.",
    stays=lambda row, column: (1 - row) * (1 - column),
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
    "diagonal_left",
    "You leave the numbers on the diagonal, where a position is linked to itself. Set the diagonal of the new link to 0.",
    clear=lambda link: link,
)
_mistake(
    "precedence_does_not_fade",
    "Your old precedence doesn't fade, so it may sum to more than 1. Multiply it by 1 minus the sum of the write weights, then add the weights.",
    latest=lambda precedence, weights: precedence + weights,
)
_mistake(
    "precedence_replaced",
    "Your new precedence is the write weights themselves, so a step that writes nothing would erase it. Multiply the old one by 1 minus the sum of the write weights, then add the weights.",
    latest=lambda precedence, weights: weights,
)
_mistake(
    "each_position_fades_by_itself",
    "In your precedence each position fades with its own write weight. It says where the last write went, so it fades everywhere as much as is written in all: by the sum of the weights.",
    latest=lambda precedence, weights: (1 - weights) * precedence + weights,
)
_mistake(
    "old_link_followed",
    "Your link is right, but the head follows the old one, which doesn't know yet what this step has written. Follow the new link.",
    followed=lambda old, new: old,
)
_mistake(
    "ways_exchanged",
    "Forward and backward are exchanged. Row i, column j of the link says to what degree position i was written after position j, so forward is the link times the read weights.",
    ways=lambda link, at: (_along(link, at), _along(link.mT, at)),
)
_mistake(
    "both_forward",
    "Both ways go forward. For backward, exchange the last two axes of the link.",
    ways=lambda link, at: (_along(link, at), _along(link, at)),
)
_mistake(
    "modes_in_another_order",
    "Your modes are in another order: the first is for backward, the second for content, the third for forward.",
    mix=lambda modes, backward, content, forward: _by_modes(modes, content, backward, forward),
)
_mistake(
    "content_left_out",
    "The weights by content have no effect. Add them, times the second mode.",
    mix=lambda modes, backward, content, forward: _by_modes(modes, backward, 0 * content, forward),
)
_mistake(
    "modes_unused",
    "The modes have no effect: you add up the three ways. Multiply each by its mode first.",
    mix=lambda modes, backward, content, forward: backward + content + forward,
)
_mistake(
    "softmax_of_the_modes",
    "You apply a softmax to the modes, which makes them nearly even. They sum to 1 as they come: use them as they are.",
    mix=lambda modes, *ways: _by_modes(modes.softmax(-1), *ways),
)
_mistake(
    "largest_mode_only",
    "You go the way with the largest mode only. Then no gradient reaches the modes: mix all three.",
    mix=lambda modes, *ways: _by_modes(torch.nn.functional.one_hot(modes.argmax(-1), 3).to(modes.dtype), *ways),
)
_mistake(
    "in_another_order",
    "Your results are in another order. Return the link, then the precedence, then where the head reads.",
    returned=lambda link, last, read: (link, read, last),
)
