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


def cells_of_another(seen):
    """Return for each name, in the order of `seen.named.nonzero()`, the cell of the thing that is named next in its scene, or after the last one the first."""
    scenes = zip(seen.true, seen.named, strict=True)
    return torch.cat([true[named].roll(-1) for true, named in scenes])


def show_written(image, words, weights, cells):
    """Draw a map for each written word."""
    pictures.each_word(image, words, {"": weights}, cells)


def show_both(seen, scene, outputs):
    """Draw a map for each word of the right caption and for each of `outputs`, which maps a name to an Output, with the gate and what is said below it; return this in words."""
    words = seen.caption(scene).split()
    length, first = len(words), seen.true[scene, 1]  # the cell of the first thing, which is named after an "a"
    weights = {name: found.weights[scene, :length] for name, found in outputs.items()}
    gates = {name: [f"{one:.2f}" for one in found.gates[scene, :length, 0]] for name, found in outputs.items()}
    said = {name: [WORDS[word] for word in found.logits[scene, :length].argmax(-1)] for name, found in outputs.items()}
    below = [
        [f"gate {gate}\nsays “{word}”" for gate, word in zip(gates[name], said[name], strict=True)] for name in outputs
    ]
    pictures.each_word(seen.images[scene], words, weights, cells_of(seen, scene), below=below)
    rows = []
    for name in outputs:
        on_first = ", ".join(f"{one:.2f}" for one in weights[name][:, first])
        rows.append(f"{name} {on_first}, gates {', '.join(gates[name])}, says “{' '.join(said[name])}”")
    return f"“{seen.caption(scene)}”, weights on the first thing, word by word: {'; '.join(rows)}."


def show_effect(seen, scene, t, weights, lost):
    """Draw the weights of a word, L, beside what its probability loses without each cell, L."""
    columns = [f"weights for “{WORDS[seen.wanted[scene, t]]}”", "lost without the cell"]
    cell = cells_of(seen, scene)[t]
    pictures.each_word(seen.images[scene], columns, {"": torch.stack([weights, lost])}, [cell, cell], width=2)


def share_pointed(output, seen, where):
    """Return the share of the words at `where`, N×T, for which the largest weight lies on the thing."""
    largest = output.weights.argmax(-1)  # N T
    return (largest == seen.true)[where].float().mean().item()


def at_names(output, seen, earlier=0):
    """Return the share of the names for which the largest weight lies on the thing, and the mean gate, at the name or some words earlier."""
    scene, word = seen.named.nonzero(as_tuple=True)
    largest = output.weights[scene, word - earlier].argmax(-1)
    pointed = (largest == seen.true[scene, word]).float().mean().item()
    return pointed, output.gates[scene, word - earlier].mean().item()


def by_seed(table, value, setup):
    """Return what five captioners of a setup reached, in the order of their seeds."""
    return measured.by_seed(table, value, setup=setup)


def names_lost(setup, where):
    """Return the share of its right names that each of five captioners loses if the thing's cell is empty in one place."""
    return 1 - by_seed("emptied", where, setup) / by_seed("emptied", "whole", setup)
