"""Task 02.error_through_attention: what the backward pass sends to each word."""

import torch

from course_utils.base.words import count
from course_utils.checks.task import Case, Task, sizes

# The result is a gradient itself: none of it is asked for.
task = Task(
    __name__,
    "what the backward pass sends to each word",
    arguments=("weights B×S", "error B×D"),
    result="word_errors B×S×D",
    difficulty=2,
    importance=4,
    minutes=10,
)


@task.cases
def _(draw):
    for size in sizes(B=2, S=5, D=3):
        B, S, D = size.B, size.S, size.D
        weights = (
            draw.numbers(B, S).softmax(-1) if size.full else torch.tensor([0.25, 0.75, 0.0])[:S].expand(B, S).clone()
        )
        yield Case(f"{count(B, 'sentence')} of {S} words, width {D}", (weights, draw.numbers(B, D)))
    one = torch.tensor([[1.0, 0.0], [0.0, 1.0], [0.5, 0.5]])
    yield Case("one word gets all the weight", (one, draw.numbers(3, 5)), edge=True)
    nothing = torch.tensor([[0.25, 0.75], [0.0, 0.0]])
    yield Case("a sentence of padding only, whose weights are 0", (nothing, draw.numbers(2, 3)), edge=True)
    yield Case("sentences of one word, width 1", (torch.ones(2, 1), draw.numbers(2, 1) + 0.25), edge=True)
