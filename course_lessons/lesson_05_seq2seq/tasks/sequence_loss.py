"""Task 05.sequence_loss: the mean cross-entropy over the real words of a batch."""

from operator import truediv

import torch

from course_lessons.shared.log_softmax import LOG_P, find_small_number, with_an_improbable_word
from course_lessons.shared.padding import lengths_below, with_garbage, words_first
from course_lessons.shared.partial_credit import USUAL
from course_utils.base.words import count
from course_utils.checks.task import Case, Task, sizes

task = Task(
    __name__,
    "the loss over real words only",
    arguments=("logits B×T×V", "target B×T", "mask B×T"),
    result="loss",
    difficulty=3,
    importance=5,
    minutes=20,
    partial=USUAL,
)


@task.property
def a_loss_is_not_negative(case, value):
    """A probability is 1 at most."""
    return f"A cross-entropy is never below 0; yours is {value:.4g}." if value < -1e-6 else None


def _target(draw, mask, V):
    """Ids, among them a word with the id 0, and padding with another one."""
    target = draw.whole(0, V, *mask.shape)
    target[tuple(mask.nonzero()[0])] = 0
    if not mask.all():
        target[tuple((~mask).nonzero()[-1])] = V - 1
    return target


@task.cases
def _(draw):
    for size in sizes(B=3, T=5, V=7):
        T = size.T if size.full else size.T + 1  # so that there is padding
        mask = words_first(lengths_below(draw, size.B, T), T)
        name = f"{count(size.B, 'sentence')}, padded to {T} positions, {size.V} words in the vocabulary"
        yield Case(name, (draw.numbers(size.B, T, size.V), _target(draw, mask, size.V), mask), size.full)
    mask = draw.lengths_mask(5, 7)
    yield Case("5 sentences, the first of which fills its row", (draw.numbers(5, 7, 3), _target(draw, mask, 3), mask))
    everything = torch.ones(2, 3, dtype=torch.bool)
    yield Case("no padding", (draw.numbers(2, 3, 5), _target(draw, everything, 5), everything))
    holes = draw.mask(3, 5)
    yield Case("False positions anywhere", (draw.numbers(3, 5, 7), _target(draw, holes, 7), holes))
    mask = words_first(torch.tensor([2, 0, 4]), 5)
    ordinary = (draw.numbers(3, 5, 7), _target(draw, mask, 7), mask)
    yield Case("a sentence without words", ordinary, True, edge=True)
    empty = torch.zeros(2, 3, dtype=torch.bool)
    yield Case("no word in the whole batch", (draw.numbers(2, 3, 5), draw.whole(0, 5, 2, 3), empty), True, hazard=True)
    one = torch.ones(1, 1, dtype=torch.bool)
    yield Case("a single word", (draw.numbers(1, 1, 3), draw.whole(0, 3, 1, 1), one), True, edge=True)
    ids = draw.whole(0, 5, 2, 3)
    improbable = with_an_improbable_word(draw.numbers(2, 3, 5), ids)
    yield Case("a word with a probability of 1e-13", (improbable, ids, everything), edge=True)
    yield Case("a vocabulary of one word", (draw.numbers(2, 3, 1), torch.zeros(2, 3).long(), everything), edge=True)
    long = words_first(torch.tensor([200, 127]), 200)
    yield Case("200 positions", (draw.numbers(2, 200, 5), _target(draw, long, 5), long), True, edge=True)
    mask = words_first(torch.tensor([3, 1, 4]), 5)
    logits, target = draw.numbers(3, 5, 7), _target(draw, mask, 7)
    outside = torch.tensor([7, -1, 10**6, -100]).repeat(4)[: mask.numel()].reshape(mask.shape)
    yield Case(
        "ids outside the vocabulary at padding", (logits, torch.where(mask, target, outside), mask), True, hazard=True
    )
    yield Case("NaN and infinity at padding", (with_garbage(logits, mask), target, mask), True, hazard=True)
    apart = draw.numbers(3, 5, 7) + torch.tensor([40.0, -70.0, 0.0])[:, None, None]
    yield Case("sentences whose logits are far apart", (apart, _target(draw, mask, 7), mask), hazard=True)
    # No two alike in a row: there the gradient of a correct answer may be off by more than rounding elsewhere.
    far = torch.stack([draw.distinct(5, -2, 3) * 5e3 for _ in range(6)]).reshape(2, 3, 5)
    far[0, 0] = torch.tensor([-1e4, 1e4, 5e3, 0.0, -5e3])  # and the target there is 0, so that the loss is large
    mask = words_first(torch.tensor([3, 2]), 3)
    target = _target(draw, mask, 5)
    target[0, 1] = far[0, 1].argmax()
    yield Case("logits of ±10,000", (far, target, mask), True, hazard=True)


LOSSES = "the losses"


@task.steps
def _(logits, target, mask):
    words = yield "the logits of the words", lambda logits, mask: logits[mask], logits, mask
    ids = yield "the ids of the words", lambda target, mask: target[mask], target, mask
    log_p = yield LOG_P, lambda words: words.log_softmax(-1), words
    of_target = yield "the log probabilities of the target", _taken, log_p, ids
    losses = yield LOSSES, torch.neg, of_target
    total = yield "the total loss", torch.sum, losses
    n = yield "the number of words", torch.sum, mask
    n = yield "the number to divide by", lambda n: n.clamp(min=1), n
    mean = yield "the mean loss", truediv, total, n
    return mean


def _taken(numbers, ids):
    """The number of each row that its id points to: numbers N×V, ids N → N."""
    return numbers.gather(-1, ids[:, None])[:, 0]


def of_sentences(losses, mask):
    """Return the mean loss of each sentence, from the losses of all words."""
    of_places = torch.zeros(mask.shape, dtype=losses.dtype).masked_scatter(mask, losses)
    return of_places.sum(1) / mask.sum(1).clamp(min=1)


find_small_number(task)
