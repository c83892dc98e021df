"""Attacks on the judge: wrong answers that nobody named, values that no one expects."""

import collections
import dataclasses
import enum
import functools
import itertools
import json
import math
import os
import subprocess
import sys
import textwrap

import extent
import numpy as np
import pytest
import torch
import torch.nn.functional as F
from test_tasks import TASKS, judge_briefly, solution_of
from torch import nn

from course_utils.checks.answer import expected_on, judge_answer
from course_utils.checks.judge import judge
from course_utils.checks.running.contract import Failure, Outcome, question
from course_utils.checks.running.run import run
from course_utils.learner import notebook, state
from course_utils.models import attention as reference

INF = float("inf")


def soft(scores, mask=None, dim=-1):
    """Masked softmax with zeros in empty rows, for the attacks' own use."""
    return torch.nan_to_num((scores if mask is None else scores.masked_fill(~mask, -INF)).softmax(dim))


def squeezed(right):
    """Right but for `squeeze()`: every axis of size 1 is lost."""
    return lambda *args: right(*args).squeeze()


def first_sentence_only(right):
    """Right for the first sentence of a batch; the others get zeros."""

    def answer(*args):
        out = right(*args)
        return torch.cat([out[:1], torch.zeros_like(out[1:])])

    return answer


def clamped(right, low=-5.0, high=5.0):
    """Wrong for numbers that are large."""
    return lambda first, *rest: right(first.clamp(low, high), *rest)


def positive(right):
    """Wrong for negative numbers in the first argument."""
    return lambda first, *rest: right(first.abs(), *rest)


def in_place(right):
    """Right, but doubles its first argument afterwards."""

    def answer(*args):
        out = right(*args)
        args[0].mul_(2)
        return out

    return answer


def counting(right):
    """Right for three calls, wrong later: state kept between calls."""
    calls = itertools.count()
    return lambda *args: right(*args) + (next(calls) >= 3)


def as_list(right):
    return lambda *args: right(*args).tolist()


def as_numpy(right):
    return lambda *args: right(*args).detach().numpy()


def dropped(right):
    return lambda *args: F.dropout(right(*args), 0.01)


def half(right):
    return lambda *args: right(*args).half()


ALL_TENSORS = (as_list, as_numpy, dropped, half)  # for every task with one float tensor as result
SIGMOID = {"exp": lambda z: z.exp() / (1 + z.exp()), "hard": F.hardsigmoid}


def weighted_sum(w, v):
    return w @ v


def sum_vectors(x, m):
    return (x * m[..., None]).sum(1)


def sentiment(x, w, b):
    return torch.sigmoid(x @ w + b)


def gradient(x, y, w, b):
    e = (torch.sigmoid(x @ w + b) - y) / len(y)
    return e @ x, e.sum()


def polarity(x, w):
    return F.normalize(x, dim=1) @ F.normalize(w, dim=0)


def softmax(s, t=1.0):
    return (s / t).softmax(-1)


def dot_scores(x, theta):
    return x @ theta


def mlp_scores(x, W, b, theta):
    return torch.sigmoid(x @ W.T + b) @ theta


def several(x, th, m):
    return (soft(th @ x.mT, m[:, None]) @ x).flatten(1)


def spread(w, e):
    return w[..., None] * e[:, None]


def attention(q, k, v, m=None):
    w = soft(q @ k.mT, m)
    return w @ v, w


def vocabulary(sentences, least, key=lambda w, n: (-n, w), word=lambda w: w):
    counts = collections.Counter(word(w) for s in sentences for w in s)
    kept = sorted((w for w in counts if counts[w] >= least), key=lambda w: key(w, counts[w]))
    return {w: i for i, w in enumerate(["<pad>", "<unk>", *kept])}


def unstable_tanh(z):
    return (z.exp() - (-z).exp()) / (z.exp() + (-z).exp())


def naive_softmax(scores, mask=None):
    e = scores.exp() if mask is None else scores.exp() * mask
    return e / e.sum(-1, keepdim=True).clamp(min=1e-30)


def zero_is_masked(scores, mask):
    """Takes every product of exactly 0 for masked, an honest score of 0 too."""
    kept = scores * mask
    return soft(kept, kept != 0)


def by_length(x, m):
    """Right only when all padding is at the end."""
    return torch.stack([s[:n].sum(0) for s, n in zip(x, m.sum(1).tolist(), strict=True)])


def several_by_length(x, th, m):
    return several(x, th, torch.arange(m.shape[1]) < m.sum(1, keepdim=True))


def vocabulary_kept(sentences, min_count=1, seen=collections.Counter()):  # noqa: B006  (the mistake: kept between calls)
    seen.update(w for s in sentences for w in s)
    return {w: i for i, w in enumerate(["<pad>", "<unk>", *sorted(seen, key=lambda w: (-seen[w], w))])}


def vocabulary_emptying(sentences, min_count=1):
    out = vocabulary(sentences, min_count)
    sentences.clear()
    return out


def vocabulary_sorting(sentences, min_count=1):
    for s in sentences:
        s.sort()
    return vocabulary(sentences, min_count)


def masked_in_place(scores, mask):
    scores[~mask] = -INF
    return torch.nan_to_num(scores.softmax(-1))


def mask_in_place(scores, mask):
    out = soft(scores, mask)
    mask |= True
    return out


def altered_mask(q, k, v, m=None):
    out = attention(q, k, v, m)
    if m is not None:
        m.logical_not_()
    return out


SCORE = reference.SCORES
ASKED = {name: score for name, score in SCORE.items() if f"04.{name}" in TASKS}  # those that learners write


def shaped(name, B, T, S, D, E, A):
    pair = {"additive": ((A, D + E), (A,)), "general": ((D, E),), "concatenating": ((D + E,),)}
    pair |= {"perceptron": ((A, D), (A, E), (A,))}
    if name == "location_based":
        return (B, T, D), (S, D)
    return (B, T, D), (B, S, E if name in pair else D), *pair.get(name, ())


def score_test(sizes=(2, 3, 5, 7, 11, 13), make=torch.randn, agree=None, zero=True, fix=lambda name, args: args):
    """A learner's test of scores. Everything that can be weak about it is a parameter."""
    agree = agree or (lambda a, b: a.shape == b.shape and torch.allclose(a, b, atol=1e-5))

    def test(name, candidate):
        torch.manual_seed(0)
        args = [make(shape) for shape in shaped(name, *sizes)]
        if zero:
            args[0][0, 0] = 0
        try:
            args = fix(name, args)
            return bool(agree(SCORE[name](*args), candidate(*args)))
        except Exception:
            return False

    return test


