"""Task 05.gru_step: one step of a gated recurrent unit, as torch.nn.GRUCell takes it."""

from operator import add, matmul, mul, sub

import torch

from course_utils.checks.running.contract import Case
from course_utils.checks.task import Task, count, sizes
from course_utils.tasks.shares import EDGE

task = Task(
    "05.gru_step",
    "one step of a gated recurrent unit",
    arguments=("x B×E", "state B×D", "weight_ih 3·D×E", "weight_hh 3·D×D", "bias_ih 3·D", "bias_hh 3·D"),
    result="next_state B×D",
    difficulty=3,
    importance=4,
    minutes=20,
    hints=(
        "Multiply first, then cut: x and state each make 3·D numbers with their matrix and bias, D for the reset gate, D for the update gate and D for the "
        "candidate. Two gates and the candidate come from these six pieces, and the update gate mixes the candidate with the old state.",
        (
            "Take D = 1, and suppose that, after matrices and biases, the word gives the three numbers 0, 0 and 1, and the state, which is 0.4, gives 0, ln 3 ≈ 1.0986 and 2. "
            "The reset gate is σ(0 + 0) = 0.5, the update gate σ(0 + ln 3) = 0.75. The candidate is tanh(1 + 0.5·2) = tanh(2) = 0.9640. The new state is "
            "0.25·0.9640 + 0.75·0.4 = 0.5410."
        ),
        "r_x, z_x, n_x = x times weight_ih transposed, plus bias_ih, cut into three along the last axis; r_s, z_s, n_s = the same of state, weight_hh and bias_hh; "
        "r = sigmoid of r_x + r_s; z = sigmoid of z_x + z_s; n = tanh of n_x + r * n_s; return (1 - z) * n + z * state.",
    ),
    partial=EDGE | {},
)


def _inputs(draw, B, E, D, dtype=torch.float32):
    x, state, weight_ih, weight_hh, bias_ih, bias_hh = (
        draw.numbers(*shape, dtype=dtype) for shape in ((B, E), (B, D), (3 * D, E), (3 * D, D), (3 * D,), (3 * D,))
    )
    return x, state, weight_ih / 2, weight_hh / 2, bias_ih / 2 + 0.125, bias_hh / 2 - 0.125


@task.cases
def _(draw):
    for size in sizes(B=3, E=5, D=7):
        name = f"{count(size.B, 'sentence')}, words of width {size.E}, a state of width {size.D}"
        yield Case(name, _inputs(draw, size.B, size.E, size.D), size.full)
    yield Case("E and D both 5", _inputs(draw, 2, 5, 5))
    x, _, *weights = _inputs(draw, 3, 5, 7)
    yield Case("a state of zeros, as before the first word", (x, torch.zeros(3, 7), *weights), True, edge=True)
    yield Case("widths of 1", _inputs(draw, 1, 1, 1), edge=True)
    yield Case("B, E and D all 3", _inputs(draw, 3, 3, 3), edge=True)
    yield Case("float64 numbers", _inputs(draw, 3, 5, 7, torch.float64), edge=True)
    x, state, *weights = _inputs(draw, 2, 3, 5)
    yield Case("numbers of ±10,000", (1e4 * x.sign() + 1, state, *weights), hazard=True)


@task.oracle
def _(x, state, weight_ih, weight_hh, bias_ih, bias_hh):
    D, rows = state.shape[1], []
    for word, old in zip(x, state, strict=True):
        numbers = []
        for d in range(D):
            of_x = [(weight_ih[k * D + d] * word).sum() + bias_ih[k * D + d] for k in range(3)]
            of_s = [(weight_hh[k * D + d] * old).sum() + bias_hh[k * D + d] for k in range(3)]
            reset, update = (torch.tanh((of_x[k] + of_s[k]) / 2) / 2 + 0.5 for k in range(2))
            new = torch.tanh(of_x[2] + reset * of_s[2])
            numbers.append(new + update * (old[d] - new))
        rows.append(torch.stack(numbers))
    return torch.stack(rows)


