"""What the page of lesson 09 only draws: three words that ask at once, the same in a different order, and a head of SmolLM2."""

import json
from pathlib import Path

import torch

from course_utils.figures.film import Film, bar, chip, height_of, line, number, on_bar, vector, words
from course_utils.figures.roles import GREY, LINE, ROLES
from course_utils.figures.tables import table

WHO_IS_IT = Path(__file__).with_name("who_is_it.json")  # written by benchmarks/who_is_it.py

COLUMNS, ROWS = (312, 420, 528), (176, 268, 360)  # pixels: the keys' middles; the lines on which the weights stand
EXACT, SHOWN = 3, 0.05  # decimals of weights and contexts; smaller weights of SmolLM2 are left out


def all_at_once(names, X, Q, K, V, scores, weights, contexts):
    """Film: three words ask at once. X, Q, K, V and contexts are T×2, scores and weights T×T."""
    film = Film("Three queries at once: a row of weights for each", 512, 11)
    film.add(words(52, 98, "word", 15, bold=True))
    for role, x, y, start in (("query", 164, 98, 0.6), ("key", 222, 71, 1.4), ("value", 222, 428, 5.4)):
        film.add(words(x, y, role, 15, role, True), start)
    film.add(words(222, 110, "score", 13, fill=GREY), 2.2)
    film.add(words(222, 129, "weight", 15, "weight", True), 3.8)
    film.add(words(680, 98, "context", 15, "context", True), 6.6)
    for i, name in enumerate(names):
        film.add(words(52, ROWS[i] - 42, name, 15, bold=True) + _cells(52, ROWS[i] - 16, X[i], "word"))
        film.add(line(90, ROWS[i] - 16, 114, ROWS[i] - 16) + _cells(164, ROWS[i] - 16, Q[i], "query"), 0.6)
        film.add(words(COLUMNS[i], 36, name, 15, bold=True) + _cells(COLUMNS[i], 66, K[i], "key"), 1.4)
    for x in (COLUMNS[0] - 54, *(middle + 54 for middle in COLUMNS)):
        film.add(f'<path d="M{x} 100V448" stroke="{ROLES["word"].colour}" stroke-opacity="0.3"/>')
    for i, base in enumerate(ROWS):
        for j, x in enumerate(COLUMNS):
            above = base - 24 - height_of(weights[i][j])  # right above the weight that it becomes
            film.add(words(x, above, number(scores[i][j]), 13, fill=GREY), 2.2)
    for i, base in enumerate(ROWS):
        for x, weight in zip(COLUMNS, weights[i], strict=True):
            film.add(line(x - 34, base, x + 34, base, width=1, tip=False), 3.8)
            film.add(bar(x, base, weight), 3.8, None, "grow")
            film.add(on_bar(x, base, weight, digits=EXACT), 4.2)
    for x, value in zip(COLUMNS, V, strict=True):
        film.add(_cells(x, 424, value, "value"), 5.4)
    for base, context in zip(ROWS, contexts, strict=True):
        film.add(line(588, base - 16, 616, base - 16) + _cells(680, base - 16, context, "context", EXACT), 6.6)
    matrices = "[weight:weights] = softmax( [query:Q] [key:Kᵀ] / √2 )"
    film.add(words(30, 490, "two products:", 15, bold=True, anchor="start") + words(312, 490, matrices, 16), 8.2)
    film.add(words(612, 490, "[context:contexts] = [weight:weights] [value:V]", 16), 8.8)
    film.description = (
        " ".join(_row_said(names, *each) for each in zip(names, Q, scores, weights, contexts, strict=True))
        + " In matrices: weights = softmax(Q Kᵀ / √2), contexts = weights V."
    )
    return film


def swapped(names, order, before, after):
    """Film: three words on the left, the same in `order` on the right; `before` and `after` are contexts T×2 and weights T×T."""
    (contexts, weights), (new_contexts, new_weights) = before, after
    film = Film("Change the order, and every word takes its context along", 300, 8)
    rows, left, right = (118, 194, 270), (94, 152, 210), (550, 608, 666)
    for x, name in zip(left, names, strict=True):
        film.add(words(x, 36, name, 15, bold=True))
    for i, base in enumerate(rows):
        film.add(words(20, base - 12, names[i], 15, bold=True, anchor="start"))
        film.add(_cells(300, base - 16, contexts[i], "context", EXACT, 47))
        for x, weight in zip(left, weights[i], strict=True):
            film.add(_weight(x, base, weight))
    for i, old in enumerate(order):
        film.add(words(right[i], 36, names[old], 15, bold=True), 1.2, None, f"{right[old] - right[i]},0")
    for i, old in enumerate(order):
        down = rows[old] - rows[i]
        moved = words(740, rows[i] - 12, names[old], 15, bold=True, anchor="end")
        film.add(moved + _cells(460, rows[i] - 16, new_contexts[i], "context", EXACT, 47), 1.2, None, f"0,{down}")
        for j, key in enumerate(order):
            across = right[key] - right[j]
            film.add(_weight(right[j], rows[i], new_weights[i][j]), 1.2, None, f"{across},{down}")
    for i, old in enumerate(order):
        start, end = rows[old] - 16, rows[i] - 16
        path = f'd="M356 {start}C380 {start} 380 {end} 404 {end}" fill="none" stroke="{ROLES["context"].colour}"'
        film.add(f'<path {path} stroke-width="3"/>', 3.4)
    film.description = (
        f"On the left the words {' '.join(names)}, on the right {' '.join(names[i] for i in order)}. Each word's row of "
        "weights and its context have the same numbers on both sides; they are where the word now is. "
        + ". ".join(f"{n}: context {_said(c)}" for n, c in zip(names, contexts, strict=True))
        + "."
    )
    return film