def attention_test(sizes=(2, 3, 5, 7, 11), make=torch.randn, agree=None, masks=None, fix=lambda q, k, v: (q, k, v)):
    """A learner's test of attention. Everything that can be weak about it is a parameter."""
    agree = agree or (lambda a, b: a.shape == b.shape and torch.allclose(a, b, atol=1e-5))
    B, T, S, D, E = sizes

    def test(candidate):
        torch.manual_seed(0)
        q, k, v = fix(make((B, T, D)), make((B, S, D)), make((B, S, E)))
        usual = torch.rand(B, q.shape[1], k.shape[1]) < 0.5
        usual[-1, -1] = False
        try:
            for mask in (None, usual) if masks is None else masks(usual):
                right, received = reference.attention(q, k, v, mask), candidate(q, k, v, mask)
                if len(received) != 2 or not all(agree(a, b) for a, b in zip(right, received, strict=True)):
                    return False
        except Exception:
            return False
        return True

    return test


def ones(shape):
    return torch.ones(shape)


def whole(shape):
    return torch.randint(-2, 3, shape).float()


WRONG = {
    "00.weighted_sum": [
        lambda w, v: w.softmax(0) @ v,
        lambda w, v: (w @ v)[None],
        lambda w, v: w @ v.T if v.shape[0] == v.shape[1] else w @ v,  # wrong only where square
        lambda w, v: torch.outer(w, v[:, 0]).sum(0) if w.numel() == v.shape[1] else w @ v,
        lambda w, v: w.abs() @ v,
        lambda w, v: w.clamp(min=0) @ v,
        lambda w, v: w.round() @ v,
        lambda w, v: w[:-1] @ v[:-1],
        lambda w, v: w[:2] @ v[:2],
        lambda w, v: (w * v.T).sum(),
        lambda w, v: w.flip(0) @ v,
        lambda w, v: sum(w[s] * v[s] for s in range(1, len(w))) if len(w) > 1 else w[0] * v[0],
        lambda w, v: v.mul_(w[:, None]).sum(0),
        lambda w, v: w @ v + v.mean(0) * 1e-3,
        lambda w, v: (w @ v).squeeze(),  # width 1
        lambda w, v: (w @ v) if len(w) > 1 else v,
        lambda w, v: torch.tensor([float(a) for a in w @ v]).int(),
        in_place(weighted_sum),
        counting(weighted_sum),
    ],
    "01.build_vocabulary": [
        vocabulary_kept,
        vocabulary_emptying,
        vocabulary_sorting,
        lambda s, m=1: vocabulary(s, m, word=str.lower),
        lambda s, m=1: vocabulary(s, m, word=lambda w: w.strip(".,!?'")),
        lambda s, m=1: vocabulary([[w for w in t if w.isalpha()] for t in s], m),
        lambda s, m=1: vocabulary([[w for w in t if len(w) > 1] for t in s], m),
        lambda s, m=1: vocabulary(s, m, key=lambda w, n: (-n, len(w), w)),
        lambda s, m=1: vocabulary(s, m, key=lambda w, n: (-n, w[0])),
        lambda s, m=1: dict(sorted(vocabulary(s, m).items())) | {"<unk>": 2},
        lambda s, m=1: {w: float(i) for w, i in vocabulary(s, m).items()},  # indices that cannot index
        lambda s, m=1: {w: str(i) for w, i in vocabulary(s, m).items()},
        lambda s, m=1: {i: w for w, i in vocabulary(s, m).items()},
        lambda s, m=1: list(vocabulary(s, m)),
        lambda s, m=1: list(vocabulary(s, m).items()),
        lambda s, m=1: {w: i + 1 for w, i in vocabulary(s, m).items()},
        lambda s, m=1: vocabulary(s, max(m, 2)),
        lambda s, m=2: vocabulary(s, m),  # another default
        lambda s, m=1: vocabulary(s[:1], m),
        lambda s, m=1: dict(list(vocabulary(s, m).items())[:10]),
        lambda s, m=1: vocabulary(s, m) if len(s) else {},
        lambda s, m=1: vocabulary(s, m, key=lambda w, n: (-n, [-ord(c) for c in w])),  # ties falling
        lambda s, m: vocabulary(s, m),  # no default
        lambda s, m=1: vocabulary([[w for w in t if w != "a"] for t in s], m),  # a stop word
    ],
    "01.sum_vectors": [
        by_length,
        lambda x, m: torch.stack([s[~k].sum(0) for s, k in zip(x, m, strict=True)]),
        lambda x, m: (x * m[..., None]).sum(1) / m.sum(),
        lambda x, m: (x * m[..., None]).sum(1, keepdim=True),
        lambda x, m: (x * m[..., None]).sum((0, 1)),
        lambda x, m: (x * m[0, :, None]).sum(1),
        lambda x, m: (x * m.all(0)[:, None]).sum(1),
        lambda x, m: (x * m[..., None]).cumsum(1)[:, -2],
        lambda x, m: (x * m[..., None]).amax(1),
        lambda x, m: x.masked_fill(~m[..., None], 1).sum(1),
        lambda x, m: x.masked_fill_(~m[..., None], 0).sum(1),
        lambda x, m: (x * m[..., None]).sum(1) if m.any(1).all() else x.sum(1),
        lambda x, m: sum_vectors(x, m) / sum_vectors(x, m).norm(dim=1, keepdim=True),
        lambda x, m: x[m].sum(0).expand(len(x), -1),
        lambda x, m: x[m].reshape(len(x), -1, x.shape[2]).sum(1),  # runs only where all are equally long
        squeezed(sum_vectors),
        first_sentence_only(sum_vectors),
        positive(sum_vectors),
        in_place(sum_vectors),
        lambda x, m: sum_vectors(x.detach(), m),
        counting(sum_vectors),
    ],
    "01.sentiment": [
        lambda x, w, b: SIGMOID["hard"](x @ w + b),
        lambda x, w, b: (x @ w + b).tanh(),
        lambda x, w, b: (x @ w - b).sigmoid(),
        lambda x, w, b: (x @ (w + b)).sigmoid(),
        lambda x, w, b: (x @ w).sigmoid() + b,
        lambda x, w, b: (x @ w + b).sigmoid().mean(),
        lambda x, w, b: (x @ w + b).sigmoid().round(),
        lambda x, w, b: (x @ w + b).sigmoid().log(),
        lambda x, w, b: (x @ w / w.norm() + b).sigmoid(),
        lambda x, w, b: (x.mean(1) * w.sum() + b).sigmoid(),
        lambda x, w, b: ((x * w + b).sum(1)).sigmoid(),  # the bias counted D times
        lambda x, w, b: (x @ w + b).clamp(-3, 3).sigmoid(),
        lambda x, w, b: (x @ w + b).sigmoid().clamp(0.01, 0.99),
        lambda x, w, b: (x @ w + b).sigmoid().squeeze(),
        lambda x, w, b: torch.sigmoid(x @ w + b.item()),  # no gradient reaches the bias
        lambda x, w, b: 2 * (x @ w + b).sigmoid() - 1,
        lambda x, w, b: torch.stack([(x @ w + b).sigmoid(), 1 - (x @ w + b).sigmoid()], 1),
        lambda x, w, b: (x @ w + b.add_(0.5) - 0.5).sigmoid(),
        first_sentence_only(sentiment),
    ],
    "01.sentiment_gradient": [
        lambda x, y, w, b: gradient(x, y, w, b)[0],
        lambda x, y, w, b: gradient(x, y, w, b)[::-1],
        lambda x, y, w, b: (gradient(x, y, w, b)[0][None], gradient(x, y, w, b)[1]),
        lambda x, y, w, b: (gradient(x, y, w, b)[0], None),
        lambda x, y, w, b: (gradient(x, y, w, b)[0] / len(w), gradient(x, y, w, b)[1]),
        lambda x, y, w, b: gradient(x, 1 - y, w, b),
        lambda x, y, w, b: gradient(x, 2 * y - 1, w, b),  # labels -1 and 1
        lambda x, y, w, b: gradient(x, y, w, b * 0 + 1),
        lambda x, y, w, b: (gradient(x, y, w, b)[0] + 0.01 * w, gradient(x, y, w, b)[1]),  # weight decay
        lambda x, y, w, b: (gradient(x, y, w, b)[0], gradient(x, y, w, b)[1] * 0),
        lambda x, y, w, b: gradient(x, y, -w, -b),
        lambda x, y, w, b: ((torch.sigmoid(x @ w + b).round() - y) @ x / len(y), gradient(x, y, w, b)[1]),  # perceptron
        lambda x, y, w, b: (gradient(x, y, w, b)[0] * 2, gradient(x, y, w, b)[1] * 2),
        lambda x, y, w, b: gradient(x, y, w, b)[0].sub_(w.mul_(1.1) * 0) and None,
        lambda x, y, w, b: {"weight": gradient(x, y, w, b)[0], "bias": gradient(x, y, w, b)[1]},
        lambda x, y, w, b: (w - gradient(x, y, w, b)[0], b - gradient(x, y, w, b)[1]),  # a step, not the gradient
        lambda x, y, w, b: torch.cat([gradient(x, y, w, b)[0], gradient(x, y, w, b)[1][None]]),
    ],
    "01.word_polarity": [
        squeezed(polarity),
        lambda x, w: F.cosine_similarity(x, w[None].expand_as(x), dim=0) if x.shape[0] == x.shape[1] else polarity(x, w),
        lambda x, w: polarity(x, w).acos(),
        lambda x, w: 1 - polarity(x, w),
        lambda x, w: polarity(x, w).sign(),
        lambda x, w: polarity(x, w) ** 2,
        lambda x, w: (polarity(x, w) + 1) / 2,
        lambda x, w: polarity(x - x.mean(0), w),
        lambda x, w: x @ w / (x.norm(dim=1) * w.norm() + 1e-2),
        lambda x, w: x @ w / (x.norm(dim=1) * w.norm()).clamp(min=1),
        lambda x, w: x @ w / (x.abs().sum(1) * w.abs().sum()).clamp(min=1e-9),
        lambda x, w: x @ w / (x.norm(dim=1) + w.norm()).clamp(min=1e-9),
        lambda x, w: torch.where(x.norm(dim=1) > 0, x @ w / (x.norm(dim=1) * w.norm()), 0.0),  # a zero direction
        lambda x, w: polarity(x, w) / polarity(x, w).abs().max().clamp(min=1e-9),
        lambda x, w: polarity(x, w).nan_to_num() if w.any() else torch.ones(len(x), dtype=x.dtype),
        lambda x, w: F.normalize(x, dim=1) @ F.normalize(w, dim=0) * (x.norm(dim=1) > 0.3),
        lambda x, w: polarity(x.div_(x.norm(dim=1, keepdim=True) + 1e-9), w),
    ],
    "02.softmax": [
        squeezed(softmax),
        lambda s, t=1.0: softmax(s, t) if s.dim() < 3 else (s / t).softmax(1),
        lambda s, t=1.0: softmax(s, t) if s.dim() == 2 else (s / t).softmax(0),
        lambda s, t=1.0: F.softmax(s / t, dim=min(1, s.dim() - 1)),
        lambda s, t=1.0: (s / t).clamp(-50, 50).softmax(-1),
        lambda s, t=1.0: (s / t).clamp(max=80).exp() / (s / t).clamp(max=80).exp().sum(-1, keepdim=True),
        lambda s, t=1.0: (s / math.sqrt(t)).softmax(-1),
        lambda s, t=1.0: (s / t**2).softmax(-1),
        lambda s, t=1.0: (s / max(t, 1.0)).softmax(-1),  # a temperature below 1 has no effect
        lambda s, t=1.0: (s / int(t or 1)).softmax(-1) if t >= 1 else s.softmax(-1),
        lambda s, t=1.0: (s / t).sigmoid(),
        lambda s, t=1.0: (s / t).sigmoid() / (s / t).sigmoid().sum(-1, keepdim=True),
        lambda s, t=1.0: s / t / (s / t).sum(-1, keepdim=True),
        lambda s, t=1.0: (-s / t).softmax(-1),
        lambda s, t=1.0: F.gumbel_softmax(s / t),
        lambda s, t=1.0: F.one_hot(s.argmax(-1), s.shape[-1]).to(s.dtype),
        lambda s, t=1.0: s.div_(t).softmax(-1),
        lambda s, t=1.0: s.sub_(s.amax(-1, keepdim=True)).div(t).softmax(-1),
        lambda s, t=1.0: torch.as_tensor(s.detach() / t).softmax(-1),
        lambda s, t=1.0: softmax(s, t).detach() + (s - s),
        lambda s, t=2.0: softmax(s, t),
        lambda s, t: softmax(s, t),
        lambda s, t=1.0: (s / t - (s / t).mean(-1, keepdim=True)).exp() / (s / t - (s / t).mean(-1, keepdim=True)).exp().sum(-1, keepdim=True),
        lambda s, t=1.0: 2 ** (s / t - (s / t).amax(-1, keepdim=True)) / (2 ** (s / t - (s / t).amax(-1, keepdim=True))).sum(-1, keepdim=True),
    ],
    "02.masked_softmax": [
        zero_is_masked,
        masked_in_place,
        mask_in_place,
        lambda s, m: naive_softmax(s, m),
        lambda s, m: soft(s, m) if m.any(-1).all() else s.softmax(-1) * m.any(-1, keepdim=True),
        lambda s, m: soft(s, m.expand_as(s)[:1].expand_as(s)),
        lambda s, m: soft(s, m.any(0).expand_as(s)),
        lambda s, m: soft(s.masked_fill(~m, INF)),
        lambda s, m: s.masked_fill(~m, -20.0).softmax(-1) * m,
        lambda s, m: soft(s - 5.0 * ~m),
        lambda s, m: F.normalize(soft(s, m), dim=-1),
        lambda s, m: soft(s, m) + 1e-3,
        lambda s, m: soft(s, m.T if m.dim() == 2 and m.shape[0] == m.shape[1] else m),
        lambda s, m: soft(s, torch.arange(s.shape[-1]) < m.sum(-1, keepdim=True)),  # takes padding to be at the end
        lambda s, m: soft(s, m) * (s != s.min()),
        lambda s, m: soft(s - s.max(), m) if s.abs().max() < 1e3 else naive_softmax(s - s.max(), m),  # one maximum for all
        lambda s, m: soft(s.detach(), m),
        lambda s, m: torch.where(m.any(-1, keepdim=True), soft(s, m), 1 / s.shape[-1]),
        lambda s, m: torch.nan_to_num(s.masked_fill(~m, -INF).softmax(-1), nan=1.0),
        lambda s, m: soft(s, m)[..., : m.sum(-1).max()],
        lambda s, m: (s.exp() * m) / (s.exp() * m).sum(-1, keepdim=True),
        squeezed(soft),
        counting(soft),
    ],
    "02.dot_scores": [
        squeezed(dot_scores),
        lambda x, t: (x @ t).mT if len(x) == x.shape[1] else x @ t,
        lambda x, t: x @ t.abs(),
        lambda x, t: (x @ t).relu(),
        lambda x, t: x @ t / t.norm(),
        lambda x, t: x @ t - (x @ t).mean(),
        lambda x, t: x @ t - (x @ t).amax(-1, keepdim=True),
        lambda x, t: x.sum(-1) * t.sum(),
        lambda x, t: (x * t).mean(-1),
        lambda x, t: (x @ t).sigmoid(),
        lambda x, t: (x @ t).tanh(),
        lambda x, t: (x[0] @ t).expand(len(x), -1),
        lambda x, t: (x @ t).sum(0),
        lambda x, t: x @ t.detach(),
        lambda x, t: x.data @ t,
        lambda x, t: torch.tensor((x @ t).tolist(), requires_grad=True),
        lambda x, t: (x.reshape(-1, len(x), x.shape[2]) @ t).T,  # mixes up sentences
        lambda x, t: x.mul_(t).sum(-1),
        lambda x, t: -(x - t).square().sum(-1),
        first_sentence_only(dot_scores),
        clamped(dot_scores),
    ],
    "02.mlp_scores": [
        squeezed(mlp_scores),
        lambda x, W, b, t: SIGMOID["hard"](x @ W.T + b) @ t,
        lambda x, W, b, t: F.gelu(x @ W.T + b) @ t,
        lambda x, W, b, t: torch.sigmoid(x @ W.T - b) @ t,
        lambda x, W, b, t: torch.sigmoid(x @ W.T + b).mean(-1) * t.sum(),
        lambda x, W, b, t: torch.sigmoid(x @ W.T + b) * t,
        lambda x, W, b, t: (x @ W.T + b).softmax(-1) @ t,
        lambda x, W, b, t: torch.sigmoid(x @ W.T + b) @ t / len(t) ** 0.5,
        lambda x, W, b, t: torch.sigmoid(x @ W.T + b) @ t / len(t),
        lambda x, W, b, t: torch.sigmoid(x @ W.T + b.detach()) @ t,
        lambda x, W, b, t: torch.sigmoid(x @ W.T + b.sum()) @ t,
        lambda x, W, b, t: torch.sigmoid(torch.sigmoid(x @ W.T + b)) @ t,
        lambda x, W, b, t: (torch.sigmoid(x @ W.T + b) @ t).sum(1),
        lambda x, W, b, t: torch.sigmoid(x @ W.T + b[0]) @ t,
        lambda x, W, b, t: torch.sigmoid((x @ W.T).clamp(-5, 5) + b) @ t,
        lambda x, W, b, t: torch.sigmoid(x @ (W if len(W) == W.shape[1] else W.T) + b) @ t,
        first_sentence_only(mlp_scores),
    ],
    "02.several_attentions": [
        several_by_length,
        squeezed(several),
        lambda x, th, m: (zero_is_masked(th @ x.mT, m[:, None]) @ x).flatten(1),
        lambda x, th, m: (naive_softmax(th @ x.mT, m[:, None]) @ x).flatten(1),
        lambda x, th, m: (soft(th @ x.mT / x.shape[-1] ** 0.5, m[:, None]) @ x).flatten(1),
        lambda x, th, m: several(x, th[:1].expand_as(th), m),
        lambda x, th, m: several(x, th.flip(0), m),
        lambda x, th, m: several(x, th, m[:1].expand_as(m)),
        lambda x, th, m: several(x, th, m.all(0).expand_as(m)),
        lambda x, th, m: several(x[:1].expand_as(x), th, m),
        lambda x, th, m: several(x, th, ~m),
        lambda x, th, m: several(x, F.normalize(th, dim=-1), m),
        lambda x, th, m: several(x, th, m) / len(th),
        lambda x, th, m: (soft(th @ x.mT, m[:, None]) @ (x * m[..., None])).mean(1),
        lambda x, th, m: (((th @ x.mT).softmax(-1) * m[:, None]) @ x).flatten(1),
        lambda x, th, m: ((th @ x.mT).masked_fill(~m[:, None], -1e9).softmax(-1) @ x).flatten(1),
        lambda x, th, m: (((th @ x.mT).masked_fill(~m[:, None], -1e4).softmax(-1) * m[:, None]) @ x).flatten(1),
        lambda x, th, m: ((th @ x.mT * m[:, None]).softmax(-1) @ x).flatten(1),
        lambda x, th, m: (soft(th @ x.mT, m[:, None]) @ x).reshape(-1, th.numel()).flip(0),
        lambda x, th, m: (soft((th @ x.mT).sum(1), m)[:, None] @ x).repeat(1, len(th), 1).flatten(1),
        lambda x, th, m: several(x, th, m).reshape(len(x), -1).mT if len(x) == th.numel() else several(x, th.detach(), m),
        first_sentence_only(several),
    ],
    "02.error_through_attention": [
        squeezed(spread),
        lambda w, e: w[..., None] * e[:1, None],
        lambda w, e: w[:1, :, None] * e[:, None],
        lambda w, e: (w[..., None] * e[:, None]).sum(1),
        lambda w, e: (w[..., None] * e[:, None]).sum(-1),
        lambda w, e: -w[..., None] * e[:, None],
        lambda w, e: (w > 0)[..., None] * e[:, None],
        lambda w, e: (w * (1 - w))[..., None] * e[:, None],  # the softmax's own derivative
        lambda w, e: spread(w, e) - (w[..., None] * spread(w, e)).sum(1, keepdim=True),
        lambda w, e: spread(w, e.abs()),
        lambda w, e: spread(w, e / len(e)),
        lambda w, e: spread(w, e / e.norm(dim=-1, keepdim=True).clamp(min=1e-9)),
        lambda w, e: spread(F.one_hot(w.argmax(1), w.shape[1]).to(e.dtype), e),
        lambda w, e: spread(w.clamp(min=0.01), e),
        lambda w, e: torch.einsum("as,bd->bsd", w, e) / len(w),
        lambda w, e: spread(w / w.sum(0), e).nan_to_num(),
        lambda w, e: torch.einsum("bs,bd->sbd", w, e),
        first_sentence_only(spread),
    ],
    "03.padding_mask": [
        lambda n, size: torch.arange(size) < n[:1, None].expand(len(n), 1),
        lambda n, size: torch.arange(size) < n.sort().values[:, None],
        lambda n, size: torch.arange(size) < n.sort(descending=True).values[:, None],
        lambda n, size: (torch.arange(size) < n[:, None]).to(torch.uint8),
        lambda n, size: (torch.arange(size) < n[:, None]).long(),
        lambda n, size: (torch.arange(size) < n[:, None]).tolist(),
        lambda n, size: (torch.arange(size) < n[:, None])[:, None],
        lambda n, size: (torch.arange(size) < n[:, None]).squeeze(),
        lambda n, size: torch.arange(size) < n.clamp(min=1)[:, None],
        lambda n, size: torch.arange(size) < n.clamp(max=5)[:, None],
        lambda n, size: torch.arange(1, size + 1) < n[:, None],
        lambda n, size: torch.arange(size) == n[:, None] - 1,
        lambda n, size: torch.arange(size) != n[:, None],
        lambda n, size: torch.arange(size) < n[:, None].sub_(0) - (n.numel() > 3),
        lambda n, size: torch.arange(size) < n.sub_(1).add(1)[:, None],
        lambda n, size: torch.arange(size).expand(len(n), -1) < n.float().mean(),
        lambda n, size: (torch.arange(11) < n[:, None])[:, :size] if size < 11 else torch.ones(len(n), size).bool(),
        lambda n, size: torch.ones(len(n), size).tril(0).bool() if len(n) == size else torch.arange(size) < n[:, None],
    ],
    "03.causal_mask": [
        lambda n: torch.ones(n, n).tril(),
        lambda n: torch.ones(n, n, dtype=torch.bool).tril()[None],
        lambda n: torch.ones(n, n, dtype=torch.bool),
        lambda n: torch.eye(n, dtype=torch.bool),
        lambda n: torch.ones(n, n, dtype=torch.bool).tril().int(),
        lambda n: torch.ones(n, n, dtype=torch.bool).tril().triu(-2),  # a window
        lambda n: torch.ones(3, 3, dtype=torch.bool).tril()[:n, :n],
        lambda n: torch.ones(n + 1, n + 1, dtype=torch.bool).tril(),
        lambda n: torch.ones(n, n, dtype=torch.bool).tril().fliplr(),
        lambda n: torch.ones(n, n, dtype=torch.bool).tril().tolist(),
        lambda n: torch.ones(n, n, dtype=torch.bool).tril().squeeze(),
        lambda n: torch.ones(n, n, dtype=torch.bool).tril().numpy(),
        lambda n: torch.ones(n, n, dtype=torch.bool).tril().flatten(),
        lambda n: torch.tril(torch.ones(n, n)).masked_fill(torch.ones(n, n).tril() == 0, -INF),
    ],
    "03.attention": [
        lambda q, k, v, m=None: (naive_softmax(q @ k.mT, m) @ v, naive_softmax(q @ k.mT, m)),
        lambda q, k, v, m=None: (lambda w: (w @ v, w))(soft(q @ k.mT) if m is None else zero_is_masked(q @ k.mT, m)),
        lambda q, k, v, m=None: (lambda w: (w @ v, w))(soft(q @ k.mT) if m is None else (q @ k.mT).masked_fill(~m, -1e4).softmax(-1) * m),
        lambda q, k, v, m=None: (lambda w: (w @ v, w))(soft((q @ k.mT).clamp(-30, 30), m)),
        lambda q, k, v, m=None: tuple(a.squeeze() for a in attention(q, k, v, m)),
        lambda q, k, v, m=None: tuple(a.squeeze(-1) for a in attention(q, k, v, m)),  # E or S of 1
        lambda q, k, v, m=None: tuple(a.squeeze(1) for a in attention(q, k, v, m)),
        lambda q, k, v, m=None: attention(q, k, v, m)[0],
        lambda q, k, v, m=None: (*attention(q, k, v, m), q @ k.mT),
        lambda q, k, v, m=None: (attention(q, k, v, m)[0], attention(q, k, v)[1]),
        lambda q, k, v, m=None: (attention(q, k, v)[0], attention(q, k, v, m)[1]),
        lambda q, k, v, m=None: (attention(q, k, v, m)[0], attention(q, k, v, m)[1].detach()),
        lambda q, k, v, m=None: (attention(q, k, v, m)[0].detach(), attention(q, k, v, m)[1]),
        lambda q, k, v, m=None: attention(q, k, v.detach(), m),
        lambda q, k, v, m=None: attention(q, k, v, None if m is None else m[:, :1].expand_as(m)),
        lambda q, k, v, m=None: attention(q, k, v, None if m is None else m[:1].expand_as(m)),
        lambda q, k, v, m=None: attention(q, k, v, None if m is None or m.shape[1] != m.shape[2] else m.mT) if m is None or m.shape[1] == m.shape[2] else attention(q, k, v, m),
        lambda q, k, v, m=None: attention(q, k, v, None if m is None else m & torch.ones(m.shape[1:]).tril().bool()),
        lambda q, k, v, m=None: attention(q, k, v[:1].expand_as(v), m),
        lambda q, k, v, m=None: attention(q, k[:1].expand_as(k), v, m),
        lambda q, k, v, m=None: attention(q, k, v, m) if m is None or m.any(-1).all() else attention(q, k, v),
        lambda q, k, v, m=None: (attention(q, k, v, m)[0], attention(q, k, v, m)[1].mT),
        lambda q, k, v, m=None: (attention(q, k, v, m)[0], attention(q, k, v, m)[1].log()),
        lambda q, k, v, m: attention(q, k, v, m.logical_or(m)),  # fails without a mask
        lambda q, k, v, m=None: attention(q, k, v, torch.ones(q.shape[1], k.shape[1]).tril().bool().expand(len(q), -1, -1) if m is None else m),
        lambda q, k, v, m=None: attention(F.normalize(q, dim=-1), F.normalize(k, dim=-1), v, m),
        lambda q, k, v, m=None: attention(q - q.mean(-1, keepdim=True), k, v, m),
        lambda q, k, v, m=None: (lambda w: (w @ v, w))(F.dropout(attention(q, k, v, m)[1], 0.1)),
        lambda q, k, v, m=None: attention(q.mul_(1.0001), k, v, m),
        altered_mask,
    ],
    "04.dot": [
        squeezed(SCORE["dot"]),
        lambda s, h: torch.einsum("btd,csd->bts", s, h),
        lambda s, h: s @ h[:1].mT,
        lambda s, h: (s @ h.mT).mT if s.shape[1] == h.shape[1] else s @ h.mT,
        lambda s, h: s @ h.mT / 8,
        lambda s, h: (s @ h.mT).mean(0, keepdim=True).expand(len(s), -1, -1),
        lambda s, h: (s[:, :, None] * h[:, None]).mean(-1),
        lambda s, h: s @ h.flip(1).mT,
        lambda s, h: (s.flip(0) @ h.mT),
        lambda s, h: -torch.cdist(s, h) ** 2 / 2,
        lambda s, h: s[..., :7] @ h[..., :7].mT * (s.shape[-1] != 7),
        lambda s, h: (s @ h.mT).softmax(-1).log(),
        lambda s, h: (s @ h.mT).half().to(s.dtype),
        lambda s, h: s.mul_(1) @ h.mul_(2).mT / 2,
        first_sentence_only(SCORE["dot"]),
        positive(SCORE["dot"]),
        counting(SCORE["dot"]),
    ],
    "04.perceptron": [
        squeezed(SCORE["perceptron"]),
        lambda s, h, W, U, v: torch.sigmoid((s @ W.T)[:, :, None] + (h @ U.T)[:, None]) @ v,
        lambda s, h, W, U, v: torch.tanh((s @ W.T)[:, :, None] * (h @ U.T)[:, None]) @ v,
        lambda s, h, W, U, v: torch.tanh((s @ W.T)[:, :, None] - (h @ U.T)[:, None]) @ v,
        lambda s, h, W, U, v: torch.tanh((s @ W.T)[:, :, None] + (h @ U.T)[:1, None]) @ v,
        lambda s, h, W, U, v: torch.tanh((s @ W.T)[:, :1, None] + (h @ U.T)[:, None]).expand(-1, s.shape[1], -1, -1) @ v,
        lambda s, h, W, U, v: torch.tanh((s @ W.T)[:, None] + (h @ U.T)[:, :, None]) @ v,
        lambda s, h, W, U, v: torch.tanh(((s @ W.T)[:, :, None] + (h @ U.T)[:, None]) @ v),
        lambda s, h, W, U, v: torch.tanh((s @ W.T)[:, :, None] + (h @ U.T)[:, None]) @ v / len(v),
        lambda s, h, W, U, v: torch.tanh((s @ W.T)[:, :, None] + (h @ U.T)[:, None]).amax(-1),
        lambda s, h, W, U, v: torch.tanh((s @ (W if len(W) == W.shape[1] else W.T))[:, :, None] + (h @ U.T)[:, None]) @ v,
        lambda s, h, W, U, v: torch.tanh((s @ W.T)[:, :, None] + (h @ U.T).detach()[:, None]) @ v,
        lambda s, h, W, U, v: torch.tanh((s @ W.T)[:, :, None] + (h @ U.T)[:, None]) @ v.softmax(0),
        first_sentence_only(SCORE["perceptron"]),
    ],
    "04.content_based": [
        squeezed(SCORE["content_based"]),
        lambda s, h: 1 - SCORE["content_based"](s, h),
        lambda s, h: SCORE["content_based"](s, h).abs(),
        lambda s, h: SCORE["content_based"](s, h).softmax(-1),
        lambda s, h: SCORE["content_based"](s, h[:1].expand_as(h)),
        lambda s, h: F.normalize(s, dim=-1) @ torch.nan_to_num(h / h.norm(dim=(1, 2), keepdim=True)).mT,
        lambda s, h: F.normalize(s, dim=-1, p=1) @ F.normalize(h, dim=-1, p=1).mT,
        lambda s, h: F.normalize(s, dim=-1) @ (h / h.norm(dim=-1, keepdim=True)).mT,  # NaN for a zero hidden state only
        lambda s, h: (s / s.norm(dim=-1, keepdim=True)) @ F.normalize(h, dim=-1).mT,
        lambda s, h: s @ h.mT / (s.norm(dim=-1)[..., None] * h.norm(dim=-1)[:, None] + 0.01),
        lambda s, h: s @ h.mT / (s.norm(dim=-1)[..., None] * h.norm(dim=-1)[:, None]).clamp(min=1),
        lambda s, h: s @ h.mT / (s.norm(dim=-1)[..., None] + h.norm(dim=-1)[:, None]).clamp(min=1e-9),
        lambda s, h: SCORE["content_based"](s - s.mean(-1, keepdim=True), h - h.mean(-1, keepdim=True)),  # a correlation
        lambda s, h: torch.nan_to_num(s @ h.mT / (s.norm(dim=-1)[..., None] * h.norm(dim=-1)[:, None]), nan=1.0),
        lambda s, h: SCORE["content_based"](s, h).mT if s.shape[1] == h.shape[1] else SCORE["content_based"](s, h),
        lambda s, h: SCORE["content_based"](s, h).acos(),
        lambda s, h: SCORE["content_based"](s.detach(), h),
        lambda s, h: F.normalize(s, dim=-1) @ F.normalize(h, dim=-1).detach().mT,
        first_sentence_only(SCORE["content_based"]),
    ],
    "03.catch_wrong_attention": [
        attention_test(agree=lambda a, b: torch.allclose(a.sum(), b.sum(), atol=1e-4)),
        attention_test(agree=lambda a, b: torch.allclose(a.sum(-1), b.sum(-1), atol=1e-4)),
        attention_test(agree=lambda a, b: torch.allclose(a.norm(), b.norm(), atol=1e-4)),
        attention_test(agree=lambda a, b: torch.allclose(a[0], b[0], atol=1e-5)),
        attention_test(agree=lambda a, b: torch.allclose(a[:, 0], b[:, 0], atol=1e-5)),
        attention_test(agree=lambda a, b: torch.equal(a, b)),
        attention_test(agree=lambda a, b: torch.allclose(a, b, atol=1.0)),
        attention_test(agree=lambda a, b: torch.allclose(a, b, atol=1e-5, equal_nan=True) or b.isnan().any()),
        attention_test(agree=lambda a, b: torch.equal(a.argmax(-1), b.argmax(-1))),
        attention_test(agree=lambda a, b: a.shape == b.shape and bool(b.isfinite().all())),
        attention_test(agree=lambda a, b: torch.allclose(a.nan_to_num(), b.nan_to_num(), atol=1e-5)),
        attention_test(make=lambda s: torch.randn(s) * 0),
        attention_test(make=ones),
        attention_test(make=lambda s: torch.randn(s) * 1e-3),
        attention_test(make=lambda s: torch.randn(s) * 1e3, masks=lambda m: [None]),
        attention_test((2, 3, 5, 1, 4)),  # D = 1: dividing by √D changes nothing
        attention_test((2, 3, 5, 4, 4), masks=lambda m: [None, m[:, :1].expand_as(m)]),
        attention_test(masks=lambda m: [None, m[-1:].expand_as(m)]),
        attention_test(masks=lambda m: [None, torch.zeros_like(m)]),
        attention_test(masks=lambda m: [None, torch.ones_like(m)]),
        attention_test((2, 3, 1, 4, 4)),  # one key: all the weight is its own
        attention_test((2, 1, 5, 4, 4)),
        attention_test((1, 3, 5, 4, 4)),
        attention_test((2, 4, 4, 4, 4), fix=lambda q, k, v: (q, q, q)),  # self-attention only: roles go unseen
        attention_test((2, 3, 5, 4, 4), fix=lambda q, k, v: (q, k, k)),  # values that are the keys
        attention_test((2, 4, 4, 4, 3), fix=lambda q, k, v: (k, k, v)),
        attention_test((2, 3, 5, 4, 6), fix=lambda q, k, v: (q, k, torch.ones_like(v))),
        attention_test((2, 3, 5, 4, 6), fix=lambda q, k, v: (q[:1].expand_as(q), k[:1].expand_as(k), v[:1].expand_as(v))),
        lambda candidate: "wrong" not in getattr(candidate, "__name__", ""),
        lambda candidate: not attention_test()(candidate),
        lambda candidate: 1 if attention_test()(candidate) else 0,
        lambda candidate: print(attention_test()(candidate)) or False,
        lambda candidate: candidate(*[torch.randn(2, 3, 4)] * 3)[0].shape == (2, 3, 4),  # raises where a candidate does
        lambda candidate: candidate is reference.attention,
        attention_test(agree=lambda a, b: torch.allclose(a, b, rtol=0, atol=1e-9)),
    ],
    "04.catch_wrong_scores": [
        score_test(agree=lambda a, b: torch.allclose(a.sum(), b.sum(), atol=1e-4)),
        score_test(agree=lambda a, b: torch.allclose(a[0], b[0], atol=1e-5)),
        score_test(agree=lambda a, b: torch.allclose(a[:, 0], b[:, 0], atol=1e-5)),
        score_test(agree=lambda a, b: torch.equal(a, b)),
        score_test(agree=lambda a, b: torch.allclose(a, b, atol=1.0)),
        score_test(agree=lambda a, b: torch.allclose(a, b.nan_to_num(), atol=1e-5)),
        score_test(agree=lambda a, b: torch.equal(a.argmax(-1), b.argmax(-1))),
        score_test(zero=False),
        score_test(make=ones),
        score_test(make=lambda s: torch.randn(s) * 1e-3),
        score_test(make=lambda s: torch.zeros(s)),
        score_test((1, 3, 5, 7, 11, 13)),
        score_test((2, 1, 5, 7, 11, 13), zero=False),
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
        lambda name, candidate: name != "dot" or score_test()(name, candidate),
        lambda name, candidate: score_test()("dot", candidate),
        lambda name, candidate: name and None,
        lambda name, candidate: candidate(*[torch.randn(s) for s in shaped(name, 2, 3, 5, 7, 11, 13)]).shape == (2, 3, 5),
    ],
}  # fmt: skip
PLAIN_RIGHT = {
    "00.weighted_sum": weighted_sum, "01.sum_vectors": sum_vectors, "01.sentiment": sentiment, "01.word_polarity": polarity,
    "02.softmax": softmax, "02.masked_softmax": soft, "02.dot_scores": dot_scores, "02.mlp_scores": mlp_scores,
    "02.several_attentions": several, "02.error_through_attention": spread, **{f"04.{n}": f for n, f in ASKED.items()},
}  # fmt: skip
for _id, _right in PLAIN_RIGHT.items():
    WRONG[_id] += [spoil(_right) for spoil in ALL_TENSORS]
