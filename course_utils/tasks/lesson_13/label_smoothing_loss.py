"""Task 13.label_smoothing_loss: the cross-entropy against targets that are not quite sure, over real tokens."""

from math import log
from operator import add, mul, truediv

import torch
import torch.nn.functional as F

from course_utils.checks.running.contract import Case
from course_utils.checks.task import Task, count, sizes
from course_utils.tasks.shares import USUAL

task = Task(
    "13.label_smoothing_loss",
    "a loss that does not ask for certainty",
    arguments=("logits B×T×V", "target B×T", "smoothing", "pad"),
    result="loss",
    difficulty=3,
    importance=4,
    minutes=20,
    hints=(
        "A target that is smoothed is a distribution over the whole vocabulary: every class gets the same small share, and the right word gets the rest on top. The cross-entropy of such a target is a mixture of two numbers: what the right word costs, and what all classes cost on average. Then take the mean over the tokens that are not padding.",
        (
            "Take one token, three classes with the probabilities 0.5, 0.25 and 0.25, and smoothing = 0.3. The right word is the first. The smoothed target gives each class 0.3 / 3 = 0.1, and the right word 0.7 more: 0.8, 0.1, 0.1. The classes cost -ln 0.5 = 0.6931, 1.3863 and 1.3863. The loss is 0.8·0.6931 + 0.1·1.3863 + 0.1·1.3863 = 0.8318. "
            "In the other order: 0.7·0.6931 is 0.4852, the mean of the three costs is 1.1552, and 0.3 of that is 0.3466. Together they are 0.8318 again."
        ),
        "log_p = log_softmax of the logits over the vocabulary; word = minus the entry of log_p at the target; everything = minus the mean of log_p over the vocabulary; losses = (1 - smoothing) times word, plus smoothing times everything; return the mean of the losses where target is not pad.",
    ),
    partial=USUAL
    | {
        "overflow": (0.5, "right for logits of ordinary size."),
    },
)


@task.property
def a_loss_is_not_negative(case, value):
    """A probability is 1 at most."""
    return f"A cross-entropy is never below 0; yours is {value:.4g}." if value < -1e-6 else None


def _target(draw, lengths, T, V, pad):
    """Ids other than `pad`, and `pad` behind each sentence; 0 is among the words where it is not padding."""
    target = draw.whole(0, V - 1, len(lengths), T)
    target = target + (target >= pad)
    if pad:
        target[0, 0] = 0
    return torch.where(torch.arange(T) < torch.tensor(lengths)[:, None], target, pad)


def _inputs(draw, lengths, T, V, pad, smoothing, dtype=torch.float32):
    logits = draw.numbers(len(lengths), T, V, dtype=dtype)
    logits[..., pad] += 0.5 + torch.arange(T) / 4  # no two tokens alike, and what pad gets matters
    return logits, _target(draw, lengths, T, V, pad), smoothing, pad


