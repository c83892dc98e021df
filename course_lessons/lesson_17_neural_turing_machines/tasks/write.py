"""Task 17.write: what a head erases from a memory, and what it adds to it."""

from operator import add as plus
from operator import mul, sub

import torch

from course_lessons.lesson_17_neural_turing_machines.tasks._drawn import drawn_gates, drawn_weights, one_hot
from course_lessons.shared.partial_credit import USUAL
from course_utils.checks.reference_trace import left_out
from course_utils.checks.running.contract import Case
from course_utils.checks.task import Task, sizes

task = Task(
    "17.write",
    "attention that writes",
    arguments=("memory B×N×W", "weights B×N", "erase B×W", "add B×W"),
    result="written B×N×W",
    difficulty=3,
    importance=5,
    minutes=15,
    hints=(
        "Follow one entry of the memory through the two lines, once with a weight of 0 and once with an erase vector of zeros. In both cases nothing should be erased: by what factor is the memory multiplied, and what should it be? Then ask what happens to the part that the first line adds, and which tensor `+=` and `*=` write to.",
        "Take a memory with the positions [4, 2] and [6, 8], the weights 0.5 and 0.25, the erase vector [1, 0] and the add vector [2, -4]. At the first position, the first entry keeps 1 - 0.5·1 = 0.5 of its 4, and 0.5·2 is added: 2 + 1 = 3. The second entry keeps all of its 2, since none of it is erased: 2 + 0.5·(-4) = 0. The second position becomes 6·0.75 + 0.25·2 = 5 and 8 + 0.25·(-4) = 7.",
        "Add a third axis to weights, B×N×1, and a middle axis to erase and add, B×1×W; their products are B×N×W. kept = memory times (1 minus the product of weights and erase); return kept plus the product of weights and add.",
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
    return f"For the input “{case.name}” position {position} of row {row} has a weight of 0, so it should stay unchanged. In your result it has changed."


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
    yield Case("as many positions as entries in each", _inputs(draw, 3, 5, 5), True)
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
    yield Case("float64 numbers", _inputs(draw, 3, 7, 5, torch.float64), True, hazard=True)


@task.steps
def _(memory, weights, erase, add):
    weights, erase, add = weights[:, :, None], erase[:, None], add[:, None]
    share = yield "the erased share", mul, weights, erase
    kept = yield "the share that stays", sub, 1, share
    erased = yield "memory after erasing", mul, memory, kept
    added = yield "what is added", mul, weights, add
    written = yield "the new memory", plus, erased, added
    return written


SHARE, ADDED = "the erased share", "what is added"
task.changed_each(
    # Erasing
    ("keeps_what_it_should_erase", "You keep the share weight times erase of the memory, so positions with a weight of 0 are wiped. That share is what should be erased: multiply the memory by 1 minus the share.", {SHARE: lambda weights, erase: 1 - weights * erase}),
    ("nothing_erased", "Nothing is erased: you only add. Multiply the memory by 1 minus weight times erase first.", {SHARE: lambda weights, erase: 0 * weights}),
    ("erased_everywhere", "You erase all positions equally, including the ones with a weight of 0. Multiply erase by the weights before you subtract it from 1.", {SHARE: lambda weights, erase: erase}),
    ("erase_unused", "The erase vector has no effect: you erase each position by its weight, in all its entries. Multiply the weights by erase before you subtract them from 1.", {SHARE: left_out}),
    ("erase_turned_round", "Your erase vector is the wrong way round: where it is 1 nothing is erased, and where it is 0 the weight alone decides. Use it as it is, without 1 minus.", {SHARE: lambda weights, erase: weights * (1 - erase)}),
    ("one_minus_each", "You multiply the memory by 1 minus the weight and by 1 minus erase, so an entry is erased if either of the two is 1. It should be erased only if both are: subtract their product from 1.", {SHARE: lambda weights, erase: 1 - (1 - weights) * (1 - erase)}),
    ("one_minus_one_after_the_other", "Brackets are missing, or are in the wrong place: you multiply by (1 - weights) * erase. Subtract the product of weights and erase from 1.", {SHARE: lambda weights, erase: 1 - (1 - weights) * erase}),
    ("erase_subtracted", "You subtract weight times erase from the memory, whatever it contains. Erasing removes a share of what is there: multiply the memory by 1 minus weight times erase.", {"memory after erasing": lambda memory, kept, *, done: memory - done[SHARE]}),
    # The version to mend, and one that is mended in part
    ("as_it_was", "This is still the version to fix: it adds before it erases, and its brackets multiply the memory by (1 - weights) * erase. Subtract the product of weights and erase from 1, and add afterwards.", {SHARE: lambda weights, erase: 1 - (1 - weights) * erase, "the new memory": lambda kept, added, *, done: kept + added * done["the share that stays"]}),
    # Adding
    ("added_everywhere", "You add the whole vector to every position, including the ones with a weight of 0. Multiply it by the weights first.", {ADDED: lambda weights, add: add}),
    ("added_where_erased", "You add only as much as was erased: weight times erase times add. The added part does not depend on erase: it is weight times add.", {ADDED: lambda weights, add, *, done: done[SHARE] * add}),
    ("added_before_erasing", "You add before you erase, so part of what you have added is erased at once. Erase first, then add: the added part stays outside the product.", {"the new memory": lambda kept, added, *, done: kept + added * done["the share that stays"]}),
    # What comes in
    ("weights_unused", "The weights have no effect: you write to every position as if its weight were 1. Multiply erase and add by the weights.", {"weights": torch.ones_like}),
    ("likeliest_place_only", "You write only to the position with the largest weight. Then no gradient reaches the weights: write to every position in proportion to its weight.", {"weights": lambda weights: torch.nn.functional.one_hot(weights.argmax(-1), weights.shape[-1]).to(weights.dtype)}),
    ("softmax_again", "You apply a softmax to the weights, which makes them more uniform. They are weights already: use them as they are.", {"weights": lambda weights: weights.softmax(-1)}),
    ("weights_turned_round", "You write to each position by 1 minus its weight. A position with a weight of 1 is the one to write to: use the weights as they are.", {"weights": lambda weights: 1 - weights}),
    ("first_weights_for_all", "All rows of the batch write with the first row's weights. Each row has its own weights.", {"weights": lambda weights: weights[:1].expand_as(weights)}),
    ("weights_along_the_width", "Your weights run along the entries of a position, and erase and add along the positions. This runs without an error only if there are as many positions as each has entries. Weights need their new axis at the end, `[:, :, None]`, erase and add in the middle, `[:, None]`.", dict.fromkeys((SHARE, ADDED), lambda weights, vectors: weights.mT * vectors.mT)),
    ("vectors_along_the_places", "Your erase and add vectors are lined up with the positions instead of with their own rows. This runs without an error only if there are as many rows in the batch as positions, or a single row. Add an axis of size 1 in the middle, `[:, None]`.", dict.fromkeys((SHARE, ADDED), lambda weights, vectors: weights * vectors[:, 0])),
    ("axes_missing", "You multiply weights, B×N, by erase and add, B×W, entry by entry. This runs without an error only if there are as many positions as each has entries. Every weight should be multiplied by every entry of the vectors: `weights[:, :, None] * erase[:, None]` is B×N×W.", dict.fromkeys((SHARE, ADDED), lambda weights, vectors: weights[..., 0] * vectors[:, 0])),
    ("scalar_products", "`weights @ erase.T` adds up products, and this runs without an error only if the sizes happen to match. Here nothing is added up: every weight is multiplied by every entry of its row's vector. `weights[:, :, None] * erase[:, None]` is B×N×W.", dict.fromkeys((SHARE, ADDED), lambda weights, vectors: weights[..., 0] @ vectors[:, 0].T)),
    ("batch_added_up", "What the rows of the batch erase and add is summed, as in `weights.T @ erase`, and all memories are changed in the same way. Each row writes to its own memory: `weights[:, :, None] * erase[:, None]` is B×N×W.", dict.fromkeys((SHARE, ADDED), lambda weights, vectors: weights[..., 0].T @ vectors[:, 0])),
)  # fmt: skip
