"""Task 03.catch_wrong_attention: a test that tells right attention from wrong."""

from functools import partial

import torch

from course_utils.checks.running.contract import Candidate, Case
from course_utils.checks.task import Task
from course_utils.tasks.lesson_03 import attention

# The candidates: right ones written differently, wrong ones that the prompt shows, wrong ones that it does not.


def right_by_loops(query, key, value, mask=None):
    return tuple(
        part.to(value.dtype)
        for part in attention.task.oracle_function(query.double(), key.double(), value.double(), mask)
    )


def right_by_einsum(query, key, value, mask=None):
    scores = torch.einsum("btd,bsd->bts", query, key)
    open_scores = scores if mask is None else torch.where(mask, scores, -torch.inf)
    e = torch.exp(open_scores - open_scores.amax(-1, keepdim=True).clamp(min=-1e30))
    weights = e / e.sum(-1, keepdim=True).clamp(min=1e-30)
    return torch.einsum("bts,bse->bte", weights, value), weights


def right_by_library(query, key, value, mask=None):
    empty = torch.zeros(()) if mask is None else ~mask.any(-1, keepdim=True)
    parts = [
        torch.nn.functional.scaled_dot_product_attention(query, key, v, attn_mask=mask, scale=1.0)
        for v in (value, torch.eye(key.shape[1], dtype=value.dtype).expand(len(key), -1, -1))
    ]
    return tuple(part.nan_to_num().masked_fill(empty.bool(), 0.0) for part in parts)


def right_by_bmm(query, key, value, mask=None):
    scores = torch.bmm(query, key.transpose(1, 2))
    if mask is not None:
        scores = scores + torch.where(mask, 0.0, -torch.inf)
    weights = scores.softmax(2).nan_to_num(0.0)
    return torch.bmm(weights, value), weights


def context_right_weights_unmasked(query, key, value, mask=None):
    return attention.masked_softmax(query @ key.mT, mask) @ value, (query @ key.mT).softmax(-1)


def weights_right_context_averaged(query, key, value, mask=None):
    weights = attention.masked_softmax(query @ key.mT, mask)
    return value.mean(1, keepdim=True).expand(-1, query.shape[1], -1), weights


def values_of_first_sentence(query, key, value, mask=None):
    weights = attention.masked_softmax(query @ key.mT, mask)
    return weights @ value[:1], weights


def mask_required(query, key, value, mask=None):
    weights = torch.nan_to_num((query @ key.mT).masked_fill(~mask, -torch.inf).softmax(-1))
    return weights @ value, weights


def half_as_sharp(query, key, value, mask=None):
    weights = attention.masked_softmax(query @ key.mT / 2, mask)
    return weights @ value, weights


def values_scored(query, key, value, mask=None):
    """Values for keys: as long as the two are the same nobody sees it."""
    weights = attention.masked_softmax(query @ value.mT, mask)
    return weights @ value, weights


def queries_for_keys(query, key, value, mask=None):
    weights = attention.masked_softmax(query @ query.mT, mask)
    return weights @ value, weights


def queries_summed(query, key, value, mask=None):
    weights = attention.masked_softmax(query @ key.mT, mask)
    return weights @ query, weights


def context_reshaped(query, key, value, mask=None):
    """Transposed and not back: each number is there, at another place."""
    context, weights = right_by_bmm(query, key, value, mask)
    return context.mT.reshape(context.shape), weights


def features_turned(query, key, value, mask=None):
    context, weights = right_by_bmm(query, key, value, mask)
    return context.flip(-1), weights


RIGHT = {
    right_by_loops: "a right attention, written with loops",
    right_by_einsum: "a right attention, written with einsum",
    right_by_library: "a right attention, by torch's own function",
    right_by_bmm: "a right attention, written with bmm and an additive mask",
}


WRONG_SHOWN = {
    attention.softmax_over_queries: "a wrong attention: softmax over the queries",
    attention.scaled: "a wrong attention: scores divided by √D",
    attention.mask_unused: "a wrong attention: the mask has no effect",
    attention.mask_inverted: "a wrong attention: the mask turned round",
    attention.masked_after: "a wrong attention: masked after the softmax",
    attention.empty_row_nan: "a wrong attention: NaN where nothing may be attended",
    attention.softmax_over_batch: "a wrong attention: softmax over the batch",
}


WRONG_HIDDEN = (
    context_right_weights_unmasked,
    weights_right_context_averaged,
    attention.one_mask_for_all_queries,
    attention.one_mask_for_all_sentences,
    values_of_first_sentence,
    mask_required,
    half_as_sharp,
    attention.empty_row_uniform,
    attention.order_swapped,
    attention.keys_summed,
    values_scored,
    queries_for_keys,
    queries_summed,
    context_reshaped,
    features_turned,
)


