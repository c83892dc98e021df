"""Task 22.to_neighbours: the rows of a query or key matrix, from pairs of halves to pairs of neighbours."""

import torch

from course_utils.checks.running.contract import Case
from course_utils.checks.task import Task

task = Task(
    "22.to_neighbours",
    "rotary pairs reordered",
    arguments=("weight HD×D", "heads"),
    result="weight HD×D",
    difficulty=3,
    importance=2,
    minutes=15,
    hints=(
        "Each head has its own d rows, and pairs never leave their head. Within a head, decide which row of the old matrix belongs in row 0, 1, 2, 3 of the new one.",
        "Take a single head with the rows 0, 1, 2, 3. Its halves are 0, 1 and 2, 3, so the pairs are (0, 2) and (1, 3). As neighbours they are 0, 2, 1, 3. With two heads of two rows each, every half is one row, so nothing moves.",
        "View the rows as heads × 2 × d/2 (which half, which pair), swap the last two of these axes and flatten the three into rows again.",
    ),
)


@task.cases
def _(draw):
    for heads, d, width in ((1, 4, 3), (2, 4, 3), (3, 6, 5), (5, 8, 7)):
        yield Case(f"{heads} heads of {d} rows", (draw.numbers(heads * d, width), heads), gradient=d == 6)
    yield Case("heads of two rows, in which nothing moves", (draw.numbers(6, 5), 3), edge=True)


def _as(weight, *sizes):
    return weight.unflatten(0, sizes)


@task.steps
def _(weight, heads):
    halves = yield "the halves of each head", lambda weight, heads: _as(weight, heads, 2, -1), weight, heads
    pairs = yield "the pairs of each head", lambda halves: halves.transpose(1, 2), halves
    rows = yield "the rows", lambda pairs: pairs.flatten(0, 2), pairs
    return rows


HALVES, PAIRS = "the halves of each head", "the pairs of each head"
task.changed_each(
    ("backwards", "This is the way back, from neighbours to halves: row 1 of a head moves to the first row of its second half. Here the first row of the second half has to become row 1.", {HALVES: lambda weight, heads: _as(weight, heads, -1, 2)}),
    ("across_heads", "You form pairs from the two halves of the whole matrix, so rows of different heads are mixed. Split the rows into heads first, then each head into halves.", {HALVES: lambda weight, heads: _as(weight, 1, 2, -1)}),
    ("unchanged", "Nothing has moved. View the rows as heads, halves and pairs and swap the last two.", {PAIRS: lambda halves: halves}),
    ("heads_exchanged", "You swap heads and halves. A head keeps its place: only the order of the rows within it changes.", {PAIRS: lambda halves: halves.transpose(0, 1)}),
    ("heads_exchanged_with_pairs", "You swap heads and pairs. A head keeps its place: only the order of the rows within it changes.", {PAIRS: lambda halves: halves.transpose(0, 2)}),
    ("second_half_first", "In your pairs, the row of the second half comes first. The first row of each pair comes from the first half.", {PAIRS: lambda halves: halves.flip(1).transpose(1, 2)}),
    ("halves_exchanged", "You swap the two halves of each head without forming pairs. Row 0 of the first half is followed by row 0 of the second.", {PAIRS: lambda halves: halves.flip(1)}),
    ("pairs_reversed", "Your pairs are correct but in the wrong order: the last pair comes first.", {PAIRS: lambda halves: halves.transpose(1, 2).flip(1)}),
    ("columns", "You reorder the columns. The columns are the entries of x, which all heads share; the rows belong to the heads.", {"weight": lambda weight: weight.mT, "result": lambda rows: rows.mT}),
    ("not_flattened", "You return axes for heads and pairs. Flatten them, so that the matrix gets its shape back.", {"the rows": lambda pairs: pairs}),
)  # fmt: skip


@task.property
def _(case, value):
    weight = case.args[0]
    if not isinstance(value, torch.Tensor) or value.shape != weight.shape:
        return None
    old, new = (sorted(map(tuple, rows.tolist())) for rows in (weight, value.detach()))
    if old != new:
        return "Your rows are not the rows of `weight` in a different order: some are lost, some occur twice, or their numbers have changed."
    return None
