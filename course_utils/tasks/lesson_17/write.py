"""Task 17.write: what a head erases from a memory, and what it adds to it."""

from operator import add as plus
from operator import mul, sub

import torch

from course_utils.checks.running.contract import Case
from course_utils.checks.task import Task, sizes
from course_utils.tasks.lesson_17._drawn import drawn_gates, drawn_weights, one_hot
from course_utils.tasks.shares import USUAL

task = Task(
    "17.write",
    "attention that writes",
    arguments=("memory B×N×W", "weights B×N", "erase B×W", "add B×W"),
    result="written B×N×W",
    difficulty=3,
    importance=5,
    minutes=15,
    hints=(
        "A head writes to all positions, to each as much as its weight says. First it erases: of a number in memory, the share weight times erase is taken away. Then it adds: weight times add. A position with the weight 0 stays as it was.",
        "Take a memory with the positions [4, 2] and [6, 8], the weights 0.5 and 0.25, the erase vector [1, 0] and the add vector [2, -4]. At the first position the first number keeps the share 1 - 0.5·1 = 0.5 of 4, and 0.5·2 is added: 2 + 1 = 3. The second number keeps all, since nothing of it is erased: 2 + 0.5·(-4) = 0. The second position becomes 6·0.75 + 0.25·2 = 5 and 8 + 0.25·(-4) = 7.",
        "Give weights a third axis, B×N×1, and erase and add an axis in the middle, B×1×W; their products are B×N×W. kept = memory times (1 minus the product of weights and erase); return kept plus the product of weights and add.",
    ),
    partial=USUAL,
)


@task.property
def a_place_without_weight_stays(case, value):
    """Nothing is erased there, and nothing added."""
    memory, weights, *_ = case.args
    changed = (weights == 0) & ((value - memory).abs() > 1e-4 * (1 + memory.abs())).any(-1)
    if not changed.any():
        return None
    row, position = divmod(int(changed.int().argmax()), weights.shape[1])
    return f"For the input “{case.name}” position {position} of row {row} has the weight 0, so it should stay as it is. In your result it has changed."


def _inputs(draw, B, N, W, dtype=torch.float32):
    """No number is 0, and no erase vector holds a 1 or a half."""
    memory = draw.numbers(B, N, W, dtype=dtype) + 0.25
    erase, add = drawn_gates(draw, B, W, dtype=dtype), draw.numbers(B, W, dtype=dtype) + 0.125
    return memory, drawn_weights(draw, B, N, dtype), erase, add


@task.cases
def _(draw):
    for size in sizes(B=3, positions=7, W=5):
        name = f"a batch of {size.B}, {size.positions} positions of width {size.W}"
        yield Case(name, _inputs(draw, size.B, size.positions, size.W), size.full)
    yield Case("as many rows in the batch as positions", _inputs(draw, 5, 5, 3))
    yield Case("as many positions as numbers in each", _inputs(draw, 3, 5, 5), True)
    yield Case("B, N and W all 3", _inputs(draw, 3, 3, 3))
    memory, _, erase, add = _inputs(draw, 3, 5, 7)
    yield Case("weights at one position", (memory, one_hot(draw, 3, 5), erase, add))
    memory, weights, erase, add = _inputs(draw, 3, 5, 7)
    yield Case("erase vectors of zeros and ones", (memory, weights, (erase > 0.5).float(), add), True, edge=True)
    less = weights * drawn_gates(draw, 3)[:, None]
    yield Case("weights that sum to less than 1", (memory, less, erase, add), True, edge=True)
    yield Case("an empty memory", (0 * memory, weights, erase, add), True, edge=True)
    yield Case("a single position of width 1", _inputs(draw, 3, 1, 1), True, edge=True)
    yield Case("numbers near ±10,000", (memory * 1e4, weights, erase, add * 1e4), True, hazard=True)
    yield Case("200 positions", _inputs(draw, 2, 200, 3), True, edge=True)
    yield Case("float64 numbers", _inputs(draw, 3, 7, 5, torch.float64), True, edge=True)


@task.oracle
def _(memory, weights, erase, add):
    B, N, _ = memory.shape
    positions = [memory[b, n] + weights[b, n] * (add[b] - erase[b] * memory[b, n]) for b in range(B) for n in range(N)]
    return torch.stack(positions).view(memory.shape)


@task.steps
def _(memory, weights, erase, add):
    weights, erase, add = weights[:, :, None], erase[:, None], add[:, None]
    share = yield "the share that is erased", mul, weights, erase
    kept = yield "1 minus the share that is erased", sub, 1, share
    erased = yield "memory after erasing", mul, memory, kept
    added = yield "what is added", mul, weights, add
    written = yield "the new memory", plus, erased, added
    return written


# A right write, of which mistakes change one part. weights come as B×N×1, erase and add as B×1×W


def _kept(weights, erase):
    return 1 - weights * erase


def _join(memory, keep, added):
    return memory * keep + added


