"""What 17.catch_wrong_write tries a learner's test on: functions that write to a memory. No task is declared here.

Each is write(memory B×N×W, weights B×N, erase B×W, add B×W) → the new memory, B×N×W.
"""

import torch

from course_lessons.lesson_17_neural_turing_machines.tasks.write import task

# Right ones, written differently


def by_products(memory, weights, erase, add):
    weights = weights[:, :, None]
    return memory * (1 - weights * erase[:, None]) + weights * add[:, None]


def by_einsum(memory, weights, erase, add):
    outer = lambda vectors: torch.einsum("bn,bw->bnw", weights, vectors)  # noqa: E731
    return memory - memory * outer(erase) + outer(add)


def in_float64(memory, weights, erase, add):
    return by_products(*(given.double() for given in (memory, weights, erase, add))).float()


def as_a_step(memory, weights, erase, add):
    """Each number goes a part of the way to what is added."""
    return memory + weights[:, :, None] * (add[:, None] - erase[:, None] * memory)


def in_place_on_a_copy(memory, weights, erase, add):
    new = memory.clone()
    new.mul_(1 - weights[:, :, None] * erase[:, None])
    return new.baddbmm_(weights[:, :, None], add[:, None])


# Wrong ones


def _first(rows):
    return rows[:1].expand_as(rows)


def _last(rows):
    return rows[-1:].expand_as(rows)


def given_memory_altered(memory, weights, erase, add):
    """Right, but it writes into the memory that was given."""
    memory.mul_(1 - weights[:, :, None] * erase[:, None])
    return memory.add_(weights[:, :, None] * add[:, None])


def given_memory_erased(memory, weights, erase, add):
    """Right, but it erases in the memory that was given, and adds to a new one."""
    memory *= 1 - weights[:, :, None] * erase[:, None]
    return memory + weights[:, :, None] * add[:, None]


def _altering(place):
    """A correct one, but what was given at this place is zeros afterwards."""

    def write(*args):
        new = by_products(*args)
        args[place].zero_()
        return new

    return write


def _off_at(place, by):
    """A write of which a single number is off: the first or the last."""

    def write(*args):
        new = by_products(*args)
        new.view(-1)[place] += by
        return new

    return write


def needs_one_row(memory, weights, erase, add):
    """It takes the batch for a single row: it stops where there are more."""
    weights, erase, add = (given.reshape(given.shape[-1]) for given in (weights, erase, add))
    return memory * (1 - torch.outer(weights, erase)) + torch.outer(weights, add)


