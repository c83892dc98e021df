"""Task 12.decoder_layer: self-attention to the words so far, attention to the source, a feed-forward network, as nn.TransformerDecoderLayer has them."""

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
    "12.decoder_layer",
    "a decoder layer, as in PyTorch",
    arguments=("sizes", "weights", "x B×T×D", "memory B×S×D", "memory_mask B×S"),
    result="y B×T×D",
    module=True,
    difficulty=4,
    importance=5,
    minutes=35,
    hints=(
        "The layer is an encoder layer with one more sub-layer between the two. It begins with self-attention, in which a word sees itself and the previous words. Attention to the source comes next: the queries come from the target's words, the keys and values from memory, which is not normalised. The feed-forward network is last. In both masks of nn.MultiheadAttention, True means hidden.",
        (
            "Take one word [0, 2, 4], norms with a gain of 1 and a bias of 0, and three sub-layers whose outputs do not depend on their inputs: self-attention [1, 1, 1], attention to the source [0, 0, -1.2247], the feed-forward network [0, -0.7071, -0.7071]. Without norm_first, the norm after the first sum is [-1.2247, 0, 1.2247], after the second [-1.4142, 0.7071, 0.7071], "
            "after the third [-1.4142, 0.7071, 0.7071] again, as the third sum is [-1.4142, 0, 0]. With norm_first, the sums remain as they are: [1, 3, 5], [1, 3, 3.7753], [1, 2.2929, 3.0682]. For three words the causal mask has the rows [0, 1, 1], [0, 0, 1] and [0, 0, 0], with 1 for what is hidden."
        ),
        "Set memory to 0 where memory_mask is False. attend(y): self_attn of y, y, y, with attn_mask True above the diagonal. look(y): multihead_attn of y, memory, memory, with key_padding_mask the inverted memory_mask. feed(y): linear1, ReLU, linear2. With norm_first, for each of the three in turn: x = x + function(norm(x)), with norm1, norm2, norm3. Without: x = norm(x + function(x)).",
    ),
    partial=EDGE | {},
)

ATTEND, LOOK, CAUSAL = "self-attention", "source attention", "the causal mask"
CLEAN, COLUMNS = "memory with zeros at padding", "the mask of the memory"
NORMS = {ATTEND: "norm1", LOOK: "norm2", FEED: "norm3"}


def _args(draw, B, T, S, H, D, F, norm_first):
    sizes = {"width": D, "heads": H, "hidden": F, "norm_first": norm_first}
    mask = draw.lengths_mask(B, S).flip(0)
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
    memory = yield CLEAN, clear, memory, memory_mask
    columns = yield COLUMNS, lambda mask: mask[:, None], memory_mask
    T, heads = x.shape[1], sizes["heads"]
    causal = yield CAUSAL, torch.tril, torch.ones(1, T, T, dtype=torch.bool)

    def attention_to_words(read, way):
        attend = lambda y, allowed: attention(weights, "self_attn", y, y, y, heads, allowed)  # noqa: E731
        return (yield f"the output of {ATTEND} ({way})", attend, read, causal)

    def attention_to_source(read, way):
        look = lambda y, memory: attention(weights, "multihead_attn", y, memory, memory, heads, columns)  # noqa: E731
        return (yield f"the output of {LOOK} ({way})", look, read, memory)

    branches = (attention_to_words, attention_to_source, partial(feed_forward, weights))
    return (yield from stacked(x, sizes, weights, NORMS, branches))


layer_mistakes(task, NORMS)


def look(y, memory, *, weights, sizes, done, name="multihead_attn", empty=torch.nan):
    """Take the place of attention to the source, with other weights, or with another number where nothing may be attended to."""
    return attention(weights, name, y, memory, memory, sizes["heads"], done[COLUMNS], empty)


# The causal mask

