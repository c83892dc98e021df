"""One look, drawn in its own numbers: a query meets the keys, the scores become weights, the weighted values add up to the context.

Not here: the pieces and how they move (`film.py`), the look of a role (`roles.py`).
"""

from course_utils.figures.film import Film, bar, bracketed, chip, line, number, vector, words
from course_utils.figures.roles import GREY

LEFT, FIRST = 20, 242  # pixels: the names of the rows, the left edge of the words' columns


def one_look(
    title, names, query, keys, values, weights, scores, comparisons, note, digits=(0, 3, 2), seconds=11.0
) -> Film:
    """Film: one look at some words, from the query and the keys to the context, each number in its place.

    Args:
        title: the finding, as a sentence.
        names: the words, S.
        query: its entries, D.
        keys, values: S×D and S×E.
        weights, scores: S each.
        comparisons: how each score is computed, in text, S; a part [role:text] has the colour of its role.
        note: the same in general.
        digits: decimals of the vectors' entries, of scores and weights, and of products and the context.
        seconds: of the film.
    """
    film, (plain, exact, summed) = Film(title, 436, seconds), digits
    query, keys, values = ([_list(row) for row in rows] for rows in ([query], keys, values))
    scores, weights = _list(scores), _list(weights)
    wide = (740 - FIRST - 130) / len(names)  # the context is to the right of the columns
    centres = [FIRST + wide * (i + 0.5) for i in range(len(names))]
    context = [sum(w * value[e] for w, value in zip(weights, values, strict=True)) for e in range(len(values[0]))]
    rows = (
        (84, "", "[query:query], [key:keys]", "", 0.0),
        (160, "", "score", note, 0.8),
        (252, "weight", "weight", "softmax of the scores", 2.6),
        (330, "value", "weight × value", "", 4.4),
        (404, "context", "context", "the sum", 6.2),
    )
    for y, role, name, remark, start in rows:
        film.add(words(LEFT, y, name, 16, role, True, "start"), start)
        film.add(words(LEFT, y + 19, remark, 13, anchor="start", fill=GREY), start)
    film.add(_vector(FIRST - 62, 78, query[0], "query", plain))
    for i, (x, name) in enumerate(zip(centres, names, strict=True)):
        film.add(words(x, 46, name, 16, bold=True) + _vector(x, 78, keys[i], "key", plain))
        film.add(line(x, 100, x, 122, "key"), 0.8)
        film.add(
            words(x, 142, comparisons[i], 13, fill=GREY) + words(x, 164, number(scores[i], exact), 17, bold=True),
            0.8 + 0.3 * i,
        )
        film.add(line(x - 46, 262, x + 46, 262, width=1, tip=False), 2.6)
        film.add(bar(x, 262, weights[i], 58, 56), 2.6, None, "grow")
        film.add(words(x, 255 - max(58 * weights[i], 1.5), number(weights[i], exact), 16, "weight", True), 3.0)
        product = f"[weight:{number(weights[i], exact)}] × {_tuple(values[i], plain)}"
        film.add(chip(x - wide / 2 + 4, 308, "", "value", wide - 8, 36) + words(x, 331, product, 14), 4.4)
        part = [weights[i] * entry for entry in values[i]]
        film.add(words(x, 408, _tuple(part, summed), 15, bold=True), 6.2)
    for x in centres[:-1]:
        film.add(words(x + wide / 2, 408, "+", 16, bold=True, fill=GREY), 6.2)
    film.add(words(centres[-1] + wide / 2 + 4, 408, "=", 16, bold=True, fill=GREY), 6.7)
    film.add(_vector(centres[-1] + wide / 2 + 70, 403, context, "context", summed), 6.7)
    each = [
        f"{name}: key {_tuple(key, plain)}, score {number(score, exact)}, weight {number(weight, exact)}, value {_tuple(value, plain)}"
        for name, key, score, weight, value in zip(names, keys, scores, weights, values, strict=True)
    ]
    film.description = (
        f"The query is {_tuple(query[0], plain)}. {'. '.join(each)}. The weighted sum of the values, the context, is "
        f"{_tuple(context, summed)}."
    )
    return film


def _list(numbers):
    return [float(x) for x in numbers]


def _tuple(numbers, digits):
    """Return a vector in text, such as (2, 0); one number alone has no brackets unless it is negative."""
    texts = [number(x, digits) for x in numbers]
    return f"({', '.join(texts)})" if len(texts) > 1 else bracketed(numbers[0], digits)


def _vector(x, y, numbers, role, digits):
    """A short row of cells around (x, y)."""
    width = 34 if digits == 0 else 48
    return vector(x - width * len(numbers) / 2 - 8, y - 17, numbers, role, width, 34, False, digits, 15)
