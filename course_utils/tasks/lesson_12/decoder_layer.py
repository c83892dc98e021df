"""Task 12.decoder_layer: self-attention to the words so far, attention to the source, a feed-forward network, as nn.TransformerDecoderLayer has them."""

from functools import partial

import torch

from course_utils.checks.running.contract import Case
from course_utils.checks.task import Task, count
from course_utils.models.attention import causal_mask
from course_utils.tasks.lesson_12._layers import (
    AROUND,
    RAW,
    attention,
    feed_forward,
    feed_forward_steps,
    in_precision,
    norm,
    post,
    pre,
    stacked,
    weights_of,
    words,
)
from course_utils.tasks.shares import EDGE

task = Task(
    "12.decoder_layer",
    "a layer of the decoder, as PyTorch has it",
    arguments=("sizes", "weights", "x B×T×D", "memory B×S×D", "memory_mask B×S"),
    result="y B×T×D",
    module=True,
    difficulty=4,
    importance=5,
    minutes=35,
    hints=(
        "The layer is the encoder's with one more sub-layer between the two. First self-attention, in which a word sees itself and the words before it. Then attention to the source: the words of the target ask, so the queries are theirs, and keys and values are made from memory, which no norm touches. Then the feed-forward network. In both masks of nn.MultiheadAttention, True means hidden.",
        (
            "Take one word [0, 2, 4], norms with a gain of 1 and a bias of 0, and three functions that give the same whatever they read: self-attention [1, 1, 1], attention to the source [0, 0, -1.2247], the feed-forward network [0, -0.7071, -0.7071]. Without norm_first, the norm after the first sum is [-1.2247, 0, 1.2247], after the second [-1.4142, 0.7071, 0.7071], "
            "after the third [-1.4142, 0.7071, 0.7071] again, as the third sum is [-1.4142, 0, 0]. With norm_first the sums alone remain: [1, 3, 5], [1, 3, 3.7753], [1, 2.2929, 3.0682]. For three words the causal mask has the rows [0, 1, 1], [0, 0, 1] and [0, 0, 0], with 1 for what is hidden."
        ),
        "Put zeros into memory where memory_mask is False. attend(y): self_attn of y, y, y, with attn_mask True above the diagonal. look(y): multihead_attn of y, memory, memory, with key_padding_mask the inverted memory_mask. feed(y): linear1, ReLU, linear2. With norm_first, for each of the three in turn: x = x + function(norm(x)), with norm1, norm2, norm3. Without: x = norm(x + function(x)).",
    ),
    partial=EDGE | {},
)

ATTENTIONS, NORMS = ("self_attn", "multihead_attn"), ("norm1", "norm2", "norm3")


def _args(draw, B, T, S, H, D, F, norm_first):
    sizes = {"width": D, "heads": H, "hidden": F, "norm_first": norm_first}
    mask = draw.lengths_mask(B, S).flip(0)
    return sizes, weights_of(draw, D, F, ATTENTIONS, NORMS), words(draw, B, T, D), words(draw, B, S, D), mask


# Sizes B, T, S, H, D, F: tiny first, then larger ones
LADDER = ((1, 2, 4, 1, 3, 2), (2, 4, 2, 1, 3, 5), (2, 3, 3, 2, 4, 3), (2, 5, 7, 3, 6, 11))


@task.cases
def _(draw):
    for dims in LADDER:
        B, T, S, H, D, _ = dims
        for norm_first in (False, True):
            name = f"{count(B, 'sentence')}, T={T}, S={S}, {count(H, 'head')}, width {D}, norm_first={norm_first}"
            yield Case(name, _args(draw, *dims, norm_first), dims == LADDER[-1])
    for norm_first in (False, True):
        which = f"norm_first={norm_first}"
        yield Case(
            f"a single word that looks at a single word, {which}", _args(draw, 2, 1, 1, 2, 4, 3, norm_first), edge=True
        )
        large = _args(draw, 2, 3, 5, 2, 4, 3, norm_first)
        large[2].mul_(100)
        yield Case(f"numbers near 100, {which}", large, edge=True)
        double = in_precision(_args(draw, 2, 3, 5, 2, 4, 3, norm_first), torch.float64)
        yield Case(f"float64 numbers, {which}", double, True, edge=True)
        sizes, weights, x, memory, mask = _args(draw, 2, 3, 5, 2, 4, 3, norm_first)
        garbage = torch.tensor([torch.nan, torch.inf, -torch.inf, torch.nan])
        memory = torch.where(mask[..., None], memory, garbage)
        yield Case(f"NaN and infinity at padding, {which}", (sizes, weights, x, memory, mask), True, hazard=True)
        yield Case(f"100 words, {which}", _args(draw, 1, 100, 3, 3, 12, 5, norm_first), edge=True)


