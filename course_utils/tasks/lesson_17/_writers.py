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
    place_by_place: "a right one, position by position",
    in_float64: "a right one, in float64",
    as_a_step: "a right one, in one sum",
    in_place_on_a_copy: "a right one, in place on a copy",
}
WRONG = {
    _writer(keep=lambda weights, erase: weights * erase): "a wrong one: it keeps the share that it should erase",
    _writer(keep=lambda weights, erase: 1 - erase): "a wrong one: it erases at all positions alike, whatever their weights",
    _writer(keep=lambda weights, erase: 1 - weights): "a wrong one: erase has no effect, and everything goes where it writes",
    _writer(keep=lambda weights, erase: 1 + 0 * weights): "a wrong one: it erases nothing",
    _writer(keep=lambda weights, erase: 1 + weights * erase): "a wrong one: what should be erased grows",
    _writer(keep=lambda weights, erase: (1 - weights) * (1 - erase)): "a wrong one: it keeps 1 - w times 1 - e, and not 1 - w·e",
    _writer(keep=lambda weights, erase: 1 - weights * (1 - erase)): "a wrong one: erase is turned round",
    _writer(keep=lambda weights, erase: 1 - weights * erase.round()): "a wrong one: it rounds erase to 0 or 1",
    _writer(keep=lambda weights, erase: 1 - weights**2 * erase): "a wrong one: it squares the weights where it erases",
    _writer(keep=lambda weights, erase: 1 - weights * erase.mean(-1, keepdim=True)): "a wrong one: it erases with the mean of erase",
    erase_subtracted: "a wrong one: it subtracts erase from what stands there, and does not multiply",
    _writer(added=lambda weights, add: add): "a wrong one: it adds at all positions alike, whatever their weights",
    _writer(added=lambda weights, add: 0 * add): "a wrong one: it adds nothing",
    _writer(added=lambda weights, add: -weights * add): "a wrong one: it subtracts what it should add",
    _writer(added=lambda weights, add: weights**2 * add): "a wrong one: it squares the weights where it adds",
    _writer(added=lambda weights, add: weights * add.mean(-1, keepdim=True)): "a wrong one: it adds the mean of `add`",
    _writer(added=lambda weights, add: (weights * add).sum(1, keepdim=True)): "a wrong one: what is added is summed over the positions",
    added_where_erased: "a wrong one: it adds only as much as it erases",
    adds_first: "a wrong one: it adds before it erases, so a part of what was added goes again",
    _writer(given=lambda memory, weights, erase, add: (memory, weights, add, erase)): "a wrong one: it exchanges erase and add",
    _with_add(torch.tanh): "a wrong one: it puts `add` through tanh",
    _with_add(torch.relu): "a wrong one: it adds 0 in place of numbers below 0",
    _with_add(torch.abs): "a wrong one: it drops the sign of what it adds",
    _with_add(_first): "a wrong one: all rows add the first row's vector",
    _with_add(lambda add: add.roll(1, 0)): "a wrong one: each row adds the vector of the row before",
    _with_erase(_first): "a wrong one: all rows erase with the first row's vector",
    _with_erase(_last): "a wrong one: all rows erase with the last row's vector",
    _with_weights(_first): "a wrong one: all rows use the first row's weights",
    _with_weights(_last): "a wrong one: all rows use the last row's weights",
    batch_mixed: "a wrong one: what all rows add is summed up",
    _with_weights(_hard): "a wrong one: it writes to the position with the largest weight only, with the weight 1",
    _with_weights(_largest_only): "a wrong one: it writes to the position with the largest weight only",
    _with_weights(lambda weights: weights.mean(1, keepdim=True).expand_as(weights)): "a wrong one: all positions get the mean weight",
    _with_weights(torch.ones_like): "a wrong one: weights have no effect",
    _with_weights(lambda weights: weights.softmax(1)): "a wrong one: weights go through a softmax once more",
    _with_weights(lambda weights: weights / weights.sum(1, keepdim=True).clamp(min=1e-12)): "a wrong one: it divides weights by their sum, which may be less than 1",
    _with_weights(lambda weights: weights.roll(1, 1)): "a wrong one: each position gets the weight of the one before",
    _with_weights(lambda weights: weights.flip(1)): "a wrong one: its weights stand in the opposite order",
    _with_weights(lambda weights: 1 - weights): "a wrong one: it writes where weights are small",
    _with_weights(_without(-1, 1)): "a wrong one: it forgets the last position",
    _with_weights(_without(0, 1)): "a wrong one: it forgets the first position",
    _writer(ending=_kept_at(-1, 0)): "a wrong one: it forgets the last row of the batch",
    _writer(ending=_kept_at(-1, 2)): "a wrong one: it forgets the last number of each position",
    needs_square_places: "a wrong one: it takes positions for numbers, and fails where N and W differ",
    needs_one_row: "a wrong one: it fails where the batch has several rows",
    _writer(join=lambda memory, keep, added: memory): "a wrong one: it returns the old memory",
    _writer(join=lambda memory, keep, added: keep + added): "a wrong one: what stood in the memory has no effect",
    _writer(join=lambda memory, keep, added: added): "a wrong one: it returns only what is added",
    _writer(ending=lambda new, memory: new + memory): "a wrong one: it adds the old memory to the new one",
    _writer(ending=lambda new, memory: new.mT): "a wrong one: it returns B×W×N",
    _writer(ending=lambda new, memory: new.reshape(len(new), new.shape[2], -1)): "a wrong one: it cuts its result into W positions of N numbers",
    _writer(ending=lambda new, memory: new.sum(1)): "a wrong one: it adds up over the positions",
    _writer(ending=lambda new, memory: new[:1]): "a wrong one: it returns the first row alone",
    _writer(ending=lambda new, memory: new.bfloat16().float()): "a wrong one: its numbers have three digits only",
    _writer(ending=lambda new, memory: new * torch.nan): "a wrong one: it gives NaN",
    _writer(ending=lambda new, memory: torch.cat([new[:, :-1], new[:, -1:] * torch.nan], 1)): "a wrong one: it gives NaN at the last position",
    given_memory_altered: "a wrong one: it writes into the memory that it is given",
    given_memory_erased: "a wrong one: it erases in the memory that it is given",
}  # fmt: skip
RARE = {_altering(place): f"a wrong one: it alters the {name} that it is given" for place, name in ((1, "weights"), (2, "erase"), (3, "add"))}  # fmt: skip
