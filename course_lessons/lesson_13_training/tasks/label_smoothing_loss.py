"""Task 13.label_smoothing_loss: how far the cross-entropy against smoothed targets is above the lowest possible one, over real tokens."""

import math
from operator import add, mul, sub, truediv

import torch
import torch.nn.functional as F

from course_lessons.shared.log_softmax import LOG_P, find_small_number, with_an_improbable_word
from course_lessons.shared.partial_credit import USUAL
from course_utils.base.words import count
from course_utils.checks.task import Case, Task, sizes

task = Task(
    __name__,
    "how far a smoothed loss is from the lowest one",
    arguments=("logits B×T×V", "target B×T", "smoothing", "pad"),
    result="loss",
    difficulty=3,
    importance=4,
    minutes=20,
    partial=USUAL,
)


@task.property
def a_loss_is_not_negative(case, value):
    """Nothing is below the lowest loss."""
    return f"No loss can be below the lowest one; yours is below it by {-value:.4g}." if value < -1e-5 else None


def _target(draw, lengths, T, V, pad):
    """Ids other than `pad`, and `pad` after each sentence; 0 is among the words where it is not padding."""
    target = draw.whole(0, V - 1, len(lengths), T)
    target = target + (target >= pad)
    if pad:
        target[0, 0] = 0
    return torch.where(torch.arange(T) < torch.tensor(lengths)[:, None], target, pad)


def _inputs(draw, lengths, T, V, pad, smoothing, dtype=torch.float32):
    logits = draw.numbers(len(lengths), T, V, dtype=dtype)
    logits[..., pad] += torch.linspace(0.5, 2.0, T)  # no two tokens alike, and what pad gets matters
    return logits, _target(draw, lengths, T, V, pad), smoothing, pad


@task.cases
def _(draw):
    for size in sizes(B=3, T=5, V=7):
        T, V = (
            (size.T, size.V) if size.full else (size.T + 2, size.V + 1)
        )  # so that there is padding, and a class beside it
        lengths = [T - 2, T, 1, 2][: size.B]
        smoothing, pad = int(draw.whole(1, 5)) / 8, int(draw.whole(0, V))
        name = (
            f"{count(size.B, 'sentence')}, padded to {T} positions, {V} classes, smoothing = {smoothing:g}, pad = {pad}"
        )
        yield Case(name, _inputs(draw, lengths, T, V, pad, smoothing), size.full)
    yield Case("pad = 0, smoothing = 0.1", _inputs(draw, [2, 4, 5], 5, 7, 0, 0.1))
    yield Case("pad = 4, smoothing = 0.3", _inputs(draw, [5, 2, 3], 5, 7, 4, 0.3))
    yield Case("as many positions as classes", _inputs(draw, [2, 4], 5, 5, 1, 0.25))
    yield Case("no padding", _inputs(draw, [3, 3], 3, 5, 2, 0.25))
    yield Case("smoothing = 0.98, close to 1", _inputs(draw, [4, 2, 3], 4, 7, 5, 0.98))
    yield Case("a sentence that is all padding", _inputs(draw, [2, 0, 4], 5, 7, 3, 0.25), True, edge=True)
    logits, target, _, pad = _inputs(draw, [1, 1], 3, 5, 4, 0.25)
    target[0, 0] = pad
    yield Case("a single token", (logits, target, 0.25, pad), True, edge=True)
    yield Case("no smoothing", _inputs(draw, [2, 3], 4, 5, 1, 0.0), True, edge=True)
    logits, target, *rest = _inputs(draw, [3, 3], 3, 5, 2, 0.25)
    yield Case(
        "a word with a probability of 1e-13", (with_an_improbable_word(logits, target), target, *rest), edge=True
    )
    yield Case("200 places", _inputs(draw, [200, 127], 200, 5, 2, 0.125), True, edge=True)
    logits, *rest = _inputs(draw, [3, 2, 3], 3, 5, 2, 0.25)
    logits = logits + torch.tensor([40.0, -70.0, 0.0])[:, None, None]
    yield Case("sentences whose logits are far apart", (logits, *rest), hazard=True)
    far = torch.stack([draw.distinct(5, -2, 3) * 5e3 for _ in range(6)]).reshape(2, 3, 5)
    far[0, 0] = torch.tensor([-1e4, 1e4, 5e3, 0.0, -5e3])  # and the target there is 0, so that the loss is large
    yield Case("logits of ±10,000", (far, _target(draw, [3, 2], 3, 5, 2), 0.25, 2), True, hazard=True)
    yield Case("float64 numbers", _inputs(draw, [3, 5], 5, 7, 3, 0.25, torch.float64), True, hazard=True)


@task.steps
def _(logits, target, smoothing, pad):
    one_hot = yield "the one-hot targets", _one_hot, target, logits
    rest = yield "1 minus smoothing", sub, 1, smoothing
    sharp = yield "the correct words' extra share", mul, rest, one_hot
    share = yield "the share of each class", truediv, smoothing, logits.shape[-1]
    smoothed = yield "the smoothed target", add, sharp, share
    log_p = yield LOG_P, lambda logits: logits.log_softmax(-1), logits
    products = yield "the weighted log probabilities", mul, smoothed, log_p
    sums = yield "the sums over the vocabulary", lambda products: products.sum(-1), products
    losses = yield "the loss at each position", torch.neg, sums
    real = yield "the positions without padding", torch.ne, target, pad
    of_words = yield "the losses of real tokens", lambda losses, real: losses[real], losses, real
    total = yield "the sum of the losses", torch.sum, of_words
    tokens = yield "the number of tokens", torch.sum, real
    mean = yield "the mean loss", truediv, total, tokens
    lowest = yield "the lowest loss", _mean_entropy, smoothed, real
    above = yield "the loss above the lowest", sub, mean, lowest
    return above


def _one_hot(target, logits):
    return F.one_hot(target, logits.shape[-1]).to(logits)


def _mean_entropy(smoothed, real):
    return torch.special.entr(smoothed[real]).sum(-1).mean()


def entropy(shares):
    """Return the entropy of a target with these shares."""
    return sum(-share * math.log(share) for share in shares if share)


find_small_number(task)
