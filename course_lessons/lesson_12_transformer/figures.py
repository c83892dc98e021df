"""What the page of lesson 12 only draws: three words in one encoder layer, and the four steps in which they are translated."""

import json
from pathlib import Path

from course_utils.data.measured import by_seed
from course_utils.figures import plots
from course_utils.figures.film import Film, bracketed, chip, line, number, words
from course_utils.figures.roles import GREY, LINE, ROLES, colour_of

TINY = Path(__file__).with_name("boy_called_girl.json")  # written by benchmarks/boy_called_girl.py
CELL, HIGH, FIRST, PITCH = 49, 30, 116, 214  # pixels: a cell, a row, the first word's left edge, from word to word
STREAM = "#e9edf1"
FOLLOWED, ENTRY = 2, 1  # the word and the entry that the text follows: their sums come out exactly when rounded
ROWS = {"embeddings": 58, "positions": 94, "start": 134, "values": 192, "contexts": 312, "middle": 352, "hidden": 396,
        "outputs": 424, "end": 464}  # fmt: skip


def one_layer():
    """Film: three words flow through the encoder layer of a tiny Transformer; one entry of "girl" is lit up."""
    seen = json.loads(TINY.read_text(encoding="utf-8"))
    film = Film("Each word keeps its own stream, and only attention crosses", 606, 12)
    total, attend, add, alone, done = 1.8, 3.0, 6.0, 7.2, 9.4  # seconds: when each part begins
    lefts = [FIRST + PITCH * i for i in range(len(seen["source"]))]
    for left, word in zip(lefts, seen["source"], strict=True):
        film.add(_stream(left - 8), total)
        film.add(words(left + 2 * CELL, 40, word, 17, bold=True))
    for row, name, role, sign, begins in (
        ("embeddings", "embedding", "word", "", 0.0),
        ("positions", "position", "word", "+", 0.9),
        ("start", "sum", "", "=", total),
        ("values", "value", "value", "", attend),
        ("contexts", "context", "context", "+", attend + 2.0),
        ("middle", "sum", "", "=", add),
        ("outputs", "output", "word", "+", alone + 0.8),
        ("end", "sum", "", "=", alone + 1.5),
    ):
        film.add(words(FIRST - 18, ROWS[row] + 20, f"{sign} {name}", 14, role, True, "end"), begins)
        for i, (left, vector) in enumerate(zip(lefts, seen[row], strict=True)):
            lit = i == FOLLOWED or row == "values"
            how = f"0,{ROWS['start'] - ROWS['values']}" if row == "values" else ""
            film.add(_cells(left, ROWS[row], vector, role, lit), begins, None, how)
    film.add(words(FIRST - 18, 262, "weights", 14, "weight", True, "end"), attend + 0.9)
    for t, to in sorted(enumerate(lefts), key=lambda place: place[0] != FOLLOWED):  # the word that is followed, first
        film.add(_crossing(lefts, to, seen["weights"][t], t == FOLLOWED), attend + 0.9 + 1.5 * (t != FOLLOWED))
    film.add(words(FIRST - 18, ROWS["hidden"] + 13, "feed-forward", 12, "", True, "end"), alone)
    for left, units in zip(lefts, seen["hidden"], strict=True):
        film.add(_units(left, units), alone)
    film.add(_sums(seen), done)
    film.description = _one_layer_in_words(seen)
    return film


