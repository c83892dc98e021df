"""Task 17.follow_link: from a place to the one that was written after it, and to the one before."""

from operator import matmul

import torch

from course_utils.checks.running.contract import Case
from course_utils.checks.task import Task, count
from course_utils.tasks.lesson_17._drawn import links, shares
from course_utils.tasks.shares import USUAL

ORDER = "Return the way forward, then the way backward."
task = Task(
    "17.follow_link",
    "the place written next, and the one before",
    arguments=("link B×N×N", "weights B×N"),
    result=("forward B×N", "backward B×N"),
    difficulty=2,
    importance=3,
    minutes=10,
    hints=(
        "Row i, column j of the link says to what degree place i was written directly after place j. A head that reads at place j goes forward to every i by as much as column j says; so forward gathers over the columns, and backward over the rows.",
        "Take three places, written in the order 0, 2, 1: the link is [[0, 0, 0], [0, 0, 0.5], [1, 0, 0]], where the last write took only half. A head reads with the weights [0.25, 0, 0.75]. Forward, place 1 gets 0.5·0.75 = 0.375 from place 2, place 2 gets 1·0.25 = 0.25 from place 0, and place 0 gets 0: [0, 0.375, 0.25]. Backward, place 0 gets 1·0.75 = 0.75 from place 2, and place 2 would get 0.5·0 = 0 from place 1: [0.75, 0, 0].",
        "forward_i = the sum over j of link_ij times weights_j, a matrix product for each row of the batch; backward_j = the sum over i of link_ij times weights_i, the same with the last two axes of link exchanged; both B×N.",
    ),
    partial=USUAL,
)


@task.property
def no_more_weight_arrives_than_leaves(case, value):
    """Rows and columns of a link sum to 1 at most."""
    sums = case.args[1].sum(1)
    for name, part in zip(("forward", "backward"), value, strict=True):
        more = part.sum(1) > sums + 1e-4
        if more.any():
            row = int(more.int().argmax())
            return f"Here the rows and columns of a link sum to 1 at most, so no more weight arrives than leaves. In row {row} the weights sum to {sums[row]:.4g}, and your {name} to {part[row].sum():.4g}."
    return None


def _inputs(draw, B, N, dtype=torch.float32):
    return links(draw, B, N, dtype), shares(draw, B, N, dtype=dtype)


@task.cases
def _(draw):
    for B, N in ((1, 2), (2, 2), (1, 3), (2, 4), (3, 5)):
        yield Case(f"{count(B, 'row')}, {N} places", _inputs(draw, B, N), N == 5)
    yield Case("2 rows, 7 places", _inputs(draw, 2, 7), True)
    yield Case("as many rows as places", _inputs(draw, 3, 3))
    chain = torch.zeros(2, 5, 5)
    for b in range(2):
        order = draw.distinct(5, 0, 5)
        chain[b, order[1:], order[:-1]] = 1.0
    yield Case("places written one after another", (chain, shares(draw, 2, 5)))
    yield Case("a single place", (torch.zeros(2, 1, 1), shares(draw, 2, 1)), True, edge=True)
    link, weights = _inputs(draw, 3, 5)
    yield Case("nothing written so far", (0 * link, weights), True, edge=True)
    yield Case("a head that reads nothing", (link, 0 * weights), True, edge=True)
    yield Case("a head that reads one place", (link, torch.eye(5)[draw.whole(0, 5, 3)]), True, edge=True)
    yield Case("20 places", _inputs(draw, 2, 20), True, edge=True)
    yield Case("float64 numbers", _inputs(draw, 3, 5, torch.float64), True, edge=True)


@task.oracle
def _(link, weights):
    N = weights.shape[1]
    forward = sum(link[:, :, j] * weights[:, j, None] for j in range(N))
    backward = sum(link[:, i] * weights[:, i, None] for i in range(N))
    return forward, backward


