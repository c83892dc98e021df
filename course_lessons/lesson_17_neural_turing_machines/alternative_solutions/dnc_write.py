"""Correct answers to 17.dnc_write in other styles than the solution's."""

import torch
import torch.nn.functional as F


def in_order_undone(usage, written, reads, free, content, allocate, enter):
    usage = torch.lerp(usage, torch.ones_like(usage), written) * torch.prod(1 - reads * free.unsqueeze(-1), dim=1)
    ordered, order = torch.sort(usage, stable=True)
    left = F.pad(ordered, (1, 0), value=1.0).cumprod(1)
    room = -left.diff(dim=1).gather(1, order.argsort(1))
    return usage, enter[:, None] * torch.lerp(content, room, allocate[:, None])


def by_all_pairs(usage, written, reads, free, content, allocate, enter):
    usage = usage + (1 - usage) * written
    for weights, gate in zip(reads.unbind(1), free.unbind(1), strict=True):
        usage = usage - usage * gate[:, None] * weights
    places = torch.arange(usage.shape[1])
    other, own = usage[:, None, :], usage[:, :, None]
    before = (other < own) | ((other == own) & (places < places[:, None]))
    room = (1 - usage) * torch.where(before, other, torch.ones_like(other)).prod(2)
    return [usage, torch.einsum("b,bn->bn", enter, content + allocate[:, None] * (room - content))]


def place_by_place(usage, written, reads, free, content, allocate, enter):
    B, N = usage.shape
    usages, rows = [], []
    for b in range(B):
        new, weights, left = [], {}, 1.0
        for n in range(N):
            kept = 1.0
            for r in range(reads.shape[1]):
                kept = kept * (1 - free[b, r] * reads[b, r, n])
            new.append((usage[b, n] + written[b, n] - usage[b, n] * written[b, n]) * kept)
        for n in sorted(range(N), key=lambda n, new=new: new[n].item()):
            weights[n] = enter[b] * (allocate[b] * (1 - new[n]) * left + (1 - allocate[b]) * content[b, n])
            left = left * new[n]
        usages.append(torch.stack(new))
        rows.append(torch.stack([weights[n] for n in range(N)]))
    return torch.stack(usages), torch.stack(rows)


# PyTorch's own
OWN = [
    in_order_undone,
]
CORRECT = [
    *OWN,
    by_all_pairs,
    # As beginners write them
    place_by_place,
]
INPUTS = {
    name: lambda draw, letters=letters: draw.between(letters, 0, 1)
    for name, letters in (
        *(("usage", "B×N"), ("written", "B×N"), ("reads", "B×R×N"), ("free", "B×R")),
        *(("content", "B×N"), ("allocate", "B"), ("enter", "B")),
    )
}
WORKED = [(([[0.5, 1]], [[0.5, 0]], [[[0, 0.5]]], [[1]], [[1, 0]], [0.5], [0.5]), "0.75 0.5 0.28125 0.125")]