def _write(memory, weights, erase, add, keep=_kept, added=lambda weights, add: weights * add, join=_join):
    return join(memory, keep(weights, erase), added(weights, add))


def _shaped(memory, weights, erase, add):
    return memory, weights[:, :, None], erase[:, None], add[:, None]


def _mistake(name, sentence, given=lambda *args: args, shaped=_shaped, **parts):
    """Register a write that is right but for the parts that are given."""
    task.mistake(sentence, name)(lambda *args: _write(*shaped(*given(*args)), **parts))


# Erasing

_mistake(
    "keeps_what_it_should_erase",
    "You keep the share weight times erase of the memory, so positions with a weight of 0 are wiped and the others are kept. That share is what goes: multiply the memory by 1 minus it.",
    keep=lambda weights, erase: weights * erase,
)
_mistake(
    "nothing_erased",
    "Nothing is erased: you only add. Multiply the memory by 1 minus weight times erase first.",
    keep=lambda weights, erase: 1 + 0 * weights,
)
_mistake(
    "erased_everywhere",
    "You erase at all positions alike, also at those with a weight of 0. Multiply erase by the weights before you subtract it from 1.",
    keep=lambda weights, erase: 1 - erase,
)
_mistake(
    "erase_unused",
    "The erase vector has no effect: you erase each position by its weight, in all of its numbers. Multiply the weights by erase before you subtract them from 1.",
    keep=lambda weights, erase: 1 - weights,
)
_mistake(
    "erase_turned_round",
    "Your erase vector is the wrong way round: where it is 1 nothing is erased, and where it is 0 as much as the weight says. Use it as it is, without 1 minus.",
    keep=lambda weights, erase: 1 - weights * (1 - erase),
)
_mistake(
    "one_minus_each",
    "You multiply the memory by 1 minus the weight and by 1 minus erase, so a number goes where either of the two is 1. It should go only where both are: subtract their product from 1.",
    keep=lambda weights, erase: (1 - weights) * (1 - erase),
)
_mistake(
    "one_minus_one_after_the_other",
    "Brackets are missing, or are in the wrong place: you multiply by (1 - weights) * erase. Subtract the product of weights and erase from 1.",
    keep=lambda weights, erase: (1 - weights) * erase,
)
_mistake(
    "erase_adds",
    "Erasing makes the numbers larger: you multiply the memory by 1 plus weight times erase. Use 1 minus it.",
    keep=lambda weights, erase: 1 + weights * erase,
)
_mistake(
    "erased_twice",
    "You erase twice. Multiply the memory by 1 minus weight times erase once.",
    keep=lambda weights, erase: (1 - weights * erase) ** 2,
)


@task.mistake(
    "You subtract weight times erase from the memory, whatever stands there. Erasing takes away a share of it: multiply the memory by 1 minus weight times erase."
)
def erase_subtracted(memory, weights, erase, add):
    memory, weights, erase, add = _shaped(memory, weights, erase, add)
    return memory - weights * erase + weights * add


@task.mistake(
    "You add before you erase, so a part of what you have added is erased at once. Erase first, then add: the added part stands outside the product."
)
def added_before_erasing(memory, weights, erase, add):
    memory, weights, erase, add = _shaped(memory, weights, erase, add)
    return (memory + weights * add) * (1 - weights * erase)


# Adding

_mistake(
    "nothing_added",
    "You erase, but you add nothing. Add weight times add.",
    added=lambda weights, add: 0 * add,
)
_mistake(
    "added_everywhere",
    "You add the whole vector at every position, also at those with a weight of 0. Multiply it by the weights first.",
    added=lambda weights, add: add,
)
_mistake(
    "add_subtracted",
    "You subtract what should be added. The sign is plus.",
    added=lambda weights, add: -weights * add,
)
_mistake(
    "weights_added",
    "The add vector has no effect: you add the weights themselves. Multiply them by add.",
    added=lambda weights, add: weights + 0 * add,
)
_mistake(
    "tanh_of_add",
    "You pass the add vector through tanh. Its numbers may be of any size: use them as they are.",
    added=lambda weights, add: weights * add.tanh(),
)
_mistake(
    "added_once",
    "You add the sum of weight times add over the positions to every position. Each position gets its own weight times add.",
    added=lambda weights, add: (weights * add).sum(1, keepdim=True),
)


@task.mistake(
    "You add only as much as was erased: weight times erase times add. What is added does not depend on erase: it is weight times add."
)
def added_where_erased(memory, weights, erase, add):
    memory, weights, erase, add = _shaped(memory, weights, erase, add)
    return memory * (1 - weights * erase) + weights * erase * add


# What comes in

