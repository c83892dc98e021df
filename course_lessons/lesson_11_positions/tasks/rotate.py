"""Task 11.rotate: pairs across the halves of a word's vector, turned by an angle that grows with the word's position (Su et al. 2021; pairs as in GPT-NeoX's code)."""

from operator import add, mul, sub

import torch

from course_lessons.lesson_11_positions.tasks._angles import frequencies
from course_lessons.shared.partial_credit import USUAL
from course_utils.base.words import count
from course_utils.checks.task import Case, Task, sizes

task = Task(
    __name__,
    "rotary positions with pairs across halves",
    arguments=("x B×T×D", "start"),
    result="turned B×T×D",
    difficulty=3,
    importance=5,
    minutes=20,
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
    turned = yield "the new halves, side by side", lambda first, second: torch.cat([first, second], -1), first, second
    return turned