WRONG_ONES = [(task_id, i) for task_id, wrong in WRONG.items() for i in range(len(wrong))]


@pytest.mark.parametrize(("task_id", "i"), extent.usually(WRONG_ONES, 250))
def test_a_wrong_answer_that_nobody_named_is_refused(task_id, i):
    task, answer = TASKS[task_id], WRONG[task_id][i]
    report = judge_answer(task, answer) if extent.NIGHT else judge_briefly(task, answer, expected_on(task, 0))
    assert report.state in ("failed", "error"), str(report)
    assert len(report.message) > 20 and report._repr_html_() and str(report)


@pytest.mark.parametrize(
    ("task_id", "answer"),
    [
        ("01.sentiment", lambda x, w, b: SIGMOID["exp"](x @ w + b)),
        ("01.sentiment_gradient", lambda x, y, w, b: ((SIGMOID["exp"](x @ w + b) - y) @ x / len(y), (SIGMOID["exp"](x @ w + b) - y).mean())),
        ("02.mlp_scores", lambda x, W, b, t: SIGMOID["exp"](x @ W.T + b) @ t),
        ("04.perceptron", lambda s, h, W, U, v: unstable_tanh((s @ W.T)[:, :, None] + (h @ U.T)[:, None]) @ v),
    ],
)  # fmt: skip
def test_an_exponential_that_overflows_costs_no_point_where_no_prompt_speaks_of_large_numbers(task_id, answer):
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


