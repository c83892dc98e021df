"""Task 03.catch_wrong_attention: a test that tells correct attention from incorrect."""

from functools import partial

import torch

from course_lessons.lesson_03_queries_keys_values.tasks import attention
from course_lessons.shared.candidate_tests import MistakenTests, one_case_each
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
    lambda query, key, value, mask=None: right_by_bmm(query, key, value, mask.bool()): "incorrect attention: it fails without a mask",
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
    changed({"result": lambda context, weights: (1.005 * context, weights)}): "incorrect attention: the context is too large by half a percent",
    changed({"result": lambda context, weights: (torch.cat([context[..., :1] + 0.1, context[..., 1:]], -1), weights)}): "incorrect attention: the first feature of each context is too large by 0.1",
    changed({"result": lambda context, weights: (torch.cat([context[..., :-1], context[..., -1:] + 0.1], -1), weights)}): "incorrect attention: the last feature of each context is too large by 0.1",
    changed({"result": lambda context, weights: (torch.cat([context[:1] + 0.1, context[1:]]), weights)}): "incorrect attention: the contexts of the first sentence are too large by 0.1",
    changed({"result": lambda context, weights: (torch.cat([context[:, :1] + 0.1, context[:, 1:]], 1), weights)}): "incorrect attention: the context of the first query is too large by 0.1",
    changed({"the scores": lambda query, turned: (query @ turned).abs()}): "incorrect attention: the scores lose their sign",
    lambda query, key, value, mask=None: right_by_bmm(query, key.reshape(query.shape), value, mask): "incorrect attention: it fails if T and S differ",
    changed({"result": lambda context, weights, *, query: (context.reshape(query.shape), weights)}): "incorrect attention: it fails if D and E differ",
}  # fmt: skip


task = Task(
    __name__,
    "a test that tells correct attention from incorrect",
    arguments=("candidate",),
    result="verdict",
    candidates=(*RIGHT, *WRONG),
    difficulty=4,
    importance=4,
    minutes=25,
    offers=("models.attention.attention",),
)


one_case_each(task, RIGHT, WRONG)


close = partial(torch.allclose, atol=1e-5)


def _test(candidate, B=2, T=3, S=5, E=11, empty=True, masks=(True, False), parts=(0, 1), same=close):
    """A correct test: with a mask that hides everything from one query and without a mask, what comes back is compared."""
    draw = torch.Generator().manual_seed(6)
    D = 7
    inputs = [torch.randn(*shape, generator=draw) for shape in ((B, T, D), (B, S, D), (B, S, E))]
    mask = torch.rand(B, T, S, generator=draw) < 0.5
    mask[:, :, 0] = ~mask[:, :, 1]
    mask[-1, -1] &= not empty
    for args in ((*inputs, mask if masked else None) for masked in masks):
        right, received = right_by_bmm(*args), candidate(*args)
        if not all(right[i].shape == received[i].shape and same(right[i], received[i]) for i in parts):
            return False
    return True


mistaken = MistakenTests(task, _test)
mistaken.on_one_side(1e-5)
mistaken("shapes_only", same=lambda right, received: True, masks=(True,))
mistaken("never_a_mask", masks=(False,))
mistaken("no_rounding", same=torch.equal)
mistaken("too_much_room", same=partial(torch.allclose, atol=0.01))
mistaken("sizes_equal", T=7, S=7, E=7)
mistaken("batch_of_one_sizes_equal", B=1, T=7, S=7, E=7)
mistaken("no_empty_row", empty=False)
mistaken("context_only", parts=(0,))
mistaken("weights_only", parts=(1,))
mistaken("always_a_mask", masks=(True,))
mistaken("always_a_mask_never_empty", masks=(True,), empty=False)
mistaken("batch_of_one", B=1)
mistaken("batch_of_one_always_a_mask", B=1, masks=(True,))
mistaken("batch_of_one_never_a_mask", B=1, masks=(False,))
mistaken("batch_of_one_never_empty", B=1, empty=False)