@task.oracle
def _(sizes, weights, x, memory, memory_mask):
    layer = torch.nn.TransformerDecoderLayer(
        sizes["width"], sizes["heads"], sizes["hidden"], 0.0, norm_first=sizes["norm_first"], batch_first=True
    ).to(x.dtype)
    masks = {
        "tgt_mask": ~torch.ones(x.shape[1], x.shape[1], dtype=torch.bool).tril(),
        "memory_key_padding_mask": ~memory_mask,
    }
    return torch.func.functional_call(layer, weights, (x, torch.where(memory_mask[..., None], memory, 0.0)), masks)


@task.steps
def _(sizes, weights, x, memory, memory_mask):
    clear = lambda memory, mask: memory.masked_fill(~mask[..., None], 0.0)  # noqa: E731
    memory = yield "memory with zeros at padding", clear, memory, memory_mask
    columns = yield "memory_mask for all words that ask", lambda mask: mask[:, None], memory_mask
    T, heads = x.shape[1], sizes["heads"]
    causal = yield "the causal mask", torch.tril, torch.ones(1, T, T, dtype=torch.bool)
    attend = lambda y, allowed: attention(weights, "self_attn", y, y, y, heads, allowed)  # noqa: E731
    look = lambda y, memory: attention(weights, "multihead_attn", y, memory, memory, heads, columns)  # noqa: E731
    names, found = ("self-attention", "attention to the source", "the feed-forward network"), []
    for norm_first in (False, True):  # both ways, so that each has its steps; one of them is the answer
        y, where = x, f"norm_first={norm_first}"
        for place, what in enumerate(names):
            read, normal = y, partial(norm, weights, NORMS[place])
            if norm_first:
                read = yield f"the norm before {what} ({where})", normal, y
            if place == 0:
                branch = yield f"what self-attention gives ({where})", attend, read, causal
            elif place == 1:
                branch = yield f"what attention to the source gives ({where})", look, read, memory
            else:
                branch = yield from feed_forward_steps(weights, read, where)
            y = yield f"the sum after {what} ({where})", torch.add, y, branch
            if not norm_first:
                y = yield f"the norm after {what} ({where})", normal, y
        found.append(y)
    y = yield "the choice between the two", lambda after, before: before if sizes["norm_first"] else after, *found
    return y


# A right layer, of which mistakes change one part


def _causal(T):
    return causal_mask(T)


def _layer(
    sizes,
    weights,
    x,
    memory,
    memory_mask,
    clean=True,
    causal=_causal,
    columns=lambda mask, T: mask[:, None],
    empty=torch.nan,
    read=lambda y, x: (y, y, y),
    look=lambda y, x, memory: (y, memory, memory),
    of_memory=lambda norm, memory, first: memory,
    attentions=ATTENTIONS,
    between=torch.relu,
    order=lambda first: first,
    before=pre,
    after=post,
    norms=NORMS,
    turned=lambda parts: parts,
):
    memory = memory.masked_fill(~memory_mask[..., None], 0.0) if clean else memory
    around = [partial(norm, weights, name) for name in norms]
    first, T, heads = order(sizes["norm_first"]), x.shape[1], sizes["heads"]
    memory = of_memory(around[1], memory, first)
    allowed = causal(T)
    allowed = None if allowed is None else allowed[None]
    parts = [
        lambda y, x: attention(weights, attentions[0], *read(y, x), heads, allowed, empty),
        lambda y, x: attention(weights, attentions[1], *look(y, x, memory), heads, columns(memory_mask, T), empty),
        lambda y, x: feed_forward(weights, y, between),
    ]
    return stacked(x, turned(list(zip(parts, around, strict=True))), first, before, after)


