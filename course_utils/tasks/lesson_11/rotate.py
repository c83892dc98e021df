"""Task 11.rotate: pairs across the halves of a word's vector, turned by an angle that grows with the word's position (Su et al. 2021; pairs as in LLaMA's code)."""

from math import cos, sin
from operator import add, mul, sub

import torch

from course_utils.checks.running.contract import Case
from course_utils.checks.task import Task, count, sizes
from course_utils.tasks.lesson_11 import _angles
from course_utils.tasks.lesson_11._angles import BASE, frequencies
from course_utils.tasks.shares import USUAL

task = Task(
    "11.rotate",
    "pairs across halves, turned by position",
    arguments=("x B×T×D", "start"),
    result="turned B×T×D",
    difficulty=3,
    importance=5,
    minutes=20,
    hints=(
        "Each pair (a, b) is a point in the plane, a from the first half of the vector and b from the second, and you turn it about the origin, which keeps its length. The angle has two parts: where the word stands, start + t, and how fast this pair turns, its frequency. All sentences turn alike. Make a table of angles first, T×D/2, then its sines and cosines, and turn all pairs at once.",
        (
            "Take one sentence of two words, both [1, 0], and start = 1. There is one pair, of frequency 1, so the angles are 1 and 2. The first word becomes (1·cos 1 − 0·sin 1, 1·sin 1 + 0·cos 1) = (0.5403, 0.8415), the second (cos 2, sin 2) = (−0.4161, 0.9093). "
            "Their dot product is 0.5403·(−0.4161) + 0.8415·0.9093 = 0.5403, which is cos(2 − 1): it tells how far apart the words are. With start = 5 the vectors are others, and the dot product is the same."
        ),
        "positions = start, …, start + T − 1; angles = positions as T×1 divided by 10000 to the power of (2i / D), T×D/2; a = the first half of each vector, b = the second, both B×T×D/2; new a and new b by the formula, from the old a and b; put all new a before all new b.",
    ),
    partial=USUAL,
)


@task.property
def lengths_stay(case, value):
    """A turned pair is as long as before."""
    before, after = (x.double().unflatten(2, (2, -1)).norm(dim=2) for x in (case.args[0], value))
    off = (before - after).abs() > 1e-3 * (1 + before.abs())
    if not off.any():
        return None
    b, t, i = off.nonzero()[0].tolist()
    return f"A pair that is turned keeps its length. The pair in the dimensions {i} and {i + before.shape[2]} of word {t}, sentence {b}, is {before[b, t, i]:.4g} long before and {after[b, t, i]:.4g} afterwards."


@task.property
def position_0_is_not_turned(case, value):
    """The angle of position 0 is 0."""
    x, start = case.args
    if start or torch.allclose(value[:, 0].double(), x[:, 0].double(), atol=1e-3):
        return None
    return "With start = 0 the first word stands at position 0, where every angle is 0: it should stay as it is, and yours changes."


@task.property
def angles_of_pairs(case, value):
    """By how much the pairs are turned."""
    x, start = case.args
    before, after = (torch.complex(*y.double().chunk(2, 2)) for y in (x, value))
    if (before.abs() < 1e-6).any() or ((before.abs() - after.abs()).abs() > 1e-3 * (1 + before.abs())).any():
        return None
    angles = torch.arange(start, start + x.shape[1])[:, None] * frequencies(x.shape[2])
    turned = after / before
    off = (turned - torch.polar(torch.ones_like(angles), angles)).abs() > 1e-3
    if not off.any():
        return None
    b, t, i = off.nonzero()[0].tolist()
    return f"Word {t} of sentence {b} stands at position {start + t}, so its pair {i} should be turned by {start + t} · 10000 to the power of −{2 * i}/{x.shape[2]}, which is {angles[t, i]:.4g}. Yours is turned by {turned[b, t, i].angle():.4g} (or by full turns more or less)."


@task.cases
def _(draw):
    for size in sizes(B=2, T=5, d=3):
        start = int(draw.whole(2, 7))
        name = f"{count(size.B, 'sentence')} of {count(size.T, 'word')}, width {2 * size.d}, start = {start}"
        yield Case(name, (draw.numbers(size.B, size.T, 2 * size.d), start), size.full)
    yield Case("start = 0", (draw.numbers(2, 3, 4), 0))
    yield Case("7 words of width 10, start = 0", (draw.numbers(3, 7, 10), 0))
    start = int(draw.whole(11, 60))
    yield Case(f"11 words of width 14, start = {start}", (draw.numbers(2, 11, 14), start), True)
    yield Case("a single word of width 2", (draw.numbers(1, 1, 2), 3), edge=True)
    yield Case("a single word at position 0", (draw.numbers(1, 1, 6), 0), True, edge=True)
    yield Case("10 words from position 290 on", (draw.numbers(1, 10, 6), 290), edge=True)
    yield Case("as many sentences as words and dimensions", (draw.numbers(4, 4, 4), 2), edge=True)
    yield Case("float64 numbers", (draw.numbers(2, 3, 6, dtype=torch.float64), 5), True, edge=True)
    yield Case("numbers near 10,000", (draw.numbers(2, 5, 6) * 1e4, 7), hazard=True)
    yield Case("200 words of width 64", (draw.numbers(1, 200, 64), 1), edge=True)


