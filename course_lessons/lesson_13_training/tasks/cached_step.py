"""Task 13.cached_step: the newest word attends to itself and to the words before it, whose keys and values are kept."""

from math import sqrt
from operator import truediv

import torch

from course_lessons.shared.head_projections import joining, projecting, projection_mistakes
from course_lessons.shared.mask_mistakes import masked_softmax_mistakes
from course_lessons.shared.partial_credit import USUAL
from course_utils.checks.reference_trace import left_out
from course_utils.checks.running.contract import Case
from course_utils.checks.task import Task, count

task = Task(
    "13.cached_step",
    "one new word, with keys and values cached",
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
        "In causal self-attention, a word's key and value never change when more words follow, so they can be cached. Only the new word has to be projected: into a query, a key and a value, which are split into heads. Its key and value are appended to the cached ones, and then its query attends to all of them. No mask is needed, because nothing comes after the new word.",
        (
            "Take one head of width 1, all blocks of in_weight [1], and out_weight [1], with biases of 0. The cache holds one word, with the key [1] and the value [4]; the new word is [2], so its query, key and value are all 2. Once these are appended, the keys are 1 and 2 and the values 4 and 2. The scores are 2·1 = 2 and 2·2 = 4, their softmax 0.1192 and 0.8808. "
            "The output is 0.1192·4 + 0.8808·2 = 2.2384, and the keys [1, 2] and the values [4, 2] are cached for the next word."
        ),
        "projected = x times in_weight transposed, plus in_bias: B×1×3D. Split it along the last axis into query, key and value, each B×1×D, and each of them into H parts of width d, with the heads axis before the words axis: B×H×1×d. keys = keys with the new key appended along the words axis; values likewise. scores = query times keys with their last two axes swapped, divided by the square root of d; softmax over the last axis; times values. Put the heads side by side again, B×1×D; times out_weight transposed, plus out_bias.",
    ),
    partial=USUAL,
)


@task.property
def what_is_kept_stays_in_front(case, value):
    """The old keys and values come first, as they were."""
    for name, kept, returned in zip(("keys", "values"), case.args[1:3], value[1:], strict=True):
        t = kept.shape[2]
        if returned.shape[2] == t + 1 and not torch.allclose(returned[:, :, :t].to(kept), kept, atol=1e-4, rtol=1e-4):
            return f"The first {t} of the {name} that you return should be the ones you were given, in the same order; yours differ."
    return None


def _inputs(draw, B, t, H, d, dtype=torch.float32):
    D = H * d
    x, keys, values = (
        draw.normal(B, 1, D, dtype=dtype),
        draw.normal(B, H, t, d, dtype=dtype),
        draw.normal(B, H, t, d, dtype=dtype),
    )
    in_weight, out_weight = draw.normal(3 * D, D, dtype=dtype) * 1.2 / D**0.5, draw.normal(D, D, dtype=dtype) / D**0.5
    return (
        x,
        keys,
        values,
        in_weight,
        draw.normal(3 * D, dtype=dtype) / 2 + 0.125,
        out_weight,
        draw.normal(D, dtype=dtype) + 0.125,
    )


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
    yield Case("the first word: nothing is cached yet", _inputs(draw, 2, 0, 3, 2), True, edge=True)
    yield Case("a single head", _inputs(draw, 2, 3, 1, 4), True, edge=True)
    yield Case("heads of width 1", _inputs(draw, 2, 3, 4, 1), True, edge=True)
    yield Case("200 words before", _inputs(draw, 1, 200, 2, 2), edge=True)
    x, keys, values, *rest = _inputs(draw, 2, 3, 2, 2)
    far = torch.stack([draw.distinct(3, -2, 3) for _ in range(8)]).reshape(2, 2, 2, 3).mT * 1e4 + keys
    yield Case("keys near ±10,000", (x, far, values, *rest), hazard=True)
    yield Case("float64 numbers", _inputs(draw, 2, 3, 2, 3, torch.float64), True, hazard=True)


