"""Task 13.cached_step: the newest word attends to itself and to the words before it, whose keys and values are kept."""

from operator import truediv

import torch
import torch.nn.functional as F

from course_utils.checks.running.contract import Case
from course_utils.checks.task import Task, count
from course_utils.models.plain import merge_heads, split_heads
from course_utils.tasks.lesson_10.multi_head_attention import blocks_of, joining, linear, projecting
from course_utils.tasks.shares import USUAL

TRANSPOSED = (
    "PyTorch keeps a weight as outputs × inputs: a vector is a row, and `vector @ weight.T` is what its layers compute."
)
BLOCKS = "in_weight and in_bias hold the block of the queries, then that of the keys, then that of the values."

task = Task(
    "13.cached_step",
    "one new word, with keys and values kept",
    arguments=(
        "x B×1×D",
        "keys B×H×t×d",
        "values B×H×t×d",
        "in_weight 3·D×D",
        "in_bias 3·D",
        "out_weight D×D",
        "out_bias D",
    ),
    result=("output B×1×D", "keys B×H×(t+1)×d", "values B×H×(t+1)×d"),
    difficulty=3,
    importance=4,
    minutes=25,
    hints=(
        "In causal self-attention a word's key and value never change when further words come, so they can be kept. Only the new word has to be projected: into a query, a key and a value, cut into heads. Its key and its value go behind those that are kept, and then its query looks at all of them. No mask is needed, as there is nothing later than the new word.",
        (
            "Take one head of width 1, all blocks of in_weight [1], and out_weight [1], with biases of 0. Kept is one word, with the key [1] and the value [4]; the new word is [2]. Its query, key and value are all 2. Behind what is kept stand the keys 1, 2 and the values 4, 2. The scores are 2·1 = 2 and 2·2 = 4, their softmax 0.1192 and 0.8808. "
            "The output is 0.1192·4 + 0.8808·2 = 2.2384, and the keys [1, 2] and the values [4, 2] are kept for the next word."
        ),
        "projected = x times in_weight transposed, plus in_bias: B×1×3D. Cut it along the last axis into query, key and value, each B×1×D; each of them into H parts of width d, with the axis of heads in front of that of words: B×H×1×d. keys = keys with the new key behind them, along the axis of words; values likewise. scores = query times keys with their last two axes exchanged, divided by the root of d; softmax over the last axis; times values. Put the heads side by side again, B×1×D; times out_weight transposed, plus out_bias.",
    ),
    partial=USUAL,
)


@task.property
def what_is_kept_stays_in_front(case, value):
    """The old keys and values come first, as they were."""
    for name, kept, returned in zip(("keys", "values"), case.args[1:3], value[1:], strict=True):
        t = kept.shape[2]
        if returned.shape[2] == t + 1 and not torch.allclose(returned[:, :, :t].to(kept), kept, atol=1e-4, rtol=1e-4):
            return f"The first {t} of the {name} that you return should be those that came in, in the same order; yours are others."
    return None


def _inputs(draw, B, t, H, d, dtype=torch.float32):
    D = H * d
    random = lambda *shape: torch.randn(shape, generator=draw.generator, dtype=torch.float64).to(dtype)  # noqa: E731
    x, keys, values = random(B, 1, D), random(B, H, t, d), random(B, H, t, d)
    in_weight, out_weight = random(3 * D, D) * 1.2 / D**0.5, random(D, D) / D**0.5
    return x, keys, values, in_weight, random(3 * D) / 2 + 0.125, out_weight, random(D) + 0.125


# Sizes B, t, H, d: tiny first, where wrong axes do not fit one another, then one longer or shorter at a time, then all
LADDER = ((2, 3, 2, 2), (1, 3, 2, 2), (2, 2, 2, 2), (2, 1, 2, 3), (1, 3, 3, 2), (2, 5, 3, 7))