RIGHT = {
    by_products: "a correct one, with products entry by entry",
    by_einsum: "a correct one, with einsum",
    in_float64: "a correct one, in float64",
    as_a_step: "a correct one, in one sum",
    in_place_on_a_copy: "a correct one, in place on a copy",
}
ERASED, ADDED = "the erased share", "what is added"
variant, wrong = task.variant, task.wrong
WRONG = {
    wrong("keeps_what_it_should_erase"): "an incorrect one: it keeps the share that it should erase",
    wrong("erased_everywhere"): "an incorrect one: it erases all positions equally, whatever their weights",
    wrong("erase_unused"): "an incorrect one: erase has no effect, so everything is erased where it writes",
    wrong("nothing_erased"): "an incorrect one: it erases nothing",
    wrong("one_minus_each"): "an incorrect one: it keeps (1 - w)(1 - e) instead of 1 - w·e",
    wrong("erase_turned_round"): "an incorrect one: erase is inverted",
    variant({"erase": torch.round}): "an incorrect one: it rounds erase to 0 or 1",
    variant({ERASED: lambda weights, erase: weights**2 * erase}): "an incorrect one: it squares the weights where it erases",
    wrong("erase_subtracted"): "an incorrect one: it subtracts erase from what is there instead of multiplying",
    wrong("added_everywhere"): "an incorrect one: it adds to all positions equally, whatever their weights",
    variant({ADDED: lambda weights, add: 0 * add}): "an incorrect one: it adds nothing",
    variant({ADDED: lambda weights, add: weights**2 * add}): "an incorrect one: it squares the weights where it adds",
    variant({"add": lambda add: add.mean(-1, keepdim=True).expand_as(add)}): "an incorrect one: it adds the mean of `add`",
    variant({ADDED: lambda weights, add: (weights * add).sum(1, keepdim=True)}): "an incorrect one: what is added is summed over the positions",
    wrong("added_where_erased"): "an incorrect one: it adds only as much as it erases",
    wrong("added_before_erasing"): "an incorrect one: it adds before it erases, so part of what was added is erased again",
    variant({"erase": lambda erase, *, add: add, "add": lambda add, *, erase: erase}): "an incorrect one: it swaps erase and add",
    variant({"add": torch.abs}): "an incorrect one: it drops the sign of what it adds",
    variant({"add": _first}): "an incorrect one: all rows add the first row's vector",
    variant({"add": lambda add: add.roll(1, 0)}): "an incorrect one: each row adds the previous row's vector",
    variant({"erase": _first}): "an incorrect one: all rows erase with the first row's vector",
    variant({"erase": _last}): "an incorrect one: all rows erase with the last row's vector",
    wrong("first_weights_for_all"): "an incorrect one: all rows use the first row's weights",
    variant({"weights": _last}): "an incorrect one: all rows use the last row's weights",
    wrong("likeliest_place_only"): "an incorrect one: it writes only to the position with the largest weight, with a weight of 1",
    variant({"weights": lambda weights: weights * (weights == weights.amax(1, keepdim=True))}): "an incorrect one: it writes only to the position with the largest weight",
    variant({"weights": lambda weights: weights.mean(1, keepdim=True).expand_as(weights)}): "an incorrect one: all positions get the mean weight",
    wrong("weights_unused"): "an incorrect one: weights have no effect",
    wrong("softmax_again"): "an incorrect one: it applies another softmax to the weights",
    variant({"weights": lambda weights: weights / weights.sum(1, keepdim=True).clamp(min=1e-12)}): "an incorrect one: it divides weights by their sum, which may be less than 1",
    variant({"weights": lambda weights: weights.roll(1, 1)}): "an incorrect one: each position gets the previous position's weight",
    wrong("weights_turned_round"): "an incorrect one: it writes where weights are small",
    variant({"weights": lambda weights: torch.cat([weights[:, :-1], 0 * weights[:, -1:]], 1)}): "an incorrect one: it forgets the last position",
    variant({"result": lambda new, *, memory: torch.cat([new[:-1], memory[-1:]])}): "an incorrect one: it forgets the last row of the batch",
    variant({"result": lambda new, *, memory: torch.cat([new[..., :-1], memory[..., -1:]], -1)}): "an incorrect one: it leaves the last entry of each position unchanged",
    wrong("weights_along_the_width"): "an incorrect one: it confuses positions and entries and fails if N and W differ",
    needs_one_row: "an incorrect one: it fails if the batch has several rows",
    variant({"result": lambda new, *, memory: memory}): "an incorrect one: it returns the old memory",
    variant({"memory after erasing": lambda memory, kept: kept}): "an incorrect one: what the memory held has no effect",
    variant({"result": lambda new: new.mT}): "an incorrect one: it returns B×W×N",
    variant({"result": lambda new: new.reshape(len(new), new.shape[2], -1)}): "an incorrect one: it cuts its result into W positions of N numbers",
    variant({"result": lambda new: new[:1]}): "an incorrect one: it returns only the first row",
    variant({"result": lambda new: new.bfloat16().float()}): "an incorrect one: its numbers are rounded to three digits",
    variant({"result": torch.neg}): "an incorrect one: its result has the opposite sign",
    variant({"result": lambda new: new.flip(2)}): "an incorrect one: the entries of each position are in the opposite order",
    variant({"result": lambda new: new.flip(1)}): "an incorrect one: the positions are in the opposite order",
    variant({"result": lambda new: new + 0.1}): "an incorrect one: all its numbers are too large by 0.1",
    variant({"result": lambda new: new + 0.0003}): "an incorrect one: all its numbers are too large by 0.0003",
    _off_at(0, 0.002): "an incorrect one: only its very first number is wrong, too large by 0.002",
    _off_at(-1, -0.002): "an incorrect one: only its very last number is wrong, too small by 0.002",
    variant({"result": lambda new: new * torch.nan}): "an incorrect one: it gives NaN",
    given_memory_altered: "an incorrect one: it writes to the memory that it is given",
    given_memory_erased: "an incorrect one: it erases in the memory that it is given",
}  # fmt: skip
RARE = {_altering(place): f"an incorrect one: it alters the {name} that it is given" for place, name in ((1, "weights"), (2, "erase"), (3, "add"))}  # fmt: skip