def counted_from(start, **order):
    def vocabulary(sentences, min_count=1):
        counts = collections.Counter(w for s in sentences for w in s)
        kept = sorted((w for w in counts if counts[w] >= min_count), **{k: f(counts) for k, f in order.items()})
        return {"<pad>": 0, "<unk>": 1} | {w: i for i, w in enumerate(kept, start)}

    return vocabulary


def by_hand_softmax(shift=lambda z: z.max(-1, keepdim=True).values, total=lambda e: e.sum(-1, keepdim=True)):
    def softmax(scores, temperature=1.0):
        z = scores / temperature
        e = torch.exp(z - shift(z))
        return e / total(e)

    return softmax


def renormalised(scores, mask, clean=lambda w: w):
    weights = torch.softmax(scores, -1) * mask
    return clean(weights / weights.sum(-1, keepdim=True))


def one_maximum(scores, mask):
    e = (scores - scores.max(-1, keepdim=True).values).exp().masked_fill(~mask, 0.0)
    return e / e.sum(-1, keepdim=True)


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
    ("01.build_vocabulary", counted_from(2, key=lambda c: lambda w: 0), "order_met"),
    ("01.build_vocabulary", counted_from(2, key=lambda c: lambda w: (c[w], w), reverse=lambda c: True), "ties_turned"),
    ("01.build_vocabulary", counted_from(0, key=lambda c: lambda w: (-c[w], w)), "words_from_zero"),
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
    ("02.softmax", by_hand_softmax(lambda z: 0, lambda e: e.sum()), "total_of_everything"),
    ("02.softmax", by_hand_softmax(lambda z: z.mean(-1, keepdim=True)), "mean_subtracted"),
    ("02.masked_softmax", renormalised, "masked_after_and_divided"),
    ("02.masked_softmax", one_maximum, "masked_after_and_divided"),
    ("02.masked_softmax", functools.partial(renormalised, clean=torch.nan_to_num), "masked_after_and_divided_safely"),
    ("02.masked_softmax", lambda s, m: (s.softmax(-1) * m) / (s.softmax(-1) * m).sum(-1, keepdim=True).clamp(min=1e-9), "masked_after_and_divided_safely"),
    ("02.masked_softmax", lambda s, m: (s + (1 - m.float()) * -INF).softmax(-1), "zero_times_infinity"),
    ("02.masked_softmax", lambda s, m: F.softmax(s + (~m) * float("-inf"), dim=-1), "zero_times_infinity"),
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