NO_NAN = either_way(f"the output of {ATTEND}", partial(attend, empty=0.0))
task.changed_each(
    ("no_causal_mask", "In self-attention, words see later words. Pass self_attn a T×T attn_mask that hides them: it is True above the diagonal.", {CAUSAL: left_out}),
    ("one_ahead", "In self-attention, each word also sees the next one. Hide that one: the mask is True from the first entry above the diagonal on, `diagonal=1`.", {CAUSAL: lambda ones: ones.tril(1)}),
    ("hidden_from_itself", "In self-attention, a word is hidden from itself, so the first word has nothing to attend to, which gives NaN. Leave the diagonal visible: the mask is True above it, `diagonal=1`.", {CAUSAL: lambda ones: ones.tril(-1)}),
    ("causal_mask_inverted", "The causal mask is inverted: each word sees only later words, and the last word sees none, which gives NaN. In attn_mask, True means hidden.", {CAUSAL: lambda ones: ones.triu(1)}),
    ("causal_mask_of_numbers", "Your attn_mask contains numbers, which PyTorch adds to the scores: the 1 gives later words even more weight. Use a Boolean mask.", {CAUSAL: lambda ones: 1 - ones.float().tril()}),
    ("causal_mask_of_numbers_inverted", "Your attn_mask contains numbers, which PyTorch adds to the scores: the words so far get 1 more, and no later word is hidden. Use a Boolean mask, True above the diagonal.", {CAUSAL: lambda ones: ones.float().tril()}),
    ("backwards", "In self-attention, each word sees itself and later words. It should see itself and the previous words: hide what is above the diagonal, `triu(1)`, not what is below.", {CAUSAL: torch.triu}),
)  # fmt: skip
task.changed_each(  # with need_weights=False, a word that may attend to nothing gets no NaN
    ("hidden_from_itself_without_nan", "In self-attention, a word is hidden from itself, so the first word has nothing to attend to. Leave the diagonal visible: the mask is True above it, `diagonal=1`.", {CAUSAL: lambda ones: ones.tril(-1)} | NO_NAN),
    ("causal_mask_inverted_without_nan", "The causal mask is inverted: each word sees only later words, and the last word sees none. In attn_mask, True means hidden: use `triu(1)`.", {CAUSAL: lambda ones: ones.triu(1)} | NO_NAN),
)  # fmt: skip


# memory and its mask

INVERTED = "key_padding_mask is True at positions that must not be attended to, whereas memory_mask is True at words: invert it, `~memory_mask`."
for name, sentence, columns in (
    ("memory_mask_inverted", f"memory_mask is inverted, so attention to the source reads its padding instead of its words; without padding, the result is NaN. {INVERTED}", lambda mask: ~mask[:, None]),
    ("memory_mask_of_numbers", "Your key_padding_mask contains numbers, which PyTorch adds to the scores: the 1 gives padding even more weight. Use a Boolean mask: key_padding_mask=~memory_mask.", lambda mask: 1 - mask[:, None].float()),
    ("memory_mask_of_numbers_inverted", "Your key_padding_mask contains numbers, which PyTorch adds to the scores: the scores of words are raised by 1, and padding is not hidden. Use a Boolean mask: key_padding_mask=~memory_mask.", lambda mask: mask[:, None].float()),
    ("memory_mask_unused", "Attention to the source reads its padding. Hide the padding: key_padding_mask=~memory_mask.", lambda mask: torch.ones_like(mask[:, None])),
):  # fmt: skip
    task.changed(name, sentence, {CLEAN: left_out, COLUMNS: columns})
    task.changed(f"{name}_and_zeros", f"{sentence} Zeros at padding are not enough to hide it.", {COLUMNS: columns})
INVERTED_WITHOUT_NAN = {COLUMNS: lambda mask: ~mask[:, None]} | either_way(
    f"the output of {LOOK}", partial(look, empty=0.0)
)
task.changed_each(
    ("memory_mask_inverted_without_nan", f"memory_mask is inverted, so attention to the source reads the zeros at padding instead of the words. {INVERTED}", INVERTED_WITHOUT_NAN),
    ("memory_mask_inverted_without_nan_or_zeros", f"memory_mask is inverted, so attention to the source reads its padding instead of its words. {INVERTED}", INVERTED_WITHOUT_NAN | {CLEAN: left_out}),
)  # fmt: skip
task.changed(
    "source_hidden_causally",
    "Attention to the source has a causal mask, so the first word sees only the first word of the source. The whole source is known from the beginning: only its padding is hidden.",
    {COLUMNS: lambda mask, *, x: mask[:, None] & torch.ones(x.shape[1], mask.shape[1], dtype=torch.bool).tril()},
)
task.changed(
    "garbage_reaches_words",
    "NaN or infinity at padding of the source reaches words: a weight of 0 does not keep it out, since 0 times NaN is NaN. Set memory to 0 where memory_mask is False, before anything else.",
    {CLEAN: left_out},
)


def _look_at_normalised(y, memory, *, weights, right):
    return right(y, norm(weights, NORMS[LOOK], memory))


task.changed_each(
    ("memory_normalised", "With norm_first, memory also goes through norm2. Only the input of the queries is normalised there: leave memory as it is.", {f"the output of {LOOK} (norm_first=True)": _look_at_normalised}),
    ("memory_always_normalised", "memory goes through norm2, with norm_first and without. Leave memory as it is.", either_way(f"the output of {LOOK}", _look_at_normalised)),
)  # fmt: skip
task.changed(
    "words_so_far_for_memory",
    "In the second attention layer, the target's words attend to themselves and the previous words. Its keys and values should come from memory.",
    either_way(f"the output of {LOOK}", lambda y, memory, *, weights, sizes, done: attention(weights, "multihead_attn", y, y, y, sizes["heads"], done[CAUSAL])),
)  # fmt: skip
for name, sentence, read in (
    ("words_for_memory", "In the second attention layer, the target's words attend to themselves. Its keys and values should come from memory.", lambda y, memory: (y, y, y)),
    ("memory_asks", "Attention to the source is the wrong way round: its queries come from memory, and its keys and values from the target's words. Swap the two.", lambda y, memory: (memory, y, y)),
):  # fmt: skip

    def change(y, memory, *, weights, sizes, read=read):
        return attention(weights, "multihead_attn", *read(y, memory), sizes["heads"])

    task.changed(name, sentence, either_way(f"the output of {LOOK}", change))


