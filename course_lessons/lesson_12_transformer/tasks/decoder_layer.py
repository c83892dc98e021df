"""Task 12.decoder_layer: self-attention to the words so far, attention to the source, a feed-forward network, as nn.TransformerDecoderLayer has them."""

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
    "a decoder layer, as in PyTorch",
    arguments=("sizes", "weights", "x B×T×D", "memory B×S×D", "memory_mask B×S"),
    result="y B×T×D",
    module=True,
    difficulty=4,
    importance=5,
    minutes=35,
    partial=EDGE | {},
)

NORMS = {"self-attention": "norm1", "source attention": "norm2", "the network": "norm3"}


def _args(draw, B, T, S, H, D, F, norm_first, mask=None):
    sizes = {"width": D, "heads": H, "hidden": F, "norm_first": norm_first}
    mask = draw.lengths_mask(B, S).flip(0) if mask is None else mask
    weights = weights_of(draw, D, F, ("self_attn", "multihead_attn"), NORMS.values())
    return sizes, weights, words(draw, B, T, D), words(draw, B, S, D), mask


# Sizes B, T, S, H, D, F: tiny first, then larger ones
LADDER = ((2, 4, 2, 1, 3, 5), (2, 3, 3, 2, 4, 3), (2, 5, 7, 3, 6, 11))


STAGES = {  # what gives something, the layers that give zeros, and what is said where this is wrong first
    "only additions and norms": (
        ("self_attn.out_proj", "multihead_attn.out_proj", "linear2"),
        "Here both attention layers and the feed-forward network return zeros, so only additions and norms are left. Look at them first: which norm goes where, and what is added to what?",
    ),
    "only self-attention": (
        ("multihead_attn.out_proj", "linear2"),
        "Here attention to the source and the feed-forward network return zeros. When self-attention does so as well, everything is correct, so look at self-attention first: what does it read, and with which mask?",
    ),
    "both attentions": (
        ("linear2",),
        "Here the feed-forward network returns zeros. When attention to the source does so as well, everything is correct, so look at that layer first: its queries are computed from the words, its keys and values from memory, and it has its own weights.",
    ),
    "attentions and feed-forward network": (
        (),
        "When the feed-forward network returns zeros, everything is correct, so look at the network first: linear1, a ReLU, linear2, and what it reads.",
    ),
}
told_by_stages(task, {name: sentence for name, (_, sentence) in STAGES.items()})


@task.cases
def _(draw):
    for name, (silent, _) in STAGES.items():
        for norm_first in (False, True):
            yield Case(f"{name}, norm_first={norm_first}", silenced(_args(draw, 1, 2, 3, 1, 3, 2, norm_first), silent))
    for dims in LADDER:
        B, T, S, H, D, _ = dims
        for norm_first in (False, True):
            name = f"{count(B, 'sentence')}, T={T}, S={S}, {count(H, 'head')}, width {D}, norm_first={norm_first}"
            yield Case(name, _args(draw, *dims, norm_first), dims == LADDER[-1])
    for norm_first in (False, True):
        which = f"norm_first={norm_first}"
        yield Case(
            f"a single word that attends to a single word, {which}",
            _args(draw, 2, 1, 1, 2, 4, 3, norm_first),
            edge=True,
        )
        gaps = torch.tensor([[False, True, True, False, True], [True, False, True, True, False]])
        yield Case(f"source padding anywhere, {which}", _args(draw, 2, 3, 5, 2, 4, 3, norm_first, gaps), edge=True)
        large = _args(draw, 2, 3, 5, 2, 4, 3, norm_first)
        large[2].mul_(100)
        yield Case(f"numbers near 100, {which}", large, hazard=True)
        double = in_precision(_args(draw, 2, 3, 5, 2, 4, 3, norm_first), torch.float64)
        yield Case(f"float64 numbers, {which}", double, True, hazard=True)
        sizes, weights, x, memory, mask = _args(draw, 2, 3, 5, 2, 4, 3, norm_first)
        garbage = torch.tensor([torch.nan, torch.inf, -torch.inf, torch.nan])
        memory = torch.where(mask[..., None], memory, garbage)
        yield Case(f"NaN and infinity at padding, {which}", (sizes, weights, x, memory, mask), True, hazard=True)
        yield Case(f"100 words, {which}", _args(draw, 1, 100, 3, 3, 12, 5, norm_first), edge=True)


@task.steps
def _(sizes, weights, x, memory, memory_mask):
    clear = lambda memory, mask: memory.masked_fill(~mask[..., None], 0.0)  # noqa: E731
    memory = yield "memory with zeros at padding", clear, memory, memory_mask
    columns = yield "the mask of the memory", lambda mask: mask[:, None], memory_mask
    T, heads = x.shape[1], sizes["heads"]
    causal = yield "the causal mask", torch.tril, torch.ones(1, T, T, dtype=torch.bool)

    def attention_to_words(read, way):
        attend = lambda y, allowed: attention(weights, "self_attn", y, y, y, heads, allowed)  # noqa: E731
        return (yield f"the output of self-attention ({way})", attend, read, causal)

    def attention_to_source(read, way):
        look = lambda y, memory: attention(weights, "multihead_attn", y, memory, memory, heads, columns)  # noqa: E731
        return (yield f"the output of source attention ({way})", look, read, memory)

    branches = (attention_to_words, attention_to_source, partial(feed_forward, weights))
    return (yield from stacked(x, sizes, weights, NORMS, branches))
