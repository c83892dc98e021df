"""Task 17.backwards: the kernels with which two heads repeat a sequence in reverse. Many are right: what is read is compared."""

import torch

from course_utils.base.errors import CourseError
from course_utils.base.words import count
from course_utils.checks.task import Case, Task

task = Task(
    __name__,
    "a program for two heads, by hand",
    arguments=("length", "places"),
    result="read",
    difficulty=3,
    importance=5,
    minutes=20,
)


@task.cases
def _(draw):
    for low, high in ((3, 5), (5, 7), (7, 10)):  # long enough to see where a head goes
        length = int(draw.whole(low, high))
        yield Case(f"length {length}", (length, 2 * length + int(draw.whole(3, 9))))
    for length in (1, 2):
        yield Case(f"length {length}", (length, 7), edge=True)
    length = int(draw.whole(3, 8))
    yield Case("as many positions as vectors", (length, length), edge=True)
    yield Case("length 40", (40, 100), edge=True)


@task.oracle
def _(length, places):
    return [length - 1 - step for step in range(length)]


@task.canonical
def _(case, value):
    """Which vector the read head sees at each step of the silence, or a text where it sees none."""
    length, places = case.args
    steps = 2 * length + 1
    if not isinstance(value, torch.Tensor) or value.shape != (steps, 2, 3):
        raise CourseError(
            f"A tensor of kernels T×2×3 is expected, with T = 2·{length} + 1 = {steps}: for each step, the write head's three entries and the read head's."
        )
    kernels = value.detach().double()
    if not ((kernels.sort(-1).values - torch.tensor([0.0, 0.0, 1.0])).abs() < 1e-4).all():
        raise CourseError("Each kernel contains a single 1 and two zeros, for the shifts -1, 0 and +1.")
    heads, memory, seen = torch.eye(places, dtype=torch.float64)[[0, 0]], torch.zeros(places, length).double(), []
    for step, kernel in enumerate(kernels):
        heads = sum(kernel[:, [i]] * heads.roll(i - 1, 1) for i in range(3))
        if step < length:  # erase vector 1; vector number `step` is written
            memory = memory * (1 - heads[0][:, None])
            memory[:, step] += heads[0]
        if step > length:
            seen.append(heads[1] @ memory)
    return [int(each.argmax()) if each.max() > 0.95 else "no vector" for each in seen]


def _in_order(vectors):
    return ", ".join(f"vector {v}" if type(v) is int else "nothing" for v in vectors)


@task.explain_mismatch
def _(case, right, read):
    """Which vectors are found in the silence, and by how many steps all of them come too late or too early."""
    found = f"During the silence, the read head finds {_in_order(read)}; it should find {_in_order(right)}. (Vectors are counted from 0.)"
    late = {step - right.index(v) for step, v in enumerate(read) if type(v) is int}
    if len(late) != 1 or late == {0}:
        return f"{found} Write down for each step where both heads are: they move first, and vector t is written at step t."
    (steps,) = late
    come = f"{count(abs(steps), 'step')} too {'late' if steps > 0 else 'early'}"
    return f"{found} Each therefore comes {come}. At step {len(right) + 1}, the first step of the silence, the read head has to be where the last vector was written."


def _program(write, read):
    """Kernels from the shifts of each head: functions of the step and the length."""

    def program(length, places):
        shifts = [[write(step, length), read(step, length)] for step in range(2 * length + 1)]
        return torch.eye(3)[torch.tensor(shifts) + 1]

    return program


def _forward(step, length):
    return 1


def _still(step, length):
    return 0


task.mistake("one_early")(_program(_forward, lambda step, length: (step < length) - (step > length)))
task.mistake("in_the_same_order")(_program(_forward, lambda step, length: int(step > length)))
task.mistake("nothing_is_met")(_program(_forward, _still))
task.mistake("write_head_stays")(_program(_still, _still))
