"""The decoders against enumeration, against each other, and against themselves in other batches."""

import itertools
import math

import pytest
import sampling
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import nn

from course_utils.base.errors import CourseError
from course_utils.data.subwords import BOS, EOS, PAD
from course_utils.models.transformer import Transformer
from course_utils.translation.search import (
    beam_search,
    greedy,
    length_penalty,
    translate_all,
)

V, D = 6, 5  # PAD, BOS, EOS and three words


class Toy(nn.Module):
    """A small recurrent model with random weights: what follows depends on the source and on all that was written."""

    def __init__(self, seed, vocabulary=V, scale=2.0, dtype=torch.float64):
        super().__init__()
        generator = torch.Generator().manual_seed(seed)

        def matrix(*shape):
            return nn.Parameter(torch.randn(*shape, generator=generator, dtype=torch.float64).to(dtype) * scale)

        self.words, self.written = matrix(vocabulary, D), matrix(vocabulary, D)
        self.recurrent, self.output = matrix(D, D), matrix(D, vocabulary)
        self.dropout = nn.Dropout(0.5)
        self.rows_computed = 0

    def start(self, source):
        assert not self.training
        mask = source != PAD
        keys = self.words[source] * mask[..., None]
        return {"keys": keys, "more": [mask, None]}, (keys.cumsum(1).sin().mul(mask[..., None]).sum(1)[:, None],)

    def step(self, tokens, memory, state):
        self.rows_computed += tokens.numel()
        (hidden,) = state
        assert tokens.shape == hidden.shape[:2] and len(memory["keys"]) == len(tokens)
        hidden = torch.tanh(hidden @ self.recurrent + self.written[tokens])
        scores = (hidden @ memory["keys"].mT).masked_fill(~memory["more"][0][:, None], -torch.inf)
        weights = scores.softmax(-1)
        return (hidden + weights @ memory["keys"]) @ self.output, (hidden,), weights


def sources(seed, number, longest=5, vocabulary=V):
    """B×S with rows of 1 to `longest` words, EOS and padding."""
    generator = torch.Generator().manual_seed(seed)
    lengths = torch.randint(1, longest + 1, (number,), generator=generator)
    source = torch.randint(EOS + 1, vocabulary, (number, longest + 1), generator=generator)
    source[torch.arange(longest + 1) == lengths[:, None]] = EOS
    return source.masked_fill(torch.arange(longest + 1) > lengths[:, None], PAD)[:, : int(lengths.max()) + 1]


@torch.no_grad()
def log_probability(model, row, tokens):
    """By the definition: step by step, one sentence, no padding, no batch."""
    model.eval()
    memory, state = model.start(row[row != PAD][None])
    total, weights = 0.0, []
    for before, token in zip([BOS, *tokens], [*tokens, EOS], strict=True):
        logits, state, attended = model.step(torch.tensor([[before]]), memory, state)
        total += logits[0, 0].log_softmax(-1)[token].item()
        weights.append(attended[0, 0])
    return total, torch.stack(weights)[: len(tokens)]


def enumerate_all(model, row, longest, alpha, vocabulary=V):
    """Every translation with its log probability and score, best first."""
    every = []
    for length in range(longest + 1):
        for tokens in itertools.product(range(EOS + 1, vocabulary), repeat=length):
            log_p = log_probability(model, row, tokens)[0]
            every.append((log_p / ((5 + length + 1) / 6) ** alpha, log_p, list(tokens)))
    return sorted(every, reverse=True)


def test_length_penalty_is_that_of_wu_et_al():
    assert length_penalty(1, 0.6) == 1
    assert length_penalty(7, 0.5) == pytest.approx(math.sqrt(12 / 6))
    assert length_penalty(13, 0.0) == 1


@pytest.mark.parametrize(("seed", "alpha"), [(0, 0.0), (1, 0.6), (2, 3.0), (3, 1.0)])
def test_beam_search_that_keeps_everything_equals_enumeration(seed, alpha):
    model, source, longest = Toy(seed), sources(seed, 3), 4
    found = beam_search(model, source, width=3**5, alpha=alpha, longest=longest, hypotheses=7, weights=True)
    for row, translation in zip(source, found, strict=True):
        every = enumerate_all(model, row, longest, alpha)
        assert translation.tokens == every[0][2]
        assert translation.log_probability == pytest.approx(every[0][1], abs=1e-9)
        assert translation.score == pytest.approx(every[0][0], abs=1e-9)
        assert [hypothesis.tokens for hypothesis in translation.hypotheses] == [tokens for _, _, tokens in every[:7]]
        for hypothesis in translation.hypotheses:
            log_p, weights = log_probability(model, row, hypothesis.tokens)
            assert hypothesis.log_probability == pytest.approx(log_p, abs=1e-9)
            torch.testing.assert_close(hypothesis.weights, weights)


