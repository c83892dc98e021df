"""Task 05.shift_right: what the decoder reads while it is trained."""

import torch

from course_utils.checks.reference_trace import left_out
from course_utils.checks.running.contract import Case
from course_utils.checks.task import Task, count, sizes

task = Task(
    "05.shift_right",
    "what the decoder reads in training",
    arguments=("target B×T", "bos"),
    result="inputs B×T",
    difficulty=1,
    importance=5,
    minutes=5,
    hints=(
        "The decoder predicts each word from the words before it. So at each position it reads the word of the position before, and at the first position, where there is "
        "none, it reads bos.",
        (
            "Take the target 7, 4, 9, 2 and bos = 1. To predict 7 the decoder reads 1; to predict 4 it reads 7; to predict 9 it reads 4; to predict 2 it reads 9. So "
            "its inputs are 1, 7, 4, 9. Nothing follows the 2, so it is never read."
        ),
        "first = a column B×1 full of bos, in target's dtype; rest = all columns of target but the last; return the two side by side, first and rest.",
    ),
)


def _bos(draw):
    return int(draw.whole(2, 6))  # neither 0 nor 1, as it might be expected


@task.cases
def _(draw):
    for size in sizes(B=3, T=5):
        target = draw.distinct(size.B * size.T, 6, 60).reshape(size.B, size.T)
        yield Case(f"{count(size.B, 'sentence')} of {count(size.T, 'word')}", (target, _bos(draw)))
    repeated = draw.distinct(6, 6, 60).reshape(2, 3)[:, [0, 0, 1, 1, 1, 2, 0]]
    yield Case("words that are repeated", (repeated, _bos(draw)))
    yield Case("as many sentences as words", (draw.distinct(9, 6, 60).reshape(3, 3), _bos(draw)))
    yield Case("sentences of one word", (draw.distinct(3, 6, 60)[:, None], _bos(draw)), edge=True)
    yield Case("bos among the words", (torch.tensor([[5, 3, 5], [3, 5, 5]]), 5), edge=True)
    yield Case("bos = 0", (draw.whole(0, 3, 2, 5), 0), edge=True)
    yield Case("200 words", (draw.whole(0, 1000, 2, 200), _bos(draw)), edge=True)
    yield Case("ids above 16,777,216, where float32 has gaps", (draw.whole(2**24, 2**26, 2, 5), 2**25 + 1), hazard=True)


@task.steps
def _(target, bos):
    first = yield "the column of bos", lambda bos: torch.full_like(target[:, :1], bos), bos
    rest = yield "all columns but the last", lambda target: target[:, :-1], target
    inputs = yield "the two side by side", lambda first, rest: torch.cat([first, rest], 1), first, rest
    return inputs


task.changed(
    "not_shifted",
    "The decoder reads the very word that it is to predict, so it only has to copy. Training then looks perfect, but nothing is learned: at each position, the decoder has to read the previous word.",
    {"result": lambda inputs, *, target: target},
)
task.changed(
    "rolled",
    "The last word wraps round to the front, as with `roll`. Nothing is known before the first word, so bos belongs there.",
    {"the column of bos": lambda bos, *, target: target[:, -1:]},
)
task.changed(
    "shifted_left",
    "You shift to the left: at each position, the decoder reads the word that comes next, which is not known yet. Shift to the right.",
    {"the two side by side": lambda bos, rest, *, right, target: right(target[:, 1:], bos)},
)
task.changed(
    "first_word_overwritten",
    "You write bos over the first word and leave the others where they are. The first word is lost, and at every other position the decoder still reads the word that it is to predict. All words have to move.",
    {"all columns but the last": lambda target: target[:, 1:]},
)
task.changed(
    "bos_everywhere",
    "The decoder reads bos at every position, as if each were copied to the next, over and over. Each word has to be read before it is overwritten: build a new tensor.",
    {"all columns but the last": lambda target, *, bos: torch.full_like(target[:, 1:], bos)},
)
task.changed(
    "along_the_batch",
    "You shift along the batch, so each sentence reads the previous one. Shift along the positions, the second axis.",
    {"result": lambda inputs, *, target, bos: torch.cat([torch.full_like(target[:1], bos), target[:-1]])},
)
task.changed_each(
    ("always_1", "You put a fixed 1 at the front. Write `bos`, whatever number it is.", {"the column of bos": lambda bos, *, target: torch.ones_like(target[:, :1])}),
    ("always_0", "You put a fixed 0 at the front. Write `bos`, whatever number it is.", {"the column of bos": lambda bos, *, target: torch.zeros_like(target[:, :1])}),
    ("last_word_kept", "Your inputs are one word too long: with bos in front, drop the last word: use `target[:, :-1]`.", {"all columns but the last": left_out}),
)  # fmt: skip
task.changed(
    "floating_point",
    "Your ids have become floating-point numbers, as happens next to `torch.ones` or `torch.zeros` without a dtype. An embedding accepts only whole numbers: keep target's dtype.",
    {"result": lambda inputs: inputs.float()},
)
