"""Task 11.rotate: pairs across the halves of a word's vector, turned by an angle that grows with the word's position (Su et al. 2021; pairs as in GPT-NeoX's code)."""

from operator import add, mul, sub

import torch

from course_lessons.lesson_11_positions.tasks._angles import frequencies, frequency_mistakes, interleaved
from course_lessons.shared.partial_credit import USUAL
from course_utils.checks.reference_trace import left_out
from course_utils.checks.running.contract import Case
from course_utils.checks.task import Task, count, sizes

task = Task(
    "11.rotate",
    "rotary positions with pairs across halves",
    arguments=("x B×T×D", "start"),
    result="turned B×T×D",
    difficulty=3,
    importance=5,
    minutes=20,
    hints=(
        "Each pair (a, b) is a point in the plane, a from the first half of the vector and b from the second, and you rotate it about the origin, which keeps its length. The angle has two factors: the position of the word, start + t, and the speed of this pair, its frequency. All sentences are rotated alike. Make a table of angles first, T×D/2, then its sines and cosines, and rotate all pairs at once.",
        (
            "Take one sentence of two words, both [1, 0], and start = 1. There is one pair, of frequency 1, so the angles are 1 and 2. The first word becomes (1·cos 1 − 0·sin 1, 1·sin 1 + 0·cos 1) = (0.5403, 0.8415), the second (cos 2, sin 2) = (−0.4161, 0.9093). "
            "Their dot product is 0.5403·(−0.4161) + 0.8415·0.9093 = 0.5403, which is cos(2 − 1): it depends on the distance between the words. With start = 5, the vectors are different but the dot product is the same."
        ),
        "positions = start, …, start + T − 1; angles = positions as T×1 divided by 10000 to the power of (2i / D), T×D/2; a = the first half of each vector, b = the second, both B×T×D/2; new a and new b by the formula, from the old a and b; put all the new a's before all the new b's.",
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
    return f"A rotated pair keeps its length, but the pair in dimensions {i} and {i + before.shape[2]} of word {t}, sentence {b}, has length {before[b, t, i]:.4g} before and {after[b, t, i]:.4g} afterwards."


@task.property
def position_0_is_not_turned(case, value):
    """The angle of position 0 is 0."""
    x, start = case.args
    if start or torch.allclose(value[:, 0].double(), x[:, 0].double(), atol=1e-3):
        return None
    return "With start = 0 the first word is at position 0, where every angle is 0: it should stay as it is, but yours changes."


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
    return f"Word {t} of sentence {b} is at position {start + t}, so its pair {i} should be rotated by {start + t} · 10000 to the power of −{2 * i}/{x.shape[2]}, which is {angles[t, i]:.4g}. Yours is rotated by {turned[b, t, i].angle():.4g} (plus or minus full turns)."


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
    yield Case("numbers near 10,000", (draw.numbers(2, 5, 6) * 1e4, 7), hazard=True)
    yield Case("200 words of width 64", (draw.numbers(1, 200, 64), 1), edge=True)


def _side_by_side(first, second):
    return torch.cat([first, second], -1)


@task.steps
def _(x, start):
    positions = yield "the positions", add, start, torch.arange(x.shape[1]).double()[:, None]
    of_pairs = yield "the frequencies", frequencies, x.shape[2]
    angles = yield "the angles", mul, positions, of_pairs
    sines = yield "the sines", lambda angles: angles.sin().to(x.dtype), angles
    cosines = yield "the cosines", lambda angles: angles.cos().to(x.dtype), angles
    a, b = yield "the pairs", lambda x: x.chunk(2, -1), x
    a_cos = yield "a cos", mul, a, cosines
    b_sin = yield "b sin", mul, b, sines
    a_sin = yield "a sin", mul, a, sines
    b_cos = yield "b cos", mul, b, cosines
    first = yield "the new a", sub, a_cos, b_sin
    second = yield "the new b", add, a_sin, b_cos
    turned = yield "the new halves, side by side", _side_by_side, first, second
    return turned


frequency_mistakes(task)

POSITIONS, SINES, COSINES, PAIRS = "the positions", "the sines", "the cosines", "the pairs"
NEW_A, NEW_B, TURNED = "the new a", "the new b", "the new halves, side by side"
OTHER_WAY = {NEW_A: add, NEW_B: lambda a_sin, b_cos: b_cos - a_sin}
NEIGHBOURS = {PAIRS: lambda x: (x[..., 0::2], x[..., 1::2])}


# Pairs, and where they go

HERE = "Here a pair consists of dimensions i and i + D/2"
MIXED = "You mix two ways of arranging pairs"
task.changed_each(
    ("pairs_of_neighbours", f"Your pairs are neighbours, dimensions 2i and 2i + 1, as in the lesson. {HERE}.", NEIGHBOURS | {TURNED: interleaved}),
    (
        "pairs_of_neighbours_other_way",
        f"Your pairs are neighbours, dimensions 2i and 2i + 1, and you rotate them by minus the angle. {HERE}, and the minus sign belongs in the new a: a cos − b sin.",
        NEIGHBOURS | {TURNED: interleaved} | OTHER_WAY,
    ),
    (
        "neighbours_put_into_halves",
        "You pair neighbours and then put all first numbers in the left half and all second ones in the right half. The pairs themselves should span the halves: split each vector in the middle before you rotate.",
        NEIGHBOURS,
    ),
    ("interleaved_at_the_end", "The pairs are rotated correctly, but each new b comes right after its new a. Put each number back in the dimension that it came from: first all the new a's, then all the new b's.", {TURNED: interleaved}),
    ("pairs_left_apart", "Each pair still has its own axis: you return B×T×D/2×2. Merge the last two axes, so that the result has the shape of x.", {TURNED: lambda first, second: torch.stack([first, second], -1)}),
)  # fmt: skip


def _by_a_table(angles, partners):
    """A change of the result to x cos + partners sin, with tables of D sines and cosines, as many libraries compute it."""

    def turned(_, *, x, done):
        return x * angles(done[COSINES]) + partners(x) * angles(done[SINES])

    return {"result": turned}


def _across(x):
    a, b = x.chunk(2, -1)
    return _side_by_side(-b, a)


task.changed(
    "halves_with_angles_of_neighbours",
    f"{MIXED}: you swap the halves of a vector, which is correct, but you repeat each angle twice in a row, as for neighbours. Here the dimensions i and i + D/2 share an angle, so repeat the whole table of D/2 angles, side by side.",
    _by_a_table(lambda waves: waves.repeat_interleave(2, 1), _across),
)
task.changed(
    "angles_side_by_side",
    f"{MIXED}: your table of angles is correct for halves, but you swap neighbours. From each vector make (−second half, first half).",
    _by_a_table(lambda waves: waves.repeat(1, 2), lambda x: interleaved(-x[..., 1::2], x[..., 0::2])),
)


# The turn

task.changed_each(
    ("other_way_round", "You rotate the pairs in the wrong direction, by minus the angle. The minus sign belongs in the new a: a cos − b sin, and a sin + b cos for the new b.", OTHER_WAY),
    ("no_minus", "A minus sign is missing: the new b is correct, but in the new a you add b sin instead of subtracting it.", {NEW_A: add}),
    (
        "sine_and_cosine_exchanged",
        "Sine and cosine are swapped. At position 0 nothing should be rotated: the cosine is 1 there, so it multiplies a in the new a and b in the new b.",
        {SINES: lambda angles, *, x: angles.cos().to(x.dtype), COSINES: lambda angles, *, x: angles.sin().to(x.dtype)},
    ),
    (
        "multiplied_alone",
        "You only multiply the first number of each pair by the cosine and the second by the sine. Each new number depends on both old ones: a cos − b sin, and a sin + b cos.",
        {NEW_A: left_out, NEW_B: lambda *_, done: done["b sin"]},
    ),
    (
        "first_overwritten",
        "The first number of each pair is correct, but the second is computed from the new first number. Both formulas need the old a: keep it, or compute both before you store either.",
        {NEW_B: lambda a_sin, b_cos, *, done: done[NEW_A] * done[SINES] + b_cos},
    ),
    ("added", "You add sines and cosines of the positions to x, as sinusoidal positions do. Here nothing is added: each pair of x is rotated.", {"result": lambda _, *, x, done: x + interleaved(done[SINES], done[COSINES])}),
)  # fmt: skip


# Positions

task.changed_each(
    ("start_ignored", "The result is the same for every start. Word t is at position start + t, which matters when a model writes one word at a time.", {"start": lambda start: 0}),
    ("all_at_start", "All words of a sentence are rotated by the same angle, the one for position start. Word t is at position start + t.", {POSITIONS: lambda start, t: start + 0 * t}),
    (
        "positions_of_sentences",
        "Your positions count sentences: all words of sentence b are rotated as if they were at start + b. Words are on the second axis, and every sentence begins at start.",
        {"x": lambda x: x.transpose(0, 1), "result": lambda turned: turned.transpose(0, 1)},
    ),
    (
        "positions_go_on",
        "Your positions continue from sentence to sentence: the second sentence begins where the first one ends. Every sentence of the batch begins at start.",
        {"x": lambda x: x.flatten(0, 1)[None], "result": lambda turned, *, x: turned.view(x.shape)},
    ),
)  # fmt: skip
