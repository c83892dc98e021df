"""Task 10.catch_wrong_heads: a test that tells correct multi-head attention from incorrect."""

from functools import cache

import torch
import torch.nn.functional as F

from course_lessons.lesson_10_multi_head_attention.tasks.multi_head_attention import task as multi_head_attention
from course_lessons.shared.candidate_tests import MistakenTests, asking, equal_up_to_rounding, finite, one_case_each
from course_utils.checks.task import Task
from course_utils.models import minimal

wrong = multi_head_attention.wrong


def _blocks(weight, bias):
    """The three pairs of weight and bias, for queries, keys and values."""
    return zip(weight.chunk(3), bias.chunk(3), strict=True)


# The candidates: right ones written differently, wrong ones, and wrong ones that no test need find.


def right_head_by_head(query, key, value, in_weight, in_bias, out_weight, out_bias, heads, mask=None):
    """With loops over sentences and heads, in float64."""
    numbers = (query, key, value, in_weight, in_bias, out_weight, out_bias)
    query, key, value, in_weight, in_bias, out_weight, out_bias = (x.double() for x in numbers)
    d, sentences = query.shape[2] // heads, []
    for b, (asked, found, given) in enumerate(zip(query, key, value, strict=True)):
        projected = [x @ w.T + c for x, (w, c) in zip((asked, found, given), _blocks(in_weight, in_bias), strict=True)]
        contexts = []
        for h in range(heads):
            q, k, v = (x[:, h * d : (h + 1) * d] for x in projected)
            scores = q @ k.T / d**0.5
            allowed = torch.ones_like(scores, dtype=torch.bool) if mask is None else mask[b]
            contexts.append(torch.nan_to_num(scores.masked_fill(~allowed, -torch.inf).softmax(-1)) @ v)
        sentences.append(torch.cat(contexts, 1) @ out_weight.T + out_bias)
    return torch.stack(sentences).float()


def right_by_scaled_dot_product_attention(
    query, key, value, in_weight, in_bias, out_weight, out_bias, heads, mask=None
):
    pairs = zip((query, key, value), _blocks(in_weight, in_bias), strict=True)
    q, k, v = (minimal.split_heads(F.linear(x, *pair), heads) for x, pair in pairs)
    if mask is None:
        return F.linear(minimal.merge_heads(F.scaled_dot_product_attention(q, k, v)), out_weight, out_bias)
    nothing = ~mask.any(2)[:, None, :, None]
    contexts = F.scaled_dot_product_attention(q, k, v, mask[:, None] | nothing).masked_fill(nothing, 0.0)
    return F.linear(minimal.merge_heads(contexts), out_weight, out_bias)


def right_by_adding_heads(query, key, value, in_weight, in_bias, out_weight, out_bias, heads, mask=None):
    """What each head finds goes through its own columns of out_weight, and all is added up."""
    D, output = query.shape[2], out_bias.expand(query.shape)
    for rows in torch.arange(D).chunk(heads):
        q, k, v = (x @ in_weight[i * D + rows].T + in_bias[i * D + rows] for i, x in enumerate((query, key, value)))
        output = output + minimal.attend(q, k, v, mask) @ out_weight[:, rows].T
    return output


def needs_a_mask(query, key, value, in_weight, in_bias, out_weight, out_bias, heads, mask=None):
    """Stops with an error where there is no mask."""
    return minimal.multi_head_attention(query, key, value, in_weight, in_bias, out_weight, out_bias, heads, mask & True)


def stops_where_lengths_differ(query, key, value, in_weight, in_bias, out_weight, out_bias, heads, mask=None):
    """Cuts keys and values with the sizes of the query."""
    key, value = key.reshape(query.shape), value.reshape(query.shape)
    return minimal.multi_head_attention(query, key, value, in_weight, in_bias, out_weight, out_bias, heads, mask)


def mask_altered(query, key, value, in_weight, in_bias, out_weight, out_bias, heads, mask=None):
    """Right, but it turns the mask that came in round, as torch's own layer needs it."""
    output = minimal.multi_head_attention(query, key, value, in_weight, in_bias, out_weight, out_bias, heads, mask)
    if mask is not None:
        mask.logical_not_()
    return output


def _with_dropout(scores):
    """Half of the weights are dropped, the same ones each time."""
    kept = torch.rand(scores.shape, generator=torch.Generator().manual_seed(4)) < 0.5
    return scores.softmax(-1) * kept * 2


