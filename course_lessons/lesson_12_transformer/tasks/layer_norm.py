"""Task 12.layer_norm: each vector shifted to mean 0 and scaled to variance 1, then given a gain and a bias."""

from operator import add, mul, sub, truediv

import torch

from course_lessons.shared.partial_credit import USUAL
from course_utils.checks.reference_trace import left_out
from course_utils.checks.running.contract import Case
from course_utils.checks.task import Task

task = Task(
    "12.layer_norm",
    "each vector with mean 0 and variance 1",
    arguments=("x …×D", "gain D", "bias D", "eps"),
    result="y …×D",
    difficulty=2,
    importance=4,
    minutes=15,
    hints=(
        "Take the symptoms one by one. Over which numbers do `x.mean()` and `x.std()` run, if x holds several words? By what does `std` divide the sum of the squares unless told otherwise, and by what does the lesson's norm divide it? And where the variance is 0, how does the root of (variance + eps) compare with the root of the variance, plus eps?",
        (
            "Take the vector [1, 2, 6], the gain [1, 2, 1], the bias [0, 0, 5] and eps = 0.3333. The mean is 3, and the vector minus its mean is [-2, -1, 3]. The variance is (4 + 1 + 9) / 3 = 4.6667: divided by D = 3, not by 2. With eps it is 5, and its root is 2.2361. "
            "Divided by it, the vector is [-0.8944, -0.4472, 1.3416]. Times the gain plus the bias: [-0.8944, -0.8944, 6.3416]."
        ),
        "centred = x minus the mean over its last axis, which is kept; variance = the mean of the squares of centred over the last axis, which is kept; divide centred by the root of (variance + eps); times gain; plus bias.",
    ),
    partial=USUAL,
)


@task.property
def the_bias_is_the_centre(case, value):
    """Without gain and bias, the numbers of each vector add up to 0."""
    _, gain, bias, _ = case.args
    if (gain.abs() < 0.1).any():
        return None
    sums = ((value - bias) / gain).double().sum(-1)
    worst = sums.abs().max().item()
    return (
        f"Subtract the bias from each vector and divide by the gain: its entries should add up to 0, but one of yours adds up to {worst:.4g}."
        if worst > 1e-2
        else None
    )


def _inputs(draw, shape, eps, dtype=torch.float32):
    D = shape[-1]
    x = draw.numbers(*shape, dtype=dtype) * 1.5
    x = x + torch.arange(D) / 4 + draw.whole(1, 4, 1).to(dtype)  # a mean away from 0, no vector of equal numbers
    gain = (draw.whole(1, 5, D) * (1 - 2 * draw.whole(0, 2, D))).to(dtype) / 2
    return x, gain, draw.whole(-4, 5, D).to(dtype) / 2 + 0.25, eps


@task.cases
def _(draw):
    yield Case("one sentence of 2 words of width 3", _inputs(draw, (1, 2, 3), 1e-5))
    yield Case("the same with eps = 0.5", _inputs(draw, (1, 2, 3), 0.5))
    for shape in ((2, 2, 3), (1, 3, 4), (1, 4, 3), (2, 5, 7)):
        eps = float(draw.whole(1, 8, 1)) / 8
        name = f"sentences, words and width: {', '.join(map(str, shape))}, with eps = {eps:g}"
        yield Case(name, _inputs(draw, shape, eps), shape == (2, 5, 7))
    yield Case("eps = 1e-5, as PyTorch has it", _inputs(draw, (2, 3, 5), 1e-5), True)
    yield Case("as many sentences and words as the width", _inputs(draw, (3, 3, 3), 0.125))
    yield Case("words without sentences, T×D", _inputs(draw, (3, 5), 0.125), edge=True)
    yield Case("a single vector", _inputs(draw, (5,), 0.125), True, edge=True)
    yield Case("with an axis for heads, B×H×T×D", _inputs(draw, (2, 3, 4, 5), 0.125), edge=True)
    x, *rest = _inputs(draw, (2, 3, 5), 0.125)
    x[1, 1] = 2.0
    yield Case("a vector whose entries are all equal", (x, *rest), True, edge=True)
    x, gain, bias, _ = _inputs(draw, (2, 3, 5), 1e-5)
    yield Case("vectors whose entries differ little", (x / 128, gain, bias, 1e-5), True, edge=True)
    yield Case("float64 numbers", _inputs(draw, (2, 3, 5), 0.125, torch.float64), True, hazard=True)
    x, gain, bias, _ = _inputs(draw, (2, 3, 5), 1e-5)
    yield Case("numbers spread over ±10,000", (10_000 * (x - 3), gain, bias, 1e-5), True, hazard=True)
    x, gain, bias, _ = _inputs(draw, (2, 3, 5), 1e-5)
    yield Case("numbers near 8192 that differ by about 1", ((x * 4).round() / 4 + 8192, gain, bias, 1e-5), hazard=True)


