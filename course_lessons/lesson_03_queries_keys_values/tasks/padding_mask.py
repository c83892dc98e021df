"""Task 03.padding_mask: True at words, False at padding."""

import torch

from course_utils.base.words import count
from course_utils.checks.task import Case, Task

task = Task(
    __name__,
    "True at words, False at padding",
    arguments=("lengths B", "size"),
    result="mask B×size",
    difficulty=1,
    importance=3,
    minutes=5,
)


@task.cases
def _(draw):
    words = int(draw.whole(1, 4))
    yield Case(f"a sentence of {count(words, 'word')}, padded to {words + 1}", (torch.tensor([words]), words + 1))
    short, long = sorted(draw.distinct(2, 1, 6).tolist())
    yield Case(f"sentences of {short} and {long} words, padded to {long}", (torch.tensor([short, long]), long))
    size = int(draw.whole(9, 14))
    yield Case(f"5 random lengths up to 7, padded to {size}", (draw.whole(1, 8, 5), size))
    yield Case("a length of 0", (torch.tensor([2, 0, 3]), 3), edge=True)
    yield Case("a single position", (torch.tensor([1, 0]), 1), edge=True)
    yield Case("up to 300 words", (torch.tensor([131, 300, 7, 264]), 300), edge=True)
    yield Case("as many sentences as positions", (torch.tensor([3, 1, 2]), 3), edge=True)
