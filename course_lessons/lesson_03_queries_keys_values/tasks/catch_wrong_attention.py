"""Task 03.catch_wrong_attention: a test that tells correct attention from incorrect."""

from functools import partial

import torch

from course_lessons.lesson_03_queries_keys_values.tasks import attention
from course_lessons.shared.candidate_tests import mistakes_of_one_side, mistakes_of_tests, one_case_each
from course_utils.checks.task import Task

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


def mask_required(query, key, value, mask=None):
    return right_by_bmm(query, key, value, mask.bool())


RIGHT = {
    right_by_loops: "correct attention, written with loops",
    right_by_einsum: "correct attention, written with einsum",
    right_by_library: "correct attention, with torch's own function",
    right_by_bmm: "correct attention, written with bmm and an additive mask",
}


wrong, changed = attention.task.wrong, attention.task.variant

WRONG = {
    wrong("softmax_over_queries"): "incorrect attention: softmax over the queries",
    wrong("scaled"): "incorrect attention: scores divided by √D",
    wrong("mask_unused"): "incorrect attention: the mask has no effect",
    wrong("mask_inverted"): "incorrect attention: the mask inverted",
    wrong("masked_after"): "incorrect attention: masked after the softmax",
    wrong("empty_row_nan"): "incorrect attention: NaN where nothing may be attended to",
    wrong("softmax_over_batch"): "incorrect attention: softmax over the batch",
    changed({"result": lambda context, _, *, done: (context, done["the scores"].softmax(-1))}): "incorrect attention: the context is right, but the weights are returned without the mask",
    changed({"result": lambda context, weights, *, value: (value.mean(1, keepdim=True).expand_as(context), weights)}): "incorrect attention: the weights are right, but the context is the mean of all values",
    wrong("one_mask_for_all_queries"): "incorrect attention: one query's mask is used for all",
    wrong("one_mask_for_all_sentences"): "incorrect attention: one sentence's mask is used for all",
    changed({"value": lambda value: value[:1].expand_as(value)}): "incorrect attention: the first sentence's values are used for all",
    mask_required: "incorrect attention: it fails without a mask",
    changed({"the scores": lambda query, turned: query @ turned / 2}): "incorrect attention: scores divided by 2",
    wrong("empty_row_uniform"): "incorrect attention: equal weights where nothing may be attended to",
    wrong("order_swapped"): "incorrect attention: the weights are returned first",
    wrong("keys_summed"): "incorrect attention: it sums keys instead of values",
    changed({"key": lambda _, *, value: value}): "incorrect attention: it scores values instead of keys",
    changed({"key": lambda _, *, query: query}): "incorrect attention: it scores queries instead of keys",
    changed({"value": lambda _, *, query: query}): "incorrect attention: it sums queries instead of values",
    changed({"result": lambda context, weights: (context.mT.reshape(context.shape), weights)}): "incorrect attention: the context is transposed and not transposed back",
    changed({"the scores": lambda query, turned: query @ turned * turned.shape[-1] / query.shape[-1]}): "incorrect attention: scores times S/D, which is right only where S = D",
    changed({"the scores": lambda query, turned: query[..., :1] @ turned[:, :1]}): "incorrect attention: it scores by the first feature alone",
    changed({"the scores": lambda query, turned: query[..., -1:] @ turned[:, -1:]}): "incorrect attention: it scores by the last feature alone",
    changed({"result": lambda context, weights: (context - 0.001, weights)}): "incorrect attention: the context is too small by 0.001",
    changed({"result": lambda context, weights: (context + 0.001, weights)}): "incorrect attention: the context is too large by 0.001",
    changed({"result": lambda context, weights: (context.flip(-1), weights)}): "incorrect attention: the features of the context are in the opposite order",
}  # fmt: skip


task = Task(
    "03.catch_wrong_attention",
    "a test that tells correct attention from incorrect",
    arguments=("candidate",),
    result="verdict",
    candidates=(*RIGHT, *WRONG),
    difficulty=4,
    importance=4,
    minutes=25,
    offers=("models.attention.attention",),
    hints=(
        (
            "A test is only as good as its inputs: choose them so that incorrect and correct candidates give different results. Think of the batch, "
            "the sizes, the mask (and no mask), and a query with nothing to attend to. Then compare everything that is returned."
        ),
        (
            "Take a candidate that ignores the mask. With the query [1], the keys [0] and [0] and the values [4] and [8], the scores are 0 and "
            "0. With the mask True, False the correct weights are 1 and 0 and the correct context is 4; the candidate gives 0.5 and 0.5, and 6. "
            "With mask=None both give 6, so without a mask this candidate looks correct."
        ),
        (
            "For mask in (None, a random mask with one empty row): expected = reference(…); try received = candidate(…), except Exception: "
            "return False; if shapes differ or not torch.allclose(…, atol=1e-5): return False. At the end return True."
        ),
    ),
)


