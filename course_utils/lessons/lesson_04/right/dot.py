"""Right answers to 04.dot in other styles than the solution's: loops, einsum, built-ins, other names and precisions."""

import functools

import torch
import torch.nn.functional as F


def dot_in_a_zero_buffer(state, hidden):
    B, T, D = state.shape
    S = hidden.shape[1]
    scores = torch.zeros(B, T, S)
    for b in range(B):
        for t in range(T):
            for i in range(S):
                for d in range(D):
                    scores[b, t, i] += state[b, t, d] * hidden[b, i, d]
    return scores


def dot_by_index(state, hidden):
    scores = torch.zeros(len(state), state.shape[1], hidden.shape[1])
    for b in range(len(state)):
        for t in range(len(state[b])):
            scores[b, t] = torch.matmul(hidden[b], state[b, t])
    return scores


def dot_by_a_list_of_sentences(state, hidden):
    result = []
    for b in range(state.shape[0]):
        result.append(torch.matmul(state[b], hidden[b].T))
    return torch.stack(result)


class CallableDot:
    def __call__(self, queries, keys):
        return queries.matmul(keys.transpose(-2, -1))

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


# PyTorch's own
OWN = [
    lambda s, h: torch.bmm(s, h.transpose(1, 2)),
    CallableDot().method,
]
RIGHT = [
    *OWN,
    lambda s, h: torch.einsum("btd,bsd->bts", s, h),
    lambda s, h: (s.unsqueeze(2) * h.unsqueeze(1)).sum(-1),
    lambda s, h: torch.stack([torch.stack([torch.stack([a @ b for b in hs]) for a in ss]) for ss, hs in zip(s, h)]),  # noqa: B905
    # As beginners write them
    dot_in_a_zero_buffer,
    dot_by_index,
    dot_by_a_list_of_sentences,
    # In odd styles
    CallableDot(),
    OwnDot.apply,
    functools.partial(torch.einsum, "btd,bsd->bts"),
    lambda s, h: torch.stack([torch.inner(a, b) for a, b in zip(s, h, strict=True)]),
    lambda s, h: torch.vmap(lambda a, b: a @ b.T)(s, h),
    lambda s, h: torch.func.vmap(torch.func.vmap(torch.mv, (None, 0)))(h, s),
    lambda s, h: F.linear(s, h[0]) if len(s) == 1 else torch.matmul(s, h.swapaxes(1, 2)),
]
WORKED = [(([[[1, 2]]], [[[3, 0], [-1, 4]]]), "3 7")]
