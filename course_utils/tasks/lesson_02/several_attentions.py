"""Task 02.several_attentions: several fixed attentions, concatenated."""

from operator import matmul

import torch

from course_utils.checks.running.contract import Case
from course_utils.checks.task import Task, count, sizes

task = Task(
    "02.several_attentions",
    "several fixed attentions, concatenated",
    arguments=("words B×S×D", "thetas N×D", "mask B×S"),
    result="contexts B×(N·D)",
    difficulty=3,
    importance=5,
    minutes=20,
    offers=("models.attention.masked_softmax",),
    hints=(
        (
            "Each theta is an attention of its own, with its own scores, its own softmax over the words and its own weighted sum. Only the N "
            "results are laid end to end."
        ),
        (
            "Take the words [1, 0] and [0, 2], none of them masked, and the thetas [0, 0] and [ln 3, 0], where ln 3 ≈ 1.0986. The first theta "
            "gives the scores 0 and 0, the weights 0.5 and 0.5, and the context [0.5, 1]. The second gives the scores 1.0986 and 0, the weights "
            "0.75 and 0.25, and the context [0.75, 0.5]. Laid end to end, they are [0.5, 1, 0.75, 0.5]."
        ),
        (
            "scores = thetas times words transposed, B×N×S; weights = masked softmax over the last axis, with the mask as B×1×S; contexts = "
            "weights times words, B×N×D; reshape to B×(N·D)."
        ),
    ),
)


@task.cases
def _(draw):
    for size in sizes(B=2, S=5, D=7, N=3):
        B, S, D, N = size.B, size.S, size.D, size.N
        args = (draw.numbers(B, S, D), draw.numbers(N, D), draw.lengths_mask(B, S))
        name = f"{count(B, 'sentence')} of up to {S} words, width {D}, {count(N, 'attention')}"
        yield Case(name, args, size.full)
    yield Case(
        "2 sentences of up to 3 words, width 2, 2 attentions",
        (draw.numbers(2, 3, 2), draw.numbers(2, 2), draw.lengths_mask(2, 3)),
    )
    shorter = torch.tensor([[True, False, False], [True] * 3])
    yield Case("the first sentence is the shorter one", (draw.numbers(2, 3, 2) + 0.25, draw.numbers(2, 2), shorter))
    empty = torch.tensor([[True] * 3, [False] * 3])
    yield Case("a sentence of padding only", (draw.numbers(2, 3, 5), draw.numbers(2, 5), empty), edge=True)
    front = torch.tensor([[True, True, True], [False, True, True]])
    yield Case("padding in front", (draw.numbers(2, 3, 5) + 0.25, draw.numbers(2, 5), front), edge=True)
    one = (draw.numbers(2, 1, 1), draw.numbers(2, 1), torch.ones(2, 1) > 0)
    yield Case("sentences of one word, width 1", one, edge=True)
    across = torch.tensor([[[0.0, 1.0], [1.0, 1.0], [2.0, 0.0]]])
    kept = torch.tensor([[True, True, False]])
    yield Case("a word at right angles to theta", (across, torch.tensor([[1.0, 0.0]]), kept), edge=True)
    far = torch.tensor([[[-100.0], [-150.0], [100.0]]])
    yield Case("scores of ±10,000", (far, torch.tensor([[100.0], [-100.0]]), kept), edge=True)
    words, thetas = draw.numbers(2, 5, 7, dtype=torch.float64), draw.numbers(3, 7, dtype=torch.float64)
    yield Case("float64 numbers", (words, thetas, draw.lengths_mask(2, 5)), edge=True)


def _context(words, theta, mask):
    return (
        torch.nan_to_num((words @ theta).masked_fill(~mask, -torch.inf).softmax(-1))
        .unsqueeze(1)
        .matmul(words)
        .squeeze(1)
    )


@task.oracle
def _(words, thetas, mask):
    out = []
    for sentence, real in zip(words, mask, strict=True):
        kept = sentence[real]
        for theta in thetas:
            e = (kept @ theta - (kept @ theta).max()).exp() if len(kept) else kept.sum(1)
            out.append((e[:, None] * kept).sum(0) / e.sum() if len(kept) else sentence.sum(0) * 0)
    return torch.stack(out).reshape(len(words), -1)


