"""Task 21.next_token_loss: the mean cross-entropy of each next id, as a language model is trained with."""

from math import log

import torch
import torch.nn.functional as F

from course_utils.checks.running.contract import Case
from course_utils.checks.task import Task, count
from course_utils.tasks.shares import USUAL

task = Task(
    "21.next_token_loss",
    "the loss of the next id",
    arguments=("logits B×T×V", "ids B×T"),
    result="loss",
    difficulty=2,
    importance=5,
    minutes=15,
    hints=(
        "The text is its own target: what the model should say at a position is the id that stands one position further on. So the logits and their targets are both parts of what is given, each a little shorter than T.",
        (
            "Take one sentence with the ids 2, 0, 1. At position 0 the target is 0, at position 1 it is 1, and at position 2 nothing is known. Let the model give the target the probability 0.5 at position 0 and 0.25 at position 1. The losses are 0.6931 and 1.3863, and their mean is 1.0397. "
            "What the model says at position 2 has no part in it."
        ),
        "given = the logits without those of the last position; wanted = the ids without the first; log_p = log softmax of given over the vocabulary; take from each row the entry of the wanted id; return minus the mean of them all.",
    ),
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
    yield Case("as many positions as the vocabulary", _inputs(draw, 2, 5, 5))
    yield Case("2 positions, of which one has a target", _inputs(draw, 3, 2, 5), True, edge=True)
    yield Case("a vocabulary of one id", (draw.numbers(2, 3, 1), torch.zeros(2, 3).long()), edge=True)
    yield Case("200 positions", _inputs(draw, 2, 200, 5), edge=True)
    yield Case("float64 numbers", _inputs(draw, 3, 5, 7, torch.float64), True, edge=True)
    far = torch.stack([draw.distinct(5, -2, 3) * 5e3 for _ in range(6)]).reshape(2, 3, 5)
    yield Case("logits of ±10,000", (far, _ids(draw, 2, 3, 5)), hazard=True)


@task.oracle
def _(logits, ids):
    B, T, _ = logits.shape
    losses = [F.cross_entropy(logits[b, t], ids[b, t + 1]) for b in range(B) for t in range(T - 1)]
    return sum(losses) / len(losses)


@task.steps
def _(logits, ids):
    log_p = yield "the log softmax", lambda logits: logits.log_softmax(-1), logits
    given = yield "the log softmax without the last position", lambda log_p: log_p[:, :-1], log_p
    wanted = yield "the ids without the first", lambda ids: ids[:, 1:], ids
    of_target = yield "the log probabilities of the next ids", _taken, given, wanted
    losses = yield "the losses", torch.neg, of_target
    loss = yield "the mean of the losses", torch.mean, losses
    return loss


# A right loss, of which mistakes change one part


def _taken(log_p, ids):
    return log_p.gather(-1, ids[..., None])[..., 0]


def _cut(logits, ids):
    return logits[:, :-1], ids[:, 1:]


def _loss(
    logits,
    ids,
    cut=_cut,
    log_p=lambda logits: logits.log_softmax(-1),
    taken=_taken,
    each=lambda log_p: -log_p,
    mean=lambda losses: losses.mean(),
):
    logits, ids = cut(logits, ids)
    return mean(each(taken(log_p(logits), ids)))


def _mistake(name, sentence, **parts):
    task.mistake(sentence, name)(lambda logits, ids: _loss(logits, ids, **parts))


_mistake(
    "not_shifted",
    "You compare the logits at each position with the id at that same position, which the model has read there. The target is the next id: ids[:, 1:], beside the logits of all positions but the last.",
    cut=lambda logits, ids: (logits, ids),
)
_mistake(
    "not_shifted_and_cut",
    "You compare the logits at each position with the id at that same position, and leave the last position out. The target is the next id: ids[:, 1:].",
    cut=lambda logits, ids: (logits[:, :-1], ids[:, :-1]),
)
_mistake(
    "shifted_the_wrong_way",
    "You compare the logits at each position with the id before it. It is the other way round: the logits lose their last position and the ids their first.",
    cut=lambda logits, ids: (logits[:, 1:], ids[:, :-1]),
)
_mistake(
    "last_position_kept",
    "The last position has a target in your loss: the first id of its own sentence, as `roll` moves it to the end. Nothing is known of what follows the last position: leave it out.",
    cut=lambda logits, ids: (logits, ids.roll(-1, 1)),
)
_mistake(
    "last_position_is_to_say_0",
    "The last position has the target 0 in your loss. Nothing is known of what follows it: leave it out.",
    cut=lambda logits, ids: (logits, torch.cat([ids[:, 1:], torch.zeros_like(ids[:, :1])], 1)),
)
_mistake(
    "last_position_is_to_repeat",
    "The last position has its own id as target in your loss. Nothing is known of what follows it: leave it out.",
    cut=lambda logits, ids: (logits, torch.cat([ids[:, 1:], ids[:, -1:]], 1)),
)
_mistake(
    "sentences_run_together",
    "The first id of a sentence is the target of the last position of the sentence before, since you flatten the batch before you shift. Shift each sentence by itself, along the axis T, and flatten afterwards.",
    cut=lambda logits, ids: (logits.flatten(0, 1)[:-1], ids.flatten()[1:]),
)
_mistake(
    "first_position_left_out",
    "The loss of the second id is missing: you leave out what the model says at position 0. It counts too, and only the last position is left out.",
    cut=lambda logits, ids: (logits[:, 1:-1], ids[:, 2:]),
)
_mistake(
    "two_further_on",
    "The target is the next id but one in your loss. It is the next one: ids[:, 1:].",
    cut=lambda logits, ids: (logits[:, :-2], ids[:, 2:]),
)
_mistake(
    "last_target_alone",
    "You return the loss of the last id alone. Each position but the last has a target, and all of them count.",
    cut=lambda logits, ids: (logits[:, -2:-1], ids[:, -1:]),
)
_mistake(
    "first_sentence_alone",
    "You return the loss of the first sentence alone. All sentences count.",
    cut=lambda logits, ids: (logits[:1, :-1], ids[:1, 1:]),
)
_mistake(
    "divided_by_all_positions",
    "You divide by B·T. One position of each sentence has no target: divide by B·(T-1), as a mean over the losses does.",
    mean=lambda losses: losses.sum() / (losses.numel() + len(losses)),
)
_mistake(
    "sum",
    "You return the sum of the losses. Return their mean, so that the loss does not grow with the batch.",
    mean=lambda losses: losses.sum(),
)
_mistake(
    "summed_over_positions",
    "You add up the losses of a sentence, and take the mean over sentences. Take the mean over positions, too.",
    mean=lambda losses: losses.sum(1).mean(),
)
_mistake(
    "summed_over_sentences",
    "You add up the losses of all sentences, and take the mean over positions. Take the mean over sentences, too.",
    mean=lambda losses: losses.sum(0).mean(),
)
_mistake(
    "one_for_each_position",
    "You return a loss for each position. One number is asked for: their mean.",
    mean=lambda losses: losses,
)
_mistake(
    "one_for_each_sentence",
    "You return a loss for each sentence. One number is asked for: the mean over all positions of all sentences.",
    mean=lambda losses: losses.mean(1),
)
_mistake(
    "sign_forgotten",
    "You return the mean log probability, which is negative. The loss is minus that.",
    each=lambda log_p: log_p,
)
_mistake(
    "in_bits",
    "Your loss is in bits, as the logarithm is to the base 2. Return it in nats, with the natural logarithm, as F.cross_entropy does.",
    each=lambda log_p: -log_p / log(2),
)
_mistake(
    "perplexity",
    "You return the exponential of the loss, which is the perplexity. Return the loss itself.",
    mean=lambda losses: losses.mean().exp(),
)
_mistake(
    "probabilities",
    "You take the mean of probabilities. The loss of an id is minus the logarithm of its probability.",
    each=lambda log_p: log_p.exp(),
)
_mistake(
    "logits_as_they_are",
    "You take the logits for log probabilities. They need a log softmax over the vocabulary first.",
    log_p=lambda logits: logits,
)
_mistake(
    "softmax_over_positions",
    "Your softmax runs over the positions. It runs over the vocabulary, the last axis.",
    log_p=lambda logits: logits.log_softmax(-2),
)
_mistake(
    "softmax_twice",
    "A softmax is applied twice: F.cross_entropy and log_softmax take logits as they are. Leave the first one out.",
    log_p=lambda logits: logits.softmax(-1).log_softmax(-1),
)
_mistake(
    "overflow",
    "exp overflows: for a logit above about 88 it is infinite in float32. torch.log_softmax and F.cross_entropy take logits of any size.",
    log_p=lambda logits: (logits.exp() / logits.exp().sum(-1, keepdim=True)).log(),
)
