"""Attacks on the judge: wrong answers that nobody named, values that no one expects."""

import collections
import dataclasses
import enum
import functools
import itertools
import sys

import numpy as np
import pytest
import sampling
import torch
import torch.nn.functional as F
from tasks import TASKS, judge_briefly, solution_of
from torch import nn
from weak_tests import attention_test, score_test

from course_utils.checks.judge import judge
from course_utils.checks.judge_answer import expected_on, judge_answer
from course_utils.checks.running.contract import Failure, Outcome, without_labels
from course_utils.checks.running.run import run
from course_utils.learner import notebook
from course_utils.models import attention as reference

INF = float("inf")


def soft(scores, mask=None, dim=-1):
    """Masked softmax with zeros in empty rows, for the attacks' own use."""
    return torch.nan_to_num((scores if mask is None else scores.masked_fill(~mask, -INF)).softmax(dim))


def squeezed(right):
    """Right but for `squeeze()`: every axis of size 1 is lost."""
    return lambda *args: right(*args).squeeze()


def counting(right):
    """Right for three calls, wrong later: state kept between calls."""
    calls = itertools.count()
    return lambda *args: right(*args) + (next(calls) >= 3)


def unstable_sigmoid(z):
    return z.exp() / (1 + z.exp())


weighted_sum, sum_vectors, sentiment, gradient, polarity, softmax, dot_scores, mlp_scores, several, spread, attention = map(
    solution_of,
    ("00.weighted_sum", "01.sum_vectors", "01.sentiment", "01.sentiment_gradient", "01.word_polarity", "02.softmax", "02.dot_scores",
     "02.mlp_scores", "02.several_attentions", "02.error_through_attention", "03.attention"),
)  # fmt: skip


def unstable_tanh(z):
    return (z.exp() - (-z).exp()) / (z.exp() + (-z).exp())


def zero_is_masked(scores, mask):
    """Takes every product of exactly 0 for masked, an honest score of 0 too."""
    kept = scores * mask
    return soft(kept, kept != 0)


def masked_in_place(scores, mask):
    scores[~mask] = -INF
    return torch.nan_to_num(scores.softmax(-1))


def altered_mask(q, k, v, m=None):
    out = attention(q, k, v, m)
    if m is not None:
        m.logical_not_()
    return out


SCORE = reference.SCORES
ASKED = {name: score for name, score in SCORE.items() if f"04.{name}" in TASKS}  # those that learners write


