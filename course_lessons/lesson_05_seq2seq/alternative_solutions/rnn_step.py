"""Correct answers to 05.rnn_step in other styles than the solution's."""

import torch


def by_the_library(x, state, weight_x, weight_s, bias):
    cell = torch.nn.RNNCell(x.shape[1], state.shape[1])
    weights = {"weight_ih": weight_x, "weight_hh": weight_s, "bias_ih": bias, "bias_hh": 0 * bias}
    return torch.func.functional_call(cell, weights, (x, state))


def by_the_sigmoid(x, state, weight_x, weight_s, bias):
    z = torch.addmm(torch.addmm(bias, x, weight_x.mT), state, weight_s.mT)
    return 2 * torch.sigmoid(2 * z) - 1


OWN = [by_the_library]
CORRECT = [*OWN, by_the_sigmoid]
WORKED = [(([[1, 2]], [[0.5, 1]], [[1, -1], [0, 1]], [[2, 0], [0, -1]], [0.5, -1]), "0.4621 0")]
