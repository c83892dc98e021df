"""What lesson 18 shows: gates, losses and capacity number by number, experts that are left alone, and the worlds that they learn."""

import math

import pytest
import torch
from tensors import drawn
from torch import nn

from course_utils.data.regimes import ENDS, LANGUAGES, LENGTH, LINES, WORDS, dictionaries, on_lines
from course_utils.models.experts import (
    ExpertsLayer,
    Mixture,
    Translator,
    balance_loss,
    fit,
    fit_translator,
    mix,
    mixture_loss,
    within_capacity,
)
from course_utils.models.gpt import SwiGLU
from course_utils.models.transformer import FeedForward


def test_gates_and_losses_equal_their_formulas_number_by_number():
    logits = torch.randn(6, 4, generator=drawn(), dtype=torch.float64)
    gates = logits.softmax(-1)
    outputs, target = torch.randn(6, 4, 3, generator=drawn(1)).double(), torch.randn(6, 3, generator=drawn(2)).double()
    expected = 0.0
    for b in range(6):
        likelihood = sum(gates[b, i] * math.exp(-((target[b] - outputs[b, i]) ** 2).sum() / 2) for i in range(4))
        expected -= math.log(likelihood) / 6
        torch.testing.assert_close(mix(outputs, gates)[b], sum(gates[b, i] * outputs[b, i] for i in range(4)))
    assert mixture_loss(outputs, gates, target).item() == pytest.approx(expected)
    probabilities, chosen = logits.softmax(-1), logits.argmax(-1)
    shares = [(chosen == i).double().mean().item() for i in range(4)]
    means = [probabilities[:, i].mean().item() for i in range(4)]
    assert balance_loss(probabilities, chosen).item() == pytest.approx(
        4 * sum(f * p for f, p in zip(shares, means, strict=True))
    )


def test_experts_with_gate_0_have_no_effect():
    outputs = torch.tensor([[[1.0], [math.nan]]], requires_grad=True)
    mix(outputs, torch.tensor([[1.0, 0.0]])).sum().backward()
    assert outputs.grad.tolist() == [[[1.0], [0.0]]]
    logits = torch.tensor([[2.0, 1.0, 0.0]], requires_grad=True)
    gates = torch.cat([logits[:, :2].softmax(-1), torch.zeros(1, 1)], -1)
    mixture_loss(torch.tensor([[[40.0], [42.0], [1.0]]]), gates, torch.zeros(1, 1)).backward()
    assert logits.grad.isfinite().all() and logits.grad[0, 2] == 0


def test_capacity_is_counted_in_the_order_of_the_batch():
    chosen = torch.randint(3, (40,), generator=drawn())
    kept = within_capacity(chosen, 3, 5)
    seen = [0, 0, 0]
    for token, expert in enumerate(chosen.tolist()):
        seen[expert] += 1
        assert kept[token].item() == (seen[expert] <= 5)


@pytest.mark.parametrize("k", [1, 2, 3])
def test_a_layer_of_experts_equals_its_sum_token_by_token(k):
    torch.manual_seed(0)
    layer = ExpertsLayer(4, [FeedForward(4, 6) for _ in range(3)], k).double()
    x = torch.randn(2, 5, 4, generator=drawn(), dtype=torch.float64)
    y = layer(x)
    for b in range(2):
        for t in range(5):
            scores = layer.gate(x[b, t])
            best = sorted(range(3), key=scores.__getitem__, reverse=True)[:k]
            total = sum(scores[i].exp() for i in (best if k > 1 else range(3)))
            expected = sum(scores[i].exp() / total * layer.experts[i](x[b, t]) for i in best)
            torch.testing.assert_close(y[b, t], expected)
    y.sum().backward()
    assert layer.gate.weight.grad.any()


def test_a_layer_with_two_experts_a_token_equals_mixtrals():
    from transformers import MixtralConfig
    from transformers.models.mixtral.modeling_mixtral import MixtralSparseMoeBlock

    sizes = {"hidden_size": 8, "intermediate_size": 12, "num_local_experts": 5, "num_experts_per_tok": 2}
    theirs = MixtralSparseMoeBlock(MixtralConfig(**sizes))
    for parameter in theirs.parameters():
        nn.init.normal_(parameter, generator=drawn())
    ours = ExpertsLayer(8, [SwiGLU(8, 12) for _ in range(5)], k=2)
    ours.gate.weight = theirs.gate.weight
    for i, expert in enumerate(ours.experts):
        gate, up = theirs.experts.gate_up_proj[i].chunk(2)
        for layer, matrix in ((expert.gate, gate), (expert.up, up), (expert.down, theirs.experts.down_proj[i])):
            layer.weight = nn.Parameter(matrix.detach())
    x = torch.randn(3, 7, 8, generator=drawn(1))
    torch.testing.assert_close(ours(x), theirs(x))