@settings(max_examples=15, deadline=None)
@given(seed=st.integers(0, 10**6), number=st.integers(1, 11), longest=st.sampled_from([None, 0, 1, 3, 13]))
def test_width_one_is_greedy_and_what_is_said_of_both_holds(seed, number, longest):
    model, source = Toy(seed, scale=1.0), sources(seed, number)
    beam = beam_search(model, source, width=1, alpha=0.0, longest=longest, weights=True)
    for one, other, row in zip(beam, greedy(model, source, longest, weights=True), source, strict=True):
        assert one.tokens == other.tokens and (longest is None or len(one.tokens) <= longest)
        assert one.log_probability == pytest.approx(other.log_probability, abs=1e-9)
        assert other.score == other.log_probability
        log_p, weights = log_probability(model, row, other.tokens)
        assert other.log_probability == pytest.approx(log_p, abs=1e-9)
        torch.testing.assert_close(other.weights, weights)
        torch.testing.assert_close(one.weights, weights)


@settings(max_examples=sampling.tried(4, 30), deadline=None)
@given(seed=st.integers(0, 10**6), width=st.sampled_from([1, 2, 3, 7]), alpha=st.sampled_from([0.0, 0.6, 2.0]))
def test_a_sentence_is_translated_alike_in_every_batch(seed, width, alpha):
    model, source = Toy(seed, vocabulary=11, scale=1.0), sources(seed, 13, longest=7, vocabulary=11)
    together = beam_search(model, source, width, alpha, hypotheses=3, weights=True)
    padded = torch.cat([source, torch.full((13, 3), PAD)], 1).flip(0)
    apart = [beam_search(model, row[row != PAD][None], width, alpha, hypotheses=3, weights=True)[0] for row in source]
    for others in (apart, beam_search(model, padded, width, alpha, hypotheses=3, weights=True)[::-1]):
        for one, other in zip(together, others, strict=True):
            assert [h.tokens for h in one.hypotheses] == [h.tokens for h in other.hypotheses]
            torch.testing.assert_close(one.score, other.score)
            torch.testing.assert_close(one.weights, other.weights)
    alone = [greedy(model, row[row != PAD][None])[0].tokens for row in source]
    assert alone == [translation.tokens for translation in greedy(model, padded)][::-1]


@pytest.mark.parametrize("alpha", [0.0, 0.3, 1.0])
def test_beam_search_stops_once_no_open_hypothesis_can_win(alpha):
    """A search that has to go on to the limit, to find more hypotheses than there are, finds none better."""
    model, source = Toy(7), sources(7, 11)
    found = beam_search(model, source, 7, alpha, longest=50)
    rows_computed, model.rows_computed = model.rows_computed, 0
    patient = beam_search(model, source, 7, alpha, longest=50, hypotheses=10**4)
    assert rows_computed < model.rows_computed * {0.0: 0.2, 0.3: 0.6, 1.0: 1.01}[alpha]
    assert [t.tokens for t in found] == [t.tokens for t in patient]
    assert all(len(t.hypotheses) > 20 for t in patient)


def test_sentences_that_are_done_leave_the_batch():
    class Counting(Toy):
        """Writes as many words as its source has."""

        def start(self, source):
            memory, _ = super().start(source)
            return memory, ((source != PAD).sum(1)[:, None, None].double(),)

        def step(self, tokens, memory, state):
            self.rows_computed += tokens.numel()
            (left,) = state
            logits = torch.zeros(*tokens.shape, V, dtype=torch.float64)
            logits[..., PAD] = logits[..., BOS] = 50  # never to be written
            logits[..., EOS] = torch.where(left[..., 0] <= 1, 40, -40)
            return logits, (left - 1,), None

    lengths = [3] * 30 + [97]
    source = torch.full((31, 98), PAD)
    for row, length in zip(source, lengths, strict=True):
        row[: length + 1] = torch.tensor([5] * length + [EOS])
    for decode, most in ((greedy, 31 * 4 + 98), (lambda *a, **k: beam_search(*a, width=1, **k), 31 * 4 + 98)):
        model = Counting(0)
        found = decode(model, source, weights=True)
        assert [len(t.tokens) for t in found] == lengths
        assert all(t.weights is None for t in found)
        assert model.rows_computed <= most