@task.oracle
def _(x, start):
    B, T, D = x.shape
    words = []
    for t in range(T):
        first, second = [], []
        for i in range(D // 2):
            angle = (start + t) / BASE ** (2 * i / D)
            a, b = x[:, t, i], x[:, t, D // 2 + i]
            first.append(a * cos(angle) - b * sin(angle))
            second.append(a * sin(angle) + b * cos(angle))
        words.append(torch.stack(first + second, 1))
    return torch.stack(words, 1)


def _interleaved(even, odd):
    return torch.stack([even, odd], -1).flatten(-2)


def _side_by_side(first, second):
    return torch.cat([first, second], -1)


def _pairs(x):
    return x.chunk(2, -1)


@task.steps
def _(x, start):
    T, D = x.shape[1:]
    positions = yield "the positions", add, torch.tensor(float(start), dtype=torch.float64), torch.arange(T).double()
    angles = yield "the angles", mul, positions[:, None], frequencies(D)
    sines = yield "the sines", torch.sin, angles
    cosines = yield "the cosines", torch.cos, angles
    a, b = _pairs(x)
    a_cos = yield "a cos", mul, a, cosines
    b_sin = yield "b sin", mul, b, sines
    a_sin = yield "a sin", mul, a, sines
    b_cos = yield "b cos", mul, b, cosines
    first = yield "the new a", sub, a_cos, b_sin
    second = yield "the new b", add, a_sin, b_cos
    turned = yield "the new halves, side by side", _side_by_side, first, second
    return turned


def _waves(x, start, of=frequencies):
    """Sines and cosines of the angles, T×D/2, as exact as x asks for."""
    angles = (start + torch.arange(x.shape[1]).double())[:, None] * of(x.shape[2])
    return angles.sin().to(x.dtype), angles.cos().to(x.dtype)


def _neighbours(x):
    return x[..., 0::2], x[..., 1::2]


def _turned(x, s, c):
    a, b = _pairs(x)
    return _side_by_side(a * c - b * s, a * s + b * c)


def _turned_by(x, angles):
    return _turned(x, angles.sin().to(x.dtype), angles.cos().to(x.dtype))


for _name, (_of, _sentence) in _angles.WRONG.items():

    def _mistaken(x, start, of=_of):
        return _turned(x, *_waves(x, start, of))

    task.mistake(_sentence, _name)(_mistaken)


@task.mistake(
    "You turn the pairs the other way round, by minus the angle. The minus belongs to the new a: a cos − b sin, and a sin + b cos for the new b."
)
def other_way_round(x, start):
    s, c = _waves(x, start)
    return _turned(x, -s, c)


@task.mistake(
    "Your pairs are neighbours, the dimensions 2i and 2i + 1, as in the lesson. Here a pair consists of the dimensions i and i + D/2."
)
def pairs_of_neighbours(x, start):
    (s, c), (a, b) = _waves(x, start), _neighbours(x)
    return _interleaved(a * c - b * s, a * s + b * c)


@task.mistake(
    "Your pairs are neighbours, the dimensions 2i and 2i + 1, and you turn them by minus the angle. Here a pair consists of the dimensions i and i + D/2, and the minus belongs to the new a: a cos − b sin."
)
def pairs_of_neighbours_other_way(x, start):
    (s, c), (a, b) = _waves(x, start), _neighbours(x)
    return _interleaved(a * c + b * s, b * c - a * s)


@task.mistake(
    "Two ways to arrange pairs are mixed: you exchange the halves of a vector, which is right, and your angles come twice in a row, as for neighbours. Here the dimensions i and i + D/2 share an angle, so the table of D/2 angles stands twice side by side."
)
def halves_with_angles_of_neighbours(x, start):
    s, c = (wave.repeat_interleave(2, 1) for wave in _waves(x, start))
    first, second = _pairs(x)
    return x * c + _side_by_side(-second, first) * s


@task.mistake(
    "Your pairs are neighbours, and then all first numbers stand in the left half and all second ones in the right half. The pairs themselves should go across the halves: cut each vector in the middle before you turn."
)
def neighbours_put_into_halves(x, start):
    (s, c), (a, b) = _waves(x, start), _neighbours(x)
    return _side_by_side(a * c - b * s, a * s + b * c)


@task.mistake(
    "The pairs are turned correctly, and then each new b stands right after its new a. Put each number back into the dimension that it came from: all new a, then all new b."
)
def interleaved_at_the_end(x, start):
    (s, c), (a, b) = _waves(x, start), _pairs(x)
    return _interleaved(a * c - b * s, a * s + b * c)


@task.mistake(
    "Two ways to arrange pairs are mixed: your table of angles is right for halves, and you exchange neighbours. From each vector make (−second half, first half)."
)
def angles_side_by_side(x, start):
    s, c = (wave.repeat(1, 2) for wave in _waves(x, start))
    a, b = _neighbours(x)
    return x * c + _interleaved(-b, a) * s


@task.mistake(
    "The first number of each pair is right, and the second is computed from the new first one. Both formulas need the old a: keep it, or compute both before you put either into its place."
)
def first_overwritten(x, start):
    (s, c), (a, b) = _waves(x, start), _pairs(x)
    a = a * c - b * s
    return _side_by_side(a, a * s + b * c)


@task.mistake(
    "Sine and cosine are exchanged. At position 0 nothing should turn: there the cosine is 1, so it multiplies a in the new a, and b in the new b."
)
def sine_and_cosine_exchanged(x, start):
    s, c = _waves(x, start)
    return _turned(x, c, s)


@task.mistake("A minus is missing: the new b is right, but in the new a you add b sin where it is subtracted.")
def no_minus(x, start):
    (s, c), (a, b) = _waves(x, start), _pairs(x)
    return _side_by_side(a * c + b * s, a * s + b * c)


@task.mistake(
    "The first number of each pair is right, and in the second b cos has the wrong sign: the new b is a sin + b cos, without any minus."
)
def second_with_a_minus(x, start):
    (s, c), (a, b) = _waves(x, start), _pairs(x)
    return _side_by_side(a * c - b * s, a * s - b * c)


@task.mistake(
    "The result is the same for every start. The word t stands at the position start + t, which matters where a model writes one word after another."
)
def start_ignored(x, start):
    return _turned(x, *_waves(x, 0))


@task.mistake(
    "All words of a sentence are turned by the same angle, that of position start. The word t stands at the position start + t."
)
def all_at_start(x, start):
    return _turned_by(x, start * frequencies(x.shape[2]))


@task.mistake("Your positions are one too large: the first word stands at the position start, and not at start + 1.")
def positions_from_1(x, start):
    return _turned(x, *_waves(x, start + 1))


@task.mistake(
    "Your positions are multiplied where they should be added: the word t stands at start + t, and not at start times t."
)
def start_times_t(x, start):
    angles = (start * torch.arange(x.shape[1]).double())[:, None] * frequencies(x.shape[2])
    return _turned_by(x, angles)


@task.mistake(
    "Your positions count sentences: all words of the sentence b are turned as if they stood at start + b. Words stand on the second axis, and each sentence begins anew."
)
def positions_of_sentences(x, start):
    return _turned(x.transpose(0, 1), *_waves(x.transpose(0, 1), start)).transpose(0, 1)


@task.mistake(
    "Your positions go on from sentence to sentence: the second sentence begins where the first one ends. Every sentence of the batch begins at start."
)
def positions_go_on(x, start):
    return _turned(x.flatten(0, 1)[None], *_waves(x.flatten(0, 1)[None], start)).view(x.shape)


@task.mistake(
    "Each number is turned by the angle of its own dimension j, which is counted over dimensions and not over pairs: 10000^(−j/D). Both numbers of a pair need the same angle, that of 2i."
)
def each_place_its_own(x, start):
    D = x.shape[2]
    angles = (start + torch.arange(x.shape[1]).double())[:, None] * BASE ** (-torch.arange(D).double() / D)
    s, c = angles.sin().to(x.dtype), angles.cos().to(x.dtype)
    a, b = _pairs(x)
    return x * c + _side_by_side(-b, a) * s


@task.mistake(
    "You add sines and cosines of the positions to x, as sinusoidal positions do. Here nothing is added: each pair of x is turned."
)
def added(x, start):
    return x + _interleaved(*_waves(x, start))


@task.mistake(
    "You multiply the first number of each pair by the cosine and the second one by the sine, and that is all. Each new number is made of both old ones: a cos − b sin, and a sin + b cos."
)
def multiplied_alone(x, start):
    (s, c), (a, b) = _waves(x, start), _pairs(x)
    return _side_by_side(a * c, b * s)


@task.mistake(
    "Both numbers of a pair are multiplied by the cosine, and that is all. A turn moves a part of each into the other: a cos − b sin, and a sin + b cos."
)
def cosines_alone(x, start):
    _, c = _waves(x, start)
    return x * c.repeat(1, 2)


@task.mistake(
    "Each pair still stands on an axis of its own: you return B×T×D/2×2. Make one axis of the last two, so that the result has the shape of x."
)
def pairs_left_apart(x, start):
    (s, c), (a, b) = _waves(x, start), _pairs(x)
    return torch.stack([a * c - b * s, a * s + b * c], -1)
