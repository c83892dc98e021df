"""Task 12.sublayer: a function with its residual connection and its layer norm, in three orders."""

from operator import add

import torch
import torch.nn.functional as F

from course_utils.checks.reference_trace import left_out
from course_utils.checks.running.contract import Candidate, Case
from course_utils.checks.task import Task

# What may be in a sub-layer: functions from B×T×D to B×T×D for any sizes, none of them linear but the first two.


def _without_gradient(function):
    def call(x):
        if x.dim() != 3:
            raise ValueError(f"x should be B×T×D, and has {x.dim()} axes")
        with torch.no_grad():
            return function(x.detach().clone())

    return call


def _among_words(x):
    """Each word looks at all words of its sentence."""
    weights = (x @ x.mT / x.shape[-1]).softmax(-1)
    return weights @ x.roll(1, -1) * 1.5 + torch.relu(x)


FUNCTIONS = tuple(
    map(
        _without_gradient,
        (
            torch.zeros_like,
            lambda x: x.flip(1) / 2 + 0.25,  # each word gets what is at its place counted from the end
            lambda x: torch.tanh(x.roll(1, -1) - x / 2) + x.square() / 8 + 0.5,  # each word by itself
            _among_words,
        ),
    )
)
NOTHING, BACKWARDS, BY_ITSELF, AMONG_WORDS = range(4)
ORDERS = ("pre", "post", "late")

task = Task(
    "12.sublayer",
    "a residual connection and a layer norm around a function",
    arguments=("x B×T×D", "function", "gain D", "bias D", "order"),
    result="y B×T×D",
    candidates=FUNCTIONS,
    suspects=False,
    difficulty=3,
    importance=5,
    minutes=20,
    hints=(
        "In each order, x is added unchanged: that is the residual connection. Each order also has one norm, for which there are three places: before the function, between the function and the addition, and after the addition. Which place makes which statement true?",
        (
            "Take one word x = [0, 2, 4], a gain of ones, a bias of zeros, and the function that doubles its input. The mean of x is 2 and its variance 2.6667, so norm(x) is [-1.2247, 0, 1.2247]. Pre: the function returns [-2.4495, 0, 2.4495], and with x added it is [-2.4495, 2, 6.4495]. "
            "Post: the function returns [0, 4, 8], the sum is [0, 6, 12], and its norm is [-1.2247, 0, 1.2247]. "
            "Late: the function returns [0, 4, 8], the norm of that is [-1.2247, 0, 1.2247], and with x added it is [-1.2247, 2, 5.2247]."
        ),
        "For order pre: x plus the function of the normalised x. For order post: the norm of (x plus the function of x). For order late: x plus the norm of the function of x. The norm: minus the mean over the features, divided by the root of (the mean of the squared differences + 1e-5), times gain, plus bias.",
    ),
)


def _case(draw, name, key, B, T, D, order, dtype=torch.float32, scale=1.0, **options):
    x = draw.numbers(B, T, D, dtype=dtype) * 1.5 + torch.arange(D).to(dtype) / 4 + draw.whole(1, 4, 1)
    gain = (draw.whole(1, 5, D) * (1 - 2 * draw.whole(0, 2, D))).to(dtype) / 2
    bias = draw.whole(-4, 5, D).to(dtype) / 2 + 0.25
    return Case(f'{name}, order "{order}"', (x * scale, Candidate(key), gain, bias, order), **options)


@task.cases
def _(draw):
    for order in ORDERS:
        yield _case(draw, "a function that reads the words backwards", BACKWARDS, 1, 2, 3, order)
        yield _case(draw, "a function of each word separately", BY_ITSELF, 1, 3, 3, order)
        yield _case(draw, "a function of each word separately, two sentences", BY_ITSELF, 2, 1, 4, order)
        yield _case(draw, "a function of all words of a sentence", AMONG_WORDS, 2, 3, 5, order)
        yield _case(draw, "a function of all words of a sentence, longer", AMONG_WORDS, 2, 7, 5, order)
        yield _case(draw, "a function that returns zeros", NOTHING, 2, 3, 5, order)
    for order in ORDERS:
        yield _case(draw, "float64 numbers", BY_ITSELF, 2, 3, 5, order, torch.float64, hazard=True)
        yield _case(draw, "entries that differ little", NOTHING, 2, 3, 5, order, scale=1 / 256, edge=True)
        yield _case(draw, "numbers near 1000", BACKWARDS, 2, 3, 5, order, scale=300.0, hazard=True)
        yield _case(draw, "200 words", BY_ITSELF, 1, 200, 3, order, edge=True)