@task.steps
def _(x, state, weight_ih, weight_hh, bias_ih, bias_hh):
    product_x = yield "the product of x and weight_ih", matmul, x, weight_ih.mT
    of_x = yield "what x contributes", add, product_x, bias_ih
    product_s = yield "the product of state and weight_hh", matmul, state, weight_hh.mT
    of_s = yield "what the state contributes", add, product_s, bias_hh
    (reset_x, update_x, new_x), (reset_s, update_s, new_s) = of_x.chunk(3, -1), of_s.chunk(3, -1)
    reset_sum = yield "the sum for the reset gate", add, reset_x, reset_s
    reset = yield "the reset gate", torch.sigmoid, reset_sum
    update_sum = yield "the sum for the update gate", add, update_x, update_s
    update = yield "the update gate", torch.sigmoid, update_sum
    let_through = yield "what the reset gate lets through", mul, reset, new_s
    new_sum = yield "the sum for the candidate", add, new_x, let_through
    new = yield "the candidate", torch.tanh, new_sum
    share = yield "the candidate's share", sub, 1, update
    taken = yield "what is taken of the candidate", mul, share, new
    kept = yield "what is kept of the old state", mul, update, state
    next_state = yield "the sum of the two", add, taken, kept
    return next_state


def _pieces(x, state, weight_ih, weight_hh, bias_ih, bias_hh):
    """The pieces for reset gate, update gate and candidate, of the word and of the state."""
    return (*(x @ weight_ih.T + bias_ih).chunk(3, -1), *(state @ weight_hh.T + bias_hh).chunk(3, -1))


def _step(
    pieces,
    state,
    gate=torch.sigmoid,
    candidate=lambda n_x, n_s, r: torch.tanh(n_x + r * n_s),
    mix=lambda n, s, z: (1 - z) * n + z * s,
):
    """A step from its pieces, in which one part may be another."""
    r_x, z_x, n_x, r_s, z_s, n_s = pieces
    return mix(candidate(n_x, n_s, gate(r_x + r_s)), state, gate(z_x + z_s))


@task.mistake(
    "You take the first block for the update gate and the second one for the reset gate. The blocks stand in the order r, z, n: reset gate, update gate, candidate."
)
def blocks_z_r_n(x, state, *weights):
    r_x, z_x, n_x, r_s, z_s, n_s = _pieces(x, state, *weights)
    return _step((z_x, r_x, n_x, z_s, r_s, n_s), state)


@task.mistake(
    "You take the first block for the candidate and the next two for the gates. The blocks stand in the order r, z, n: the candidate comes last."
)
def blocks_n_r_z(x, state, *weights):
    n_x, r_x, z_x, n_s, r_s, z_s = _pieces(x, state, *weights)
    return _step((r_x, z_x, n_x, r_s, z_s, n_s), state)


@task.mistake(
    "Your three pieces are interleaved: every third number goes to the same gate. The blocks stand one behind the other, first D numbers for r, then D for z, then "
    "D for n."
)
def blocks_interleaved(x, state, weight_ih, weight_hh, bias_ih, bias_hh):
    of_x, of_s = x @ weight_ih.T + bias_ih, state @ weight_hh.T + bias_hh
    return _step([p for part in (of_x, of_s) for p in part.unflatten(-1, (-1, 3)).unbind(-1)], state)


@task.mistake(
    "Your reset gate multiplies the old state before the matrix does. Cho et al. (2014) do it so; here, as in torch.nn.GRUCell, the gate multiplies what matrix and "
    "bias have made of the state."
)
def reset_before_the_product(x, state, weight_ih, weight_hh, bias_ih, bias_hh):
    def candidate(n_x, n_s, r):
        D = state.shape[1]
        return torch.tanh(n_x + (r * state) @ weight_hh[2 * D :].T + bias_hh[2 * D :])

    return _step(_pieces(x, state, weight_ih, weight_hh, bias_ih, bias_hh), state, candidate=candidate)


@task.mistake(
    "Your reset gate multiplies the product of matrix and state alone, and bias_hh is added behind it. In torch.nn.GRUCell this bias stands inside: the gate "
    "multiplies the sum of the two."
)
def reset_skips_the_bias(x, state, weight_ih, weight_hh, bias_ih, bias_hh):
    def candidate(n_x, n_s, r):
        bias = bias_hh[2 * state.shape[1] :]
        return torch.tanh(n_x + r * (n_s - bias) + bias)

    return _step(_pieces(x, state, weight_ih, weight_hh, bias_ih, bias_hh), state, candidate=candidate)


