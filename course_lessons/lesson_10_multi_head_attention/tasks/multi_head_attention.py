"""Task 10.multi_head_attention: several heads, each with projections of its own, and what they find projected once more."""

from math import sqrt
from operator import truediv
from types import SimpleNamespace

import torch
import torch.nn.functional as F

from course_lessons.shared.head_projections import MIXING, joining, projecting, projection_mistakes
from course_lessons.shared.mask_mistakes import masked_softmax_mistakes, plus_infinity_mistakes
from course_lessons.shared.partial_credit import USUAL
from course_utils.checks.reference_trace import left_out
from course_utils.checks.running.contract import Case
from course_utils.checks.task import Task, count
from course_utils.models.minimal import split_heads

task = Task(
    "10.multi_head_attention",
    "several heads, as PyTorch has them",
    arguments=(
        "query B×T×D",
        "key B×S×D",
        "value B×S×D",
        "in_weight 3·D×D",
        "in_bias 3·D",
        "out_weight D×D",
        "out_bias D",
        "heads",
        "mask B×T×S",
    ),
    result="output B×T×D",
    difficulty=4,
    importance=5,
    minutes=40,
    hints=(
        "Only the splitting and the joining are new. Project whole vectors, as in self-attention, and only then split queries, keys and values into heads. Each head is scaled attention of width d. With an axis of heads beside the axis of sentences, all heads can be computed at once, if the mask also gets such an axis. "
        "Then join the contexts and project them once more. With a mask, two kinds of words need care: words with nothing to attend to, and words that nothing attends to.",
        (
            "Take two heads, D = 2, and projections that change nothing: three identity matrices stacked in in_weight, an in_bias of zeros, and the identity as out_weight. The query is [1, 1], the keys are [1.0986, 0] and [0, 1.0986], the values [4, 4] and [8, 8], and out_bias is [1, 0]. Each head has the width d = 1. "
            "Head 0 reads the first entries: its scores are 1.0986 and 0, their exponentials 3 and 1, its weights 0.75 and 0.25, its context 0.75·4 + 0.25·8 = 5. Head 1 reads the second entries: its weights are 0.25 and 0.75, its context 7. Side by side they are [5, 7], and with out_bias [6, 7]. If the mask lets the query attend to nothing, the contexts are "
            "[0, 0] and the output is [1, 0]."
        ),
        "Split in_weight and in_bias into three blocks of D rows. For each of query, key and value: times its block transposed, plus its bias, then split into heads: B, H, words, d. scores = queries times keys transposed, divided by the square root of d; "
        "give the mask an axis of size 1 for the heads; -inf where it is False; softmax over the last axis; zeros where it is False; times the values. Swap heads and words, join the last two axes; times out_weight transposed, plus out_bias.",
    ),
    partial=USUAL,
)


def _inputs(draw, B, T, S, H, d, mask):
    D = H * d
    query, key, value = (draw.numbers(B, length, D) for length in (T, S, S))
    in_weight = torch.randn(3 * D, D, generator=draw.generator) * 1.2 / D**0.5
    out_weight = torch.randn(D, D, generator=draw.generator) / D**0.5
    in_bias, out_bias = (torch.randn(n, generator=draw.generator) for n in (3 * D, D))
    return query, key, value, in_weight, in_bias / 2 + 0.125, out_weight, out_bias + 0.125, H, mask


# Sizes B, T, S, H, d: tiny first, where wrong axes do not fit one another, then one longer or shorter at a time, then all
LADDER = ((2, 3, 2, 2, 2), (1, 3, 2, 2, 2), (2, 2, 3, 2, 2), (1, 2, 3, 3, 2), (1, 2, 3, 2, 3), (2, 5, 11, 3, 7))


