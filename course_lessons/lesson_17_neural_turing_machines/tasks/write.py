"""Task 17.write: what a head erases from a memory, and what it adds to it."""

from operator import add as plus
from operator import mul, sub

import torch

from course_lessons.lesson_17_neural_turing_machines.tasks._drawn import drawn_gates, drawn_weights, one_hot
from course_lessons.shared.partial_credit import USUAL
from course_utils.checks.task import Case, Task, sizes

task = Task(
    __name__,
    "attention that writes",
    arguments=("memory B×N×W", "weights B×N", "erase B×W", "add B×W"),
    result="written B×N×W",
    difficulty=3,
    importance=5,
    minutes=15,
    partial=USUAL,
)


@task.property
def a_place_without_weight_stays(case, value):
    """Nothing is erased there, and nothing added."""
    memory, weights, *_ = case.args
    changed = (weights == 0) & ((value - memory).abs() > 1e-4 * (1 + memory.abs())).any(-1)
    if not changed.any():
        return None
    row, position = divmod(int(changed.int().argmax()), weights.shape[1])
    return f"For the input “{case.name}” position {position} of row {row} has a weight of 0, so it should stay unchanged. In your result it has changed."


def _inputs(draw, B, N, W, dtype=torch.float32):
    """No number is 0, and no erase vector holds a 1 or a half."""
    memory = draw.numbers(B, N, W, dtype=dtype) + 0.25
    erase, add = drawn_gates(draw, B, W, dtype=dtype), draw.numbers(B, W, dtype=dtype) + 0.125
    return memory, drawn_weights(draw, B, N, dtype), erase, add


@task.cases
def _(draw):
    for size in sizes(B=3, positions=7, W=5):
        name = f"a batch of {size.B}, {size.positions} positions of width {size.W}"
        yield Case(name, _inputs(draw, size.B, size.positions, size.W), size.full)
    yield Case("as many rows in the batch as positions", _inputs(draw, 5, 5, 3))
    yield Case("as many positions as entries in each", _inputs(draw, 3, 5, 5), True)
    yield Case("B, N and W all 3", _inputs(draw, 3, 3, 3))
    memory, _, erase, add = _inputs(draw, 3, 5, 7)
    yield Case("weights at one position", (memory, one_hot(draw, 3, 5), erase, add))
    memory, weights, erase, add = _inputs(draw, 3, 5, 7)
    yield Case("erase vectors of zeros and ones", (memory, weights, (erase > 0.5).float(), add), True, edge=True)
    less = weights * drawn_gates(draw, 3)[:, None]
    yield Case("weights that sum to less than 1", (memory, less, erase, add), True, edge=True)
    yield Case("an empty memory", (0 * memory, weights, erase, add), True, edge=True)
    yield Case("a single position of width 1", _inputs(draw, 3, 1, 1), True, edge=True)
    yield Case("numbers near ±10,000", (memory * 1e4, weights, erase, add * 1e4), True, hazard=True)
    yield Case("200 positions", _inputs(draw, 2, 200, 3), True, edge=True)
    yield Case("float64 numbers", _inputs(draw, 3, 7, 5, torch.float64), True, hazard=True)


@task.steps
def _(memory, weights, erase, add):
    weights, erase, add = weights[:, :, None], erase[:, None], add[:, None]
    share = yield "the erased share", mul, weights, erase
    kept = yield "the share that stays", sub, 1, share
    erased = yield "memory after erasing", mul, memory, kept
    added = yield "what is added", mul, weights, add
    written = yield "the new memory", plus, erased, added
    return written
