"""Task 05.shift_right: what the decoder reads while it is trained."""

import torch

from course_utils.base.words import count
from course_utils.checks.task import Case, Task, sizes

task = Task(
    __name__,
    "what the decoder reads in training",
    arguments=("target B×T", "bos"),
    result="inputs B×T",
    difficulty=1,
    importance=5,
    minutes=5,
)


def _bos(draw):
    return int(draw.whole(2, 6))  # neither 0 nor 1, as it might be expected


@task.cases
def _(draw):
    for size in sizes(B=3, T=5):
        target = draw.distinct(size.B * size.T, 6, 60).reshape(size.B, size.T)
        yield Case(f"{count(size.B, 'sentence')} of {count(size.T, 'word')}", (target, _bos(draw)))
    repeated = draw.distinct(6, 6, 60).reshape(2, 3)[:, [0, 0, 1, 1, 1, 2, 0]]
    yield Case("words that are repeated", (repeated, _bos(draw)))
    yield Case("as many sentences as words", (draw.distinct(9, 6, 60).reshape(3, 3), _bos(draw)))
    yield Case("sentences of one word", (draw.distinct(3, 6, 60)[:, None], _bos(draw)), edge=True)
    yield Case("bos among the words", (torch.tensor([[5, 3, 5], [3, 5, 5]]), 5), edge=True)
    yield Case("bos = 0", (draw.whole(0, 3, 2, 5), 0), edge=True)
    yield Case("200 words", (draw.whole(0, 1000, 2, 200), _bos(draw)), edge=True)
    yield Case("ids above 16,777,216, where float32 has gaps", (draw.whole(2**24, 2**26, 2, 5), 2**25 + 1), hazard=True)


@task.steps
def _(target, bos):
    first = yield "the column of bos", lambda bos: torch.full_like(target[:, :1], bos), bos
    rest = yield "all columns but the last", lambda target: target[:, :-1], target
    inputs = yield "the two side by side", lambda first, rest: torch.cat([first, rest], 1), first, rest
    return inputs
