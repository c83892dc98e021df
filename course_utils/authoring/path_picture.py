"""Draws the path of lessons, from their facts.

Not here: the lessons' facts (`course_utils/lessons/lesson_NN/`), and the file that the picture goes into (`build.py`).
"""

from html import escape
from textwrap import wrap
from typing import NamedTuple

from course_utils.checks.lesson import Lesson

COLUMNS, WIDTH, GAP, ROW_GAP, EDGE = 3, 276, 34, 40, 2  # pixels: of a box, between two of them, around all
PADDING, TITLE_LINE, WORDS_LINE = 18, 22, 20
TITLE_LETTERS, WORDS_LETTERS = 24, 29  # that fit into a line of a box, in any usual font

STYLE = """\
    text { font-family: -apple-system, "Segoe UI", "Noto Sans", "DejaVu Sans", Helvetica, Arial, sans-serif; font-size: 15px; fill: #1f2328 }
    .title { font-size: 17px; font-weight: 600 }
    .label { font-size: 13px; fill: #59636e }
    .lesson rect { fill: #ddf4ff; stroke: #0969da; stroke-width: 1.5 }
    .way { fill: none; stroke: #7d8590; stroke-width: 2 }
    .tip { fill: #7d8590 }
    @media (prefers-color-scheme: dark) {
      text { fill: #f0f6fc }
      .label { fill: #b1bac4 }
      .lesson rect { fill: #12305a; stroke: #4493f8 }
    }"""


class Box(NamedTuple):
    """What is in one box of the picture."""

    label: str
    title: str
    words: str


def boxes(lessons: dict[str, Lesson]) -> list[Box]:
    """Return what is in the box of each lesson."""
    return [Box(f"Lesson {number}", one.title, one.question) for number, one in lessons.items()]


def picture(lessons: dict[str, Lesson]) -> str:
    """Return the path of lessons, by number, as SVG: boxes in rows of three, each with an arrow to the next."""
    placed = _placed(boxes(lessons))
    width = 2 * EDGE + COLUMNS * WIDTH + (COLUMNS - 1) * GAP
    height = max(one.y + one.height for one in placed) + EDGE
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" height="{height}" '
        'role="img" aria-labelledby="title description">',
        '  <title id="title">The path of lessons</title>',
        f'  <desc id="description">{_safe(in_words(boxes(lessons)))}</desc>',
        f"  <style>\n{STYLE}\n  </style>",
        '  <marker id="tip" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="5" markerHeight="5" orient="auto">',
        '    <path class="tip" d="M0 0 8 4 0 8Z"/>',
        "  </marker>",
        *map(_way, placed, placed[1:]),
        *map(_drawn, placed),
        "</svg>",
    ]
    return "\n".join(lines) + "\n"


def in_words(shown: list[Box]) -> str:
    """Return what the picture says, for those who can't see it."""
    lessons = " ".join(f"{box.label}, {box.title}: {box.words}" for box in shown)
    return f"The lessons in order, each with its question. {lessons}"


class Placed(NamedTuple):
    """A box in its place: its corner, its height, and its texts as (class, text, distance from the top)."""

    x: int
    y: int
    height: int
    texts: list[tuple[str, str, int]]


def _placed(shown):
    placed, y = [], EDGE
    for first in range(0, len(shown), COLUMNS):
        row = shown[first : first + COLUMNS]
        texts = [_texts(box) for box in row]
        height = max(last for *_, (_, _, last) in texts) + PADDING
        for i, lines in enumerate(texts):
            placed.append(Placed(EDGE + i * (WIDTH + GAP), y, height, lines))
        y += height + ROW_GAP
    return placed


def _texts(box):
    line = PADDING + 12
    texts = [("label", box.label, line)]
    for text in _balanced(box.title, TITLE_LETTERS):
        line += TITLE_LINE
        texts.append(("title", text, line))
    line += 4
    for text in _balanced(box.words, WORDS_LETTERS):
        line += WORDS_LINE
        texts.append(("words", text, line))
    return texts


def _balanced(text, letters):
    """Break a text into as few lines as letters allow, all about as long."""
    fewest = len(wrap(text, letters))
    return next(
        lines
        for n in range(1, letters + 1)
        if len(lines := wrap(text, n)) <= fewest and max(map(len, lines)) <= letters
    )


def _drawn(one):
    lines = ['  <g class="lesson">']
    lines.append(f'    <rect x="{one.x}" y="{one.y}" width="{WIDTH}" height="{one.height}" rx="10"/>')
    for kind, text, down in one.texts:
        lines.append(f'    <text class="{kind}" x="{one.x + PADDING}" y="{one.y + down}">{_safe(text)}</text>')
    return "\n".join([*lines, "  </g>"])


def _way(here, there):
    """Return the arrow from one box to the next: to the right, or down and back to the left."""
    if here.y == there.y:
        path = f"M{here.x + WIDTH} {here.y + here.height // 2}H{there.x - 1}"
    else:
        path = f"M{here.x + WIDTH // 2} {here.y + here.height}v{ROW_GAP // 2}H{there.x + WIDTH // 2}V{there.y - 1}"
    return f'  <path class="way" d="{path}" marker-end="url(#tip)"/>'


def _safe(text):
    return escape(text, quote=False)
