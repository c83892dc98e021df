"""Task 05.sequence_loss: the mean cross-entropy over the real words of a batch."""

from operator import truediv

import torch
import torch.nn.functional as F

from course_lessons.shared.log_softmax_mistakes import LOG_P, log_softmax_mistakes, with_an_improbable_word
from course_lessons.shared.padding_mistakes import lengths_below, with_garbage, words_first
from course_lessons.shared.partial_credit import USUAL
from course_utils.checks.reference_trace import left_out
from course_utils.checks.running.contract import Case
from course_utils.checks.task import Task, count, sizes

task = Task(
    "05.sequence_loss",
    "the loss over real words only",
    arguments=("logits B×T×V", "target B×T", "mask B×T"),
    result="loss",
    difficulty=3,
    importance=5,
    minutes=20,
    hints=(
        "All words of the batch count equally, whichever sentence they are in, and padding does not count at all: neither in the sum of the losses nor in the number that "
        "you divide by.",
        (
            "Take three words to which the model gives the probabilities 0.5, 0.25 and 0.125: the first two in one sentence, the third in another, and then one position of padding. "
            "The losses are -ln 0.5 = 0.6931, 1.3863 and 2.0794. Their sum is 4.1589, and divided by 3 words it is 1.3863. Divided by all 4 positions it would be 1.0397; the mean of "
            "the sentences' means would be (1.0397 + 2.0794) / 2 = 1.5596."
        ),
        "words = logits where the mask is True, N×V; ids = target where the mask is True, N; log_p = log_softmax of words over the vocabulary; take from each row the entry of its id; "
        "return minus their sum, divided by N, or by 1 where N is 0.",
    ),
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


LOSSES, N = "the losses", "the number to divide by"


@task.steps
def _(logits, target, mask):
    words = yield "the logits of the words", lambda logits, mask: logits[mask], logits, mask
    ids = yield "the ids of the words", lambda target, mask: target[mask], target, mask
    log_p = yield LOG_P, lambda words: words.log_softmax(-1), words
    of_target = yield "the log probabilities of the target", _taken, log_p, ids
    losses = yield LOSSES, torch.neg, of_target
    total = yield "the total loss", torch.sum, losses
    n = yield "the number of words", torch.sum, mask
    n = yield N, lambda n: n.clamp(min=1), n
    mean = yield "the mean loss", truediv, total, n
    return mean


def _taken(numbers, ids):
    """The number of each row that its id points to: numbers N×V, ids N → N."""
    return numbers.gather(-1, ids[:, None])[:, 0]


def _of_sentences(loss, *, mask, done):
    """A change of the result: the mean loss of each sentence."""
    losses = torch.zeros(mask.shape, dtype=loss.dtype).masked_scatter(mask, done[LOSSES])
    return losses.sum(1) / mask.sum(1).clamp(min=1)


log_softmax_mistakes(task)
task.changed(
    "mean_over_all_places",
    "You set the losses at padding to 0, but padding still counts: you divide by all B·T positions. The more padding a batch has, the smaller its loss becomes. You left some terms out of the sum: leave them out of the count as well.",
    {N: lambda n, *, mask: mask.numel()},
)
task.changed(
    "mean_of_sentences",
    "You average each sentence and then average these means, so a word counts more in a short sentence than in a long one. All words of the batch should count equally: add up all losses and divide once.",
    {"result": lambda loss, *, mask, done: _of_sentences(loss, mask=mask, done=done).mean()},
)
task.changed(
    "padding_by_its_id",
    "You treat every position whose target is 0 as padding. The mask says what is padding: a word may have the id 0, and padding any other id.",
    {"mask": lambda mask, *, target: target != 0},
)
task.changed(
    "no_softmax",
    "The softmax is missing: these are the negated logits of the correct words, which have no lower bound. Turn the logits into logarithms of probabilities first.",
    {LOG_P: left_out},
)
task.changed(
    "cut_anew",
    "You reshape B×T×V into B×V×T: `view` and `reshape` do not reorder anything, so a row then contains scores of several words. To swap two axes, use `transpose`.",
    {"logits": lambda logits: logits.reshape(logits.mT.shape).mT},
)
task.changed(
    "flattened_in_another_order",
    "Logits and targets are flattened in different orders: one goes through the batch sentence by sentence, the other position by position. Most logits are then compared with the target of a different position.",
    {"logits": lambda logits: logits.transpose(0, 1).reshape(logits.shape)},
)
task.changed(
    "shifted_again",
    "You compare the logits at each position with the target at the next one. The decoder's inputs have already been shifted: here, logits and target at the same position belong together.",
    {"logits": lambda logits: logits[:, :-1]} | dict.fromkeys(("target", "mask"), lambda ids: ids[:, 1:]),
)
task.changed(
    "softmax_over_the_words",
    "Your softmax runs over the words of a sentence, axis 1, so that they compete with one another. Each position distributes its probability over the V words of the vocabulary: use the last axis.",
    {LOG_P: lambda words, *, logits, mask: logits.log_softmax(1)[mask]},
)
task.changed_each(
    ("summed", "This is the sum of the losses. Divide by the number of words.", {N: lambda n: 1}),
    ("divided_by_sentences", "You divide by the number of sentences. Divide by the total number of words.", {N: lambda n, *, mask: len(mask)}),
    ("one_for_each_sentence", "You return one loss for each sentence. Return one number, the mean over all words of the batch.", {"result": _of_sentences}),
    ("nothing_gives_nan", "If the whole batch has no word, the mean of nothing is 0/0, which is NaN. Return 0 in that case.", {N: left_out}),
)  # fmt: skip


@task.mistake(
    "You compute a loss at every position and remove the padding afterwards. That comes too late: an id outside the vocabulary has no loss, and NaN or infinity from padding stay in the result or in the gradient, since 0 times NaN is NaN. Leave padding out before you compute anything. And if the whole batch has no word, you divide by 0: return 0 in that case."
)
def padding_taken_out_late(logits, target, mask):
    return (F.cross_entropy(logits.mT, target, reduction="none") * mask).sum() / mask.sum()
