"""Task 09.layer_cost: what four kinds of layers cost, as in table 1 of Vaswani et al. (2017)."""

from math import ceil, floor, log, log2, log10
from operator import mul

import torch

from course_utils.checks.running.contract import Case
from course_utils.checks.task import Task

KINDS = ("self", "recurrent", "convolution", "restricted")
EXACT = (0.5, "right, except for the longest path of a convolution where n is an exact power of k.")

task = Task(
    "09.layer_cost",
    "what a layer costs",
    arguments=("kind", "n", "d", "k", "r"),
    result=("multiplications", "steps", "path"),
    difficulty=2,
    importance=3,
    minutes=15,
    hints=(
        "Take one kind after another, and ask three things of each. For how many pairs of words, or for how many words, is something multiplied, and how many multiplications does each take? What has to wait for what? And how many layers, or steps, until the first word has reached the last?",
        (
            "Take n = 9 words of width d = 2, with k = 3 and r = 4. Self-attention compares 9·9 = 81 pairs, with 2 multiplications each: 162. A recurrent layer multiplies 9 times by a matrix of 2×2: 36, in 9 steps. A convolution does that for 3 words at each place: 108; one layer sees 3 words and two see 9, so its path is 2. "
            "Restricted attention compares 9 words with 4 each: 36 pairs, 72 multiplications; one, two and three layers carry a signal 4, 8 and 12 places, so its path is 3."
        ),
        "A branch for each kind, which returns a tuple of three ints. Convolution: layers = 0 and reach = 1; as long as reach is below n: multiply reach by k and add 1 to layers. Restricted: n divided by r, rounded up: n // r, and one more if n % r is not 0.",
    ),
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
    if kind == "recurrent":
        return (
            None
            if steps == n
            else f"A recurrent layer reads one word after another, and each step waits for the one before: count the steps for {n} words. You say {steps}."
        )
    return (
        None
        if steps == 1
        else f'In a layer of the kind "{kind}" no place waits for another: all are computed at the same time. You say {steps} steps one after another.'
    )


@task.property
def a_path_is_long_enough_and_no_longer(case, value):
    """The layers, or steps, on the way from one word to any other."""
    kind, n, _, k, r = case.args
    path = value[2]
    if path < 1:
        return f"A signal goes through one layer at least. Your longest path is {path}."
    if kind == "self":
        return (
            None
            if path == 1
            else f"In self-attention each word looks at each other word directly. Your longest path is {path}."
        )
    if kind == "recurrent":
        return (
            None
            if path == n
            else f"In a recurrent layer a signal from the first word goes through every step until the last. Your longest path for {n} words is {path}."
        )
    reach = (lambda layers: min(k ** min(layers, 64), n)) if kind == "convolution" else lambda layers: layers * r
    sees = f"{k} to the power of {path}" if kind == "convolution" else f"{path} times {r}"
    if reach(path) < n:
        return f"Your longest path is {path}, and {path} layers do not suffice: {sees} is less than {n}."
    return (
        f"Your longest path is {path}. One layer less would already suffice for {n} words."
        if reach(path - 1) >= n
        else None
    )


MEANT = {
    "self": "each of the n words is compared with each of them, and one comparison takes d multiplications",
    "recurrent": "for each of the n words there is a product with a matrix of d rows and d columns",
    "convolution": "at each of the n places, each of k words meets a matrix of d rows and d columns",
    "restricted": "each of the n words is compared with r words, and one comparison takes d multiplications",
}


@task.property
def what_is_multiplied(case, value):
    """The number of multiplications."""
    kind, n, d, k, r = case.args
    return (
        f'In a layer of the kind "{kind}", {MEANT[kind]}. Count that for n = {n}, d = {d}, k = {k} and r = {r}; you say {value[0]}.'
        if value[0] != _right(*case.args)[0]
        else None
    )


@task.cases
def _(draw):
    primes = [2, 3, 5, 7, 11, 13]
    tiny = {"self": (3, 4, 5), "recurrent": (3, 4, 5), "convolution": (5, 3, 4), "restricted": (7, 4, 3)}
    for kind, (n, k, r) in tiny.items():
        d = _width(draw)
        yield Case(f'"{kind}" with n = {n}, d = {d}, k = {k}, r = {r}', (kind, n, d, k, r))
    for kind in KINDS:
        for most in (30, 70, 400):
            d, k, r = (primes[place] for place in draw.distinct(3, 1, 6).tolist())
            sizes = [n for n in range(most // 2, most) if n % r and n not in [k**power for power in range(1, 9)]]
            n = sizes[int(draw.whole(0, len(sizes)))]
            yield Case(f'"{kind}" with n = {n}, d = {d}, k = {k}, r = {r}', (kind, n, d, k, r))
    yield Case("a convolution that needs a second layer for one word", ("convolution", 12, _width(draw), 11, 3))
    yield Case("a convolution that sees 27 words, of which there are 20", ("convolution", 20, _width(draw), 3, 7))
    yield Case("restricted attention to 5 of 23 words", ("restricted", 23, _width(draw), 7, 5))
    yield Case("restricted attention to 5 of 31 words", ("restricted", 31, _width(draw), 7, 5))
    for n, k in ((125, 5), (243, 3), (512, 8), (216, 6), (1728, 12), (371293, 13), (1594323, 3)):
        yield Case(f"n is an exact power of k: {n} and {k}", ("convolution", n, 3, k, 7), edge=True)
    k = int(draw.whole(2, 12))
    yield Case("n is k to the power of 4", ("convolution", k**4, 5, k, 3), edge=True)
    yield Case("n is a power of k and one more", ("convolution", 7**6 + 1, 3, 7, 2), edge=True)
    yield Case("n is a power of k and one less", ("convolution", 5**6 - 1, 3, 5, 2), edge=True)
    yield Case("a kernel as wide as the sentence", ("convolution", 7, 2, 7, 3), edge=True)
    yield Case("a kernel wider than the sentence", ("convolution", 3, 5, 11, 2), edge=True)
    yield Case("r divides n", ("restricted", 12, 5, 7, 4), edge=True)
    yield Case("r is n", ("restricted", 5, 3, 2, 5), edge=True)
    yield Case("r is larger than n", ("restricted", 3, 5, 2, 7), edge=True)
    yield Case("r is 1", ("restricted", 5, 7, 3, 1), edge=True)
    for kind in KINDS:
        yield Case(f'two words of width 1, "{kind}"', (kind, 2, 1, 3, 5), edge=True)


def _width(draw):
    """Return a width that is none of the other sizes, so that cases differ from grading to grading."""
    return (2, 13, 17, 19)[int(draw.whole(0, 4))]


def _digits(number, base):
    if number < 0 or base < 2:  # the explanation of a wrong answer exchanges arguments
        raise ValueError("a number has digits from 0 on, and to a base of 2 or more")
    digits = 0
    while number:
        digits, number = digits + 1, number // base
    return digits


def _right(kind, n, d, k, r):
    return {
        "self": lambda: (n**2 * d, 1, 1),
        "recurrent": lambda: (n * d**2, n, n),
        "convolution": lambda: (
            k * n * d**2,
            1,
            _digits(n - 1, k),
        ),  # n - 1 has as many digits to the base k as there are layers
        "restricted": lambda: (r * n * d, 1, (n + r - 1) // r),
    }[kind]()


@task.oracle
def _(kind, n, d, k, r):
    return _right(kind, n, d, k, r)


def _layers(n, k):
    return _digits(n - 1, k)


@task.steps
def _(kind, n, d, k, r):
    if kind == "self":
        pairs = yield "the number of pairs", mul, n, n
        multiplications = yield "the multiplications", mul, pairs, d
        return multiplications, 1, 1
    if kind == "recurrent":
        numbers = yield "the numbers of a matrix", mul, d, d
        multiplications = yield "the multiplications", mul, n, numbers
        return multiplications, n, n
    if kind == "convolution":
        numbers = yield "the numbers of a matrix", mul, d, d
        products = yield "the number of products with a matrix", mul, k, n
        multiplications = yield "the multiplications", mul, products, numbers
        layers = yield "the number of layers", _layers, n, k
        return multiplications, 1, layers
    pairs = yield "the number of pairs", mul, r, n
    multiplications = yield "the multiplications", mul, pairs, d
    layers = yield "the quotient, rounded up", lambda n, r: -(-n // r), n, r
    return multiplications, 1, layers


# Mistakes: of one kind each, and of the whole tuple. What is None stays right.


def _wrong(kind, name, sentence, multiplications=None, steps=None, path=None):
    """Register the mistake of one kind: each part that is not None is a function(n, d, k, r)."""

    def mistaken(which, n, d, k, r):
        right = _right(which, n, d, k, r)
        if which != kind:
            return right
        parts = (multiplications, steps, path)
        return tuple(part(n, d, k, r) if part else part_right for part, part_right in zip(parts, right, strict=True))

    task.mistake(sentence, name)(mistaken)


_wrong(
    "self",
    "self_square_of_the_width",
    "Self-attention: it is the number of words that is squared, not their width. Each word is compared with each other word, and one comparison takes d multiplications.",
    lambda n, d, k, r: n * d**2,
)
_wrong(
    "self",
    "self_without_width",
    "Self-attention: you count the pairs of words. Comparing one pair takes d multiplications.",
    lambda n, d, k, r: n**2,
)
_wrong(
    "self",
    "self_without_pairs",
    "Self-attention: you count one comparison for each word. Each of the n words is compared with all n.",
    lambda n, d, k, r: n * d,
)
_wrong(
    "self",
    "self_both_squared",
    "Self-attention: you square both the number of words and their width. Comparing one pair of words takes d multiplications.",
    lambda n, d, k, r: n**2 * d**2,
)
_wrong(
    "self",
    "self_pairs_once",
    "Self-attention: you count each pair of words once, and no word with itself. Each of the n words asks all n, itself too.",
    lambda n, d, k, r: n * (n - 1) // 2 * d,
)
_wrong(
    "self",
    "self_weighted_sum_too",
    "Self-attention: you count the scores and the weighted sum, and so twice as many multiplications. Leave out constant factors: count one of the two.",
    lambda n, d, k, r: 2 * n**2 * d,
)
PROJECTIONS = {1: "a projection", 3: "three projections", 4: "four projections"}
for _n, _said in PROJECTIONS.items():
    _wrong(
        "self",
        f"self_projections_{_n}",
        f"Self-attention: you count {_said} as well, with n·d·d multiplications each. The table leaves projections out, and counts how each word is compared with each word.",
        lambda n, d, k, r, projections=_n: n**2 * d + projections * n * d**2,
    )
    _wrong(
        "self",
        f"self_weighted_sum_and_projections_{_n}",
        f"Self-attention: you count the weighted sum and {_said} as well. The table leaves them out, and counts how each word is compared with each word.",
        lambda n, d, k, r, projections=_n: 2 * n**2 * d + projections * n * d**2,
    )
_wrong(
    "self",
    "self_step_by_step",
    "Self-attention: you let one word wait for the other. All words look at the same time.",
    steps=lambda n, d, k, r: n,
)
_wrong(
    "self",
    "self_long_path",
    "Self-attention: your longest path goes from word to word. Each word looks at each other one directly.",
    path=lambda n, d, k, r: n,
)
_wrong(
    "recurrent",
    "recurrent_square_of_words",
    "Recurrent: it is the width that is squared, not the number of words. At each of the n steps a matrix of d×d meets the state.",
    lambda n, d, k, r: n**2 * d,
)
_wrong(
    "recurrent",
    "recurrent_without_matrix",
    "Recurrent: you count d multiplications for each word. A matrix of d×d numbers takes one for each of them.",
    lambda n, d, k, r: n * d,
)
_wrong(
    "recurrent",
    "recurrent_without_words",
    "Recurrent: you count a single step. The matrix of d×d meets the state at each of the n steps.",
    lambda n, d, k, r: d**2,
)
_wrong(
    "recurrent",
    "recurrent_two_matrices",
    "Recurrent: you count two matrices, one for the word and one for the state. Leave out constant factors: count one.",
    lambda n, d, k, r: 2 * n * d**2,
)
_wrong(
    "recurrent",
    "recurrent_at_once",
    "Recurrent: you let all words be read in one step. Each step needs the state of the one before.",
    steps=lambda n, d, k, r: 1,
)
_wrong(
    "recurrent",
    "recurrent_short_path",
    "Recurrent: your longest path is 1. What the first word says goes through all steps before it reaches the last.",
    path=lambda n, d, k, r: 1,
)
_wrong(
    "recurrent",
    "recurrent_at_once_and_short",
    "Recurrent: you treat it as if all words were read at once and reached each other directly. Each step needs the state of the one before, and what the first word says goes through all of them.",
    steps=lambda n, d, k, r: 1,
    path=lambda n, d, k, r: 1,
)
_wrong(
    "recurrent",
    "recurrent_one_less_on_the_path",
    "Recurrent: you count the steps between the first word and the last, n - 1. The table says n for the longest path, the step that reads the first word too.",
    path=lambda n, d, k, r: n - 1,
)
_wrong(
    "convolution",
    "convolution_without_kernel",
    "Convolution: k is missing from the multiplications. At each place each of k words meets a matrix of its own.",
    lambda n, d, k, r: n * d**2,
)
_wrong(
    "convolution",
    "convolution_each_feature_alone",
    "Convolution: you count d multiplications for each word under the kernel, as if features did not mix. Each word meets a matrix of d×d.",
    lambda n, d, k, r: k * n * d,
)
_wrong(
    "convolution",
    "convolution_square_of_kernel",
    "Convolution: you square the width of the kernel. It runs along one axis, over k words.",
    lambda n, d, k, r: k**2 * n * d**2,
)
_wrong(
    "convolution",
    "convolution_all_layers_counted",
    "Convolution: you count the multiplications of all layers on the path. A single layer is asked for.",
    lambda n, d, k, r: k * n * d**2 * _layers(n, k),
)
_wrong(
    "convolution",
    "convolution_r_for_k",
    "Convolution: you use r where k is meant, in the multiplications. k is the width of the kernel; r is for restricted attention.",
    lambda n, d, k, r: r * n * d**2,
)
_wrong(
    "convolution",
    "convolution_waits",
    "Convolution: you count layers as steps of one layer. Within a layer all places are computed at once.",
    steps=lambda n, d, k, r: _layers(n, k),
)
_wrong(
    "convolution",
    "convolution_step_by_step",
    "Convolution: you let the kernel move from word to word, one step after another. No place needs the result of another, so all are computed at once.",
    steps=lambda n, d, k, r: n,
)
_wrong(
    "convolution",
    "convolution_path_of_1",
    "Convolution: your longest path is 1. One layer sees k words; a word that stands farther away needs more layers.",
    path=lambda n, d, k, r: 1,
)
_wrong(
    "convolution",
    "convolution_without_dilation",
    "Convolution: you let each layer reach the same distance further, so that the path is n/k, rounded up. Here each layer reaches k times as far as the one before: look for the power of k that is at least n.",
    path=lambda n, d, k, r: -(-n // k),
)
_wrong(
    "convolution",
    "logarithm_rounded_down",
    "Convolution: you round the logarithm down, and then the layers do not suffice. Round up: with one word more than k, a second layer is needed.",
    path=lambda n, d, k, r: floor(log(n, k)),
)
_wrong(
    "convolution",
    "logarithm_rounded_to_nearest",
    "Convolution: you round the logarithm to the nearest whole number. Round up: a part of a layer is a layer.",
    path=lambda n, d, k, r: round(log(n, k)),
)
_wrong(
    "convolution",
    "places_between_for_the_convolution",
    "Convolution: you count the places between the first and the last word, n - 1. The table asks for a layer that sees all n words.",
    path=lambda n, d, k, r: _layers(n - 1, k),
)
_wrong(
    "convolution",
    "kernel_cut_to_the_sentence",
    "Convolution: where the kernel is wider than the sentence, you count n words under it instead of k. Leave k as it is.",
    lambda n, d, k, r: min(k, n) * n * d**2,
)
_wrong(
    "convolution",
    "logarithm_not_rounded",
    "Convolution: the logarithm is not rounded. Layers are whole: round up.",
    path=lambda n, d, k, r: log(n, k),
)
_wrong(
    "convolution",
    "logarithm_to_base_2",
    "Convolution: you take the logarithm to the base 2. A layer reaches k times as far as the one before, so the base is k.",
    path=lambda n, d, k, r: ceil(log2(n)),
)
_wrong(
    "convolution",
    "natural_logarithm",
    "Convolution: you take the natural logarithm. A layer reaches k times as far as the one before, so the base is k.",
    path=lambda n, d, k, r: ceil(log(n)),
)
_wrong(
    "convolution",
    "logarithm_to_base_r",
    "Convolution: you take the logarithm to the base r. A layer reaches k times as far as the one before, so the base is k.",
    path=lambda n, d, k, r: _layers(n, r) if r > 1 else n,
)
_wrong(
    "convolution",
    "logarithm_turned_round",
    "Convolution: you take the logarithm of k to the base n. Ask to which power k has to be raised to reach n: the base is k.",
    path=lambda n, d, k, r: ceil(log(k, n)),
)
_wrong(
    "convolution",
    "one_layer_too_many",
    "Convolution: your longest path is one layer too long everywhere. Without a layer a place sees one word, k to the power of 0.",
    path=lambda n, d, k, r: _layers(n, k) + 1,
)
BY_HAND = "Count the layers with whole numbers instead: multiply by k until you reach n."
_wrong(
    "convolution",
    "floor_and_one",
    f"Convolution: where n is an exact power of k, your longest path is one layer too long: rounding down and adding 1 is not rounding up. {BY_HAND}",
    path=lambda n, d, k, r: _layers(n + 1, k),
)
_wrong(
    "convolution",
    "logarithm_in_floats",
    f"Convolution: floating-point logarithms are not exact where n is an exact power of k: log(125, 5) gives 3.0000000000000004, and rounding up makes 4 of it. {BY_HAND}",
    path=lambda n, d, k, r: ceil(log(n) / log(k)),
)
_wrong(
    "convolution",
    "logarithm_to_base_2_in_floats",
    f"Convolution: quotients of logarithms to the base 2 are not exact where n is an exact power of k: log2(243) / log2(3) gives a little more than 5, and rounding up makes 6 of it. {BY_HAND}",
    path=lambda n, d, k, r: ceil(log2(n) / log2(k)),
)
_wrong(
    "convolution",
    "logarithm_to_base_10_in_floats",
    f"Convolution: quotients of logarithms to the base 10 are not exact where n is an exact power of k: log10(512) / log10(8) gives a little more than 3, and rounding up makes 4 of it. {BY_HAND}",
    path=lambda n, d, k, r: ceil(log10(n) / log10(k)),
)
_wrong(
    "convolution",
    "logarithm_in_float32",
    f"Convolution: logarithms in float32, as PyTorch takes them, are not exact where n is an exact power of k: that of 371293 to the base 13 comes out a little above 5, and rounding up makes 6 of it. {BY_HAND}",
    path=lambda n, d, k, r: ceil(torch.tensor(float(n)).log() / torch.tensor(float(k)).log()),
)
_wrong(
    "restricted",
    "restricted_looks_at_all",
    "Restricted: you count as many multiplications as in self-attention. Each of the n words is compared with r words, not with all.",
    lambda n, d, k, r: n**2 * d,
)
_wrong(
    "restricted",
    "restricted_square_of_width",
    "Restricted: you square the width. A comparison of two words takes d multiplications.",
    lambda n, d, k, r: r * n * d**2,
)
_wrong(
    "restricted",
    "restricted_without_width",
    "Restricted: you count the pairs of words. Comparing one pair takes d multiplications.",
    lambda n, d, k, r: r * n,
)
_wrong(
    "restricted",
    "restricted_one_word",
    "Restricted: you count the comparisons of a single word. There are n words.",
    lambda n, d, k, r: r * d,
)
_wrong(
    "restricted",
    "restricted_one_comparison",
    "Restricted: r is missing from the multiplications. Each word is compared with r words.",
    lambda n, d, k, r: n * d,
)
_wrong(
    "restricted",
    "restricted_both_sides",
    "Restricted: you count 2r + 1 words for each word, r on both sides and the word itself. In the table r counts all words that a word is compared with.",
    lambda n, d, k, r: (2 * r + 1) * n * d,
)
_wrong(
    "restricted",
    "restricted_all_pairs_of_a_window",
    "Restricted: you square r. Each of the n words is compared with r words, and those are not compared among themselves.",
    lambda n, d, k, r: r**2 * n * d,
)
_wrong(
    "restricted",
    "restricted_k_for_r",
    "Restricted: you use k where r is meant, in the multiplications. r is how many words a word is compared with; k is for convolution.",
    lambda n, d, k, r: k * n * d,
)
_wrong(
    "restricted",
    "restricted_step_by_step",
    "Restricted: you let one word wait for the other. All words look at the same time.",
    steps=lambda n, d, k, r: n,
)
_wrong(
    "restricted",
    "restricted_path_of_1",
    "Restricted: your longest path is 1, as in self-attention. A layer carries a signal r places; a word that stands farther away needs more layers.",
    path=lambda n, d, k, r: 1,
)
_wrong(
    "restricted",
    "restricted_path_rounded_down",
    "Restricted: you round n/r down, and then the layers do not suffice. Round up.",
    path=lambda n, d, k, r: n // r,
)
_wrong(
    "restricted",
    "restricted_path_rounded_to_nearest",
    "Restricted: you round n/r to the nearest whole number. Round up: a part of a layer is a layer.",
    path=lambda n, d, k, r: round(n / r),
)
_wrong(
    "restricted",
    "restricted_places_between",
    "Restricted: you count the places between the first and the last word, n - 1. The table says n: how many layers carry a signal n places.",
    path=lambda n, d, k, r: -(-(n - 1) // r),
)
_wrong(
    "restricted",
    "restricted_cut_to_the_sentence",
    "Restricted: where r is larger than n, you count n words instead of r. Leave r as it is.",
    lambda n, d, k, r: min(r, n) * n * d,
)
_wrong(
    "restricted",
    "restricted_path_not_rounded",
    "Restricted: n/r is not rounded. Layers are whole: round up.",
    path=lambda n, d, k, r: n / r,
)
_wrong(
    "restricted",
    "restricted_path_and_one",
    "Restricted: where r divides n, your longest path is one layer too long: rounding down and adding 1 is not rounding up.",
    path=lambda n, d, k, r: n // r + 1,
)
_wrong(
    "restricted",
    "restricted_path_with_k",
    "Restricted: you divide by k, and r is meant: a layer carries a signal r places.",
    path=lambda n, d, k, r: -(-n // k),
)
_wrong(
    "restricted",
    "restricted_path_by_logarithm",
    "Restricted: you take the logarithm to the base r, as for a convolution with gaps. Here each layer carries a signal r places further, no more: divide n by r.",
    path=lambda n, d, k, r: _layers(n, r) if r > 1 else n,
)
_wrong(
    "restricted",
    "restricted_path_is_n",
    "Restricted: your longest path is n, as in a recurrent layer. A layer carries a signal r places at once.",
    path=lambda n, d, k, r: n,
)


@task.mistake(
    "Convolution and restricted: you count the places between the first and the last word, n - 1. The table says n for both longest paths."
)
def places_between(kind, n, d, k, r):
    multiplications, steps, path = _right(kind, n, d, k, r)
    return multiplications, steps, _right(kind, n - 1, d, k, r)[2] if kind in ("convolution", "restricted") else path


@task.mistake(
    "The second number and the third are exchanged: first come the multiplications, then the steps one after another, then the longest path."
)
def steps_and_path_exchanged(kind, n, d, k, r):
    multiplications, steps, path = _right(kind, n, d, k, r)
    return multiplications, path, steps


@task.mistake("The three numbers stand in reverse order: first come the multiplications, last the longest path.")
def reversed_order(kind, n, d, k, r):
    return _right(kind, n, d, k, r)[::-1]


@task.mistake("n and d are exchanged in all kinds: n is the number of words, and d their width.")
def n_and_d_exchanged(kind, n, d, k, r):
    return _right(kind, d, n, k, r)


@task.mistake(
    "k and r are exchanged in all kinds: k is the width of a convolution's kernel, and r the number of words in restricted attention."
)
def k_and_r_exchanged(kind, n, d, k, r):
    return _right(kind, n, d, r, k)


@task.mistake(
    "Self-attention and the recurrent layer are exchanged: it is the recurrent layer that needs a step for each word."
)
def self_and_recurrent_exchanged(kind, n, d, k, r):
    return _right({"self": "recurrent", "recurrent": "self"}.get(kind, kind), n, d, k, r)


@task.mistake("The convolution and restricted attention are exchanged.")
def convolution_and_restricted_exchanged(kind, n, d, k, r):
    return _right({"convolution": "restricted", "restricted": "convolution"}.get(kind, kind), n, d, k, r)


@task.mistake(
    "Every kind has the costs of self-attention in your answer. Look at `kind`, and note that a text is compared with `==`: `if kind == 'self' or 'recurrent'` is always true."
)
def kind_unused(kind, n, d, k, r):
    return _right("self", n, d, k, r)


@task.mistake("You return the number of multiplications alone. Return a tuple of three ints.")
def multiplications_alone(kind, n, d, k, r):
    return _right(kind, n, d, k, r)[0]
