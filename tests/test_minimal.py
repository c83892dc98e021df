"""The plain forms of `course_utils.models.minimal` against torch's own modules, and against the course's fast ones where torch has none, in float64."""

import math

import pytest
import torch
import torch.nn.functional as F
from hypothesis import given, settings
from hypothesis import strategies as st
from tensors import assert_same, drawn, shaken, tensor, tensors
from torch import nn

from course_utils.data.subwords import BOS, EOS, PAD
from course_utils.models import minimal, recurrent
from course_utils.models.alignment import make_attention
from course_utils.models.attention import causal_mask
from course_utils.translation import search

B, T, S = 3, 7, 11
D, H, E, A = 5, 13, 17, 2  # of recurrent networks
WIDTH, HEADS, HIDDEN = 10, 2, 19  # of the Transformer

some = settings(max_examples=10, deadline=None)
seeds = given(seed=st.integers(0, 1000))
both_orders = pytest.mark.parametrize("order", ["pre", "post"])


def mask_of(*shape, seed=0):
    """A mask with gaps, in which each row has a True."""
    mask = torch.rand(*shape, generator=drawn(seed)) < 0.5
    mask[..., seed % shape[-1]] = True
    return mask


def assert_finite(results, inputs):
    gradients = torch.autograd.grad(sum(result.square().sum() for result in results), inputs, allow_unused=True)
    assert all(x.isfinite().all() for x in (*results, *(g for g in gradients if g is not None)))


# Recurrent networks


@some
@seeds
def test_a_step_of_an_rnn_is_torchs(seed):
    cell = shaken(nn.RNNCell(D, H), seed)
    x, state = tensors(seed, (B, D), (B, H))
    ours = minimal.rnn_step(x, state, cell.weight_ih, cell.weight_hh, cell.bias_ih + cell.bias_hh)
    assert_same(ours, cell(x, state), [x, state, *cell.parameters()])


@some
@seeds
def test_a_step_of_a_gru_is_torchs(seed):
    cell = shaken(nn.GRUCell(D, H), seed)
    x, state = tensors(seed, (B, D), (B, H))
    ours = minimal.gru_step(x, state, *cell.parameters())
    assert_same(ours, cell(x, state), [x, state, *cell.parameters()])


@some
@seeds
def test_the_loss_of_a_batch_is_torchs_mean_over_its_words(seed):
    logits, mask = tensor(B, T, S, seed=seed), mask_of(B, T, seed=seed)
    target = torch.randint(0, S, (B, T), generator=drawn(seed))
    torchs = F.cross_entropy(logits.flatten(0, 1), target.masked_fill(~mask, -100).flatten())
    assert_same(minimal.sequence_loss(logits, target, mask), torchs, [logits])
    garbage = torch.where(mask[..., None], logits, torch.nan).detach().requires_grad_()
    assert_same(minimal.sequence_loss(garbage, torch.where(mask, target, S), mask), torchs, [garbage], [logits])
    nothing = minimal.sequence_loss(garbage, target, torch.zeros_like(mask))
    (gradient,) = torch.autograd.grad(nothing, garbage)
    assert nothing == 0 and not gradient.any()


# Attention in recurrent networks


@some
@seeds
def test_bahdanaus_step_is_the_courses(seed):
    attention = shaken(make_attention("perceptron", H, E, 0), seed)
    state, annotations, mask = tensor(B, H, seed=seed), tensor(B, S, E, seed=seed + 1), mask_of(B, S, seed=seed)
    inputs = [state, annotations, attention.weight_s, attention.weight_h, attention.v]
    context, weights = minimal.bahdanau_step(state, annotations, mask, *inputs[2:])
    fast = attention(state[:, None], attention.prepare(annotations, mask))
    assert_same(context, fast[0][:, 0], inputs)
    assert_same(weights, fast[1][:, 0], inputs)