@task.steps
def _(link, weights):
    forward = yield "the product of the link and the weights", matmul, link, weights[..., None]
    ahead = yield "forward, without its last axis", lambda forward: forward[..., 0], forward
    backward = yield "the product of the transposed link and the weights", matmul, link.mT, weights[..., None]
    back = yield "backward, without its last axis", lambda backward: backward[..., 0], backward
    return ahead, back


def _along(link, weights):
    return (link @ weights[..., None])[..., 0]


def _follow(link, weights, along=_along, turn=lambda link: link.mT, returned=lambda ahead, back: (ahead, back)):
    return returned(along(link, weights), along(turn(link), weights))


def _mistake(name, sentence, **parts):
    """Register an answer that is right but for the parts that are given."""
    task.mistake(sentence, name)(lambda link, weights: _follow(link, weights, **parts))


# Which way

_mistake(
    "exchanged",
    "Forward and backward are exchanged. Row i, column j of the link says to what degree place i was written after place j, so forward multiplies each column j by the weight of place j and adds up.",
    returned=lambda ahead, back: (back, ahead),
)
_mistake(
    "both_forward",
    "Both of your results go forward. For backward, exchange the last two axes of the link.",
    turn=lambda link: link,
)
_mistake(
    "both_backward",
    "Both of your results go backward. For forward, use the link as it is: multiply each column j by the weight of place j and add up.",
    returned=lambda ahead, back: (back, back),
)
_mistake(
    "forward_only",
    f"You return one result only. {ORDER}",
    returned=lambda ahead, back: ahead,
)
_mistake(
    "stacked",
    f"You return both results as one tensor. {ORDER} A tuple of two is asked for, each B×N.",
    returned=lambda ahead, back: torch.stack([ahead, back]),
)
_mistake(
    "added",
    f"You add both results. {ORDER}",
    returned=lambda ahead, back: ahead + back,
)
_mistake(
    "back_from_ahead",
    "Your backward starts from the forward result. Start from the weights that came in, both times.",
    returned=lambda ahead, back: (ahead, back),
    turn=lambda link: link.mT @ link,
)


# How weight is carried along

