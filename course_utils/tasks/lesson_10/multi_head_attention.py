"""Task 10.multi_head_attention: several heads, each with projections of its own, and what they find projected once more."""

from math import sqrt
from operator import matmul, truediv
from types import SimpleNamespace

import torch
import torch.nn.functional as F

from course_utils.checks.running.contract import Case
from course_utils.checks.task import Task, count
from course_utils.models.attention import masked_softmax
from course_utils.models.plain import merge_heads, split_heads
from course_utils.tasks.shares import USUAL

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
        "Nothing is new but the cutting and the joining. Project whole vectors, as in self-attention, and only then cut queries, keys and values into heads. Each head is scaled attention of width d, and an axis of heads beside the axis of sentences lets all heads be computed at once, if the mask gets such an axis, too. "
        "Then join the contexts and project them once more. With a mask two kinds of places need care: words that may attend to nothing, and words that nothing attends to.",
        (
            "Take two heads, D = 2, and projections that change nothing: three identity matrices one below the other in in_weight, an in_bias of zeros, and the identity as out_weight. The query is [1, 1], the keys are [1.0986, 0] and [0, 1.0986], the values [4, 4] and [8, 8], and out_bias is [1, 0]. Each head has the width d = 1. "
            "Head 0 reads the first numbers: its scores are 1.0986 and 0, their exponentials 3 and 1, its weights 0.75 and 0.25, its context 0.75·4 + 0.25·8 = 5. Head 1 reads the second numbers: its weights are 0.25 and 0.75, its context 7. Side by side they are [5, 7], and with out_bias [6, 7]. If the mask lets the query attend to nothing, the contexts are "
            "[0, 0], and what comes out is [1, 0]."
        ),
        "Cut in_weight and in_bias into three blocks of D rows. For each of query, key and value: times its block transposed, plus its bias, then cut into heads: B, H, words, d. scores = queries times keys transposed, divided by the root of d; "
        "give the mask an axis of size 1 for the heads; -inf where it is False; softmax over the last axis; zeros where it is False; times the values. Exchange heads and words, join the last two axes; times out_weight transposed, plus out_bias.",
    ),
    partial=USUAL,
)


def _inputs(draw, B, T, S, H, d, mask, dtype=torch.float32):
    D = H * d
    query, key, value = (draw.numbers(B, length, D, dtype=dtype) for length in (T, S, S))
    in_weight = torch.randn(3 * D, D, generator=draw.generator, dtype=torch.float64).to(dtype) * 1.2 / D**0.5
    out_weight = torch.randn(D, D, generator=draw.generator, dtype=torch.float64).to(dtype) / D**0.5
    in_bias, out_bias = (torch.randn(n, generator=draw.generator, dtype=torch.float64).to(dtype) for n in (3 * D, D))
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
    double = _inputs(draw, 2, 3, 5, 2, 3, draw.mask(2, 3, 5), torch.float64)
    yield Case("float64 numbers", double, True, edge=True)
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
    yield Case("scores of ±10,000", large, hazard=True)


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
        if mask is not None:
            words = words.masked_fill(~mask.any(2 if place == 0 else 1)[..., None], 0.0)
        part = yield from projecting(name, place, words, in_weight, in_bias, heads)
        parts.append(part)
    query, key, value = parts
    products = yield "the products of queries and keys", lambda q, k: q @ k.mT, query, key
    root = yield "the square root of d", sqrt, query.shape[-1]
    scores = yield "the scores", truediv, products, root
    if mask is not None:
        hide = lambda scores, mask: scores.masked_fill(~mask[:, None], -torch.inf)  # noqa: E731
        scores = yield "the masked scores", hide, scores, mask
    weights = yield "the softmax", lambda scores: scores.softmax(-1), scores
    if mask is not None:
        weights = yield "the weights with zeros", lambda w, mask: w.masked_fill(~mask[:, None], 0.0), weights, mask
    return (yield from joining(weights, value, out_weight, out_bias))


