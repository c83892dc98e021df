"""Task 22.one_pass_attention: the context of a softmax over scores that come in blocks, each of which is seen once.

Milakov and Gimelshein (2018), algorithm 3, and Dao et al. (2022), algorithm 1, for one query.
"""

from operator import mul, sub, truediv

import torch

from course_utils.checks.running.contract import Case, Stream
from course_utils.checks.task import Task

task = Task(
    __name__,
    "attention in one pass over blocks",
    arguments=("next_block",),
    result="context D",
    suspects=False,
    difficulty=4,
    importance=2,
    minutes=30,
    partial={"edge": (0.5, "right on every ordinary input, wrong on an unusual one.")},
)


def _blocks(draw, sizes, D, moved=None):
    """Blocks of these sizes; the scores of one may be moved up or down as a whole."""
    blocks = []
    for place, size in enumerate(sizes):
        scores = torch.randn(size, generator=draw.generator).round(decimals=2) + (moved[place] if moved else 0)
        blocks.append((scores, torch.randn(size, D, generator=draw.generator).round(decimals=2) + 0.5))
    return (Stream(tuple(blocks)),)


@task.cases
def _(draw):
    near = lambda: float(draw.whole(2, 5)) / 2  # noqa: E731
    yield Case("2 blocks, of 2 scores and 1 score, width 2, larger ones later", _blocks(draw, (2, 1), 2, (0, near())))
    yield Case("2 blocks, of 3 scores and 2 scores, width 2, larger ones first", _blocks(draw, (3, 2), 2, (near(), 0)))
    yield Case("3 blocks of 2 scores, width 3, the largest in the middle", _blocks(draw, (2, 2, 2), 3, (0, near(), 0)))
    yield Case("3 blocks, of 5, 2 and 3 scores, width 7", _blocks(draw, (5, 2, 3), 7))
    yield Case("4 blocks of 3 scores, width 2, ever larger ones", _blocks(draw, (3,) * 4, 2, (0, 1, 2, 3)))
    yield Case("5 blocks of 2 scores, width 5, ever smaller ones", _blocks(draw, (2,) * 5, 5, (0, -1, -2, -3, -4)))
    yield Case("a single block", _blocks(draw, (5,), 3), edge=True)
    yield Case("a single score", _blocks(draw, (1,), 3), edge=True)
    yield Case("7 blocks of 1 score", _blocks(draw, (1,) * 7, 3), edge=True)
    yield Case("values of width 1", _blocks(draw, (2, 3), 1), edge=True)
    yield Case("101 blocks", _blocks(draw, (2,) * 101, 2), edge=True)
    yield Case("a second block of scores near -1,000", _blocks(draw, (3, 2, 2), 3, (0, -1e3, 0)), edge=True)
    yield Case("a first block of scores near -1,000", _blocks(draw, (2, 3, 2), 3, (-1e3, 0, 0)), edge=True)
    yield Case("a last block of scores near 1,000", _blocks(draw, (3, 2, 3), 3, (0, 0, 1e3)), edge=True)
    yield Case("all scores near -1,000", _blocks(draw, (3, 2), 3, (-1e3, -1e3)), edge=True)
    yield Case("all scores near 1,000", _blocks(draw, (2, 3), 3, (1e3, 1e3)), edge=True)


def _all_of(next_block):
    """Copies of all scores and of all values."""
    blocks = [(scores.clone(), values.clone()) for scores, values in iter(next_block, None)]
    return [torch.cat(parts) for parts in zip(*blocks, strict=True)]


@task.steps
def _(next_block):
    largest, total, context = torch.tensor(-torch.inf), torch.zeros(()), torch.zeros(1)
    for scores, values in iter(next_block, None):
        scores, values = scores.clone(), values.clone()
        of_block = yield "the block's largest score", torch.amax, scores
        new = yield "the largest score so far", torch.maximum, largest, of_block
        moved = yield "the old largest minus the new", sub, largest, new
        factor = yield "the factor", torch.exp, moved
        shifted = yield "the shifted scores", sub, scores, new
        e = yield "the exponentials", torch.exp, shifted
        old_total = yield "the rescaled sum", mul, total, factor
        sum_of_block = yield "the block's sum", torch.sum, e
        total = yield "the sum so far", torch.add, old_total, sum_of_block
        old_context = yield "the rescaled context", mul, context, factor
        of_values = yield "the block's context", lambda e, values: e @ values, e, values
        context = yield "the context so far", torch.add, old_context, of_values
        largest = new
    result = yield "the divided context", truediv, context, total
    return result


@task.property
def a_context_lies_among_the_values(case, value):
    """Weights are positive and sum to 1, so each number of a context lies between the smallest and the largest there."""
    _, values = _all_of(case.args[0].function())
    least, most = values.amin(0), values.amax(0)
    off = (value < least - 1e-4) | (value > most + 1e-4)
    if value.shape != least.shape or not off.any():
        return None
    d = int(off.nonzero()[0])
    return f"A context is a mean of the values, with weights that sum to 1: its entry {d} is between {least[d]:.4g} and {most[d]:.4g}, the smallest and the largest of the values there. Yours is {value[d]:.4g}. Are the sum and the context both multiplied by the same factor when the largest score grows, and is the context divided by the sum at the end?"


@task.property
def what_lies_far_below_changes_nothing(case, value):
    """A block of scores near -1,000 beside others near 0 has no weight."""
    blocks = [(scores, values) for scores, values in case.args[0].values if scores.amax() > -5e2]
    if not blocks or len(blocks) == len(case.args[0].values):
        return None
    without = task.oracle_function(Stream(tuple(blocks)).function())
    if value.shape != without.shape or torch.allclose(value.double(), without.double(), atol=1e-4):
        return None
    return "A block of scores near -1,000 changes nothing: next to scores near 0 its weights are 0, and only the other blocks determine the context. Yours is different. By what factor do you multiply the old sum and context, and which score do you subtract before exp?"


NAN_COMES = "Perhaps you use a block, or a part of it such as `scores[i]`, after next_block has been called again: the call overwrites it, even the call that returns None. That happens if you keep the blocks or fetch one ahead. Finish with a block before you fetch the next."


@task.property
def no_nan_without_large_scores(case, value):
    """Among scores near 0 nothing overflows."""
    far = any(scores.abs().amax() > 100 for scores, _ in case.args[0].values)
    if far or not value.isnan().any():
        return None
    return f"{NAN_COMES} Or 0 is divided by 0: exp(-inf) = 0 is the factor of the old parts, not of the first block."