@task.cases
def _(draw):
    for dims in LADDER:
        B, t, H, d = dims
        name = f"{count(B, 'sentence')}, {count(t, 'word')} before, {H} heads of width {d}"
        yield Case(name, _inputs(draw, *dims), dims == LADDER[-1])
    yield Case("as many sentences as heads", _inputs(draw, 3, 4, 3, 2))
    yield Case("as many words before as the width of a head", _inputs(draw, 2, 3, 2, 3))
    yield Case("the first word: nothing is kept yet", _inputs(draw, 2, 0, 3, 2), True, edge=True)
    yield Case("a single head", _inputs(draw, 2, 3, 1, 4), True, edge=True)
    yield Case("heads of width 1", _inputs(draw, 2, 3, 4, 1), True, edge=True)
    yield Case("200 words before", _inputs(draw, 1, 200, 2, 2), edge=True)
    x, keys, values, *rest = _inputs(draw, 2, 3, 2, 2)
    far = torch.stack([draw.distinct(3, -2, 3) for _ in range(8)]).reshape(2, 2, 2, 3).mT * 1e4 + keys
    yield Case("keys near ±10,000", (x, far, values, *rest), hazard=True)
    yield Case("float64 numbers", _inputs(draw, 2, 3, 2, 3, torch.float64), True, edge=True)


@task.oracle
def _(x, keys, values, in_weight, in_bias, out_weight, out_bias):
    (_, H, _, d), D = keys.shape, x.shape[2]
    new = F.linear(x, in_weight, in_bias)
    of_head = lambda part, h: new[:, :, part * D + h * d : part * D + (h + 1) * d]  # noqa: E731
    all_keys = [torch.cat([keys[:, h], of_head(1, h)], 1) for h in range(H)]  # B t+1 d each
    all_values = [torch.cat([values[:, h], of_head(2, h)], 1) for h in range(H)]
    contexts = [F.scaled_dot_product_attention(of_head(0, h), all_keys[h], all_values[h]) for h in range(H)]
    output = F.linear(torch.cat(contexts, 2), out_weight, out_bias)
    return output, torch.stack(all_keys, 1), torch.stack(all_values, 1)


@task.steps
def _(x, keys, values, in_weight, in_bias, out_weight, out_bias):
    H, parts = keys.shape[1], []
    for place, name in enumerate(("query", "key", "value")):
        part = yield from projecting(name, place, x, in_weight, in_bias, H, "word")
        parts.append(part)
    query, key, value = parts
    keys = yield "all keys", _behind, keys, key
    values = yield "all values", _behind, values, value
    products = yield "the products of query and keys", lambda q, k: q @ k.mT, query, keys
    root = yield "the square root of d", pow, query.shape[-1], 0.5
    scores = yield "the scores", truediv, products, root
    weights = yield "the softmax", lambda scores: scores.softmax(-1), scores
    output = yield from joining(weights, values, out_weight, out_bias)
    return output, keys, values


# A right step, of which mistakes change one part


def _behind(kept, new):
    return torch.cat([kept, new], 2)


def _attend(query, keys, values, D):
    return (query @ keys.mT / query.shape[-1] ** 0.5).softmax(-1) @ values


def _step(
    blocks=blocks_of,
    project=linear,
    split=split_heads,
    made=lambda q, k, v, x: (q, k, v),
    join=_behind,
    join_values=None,
    seen=lambda all_of_them, old, new: all_of_them,
    attend=_attend,
    merge=merge_heads,
    out=linear,
    kept=lambda all_of_them, old, new: all_of_them,
    returned=lambda output, keys, values: (output, keys, values),
):
    def cached_step(x, keys, values, in_weight, in_bias, out_weight, out_bias):
        H = keys.shape[1]
        projected = (split(project(x, *pair), H) for pair in blocks(in_weight, in_bias))
        query, key, value = made(*projected, split(x, H))
        both = ((join(keys, key), keys, key), ((join_values or join)(values, value), values, value))
        contexts = attend(query, *(seen(*each) for each in both), x.shape[2])
        return returned(out(merge(contexts), out_weight, out_bias), *(kept(*each) for each in both))

    return cached_step


