"""Task 05.catch_wrong_loss: a test that tells right losses of a batch from wrong ones."""

from functools import cache

import torch
import torch.nn.functional as F

from course_lessons.lesson_05_seq2seq.tasks.sequence_loss import LOSSES
from course_lessons.lesson_05_seq2seq.tasks.sequence_loss import task as sequence_loss
from course_lessons.shared.candidate_tests import MistakenTests, equal_up_to_rounding, finite, one_case_each
from course_lessons.shared.log_softmax import LOG_P
from course_utils.checks.task import Task
from course_utils.models import minimal

variant, wrong = sequence_loss.variant, sequence_loss.wrong

# The candidates: right ones written differently, wrong ones that the prompt shows, wrong ones that it does not. Right ones are so
# whatever is at padding; wrong ones show it with ids of the vocabulary and finite numbers there.


def right_in_two_steps(logits, target, mask):
    return F.nll_loss(logits[mask].log_softmax(-1), target[mask], reduction="sum") / mask.sum().clamp(min=1)


def right_by_loops(logits, target, mask):
    losses = [
        torch.logsumexp(row, 0) - row[word]
        for sentence, words, real in zip(logits.double(), target, mask, strict=True)
        for row, word in zip(sentence[real], words[real], strict=True)
    ]
    return (sum(losses, 0 * logits[mask].double().sum()) / max(len(losses), 1)).to(logits.dtype)


def right_by_one_hot(logits, target, mask):
    shifted = logits[mask] - logits[mask].detach().amax(-1, keepdim=True)  # shifted by numbers without a gradient
    log_p = shifted - shifted.exp().sum(-1, keepdim=True).log()
    return -(F.one_hot(target[mask], logits.shape[-1]) * log_p).sum() / mask.sum().clamp(min=1)


def right_by_ignoring(logits, target, mask):
    ids = target.masked_fill(~mask, -100).flatten()
    kept = logits.masked_fill(~mask[..., None], 0.0).flatten(0, 1)
    return F.cross_entropy(kept, ids, reduction="sum") / max(int(mask.sum()), 1)


def right_sentence_by_sentence(logits, target, mask):
    """The sentences' means, each with its sentence's share of the words."""
    total = 0 * logits[mask].sum()
    for sentence, words, real in zip(logits, target, mask, strict=True):
        if real.any():
            total = total + F.cross_entropy(sentence[real], words[real]) * (real.sum() / mask.sum())
    return total


def logits_altered(logits, target, mask):
    """Right, but it subtracts the largest logit in what came in."""
    logits -= logits.detach().amax(-1, keepdim=True)
    return minimal.sequence_loss(logits, target, mask)


def target_altered(logits, target, mask):
    """Right, but it writes zeros at padding into what came in."""
    target[~mask] = 0
    return minimal.sequence_loss(logits, target, mask)


RIGHT = {
    right_in_two_steps: "a correct loss, with log_softmax and nll_loss",
    right_by_loops: "a correct loss, written with loops in float64",
    right_by_one_hot: "a correct loss, written with a one-hot matrix",
    right_by_ignoring: "a correct loss that lets cross_entropy ignore padding",
    right_sentence_by_sentence: "a correct loss, from the sentences' means weighted by their lengths",
}


