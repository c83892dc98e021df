"""Task 17.shift: a head moves from where it is to the places beside."""

from operator import add, mul

import torch

from course_utils.checks.running.contract import Case
from course_utils.checks.task import Task, sizes
from course_utils.tasks.lesson_17._drawn import drawn_weights, one_hot
from course_utils.tasks.shares import USUAL

task = Task(
    "17.shift",
    "one place back, none, or one forward",
    arguments=("weights B×N", "kernel B×3"),
    result="shifted B×N",
    difficulty=3,
    importance=5,
    minutes=15,
    hints=(
        "A kernel of [0, 0, 1] moves everything one place forward: what stood at place 0 stands at place 1, and what stood at the last place comes round to place 0. A kernel in between mixes three copies of the weights: one moved back, one as it is, one moved forward.",
        "Take the weights [0.7, 0.2, 0.1] and the kernel [0.1, 0.3, 0.6]. Place 1 gets 0.1 times what stands at place 2, which moves back; 0.3 times its own 0.2; and 0.6 times the 0.7 of place 0, which moves forward: 0.01 + 0.06 + 0.42 = 0.49. Place 0 gets 0.02 + 0.21 + 0.06 = 0.29, the last part from place 2, which comes round the end. Place 2 gets 0.07 + 0.03 + 0.12 = 0.22.",
        "back, stay, forward = the three columns of kernel, each as B×1; torch.roll(weights, 1, dims=1) moves every row one place forward, with -1 one place back; add up back times the copy moved back, stay times the weights, and forward times the copy moved forward.",
    ),
    partial=USUAL,
)


@task.property
def no_weight_is_lost(case, value):
    """What moves comes to stand elsewhere."""
    weights, kernel = case.args
    off = (value.sum(1) - weights.sum(1) * kernel.sum(1)).abs() > 1e-4
    row = int(off.int().argmax())
    return (
        f"For the input “{case.name}” the weights of row {row} sum to {weights[row].sum():.4g}, and yours to {value[row].sum():.4g}. A kernel that sums to 1 moves weight and neither adds nor loses any: what leaves one end comes in at the other."
        if off.any()
        else None
    )


def _inputs(draw, B, N, dtype=torch.float32):
    """No two numbers of a kernel are equal, and none is 0."""
    return drawn_weights(draw, B, N, dtype), drawn_weights(draw, B, 3, dtype)


@task.cases
def _(draw):
    for size in sizes(B=3, places=7):
        places = size.places if size.full else size.places + 1  # on two places, back and forward are the same
        name = f"a batch of {size.B}, {places} places"
        yield Case(name, _inputs(draw, size.B, places), size.full)
    yield Case("a batch of 7, 5 places", _inputs(draw, 7, 5), True)
    yield Case("as many rows in the batch as places", _inputs(draw, 5, 5))
    yield Case("weights at one place", (one_hot(draw, 3, 5), drawn_weights(draw, 3, 3)))
    kernel = torch.eye(3)[draw.distinct(3, 0, 3)]
    yield Case("one shift only in each row", (drawn_weights(draw, 3, 5), kernel), True)
    yield Case("two places", _inputs(draw, 3, 2), True, edge=True)
    yield Case("a single place", _inputs(draw, 3, 1), True, edge=True)
    yield Case("200 places", _inputs(draw, 2, 200), True, edge=True)
    yield Case("float64 numbers", _inputs(draw, 3, 7, torch.float64), True, edge=True)


@task.oracle
def _(weights, kernel):
    N, shifted = weights.shape[1], []
    for row, moves in zip(weights, kernel, strict=True):
        shifted += [sum(moves[d + 1] * row[(i - d) % N] for d in (-1, 0, 1)) for i in range(N)]
    return torch.stack(shifted).view(weights.shape)


@task.steps
def _(weights, kernel):
    back, stay, forward = kernel[:, :, None].unbind(1)
    moved_back = yield "weights moved one place back", lambda weights: weights.roll(-1, 1), weights
    moved_forward = yield "weights moved one place forward", lambda weights: weights.roll(1, 1), weights
    part_back = yield "the part that moves back", mul, back, moved_back
    part_stay = yield "the part that stays", mul, stay, weights
    part_forward = yield "the part that moves forward", mul, forward, moved_forward
    both = yield "the parts that move back and stay, together", add, part_back, part_stay
    shifted = yield "all three parts together", add, both, part_forward
    return shifted


# A right shift, of which mistakes change one part


def _rolled(weights, by):
    return weights.roll(by, 1)


def _sum(parts):
    return sum(parts)


def _shifted(weights, kernel, move=_rolled, moves=(-1, 0, 1), kernels=lambda kernel: kernel, join=_sum):
    columns = kernels(kernel)[:, :, None].unbind(1)  # B 1 each
    return join([column * move(weights, by) for column, by in zip(columns, moves, strict=True)])


