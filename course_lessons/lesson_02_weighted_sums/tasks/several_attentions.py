"""Task 02.several_attentions: fixed attention with several θs, concatenated."""

from operator import matmul

import torch

from course_lessons.shared.finite_fill_mistakes import finite_fill_mistakes
from course_lessons.shared.mask_mistakes import masked_softmax_mistakes, plus_infinity_mistakes
from course_utils.checks.reference_trace import left_out
from course_utils.checks.running.contract import Case
from course_utils.checks.task import Task, count, sizes

task = Task(
    "02.several_attentions",
    "fixed attention with several θs, concatenated",
    arguments=("words B×S×D", "thetas N×D", "mask B×S"),
    result="contexts B×(N·D)",
    difficulty=3,
    importance=5,
    minutes=20,
    offers=("models.attention.masked_softmax",),
    hints=(
        (
            "Each theta has its own scores, its own softmax over the words and its own weighted sum. Only the N "
            "results are concatenated."
        ),
        (
            "Take the words [1, 0] and [0, 2], none of them masked, and the thetas [0, 0] and [ln 3, 0], where ln 3 ≈ 1.0986. The first theta "
            "gives the scores 0 and 0, the weights 0.5 and 0.5, and the context [0.5, 1]. The second gives the scores 1.0986 and 0, the weights "
            "0.75 and 0.25, and the context [0.75, 0.5]. Concatenated, they are [0.5, 1, 0.75, 0.5]."
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
        name = f"{count(B, 'sentence')} of up to {S} words, width {D}, {count(N, 'theta')}"
        yield Case(name, args, size.full)
    yield Case(
        "2 sentences of up to 3 words, width 2, 2 thetas",
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
    for far in ((-100.0, -150.0, 100.0), (-299.0, -300.0, 300.0)):
        args = (torch.tensor(far)[None, :, None], torch.tensor([[100.0], [-100.0]]), kept)
        yield Case(f"very large scores, near ±{far[2] * 100:,.0f}", args, edge=True)


@task.steps
def _(words, thetas, mask):
    scores = yield "the scores", matmul, thetas, words.mT
    mask = mask[:, None]
    masked = yield "the masked scores", lambda scores, mask: scores.masked_fill(~mask, -torch.inf), scores, mask
    weights = yield "the softmax", lambda masked: masked.softmax(-1), masked
    weights = yield "the weights with zeros", lambda w, mask: w.masked_fill(~mask, 0.0), weights, mask
    contexts = yield "the products of weights and words", matmul, weights, words
    laid_out = yield "the concatenated contexts", lambda contexts: contexts.flatten(1), contexts
    return laid_out


MASKED, SOFTMAX, ZEROS = "the masked scores", "the softmax", "the weights with zeros"
masked_softmax_mistakes(
    task,
    *("mask_unused", "mask_inverted", "mask_inverted_nan", "mask_inverted_level", "no_softmax"),
    one="A theta",
    others="words",
)
plus_infinity_mistakes(task, others="words")


# The softmax and its mask


def divided(e, mask):
    kept = e * mask
    return kept / kept.sum(-1, keepdim=True).clamp(min=1e-30)


task.changed_each(
    ("softmax_over_attentions", "Your softmax runs over the thetas, so they compete for each word. Each theta spreads its own weight over the words.", {MASKED: left_out, SOFTMAX: lambda scores: scores.softmax(1)}),
    ("one_softmax", "Your softmax runs over all thetas and words at once. Each theta has its own weights, which sum to 1.", {SOFTMAX: lambda scores: scores.flatten(1).softmax(-1).reshape(scores.shape)}),
    ("empty_sentence_nan", "A sentence that is all padding gives NaN, because its softmax has nothing to distribute weight over. Return zeros there.", {ZEROS: left_out}),
    ("overflow", "exp overflows: for a score above about 88 it is infinite in float32, and infinity divided by infinity is NaN. Subtract the largest score first.", {MASKED: left_out, SOFTMAX: torch.exp, ZEROS: divided}),
    ("padding_at_the_end_assumed", "You count the words and attend to that many positions from the start. That is right only where the padding is at the end. The mask says which positions contain words.", {"mask": lambda mask: torch.arange(mask.shape[1]) < mask.sum(1, keepdim=True)}),
)  # fmt: skip
finite_fill_mistakes(
    task,
    *("fill_undercut", "filled_with_minus_hundred", "masked_scores_still_count"),
    *("low_fill_undercut", "low_fill_undercut_and_no_zeros"),
    others="the words of padding",
    empty_row="a sentence that is all padding",
)


# The axis of the attentions

attentions_last = {
    MASKED: lambda scores, _, *, mask: scores.mT.masked_fill(~mask, -torch.inf),
    ZEROS: lambda weights, _: torch.nan_to_num(weights).mT,
}
task.changed(
    "mask_without_attentions",
    "The mask is B×S and your scores are B×N×S: the mask needs an axis for the thetas, `mask[:, None]`. Without it, this runs only if the sizes happen to fit, and may then give an incorrect result.",
    {MASKED: lambda scores, _, *, mask: scores.masked_fill(~mask, -torch.inf), ZEROS: lambda w, _: torch.nan_to_num(w)},
)
task.changed(
    "words_before_attentions",
    "Your scores are B×S×N, and you mask and normalise them over the last axis, the thetas. Transpose them to B×N×S, and give the mask an axis for the thetas, `mask[:, None]`.",
    attentions_last,
)
task.changed(
    "mask_without_last_axis",
    "The mask is B×S and your scores are B×S×N: the mask needs an axis for the thetas, which is the last one here, `mask[..., None]`.",
    attentions_last | {SOFTMAX: lambda scores: scores.softmax(1)},
)


# The contexts

task.changed_each(
    ("interleaved", "The outputs are interleaved, feature by feature. The whole vector of the first theta comes first, then the whole vector of the second: stack them on axis 1, or use cat.", {"the concatenated contexts": lambda contexts: contexts.mT.flatten(1)}),
    ("sentences_mixed", "The numbers are right, but they are in the wrong sentences: with `stack` or `cat` along the first axis, the thetas come before the sentences, and `reshape` then mixes them. Stack on axis 1, or use cat along the last axis.", {"the concatenated contexts": lambda contexts: contexts.transpose(0, 1).reshape(len(contexts), -1)}),
    ("added_up", "You add up the N contexts. Concatenate them instead, so that they stay separate: B×(N·D).", {"the concatenated contexts": lambda contexts: contexts.sum(1)}),
    ("not_flattened", "The thetas still have their own axis, B×N×D. Concatenate the contexts: flatten the last two axes.", {"the concatenated contexts": left_out}),
    ("concatenated_along_batch", "`cat` along axis 0 puts the contexts one below the other, as if there were more sentences. Each sentence gets one long row: use the last axis.", {"the concatenated contexts": lambda contexts: contexts.transpose(0, 1).flatten(0, 1)}),
    ("weights_returned", "These are the weights, B×N×S. Return the contexts: sum the words with these weights, then concatenate the sums.", {"the concatenated contexts": lambda _, *, done: done[ZEROS]}),
)  # fmt: skip

of_every_sentence = {"the products of weights and words": lambda w, words: torch.einsum("cns,bsd->bncd", w, words)}
task.changed(
    "weights_of_every_sentence",
    "`weights @ words` treats weights, B×S, as one matrix whose B rows are all multiplied by every sentence's words, which gives B×B×D. A sentence needs only its own weights: give them an axis in the middle, B×1×S, and drop it after the product.",
    of_every_sentence | {"the concatenated contexts": lambda contexts: contexts.transpose(1, 2).flatten(2)},
)
task.changed(
    "weights_of_every_sentence_flattened",
    "`weights @ words` treats weights, B×S, as one matrix whose B rows are all multiplied by every sentence's words, which gives B×B×D for one theta. A sentence needs only its own weights: give them an axis in the middle, B×1×S, and drop it before you concatenate the contexts.",
    of_every_sentence,
)