@pytest.mark.parametrize("seed", extent.usually([0, 1, 2], 1))
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
@pytest.mark.parametrize("task_id", ["01.build_vocabulary", "01.sentiment_gradient", "04.dot"])
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


# What a learner has reached: attacks on the file that keeps it


@pytest.mark.parametrize(
    "odd", ["", "04", "04.", "04.nothing", "../x", "99.dot", None, 3, 4.5, [], ("04.dot",), b"04.dot", "04.dot\n"]
)
def test_an_unknown_task_is_told_in_a_sentence(odd, course_folder, capsys):
    for ask in (notebook.hint, notebook.solution, functools.partial(notebook.check, answer=len)):
        ask(odd)
        said = capsys.readouterr().out
        assert any(words in said for words in ("There is no task", "named by its id in quotes", "Which task?")), said
    assert not (course_folder / ".course").exists()


def test_hints_end_and_stay_at_the_last(course_folder, capsys):
    for _ in range(7):
        notebook.hint("04.dot")
    assert "Hint 3 of 3" in capsys.readouterr().out.strip().splitlines()[-1]


@pytest.mark.parametrize(
    "content",
    [b"", b"{", b"\xff\xfe\x00", b"[]", b"null", b'{"tasks": []}', b'{"tasks": {"04.dot": 3}}', b"[" * 100_000,
     b'{"tasks": {"04.dot": {"attempts": "x", "hints": null}}}'],
)  # fmt: skip
def test_a_damaged_file_is_set_aside(content, course_folder, capsys):
    (course_folder / ".course").mkdir()
    (course_folder / ".course" / "progress.json").write_bytes(content)
    notebook.progress()
    notebook.hint("04.dot")
    assert notebook.check("04.dot", SCORE["dot"]).state == "passed"
    assert json.loads((course_folder / ".course" / "progress.json").read_text())["tasks"]["04.dot"]["passed"] is True
    (aside,) = (course_folder / ".course").glob("progress-damaged-*")
    assert aside.read_bytes() == content and aside.name in capsys.readouterr().out


