"""Task 09.self_attention: each word of a sentence looks at all of its words, through three projections and with scaled scores."""

from math import sqrt
from operator import matmul, truediv

import torch

from course_lessons.shared.mask_mistakes import masked_softmax_mistakes, plus_infinity_mistakes
from course_lessons.shared.partial_credit import USUAL
from course_lessons.shared.scaling_mistakes import scaling_mistakes
from course_lessons.shared.weight_properties import outside_the_values
from course_utils.checks.reference_trace import left_out
from course_utils.checks.running.contract import Case
from course_utils.checks.task import Task, count, sizes

task = Task(
    "09.self_attention",
    "self-attention, scaled and safe",
    arguments=("x B×T×D", "weight_q D×d", "weight_k D×d", "weight_v D×E", "mask B×T×T"),
    result="context B×T×E",
    difficulty=3,
    importance=5,
    minutes=25,
    hints=(
        "Each word plays three roles: it asks, it is found, and it gives. For each role, its vector is multiplied by a separate matrix. What the words ask is compared with what they are found by, and the scores are divided by the square root of the width of these two. Then each word sums what all words give. "
        "If there is a mask, words with nothing to attend to need care.",
        (
            "Take two words [1, 0] and [0, 1] of width 2, weight_q = [[2], [0]], weight_k = [[0], [1.0986]] and weight_v = [[4], [8]]. The queries are 2 and 0, the keys 0 and 1.0986, the values 4 and 8. The width d of queries and keys is 1, so dividing by √1 changes nothing. The first word's scores are 2·0 = 0 and 2·1.0986 = 2.1972, their "
            "exponentials 1 and 9, its weights 0.1 and 0.9, and its context is 0.1·4 + 0.9·8 = 7.6. The second word scores 0 with both, so its weights are 0.5 and 0.5 and its context is 6. If the mask lets the second word attend to nothing, its context is 0."
        ),
        "query, key, value = x times each of the three matrices; scores = query times key transposed, divided by the square root of the query's width; -inf where the mask is False; softmax over the last axis; zeros where the "
        "mask is False; return the weights times value.",
    ),
    partial=USUAL
    | {
        "empty_row_nan": (0.5, "right for every word that may attend to something."),
        "empty_row_uniform": (0.5, "right for every word that may attend to something."),
    },
)


@task.property
def contexts_lie_between_the_values(case, value):
    """A weighted sum whose weights are not negative and sum to 1 lies between the smallest and the largest value."""
    x, _, _, weight_v, mask = case.args
    if x.isnan().any() or x.isinf().any():
        return None
    allowed = torch.ones(1, 1, 1, dtype=torch.bool) if mask is None else mask
    outside = outside_the_values(value, x.double() @ weight_v.double(), allowed) & allowed.any(2)[..., None]
    return (
        "Each entry of a context should lie between the smallest and the largest of the values that its word may attend to; one of yours lies outside. Are the weights of each word at least 0, do they sum to 1, and are they 0 where the mask is False?"
        if outside.any()
        else None
    )


@task.property
def nothing_to_attend_gives_zeros(case, value):
    """A word that may attend to nothing has a context of zeros."""
    mask = case.args[4]
    empty = None if mask is None else value[~mask.any(2)]
    return (
        f"A word with nothing to attend to should have a context of zeros; one of yours contains {empty.flatten()[empty.abs().argmax()]:.4g}."
        if empty is not None and empty.numel() and empty.abs().max() > 1e-6
        else None
    )


def _inputs(draw, B, T, D, d, E, mask):
    x, *weights = (draw.numbers(*shape) for shape in ((B, T, D), (D, d), (D, d), (D, E)))
    return (x, *(weight / 2 + 0.125 for weight in weights), mask)


def _with_padding(draw, B, T):
    """Return a mask B×T×T and the padding B×T: real words stand anywhere, and attend to some of one another; padding takes no part."""
    real = draw.mask(B, T)
    both = real[:, :, None] & real[:, None, :]
    return both & (draw.mask(B, T, T) | torch.eye(T, dtype=torch.bool)), ~real


def _not_used(mask):
    """True at padding, B×T: positions that attend to nothing and that nothing attends to."""
    return ~(mask.any(1) | mask.any(2))


