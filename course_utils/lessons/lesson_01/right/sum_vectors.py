"""Right answers to 01.sum_vectors in other styles than the solution's: loops, einsum, built-ins, other names and precisions."""

import torch


def sum_by_loops(words, mask):
    out = torch.zeros(words.shape[0], words.shape[2], dtype=words.dtype)
    for b in range(words.shape[0]):
        for s in range(words.shape[1]):
            if mask[b, s]:
                out[b] = out[b] + words[b, s]
    return out


def sum_in_a_zero_buffer(words, mask):
    B, S, D = words.shape
    sums = torch.zeros(B, D)
    for b in range(B):
        for s in range(S):
            if mask[b, s]:
                sums[b] += words[b, s]
    return sums


def sum_by_einsum_of_a_float_mask(words, mask):
    return torch.einsum("bs,bsd->bd", mask.float(), words)


def sum_by_float_mask_times_words(words, mask):
    numbers = mask.float()
    numbers = numbers.unsqueeze(2)
    kept = words * numbers
    return kept.sum(dim=1)


def sum_by_a_list_of_totals(words, mask):
    mask = mask.float()
    sums = []
    for b in range(len(words)):
        total = torch.zeros(words.shape[2])
        for s in range(len(words[b])):
            total += mask[b, s] * words[b, s]
        sums.append(total)
    return torch.stack(sums)


# PyTorch's own
OWN = [
    lambda words, mask: torch.masked.sum(words, 1, mask=mask[..., None]),
]
RIGHT = [
    *OWN,
    sum_by_loops,
    lambda words, mask: torch.einsum("bsd,bs->bd", words, mask.to(words.dtype)),
    lambda w, m: (m.to(w.dtype)[:, None] @ w)[:, 0],
    lambda words, mask: words.masked_fill(~mask.unsqueeze(-1), 0).sum(dim=-2),
    lambda words, mask: torch.where(mask[:, :, None], words, 0.0).sum(1),
    lambda words, mask: torch.stack([w[m].sum(0) for w, m in zip(words, mask)]),  # noqa: B905
    lambda words, mask: torch.bmm(words.transpose(1, 2), mask.type_as(words).unsqueeze(2)).squeeze(2),
    # As beginners write them
    sum_in_a_zero_buffer,
    sum_by_einsum_of_a_float_mask,
    sum_by_float_mask_times_words,
    sum_by_a_list_of_totals,
    # In odd styles
    lambda x, m: torch.einsum("bsd,bs->bd", x.float(), m.float()),
    lambda x, m: x.masked_fill(m.logical_not()[..., None], 0.0).cumsum(1)[:, -1],
    lambda x, m: torch.zeros(len(x), x.shape[2], dtype=x.dtype).index_add(0, m.nonzero()[:, 0], x[m]),
    lambda x, m: (x.flatten(0, 1) * m.flatten()[:, None]).unflatten(0, m.shape).sum(1),
    lambda x, m: torch.vmap(lambda s, k: (s * k[:, None]).sum(0))(x, m),
    lambda x, m: torch.einsum("...sd,...s", x, m.to(x)),
    lambda x, m: x.double().mul(m.unsqueeze(-1)).sum(1).to(x.dtype),
]
WORKED = [(([[[1, 2], [3, 4], [9, 9]]], [[True, True, False]]), "4 6")]
