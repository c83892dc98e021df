"""Task 03.padding_mask: True at words, False at padding."""

from operator import ge, le, lt

import torch

from course_utils.checks.running.contract import Case
from course_utils.checks.task import Task, count

task = Task(
    "03.padding_mask",
    "True at words, False at padding",
    arguments=("lengths B", "size"),
    result="mask B×size",
    difficulty=1,
    importance=3,
    minutes=5,
    hints=(
        "Number the positions from 0 to size - 1, as torch.arange does. Position s contains a word if s is smaller than the length of the sentence.",
        (
            "Take size 3 and the lengths 2 and 0. The positions are 0, 1 and 2. Positions 0 and 1 are smaller than 2, so the first row is True, "
            "True, False. No position is smaller than 0, so the second row is False, False, False."
        ),
        (
            "positions = torch.arange(size), of shape (size,); compare them with lengths given a second axis, of shape (B, 1). Broadcasting "
            "makes the result B×size."
        ),
    ),
)


@task.cases
def _(draw):
    words = int(draw.whole(1, 4))
    yield Case(f"a sentence of {count(words, 'word')}, padded to {words + 1}", (torch.tensor([words]), words + 1))
    short, long = sorted(draw.distinct(2, 1, 6).tolist())
    yield Case(f"sentences of {short} and {long} words, padded to {long}", (torch.tensor([short, long]), long))
    size = int(draw.whole(9, 14))
    yield Case(f"5 random lengths up to 7, padded to {size}", (draw.whole(1, 8, 5), size))
    yield Case("a length of 0", (torch.tensor([2, 0, 3]), 3), edge=True)
    yield Case("a single position", (torch.tensor([1, 0]), 1), edge=True)
    yield Case("as many sentences as positions", (torch.tensor([3, 1, 2]), 3), edge=True)


@task.steps
def _(lengths, size):
    mask = yield "the comparison of positions with lengths", lt, torch.arange(size), lengths[:, None]
    return mask


task.changed_each(
    ("inverted", 'The mask is the wrong way round: here True means "is a word".', {"the comparison of positions with lengths": ge}),
    ("one_too_many", "One position too many is True. Positions are counted from 0, so the last word is at length - 1.", {"the comparison of positions with lengths": le}),
    ("one_too_few", "One position too few is True. `torch.arange(size)` counts positions from 0, so a sentence of 2 words has them at 0 and 1.", {"the comparison of positions with lengths": lambda places, lengths: places + 1 < lengths}),
    ("padded_left", "You mark the end of the row, as if the padding came first. Here the words come first.", {"the comparison of positions with lengths": lambda places, lengths: places >= len(places) - lengths}),
)  # fmt: skip
task.changed(
    "lengths_without_an_axis",
    "`torch.arange(size)` and `lengths` are compared element by element, the first position with the first length. Every position has to be compared with every length: give lengths a second axis, `lengths[:, None]`, so that each sentence gets a row of its own.",
    {"the comparison of positions with lengths": lambda places, lengths: places < lengths[:, 0]},
)
task.changed(
    "width_of_longest",
    "Your mask is as wide as the longest sentence. It should have `size` positions, however long the sentences are.",
    {"size": lambda size, *, lengths: int(lengths.max())},
)
task.changed_each(
    ("transposed", "The axes are swapped: each row should be a sentence, B×size.", {"result": torch.t}),
    ("numbers_not_truth", "You return 0 and 1 as numbers. A comparison already gives True and False, and `.bool()` turns numbers into them.", {"result": torch.Tensor.float}),
    ("whole_numbers_not_truth", "You return 0 and 1 as whole numbers. A comparison already gives True and False, and `.bool()` turns numbers into them.", {"result": torch.Tensor.long}),
)  # fmt: skip
