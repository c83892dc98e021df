"""Task 18.mix: the sum of what the experts put out, weighted by their gates."""

from operator import mul

import torch

from course_utils.checks.running.contract import Case
from course_utils.checks.task import Task, count, sizes
from course_utils.tasks.lesson_17._drawn import drawn_gates
from course_utils.tasks.lesson_18._gates import sparse_gates
from course_utils.tasks.shares import USUAL

task = Task(
    "18.mix",
    "the sum of the experts",
    arguments=("outputs B×N×D", "gates B×N"),
    result="mixed B×D",
    difficulty=2,
    importance=5,
    minutes=10,
    hints=(
        "This is the weighted sum of lesson 00, over the experts: the gates are the weights, and what the experts put out are the values. What is new is that some experts have not been run: their gate is 0, and they add nothing.",
        "Take one row with the outputs [4, 8], [2, 0] and [6, 6] of three experts, and the gates 0.75, 0.25 and 0. The third expert has no effect. The first number is 0.75·4 + 0.25·2 = 3.5, and the second is 0.75·8 + 0.25·0 = 6.",
        "Give gates a last axis of size 1, B×N×1, multiply the outputs by them, and add up over the experts, axis 1.",
    ),
    partial=USUAL,
)


def _outputs(draw, B, N, D, dtype=torch.float32):
    return draw.numbers(B, N, D, dtype=dtype) + 0.125


def _not_run(draw, B, N, D, gates, left):
    """Outputs with `left` wherever a gate is 0."""
    return _outputs(draw, B, N, D).where(gates[..., None] != 0, left)


@task.cases
def _(draw):
    for size in sizes(B=3, experts=5, D=7):
        B, N, D = size.B, size.experts, size.D
        name = f"{count(B, 'row')}, {N} experts, D = {D}"
        yield Case(name, (_outputs(draw, B, N, D), sparse_gates(draw, B, N, N)), size.full)
    yield Case("gates that do not sum to 1", (_outputs(draw, 2, 5, 3), drawn_gates(draw, 2, 5)), True)
    yield Case("as many rows as experts", (_outputs(draw, 5, 5, 3), sparse_gates(draw, 5, 5, 5)))
    yield Case("as many experts as numbers", (_outputs(draw, 3, 5, 5), sparse_gates(draw, 3, 5, 5)))
    yield Case("as many rows as numbers", (_outputs(draw, 5, 3, 5), sparse_gates(draw, 5, 3, 3)))
    yield Case("B, N and D all 3", (_outputs(draw, 3, 3, 3), sparse_gates(draw, 3, 3, 3)))
    yield Case("gates of 0 among others", (_outputs(draw, 3, 5, 2), sparse_gates(draw, 3, 5, 2)), edge=True)
    yield Case("gates below 0.002", (_outputs(draw, 3, 5, 2), drawn_gates(draw, 3, 5) / 500), True, edge=True)
    yield Case("gates of about 1e-8", (_outputs(draw, 3, 5, 2) * 1e8, drawn_gates(draw, 3, 5) / 1e8), True, edge=True)
    yield Case("one row, one expert, one number", (_outputs(draw, 1, 1, 1), torch.full((1, 1), 0.5)), True, edge=True)
    yield Case(
        "a row whose gates are all 0", (_outputs(draw, 2, 3, 5), torch.tensor([[0.25, 0, 0.5], [0, 0, 0]])), edge=True
    )
    gates = sparse_gates(draw, 3, 5, 2)
    yield Case("NaN where the gate is 0", (_not_run(draw, 3, 5, 7, gates, torch.nan), gates), hazard=True)
    gates = sparse_gates(draw, 3, 5, 2)
    infinities = _not_run(draw, 3, 5, 7, gates, torch.inf) * torch.tensor([1, -1])[draw.whole(0, 2, 3, 5, 7)]
    yield Case("infinity where the gate is 0", (infinities, gates), hazard=True)
    gates = torch.tensor([[0.0, 0.0, 0.0], [0.0, 1.0, 0.0]])
    yield Case("a row of which no expert has been run", (_not_run(draw, 2, 3, 2, gates, torch.nan), gates), hazard=True)
    zeros = _outputs(draw, 3, 5, 7) * (gates := sparse_gates(draw, 3, 5, 2))[..., None].bool()
    yield Case("zeros where the gate is 0", (zeros, gates), True, edge=True)
    yield Case("outputs of ±10,000", (_outputs(draw, 3, 5, 7) * 1e4, sparse_gates(draw, 3, 5, 5)), True, hazard=True)
    yield Case("200 experts", (_outputs(draw, 2, 200, 3), sparse_gates(draw, 2, 200, 7)), edge=True)
    doubles = _outputs(draw, 3, 5, 7, torch.float64), sparse_gates(draw, 3, 5, 5, torch.float64)
    yield Case("float64 numbers", doubles, True, edge=True)


