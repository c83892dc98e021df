"""Task 04.concatenating: one weight vector on the pair."""

from operator import add, matmul

import torch

from course_utils.tasks.lesson_04 import additive
from course_utils.tasks.lesson_04._scores import score_task, shared_mistakes

task = score_task(
    "concatenating",
    "one weight vector on the pair",
    ("state B×T×D", "hidden B×S×E", "weight D+E"),
    "scores B×T×S",
    (
        "State and hidden state are laid end to end, and one weight vector turns the pair into a number. Nothing else happens.",
        "scores_(b,t,s) = Σ_d weight_d · state_(b,t,d) + Σ_e weight_(D+e) · hidden_(b,s,e).",
        "Either cat the expanded pairs (B×T×S×(D+E)) and multiply by weight, or add state @ weight[:D] as B×T×1 and hidden @ weight[D:] as B×1×S.",
    ),
    difficulty=2,
    importance=2,
    minutes=5,
)


@task.oracle
def _(state, hidden, weight):
    D = state.shape[-1]
    return (state * weight[:D]).sum(-1)[:, :, None] + (hidden * weight[D:]).sum(-1)[:, None]


@task.steps
def _(state, hidden, weight):
    D = state.shape[-1]
    first = yield "the product of state and its share of weight", matmul, state, weight[:D]
    second = yield "the product of hidden and its share of weight", matmul, hidden, weight[D:]
    scores = yield "the sum of the two products", add, first[:, :, None], second[:, None]
    return scores


@task.mistake("There is a tanh too much: the concatenating score is linear. With tanh (and v) it is the additive one.")
def concatenating_with_tanh(state, hidden, weight):
    return (additive._pairs(state, hidden) @ weight).tanh()


@task.mistake("The pair is the wrong way round: [s; h], the state first. The first D weights belong to the state.")
def concatenating_turned(state, hidden, weight):
    return (additive._pairs(hidden, state) @ weight).mT.contiguous()


@task.mistake("Only the hidden states enter: the state's part of the sum is missing.")
def state_unused(state, hidden, weight):
    return (hidden @ weight[state.shape[-1] :])[:, None].expand(-1, state.shape[1], -1).clone()


@task.mistake("Only the states enter: the hidden states' part of the sum is missing.")
def hidden_unused(state, hidden, weight):
    return (state @ weight[: state.shape[-1]])[:, :, None].expand(-1, -1, hidden.shape[1]).clone()


@task.mistake("You multiply the two parts. Laid end to end they are added.")
def parts_multiplied(state, hidden, weight):
    D = state.shape[-1]
    return (state @ weight[:D])[:, :, None] * (hidden @ weight[D:])[:, None]


@task.mistake(
    "You pair position with position, which runs only where T = S: state t meets hidden state t only. Every state has to meet every "
    "hidden state: T×S scores a sentence."
)
def laid_position_by_position(state, hidden, weight):
    return torch.cat([state, hidden], -1) @ weight


@task.mistake(
    "You add position to position: state t meets hidden state t only, where that runs at all. Every state has to meet every hidden "
    "state: give the state's part the shape B×T×1, the other B×1×S."
)
def added_position_by_position(state, hidden, weight):
    D = state.shape[-1]
    return state @ weight[:D] + hidden @ weight[D:]


shared_mistakes(task)
