"""What lesson 15 draws and counts: maps of weights on its scenes, and shares of words. No task is declared here.

Shape letters: N scenes, T words, L cells.
"""

import torch

from course_utils.data import measured
from course_utils.data.scenes import WORDS
from course_utils.figures import pictures, plots


def cells_of(seen, scene):
    """The cell of the thing where a word names one, else None, for each word of a scene."""
    pairs = zip(seen.true[scene].tolist(), seen.named[scene].tolist(), strict=True)
    return [cell if named else None for cell, named in pairs]


def show_scenes(seen, numbers):
    """Draw scenes, with their captions above them in two lines."""
    for number, ax in zip(numbers, plots.axes(len(numbers), width=3.2, height=3), strict=True):
        first, *others = seen.caption(number).split(" a ")
        pictures.attended(seen.images[number], title=" a ".join([f"{first}\n", *others]), ax=ax)


def show_written(image, words, weights, cells):
    """Draw a map for each written word, with the word below it."""
    pictures.written(image[None], [words], [weights], [cells])


def show_both(seen, scene, rows):
    """Draw a map for each word of the right caption and for each of `rows`, which maps a name to weights N×T×L; return the weights on the first thing."""
    words = seen.caption(scene).split()
    weights = {name: found[scene, : len(words)] for name, found in rows.items()}
    pictures.each_word(seen.images[scene], words, weights, cells_of(seen, scene))
    first = seen.true[scene, 1]  # the cell of the first thing, which is named after an "a"
    on_first = [f"{name} {', '.join(f'{one:.2f}' for one in of[:, first])}" for name, of in weights.items()]
    return f"“{seen.caption(scene)}”, weights on the first thing, word by word: {'; '.join(on_first)}."


def show_effect(seen, scene, t, weights, lost):
    """Draw the weights of a word, L, beside what its probability loses without each cell, L."""
    columns = [f"weights for “{WORDS[seen.wanted[scene, t]]}”", "lost without the cell"]
    cell = cells_of(seen, scene)[t]
    pictures.each_word(seen.images[scene], columns, {"": torch.stack([weights, lost])}, [cell, cell], width=2)


def share_pointed(output, seen, where):
    """Return the share of the words at `where`, N×T, for which the largest weight lies on the thing."""
    largest = output.weights.argmax(-1)  # N T
    return (largest == seen.true)[where].float().mean().item()


def by_seed(table, value, setup):
    """Return what five captioners of a setup reached, in the order of their seeds."""
    return measured.by_seed(table, value, setup=setup)


def names_lost(setup, where):
    """Return the share of its right names that each of five captioners loses if the thing's cell is empty in one place."""
    return 1 - by_seed("emptied", where, setup) / by_seed("emptied", "whole", setup)