one_case_each(task, RIGHT, WRONG)


close = partial(torch.allclose, atol=1e-5)


def _test(candidate, B=2, S=5, empty=True, masks=(True, False), parts=(0, 1), same=close):
    """A correct test: with a mask that hides everything from one query and without a mask, what comes back is compared."""
    draw = torch.Generator().manual_seed(3)
    T, D, E = 3, 7, 11
    inputs = [torch.randn(*shape, generator=draw) for shape in ((B, T, D), (B, S, D), (B, S, E))]
    mask = torch.rand(B, T, S, generator=draw) < 0.5
    mask[:, :, 0] = ~mask[:, :, 1]
    mask[-1, -1] &= not empty
    try:
        for args in ((*inputs, mask if masked else None) for masked in masks):
            right, received = right_by_bmm(*args), candidate(*args)
            if not all(right[i].shape == received[i].shape and same(right[i], received[i]) for i in parts):
                return False
    except Exception:
        return False
    return True


mistaken = mistakes_of_tests(task, _test, "candidate")
mistakes_of_one_side(mistaken, "numbers", 1e-5)
for name, sentence, changes in (
    ("shapes_only", "Every candidate whose results have the right shapes passes your test, and nearly every wrong candidate returns them. Compare the numbers too.", {"same": lambda right, received: True, "masks": (True,)}),
    ("never_a_mask", "Every candidate that is wrong only where there is a mask passes your test. Try a mask as well as mask=None, and compare the results for each.", {"masks": (False,)}),
    ("no_rounding", "Your test rejects correct candidates whose last digits differ from the reference's, because adding in a different order rounds differently. Allow for rounding: torch.allclose(…, atol=1e-5) instead of torch.equal or ==.", {"same": torch.equal}),
    ("too_much_room", "Candidates that are off by a thousandth pass your test: your tolerance is too large. Rounding errors are about 1e-5.", {"same": partial(torch.allclose, atol=0.01)}),
    ("sizes_equal", "Your test passes a candidate that is right only if the number of keys S equals the width D. Choose sizes that all differ.", {"S": 7}),
    ("batch_of_one_sizes_equal", "Candidates that mix up the sentences of a batch pass your test, and so does one that is right only if the number of keys S equals the width D. Use a batch of at least two sentences and sizes that all differ, and compare every sentence.", {"B": 1, "S": 7}),
    ("no_empty_row", "Your test passes candidates that are wrong only for a query with nothing to attend to: they give NaN there, or attend to what is hidden. Include such a row in the mask, and compare that row too.", {"empty": False}),
    ("context_only", "Your test passes candidates whose context is right but whose weights are wrong. The weights are part of the result: compare them too.", {"parts": (0,)}),
    ("weights_only", "Your test passes candidates whose weights are right but whose context is wrong. The context is part of the result: compare it too.", {"parts": (1,)}),
    ("always_a_mask", "A candidate that fails without a mask passes your test. mask=None is allowed: try it too.", {"masks": (True,)}),
    ("always_a_mask_never_empty", "Candidates that fail without a mask pass your test, and so do those that are wrong for a query with nothing to attend to. Two more inputs are needed: mask=None, and a mask with such a row.", {"masks": (True,), "empty": False}),
    ("batch_of_one", "Your test passes candidates that mix up the sentences of a batch. Use a batch of at least two sentences, and compare every sentence, not only the first.", {"B": 1}),
    ("batch_of_one_always_a_mask", "Candidates that mix up the sentences of a batch pass your test, and so does one that fails without a mask. Use a batch of at least two sentences, compare every sentence, and try mask=None too.", {"B": 1, "masks": (True,)}),
    ("batch_of_one_never_a_mask", "Candidates that mix up the sentences of a batch pass your test, and so do those that are wrong only where there is a mask. Use a batch of at least two sentences, with a mask as well as without.", {"B": 1, "masks": (False,)}),
    ("batch_of_one_never_empty", "Candidates that mix up the sentences of a batch pass your test, and so do those that are wrong for a query with nothing to attend to. Use a batch of at least two sentences and a mask with such a row, and compare every sentence.", {"B": 1, "empty": False}),
):  # fmt: skip
    mistaken(name, sentence, **changes)
