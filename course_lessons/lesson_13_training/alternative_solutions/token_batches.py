"""Correct answers to 13.token_batches in other styles than the solution's."""


def by_slices(lengths, limit):
    order = sorted(range(len(lengths)), key=lengths.__getitem__)
    batches, first = [], 0
    for place, i in enumerate(order):
        if lengths[i] > limit:
            raise ValueError(f"sentence {i} has {lengths[i]} tokens, and a batch holds {limit}")
        if (place + 1 - first) * lengths[i] > limit:
            batches.append(order[first:place])
            first = place
    return [*batches, order[first:]] if order else []


NONE_OF_ITS_OWN = "torch.utils.data has no sampler that counts tokens."
CORRECT = [by_slices, lambda lengths, limit: tuple(map(tuple, by_slices(lengths, limit)))]
INPUTS = {
    "lengths": lambda draw: [draw.randint(1, 7) for _ in range(draw.randint(0, 9))],
    "limit": lambda draw: draw.randint(6, 30),
}
