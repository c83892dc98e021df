"""Task 21.grouped_query_attention: heads that share keys and values in groups (Ainslie et al. 2023)."""

from operator import matmul, truediv
from types import SimpleNamespace

import torch
import torch.nn.functional as F

from course_utils.checks.running.contract import Case
from course_utils.checks.task import Task
from course_utils.models.attention import causal_mask
from course_utils.tasks.shares import USUAL

task = Task(
    "21.grouped_query_attention",
    "heads that share keys and values",
    arguments=("query B×H×T×d", "key B×G×S×d", "value B×G×S×d", "mask B×T×S"),
    result="contexts B×H×T×d",
    difficulty=3,
    importance=5,
    minutes=25,
    hints=(
        "Each head has its own queries, and only keys and values are shared. With H heads and G groups, H/G heads that stand side by side share one group. Either give each head a copy of its group's keys and values, or cut the axis of heads into two, groups and the heads of a group, and let the keys have an axis of size 1 there. The rest is scaled attention with a mask, for all heads at once.",
        (
            "Take 4 heads and 2 groups: heads 0 and 1 use group 0, heads 2 and 3 use group 1. There are two keys, [0] and [1.0986], in both groups; the values of group 0 are [4] and [8], those of group 1 are [10] and [20]. Each head has the query [1], so each has the scores 0 and 1.0986 and the weights 0.25 and 0.75. "
            "Heads 0 and 1 get 0.25·4 + 0.75·8 = 7, heads 2 and 3 get 2.5 + 15 = 17.5: the contexts are 7, 7, 17.5, 17.5. If head h used group h % 2, they would be 7, 17.5, 7, 17.5."
        ),
        "Repeat each group of key and of value H/G times along the axis of groups, so that copies stand side by side. scores = query times key transposed, divided by the root of d; give the mask an axis of size 1 for the heads; minus infinity where it is False; softmax over the last axis; times value.",
    ),
    partial=USUAL,
)


def _inputs(draw, B, H, G, T, S, d, mask=None, dtype=torch.float32):
    random = lambda *shape: torch.randn(shape, generator=draw.generator, dtype=torch.float64).to(dtype)  # noqa: E731
    mask = draw.mask(B, T, S) if mask is None else mask
    return 1.5 * random(B, H, T, d), random(B, G, S, d), random(B, G, S, d) + 0.5, mask


# Sizes B, H, G, T, S, d: tiny first, where wrong axes do not fit one another, then all
LADDER = (
    (1, 4, 2, 1, 2, 1),
    (1, 4, 2, 3, 2, 2),
    (2, 4, 2, 1, 3, 2),
    (1, 6, 2, 2, 3, 2),
    (1, 6, 3, 2, 5, 3),
    (2, 6, 3, 5, 7, 11),
)


@task.cases
def _(draw):
    for dims in LADDER:
        size, full = SimpleNamespace(**dict(zip("BHGTSd", dims, strict=True))), dims == LADDER[-1]
        name = f"B={size.B}, {size.H} heads in {size.G} groups, T={size.T}, S={size.S}, width {size.d} of a head"
        everything = torch.ones(size.B, size.T, size.S, dtype=torch.bool)
        yield Case(f"{name}, everything allowed", _inputs(draw, *dims, everything), full)
        yield Case(f"{name}, with a mask", _inputs(draw, *dims), full)
    causal = causal_mask(5).repeat(2, 1, 1)
    yield Case("each position sees itself and earlier ones", _inputs(draw, 2, 4, 2, 5, 5, 3, causal))
    yield Case("as many groups as heads in a group", _inputs(draw, 3, 9, 3, 2, 5, 2))
    yield Case("as many sentences as heads", _inputs(draw, 4, 4, 2, 3, 5, 3))
    yield Case("one group for all heads", _inputs(draw, 2, 3, 1, 2, 5, 3), True, edge=True)
    yield Case("as many groups as heads", _inputs(draw, 2, 3, 3, 2, 5, 3), True, edge=True)
    yield Case("a single head", _inputs(draw, 2, 1, 1, 2, 5, 3), edge=True)
    yield Case("a single key", _inputs(draw, 2, 4, 2, 3, 1, 3), edge=True)
    yield Case("200 keys", _inputs(draw, 1, 4, 2, 3, 200, 2), edge=True)
    yield Case("float64 numbers", _inputs(draw, 2, 4, 2, 3, 5, 3, dtype=torch.float64), True, edge=True)
    # Width 1: the largest scores are hidden, and those that are allowed lie far apart.
    query, mask = (
        torch.tensor([100.0, -110.0]).expand(1, 4, 2)[..., None],
        torch.tensor([[[False, True, True], [True, True, False]]]),
    )
    key = torch.tensor([100.0, -100.0, -70.0]).expand(1, 2, 3)[..., None]
    yield Case("scores of ±10,000", (query.clone(), key.clone(), draw.numbers(1, 2, 3, 1) + 0.25, mask), hazard=True)


