"""Correct answers to 07.greedy in other styles than the solution's."""

import torch


def by_while(step, bos, eos, longest):
    ids = []
    while len(ids) < longest and (not ids or ids[-1] != eos):
        log_p = step([bos] + ids)
        ids.append(torch.argmax(log_p).item())
    return ids


def by_sorting(step, bos, eos, longest):
    prefix = [bos]
    for _ in range(longest):
        ranked = sorted(enumerate(step(prefix).exp().tolist()), key=lambda pair: (-pair[1], pair[0]))
        prefix = prefix + [ranked[0][0]]
        if ranked[0][0] == eos:
            return prefix[1:]
    return prefix[1:]


# PyTorch's own
OWN = [
    by_while,
]
CORRECT = [
    *OWN,
    by_sorting,
]
SIZES = {"V": lambda draw: draw.randint(2, 6)}
INPUTS = {
    "step": lambda draw: draw.decoder(),
    "eos": lambda draw: draw.randrange(draw.size("V")),
    "longest": lambda draw: draw.randint(1, 5),
}
