"""Task 09.layer_cost: what four kinds of layers multiply, all of it, their steps, and their paths from the first word to the last."""

from math import ceil, log, log2, log10  # noqa: F401 - the mistakes in layer_cost.md compute with them
from operator import add, mul

from course_utils.checks.task import Case, Task

KINDS = ("self", "recurrent", "convolution", "restricted")
EXACT = (0.5, "right, except for the longest path of a convolution where n is an exact power of k.")

task = Task(
    __name__,
    "what a layer costs",
    arguments=("kind", "n", "d", "k", "radius"),
    result=("multiplications", "steps", "path"),
    difficulty=2,
    importance=3,
    minutes=15,
    partial={
        "logarithm_in_floats": EXACT,
        "logarithm_to_base_2_in_floats": EXACT,
        "logarithm_to_base_10_in_floats": EXACT,
        "logarithm_in_float32": EXACT,
        "floor_and_one": EXACT,
    },
)


@task.property
def only_a_recurrent_layer_waits(case, value):
    """One step, or one for each word."""
    kind, n, *_ = case.args
    steps = value[1]
    if steps == (n if kind == "recurrent" else 1):
        return None
    if kind == "recurrent":
        return f"A recurrent layer reads one word after another, and each step waits for the one before: count the steps for {n} words. You say {steps}."
    return f'In a layer of the kind "{kind}" no position waits for another: all are computed at the same time. You say {steps} steps one after another.'


@task.property
def a_path_is_long_enough_and_no_longer(case, value):
    """The layers, or steps, on the way from one word to any other."""
    kind, n, _, k, radius = case.args
    path = value[2]
    if path < 1:
        return f"A signal goes through at least one layer. Your longest path is {path}."
    if path == {"self": 1, "recurrent": n}.get(kind):
        return None
    if kind == "self":
        return f"In self-attention each word attends directly to every other word. Your longest path is {path}."
    if kind == "recurrent":
        return f"In a recurrent layer a signal from the first word goes through every step until the last. Your longest path for {n} words is {path}."
    reach = (lambda layers: min(k ** min(layers, 64), n)) if kind == "convolution" else lambda layers: layers * radius
    needed = n if kind == "convolution" else n - 1
    sees = f"{k} to the power of {path} is less than the {n} words"
    if kind == "restricted":
        sees = f"{path} times {radius} is less than the {n - 1} positions from the first word to the last"
    if reach(path) < needed:
        return f"Your longest path is {path}, and {path} layers do not suffice: {sees}."
    if reach(path - 1) >= needed:
        return f"Your longest path is {path}. For {n} words {path - 1} would already suffice."
    return None


MEANT = {
    "self": "each word is multiplied by three matrices of d rows and d columns, and each pair of words costs d multiplications for its score and d for the weighted sum",
    "recurrent": "each step multiplies a word by one matrix of d rows and d columns, and the state by another",
    "convolution": "at each of the n positions, each of k words is multiplied by a matrix of d rows and d columns",
    "restricted": "each word is multiplied by three matrices of d rows and d columns, and each of its 2 · radius + 1 comparisons costs d multiplications for the score and d for the weighted sum",
}


@task.property
def what_is_multiplied(case, value):
    """The number of multiplications."""
    kind, n, d, k, radius = case.args
    if value[0] != task.oracle_function(*case.args)[0]:
        return f'In a layer of the kind "{kind}", {MEANT[kind]}. Count that for n = {n}, d = {d}, k = {k} and radius = {radius}; you say {value[0]}.'
    return None