# The three sub-layers

LOOK_BY_SELF_ATTN = either_way(f"the output of {LOOK}", partial(look, name="self_attn"))
task.changed(
    "attentions_exchanged",
    "self_attn and multihead_attn are swapped: self_attn is for the target's words, multihead_attn for attention to the source.",
    either_way(f"the output of {ATTEND}", partial(attend, name="multihead_attn")) | LOOK_BY_SELF_ATTN,
)
task.changed(
    "self_attention_looks_at_the_source",
    "You use self_attn for attention to the source, but it is for the target's words. Attention to the source has its own weights, multihead_attn.",
    LOOK_BY_SELF_ATTN,
)


task.changed_each(
    ("norm1_and_norm2_exchanged", "norm1 and norm2 are swapped: norm1 belongs to self-attention, norm2 to attention to the source.", normed_by({ATTEND: "norm2", LOOK: "norm1"})),
    ("norm2_and_norm3_exchanged", "norm2 and norm3 are swapped: norm2 belongs to attention to the source, norm3 to the feed-forward network.", normed_by({LOOK: "norm3", FEED: "norm2"})),
    ("norm2_twice", "norm2 is also used for the feed-forward network, which has its own norm, norm3.", normed_by({FEED: "norm2"})),
    ("norm1_everywhere", "norm1 is used for all three sub-layers. Each has its own norm: norm1, norm2 and norm3.", normed_by({LOOK: "norm1", FEED: "norm1"})),
)  # fmt: skip
CALLED = ("self-attention", "attention to the source", "the feed-forward network")
FIRST_READ = {f"the norm before {what} (norm_first=True)": lambda y, *, x, right: right(x) for what in (LOOK, FEED)}
task.changed_each(
    ("all_read_x", "With norm_first, all three sub-layers read the layer's input. Each should read the sum so far: replace the old x with the new one after each addition.", FIRST_READ),
    ("source_attention_reads_x", "With norm_first, attention to the source reads the layer's input. It should read the sum after self-attention.", {f"the norm before {LOOK} (norm_first=True)": lambda y, *, x, right: right(x)}),
    ("normalised_at_the_end", "With norm_first, the result is normalised once more at the end. A whole decoder does that after its last layer, with its own norm; a layer does not.", {CHOICE: lambda after, before, *, sizes, weights: norm(weights, "norm3", before) if sizes["norm_first"] else after}),
)  # fmt: skip
for place, (what, called) in enumerate(zip(NORMS, CALLED, strict=True)):
    task.changed(
        f"sublayer_{place}_not_added",
        f"The residual connection around {called} is missing: its result replaces x. Add x to it.",
        not_added(what),
    )
task.changed(
    "feed_forward_left_out",
    "The feed-forward network is missing: the third sub-layer, with linear1, linear2 and norm3.",
    without(FEED),
)
task.changed(
    "source_left_out",
    "The layer never attends to the source: the second sub-layer, with multihead_attn and norm2, is missing.",
    without(LOOK),
)
task.changed(
    "self_attention_left_out",
    "The target's words never attend to one another: the first sub-layer, with self_attn and norm1, is missing.",
    without(ATTEND),
)
for name, sentence, order in (
    ("source_first", "Attention to the source comes before self-attention, which should be the first sub-layer.", (LOOK, ATTEND, FEED)),
    ("feed_forward_second", "The feed-forward network comes before attention to the source. It should be the last sub-layer.", (ATTEND, FEED, LOOK)),
):  # fmt: skip

    @task.mistake(sentence, name)
    def in_this_order(sizes, weights, x, memory, memory_mask, order=order):
        memory, T = memory.masked_fill(~memory_mask[..., None], 0.0), x.shape[1]
        functions = {
            ATTEND: lambda y: attention(weights, "self_attn", y, y, y, sizes["heads"], torch.ones(1, T, T, dtype=torch.bool).tril()),
            LOOK: lambda y: attention(weights, "multihead_attn", y, memory, memory, sizes["heads"], memory_mask[:, None]),
            FEED: lambda y: torch.relu(y @ weights["linear1.weight"].mT + weights["linear1.bias"]) @ weights["linear2.weight"].mT + weights["linear2.bias"],
        }  # fmt: skip
        for what in order:
            function, normal = functions[what], partial(norm, weights, NORMS[what])
            x = x + function(normal(x)) if sizes["norm_first"] else normal(x + function(x))
        return x
