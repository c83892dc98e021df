"""Right answers to 04.general in other styles than the solution's: loops, einsum, built-ins, other names and precisions."""

import torch
import torch.nn.functional as F


def general_in_a_zero_buffer(state, hidden, weight):
    B, T, _ = state.shape
    S = hidden.shape[1]
    scores = torch.zeros(B, T, S)
    for b in range(B):
        for t in range(T):
            for s in range(S):
                middle = torch.matmul(weight, hidden[b, s])
                scores[b, t, s] = torch.dot(state[b, t], middle)
    return scores


def general_over_every_entry_of_the_matrix(state, hidden, weight):
    scores = torch.zeros(state.shape[0], state.shape[1], hidden.shape[1])
    D, E = weight.shape
    for d in range(D):
        for e in range(E):
            scores += weight[d, e] * state[:, :, d].unsqueeze(2) * hidden[:, :, e].unsqueeze(1)
    return scores


def general_by_a_list_of_rows(state, hidden, weight):
    sentences = []
    for b in range(len(state)):
        rows = []
        for s in state[b]:
            projected = torch.matmul(s, weight)
            rows.append(torch.matmul(hidden[b], projected))
        sentences.append(torch.stack(rows))
    return torch.stack(sentences)


RIGHT = [
    lambda s, h, W: torch.einsum("btd,de,bse->bts", s, W, h),
    lambda s, h, W: s @ (h @ W.T).mT,
    lambda s, h, W: torch.bmm(F.linear(s, W.T), h.transpose(1, 2)),
    lambda s, h, W: torch.stack([a @ W @ b.T for a, b in zip(s, h)]),  # noqa: B905
    # As beginners write them
    general_in_a_zero_buffer,
    general_over_every_entry_of_the_matrix,
    general_by_a_list_of_rows,
    # In odd styles
    lambda s, h, W: torch.stack([(h @ W.T @ q[..., None])[..., 0] for q in s.unbind(1)], 1),
    lambda s, h, W: torch.einsum("btd,bsd->bts", s, torch.einsum("de,bse->bsd", W, h)),
    lambda s, h, W: F.bilinear(
        s[:, :, None].expand(-1, -1, h.shape[1], -1).contiguous(),
        h[:, None].expand(-1, s.shape[1], -1, -1).contiguous(),
        W[None],
    )[..., 0],
]
WORKED = [(([[[1, 2]]], [[[1, 1, 3]]], [[1, 0, 2], [0, 1, 1]]), "15")]