@task.oracle
def _(outputs, gates):
    rows = []
    for said, weights in zip(outputs, gates, strict=True):
        total = torch.zeros(outputs.shape[2], dtype=outputs.dtype)
        for output, gate in zip(said, weights, strict=True):
            total = total + gate * output if gate != 0 else total
        rows.append(total)
    return torch.stack(rows)


@task.steps
def _(outputs, gates):
    clean = yield "the outputs with zeros where the gate is 0", _clean, outputs, gates
    weighed = yield "the outputs times their gates", mul, clean, gates[..., None]
    mixed = yield "the sum over the experts", lambda weighed: weighed.sum(1), weighed
    return mixed


def _clean(outputs, gates):
    return outputs.masked_fill(gates[..., None] == 0, 0.0)


def _gates(gates):
    return gates


def _times(outputs, gates):
    return outputs * gates[..., None]


def _sum(weighed, gates):
    return weighed.sum(1)


def _mix(outputs, gates, clean=_clean, weights=_gates, weigh=_times, end=_sum):
    return end(weigh(clean(outputs, gates), weights(gates)), gates)


def _mistake(name, sentence, **parts):
    """Register a sum that is right but for the parts that are given."""
    task.mistake(sentence, name)(lambda outputs, gates: _mix(outputs, gates, **parts))


# What has not been run

_mistake(
    "nan_times_zero",
    "You multiply what stands at experts with a gate of 0 by this 0. It may be NaN or infinity, and 0 times NaN is NaN: put zeros there with masked_fill or torch.where first.",
    clean=lambda outputs, gates: outputs,
)
_mistake(
    "nan_only",
    "You take out NaN, but infinity is left, and 0 times infinity is NaN. Take out everything that stands where the gate is 0, whatever it is.",
    clean=lambda outputs, gates: outputs.masked_fill(outputs.isnan(), 0.0),
)
_mistake(
    "ones_where_not_run",
    "You leave out the experts that have a gate and keep those that have none: the mask is the wrong way round. Put zeros where the gate is 0.",
    clean=lambda outputs, gates: outputs.masked_fill(gates[..., None] != 0, 0.0).nan_to_num(0.0, 0.0, 0.0),
)
_mistake(
    "small_gates_left_out",
    "You leave out experts with small gates, below a quarter or so. Only a gate of exactly 0 means that an expert has not been run.",
    clean=lambda outputs, gates: outputs.masked_fill(gates[..., None] < 0.25, 0.0),
)


# The gates

_mistake(
    "gates_unused",
    "The sizes of the gates have no effect: you add up the outputs as they are. Multiply each expert's output by its gate first.",
    clean=lambda outputs, gates: outputs,
    weights=torch.ones_like,
)
_mistake(
    "mean_of_the_chosen",
    "You take the mean of the experts that have a gate, and the gates' sizes have no effect. Multiply each output by its gate, and add up.",
    weights=lambda gates: (gates != 0) / (gates != 0).sum(1, keepdim=True).clamp(min=1).to(gates.dtype),
)
_mistake(
    "softmax_of_the_gates",
    "You take a softmax of the gates, and then an expert with a gate of 0 has an effect, too. The gates are weights already: use them as they are.",
    weights=lambda gates: gates.softmax(1),
)
_mistake(
    "divided_by_their_sum",
    "You divide by the sum of the gates. A row of them need not sum to 1, and the equation does not divide: use them as they are.",
    weights=lambda gates: gates / gates.sum(1, keepdim=True).clamp(min=1e-12),
)
_mistake(
    "best_expert_only",
    "Only the expert with the largest gate has an effect. Add up all experts, each times its gate.",
    weights=lambda gates: gates * _best(gates),
)
_mistake(
    "best_expert_as_it_is",
    "You return the output of the expert with the largest gate. Add up all experts, each times its gate. By itself, the best one would pass no gradient to the gates, either.",
    weights=lambda gates: _best(gates),
)
_mistake(
    "gates_squared",
    "Each output is multiplied by its gate twice. Once is enough.",
    weights=torch.square,
)
_mistake(
    "room_for_gate",
    "You multiply each output by 1 minus its gate. Multiply it by the gate.",
    weights=lambda gates: 1 - gates,
)
_mistake(
    "first_gates_for_all",
    "All rows use the gates of the first one. Each row has its own.",
    weights=lambda gates: gates[:1].expand_as(gates),
)
_mistake(
    "experts_in_reverse_order",
    "The gates meet the experts in reverse order. Column i of the gates belongs to expert i.",
    weights=lambda gates: gates.flip(1),
)
_mistake(
    "gates_in_order_of_size",
    "You sort the gates, so the first expert always gets the largest. Column i of the gates belongs to expert i: leave them in their order.",
    weights=lambda gates: gates.sort(1, descending=True)[0],
)
_mistake(
    "one_gate_for_all_experts",
    "Every expert gets the sum of its row's gates. An einsum does this if the experts' axis has one letter in the gates and another in the outputs: use the same letter in both.",
    weights=lambda gates: gates.sum(1, keepdim=True).expand_as(gates),
)
_mistake(
    "gates_along_the_numbers",
    "The gates multiply the numbers of an output, not the experts. This runs without an error only if there are as many experts as numbers. Give the gates a last axis of size 1: B×N×1.",
    weigh=lambda outputs, gates: outputs * gates[:, None, :],
)
_mistake(
    "gates_along_experts_and_numbers",
    "Your gates B×N meet the last two axes of the outputs, N×D, so a row uses other rows' gates. Give the gates a last axis of size 1: B×N×1.",
    weigh=lambda outputs, gates: outputs * gates,
)
_mistake(
    "added",
    "You add the gates to the outputs. Multiply.",
    weigh=lambda outputs, gates: outputs + gates[..., None],
)
_mistake(
    "divided",
    "You divide the outputs by their gates. Multiply.",
    weigh=lambda outputs, gates: outputs / gates[..., None].where(gates[..., None] != 0, 1.0),
)