# If a task lost the inputs that refuse one of these, that one would pass, and neither another one nor a named mistake.
WRONG = {
    "00.weighted_sum": [
        lambda w, v: w @ v.T if v.shape[0] == v.shape[1] else w @ v,  # wrong only where square
        lambda w, v: w[:2] @ v[:2],
        lambda w, v: v.mul_(w[:, None]).sum(0),
        lambda w, v: (w @ v).squeeze(),  # width 1
        lambda w, v: (w @ v) if len(w) > 1 else v,
        lambda w, v: torch.tensor([float(a) for a in w @ v]).int(),
        counting(weighted_sum),
    ],
    "01.sum_vectors": [
        lambda x, m: x.masked_fill_(~m[..., None], 0).sum(1),
        lambda x, m: (x * m[..., None]).sum(1) if m.any(1).all() else x.sum(1),
        lambda x, m: x[m].reshape(len(x), -1, x.shape[2]).sum(1),  # runs only where all are equally long
        squeezed(sum_vectors),
        lambda x, m: sum_vectors(x.detach(), m),
    ],
    "01.sentiment": [
        lambda x, w, b: (x @ w + b).sigmoid().clamp(0.01, 0.99),
        lambda x, w, b: (x @ w + b).sigmoid().squeeze(),
        lambda x, w, b: torch.sigmoid(x @ w + b.item()),  # no gradient reaches the bias
        lambda x, w, b: (x @ w + b.add_(0.5) - 0.5).sigmoid(),
    ],
    "01.sentiment_gradient": [
        lambda x, y, w, b: gradient(x, y, w, b)[0].sub_(w.mul_(1.1) * 0) and None,
    ],
    "01.word_polarity": [
        squeezed(polarity),
        lambda x, w: F.cosine_similarity(x, w[None].expand_as(x), dim=0) if x.shape[0] == x.shape[1] else polarity(x, w),
        lambda x, w: torch.where(x.norm(dim=1) > 0, x @ w / (x.norm(dim=1) * w.norm()), 0.0),  # a zero direction
        lambda x, w: polarity(x, w).nan_to_num() if w.any() else torch.ones(len(x), dtype=x.dtype),
        lambda x, w: F.normalize(x, dim=1) @ F.normalize(w, dim=0) * (x.norm(dim=1) > 0.3),
        lambda x, w: polarity(x.div_(x.norm(dim=1, keepdim=True) + 1e-9), w),
    ],
    "02.softmax": [
        squeezed(softmax),
        lambda s, t=1.0: softmax(s, t) if s.dim() < 3 else (s / t).softmax(1),
        lambda s, t=1.0: (s / t).clamp(-50, 50).softmax(-1),
        lambda s, t=1.0: (s / max(t, 1.0)).softmax(-1),  # a temperature below 1 has no effect
        lambda s, t=1.0: F.gumbel_softmax(s / t),
        lambda s, t=1.0: s.div_(t).softmax(-1),
        lambda s, t=1.0: torch.as_tensor(s.detach() / t).softmax(-1),
        lambda s, t=2.0: softmax(s, t),
        lambda s, t: softmax(s, t),
    ],
    "02.masked_softmax": [
        masked_in_place,
        lambda s, m: soft(s, m.T if m.dim() == 2 and m.shape[0] == m.shape[1] else m),
        lambda s, m: soft(s, m) * (s != s.min()),
        squeezed(soft),
    ],
    "02.dot_scores": [
        squeezed(dot_scores),
        lambda x, t: (x @ t).mT if len(x) == x.shape[1] else x @ t,
        lambda x, t: x @ t.detach(),
        lambda x, t: x.mul_(t).sum(-1),
        lambda x, t: x.clamp(-5, 5) @ t,
    ],
    "02.mlp_scores": [
        squeezed(mlp_scores),
        lambda x, W, b, t: torch.sigmoid(x @ W.T + b.detach()) @ t,
        lambda x, W, b, t: torch.sigmoid((x @ W.T).clamp(-5, 5) + b) @ t,
        lambda x, W, b, t: torch.sigmoid(x @ (W if len(W) == W.shape[1] else W.T) + b) @ t,
    ],
    "02.several_attentions": [
        squeezed(several),
        lambda x, th, m: (zero_is_masked(th @ x.mT, m[:, None]) @ x).flatten(1),
        lambda x, th, m: ((th @ x.mT).masked_fill(~m[:, None], -1e9).softmax(-1) @ x).flatten(1),
        lambda x, th, m: several(x, th, m).reshape(len(x), -1).mT if len(x) == th.numel() else several(x, th.detach(), m),
    ],
    "02.error_through_attention": [
        squeezed(spread),
        lambda w, e: w[:1, :, None] * e[:, None],
        lambda w, e: spread(w.clamp(min=0.01), e),
    ],
    "03.padding_mask": [
        lambda n, size: (torch.arange(size) < n[:, None]).squeeze(),
        lambda n, size: torch.arange(size) < n.clamp(min=1)[:, None],
        lambda n, size: torch.arange(size) < n.clamp(max=5)[:, None],
        lambda n, size: torch.arange(size) < n[:, None].sub_(0) - (n.numel() > 3),
        lambda n, size: torch.arange(size) < n.sub_(1).add(1)[:, None],
        lambda n, size: torch.ones(len(n), size).tril(0).bool() if len(n) == size else torch.arange(size) < n[:, None],
    ],
    "03.causal_mask": [
        lambda n: torch.ones(n, n, dtype=torch.bool).tril().triu(-2),  # a window
        lambda n: torch.ones(3, 3, dtype=torch.bool).tril()[:n, :n],
        lambda n: torch.ones(n, n, dtype=torch.bool).tril().squeeze(),
    ],
    "03.attention": [
        lambda q, k, v, m=None: tuple(a.squeeze(-1) for a in attention(q, k, v, m)),  # E or S of 1
        lambda q, k, v, m=None: tuple(a.squeeze(1) for a in attention(q, k, v, m)),
        lambda q, k, v, m=None: attention(q, k, v, None if m is None or m.shape[1] != m.shape[2] else m.mT) if m is None or m.shape[1] == m.shape[2] else attention(q, k, v, m),
        lambda q, k, v, m: attention(q, k, v, m.logical_or(m)),  # fails without a mask
        lambda q, k, v, m=None: attention(q, k, v, torch.ones(q.shape[1], k.shape[1]).tril().bool().expand(len(q), -1, -1) if m is None else m),
        lambda q, k, v, m=None: attention(q.mul_(1.0001), k, v, m),
        altered_mask,
    ],
    "04.dot": [
        squeezed(SCORE["dot"]),
        lambda s, h: (s @ h.mT).mT if s.shape[1] == h.shape[1] else s @ h.mT,
        lambda s, h: s[..., :7] @ h[..., :7].mT * (s.shape[-1] != 7),
        lambda s, h: s.mul_(1) @ h.mul_(2).mT / 2,
    ],
    "04.perceptron": [
        squeezed(SCORE["perceptron"]),
        lambda s, h, W, U, v: torch.tanh((s @ W.T)[:, :, None] + (h @ U.T)[:1, None]) @ v,
        lambda s, h, W, U, v: torch.tanh((s @ W.T)[:, :1, None] + (h @ U.T)[:, None]).expand(-1, s.shape[1], -1, -1) @ v,
        lambda s, h, W, U, v: torch.tanh((s @ (W if len(W) == W.shape[1] else W.T))[:, :, None] + (h @ U.T)[:, None]) @ v,
        lambda s, h, W, U, v: torch.tanh((s @ W.T)[:, :, None] + (h @ U.T).detach()[:, None]) @ v,
    ],
    "04.content_based": [
        squeezed(SCORE["content_based"]),
        lambda s, h: SCORE["content_based"](s, h[:1].expand_as(h)),
        lambda s, h: s @ h.mT / (s.norm(dim=-1)[..., None] * h.norm(dim=-1)[:, None]).clamp(min=1),
        lambda s, h: torch.nan_to_num(s @ h.mT / (s.norm(dim=-1)[..., None] * h.norm(dim=-1)[:, None]), nan=1.0),
        lambda s, h: SCORE["content_based"](s.detach(), h),
    ],
    "03.catch_wrong_attention": [
        attention_test(agree=lambda a, b: torch.allclose(a.sum(-1), b.sum(-1), atol=1e-4)),
        attention_test(agree=lambda a, b: torch.allclose(a, b, atol=1e-5, equal_nan=True) or b.isnan().any()),
        attention_test((2, 3, 5, 1, 4)),  # D = 1: dividing by √D changes nothing
        attention_test(masks=lambda m: [None, m[-1:].expand_as(m)]),
        attention_test((2, 1, 5, 4, 4)),
        attention_test((2, 3, 5, 4, 4), fix=lambda q, k, v: (q, k, k)),  # values that are the keys
        attention_test((2, 3, 5, 4, 6), fix=lambda q, k, v: (q[:1].expand_as(q), k[:1].expand_as(k), v[:1].expand_as(v))),
        lambda candidate: 1 if attention_test()(candidate) else 0,
    ],
    "04.catch_wrong_scores": [
        score_test(agree=lambda a, b: torch.equal(a, b)),
        score_test((2, 3, 5, 1, 11, 13)),
        score_test((2, 3, 5, 64, 11, 13)),  # √64 is 8
        score_test((2, 3, 5, 5, 11, 13)),  # √S is √D
        score_test((2, 3, 5, 3, 11, 13)),  # √T is √D
        score_test((2, 4, 4, 7, 7, 7), fix=lambda name, a: [a[0], a[0], *a[2:]] if name != "location_based" else a),
        score_test(fix=lambda name, a: [*a[:-1], torch.ones_like(a[-1])] if a[-1].dim() == 1 else a),  # v of ones
        score_test(
            (2, 3, 5, 7, 7, 7), fix=lambda name, a: [*a[:2], torch.eye(7)] if name == "general" else a
        ),  # W = I
        score_test((2, 3, 5, 7, 7, 7), fix=lambda name, a: [*a[:3], a[2], a[4]] if name == "perceptron" else a),  # W = U
        lambda name, candidate: score_test()("dot", candidate),
        lambda name, candidate: name and None,
    ],
}  # fmt: skip
PLAIN_RIGHT = {
    "00.weighted_sum": weighted_sum, "01.sum_vectors": sum_vectors, "01.sentiment": sentiment, "01.word_polarity": polarity,
    "02.softmax": softmax, "02.masked_softmax": soft, "02.dot_scores": dot_scores, "02.mlp_scores": mlp_scores,
    "02.several_attentions": several, "02.error_through_attention": spread, **{f"04.{n}": f for n, f in ASKED.items()},
}  # fmt: skip
for _id, _right in PLAIN_RIGHT.items():
    WRONG[_id] += [lambda *args, right=_right: right(*args).tolist(), lambda *args, right=_right: right(*args).half()]
