"""Task 17.read_back: how much of a vector comes back if one head writes it and another one reads."""

from operator import mul

import torch

from course_lessons.lesson_17_neural_turing_machines.tasks._drawn import drawn_weights, one_hot
from course_lessons.shared.partial_credit import EDGE, SIDE_EFFECT
from course_utils.checks.task import Case, Task

task = Task(
    __name__,
    "how much of a written vector comes back",
    arguments=("write_weights N", "read_weights N"),
    result="share",
    difficulty=1,
    importance=4,
    minutes=5,
    partial=EDGE | SIDE_EFFECT,
)


def _weights(draw, N):
    return drawn_weights(draw, 2, N).unbind(0)


@task.cases
def _(draw):
    for N in (2, 3, 5, 7):
        yield Case(f"{N} positions", _weights(draw, N))
    one, other = draw.distinct(5, 0, 5)[:2].tolist()
    positions = torch.eye(5)
    yield Case("both heads at the same position", (positions[one], positions[one].clone()))
    yield Case("the heads at two positions", (positions[one], positions[other]))
    yield Case("a read head at one position", (drawn_weights(draw, 1, 5)[0], one_hot(draw, 1, 5)[0]))
    same = drawn_weights(draw, 1, 5)[0]
    yield Case("both heads with the same weights", (same, same.clone()))
    yield Case("equal weights at all positions", (torch.full((4,), 0.25), torch.full((4,), 0.25)), edge=True)
    yield Case("a single position", (torch.ones(1), torch.ones(1)), edge=True)
    yield Case("200 positions", _weights(draw, 200), edge=True)


HELD, TAKEN, TOGETHER = "what each position contains", "what is read from each position", "the total that is read"


@task.steps
def _(write_weights, read_weights):
    held = yield HELD, torch.clone, write_weights
    taken = yield TAKEN, mul, held, read_weights
    share = yield TOGETHER, torch.sum, taken
    return float(share)
