"""Right answers to 04.dot in other styles than the solution's: loops, einsum, built-ins, other names and precisions."""

import torch


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


RIGHT = [
    lambda s, h: torch.einsum("btd,bsd->bts", s, h),
    lambda s, h: torch.bmm(s, h.transpose(1, 2)),
    lambda s, h: (s.unsqueeze(2) * h.unsqueeze(1)).sum(-1),
    lambda s, h: torch.stack([torch.stack([torch.stack([a @ b for b in hs]) for a in ss]) for ss, hs in zip(s, h)]),  # noqa: B905
    # As beginners write them
    dot_in_a_zero_buffer,
    dot_by_index,
    dot_by_a_list_of_sentences,
]
WORKED = [(([[[1, 2]]], [[[3, 0], [-1, 4]]]), "3 7")]
