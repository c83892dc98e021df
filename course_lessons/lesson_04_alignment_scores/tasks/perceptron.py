"""Task 04.perceptron: a small network with a matrix for each side."""

from operator import add, matmul

import torch

from course_lessons.lesson_04_alignment_scores.tasks._scores import score_task, shared_mistakes
from course_utils.checks.reference_trace import left_out

task = score_task(
    "perceptron",
    "a small network with one matrix for each side",
    ("state B×T×D", "hidden B×S×E", "weight_s A×D", "weight_h A×E", "v A"),
    "scores B×T×S",
    (
        (
            "The state and the hidden state are each multiplied by their own matrix. The two products are added for every pair; then tanh and v are applied. This is the "
            'score of Bahdanau et al. (2014), who call it a multilayer perceptron; most papers call it "additive".'
        ),
        (
            "Take the state [1], the hidden state [2], W = [[2], [1]], U = [[-1], [1]] and v = [5, 1]. W s is [2, 1] and U h is [-2, 2]. Their "
            "sum is [0, 3], and tanh of that is [0, 0.9951]. The score is 5·0 + 1·0.9951 = 0.9951."
        ),
        "Add (state times weight_s transposed) as B×T×1×A and (hidden times weight_h transposed) as B×1×S×A; apply tanh; multiply by v.",
    ),
    difficulty=3,
    importance=4,
    minutes=10,
)


@task.steps
def _(state, hidden, weight_s, weight_h, v):
    first = yield "the product of state and weight_s", matmul, state, weight_s.mT
    second = yield "the product of hidden and weight_h", matmul, hidden, weight_h.mT
    layer = yield "the sum of the two products", add, first[:, :, None], second[:, None]
    units = yield "the hidden layer", torch.tanh, layer
    scores = yield "the scores", matmul, units, v
    return scores


SUM, HIDDEN = "the sum of the two products", "the hidden layer"
task.changed_each(
    ("perceptron_no_tanh", "Without tanh the score is linear, and state and hidden state no longer interact.", {HIDDEN: left_out}),
    ("perceptron_with_relu", "You use ReLU. Bahdanau's score uses tanh, which keeps each hidden unit between -1 and 1.", {HIDDEN: torch.relu}),
    ("perceptron_with_sigmoid", "You use the sigmoid. Bahdanau's score uses tanh, which keeps each hidden unit between -1 and 1.", {HIDDEN: torch.sigmoid}),
    ("perceptron_tanh_overflow", "Your own tanh overflows: exp of a large number is infinity, and infinity divided by infinity is NaN. Use torch.tanh.", {HIDDEN: lambda z: (z.exp() - (-z).exp()) / (z.exp() + (-z).exp())}),
    ("perceptron_tanh_outside", "tanh is outside, around the whole score. Apply it to W s + U h, before v.", {HIDDEN: left_out, "result": torch.tanh}),
    ("tanh_before_sum", "You apply tanh to each side and then add. Add first and apply tanh to the sum; otherwise the two sides never interact.", {SUM: lambda first, second: first.tanh() + second.tanh(), HIDDEN: left_out}),
    ("perceptron_by_position", "You add the two sides position by position, so state t is combined only with hidden state t, if this runs at all. Every state must be combined with every hidden state, which gives T×S scores per sentence.", {SUM: lambda first, second: first[:, :, 0] + second[:, 0]}),
    ("perceptron_v_unused", "v is missing: you add up the hidden units, each with weight 1.", {"v": torch.ones_like}),
    ("matrices_exchanged", "The two matrices are swapped: weight_s belongs to the state, weight_h to the hidden states. Swapped, they run only if D = E, and may then give an incorrect result.", {"weight_s": lambda _, *, weight_h: weight_h, "weight_h": lambda _, *, weight_s: weight_s}),
    ("perceptron_not_transposed", "weight_s is A×D and weight_h is A×E. For rows of vectors, they have to be transposed: `.T`. Otherwise this runs only if A, D and E are equal, and may then give an incorrect result.", {"weight_s": torch.t, "weight_h": torch.t}),
    ("state_weight_not_transposed", "weight_s is A×D. For rows of states, it has to be transposed: `weight_s.T`. Otherwise this runs only if A = D, and may then give an incorrect result.", {"weight_s": torch.t}),
    ("hidden_weight_not_transposed", "weight_h is A×E. For rows of hidden states, it has to be transposed: `weight_h.T`. Otherwise this runs only if A = E, and may then give an incorrect result.", {"weight_h": torch.t}),
)  # fmt: skip
shared_mistakes(task)
