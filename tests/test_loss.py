"""The loss against torch's cross_entropy over all logits at once, values and gradients."""

import numpy as np
import pytest
import torch
import torch.nn.functional as F
from hypothesis import given, settings
from hypothesis import strategies as st
from tensors import assert_close, assert_same

from course_utils.models.transformer import Transformer
from course_utils.training.batches import Batches
from course_utils.training.loop import Objective
from course_utils.training.loss import ROWS, disagreement, smoothed_loss

D, V = 7, 11


def inputs(tokens, seed=0, dtype=torch.float64, scale=1.0, width=D, vocabulary=V):
    draw = torch.Generator().manual_seed(seed)
    features, weight = (
        (torch.randn(n, width, generator=draw, dtype=torch.float64) * scale).to(dtype).requires_grad_()
        for n in (tokens, vocabulary)
    )
    return features, weight, torch.randint(vocabulary, (tokens,), generator=draw)


def torchs(features, weight, target, smoothing):
    return F.cross_entropy(features @ weight.T, target, label_smoothing=smoothing, reduction="sum")


def assert_equals_torchs(features, weight, target, smoothing):
    inputs = features, weight
    assert_same(smoothed_loss(*inputs, target, smoothing), torchs(*inputs, target, smoothing), inputs)


@pytest.mark.parametrize("smoothing", [0.0, 0.1, 0.9])
@pytest.mark.parametrize("tokens", [1, 2, ROWS - 1, ROWS, ROWS + 1, 2 * ROWS, 2 * ROWS + 1])
def test_smoothed_loss_equals_torchs_around_the_size_of_a_block(tokens, smoothing):
    assert_equals_torchs(*inputs(tokens), smoothing)


@settings(max_examples=30, deadline=None)
@given(st.integers(1, 23), st.integers(1, 13), st.integers(2, 19), st.floats(0, 0.9), st.integers(0, 1000))
def test_smoothed_loss_equals_torchs_in_any_shape(tokens, width, vocabulary, smoothing, seed):
    features, weight, target = inputs(tokens, seed, width=width, vocabulary=vocabulary)
    assert_equals_torchs(features, weight, target, smoothing)


@pytest.mark.parametrize("smoothing", [0.0, 0.1])
def test_logits_of_ten_thousand_stay_numbers(smoothing):
    features, weight, target = inputs(13, scale=70.0)
    assert (features @ weight.T).abs().max() > 1e4
    assert_equals_torchs(features, weight, target, smoothing)


def test_the_right_word_far_below_the_others_keeps_its_loss():
    features, weight = torch.tensor([[1.0]]), torch.tensor([[0.0], [-1e4]])
    assert smoothed_loss(features, weight, torch.tensor([1])).item() == 1e4


@pytest.mark.parametrize("smoothing", [0.0, 0.1])
def test_gradients_scale_with_the_gradient_that_comes_in(smoothing):
    features, weight, target = inputs(5)
    plain = torch.autograd.grad(smoothed_loss(features, weight, target, smoothing), [features, weight])
    scaled = torch.autograd.grad(smoothed_loss(features, weight, target, smoothing) * -0.37, [features, weight])
    for one, other in zip(plain, scaled, strict=True):
        assert_close(other, one * -0.37)


def test_a_weight_that_is_also_the_embedding_gets_both_gradients():
    _, weight, target = inputs(5)
    tokens = torch.tensor([3, 1, 4, 1, 5])
    both = [
        torch.autograd.grad(f(weight[tokens].tanh(), weight, target, 0.1), weight)[0] for f in (smoothed_loss, torchs)
    ]
    assert_close(*both)


def test_smoothed_loss_of_no_words_is_zero():
    features, weight, target = inputs(0)
    loss = smoothed_loss(features, weight, target, 0.1)
    loss.backward()
    assert loss.item() == 0 and not weight.grad.any() and features.grad.shape == (0, D)


# In bf16, against float64 on the same numbers: the loss a token, and gradients by their largest number. Over these
# seeds the differences were at most 4.5e-4 and 6.9e-3.
BF16_LOSS, BF16_GRADIENT = 1.4e-3, 2.1e-2


@pytest.mark.parametrize("smoothing", [0.0, 0.1])
@pytest.mark.parametrize("seed", range(2))
def test_bf16_stays_within_its_bound(smoothing, seed):
    low = inputs(700, seed, torch.bfloat16, scale=0.5, width=64, vocabulary=997)
    exact = [x.detach().double().requires_grad_() if x.is_floating_point() else x for x in low]
    loss, expected = smoothed_loss(*low, smoothing), torchs(*exact, smoothing)
    assert loss.dtype == torch.float32
    assert (loss.double() - expected).abs() / 700 < BF16_LOSS
    gradients = torch.autograd.grad(loss, low[:2]), torch.autograd.grad(expected, exact[:2])
    for mine, other in zip(*gradients, strict=True):
        assert mine.dtype == torch.bfloat16
        assert_close(mine.double(), other, BF16_GRADIENT)


def test_disagreement_is_the_mean_of_torchs_two_divergences():
    (features, weight, _), (others, *_) = inputs(29), inputs(29, seed=1)
    log_p, log_q = ((x @ weight.T).log_softmax(-1) for x in (features, others))
    both = [F.kl_div(a, b, reduction="sum", log_target=True) for a, b in ((log_p, log_q), (log_q, log_p))]
    assert_same(disagreement(features, others, weight), sum(both) / 2, [features, others, weight])
    assert disagreement(features, features, weight) == 0


def test_r_drop_reads_sentences_twice_and_adds_disagreement():
    batch = Batches([[5, 6, 7], [5, 6]], [[7, 8], [9]], 64, 0).read(np.arange(2))

    def loss_of(r_drop, dropout, seed=0):
        torch.manual_seed(seed)
        model = Transformer(12, 8, 2, 16, 1, 1, dropout=dropout).double()
        return Objective(model, 0.1, r_drop=r_drop)(batch).item()

    assert loss_of(5.0, dropout=0.0) == pytest.approx(loss_of(0.0, dropout=0.0), abs=1e-9)  # both passes are the same
    losses = [loss_of(r_drop, dropout=0.3) for r_drop in (1.0, 2.0, 3.0)]
    assert losses[1] - losses[0] == pytest.approx(losses[2] - losses[1], abs=1e-9) and losses[1] - losses[0] > 0.01
