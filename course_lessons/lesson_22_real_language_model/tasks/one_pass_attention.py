"""Task 22.one_pass_attention: the context of a softmax over scores that come in blocks, each of which is seen once.

Milakov and Gimelshein (2018), algorithm 3, and Dao et al. (2022), algorithm 1, for one query.
"""

from operator import mul, sub, truediv

import torch

from course_utils.checks.reference_trace import left_out
from course_utils.checks.running.contract import Case, Stream
from course_utils.checks.task import Task

task = Task(
    "22.one_pass_attention",
    "attention in one pass over blocks",
    arguments=("next_block",),
    result="context D",
    suspects=False,
    difficulty=4,
    importance=2,
    minutes=30,
    hints=(
        "Keep three things: the largest score so far, the sum of the exponentials so far, and the sum of the values so far, each multiplied by its exponential. All exponentials are of scores minus the largest score so far. When a block contains a larger score, what you have is too large by one common factor: multiply the sum and the context by a correction factor and go on. Divide once, at the end.",
        (
            "Take two blocks. The first has the scores 0 and 1.0986 and the values [4] and [8]: the largest is 1.0986, the exponentials are 0.3333 and 1, the sum is 1.3333, and the context 0.3333·4 + 1·8 = 9.3333. "
            "The second has one score, 2.1972, and the value [1]. The largest is now 2.1972, and the factor for the old ones is exp(1.0986 - 2.1972) = 0.3333: the sum becomes 0.4444 + 1 = 1.4444 and the context 3.1111 + 1 = 4.1111. "
            "The result is 4.1111 / 1.4444 = 2.8462, the same as with the whole softmax: its weights are 0.0769, 0.2308 and 0.6923."
        ),
        "largest = minus infinity; total = 0; context = zeros. For each block until next_block returns None: new = the larger of largest and the block's largest score; factor = exp(largest - new); e = exp(scores - new); total = total times factor, plus the sum of e; context = context times factor, plus e times values; largest = new. Return context divided by total.",
    ),
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
    yield Case("a second block of scores near -10,000", _blocks(draw, (3, 2, 2), 3, (0, -1e4, 0)), edge=True)
    yield Case("a first block of scores near -10,000", _blocks(draw, (2, 3, 2), 3, (-1e4, 0, 0)), edge=True)
    yield Case("a last block of scores near 10,000", _blocks(draw, (3, 2, 3), 3, (0, 0, 1e4)), edge=True)
    yield Case("all scores near -10,000", _blocks(draw, (3, 2), 3, (-1e4, -1e4)), edge=True)
    yield Case("all scores near 10,000", _blocks(draw, (2, 3), 3, (1e4, 1e4)), edge=True)


def _all_of(next_block):
    """Copies of all scores and of all values."""
    blocks = [(scores.clone(), values.clone()) for scores, values in iter(next_block, None)]
    return [torch.cat(parts) for parts in zip(*blocks, strict=True)]


OF_BLOCK, NEW = "the block's largest score", "the largest score so far"
MOVED, FACTOR = "the old largest minus the new", "the factor"
SHIFTED, POWERS = "the shifted scores", "the exponentials"
OLD_TOTAL, OF_SUM, TOTAL = "the rescaled sum", "the block's sum", "the sum so far"
OLD_CONTEXT, OF_VALUES, CONTEXT = (
    "the rescaled context",
    "the block's context",
    "the context so far",
)
DIVIDED = "the divided context"


@task.steps
def _(next_block):
    largest, total, context = torch.tensor(-torch.inf), torch.zeros(()), torch.zeros(1)
    for scores, values in iter(next_block, None):
        scores, values = scores.clone(), values.clone()
        of_block = yield OF_BLOCK, torch.amax, scores
        new = yield NEW, torch.maximum, largest, of_block
        moved = yield MOVED, sub, largest, new
        factor = yield FACTOR, torch.exp, moved
        shifted = yield SHIFTED, sub, scores, new
        e = yield POWERS, torch.exp, shifted
        old_total = yield OLD_TOTAL, mul, total, factor
        sum_of_block = yield OF_SUM, torch.sum, e
        total = yield TOTAL, torch.add, old_total, sum_of_block
        old_context = yield OLD_CONTEXT, mul, context, factor
        of_values = yield OF_VALUES, lambda e, values: e @ values, e, values
        context = yield CONTEXT, torch.add, old_context, of_values
        largest = new
    result = yield DIVIDED, truediv, context, total
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
    """A block of scores near -10,000 beside others near 0 has no weight."""
    blocks = [(scores, values) for scores, values in case.args[0].values if scores.amax() > -5e3]
    if not blocks or len(blocks) == len(case.args[0].values):
        return None
    without = task.oracle_function(Stream(tuple(blocks)).function())
    if value.shape != without.shape or torch.allclose(value.double(), without.double(), atol=1e-4):
        return None
    return "A block of scores near -10,000 changes nothing: next to scores near 0 its weights are 0, and only the other blocks determine the context. Yours is different. By what factor do you multiply the old sum and context, and which score do you subtract before exp?"


task.changed(
    "nothing_rescaled",
    "When a block contains a larger score, what you have added up so far was computed with the smaller one. Multiply the old sum and the old context by exp(old largest - new largest) and then add.",
    {OLD_TOTAL: left_out, OLD_CONTEXT: left_out},
)
task.changed(
    "sum_not_rescaled",
    "The old context is multiplied by a factor when the largest score grows, but the old sum is not. Both contain exponentials of scores minus the old largest one, so both need the factor.",
    {OLD_TOTAL: left_out},
)
task.changed(
    "context_not_rescaled",
    "The old sum is multiplied by a factor when the largest score grows, but the old context is not. Both contain exponentials of scores minus the old largest one, so both need the factor.",
    {OLD_CONTEXT: left_out},
)
task.changed(
    "factor_turned_round",
    "The factor for the old parts is the wrong way round: exp(new largest - old largest) is above 1. The old parts become smaller relative to a larger score: exp(old largest - new largest).",
    {FACTOR: lambda moved: torch.where(moved.isfinite(), (-moved).exp(), 0.0)},
)
task.changed(
    "largest_of_the_block_alone",
    "You subtract each block's own largest score, even if an earlier block had a larger one, so a block of small scores counts as much as any other. Keep the largest score of all blocks so far, and subtract that.",
    {NEW: lambda largest, of_block: of_block, FACTOR: torch.ones_like},
)
task.changed(
    "largest_falls",
    "Your largest score falls when a block of smaller scores arrives, and then the factor for the old parts is above 1: after a block of scores near -10,000 it is infinite. The largest score so far is the larger of the old one and the block's.",
    {NEW: lambda largest, of_block: of_block},
)
task.changed(
    "first_largest_for_all",
    "You subtract the largest score of the first block from all scores. If a later block contains far larger ones, exp overflows; otherwise the result happens to be correct. Let the largest score grow.",
    {NEW: lambda largest, of_block: torch.where(largest.isfinite(), largest, of_block)},
)
task.changed(
    "largest_begins_at_0",
    "Your largest score starts at 0, or at another number that may be above all scores. If they are far below it, all exponentials are 0, and 0 divided by 0 is NaN. Start from minus infinity, or from the first block's largest score.",
    {NEW: lambda largest, of_block: torch.maximum(largest, of_block).clamp(min=0)},
)
task.changed(
    "nothing_subtracted",
    "You take the exponentials of the scores as they are: near 10,000 they are infinite, near -10,000 they are 0, and a quotient of two such sums is NaN. Subtract the largest score so far.",
    {SHIFTED: left_out, FACTOR: torch.ones_like},
)
task.changed(
    "last_block_alone",
    "Only the last block counts in your result: everything before it is lost or multiplied by 0. Do you add to the sum and the context, and is the largest score so far kept for the next block?",
    {FACTOR: torch.zeros_like},
)
task.changed(
    "largest_of_the_block_subtracted",
    "You multiply the old parts by the correct factor, but from a block's scores you subtract that block's own largest score. Subtract the largest score so far, as in the factor.",
    {SHIFTED: lambda scores, new: scores - scores.amax()},
)
task.changed(
    "divided_in_the_context",
    "The values of a block are weighted by that block's own softmax, and its exponentials are also added to the sum, so you divide twice. Take the exponentials times the values and divide once, at the end.",
    {OF_VALUES: lambda e, values: e / e.sum() @ values},
)
task.changed(
    "raw_exponentials_beside_the_factor",
    "You multiply the old parts by a factor, but you take the exponentials of a new block's scores as they are. Subtract the largest score so far from the scores.",
    {SHIFTED: left_out},
)
task.changed(
    "new_ones_rescaled_too",
    "You also multiply the new block by a factor, exp(its largest score - new largest). Its exponentials are already computed with the new largest score subtracted: multiply only the old parts.",
    {POWERS: lambda shifted, *, done: (shifted + done[OF_BLOCK] - done[NEW]).exp()},
)
task.changed(
    "not_divided",
    "You return the context before it is divided by the sum of the exponentials.",
    {DIVIDED: left_out},
)
task.changed(
    "divided_in_each_round",
    "Your context is divided by the sum in each round and stays divided, so it is divided again with the next block. Keep it undivided and divide once, at the end.",
    {CONTEXT: lambda old, of_values, *, done: (old + of_values) / done[TOTAL], DIVIDED: left_out},
)


# Blocks that are left out


def handing_out(blocks):
    """A function that hands out blocks one after another, then None."""
    return lambda: next(blocks, None)


def after_first(next_block):
    next_block()
    return next_block


def every_other(next_block):
    while (block := next_block()) is not None:
        yield block
        next_block()


task.changed(
    "first_block_left_out",
    "The first block is missing: the result of the first call of next_block also counts.",
    {"next_block": after_first},
)
task.changed(
    "every_other_block",
    "Every other block is missing: next_block returns a new block at each call. Call it once in each round and store the result in a variable.",
    {"next_block": lambda next_block: handing_out(every_other(next_block))},
)
task.changed(
    "first_block_alone",
    "You use only the first block. Call next_block until it returns None.",
    {"next_block": lambda next_block: handing_out(iter([next_block()]))},
)


def _softmaxes(next_block):
    """The context of each block by itself."""
    return torch.stack([scores.softmax(0) @ values for scores, values in iter(next_block, None)])


@task.mistake(
    "You divide in each block and take the mean of the blocks' contexts, so each block counts equally, whatever its scores are. The softmax runs over the scores of all blocks: divide once, at the end, by the sum over all of them."
)
def mean_of_blocks(next_block):
    return _softmaxes(next_block).mean(0)


@task.mistake(
    "You add up the contexts of the blocks, each divided by its own sum, so that the weights sum to the number of blocks. The softmax runs over the scores of all blocks: divide once, at the end, by the sum over all of them."
)
def sum_of_blocks(next_block):
    return _softmaxes(next_block).sum(0)


@task.mistake(
    "You divide in each block and weight the blocks' contexts by the number of scores in each. What matters is their exponentials: divide once, at the end, by the sum of the exponentials of all blocks."
)
def mean_by_length(next_block):
    contexts, lengths = zip(*((s.softmax(0) @ v, len(s)) for s, v in iter(next_block, None)), strict=True)
    return sum(n * context for n, context in zip(lengths, contexts, strict=True)) / sum(lengths)


# What is used too late

NAN_COMES = "Perhaps you use a block, or a part of it such as `scores[i]`, after next_block has been called again: the call overwrites it, even the call that returns None. That happens if you keep the blocks or fetch one ahead. Finish with a block before you fetch the next."


@task.property
def no_nan_without_large_scores(case, value):
    """Among scores near 0 nothing overflows."""
    far = any(scores.abs().amax() > 100 for scores, _ in case.args[0].values)
    return (
        None
        if far or not value.isnan().any()
        else f"{NAN_COMES} Or 0 is divided by 0: exp(-inf) = 0 is the factor of the old parts, not of the first block."
    )


@task.mistake(
    f"The result is NaN whatever the scores are. {NAN_COMES} Or the factor for the old parts is the wrong way round: if the largest score starts from minus infinity, exp(new - old) is infinite, and infinity times 0 is NaN."
)
def blocks_kept(next_block):
    scores, values = zip(*iter(next_block, None), strict=True)
    return torch.cat(scores).softmax(0) @ torch.cat(values)
