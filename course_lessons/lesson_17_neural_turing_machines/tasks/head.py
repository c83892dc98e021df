"""Task 17.head: all four steps from what a controller says to the weights of a head, for kernels of any width."""

from operator import add, mul, sub, truediv

import torch
import torch.nn.functional as F

from course_lessons.lesson_17_neural_turing_machines.tasks._drawn import drawn_gates, drawn_weights
from course_lessons.shared.partial_credit import USUAL
from course_lessons.shared.staged_cases import told_by_stages
from course_lessons.shared.weight_properties import no_weight_is_negative, rows_sum_to_one
from course_utils.checks.reference_trace import left_out
from course_utils.checks.running.contract import Case
from course_utils.checks.task import Task

task = Task(
    "17.head",
    "one head, with wider shifts",
    arguments=("memory B×N×W", "previous B×N", "key B×W", "strength B", "gate B", "kernel B×K", "gamma B"),
    result="weights B×N",
    difficulty=3,
    importance=5,
    minutes=20,
    hints=(
        "The lesson does this for kernels with three entries. With K entries, K odd, the middle one is for a shift of 0, the one before it for -1, the one after it for +1, and so on. Everything else is as in the lesson.",
        "Take the previous weights [1, 0, 0, 0, 0], a gate of 0, gamma 1, and the kernel [0, 0, 0.1, 0.2, 0.7] for the shifts -2 to +2. A tenth stays at position 0, two tenths move to position 1, and seven tenths to position 2: [0.1, 0.2, 0.7, 0, 0]. With gamma 2 the squares are 0.01, 0.04 and 0.49, and divided by their sum 0.54 they are 0.0185, 0.0741 and 0.9074.",
        "content = softmax over positions of strength times cosine; mixed = gate times content + (1 - gate) times previous; moved = sum over i from 0 to K - 1 of column i of kernel times mixed rolled by i - K // 2 along the positions; powers = moved to the power of gamma; return powers divided by their sum. The numbers of which each row has one need a last axis of size 1.",
    ),
    partial=USUAL,
)


task.property(rows_sum_to_one)
task.property(no_weight_is_negative)


def _inputs(draw, B, N, W, K, dtype=torch.float32):
    """No two numbers of a kernel are equal, no vector is zero, and the rows of a small batch have different gammas."""
    memory, key = draw.numbers(B, N, W, dtype=dtype) + 0.25, draw.numbers(B, W, dtype=dtype) + 0.125
    strength, gamma = draw.distinct(B, 3, 12 + B).to(dtype) / 2, draw.distinct(B, 5, 12 + B).to(dtype) / 4
    gate, kernel = drawn_gates(draw, B, dtype=dtype), drawn_weights(draw, B, K, dtype)
    return memory, drawn_weights(draw, B, N, dtype), key, strength, gate, kernel, gamma


STAGES = {  # which of gate, kernel and gamma have an effect, and what is said where this is wrong first
    "content alone": (
        (),
        "Here the gate is 1, the kernel moves nothing and gamma is 1. These are therefore the weights by content alone: look at the cosines, the strength and the softmax first and check that the kernel's middle entry leaves everything where it is.",
    ),
    "content and the previous weights": (
        ("gate",),
        "Here the kernel moves nothing and gamma is 1. With a gate of 1, everything is correct, so look at the gate first: what does it do with the previous weights?",
    ),
    "shifted weights": (
        ("gate", "kernel"),
        "Here gamma is 1. With a kernel that moves nothing, everything is correct, so look at the shift first.",
    ),
    "sharpened weights": (
        ("gate", "kernel", "gamma"),
        "With a gamma of 1, everything is correct, so look at the sharpening first: the powers, and what they are divided by.",
    ),
}
told_by_stages(task, {name: sentence for name, (_, sentence) in STAGES.items()})


