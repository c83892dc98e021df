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


def by_a_generator(lengths, limit):
    def batches():
        batch = []
        for length, i in sorted(zip(lengths, range(len(lengths)), strict=True)):
            if length > limit:
                raise ValueError("a sentence does not fit")
            if limit < length * (1 + len(batch)):
                yield batch
                batch = []
            batch = [*batch, i]
        if batch:
            yield batch

    return list(batches())


NONE_OF_ITS_OWN = "torch.utils.data has no sampler that counts tokens."
CORRECT = [
    by_slices,
    by_a_generator,
]
INPUTS = {
    "lengths": lambda draw: [draw.randint(1, 7) for _ in range(draw.randint(0, 9))],
    "limit": lambda draw: draw.randint(6, 30),
}
