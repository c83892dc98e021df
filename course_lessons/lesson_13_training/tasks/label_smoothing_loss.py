"""Task 13.label_smoothing_loss: how far the cross-entropy against smoothed targets is above the lowest possible one, over real tokens."""

import math
from operator import add, mul, sub, truediv

import torch
import torch.nn.functional as F

from course_lessons.shared.log_softmax_mistakes import LOG_P, log_softmax_mistakes, with_an_improbable_word
from course_lessons.shared.partial_credit import USUAL
from course_utils.checks.reference_trace import left_out
from course_utils.checks.running.contract import Case
from course_utils.checks.task import Task, count, sizes

task = Task(
    "13.label_smoothing_loss",
    "how far a smoothed loss is from the lowest one",
    arguments=("logits B×T×V", "target B×T", "smoothing", "pad"),
    result="loss",
    difficulty=3,
    importance=4,
    minutes=20,
    hints=(
        "A smoothed target is a distribution over the whole vocabulary: every class gets the same small share, and the correct word gets the rest on top. The cross-entropy is lowest for a model that predicts exactly these probabilities. How much does each class cost such a model? The answer does not depend on the logits and is the same for every token.",
        (
            "Take one token, three classes with probabilities of 0.5, 0.25 and 0.25, and smoothing = 0.3. The first class is the correct word. The smoothed target gives each class 0.3 / 3 = 0.1, and the correct word another 0.7: 0.8, 0.1, 0.1. The classes cost -ln 0.5 = 0.6931, 1.3863 and 1.3863, and the loss is 0.8·0.6931 + 0.1·1.3863 + 0.1·1.3863 = 0.8318. "
            "For a model that predicts 0.8, 0.1 and 0.1, the loss would be 0.8·0.2231 + 0.1·2.3026 + 0.1·2.3026 = 0.6390. The answer is 0.8318 - 0.6390 = 0.1927, before rounding."
        ),
        "loss = cross_entropy over all tokens, with label_smoothing and with ignore_index = pad. asked = V shares of smoothing / V, one of them larger by 1 - smoothing. lowest = minus the sum of asked times ln asked, where a share of 0 adds 0 (torch.special.entr). Return loss minus lowest.",
    ),
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


def _lowest(V, smoothing):
    """The entropy of a smoothed target."""
    share = smoothing / V
    right = 1 - smoothing + share
    return -right * math.log(right) - ((V - 1) * share * math.log(share) if share else 0.0)


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
    lowest = yield LOWEST, lambda smoothed, real: torch.special.entr(smoothed[real]).sum(-1).mean(), smoothed, real
    above = yield ABOVE, sub, mean, lowest
    return above


LOWEST, ABOVE = "the lowest loss", "the loss above the lowest"
REAL, TOKENS = "the positions without padding", "the number of tokens"


def _one_hot(target, logits):
    return F.one_hot(target, logits.shape[-1]).to(logits)


# The smoothed target

SHARE, SMOOTHED = "the share of each class", "the smoothed target"


def wrong_classes(count, pad_too=True):
    """Changes after which each wrong class gets smoothing / `count`, with V for the number of all, and the right word 1 - smoothing."""

    def change(sharp, share, *, smoothing, pad):
        smoothed = torch.where(sharp > 0, sharp, smoothing / count(sharp.shape[-1]))
        return smoothed if pad_too else _without(pad, smoothed)

    return {SMOOTHED: change}


def _without(pad, shares):
    """The shares of all classes, the last axis, with 0 for that of padding."""
    return shares.masked_fill(torch.arange(shares.shape[-1]) == pad, 0.0)


PAD_TOO = "That is a sensible variant, but here, as in torch's cross_entropy, all V classes get smoothing / V, including the padding class."
task.changed(
    "smoothing_unused",
    "smoothing has no effect: this is the plain cross-entropy. Each class gets smoothing / V of the target, and the correct word 1 - smoothing on top.",
    {"smoothing": lambda smoothing: 0.0},
)
task.changed_each(
    ("shares_exchanged", "The two shares are swapped: the correct word gets `smoothing`, and 1 - smoothing is spread over all classes.", {"smoothing": lambda smoothing: 1 - smoothing}),
    ("right_word_without_its_share", "The correct word gets 1 - smoothing and the others smoothing / V, so the target adds up to less than 1. The correct word also gets its share, smoothing / V.", wrong_classes(lambda V: V)),
    ("divided_by_one_class_less", "You divide the smoothing by V - 1, and all V classes get that share, so the target adds up to more than 1. Divide by V.", {SHARE: lambda smoothing, V: smoothing / (V - 1)}),
    ("pad_taken_out_of_the_target", f"You leave out the padding class's share, so the target adds up to less than 1. {PAD_TOO}", {SMOOTHED: lambda sharp, share, *, pad: _without(pad, sharp + share)}),
    ("smoothing_for_every_class", "Each class gets the whole `smoothing`: you add up the costs of all classes instead of taking their mean. The target then adds up to more than 1. Divide by V.", {SHARE: left_out}),
    ("right_word_whole", "The correct word keeps its 1, and every class gets smoothing / V on top, so the target adds up to more than 1. The correct word's 1 becomes 1 - smoothing.", {"1 minus smoothing": lambda one, smoothing: one}),
)  # fmt: skip


# From logits to losses

LOSSES = "the loss at each position"
task.changed(
    "divided_by_the_vocabulary",
    "You divide by the vocabulary size once too many times, as KLDivLoss with reduction='mean' does: with many classes the loss would be tiny. Take the sum over the classes and the mean over the tokens.",
    {"the sums over the vocabulary": lambda products: products.mean(-1)},
)
log_softmax_mistakes(task)
task.changed(
    "no_logarithm",
    "The logarithm is missing: you weight probabilities. Use log_softmax instead of softmax.",
    {LOG_P: lambda logits: logits.softmax(-1)},
)


def pad_filled(number):
    """Changes after which the logits of padding's class are this number."""
    fill = lambda logits, *, pad: logits.masked_fill(torch.arange(logits.shape[-1]) == pad, number)  # noqa: E731
    return {"logits": fill}


task.changed(
    "logits_of_pad_hidden",
    "You replace the padding class's logits with a very low number. Every class has a share of the smoothed target, so that class then costs more than all the others together. Leave the logits as they are.",
    pad_filled(-1e9),
)
task.changed(
    "logits_of_pad_infinitely_low",
    "You replace the padding class's logits with -inf. Every class has a share of the smoothed target, so the loss becomes infinite, or NaN. Leave the logits as they are.",
    pad_filled(-torch.inf),
)
task.changed(
    "cut_anew",
    "You reshape the numbers of B×T×V into B×V×T: `view` and `reshape` do not reorder anything, so a row then contains the logits of several positions. To swap two axes, use `transpose`.",
    {"logits": lambda logits: logits.reshape(logits.mT.shape).mT},
)
task.changed(
    "shifted",
    "You compare each position's logits with the next position's target. Here, the logits and the target of the same position belong together.",
    {"logits": lambda logits: logits[:, :-1], "target": lambda target: target[:, 1:]},
)


# The lowest loss


def lowest_of(shares):
    """Changes after which the lowest loss is minus the sum of x ln x over these shares: function(V, smoothing) → numbers."""

    def entropy(smoothed, real, *, smoothing):
        return sum(-x * math.log(x) for x in shares(smoothed.shape[-1], smoothing) if x)

    return {LOWEST: entropy}


HERE = "Here all V classes get smoothing / V, and the correct word 1 - smoothing on top."
CONVENTIONS = {
    "over_the_other_classes": (
        f"You spread the smoothing over the V - 1 wrong classes, and the correct word keeps 1 - smoothing, as in fairseq. {HERE}",
        wrong_classes(lambda V: V - 1),
    ),
    "pad_gets_nothing": (
        f"You spread the smoothing over the V - 2 wrong classes other than padding, and the correct word keeps 1 - smoothing, as in the Annotated Transformer. {HERE} The padding class also gets its share.",
        wrong_classes(lambda V: V - 2, pad_too=False),
    ),
    "divided_by_two_classes_less": (
        f"You divide the smoothing by V - 2, and every wrong class gets that share, so the target adds up to more than 1. {HERE}",
        wrong_classes(lambda V: V - 2),
    ),
}
for name, (sentence, change) in CONVENTIONS.items():
    task.changed_each(
        (name, sentence, change),
        (f"{name}_with_this_lowest", f"{sentence} Your lowest loss already uses these shares.", change | lowest_of(lambda V, e: [1 - e + e / V] + (V - 1) * [e / V])),
        (f"{name}_and_no_lowest", f"{sentence} You also have to subtract the lowest loss.", change | {ABOVE: left_out}),
    )  # fmt: skip
task.changed_each(
    ("lowest_forgotten", "This is the smoothed loss itself. Subtract the lowest one that any logits could reach.", {ABOVE: left_out}),
    ("lowest_added", "You add the lowest loss. Subtract it: the best model should get 0.", {ABOVE: add}),
    ("lowest_of_the_right_word", "Your lowest loss is what the correct word costs. For a model that predicts exactly the target, every class costs something: weight the correct word's cost by its share and add the weighted costs of all other classes.", {LOWEST: lambda smoothed, real: -smoothed.max().log()}),
    ("lowest_of_the_right_words_part", "Your lowest loss includes only the correct word's share. Add the shares of the other V - 1 classes.", lowest_of(lambda V, e: [1 - e + e / V])),
    ("lowest_of_the_others", "Your lowest loss leaves out the correct word's share. Its probability is below 1, so it also costs something.", lowest_of(lambda V, e: (V - 1) * [e / V])),
    ("lowest_without_its_share", "In your lowest loss, the correct word has 1 - smoothing, without its own smoothing / V, so the shares add up to less than 1.", lowest_of(lambda V, e: [1 - e] + (V - 1) * [e / V])),
    ("lowest_with_a_class_too_many", "In your lowest loss, there are V classes besides the correct word, so the shares add up to more than 1. There are V - 1.", lowest_of(lambda V, e: [1 - e + e / V] + V * [e / V])),
    ("lowest_of_the_model", "You subtract the entropy of the model's predictions. The lowest loss does not depend on the logits: it is the entropy of the smoothed target.", {LOWEST: lambda smoothed, real, *, logits: torch.special.entr(logits.softmax(-1)[real]).sum(-1).mean()}),
    ("lowest_for_each_token", "You subtract the lowest loss once for each token. Subtract it once from the mean.", {LOWEST: lambda smoothed, real: torch.special.entr(smoothed[real]).sum()}),
    ("nan_without_smoothing", "Without smoothing, a share is 0, and 0 times its logarithm gives NaN. Such a class costs nothing: use torch.special.entr or xlogy, or leave it out.", {LOWEST: lambda smoothed, real: -(smoothed[real] * smoothed[real].log()).sum(-1).mean()}),
)  # fmt: skip


# The mean

task.changed_each(
    ("mean_over_all_places", "You set the losses at padding to 0, but padding still counts, because you divide by all B·T positions. Positions left out of the sum must also be left out of the count.", {TOKENS: torch.numel}),
    ("pad_unused", "Padding counts like any token: the mean includes what the model predicts there. Leave out the positions where target is pad.", {REAL: lambda target, pad: torch.ones_like(target, dtype=torch.bool)}),
    ("pad_taken_for_0", "You leave out the positions whose target is 0. The id of padding is given as `pad`, and 0 may be a word.", {REAL: lambda target, pad: target != 0}),
    ("divided_by_sentences", "You divide by the number of sentences. Divide by the number of tokens in all of them.", {TOKENS: len}),
)  # fmt: skip


def _of_sentences(done):
    """The mean loss of each sentence; 0 for one that is all padding."""
    return (done[LOSSES] * done[REAL]).sum(1) / done[REAL].sum(1).clamp(min=1)


task.changed(
    "mean_of_sentences",
    "You take the mean of each sentence and then the mean of these means, so a token counts more in a short sentence than in a long one. Add up the losses of all tokens and divide once.",
    {"result": lambda above, *, done: _of_sentences(done).mean() - done[LOWEST]},
)
ONE_NUMBER = "Return one number, the mean over all tokens of the batch."
task.changed(
    "one_for_each_sentence",
    f"You return one loss for each sentence. {ONE_NUMBER}",
    {"result": lambda above, *, done: _of_sentences(done) - done[LOWEST]},
)


@task.mistake(
    "The correct words' part leaves padding out, but the part for all classes does not: its mean runs over all positions. Leave padding out of both parts."
)
def smoothing_at_padding_too(logits, target, smoothing, pad):
    right_words = F.cross_entropy(logits.flatten(0, 1), target.flatten(), ignore_index=pad)
    loss = (1 - smoothing) * right_words - smoothing * logits.log_softmax(-1).mean()
    return loss - _lowest(logits.shape[-1], smoothing)
