"""Task 19.causal_convolution: each place reads itself and one place before it (Mishra et al. 2018, section 3)."""

from operator import add, matmul

import torch
import torch.nn.functional as F

from course_utils.checks.running.contract import Case
from course_utils.checks.task import Task, sizes
from course_utils.tasks.lesson_19._places import by_places, convolved, drawn_weight, later
from course_utils.tasks.shares import USUAL

task = Task(
    "19.causal_convolution",
    "a convolution that sees no later place",
    arguments=("x B×T×D", "weight F×D×2", "bias F", "dilation"),
    result="convolved B×T×F",
    difficulty=3,
    importance=5,
    minutes=15,
    hints=(
        "Each place makes its numbers from two vectors: its own, and the one that stands `dilation` places before it. For the first places there is no such vector, and zeros stand in for it. So put `dilation` zeros before the sequence, and none after it.",
        "Take one feature, the numbers 1, 2, 4, 8, a weight of 10 for the place before (weight[..., 0]), a weight of 1 for the place itself (weight[..., 1]), a bias of 0.5 and a dilation of 2. Before places 0 and 1 there is nothing: they give 1 + 0.5 = 1.5 and 2 + 0.5 = 2.5. Place 2 sees the 1 at place 0: 10·1 + 4 + 0.5 = 14.5. Place 3 sees the 2 at place 1: 10·2 + 8 + 0.5 = 28.5.",
        "padded = `dilation` rows of zeros, followed by x: B×(dilation + T)×D; past = the first T rows of padded; return past times weight[..., 0] transposed, plus x times weight[..., 1] transposed, plus bias. With F.conv1d, which wants the time axis last: transpose padded, convolve without further padding, and transpose back.",
    ),
    partial=USUAL,
)


@task.property
def the_first_place_has_nothing_before_it(case, value):
    """It sees only itself."""
    x, weight, bias, _ = case.args
    off = (value[:, 0] - x[:, 0] @ weight[..., 1].T - bias).abs() > 1e-3 * (1 + value[:, 0].abs())
    return (
        f"Even place 0 is wrong, for the input “{case.name}”. Nothing stands before it, so it should be weight[..., 1] times its own vector, plus the bias."
        if off.any()
        else None
    )


def _inputs(draw, B, T, D, F, dilation, dtype=torch.float32):
    return draw.numbers(B, T, D, dtype=dtype) + 0.125, *drawn_weight(draw, F, D, dtype), dilation


@task.cases
def _(draw):
    for size, dilation in zip(sizes(B=2, T=11, D=3, F=5), (1, 1, 2, 1, 2, 3), strict=True):
        B, T = size.B, size.T if size.full else size.T + 3
        name = f"{'1 sequence' if B == 1 else f'{B} sequences'} of {T} places, D = {size.D}, F = {size.F}, dilation {dilation}"
        yield Case(name, _inputs(draw, B, T, size.D, size.F, dilation), size.full)
    yield Case("a dilation of 4", _inputs(draw, 3, 11, 2, 3, 4), True)
    yield Case("as many features going in as coming out", _inputs(draw, 2, 7, 3, 3, 2))
    yield Case("as many places as features going in", _inputs(draw, 2, 5, 5, 3, 2))
    yield Case("as many places as features coming out", _inputs(draw, 2, 5, 3, 5, 2))
    yield Case("as many sequences as places", _inputs(draw, 5, 5, 2, 3, 1))
    yield Case("B, T, D and F all 3", _inputs(draw, 3, 3, 3, 3, 1))
    yield Case("a single place, one feature", _inputs(draw, 1, 1, 1, 1, 1), True, edge=True)
    yield Case("a dilation as large as the number of places", _inputs(draw, 2, 5, 3, 2, 5), True, edge=True)
    yield Case("a dilation larger than the number of places", _inputs(draw, 2, 3, 2, 3, 8), True, edge=True)
    yield Case("only the last place sees another one", _inputs(draw, 2, 5, 3, 2, 4), True, edge=True)
    x, *others = _inputs(draw, 2, 7, 3, 5, 2)
    yield Case("numbers of ±10,000", (1e4 * x, *others), True, hazard=True)
    yield Case("200 places, dilation 64", _inputs(draw, 2, 200, 3, 2, 64), True, edge=True)
    yield Case("float64 numbers", _inputs(draw, 2, 7, 3, 5, 2, torch.float64), True, edge=True)


