"""Task 03.catch_wrong_attention: a test that tells right attention from wrong."""

from functools import partial

import torch

from course_utils.checks.task import Task
from course_utils.tasks.candidates import one_case_each
from course_utils.tasks.lesson_03 import attention

# The candidates: right ones written differently, and wrong ones.


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


WRONG = {
    attention.softmax_over_queries: "a wrong attention: softmax over the queries",
    attention.scaled: "a wrong attention: scores divided by √D",
    attention.mask_unused: "a wrong attention: the mask has no effect",
    attention.mask_inverted: "a wrong attention: the mask turned round",
    attention.masked_after: "a wrong attention: masked after the softmax",
    attention.empty_row_nan: "a wrong attention: NaN where nothing may be attended",
    attention.softmax_over_batch: "a wrong attention: softmax over the batch",
    context_right_weights_unmasked: "a wrong attention: the context is right, and the weights come back without the mask",
    weights_right_context_averaged: "a wrong attention: the weights are right, and the context is the mean of all values",
    attention.one_mask_for_all_queries: "a wrong attention: the mask of one query for all",
    attention.one_mask_for_all_sentences: "a wrong attention: the mask of one sentence for all",
    values_of_first_sentence: "a wrong attention: the values of the first sentence for all",
    mask_required: "a wrong attention: it fails without a mask",
    half_as_sharp: "a wrong attention: scores divided by 2",
    attention.empty_row_uniform: "a wrong attention: even weights where nothing may be attended",
    attention.order_swapped: "a wrong attention: the weights come back first",
    attention.keys_summed: "a wrong attention: it sums keys in place of values",
    values_scored: "a wrong attention: it scores values in place of keys",
    queries_for_keys: "a wrong attention: it scores queries in place of keys",
    queries_summed: "a wrong attention: it sums queries in place of values",
    context_reshaped: "a wrong attention: the context is transposed and not turned back",
    features_turned: "a wrong attention: the features of the context stand in the opposite order",
}


task = Task(
    "03.catch_wrong_attention",
    "a test that tells right attention from wrong",
    arguments=("candidate",),
    result="verdict",
    candidates=(*RIGHT, *WRONG),
    difficulty=4,
    importance=4,
    minutes=25,
    offers=("models.attention.attention",),
    hints=(
        (
            "A test is only as good as its inputs: choose them so that wrong candidates give other results than correct ones. Think of the batch, "
            "the sizes, the mask (and no mask), and a query that may attend to nothing. Then compare everything that comes back."
        ),
        (
            "Take a candidate that ignores the mask. With the query [1], the keys [0] and [0] and the values [4] and [8], the scores are 0 and "
            "0. Under the mask True, False the right weights are 1 and 0 and the right context is 4; the candidate gives 0.5 and 0.5, and 6. "
            "With mask=None both give 6, so without a mask this candidate looks right."
        ),
        (
            "For mask in (None, a random mask with one empty row): expected = reference(…); try received = candidate(…), except Exception: "
            "return False; if shapes differ or not torch.allclose(…, atol=1e-5): return False. At the end return True."
        ),
    ),
)


one_case_each(task, RIGHT, WRONG)


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


@task.mistake("Your test says False to every candidate, even to the right ones.")
def always_false(candidate):
    return False


@task.mistake(
    "Every candidate whose results have the right shapes passes your test, and nearly every wrong attention has them. Compare the "
    "numbers too."
)
def shapes_only(candidate):
    try:
        args = _probe()
        return all(a.shape == b.shape for a, b in zip(right_by_bmm(*args), candidate(*args), strict=True))
    except Exception:
        return False


@task.mistake(
    "Every candidate that is wrong only where there is a mask passes your test. Try a mask as well as mask=None, and compare what comes "
    "back for each."
)
def never_a_mask(candidate):
    return _agrees(candidate, _probe(mask=False))


@task.mistake(
    "Right candidates are refused whose last digits differ from the reference's, because adding in another order rounds differently. "
    "Leave room for rounding: torch.allclose(…, atol=1e-5) in place of torch.equal or ==."
)
def no_rounding(candidate):
    return _agrees(candidate, _probe(), exactly=True) and _agrees(candidate, _probe(mask=False), exactly=True)


@task.mistake(
    "Candidates that are wrong only for a query with nothing to attend to pass your test: they give NaN there, or look at what is "
    "hidden. Put such a row into the mask, and compare that row too."
)
def no_empty_row(candidate):
    return _agrees(candidate, _probe(empty=False)) and _agrees(candidate, _probe(mask=False))


@task.mistake(
    "Candidates whose context is right and whose weights are wrong pass your test. The weights are part of the result: compare them too."
)
def context_only(candidate):
    return _agrees(candidate, _probe(), parts=(0,)) and _agrees(candidate, _probe(mask=False), parts=(0,))


@task.mistake(
    "Candidates whose weights are right and whose context is wrong pass your test. The context is part of the result: compare it too."
)
def weights_only(candidate):
    return _agrees(candidate, _probe(), parts=(1,)) and _agrees(candidate, _probe(mask=False), parts=(1,))


@task.mistake(
    "Candidates that mix up the sentences of a batch pass your test. Use a batch of two sentences or more, and compare every sentence, "
    "not only the first."
)
def batch_of_one(candidate):
    return _agrees(candidate, _probe(B=1)) and _agrees(candidate, _probe(B=1, mask=False))


@task.mistake("A candidate that fails without a mask passes your test. mask=None is allowed: try it too.")
def always_a_mask(candidate):
    return _agrees(candidate, _probe())


@task.mistake(
    "Candidates that fail without a mask pass your test, and so do those that are wrong for a query with nothing to attend to. Two more "
    "inputs are needed: mask=None, and a mask with such a row."
)
def always_a_mask_never_empty(candidate):
    return _agrees(candidate, _probe(empty=False))


@task.mistake(
    "Candidates that mix up the sentences of a batch pass your test, and so does one that fails without a mask. Use a batch of two "
    "sentences or more, compare every sentence, and try mask=None too."
)
def batch_of_one_always_a_mask(candidate):
    return _agrees(candidate, _probe(B=1))


@task.mistake(
    "Candidates that mix up the sentences of a batch pass your test, and so do those that are wrong only where there is a mask. Use a "
    "batch of two sentences or more, with a mask as well as without."
)
def batch_of_one_never_a_mask(candidate):
    return _agrees(candidate, _probe(B=1, mask=False))


@task.mistake(
    "Candidates that mix up the sentences of a batch pass your test, and so do those that are wrong for a query with nothing to attend "
    "to. Use a batch of two sentences or more and a mask with such a row, and compare every sentence."
)
def batch_of_one_never_empty(candidate):
    return _agrees(candidate, _probe(B=1, empty=False)) and _agrees(candidate, _probe(B=1, mask=False))