@task.steps
def _(x, gain, bias, eps):
    mean = yield "the mean of each vector", lambda x: x.mean(-1, keepdim=True), x
    centred = yield "the vectors minus their means", sub, x, mean
    squares = yield "the squared differences", torch.square, centred
    variance = yield "the variance of each vector", lambda squares: squares.mean(-1, keepdim=True), squares
    total = yield "the variance plus eps", add, variance, eps
    root = yield "the spread of each vector", torch.sqrt, total
    normal = yield "the normalised vectors", truediv, centred, root
    scaled = yield "the scaled vectors", mul, normal, gain
    y = yield "the vectors with the bias", add, scaled, bias
    return y


MEAN, CENTRED, VARIANCE = "the mean of each vector", "the vectors minus their means", "the variance of each vector"
TOTAL, ROOT, NORMAL = "the variance plus eps", "the spread of each vector", "the normalised vectors"
SCALED, SHIFTED = "the scaled vectors", "the vectors with the bias"

# The variance and its root

UNBIASED = {VARIANCE: lambda squares: squares.sum(-1, keepdim=True) / (squares.shape[-1] - 1)}
EPS_OUTSIDE = {TOTAL: left_out, ROOT: lambda variance, *, eps: variance.sqrt() + eps}
task.changed(
    "unbiased_variance",
    "The variance is divided by D - 1. A layer norm divides by D: x.var(…, unbiased=False), or the mean of the squares. (PyTorch's `var` and `std` divide by D - 1 unless told otherwise.)",
    UNBIASED,
)
task.changed(
    "eps_outside",
    "You add eps to the root of the variance. It belongs inside the root: the root of (variance + eps).",
    EPS_OUTSIDE,
)
task.changed(
    "unbiased_and_eps_outside",
    "Two things are different here. The variance is divided by D - 1, as PyTorch's `var` and `std` do unless told otherwise, whereas a layer norm divides by D. And eps is added to the root, but it belongs inside: the root of (variance + eps).",
    UNBIASED | EPS_OUTSIDE,
)
task.changed_each(
    ("eps_forgotten", "eps is missing: add it to the variance, before the root.", {TOTAL: left_out}),
    ("eps_fixed", "You always use 1e-5 for eps. It is the fourth argument.", {"eps": lambda eps: 1e-5}),
    ("eps_squared", "You add the square of eps to the variance. Add eps as it is.", {"eps": lambda eps: eps**2}),
    ("root_forgotten", "You divide by the variance. Divide by its root, with eps inside the root.", {ROOT: left_out}),
    ("mean_not_subtracted", "The mean is not subtracted before you divide: the vectors keep their centre.", {NORMAL: lambda centred, root, *, x: x / root}),
    ("not_divided", "You subtract the mean but do not divide by the root of the variance.", {NORMAL: left_out}),
    ("gain_and_bias_forgotten", "The gain and the bias are missing: multiply the normalised vectors by the gain and add the bias.", {SCALED: left_out, SHIFTED: left_out}),
    ("gain_forgotten", "The gain is missing: multiply the normalised vectors by it before you add the bias.", {SCALED: left_out}),
    ("bias_forgotten", "The bias is missing: add it at the end.", {SHIFTED: left_out}),
    ("bias_before_the_gain", "The bias is added before the multiplication by the gain. Multiply by the gain first, then add the bias.", {SCALED: lambda normal, gain, *, bias: (normal + bias) * gain, SHIFTED: left_out}),
    ("gain_and_bias_exchanged", "You have swapped the gain and the bias: multiply by the gain, then add the bias.", {"gain": lambda gain, *, bias: bias, "bias": lambda bias, *, gain: gain}),
    ("rms_norm", "You divide by the root of the mean square, without subtracting the mean. That is an RMS norm, which later models use; a layer norm subtracts the mean first.", {CENTRED: left_out}),
)  # fmt: skip
task.changed(
    "difference_of_squares",
    "If a vector's entries are large and close together, your variance is wrong: you subtract the square of the mean from the mean of the squares, two nearly equal numbers of which float32 keeps only seven digits. Subtract the mean first and take the mean of the squares of the differences.",
    {VARIANCE: lambda squares, *, x, done: x.square().mean(-1, keepdim=True) - done[MEAN].square()},
)