def _mistake(name, sentence, **parts):
    task.mistake(sentence, name)(_step(**parts))


# What is kept, and what is seen

_mistake(
    "past_alone",
    "The new word attends to the words before it alone. In causal self-attention a word also attends to itself: its key and value belong there before the scores are computed.",
    seen=lambda all_of_them, old, new: old,
)
_mistake(
    "new_word_not_kept",
    "The new word attends to the words before it alone, and its key and value are not kept either: you return the keys and values that came in. Put the new ones behind them first.",
    seen=lambda all_of_them, old, new: old,
    kept=lambda all_of_them, old, new: old,
)
_mistake(
    "old_ones_returned",
    "The output is right, but you return the keys and values that came in, so the next word would not see this one. Return them with the new ones behind.",
    kept=lambda all_of_them, old, new: old,
)
_mistake(
    "new_ones_returned",
    "The output is right, but you return the key and the value of the new word alone. The next word needs those before it too: return all of them.",
    kept=lambda all_of_them, old, new: new,
)
_mistake(
    "itself_alone",
    "The new word attends to itself alone, so that the words before it have no effect on the output. Its query should see all keys.",
    seen=lambda all_of_them, old, new: new,
)
_mistake(
    "first_word_alone",
    "The new word attends to the first of all words alone. A causal mask of one row allows the first place: the row of the last word would be needed, which allows everything. Leave the mask out (also `is_causal=True`): nothing comes after the new word.",
    attend=lambda q, k, v, D: _attend(q, k[:, :, :1], v[:, :, :1], D),
)
_mistake(
    "put_in_front",
    "The new key and value stand in front of the others. Put them behind, so that words stay in their order.",
    join=lambda kept, new: torch.cat([new, kept], 2),
)
_mistake(
    "values_in_front",
    "The new key stands behind the others and the new value in front, so that keys and values no longer belong together. Put both behind.",
    join_values=lambda kept, new: torch.cat([new, kept], 2),
)
_mistake(
    "newest_replaced",
    "The new key and value take the place of those of the word before. Put them behind, as one more.",
    join=lambda kept, new: torch.cat([kept[:, :, :-1], new], 2),
)
_mistake(
    "oldest_dropped",
    "The oldest key and value are dropped when the new ones are put behind. Keep all.",
    join=lambda kept, new: torch.cat([kept[:, :, 1:], new], 2),
)
_mistake(
    "kept_twice",
    "The new key and value are put behind the others twice, so the new word counts twice.",
    join=lambda kept, new: torch.cat([kept, new, new], 2),
)
_mistake(
    "caches_exchanged",
    "What is kept as keys serves as values, and the other way round.",
    attend=lambda q, k, v, D: _attend(
        q, torch.cat([v[:, :, :-1], k[:, :, -1:]], 2), torch.cat([k[:, :, :-1], v[:, :, -1:]], 2), D
    ),
)
_mistake(
    "first_sentence_for_all",
    "All sentences use the keys and values of the first one. Each has its own.",
    join=lambda kept, new: torch.cat([kept[:1].expand_as(kept), new], 2),
)
_mistake(
    "word_itself_kept",
    "You keep the word as it came in, cut into heads, as its own key and value. Keep what the projections make of it.",
    made=lambda q, k, v, x: (q, x, x),
)
_mistake(
    "value_not_projected",
    "You keep the word as it came in, cut into heads, as its value. Its value is what the third block of in_weight makes of it.",
    made=lambda q, k, v, x: (q, k, x),
)
_mistake(
    "query_not_projected",
    "The query is the word as it came in, cut into heads. It should be what the first block of in_weight makes of it.",
    made=lambda q, k, v, x: (x, k, v),
)


@task.mistake(
    "You project the keys and values that are kept once more. They have been projected when they were new: use them as they are."
)
def projected_again(x, keys, values, in_weight, in_bias, out_weight, out_bias):
    H, (_, of_keys, of_values) = keys.shape[1], blocks_of(in_weight, in_bias)
    again = [split_heads(linear(merge_heads(kept), *pair), H) for kept, pair in ((keys, of_keys), (values, of_values))]
    return _step()(x, *again, in_weight, in_bias, out_weight, out_bias)