WRONG_ONES = [(task_id, answer) for task_id, wrong in WRONG.items() for answer in wrong]


@pytest.mark.parametrize(("task_id", "answer"), WRONG_ONES)
def test_a_wrong_answer_that_nobody_named_is_refused(task_id, answer):
    task = TASKS[task_id]
    report = judge_answer(task, answer) if sampling.NIGHT else judge_briefly(task, answer, expected_on(task, 0))
    assert report.state in ("failed", "error"), str(report)
    assert len(report.message) > 20 and report._repr_html_() and str(report)


@pytest.mark.parametrize(
    ("task_id", "answer"),
    [
        ("01.sentiment", lambda x, w, b: unstable_sigmoid(x @ w + b)),
        ("01.sentiment_gradient", lambda x, y, w, b: ((unstable_sigmoid(x @ w + b) - y) @ x / len(y), (unstable_sigmoid(x @ w + b) - y).mean())),
        ("02.mlp_scores", lambda x, W, b, t: unstable_sigmoid(x @ W.T + b) @ t),
        ("04.perceptron", lambda s, h, W, U, v: unstable_tanh((s @ W.T)[:, :, None] + (h @ U.T)[:, None]) @ v),
    ],
)  # fmt: skip
def test_overflow_costs_nothing_unless_prompts_name_large_values(task_id, answer):
    report = judge_answer(TASKS[task_id], answer)
    assert report.state == "passed" and report.mistake.endswith("overflow"), str(report)