def projecting(name, place, words, in_weight, in_bias, heads, what="words"):
    """The steps that make queries, keys or values of words; `place` is that of their block, `what` the name of the words."""
    block = lambda rows: rows.chunk(3)[place]  # noqa: E731
    weight = yield f"the block of in_weight for the {name}", block, in_weight
    bias = yield f"the part of in_bias for the {name}", block, in_bias
    turned = yield f"the block for the {name} transposed", lambda weight: weight.mT, weight
    product = yield f"the product of {what} and weight for the {name}", matmul, words, turned
    projected = yield f"the {name}", torch.add, product, bias
    part = yield f"the {name} of all heads", split_heads, projected, heads
    return part


def joining(weights, values, out_weight, out_bias):
    """The steps from weights to the output."""
    contexts = yield "the contexts of all heads", matmul, weights, values
    merged = yield "the contexts side by side", merge_heads, contexts
    turned = yield "out_weight transposed", lambda weight: weight.mT, out_weight
    product = yield "the product of contexts and out_weight", matmul, merged, turned
    output = yield "the product plus out_bias", torch.add, product, out_bias
    return output


# Right attention with several heads, of which mistakes change one part


def _clean(query, key, value, mask):
    if mask is None:
        return query, key, value
    unseen = ~mask.any(1)[..., None]
    return query.masked_fill(~mask.any(2)[..., None], 0.0), key.masked_fill(unseen, 0.0), value.masked_fill(unseen, 0.0)


def _no_cleaning(query, key, value, mask):
    return query, key, value


def blocks_of(weight, bias):
    """The three pairs of weight and bias, for queries, keys and values."""
    return list(zip(weight.chunk(3), bias.chunk(3), strict=True))


def linear(words, weight, bias):
    return words @ weight.mT + bias


def _scaled(query, key, D):
    return query @ key.mT / query.shape[-1] ** 0.5


def _softmax(scores, mask):
    """Weights B×H×T×S of scores B×H×T×S and a mask that fits them."""
    return masked_softmax(scores, mask)


def _for_all_heads(mask, heads):
    return mask[:, None]


def _project_out(merged, weight, bias, mask):
    return linear(merged, weight, bias)


def heads_with(
    clean=_no_cleaning,
    use=lambda query, key, value: (query, key, value),
    blocks=blocks_of,
    project=linear,
    split=split_heads,
    parts=lambda q, k, v: (q, k, v),
    scores=_scaled,
    other_mask=lambda mask: mask,
    unsqueeze=_for_all_heads,
    weights=_softmax,
    contexts=lambda weights, value: weights @ value,
    merge=merge_heads,
    out=_project_out,
):
    """Return multi-head attention that is right but for the parts that are given."""

    def attention(query, key, value, in_weight, in_bias, out_weight, out_bias, heads, mask=None):
        D = query.shape[-1]
        words = use(*clean(query, key, value, mask))
        q, k, v = (split(project(x, *pair), heads) for x, pair in zip(words, blocks(in_weight, in_bias), strict=True))
        q, k, v = parts(q, k, v)
        kept = None if mask is None else other_mask(mask)
        fitting = None if kept is None else unsqueeze(kept, heads)
        return out(merge(contexts(weights(scores(q, k, D), fitting), v)), out_weight, out_bias, mask)

    return attention


def _mistake(name, sentence, **parts):
    return task.mistake(sentence, name)(heads_with(**parts))


# Projections