# Projections

ORDER = {
    "key_and_value_exchanged": ((0, 2, 1), f"The blocks of keys and values are exchanged. {BLOCKS}"),
    "query_and_key_exchanged": ((1, 0, 2), f"The blocks of queries and keys are exchanged. {BLOCKS}"),
    "blocks_in_reverse": ((2, 1, 0), f"The blocks of queries and values are exchanged. {BLOCKS}"),
    "key_first": ((2, 0, 1), f"You take the third block for the query, the first for the key and the second for the value. {BLOCKS}"),
    "value_first": ((1, 2, 0), f"You take the second block for the query, the third for the key and the first for the value. {BLOCKS}"),
    "query_for_all": ((0, 0, 0), f"The block of the queries serves for query, key and value. {BLOCKS}"),
}  # fmt: skip
for _name, (_order, _sentence) in ORDER.items():
    _mistake(_name, _sentence, blocks=lambda w, b, order=_order: [blocks_of(w, b)[i] for i in order])
_mistake(
    "interleaved_blocks",
    "You take every third row of in_weight and every third number of in_bias for the query, the ones behind them for the key, and so on. The first D rows are for the query, the next D for the key, the last D for the value.",
    blocks=lambda w, b: [(w[i::3], b[i::3]) for i in range(3)],
)
_mistake(
    "blocks_transposed",
    f"You multiply by the blocks of in_weight as they are. {TRANSPOSED}",
    project=lambda x, weight, bias: x @ weight + bias,
)
_mistake(
    "out_transposed",
    f"You multiply by out_weight as it is. {TRANSPOSED}",
    out=lambda merged, weight, bias: merged @ weight + bias,
)
_mistake(
    "all_transposed",
    f"You multiply by the blocks of in_weight and by out_weight as they are. {TRANSPOSED}",
    project=lambda x, weight, bias: x @ weight + bias,
    out=lambda merged, weight, bias: merged @ weight + bias,
)
_mistake(
    "biases_forgotten",
    "in_bias and out_bias are missing. Each projection adds its bias after the product.",
    project=lambda x, weight, bias: x @ weight.mT,
    out=lambda merged, weight, bias: merged @ weight.mT,
)
_mistake(
    "in_bias_forgotten",
    "in_bias is missing: query, key and value each have their part of it added after the product.",
    project=lambda x, weight, bias: x @ weight.mT,
)
_mistake(
    "out_bias_forgotten",
    "out_bias is missing: add it after the product with out_weight.",
    out=lambda merged, weight, bias: merged @ weight.mT,
)
_mistake(
    "no_output_projection",
    "The output projection is missing: the joined contexts go through out_weight and out_bias.",
    out=lambda merged, weight, bias: merged,
)


@task.mistake(
    "You add the word itself to the output. That is a residual connection, which stands around attention: return the output alone."
)
def word_added(x, *rest):
    output, keys, values = _step()(x, *rest)
    return x + output, keys, values


# Heads