@task.cases
def _(draw):
    for size in sizes(B=2, T=5, D=7, d=3, E=11):
        B, T = size.B, size.T if size.full else size.T + 1
        dims = (B, T, size.D, size.d, size.E)
        name = f"{count(B, 'sentence')} of {T} words, widths D={size.D}, d={size.d}, E={size.E}"
        yield Case(f"{name}, no mask", _inputs(draw, *dims, None), size.full)
        yield Case(f"{name}, with a mask", _inputs(draw, *dims, draw.mask(B, T, T)), size.full)
    yield Case("D, d and E all 3", _inputs(draw, 2, 5, 3, 3, 3, draw.mask(2, 5, 5)))
    causal = torch.ones(5, 5).tril().bool().repeat(2, 1, 1)
    yield Case("each word may attend to itself and to earlier ones", _inputs(draw, 2, 5, 7, 3, 4, causal))
    unseen = draw.mask(2, 5, 5) | torch.eye(5, dtype=torch.bool).roll(1, 1)
    unseen[:, 2] = True  # with a single word to attend to, it would not matter what it asks
    unseen[:, :, 2] = False
    unseen[:, 1, 3] = True
    yield Case("a word that nothing attends to, and that attends to others", _inputs(draw, 2, 5, 2, 3, 7, unseen))
    yield Case("as many sentences as words", _inputs(draw, 3, 3, 5, 2, 7, draw.mask(3, 3, 3)))
    yield Case("a single word, widths of 1", _inputs(draw, 2, 1, 1, 1, 1, None), True, edge=True)
    empty = draw.mask(2, 5, 5) | torch.eye(5, dtype=torch.bool)
    empty[1, 2] = False
    empty[1, 0, 2] = True
    yield Case("a word that may attend to nothing", _inputs(draw, 2, 5, 7, 3, 11, empty), True, edge=True)
    mask, padding = _with_padding(draw, 3, 5)
    x, weight_q, weight_k, weight_v, mask = _inputs(draw, 3, 5, 7, 3, 11, mask)
    weights = (weight_q, weight_k, 4 * weight_v, mask)  # large: the greatest number of float32 does not stay finite
    garbage = torch.tensor([torch.nan, torch.inf, -torch.inf, torch.nan, torch.inf, torch.nan, -torch.inf])
    yield Case(
        "NaN and infinity at padding", (torch.where(padding[..., None], garbage, x), *weights), True, hazard=True
    )
    yield Case("NaN at padding", (x.masked_fill(padding[..., None], torch.nan), *weights), hazard=True)
    yield Case("200 words", _inputs(draw, 1, 200, 3, 2, 5, draw.mask(1, 200, 200)), edge=True)
    # The first word's allowed scores lie far below the one that is hidden from it.
    x = torch.tensor([[[100.0], [-100.0], [-70.0]], [[-100.0], [110.0], [90.0]]])
    far = torch.tensor([[False, True, True], [True, True, False], [False, True, True]]).repeat(2, 1, 1)
    one = torch.ones(1, 1)
    yield Case("very large scores, near ±10,000", (x, one, one, draw.numbers(1, 2) / 50 + 0.0525, far), hazard=True)


@task.steps
def _(x, weight_q, weight_k, weight_v, mask=None):
    if mask is not None:
        empty = lambda x, mask: x.masked_fill(_not_used(mask)[..., None], 0.0)  # noqa: E731
        x = yield "the words without padding", empty, x, mask
    query = yield "the queries", matmul, x, weight_q
    key = yield "the keys", matmul, x, weight_k
    value = yield "the values", matmul, x, weight_v
    products = yield "the products of queries and keys", matmul, query, key.mT
    root = yield "√d", sqrt, query.shape[-1]
    scores = yield "the scores", truediv, products, root
    if mask is not None:
        scores = yield "the masked scores", lambda scores, mask: scores.masked_fill(~mask, -torch.inf), scores, mask
    weights = yield "the softmax", lambda scores: scores.softmax(-1), scores
    if mask is not None:
        weights = yield "the weights with zeros", lambda w, mask: w.masked_fill(~mask, 0.0), weights, mask
    context = yield "the product of weights and value", matmul, weights, value
    return context


# Projections

EQUAL_WIDTHS = "Without that this runs only if D = d, and then gives an incorrect result."
task.changed_each(
    ("query_not_projected", f"The queries are not projected: each word asks with its own vector. Multiply it by weight_q. {EQUAL_WIDTHS}", dict.fromkeys(["the queries"], left_out)),
    ("key_not_projected", f"The keys are not projected: each word is found by its own vector. Multiply it by weight_k. {EQUAL_WIDTHS}", dict.fromkeys(["the keys"], left_out)),
    ("value_not_projected", "The values are not projected: you sum the words' own vectors. The value of a word is its vector times weight_v.", dict.fromkeys(["the values"], left_out)),
    ("nothing_projected", "No projection is used: the words attend to one another as they are.", dict.fromkeys(["the queries", "the keys", "the values"], left_out)),
)  # fmt: skip

task.changed(
    "queries_and_keys_exchanged",
    "Your scores are transposed, which happens if queries and keys are swapped. A row of the scores belongs to the word that asks, with `x @ weight_q`, and a column to the word that is attended to, with `x @ weight_k`.",
    {"the products of queries and keys": lambda query, key: (query @ key).mT},
)
task.changed(
    "matrices_transposed",
    "You transpose the matrices. A word's vector is a row vector and multiplies the untransposed matrix from the left: `x @ weight`. Transposed, they fit only if the widths happen to be equal, and the result is then wrong.",
    dict.fromkeys(("weight_q", "weight_k", "weight_v"), torch.t),
)


# Scores

scaling_mistakes(task, contexts="the product of weights and value")
task.changed(
    "divided_by_root_of_D",
    "You divide the scores by √D, the square root of the words' width. Divide by √d: the scores are sums of d products, and d is the width of queries and keys.",
    {"√d": lambda d, *, x: x.shape[2] ** 0.5},
)


