"""Task 04.scaled_dot: the dot product, scaled by √D."""

from operator import matmul, pow, truediv

from course_utils.tasks.lesson_04._scores import score_task, shared_mistakes

task = score_task(
    "scaled_dot",
    "the dot product, scaled by √D",
    ("state B×T×D", "hidden B×S×D"),
    "scores B×T×S",
    (
        "The more features are added up, the wider the dot products spread. Dividing brings the spread back to 1; the lesson measures by what.",
        "scores_(b,t,s) = (state_(b,t) · hidden_(b,s)) / √D with D the width of the vectors, whatever it is.",
        "Take the dot product score and divide by the square root of state's last size.",
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
    root = yield "the square root of D", pow, state.shape[-1], 0.5
    scores = yield "the product divided by the root", truediv, product, root
    return scores


@task.mistake(
    "You divide by D instead of √D: the scores come out too small, and the softmax too flat. It is the standard deviation of the dot product that grows like √D."
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
    "You take the root of the number of keys, S. What counts is how many products are added up: the width D, the last axis of state."
)
def root_of_keys(state, hidden):
    return state @ hidden.mT / hidden.shape[1] ** 0.5


@task.mistake(
    "You take the root of the number of queries, T. What counts is how many products are added up: the width D, the last axis of state."
)
def root_of_queries(state, hidden):
    return state @ hidden.mT / state.shape[1] ** 0.5


@task.mistake("You divide by 8 always. That is √64: right for a width of 64 only. Read the width from state.")
def always_eight(state, hidden):
    return state @ hidden.mT / 8


@task.mistake("You divide by 2 always. That is √4: right for a width of 4 only. Read the width from state.")
def always_two(state, hidden):
    return state @ hidden.mT / 2


@task.mistake(
    "len(state) is the first size, the number of sentences B. What counts is how many products are added up: the width D, state.shape[-1]."
)
def root_of_batch(state, hidden):
    return state @ hidden.mT / len(state) ** 0.5


shared_mistakes(task, lambda state, hidden: (state / state.shape[-1] ** 0.5, hidden))