@some
@seeds
def test_luongs_step_is_the_courses(seed):
    decoder = shaken(recurrent.LuongDecoder(D, H, E, "general", 0, False), seed)
    decoder.merge.bias.data.zero_()  # the paper's layer has none
    state, annotations, mask = tensor(B, H, seed=seed), tensor(B, S, E, seed=seed + 1), mask_of(B, S, seed=seed)
    inputs = [state, annotations, decoder.attention.weight, decoder.merge.weight]
    features, weights = minimal.luong_step(state, annotations, mask, *inputs[2:])
    fast = decoder.attend(state[:, None], decoder.prepare(annotations, mask, None))
    assert_same(features, fast[0][:, 0], inputs)
    assert_same(weights, fast[1][:, 0], inputs)


RECURRENT_ATTENTION = [
    (minimal.bahdanau_step, [(A, H), (A, E), (A,)]),
    (minimal.luong_step, [(H, E), (D, E + H)]),
]


@pytest.mark.parametrize(("step", "shapes"), RECURRENT_ATTENTION)
def test_an_empty_sentence_and_padding_of_any_kind_do_no_harm(step, shapes):
    (state, annotations), weights = tensors(1, (B, H), (B, S, E)), tensors(5, *shapes)
    mask = mask_of(B, S)
    mask[1] = False
    spoiled = annotations.detach().clone()
    spoiled[~mask] = torch.tensor([torch.nan, torch.inf, 1e300])[torch.arange(int((~mask).sum())) % 3, None].double()
    spoiled.requires_grad_()
    clean, dirty = step(state, annotations, mask, *weights), step(state, spoiled, mask, *weights)
    for ours, other in zip(clean, dirty, strict=True):
        assert_same(ours, other, [state, annotations, *weights], [state, spoiled, *weights])
    assert not clean[1][1].any() and not dirty[1].masked_fill(mask, 0.0).any()
    if step is minimal.bahdanau_step:
        assert not clean[0][1].any()
    assert_finite(dirty, [state, spoiled, *weights])


# The Transformer


@some
@seeds
def test_self_attention_is_torchs(seed):
    x, *weights = tensors(seed, (B, T, D), (D, 3), (D, 3), (D, E))
    projected = [x @ weight for weight in weights]
    for mask in (None, mask_of(B, T, T, seed=seed), causal_mask(T).expand(B, -1, -1)):
        ours = minimal.self_attention(x, *weights, mask)
        theirs = F.scaled_dot_product_attention(*projected, attn_mask=mask)
        assert_same(ours, theirs, [x, *weights])


def weights_of(attention):
    """What `plain.multi_head_attention` takes, of torch's module."""
    return attention.in_proj_weight, attention.in_proj_bias, attention.out_proj.weight, attention.out_proj.bias


@some
@seeds
def test_multi_head_attention_is_torchs(seed):
    theirs = shaken(nn.MultiheadAttention(WIDTH, HEADS, batch_first=True), seed)
    query, key, value = inputs = tensors(seed, (B, T, WIDTH), (B, S, WIDTH), (B, S, WIDTH))
    for mask in (None, mask_of(B, T, S, seed=seed)):
        ours = minimal.multi_head_attention(*inputs, *weights_of(theirs), HEADS, mask)
        not_allowed = None if mask is None else ~mask.repeat_interleave(HEADS, 0)
        expected, _ = theirs(query, key, value, attn_mask=not_allowed)
        assert_same(ours, expected, [*inputs, *weights_of(theirs)])


