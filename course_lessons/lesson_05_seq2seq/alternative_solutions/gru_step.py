"""Correct answers to 05.gru_step in other styles than the solution's."""

from math import log

import torch


def by_the_librarys_cell(x, state, weight_ih, weight_hh, bias_ih, bias_hh):
    cell = torch.nn.GRUCell(x.shape[1], state.shape[1])
    weights = {"weight_ih": weight_ih, "weight_hh": weight_hh, "bias_ih": bias_ih, "bias_hh": bias_hh}
    return torch.func.functional_call(cell, weights, (x, state))


def by_the_librarys_layer(x, state, *weights):
    gru = torch.nn.GRU(x.shape[1], state.shape[1], batch_first=True)
    named = dict(zip(("weight_ih_l0", "weight_hh_l0", "bias_ih_l0", "bias_hh_l0"), weights, strict=True))
    _, last = torch.func.functional_call(gru, named, (x[:, None], state[None]))
    return last[0]


OWN = [by_the_librarys_cell, by_the_librarys_layer]
CORRECT = OWN
WORKED = [(([[1]], [[0.4]], [[0], [0], [1]], [[0], [0], [0]], [0, 0, 0], [0, log(3), 2]), "0.5410")]
