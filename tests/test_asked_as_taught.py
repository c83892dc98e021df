"""What the tasks ask for is what the course's models and PyTorch do: the oracles beside both."""

import pytest
import torch
from test_tasks import TASKS, solution_of

from course_utils.checks.running.contract import in_precision
from course_utils.models import experts, glimpses, memory, snail, variants
from course_utils.tasks.lesson_14 import glimpse


def test_the_sensor_and_the_density_that_are_asked_for_are_the_courses_and_torchs_own():
    checked = 0
    for case in (case for seed in range(3) for case in TASKS["14.glimpse"].make_cases(seed)):
        assert torch.allclose(TASKS["14.glimpse"].oracle_function(*case.args), glimpses.glimpse(*case.args), atol=1e-2)
        checked += 1
    for case in (case for seed in range(3) for case in TASKS["14.corner"].make_cases(seed)):
        both = zip(TASKS["14.corner"].oracle_function(*case.args), glimpses.corner(*case.args), strict=True)
        assert all(torch.equal(one, other) for one, other in both)
        checked += 1
    for case in (case for seed in range(3) for case in TASKS["14.location_log_probability"].make_cases(seed)):
        location, mean, std = (arg.double() if isinstance(arg, torch.Tensor) else float(arg) for arg in case.args)
        torchs = torch.distributions.Normal(mean, std).log_prob(location).sum(1)
        assert torch.allclose(TASKS["14.location_log_probability"].oracle_function(location, mean, std), torchs)
        checked += 1
    assert checked > 60


def test_the_encoding_and_the_hop_that_are_asked_for_are_the_courses_own():
    checked = 0
    for case in (case for seed in range(3) for case in TASKS["16.position_encoding"].make_cases(seed)):
        right = TASKS["16.position_encoding"].oracle_function(*case.args).float()
        assert torch.allclose(right, memory.position_encoding(*case.args), atol=1e-5)
        checked += 1
    for case in (case for seed in range(3) for case in TASKS["16.memory_hop"].make_cases(seed)):
        both = zip(TASKS["16.memory_hop"].oracle_function(*case.args), memory.memory_hop(*case.args), strict=True)
        assert all(torch.allclose(one, other, atol=1e-4) for one, other in both)
        checked += 1
    assert checked > 60


@pytest.mark.parametrize(
    "name", ["top_k_gates", "mix", "mixture_loss", "importance_loss", "balance_loss", "within_capacity"]
)
def test_what_is_asked_of_experts_is_what_the_course_does(name):
    checked = 0
    for case in (case for seed in range(3) for case in TASKS[f"18.{name}"].make_cases(seed)):
        right, own = TASKS[f"18.{name}"].oracle_function(*case.args), getattr(experts, name)(*case.args)
        assert own.shape == right.shape and torch.allclose(own.double(), right.double(), atol=1e-4), case
        checked += 1
    assert checked > 20


@pytest.mark.parametrize("name", ["causal_convolution", "dilations", "dense_block", "attention_block"])
def test_what_is_asked_of_snail_is_what_the_course_does(name):
    checked = 0
    for case in (case for seed in range(3) for case in TASKS[f"19.{name}"].make_cases(seed)):
        right, own = TASKS[f"19.{name}"].oracle_function(*case.args), _by_snail(name, *case.args)
        if name == "dilations":
            assert own == right, case
        else:
            assert own.shape == right.shape and torch.allclose(own.double(), right.double(), atol=1e-4), case
        checked += 1
    assert checked > 10


def _by_snail(name, *given):
    """What the course's own model does, with the weights of a task."""
    if name in ("causal_convolution", "dilations"):
        return getattr(snail, name)(*given)
    x, *weights = given
    if name == "dense_block":
        weight_f, bias_f, weight_g, bias_g, dilation = weights
        block = snail.DenseBlock(x.shape[2], len(bias_f), dilation)
        block.weights.data, block.biases.data = torch.stack([weight_f, weight_g]), torch.stack([bias_f, bias_g])
    else:
        block = snail.AttentionBlock(x.shape[2], weights[0].shape[1], weights[2].shape[1])
        for linear, weight in zip((block.query, block.key, block.value), weights, strict=True):
            linear.weight.data, linear.bias.data = weight.T, torch.zeros(weight.shape[1], dtype=weight.dtype)
    return block(x)


def test_the_sparsemax_that_is_asked_for_is_the_courses():
    checked = 0
    for case in (case for seed in range(3) for case in TASKS["20.sparsemax"].make_cases(seed)):
        args = in_precision(case, torch.float64).args
        assert torch.allclose(variants.sparsemax(*args), TASKS["20.sparsemax"].oracle_function(*args), atol=1e-5), case
        checked += 1
    assert checked > 20


def test_rates_of_a_mean_make_the_delta_rule_hold_it():
    key = torch.tensor([[2, 0, 2, 2, 0]])
    value, unit = torch.tensor([[[3.0], [4.0], [5.0], [1.0], [8.0]]]), torch.eye(3)[key]
    found = solution_of("20.delta_memory")(unit, value, unit, TASKS["20.mean_rates"].oracle_function(key))
    assert torch.allclose(found.flatten(), torch.tensor([3.0, 4.0, 4.0, 3.0, 6.0]))


def test_no_relation_asks_for_patches_that_fill_all_memory():
    with pytest.raises(ValueError, match="larger than any image"):
        glimpse._cut(torch.zeros(1, 5, 5), torch.zeros(1, 2), glimpse.MOST + 1)


def test_the_gated_step_that_is_asked_for_is_torchs_own():
    task, checked = TASKS["05.gru_step"], 0
    for case in (case for seed in range(5) for case in task.make_cases(seed)):
        x, state, *weights = (arg.double() for arg in case.args)
        cell = torch.nn.GRUCell(x.shape[1], state.shape[1], dtype=torch.float64)
        named = dict(zip(("weight_ih", "weight_hh", "bias_ih", "bias_hh"), weights, strict=True))
        torchs = torch.func.functional_call(cell, named, (x, state))
        assert torch.allclose(task.oracle_function(x, state, *weights), torchs, rtol=0, atol=1e-12), case.name
        checked += 1
    assert checked > 30


def test_a_step_with_a_cache_gives_the_last_row_of_causal_attention_with_several_heads():
    draw, (B, T, H, d) = torch.Generator().manual_seed(0), (2, 5, 3, 4)
    shapes = ((B, T, H * d), (3 * H * d, H * d), (3 * H * d,), (H * d, H * d), (H * d,))
    x, *weights = (torch.randn(shape, generator=draw, dtype=torch.float64) for shape in shapes)
    causal = torch.ones(B, T, T, dtype=torch.bool).tril()
    whole = TASKS["10.multi_head_attention"].oracle_function(x, x, x, *weights, H, causal)
    for step in (TASKS["13.cached_step"].oracle_function, solution_of("13.cached_step")):
        keys = values = torch.zeros(B, H, 0, d, dtype=torch.float64)
        for t in range(T):
            output, keys, values = step(x[:, t : t + 1], keys, values, *weights)
            assert torch.allclose(output[:, 0], whole[:, t], rtol=0, atol=1e-12)