@task.cases
def _(draw):
    for size in sizes(B=3, T=5, V=7):
        T, V = (
            (size.T, size.V) if size.full else (size.T + 2, size.V + 1)
        )  # so that there is padding, and a class beside it
        lengths = [T - 2, T, 1, 2][: size.B]
        smoothing, pad = int(draw.whole(1, 5)) / 8, int(draw.whole(0, V))
        name = f"{count(size.B, 'sentence')}, padded to {T} places, {V} classes, smoothing = {smoothing:g}, pad = {pad}"
        yield Case(name, _inputs(draw, lengths, T, V, pad, smoothing), size.full)
    yield Case("pad = 0, smoothing = 0.1", _inputs(draw, [2, 4, 5], 5, 7, 0, 0.1))
    yield Case("pad = 4, smoothing = 0.3", _inputs(draw, [5, 2, 3], 5, 7, 4, 0.3))
    yield Case("as many places as classes", _inputs(draw, [2, 4], 5, 5, 1, 0.25))
    yield Case("no padding", _inputs(draw, [3, 3], 3, 5, 2, 0.25))
    yield Case("a sentence that is all padding", _inputs(draw, [2, 0, 4], 5, 7, 3, 0.25), True, edge=True)
    logits, target, _, pad = _inputs(draw, [1, 1], 3, 5, 4, 0.25)
    target[0, 0] = pad
    yield Case("a single token", (logits, target, 0.25, pad), True, edge=True)
    yield Case("no smoothing", _inputs(draw, [2, 3], 4, 5, 1, 0.0), True, edge=True)
    yield Case("200 places", _inputs(draw, [200, 127], 200, 5, 2, 0.125), True, edge=True)
    far = torch.stack([draw.distinct(5, -2, 3) * 5e3 for _ in range(6)]).reshape(2, 3, 5)
    far[0, 0] = torch.tensor([-1e4, 1e4, 5e3, 0.0, -5e3])  # and the target there is 0, so that the loss is large
    yield Case("logits of ±10,000", (far, _target(draw, [3, 2], 3, 5, 2), 0.25, 2), True, hazard=True)
    yield Case("float64 numbers", _inputs(draw, [3, 5], 5, 7, 3, 0.25, torch.float64), True, edge=True)


@task.oracle
def _(logits, target, smoothing, pad):
    return F.cross_entropy(logits.flatten(0, 1), target.flatten(), ignore_index=pad, label_smoothing=smoothing)


@task.steps
def _(logits, target, smoothing, pad):
    log_p = yield "the log softmax", lambda logits: logits.log_softmax(-1), logits
    of_target = yield "the log probabilities of the target", _taken, log_p, target
    of_all = yield "the mean of the log probabilities over the vocabulary", lambda log_p: log_p.mean(-1), log_p
    rest = yield "1 minus smoothing", lambda smoothing: 1 - smoothing, smoothing
    sharp = yield "the part of the right words", mul, rest, of_target
    smooth = yield "the part of all classes", mul, smoothing, of_all
    both = yield "both parts together", add, sharp, smooth
    losses = yield "the losses", torch.neg, both
    real = yield "what is no padding", lambda target, pad: target != pad, target, pad
    of_words = yield "the losses with zeros at padding", mul, losses, real
    total = yield "the sum of the losses", torch.sum, of_words
    tokens = yield "the number of tokens", torch.sum, real
    mean = yield "the sum divided by the number of tokens", truediv, total, tokens
    return mean


def _taken(numbers, target):
    """The number of each place that its target points to: numbers B×T×V, target B×T → B×T."""
    return numbers.gather(-1, target[..., None]).squeeze(-1)


def _log_softmax(logits, pad):
    return logits.log_softmax(-1)


def _smoothed(target, smoothing, pad, V):
    """The right distributions, B×T×V."""
    return (1 - smoothing) * F.one_hot(target, V) + smoothing / V


def _cost(log_p, q):
    return -(q * log_p).sum(-1)


def _over_tokens(losses, target, pad):
    return losses[target != pad].mean()


def _loss(log_p=_log_softmax, q=_smoothed, cost=_cost, mean=_over_tokens):
    """Return a loss that is right but for the parts that are given."""

    def label_smoothing_loss(logits, target, smoothing, pad):
        return mean(cost(log_p(logits, pad), q(target, smoothing, pad, logits.shape[-1])), target, pad)

    return label_smoothing_loss


def _mistake(name, sentence, **parts):
    task.mistake(sentence, name)(_loss(**parts))


# The smoothed target


def _without(row, places):
    """Zeros in the classes that `places` tells: row B×T×V, places B×T×V or V."""
    return row.masked_fill(places, 0.0)


def _is(classes, V):
    return torch.arange(V) == classes