@task.property
def each_order_ends_as_it_should(case, value):
    """Post-norm ends in a norm; the others add x to what the function returns, which in "late" is normalised."""
    x, candidate, gain, bias, order = case.args
    f, norm = task.candidate(candidate.key), lambda y: F.layer_norm(y, gain.shape, gain, bias, 1e-5)
    added = f(norm(x)) if order == "pre" else norm(f(x))
    right = norm(x + f(x)) if order == "post" else x + added
    off = (value - right).abs()
    if case.edge or not off.isfinite().all() or off.max() < 1e-3 * (1 + right.abs().max()):
        return None
    if order != "post":
        place = tuple((off == off.max()).nonzero()[0].tolist())
        what = {
            "pre": "the output of the function for the normalised x",
            "late": "the norm of the output of the function for x",
        }
        return f'With order "{order}", your result minus x should be {what[order]}. At {list(place)} it is {(value - x)[place]:.4g} and should be {added[place]:.4g}.'
    normal = (value - bias) / gain
    mean, variance = normal.mean(-1).flatten(), normal.var(-1, unbiased=False).flatten()
    apart = mean.abs() + (variance - 1).abs()
    if apart.max() < 1e-2:
        return 'With order "post" your result is normalised, as it should be. But what you normalise is not x + f(x).'
    worst = apart.argmax()
    return f'With order "post" the norm is the last step: minus the bias and divided by the gain, each vector of the result has mean 0 and variance 1. One of yours has mean {mean[worst]:.4g} and variance {variance[worst]:.4g}.'


@task.steps
def _(x, function, gain, bias, order):
    normal = lambda x: _norm(x, gain, bias)  # noqa: E731
    if order == "pre":
        read = yield "the norm before the function", normal, x
        branch = yield "the function's result, with pre", function, read
        return (yield "the sum, with pre", add, x, branch)
    if order == "late":
        branch = yield "the function's result, with late", function, x
        branch = yield "the norm after the function", normal, branch
        return (yield "the sum, with late", add, x, branch)
    branch = yield "the function's result, with post", function, x
    total = yield "the sum, with post", add, x, branch
    return (yield "the norm after the sum", normal, total)


def _norm(x, gain, bias, axis=-1, unbiased=False, root=lambda variance: (variance + 1e-5).sqrt()):
    variance = x.var(axis, keepdim=True, unbiased=unbiased)
    return (x - x.mean(axis, keepdim=True)) / root(variance) * gain + bias


# Where x, the norm and the function meet

PRE_NORM, PRE_SUM = "the norm before the function", "the sum, with pre"
POST_GIVEN, POST_SUM, POST_NORM = "the function's result, with post", "the sum, with post", "the norm after the sum"
LATE_GIVEN, LATE_SUM, LATE_NORM = (
    "the function's result, with late",
    "the sum, with late",
    "the norm after the function",
)


def _sum_normed(x, branch, *, gain, bias):
    return _norm(x + branch, gain, bias)


def _branch_alone(x, branch):
    return branch


ALWAYS_POST = {PRE_NORM: left_out, PRE_SUM: _sum_normed}
POST_READS_THE_NORM = {POST_GIVEN: lambda x, *, gain, bias, right: right(_norm(x, gain, bias))}
ALWAYS_PRE = POST_READS_THE_NORM | {POST_NORM: left_out}
NORMALISED_X_ADDED = {PRE_SUM: lambda x, branch, *, done: done[PRE_NORM] + branch}
PRE_BRANCH_NORMED = {PRE_NORM: left_out, PRE_SUM: lambda x, branch, *, gain, bias: x + _norm(branch, gain, bias)}
POST_BRANCH_NORMED = {POST_SUM: _branch_alone, POST_NORM: lambda branch, *, x, right: x + right(branch)}
NOT_ADDED_IN_PRE, NOT_ADDED_IN_POST, NOT_ADDED_IN_LATE = (
    {name: _branch_alone} for name in (PRE_SUM, POST_SUM, LATE_SUM)
)
LATE_READS_THE_NORM = {LATE_GIVEN: lambda x, *, gain, bias, right: right(_norm(x, gain, bias))}
LATE_AS_PRE, LATE_AS_POST = LATE_READS_THE_NORM | {LATE_NORM: left_out}, {LATE_NORM: left_out, LATE_SUM: _sum_normed}
SUM_ADDED = {LATE_NORM: lambda branch, *, x, gain, bias: _norm(x + branch, gain, bias)}