def _mistake(name, sentence, **parts):
    def mistaken(sizes, weights, x, memory, memory_mask):
        return _layer(sizes, weights, x, memory, memory_mask, **parts)

    task.mistake(sentence, name)(mistaken)


_mistake(
    "no_causal_mask",
    "In self-attention, words see those that come after them. Give self_attn an attn_mask T×T that is True above the diagonal, where it hides.",
    causal=lambda T: None,
)
_mistake(
    "one_ahead",
    "In self-attention, each word sees the next one as well. Hide it too: the mask is True from the first place above the diagonal on, `diagonal=1`.",
    causal=lambda T: torch.ones(T, T, dtype=torch.bool).tril(1),
)
_mistake(
    "hidden_from_itself",
    "In self-attention, a word is hidden from itself, so the first word has nothing to attend to, and NaN comes out. The diagonal stays open: the mask is True above it, `diagonal=1`.",
    causal=lambda T: torch.ones(T, T, dtype=torch.bool).tril(-1),
)
_mistake(
    "hidden_from_itself_without_nan",
    "In self-attention, a word is hidden from itself, so the first word has nothing to attend to. The diagonal stays open: the mask is True above it, `diagonal=1`.",
    causal=lambda T: torch.ones(T, T, dtype=torch.bool).tril(-1),
    empty=0.0,
)
_mistake(
    "all_hidden",
    "In self-attention, every word is hidden from every word, itself included, so attention finds nothing. In attn_mask, True means hidden: let it stand above the diagonal alone, `diagonal=1`.",
    causal=lambda T: torch.zeros(T, T, dtype=torch.bool),
    empty=0.0,
)
_mistake(
    "word_before_hidden",
    "In self-attention, a word sees neither itself nor the word right before it. It should see both: the mask is True above the diagonal alone, `diagonal=1`.",
    causal=lambda T: torch.ones(T, T, dtype=torch.bool).tril(-2),
    empty=0.0,
)
_mistake(
    "causal_mask_inverted",
    "The causal mask is turned round: each word sees only those that come after it, and the last one none, which gives NaN. In attn_mask, True means hidden.",
    causal=lambda T: ~torch.ones(T, T, dtype=torch.bool).tril(),
)
_mistake(
    "backwards",
    "In self-attention, each word sees itself and the words that come after it. It should see itself and those before it: hide what is above the diagonal (torch.triu), not what is below.",
    causal=lambda T: torch.ones(T, T, dtype=torch.bool).triu(),
)
INVERTED = "key_padding_mask is True at what must not be attended to, and memory_mask is True at words: invert it, `~memory_mask`."
_mistake(
    "memory_mask_inverted",
    f"memory_mask is turned round, so padding of the source is looked at, and words are not; where a sentence has no padding there is NaN. {INVERTED}",
    columns=lambda mask, T: ~mask[:, None],
    clean=False,
)
_mistake(
    "memory_mask_inverted_and_zeros",
    f"memory_mask is turned round, so the zeros at padding of the source are looked at, and words are not; where a sentence has no padding there is NaN. {INVERTED}",
    columns=lambda mask, T: ~mask[:, None],
)
_mistake(
    "memory_mask_inverted_without_nan",
    f"memory_mask is turned round, so the zeros at padding of the source are looked at, and words are not. {INVERTED}",
    columns=lambda mask, T: ~mask[:, None],
    empty=0.0,
)
_mistake(
    "memory_mask_unused",
    "Padding of the source is looked at. Hide it in attention to the source: key_padding_mask=~memory_mask.",
    columns=lambda mask, T: None,
    clean=False,
)
_mistake(
    "memory_mask_unused_and_zeros",
    "Padding of the source is looked at. That zeros stand there does not hide it: a key of zeros still gets a weight. Give attention to the source key_padding_mask=~memory_mask.",
    columns=lambda mask, T: None,
)
OF_NUMBERS = "Your key_padding_mask holds numbers, and PyTorch adds those to the scores: padding, with its 1, is looked at even more. Only a mask of truth values hides: key_padding_mask=~memory_mask."
_mistake(
    "memory_mask_of_numbers",
    OF_NUMBERS,
    columns=lambda mask, T: 1 - mask[:, None].float(),
    clean=False,
)
_mistake(
    "memory_mask_of_numbers_and_zeros",
    f"{OF_NUMBERS} Zeros at padding alone do not hide it.",
    columns=lambda mask, T: 1 - mask[:, None].float(),
)
_mistake(
    "source_hidden_causally",
    "Attention to the source has a causal mask, so the first word sees only the first word of the source. The whole source is known from the beginning: only its padding is hidden.",
    columns=lambda mask, T: mask[:, None] & torch.ones(T, mask.shape[1], dtype=torch.bool).tril(),
    empty=0.0,
)
_mistake("no_relu", "There is no ReLU between linear1 and linear2.", between=lambda hidden: hidden)
for _name, (_parts, _sentence) in AROUND.items():
    _mistake(_name, _sentence, **_parts)
