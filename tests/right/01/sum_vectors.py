"""Right answers to 01.sum_vectors in other styles than the solution's: loops, einsum, built-ins, other names and precisions."""

import torch


def sum_by_loops(words, mask):
    out = torch.zeros(words.shape[0], words.shape[2], dtype=words.dtype)
    for b in range(words.shape[0]):
        for s in range(words.shape[1]):
            if mask[b, s]:
                out[b] = out[b] + words[b, s]
    return out


RIGHT = [
    sum_by_loops,
    lambda words, mask: torch.einsum("bsd,bs->bd", words, mask.to(words.dtype)),
    lambda w, m: (m.to(w.dtype)[:, None] @ w)[:, 0],
    lambda words, mask: words.masked_fill(~mask.unsqueeze(-1), 0).sum(dim=-2),
    lambda words, mask: torch.where(mask[:, :, None], words, 0.0).sum(1),
    lambda words, mask: torch.stack([w[m].sum(0) for w, m in zip(words, mask)]),  # noqa: B905
    lambda words, mask: torch.bmm(words.transpose(1, 2), mask.type_as(words).unsqueeze(2)).squeeze(2),
]
