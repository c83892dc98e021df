"""Task 12.encoder_layer: self-attention and a feed-forward network, as nn.TransformerEncoderLayer has them.

Results at padding are free, so gradients are compared only where there is no padding: they are those of a sum over all results.
"""

from functools import partial

import torch

from course_lessons.lesson_12_transformer.tasks._layers import feed_forward, stacked, weights_of, words
from course_lessons.shared.partial_credit import EDGE
from course_lessons.shared.staged_cases import told_by_stages
from course_lessons.shared.transformer_layers import attention, in_precision, silenced
from course_utils.base.words import count
from course_utils.checks.task import Case, Task

task = Task(
    __name__,
    "an encoder layer, as in PyTorch",
    arguments=("sizes", "weights", "x B×S×D", "mask B×S"),
    result="y B×S×D",
    module=True,
    difficulty=3,
    importance=5,
    minutes=30,
    partial=EDGE | {},
)

NORMS = {"self-attention": "norm1", "the network": "norm2"}


def _args(draw, B, S, H, D, F, norm_first, mask=None):
    sizes = {"width": D, "heads": H, "hidden": F, "norm_first": norm_first}
    mask = draw.lengths_mask(B, S) if mask is None else mask
    return sizes, weights_of(draw, D, F, ("self_attn",), NORMS.values()), words(draw, B, S, D), mask


# Sizes B, S, H, D, F: tiny first, then larger ones
LADDER = ((2, 2, 1, 3, 5), (2, 3, 2, 4, 3), (2, 5, 3, 6, 7))


STAGES = {  # what gives something, the layers that give zeros, and what is said where this is wrong first
    "only additions and norms": (
        ("self_attn.out_proj", "linear2"),
        "Here self-attention and the feed-forward network return zeros, so only additions and norms are left. Look at them first: which norm goes where, and what is added to what?",
    ),
    "only self-attention": (
        ("linear2",),
        "Here the feed-forward network returns zeros. When self-attention does so as well, everything is correct, so look at self-attention first: what does it read, and with which mask?",
    ),
    "self-attention and feed-forward network": (
        (),
        "When the feed-forward network returns zeros, everything is correct, so look at the network first: linear1, a ReLU, linear2, and what it reads.",
    ),
}
told_by_stages(task, {name: sentence for name, (_, sentence) in STAGES.items()})


@task.cases
def _(draw):
    for name, (silent, _) in STAGES.items():
        for norm_first in (False, True):
            yield Case(f"{name}, norm_first={norm_first}", silenced(_args(draw, 1, 2, 1, 3, 2, norm_first), silent))
    for dims in LADDER:
        B, S, H, D, F = dims
        full = torch.ones(B, S, dtype=torch.bool)
        for norm_first in (False, True):
            name = (
                f"{count(B, 'sentence')} of {count(S, 'word')}, {count(H, 'head')}, width {D}, norm_first={norm_first}"
            )
            if B > 1:
                yield Case(f"{name}, with padding", _args(draw, *dims, norm_first, draw.lengths_mask(B, S).flip(0)))
            if dims != (2, 2, 1, 3, 5):
                yield Case(f"{name}, no padding", _args(draw, *dims, norm_first, full), dims == LADDER[-1])
    for norm_first in (False, True):
        which = f"norm_first={norm_first}"
        gaps = torch.tensor([[False, True, True, False, True], [True, False, True, True, False]])
        yield Case(f"padding anywhere, {which}", _args(draw, 2, 5, 2, 4, 3, norm_first, gaps), edge=True)
        yield Case(f"a single word, {which}", _args(draw, 2, 1, 2, 4, 3, norm_first), edge=True)
        large = _args(draw, 2, 3, 2, 4, 3, norm_first)
        large[2].mul_(100)
        yield Case(f"numbers near 100, {which}", large, hazard=True)
        full = torch.ones(2, 3, dtype=torch.bool)
        double = in_precision(_args(draw, 2, 3, 2, 4, 3, norm_first, full), torch.float64)
        yield Case(f"float64 numbers, {which}", double, True, hazard=True)
        sizes, weights, x, mask = _args(draw, 2, 5, 2, 4, 3, norm_first)
        garbage = torch.tensor([torch.nan, torch.inf, -torch.inf, torch.nan])
        x = torch.where(mask[..., None], x, garbage)
        yield Case(f"NaN and infinity at padding, {which}", (sizes, weights, x, mask), hazard=True)
        yield Case(f"100 words, {which}", _args(draw, 2, 100, 3, 12, 5, norm_first), edge=True)


@task.canonical
def _(case, value):
    """Results at padding are free."""
    x, mask = case.args[2:]
    if not isinstance(value, torch.Tensor) or value.shape != x.shape:
        return value
    return value.masked_fill(~mask[..., None], 0)


@task.oracle
def _(sizes, weights, x, mask):
    layer = torch.nn.TransformerEncoderLayer(
        sizes["width"], sizes["heads"], sizes["hidden"], 0.0, norm_first=sizes["norm_first"], batch_first=True
    ).to(x.dtype)
    x = torch.where(mask[..., None], x, 0.0)
    output = torch.func.functional_call(layer, weights, x, {"src_key_padding_mask": ~mask})
    return torch.where(mask[..., None], output, 0.0)


@task.steps
def _(sizes, weights, x, mask):
    x = yield "x with zeros at padding", lambda x, mask: x.masked_fill(~mask[..., None], 0.0), x, mask
    columns = yield "the mask of the keys", lambda mask: mask[:, None], mask

    def attention_to_words(read, way):
        attend = lambda y, allowed: attention(weights, "self_attn", y, y, y, sizes["heads"], allowed)  # noqa: E731
        return (yield f"the output of self-attention ({way})", attend, read, columns)

    return (yield from stacked(x, sizes, weights, NORMS, (attention_to_words, partial(feed_forward, weights))))
