"""Correct answers to 17.dnc_write in other styles than the solution's."""

import math

import torch
import torch.nn.functional as F


def in_order_undone(usage, written, reads, free, content, allocate, enter):
    usage = torch.lerp(usage, torch.ones_like(usage), written) * torch.prod(1 - reads * free.unsqueeze(-1), dim=1)
    ordered, order = torch.sort(usage, stable=True)
    left = F.pad(ordered, (1, 0), value=1.0).cumprod(1)
    room = -left.diff(dim=1).gather(1, order.argsort(1))
    return usage, enter[:, None] * torch.lerp(content, room, allocate[:, None])


def place_by_place(usage, written, reads, free, content, allocate, enter):
    usages, rows = [], []
    for b in range(len(usage)):
        new, row, left = [], [], 1.0
        for n in range(usage.shape[1]):
            kept = math.prod(1 - free[b, r] * reads[b, r, n] for r in range(reads.shape[1]))
            new.append((usage[b, n] + written[b, n] - usage[b, n] * written[b, n]) * kept)
            row.append(enter[b] * (1 - allocate[b]) * content[b, n])
        for n in sorted(range(len(new)), key=lambda n, new=new: new[n].item()):
            row[n] = row[n] + enter[b] * allocate[b] * (1 - new[n]) * left
            left = left * new[n]
        usages.append(torch.stack(new))
        rows.append(torch.stack(row))
    return [torch.stack(usages), torch.stack(rows)]


OWN = [in_order_undone]
CORRECT = [*OWN, place_by_place]
INPUTS = {
    name: lambda draw, letters=letters: draw.between(letters, 0, 1)
    for name, letters in (
        *(("usage", "B×N"), ("written", "B×N"), ("reads", "B×R×N"), ("free", "B×R")),
        *(("content", "B×N"), ("allocate", "B"), ("enter", "B")),
    )
}
WORKED = [(([[0.5, 1]], [[0.5, 0]], [[[0, 0.5]]], [[1]], [[1, 0]], [0.5], [0.5]), "0.75 0.5 0.28125 0.125")]