def _mistake(name, sentence, after=lambda shifted: shifted, **parts):
    """Register a shift that is right but for the parts that are given."""
    task.mistake(sentence, name)(lambda weights, kernel: after(_shifted(weights, kernel, **parts)))


# Which number of the kernel moves where

_mistake(
    "direction_reversed",
    "You move the weights the wrong way: a kernel of [0, 0, 1] takes them one place back. This is what conv1d gives, which does not turn the kernel round. What stands at place i should come to place i + 1: place i takes its part from place i - 1.",
    moves=(1, 0, -1),
)
_mistake(
    "counted_from_zero",
    "You take the kernel for the shifts 0, +1 and +2, so everything ends one place too far. Its three numbers are for the shifts -1, 0 and +1.",
    moves=(0, 1, 2),
)
_mistake(
    "counted_down_to_zero",
    "You take the kernel for the shifts -2, -1 and 0, so everything ends one place too early. Its three numbers are for the shifts -1, 0 and +1.",
    moves=(-2, -1, 0),
)
_mistake(
    "counted_back_from_zero",
    "You take the kernel for the shifts 0, -1 and -2. Its three numbers are for the shifts -1, 0 and +1, in this order.",
    moves=(0, -1, -2),
)
_mistake(
    "zero_first",
    "You take the kernel for the shifts 0, +1 and -1, as `kernel[:, i - j]` does, in which the index -1 is the last number. The three numbers are for the shifts -1, 0 and +1: add 1 to the index.",
    moves=(0, 1, -1),
)
_mistake(
    "two_places",
    "You move by two places. The kernel is for the shifts -1, 0 and +1.",
    moves=(-2, 0, 2),
)
_mistake(
    "forward_missing",
    "The part that moves forward is missing. Add the last number of the kernel times the weights moved one place forward.",
    join=lambda parts: parts[0] + parts[1],
)
_mistake(
    "back_missing",
    "The part that moves back is missing. Add the first number of the kernel times the weights moved one place back.",
    join=lambda parts: parts[1] + parts[2],
)
_mistake(
    "stay_missing",
    "The part that stays where it is is missing. Add the middle number of the kernel times the weights.",
    join=lambda parts: parts[0] + parts[2],
)
_mistake(
    "nothing_moves",
    "Your weights stay where they are. The first number of the kernel belongs to the weights moved one place back, the last one to the weights moved one place forward.",
    move=lambda weights, by: weights,
)


# The ends


def _with_zeros(weights, by):
    padded = torch.nn.functional.pad(weights, (1, 1))
    return padded.roll(by, 1)[:, 1:-1]


def _with_repeated_ends(weights, by):
    places = (torch.arange(weights.shape[1]) - by).clamp(0, weights.shape[1] - 1)
    return weights[:, places]


def _mirrored(weights, by):
    N = weights.shape[1]
    places = (torch.arange(N) - by).abs()
    return weights[:, torch.where(places >= N, (2 * N - 2 - places).clamp(min=0), places)]


_mistake(
    "lost_at_the_ends",
    "What moves beyond an end is lost: you put zeros there. The places form a circle: what leaves one end comes in at the other, as with torch.roll, or padding with mode “circular”.",
    move=_with_zeros,
)
_mistake(
    "ends_repeated",
    "Beyond an end you repeat the weight that stands there. The places form a circle: what leaves one end comes in at the other.",
    move=_with_repeated_ends,
)
_mistake(
    "ends_mirrored",
    "Beyond an end you mirror the weights. The places form a circle: what leaves one end comes in at the other.",
    move=_mirrored,
)
_mistake(
    "into_the_next_row",
    "What leaves the end of a row comes in at the next row of the batch: torch.roll without an axis takes all rows for one. Each row is a circle of its own: name the axis, `dims=1`.",
    move=lambda weights, by: weights.roll(by),
)
_mistake(
    "over_the_batch",
    "You move whole rows through the batch. Move the weights within their rows, along the places: axis 1.",
    move=lambda weights, by: weights.roll(by, 0),
)
_mistake(
    "reversed_and_lost",
    "Two things are wrong here, as conv1d with padding=1 gives them. The weights move the wrong way, since conv1d does not turn the kernel round: what stands at place i should come to place i + 1. And what moves beyond an end is lost, where it should come in at the other one.",
    move=_with_zeros,
    moves=(1, 0, -1),
)
_mistake(
    "zero_first_and_lost",
    "Two things are wrong here. You take the kernel for the shifts 0, +1 and -1, as `kernel[:, i - j]` does, in which the index -1 is the last number: add 1 to the index. And what moves beyond an end is lost, where it should come in at the other one.",
    move=_with_zeros,
    moves=(0, 1, -1),
)


def _every_place(weights, kernel, offset):
    """Every place gives to every other one, by a kernel that begins again after three places."""
    N = weights.shape[1]
    apart = (torch.arange(N)[:, None] - torch.arange(N) + offset) % 3  # i j
    return (kernel[:, apart] @ weights[:, :, None])[..., 0]


