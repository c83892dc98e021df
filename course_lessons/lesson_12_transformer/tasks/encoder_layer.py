"""Task 12.encoder_layer: self-attention and a feed-forward network, as nn.TransformerEncoderLayer has them.

Results at padding are free, so gradients are compared only where there is no padding: they are those of a sum over all results.
"""

from functools import partial

import torch

from course_lessons.lesson_12_transformer.tasks._layers import (
    CHOICE,
    FEED,
    attend,
    either_way,
    feed_forward,
    layer_mistakes,
    normed_by,
    not_added,
    stacked,
    weights_of,
    without,
    words,
)
from course_lessons.shared.partial_credit import EDGE
from course_lessons.shared.staged_cases import told_by_stages
from course_lessons.shared.transformer_layers import attention, in_precision, norm, silenced
from course_utils.checks.reference_trace import left_out
from course_utils.checks.running.contract import Case
from course_utils.checks.task import Task, count

task = Task(
    "12.encoder_layer",
    "an encoder layer, as in PyTorch",
    arguments=("sizes", "weights", "x B×S×D", "mask B×S"),
    result="y B×S×D",
    module=True,
    difficulty=3,
    importance=5,
    minutes=30,
    hints=(
        "The layer has two sub-layers: self-attention, then the feed-forward network. Write a function for each, from B×S×D to B×S×D, and wrap both in the residual connection and norm of 12.sublayer: norm(x + f(x)) or, with the norm first, x + f(norm(x)), with norm1 for the first and norm2 for the second. Two things about the mask: nn.MultiheadAttention calls it key_padding_mask and hides what is True in it; and a weight of 0 does not keep NaN out.",
        (
            "Take one word [0, 2, 4], self-attention that returns [1, 1, 1] whatever it reads, a feed-forward network that returns [0, 0, -1.2247], and norms with a gain of 1 and a bias of 0. Without norm_first: the first sum is [1, 3, 5], its norm [-1.2247, 0, 1.2247]; the second sum is [-1.2247, 0, 0], and its norm is [-1.4142, 0.7071, 0.7071]. "
            "With norm_first, only what the two read is normalised, so the sums remain as they are: [1, 3, 5], and then [1, 3, 3.7753]."
        ),
        "Set x to 0 where the mask is False. attend(y): self_attn of y, y, y, with key_padding_mask the inverted mask; take the first of the two values it returns. feed(y): linear1, ReLU, linear2. With norm_first: x = x + attend(norm1(x)), then x + feed(norm2(x)). Without: x = norm1(x + attend(x)), then norm2(x + feed(x)).",
    ),
    partial=EDGE | {},
)

ATTEND, CLEAN, ALLOWED = "self-attention", "x with zeros at padding", "the mask of the keys"
NORMS = {ATTEND: "norm1", FEED: "norm2"}


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
    x = yield CLEAN, lambda x, mask: x.masked_fill(~mask[..., None], 0.0), x, mask
    columns = yield ALLOWED, lambda mask: mask[:, None], mask

    def attention_to_words(read, way):
        attend = lambda y, allowed: attention(weights, "self_attn", y, y, y, sizes["heads"], allowed)  # noqa: E731
        return (yield f"the output of {ATTEND} ({way})", attend, read, columns)

    return (yield from stacked(x, sizes, weights, NORMS, (attention_to_words, partial(feed_forward, weights))))


layer_mistakes(task, NORMS)


# The mask

INVERTED = "key_padding_mask is True at positions that must not be attended to, whereas our mask is True at words: invert it, `~mask`."
NOTHING_IS_ZERO = either_way(f"the output of {ATTEND}", partial(attend, empty=0.0))
for name, sentence, allowed, others in (
    ("mask_inverted", f"The mask is inverted, so words attend only to padding, and a sentence without padding gives NaN. {INVERTED}", lambda mask: ~mask[:, None], {}),
    ("mask_inverted_without_nan", f"The mask is inverted, so words attend only to padding, and without padding they attend to nothing. {INVERTED}", lambda mask: ~mask[:, None], NOTHING_IS_ZERO),
    ("mask_of_numbers", "Your key_padding_mask contains numbers, which PyTorch adds to the scores: the 1 gives padding even more weight. Use a Boolean mask: key_padding_mask=~mask.", lambda mask: 1 - mask[:, None].float(), {}),
    ("mask_of_numbers_inverted", "Your key_padding_mask contains numbers, which PyTorch adds to the scores: the scores of words are raised by 1, and padding is not hidden. Use a Boolean mask: key_padding_mask=~mask.", lambda mask: mask[:, None].float(), {}),
    ("mask_unused", "Words attend to padding. The keys at padding have to be hidden in each sentence: key_padding_mask=~mask.", lambda mask: torch.ones_like(mask[:, None]), {}),
):  # fmt: skip
    changes = {ALLOWED: allowed} | others
    task.changed(name, sentence, {CLEAN: left_out} | changes)
    task.changed(f"{name}_and_zeros", f"{sentence} Zeros at padding are not enough to hide it.", changes)
task.changed(
    "causal",
    "Each word attends only to itself and the previous words. That is correct in the decoder; in the encoder, each word sees all words of its sentence.",
    {ALLOWED: lambda mask: mask[:, None] & torch.ones(mask.shape[1], mask.shape[1], dtype=torch.bool).tril()},
)
task.changed(
    "garbage_reaches_words",
    "NaN or infinity at padding reaches words: a weight of 0 does not keep it out, since 0 times NaN is NaN. Set x to 0 where the mask is False, before anything else.",
    {CLEAN: left_out},
)


# The two sub-layers

task.changed(
    "norms_exchanged",
    "norm1 and norm2 are swapped: norm1 belongs to self-attention, norm2 to the feed-forward network.",
    normed_by({ATTEND: "norm2", FEED: "norm1"}),
)
task.changed(
    "norm1_twice",
    "norm1 is used for both sub-layers. The feed-forward network has its own norm, norm2.",
    normed_by({FEED: "norm1"}),
)
task.changed(
    "normalised_at_the_end",
    "With norm_first, the result is normalised once more at the end. A whole encoder does that after its last layer, with its own norm; a layer does not.",
    {CHOICE: lambda after, before, *, sizes, weights: norm(weights, "norm2", before) if sizes["norm_first"] else after},
)
task.changed_each(
    ("feed_forward_not_added", "The residual connection around the feed-forward network is missing: the network's output replaces x. Add x to it, as around self-attention.", not_added(FEED)),
    ("attention_not_added", "The residual connection around self-attention is missing: its output replaces x. Add x to it, as around the feed-forward network.", not_added(ATTEND)),
    ("both_read_x", "With norm_first, self-attention and the feed-forward network both read the layer's input. The network should read the sum after self-attention: first x = x + attend(norm1(x)), and then, with the new x, x + feed(norm2(x)).", {f"the norm before {FEED} (norm_first=True)": lambda y, *, done, right: right(done[CLEAN])}),
    ("no_feed_forward", "Self-attention is there, but the feed-forward network is missing: the second sub-layer, with norm2.", without(FEED)),
    ("no_attention", "The feed-forward network is there, but self-attention is missing: the first sub-layer, with norm1.", without(ATTEND)),
)  # fmt: skip
