"""Task 21.next_token_loss: the mean cross-entropy of each next id, as a language model is trained with."""

import torch
import torch.nn.functional as F

from course_lessons.shared.log_softmax_mistakes import LOG_P, log_softmax_mistakes, with_an_improbable_word
from course_lessons.shared.partial_credit import USUAL
from course_utils.checks.reference_trace import left_out
from course_utils.checks.running.contract import Case
from course_utils.checks.task import Task, count

task = Task(
    "21.next_token_loss",
    "the loss of the next id",
    arguments=("logits B×T×V", "ids B×T"),
    result="loss",
    difficulty=2,
    importance=5,
    minutes=15,
    hints=(
        "The text is its own target: at each position the model should predict the id one position later. The logits and their targets are therefore both parts of what you are given, each with T - 1 positions.",
        (
            "Take one sentence with the ids 2, 0, 1. At position 0 the target is 0, at position 1 it is 1, and at position 2 it is unknown. Suppose the model gives the target a probability of 0.5 at position 0 and 0.25 at position 1. The losses are 0.6931 and 1.3863, and their mean is 1.0397. "
            "What the model predicts at position 2 does not count."
        ),
        "given = the logits without the last position's; wanted = the ids without the first; log_p = log softmax of given over the vocabulary; take the entry of the wanted id from each row; return minus the mean of all these entries.",
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


GIVEN, WANTED = "the positions with a target", "the next ids"
OF_TARGET, LOSSES, MEAN = "the targets' log probabilities", "the loss of each position", "the mean loss"


@task.steps
def _(logits, ids):
    log_p = yield LOG_P, lambda logits: logits.log_softmax(-1), logits
    given = yield GIVEN, lambda log_p: log_p[:, :-1], log_p
    wanted = yield WANTED, lambda ids: ids[:, 1:], ids
    of_target = yield OF_TARGET, lambda log_p, ids: log_p.gather(-1, ids[..., None])[..., 0], given, wanted
    losses = yield LOSSES, torch.neg, of_target
    loss = yield MEAN, torch.mean, losses
    return loss


task.changed(
    "not_shifted",
    "You compare the logits at each position with the id at that same position, which the model has read there. The target is the next id: compare ids[:, 1:] with the logits of all positions but the last.",
    {GIVEN: left_out, WANTED: left_out},
)
task.changed(
    "not_shifted_and_cut",
    "You compare the logits at each position with the id at that same position and leave out the last position. The target is the next id: ids[:, 1:].",
    {GIVEN: lambda log_p: log_p[:, :-1], WANTED: lambda ids: ids[:, :-1]},
)
task.changed(
    "shifted_the_wrong_way",
    "You compare the logits at each position with the previous id. It should be the other way round: the logits lose their last position and the ids their first.",
    {GIVEN: lambda log_p: log_p[:, 1:], WANTED: lambda ids: ids[:, :-1]},
)
task.changed(
    "last_position_kept",
    "The last position has a target in your loss: the first id of its own sentence, because `roll` moves it to the end. What follows the last position is unknown: leave this position out.",
    {GIVEN: left_out, WANTED: lambda ids: ids.roll(-1, 1)},
)
task.changed(
    "last_position_is_to_say_0",
    "The last position has the target 0 in your loss. What follows it is unknown: leave this position out.",
    {GIVEN: left_out, WANTED: lambda ids: torch.cat([ids[:, 1:], torch.zeros_like(ids[:, :1])], 1)},
)
task.changed(
    "sentences_run_together",
    "The first id of a sentence is the target of the previous sentence's last position, because you flatten the batch before you shift. Shift each sentence separately, along the axis T, and flatten afterwards.",
    {GIVEN: lambda log_p: log_p.flatten(0, 1)[:-1], WANTED: lambda ids: ids.flatten()[1:]},
)
task.changed(
    "two_further_on",
    "In your loss, the target is two positions ahead of the input. It should be the next id: ids[:, 1:].",
    {GIVEN: lambda log_p: log_p[:, :-2], WANTED: lambda ids: ids[:, 2:]},
)
task.changed(
    "divided_by_all_positions",
    "You divide by B·T. One position of each sentence has no target: divide by B·(T-1), as a mean over the losses does.",
    {MEAN: lambda losses: losses.sum() / (losses.numel() + len(losses))},
)
task.changed(
    "sum",
    "You return the sum of the losses. Return their mean, so that the loss does not grow with the batch.",
    {MEAN: lambda losses: losses.sum()},
)
task.changed(
    "summed_over_positions",
    "You add up the losses of a sentence and take the mean over sentences. Also take the mean over positions.",
    {MEAN: lambda losses: losses.sum(1).mean()},
)
task.changed(
    "perplexity",
    "You return the exponential of the loss, which is the perplexity. Return the loss itself.",
    {MEAN: lambda losses: losses.mean().exp()},
)
task.changed_each(
    ("last_target_alone", "You use only the loss of each sentence's last id. Every position but the last has a target: take the mean over all of them.", {LOSSES: lambda of_target: -of_target[:, -1]}),
    ("first_target_alone", "You use only the loss at each sentence's first position. Every position but the last has a target: take the mean over all of them.", {LOSSES: lambda of_target: -of_target[:, 0]}),
    ("one_for_each_sentence", "You return one loss for each sentence. Return one number, the mean over all sentences and positions.", {MEAN: lambda losses: losses.mean(1)}),
    ("every_position_with_every_id", "You pair every position with every next id of all sentences: indexing with `[..., ids[:, 1:]]` does that. Each position should be paired only with its own next id: `gather` takes one entry from each row.", {OF_TARGET: lambda log_p, ids: log_p[..., ids]}),
    ("most_probable_ids", "You take the most probable id at each position, whatever comes next in the text. The loss is about the id that comes next.", {OF_TARGET: lambda log_p, ids: log_p.amax(-1)}),
    ("cut_anew", "You cut B×T×V numbers into B×V×T: `view` and `reshape` do not reorder anything, so a row then contains the logits of several positions. To swap two axes, use `transpose`.", {GIVEN: lambda log_p, *, logits: logits[:, :-1].reshape(len(logits), logits.shape[2], -1).mT.log_softmax(-1)}),
    ("no_logarithm", "The logarithm is missing: you take minus the probability of the next id. Use log_softmax instead of softmax.", {LOG_P: lambda logits: logits.softmax(-1)}),
    ("one_minus_probability", "You take 1 minus the probability of the next id. The cross-entropy is the negative logarithm of that probability.", {LOG_P: lambda logits: logits.softmax(-1) - 1}),
    ("softmax_over_the_batch", "Your softmax runs over the sentences of the batch. It runs over the vocabulary, the last axis.", {LOG_P: lambda logits: logits.log_softmax(0)}),
    ("softmax_over_all_positions", "Your softmax runs over all positions of a sentence. It runs over the vocabulary, the last axis.", {LOG_P: lambda logits: logits.log_softmax(1)}),
)  # fmt: skip
log_softmax_mistakes(task)
task.changed(
    "logits_as_they_are",
    "You treat the logits as log probabilities. They need a log softmax over the vocabulary first.",
    {LOG_P: left_out},
)
task.changed(
    "softmax_over_positions",
    "Your softmax runs over the positions. It runs over the vocabulary, the last axis.",
    {LOG_P: left_out, GIVEN: lambda logits: logits[:, :-1].log_softmax(-2)},
)


@task.mistake(
    "The vocabulary has to be on axis 1 for F.cross_entropy, and here it is on the last one, so your softmax runs over the positions. Flatten sentences and positions first: logits (B·(T-1))×V, targets B·(T-1).",
    "vocabulary_on_the_wrong_axis",
)
def _(logits, ids):
    return F.cross_entropy(logits[:, :-1], ids[:, 1:])
