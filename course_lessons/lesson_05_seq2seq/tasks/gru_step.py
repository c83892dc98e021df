"""Task 05.gru_step: one step of a gated recurrent unit, as torch.nn.GRUCell takes it."""

from operator import add, matmul, mul, sub

import torch

from course_lessons.lesson_05_seq2seq.tasks._cells import cell_cases
from course_lessons.shared.partial_credit import EDGE
from course_utils.checks.reference_trace import left_out
from course_utils.checks.task import Task

task = Task(
    "05.gru_step",
    "one step of a gated recurrent unit",
    arguments=("x B×E", "state B×D", "weight_ih 3·D×E", "weight_hh 3·D×D", "bias_ih 3·D", "bias_hh 3·D"),
    result="next_state B×D",
    difficulty=3,
    importance=4,
    minutes=20,
    hints=(
        "Multiply first, then split: x and state, each multiplied by its matrix and with its bias added, each give 3·D numbers: D for the reset gate, D for the update gate and D for the "
        "candidate. Two gates and the candidate come from these six pieces, and the update gate mixes the candidate with the old state.",
        (
            "Take D = 1, and suppose that, after matrices and biases, the word gives the three numbers 0, 0 and 1, and the state, which is 0.4, gives 0, ln 3 ≈ 1.0986 and 2. "
            "The reset gate is σ(0 + 0) = 0.5, the update gate σ(0 + ln 3) = 0.75. The candidate is tanh(1 + 0.5·2) = tanh(2) = 0.9640. The new state is "
            "0.25·0.9640 + 0.75·0.4 = 0.5410."
        ),
        "r_x, z_x, n_x = x times weight_ih transposed, plus bias_ih, split into three along the last axis; r_s, z_s, n_s = the same for state, weight_hh and bias_hh; "
        "r = sigmoid of r_x + r_s; z = sigmoid of z_x + z_s; n = tanh of n_x + r * n_s; return (1 - z) * n + z * state.",
    ),
    partial=EDGE,
)


def _inputs(draw, B, E, D):
    x, state, weight_ih, weight_hh, bias_ih, bias_hh = (
        draw.numbers(*shape) for shape in ((B, E), (B, D), (3 * D, E), (3 * D, D), (3 * D,), (3 * D,))
    )
    return x, state, weight_ih / 2, weight_hh / 2, bias_ih / 2 + 0.125, bias_hh / 2 - 0.125


cell_cases(task, _inputs)


@task.steps
def _(x, state, weight_ih, weight_hh, bias_ih, bias_hh):
    product_x = yield "the product of x and weight_ih", matmul, x, weight_ih.mT
    of_x = yield "what x contributes", add, product_x, bias_ih
    product_s = yield "the product of state and weight_hh", matmul, state, weight_hh.mT
    of_s = yield "what the state contributes", add, product_s, bias_hh
    reset_x, update_x, new_x = yield "the three pieces of x", _cut, of_x
    reset_s, update_s, new_s = yield "the three pieces of the state", _cut, of_s
    reset_sum = yield "the reset sum", add, reset_x, reset_s
    reset = yield "the reset gate", torch.sigmoid, reset_sum
    update_sum = yield "the update sum", add, update_x, update_s
    update = yield "the update gate", torch.sigmoid, update_sum
    let_through = yield "what is let through", mul, reset, new_s
    new_sum = yield "the new sum", add, new_x, let_through
    new = yield "the candidate", torch.tanh, new_sum
    share = yield "the new share", sub, 1, update
    taken = yield "what is taken", mul, share, new
    kept = yield "what is kept", mul, update, state
    next_state = yield "the sum of the two", add, taken, kept
    return next_state


def _cut(numbers):
    return numbers.chunk(3, -1)


def _pieces(cut):
    """A change of how both sums are cut into pieces for the reset gate, the update gate and the candidate."""
    return dict.fromkeys(("the three pieces of x", "the three pieces of the state"), cut)


