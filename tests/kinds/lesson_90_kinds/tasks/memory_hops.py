"""Task 90.memory_hops: a list of tensors."""

import torch

from course_utils.checks.task import Case, Task, sizes

task = Task(
    __name__,
    "reading several memories one after the other",
    arguments=("question B×D", "memories"),
    result="state B×D",
    difficulty=2,
    importance=3,
    minutes=10,
)


@task.cases
def _(draw):
    for size in sizes(B=2, M=5, D=3, K=2):
        memories = [draw.numbers(size.B, size.M, size.D) for _ in range(size.K)]
        yield Case(f"{size.K} memories", (draw.numbers(size.B, size.D), memories), gradient=True)


@task.oracle
def _(question, memories):
    for memory in memories:
        weights = torch.einsum("bmd,bd->bm", memory, question).softmax(-1)
        question = question + torch.einsum("bm,bmd->bd", weights, memory)
    return question


@task.mistake()
def last_only(question, memories):
    return task.oracle_function(question, memories[-1:])


@task.mistake()
def reverse(question, memories):
    return task.oracle_function(question, memories[::-1])


@task.mistake()
def replaced(question, memories):
    for memory in memories:
        question = ((memory @ question[..., None])[..., 0].softmax(-1)[:, None] @ memory)[:, 0]
    return question