def test_a_remark_names_no_mistake_that_is_not_made():
    """Probabilities that are cut off are no overflow, though both are right on all ordinary inputs."""
    report = judge_answer(
        TASKS["02.mlp_scores"],
        lambda x, W, b, t: torch.sigmoid((x @ W.T + b).clamp(-30, 30)) @ t + (x.abs().amax() > 500),
    )
    assert report.hazard and report.mistake is None, str(report)


# Natural mistakes as learners write them, each with the name that its report should bear


def weighted_from_zeros(w, v):
    total = torch.zeros(len(w))
    for s in range(len(w)):
        total += w[s] * v[s]
    return total


def by_hand_softmax(shift=lambda z: z.max(-1, keepdim=True).values, total=lambda e: e.sum(-1, keepdim=True)):
    def softmax(scores, temperature=1.0):
        z = scores / temperature
        e = torch.exp(z - shift(z))
        return e / total(e)

    return softmax


def renormalised(scores, mask, clean=lambda w: w):
    weights = torch.softmax(scores, -1) * mask
    return clean(weights / weights.sum(-1, keepdim=True))


def weights_with(fix, scores=lambda q, k: q @ k.transpose(1, 2)):
    """Attention by hand, `fix(weights, mask)` after the softmax."""

    def attention(query, key, value, mask=None):
        z = scores(query, key)
        if mask is not None:
            z = z.masked_fill(mask == 0, -INF)
        weights = fix(z.softmax(-1), mask)
        return weights @ value, weights

    return attention


def nan_written_over(weights, mask):
    weights[torch.isnan(weights)] = 0.0
    return weights