def _every_nth(x, heads):
    B, T, D = x.shape
    return x.reshape(B, T, D // heads, heads).permute(0, 3, 1, 2)


_mistake(
    "interleaved",
    "Your heads are interleaved: head 0 gets every H-th number of a vector. It should get the first d numbers, which stand side by side, and head 1 the next d.",
    split=_every_nth,
)
_mistake(
    "merged_in_another_order",
    "When you join the heads, the first numbers of all heads stand side by side, then the second ones. The whole context of head 0 comes first, then that of head 1.",
    merge=lambda contexts: contexts.permute(0, 2, 3, 1).flatten(2),
)
_mistake(
    "sentences_mixed",
    "When you cut the projected words, sentences and heads are mixed up: `view` and `reshape` move nothing, so the axis of sentences has to stay the first one when you cut.",
    split=lambda x, heads: x.reshape(heads, x.shape[0], 1, -1).transpose(0, 1),
)
_mistake(
    "weights_averaged",
    "All heads use the mean of their weights, so that all look at the same words. Each head has weights of its own.",
    attend=lambda q, k, v, D: (q @ k.mT / q.shape[-1] ** 0.5).softmax(-1).mean(1, keepdim=True) @ v,
)
_mistake(
    "scores_summed_over_heads",
    "The heads' scores are added up, as if there were a single head, so that all look at the same words. Each head has scores of its own.",
    attend=lambda q, k, v, D: (q @ k.mT / q.shape[-1] ** 0.5).sum(1, keepdim=True).softmax(-1) @ v,
)


# Scores and weights

for _name, _sentence, _divisor in (
    ("divided_by_root_of_D", "You divide the scores by √D. Each head works with vectors of width d = D/H: divide by √d.", lambda d, D, n: D**0.5),
    ("not_divided", "The division by √d is missing: divide the scores by it before the softmax.", lambda d, D, n: 1),
    ("divided_by_d", "You divide the scores by d. Divide by its root, √d.", lambda d, D, n: d),
    ("divided_by_root_of_words", "You divide the scores by the root of the number of words. Divide by √d, where d is the width of a head.", lambda d, D, n: n**0.5),
):  # fmt: skip
    _mistake(
        _name,
        _sentence,
        attend=lambda q, k, v, D, divisor=_divisor: (q @ k.mT / divisor(q.shape[-1], D, k.shape[2])).softmax(-1) @ v,
    )
for _name, _sentence, _axis in (
    ("softmax_over_queries", "Your softmax runs over the axis of the query, which is alone there, so each word has a weight of 1. It runs over the keys, the last axis.", 2),
    ("softmax_over_heads", "Your softmax runs over the heads, so they compete with one another. It runs over the keys, the last axis.", 1),
    ("softmax_over_batch", "Your softmax runs over the batch, so sentences compete with one another. It runs over the keys, the last axis.", 0),
):  # fmt: skip
    _mistake(
        _name,
        _sentence,
        attend=lambda q, k, v, D, axis=_axis: (q @ k.mT / q.shape[-1] ** 0.5).softmax(axis) @ v,
    )
_mistake(
    "no_softmax",
    "You use the scores as weights: the softmax is missing.",
    attend=lambda q, k, v, D: q @ k.mT / q.shape[-1] ** 0.5 @ v,
)
_mistake(
    "equal_weights",
    "All words get the same weight, so each context is a plain mean of values. The scores should decide.",
    attend=lambda q, k, v, D: v.mean(2, keepdim=True),
)
_mistake(
    "scaled_after",
    "The division by √d comes after the softmax, so the weights do not sum to 1. Scale the scores, before the softmax.",
    attend=lambda q, k, v, D: (q @ k.mT).softmax(-1) / q.shape[-1] ** 0.5 @ v,
)


def _exponentials(q, k, v, D):
    e = (q @ k.mT / q.shape[-1] ** 0.5).exp()
    return e / e.sum(-1, keepdim=True) @ v


_mistake(
    "overflow",
    "exp overflows: for a score above about 88 it is infinite in float32, and infinity divided by infinity is NaN. torch.softmax takes scores of any size; by hand, subtract each row's largest score first.",
    attend=_exponentials,
)


# What is returned

_mistake(
    "values_before_keys",
    "You return the values before the keys. Return the output, then the keys, then the values.",
    returned=lambda output, keys, values: (output, values, keys),
)
_mistake(
    "output_last",
    "The output comes last. Return the output, then the keys, then the values.",
    returned=lambda output, keys, values: (keys, values, output),
)
_mistake(
    "output_alone",
    "You return the output alone. Return the keys and the values as well, with the new ones behind, for the next word.",
    returned=lambda output, keys, values: output,
)
_mistake(
    "axis_of_words_lost",
    "The output has lost the axis of words. It is B×1×D, as the word that came in.",
    returned=lambda output, keys, values: (output[:, 0], keys, values),
)