RIGHT = {
    minimal.multi_head_attention: "a correct one, with matrix products",
    right_head_by_head: "a correct one, head by head in float64: its last digits differ",
    multi_head_attention.oracle_function: "a correct one, with the function behind nn.MultiheadAttention",
    right_by_scaled_dot_product_attention: "a correct one, with F.scaled_dot_product_attention",
    right_by_adding_heads: "a correct one that sends each head through its own columns of `out_weight` and adds all up",
}


WRONG = {
    wrong(
        "merge_mixed"
    ): "an incorrect one: it joins heads without transposing back, which mixes words if there are several heads",
    wrong(
        "heads_mixed"
    ): "an incorrect one: it splits heads without transposing, which mixes words if there are several heads",
    wrong("interleaved"): "an incorrect one: each head gets every H-th entry instead of d adjacent ones",
    wrong("one_head"): "an incorrect one: it has a single head, whatever `heads` says",
    wrong(
        "own_slice_alone"
    ): "an incorrect one: each head reads only its own part of the words instead of the whole words",
    wrong("weights_averaged"): "an incorrect one: all heads use the same weights, the mean of theirs",
    wrong("divided_by_root_of_D"): "an incorrect one: it divides scores by √D instead of √d",
    wrong("softmax_over_queries"): "an incorrect one: its softmax runs over the queries instead of the keys",
    multi_head_attention.variant(
        {"the softmax": lambda scores: scores.softmax(-1).bfloat16().to(scores.dtype)}
    ): "an incorrect one: its weights have three digits only",
    multi_head_attention.variant(
        {"the softmax": _with_dropout}
    ): "an incorrect one: dropout is left on, so half of the weights are 0",
    wrong("key_and_value_exchanged"): "an incorrect one: it swaps the key and value blocks of `in_weight`",
    wrong(
        "interleaved_blocks"
    ): "an incorrect one: it uses every third row of `in_weight` for the queries instead of the first D rows",
    wrong("values_from_key"): "an incorrect one: it computes values from `key` instead of `value`",
    wrong("biases_forgotten"): "an incorrect one: it forgets the biases",
    wrong("out_bias_forgotten"): "an incorrect one: it forgets `out_bias`",
    wrong("no_output_projection"): "an incorrect one: it has no output projection",
    wrong("out_transposed"): "an incorrect one: it projects with `out_weight` instead of its transpose",
    wrong("mask_inverted"): "an incorrect one: it inverts the mask",
    wrong(
        "mask_for_each_head"
    ): "an incorrect one: it adds no axis for the heads to the mask, and fails or masks the wrong scores",
    wrong("one_mask_for_all_sentences"): "an incorrect one: it uses the first sentence's mask for all",
    multi_head_attention.variant(
        {"result": lambda output: output.flip(1)}
    ): "an incorrect one: the words are returned in reverse order",
    multi_head_attention.variant(
        {"result": lambda output: output + 0.1 * F.one_hot(torch.tensor(0), output.shape[2])}
    ): "an incorrect one: the first entry of each word is too large by 0.1",
    multi_head_attention.variant(
        {"result": lambda output: torch.cat([1.1 * output[:1], output[1:]])}
    ): "an incorrect one: all numbers of the first sentence are too large by a tenth",
    multi_head_attention.variant(
        {"result": lambda output: output + 0.1 * F.one_hot(torch.tensor(output.shape[2] - 1), output.shape[2])}
    ): "an incorrect one: the last entry of each word is too large by 0.1",
    multi_head_attention.variant(
        {"result": lambda output: torch.cat([output[:, :-1], output[:, -1:] + 0.1], 1)}
    ): "an incorrect one: all numbers of the last word are too large by 0.1",
    multi_head_attention.variant(
        {"result": lambda output: 1.005 * output}
    ): "an incorrect one: all numbers are too large by half a percent",
    wrong("empty_row_nan"): "an incorrect one: a word that may attend to nothing gets NaN",
    wrong(
        "empty_row_without_bias"
    ): "an incorrect one: a word that may attend to nothing gets zeros, without `out_bias`",
    needs_a_mask: "an incorrect one: it stops with an error if the mask is None",
    stops_where_lengths_differ: "an incorrect one: it stops with an error if T and S differ",
}

RARE = {
    wrong("overflow"): "an incorrect one: its exponentials overflow if scores are near 10,000",
    mask_altered: "an incorrect one: it alters the mask that it is given",
}