# Weights and masks

SOFTMAX, ZEROS = "the softmax", "the weights with zeros"
masked_softmax_mistakes(task, one="A word", others="words", nothing="It receives nothing: its context should be zeros.")
plus_infinity_mistakes(task, others="words")
OVER_QUERIES = "Your softmax runs over the queries, so the words that ask compete for each key"
EACH_WORD = "Each word spreads its weight over the keys, the last axis."
task.changed(
    "softmax_over_queries",
    f"{OVER_QUERIES}. {EACH_WORD}",
    {SOFTMAX: lambda scores: scores.softmax(1).nan_to_num()},
)
task.changed(
    "softmax_over_queries_nan",
    f"{OVER_QUERIES}, and a word that nobody may attend to gives NaN. {EACH_WORD}",
    {SOFTMAX: lambda scores: scores.softmax(1), ZEROS: left_out},
)
task.changed(
    "softmax_over_batch",
    f"Your softmax runs over the batch, so sentences compete with one another. {EACH_WORD}",
    {SOFTMAX: lambda scores: scores.softmax(0).nan_to_num()},
)


def _causal(products, root, *, mask, right):
    """Hide later words where there is no mask."""
    scores = right(products, root)
    later = torch.ones_like(scores).triu(1) > 0
    return scores.masked_fill(later, -torch.inf) if mask is None else scores


task.changed_each(
    ("mask_transposed", "The mask is transposed. Its rows belong to the words that attend, and its columns to those they attend to.", {"mask": lambda mask: mask.mT}),
    ("one_mask_for_all_words", "You use the mask of each sentence's first word for all its words. Each word has its own row in the mask, B×T×T.", {"mask": lambda mask: mask[:, :1].expand_as(mask)}),
    ("one_mask_for_all_sentences", "You use the mask of the first sentence for all sentences. Each sentence has its own, B×T×T.", {"mask": lambda mask: mask[:1].expand_as(mask)}),
    ("causal_without_mask", "If `mask` is None, no word attends to a later one in your answer. None allows everything: add no causal mask.", {"the scores": _causal}),
    (
        "always_causal",
        "No word attends to a later one in your answer, with a mask and without. Only the mask says who may attend to whom, and None allows everything.",
        {"the scores": _causal, "mask": torch.tril},
    ),
    (
        "always_itself",
        "Each word may attend to itself in your answer, whatever the mask says. Where the mask is False on the diagonal, a word must not see itself.",
        {"mask": lambda mask: mask | torch.eye(mask.shape[-1], dtype=torch.bool)},
    ),
)  # fmt: skip


# Padding, and words that may attend to nothing

WORDS = "the words without padding"
task.changed(
    "garbage_times_zero",
    "The numbers at padding may be NaN or infinite, and 0 times NaN is NaN: a weight of 0 does not keep them out. Before you compute anything, replace with zeros the words that attend to nothing and that nothing attends to.",
    {WORDS: left_out},
)


def _without_padding(x, weight_v, *, mask):
    values = x @ weight_v
    return values if mask is None else values.masked_fill(_not_used(mask)[..., None], 0.0)


task.changed(
    "garbage_reaches_the_gradient",
    "The values are right, but NaN from padding gets into the gradient: you leave it out of the sum, but the backward pass still runs through its projections. Replace the words that attend to nothing and that nothing attends to with zeros before you compute anything.",
    {WORDS: left_out, "the values": _without_padding},
)
task.changed(
    "unseen_words_emptied",
    "You replace every word that nothing attends to with zeros. Such a word may still attend to others, and then it needs its query. Padding is only what attends to nothing as well.",
    {WORDS: lambda x, mask: x.masked_fill(~mask.any(1)[..., None], 0.0)},
)
task.changed(
    "words_that_see_nothing_emptied",
    "You replace every word that has nothing to attend to with zeros. Others may still attend to it, and then its value counts. Padding is only what nothing attends to as well.",
    {WORDS: lambda x, mask: x.masked_fill(~mask.any(2)[..., None], 0.0)},
)
task.changed(
    "zeros_into_the_context",
    "The values are right, but the gradient is NaN: for a word with nothing to attend to, the weights are NaN, and you set only its context to zeros at the end. The backward pass still runs through these weights, and 0 times NaN is NaN. Set the weights to 0 before they are multiplied by the values.",
    {
        ZEROS: left_out,
        "result": lambda context, *, mask: (
            context if mask is None else context.masked_fill(~mask.any(2)[..., None], 0.0)
        ),
    },
)
task.changed(
    "infinity_added",
    "The values are right, but the gradient of a word with nothing to attend to is NaN: -inf is added to its scores, their softmax is NaN, and turning that into zeros afterwards does not affect the backward pass. Replace the scores with -inf, using masked_fill or torch.where, instead of adding it to them.",
    {"the masked scores": lambda scores, mask: scores + torch.zeros_like(scores).masked_fill(~mask, -torch.inf)},
)
