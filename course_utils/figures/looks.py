"""One look, drawn in its own numbers: a query meets the keys, the scores become weights, the weighted values add up to the context.

Not here: the pieces and how they move (`film.py`), the look of a role (`roles.py`).
"""

from course_utils.figures.film import LEFT, Film, bar, bracketed, chip, line, number, on_bar, vector, words
from course_utils.figures.roles import GREY

WHOLE, EXACT = 0, 3  # decimals: of the vectors' entries; of scores, weights, products and the context
COMPARED, WEIGHED, MULTIPLIED, ADDED = 0.8, 3.4, 6.0, 8.4  # seconds: when each step begins
FIRST = 226  # pixels: the left edge of the words' columns


def products(one, other, roles=("", "")) -> str:
    """Return how the dot product of two vectors is computed, in text: 0·0 + 2·1; each vector's entries in its role's colour."""
    first, second = ("{:g}" if not role else f"[{role}:{{:g}}]" for role in roles)
    pairs = zip(_list(one), _list(other), strict=True)
    return " + ".join(f"{first.format(a)}·{second.format(b)}" for a, b in pairs)


def one_look(title, names, query, keys, values, weights, scores, comparisons, note, named=True) -> Film:
    """Film: one look at some words, from the query and the keys to the context, each number in its place.

    Args:
        title: the finding, as a sentence.
        names: the words, S.
        query: its entries, D.
        keys, values: S×D and S×E.
        weights, scores: S each.
        comparisons: how each score is computed, in text, S; a part [role:text] has the colour of its role.
        note: the same in general.
        named: False in lesson 02, where θ is the query and keys and values have no names yet: both are plain words.
    """
    film = Film(title, 460, 10, ADDED + 1.2)
    query, keys, values = ([_list(row) for row in rows] for rows in ([query], keys, values))
    scores, weights = _list(scores), _list(weights)
    key, value, first = ("key", "value", "[query:query], [key:keys]") if named else ("word", "word", "[query:θ], words")
    of_scores = WHOLE if all(score.is_integer() for score in scores) else EXACT
    wide = (746 - FIRST - 126) / len(names)  # the context is to the right of the columns
    centres = [FIRST + wide * (i + 0.5) for i in range(len(names))]
    context = [sum(w * value[e] for w, value in zip(weights, values, strict=True)) for e in range(len(values[0]))]
    rows = (
        (84, "", first, "", 0.0),
        (160, "", "score", note, COMPARED),
        (276, "weight", "weight", "softmax of the scores", WEIGHED),
        (354, value, f"[weight:weight] × {value}", "", MULTIPLIED),
        (428, "context", "context", "the sum", ADDED),
    )
    for y, role, name, remark, start in rows:
        film.add(words(LEFT, y, name, 16, role, True, "start"), start)
        film.add(words(LEFT, y + 19, remark, 13, anchor="start", fill=GREY), start)
    film.add(_vector(FIRST - 48, 78, query[0], "query", WHOLE))
    for i, (x, name) in enumerate(zip(centres, names, strict=True)):
        film.add(words(x, 46, name, 16, bold=True) + _vector(x, 78, keys[i], key, WHOLE))
        film.add(line(x, 100, x, 122), COMPARED)
        film.add(
            words(x, 142, comparisons[i], 13, fill=GREY) + words(x, 164, number(scores[i], of_scores), 17, bold=True),
            COMPARED + 0.4 * i,
        )
        film.add(line(x - 46, 286, x + 46, 286, width=1, tip=False), WEIGHED)
        film.add(bar(x, 286, weights[i], 84, 56), WEIGHED, None, "grow")
        film.add(on_bar(x, 286, weights[i], 84, EXACT, 16), WEIGHED + 0.4)
        product = f"[weight:{number(weights[i], EXACT)}] × {_tuple(values[i], WHOLE)}"
        film.add(
            chip(x - wide / 2 + 4, 332, "", value, wide - 8, 36, opacity=weights[i]) + words(x, 355, product, 14),
            MULTIPLIED,
        )
        part = [weights[i] * entry for entry in values[i]]
        film.add(words(x, 432, _tuple(part, EXACT), 14, bold=True), ADDED)
    for x in centres[:-1]:
        film.add(words(x + wide / 2, 432, "+", 16, bold=True, fill=GREY), ADDED)
    film.add(words(centres[-1] + wide / 2 + 1, 432, "=", 16, bold=True, fill=GREY), ADDED + 0.6)
    film.add(_vector(centres[-1] + wide / 2 + 68, 427, context, "context", EXACT), ADDED + 0.6)
    each = []
    for name, k, score, weight, v in zip(names, keys, scores, weights, values, strict=True):
        own = f", value {_tuple(v, WHOLE)}" * named
        numbers = f"score {number(score, of_scores)}, weight {number(weight, EXACT)}"
        each.append(f"{name}: {key if named else 'vector'} {_tuple(k, WHOLE)}{own}, {numbers}")
    film.description = (
        f"The query is {_tuple(query[0], WHOLE)}. {'. '.join(each)}. The weighted sum of the "
        f"{'values' if named else 'vectors'}, the context, is {_tuple(context, EXACT)}."
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
    end = 0 if role == "word" else 8
    return vector(x - width * len(numbers) / 2 - end, y - 17, numbers, role, width, 34, False, digits, 15)