_mistake(
    "smoothing_unused",
    "smoothing has no effect: this is the plain cross-entropy. Each class gets smoothing / V of the target, and the right word 1 - smoothing on top.",
    q=lambda target, smoothing, pad, V: F.one_hot(target, V).double(),
)
_mistake(
    "smoothing_fixed",
    "You smooth by 0.1 in any case. How much is given as `smoothing`.",
    q=lambda target, smoothing, pad, V: _smoothed(target, 0.1, pad, V),
)
_mistake(
    "uniform_target",
    "The right word counts no more than the others: all classes get the same share. It gets 1 - smoothing on top.",
    q=lambda target, smoothing, pad, V: torch.full((*target.shape, V), 1 / V),
)
_mistake(
    "shares_exchanged",
    "The shares are exchanged: the right word gets `smoothing`, and 1 - smoothing is spread over all classes.",
    q=lambda target, smoothing, pad, V: _smoothed(target, 1 - smoothing, pad, V),
)
_mistake(
    "over_the_other_classes",
    "You spread the smoothing over the V - 1 wrong classes, and the right word keeps 1 - smoothing. That is another convention. Here all V classes get smoothing / V, and the right word 1 - smoothing on top.",
    q=lambda target, smoothing, pad, V: torch.where(F.one_hot(target, V) > 0, 1 - smoothing, smoothing / (V - 1)),
)
_mistake(
    "right_word_without_its_share",
    "The right word gets 1 - smoothing and the others smoothing / V, so the target adds up to less than 1. The right word gets its share, smoothing / V, too.",
    q=lambda target, smoothing, pad, V: torch.where(F.one_hot(target, V) > 0, 1 - smoothing, smoothing / V),
)
_mistake(
    "smoothing_for_every_class",
    "Each class gets the whole `smoothing`: the costs of all classes are added up, and their mean is meant. The target then adds up to more than 1. Divide by V.",
    q=lambda target, smoothing, pad, V: (1 - smoothing) * F.one_hot(target, V) + smoothing,
)
_mistake(
    "right_word_whole",
    "The right word keeps a whole 1, and smoothing / V comes on top for every class, so the target adds up to more than 1. The right word's 1 becomes 1 - smoothing.",
    q=lambda target, smoothing, pad, V: F.one_hot(target, V) + smoothing / V,
)
_mistake(
    "divided_by_one_class_less",
    "You divide the smoothing by V - 1, and all V classes get that share, so the target adds up to more than 1. Divide by V.",
    q=lambda target, smoothing, pad, V: (1 - smoothing) * F.one_hot(target, V) + smoothing / (V - 1),
)
PAD_TOO = "That is a sensible variant, but here, as in torch's cross_entropy, all V classes get smoothing / V, that of padding too."
_mistake(
    "pad_gets_nothing",
    f"You spread the smoothing over the classes without that of padding: V - 2 wrong ones, and the right word keeps 1 - smoothing. {PAD_TOO}",
    q=lambda target, smoothing, pad, V: _without(
        torch.where(F.one_hot(target, V) > 0, 1 - smoothing, smoothing / (V - 2)), _is(pad, V)
    ),
)
_mistake(
    "pad_gets_nothing_of_the_rest",
    f"You spread the smoothing over V - 1 classes, the right word among them and that of padding not. {PAD_TOO}",
    q=lambda target, smoothing, pad, V: (
        (1 - smoothing) * F.one_hot(target, V) + _without(torch.full((V,), smoothing / (V - 1)), _is(pad, V))
    ),
)
_mistake(
    "pad_taken_out_of_the_target",
    f"You leave out the share of the class of padding, so the target adds up to less than 1. {PAD_TOO}",
    q=lambda target, smoothing, pad, V: _without(_smoothed(target, smoothing, pad, V), _is(pad, V)),
)
_mistake(
    "two_classes_less",
    "You divide the smoothing by V - 2, and all wrong classes get that share, so the target does not add up to 1. Here all V classes get smoothing / V.",
    q=lambda target, smoothing, pad, V: torch.where(F.one_hot(target, V) > 0, 1 - smoothing, smoothing / (V - 2)),
)
_mistake(
    "divergence",
    "You subtract the target's own entropy, which gives the Kullback-Leibler divergence, as KLDivLoss does. That differs by a number that no logit changes, and here the cross-entropy itself is asked for.",
    cost=lambda log_p, q: _cost(log_p, q) + (q * q.clamp(min=1e-30).log()).sum(-1),
)


