"""What the tasks ask for is what the course's models and PyTorch do: the oracles beside both."""

import pytest
import torch
from test_tasks import TASKS, solution_of

from course_utils.checks.running.contract import in_precision
from course_utils.data import stories
from course_utils.lessons.lesson_14 import glimpse
from course_utils.models import experts, glimpses, memory, snail, variants


def test_the_sensor_and_the_density_that_are_asked_for_are_the_courses_and_torchs_own():
    checked = 0
    for case in (case for seed in range(3) for case in TASKS["14.glimpse"].make_cases(seed)):
        assert torch.allclose(TASKS["14.glimpse"].oracle_function(*case.args), glimpses.glimpse(*case.args), atol=1e-2)
        checked += 1
    for case in (case for seed in range(3) for case in TASKS["14.next_look"].make_cases(seed)):
        state, location, log_p = TASKS["14.next_look"].oracle_function(*case.args)
        *_, weight, noise, std = case.args
        drawn, mean = state @ weight.T + std * noise, state @ weight.T
        assert torch.allclose(location, drawn.clamp(-1, 1), atol=1e-6)
        assert torch.allclose(log_p, glimpses.location_log_probability(drawn, mean, std), atol=1e-4)
        checked += 1
    assert checked > 60


def test_the_weights_that_are_measured_are_the_courses_own_score_with_equal_weights_of_one():
    checked = 0
    for case in (case for seed in range(3) for case in TASKS["16.memories"].make_cases(seed)):
        weights, mask, support = case.args
        answered = memory.Answered(torch.zeros(len(mask), 2), weights * mask.sum(1)[:, None, None])
        read = stories.Stories(None, mask, None, torch.zeros(len(mask), dtype=torch.long), support)
        own = torch.tensor(memory.score(lambda *_, answered=answered: answered, read).on_facts)
        assert torch.allclose(TASKS["16.memories"].oracle_function(*case.args).to(own), own, atol=1e-4)
        checked += 1
    assert checked > 30


def test_the_hops_that_are_asked_for_are_the_courses_own():
    checked = 0
    for case in (case for seed in range(3) for case in TASKS["16.answer"].make_cases(seed)):
        question, memories, mask, readout = case.args
        for keys, values in zip(memories, memories[1:], strict=False):
            question, _ = memory.memory_hop(question, keys, values, mask)
        right = TASKS["16.answer"].oracle_function(*case.args)
        assert torch.allclose(right, question @ readout.T, rtol=1e-4, atol=1e-4)
        checked += 1
    assert checked > 30


@pytest.mark.parametrize("name", ["mixture_loss", "within_capacity"])
def test_what_is_asked_of_experts_is_what_the_course_does(name):
    checked = 0
    for case in (case for seed in range(3) for case in TASKS[f"18.{name}"].make_cases(seed)):
        right, own = TASKS[f"18.{name}"].oracle_function(*case.args), getattr(experts, name)(*case.args)
        assert own.shape == right.shape and torch.allclose(own.double(), right.double(), atol=1e-4), case
        checked += 1
    assert checked > 20


def test_what_is_asked_of_snail_is_what_the_course_does():
    checked = 0
    for case in (case for seed in range(3) for case in TASKS["19.two_blocks"].make_cases(seed)):
        right, own = TASKS["19.two_blocks"].oracle_function(*case.args), _by_snail(*case.args)
        assert own.shape == right.shape and torch.allclose(own.double(), right.double(), atol=1e-4), case
        checked += 1
    for steps in range(1, 200):
        assert snail.dilations(steps) == TASKS["19.dilations"].oracle_function(steps, 2)
        checked += 1
    assert checked > 230


def _by_snail(x, weight_f, weight_g, dilation, *weights):
    """What the course's own blocks do, with the weights of a task."""
    dense = snail.DenseBlock(x.shape[2], len(weight_f), dilation)
    dense.weights.data = torch.stack([weight_f, weight_g])
    dense.biases.data = torch.zeros(2, len(weight_f), dtype=x.dtype)
    attention = snail.AttentionBlock(len(weights[0]), weights[0].shape[1], weights[2].shape[1])
    for linear, weight in zip((attention.query, attention.key, attention.value), weights, strict=True):
        linear.weight.data, linear.bias.data = weight.T, torch.zeros(weight.shape[1], dtype=weight.dtype)
    return attention(dense(x))


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
        glimpse._places((torch.zeros(1), torch.zeros(1)), glimpse.MOST + 1)


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