task.oracle(by_places)


@task.steps
def _(x, weight, bias, dilation):
    past = yield "what stands `dilation` places before each", later, x, dilation
    of_past = yield "the part of the place before", matmul, past, weight[..., 0].mT
    of_now = yield "the part of the place itself", matmul, x, weight[..., 1].mT
    both = yield "the sum of both parts", add, of_past, of_now
    total = yield "the sum of both products and bias", add, both, bias
    return total


def _taps(weight):
    """For the place before, and for the place itself."""
    return weight[..., 0], weight[..., 1]


def _sum(of_past, of_now, bias):
    return of_past + of_now + bias


def _convolved(x, weight, bias, dilation, before=later, now=lambda x, dilation: x, taps=_taps, join=_sum):
    of_past, of_now = taps(weight)
    return join(before(x, dilation) @ of_past.mT, now(x, dilation) @ of_now.mT, bias)


def _mistake(name, sentence, **parts):
    """Register a convolution that is right but for the parts that are given."""
    task.mistake(sentence, name)(lambda x, weight, bias, dilation: _convolved(x, weight, bias, dilation, **parts))


def _padded(left, right):
    """What a convolution sees that has so many zeros on either side, left(dilation) and right(dilation): (before, now)."""

    def padded(x, dilation):
        return F.pad(x, (0, 0, left(dilation), right(dilation)))

    return {
        "before": lambda x, dilation: padded(x, dilation)[:, :-dilation],
        "now": lambda x, dilation: padded(x, dilation)[:, dilation:],
    }


def _earlier(x, by):
    """x moved the other way: each place gets what stands after it."""
    return F.pad(x, (0, 0, 0, by))[:, by:]


# Where zeros stand