WRONG = {
    wrong("mean_over_all_places"): "an incorrect loss: divided by the number of all positions",
    wrong("mean_of_sentences"): "an incorrect loss: the mean of the sentences' means",
    variant({"mask": torch.ones_like}): "an incorrect loss: the mask has no effect",
    wrong("softmax_twice"): "an incorrect loss: the softmax is applied twice",
    wrong("cut_anew"): "an incorrect loss: axes mixed up by reshape",
    wrong("nothing_gives_nan"): "an incorrect loss: NaN where there is no word",
    wrong("logarithm_of_softmax"): "an incorrect loss: infinite for large logits",
    target_altered: "an incorrect loss: the target is altered in place",
    variant({"logits": torch.detach}): "an incorrect loss: no gradient at all",
    wrong("summed"): "an incorrect loss: the sum instead of the mean",
    wrong("divided_by_sentences"): "an incorrect loss: divided by the number of sentences",
    wrong("padding_by_its_id"): "an incorrect loss: it uses the padding id instead of the mask",
    wrong("flattened_in_another_order"): "an incorrect loss: logits and targets are flattened in different orders",
    wrong("shifted_again"): "an incorrect loss: the target is shifted once more",
    variant({"mask": lambda mask: mask[:1].expand_as(mask)}): "an incorrect loss: the first sentence's mask is used for all",
    variant({"mask": lambda mask: mask & F.pad(mask[:, 1:], (0, 1))}): "an incorrect loss: the last word of each sentence does not count",
    variant({LOG_P: lambda words, *, right: 0.9 * right(words) + 0.1 * right(words).mean(-1, keepdim=True)}): "an incorrect loss: the targets are smoothed",
    variant({LOSSES: lambda log_p: -torch.stack(list(log_p))}): "an incorrect loss: it fails where there is no word",
    variant({LOG_P: lambda words: (words.softmax(-1) + 1e-9).log()}): "an incorrect loss: a small number is added inside the logarithm, which cuts off large losses",
    logits_altered: "an incorrect loss: the logits are altered in place",
    variant({LOG_P: lambda words: words - words.detach().logsumexp(-1, keepdim=True)}): "an incorrect loss: no gradient flows through the sum over the vocabulary",
    variant({"result": lambda loss: 1.005 * loss}): "an incorrect loss: it is too large by half a percent",
    variant({"logits": lambda logits: torch.cat([logits[:1].detach(), logits[1:]])}): "an incorrect loss: no gradient flows to the first sentence",
    variant({"logits": lambda logits: torch.cat([logits[:-1], logits[-1:].detach()])}): "an incorrect loss: no gradient flows to the last sentence",
}  # fmt: skip


task = Task(
    __name__,
    "a test that tells correct losses from incorrect",
    arguments=("candidate",),
    result="verdict",
    candidates=(*RIGHT, *WRONG),
    difficulty=4,
    importance=4,
    minutes=45,
    offers=("models.minimal.sequence_loss",),
)


one_case_each(task, RIGHT, WRONG)


LENGTHS = (3, 4, 2, 5)  # of the sentences in a batch


@cache
def _batch(lengths, scale):
    """One batch: logits, target and mask."""
    draw, B = torch.Generator().manual_seed(2), len(lengths)
    logits, target = scale * torch.randn(B, 5, 7, generator=draw), torch.randint(0, 7, (B, 5), generator=draw)
    return logits, target, torch.arange(5) < torch.tensor(lengths)[:, None]


def _came(loss, batch, gradient):
    """What comes of a loss on a batch: its value and its gradient, zeros where there is none, and what it leaves in its arguments."""
    logits, *others = (tensor.clone() for tensor in batch)
    value = loss(logits.requires_grad_(gradient), *others)
    if gradient and value.requires_grad:
        value.backward()
    return value.detach(), torch.zeros_like(logits) if logits.grad is None else logits.grad, (logits, *others)


def _agrees(candidate, batch, gradient, altered, same):
    """Whether a candidate agrees with the reference on one batch."""
    *right, _ = _came(minimal.sequence_loss, batch, gradient)
    *came, left = _came(candidate, batch, gradient)
    return all(map(same, right, came)) and (not altered or all(map(torch.equal, batch, left)))


def _test(candidate, lengths=LENGTHS, large=True, empty=True, gradient=True, altered=True, same=equal_up_to_rounding):
    """A test like the solution's, in which things may be left out."""
    batches = [(lengths, 1.0)] + [(lengths, 1e4)] * large + [((0, 0), 1.0)] * empty
    return all(_agrees(candidate, _batch(*batch), gradient, altered, same) for batch in batches)


mistaken = MistakenTests(task, _test)
mistaken("no_rounding", same=torch.equal)
mistaken("no_padding", lengths=(5, 5, 5))
mistaken("equal_lengths", lengths=(3, 3, 3))
mistaken("batch_of_one", lengths=(3,))


mistaken("finite_only", same=finite, gradient=False, altered=False)

LEFT_OUT = ("gradient", "altered", "empty", "large")  # what a test may leave out
mistaken.without(LEFT_OUT, len(LEFT_OUT), lambda parts: dict.fromkeys(parts, False))
