"""Task 20.delta_memory: a memory that replaces its contents (Schlag, Irie & Schmidhuber 2021, section 4.2)."""

import torch

from course_lessons.shared.partial_credit import USUAL
from course_utils.base.words import count
from course_utils.checks.task import Case, Task, sizes

task = Task(
    __name__,
    "a memory that replaces what it held",
    arguments=("key B×T×D", "value B×T×E", "query B×T×D", "rate B×T"),
    result="read B×T×E",
    difficulty=3,
    importance=4,
    minutes=15,
    partial=USUAL,
)


@task.property
def the_first_step_reads_what_it_wrote(case, value):
    """The memory was empty before."""
    key, values, query, rate = (arg[:, 0] for arg in case.args)
    right = (query * key).sum(1, keepdim=True) * rate[:, None] * values
    off = (value[:, 0] - right).abs() > 1e-3 * (1 + right.abs())
    if off.any():
        return f"The memory starts with zeros, so step 0 reads rate · (query · key) · value. For the input “{case.name}” yours reads something else. Does it write before it reads?"
    return None


def _inputs(draw, B, T, D, E, dtype=torch.float32):
    """Keys of a length near 1, and rates from 1/8 to 7/8, none of them a half."""
    key, query = ((draw.numbers(B, T, D, dtype=dtype) + 0.125) / D**0.5 for _ in range(2))
    rate = torch.tensor([1, 2, 3, 5, 6, 7], dtype=dtype)[draw.whole(0, 6, B, T)] / 8
    return key, draw.numbers(B, T, E, dtype=dtype) + 0.125, query, rate


def _unit(draw, B, T, D, E):
    key, value, query, rate = _inputs(draw, B, T, D, E)
    return key / key.norm(dim=2, keepdim=True), value, query, rate


@task.property
def the_first_step_that_is_wrong(case, value):
    """What a step reads hangs on the writes so far."""
    right = task.oracle_function(*case.args)
    if value.shape != right.shape:
        return None
    off = ((value.double() - right.double()).abs() > 1e-4 * (1 + right.abs())).any(-1).any(0)
    if not off.any():
        return None
    t = int(off.nonzero()[0])
    if t == 0:
        return "Step 0 is already wrong: the memory is empty there, so it reads what it has just written itself, to the extent that its query resembles its key."
    return f"Steps before step {t} read what they should. So look at what a write does to what is already in the memory: step {t} is the first that shows it."


@task.cases
def _(draw):
    for size in sizes(B=2, T=5, D=3, E=7):
        T = size.T if size.full else size.T + 1
        name = f"{count(size.B, 'sequence')} of {T} steps, D = {size.D}, E = {size.E}"
        yield Case(name, _inputs(draw, size.B, T, size.D, size.E), size.full)
    yield Case("D and E both 5", _inputs(draw, 2, 3, 5, 5), True)
    yield Case("as many sequences as steps", _inputs(draw, 5, 5, 3, 2))
    yield Case("B, T, D and E all 3", _inputs(draw, 3, 3, 3, 3))
    key, value, query, rate = _unit(draw, 2, 5, 3, 7)
    yield Case("keys of length 1, all rates 1", (key, value, query, torch.ones_like(rate)), True)
    yield Case("the same key at all steps", (key[:, :1].expand_as(key).clone(), value, query, rate), True)
    yield Case("a single step", _inputs(draw, 2, 1, 3, 5), True, edge=True)
    yield Case("D and E both 1", _inputs(draw, 2, 5, 1, 1), True, edge=True)
    key, value, query, rate = _inputs(draw, 2, 5, 3, 7)
    yield Case("all rates 0", (key, value, query, 0 * rate), True, edge=True)
    key, value, query, rate = _inputs(draw, 2, 5, 3, 7)
    yield Case("values of ±10,000", (key, value * 5e3, query, rate), True, hazard=True)
    yield Case("100 steps", _unit(draw, 1, 100, 3, 5), True, edge=True)
    yield Case("float64 numbers", _inputs(draw, 2, 5, 3, 7, torch.float64), True, hazard=True)