GATES = ("the reset gate", "the update gate")
CANDIDATE, LET_THROUGH = "the candidate", "what is let through"
task.changed(
    "blocks_z_r_n",
    "You use the first block for the update gate and the second for the reset gate. The blocks are in the order r, z, n: reset gate, update gate, candidate.",
    _pieces(lambda numbers: [_cut(numbers)[place] for place in (1, 0, 2)]),
)
task.changed(
    "blocks_interleaved",
    "Your three pieces are interleaved: every third number goes to the same gate. The blocks follow one another: first D numbers for r, then D for z, then D for n.",
    _pieces(lambda numbers: numbers.unflatten(-1, (-1, 3)).unbind(-1)),
)


def _reset_before(reset, of_state, *, state, weight_hh, bias_hh):
    return (reset * state) @ _cut(weight_hh.mT)[2] + _cut(bias_hh)[2]


def _reset_without_bias(reset, of_state, *, bias_hh):
    bias = _cut(bias_hh)[2]
    return reset * (of_state - bias) + bias


task.changed(
    "reset_before_the_product",
    "Your reset gate multiplies the old state before the matrix does, as in Cho et al. (2014). Here, as in torch.nn.GRUCell, the gate multiplies the state after the matrix and the bias.",
    {LET_THROUGH: _reset_before},
)
task.changed(
    "reset_skips_the_bias",
    "Your reset gate multiplies the product of matrix and state alone, and bias_hh is added afterwards. In torch.nn.GRUCell, this bias is added first, and the gate multiplies the sum of the two.",
    {LET_THROUGH: _reset_without_bias},
)
task.changed(
    "reset_of_everything",
    "Your reset gate multiplies the whole sum inside tanh, including the word's part. Its purpose is to forget the state: let it multiply only the state's part.",
    {LET_THROUGH: lambda reset, of_s: of_s, CANDIDATE: lambda z, *, done: torch.tanh(done["the reset gate"] * z)},
)
task.changed(
    "reset_unused",
    "The reset gate has no effect: the candidate sees the whole old state. Multiply the state's part of the candidate by the gate.",
    {LET_THROUGH: lambda reset, of_state: of_state},
)
task.changed(
    "shares_exchanged",
    "The shares are swapped. The update gate z is the share of the old state that is kept, and 1 - z is the share of the candidate. Some papers, such as Bahdanau et al. (2014), define it the other way round.",
    {"the update gate": lambda z: torch.sigmoid(-z)},
)
task.changed(
    "candidate_in_full",
    "You add all of the candidate to the part of the old state that is kept, so the state can leave the range between the two. The candidate gets only the remaining share, 1 - z.",
    {"what is taken": lambda share, candidate: candidate},
)
for name, gates, steps in (
    ("reset_without_sigmoid", "the reset gate", ["the reset gate"]),
    ("update_without_sigmoid", "the update gate", ["the update gate"]),
    ("gates_without_sigmoid", "both gates", ["the reset gate", "the update gate"]),
):
    task.changed(
        name,
        f"The sigmoid of {gates} is missing. A gate is the sigmoid of its sum, so that it lies between 0 and 1.",
        dict.fromkeys(steps, left_out),
    )
task.changed_each(
    ("candidate_with_sigmoid", "Your candidate uses the sigmoid. Only the gates do: the candidate goes through tanh and lies between -1 and 1.", {CANDIDATE: torch.sigmoid}),
    ("no_biases", "Both biases are missing.", dict.fromkeys(("what x contributes", "what the state contributes"), left_out)),
    ("gates_with_tanh", "Your gates use tanh, so they can be negative. A gate is a share between 0 and 1: use the sigmoid for both.", dict.fromkeys(GATES, torch.tanh)),
    ("candidate_without_tanh", "Your candidate does not go through a tanh, so it can have any size. It should lie between -1 and 1.", {CANDIDATE: left_out}),
)  # fmt: skip
task.changed(
    "overflow",
    "exp overflows: for numbers above about 88 it is infinite in float32, and infinity divided by infinity is NaN. torch.sigmoid and torch.tanh handle numbers of any size.",
    dict.fromkeys(GATES, lambda z: z.exp() / (1 + z.exp())),
)
