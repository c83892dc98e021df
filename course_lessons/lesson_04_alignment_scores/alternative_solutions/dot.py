"""Correct answers to 04.dot in other styles than the solution's."""

import torch


class Dot:
    def method(self, queries, keys):
        return torch.baddbmm(queries.new_zeros(1, 1, 1), queries, keys.permute(0, 2, 1))


class OwnDot(torch.autograd.Function):
    @staticmethod
    def forward(ctx, s, h):
        ctx.save_for_backward(s, h)
        return s @ h.mT

    @staticmethod
    def backward(ctx, g):
        s, h = ctx.saved_tensors
        return g @ h, g.mT @ s


OWN = [lambda s, h: torch.bmm(s, h.transpose(1, 2)), Dot().method]
CORRECT = [*OWN, OwnDot.apply]
WORKED = [(([[[1, 2]]], [[[3, 0], [-1, 4]]]), "3 7")]
