"""Task 17.read_back: how much of a vector comes back if one head writes it and another one reads."""

from operator import mul

import torch

from course_lessons.lesson_17_neural_turing_machines.tasks._drawn import drawn_weights, one_hot
from course_lessons.shared.partial_credit import EDGE, SIDE_EFFECT
from course_utils.checks.reference_trace import left_out
from course_utils.checks.running.contract import Case
from course_utils.checks.task import Task

task = Task(
    "17.read_back",
    "how much of a written vector comes back",
    arguments=("write_weights N", "read_weights N"),
    result="share",
    difficulty=1,
    importance=4,
    minutes=5,
    hints=(
        "Follow the vector through one position. How much of it does the position contain after the write, and how much of that does the read head take? Then consider all positions together.",
        "Take the write weights (0.5, 0.5, 0) and the read weights (0, 0.2, 0.8). After the write, positions 0 and 1 contain 0.5·a each, and position 2 contains nothing. The read head takes 0·0.5 from position 0, 0.2·0.5 from position 1, and 0.8·0 from position 2. Together this is 0.1, so a tenth of the vector comes back.",
        "Multiply the two weights of each position and return the sum over all positions.",
    ),
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


task.changed_each(
    ("all_of_it", "You always return 1, as if the whole vector came back. Perhaps you add up the weights of one head, which sum to 1. Both heads matter: the read head takes its share of what the write head has left at each position.", {TAKEN: left_out}),
    ("write_weights_twice", "You use the weights of the write head twice. They determine what each position contains; how much is read from there depends on the weights of the read head.", {"read_weights": lambda read, *, write_weights: write_weights.clone()}),
    ("read_weights_twice", "You use the weights of the read head twice. What each position contains depends on the weights of the write head.", {HELD: lambda write, *, read_weights: read_weights.clone()}),
    ("smaller_weight", "You use the smaller of the two weights at each position. The read head reads a share of a share at each position: multiply the two weights.", {TAKEN: torch.minimum}),
    ("likeliest_position", "You read only the position where the read head has its largest weight. A head reads all positions, each in proportion to its weight.", {TAKEN: lambda held, read: held * torch.nn.functional.one_hot(read.argmax(), len(read)).to(read.dtype)}),
    ("divided_by_positions", "You divide by the number of positions. Reading is a weighted sum, and the weights already sum to 1: only add up the products.", {TOGETHER: torch.mean}),
    ("cosine", "You divide by the lengths of the two lists of weights, as a cosine does. There is no division here: add up the products of the weights.", {"result": lambda share, *, write_weights, read_weights: share / (write_weights.norm() * read_weights.norm())}),
)  # fmt: skip