def test_tokens_above_the_capacity_pass_unchanged_in_training():
    torch.manual_seed(0)
    layer = ExpertsLayer(4, [FeedForward(4, 6) for _ in range(2)], capacity=0.5)
    x = torch.randn(1, 8, 4, generator=drawn())
    y = layer(x)
    assert torch.equal(layer.kept[:, 0], within_capacity(layer.chosen[:, 0], 2, 2)) and not layer.kept.all()
    assert not y[0, ~layer.kept[:, 0]].any() and y[0, layer.kept[:, 0]].any(-1).all()
    layer.eval()(x)
    assert layer.kept.all()


def test_noise_moves_choices_in_training_only():
    torch.manual_seed(0)
    layer, x = ExpertsLayer(4, [nn.Linear(4, 4) for _ in range(3)], bias=True, noise=5.0), torch.randn(1, 30, 4)
    plain = layer.gate(x[0]).argmax(-1, keepdim=True)
    layer(x)
    assert not torch.equal(layer.chosen, plain)
    layer.eval()(x)
    assert torch.equal(layer.chosen, plain)


def test_offsets_follow_the_load_and_count_in_choosing_only():
    torch.manual_seed(0)
    layer, x = ExpertsLayer(4, [nn.Linear(4, 4) for _ in range(3)], nudge=0.25), torch.randn(1, 9, 4, generator=drawn())
    layer(x)
    load = [layer.chosen[:, 0].tolist().count(i) for i in range(3)]
    assert load != [3, 3, 3]
    assert layer.offsets.tolist() == [0.25 * ((number < 3) - (number > 3)) for number in load]
    layer.offsets = torch.tensor([0.0, 9.0, 0.0])
    p = layer.gate(x[0]).softmax(-1)[:, 1:2]
    torch.testing.assert_close(layer.eval()(x)[0], p * layer.experts[1](x[0]))
    assert layer.offsets.tolist() == [0, 9, 0]


def test_points_lie_on_their_lines():
    points = on_lines(500, drawn(), noise=0.0)
    for x, y, line in zip(points.x[:, 0].tolist(), points.y[:, 0].tolist(), points.line.tolist(), strict=True):
        assert line == sum(x > end for end in ENDS) and y == pytest.approx(
            LINES[line][0] * x + LINES[line][1], abs=1e-5
        )


def test_dictionaries_translate_each_word_to_one():
    world = dictionaries(3)
    assert torch.equal(world.table.sort(-1).values, torch.arange(WORDS).expand(LANGUAGES, -1))
    given, wanted = world.batch(drawn(), 10)
    assert given.shape == (10, 1 + LENGTH) and wanted.shape == (10, LENGTH)
    for row, out in zip(given.tolist(), wanted.tolist(), strict=True):
        assert out == [world.table[row[0], word - LANGUAGES].item() for word in row[1:]]
    assert torch.equal(dictionaries(3).table, world.table) and not torch.equal(dictionaries(4).table, world.table)
    few = dictionaries(3, languages=8)
    given, wanted = few.batch(drawn(), 10, length=1)
    assert torch.equal(few.table, world.table[:8]) and given.shape == (10, 2) and wanted.shape == (10, 1)
    assert torch.equal(few.table[given[:, 0], given[:, 1] - 8], wanted[:, 0])


@pytest.mark.parametrize("experts", [None, 4])
def test_training_a_translator_lowers_the_loss(experts):
    torch.manual_seed(0)
    world, model = dictionaries(0), Translator(LANGUAGES, WORDS, experts=experts)
    losses = fit_translator(model, world.batch, steps=60)
    assert sum(losses[-5:]) < 0.98 * sum(losses[:5])
    given, _ = world.batch(drawn(), 3)
    assert model(given).shape == (3, LENGTH, WORDS)


@pytest.mark.parametrize("compete", [True, False])
def test_training_a_mixture_lowers_the_loss(compete):
    points = on_lines(300, drawn())
    torch.manual_seed(0)
    losses = fit(Mixture(1, 1, experts=3), points.x, points.y, steps=80, rate=3e-2, compete=compete)
    assert sum(losses[-5:]) < 0.6 * sum(losses[:5])