def four_steps():
    """Film: the decoder of the same tiny Transformer writes four words, and before each it looks at the memory."""
    seen = json.loads(TINY.read_text(encoding="utf-8"))
    film, wide, tall = Film("One memory, and a new look at it for each word", 520, 12), 372, 250
    written = ["BOS", *seen["written"]]
    for t, weights in enumerate(seen["looks"]):
        left, top, now = 8 + wide * (t % 2), 12 + tall * (t // 2), 2.4 * t
        frame = f'x="{left}" y="{top}" width="{wide - 6}" height="{tall - 8}" rx="6" fill="none" stroke="#d0d7de"'
        film.add(f"<rect {frame}/>", now)
        film.add(words(left + 12, top + 36, "memory", 13, anchor="start", fill=GREY), now)
        xs = [left + 70 + 96 * i for i in range(len(weights))]
        asks = left + 14 + 86 * t + 40
        film.add(_target(left + 14, top + 134, written[: t + 1]), now)
        for x, word, weight in zip(xs, seen["source"], weights, strict=True):
            film.add(chip(x, top + 14, word, "word", 84, 34), now)
            film.add(_look(x + 42, top + 49, asks, top + 133, weight), now + 0.6)
        film.add(chip(asks - 40, top + 170, "context", "context", 80, 24, 13), now + 1.2)
        film.add(line(asks, top + 195, asks, top + 212), now + 1.7)
        film.add(words(asks, top + 232, written[t + 1], 18, bold=True), now + 1.7)
        if t == 0:
            film.add(words(asks + 50, top + 155, "the last word’s vector asks", 13, "query", anchor="start"), now)
            film.add(words(asks + 50, top + 187, "is added to this vector", 13, anchor="start", fill=GREY), now + 1.2)
            film.add(
                words(asks + 50, top + 231, "the most probable next word", 13, anchor="start", fill=GREY), now + 1.7
            )
    film.description = _four_steps_in_words(seen, written)
    return film


def six_layers(runs):
    """Draw how the stream grows in untrained models of six layers, seeds×7 each, and how many words trained ones get right."""
    ax = plots.axes(width=7)
    plots.curves(range(7), runs, "layers", "standard deviation", ax=ax, legend="above")
    ax.set_yscale("log")
    rows = {}
    for name in runs:  # such as "small weights, without norms"
        part = "norms" if "without" in name else "nothing"
        setup = f"{part}, six layers, {name.partition(',')[0]}"
        rows[name] = {"teacher forcing": by_seed("parts", "given_right", part=setup)}
    plots.dots(rows, "share of words right after 200 steps; a mark for each of three seeds")


def _stream(x):
    """A word's residual stream as a broad band with a tip, from its first sum downwards."""
    wide, top, bottom = 4 * CELL + 16, ROWS["start"] - 6, ROWS["end"] + HIGH + 22
    tip = f"L{x + wide / 2:g} {bottom + 16}L{x:g} {bottom}Z"
    band = f'<path d="M{x:g} {top}H{x + wide:g}V{bottom}{tip}" fill="{STREAM}"/>'
    return band + words(x + wide / 2, bottom + 1, "residual stream", 12, fill=GREY)


def _cells(x, y, numbers, role, lit):
    """A vector as a row of cells in its role's shape; of its numbers, one is bold if `lit`, and the others are pale."""
    look, wide = ROLES[role or "word"], CELL * len(numbers)
    if role:
        drawn = [chip(x, y, "", role, wide, HIGH)]
    else:  # a sum so far
        drawn = [
            f'<rect x="{x:g}" y="{y}" width="{wide}" height="{HIGH}" fill="#ffffff" stroke="#1f2328" stroke-width="2"/>'
        ]
    for i, entry in enumerate(numbers):
        left, bright = x + i * CELL, lit and i == ENTRY
        if i:
            edge = look.text if role == "context" else look.colour
            drawn.append(f'<path d="M{left:g} {y}V{y + HIGH}" stroke="{edge}" stroke-opacity="0.5"/>')
        pale = "#a9d8c8" if role == "context" else LINE
        fill = look.text if bright else pale
        drawn.append(words(left + CELL / 2, y + 20, number(entry), 13, "", bright, fill=fill))
    return "".join(drawn)


def _crossing(lefts, to, weights, lit):
    """The lines along which a word receives the others' values, each as thick as its weight; the numbers only if `lit`."""
    drawn, top, bottom = [], ROWS["values"] + HIGH + 2, ROWS["contexts"] - 3
    for j, (left, weight) in enumerate(zip(lefts, weights, strict=True)):
        x, end = left + 2 * CELL, to + 2 * CELL + 44 * (j - 1)
        pen = f'stroke="{ROLES["weight"].colour}" stroke-width="{1 + 9 * weight:.1f}" stroke-opacity="{0.9 if lit else 0.22}"'
        drawn.append(f'<path d="M{x:g} {top}L{end:g} {bottom}" {pen}/>')
        if lit:
            share = 0.85  # near the word that is followed
            at, y = x + share * (end - x), top + share * (bottom - top)
            drawn.append(_number_on_line(at, y, weight))
    return "".join(drawn)


def _units(left, units):
    """The hidden units of a feed-forward network as squares, darker for a larger unit and white for 0."""
    drawn, middle = [], left + 2 * CELL
    for i, unit in enumerate(units):
        dark = f'fill="#1f2328" fill-opacity="{min(1, 0.15 + unit / 2):.2f}"' if unit > 0 else 'fill="#ffffff"'
        drawn.append(
            f'<rect x="{left + 12 + i * 22}" y="{ROWS["hidden"]}" width="17" height="17" {dark} stroke="{GREY}"/>'
        )
    above, below = ROWS["middle"] + HIGH + 1, ROWS["hidden"] + 18
    return (
        "".join(drawn)
        + line(middle, above, middle, ROWS["hidden"] - 1)
        + line(middle, below, middle, ROWS["outputs"] - 1)
    )


def _sums(seen):
    """Both sums behind the entry that is followed."""
    i, word = FOLLOWED, seen["source"][FOLLOWED]
    parts = [
        f"[weight:{number(w)}] × [value:{bracketed(v[ENTRY])}]"
        for w, v in zip(seen["weights"][i], seen["values"], strict=True)
    ]
    context, end = seen["contexts"][i][ENTRY], seen["end"][i][ENTRY]
    terms = [seen[name][i][ENTRY] for name in ("embeddings", "positions")]
    stream = f"{number(terms[0])} + {bracketed(terms[1])} + [context:{bracketed(context)}] + {bracketed(seen['outputs'][i][ENTRY])}"
    y = ROWS["end"] + HIGH + 66
    drawn = words(18, y, f"“{word}”, entry 2", 14, "", True, "start")
    drawn += words(180, y, f"context: {' + '.join(parts)} = [context:{number(context)}]", 14, anchor="start")
    return drawn + words(180, y + 24, f"sum: {stream} = {number(end)}", 14, anchor="start")


def _target(x, y, written):
    """The words written so far, of which the last asks."""
    drawn = [chip(x + 86 * i, y, word, "word", 80, 32, 15, False) for i, word in enumerate(written[:-1])]
    return "".join(drawn) + chip(x + 86 * (len(written) - 1), y, written[-1], "query", 80, 32)


def _look(x, y, to_x, to_y, weight):
    """A line from a word of the memory to the word that asks, as thick as the weight, whose number it has from 0.05 on."""
    pen = f'stroke="{colour_of("weight")}" stroke-width="{1 + 9 * weight:.1f}" stroke-opacity="{0.25 + 0.65 * weight:.2f}"'
    drawn = f'<path d="M{x:g} {y}L{to_x:g} {to_y}" {pen}/>'
    if weight < 0.05:
        return drawn
    at, height = x + 0.3 * (to_x - x), y + 0.3 * (to_y - y)
    return drawn + _number_on_line(at, height, weight)


def _number_on_line(x, y, weight):
    """A weight's number on white, so that it can be read on its line."""
    ground = f'<rect x="{x - 19:.0f}" y="{y - 10:.0f}" width="38" height="20" rx="4" fill="#ffffff"/>'
    return ground + words(round(x), round(y) + 5, number(weight), 15, "weight", True)


def _one_layer_in_words(seen):
    weights = [
        f"for {word}, " + ", ".join(f"{number(w)} on {other}" for w, other in zip(row, seen["source"], strict=True))
        for word, row in zip(seen["source"], seen["weights"], strict=True)
    ]
    rows = ("embeddings", "positions", "contexts", "outputs")
    sums = [
        f"{word}: {' + '.join(bracketed(seen[name][i][ENTRY]) for name in rows)} = {number(seen['end'][i][ENTRY])}"
        for i, word in enumerate(seen["source"])
    ]
    return (
        "Each of three words has its own stream of four numbers, a sum that grows: an embedding plus a position, plus the "
        "context that attention finds, plus the output of a feed-forward network. Lines cross from word to word only in "
        f"attention. Its weights are, {'; '.join(weights)}. The context of a word is the sum of all values, "
        f"weighted. Second entries (embedding, position, context, output, sum): {'; '.join(sums)}."
    )


def _four_steps_in_words(seen, written):
    steps = [
        f"Step {t + 1}: after {written[t]}, the weights are "
        + ", ".join(f"{number(weight)} on {word}" for weight, word in zip(row, seen["source"], strict=True))
        + f", and the next word is {written[t + 1]}"
        for t, row in enumerate(seen["looks"])
    ]
    return f"The memory of {' '.join(seen['source'])} stays the same in all steps. {'. '.join(steps)}."
