"""What 17.catch_wrong_write tries a learner's test on: functions that write to a memory. No task is declared here.

Each is write(memory B×N×W, weights B×N, erase B×W, add B×W) → the new memory, B×N×W.
"""

import torch
import torch.nn.functional as F

# Right ones, written differently


def by_products(memory, weights, erase, add):
    weights = weights[:, :, None]
    return memory * (1 - weights * erase[:, None]) + weights * add[:, None]


def by_einsum(memory, weights, erase, add):
    outer = lambda vectors: torch.einsum("bn,bw->bnw", weights, vectors)  # noqa: E731
    return memory - memory * outer(erase) + outer(add)


def by_bmm(memory, weights, erase, add):
    return memory * (1 - torch.bmm(weights[:, :, None], erase[:, None])) + torch.bmm(weights[:, :, None], add[:, None])


def place_by_place(memory, weights, erase, add):
    new = memory.clone()
    for b, row in enumerate(weights.tolist()):
        for n, weight in enumerate(row):
            new[b, n] -= weight * erase[b] * memory[b, n]
            new[b, n] += weight * add[b]
    return new


def in_float64(memory, weights, erase, add):
    return by_products(*(given.double() for given in (memory, weights, erase, add))).float()


def as_a_step(memory, weights, erase, add):
    """Each number goes a part of the way to what is added."""
    return memory + weights[:, :, None] * (add[:, None] - erase[:, None] * memory)


def in_place_on_a_copy(memory, weights, erase, add):
    new = memory.clone()
    new.mul_(1 - weights[:, :, None] * erase[:, None])
    return new.baddbmm_(weights[:, :, None], add[:, None])


# A right one, of which the wrong ones change one part. weights come as B×N×1, erase and add as B×1×W


def _writer(
    given=lambda *args: args,
    keep=lambda weights, erase: 1 - weights * erase,
    added=lambda weights, add: weights * add,
    join=lambda memory, keep, added: memory * keep + added,
    ending=lambda new, memory: new,
):
    """Return a function that writes as it should, but for the parts that are given."""

    def write(*args):
        memory, weights, erase, add = given(*args)
        weights, erase, add = weights[:, :, None], erase[:, None], add[:, None]
        return ending(join(memory, keep(weights, erase), added(weights, add)), args[0])

    return write


def _with_weights(change):
    return _writer(given=lambda memory, weights, erase, add: (memory, change(weights), erase, add))


def _with_erase(change):
    return _writer(given=lambda memory, weights, erase, add: (memory, weights, change(erase), add))


def _with_add(change):
    return _writer(given=lambda memory, weights, erase, add: (memory, weights, erase, change(add)))


def _first(rows):
    return rows[:1].expand_as(rows)


def _last(rows):
    return rows[-1:].expand_as(rows)


def _largest_only(weights):
    return weights * (weights == weights.amax(1, keepdim=True))


def _hard(weights):
    return F.one_hot(weights.argmax(1), weights.shape[1]).to(weights.dtype)


def _without(place, axis):
    """What puts 0 at a place along an axis."""

    def change(numbers):
        numbers = numbers.clone()
        numbers.select(axis, place).zero_()
        return numbers

    return change


def _kept_at(place, axis):
    """A new memory in which one place, or one column, is still as it was."""

    def ending(new, memory):
        new = new.clone()
        new.select(axis, place).copy_(memory.select(axis, place))
        return new

    return ending


def adds_first(memory, weights, erase, add):
    """What is added is erased in part at once."""
    weights = weights[:, :, None]
    return (memory + weights * add[:, None]) * (1 - weights * erase[:, None])


def erase_subtracted(memory, weights, erase, add):
    return memory + weights[:, :, None] * (add - erase)[:, None]


def added_where_erased(memory, weights, erase, add):
    weights = weights[:, :, None] * erase[:, None]
    return memory * (1 - weights) + weights * add[:, None]


def given_memory_altered(memory, weights, erase, add):
    """Right, but it writes into the memory that was given."""
    memory.mul_(1 - weights[:, :, None] * erase[:, None])
    return memory.add_(weights[:, :, None] * add[:, None])


def given_memory_erased(memory, weights, erase, add):
    """Right, but it erases in the memory that was given, and adds to a new one."""
    memory *= 1 - weights[:, :, None] * erase[:, None]
    return memory + weights[:, :, None] * add[:, None]


def _altering(place):
    """A right one, but what was given at this place is zeros afterwards."""

    def write(*args):
        new = by_products(*args)
        args[place].zero_()
        return new

    return write


def needs_square_places(memory, weights, erase, add):
    """It puts weights along the numbers, and erase and add along the places: it stops where N and W differ."""
    return memory * (1 - weights[:, None] * erase[:, :, None]) + weights[:, None] * add[:, :, None]


