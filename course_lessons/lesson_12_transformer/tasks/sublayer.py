"""Task 12.sublayer: a function with its residual connection and its layer norm, in three orders."""

from operator import add

import torch
import torch.nn.functional as F

from course_utils.checks.task import Candidate, Case, Task

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
    __name__,
    "a residual connection and a layer norm around a function",
    arguments=("x B×T×D", "function", "gain D", "bias D", "order"),
    result="y B×T×D",
    candidates=FUNCTIONS,
    suspects=False,
    difficulty=3,
    importance=5,
    minutes=20,
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


def _norm(x, gain, bias):
    variance = x.var(-1, keepdim=True, unbiased=False)
    return (x - x.mean(-1, keepdim=True)) / (variance + 1e-5).sqrt() * gain + bias
