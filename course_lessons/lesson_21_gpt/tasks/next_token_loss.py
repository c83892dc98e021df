"""Task 21.next_token_loss: the mean cross-entropy of each next id, as a language model is trained with."""

import torch

from course_lessons.shared.log_softmax import find_small_number, with_an_improbable_word
from course_lessons.shared.partial_credit import USUAL
from course_utils.base.words import count
from course_utils.checks.task import Case, Task

task = Task(
    __name__,
    "the loss of the next id",
    arguments=("logits B×T×V", "ids B×T"),
    result="loss",
    difficulty=2,
    importance=5,
    minutes=15,
    partial=USUAL,
)


@task.property
def a_loss_is_not_negative(case, value):
    """A probability is 1 at most."""
    return f"A cross-entropy is never below 0; yours is {value:.4g}." if value < -1e-6 else None


def _ids(draw, B, T, V):
    """Ids of which no two that follow one another in a sentence are the same, so that a shift shows."""
    first, steps = draw.whole(0, V, B, 1), draw.whole(1, V, B, T - 1)
    return torch.cat([first, first + steps.cumsum(1)], 1) % V


def _inputs(draw, B, T, V, dtype=torch.float32):
    return draw.numbers(B, T, V, dtype=dtype), _ids(draw, B, T, V)


# Sizes B, T, V: tiny first, then one longer at a time, then all
LADDER = ((1, 3, 2), (2, 3, 2), (1, 4, 2), (1, 3, 5), (3, 5, 7))


@task.cases
def _(draw):
    for dims in LADDER:
        B, T, V = dims
        name = f"{count(B, 'sentence')} of {count(T, 'id')}, {V} in the vocabulary"
        yield Case(name, _inputs(draw, *dims), dims == LADDER[-1])
    yield Case("as many sentences as positions", _inputs(draw, 4, 4, 3))
    yield Case("as many positions as ids in the vocabulary", _inputs(draw, 2, 5, 5))
    yield Case("2 positions, of which one has a target", _inputs(draw, 3, 2, 5), True, edge=True)
    yield Case("a vocabulary of one id", (draw.numbers(2, 3, 1), torch.zeros(2, 3).long()), edge=True)
    logits, ids = _inputs(draw, 2, 3, 5)
    logits[:, :-1] = with_an_improbable_word(logits[:, :-1].contiguous(), ids[:, 1:].contiguous())
    yield Case("an id with a probability of 1e-13", (logits, ids), edge=True)
    yield Case("200 positions", _inputs(draw, 2, 200, 5), edge=True)
    yield Case("float64 numbers", _inputs(draw, 3, 5, 7, torch.float64), True, hazard=True)
    logits, ids = _inputs(draw, 3, 4, 5)
    logits += torch.tensor([40.0, -70.0, 0.0])[:, None, None]
    yield Case("sentences whose logits are far apart", (logits, ids), hazard=True)
    far = torch.stack([draw.distinct(5, -2, 3) * 5e3 for _ in range(6)]).reshape(2, 3, 5)
    ids = _ids(draw, 2, 3, 5)
    ids[0, 1] = far[0, 0].argmax()
    yield Case("logits of ±10,000", (far, ids), hazard=True)


find_small_number(task)
