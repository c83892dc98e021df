"""Three looks of lesson 06's model, trained as on its page, for the moving picture at the top of the page.

    python benchmarks/three_looks.py

Writes `three_looks.json` into the lesson's folder: for each word of the translation, the decoder's state that asked, the
weights and the context, and the annotations of the source words. Of the 64 entries of a vector, it keeps three;
the first is one whose sum can be checked by eye, because rounding to two decimals does not change it.
"""

import json
from itertools import combinations

import torch
from measuring import page

from course_lessons.lesson_06_seq2seq_attention import figures
from course_utils.data.small_world import small_world
from course_utils.models.seq2seq import fit, make_batch

SOURCE, WRITTEN = "boy followed girls", "flima droli pamor"
KEPT = 3  # entries of each vector


def trained():
    """Return the model of the page and its pairs."""
    pairs = small_world(20_000, seed=8, order="verb-last")
    torch.manual_seed(0)
    model = page("06_seq2seq_attention").LookingBack(len(pairs.words))
    fit(model, *pairs.ids(), seed=0, steps=600, rate=0.005)
    return model, pairs.words


@torch.no_grad()
def looks(model, vocabulary):
    """Return what the model computes for SOURCE while it reads WRITTEN: rows of numbers by name."""
    source, given, _ = make_batch(vocabulary.encode([SOURCE]), vocabulary.encode([WRITTEN]))
    s, h, mask = model.encode(source)
    found = {"annotations": h[0], "queries": [], "weights": [], "contexts": []}
    for t in range(len(WRITTEN.split())):
        context, weights = model.attention(s, h, mask)
        found["queries"].append(s[0])
        found["contexts"].append(context[0])
        found["weights"].append(weights[0])
        _, s, _ = model.decode(given[:, t : t + 1], s, h, mask)
    return {name: torch.stack(list(rows)) for name, rows in found.items()}


def entries(found):
    """Return the KEPT entries that tell the words apart best, first one whose sum comes out exactly at each step when rounded."""
    words, values = len(SOURCE.split()), found["annotations"]
    total = (
        (found["weights"].double() * 100).round() @ (values.double() * 100).round() / 1e4
    )  # T H: of the picture's numbers
    exact = ((total * 100).round() == (found["contexts"].double() * 100).round()).all(0)  # H
    apart = torch.stack([(values[i] - values[j]).abs() for i, j in combinations(range(words), 2)]).amin(0)  # H
    best = apart.argsort(descending=True).tolist()
    first = next(entry for entry in best if exact[entry])
    return [first, *[entry for entry in best if entry != first][: KEPT - 1]]


def main():
    found = looks(*trained())
    kept = entries(found)
    seen = {name: rows[:, kept] for name, rows in found.items() if name != "weights"} | {"weights": found["weights"]}
    numbers = {name: [[round(x, 4) for x in row] for row in rows.tolist()] for name, rows in seen.items()}
    everything = {"source": [*SOURCE.split(), "end"], "written": WRITTEN.split(), "entries": kept} | numbers
    figures.THREE_LOOKS.write_text(json.dumps(everything) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