task = Task(
    "03.catch_wrong_attention",
    "a test that tells right attention from wrong",
    arguments=("candidate",),
    result="verdict",
    candidates=(*RIGHT, *WRONG_SHOWN, *WRONG_HIDDEN),
    difficulty=4,
    importance=4,
    minutes=25,
    offers=("models.attention.attention",),
    hints=(
        "Choose inputs on which wrong ones differ from right ones: more than one sentence, T, S, D and E all different, a mask that is not the same in each row, and one row that may attend to nothing. Also try it without a mask.",
        "Compare both results, context and weights, with those of `reference(…)` on the same inputs: first the shapes, then the values up to rounding. A candidate that raises an error is wrong.",
        "For mask in (None, a random mask with one empty row): expected = reference(…); try received = candidate(…), except Exception: return False; if shapes differ or not torch.allclose(…, atol=1e-5): return False. At the end return True.",
    ),
)


@task.cases
def _(draw):
    names = [*RIGHT.values(), *WRONG_SHOWN.values(), *["a wrong attention that is not shown"] * len(WRONG_HIDDEN)]
    for key in torch.randperm(len(names), generator=draw.generator).tolist():
        yield Case(names[key], (Candidate(key),))


@task.oracle
def _(candidate):
    return candidate in RIGHT


def _probe(B=2, T=3, S=5, D=7, E=11, empty=True, mask=True):
    draw = torch.Generator().manual_seed(3)
    inputs = [torch.randn(*shape, generator=draw) for shape in ((B, T, D), (B, S, D), (B, S, E))]
    allowed = torch.rand(B, T, S, generator=draw) < 0.5
    allowed[:, :, 0] = ~allowed[:, :, 1]
    if empty:
        allowed[-1, -1] = False
    return (*inputs, allowed if mask else None)


def _agrees(candidate, args, parts=(0, 1), exactly=False):
    same = torch.equal if exactly else partial(torch.allclose, atol=1e-5)
    try:
        expected, received = right_by_bmm(*args), candidate(*args)
        return all(expected[i].shape == received[i].shape and same(expected[i], received[i]) for i in parts)
    except Exception:
        return False


@task.mistake("Your test says True to every candidate.")
def always_true(candidate):
    return True


@task.mistake("Your test says False to every candidate, also to the right ones.")
def always_false(candidate):
    return False


@task.mistake("Your test looks at shapes only. Nearly every wrong attention has the right shapes: compare the numbers.")
def shapes_only(candidate):
    try:
        args = _probe()
        return all(a.shape == b.shape for a, b in zip(right_by_bmm(*args), candidate(*args), strict=True))
    except Exception:
        return False


@task.mistake("Your test never uses a mask: what goes wrong with masks goes by unseen.")
def never_a_mask(candidate):
    return _agrees(candidate, _probe(mask=False))


@task.property
def rounding_is_allowed(case, value):
    """No right candidate is refused."""
    if value is False and task.candidate(case.args[0].key) in RIGHT:
        return "That one is right, computed in another order: its last digits differ. Is there room for rounding, about 1e-5?"
    return None


@task.mistake(
    "Right candidates are refused for their last digits: another order of adding rounds differently. Allow rounding, "
    "torch.allclose(…, atol=1e-5), in place of torch.equal or ==."
)
def no_rounding(candidate):
    return _agrees(candidate, _probe(), exactly=True) and _agrees(candidate, _probe(mask=False), exactly=True)


@task.mistake("No query in your test may attend to nothing: NaN and leaks in such a row go by unseen.")
def no_empty_row(candidate):
    return _agrees(candidate, _probe(empty=False)) and _agrees(candidate, _probe(mask=False))


@task.mistake("Your test looks at the context only. The weights are part of the result: compare them too.")
def context_only(candidate):
    return _agrees(candidate, _probe(), parts=(0,)) and _agrees(candidate, _probe(mask=False), parts=(0,))


@task.mistake("Your test looks at the weights only. The context is part of the result: compare it too.")
def weights_only(candidate):
    return _agrees(candidate, _probe(), parts=(1,)) and _agrees(candidate, _probe(mask=False), parts=(1,))


@task.mistake(
    "Your test sees one sentence only: what mixes up sentences goes by unseen. Take a batch of two or more, and compare them all."
)
def batch_of_one(candidate):
    return _agrees(candidate, _probe(B=1)) and _agrees(candidate, _probe(B=1, mask=False))


@task.mistake("Your test always gives a mask. mask=None is allowed, and a candidate may fail there.")
def always_a_mask(candidate):
    return _agrees(candidate, _probe())


@task.mistake(
    "Your test always gives a mask, and one in which every query may attend to something. Two more inputs are needed: mask=None, and a "
    "query with nothing to attend."
)
def always_a_mask_never_empty(candidate):
    return _agrees(candidate, _probe(empty=False))


@task.mistake(
    "Your test sees one sentence only, and always with a mask. Take a batch of two or more, and try mask=None too."
)
def batch_of_one_always_a_mask(candidate):
    return _agrees(candidate, _probe(B=1))


@task.mistake(
    "Your test sees one sentence only, and never a mask. Take a batch of two or more, with a mask as well as without."
)
def batch_of_one_never_a_mask(candidate):
    return _agrees(candidate, _probe(B=1, mask=False))


@task.mistake(
    "Your test sees one sentence only, in which every query may attend to something. Take a batch of two or more, and a query with "
    "nothing to attend."
)
def batch_of_one_never_empty(candidate):
    return _agrees(candidate, _probe(B=1, empty=False)) and _agrees(candidate, _probe(B=1, mask=False))
