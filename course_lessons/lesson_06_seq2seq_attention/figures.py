"""What the page of lesson 06 only draws: frames around known links, and the window for the reader's own sentences."""

import json
from pathlib import Path

import ipywidgets

from course_utils.figures import looks, plots
from course_utils.figures.film import SUBSCRIPTS, Film, bar, bracketed, column, line, number, vector, words
from course_utils.figures.roles import GREY
from course_utils.figures.widgets import explore
from course_utils.translation.scores import common_words
from course_utils.translation.translate import align

THREE_LOOKS = Path(__file__).with_name("three_looks.json")  # written by benchmarks/three_looks.py


def frames_of_common_words(written, right, links):
    """Return where the weights should lie: for each word of the longest list that both translations have in this order, (row, source word).

    Args:
        written: the words of the model's translation, one for each row.
        right: the words of the right translation.
        links: pairs (source word, word of the right translation).
    """
    source_word = {target: source for source, target in links}
    return [(row, source_word[target]) for row, target in common_words(written, right)]


def translation_window(model, subwords, text):
    """Return an Explorer: a field for an English sentence, its translation, and where the model looks at each word."""

    def translated(text):
        found = align(model, subwords, text, width=2)
        if found.weights is None:
            plots.axes(width=3, height=1).axis("off")
            return "Type an English sentence."
        plots.weights(found.weights, found.source, found.target, xlabel="English", ylabel="French")
        return f"“{text}” becomes “{' '.join(found.target)}”."

    return explore(translated, text=ipywidgets.Text(value=text, description="English"))


def three_looks():
    """Film: the lesson's model, trained beforehand, translates "boy followed girls"; three of the 64 entries of each vector."""
    seen = json.loads(THREE_LOOKS.read_text(encoding="utf-8"))
    source, written, annotations = seen["source"], seen["written"], seen["annotations"]
    film = Film("For each word, the decoder looks somewhere else", 452, 13)
    columns, left, right, last, top, step, shown = (258, 336, 414), 16, 482, 708, 66, 3.2, 1
    done = 0.3 + len(written) * step
    film.add(words(columns[1], 28, "annotations: keys and values", 15, bold=True))
    for x, word, values in zip(columns, source, annotations, strict=True):
        film.add(words(x, top - 9, word, 15, bold=True))
        film.add(column(x - 31, top, values, "word"))
        film.add(words(x, top + 104, "⋮", 15, fill=GREY))
    for role, x, head in (
        ("query", left + 80, "query"),
        ("weight", columns[1], "weights"),
        ("context", right + 80, "context"),
    ):
        film.add(words(x, 208, head, 16, role, True))
    film.add(words(last, 208, "next word", 16, bold=True))
    for t, weights in enumerate(seen["weights"]):
        now, y = 0.3 + t * step, 222 + 78 * t
        read, sums, write = now + 1.2, now + 2.0, now + 2.5
        before = f"which wrote “{written[t - 1]}”" if t else "from the encoder"
        film.add(words(left, y + 14, f"s{str(t).translate(SUBSCRIPTS)}, {before}", 13, anchor="start", fill=GREY), now)
        film.add(vector(left, y + 22, seen["queries"][t], "query"), now)
        film.add(line(columns[0] - 36, y + 62, columns[-1] + 36, y + 62, width=1, tip=False), now)
        for x, values, weight in zip(columns, annotations, weights, strict=False):  # the end sign is not drawn
            film.add(column(x - 31, top, values, "key"), now + 0.2, read)
            film.add(bar(x, y + 62, weight), now + 0.6, None, "grow")
            film.add(words(x, y + 56 - max(44 * weight, 1.5), number(weight), 14, "weight", True), now + 0.8)
            film.add(column(x - 31, top, values, "value", opacity=weight), read, now + step)
        film.add(vector(right, y + 22, seen["contexts"][t], "context"), sums)
        film.add(line(right + 180, y + 38, right + 192, y + 38), write)
        film.add(words(last, y + 44, written[t], 18, bold=True), write)
        for begins, ends in [(read, now + step)] + [(done, None)] * (t == shown):
            film.add(_first_entry(right, top, seen, t), begins, ends)
    parts = (
        f"{number(weight)} on {word}" for row in seen["weights"] for word, weight in zip(source, row, strict=False)
    )
    looks = [f"Before “{word}”, the weights are {next(parts)}, {next(parts)} and {next(parts)}." for word in written]
    film.description = (
        f"“{' '.join(source)}” becomes “{' '.join(written)}”. Each source word has an annotation, a column of numbers. The decoder's state is the query; compared with the "
        f"annotations as keys, it gives weights. {' '.join(looks)} The annotations, now as values, are added up with "
        "these weights, and their sum is the context, a new one before each word."
    )
    return film


def _first_entry(x, y, seen, t):
    """The first entry of a context as a sum that can be checked by eye."""
    drawn = [words(x, y + 12, f"context before “{seen['written'][t]}”, first entry:", 13, anchor="start", fill=GREY)]
    for i, (weight, value) in enumerate(zip(seen["weights"][t], seen["annotations"], strict=False)):
        product = f"{'+ ' * (i > 0)}[weight:{number(weight)}] × [value:{bracketed(value[0])}]"
        drawn.append(words(x + 132, y + 36 + 23 * i, product, 15, anchor="end"))
    total = number(seen["contexts"][t][0])
    return "".join(drawn) + words(x + 142, y + 82, f"= [context:{total}]", 15, anchor="start")


def one_look(names, s, h, z, a):
    """Film: the look that the page computes by hand, with the perceptron of two entries that adds and takes tanh."""
    parts = [" + ".join(f"tanh{f' {x:g}' if x >= 0 else f'(−{-x:g})'}" for x in (s + key).tolist()) for key in h]
    title = f"In this state, the decoder looks at “{names[int(a.argmax())]}”"
    return looks.one_look(title, names, s, h, h, a, z, parts, "tanh(query + key), summed")
