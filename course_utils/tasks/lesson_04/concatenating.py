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
        (
            "Take the state [1, 2], the hidden states [3] and [5], and the weight [1, 2, 10]. The pairs are [1, 2, 3] and [1, 2, 5]. The scores "
            "are 1 + 4 + 30 = 35 and 1 + 4 + 50 = 55."
        ),
        (
            "Either cat the expanded pairs (B×T×S×(D+E)) and multiply by weight; or multiply state by its first D entries and hidden by the "
            "others, and add the two as B×T×1 and B×1×S."
        ),
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


@task.mistake(
    "There is a tanh too many: the concatenating score is linear. With tanh, and v after it, it would be the additive score."
)
def concatenating_with_tanh(state, hidden, weight):
    return (additive._pairs(state, hidden) @ weight).tanh()


@task.mistake(
    "The pair is the wrong way round. It is [s; h], with the state first: the first D weights belong to the state."
)
def concatenating_turned(state, hidden, weight):
    return (additive._pairs(hidden, state) @ weight).mT.contiguous()


@task.mistake("Only the hidden states enter. The state's part of the sum is missing.")
def state_unused(state, hidden, weight):
    return (hidden @ weight[state.shape[-1] :])[:, None].expand(-1, state.shape[1], -1).clone()


@task.mistake("Only the states enter. The hidden state's part of the sum is missing.")
def hidden_unused(state, hidden, weight):
    return (state @ weight[: state.shape[-1]])[:, :, None].expand(-1, -1, hidden.shape[1]).clone()


@task.mistake("You multiply the two parts. When the two are laid end to end, their parts are added.")
def parts_multiplied(state, hidden, weight):
    D = state.shape[-1]
    return (state @ weight[:D])[:, :, None] * (hidden @ weight[D:])[:, None]


@task.mistake(
    "You pair the states with the hidden states position by position, which runs only where T = S. Every state has to meet every hidden "
    "state, which makes T×S scores per sentence."
)
def laid_position_by_position(state, hidden, weight):
    return torch.cat([state, hidden], -1) @ weight


@task.mistake(
    "You add the two parts position by position, so that state t meets hidden state t only, where it runs at all. Every state has to "
    "meet every hidden state: give the state's part the shape B×T×1 and the other part the shape B×1×S."
)
def added_position_by_position(state, hidden, weight):
    D = state.shape[-1]
    return state @ weight[:D] + hidden @ weight[D:]


shared_mistakes(task)
