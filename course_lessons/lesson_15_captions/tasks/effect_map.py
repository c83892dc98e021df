"""Task 15.effect_map: what each word depends on, seen by emptying one cell of the picture after another."""

from operator import sub

import torch

from course_lessons.lesson_15_captions.tasks._captioners import ANNOTATION, FEATURES, RIGHT, WORD
from course_lessons.shared.partial_credit import SIDE_EFFECT
from course_utils.checks.task import Candidate, Case, Task

LOOKED_INTO = {captioner: said.removeprefix("a correct captioner: ") for captioner, said in list(RIGHT.items())[:6]}


def _of_any_numbers(captioner):
    """A captioner that takes float64 numbers too, and says what is wrong with what it is given."""

    def call(annotations, words):
        if annotations.dim() != 3 or words.dim() != 3 or len(annotations) != len(words):
            raise ValueError("annotations B×L×E and words B×T×D are expected, with as many rows")
        with torch.no_grad():
            return captioner(annotations.float(), words.float()).to(annotations.dtype)

    return call


task = Task(
    __name__,
    "what a word depends on",
    arguments=("captioner", "annotations B×L×E", "words B×T×D", "wanted B×T", "empty L×E"),
    result="effects B×T×L",
    candidates=tuple(map(_of_any_numbers, LOOKED_INTO)),
    suspects=False,
    difficulty=3,
    importance=5,
    minutes=20,
    partial=SIDE_EFFECT,
)


@task.cases
def _(draw):
    for key, name in enumerate(LOOKED_INTO.values()):
        B, L, T = (int(draw.whole(low, high)) for low, high in ((2, 4), (4, 7), (2, 4)))
        inputs = draw.numbers(B, L, ANNOTATION), draw.numbers(B, T, WORD), draw.whole(0, FEATURES, B, T)
        yield Case(f"{name}, {L} cells, {T} words", (Candidate(key), *inputs, draw.numbers(L, ANNOTATION) + 0.5))
    same = draw.numbers(3, 3, ANNOTATION), draw.numbers(3, 3, WORD), draw.whole(0, FEATURES, 3, 3)
    yield Case("soft attention, as many cells as words", (Candidate(0), *same, draw.numbers(3, ANNOTATION)))
    one = draw.numbers(1, 1, ANNOTATION), draw.numbers(1, 1, WORD), draw.whole(0, FEATURES, 1, 1)
    yield Case("soft attention, a single cell and word", (Candidate(0), *one, draw.numbers(1, ANNOTATION)), edge=True)


@task.steps
def _(captioner, annotations, words, wanted, empty):
    def log_p(picture):
        logits = yield "the logits", captioner, picture, words
        log_p = yield "the log probabilities", lambda logits: logits.log_softmax(-1), logits
        of_words = yield "the log probability of words", _of_each, log_p, wanted
        return of_words

    before, effects = (yield from log_p(annotations)), []
    for cell in range(len(empty)):
        emptied = yield "the emptied picture", _emptied, annotations, cell, empty
        after = yield from log_p(emptied)
        effect = yield "the drop for each word", sub, before, after
        effects.append(effect)
    return torch.stack(effects, -1)


def _of_each(log_p, wanted):
    return log_p.gather(-1, wanted[..., None])[..., 0]


def _emptied(picture, cell, empty):
    return torch.where((torch.arange(len(empty)) == cell)[:, None], empty, picture)
