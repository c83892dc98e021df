"""What the page of lesson 03 only draws: one query that asks three words, and a sentence whose words ask one another."""

import torch

from course_utils.figures import looks
from course_utils.figures.film import Film, number, vector, words
from course_utils.figures.roles import GREY, ROLES
from course_utils.models.attention import attention

TOP, APART = 84, 46  # pixels: the first word's middle, from one word to the next
SHOWN = 0.05  # smaller weights have no line


def one_query(names, query, keys, values):
    """Film: the three steps for one query, D, with keys S×D and values S×E, by dot products."""
    scores = keys @ query
    parts = [looks.products(query, key) for key in keys]
    title = f"“{names[int(scores.argmax())]}” has what the query asks for"
    return looks.one_look(title, names, query, keys, values, scores.softmax(-1), scores, parts, "query · key")


def three_jobs(sentence, features, W_q, W_k, W_v):
    """Film: the words of a sentence ask one another, with the page's features and matrices; a value is shown by its polarity."""
    names = sentence.split()
    x = torch.stack([features.get(word, features["neutral"]) for word in names])  # S D
    queries, keys, values = x @ W_q, x @ W_k, x @ W_v
    contexts, weights = attention(queries, keys, values)
    total = float((x + contexts).sum(0)[0])
    film = Film(_finding(names, weights), TOP + APART * len(names) + 76, 9)
    heads = (
        (53, "context", "brings back"),
        (242, "query", "asks for"),
        (490, "key", "is found as"),
        (690, "value", "hands over"),
    )
    for x_at, role, head in heads:
        film.add(words(x_at, 34, head, 15, role, True))
    film.add(words(242, 51, "opinion, neutral", 12, fill=GREY) + words(490, 51, "opinion, neutral", 12, fill=GREY))
    film.add(words(690, 51, "polarity", 12, fill=GREY) + words(53, 51, "polarity", 12, fill=GREY))
    for i, name in enumerate(names):
        y = TOP + APART * i
        film.add(words(136, y + 5, name, 15, bold=True) + words(604, y + 5, name, 15, bold=True))
        film.add(vector(186, y - 17, queries[i].tolist(), "query", 48, 34, False, 0, 15), 0.5)
        film.add(vector(434, y - 17, keys[i].tolist(), "key", 48, 34, False, 0, 15), 1.4)
    for i, row in enumerate(weights.tolist()):
        for j, weight in enumerate(row):
            if weight >= SHOWN:
                film.add(_look(300, TOP + APART * i, 440, TOP + APART * j, weight), 2.4 + 0.25 * i)
    for i, (value, context) in enumerate(zip(values[:, 0].tolist(), contexts[:, 0].tolist(), strict=True)):
        y = TOP + APART * i - 17
        film.add(vector(658, y, [value], "value", 48, 34, False, 0, 15), 4.2)
        film.add(vector(21, y, [context], "context", 48, 34, False, 0, 15), 5.2)
    parts = [(float(own), f"“{name}” itself") for name, own in zip(names, x[:, 0], strict=True) if own]
    parts += [
        (float(c), f"brought back by “{name}”") for name, c in zip(names, contexts[:, 0], strict=True) if abs(c) > 0.5
    ]
    bottom = TOP + APART * len(names) + 14
    film.add(words(20, bottom + 6, "the sum", 15, bold=True, anchor="start"), 6.4)
    for i, (part, of) in enumerate(parts):
        film.add(words(160 + 150 * i, bottom + 6, _signed(part), 16, "context" if i else "", True), 6.4)
        film.add(words(160 + 150 * i, bottom + 26, of, 12, fill=GREY), 6.4)
    verdict = "a good review" if total > 0 else "a bad review"
    film.add(words(740, bottom + 6, f"= {_signed(total)}: {verdict}", 16, bold=True, anchor="end"), 7.2)
    finds = [f"“{name}” looks at {_named(names, row)}" for name, row in zip(names, weights.tolist(), strict=True)]
    film.description = (
        f"“{sentence}”: {'; '.join(finds)}. The polarity that each word hands over: "
        + ", ".join(f"{name} {number(value, 0)}" for name, value in zip(names, values[:, 0], strict=True))
        + ". The sum: "
        + ", ".join(f"{_signed(part)} ({of})" for part, of in parts)
        + f", which is {_signed(total)}, {verdict}."
    )
    return film


def _finding(names, weights):
    opinion = names[-1]
    askers = [name for name, row in zip(names, weights, strict=True) if row[-1] > 0.5]
    return f"“{askers[0]}” finds “{opinion}”" if askers else f"No word asks for “{opinion}”"


def _look(x, y, to_x, to_y, weight):
    """A query's look at a key, as thick as its weight."""
    bend = (to_x - x) / 2
    path = f"M{x} {y}C{x + bend:g} {y} {to_x - bend:g} {to_y} {to_x} {to_y}"
    colour = ROLES["weight"].colour
    opacity = 0.85 if weight > 0.5 else 0.35  # the looks that the text follows
    return (
        f'<path d="{path}" fill="none" stroke="{colour}" stroke-width="{9 * weight:.1f}" stroke-opacity="{opacity}"/>'
    )


def _named(names, row):
    return " and ".join(
        f"“{name}” ({number(weight)})" for name, weight in zip(names, row, strict=True) if weight >= SHOWN
    )


def _signed(x):
    return f"+{number(x, 0)}" if x > 0 else number(x, 0)