@task.mistake(
    "You smooth what the model predicts: the logarithm of a mixture of its probability with 1 / V. Smooth the target instead, and leave the model's logarithms as they are."
)
def probabilities_smoothed(logits, target, smoothing, pad):
    p = _taken(logits.softmax(-1), target)
    return _over_tokens(-((1 - smoothing) * p + smoothing / logits.shape[-1]).log(), target, pad)


# From logits to costs

_mistake(
    "softmax_twice",
    "The softmax is applied twice: cross_entropy and log_softmax take the logits as they are, and apply it themselves.",
    log_p=lambda logits, pad: logits.softmax(-1).log_softmax(-1),
)
_mistake(
    "no_softmax",
    "The softmax is missing: you weight the logits as if they were logarithms of probabilities. Use log_softmax over the vocabulary.",
    log_p=lambda logits, pad: logits,
)
_mistake(
    "no_logarithm",
    "The logarithm is missing: you weight probabilities. Use log_softmax in place of softmax.",
    log_p=lambda logits, pad: logits.softmax(-1),
)
_mistake(
    "no_minus",
    "The minus sign is missing: logarithms of probabilities are negative, and a loss should be larger the worse the prediction is.",
    cost=lambda log_p, q: -_cost(log_p, q),
)
_mistake(
    "in_bits",
    "Your loss is in bits: the logarithm has base 2. Use the natural one, which torch.log and log_softmax give.",
    log_p=lambda logits, pad: logits.log_softmax(-1) / log(2),
)
_mistake(
    "softmax_over_places",
    "Your softmax runs over the places of a sentence. It runs over the vocabulary, the last axis.",
    log_p=lambda logits, pad: logits.log_softmax(1),
)
_mistake(
    "divided_by_the_vocabulary",
    "You divide by the size of the vocabulary once too often, as KLDivLoss with reduction='mean' does: with many classes the loss would be tiny. Add up over the classes, and take the mean over tokens.",
    cost=lambda log_p, q: _cost(log_p, q) / log_p.shape[-1],
)
_mistake(
    "logits_of_pad_hidden",
    "You put a very low number in place of the logits of padding's class. Every class has a share of the smoothed target, so that class then costs more than all else together. Leave the logits as they are.",
    log_p=lambda logits, pad: logits.masked_fill(_is(pad, logits.shape[-1]), -1e9).log_softmax(-1),
)
_mistake(
    "logits_of_pad_infinitely_low",
    "You put -inf in place of the logits of padding's class. Every class has a share of the smoothed target, so the loss becomes infinite, or NaN. Leave the logits as they are.",
    log_p=lambda logits, pad: logits.masked_fill(_is(pad, logits.shape[-1]), -torch.inf).log_softmax(-1),
)


# The mean