def test_sinusoidal_positions_are_the_papers_formula():
    width, longest = 14, 23
    table = minimal.sinusoidal_positions(longest, width)
    for position in range(longest):
        for i in range(width // 2):
            angle = position / 10000 ** (2 * i / width)
            assert table[position, 2 * i].item() == pytest.approx(math.sin(angle), abs=1e-6)
            assert table[position, 2 * i + 1].item() == pytest.approx(math.cos(angle), abs=1e-6)


@some
@seeds
def test_layer_norm_is_torchs(seed):
    x, gain, bias = tensors(seed, (B, T, D), (D,), (D,))
    for eps in (1e-5, 0.1):
        assert_same(minimal.layer_norm(x, gain, bias, eps), F.layer_norm(x, (D,), gain, bias, eps), [x, gain, bias])
    same = torch.full((2, D), 3.0, dtype=torch.float64, requires_grad=True)  # a vector without variance
    assert_same(minimal.layer_norm(same, gain, bias), bias + 0 * same, [gain, bias])
    assert_finite([minimal.layer_norm(same, gain, bias)], [same, gain, bias])


def layer_weights(layer):
    """What the plain layers take, of torch's layer."""
    weights = {
        "self_attention": weights_of(layer.self_attn),
        "feed_forward": (*layer.linear1.parameters(), *layer.linear2.parameters()),
    }
    if hasattr(layer, "multihead_attn"):
        weights["source_attention"] = weights_of(layer.multihead_attn)
    norms = (name for name in ("norm1", "norm2", "norm3") if hasattr(layer, name))
    return weights | {f"norm_{name[-1]}": tuple(getattr(layer, name).parameters()) for name in norms}


@both_orders
@some
@seeds
def test_an_encoder_layer_is_torchs(order, seed):
    options = {"batch_first": True, "norm_first": order == "pre"}
    theirs = shaken(nn.TransformerEncoderLayer(WIDTH, HEADS, HIDDEN, 0.1, **options), seed)
    x, mask = tensor(B, S, WIDTH, seed=seed), mask_of(B, S, seed=seed)
    ours = minimal.encoder_layer(x, mask, layer_weights(theirs), HEADS, order)[
        mask
    ]  # at padding the results may differ
    assert_same(ours, theirs(x, src_key_padding_mask=~mask)[mask], [x, *theirs.parameters()])


@both_orders
@some
@seeds
def test_a_decoder_layer_is_torchs(order, seed):
    options = {"batch_first": True, "norm_first": order == "pre"}
    theirs = shaken(nn.TransformerDecoderLayer(WIDTH, HEADS, HIDDEN, 0.1, **options), seed)
    x, memory, mask = tensor(B, T, WIDTH, seed=seed), tensor(B, S, WIDTH, seed=seed + 1), mask_of(B, S, seed=seed)
    ours = minimal.decoder_layer(x, memory, mask, layer_weights(theirs), HEADS, order)
    expected = theirs(x, memory, tgt_mask=~causal_mask(T), memory_key_padding_mask=~mask)
    assert_same(ours, expected, [x, memory, *theirs.parameters()])


@both_orders
def test_values_at_padding_have_no_effect_on_a_layer(order):
    options = {"batch_first": True, "norm_first": order == "pre"}
    encoder = shaken(nn.TransformerEncoderLayer(WIDTH, HEADS, HIDDEN, 0.1, **options), 1)
    decoder = shaken(nn.TransformerDecoderLayer(WIDTH, HEADS, HIDDEN, 0.1, **options), 2)
    x, memory, mask = tensor(B, T, WIDTH, seed=3), tensor(B, S, WIDTH, seed=4), mask_of(B, S)
    spoiled = memory.detach().clone()
    spoiled[~mask] = torch.nan
    spoiled.requires_grad_()

    def layers(memory):
        encoded = minimal.encoder_layer(memory, mask, layer_weights(encoder), HEADS, order)[mask]
        return encoded, minimal.decoder_layer(x, memory, mask, layer_weights(decoder), HEADS, order)

    for clean, dirty in zip(layers(memory), layers(spoiled), strict=True):
        parameters = [x, *encoder.parameters(), *decoder.parameters()]
        assert_same(clean, dirty, [memory, *parameters], [spoiled, *parameters])


# Search


def table(seed, vocabulary=5):
    """A `step` whose probabilities depend on all of the prefix."""

    def step(prefix):
        generator = drawn(seed + sum((i + 1) * 31**i * token for i, token in enumerate(prefix)))
        return torch.randn(vocabulary, generator=generator, dtype=torch.float64).mul(2).log_softmax(-1)

    return step


class Fast(nn.Module):
    """The same table as a model for `translation/search.py`, whose state is all that was written."""

    def __init__(self, step):
        super().__init__()
        self.of_prefix = step

    def start(self, source):
        return {}, source.new_zeros(len(source), 1, 0)

    def step(self, tokens, memory, written):
        written = torch.cat([written, tokens[..., None]], -1)
        logits = torch.stack([torch.stack([self.of_prefix(prefix) for prefix in row]) for row in written.tolist()])
        return logits, written, None


def without_pad_and_bos(step, words):
    """A step over eos, 0, and the words behind it, that can only end after so many words: what the fast search does.

    It never writes PAD and BOS, and forces EOS at the limit, in both cases without dividing by the rest of the probability.
    """

    def over_words(prefix):
        log_p = step([BOS, *(token + EOS for token in prefix[1:])])[EOS:]
        return log_p[:1] if len(prefix) > words else log_p

    return over_words


SOURCE = torch.tensor([[5, EOS, PAD]])


@settings(max_examples=30, deadline=None)
@given(seed=st.integers(0, 10**6), words=st.integers(0, 7))
def test_greedy_is_the_courses(seed, words):
    (fast,) = search.greedy(Fast(table(seed)), SOURCE, words)
    ours = minimal.greedy(without_pad_and_bos(table(seed), words), -1, 0, words + 1)
    assert [token + EOS for token in ours] == [*fast.tokens, EOS]


@settings(max_examples=30, deadline=None)
@given(seed=st.integers(0, 10**6), words=st.integers(0, 5), width=st.sampled_from([1, 2, 3, 7]))
def test_beam_search_is_the_courses_without_length_penalty(seed, words, width):
    """The plain one ranks by probability and finds all that ever ended; the fast one then has alpha 0 and endless hypotheses."""
    (fast,) = search.beam_search(Fast(table(seed)), SOURCE, width, 0.0, words, hypotheses=10**4)
    ours = minimal.beam_search(without_pad_and_bos(table(seed), words), -1, 0, width, words + 1)
    assert [[token + EOS for token in ids] for ids, _ in ours] == [[*found.tokens, EOS] for found in fast.hypotheses]
    assert [log_p for _, log_p in ours] == pytest.approx([found.log_probability for found in fast.hypotheses])


def test_ties_go_to_the_smallest():
    assert minimal.greedy(lambda prefix: torch.zeros(5), 9, 0, 3) == [0]
    assert minimal.greedy(lambda prefix: torch.tensor([0.0, 1.0, 1.0]), 9, 0, 3) == [1, 1, 1]


def test_beam_search_finds_the_example_worked_by_hand():
    """A beam of two finds "a", less probable than "b" at first, but sure to end; having set it aside, it again keeps two."""
    following = {
        (): {"a": 0.4, "b": 0.6},
        ("a",): {"eos": 1.0},
        ("b",): {"a": 0.34, "b": 0.33, "eos": 0.33},
        ("b", "a"): {"eos": 0.9, "a": 0.1},
    }
    names = ["eos", "a", "b"]

    def step(prefix):
        probabilities = following[tuple(names[token] for token in prefix[1:])]
        return torch.tensor([probabilities.get(name, 1e-9) for name in names], dtype=torch.float64).log()

    assert minimal.greedy(step, 9, 0, 3) == [2, 1, 0]
    found = minimal.beam_search(step, 9, 0, 2, 3)
    assert [ids for ids, _ in found] == [[1, 0], [2, 1, 0], [2, 1, 1]]  # "b a a" is still open after three ids
    expected = torch.tensor([0.4, 0.6 * 0.34 * 0.9, 0.6 * 0.34 * 0.1]).log()
    assert [log_p for _, log_p in found] == pytest.approx(expected.tolist())


def test_searches_do_not_ask_again_nor_change_what_they_gave():
    for find in (lambda step: minimal.greedy(step, 9, 0, 5), lambda step: minimal.beam_search(step, 9, 0, 3, 5)):
        asked = []

        def step(prefix, asked=asked):
            asked.append((prefix, tuple(prefix)))
            return table(4)(prefix)

        find(step)
        assert all(tuple(prefix) == then and 0 not in then and len(then) <= 5 for prefix, then in asked)
        assert len({then for _, then in asked}) == len(asked)
