"""Draws the README's first picture: a translation is written word by word, and lines show what the decoder looks at for each word.

Here: the picture, as a `Film` in the translator's own numbers. Not here: the first web page's figure (`contents.py`).
"""

from course_utils.figures.film import Film, chip, number, words
from course_utils.figures.roles import GREY, ROLES
from course_utils.models.serialization import load_pretrained
from course_utils.translation.search import translate_all

SENTENCE = "A black dog catches a red ball in the snow."
SEEN = 0.05  # a weight below is not drawn
LEFT, RIGHT, TOP, BOTTOM, TALL, SIZE = 20, 740, 78, 218, 40, 20  # pixels
FIRST, EACH = 0.6, 0.65  # seconds: until the first word is written, and for each


def crossing() -> Film:
    """Return the film: each French word with lines to the English words it looks at, as thick as their weights."""
    model, subwords = load_pretrained("attention-en-fr")
    rows = subwords.encode([SENTENCE])
    (found,) = translate_all(model, rows, width=1, weights=True)
    source, target = ([token.strip("▁") for token in subwords.tokens(ids)] for ids in (rows[0], found.tokens))
    weights = [row[: len(source)] for row in found.weights.tolist()]
    most = [row.index(max(row)) for row in weights]
    film = Film(
        "To write “chien noir”, attention looks at “dog”, then back at “black”", 312, FIRST + EACH * len(target) + 4
    )
    film.add(words(LEFT, 38, f"{film.title}.", 17, bold=True, anchor="start"))
    above, below = _centres(source), _centres(target)
    for x, word in zip(above, source, strict=True):
        film.add(chip(x - _wide(word) / 2, TOP, word, "word", _wide(word), TALL, SIZE, bold=False))
    for t, (x, word) in enumerate(zip(below, target, strict=True)):
        start = FIRST + EACH * t
        crosses = any((most[t] - most[other]) * (t - other) < 0 for other in (t - 1, t + 1) if 0 <= other < len(most))
        for to_x, weight in zip(above, weights[t], strict=True):
            if weight >= SEEN:
                ends = f'x1="{x:g}" y1="{BOTTOM}" x2="{to_x:g}" y2="{TOP + TALL}"'
                opacity = weight if crosses else weight * 0.4
                film.add(
                    f'<line {ends} stroke="{ROLES["weight"].colour}" stroke-width="5" opacity="{opacity:.2f}"/>', start
                )
        film.add(chip(x - _wide(word) / 2, BOTTOM, word, "word", _wide(word), TALL, SIZE, bold=crosses), start)
        film.add(words(x, BOTTOM + TALL + 18, number(max(weights[t])), 14, "weight", bold=crosses), start)
    note = "Below each word is its largest weight. French puts the colour second, so the lines cross."
    film.add(words(LEFT, 297, note, 14, anchor="start", fill=GREY), start + EACH)
    pairs = (
        f"“{word}” looks at “{source[at]}” ({number(max(row))})"
        for word, at, row in zip(target, most, weights, strict=True)
    )
    film.description = f"“{SENTENCE}” is translated into French, word by word: {', '.join(pairs)}."
    return film


def _wide(word):
    return 0.56 * SIZE * len(word) + 16


def _centres(row):
    """Return where the middles of a row's words are; the row fills the picture's width."""
    gap = (RIGHT - LEFT - sum(map(_wide, row))) / (len(row) - 1)
    centres, x = [], LEFT
    for word in row:
        centres.append(x + _wide(word) / 2)
        x += _wide(word) + gap
    return centres