def masked_written_over(weights, mask):
    if mask is not None:
        weights.masked_fill_(~mask, 0)
    return weights


def exp_over_sum(query, key, value, mask=None, clean=torch.nan_to_num):
    e = torch.exp(query @ key.mT)
    if mask is not None:
        e = e.masked_fill(~mask, 0)
    weights = clean(e / e.sum(-1, keepdim=True))
    return weights @ value, weights


def error_of(x, y, w, b):
    return torch.sigmoid(x @ w + b) - y


NAMED = [
    ("00.weighted_sum", weighted_from_zeros, "zeros_as_many_as_weights"),
    ("00.weighted_sum", lambda w, v: sum((w[s] * v[s] for s in range(len(w))), v[0].clone()), "first_vector_twice"),
    ("00.weighted_sum", lambda w, v: w @ v / w.sum(), "weighted_mean"),
    ("01.sum_vectors", lambda x, m: (x * m.float()).sum(dim=1), "mask_without_third_axis"),
    ("01.sum_vectors", lambda x, m: x[m].sum(0), "all_sentences_together"),
    ("01.sum_vectors", lambda x, m: (x * m.unsqueeze(-1)).sum(1, keepdim=True), "axis_kept"),
    ("01.sentiment", lambda x, w, b: torch.sigmoid((x * w + b).sum(-1)), "bias_for_each_feature"),
    ("01.sentiment", lambda x, w, b: torch.sigmoid(torch.matmul(w, x) + b), "product_turned"),
    ("01.sentiment_gradient", lambda *a: gradient(*a)[::-1], "order_swapped"),
    ("01.sentiment_gradient", lambda x, *a: (error_of(x, *a)[:, None] * x, error_of(x, *a)), "both_not_averaged"),
    ("01.sentiment_gradient", lambda x, *a: (gradient(x, *a)[0], error_of(x, *a)), "bias_gradient_not_averaged"),
    ("01.sentiment_gradient", lambda x, y, w, b: (error_of(x, y, w, b).mean() * w, error_of(x, y, w, b).mean()), "error_times_weight"),
    ("02.softmax", by_hand_softmax(total=lambda e: e.sum(-1)), "total_without_its_axis"),
    ("02.softmax", by_hand_softmax(shift=lambda z: z.max(-1).values), "maximum_without_its_axis"),
    ("02.softmax", by_hand_softmax(lambda z: z.max(-1).values, lambda e: e.sum(-1)), "both_without_their_axis"),
    ("02.softmax", by_hand_softmax(total=lambda e: e.sum()), "one_total"),
    ("02.softmax", by_hand_softmax(lambda z: z.max(), lambda e: e.sum()), "total_of_everything"),
    ("02.softmax", by_hand_softmax(lambda z: z.mean(-1, keepdim=True)), "mean_subtracted"),
    ("02.masked_softmax", renormalised, "masked_after_and_divided"),
    ("02.masked_softmax", functools.partial(renormalised, clean=torch.nan_to_num), "masked_after_and_divided_safely"),
    ("02.masked_softmax", lambda s, m: (s + (1 - m.float()) * -INF).softmax(-1), "zero_times_infinity"),
    ("02.masked_softmax", lambda s, m: nan_written_over(s.masked_fill(~m, -INF).softmax(-1), m), "written_into_softmax"),
    ("02.dot_scores", lambda x, t: t @ x, "product_turned"),
    ("02.mlp_scores", lambda x, W, b, t: torch.sigmoid(W @ x + b) @ t, "product_turned"),
    ("02.mlp_scores", lambda x, W, b, t: t @ torch.sigmoid(x @ W.T + b), "theta_on_the_left"),
    ("02.several_attentions", lambda x, th, m: (reference.masked_softmax(th @ x.mT, m) @ x).flatten(1), "mask_without_attentions"),
    ("02.several_attentions", lambda x, th, m: (reference.masked_softmax(x @ th.T, m).mT @ x).flatten(1), "words_before_attentions"),
    ("02.several_attentions", lambda x, th, m: (soft(x @ th.T, m, 1).mT @ x).flatten(1), "mask_without_last_axis"),
    ("02.several_attentions", lambda x, th, m: torch.cat([(soft(x @ t, m)[:, None] @ x)[:, 0] for t in th]), "concatenated_along_batch"),
    ("02.several_attentions", lambda x, th, m: reference.masked_softmax(th @ x.mT, m[:, None].expand(-1, len(th), -1)), "weights_returned"),
    ("02.error_through_attention", lambda w, e: w * e, "words_on_features"),
    ("02.error_through_attention", lambda w, e: w.unsqueeze(-1) * e, "sentences_on_words"),
    ("02.error_through_attention", lambda w, e: spread(w, e).sum(1), "added_over_words"),
    ("02.error_through_attention", lambda w, e: spread(w * (1 - w), e), "softmax_derivative"),
    ("03.padding_mask", lambda n, size: (torch.arange(size) < n[:, None]).int(), "whole_numbers_not_truth"),
    ("03.causal_mask", lambda n: torch.ones(n, n).tril().to(torch.int32), "whole_numbers_not_truth"),
    ("03.attention", lambda *a: attention(*a)[0], "context_alone"),
    ("03.attention", weights_with(lambda w, m: w.nan_to_num(), lambda q, k: q @ k.permute(2, 1, 0)), "all_axes_reversed"),
    ("03.attention", weights_with(lambda w, m: w.nan_to_num(), lambda q, k: q @ k), "key_not_transposed"),
    ("03.attention", weights_with(nan_written_over), "written_into_softmax"),
    ("03.attention", weights_with(masked_written_over), "written_into_softmax_where_masked"),
    ("03.attention", exp_over_sum, "overflow_hidden"),
    ("03.attention", functools.partial(exp_over_sum, clean=lambda w: w), "overflow_and_empty_row"),
    ("03.attention", lambda q, k, v, m=None: (lambda c, w: (c.nan_to_num(), w))(*weights_with(lambda w, m: w)(q, k, v, m)), "weights_still_nan"),
    ("03.attention", lambda q, k, v, m=None: attention(q, k, v, None if m is None else m[0]), "one_mask_for_all_sentences"),
    ("03.attention", lambda q, k, v, m=None: attention(q, k, v, None if m is None else m[:, :1]), "one_mask_for_all_queries"),
    ("03.catch_wrong_attention", attention_test(masks=lambda m: [m | ~m.any(-1, keepdim=True)]), "always_a_mask_never_empty"),
    ("03.catch_wrong_attention", attention_test(agree=torch.equal), "no_rounding"),
    ("03.catch_wrong_attention", attention_test((1, 3, 4, 5, 6)), "batch_of_one"),
    ("03.catch_wrong_attention", attention_test((1, 4, 4, 4, 4)), "batch_of_one_sizes_equal"),
    ("03.catch_wrong_attention", attention_test((2, 3, 3, 3, 3)), "sizes_equal"),
    ("03.catch_wrong_attention", attention_test((1, 3, 5, 7, 11), masks=lambda m: [m]), "batch_of_one_always_a_mask"),
    ("03.catch_wrong_attention", attention_test((1, 3, 5, 7, 11), masks=lambda m: [None]), "batch_of_one_never_a_mask"),
    ("03.catch_wrong_attention", attention_test((1, 3, 5, 7, 11), masks=lambda m: [None, m | ~m.any(-1, keepdim=True)]), "batch_of_one_never_empty"),
    *((f"04.{name}", wrong, called) for name, prepare in {
        "dot": lambda s, h: (s, h),
        "content_based": lambda s, h: (F.normalize(s, dim=-1), F.normalize(h, dim=-1)),
    }.items() for wrong, called in (
        (lambda *a, p=prepare: torch.matmul(*p(*a)), "not_transposed"),
        (lambda *a, p=prepare: (lambda s, h: s @ h.permute(*reversed(range(h.dim()))))(*p(*a)), "all_axes_reversed"),
        (lambda *a, p=prepare: (lambda s, h: torch.sum(s * h, dim=-1))(*p(*a)), "position_by_position"),
        (lambda *a, p=prepare: torch.einsum("btd,csd->bts", *p(*a)), "sentences_mixed"),
    )),
    *((f"04.{n}", lambda *a, f=f: f(*a).softmax(2), "normalised") for n, f in ASKED.items()),
    *((f"04.{n}", lambda *a, f=f: f(*a).transpose(1, 2), "transposed") for n, f in ASKED.items()),
    ("04.perceptron", lambda s, h, W, U, v: torch.tanh(s @ W.T + h @ U.T) @ v, "perceptron_by_position"),
    ("04.perceptron", lambda s, h, W, U, v: torch.tanh((s @ W).unsqueeze(2) + (h @ U).unsqueeze(1)) @ v, "perceptron_not_transposed"),
]  # fmt: skip