@task.oracle
def _(query, key, value, mask):
    H, G = query.shape[1], key.shape[1]
    heads = [
        F.scaled_dot_product_attention(query[:, h], key[:, h * G // H], value[:, h * G // H], mask) for h in range(H)
    ]
    return torch.stack(heads, 1)


@task.steps
def _(query, key, value, mask):
    own_keys = yield "the keys of each head", _own, key, query.shape[1]
    own_values = yield "the values of each head", _own, value, query.shape[1]
    products = yield "the products of queries and keys", lambda q, k: q @ k.mT, query, own_keys
    root = yield "the square root of d", pow, query.shape[-1], 0.5
    scores = yield "the scores", truediv, products, root
    masked = yield "the masked scores", lambda s, m: s.masked_fill(~m[:, None], -torch.inf), scores, mask
    weights = yield "the softmax", lambda scores: scores.softmax(-1), masked
    contexts = yield "the contexts", matmul, weights, own_values
    return contexts


# Right attention, of which mistakes change one part


def _own(shared, heads):
    """Keys or values as each head uses them: B×G×S×d → B×H×S×d."""
    return shared.repeat_interleave(heads // shared.shape[1], 1)


def _in_turn(shared, heads):
    return shared.repeat(1, heads // shared.shape[1], 1, 1)


def _scaled(query, key, G):
    return query @ key.mT / query.shape[-1] ** 0.5


def _softmax(scores, mask):
    return scores.masked_fill(~mask[:, None], -torch.inf).softmax(-1)


def _attend(
    query,
    key,
    value,
    mask,
    keys=_own,
    values=_own,
    scores=_scaled,
    weights=_softmax,
    ending=lambda contexts, G: contexts,
):
    H, G = query.shape[1], key.shape[1]
    return ending(weights(scores(query, keys(key, H), G), mask) @ values(value, H), G)


def _mistake(name, sentence, **parts):
    task.mistake(sentence, name)(lambda query, key, value, mask: _attend(query, key, value, mask, **parts))


def _both(name, sentence, own):
    _mistake(name, sentence, keys=own, values=own)


_both(
    "groups_in_turn",
    "Head h uses group h % G, so that heads side by side use different groups. It should use group h // (H/G): the first H/G heads share group 0. `repeat` copies all groups one after another; `repeat_interleave` puts the copies of each group side by side.",
    _in_turn,
)
_mistake(
    "keys_in_turn",
    "Head h uses the keys of group h % G, and the values of group h // (H/G). Both come from group h // (H/G).",
    keys=_in_turn,
)
_mistake(
    "values_in_turn",
    "Head h uses the values of group h % G, and the keys of group h // (H/G). Both come from group h // (H/G).",
    values=_in_turn,
)
_both(
    "groups_in_reverse",
    "The first heads use the last group, and the last heads the first. Head h uses group h // (H/G).",
    lambda shared, heads: _own(shared.flip(1), heads),
)
_both(
    "first_group_for_all",
    "All heads use the keys and values of group 0. Head h uses those of group h // (H/G).",
    lambda shared, heads: shared[:, :1].expand(-1, heads, -1, -1),
)
_both(
    "mean_of_groups",
    "All heads use the mean of the groups' keys and values. Each head uses one group as it is: head h uses group h // (H/G).",
    lambda shared, heads: shared.mean(1, keepdim=True).expand(-1, heads, -1, -1),
)
_both(
    "h_over_G",
    "Head h uses group h // G. That is right only where G groups have G heads each: divide h by the number of heads in a group, which is H/G.",
    lambda shared, heads: shared[:, [min(h // shared.shape[1], shared.shape[1] - 1) for h in range(heads)]],
)
_both(
    "another_sentences_groups",
    "Sentences and groups are mixed up when you copy the groups: `view` and `reshape` move nothing, so the axes have to be in the right order before.",
    lambda shared, heads: shared.repeat(heads // shared.shape[1], 1, 1, 1).reshape(
        shared.shape[0], heads, *shared.shape[2:]
    ),
)
_mistake(
    "one_query_for_a_group",
    "All heads of a group use the mean of their queries, so they get the same context. Each head has a query of its own; only keys and values are shared.",
    scores=lambda q, k, G: _scaled(_own(q.unflatten(1, (G, -1)).mean(2), q.shape[1]), k, G),
)
_mistake(
    "weights_averaged_in_a_group",
    "All heads of a group use the mean of their weights. Each head has weights of its own; only keys and values are shared.",
    ending=lambda contexts, G: _own(contexts.unflatten(1, (G, -1)).mean(2), contexts.shape[1]),
)
_mistake(
    "one_context_for_a_group",
    "You return one context for each group, the mean of its heads'. Each of the H heads has its own.",
    ending=lambda contexts, G: contexts.unflatten(1, (G, -1)).mean(2),
)
_mistake(
    "heads_returned_in_another_order",
    "The contexts come back in another order of heads: with the first heads of all groups first, then the second ones. Put them together as they were cut: group by group.",
    ending=lambda contexts, G: contexts.unflatten(1, (G, -1)).transpose(1, 2).flatten(1, 2),
)
_mistake(
    "heads_and_words_exchanged",
    "Heads and positions are exchanged in what you return. Return B×H×T×d.",
    ending=lambda contexts, G: contexts.transpose(1, 2),
)
_mistake(
    "joined",
    "You return the heads side by side, B×T×(H·d). Return them with an axis of their own: B×H×T×d.",
    ending=lambda contexts, G: contexts.transpose(1, 2).flatten(2),
)
for _name, _sentence, _divisor in (
    ("divided_by_root_of_D", "You divide the scores by the root of the model's width, H·d. Divide by √d, where d is the width of a head.", lambda q, k, G: (q.shape[1] * q.shape[-1]) ** 0.5),
    ("divided_by_root_of_shared_width", "You divide the scores by the root of G·d. Divide by √d, where d is the width of a head.", lambda q, k, G: (G * q.shape[-1]) ** 0.5),
    ("not_divided", "The division by √d is missing: divide the scores by it before the softmax.", lambda q, k, G: 1),
    ("multiplied_by_root_of_d", "You multiply the scores by √d. Divide them by it.", lambda q, k, G: q.shape[-1] ** -0.5),
    ("divided_by_root_of_heads", "You divide the scores by the root of the number of heads. Divide by √d, where d is the width of a head, the last axis.", lambda q, k, G: q.shape[1] ** 0.5),
    ("divided_by_root_of_positions", "You divide the scores by the root of the number of queries. Divide by √d, where d is the width of a head, the last axis.", lambda q, k, G: q.shape[2] ** 0.5),
    ("divided_by_root_of_keys", "You divide the scores by the root of the number of keys. Divide by √d, where d is the width of a head, the last axis.", lambda q, k, G: k.shape[2] ** 0.5),
    ("divided_by_d", "You divide the scores by d. Divide by its root, √d.", lambda q, k, G: q.shape[-1]),
):  # fmt: skip
    _mistake(_name, _sentence, scores=lambda q, k, G, divisor=_divisor: q @ k.mT / divisor(q, k, G))
for _name, _sentence, _weights in (
    ("mask_turned_round", "The mask is turned round: you hide what is True. True means “may attend”.", lambda s, m: _softmax(s, ~m | ~m.any(-1, keepdim=True) | m.all(-1, keepdim=True))),
    ("mask_turned_round_with_nan", "The mask is turned round: you hide what is True, and where everything is allowed, that leaves nothing and gives NaN. True means “may attend”.", lambda s, m: _softmax(s, ~m)),
    ("mask_unused", "The mask has no effect. Hide the scores at which it is False before the softmax.", lambda s, m: s.softmax(-1)),
    ("masked_afterwards", "The mask comes after the softmax, so hidden keys keep their share of the total and the weights do not sum to 1. Hide the scores, before the softmax.", lambda s, m: s.softmax(-1) * m[:, None]),
    ("zeros_in_place_of_hidden_scores", "You put 0 in place of hidden scores, and a score of 0 has a weight. Put minus infinity there.", lambda s, m: (s * m[:, None]).softmax(-1)),
    ("first_sentences_mask", "All sentences use the mask of the first one. Each has its own: give the mask an axis of size 1 for the heads, behind the axis of the batch.", lambda s, m: _softmax(s, m[:1])),
    ("softmax_over_queries", "Your softmax runs over the queries. It runs over the keys, the last axis.", lambda s, m: s.masked_fill(~m[:, None], -torch.inf).softmax(-2).nan_to_num()),
    ("softmax_over_heads", "Your softmax runs over the heads. It runs over the keys, the last axis.", lambda s, m: s.masked_fill(~m[:, None], -torch.inf).softmax(1).nan_to_num()),
    ("overflow", "exp overflows: for a score above about 88 it is infinite in float32. torch.softmax takes scores of any size.", lambda s, m: (s.exp() * m[:, None]) / (s.exp() * m[:, None]).sum(-1, keepdim=True)),
):  # fmt: skip
    _mistake(_name, _sentence, weights=_weights)