def needs_one_row(memory, weights, erase, add):
    """It takes the batch for a single row: it stops where there are more."""
    weights, erase, add = (given.reshape(given.shape[-1]) for given in (weights, erase, add))
    return memory * (1 - torch.outer(weights, erase)) + torch.outer(weights, add)


def batch_mixed(memory, weights, erase, add):
    """What the rows of the batch write is added up."""
    return by_products(memory, weights, erase, 0 * add) + torch.einsum("bn,bw->nw", weights, add)


RIGHT = {
    by_products: "a right one, with products number by number",
    by_einsum: "a right one, with einsum",
    by_bmm: "a right one, with torch.bmm",
    place_by_place: "a right one, place by place",
    in_float64: "a right one, in float64",
    as_a_step: "a right one, in one sum",
    in_place_on_a_copy: "a right one, in place on a copy",
}
WRONG_SHOWN = {
    _writer(keep=lambda weights, erase: weights * erase): "a wrong one: it keeps what it should erase",
    _writer(keep=lambda weights, erase: 1 - erase): "a wrong one: it erases at all places",
    _writer(keep=lambda weights, erase: 1 - weights): "a wrong one: erase has no effect",
    _writer(added=lambda weights, add: add): "a wrong one: it adds at all places",
    adds_first: "a wrong one: it adds before it erases",
    _with_erase(_first): "a wrong one: all rows erase with the first vector",
    _with_weights(_hard): "a wrong one: it writes to the place with the largest weight only",
    given_memory_altered: "a wrong one: the given memory is altered",
}  # fmt: skip
WRONG_HIDDEN = (
    _writer(keep=lambda weights, erase: 1 + 0 * weights),
    _writer(keep=lambda weights, erase: 1 + weights * erase),
    _writer(keep=lambda weights, erase: (1 - weights) * (1 - erase)),
    _writer(keep=lambda weights, erase: 1 - weights * (1 - erase)),
    _writer(keep=lambda weights, erase: 1 - weights * erase.round()),
    _writer(keep=lambda weights, erase: 1 - weights**2 * erase),
    _writer(keep=lambda weights, erase: 1 - weights * erase.mean(-1, keepdim=True)),
    erase_subtracted,
    _writer(added=lambda weights, add: 0 * add),
    _writer(added=lambda weights, add: -weights * add),
    _writer(added=lambda weights, add: weights**2 * add),
    _writer(added=lambda weights, add: weights * add.mean(-1, keepdim=True)),
    _writer(added=lambda weights, add: (weights * add).sum(1, keepdim=True)),
    added_where_erased,
    _writer(given=lambda memory, weights, erase, add: (memory, weights, add, erase)),
    _with_add(torch.tanh),
    _with_add(torch.relu),
    _with_add(torch.abs),
    _with_add(_first),
    _with_add(lambda add: add.roll(1, 0)),
    _with_erase(_last),
    _with_weights(_first),
    _with_weights(_last),
    _with_weights(lambda weights: weights.mean(1, keepdim=True).expand_as(weights)),
    _with_weights(_largest_only),
    _with_weights(torch.ones_like),
    _with_weights(lambda weights: weights.softmax(1)),
    _with_weights(lambda weights: weights / weights.sum(1, keepdim=True).clamp(min=1e-12)),
    _with_weights(lambda weights: weights.roll(1, 1)),
    _with_weights(lambda weights: weights.flip(1)),
    _with_weights(lambda weights: 1 - weights),
    _with_weights(_without(-1, 1)),
    _with_weights(_without(0, 1)),
    _writer(ending=_kept_at(-1, 0)),
    _writer(ending=_kept_at(-1, 2)),
    batch_mixed,
    needs_square_places,
    needs_one_row,
    given_memory_erased,
    *map(_altering, (1, 2, 3)),
    _writer(join=lambda memory, keep, added: memory),
    _writer(join=lambda memory, keep, added: keep + added),
    _writer(join=lambda memory, keep, added: added),
    _writer(ending=lambda new, memory: new + memory),
    _writer(ending=lambda new, memory: new.mT),
    _writer(ending=lambda new, memory: new.reshape(len(new), new.shape[2], -1)),
    _writer(ending=lambda new, memory: new.sum(1)),
    _writer(ending=lambda new, memory: new[:1]),
    _writer(ending=lambda new, memory: new.bfloat16().float()),
    _writer(ending=lambda new, memory: new.half().float()),
    _writer(ending=lambda new, memory: new * torch.nan),
    _writer(ending=lambda new, memory: torch.cat([new[:, :-1], new[:, -1:] * torch.nan], 1)),
)
