"""Right answers to 07.greedy in other styles than the solution's."""

import torch


def by_while(step, bos, eos, longest):
    ids = []
    while len(ids) < longest and (not ids or ids[-1] != eos):
        log_p = step([bos] + ids)
        ids.append(torch.argmax(log_p).item())
    return ids


def by_recursion(step, bos, eos, longest):
    def rest(prefix):
        if len(prefix) > longest or prefix[1:] and prefix[-1] == eos:
            return []
        values = step(prefix).tolist()
        best = values.index(max(values))
        return [best, *rest([*prefix, best])]

    return rest([bos])


def by_sorting(step, bos, eos, longest):
    prefix = [bos]
    for _ in range(longest):
        ranked = sorted(enumerate(step(prefix).exp().tolist()), key=lambda pair: (-pair[1], pair[0]))
        prefix = prefix + [ranked[0][0]]
        if ranked[0][0] == eos:
            return prefix[1:]
    return prefix[1:]


def as_beginners_write_it(step, bos, eos, longest):
    result = []
    prefix = [bos]
    for _ in range(longest):
        log_p = step(prefix)
        best_id = 0
        best = -float("inf")
        for j in range(len(log_p)):
            if log_p[j] > best:
                best = log_p[j]
                best_id = j
        result.append(best_id)
        prefix.append(best_id)
        if best_id == eos:
            break
    return result


# PyTorch's own
OWN = [
    by_while,
]
RIGHT = [*OWN, by_recursion, by_sorting, as_beginners_write_it]
SIZES = {"V": lambda draw: draw.randint(2, 6)}
INPUTS = {
    "step": lambda draw: draw.decoder(),
    "eos": lambda draw: draw.randrange(draw.size("V")),
    "longest": lambda draw: draw.randint(1, 5),
}