for _name, (_read, _what) in RAW.items():
    _mistake(
        _name,
        f"With norm_first, in self-attention {_what} made from x as it came in. Queries, keys and values all read the normalised words.",
        read=_read,
    )
_mistake(
    "memory_normalised",
    "With norm_first, memory goes through norm2 as well. Only what asks is normalised there: memory comes in as the encoder made it.",
    of_memory=lambda norm, memory, first: norm(memory) if first else memory,
)
_mistake(
    "words_for_memory",
    "In the second attention, the target's words look at themselves. Its keys and values are made from memory.",
    look=lambda y, x, memory: (y, y, y),
    columns=lambda mask, T: None,
)
_mistake(
    "attentions_exchanged",
    "self_attn and multihead_attn are exchanged: self_attn is for the words of the target, multihead_attn for looking at the source.",
    attentions=ATTENTIONS[::-1],
)
_mistake(
    "source_first",
    "Attention to the source comes before self-attention. Self-attention comes first.",
    turned=lambda parts: [parts[1], parts[0], parts[2]],
)
_mistake(
    "norm2_and_norm3_exchanged",
    "norm2 and norm3 are exchanged: norm2 belongs to attention to the source, norm3 to the feed-forward network.",
    norms=("norm1", "norm3", "norm2"),
)
_mistake(
    "norm2_twice",
    "norm2 stands around the feed-forward network, too. It has a norm of its own, norm3.",
    norms=("norm1", "norm2", "norm2"),
)
_mistake(
    "norm1_everywhere",
    "norm1 stands around all three sub-layers. Each has a norm of its own: norm1, norm2 and norm3.",
    norms=("norm1", "norm1", "norm1"),
)
_mistake(
    "self_attention_looks_at_the_source",
    "The source is looked at with self_attn, which is for the words of the target. Attention to the source has weights of its own, multihead_attn.",
    attentions=(ATTENTIONS[0], ATTENTIONS[0]),
)
for _place, _what in enumerate(("self-attention", "attention to the source", "the feed-forward network")):

    def _not_added(parts, place=_place):
        function, norm = parts[place]
        return [*parts[:place], (lambda y, x: function(y, x) - x, norm), *parts[place + 1 :]]

    _mistake(
        f"sublayer_{_place}_not_added",
        f"The residual connection around {_what} is missing: what comes from there takes the place of x. Add x to it.",
        turned=_not_added,
    )
_mistake(
    "feed_forward_left_out",
    "The feed-forward network is missing: the third sub-layer, with linear1, linear2 and norm3.",
    turned=lambda parts: parts[:2],
)
_mistake(
    "source_left_out",
    "The layer never looks at the source: the second sub-layer, with multihead_attn and norm2, is missing.",
    turned=lambda parts: [parts[0], parts[2]],
)
_mistake(
    "garbage_reaches_words",
    "NaN or infinity at padding of the source reaches words: a weight of 0 does not keep it out, since 0 times NaN is NaN. Put zeros into memory where memory_mask is False, before anything else.",
    clean=False,
)


@task.mistake(
    "In attention to the source, the source asks: queries are made from memory, and keys and values from the target's words. The words of the target ask, and memory is what they look at."
)
def memory_asks(sizes, weights, x, memory, memory_mask):
    look = lambda y, x, memory: (memory, y, y)  # noqa: E731
    return _layer(sizes, weights, x, memory, memory_mask, look=look, columns=lambda mask, T: None)
