"""Task 90.shift_right: tensors of whole numbers."""

import torch

from course_utils.checks.task import Case, Task, sizes

task = Task(
    __name__,
    "what the decoder reads",
    arguments=("target B×T", "bos"),
    result="inputs B×T",
    difficulty=1,
    importance=4,
    minutes=5,
)


@task.cases
def _(draw):
    for size in sizes(B=3, T=5):
        yield Case(f"{size.B} sentences of {size.T} words", (draw.whole(4, 50, size.B, size.T), 1))
    yield Case("large ids", (draw.whole(10**6, 2 * 10**6, 2, 3), 10**6 + 1), edge=True)


@task.oracle
def _(target, bos):
    return torch.tensor([[bos, *row[:-1]] for row in target.tolist()])


@task.mistake()
def rolled(target, bos):
    return target.roll(1, 1)


@task.mistake()
def longer(target, bos):
    return torch.nn.functional.pad(target, (1, 0), value=bos)


@task.mistake()
def left(target, bos):
    return torch.nn.functional.pad(target[:, 1:], (0, 1), value=bos)