_mistake(
    "axis_left",
    "Your results have an axis of size 1 too many: B×N×1. The product needs it; take it away afterwards.",
    along=lambda link, weights: link @ weights[..., None],
)
_mistake(
    "middle_axis_left",
    "Your results have an axis of size 1 too many: B×1×N. The product needs it; take it away afterwards.",
    along=lambda link, weights: weights[:, None] @ link.mT,
)
_mistake(
    "rows_meet_all_links",
    "Your results are B×B×N: `weights @ link` takes the weights of all rows of the batch as one matrix, and multiplies every link by it. Give the weights a last axis of size 1 for the product, B×N×1, so that each row meets its own link.",
    along=lambda link, weights: weights @ link.mT,
)
_mistake(
    "weights_of_all_rows_as_columns",
    "Your results are B×N×B: the weights of all rows of the batch are the columns of one matrix, and every link meets it. Give the weights a last axis of size 1, B×N×1, so that each row meets its own link.",
    along=lambda link, weights: link @ weights.T,
)
_mistake(
    "not_added_up",
    "Your results are B×N×N: you multiply links and weights, and add nothing up. Forward adds up over the columns, backward over the rows.",
    along=lambda link, weights: link * weights[:, None],
)
_mistake(
    "own_weight",
    "Your weights are multiplied along the wrong axis before the sum: each place keeps its own weight, times the sum of its links. The weight has to be that of the place from which the link comes.",
    along=lambda link, weights: (link * weights[..., None]).sum(2),
)
_mistake(
    "summed_over_the_other_axis",
    "You multiply each link by the right weight, and then add up over the wrong axis. Forward adds up over the columns, the last axis, and backward over the rows.",
    along=lambda link, weights: (link * weights[:, None]).sum(1),
)
_mistake(
    "squeezed",
    "You call squeeze() without an axis, which takes away every axis of size 1: the batch too, where it is a single row. Say which one: squeeze(-1).",
    along=lambda link, weights: (link @ weights[..., None]).squeeze(),
)
_mistake(
    "weights_unused",
    "The weights have no effect: you add up the links of each place. Multiply each link by the weight of the place from which it comes.",
    along=lambda link, weights: link.sum(2),
)
_mistake(
    "mean_for_sum",
    "You take the mean over the places. Take the sum: the matrix product adds up.",
    along=lambda link, weights: _along(link, weights) / weights.shape[1],
)
_mistake(
    "largest_for_sum",
    "You take the largest product of link and weight. A head may read several places at once: add the products up.",
    along=lambda link, weights: (link * weights[:, None]).amax(2),
)
_mistake(
    "largest_weight_only",
    "You follow the link from the place with the largest weight only. Every place that is read counts with its weight: take the sum.",
    along=lambda link, weights: link.gather(2, weights.argmax(1)[:, None, None].expand(-1, weights.shape[1], 1))[
        ..., 0
    ],
)
_mistake(
    "first_link_for_all",
    "All rows of the batch use the link of the first one. Each row has a link of its own.",
    along=lambda link, weights: weights @ link[0].T,
)
_mistake(
    "links_of_all_rows",
    "You add up over the batch as well, so that links of all rows are mixed. Each row has a link of its own: keep the axis B.",
    along=lambda link, weights: torch.einsum("bij,cj->ci", link, weights),
)
_mistake(
    "followed_twice",
    "You follow the link twice, to the place after the next one. Multiply by it once.",
    along=lambda link, weights: _along(link @ link, weights),
)
_mistake(
    "stays_partly",
    "You add the weights that came in, as if the head stayed where it is as well. Return only where the link leads.",
    along=lambda link, weights: weights + _along(link, weights),
)
_mistake(
    "made_to_sum_to_1",
    "You divide your results by their sum. Nothing leads on from the place that was written last, so some weight is lost there, and before any write you divide 0 by 0. Leave them as they are.",
    along=lambda link, weights: _along(link, weights) / _along(link, weights).sum(1, keepdim=True),
)
_mistake(
    "made_to_sum_to_1_guarded",
    "You divide your results by their sum, with a small number against 0. Nothing leads on from the place that was written last, so some weight is lost there. Leave them as they are.",
    along=lambda link, weights: _along(link, weights) / (_along(link, weights).sum(1, keepdim=True) + 1e-8),
)
_mistake(
    "softmax_of_them",
    "You take a softmax of your results, so places that no link leads to get weight as well. Leave them as they are.",
    along=lambda link, weights: _along(link, weights).softmax(1),
)
_mistake(
    "softmax_of_the_link",
    "You take a softmax of the link first, so places that were never written one after the other are linked too. Use it as it is.",
    along=lambda link, weights: _along(link.softmax(2), weights),
)
_mistake(
    "one_minus_the_link",
    "You use 1 minus the link for the way backward. Exchange its last two axes.",
    turn=lambda link: 1 - link,
)
_mistake(
    "minus_the_link",
    "You use minus the link for the way backward, so the weights become negative. Exchange its last two axes.",
    turn=lambda link: -link,
)
_mistake(
    "batch_exchanged",
    "For the way backward you exchange the batch with the places. This runs without an error only where there are as many rows as places. Exchange the last two axes: `.mT`, or transpose(1, 2).",
    turn=lambda link: link.transpose(0, 1),
)
_mistake(
    "all_axes_exchanged",
    "For the way backward you reverse all three axes, as `.T` or permute(2, 1, 0) does. Exchange only the last two: `.mT`, or transpose(1, 2).",
    turn=lambda link: link.permute(2, 1, 0),
)
_mistake(
    "flipped",
    "For the way backward you flip the link's rows and columns, which reverses the order of the places. Exchange the last two axes: `.mT`, or transpose(1, 2).",
    turn=lambda link: link.flip(1, 2),
)