def test_a_folder_that_is_missing_or_cannot_be_written(course_folder, monkeypatch, capsys):
    (course_folder / "file").write_text("not a folder")
    for place in (course_folder / "missing" / "deeper", course_folder / "file"):
        monkeypatch.setenv("COURSE_HOME", str(place))
        assert notebook.check("04.dot", SCORE["dot"]).state == "passed"
        notebook.progress()
        assert "passed" in capsys.readouterr().out


def test_two_processes_write_at_once(course_folder):
    code = textwrap.dedent("""
        from course_utils.learner import state
        for _ in range(25):
            state.change("04.dot", lambda e: e.update(hints=e.get("hints", 0) + 1))
    """)
    env = {**os.environ, "COURSE_HOME": str(course_folder)}
    running = [subprocess.Popen([sys.executable, "-c", code], env=env) for _ in range(2)]
    assert [process.wait(60) for process in running] == [0, 0]
    assert state.read()["04.dot"]["hints"] == 50 and not list(course_folder.rglob("*.tmp"))


@pytest.mark.parametrize("task_id", extent.usually(list(TASKS), 15))
def test_a_reply_that_breaks_off_at_an_unusual_input_earns_nothing(task_id):
    """A forged one, which holds an error in place of what nobody has computed: the inputs after it count as wrong."""
    task, expected = TASKS[task_id], expected_on(TASKS[task_id], 0)
    outcomes = run(solution_of(task_id), list(map(question, expected.cases)), 60, task.candidate)
    stop = Outcome("error", failure=Failure("ValueError", "made up"))
    assert judge(task, expected.cases, outcomes, expected).state == "passed"
    for place, case in enumerate(expected.cases[:-1]):
        if case.edge:
            report = judge(task, expected.cases, [*outcomes[:place], stop], expected, explaining=False)
            assert report.state in ("error", "failed") and not report.only_edges, (case.name, str(report))