task.changed_each(
    ("orders_exchanged", "Pre and post are swapped. With pre, the norm comes before the function: x + f(norm(x)); with post, after the addition.", ALWAYS_POST | ALWAYS_PRE),
    ("always_post", 'You normalise the sum in all orders. With "pre" only the input of the function is normalised, with "late" only its output.', ALWAYS_POST | LATE_AS_POST),
    ("always_pre", 'You normalise the input of the function in all orders. With "post" and "late" the function reads x itself.', ALWAYS_PRE | LATE_AS_PRE),
    ("late_as_pre", 'With order "late" you normalise the input of the function. There it reads x itself, and its output is normalised.', LATE_AS_PRE),
    ("late_as_post", 'With order "late" you normalise the sum. There x stays as it is, and what is added to it is normalised.', LATE_AS_POST),
    ("late_twice", 'With order "late" there are two norms: both the input and the output of the function are normalised. The function should read x itself.', LATE_READS_THE_NORM),
    ("late_adds_the_normed_sum", 'With order "late" you add the norm of x + f(x) to x. Add the norm of the output of the function, without x.', SUM_ADDED),
    ("normalised_x_added", 'With order "pre" you add the normalised x to the output of the function. The residual connection bypasses the norm: add x itself.', NORMALISED_X_ADDED),
    ("norm_of_the_branch", 'With order "post" you normalise the output of the function and add x afterwards. The sum should be normalised: first add x, then normalise.', POST_BRANCH_NORMED),
    ("norm_of_the_branch_in_both", "You normalise the function's output and add x afterwards in all orders. That is correct for late. With pre, the function's input is normalised; with post, the sum of x and its output.", PRE_BRANCH_NORMED | POST_BRANCH_NORMED),
    ("pre_norm_after_the_function", 'With order "pre" you normalise the output of the function. The norm belongs before the function: it normalises its input.', PRE_BRANCH_NORMED),
    ("residual_forgotten", "x is not added to the function's output. That addition is the residual connection, and all orders have it.", NOT_ADDED_IN_PRE | NOT_ADDED_IN_POST | NOT_ADDED_IN_LATE),
    ("residual_forgotten_in_pre", 'With order "pre", x is not added to the output of the function.', NOT_ADDED_IN_PRE),
    ("residual_forgotten_in_post", 'With order "post", x is not added to the output of the function before the sum is normalised.', NOT_ADDED_IN_POST),
    ("residual_forgotten_in_late", 'With order "late", x is not added to the norm of the output of the function.', NOT_ADDED_IN_LATE),
    ("no_norm", "Nothing is normalised: x is added to the function's output, and that is all.", {PRE_NORM: left_out, POST_NORM: left_out, LATE_NORM: left_out}),
    ("norm_twice_in_post", 'With order "post" there are two norms: both the input of the function and the sum are normalised. Only the sum should be.', POST_READS_THE_NORM),
    ("norm_twice_in_pre", 'With order "pre" there are two norms: both the input of the function and the sum are normalised. Nothing should be normalised after the addition.', {PRE_SUM: _sum_normed}),
    ("norm_twice_in_both", "There are two norms in pre and in post: both the function's input and the sum are normalised. Pre has only the first norm, post only the second.", {PRE_SUM: _sum_normed} | POST_READS_THE_NORM),
    ("x_added_twice_in_post", 'With order "post" you add x once more after the norm. The normalised sum is the result.', {POST_NORM: lambda total, *, x, right: x + right(total)}),
)  # fmt: skip


# The norm itself

task.changed(
    "gain_and_bias_forgotten",
    "The gain and the bias have no effect: multiply the normalised vectors by the gain and add the bias.",
    {"gain": torch.ones_like, "bias": torch.zeros_like},
)


def _eps_outside(variance):
    return variance.sqrt() + 1e-5


for name, sentence, options in (
    ("unbiased_variance", "The variance in the norm is divided by D - 1, as PyTorch's `var` and `std` do unless told otherwise. A layer norm divides by D.", {"unbiased": True}),
    ("unbiased_and_eps_outside", "The norm has two faults. The variance is divided by D - 1, as `var` and `std` do unless told otherwise, whereas a layer norm divides by D. And 1e-5 is added to the root, but it belongs inside, added to the variance.", {"unbiased": True, "root": _eps_outside}),
    ("eps_outside", "You add 1e-5 to the root of the variance. It belongs inside the root, which matters when a vector's entries differ little.", {"root": _eps_outside}),
    ("over_words", "The norm runs over the words of a sentence. It should run over the features of one vector, the last axis.", {"axis": 1}),
):  # fmt: skip
    changed = lambda x, *, gain, bias, options=options: _norm(x, gain, bias, **options)  # noqa: E731
    task.changed(name, sentence, {PRE_NORM: changed, POST_NORM: changed, LATE_NORM: changed})
