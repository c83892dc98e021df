"""Right answers to 05.gru_step in other styles than the solution's: nine products, loops, the library, another form of the mixture."""

from math import log

import torch
import torch.nn.functional as F


def block_by_block(x, state, weight_ih, weight_hh, bias_ih, bias_hh):
    D = state.shape[1]
    w_ir, w_iz, w_in = weight_ih[:D], weight_ih[D : 2 * D], weight_ih[2 * D :]
    w_hr, w_hz, w_hn = weight_hh[:D], weight_hh[D : 2 * D], weight_hh[2 * D :]
    b_ir, b_iz, b_in = bias_ih[:D], bias_ih[D : 2 * D], bias_ih[2 * D :]
    b_hr, b_hz, b_hn = bias_hh[:D], bias_hh[D : 2 * D], bias_hh[2 * D :]
    r = torch.sigmoid(x @ w_ir.T + b_ir + state @ w_hr.T + b_hr)
    z = torch.sigmoid(x @ w_iz.T + b_iz + state @ w_hz.T + b_hz)
    n = torch.tanh(x @ w_in.T + b_in + r * (state @ w_hn.T + b_hn))
    return (1 - z) * n + z * state


def by_the_librarys_cell(x, state, weight_ih, weight_hh, bias_ih, bias_hh):
    cell = torch.nn.GRUCell(x.shape[1], state.shape[1])
    weights = {"weight_ih": weight_ih, "weight_hh": weight_hh, "bias_ih": bias_ih, "bias_hh": bias_hh}
    return torch.func.functional_call(cell, weights, (x, state))


def by_the_librarys_layer(x, state, *weights):
    gru = torch.nn.GRU(x.shape[1], state.shape[1], batch_first=True)
    named = dict(zip(("weight_ih_l0", "weight_hh_l0", "bias_ih_l0", "bias_hh_l0"), weights, strict=True))
    _, last = torch.func.functional_call(gru, named, (x[:, None], state[None]))
    return last[0]


def towards_the_candidate(x, state, weight_ih, weight_hh, bias_ih, bias_hh):
    of_x = F.linear(x, weight_ih, bias_ih).unflatten(1, (3, -1))  # B 3 D
    of_s = F.linear(state, weight_hh, bias_hh).unflatten(1, (3, -1))
    r, z = (of_x[:, :2] + of_s[:, :2]).sigmoid().unbind(1)
    n = (of_x[:, 2] + r * of_s[:, 2]).tanh()
    return n + z * (state - n)


def both_gates_from_one_product(x, state, weight_ih, weight_hh, bias_ih, bias_hh):
    D = state.shape[1]
    both = torch.cat([x, state], dim=1)
    weight = torch.cat([weight_ih[: 2 * D], weight_hh[: 2 * D]], dim=1)
    gates = torch.sigmoid(both @ weight.T + bias_ih[: 2 * D] + bias_hh[: 2 * D])
    r, z = gates.split(D, dim=1)
    n = torch.tanh(x @ weight_ih[2 * D :].T + bias_ih[2 * D :] + r * (state @ weight_hh[2 * D :].T + bias_hh[2 * D :]))
    return torch.lerp(n, state, z)


def number_by_number(x, state, weight_ih, weight_hh, bias_ih, bias_hh):
    B, D = state.shape
    result = torch.zeros(B, D)
    for b in range(B):
        from_x = torch.mv(weight_ih, x[b]) + bias_ih
        from_s = torch.mv(weight_hh, state[b]) + bias_hh
        for d in range(D):
            r = 1 / (1 + torch.exp(-(from_x[d] + from_s[d])))
            z = 1 / (1 + torch.exp(-(from_x[D + d] + from_s[D + d])))
            n = torch.tanh(from_x[2 * D + d] + r * from_s[2 * D + d])
            result[b, d] = (1 - z) * n + z * state[b, d]
    return result


# PyTorch's own
OWN = [
    by_the_librarys_cell,
    by_the_librarys_layer,
]
RIGHT = [
    *OWN,
    block_by_block,
    towards_the_candidate,
    both_gates_from_one_product,
    # As beginners write them
    number_by_number,
]
WORKED = [(([[1]], [[0.4]], [[0], [0], [1]], [[0], [0], [0]], [0, 0, 0], [0, log(3), 2]), "0.5410")]