def who_is_it():
    """Picture: where the last word of two sentences looks, in one head of SmolLM2."""
    shown = json.loads(WHO_IS_IT.read_text(encoding="utf-8"))["shown"]
    film, told = Film("“it” finds “animal”, and “wide” finds “street”", 292, 6), []
    for sentence, bottom in zip(shown, (106, 252), strict=True):
        names, weights = sentence["words"], sentence["weights"]
        wide = [max(7.5 * len(name), 12) + 14 for name in names]
        gap = min((724 - sum(wide)) / (len(names) - 1), 14)
        left = [18 + sum(wide[:i]) + gap * i for i in range(len(names))]
        middles = [x + w / 2 for x, w in zip(left, wide, strict=True)]
        for x, name in zip(middles[:-1], names[:-1], strict=True):
            film.add(words(x, bottom, name.replace("'", "’"), 14))
        film.add(chip(left[-1] - 2, bottom - 22, names[-1], "query", wide[-1] + 12, 32))
        for x, weight in zip(middles[:-1], weights[:-1], strict=True):
            if weight >= SHOWN:
                film.add(_arc(x, middles[-1], bottom - 24, weight))
                film.add(words(x, bottom + 20, number(weight), 14, "weight", True))
        if names[-1] == "it":
            film.add(words(left[-1] + wide[-1] + 24, bottom, "was too tired", 14, anchor="start", fill=LINE))
        looks = [f"{name} {number(w)}" for name, w in zip(names, weights, strict=True) if w >= SHOWN]
        told.append(f"In “{' '.join(names)}”, the last word gives these weights: {', '.join(looks)}")
    film.description = ". ".join(told) + "."
    return film


def tried():
    """Return a table: the weights that the head's words give to the animal and to the place, over twelve pairs of nouns."""
    found = json.loads(WHO_IS_IT.read_text(encoding="utf-8"))["tried"]
    rows = {name: [torch.tensor(weights) for weights in pair] for name, pair in found.items()}
    caption = "Mean weight, and the range, in twelve sentences"
    return table(rows, ["on the animal", "on the place"], corner="who looks", digits=2, caption=caption)


def probability_moved():
    """Return how much of the next word's probability moves without the head, in words, next to the other heads."""
    moved, median, most, more = json.loads(WHO_IS_IT.read_text(encoding="utf-8"))["moved"]
    others = f"median of all 270: {median:.1%}, most: {most:.1%}, more than here: {more} heads"
    return f"Probability of the word after “it” that moves without this head: {moved:.1%} ({others})"


def _arc(x, start, y, weight):
    """A look from the word at `start` back to the one at x, as thick as its weight."""
    high = y - 20 - 0.11 * (start - x)
    path = f"M{start:g} {y:g}C{start:g} {high:g} {x:g} {high:g} {x:g} {y + 6:g}"
    look = f'fill="none" stroke="{ROLES["weight"].colour}" stroke-width="{10 * weight:.1f}" stroke-opacity="0.8"'
    return f'<path d="{path}" {look}/>'


def _weight(x, base, weight):
    """A bar of a weight with its number, on its line."""
    drawn = line(x - 26, base, x + 26, base, width=1, tip=False) + bar(x, base, weight, 40, 34)
    return drawn + on_bar(x, base, weight, 40, EXACT, 13)


def _cells(x, y, entries, role, digits=0, width=None):
    """A vector of two entries around (x, y)."""
    width = width or (34 if digits == 0 else 50)
    end = 0 if role == "word" else 8
    return vector(x - width - end, y - 16, entries, role, width, 32, False, digits, 14)


def _said(entries, digits=EXACT):
    return f"({', '.join(number(x, digits) for x in entries)})"


def _row_said(names, name, query, scores, weights, context):
    each = [
        f"{of} score {number(score)}, weight {number(weight, EXACT)}"
        for of, score, weight in zip(names, scores, weights, strict=True)
    ]
    return f"{name} asks with the query {_said(query, 0)}: {'; '.join(each)}. Its context is {_said(context)}."
