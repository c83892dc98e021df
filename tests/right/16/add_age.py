"""Right answers to 16.add_age in other styles than the solution's: flipped, one-hot, gather, in place on a copy, loops."""

import torch
import torch.nn.functional as F


def by_flipping(encoded, table, mask):
    ages = mask.flip(1).cumsum(1).flip(1) - 1  # -1 at padding behind the last fact
    return torch.where(mask[..., None], encoded + table[ages.clamp(min=0)], encoded)


def by_one_hot(encoded, table, mask):
    after = mask.sum(1, keepdim=True) - mask.cumsum(1)
    chosen = F.one_hot(after.clamp(max=len(table) - 1), len(table)) * mask[..., None]
    return encoded + chosen.to(table.dtype) @ table


def by_a_matrix_of_later_places(encoded, table, mask):
    """A triangle counts how many facts stand behind each place."""
    M = mask.shape[1]
    later = torch.ones(M, M, dtype=torch.bool).tril(-1).long()
    ages = mask.long() @ later
    return encoded + F.embedding(ages.clamp(max=M - 1), table) * mask.unsqueeze(-1)


def by_gather(encoded, table, mask):
    after = (mask.flip(1).cumsum(1).flip(1) - mask.long()).clamp(0, len(table) - 1)
    rows = table.expand(len(mask), -1, -1).gather(1, after[..., None].expand_as(encoded))
    return encoded + rows.masked_fill(mask.logical_not()[..., None], 0.0)


def real_facts_only(encoded, table, mask):
    ages = (mask.sum(1, keepdim=True) - mask.cumsum(1))[mask]
    return encoded.masked_scatter(mask[..., None].expand_as(encoded), encoded[mask] + table[ages])


def in_place_on_a_copy(encoded, table, mask):
    aged = encoded.clone()
    for b in range(len(aged)):
        real = mask[b].nonzero()[:, 0]
        aged[b, real] += table[: len(real)].flip(0)
    return aged


def with_index_put(encoded, table, mask):
    b, m = mask.nonzero(as_tuple=True)
    ages = torch.stack([mask[i, j + 1 :].sum() for i, j in zip(b, m, strict=True)]) if len(b) else b
    return encoded.index_put((b, m), table[ages], accumulate=True)


def backwards(encoded, table, mask):
    result = []
    for b in range(encoded.shape[0]):
        age = 0
        story = []
        for m in reversed(range(encoded.shape[1])):
            fact = encoded[b, m]
            if mask[b, m]:
                fact = fact + table[age]
                age += 1
            story.insert(0, fact)
        result.append(torch.stack(story))
    return torch.stack(result)


# PyTorch's own
OWN = [
    by_a_matrix_of_later_places,
]
RIGHT = [
    *OWN,
    by_flipping,
    by_one_hot,
    by_gather,
    real_facts_only,
    in_place_on_a_copy,
    with_index_put,
    # As beginners write them
    backwards,
]
WORKED = [
    (([[[1], [2], [7]]], [[10], [20], [30]], [[True, True, False]]), "21 12 7"),
    (([[[1], [2], [7]]], [[10], [20], [30]], [[True, True, True]]), "31 22 17"),
]