_mistake(
    "erase_and_add_exchanged",
    "You erase with the add vector and add the erase vector. The arguments come in the order memory, weights, erase, add.",
    given=lambda memory, weights, erase, add: (memory, weights, add, erase),
)
_mistake(
    "weights_unused",
    "The weights have no effect: you write to every position as if its weight were 1. Multiply erase and add by the weights.",
    given=lambda memory, weights, erase, add: (memory, torch.ones_like(weights), erase, add),
)
_mistake(
    "likeliest_place_only",
    "You write to the position with the largest weight, and to no other. Then no gradient reaches the weights: write to all positions, to each as much as its weight says.",
    given=lambda memory, weights, erase, add: (
        memory,
        torch.nn.functional.one_hot(weights.argmax(-1), weights.shape[-1]).to(weights.dtype),
        erase,
        add,
    ),
)
_mistake(
    "softmax_again",
    "You apply a softmax to the weights, which makes them nearly even. They come from one: use them as they are.",
    given=lambda memory, weights, erase, add: (memory, weights.softmax(-1), erase, add),
)
_mistake(
    "weights_turned_round",
    "You write to each position by 1 minus its weight. A position with a weight of 1 is the one to write to: use the weights as they are.",
    given=lambda memory, weights, erase, add: (memory, 1 - weights, erase, add),
)
_mistake(
    "sigmoid_of_erase",
    "You pass erase through a sigmoid. Its numbers lie between 0 and 1 as they come: use them as they are.",
    given=lambda memory, weights, erase, add: (memory, weights, erase.sigmoid(), add),
)
_mistake(
    "first_weights_for_all",
    "All rows of the batch write with the weights of the first one. Each has its own.",
    given=lambda memory, weights, erase, add: (memory, weights[:1].expand_as(weights), erase, add),
)
_mistake(
    "first_erase_for_all",
    "All rows of the batch use the erase vector of the first one. Each has its own.",
    given=lambda memory, weights, erase, add: (memory, weights, erase[:1].expand_as(erase), add),
)
_mistake(
    "first_add_for_all",
    "All rows of the batch use the add vector of the first one. Each has its own.",
    given=lambda memory, weights, erase, add: (memory, weights, erase, add[:1].expand_as(add)),
)
_mistake(
    "weights_along_the_width",
    "Your weights run along the numbers of a position, and erase and add along the positions. This runs without an error only where there are as many positions as numbers in each. Weights need their new axis at the end, `[:, :, None]`, erase and add in the middle, `[:, None]`.",
    shaped=lambda memory, weights, erase, add: (memory, weights[:, None], erase[:, :, None], add[:, :, None]),
)
_mistake(
    "vectors_along_the_places",
    "Your erase and add vectors meet the positions, where each should meet its own row. This runs without an error only where there are as many rows in the batch as positions, or a single row. Give them an axis of size 1 in the middle, `[:, None]`.",
    shaped=lambda memory, weights, erase, add: (memory, weights[:, :, None], erase, add),
)
_mistake(
    "axes_missing",
    "You multiply weights, B×N, by erase and add, B×W, number by number. This runs without an error only where there are as many positions as numbers in each. Every weight should meet every number of the vectors: `weights[:, :, None] * erase[:, None]` is B×N×W.",
    shaped=lambda *args: args,
)


def _by_products(product):
    return lambda memory, weights, erase, add: memory * (1 - product(weights, erase)) + product(weights, add)


task.mistake(
    "`weights @ erase.T` adds up products, and this runs without an error only where sizes happen to fit. Here nothing is added up: every weight is multiplied by every number of its row's vector. `weights[:, :, None] * erase[:, None]` is B×N×W.",
    "scalar_products",
)(_by_products(lambda weights, vectors: weights @ vectors.T))
task.mistake(
    "What the rows of the batch erase and add is added up, as `weights.T @ erase` does, and all memories get the same. Each row writes to its own memory: `weights[:, :, None] * erase[:, None]` is B×N×W.",
    "batch_added_up",
)(_by_products(lambda weights, vectors: weights.T @ vectors))


# The result

_mistake(
    "only_what_is_added",
    "You return only what is added. Return the whole memory: what is kept of it, plus what is added.",
    join=lambda memory, keep, added: added,
)
_mistake(
    "only_the_share_kept",
    "The memory has no effect: you return 1 minus weight times erase, plus what is added. Multiply the first part by the memory.",
    join=lambda memory, keep, added: keep + added,
)
_mistake(
    "memory_unchanged",
    "The memory comes back as it was. Return the new one: what is kept of it, plus what is added.",
    join=lambda memory, keep, added: memory,
)
_mistake(
    "added_to_the_old",
    "You add the new memory to the old one. Return the new one only.",
    join=lambda memory, keep, added: memory + _join(memory, keep, added),
)
_mistake(
    "multiplied_by_what_is_added",
    "You multiply by what should be added. Erasing is a product, and adding is a sum.",
    join=lambda memory, keep, added: memory * keep * added,
)
_mistake(
    "transposed",
    "Your result is B×W×N. Places come first and their numbers second, as in the memory that came in: B×N×W.",
    join=lambda memory, keep, added: _join(memory, keep, added).mT,
)


@task.mistake(
    "No gradient reaches the memory. What was written at earlier steps has to be learned through it: use the memory as it comes, without detach."
)
def memory_detached(memory, weights, erase, add):
    return _write(*_shaped(memory.detach(), weights, erase, add))