@pytest.mark.parametrize("seed", sampling.usually([0, 1, 2], 1))
@pytest.mark.parametrize(
    ("task_id", "answer", "named"), NAMED, ids=[f"{i}-{n}-{j}" for j, (i, _, n) in enumerate(NAMED)]
)
def test_a_natural_mistake_bears_its_name(task_id, answer, named, seed):
    report = judge_answer(TASKS[task_id], answer, seed)
    assert report.mistake == named, str(report)


class Rude:
    """Raises at every touch."""

    __hash__ = None

    def _raise(self, *args):
        raise RuntimeError("do not touch")

    __eq__ = __repr__ = __bool__ = __len__ = _raise


class RudeNumber(int):
    __eq__ = __repr__ = __float__ = __int__ = Rude._raise
    __hash__ = int.__hash__


class RudeDict(dict):
    items = keys = __iter__ = Rude._raise


class RudeTensor(torch.Tensor):
    @classmethod
    def __torch_function__(cls, func, types, args=(), kwargs=None):
        raise RuntimeError("do not touch")


class Attributeless:
    def __getattr__(self, name):
        raise RuntimeError(name)

    def __call__(self, *args):
        return self


class Unspeakable(Exception):
    def __str__(self):
        raise RuntimeError


class Base(BaseException):
    pass


