"""Task 17.link_step: note what was written after what, and follow it."""

from operator import add, mul, sub

import torch

from course_lessons.lesson_17_neural_turing_machines.tasks._drawn import drawn_weights, links, shares
from course_lessons.shared.partial_credit import USUAL
from course_utils.checks.reference_trace import left_out
from course_utils.checks.running.contract import Case
from course_utils.checks.task import Task, count

task = Task(
    "17.link_step",
    "one step of the links",
    arguments=("link B×N×N", "precedence B×N", "weights B×N", "at B×N", "content B×N", "modes B×3"),
    result=("link B×N×N", "precedence B×N", "at B×N"),
    difficulty=4,
    importance=3,
    minutes=30,
    hints=(
        "The precedence says where the last write went. A new write at position i links i to that position, and an old link fades to the extent that either of its positions is overwritten. The read head then goes where the new link leads from where it was: forward to what was written next, backward to what was written before, or by content; its modes determine how much of each.",
        "Take two positions, a link matrix of zeros, the precedence [1, 0], and a write of [0, 1]. Row 1, column 0 of the link becomes 1: position 1 was written right after position 0. The precedence becomes [0, 1]. A head that read with [0.75, 0.25] goes forward to [0, 0.75], since the link leads from 0 to 1, and backward to [0.25, 0]. With content [0.5, 0.5] and the modes [0.2, 0.2, 0.6] it reads with 0.2·0.25 + 0.2·0.5 = 0.15 and 0.2·0.5 + 0.6·0.75 = 0.55.",
        "row, column = weights as B×N×1 and B×1×N; link = (1 - row - column)·link + row·(old precedence as B×1×N), with zeros on its diagonal; precedence = (1 - sum of weights)·precedence + weights; forward = link @ at, backward = transposed link @ at; return link, precedence, and the three columns of modes times backward, content and forward, added up.",
    ),
    partial=USUAL,
)


@task.property
def no_position_follows_itself(case, value):
    """The diagonal is 0."""
    if not (value[0].diagonal(dim1=1, dim2=2).abs() > 1e-5).any():
        return None
    return "No position is linked to itself, so the diagonal of the link is 0. Yours has a different number there."


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
    yield Case("float64 numbers", _inputs(draw, 3, 5, torch.float64), True, hazard=True)


@task.steps
def _(link, precedence, weights, at, content, modes):
    left = yield "what stays of the precedence", sub, 1, weights.sum(1, keepdim=True)
    before = yield "the old precedence, faded", mul, left, precedence
    latest = yield "the new precedence", add, before, weights
    share = yield "what stays of each link", lambda row, column: 1 - row - column, weights[:, :, None], weights[:, None]
    kept = yield "the old link, faded", mul, share, link
    linked = yield "what is newly linked", _linked, weights, precedence
    total = yield "the link with its diagonal", add, kept, linked
    new = yield "the new link", lambda link: link * (1 - torch.eye(link.shape[1])), total
    forward = yield "the way forward", _along, new, at
    backward = yield "the way backward", _along, new.mT, at
    one = yield "the part of backward", mul, modes[:, :1], backward
    two = yield "the part of content", mul, modes[:, 1:2], content
    three = yield "the part of forward", mul, modes[:, 2:], forward
    both = yield "the first two parts", add, one, two
    read = yield "where the head reads", add, both, three
    return new, latest, read


def _linked(weights, precedence):
    return weights[:, :, None] * precedence[:, None]


def _along(link, at):
    return (link @ at[..., None])[..., 0]


task.changed_each(
    # The link
    ("new_precedence_used", "You update the precedence first and use the new one for the link, so a position seems to be written after itself and the others in the same step. The link needs the precedence from before the step.", {"what is newly linked": lambda weights, _, *, done: _linked(weights, done["the new precedence"])}),
    ("transposed", "Your new links are transposed: w_j p_i says that the old position was written after the new one. Row i is the position that is written now, and column j the position written before it: w_i p_j.", {"what is newly linked": lambda weights, precedence: _linked(precedence, weights)}),
    ("row_only", "Your old link fades only with the weight of its row's position. A link connects two positions and fades when either is overwritten: also subtract the weight of the column's position.", {"what stays of each link": lambda row, column: 1 - row}),
    ("column_only", "Your old link fades only where its column's position is written. A link connects two positions and fades when either is overwritten: also subtract the weight of the row's position.", {"what stays of each link": lambda row, column: 1 - column}),
    ("old_links_stay", "Your old links do not fade. A link fades when one of its two positions is overwritten: multiply it by 1 - w_i - w_j.", {"what stays of each link": lambda row, column: torch.ones_like(row - column)}),
    ("weights_on_both_sides", "You link the new write to itself: w_i w_j. It should be linked to the previous write: w_i p_j.", {"what is newly linked": lambda weights, precedence: _linked(weights, weights)}),
    ("added_in_place_of_a_product", "You add w_i and p_j. A new link is their product.", {"what is newly linked": lambda weights, precedence: weights[:, :, None] + precedence[:, None]}),
    ("product_of_both", "You multiply 1 - w_i by 1 - w_j. That is a sensible way to make a link fade, but the paper subtracts both: 1 - w_i - w_j.", {"what stays of each link": lambda row, column: (1 - row) * (1 - column)}),
    ("diagonal_left", "You leave the entries on the diagonal, where a position is linked to itself. Set the diagonal of the new link to 0.", {"the new link": left_out}),
    # The precedence
    ("precedence_does_not_fade", "Your old precedence does not fade, so it may sum to more than 1. Multiply it by 1 minus the sum of the write weights, then add the weights.", {"what stays of the precedence": left_out}),
    ("precedence_replaced", "Your new precedence is the write weights themselves, so a step that writes nothing would erase it. Multiply the old one by 1 minus the sum of the write weights, then add the weights.", {"the new precedence": lambda before, weights: weights}),
    ("each_position_fades_by_itself", "In your precedence, each position fades with its own write weight. The precedence says where the last write went, so it fades everywhere by the total amount written: the sum of the weights.", {"what stays of the precedence": lambda one, total, *, weights: 1 - weights}),
    # Where the head goes
    ("old_link_followed", "Your link is correct, but the head follows the old one, which does not yet contain this step's write. Follow the new link.", {"the way forward": lambda new, at, *, link: _along(link, at), "the way backward": lambda new, at, *, link: _along(link.mT, at)}),
    ("ways_exchanged", "Forward and backward are swapped. Row i, column j of the link says to what degree i was written after j, so forward is the link times the read weights. Its share is the last mode.", dict.fromkeys(("the way forward", "the way backward"), lambda link, at: _along(link.mT, at))),
    ("both_forward", "Both ways go forward. For backward, swap the last two axes of the link.", {"the way backward": lambda turned, at: _along(turned.mT, at)}),
    ("equal_modes", "You mix the three ways equally. The modes determine how much of each: π₁ of backward, π₂ of content, π₃ of forward.", {"modes": lambda modes: modes.mean(1, keepdim=True).expand_as(modes)}),
    ("largest_mode_alone", "You follow only the way with the largest mode. Mix all three, each weighted by its mode.", {"modes": lambda modes: torch.nn.functional.one_hot(modes.argmax(1), 3).to(modes)}),
    ("modes_in_another_order", "Your modes are in a different order: the first is for backward, the second for content, the third for forward.", {"modes": lambda modes: modes[:, [1, 0, 2]]}),
)  # fmt: skip