for _name, _offset in (("kernel_repeated", 1), ("kernel_repeated_from_zero", 0)):
    _index = "(i - j + 1) % 3" if _offset else "(i - j) % 3"
    task.mistake(
        f"Every place gets something from all places, since your kernel begins again after three numbers, as the index {_index} makes it. Only the place itself and its two neighbours give something: it is the places that form a circle, so count them modulo N, and leave out all shifts but -1, 0 and +1.",
        _name,
    )(lambda weights, kernel, offset=_offset: _every_place(weights, kernel, offset))


@task.mistake(
    "Your result has N + 2 places: those beyond the ends have become places of their own. They form a circle: add the first one to the last place, and the last one to the first place."
)
def longer(weights, kernel):
    pad = torch.nn.functional.pad
    columns = kernel[:, :, None].unbind(1)
    return sum(column * pad(weights, (left, 2 - left)) for left, column in enumerate(columns))


@task.mistake(
    "Your result has N - 2 places: you leave out the ends, which lack a neighbour on one side. The places form a circle, so put the last weight before the first one and the first one after the last one before you begin."
)
def shorter(weights, kernel):
    columns, N = kernel[:, :, None].unbind(1), weights.shape[1]
    return sum(column * weights[:, 2 - left : N - left] for left, column in enumerate(columns))


# The kernel


@task.mistake(
    "The numbers of the kernel meet the places, where each row should have its own. This runs without an error only where there are as many rows in the batch as places, or a single row. A column of the kernel needs a second axis of size 1: `kernel[:, 0, None]`, or `kernel[:, :1]`."
)
def kernel_along_the_places(weights, kernel):
    return kernel[:, 0] * weights.roll(-1, 1) + kernel[:, 1] * weights + kernel[:, 2] * weights.roll(1, 1)


_mistake(
    "first_kernel_for_all",
    "All rows of the batch use the first kernel. Each has its own.",
    kernels=lambda kernel: kernel[:1].expand_as(kernel),
)
_mistake(
    "mean_kernel",
    "All rows of the batch use the mean of the kernels. Each has its own.",
    kernels=lambda kernel: kernel.mean(0, keepdim=True).expand_as(kernel),
)
_mistake(
    "kernel_unused",
    "The kernel has no effect: you take the mean of the three copies. Weigh them by the three numbers of the kernel.",
    kernels=lambda kernel: 0 * kernel + 1 / 3,
)
_mistake(
    "kernel_of_ones",
    "You add up the three copies without the kernel. Weigh them by its three numbers.",
    kernels=lambda kernel: 0 * kernel + 1,
)
_mistake(
    "softmax_again",
    "You apply a softmax to the kernel, which makes the three shifts nearly equal. It sums to 1 as it comes: use it as it is.",
    kernels=lambda kernel: kernel.softmax(-1),
)
_mistake(
    "likeliest_shift_only",
    "You move everything by the likeliest shift. Then no gradient reaches the kernel, and it could not be learned. Take all three copies, weighed by the kernel.",
    kernels=lambda kernel: torch.nn.functional.one_hot(kernel.argmax(-1), 3).to(kernel.dtype),
)


# The sum

_mistake("multiplied", "You multiply the three parts. Add them up.", join=lambda parts: parts[0] * parts[1] * parts[2])
_mistake(
    "largest_part",
    "You take the largest of the three parts at each place. Add them up.",
    join=lambda parts: torch.stack(parts).amax(0),
)
_mistake(
    "mean_of_the_parts",
    "You take the mean of the three parts, so your weights sum to a third. Add them up.",
    join=lambda parts: torch.stack(parts).mean(0),
)
_mistake(
    "parts_side_by_side",
    "You return the three parts side by side, B×3×N. Add them up.",
    join=lambda parts: torch.stack(parts, 1),
)
_mistake(
    "softmax_of_the_result",
    "You apply a softmax to the result, which makes it nearly even. A kernel that sums to 1 loses no weight: return the sum as it is.",
    after=lambda shifted: shifted.softmax(-1),
)


@task.mistake(
    "You add the shifted weights to those that came in, so a row sums to 2. Return the shifted ones without the old ones."
)
def added_to_the_old(weights, kernel):
    return weights + _shifted(weights, kernel)


@task.mistake(
    "You write the new weights over the old ones as you go from place to place, so each place takes from a neighbour that has changed already. Write into a new tensor, and read from the weights as they came."
)
def overwritten_on_the_way(weights, kernel):
    columns, N = list(weights.unbind(1)), weights.shape[1]
    for i in range(N):
        neighbours = columns[(i + 1) % N], columns[i], columns[i - 1]
        columns[i] = sum(kernel[:, d] * neighbour for d, neighbour in enumerate(neighbours))
    return torch.stack(columns, 1)