@task.steps
def _(words, thetas, mask):
    scores = yield "the scores", matmul, thetas, words.mT
    masked = yield (
        "the masked scores",
        lambda scores, mask: scores.masked_fill(~mask, -torch.inf),
        scores,
        mask[:, None],
    )
    weights = yield "the weights", lambda masked: masked.softmax(-1), masked
    contexts = yield "the products of weights and words", matmul, weights, words
    laid_out = yield "the contexts laid end to end", lambda contexts: contexts.flatten(1), contexts
    return laid_out


@task.mistake(
    "Your softmax runs over the attentions, so they compete for each word. Each attention spreads its own weight over the words."
)
def softmax_over_attentions(words, thetas, mask):
    weights = (words @ thetas.T).softmax(-1) * mask[..., None]
    return (weights.mT @ words).flatten(1)


@task.mistake(
    "Your softmax runs over all attentions and words at once. Each attention has its own weights, which sum to 1."
)
def one_softmax(words, thetas, mask):
    scores = (thetas @ words.mT).masked_fill(~mask[:, None], -torch.inf)
    return torch.nan_to_num(scores.flatten(1).softmax(-1)).reshape(scores.shape).matmul(words).flatten(1)


@task.mistake(
    "The outputs are interleaved, feature by feature. The whole vector of the first attention comes first, then the whole vector of the "
    "second: stack them on axis 1, or use cat."
)
def interleaved(words, thetas, mask):
    return torch.stack([_context(words, theta, mask) for theta in thetas], -1).flatten(1)


@task.mistake("The mask has no effect: padding gets weight.")
def mask_unused(words, thetas, mask):
    return ((thetas @ words.mT).softmax(-1) @ words).flatten(1)


@task.mistake(
    "You add up the outputs of the attentions. Lay them end to end instead, so that they stay apart: B×(N·D)."
)
def added_up(words, thetas, mask):
    return sum(_context(words, theta, mask) for theta in thetas)


@task.mistake(
    "The attentions still have an axis of their own, B×N×D. Lay their outputs end to end: flatten the last two axes."
)
def not_flattened(words, thetas, mask):
    return torch.stack([_context(words, theta, mask) for theta in thetas], 1)


@task.mistake("You weight the words by the raw scores: the softmax is missing.")
def no_softmax(words, thetas, mask):
    return ((thetas @ words.mT) * mask[:, None] @ words).flatten(1)


@task.mistake(
    "A sentence that is all padding gives NaN: its softmax has nothing to share the weight among. Return zeros there."
)
def empty_sentence_nan(words, thetas, mask):
    scores = (thetas @ words.mT).masked_fill(~mask[:, None], -torch.inf)
    return (scores.softmax(-1) @ words).flatten(1)


@task.mistake(
    "You count the words and attend to that many places from the start. That is right only where the padding stands at the end. The mask "
    "says which places hold words."
)
def padding_at_the_end_assumed(words, thetas, mask):
    first = torch.arange(mask.shape[1]) < mask.sum(1, keepdim=True)
    return torch.stack([_context(words, theta, first) for theta in thetas], 1).flatten(1)


@task.mistake(
    "exp overflows: for a score above about 88 it is infinite in float32, and infinity divided by infinity is NaN. Subtract the largest "
    "score first."
)
def overflow(words, thetas, mask):
    e = (thetas @ words.mT).exp() * mask[:, None]
    return (e / e.sum(-1, keepdim=True).clamp(min=1e-30) @ words).flatten(1)


@task.mistake(
    "Masked scores become a finite number such as -10,000. That is not -inf: the honest scores can be as low, and then the padding takes "
    "some or all of their weight. Only -inf lies below every score."
)
def fill_undercut(words, thetas, mask):
    weights = (thetas @ words.mT).masked_fill(~mask[:, None], -1e4).softmax(-1) * mask[:, None]
    return (weights @ words).flatten(1)