_mistake(
    "looks_ahead",
    "You take the vector that comes `dilation` places later instead of the one that comes `dilation` places before. Put the zeros before the sequence, not after it: no place may see a later one.",
    before=_earlier,
)
_mistake(
    "wrong_end_cut_off",
    "Every place sees a later one: with zeros on both sides, you cut off the beginning of the result, or you put the zeros after the sequence. Put `dilation` zeros before it only; or, with zeros on both sides, cut off the last `dilation` places.",
    **_padded(lambda d: 0, lambda d: d),
)
_mistake(
    "zeros_on_both_sides",
    "Your result is `dilation` places too long, as with padding=dilation, which puts zeros on both sides. Put them before the sequence only, or cut off the last `dilation` places of the result.",
    **_padded(lambda d: d, lambda d: d),
)
_mistake(
    "no_zeros",
    "Your result is `dilation` places too short: without padding, a convolution leaves out the places that have nothing before them. Put `dilation` zeros before the sequence.",
    **_padded(lambda d: 0, lambda d: 0),
)
_mistake(
    "one_zero_only",
    "You put a single zero before the sequence, which is enough only for a dilation of 1. The two places are `dilation` steps apart, so you need that many zeros.",
    **_padded(lambda d: 1, lambda d: 0),
)
_mistake(
    "padding_same",
    "You share out the zeros between both sides, as padding='same' does, and then places see later ones. Put all `dilation` zeros before the sequence.",
    **_padded(lambda d: d // 2, lambda d: d - d // 2),
)
_mistake(
    "comes_round_the_end",
    "The first places see the end of the sequence: torch.roll brings it round, and so does a negative index such as x[:, t - dilation] for a small t. Nothing stands before the start: take zeros there.",
    before=lambda x, dilation: x.roll(dilation, 1),
)
_mistake(
    "first_place_repeated",
    "For the first places, which have nothing `dilation` places before them, you take place 0. Take zeros there.",
    before=lambda x, dilation: x[:, (torch.arange(x.shape[1]) - dilation).clamp(min=0)],
)
_mistake(
    "itself_where_nothing_is_before",
    "For the first places, which have nothing `dilation` places before them, you take their own vectors a second time. Take zeros there.",
    before=lambda x, dilation: torch.cat([x[:, :dilation], x[:, : max(0, x.shape[1] - dilation)]], 1),
)


@task.mistake(
    "The first places are zeros in your result, as if they had nothing to say. They have nothing before them, but they still see themselves: their own part and the bias belong there."
)
def first_places_left_out(x, weight, bias, dilation):
    return convolved(x, weight, bias, dilation) * (torch.arange(x.shape[1]) >= dilation)[:, None]


_mistake(
    "not_before_place_dilation",
    "Place `dilation` sees only itself, though place 0 stands `dilation` places before it. If you ask whether t - dilation is above 0, ask whether it is 0 or above.",
    before=lambda x, dilation: later(x, dilation) * (torch.arange(x.shape[1]) != dilation)[:, None],
)
_mistake(
    "dilation_not_passed_on",
    "The zeros are right, but the convolution has no dilation: it adds up two neighbours of the padded sequence, and its result is `dilation` - 1 places too long. Call F.conv1d with dilation=dilation.",
    before=lambda x, dilation: F.pad(x, (0, 0, dilation, 0))[:, :-1],
    now=lambda x, dilation: F.pad(x, (0, 0, dilation, 0))[:, 1:],
)
_mistake(
    "dilation_not_passed_on_and_cut",
    "The zeros are right, but the convolution has no dilation: it adds up two neighbours of the padded sequence, so each result comes too late. Call F.conv1d with dilation=dilation; then nothing is to be cut off.",
    before=lambda x, dilation: later(x, dilation),
    now=lambda x, dilation: later(x, dilation - 1),
)

# How far apart

_mistake(
    "dilation_left_out",
    "The dilation has no effect: each place sees the one right before it. The other vector stands `dilation` places before.",
    before=lambda x, dilation: later(x, 1),
)
_mistake(
    "one_place_too_far",
    "You look back one place too far, as if `dilation` places lay in between. With a dilation of 1 a place sees the one right before it, x_(t - 1).",
    before=lambda x, dilation: later(x, dilation + 1),
)
_mistake(
    "one_place_too_near",
    "You do not look back far enough: one place is missing. With a dilation of 1 a place sees the one right before it, x_(t - 1), and not itself twice.",
    before=lambda x, dilation: later(x, dilation - 1),
)
_mistake(
    "two_to_the_dilation",
    "You look back 2 to the power of `dilation` places. The argument is the dilation itself, and not the number of the layer: look back `dilation` places.",
    before=lambda x, dilation: later(x, 2**dilation),
)


@task.mistake(
    "Your result has fewer places, since you use the dilation as a stride. A stride leaves places out; a dilation sets the two weights apart, and every place has a result: F.conv1d(…, dilation=dilation)."
)
def as_a_stride(x, weight, bias, dilation):
    return F.conv1d(F.pad(x.mT, (dilation, 0)), weight, bias, stride=dilation).mT


# Which axis

_mistake(
    "moved_along_the_batch",
    "You look back along the batch, so a sequence sees another one. The time axis is axis 1.",
    before=lambda x, dilation: F.pad(x, (0, 0, 0, 0, dilation, 0))[: len(x)],
)
_mistake(
    "moved_along_the_features",
    "You look back along the features: F.pad(x, (dilation, 0)) puts its zeros on the last axis. The time axis is axis 1: F.pad(x, (0, 0, dilation, 0)).",
    before=lambda x, dilation: F.pad(x, (dilation, 0))[..., : x.shape[2]],
)


@task.mistake("Your result is B×F×T, as F.conv1d gives it. Exchange its last two axes: B×T×F is asked for.")
def left_as_conv1d_gives_it(x, weight, bias, dilation):
    return convolved(x, weight, bias, dilation).mT


@task.mistake(
    "Before the convolution you cut x anew into B×D×T: `view` and `reshape` leave the numbers in their order, so the rows no longer hold one feature each. Exchange the two axes, with `.mT` or `transpose(1, 2)`."
)
def x_cut_anew(x, weight, bias, dilation):
    B, T, D = x.shape
    return convolved(x.reshape(B, D, T).mT, weight, bias, dilation)


@task.mistake(
    "You cut the result B×F×T anew into B×T×F: `view` and `reshape` leave the numbers in their order, and places get mixed up. Exchange the two axes, with `.mT` or `transpose(1, 2)`."
)
def result_cut_anew(x, weight, bias, dilation):
    right = convolved(x, weight, bias, dilation)
    return right.mT.reshape(right.shape)


@task.mistake(
    "You convolve over the features: F.conv1d runs over the last axis, so it takes T for the number of features. This runs without an error only if T and D are the same. Exchange the two axes first: x.mT is B×D×T."
)
def over_the_features(x, weight, bias, dilation):
    padded = F.pad(x, (dilation, 0))
    return F.conv1d(padded, weight, bias, dilation=dilation).mT


# Weights and bias

_mistake(
    "taps_exchanged",
    "The two weights are exchanged. weight[..., 1] meets the place itself, and weight[..., 0] the one before it.",
    taps=lambda weight: (weight[..., 1], weight[..., 0]),
)
_mistake(
    "weight_transposed",
    "You use the weight as if it were D×F×2. It is F×D×2: the first axis is for the features that come out. This runs without an error only if there are as many of both.",
    taps=lambda weight: (weight[..., 0].mT, weight[..., 1].mT),
)
_mistake(
    "first_tap_for_both",
    "Both places meet weight[..., 0]. The place itself meets weight[..., 1].",
    taps=lambda weight: (weight[..., 0], weight[..., 0]),
)
_mistake(
    "last_tap_for_both",
    "Both places meet weight[..., 1]. The place before meets weight[..., 0].",
    taps=lambda weight: (weight[..., 1], weight[..., 1]),
)
_mistake(
    "past_missing",
    "Each place sees only itself. Add the part of the vector that stands `dilation` places before: weight[..., 0] times that.",
    join=lambda of_past, of_now, bias: of_now + bias,
)
_mistake(
    "place_itself_missing",
    "Each place sees only the one before it. Add the part of the place itself: weight[..., 1] times its own vector.",
    join=lambda of_past, of_now, bias: of_past + bias,
)
_mistake(
    "mean_of_both",
    "You take the mean of the two parts. Add them up.",
    join=lambda of_past, of_now, bias: (of_past + of_now) / 2 + bias,
)
_mistake(
    "past_subtracted",
    "You subtract the part of the place before. Add it.",
    join=lambda of_past, of_now, bias: of_now - of_past + bias,
)
_mistake(
    "bias_missing",
    "The bias is missing. Add it at every place.",
    join=lambda of_past, of_now, bias: of_past + of_now,
)
_mistake(
    "bias_twice",
    "The bias is added twice, once with each of the two parts. Add it once.",
    join=lambda of_past, of_now, bias: of_past + of_now + 2 * bias,
)
_mistake(
    "bias_subtracted",
    "You subtract the bias. Add it.",
    join=lambda of_past, of_now, bias: of_past + of_now - bias,
)
_mistake(
    "tanh_at_the_end",
    "You take the tanh at the end. The convolution itself is linear; its activation comes in 19.dense_block.",
    join=lambda of_past, of_now, bias: _sum(of_past, of_now, bias).tanh(),
)
_mistake(
    "relu_at_the_end",
    "You take a ReLU at the end. The convolution itself is linear: leave the numbers below 0 as they are.",
    join=lambda of_past, of_now, bias: _sum(of_past, of_now, bias).relu(),
)


# Gradients, and what came in


@task.mistake(
    "The numbers are right, but no gradient reaches x, so layers before this one would never learn. Leave out `detach` and `no_grad`."
)
def x_cut_off(x, weight, bias, dilation):
    return convolved(x.detach(), weight, bias, dilation)


@task.mistake(
    "The numbers are right, but the part of the place before passes no gradient to x. Copy numbers into place without `.data` and `detach`, for instance with F.pad or torch.cat."
)
def past_cut_off(x, weight, bias, dilation):
    return _convolved(x, weight, bias, dilation, before=lambda x, dilation: later(x.detach(), dilation))


@task.mistake(
    "The numbers are right, but no gradient reaches weight and bias, so this layer would never learn. If you put them into a torch.nn.Conv1d, it makes parameters of its own: call F.conv1d with them, which does not."
)
def weights_cut_off(x, weight, bias, dilation):
    return convolved(x, weight.detach(), bias.detach(), dilation)


@task.mistake(
    "The numbers are right, but you write into the x that came in, and whoever uses it later finds it moved. Work on a copy: F.pad and torch.cat make one, and so does x.clone()."
)
def written_into_x(x, weight, bias, dilation):
    right = convolved(x, weight, bias, dilation)
    with torch.no_grad():
        x.copy_(later(x, dilation))
    return right
