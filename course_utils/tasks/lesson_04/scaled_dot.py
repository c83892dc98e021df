"""Task 04.scaled_dot: the dot product, scaled by √D."""

from math import sqrt
from operator import matmul, truediv

from course_utils.tasks.lesson_04._scores import score_task, shared_mistakes

task = score_task(
    "scaled_dot",
    "the dot product, scaled by √D",
    ("state B×T×D", "hidden B×S×D"),
    "scores B×T×S",
    (
        (
            "The more features are added up, the further the dot products spread. Dividing brings their spread back to 1; the lesson measures "
            "what to divide by."
        ),
        (
            "Take the state [1, 1, 1, 1] and the hidden state [2, 0, 4, 2]. Their dot product is 2 + 0 + 4 + 2 = 8. The width is D = 4 and its "
            "square root is 2, so the score is 8 / 2 = 4."
        ),
        "Take the dot product score and divide it by the square root of the last size of state.",
    ),
    difficulty=1,
    importance=5,
    minutes=3,
)


@task.oracle
def _(state, hidden):
    return (state[:, :, None] * hidden[:, None]).sum(-1) * state.shape[-1] ** -0.5


@task.steps
def _(state, hidden):
    product = yield "the product of state and hidden", matmul, state, hidden.mT
    root = yield "the square root of D", sqrt, state.shape[-1]
    scores = yield "the product divided by the root", truediv, product, root
    return scores


@task.mistake(
    "You divide by D instead of √D, which makes the scores too small and the softmax too flat. It is the standard deviation of the dot "
    "product that grows like √D."
)
def divided_by_width(state, hidden):
    return state @ hidden.mT / state.shape[-1]


@task.mistake("The scaling is missing: this is the plain dot product.")
def not_scaled(state, hidden):
    return state @ hidden.mT


@task.mistake("You multiply by √D. Divide by it.")
def multiplied(state, hidden):
    return state @ hidden.mT * state.shape[-1] ** 0.5


@task.mistake(
    "You divide by the root of S, the number of keys. What counts is how many products are added up: that is the width D, the last axis "
    "of state."
)
def root_of_keys(state, hidden):
    return state @ hidden.mT / hidden.shape[1] ** 0.5


@task.mistake(
    "You divide by the root of T, the number of queries. What counts is how many products are added up: that is the width D, the last "
    "axis of state."
)
def root_of_queries(state, hidden):
    return state @ hidden.mT / state.shape[1] ** 0.5


@task.mistake("You always divide by 8. That is √64, which is right for a width of 64 only. Read the width from state.")
def always_eight(state, hidden):
    return state @ hidden.mT / 8


@task.mistake("You always divide by 2. That is √4, which is right for a width of 4 only. Read the width from state.")
def always_two(state, hidden):
    return state @ hidden.mT / 2


@task.mistake(
    "You divide by the root of B, the number of sentences, which is what len(state) gives. What counts is how many products are added "
    "up: that is the width D, state.shape[-1]."
)
def root_of_batch(state, hidden):
    return state @ hidden.mT / len(state) ** 0.5


shared_mistakes(task, lambda state, hidden: (state / state.shape[-1] ** 0.5, hidden))