@task.mistake(
    "Masked scores become a finite number, such as -100. That is not -inf, and it still leaves a weight: all of it where the honest scores "
    "lie far lower, and a share of it in a sentence that is all padding. Put -inf in place of masked scores, and zeros into the weights "
    "of such a sentence."
)
def filled_with_minus_hundred(words, thetas, mask):
    return ((thetas @ words.mT).masked_fill(~mask[:, None], -100.0).softmax(-1) @ words).flatten(1)


@task.mistake(
    "Masked scores still count before they are taken out, because you mask after the softmax, or after the maximum, or because you only "
    "lower them to a finite number such as -100, which is not -inf. Where they are far larger than the rest, the rest comes out as zeros "
    "too. Put -inf in their place before the softmax."
)
def masked_scores_still_count(words, thetas, mask):
    weights = (thetas @ words.mT).masked_fill(~mask[:, None], -100.0).softmax(-1) * mask[:, None]
    return (weights @ words).flatten(1)


@task.mistake(
    "The mask is B×S and your scores are B×N×S: the mask needs an axis for the attentions, `mask[:, None]`. Without it this runs only "
    "where the sizes happen to fit, and may give a wrong result there."
)
def mask_without_attentions(words, thetas, mask):
    return (torch.nan_to_num((thetas @ words.mT).masked_fill(~mask, -torch.inf).softmax(-1)) @ words).flatten(1)


@task.mistake(
    "Your scores are B×S×N, and you mask and normalise them over the last axis, the attentions. Turn them into B×N×S, and give the mask "
    "an axis for the attentions, `mask[:, None]`."
)
def words_before_attentions(words, thetas, mask):
    weights = torch.nan_to_num((words @ thetas.T).masked_fill(~mask, -torch.inf).softmax(-1))
    return (weights.mT @ words).flatten(1)


@task.mistake(
    "The mask is B×S and your scores are B×S×N: the mask needs an axis for the attentions, which is the last one here, `mask[..., "
    "None]`."
)
def mask_without_last_axis(words, thetas, mask):
    weights = torch.nan_to_num((words @ thetas.T).masked_fill(~mask, -torch.inf).softmax(1))
    return (weights.mT @ words).flatten(1)


@task.mistake(
    "`cat` along axis 0 puts the outputs below one another, as if there were more sentences. Each sentence gets one long row: use the "
    "last axis."
)
def concatenated_along_batch(words, thetas, mask):
    return torch.cat([_context(words, theta, mask) for theta in thetas], 0)


@task.mistake(
    "These are the weights, B×N×S. Return the contexts: sum the words with these weights, then lay the sums end to end."
)
def weights_returned(words, thetas, mask):
    return torch.nan_to_num((thetas @ words.mT).masked_fill(~mask[:, None], -torch.inf).softmax(-1))


def _of_every_sentence(words, thetas, mask):
    """Weights B×S taken for a matrix: for each theta, the sums of each sentence's words with the weights of every sentence, B×B×D."""
    weights = [torch.nan_to_num((words @ theta).masked_fill(~mask, -torch.inf).softmax(-1)) for theta in thetas]
    return [of_one @ words for of_one in weights]


@task.mistake(
    "`weights @ words` takes weights B×S for a matrix whose B rows all meet the words of each sentence, which gives B×B×D. A sentence needs only its own weights: "
    "give them an axis in the middle, B×1×S, and drop it after the product."
)
def weights_of_every_sentence(words, thetas, mask):
    return torch.cat(_of_every_sentence(words, thetas, mask), -1)


@task.mistake(
    "`weights @ words` takes weights B×S for a matrix whose B rows all meet the words of each sentence, which gives B×B×D for one attention. A sentence needs only its own "
    "weights: give them an axis in the middle, B×1×S, and drop it before you lay the contexts end to end."
)
def weights_of_every_sentence_flattened(words, thetas, mask):
    return torch.stack(_of_every_sentence(words, thetas, mask), 1).flatten(1)
