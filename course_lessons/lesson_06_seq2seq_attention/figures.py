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
    film = Film("For each word, the decoder looks somewhere else", 460, 13)
    columns, left, right, last, top, step, shown = (242, 306, 370, 434), 14, 488, 712, 66, 3.2, 1
    done = 0.3 + len(written) * step
    film.add(words(338, 28, "annotations: keys and values", 15, bold=True))
    for x, word, values in zip(columns, source, annotations, strict=True):
        film.add(words(x, top - 9, word, 13 if len(word) > 6 else 15, bold=True))
        film.add(column(x - 28, top, values, "word", 56))
        film.add(words(x, top + 104, "⋮", 15, fill=GREY))
    for role, x, head in (("query", 91, "query"), ("weight", 338, "weights"), ("context", 564, "context")):
        film.add(words(x, 212, head, 16, role, True))
    film.add(words(last, 204, "next word", 15, bold=True) + words(last, 219, "with the state", 12, fill=GREY))
    for t, weights in enumerate(seen["weights"]):
        now, y = 0.3 + t * step, 226 + 78 * t
        read, sums, write = now + 1.2, now + 2.0, now + 2.5
        before = f"which wrote “{written[t - 1]}”" if t else "from the encoder"
        film.add(words(left, y + 14, f"s{str(t).translate(SUBSCRIPTS)}, {before}", 13, anchor="start", fill=GREY), now)
        film.add(vector(left, y + 22, seen["queries"][t], "query", 47), now)
        film.add(line(left + 178, y + 38, left + 194, y + 38), now + 0.4)
        film.add(line(212, y + 62, 464, y + 62, width=1, tip=False), now)
        for x, values, weight in zip(columns, annotations, weights, strict=True):
            film.add(column(x - 28, top, values, "key", 56), now + 0.2, read)
            film.add(bar(x, y + 62, weight, width=44), now + 0.6, None, "grow")
            film.add(words(x, y + 56 - max(44 * weight, 1.5), number(weight), 14, "weight", True), now + 0.8)
            film.add(column(x - 28, top, values, "value", 56, opacity=weight), read, now + step)
        film.add(line(468, y + 38, 484, y + 38) + vector(right, y + 22, seen["contexts"][t], "context", 46), sums)
        film.add(line(right + 174, y + 38, right + 188, y + 38), write)
        film.add(words(last, y + 44, written[t], 17, bold=True), write)
        for begins, ends in [(read, now + step)] + [(done, None)] * (t == shown):
            film.add(_first_entry(right, 40, seen, t), begins, ends)
    looks_at = [
        f"Before “{word}”, the weights are "
        + ", ".join(f"{number(weight)} on {of}" for of, weight in zip(source, row, strict=True))
        for word, row in zip(written, seen["weights"], strict=True)
    ]
    film.description = (
        f"“{' '.join(source[:-1])}” becomes “{' '.join(written)}”. Each source word has an annotation, a column of "
        "numbers, and so has the end sign. The decoder's state is the query; compared with the annotations as keys, it gives "
        f"weights. {'. '.join(looks_at)}. The annotations, now as values, are added up with these weights, and their sum is "
        "the context, a new one before each word."
    )
    return film


def _first_entry(x, y, seen, t):
    """The first entry of a context as a sum that can be checked by eye."""
    drawn = [words(x, y + 12, f"context before “{seen['written'][t]}”, first entry:", 13, anchor="start", fill=GREY)]
    for i, (weight, value) in enumerate(zip(seen["weights"][t], seen["annotations"], strict=True)):
        product = f"{'+ ' * (i > 0)}[weight:{number(weight)}] × [value:{bracketed(value[0])}]"
        drawn.append(words(x + 132, y + 36 + 22 * i, product, 15, anchor="end"))
    total = number(seen["contexts"][t][0])
    return "".join(drawn) + words(x + 142, y + 102, f"= [context:{total}]", 15, anchor="start")


def one_look(names, s, h, z, a):
    """Film: the look that the page computes by hand, with the perceptron of two entries that adds and takes tanh."""
    parts = [" + ".join(f"tanh{f' {x:g}' if x >= 0 else f'(−{-x:g})'}" for x in (s + key).tolist()) for key in h]
    most = " and ".join(f"“{name}”" for name, weight in zip(names, a, strict=True) if weight > a.max() - 1e-4)
    title = f"In this state, the decoder looks mostly at {most}"
    return looks.one_look(title, names, s, h, h, a, z, parts, "tanh(query + key), summed")