ORDER = {  # by the order in which a mistake takes the blocks for queries, keys and values
    "key_and_value_exchanged": (
        (0, 2, 1),
        "The blocks of keys and values are exchanged: in_weight and in_bias hold the block of the queries, then that of the keys, then that of the values.",
    ),
    "query_and_key_exchanged": (
        (1, 0, 2),
        "The blocks of queries and keys are exchanged: in_weight and in_bias hold the block of the queries, then that of the keys, then that of the values.",
    ),
    "value_first": (
        (1, 2, 0),
        "You take the first block for the values, the second for the queries and the third for the keys. in_weight and in_bias hold the block of the queries, then that of the keys, then that of the values.",
    ),
    "key_first": (
        (2, 0, 1),
        "You take the first block for the keys, the second for the values and the third for the queries. in_weight and in_bias hold the block of the queries, then that of the keys, then that of the values.",
    ),
    "blocks_in_reverse": (
        (2, 1, 0),
        "The blocks of queries and values are exchanged: in_weight and in_bias hold the block of the queries, then that of the keys, then that of the values.",
    ),
}
REORDERED = {
    name: _mistake(name, sentence, blocks=lambda w, b, order=order: [blocks_of(w, b)[i] for i in order])
    for name, (order, sentence) in ORDER.items()
}

interleaved_blocks = _mistake(
    "interleaved_blocks",
    "You take every third row of in_weight and every third number of in_bias for the queries, the ones behind them for the keys, and so on. The first D rows are for the queries, the next D for the keys, the last D for the values.",
    blocks=lambda w, b: [(w[i::3], b[i::3]) for i in range(3)],
)
TAKEN = {"queries": (0, 1, 2), "keys": (1, 0, 2), "values": (2, 0, 1)}
for _name, (_own, *_others) in TAKEN.items():
    for _other in _others:
        _whose = list(TAKEN)[_other]
        _order = [_other if place == _own else place for place in range(3)]
        _mistake(
            f"{_name}_by_the_block_of_{_whose}",
            f"The {_name} are projected by the block of the {_whose}. in_weight and in_bias hold a block for each: that of the queries, then that of the keys, then that of the values.",
            blocks=lambda w, b, order=_order: [blocks_of(w, b)[i] for i in order],
        )
_mistake(
    "one_block_for_all",
    "The queries' block serves for queries, keys and values. in_weight and in_bias hold a block for each of them.",
    blocks=lambda w, b: blocks_of(w, b)[:1] * 3,
)
_mistake(
    "blocks_transposed",
    "You multiply by the blocks of in_weight as they are. PyTorch keeps a weight as outputs × inputs: a vector is a row, and `vector @ weight.T` is what its layers compute.",
    project=lambda x, weight, bias: x @ weight + bias,
)
biases_forgotten = _mistake(
    "biases_forgotten",
    "in_bias and out_bias are missing. Each projection adds its bias after the product.",
    project=lambda x, weight, bias: x @ weight.mT,
    out=lambda merged, weight, bias, mask: merged @ weight.mT,
)
_mistake(
    "in_bias_forgotten",
    "in_bias is missing: queries, keys and values each have their part of it added after the product.",
    project=lambda x, weight, bias: x @ weight.mT,
)
_mistake(
    "one_number_of_in_bias",
    "A single number of in_bias is added to all queries, the next one to all keys, the third to all values. Each projection has D numbers of in_bias of its own.",
    blocks=lambda w, b: [(block, b[i]) for i, block in enumerate(w.chunk(3))],
)
_mistake(
    "bias_before_the_product",
    "You add in_bias to the words before the product. It is added to what the product gives.",
    project=lambda x, weight, bias: (x + bias) @ weight.mT,
)
_mistake(
    "bias_without_product",
    "in_bias is added to the words themselves: the products with the blocks of in_weight are missing.",
    project=lambda x, weight, bias: x + bias,
)
_mistake(
    "words_not_projected",
    "Queries, keys and values are cut from the words themselves: in_weight and in_bias are not used.",
    project=lambda x, weight, bias: x,
)
_mistake(
    "queries_from_key",
    "The queries are made from key. They are made from query: each word that asks has one row of the output.",
    use=lambda query, key, value: (key, key, value),
)
_mistake(
    "queries_from_value",
    "The queries are made from value. They are made from query: each word that asks has one row of the output.",
    use=lambda query, key, value: (value, key, value),
)
_mistake(
    "key_for_all",
    "Queries, keys and values are all made from key. The queries are made from query, and the values from value.",
    use=lambda query, key, value: (key, key, key),
)
_mistake(
    "value_for_all",
    "Queries, keys and values are all made from value. The queries are made from query, and the keys from key.",
    use=lambda query, key, value: (value, value, value),
)
_mistake(
    "query_for_all",
    "Queries, keys and values are all made from query. The keys are made from key, and the values from value.",
    use=lambda query, key, value: (query, query, query),
)
values_from_key = _mistake(
    "values_from_key",
    "The values are made from key. They are made from value, which may hold other numbers.",
    use=lambda query, key, value: (query, key, key),
)
_mistake(
    "keys_from_value",
    "The keys are made from value. They are made from key, which may hold other numbers.",
    use=lambda query, key, value: (query, value, value),
)
_mistake(
    "keys_and_values_from_each_other",
    "The keys are made from value, and the values from key. The keys are made from key, and the values from value.",
    use=lambda query, key, value: (query, value, key),
)