class Colour(enum.IntEnum):
    RED = 1


@dataclasses.dataclass
class Data:
    weights: int = 1


class Headless(nn.Module):
    """Without a forward."""


def raising(error):
    def answer(*args):
        raise error

    return answer


def itself(*args):
    out = []
    out.append(out)
    return out


def closing(*args):
    sys.stdout.close()
    return 1


def exits_the_second_time(*args, calls=itertools.count()):  # noqa: B008
    if next(calls) % 2:
        sys.exit(3)
    return torch.zeros(1, 1, 2)


def altering_badly(*args):
    for arg in args:
        if isinstance(arg, list):
            arg[:] = [Rude()]
    return 1


def gives(value):
    return lambda *args: value


WEIRD = {
    "expanded": lambda *a: torch.zeros(1).expand(10**12),
    "complex": gives(torch.zeros(2, 3, dtype=torch.complex64)),
    "sparse": gives(torch.eye(3).to_sparse()),
    "meta": gives(torch.zeros(2, 3, device="meta")),
    "float8": gives(torch.ones(1, 1, 2).to(torch.float8_e4m3fn)),
    "float8_like": lambda *a: a[0].float().to(torch.float8_e5m2) if isinstance(a[0], torch.Tensor) else 1,
    "bfloat16": gives(torch.ones(1, 1, 2, dtype=torch.bfloat16)),
    "unsigned": gives(torch.ones(1, 1, 2, dtype=torch.uint16)),
    "no_numbers": gives(torch.ones(1, 0, 2)),
    "infinite": lambda *a: a[0] / 0 if isinstance(a[0], torch.Tensor) else INF,
    "inference": lambda *a: torch.inference_mode()(torch.ones)(1, 1, 2),
    "tensor_subclass": lambda *a: torch.ones(2, 3).as_subclass(RudeTensor),
    "not_implemented_by_torch": lambda *a: torch.zeros(2, 3, dtype=torch.int8).softmax(-1),
    "nested": gives(((((1,),),),)),
    "namedtuple": gives(collections.namedtuple("Point", "x y")(Rude(), torch.ones(2))),
    "dataclass": gives(Data()),
    "rude": gives(Rude()),
    "rude_list": gives([Rude(), Rude()]),
    "rude_value": gives({"<pad>": Rude()}),
    "rude_number": gives(RudeNumber(3)),
    "rude_dict": gives(RudeDict(a=1)),
    "tensors_in_dict": gives({"<pad>": torch.zeros(2), "<unk>": torch.zeros(2)}),
    "strange_keys": gives({1: 2, None: 3, (1, 2): 4, torch.ones(2): 5, Data: 3}),
    "enum": gives(Colour.RED),
    "generator": lambda *a: (x for x in range(3)),
    "set": gives({1, 2}),
    "bytes": gives(b"bytes"),
    "nan": gives(float("nan")),
    "nan_in_dict": gives({"<pad>": float("nan")}),
    "huge_number": gives(10**5000),
    "huge_numbers": gives((torch.zeros(2), -(10**400))),
    "long_text": gives("x" * 10**6),
    "long_range": gives(range(10**12)),
    "numpy": gives(np.array([1, 2])),
    "itself": itself,
    "closing": closing,
    "exits_the_second_time": exits_the_second_time,
    "altering_badly": altering_badly,
    "base_exception": raising(Base()),
    "unspeakable": raising(Unspeakable()),
    "generator_exit": raising(GeneratorExit()),
    "attributeless": Attributeless(),
    "headless": Headless(),
    "class": Headless,
    "built_in": len,
    "a_rude_answer": Rude(),
    "the_arguments": lambda *a: a,
}


