"""Task 10.multi_head_attention: several heads, each with projections of its own, and what they find projected once more."""

from math import sqrt
from operator import truediv
from types import SimpleNamespace

import torch
import torch.nn.functional as F

from course_lessons.shared.head_projections import joining, projecting
from course_lessons.shared.partial_credit import USUAL
from course_utils.base.words import count
from course_utils.checks.task import Case, Task

task = Task(
    __name__,
    "several heads, as PyTorch has them",
    arguments=(
        "query B×T×D",
        "key B×S×D",
        "value B×S×D",
        "in_weight 3·D×D",
        "in_bias 3·D",
        "out_weight D×D",
        "out_bias D",
        "heads",
        "mask B×T×S",
    ),
    result="output B×T×D",
    difficulty=4,
    importance=5,
    minutes=40,
    partial=USUAL,
)


def _inputs(draw, B, T, S, H, d, mask):
    D = H * d
    query, key, value = (draw.numbers(B, length, D) for length in (T, S, S))
    in_weight = torch.randn(3 * D, D, generator=draw.generator) * 1.2 / D**0.5
    out_weight = torch.randn(D, D, generator=draw.generator) / D**0.5
    in_bias, out_bias = (torch.randn(n, generator=draw.generator) for n in (3 * D, D))
    return query, key, value, in_weight, in_bias / 2 + 0.125, out_weight, out_bias + 0.125, H, mask


# Sizes B, T, S, H, d: tiny first, where wrong axes do not fit one another, then one longer or shorter at a time, then all
LADDER = ((2, 3, 2, 2, 2), (1, 3, 2, 2, 2), (2, 2, 3, 2, 2), (1, 2, 3, 3, 2), (1, 2, 3, 2, 3), (2, 5, 11, 3, 7))


@task.cases
def _(draw):
    for dims in LADDER:
        size, full = SimpleNamespace(**dict(zip("BTSHd", dims, strict=True))), dims == LADDER[-1]
        name = f"{count(size.B, 'sentence')}, T={size.T}, S={size.S}, {size.H} heads of width {size.d}"
        yield Case(f"{name}, no mask", _inputs(draw, *dims, None), full)
        yield Case(f"{name}, with a mask", _inputs(draw, *dims, draw.mask(size.B, size.T, size.S)), full)
    causal = torch.ones(5, 5, dtype=torch.bool).tril().repeat(2, 1, 1)
    x, _, _, *rest = _inputs(draw, 2, 5, 5, 2, 3, causal)
    yield Case("query, key and value alike, each word attends to itself and to earlier ones", (x, x, x, *rest))
    mask = draw.mask(2, 3, 5)
    mask[0, :, 1] = False
    mask[0, :, 2] = True
    yield Case("a word that nothing attends to", _inputs(draw, 2, 3, 5, 2, 2, mask))
    yield Case("as many sentences as heads and words", _inputs(draw, 3, 3, 3, 3, 2, draw.mask(3, 3, 3)))
    yield Case("as many heads as the width of a head", _inputs(draw, 2, 4, 5, 3, 3, draw.mask(2, 4, 5)))
    yield Case("a single query", _inputs(draw, 2, 1, 3, 2, 2, draw.mask(2, 1, 3)), edge=True)
    yield Case("a single head", _inputs(draw, 2, 3, 5, 1, 4, draw.mask(2, 3, 5)), True, edge=True)
    yield Case("heads of width 1", _inputs(draw, 2, 3, 5, 4, 1, draw.mask(2, 3, 5)), True, edge=True)
    empty = draw.mask(2, 3, 5)
    empty[:, 0, 0] = True
    empty[1, 2] = False
    yield Case("a word that may attend to nothing", _inputs(draw, 2, 3, 5, 2, 3, empty), True, hazard=True)
    mask = draw.mask(2, 3, 5)
    mask[:, :, 0] = True
    mask[0, :, 3], mask[1, :, 1], mask[1, 2] = False, False, False
    query, key, value, *rest = _inputs(draw, 2, 3, 5, 2, 3, mask)
    garbage = torch.tensor([torch.nan, torch.inf, -torch.inf, torch.nan, torch.inf, -torch.inf])
    query = torch.where(mask.any(2)[..., None], query, garbage)
    key, value = (torch.where(mask.any(1)[..., None], words, garbage) for words in (key, value))
    yield Case("NaN and infinity where nothing attends", (query, key, value, *rest), True, hazard=True)
    yield Case("200 words", _inputs(draw, 1, 3, 200, 2, 2, draw.mask(1, 3, 200)), edge=True)
    # Width 1: the first query's allowed scores lie far below the one that is hidden from it.
    one, far = torch.ones(1, 1), torch.tensor([[[False, True, True], [True, True, False]]])
    query = torch.tensor([[[100.0], [-110.0]]])
    key = torch.tensor([[[100.0], [-100.0], [-70.0]]])
    bias, numbers = torch.tensor([0.0, 0.0, 0.5]), draw.distinct(3, -4, 5).reshape(1, 3, 1) / 2 + 0.25
    large = (query, key, numbers, one.repeat(3, 1), bias, one / 2, torch.tensor([0.25]), 1, far)
    yield Case("very large scores, near ±10,000", large, hazard=True)


@task.oracle
def _(query, key, value, in_weight, in_bias, out_weight, out_bias, heads, mask=None):
    (B, T, D), S = query.shape, key.shape[1]
    allowed = torch.ones(B, T, S, dtype=torch.bool) if mask is None else mask
    asks, asked = allowed.any(2)[..., None], allowed.any(1)[..., None]  # B T 1, B S 1
    query, key, value = torch.where(asks, query, 0.0), torch.where(asked, key, 0.0), torch.where(asked, value, 0.0)
    output, _ = F.multi_head_attention_forward(
        *(words.transpose(0, 1) for words in (query, key, value)),
        *(D, heads, in_weight, in_bias, None, None, False, 0.0, out_weight, out_bias),
        training=False,
        need_weights=True,
        attn_mask=~(allowed | ~asks).repeat_interleave(heads, 0),  # there, True hides
    )
    return torch.where(asks, output.transpose(0, 1), out_bias)


@task.steps
def _(query, key, value, in_weight, in_bias, out_weight, out_bias, heads, mask=None):
    parts = []
    for place, (name, words) in enumerate({"queries": query, "keys": key, "values": value}.items()):
        parts.append((yield from projecting(name, place, words, in_weight, in_bias, heads)))
    query, key, value = parts
    products = yield "the products of queries and keys", lambda q, k: q @ k.mT, query, key
    root = yield "√d", sqrt, query.shape[-1]
    scores = yield "the scores", truediv, products, root
    if mask is not None:
        mask = yield "the mask for all heads", lambda mask: mask[:, None], mask
        hide = lambda scores, mask: scores.masked_fill(~mask, -torch.inf)  # noqa: E731
        scores = yield "the masked scores", hide, scores, mask
    weights = yield "the softmax", lambda scores: scores.softmax(-1), scores
    if mask is not None:
        weights = yield "the weights with zeros", lambda w, mask: w.masked_fill(~mask, 0.0), weights, mask
    return (yield from joining(weights, value, out_weight, out_bias))


def project_slices(x, weight, heads):
    """Take the place of a projection: each head projects its own part of the words, with a d×d piece of the weights."""
    pieces = [rows.chunk(heads, 1)[head].T for head, rows in enumerate(weight.chunk(heads))]
    return torch.cat([part @ piece for part, piece in zip(x.chunk(heads, 2), pieces, strict=True)], 2)
