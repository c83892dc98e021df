"""Right answers to 02.dot_scores in other styles than the solution's: loops, einsum, built-ins, other names and precisions."""

import torch
import torch.nn.functional as F


def dot_scores_in_a_zero_buffer(words, theta):
    B, S, D = words.shape
    scores = torch.zeros(B, S)
    for b in range(B):
        for s in range(S):
            for d in range(D):
                scores[b, s] += words[b, s, d] * theta[d]
    return scores


def dot_scores_by_index(words, theta):
    scores = torch.zeros(words.shape[0], words.shape[1])
    for b in range(len(words)):
        for s in range(len(words[b])):
            scores[b][s] = torch.dot(words[b][s], theta)
    return scores


def dot_scores_by_a_list_of_sentences(words, theta):
    rows = []
    for sentence in words:
        row = torch.matmul(sentence, theta)
        rows.append(row)
    return torch.stack(rows)


def dot_scores_dimension_by_dimension(words, theta):
    total = torch.zeros(words.shape[:2])
    for d in range(len(theta)):
        total += theta[d] * words[:, :, d]
    return total


def keyword_defaults(words, theta, *, dim=-1, eps=0.0):
    return (words * theta).sum(dim) + eps


# PyTorch's own
OWN = [
    torch.matmul,
    lambda w, t: F.linear(w, t[None]).squeeze(-1),
]
RIGHT = [
    *OWN,
    lambda words, theta: (words * theta).sum(-1),
    lambda words, theta: torch.einsum("bsd,d->bs", words, theta),
    lambda w, t: torch.stack([torch.stack([x @ t for x in s]) for s in w]),
    # As beginners write them
    dot_scores_in_a_zero_buffer,
    dot_scores_by_index,
    dot_scores_by_a_list_of_sentences,
    dot_scores_dimension_by_dimension,
    # In odd styles
    keyword_defaults,
    lambda x, t: torch.tensordot(x, t, dims=([2], [0])),
    lambda x, t: torch.vmap(torch.vmap(torch.dot, (0, None)), (0, None))(x, t),
    lambda x, t: F.conv1d(x.mT, t[None, :, None])[:, 0],
    lambda x, t: torch.inner(x, t),
]
WORKED = [(([[[1, 2], [3, -1]]], [2, 1]), "4 5")]