@pytest.mark.parametrize("name", WEIRD)
@pytest.mark.parametrize("task_id", ["01.must_fail", "01.sentiment_gradient", "04.dot"])
def test_a_weird_value_never_raises(task_id, name):
    report = judge_answer(TASKS[task_id], WEIRD[name])
    assert report.state in ("failed", "error"), str(report)
    assert 20 < len(report.message) < 600 and len(str(report)) < 10_000 and report._repr_html_()


@pytest.mark.parametrize(
    "name", ["complex", "nan", "rude", "rude_number", "huge_number", "closing", "base_exception", "class"]
)
def test_a_weird_verdict_never_raises(name):
    report = judge_answer(TASKS["03.catch_wrong_attention"], WEIRD[name])
    assert report.state in ("failed", "error"), str(report)


def test_torchs_own_not_implemented_is_an_error_of_the_answer():
    report = judge_answer(TASKS["02.softmax"], lambda s, t=1.0: s.long().softmax(-1))
    assert report.state == "error" and "not implemented for" in report.message


def test_a_class_in_place_of_an_instance_is_told():
    assert "Headless()" in judge_answer(TASKS["04.dot"], Headless).message


@pytest.mark.parametrize("content", [b"", b"\xff\xfe\x00", b"[" * 100_000], ids=["nothing", "no text", "deep"])
def test_a_damaged_file_is_set_aside(content, course_folder, capsys):
    (course_folder / ".course").mkdir()
    (course_folder / ".course" / "progress.json").write_bytes(content)
    assert notebook.check("04.dot", SCORE["dot"]).state == "passed"
    (aside,) = (course_folder / ".course").glob("progress-damaged-*")
    assert aside.read_bytes() == content and aside.name in capsys.readouterr().out


@pytest.mark.parametrize("task_id", sampling.usually(list(TASKS), 15))
def test_a_reply_that_stops_at_an_unusual_input_earns_nothing(task_id):
    """The reply is forged and ends with an error that no answer raised: the inputs after it count as wrong."""
    task, expected = TASKS[task_id], expected_on(TASKS[task_id], 0)
    outcomes = run(solution_of(task_id), list(map(without_labels, expected.cases)), 60, task.candidate)
    stop = Outcome("error", failure=Failure("ValueError", "made up"))
    assert judge(task, expected.cases, outcomes, expected).state == "passed"
    for place, case in enumerate(expected.cases[:-1]):
        if case.edge:
            report = judge(task, expected.cases, [*outcomes[:place], stop], expected, explaining=False)
            assert report.state in ("error", "failed") and not report.only_edges, (case.name, str(report))