# Over what they run

ITS_OWN = "Each {} has its own mean and variance, over its features: `dim=-1`."
LAST = "They should run over the last axis, the features of one vector: `dim=-1`."
for name, sentence, axes in (
    ("over_words", f"The mean and the variance run over the axis before the last, over the words of a sentence. {LAST}", lambda n: -2),
    ("over_the_first_axis", f"The mean and the variance run over the first axis, over the sentences of the batch. {LAST}", lambda n: 0),
    ("over_sentences", f"The mean and the variance run over whole sentences: over their words and features together. {ITS_OWN.format('word')}", lambda n: tuple(range(min(1, n - 1), n))),
    ("over_everything", f"There is one mean and one variance for all numbers in the batch. {ITS_OWN.format('vector')}", lambda n: tuple(range(n))),
    ("batch_norm", f"This is a batch norm: each feature has a mean and a variance over all words of all sentences. {ITS_OWN.format('vector')}", lambda n: tuple(range(n - 1))),
):  # fmt: skip
    mean = lambda x, axes=axes: x.mean(axes(x.dim()), keepdim=True)  # noqa: E731
    variance = lambda _, *, x, axes=axes: x.var(axes(x.dim()), keepdim=True, unbiased=False)  # noqa: E731
    task.changed(name, sentence, {MEAN: mean, VARIANCE: variance})


# What is still as it was, or mended in part


def _mean_of_all(x):
    return x.mean()


def _variance_of_all(unbiased):
    return lambda _, *, x: x.var(unbiased=unbiased)


task.changed_each(
    ("as_it_was", "This is still the version to repair, with all three faults: its mean and its spread run over all words, `std` divides by D - 1, and eps is added after the root.", EPS_OUTSIDE | {MEAN: _mean_of_all, VARIANCE: _variance_of_all(True)}),
    ("everything_and_unbiased", "The third symptom is gone. But the mean and the variance still run over all words together, and the variance is still divided by their number minus 1. Each vector has its own mean and variance, over its D features, divided by D.", {MEAN: _mean_of_all, VARIANCE: _variance_of_all(True)}),
    ("everything_and_eps_outside", "The second symptom is gone. But the mean and the variance still run over all words together, and eps is still added after the root. Each vector has its own mean and variance, and eps is added to the variance.", EPS_OUTSIDE | {MEAN: _mean_of_all, VARIANCE: _variance_of_all(False)}),
)  # fmt: skip
task.changed(
    "axis_lost",
    "The mean has lost its axis, so the means line up with the wrong numbers, or with none: write keepdim=True in both, so that a mean over D features has the shape …×1.",
    {MEAN: lambda x: x.mean(-1), VARIANCE: lambda squares, *, x: x.var(-1, unbiased=False)},
)