# Heads


def _mixed(x, heads):
    return x.reshape(x.shape[0], heads, x.shape[1], -1)


def _stretched(x):
    return x.reshape(x.shape[0], x.shape[2], -1)


def _interleaved(x, heads):
    return x.unflatten(2, (-1, heads)).permute(0, 3, 1, 2)


def _own_slices(x, weight, bias, heads):
    """Each head's rows of the weight, of which the columns outside its own slice are zeros."""
    d = len(bias) // heads
    return x @ (weight * torch.block_diag(*[torch.ones(d, d, dtype=weight.dtype)] * heads)).mT + bias


MIXING = "a single `view` or `reshape` to B×H×T×d keeps the order in memory, so each head gets whole stretches of the sentence. Cut each vector first, to B×T×H×d, and then exchange the axes T and H"
JOINING = "their neighbours in memory are the other words of the same head. Exchange the axes H and T before you join"
heads_mixed = _mistake("heads_mixed", f"The heads mix the words when they are cut: {MIXING}.", split=_mixed)
merge_mixed = _mistake(
    "merge_mixed",
    f"The words are mixed when the heads' contexts are joined: {JOINING}.",
    merge=_stretched,
)
_mistake(
    "mixed_both_times",
    f"The heads mix the words when they are cut: {MIXING}. The same holds when they are joined: exchange the axes H and T first.",
    split=_mixed,
    merge=_stretched,
)
_mistake(
    "split_interleaved",
    "The heads are interleaved when they are cut: the first head gets every H-th number of a vector. The d numbers of a head stand side by side.",
    split=_interleaved,
)
_mistake(
    "merge_interleaved",
    "The heads are interleaved when they are joined: the first numbers of all heads stand side by side, then the second ones. Each head's d numbers stay together.",
    merge=lambda x: x.permute(0, 2, 3, 1).flatten(2),
)
interleaved = _mistake(
    "interleaved",
    "The heads are interleaved, when they are cut and when they are joined: the first head gets every H-th number of a vector. The d numbers of a head stand side by side.",
    split=_interleaved,
    merge=lambda x: x.permute(0, 2, 3, 1).flatten(2),
)
_mistake(
    "joined_in_reverse",
    "The heads are joined in reverse order. Head 0 stands first.",
    merge=lambda x: merge_heads(x.flip(1)),
)
one_head = _mistake(
    "one_head",
    "`heads` has no effect: this is attention with a single head of width D.",
    split=lambda x, heads: x[:, None],
)
_mistake(
    "heads_taken_for_width",
    "You make heads of the width `heads`, and D/heads of them. `heads` is how many there are, and each is D/heads wide.",
    split=lambda x, heads: split_heads(x, x.shape[-1] // heads),
)


def own_slice_alone(query, key, value, in_weight, in_bias, out_weight, out_bias, heads, mask=None):
    attention = heads_with(project=lambda x, weight, bias: _own_slices(x, weight, bias, heads))
    return attention(query, key, value, in_weight, in_bias, out_weight, out_bias, heads, mask)


task.mistake(
    "Each head reads its own part of the words alone: you cut the words first, and project each part by a d×d piece of the weights. Project the whole vectors first, and cut what comes out."
)(own_slice_alone)


# Scores

SCALES = {
    "unscaled": (
        "The scores are not scaled: divide them by √d, where d = D/H is the width of a head.",
        lambda q, k, D: 1,
    ),
    "divided_by_root_of_D": (
        "You divide the scores by √D. Divide by √d: the scores of a head are sums of d products, where d = D/H.",
        lambda q, k, D: D**0.5,
    ),
    "divided_by_d": (
        "You divide the scores by d, or by √d twice. Divide them once by √d.",
        lambda q, k, D: q.shape[-1],
    ),
    "divided_by_D": (
        "You divide the scores by D. Divide by √d: the scores of a head are sums of d products, where d = D/H.",
        lambda q, k, D: D,
    ),
    "divided_by_root_of_heads": (
        "You divide the scores by √H, the root of the number of heads. Divide by √d, the root of the width of a head.",
        lambda q, k, D: (D // q.shape[-1]) ** 0.5,
    ),
    "divided_by_half_of_d": (
        "You divide the scores by d/2. The root of d is `d ** 0.5`, with two asterisks.",
        lambda q, k, D: q.shape[-1] / 2,
    ),
    "divided_by_square_of_d": (
        "You divide the scores by d². Divide them by √d: the exponent of the root is 0.5.",
        lambda q, k, D: q.shape[-1] ** 2,
    ),
    "multiplied_by_d": ("You multiply the scores by d. Divide them by √d.", lambda q, k, D: 1 / q.shape[-1]),
    "doubled": ("You double the scores. Divide them by √d, whatever d is.", lambda q, k, D: 0.5),
    "divided_by_root_of_B": (
        "You divide the scores by √B, the root of the number of sentences. Divide by √d, the root of the width of a head.",
        lambda q, k, D: len(q) ** 0.5,
    ),
    "divided_by_root_of_T": (
        "You divide the scores by √T, the root of the number of queries. Divide by √d, the root of the width of a head.",
        lambda q, k, D: q.shape[-2] ** 0.5,
    ),
    "divided_by_root_of_S": (
        "You divide the scores by √S, the root of the number of keys. Divide by √d, the root of the width of a head.",
        lambda q, k, D: k.shape[-2] ** 0.5,
    ),
    "multiplied_by_root": ("You multiply the scores by √d. Divide them by it.", lambda q, k, D: q.shape[-1] ** -0.5),
}
SCALED = {
    name: _mistake(name, sentence, scores=lambda q, k, D, scale=scale: q @ k.mT / scale(q, k, D))
    for name, (sentence, scale) in SCALES.items()
}


_mistake(
    "values_for_keys",
    "The queries are compared with the projected values. They are compared with the projected keys.",
    parts=lambda q, k, v: (q, v, v),
)
_mistake(
    "keys_summed",
    "You sum the projected keys. The weights are for the projected values.",
    parts=lambda q, k, v: (q, k, k),
)
_mistake(
    "keys_for_queries",
    "The projected keys serve as queries, too. What a word asks for is made from query, by its own block.",
    parts=lambda q, k, v: (k, k, v),
)
_mistake(
    "values_for_queries",
    "The projected values serve as queries, too. What a word asks for is made from query, by its own block.",
    parts=lambda q, k, v: (v, k, v),
)
_mistake(
    "queries_for_keys",
    "The projected queries serve as keys, too. What a word is found by is made from key, by its own block.",
    parts=lambda q, k, v: (q, q, v),
)


# Weights


def _masked(scores, mask, number=-torch.inf):
    return scores if mask is None else scores.masked_fill(~mask, number)


def _kept(mask):
    return 1 if mask is None else mask


def _along(axis):
    return lambda scores, mask: torch.nan_to_num(_masked(scores, mask).softmax(axis))


softmax_over_queries = _mistake(
    "softmax_over_queries",
    "Your softmax runs over the queries, so the words that ask compete for each key. Each word spreads its weight over the keys, the last axis.",
    weights=_along(2),
)
_mistake(
    "softmax_over_heads",
    "Your softmax runs over the heads, so they compete with one another. In each head, each word spreads its weight over the keys, the last axis.",
    weights=_along(1),
)
_mistake(
    "softmax_over_batch",
    "Your softmax runs over the batch, so sentences compete with one another. Each word spreads its weight over the keys, the last axis.",
    weights=_along(0),
)
weights_averaged = _mistake(
    "weights_averaged",
    "All heads use the mean of their weights, so that all look at the same words. Each head has weights of its own. (nn.MultiheadAttention returns such a mean for looking at; it does not sum with it.)",
    weights=lambda scores, mask: masked_softmax(scores, mask).mean(1, keepdim=True).expand_as(scores),
)
_mistake(
    "scores_averaged",
    "All heads use the mean of their scores, so that all look at the same words. Each head has scores and weights of its own.",
    scores=lambda q, k, D: _scaled(q, k, D).mean(1, keepdim=True).repeat(1, q.shape[1], 1, 1),
)
_mistake(
    "no_softmax",
    "You use the scores as weights: the softmax is missing.",
    weights=lambda scores, mask: scores * _kept(mask),
)
_mistake(
    "equal_weights",
    "All words that a word may attend to get the same weight, so each context is a plain mean of values. The scores should decide.",
    weights=lambda scores, mask: masked_softmax(0 * scores, mask),
)
_mistake(
    "scaled_after",
    "The division by √d comes after the softmax, so the weights do not sum to 1. Scale the scores, before the softmax.",
    scores=lambda q, k, D: q @ k.mT,
    contexts=lambda weights, value: weights @ value / value.shape[-1] ** 0.5,
)


# Masks

mask_unused = _mistake("mask_unused", "The mask has no effect.", other_mask=lambda mask: None)
INVERTED = 'The mask is used the wrong way round. Here True means "may attend"; nn.MultiheadAttention means the opposite by its masks, and hides where they are True.'
mask_inverted = _mistake("mask_inverted", INVERTED, other_mask=torch.logical_not)
_mistake(
    "mask_inverted_nan",
    f"{INVERTED} A word that may attend to all words then has nothing left, and the softmax of nothing but -inf gives NaN.",
    weights=lambda scores, mask: (
        scores.softmax(-1) if mask is None else scores.masked_fill(mask, -torch.inf).softmax(-1)
    ),
)
_mistake(
    "mask_inverted_level",
    f"{INVERTED} A word that may attend to all words then has scores that are all the same, and gives each word the same weight.",
    weights=lambda scores, mask: scores.softmax(-1) if mask is None else scores.masked_fill(mask, -1e9).softmax(-1),
)
mask_for_each_head = _mistake(
    "mask_for_each_head",
    "The mask B×T×S meets scores B×H×T×S as it is, so that its first axis counts heads: it fits only where there are as many sentences as heads, or one, and the second sentence's mask then hides words from the second head. Give it an axis of size 1 for the heads: B×1×T×S.",
    unsqueeze=lambda mask, heads: mask,
)
_mistake(
    "mask_repeated",
    "Sentences and heads are mixed up in the mask: if you repeat the whole batch of masks for each head, as `repeat` does, and cut that into B×H, one sentence gets another one's mask. Give the mask an axis of size 1 for the heads, B×1×T×S, or use `repeat_interleave`.",
    unsqueeze=lambda mask, heads: mask.repeat(heads, 1, 1).reshape(-1, heads, *mask.shape[1:]),
)
one_mask_for_all = _mistake(
    "one_mask_for_all_sentences",
    "You use the mask of the first sentence for all sentences. Each has its own, B×T×S.",
    other_mask=lambda mask: mask[:1].expand_as(mask),
)
_mistake(
    "one_mask_for_all_words",
    "You use the mask of each sentence's first query for all its queries. Each word that asks has its own row in the mask, B×T×S.",
    other_mask=lambda mask: mask[:, :1].expand_as(mask),
)
_mistake(
    "first_head_masked",
    "The mask is used in the first head alone. It holds for all heads.",
    unsqueeze=lambda mask, heads: torch.cat(
        [mask[:, None], torch.ones_like(mask[:, None]).repeat(1, heads - 1, 1, 1)], 1
    ),
)
_mistake(
    "masked_after",
    "The mask comes after the softmax, so the remaining weights no longer sum to 1. Take the scores out before the softmax.",
    weights=lambda scores, mask: scores.softmax(-1) * _kept(mask),
)
_mistake(
    "masked_with_zeros",
    "Masked scores become 0 or nearly 0 (-1e-9 is a tiny number, not a very negative one). exp(0) = 1 is a weight like any other. Use -inf.",
    weights=lambda scores, mask: (scores * _kept(mask)).softmax(-1),
)
_mistake(
    "mask_added",
    "You add the mask to the scores as 0 and 1. A score that is larger by 1 has a weight that is 2.7 times as large, and no weight becomes 0. Put -inf in place of the scores where the mask is False.",
    weights=lambda scores, mask: (scores if mask is None else scores + mask).softmax(-1),
)


# Output

no_output_projection = _mistake(
    "no_output_projection",
    "The output projection is missing: the joined contexts go through out_weight and out_bias.",
    out=lambda merged, weight, bias, mask: merged,
)
out_bias_forgotten = _mistake(
    "out_bias_forgotten",
    "out_bias is missing: add it after the product with out_weight.",
    out=lambda merged, weight, bias, mask: merged @ weight.mT,
)
_mistake(
    "out_weight_forgotten",
    "out_bias is added, but the product with out_weight is missing.",
    out=lambda merged, weight, bias, mask: merged + bias,
)
out_transposed = _mistake(
    "out_transposed",
    "You multiply by out_weight as it is. PyTorch keeps a weight as outputs × inputs: a vector is a row, and `vector @ weight.T` is what its layers compute.",
    out=lambda merged, weight, bias, mask: merged @ weight + bias,
)
_mistake(
    "all_transposed",
    "You multiply by the blocks of in_weight and by out_weight as they are. PyTorch keeps a weight as outputs × inputs: a vector is a row, and `vector @ weight.T` is what its layers compute.",
    project=lambda x, weight, bias: x @ weight + bias,
    out=lambda merged, weight, bias, mask: merged @ weight + bias,
)
_mistake(
    "out_bias_before_the_product",
    "You add out_bias to the contexts before the product. It is added to what the product gives.",
    out=lambda merged, weight, bias, mask: (merged + bias) @ weight.mT,
)
_mistake(
    "with_relu",
    "There is a ReLU behind the output projection. Multi-head attention ends with the projection; a ReLU belongs to the feed-forward layer of a later lesson.",
    out=lambda merged, weight, bias, mask: linear(merged, weight, bias).relu(),
)


@task.mistake(
    "You add the query itself to what comes out. That is a residual connection, which comes in a later lesson: return the output alone."
)
def query_added(query, key, value, in_weight, in_bias, out_weight, out_bias, heads, mask=None):
    cleaned = query if mask is None else query.masked_fill(~mask.any(2)[..., None], 0.0)
    return cleaned + heads_with()(query, key, value, in_weight, in_bias, out_weight, out_bias, heads, mask)


@task.mistake("You return the output and something else. Only the output is asked for, B×T×D.")
def a_pair_returned(query, key, value, in_weight, in_bias, out_weight, out_bias, heads, mask=None):
    return heads_with()(query, key, value, in_weight, in_bias, out_weight, out_bias, heads, mask), None


# Words that may attend to nothing, and words that nothing attends to


def _wrongly_emptied(of):
    """Cleaning with True and False exchanged for one of the three."""

    def clean(query, key, value, mask):
        cleaned = dict(zip(("query", "key", "value"), _clean(query, key, value, mask), strict=True))
        if mask is not None:
            given = {"query": query, "key": key, "value": value}[of]
            cleaned[of] = given.masked_fill(mask.any(2 if of == "query" else 1)[..., None], 0.0)
        return tuple(cleaned.values())

    return clean


_mistake(
    "keys_from_value_with_a_mask",
    "With a mask, the keys are made from value. They are made from key, whose words that nothing attends to become zeros.",
    clean=lambda query, key, value, mask: _clean(query, key if mask is None else value, value, mask),
)
_mistake(
    "values_from_key_with_a_mask",
    "With a mask, the values are made from key. They are made from value, whose words that nothing attends to become zeros.",
    clean=lambda query, key, value, mask: _clean(query, key, value if mask is None else key, mask),
)
for _name, _places in {
    "query": "the queries of words that may attend to something",
    "key": "the keys of words that something attends to",
    "value": "the values of words that something attends to",
}.items():
    _mistake(
        f"{_name}_wrongly_emptied",
        f"With a mask, you put zeros into {_places}. Zeros belong where the mask is False throughout.",
        clean=_wrongly_emptied(_name),
    )

EMPTY = "A word that may attend to nothing takes nothing: its contexts are zeros, and out_bias comes out."
GARBAGE = "Where no word may attend to a word, its key and value may be NaN or infinite, and 0 times NaN is NaN: a weight of 0 does not keep it out. Put zeros in place of what no word attends to, and of queries that may attend to nothing, before you compute anything."


def _filled(number, zeroed=False):
    """Weights where masked scores become a number; with zeros for the weights of False places."""

    def weights(scores, mask):
        shares = _masked(scores, mask, number).softmax(-1)
        return shares * _kept(mask) if zeroed else shares

    return weights


empty_row_nan = _mistake(
    "empty_row_nan",
    f"A word that may attend to nothing gives NaN: the softmax of nothing but -inf is 0/0. {EMPTY}",
    weights=_filled(-torch.inf),
)
_mistake(
    "empty_row_uniform",
    f"A word that may attend to nothing attends to everything: a very negative but finite number makes all its scores equal. {EMPTY}",
    weights=_filled(-1e9),
)


def _with_empty_rows_zero(merged, weight, bias, mask):
    output = linear(merged, weight, bias)
    return output if mask is None else output.masked_fill(~mask.any(2)[..., None], 0.0)


empty_row_without_bias = _mistake(
    "empty_row_without_bias",
    "A word that may attend to nothing gives zeros. Its contexts are zeros, and they go through the output projection like any others: out_bias comes out.",
    out=_with_empty_rows_zero,
)
_mistake("garbage_times_zero", GARBAGE, clean=_no_cleaning)
_mistake(
    "fill_undercut",
    "Masked scores become a finite number, such as -1000. That is not -inf: the honest scores can be lower, and then masked words take the weight. Only -inf lies below every score.",
    weights=_filled(-1000.0, zeroed=True),
)


def _overflowing(least):
    def weights(scores, mask):
        e = scores.exp() * _kept(mask)
        return e / (e.sum(-1, keepdim=True) + least)

    return weights


overflow = _mistake(
    "overflow",
    "exp overflows: for a score above about 88 it is infinite in float32, and infinity divided by infinity is NaN. torch.softmax takes scores of any size; by hand, subtract each row's largest allowed score first.",
    weights=_overflowing(1e-30),
)