def _without(gate, kernel, gamma, kept):
    """The three as drawn, or such that they have no effect."""
    still = torch.zeros_like(kernel)
    still[:, kernel.shape[1] // 2] = 1
    return (
        gate if "gate" in kept else torch.ones_like(gate),
        kernel if "kernel" in kept else still,
        gamma if "gamma" in kept else torch.ones_like(gamma),
    )


@task.cases
def _(draw):
    for name, (kept, _) in STAGES.items():
        *args, gate, kernel, gamma = _inputs(draw, 1, 3, 2, 3)
        yield Case(f"{name}, 3 positions of width 2", (*args, *_without(gate, kernel, gamma, kept)))
    for B, N, W, K in ((2, 3, 2, 1), (1, 4, 2, 3), (2, 5, 2, 3), (1, 6, 3, 5), (3, 7, 5, 5)):
        yield Case(f"a batch of {B}, {N} positions of width {W}, kernels of {K}", _inputs(draw, B, N, W, K), N == 7)
    yield Case("kernels of 7", _inputs(draw, 2, 11, 3, 7), True)
    yield Case("as many rows in the batch as positions", _inputs(draw, 5, 5, 3, 3))
    yield Case("as many positions as entries in each and in a kernel", _inputs(draw, 2, 5, 5, 5))
    args = _inputs(draw, 3, 7, 5, 3)
    yield Case("gates of 0", (*args[:4], 0 * args[4], *args[5:]), True)
    yield Case("fewer positions than entries in a kernel", _inputs(draw, 2, 3, 2, 5), edge=True)
    yield Case("fewer positions than a kernel moves to one side", _inputs(draw, 2, 2, 3, 7), edge=True)
    yield Case("a single position of width 1", _inputs(draw, 2, 1, 1, 3), edge=True)
    memory, *others = _inputs(draw, 3, 7, 5, 3)
    yield Case("strengths of 300", (memory, *others[:2], 300 + 0 * others[2], *others[3:]), hazard=True)
    yield Case("float64 numbers", _inputs(draw, 3, 7, 5, 5, torch.float64), True, hazard=True)


def _moves(mixed, kernel, axis=1):
    K = kernel.shape[1]
    return sum(kernel[:, [i]] * mixed.roll(i - K // 2, axis) for i in range(K))


def _total(powers):
    return powers.sum(1, keepdim=True)


@task.steps
def _(memory, previous, key, strength, gate, kernel, gamma):
    cosine = yield "the cosines", lambda memory, key: F.cosine_similarity(memory, key[:, None], dim=-1), memory, key
    scores = yield "the scores by content", mul, strength[:, None], cosine
    content = yield "the weights by content", lambda scores: scores.softmax(-1), scores
    new = yield "the part by content", mul, gate[:, None], content
    left = yield "the share of previous", sub, 1, gate[:, None]
    old = yield "the part of previous", mul, left, previous
    mixed = yield "the interpolated weights", add, new, old
    moved = yield "the shifted weights", _moves, mixed, kernel
    powers = yield "the powers", pow, moved, gamma[:, None]
    total = yield "the sum over positions", _total, powers
    weights = yield "the new weights", truediv, powers, total
    return weights


def _three(mixed, kernel):
    middle = kernel.shape[1] // 2
    columns = [i for i in (middle - 1, middle, middle + 1) if 0 <= i < kernel.shape[1]]
    return sum(kernel[:, [i]] * mixed.roll(i - middle, 1) for i in columns)


def _lost(mixed, kernel):
    half = kernel.shape[1] // 2
    return _moves(F.pad(mixed, (half, half)), kernel)[:, half : half + mixed.shape[1]]


def _sharpened(mixed, kernel, *, gamma):
    powers = mixed ** gamma[:, None]
    return _moves(powers / _total(powers), kernel)


task.changed_each(
    # The weights by content
    ("dot_product", "You compare by the dot product, so a position's weight depends on its length, not only on its direction. Divide by the length of the key and by the length of each position, which gives the cosine.", {"the cosines": lambda memory, key: (memory @ key[..., None])[..., 0]}),
    ("divided_by_strength", "You divide the cosines by the strength, so a larger strength makes the weights more uniform. It is not a temperature: multiply by it.", {"the scores by content": lambda strength, cosine: cosine / strength}),
    ("strength_unused", "The strength has no effect: multiply the cosines by it before the softmax.", {"the scores by content": lambda strength, cosine: cosine}),
    ("strength_after_the_softmax", "You multiply the softmax by the strength. Apply the strength before the softmax: the larger it is, the more weight the largest cosine gets.", {"the weights by content": lambda scores, *, strength: strength[:, None] * (scores / strength[:, None]).softmax(-1)}),
    ("no_softmax", "You use strength times cosine as weights: the softmax is missing.", {"the weights by content": left_out}),
    ("softmax_over_the_batch", "Your softmax runs over the rows of the batch. It runs over the positions of a memory, the last axis.", {"the weights by content": lambda scores: scores.softmax(0)}),
    # The gate
    ("both_as_they_are", "You add the weights by content and the previous ones without the gate. The gate says how much of each to use: g of content, 1 - g of the previous weights.", {"the part by content": lambda gate, content: content, "the part of previous": lambda left, previous: previous}),
    ("previous_as_they_are", "You use the previous weights in full. Their share is 1 - g, where g is the gate.", {"the share of previous": lambda one, gate: torch.ones_like(gate)}),
    ("multiplied", "You multiply the content part by the part from the previous weights. Add them.", {"the interpolated weights": mul}),
    ("gate_turned_round", "Your gate is the wrong way round: a gate of 1 should give the weights by content, and a gate of 0 the previous ones.", {"gate": lambda gate: 1 - gate}),
    ("content_only", "You leave out the gate and the previous weights, so the head cannot walk. Add gate times content and (1 minus gate) times previous.", {"gate": lambda gate: 1 + 0 * gate}),
    # The shift
    ("direction_reversed", "You shift the weights the wrong way, as conv1d does, which does not flip the kernel. The last entry of the kernel shifts weight forward, from position i to i + K // 2.", {"the shifted weights": lambda mixed, kernel: _moves(mixed, kernel.flip(1))}),
    ("no_shift", "The kernel has no effect: nothing is shifted. Each of its entries shifts the weights by a different amount, and the results are added up.", {"the shifted weights": left_out}),
    ("likeliest_shift_alone", "You shift the weights only by the amount of the largest entry. Every entry of the kernel shifts a share of them: add up these shares.", {"the shifted weights": lambda mixed, kernel: _moves(mixed, F.one_hot(kernel.argmax(1), kernel.shape[1]).to(kernel))}),
    ("first_kernel_for_all", "All rows of the batch are shifted by the first row's kernel. Each row has its own kernel.", {"kernel": lambda kernel: kernel[:1].expand_as(kernel)}),
    ("counted_from_zero", "You use the kernel for the shifts 0, 1, 2 and so on, so everything ends up too far forward. The middle entry is for a shift of 0.", {"the shifted weights": lambda mixed, kernel: _moves(mixed, kernel).roll(kernel.shape[1] // 2, 1)}),
    ("three_shifts_only", "You use only the shifts -1, 0 and +1. A kernel with K entries has shifts from -(K // 2) to K // 2: loop over its columns.", {"the shifted weights": _three}),
    ("lost_at_the_ends", "Weight that moves past an end is lost, because you put zeros there. The positions form a circle: what leaves at one end comes in at the other, as with torch.roll.", {"the shifted weights": _lost}),
    ("rolled_through_the_batch", "You roll whole rows through the batch. Roll the weights within their rows: specify the axis, `dims=1`.", {"the shifted weights": lambda mixed, kernel: _moves(mixed, kernel, 0)}),
    ("shifted_before_the_gate", "You shift only the weights by content and interpolate afterwards, so with a gate of 0 the head cannot move. Interpolate first, then shift.", {"the weights by content": lambda scores, *, kernel: _moves(scores.softmax(-1), kernel), "the shifted weights": left_out}),
    # Sharpening
    ("not_sharpened", "gamma has no effect. Raise each weight to the power of gamma, then divide by the sum: multiplying by gamma would be undone by the division.", {"the powers": lambda moved, gamma: moved}),
    ("powers_not_divided", "You return the powers, which sum to less than 1. Divide them by their sum over the positions.", {"the new weights": left_out}),
    ("one_sum_for_the_batch", "You divide by the sum over the whole batch. Each row has its own sum: `.sum(1, keepdim=True)`.", {"the sum over positions": lambda powers: powers.sum()}),
    ("base_and_exponent_exchanged", "You raise gamma to the power of the weights. It should be the other way round: each weight is raised to the power of gamma.", {"the powers": lambda moved, gamma: gamma**moved}),
    ("root_for_power", "You raise the weights to the power of 1/gamma, which makes them more uniform. Sharpening uses the power gamma itself.", {"the powers": lambda moved, gamma: moved ** (1 / gamma)}),
    ("first_gamma_for_all", "All rows of the batch are sharpened with the first row's gamma. Each row has its own gamma.", {"gamma": lambda gamma: gamma[:1].expand_as(gamma)}),
    ("softmax_for_sharpening", "You take the softmax of gamma times the weights. Sharpening raises the weights themselves to the power of gamma and divides by their sum.", {"the powers": lambda moved, gamma: (gamma * moved).exp()}),
    ("sharpened_before_the_shift", "You sharpen the interpolated weights and shift afterwards, so the blur from the shift remains. Shift first, then sharpen.", {"the shifted weights": _sharpened, "the powers": left_out, "the new weights": left_out}),
)  # fmt: skip
