"""Task 22.grouped_query_attention: heads that share keys and values in groups (Ainslie et al. 2023)."""

from itertools import product
from operator import matmul, truediv
from types import SimpleNamespace

import torch
import torch.nn.functional as F

from course_lessons.shared.mask_mistakes import filled, masked_softmax_mistakes, plus_infinity_mistakes
from course_lessons.shared.partial_credit import USUAL
from course_lessons.shared.weight_properties import outside_the_values
from course_utils.checks.reference_trace import left_out
from course_utils.checks.running.contract import Case
from course_utils.checks.task import Task
from course_utils.models.attention import causal_mask

task = Task(
    "22.grouped_query_attention",
    "heads that share keys and values",
    arguments=("query B×H×T×d", "key B×G×S×d", "value B×G×S×d", "mask B×T×S"),
    result="contexts B×H×T×d",
    difficulty=3,
    importance=5,
    minutes=25,
    hints=(
        "Each head has its own queries; only keys and values are shared. With H heads and G groups, H/G neighbouring heads share one group. Either give each head a copy of its group's keys and values, or split the axis of heads into two, groups and the heads of a group, and give the keys an axis of size 1 there. The rest is scaled attention with a mask, for all heads at once.",
        (
            "Take 4 heads and 2 groups: heads 0 and 1 use group 0, heads 2 and 3 use group 1. There are two keys, [0] and [1.0986], in both groups; the values of group 0 are [4] and [8], and the values of group 1 are [10] and [20]. Each head has the query [1], so each has the scores 0 and 1.0986 and the weights 0.25 and 0.75. "
            "Heads 0 and 1 get 0.25·4 + 0.75·8 = 7, heads 2 and 3 get 2.5 + 15 = 17.5: the contexts are 7, 7, 17.5, 17.5. If head h used group h % 2, they would be 7, 17.5, 7, 17.5."
        ),
        "Repeat each group of key and of value H/G times along the axis of groups, so that copies are side by side. scores = query times key transposed, divided by the root of d; add an axis of size 1 to the mask for the heads; minus infinity where it is False; softmax over the last axis; times value.",
    ),
    partial=USUAL,
)


def _inputs(draw, B, H, G, T, S, d, mask=None, dtype=torch.float32):
    mask = draw.mask(B, T, S) if mask is None else mask
    return (
        1.5 * draw.normal(B, H, T, d, dtype=dtype),
        draw.normal(B, G, S, d, dtype=dtype),
        draw.normal(B, G, S, d, dtype=dtype) + 0.5,
        mask,
    )


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
        name = f"B={size.B}, {size.H} heads in {size.G} groups, T={size.T}, S={size.S}, head width {size.d}"
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
    yield Case("float64 numbers", _inputs(draw, 2, 4, 2, 3, 5, 3, dtype=torch.float64), True, hazard=True)
    # Width 1: the largest scores are hidden, and those that are allowed lie far apart.
    query, mask = (
        torch.tensor([100.0, -110.0]).expand(1, 4, 2)[..., None],
        torch.tensor([[[False, True, True], [True, True, False]]]),
    )
    key = torch.tensor([100.0, -100.0, -70.0]).expand(1, 2, 3)[..., None]
    yield Case(
        "very large scores, near ±10,000",
        (query.clone(), key.clone(), draw.numbers(1, 2, 3, 1) + 0.25, mask),
        hazard=True,
    )


def _of_groups(case, h, of_keys, of_values):
    """What head h gets with the keys of one group and the values of another."""
    query, key, value, mask = (tensor.double() if tensor.is_floating_point() else tensor for tensor in case.args)
    return F.scaled_dot_product_attention(query[:, h], key[:, of_keys], value[:, of_values], mask)


