"""Task 02.error_at_score: what the backward pass sends to each score."""

import torch

from course_utils.base.words import count
from course_utils.checks.task import Case, Task, sizes

# The result is a gradient itself: none of it is asked for. A word of padding has the weight 0, so no mask is needed.
task = Task(
    __name__,
    "what the backward pass sends to each score",
    arguments=("weights B×S", "words B×S×D", "error B×D"),
    result="score_errors B×S",
    difficulty=3,
    importance=4,
    minutes=30,
)


def _weights(draw, B, S):
    if S > 3:
        return draw.numbers(B, S).softmax(-1)
    parts = torch.tensor([0.25, 0.75] if S == 2 else [0.25, 0.75, 0.0])
    return torch.stack([parts[draw.distinct(S, 0, S)] for _ in range(B)])


@task.cases
def _(draw):
    for size in sizes(B=3, S=5, D=7):
        B, S, D = size.B, size.S, size.D
        name = f"{count(B, 'sentence')} of {S} words, width {D}"
        yield Case(name, (_weights(draw, B, S), draw.numbers(B, S, D), draw.numbers(B, D)))
    padded = _weights(draw, 2, 5) * torch.tensor([[1.0, 1, 1, 1, 1], [1, 1, 1, 0, 0]])
    padded = padded / padded.sum(-1, keepdim=True)
    yield Case("a sentence with padding, whose weights are 0", (padded, draw.numbers(2, 5, 3), draw.numbers(2, 3)))
    nothing = torch.tensor([[0.25, 0.75], [0.0, 0.0]])
    # A softmax of no scores is no softmax of scores: PyTorch's own gradient of it is NaN.
    yield Case("a sentence of padding only", (nothing, draw.numbers(2, 2, 3), draw.numbers(2, 3)), hazard=True)
    one = torch.tensor([[1.0, 0.0], [0.0, 1.0]])
    yield Case("one word gets all the weight", (one, draw.numbers(2, 2, 3), draw.numbers(2, 3)), edge=True)
    single = (torch.ones(2, 1), draw.numbers(2, 1, 1), draw.numbers(2, 1) + 0.25)
    yield Case("sentences of one word, width 1", single, edge=True)