@task.mistake(
    "Your reset gate multiplies the whole sum inside tanh, the word's part too. It is there to forget the state: let it multiply the state's part alone."
)
def reset_of_everything(x, state, *weights):
    return _step(_pieces(x, state, *weights), state, candidate=lambda n_x, n_s, r: torch.tanh(r * (n_x + n_s)))


@task.mistake(
    "The reset gate has no effect: the candidate sees the whole old state. Multiply the state's part of the candidate by the gate."
)
def reset_unused(x, state, *weights):
    return _step(_pieces(x, state, *weights), state, candidate=lambda n_x, n_s, r: torch.tanh(n_x + n_s))


@task.mistake(
    "The shares are exchanged. The update gate z is the share of the old state that is kept, and 1 - z the share of the candidate. Some papers, such as Bahdanau et al. "
    "(2014), have it the other way round."
)
def shares_exchanged(x, state, *weights):
    return _step(_pieces(x, state, *weights), state, mix=lambda n, s, z: z * n + (1 - z) * s)


@task.mistake(
    "You add all of the candidate to what is kept of the old state, so the state can leave the range between the two. The candidate only gets the share that is not kept: 1 - z."
)
def candidate_in_full(x, state, *weights):
    return _step(_pieces(x, state, *weights), state, mix=lambda n, s, z: n + z * s)


@task.mistake("You return the candidate. The update gate still has to mix it with the old state.")
def candidate_returned(x, state, *weights):
    return _step(_pieces(x, state, *weights), state, mix=lambda n, s, z: n)


@task.mistake("Nothing of the old state is kept: you return only the candidate's share. Add the old state times z.")
def nothing_kept(x, state, *weights):
    return _step(_pieces(x, state, *weights), state, mix=lambda n, s, z: (1 - z) * n)


@task.mistake("Both biases are missing.")
def no_biases(x, state, weight_ih, weight_hh, bias_ih, bias_hh):
    return _step(_pieces(x, state, weight_ih, weight_hh, 0 * bias_ih, 0 * bias_hh), state)


@task.mistake("bias_hh is missing. The state's products have a bias of their own, beside that of the word.")
def no_bias_hh(x, state, weight_ih, weight_hh, bias_ih, bias_hh):
    return _step(_pieces(x, state, weight_ih, weight_hh, bias_ih, 0 * bias_hh), state)


@task.mistake("bias_ih is missing. The word's products have a bias of their own, beside that of the state.")
def no_bias_ih(x, state, weight_ih, weight_hh, bias_ih, bias_hh):
    return _step(_pieces(x, state, weight_ih, weight_hh, 0 * bias_ih, bias_hh), state)


@task.mistake(
    "Your gates use tanh, so they can be negative. A gate is a share between 0 and 1: use the sigmoid for both."
)
def gates_with_tanh(x, state, *weights):
    return _step(_pieces(x, state, *weights), state, gate=torch.tanh)


@task.mistake(
    "Your candidate uses the sigmoid. Only the gates do: the candidate goes through tanh and lies between -1 and 1."
)
def candidate_with_sigmoid(x, state, *weights):
    return _step(_pieces(x, state, *weights), state, candidate=lambda n_x, n_s, r: torch.sigmoid(n_x + r * n_s))


@task.mistake("Your candidate goes through no tanh, so it can have any size. It should lie between -1 and 1.")
def candidate_without_tanh(x, state, *weights):
    return _step(_pieces(x, state, *weights), state, candidate=lambda n_x, n_s, r: n_x + r * n_s)


@task.mistake(
    "exp overflows: for numbers above about 88 it is infinite in float32, and infinity divided by infinity is NaN. torch.sigmoid and torch.tanh take numbers of any size."
)
def overflow(x, state, *weights):
    return _step(_pieces(x, state, *weights), state, gate=lambda z: z.exp() / (1 + z.exp()))