def _problem(query, key, value, in_weight, in_bias, out_weight, out_bias, heads, mask=None):
    """What is wrong with the arguments that a test gives to a candidate; None for nothing."""
    names = ("query", "key", "value", "in_weight", "in_bias", "out_weight", "out_bias")
    tensors = (query, key, value, in_weight, in_bias, out_weight, out_bias)
    for name, tensor in zip(names, tensors, strict=True):
        if not isinstance(tensor, torch.Tensor) or tensor.dtype != torch.float32 or not tensor.isfinite().all():
            return f"Your test calls a candidate with a `{name}` that is not a float32 tensor of finite numbers. Candidates accept only such tensors."
    if query.dim() != 3 or key.dim() != 3:
        return "Your test calls a candidate with a `query` or a `key` that does not have three axes. They are B×T×D and B×S×D."
    (B, T, D), S = query.shape, key.shape[1]
    shapes = ((B, T, D), (B, S, D), (B, S, D), (3 * D, D), (3 * D,), (D, D), (D,))
    for name, tensor, shape in zip(names, tensors, shapes, strict=True):
        if tensor.shape != shape:
            return f"Your test calls a candidate with `{name}` of shape {_shape(tensor.shape)}. With this `query` and this `key` it should be {_shape(shape)}."
    if not isinstance(heads, int) or heads < 1 or D % heads:
        return f"Your test calls a candidate with heads = {heads} and D = {D}. D is a multiple of `heads`."
    if mask is not None and (not isinstance(mask, torch.Tensor) or mask.dtype != torch.bool or mask.shape != (B, T, S)):
        return f"Your test calls a candidate with a mask that is neither None nor a tensor of truth values of shape B×T×S, here {_shape((B, T, S))}."
    return None


def _shape(sizes):
    return "×".join(map(str, sizes))


task = Task(
    __name__,
    "a test that tells correct multi-head attention from incorrect",
    arguments=("candidate",),
    result="verdict",
    candidates=asking(_problem, (*RIGHT, *WRONG, *RARE)),
    difficulty=4,
    importance=4,
    minutes=30,
    offers=("models.minimal.multi_head_attention",),
)


one_case_each(task, RIGHT, WRONG, RARE)


@cache
def _numbers(B, T, S, H, d, biases, identity, self_attention, empty):
    """The tensors of one call: random numbers, and a mask."""
    draw, D = torch.Generator().manual_seed(6), H * d
    query, key, value = (torch.randn(B, length, D, generator=draw) for length in (T, S, S))
    if self_attention:
        key = value = query
    in_weight, out_weight = torch.randn(3 * D, D, generator=draw) / D**0.5, torch.randn(D, D, generator=draw) / D**0.5
    if identity:
        in_weight, out_weight = torch.eye(D).repeat(3, 1), torch.eye(D)
    in_bias, out_bias = biases * torch.randn(3 * D, generator=draw), biases * torch.randn(D, generator=draw)
    mask = torch.rand(B, T, S, generator=draw) < 0.6
    mask[:, :, 0] = True
    mask[:, -1, 1] = False
    if empty:
        mask[0, 0] = False
    return query, key, value, in_weight, in_bias, out_weight, out_bias, H, mask


def _copied(args):
    return [arg.clone() if isinstance(arg, torch.Tensor) else arg for arg in args]


def _test(
    candidate,
    dims=(2, 3, 5, 3, 2),
    biases=True,
    identity=False,
    self_attention=False,
    empty=True,
    none=True,
    mask=True,
    compare=equal_up_to_rounding,
):
    """A test like the solution's, in which things may be left out."""
    given = _numbers(*dims, float(biases), identity, self_attention, empty)
    calls = [(*given[:-1], each) for each in [*([given[-1]] if mask else []), *([None] if none else [])]]
    return all(compare(minimal.multi_head_attention(*args), candidate(*_copied(args))) for args in calls)


_mistaken = MistakenTests(task, _test)


_mistaken.by_comparing(0.02, lambda compare: {"compare": compare})
_mistaken("runs_at_all", compare=finite)
_mistaken("never_a_mask", mask=False)
_mistaken("heads_of_width_1", dims=(2, 3, 5, 3, 1))
_mistaken("one_query", dims=(3, 1, 5, 2, 3))
_mistaken("self_attention_alone", dims=(2, 4, 4, 3, 2), self_attention=True)
_mistaken("identity_weights", identity=True)

LEFT_OUT = ("heads", "biases", "batch", "lengths", "empty", "none")  # what a test may leave out


def _without(parts):
    dims = (1 if "batch" in parts else 2, 5 if "lengths" in parts else 3, 5, *((1, 6) if "heads" in parts else (3, 2)))
    return {"dims": dims, **{part: False for part in parts if part in ("biases", "empty", "none")}}


_mistaken.without(LEFT_OUT, 2, _without)
