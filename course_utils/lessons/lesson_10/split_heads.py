"""Task 10.split_heads: each word's vector is cut into one part for each head."""

import torch

from course_utils.checks.running.contract import Case
from course_utils.checks.task import Task, count, sizes
from course_utils.checks.way import left_out

task = Task(
    "10.split_heads",
    "one part of each vector for each head",
    arguments=("x B×T×D", "heads"),
    result="parts B×H×T×d",
    difficulty=2,
    importance=5,
    minutes=10,
    hints=(
        "Two things happen, one after the other. Each vector is cut into H parts of d numbers that stand side by side; at that moment the parts of one word are still together. Then the axes of words and heads change places. "
        "Cutting and exchanging cannot be done by one `view`: it never changes the order in which numbers stand in memory.",
        (
            "Take two words [1, 2, 3, 4] and [5, 6, 7, 8] and two heads, so d = 2. Cut: the first word gives [1, 2] and [3, 4], the second [5, 6] and [7, 8]. Head 0 gets the first part of each word, [1, 2] and [5, 6]; head 1 gets [3, 4] and [7, 8]. "
            "If you cut the 8 numbers into two heads at once, head 0 gets [1, 2] and [3, 4], which is all of the first word."
        ),
        "B, T, D = the sizes of x; d = D // heads; give x the four axes B, T, heads, d, in this order; then exchange the axes of words and heads.",
    ),
)


def _words(draw, B, T, D, dtype=torch.float32):
    """Numbers that are all different, so that each shows where it has gone."""
    return draw.distinct(B * T * D, 1, 2 * B * T * D + 20).reshape(B, T, D).to(dtype) / 2


@task.cases
def _(draw):
    for size in sizes(B=2, T=5, H=3, d=7):
        name = f"{count(size.B, 'sentence')} of {count(size.T, 'word')}, {size.H} heads of width {size.d}"
        yield Case(name, (_words(draw, size.B, size.T, size.H * size.d), size.H), size.full)
    yield Case("as many sentences as words and heads", (_words(draw, 3, 3, 6), 3))
    yield Case("as many heads as the width of a head", (_words(draw, 2, 4, 9), 3))
    yield Case("a single head", (_words(draw, 2, 3, 5), 1), True, edge=True)
    yield Case("heads of width 1", (_words(draw, 2, 3, 5), 5), True, edge=True)
    yield Case("a single word", (_words(draw, 1, 1, 6), 2), edge=True)
    yield Case("float64 numbers", (_words(draw, 2, 5, 6, torch.float64) + 1e-9, 2), True, edge=True)
    yield Case("200 words", (draw.numbers(2, 200, 6), 3), edge=True)


@task.oracle
def _(x, heads):
    d = x.shape[2] // heads
    return torch.stack([x[:, :, head * d : (head + 1) * d] for head in range(heads)], 1)


CUT, EXCHANGED = "the vectors cut into parts", "the parts with words and heads exchanged"


@task.steps
def _(x, heads):
    parts = yield CUT, lambda x, heads: x.unflatten(2, (heads, -1)), x, heads
    split = yield EXCHANGED, lambda parts: parts.transpose(1, 2), parts
    return split


task.changed_each(
    ("viewed_at_once", "The numbers are cut into heads without regard to words: a single `view` or `reshape` to B×H×T×d keeps the order in memory, and so each head gets whole stretches of the sentence. Cut each vector first, to B×T×H×d, and then exchange the axes T and H.", {CUT: lambda x, heads: x.reshape(len(x), heads, x.shape[1], -1), EXCHANGED: left_out}),
    ("not_exchanged", "The vectors are cut, but words and heads have not changed places: exchange the axes T and H.", {EXCHANGED: left_out}),
    ("interleaved", "The heads are interleaved: the first head gets every H-th number, the second the numbers behind them, and so on. The d numbers of a head stand side by side: give x the axes H and d, in this order.", {CUT: lambda x, heads: x.unflatten(2, (-1, heads)).mT}),
    ("heads_taken_for_width", "You make parts of the width H, and D/H of them. `heads` is the number of parts, and each is D/H wide. (torch.split takes the width of a part, torch.chunk their number.)", {CUT: lambda x, heads: x.unflatten(2, (-1, heads))}),
    ("width_before_words", "The axes T and d have changed places with each other: you return B×H×d×T, and B×H×T×d is asked for.", {EXCHANGED: lambda parts: parts.permute(0, 2, 3, 1)}),
    ("exchanged_before", "You exchange the words and the numbers of a vector before you cut, and then cut without regard to either. Cut each vector first, to B×T×H×d, and then exchange the axes T and H.", {CUT: lambda x, heads: x.mT.reshape(len(x), heads, x.shape[1], -1), EXCHANGED: left_out}),
    ("heads_in_the_batch", "Sentences and heads have become one axis. Keep them apart: B×H×T×d.", {"result": lambda split: split.flatten(0, 1)}),
    ("whole_for_each", "Each head gets the whole vector. Each should get its own part of it, d = D/H numbers.", {CUT: lambda x, heads: x[:, :, None].repeat(1, 1, heads, 1)}),
    ("in_reverse", "The heads stand in reverse order. Head 0, the first one, gets the first d numbers of each vector.", {"result": lambda split: split.flip(1)}),
)  # fmt: skip