@task.property
def each_head_reads_its_group(case, value):
    """Which group's keys and values a head has used in its place; else which context is no mean of its group's values."""
    query, key, values, mask = case.args
    H, G = query.shape[1], key.shape[1]
    if value.shape != (*query.shape[:3], values.shape[3]):
        return None
    alike = lambda h, *groups: torch.allclose(value[:, h].double(), _of_groups(case, h, *groups), atol=1e-4)  # noqa: E731
    for h in (h for h in range(H) if not alike(h, h * G // H, h * G // H)):
        for a, b in product(range(G), repeat=2):
            if alike(h, a, b):
                used = f"group {a}" if a == b else f"the keys of group {a} and the values of group {b}"
                return f"Head {h} uses {used}. It should use group {h * G // H}: of {H} heads and {G} groups, {H // G} heads side by side share one."
        off = outside_the_values(value[:, h], values[:, h * G // H], mask)
        if off.any():
            b, t, e = off.nonzero()[0].tolist()
            return f"A context is a mean of values, with weights that sum to 1. Entry {e} of head {h}'s context at position {t} of sentence {b} is outside the range of its group's visible values: do your weights sum to 1, and are they 0 where the mask is False?"
    return None


KEYS, VALUES, PRODUCTS = "the keys of each head", "the values of each head", "the dot products"
ROOT, SCORES, MASKED, SOFTMAX = "√d", "the scores", "the masked scores", "the softmax"
ZEROS = "the weights with zeros"


def own(shared, heads):
    """Keys or values as each head uses them: B×G×S×d → B×H×S×d."""
    return shared.repeat_interleave(heads // shared.shape[1], 1)


@task.steps
def _(query, key, value, mask):
    own_keys = yield KEYS, own, key, query.shape[1]
    own_values = yield VALUES, own, value, query.shape[1]
    products = yield PRODUCTS, lambda q, k: q @ k.mT, query, own_keys
    root = yield ROOT, pow, query.shape[-1], 0.5
    scores = yield SCORES, truediv, products, root
    masked = yield MASKED, lambda s, m: s.masked_fill(~m[:, None], -torch.inf), scores, mask
    weights = yield SOFTMAX, lambda scores: scores.softmax(-1), masked
    weights = yield ZEROS, lambda w, m: w.masked_fill(~m[:, None], 0.0), weights, mask
    contexts = yield "the contexts", matmul, weights, own_values
    return contexts


# Which group a head uses


def in_turn(shared, heads):
    return shared.repeat(1, heads // shared.shape[1], 1, 1)


task.changed(
    "groups_in_turn",
    "Head h uses group h % G, so that heads side by side use different groups. It should use group h // (H/G): the first H/G heads share group 0. `repeat` copies all groups one after another; `repeat_interleave` puts the copies of each group side by side.",
    {KEYS: in_turn, VALUES: in_turn},
)
task.changed_each(
    ("h_over_G", "Head h uses group h // G. That is correct only if G groups have G heads each: divide h by the number of heads in a group, which is H/G.", {KEYS: lambda shared, heads: shared[:, [min(h // shared.shape[1], shared.shape[1] - 1) for h in range(heads)]], VALUES: lambda shared, heads: shared[:, [min(h // shared.shape[1], shared.shape[1] - 1) for h in range(heads)]]}),
    ("another_sentences_groups", "Sentences and groups are mixed up when you copy the groups: `view` and `reshape` do not reorder anything, so the axes must be in the right order beforehand.", {KEYS: lambda shared, heads: shared.repeat(heads // shared.shape[1], 1, 1, 1).reshape(-1, heads, *shared.shape[2:]), VALUES: lambda shared, heads: shared.repeat(heads // shared.shape[1], 1, 1, 1).reshape(-1, heads, *shared.shape[2:])}),
)  # fmt: skip


task.changed_each(
    ("keys_in_turn", "The values are in the right groups, but the keys are not: head h uses the keys of group h % G. `repeat` copies all groups one after another; `repeat_interleave` puts the copies of each group side by side.", {KEYS: in_turn}),
    ("values_in_turn", "The keys are in the right groups, but the values are not: head h uses the values of group h % G. `repeat` copies all groups one after another; `repeat_interleave` puts the copies of each group side by side.", {VALUES: in_turn}),
    ("first_group_for_all", "All heads use group 0. The first H/G heads do, and the next ones use the next group.", dict.fromkeys((KEYS, VALUES), lambda shared, heads: own(shared[:, :1], heads))),
    ("mean_of_the_groups", "All heads use the mean of all groups. Each group has its own keys and values.", dict.fromkeys((KEYS, VALUES), lambda shared, heads: own(shared.mean(1, keepdim=True), heads))),
    ("groups_in_reverse", "The groups are in the opposite order: the first heads use the last group. They should use group 0.", dict.fromkeys((KEYS, VALUES), lambda shared, heads: own(shared.flip(1), heads))),
)  # fmt: skip


# Heads of a group


task.changed(
    "one_query_for_a_group",
    "All heads of a group use the mean of their queries, so they get the same context. Each head has its own query; only keys and values are shared.",
    {"query": lambda query, *, key: own(query.unflatten(1, (key.shape[1], -1)).mean(2), query.shape[1])},
)
task.changed(
    "heads_returned_in_another_order",
    "The heads of the contexts are in a different order: the first heads of all groups come first, then the second heads. Merge them as they were split: group by group.",
    {"result": lambda contexts, *, key: contexts.unflatten(1, (key.shape[1], -1)).transpose(1, 2).flatten(1, 2)},
)
task.changed(
    "joined",
    "You return the heads side by side, B×T×(H·d). Return them with their own axis: B×H×T×d.",
    {"result": lambda contexts: contexts.transpose(1, 2).flatten(2)},
)


# Scores and weights

task.changed(
    "divided_by_root_of_D",
    "You divide the scores by the root of the model's width, H·d. Divide by √d, where d is the width of a head.",
    {ROOT: lambda d, power, *, query: (query.shape[1] * d) ** 0.5},
)
task.changed(
    "not_divided",
    "The division by √d is missing: divide the scores by it before the softmax.",
    {SCORES: left_out},
)
task.changed(
    "divided_by_d",
    "You divide the scores by d, or by √d twice. Divide them once by √d.",
    {ROOT: lambda d, power: d},
)
task.changed(
    "softmax_over_queries_nan",
    "Your softmax runs over the queries, and a key that none of them may attend to gives NaN. It runs over the keys, the last axis.",
    {SOFTMAX: lambda scores: scores.softmax(-2), ZEROS: left_out},
)
task.changed(
    "softmax_over_heads_nan",
    "Your softmax runs over the heads, and what the mask hides from all of them gives NaN. It runs over the keys, the last axis.",
    {SOFTMAX: lambda scores: scores.softmax(1), ZEROS: left_out},
)
task.changed(
    "largest_alone",
    "Each query reads only the key with the largest score. A softmax gives every key that may be attended to a share.",
    {SOFTMAX: lambda scores: F.one_hot(scores.argmax(-1), scores.shape[-1]).to(scores)},
)
task.changed(
    "sigmoid",
    "Your weights come from a sigmoid, so they do not sum to 1. They should come from a softmax over the keys.",
    {SOFTMAX: torch.sigmoid},
)
task.changed(
    "softmax_over_queries",
    "Your softmax runs over the queries. It runs over the keys, the last axis.",
    {SOFTMAX: lambda scores: scores.softmax(-2).nan_to_num()},
)
task.changed(
    "softmax_over_heads",
    "Your softmax runs over the heads. It runs over the keys, the last axis.",
    {SOFTMAX: lambda scores: scores.softmax(1).nan_to_num()},
)
masked_softmax_mistakes(
    task,
    *("mask_unused", "mask_inverted", "mask_inverted_nan", "mask_inverted_level", "masked_after"),
    *("masked_with_zeros", "mask_added", "mask_added_inverted", "overflow"),
)
plus_infinity_mistakes(task)
task.changed(
    "finite_fill",
    "Masked scores become a finite number, such as -1000. That is not -inf: genuine scores can be lower, and then the masked keys get the weight. Only -inf is below every score.",
    {MASKED: filled(-1000.0), ZEROS: left_out},
)
task.changed(
    "masked_after_and_divided",
    "The mask comes after the softmax, and you divide the weights that are left by their sum. If a hidden score is far larger than the others, all the weights that are left are 0, and 0 divided by 0 is NaN: set hidden scores to -inf first.",
    {MASKED: left_out, ZEROS: lambda weights, mask: (w := weights * mask[:, None]) / w.sum(-1, keepdim=True)},
)
task.changed(
    "first_sentences_mask",
    "All sentences use the first sentence's mask. Each sentence has its own: add an axis of size 1 to the mask for the heads, after the axis of the batch.",
    {"mask": lambda mask: mask[:1]},
)