@task.steps
def _(x, keys, values, in_weight, in_bias, out_weight, out_bias):
    H, parts = keys.shape[1], []
    for place, name in enumerate(("query", "key", "value")):
        part = yield from projecting(name, place, x, in_weight, in_bias, H)
        parts.append(part)
    query, key, value = parts
    keys = yield "all keys", _behind, keys, key
    values = yield "all values", _behind, values, value
    products = yield "the dot products", lambda q, k: q @ k.mT, query, keys
    root = yield "√d", sqrt, query.shape[-1]
    scores = yield "the scores", truediv, products, root
    weights = yield "the softmax", lambda scores: scores.softmax(-1), scores
    output = yield from joining(weights, values, out_weight, out_bias)
    return output, keys, values


def _behind(kept, new):
    return torch.cat([kept, new], 2)


projection_mistakes(task, "query", "key", "value")
masked_softmax_mistakes(task, "no_softmax", "equal_weights", "overflow", others="words", masked=None, zeros=None)


# What is kept, and what is seen

KEPT = ("all keys", "all values")


def seen(cut):
    """Changes after which the query sees other keys and values than are kept; `cut` gets all of a kind and those before the new word."""
    return {
        "the dot products": lambda query, all_keys, *, keys: query @ cut(all_keys, keys).mT,
        "the contexts of all heads": lambda weights, all_values, *, values: weights @ cut(all_values, values),
    }


def joined(join):
    """The same change of how the new key and value are put behind those that are kept."""
    return dict.fromkeys(KEPT, join)


def returned(function):
    """A change of which keys and values are returned; `function` gets all of a kind and those before the new word."""
    return {
        "result": lambda output, all_keys, all_values, *, keys, values: (
            output,
            function(all_keys, keys),
            function(all_values, values),
        )
    }


task.changed_each(
    ("past_alone", "The new word attends only to the words before it. In causal self-attention, a word also attends to itself: its key and value belong there before the scores are computed.", seen(lambda all_of_them, before: before)),
    ("new_word_not_kept", "The new word attends only to the words before it, and its key and value are not cached either: you return the old keys and values. Append the new ones first.", joined(left_out)),
    ("old_ones_returned", "The output is correct, but you return the old keys and values, so the next word would not see this one. Return them with the new ones appended.", returned(lambda all_of_them, before: before)),
)  # fmt: skip
task.changed(
    "new_ones_returned",
    "The output is correct, but you return only the key and the value of the new word. The next word also needs the earlier ones: return all of them.",
    returned(lambda all_of_them, before: all_of_them[:, :, before.shape[2] :]),
)
task.changed(
    "itself_alone",
    "The new word attends only to itself, so the words before it have no effect on the output. Its query should see all keys.",
    seen(lambda all_of_them, before: all_of_them[:, :, -1:]),
)
task.changed(
    "first_word_alone",
    "The new word attends only to the first word. A causal mask of one row allows only the first position; you would need the row of the last word, which allows everything. Leave the mask out (including `is_causal=True`): nothing comes after the new word.",
    seen(lambda all_of_them, before: all_of_them[:, :, :1]),
)
task.changed(
    "put_in_front",
    "The new key and value come before the others. Append them, so that the words stay in order.",
    joined(lambda kept, new: _behind(new, kept)),
)


task.changed(
    "sentences_mixed",
    "When you split the projected words into heads, you mix up sentences and heads: `view` and `reshape` do not reorder anything, so the sentence axis has to stay first when you split.",
    {
        f"the {part} of all heads": lambda x, heads: x.reshape(heads, x.shape[0], 1, -1).transpose(0, 1)
        for part in ("query", "key", "value")
    },
)


# What is returned

task.changed_each(
    ("values_before_keys", "You return the values before the keys. Return the output, then the keys, then the values.", {"result": lambda output, keys, values: (output, values, keys)}),
    ("output_alone", "You return only the output. Also return the keys and the values, with the new ones appended, for the next word.", {"result": lambda output, keys, values: output}),
    ("axis_of_words_lost", "The output has lost its word axis. It should be B×1×D, like the input.", {"result": lambda output, keys, values: (output[:, 0], keys, values)}),
)  # fmt: skip