@task.cases
def _(draw):
    for dims in LADDER:
        size, full = SimpleNamespace(**dict(zip("BTSHd", dims, strict=True))), dims == LADDER[-1]
        name = f"{count(size.B, 'sentence')}, T={size.T}, S={size.S}, {size.H} heads of width {size.d}"
        yield Case(f"{name}, no mask", _inputs(draw, *dims, None), full)
        yield Case(f"{name}, with a mask", _inputs(draw, *dims, draw.mask(size.B, size.T, size.S)), full)
    causal = torch.ones(5, 5, dtype=torch.bool).tril().repeat(2, 1, 1)
    x, _, _, *rest = _inputs(draw, 2, 5, 5, 2, 3, causal)
    yield Case("query, key and value alike, each word attends to itself and to earlier ones", (x, x, x, *rest))
    mask = draw.mask(2, 3, 5)
    mask[0, :, 1] = False
    mask[0, :, 2] = True
    yield Case("a word that nothing attends to", _inputs(draw, 2, 3, 5, 2, 2, mask))
    yield Case("as many sentences as heads and words", _inputs(draw, 3, 3, 3, 3, 2, draw.mask(3, 3, 3)))
    yield Case("as many heads as the width of a head", _inputs(draw, 2, 4, 5, 3, 3, draw.mask(2, 4, 5)))
    yield Case("a single query", _inputs(draw, 2, 1, 3, 2, 2, draw.mask(2, 1, 3)), edge=True)
    yield Case("a single head", _inputs(draw, 2, 3, 5, 1, 4, draw.mask(2, 3, 5)), True, edge=True)
    yield Case("heads of width 1", _inputs(draw, 2, 3, 5, 4, 1, draw.mask(2, 3, 5)), True, edge=True)
    empty = draw.mask(2, 3, 5)
    empty[:, 0, 0] = True
    empty[1, 2] = False
    yield Case("a word that may attend to nothing", _inputs(draw, 2, 3, 5, 2, 3, empty), True, hazard=True)
    mask = draw.mask(2, 3, 5)
    mask[:, :, 0] = True
    mask[0, :, 3], mask[1, :, 1], mask[1, 2] = False, False, False
    query, key, value, *rest = _inputs(draw, 2, 3, 5, 2, 3, mask)
    garbage = torch.tensor([torch.nan, torch.inf, -torch.inf, torch.nan, torch.inf, -torch.inf])
    query = torch.where(mask.any(2)[..., None], query, garbage)
    key, value = (torch.where(mask.any(1)[..., None], words, garbage) for words in (key, value))
    yield Case("NaN and infinity where nothing attends", (query, key, value, *rest), True, hazard=True)
    yield Case("200 words", _inputs(draw, 1, 3, 200, 2, 2, draw.mask(1, 3, 200)), edge=True)
    # Width 1: the first query's allowed scores lie far below the one that is hidden from it.
    one, far = torch.ones(1, 1), torch.tensor([[[False, True, True], [True, True, False]]])
    query = torch.tensor([[[100.0], [-110.0]]])
    key = torch.tensor([[[100.0], [-100.0], [-70.0]]])
    bias, numbers = torch.tensor([0.0, 0.0, 0.5]), draw.distinct(3, -4, 5).reshape(1, 3, 1) / 2 + 0.25
    large = (query, key, numbers, one.repeat(3, 1), bias, one / 2, torch.tensor([0.25]), 1, far)
    yield Case("very large scores, near ±10,000", large, hazard=True)


@task.oracle
def _(query, key, value, in_weight, in_bias, out_weight, out_bias, heads, mask=None):
    (B, T, D), S = query.shape, key.shape[1]
    allowed = torch.ones(B, T, S, dtype=torch.bool) if mask is None else mask
    asks, asked = allowed.any(2)[..., None], allowed.any(1)[..., None]  # B T 1, B S 1
    query, key, value = torch.where(asks, query, 0.0), torch.where(asked, key, 0.0), torch.where(asked, value, 0.0)
    output, _ = F.multi_head_attention_forward(
        *(words.transpose(0, 1) for words in (query, key, value)),
        *(D, heads, in_weight, in_bias, None, None, False, 0.0, out_weight, out_bias),
        training=False,
        need_weights=True,
        attn_mask=~(allowed | ~asks).repeat_interleave(heads, 0),  # there, True hides
    )
    return torch.where(asks, output.transpose(0, 1), out_bias)


@task.steps
def _(query, key, value, in_weight, in_bias, out_weight, out_bias, heads, mask=None):
    parts = []
    for place, (name, words) in enumerate({"queries": query, "keys": key, "values": value}.items()):
        parts.append((yield from projecting(name, place, words, in_weight, in_bias, heads)))
    query, key, value = parts
    products = yield "the products of queries and keys", lambda q, k: q @ k.mT, query, key
    root = yield "√d", sqrt, query.shape[-1]
    scores = yield "the scores", truediv, products, root
    if mask is not None:
        mask = yield "the mask for all heads", lambda mask: mask[:, None], mask
        hide = lambda scores, mask: scores.masked_fill(~mask, -torch.inf)  # noqa: E731
        scores = yield "the masked scores", hide, scores, mask
    weights = yield "the softmax", lambda scores: scores.softmax(-1), scores
    if mask is not None:
        weights = yield "the weights with zeros", lambda w, mask: w.masked_fill(~mask, 0.0), weights, mask
    return (yield from joining(weights, value, out_weight, out_bias))


PARTS = ("queries", "keys", "values")
projection_mistakes(task)


def each(step, change):
    """The same change of a step for queries, keys and values."""
    return {step.format(part): change for part in PARTS}