_mistake(
    "mean_over_all_places",
    "You set the losses at padding to 0, but padding still counts: you divide by all B·T places. You took some terms out of the sum: take them out of the count too.",
    mean=lambda losses, target, pad: (losses * (target != pad)).mean(),
)
_mistake(
    "pad_unused",
    "Padding counts like any token: what the model predicts there is in the mean. Leave out the places where target is pad.",
    mean=lambda losses, target, pad: losses.mean(),
)
_mistake(
    "pad_taken_for_0",
    "You leave out the places whose target is 0. The id of padding is given as `pad`, and 0 may be a word.",
    mean=lambda losses, target, pad: losses[target != 0].mean(),
)
_mistake(
    "padding_alone",
    "You take the mean over the padding, and leave the words out. Keep the places where target is not pad.",
    mean=lambda losses, target, pad: losses[target == pad].mean(),
)
_mistake(
    "summed",
    "This is the sum of the losses. Divide by the number of tokens that are not padding.",
    mean=lambda losses, target, pad: losses[target != pad].sum(),
)
_mistake(
    "divided_by_sentences",
    "You divide by the number of sentences. Divide by the number of tokens in all of them.",
    mean=lambda losses, target, pad: losses[target != pad].sum() / len(target),
)
_mistake(
    "one_token_too_many",
    "You divide by one more than there are tokens. There is always one token at least, so nothing has to be added.",
    mean=lambda losses, target, pad: losses[target != pad].sum() / ((target != pad).sum() + 1),
)
_mistake(
    "mean_of_sentences",
    "You take the mean of each sentence and then the mean of these, so a token counts more in a short sentence than in a long one. Add up the losses of all tokens and divide once.",
    mean=lambda losses, target, pad: ((losses * (target != pad)).sum(1) / (target != pad).sum(1).clamp(min=1)).mean(),
)
_mistake(
    "one_for_each_sentence",
    "You return one loss for each sentence. One number is asked for, the mean over all tokens of the batch.",
    mean=lambda losses, target, pad: (losses * (target != pad)).sum(1) / (target != pad).sum(1).clamp(min=1),
)
_mistake(
    "one_for_each_place",
    "You return one loss for each place. One number is asked for, the mean over all tokens of the batch.",
    mean=lambda losses, target, pad: losses * (target != pad),
)
_mistake(
    "perplexity",
    "You also take the exponential of the mean, which gives the perplexity. Return the mean of the losses itself.",
    mean=lambda losses, target, pad: losses[target != pad].mean().exp(),
)


@task.mistake(
    "The part of the right words leaves padding out, and the part of all classes does not: its mean runs over all places. Leave padding out of both."
)
def smoothing_at_padding_too(logits, target, smoothing, pad):
    log_p = logits.log_softmax(-1)
    return -(1 - smoothing) * _taken(log_p, target)[target != pad].mean() - smoothing * log_p.mean()


@task.mistake(
    "The loss of the right words is a mean over the tokens, and the part of all classes is a sum over them. Take the mean over tokens of both."
)
def smoothing_summed_over_tokens(logits, target, smoothing, pad):
    words = logits.log_softmax(-1)[target != pad]
    of_target = words.gather(-1, target[target != pad][:, None])
    return -(1 - smoothing) * of_target.mean() - smoothing * words.mean(-1).sum()


@task.mistake(
    "You cut the numbers of B×T×V anew into B×V×T: `view` and `reshape` move nothing, so a row then holds logits of several places. To exchange two axes, use `transpose`."
)
def cut_anew(logits, target, smoothing, pad):
    B, T, V = logits.shape
    return _loss()(logits.reshape(B, V, T).transpose(1, 2), target, smoothing, pad)


@task.mistake(
    "Logits and targets are flattened in different orders: one goes through the batch sentence by sentence, the other place by place."
)
def flattened_in_another_order(logits, target, smoothing, pad):
    B, T, V = logits.shape
    return _loss()(logits.transpose(0, 1).reshape(B, T, V), target, smoothing, pad)


@task.mistake(
    "You compare the logits of each place with the target of the next one. Here, logits and target of the same place belong together."
)
def shifted(logits, target, smoothing, pad):
    return _loss()(logits[:, :-1], target[:, 1:], smoothing, pad)


@task.mistake(
    "For large logits a probability becomes 0 in float32, and its logarithm minus infinity. Take both steps at once, with log_softmax, cross_entropy or logsumexp."
)
def logarithm_of_softmax(logits, target, smoothing, pad):
    return _loss(log_p=lambda logits, pad: logits.softmax(-1).log())(logits, target, smoothing, pad)


@task.mistake(
    "exp overflows: for a logit above about 88 it is infinite in float32, and infinity divided by infinity is NaN. Take the logarithm of the softmax in one step, with log_softmax, cross_entropy or logsumexp."
)
def overflow(logits, target, smoothing, pad):
    shares = lambda logits, pad: (logits.exp() / logits.exp().sum(-1, keepdim=True)).log()  # noqa: E731
    return _loss(log_p=shares)(logits, target, smoothing, pad)
