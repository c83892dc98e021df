"""Task 10.merge_heads: the parts of all heads are put side by side again."""

import torch

from course_utils.checks.running.contract import Case
from course_utils.checks.task import Task, count, sizes
from course_utils.checks.way import left_out

task = Task(
    "10.merge_heads",
    "the heads side by side again",
    arguments=("x B×H×T×d",),
    result="merged B×T×D",
    difficulty=2,
    importance=5,
    minutes=5,
    hints=(
        "What was done last is undone first. To become one vector, the parts of a word have to stand side by side in memory, and in B×H×T×d the neighbours of a part are the other words of the same head.",
        (
            "Take two heads and two words. The first head holds [1, 2] for the first word and [5, 6] for the second, the second head holds [3, 4] and [7, 8]. The first word gets the first head's part and then the second's, [1, 2, 3, 4], and the second gets [5, 6, 7, 8]. "
            "In memory the numbers stand as 1, 2, 5, 6, 3, 4, 7, 8. Cut into two words as they are, they give [1, 2, 5, 6], which mixes the words."
        ),
        "Exchange the axes of heads and words, to B, T, H, d; then join the last two axes into one.",
    ),
)


def _parts(draw, B, H, T, d, dtype=torch.float32):
    """Numbers that are all different, so that each shows where it has gone."""
    n = B * H * T * d
    return draw.distinct(n, 1, 2 * n + 20).reshape(B, H, T, d).to(dtype) / 2


@task.cases
def _(draw):
    for size in sizes(B=2, H=3, T=5, d=7):
        name = f"{count(size.B, 'sentence')} of {count(size.T, 'word')}, {size.H} heads of width {size.d}"
        yield Case(name, (_parts(draw, size.B, size.H, size.T, size.d),), size.full)
    yield Case("as many sentences as words, heads and numbers in a part", (_parts(draw, 3, 3, 3, 3),))
    yield Case("a single head", (_parts(draw, 2, 1, 3, 5),), True, edge=True)
    yield Case("heads of width 1", (_parts(draw, 2, 5, 3, 1),), True, edge=True)
    yield Case("a single word", (_parts(draw, 1, 2, 1, 3),), edge=True)
    yield Case("float64 numbers", (_parts(draw, 2, 3, 5, 2, torch.float64) + 1e-9,), True, edge=True)
    yield Case("200 words", (draw.numbers(2, 3, 200, 2),), edge=True)


@task.oracle
def _(x):
    return torch.cat(list(x.unbind(1)), -1)


EXCHANGED, JOINED = "x with heads and words exchanged", "the parts joined"


@task.steps
def _(x):
    parts = yield EXCHANGED, lambda x: x.transpose(1, 2), x
    merged = yield JOINED, lambda parts: parts.flatten(2), parts
    return merged


def _cut_anew(parts, *, x):
    return parts.reshape(len(x), x.shape[2], -1)


task.changed_each(
    ("not_exchanged", "The words are mixed: a `view` or `reshape` of B×H×T×d to B×T×D keeps the order in memory, where the neighbours of a part are the other words of the same head. Exchange the axes H and T first.", {EXCHANGED: left_out, JOINED: _cut_anew}),
    ("interleaved", "The heads are interleaved: the first numbers of all heads stand side by side, then the second ones. Each head's d numbers stay together: join the axes H and d, in this order.", {JOINED: lambda parts: parts.mT.flatten(2)}),
    ("wrong_axes_exchanged", "T and d have changed places, and the words are mixed. Exchange the axes H and T, the second and the third, and join what are then the last two.", {EXCHANGED: lambda x: x.mT, JOINED: _cut_anew}),
    ("heads_and_width_exchanged", "H and d have changed places, and the words are mixed. Exchange the axes H and T, the second and the third, and join what are then the last two.", {EXCHANGED: lambda x: x.transpose(1, 3), JOINED: _cut_anew}),
    ("not_joined", "Heads and words have changed places, and nothing is joined: you return B×T×H×d. Join the last two axes.", {JOINED: left_out}),
    ("along_the_words", "The heads stand below one another, as if each were a stretch of further words. They stand side by side: each word's vector becomes H·d wide.", {EXCHANGED: left_out, JOINED: lambda x: x.flatten(1, 2)}),
    ("parts_as_words", "Each word's parts stand below one another, as if each were a word of its own. They stand side by side: each word's vector becomes H·d wide.", {JOINED: lambda parts: parts.flatten(1, 2)}),
    ("summed", "The heads are added up. Each keeps its own place in the vector: put them side by side.", {EXCHANGED: left_out, JOINED: lambda x: x.sum(1)}),
    ("in_reverse", "The heads stand in reverse order. The vector begins with the first head.", {"x": lambda x: x.flip(1)}),
)  # fmt: skip
