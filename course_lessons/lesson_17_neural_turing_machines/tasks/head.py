"""Task 17.head: all four steps from what a controller says to the weights of a head, for kernels of any width."""

import torch

from course_lessons.lesson_17_neural_turing_machines.tasks._drawn import drawn_gates, drawn_weights
from course_lessons.shared.partial_credit import USUAL
from course_lessons.shared.staged_cases import told_by_stages
from course_lessons.shared.weight_properties import no_weight_is_negative, rows_sum_to_one
from course_utils.checks.task import Case, Task

task = Task(
    __name__,
    "one head, with wider shifts",
    arguments=("memory B×N×W", "previous B×N", "key B×W", "strength B", "gate B", "kernel B×K", "gamma B"),
    result="weights B×N",
    difficulty=3,
    importance=5,
    minutes=20,
    partial=USUAL,
)


task.property(rows_sum_to_one)
task.property(no_weight_is_negative)


def _inputs(draw, B, N, W, K, dtype=torch.float32):
    """No two numbers of a kernel are equal, no vector is zero, and the rows of a small batch have different gammas."""
    memory, key = draw.numbers(B, N, W, dtype=dtype) + 0.25, draw.numbers(B, W, dtype=dtype) + 0.125
    strength, gamma = draw.distinct(B, 3, 12 + B).to(dtype) / 2, draw.distinct(B, 5, 12 + B).to(dtype) / 4
    gate, kernel = drawn_gates(draw, B, dtype=dtype), drawn_weights(draw, B, K, dtype)
    return memory, drawn_weights(draw, B, N, dtype), key, strength, gate, kernel, gamma


STAGES = {  # which of gate, kernel and gamma have an effect, and what is said where this is wrong first
    "content alone": (
        (),
        "Here the gate is 1, the kernel moves nothing and gamma is 1. These are therefore the weights by content alone: look at the cosines, the strength and the softmax first and check that the kernel's middle entry leaves everything where it is.",
    ),
    "content and the previous weights": (
        ("gate",),
        "Here the kernel moves nothing and gamma is 1. With a gate of 1, everything is correct, so look at the gate first: what does it do with the previous weights?",
    ),
    "shifted weights": (
        ("gate", "kernel"),
        "Here gamma is 1. With a kernel that moves nothing, everything is correct, so look at the shift first.",
    ),
    "sharpened weights": (
        ("gate", "kernel", "gamma"),
        "With a gamma of 1, everything is correct, so look at the sharpening first: the powers, and what they are divided by.",
    ),
}
told_by_stages(task, {name: sentence for name, (_, sentence) in STAGES.items()})


def _without(gate, kernel, gamma, kept):
    """The three as drawn, or such that they have no effect."""
    still = torch.zeros_like(kernel)
    still[:, kernel.shape[1] // 2] = 1
    return (
        gate if "gate" in kept else torch.ones_like(gate),
        kernel if "kernel" in kept else still,
        gamma if "gamma" in kept else torch.ones_like(gamma),
    )


@task.cases
def _(draw):
    for name, (kept, _) in STAGES.items():
        *args, gate, kernel, gamma = _inputs(draw, 1, 3, 2, 3)
        yield Case(f"{name}, 3 positions of width 2", (*args, *_without(gate, kernel, gamma, kept)))
    for B, N, W, K in ((2, 3, 2, 1), (1, 4, 2, 3), (2, 5, 2, 3), (1, 6, 3, 5), (3, 7, 5, 5)):
        yield Case(f"a batch of {B}, {N} positions of width {W}, kernels of {K}", _inputs(draw, B, N, W, K), N == 7)
    yield Case("kernels of 7", _inputs(draw, 2, 11, 3, 7), True)
    yield Case("as many rows in the batch as positions", _inputs(draw, 5, 5, 3, 3))
    yield Case("as many positions as entries in each and in a kernel", _inputs(draw, 2, 5, 5, 5))
    args = _inputs(draw, 3, 7, 5, 3)
    yield Case("gates of 0", (*args[:4], 0 * args[4], *args[5:]), True)
    yield Case("fewer positions than entries in a kernel", _inputs(draw, 2, 3, 2, 5), edge=True)
    yield Case("fewer positions than a kernel moves to one side", _inputs(draw, 2, 2, 3, 7), edge=True)
    yield Case("a single position of width 1", _inputs(draw, 2, 1, 1, 3), edge=True)
    memory, *others = _inputs(draw, 3, 7, 5, 3)
    yield Case("strengths of 300", (memory, *others[:2], 300 + 0 * others[2], *others[3:]), hazard=True)
    yield Case("float64 numbers", _inputs(draw, 3, 7, 5, 5, torch.float64), True, hazard=True)


def shifted(mixed, kernel, axis=1):
    K = kernel.shape[1]
    return sum(kernel[:, [i]] * mixed.roll(i - K // 2, axis) for i in range(K))