FROM_THEIR_OWN = "The queries are computed from query, the keys from key, and the values from value."
task.changed(
    "query_for_all",
    f"Queries, keys and values are all computed from query. {FROM_THEIR_OWN}",
    {"key": lambda key, *, query: query, "value": lambda value, *, query: query},
)
task.changed(
    "values_from_key", f"The values are computed from key. {FROM_THEIR_OWN}", {"value": lambda value, *, key: key}
)
task.changed(
    "keys_and_values_from_each_other",
    f"The keys are computed from value, and the values from key. {FROM_THEIR_OWN}",
    {"key": lambda key, *, value: value, "value": lambda value, *, key: key},
)


# Heads

CUT_MIXED = each("the {} of all heads", lambda x, heads: x.reshape(x.shape[0], heads, x.shape[1], -1))
JOINED_MIXED = {"the contexts side by side": lambda x: x.reshape(x.shape[0], x.shape[2], -1)}
task.changed_each(
    ("heads_mixed", f"The heads mix the words when they are split: {MIXING}.", CUT_MIXED),
    ("merge_mixed", "The words are mixed when the heads' contexts are joined: their neighbours in memory are the other words of the same head. Swap the axes H and T before you join.", JOINED_MIXED),
    ("mixed_both_times", f"The heads mix the words when they are split: {MIXING}. The same goes for joining them: swap the axes H and T first.", CUT_MIXED | JOINED_MIXED),
    ("one_head", "`heads` has no effect: this is attention with a single head of width D.", each("the {} of all heads", lambda x, heads: x[:, None])),
    ("heads_taken_for_width", "You make D/heads heads of width `heads`. `heads` is their number, and each is D/heads wide.", each("the {} of all heads", lambda x, heads: split_heads(x, x.shape[-1] // heads))),
)  # fmt: skip


def _own_slice(weight, *, heads):
    """A block of the weights with zeros outside the square of each head."""
    d = len(weight) // heads
    return (weight * torch.block_diag(*[torch.ones(d, d, dtype=weight.dtype)] * heads)).mT


task.changed(
    "own_slice_alone",
    "Each head reads only its own part of the words: you split the words first and project each part with a d×d piece of the weights. Project the whole vectors first and split the result.",
    each("the transposed block for {}", _own_slice),
)


# Scores and weights

task.changed(
    "divided_by_root_of_H",
    "You divide the scores by √H, the square root of the number of heads. Divide by √d, the square root of a head's width: the scores of a head are sums of d products, where d = D/H.",
    {"√d": lambda d, *, heads: heads**0.5},
)
task.changed(
    "keys_summed",
    "You sum the projected keys. The weights are for the projected values.",
    {"the contexts of all heads": lambda weights, values, *, done: weights @ done["the keys of all heads"]},
)
masked_softmax_mistakes(
    task,
    one="A word",
    others="words",
    nothing="Its contexts are zeros, so the result is out_bias.",
    inverted="The masks of nn.MultiheadAttention mean the opposite: they hide where they are True.",
)
plus_infinity_mistakes(task, others="words")

# Masks, words that may attend to nothing, and words that nothing attends to

task.changed(
    "mask_for_each_head",
    "The mask B×T×S is applied to scores B×H×T×S as it is, so its first axis lines up with the heads: it fits only if there are as many sentences as heads, or one of either, and the second sentence's mask then hides words from the second head. Give it an axis of size 1 for the heads: B×1×T×S.",
    {"the mask for all heads": left_out},
)
task.changed(
    "mask_repeated",
    "Sentences and heads are mixed up in the mask: if you repeat the whole batch of masks for each head, as `repeat` does, and reshape that to B×H, one sentence gets the mask of another. Give the mask an axis of size 1 for the heads, B×1×T×S, or use `repeat_interleave`.",
    {"the mask for all heads": lambda mask, *, heads: mask.repeat(heads, 1, 1).reshape(-1, heads, *mask.shape[1:])},
)
task.changed(
    "one_mask_for_all_sentences",
    "You use the mask of the first sentence for all sentences. Each sentence has its own, B×T×S.",
    {"mask": lambda mask: mask[:1].expand_as(mask)},
)


task.changed(
    "empty_row_without_bias",
    "A word with nothing to attend to gives zeros. Its contexts are zeros, but they go through the output projection like any other, so the result is out_bias.",
    {"result": lambda output, *, mask: output if mask is None else output.masked_fill(~mask.any(2)[..., None], 0.0)},
)
task.changed(
    "garbage_times_zero",
    "If no word may attend to a word, its key and value may be NaN or infinite, and 0 times NaN is NaN: a weight of 0 does not keep it out. Before you compute anything, replace with zeros whatever no word attends to and the queries with nothing to attend to.",
    {},  # the steps are those for words without NaN
)

# Output

task.changed(
    "a_pair_returned",
    "You return the output and something else. Return only the output, B×T×D.",
    {"result": lambda output: (output, None)},
)