@task.cases
def _(draw):
    primes = [2, 3, 5, 7, 11, 13]
    tiny = {"self": (3, 4, 5), "recurrent": (3, 4, 5), "convolution": (5, 3, 4), "restricted": (9, 4, 3)}
    for kind, (n, k, radius) in tiny.items():
        d = _width(draw)
        yield Case(f'"{kind}" with n = {n}, d = {d}, k = {k}, radius = {radius}', (kind, n, d, k, radius))
    for kind in KINDS:
        for most in (30, 70, 400):
            d, k, radius = (primes[place] for place in draw.distinct(3, 1, 6).tolist())
            powers = [k**power for power in range(1, 9)]
            sizes = [n for n in range(most // 2, most) if n % radius and (n - 1) % radius and n not in powers]
            n = sizes[int(draw.whole(0, len(sizes)))]
            yield Case(f'"{kind}" with n = {n}, d = {d}, k = {k}, radius = {radius}', (kind, n, d, k, radius))
    yield Case("a convolution that needs a second layer for one word", ("convolution", 12, _width(draw), 11, 3))
    yield Case("a convolution that sees 27 words, of which there are 20", ("convolution", 20, _width(draw), 3, 7))
    yield Case("restricted attention of radius 5 to 24 words", ("restricted", 24, _width(draw), 7, 5))
    yield Case("restricted attention of radius 5 to 32 words", ("restricted", 32, _width(draw), 7, 5))
    yield Case("restricted attention whose last layer bridges one position", ("restricted", 17, _width(draw), 7, 5))
    for n, k in ((125, 5), (243, 3), (512, 8), (216, 6), (1728, 12), (371293, 13), (1594323, 3)):
        yield Case(f"n is an exact power of k: {n} and {k}", ("convolution", n, 3, k, 7), edge=True)
    k = int(draw.whole(2, 12))
    yield Case("n is k to the power of 4", ("convolution", k**4, 5, k, 3), edge=True)
    yield Case("n is a power of k and one more", ("convolution", 7**6 + 1, 3, 7, 2), edge=True)
    yield Case("n is a power of k and one less", ("convolution", 5**6 - 1, 3, 5, 2), edge=True)
    yield Case("a kernel as wide as the sentence", ("convolution", 7, 2, 7, 3), edge=True)
    yield Case("a kernel wider than the sentence", ("convolution", 3, 5, 11, 2), edge=True)
    yield Case("the radius divides n - 1", ("restricted", 13, 5, 7, 4), edge=True)
    yield Case("the radius divides n", ("restricted", 12, 5, 7, 4), edge=True)
    yield Case("the radius reaches the last word", ("restricted", 6, 3, 2, 5), edge=True)
    yield Case("the radius is larger than n", ("restricted", 3, 5, 2, 7), edge=True)
    yield Case("the radius is 1", ("restricted", 5, 7, 3, 1), edge=True)
    for kind in KINDS:
        yield Case(f'two words of width 1, "{kind}"', (kind, 2, 1, 3, 5), edge=True)


def _width(draw):
    """Return a width that is none of the other sizes, so that cases differ from grading to grading."""
    return (2, 13, 17, 19)[int(draw.whole(0, 4))]


def _layers(n, k):
    """How many layers of a convolution see n words: as many as n - 1 has digits to the base k."""
    if n < 1 or k < 2:  # the explanation of an incorrect answer exchanges arguments
        raise ValueError("a number has digits from 0 on, and to a base of 2 or more")
    layers, rest = 0, n - 1
    while rest:
        layers, rest = layers + 1, rest // k
    return layers


@task.steps
def _(kind, n, d, k, radius):
    if kind == "recurrent":
        numbers = yield "the numbers of a matrix", mul, d, d
        multiplications = yield "the multiplications of a recurrent layer", lambda n, size: 2 * n * size, n, numbers
        return multiplications, n, n
    if kind == "convolution":
        numbers = yield "the numbers of a matrix", mul, d, d
        products = yield "the products with a matrix", mul, k, n
        multiplications = yield "the multiplications of a convolution", mul, products, numbers
        layers = yield "the number of layers", _layers, n, k
        return multiplications, 1, layers
    projections = yield "the multiplications of the projections", lambda n, d: 3 * n * d * d, n, d
    if kind == "self":
        pairs = yield "the number of pairs", mul, n, n
    else:
        pairs = yield "the number of comparisons", lambda radius, n: (2 * radius + 1) * n, radius, n
    attending = yield "the multiplications of the attention", lambda pairs, d: 2 * pairs * d, pairs, d
    multiplications = yield "all multiplications", add, projections, attending
    if kind == "self":
        return multiplications, 1, 1
    layers = yield "the quotient, rounded up", lambda n, radius: -(-(n - 1) // radius), n, radius
    return multiplications, 1, layers