def _best(gates):
    return torch.nn.functional.one_hot(gates.argmax(1), gates.shape[1]).to(gates.dtype)


# The sum

_mistake(
    "mean_over_all",
    "You divide the sum by the number of experts, as a mean over them does. Take the sum as it is.",
    end=lambda weighed, gates: weighed.mean(1),
)
_mistake(
    "largest_number",
    "You take the largest number of all experts, feature by feature. Add them up.",
    end=lambda weighed, gates: weighed.amax(1),
)
_mistake(
    "sum_over_the_numbers",
    "You add up the numbers of each output, and get one number for each expert. Add up over the experts, axis 1.",
    end=lambda weighed, gates: weighed.sum(2),
)
_mistake(
    "sum_over_the_batch",
    "You add up over the batch, axis 0, which mixes its rows. Add up over the experts, axis 1.",
    end=lambda weighed, gates: weighed.sum(0),
)
_mistake(
    "nothing_added_up",
    "You return the outputs of all experts, each times its gate: B×N×D. Add them up over the experts, axis 1.",
    end=lambda weighed, gates: weighed,
)
_mistake(
    "side_by_side",
    "You put the weighted outputs side by side, B×N·D. Add them up over the experts, axis 1.",
    end=lambda weighed, gates: weighed.flatten(1),
)
_mistake(
    "axis_kept",
    "Your sum keeps the axis of the experts with size 1: B×1×D. Leave out keepdim, or squeeze that axis.",
    end=lambda weighed, gates: weighed.sum(1, keepdim=True),
)
_mistake(
    "cut_anew",
    "You regroup the numbers of N×D as D×N: `view` and `reshape` leave their order as it is, so a row then holds numbers of several experts. To exchange two axes, use `transpose`; a sum over axis 1 needs neither.",
    end=lambda weighed, gates: weighed.reshape(len(weighed), weighed.shape[2], -1).sum(2),
)
_mistake(
    "last_expert_only",
    "Only the last expert has an effect. In a loop over the experts, this happens if each step starts again: add to the sum so far.",
    end=lambda weighed, gates: weighed[:, -1],
)
_mistake(
    "first_expert_only",
    "Only the first expert has an effect. Add up all of them, each times its gate.",
    end=lambda weighed, gates: weighed[:, 0],
)


@task.mistake(
    "Your result is B×B×D: in `gates @ outputs` every row's gates meet every row's outputs. Give the gates an axis of their own, B×1×N, and take it away afterwards, or use an einsum."
)
def every_row_with_every_row(outputs, gates):
    return gates @ outputs


@task.mistake(
    "The outputs of all rows of the batch are added up: in `gates @ outputs` every row's gates meet every row's outputs. Give the gates an axis of their own, B×1×N, and take it away afterwards, or use an einsum."
)
def all_rows_added_up(outputs, gates):
    return (gates @ outputs).sum(0)


# Gradients, and what came in


@task.mistake(
    "The sum is right, but no gradient reaches the gates, so the gating network would never learn. Leave out `detach`."
)
def gates_cut_off(outputs, gates):
    return _mix(outputs, gates.detach())


@task.mistake(
    "The sum is right, but no gradient reaches the outputs, so the experts would never learn. Leave out `detach`."
)
def outputs_cut_off(outputs, gates):
    return _mix(outputs.detach(), gates)


@task.mistake(
    "The sum is right, but you write zeros into the outputs that came in, and whoever uses them later finds them there. Work on a copy: masked_fill without the underscore, or outputs.clone()."
)
def written_into_the_outputs(outputs, gates):
    right = _mix(outputs, gates)
    with torch.no_grad():
        outputs.masked_fill_(gates[..., None] == 0, 0.0)
    return right