def test_translations_may_be_twice_their_source_plus_ten_tokens():
    model = Toy(2)
    source = torch.tensor([[5, 4, 5, EOS], [5, EOS, PAD, PAD]])
    model.step = lambda tokens, memory, state: (torch.eye(V)[5].expand(*tokens.shape, V) * 99, state, None)
    assert [len(t.tokens) for t in greedy(model, source)] == [18, 14]
    assert [len(t.tokens) for t in beam_search(model, source, width=2)] == [18, 14]


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float32])
def test_low_precision_logits_are_scored_in_full_precision(dtype):
    model, source = Toy(0), sources(0, 3)
    logits = torch.tensor([9.0, 9.0, 1.25, 3.5, 3.0, 1.0]).to(dtype)
    exact = logits.double().log_softmax(-1)
    model.step = lambda tokens, memory, state: (logits.expand(*tokens.shape, V).clone(), state, None)
    for translation in greedy(model, source, 7) + beam_search(model, source, 1, longest=7):
        assert translation.tokens == [3] * 7
        assert translation.log_probability == pytest.approx((7 * exact[3] + exact[EOS]).item(), abs=1e-4)


def test_padding_and_beginning_are_never_written():
    model, source = Toy(4), sources(4, 7)
    with torch.no_grad():
        model.output[:, [PAD, BOS]] += 30
    for found in (greedy(model, source), beam_search(model, source, 50, longest=4, hypotheses=50)):
        for translation in found:
            every = [translation.tokens, *(hypothesis.tokens for hypothesis in translation.hypotheses)]
            assert not {PAD, BOS, EOS} & {token for tokens in every for token in tokens}


@pytest.mark.parametrize("training", [True, False])
def test_the_model_is_given_back_as_it_was(training):
    model, source = Toy(0).train(training), sources(0, 3)
    model.dropout.train(not training)
    translations = greedy(model, source, weights=True) + beam_search(model, source, weights=True)
    assert (model.training, model.dropout.training) == (training, not training)
    assert not any(t.weights.is_inference() or t.weights.requires_grad for t in translations)
    model.step = None
    for decode in (greedy, beam_search):
        with pytest.raises(TypeError):
            decode(model, source)
        assert (model.training, model.dropout.training) == (training, not training)


def test_logits_that_are_no_numbers_are_named():
    model = Toy(0)
    with torch.no_grad():
        model.output.fill_(torch.nan)
    for decode in (greedy, beam_search):
        with pytest.raises(CourseError, match="not numbers"):
            decode(model, sources(0, 3))


def test_decoders_accept_no_sentences_but_refuse_padding_alone():
    model = Toy(0)
    none = torch.zeros(0, 5, dtype=torch.long)
    assert greedy(model, none) == beam_search(model, none) == translate_all(model, []) == []
    for decode in (greedy, beam_search):
        with pytest.raises(CourseError, match="row 1 of the source holds only padding"):
            decode(model, torch.tensor([[5, EOS], [PAD, PAD]]))
    empty, one = translate_all(model, [[], [5]], width=3, weights=True)
    assert (empty.tokens, empty.log_probability, empty.score) == ([], 0, 0)
    assert one.tokens == beam_search(model, torch.tensor([[5, EOS]]), 3)[0].tokens


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"width": 0}, "width must be at least 1, not 0"),
        ({"hypotheses": 0}, "hypotheses must be at least 1, not 0"),
        ({"alpha": -0.1}, "alpha must be at least 0, not -0.1"),
        ({"longest": -1}, "longest must be at least 0, not -1"),
    ],
)
def test_impossible_options_are_named(wrong, message):
    with pytest.raises(CourseError, match=message):
        beam_search(Toy(0), sources(0, 3), **wrong)


@settings(max_examples=10, deadline=None)
@given(
    lengths=st.lists(st.integers(0, 7), max_size=23),
    batch=st.integers(1, 11),
    width=st.sampled_from([1, 3]),
    longest=st.sampled_from([None, 3]),
)
def test_translate_all_returns_many_sentences_in_their_order(lengths, batch, width, longest):
    model = Toy(6, vocabulary=11, scale=1.0)
    generator = torch.Generator().manual_seed(len(lengths))
    rows = [torch.randint(EOS + 1, 11, (length,), generator=generator).tolist() for length in lengths]
    found = translate_all(model, rows, width, alpha=0.9, longest=longest, weights=True, batch=batch)
    for row, translation in zip(rows, found, strict=True):
        if row:
            source = torch.tensor([[*row, EOS]])
            (alone,) = beam_search(model, source, width, alpha=0.9, longest=longest)
            assert translation.tokens == alone.tokens
            assert translation.weights.shape == (len(alone.tokens), len(row) + 1)
            if width > 1:
                assert translation.score == pytest.approx(alone.score, abs=1e-9)


def test_a_translation_never_outgrows_a_transformers_positions():
    torch.manual_seed(0)
    model = Transformer(23, width=8, heads=2, hidden=8, encoder_layers=1, decoder_layers=1, longest=11)
    rows = [[5, 6, 7, 8, 9, 10, 11]]  # twice 8 and 10 are more than 11
    for width in (1, 3):
        (found,) = translate_all(model, rows, width)
        assert len(found.tokens) <= 10
