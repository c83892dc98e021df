"""What lesson 15 draws and counts: maps of weights on its scenes, and shares of words. No task is declared here.

Shape letters: N scenes, T words, L cells.
"""

import math
import textwrap

import matplotlib.pyplot as plt
import torch
from matplotlib.colors import ListedColormap

from course_utils.data import measured
from course_utils.data.photographs import FOLDER
from course_utils.data.scenes import RELATIONS, WORDS
from course_utils.data.subwords import PAD
from course_utils.figures import pictures, plots
from course_utils.figures.tables import table

MAPS = (  # what the page's captioner writes about scene 2, and its weights for each word in percent, cell by cell
    ("a", "11 25 1 2 0 7 2 3 2 0 7 3 2 1 0 7 3 3 2 2 7 4 3 2 0"),
    ("five", "0 100 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0"),
    ("above", "4 4 0 1 0 1 1 1 2 0 1 1 2 2 1 1 1 2 14 56 2 1 1 1 0"),
    ("a", "4 14 1 3 3 3 2 3 3 2 3 3 3 3 2 3 3 3 4 20 3 3 4 3 2"),
    ("six", "0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 100 0 0 0 0 0"),
)
ON_GRASS = "a brown dog is running through the grass"  # what the page's captioner of photographs writes
TWO_RUNS = "two training runs each: mean [lowest to highest]"
PAPER = [67.0, 44.8, 29.9, 19.5]  # BLEU-1 to BLEU-4 on Flickr8k, in Table 1 of Xu et al. (2015)


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


def show_finished_captions(seen):
    """Draw what the page's captioners will have written: about a photograph, and about scene 2, with its maps."""
    ax = plots.axes(1, width=2.6, height=2.9)
    _show_photo(plt.imread(FOLDER / "grass.jpg"), ON_GRASS, "", ax)
    words, percents = zip(*MAPS, strict=True)
    weights = torch.tensor([[int(percent) / 100 for percent in row.split()] for row in percents])  # T L
    show_written(seen.images[2], words, weights, cells_of(seen, 2))


def show_both(seen, scene, outputs):
    """Draw a map for each word of the right caption and for each of `outputs`, which maps a name to an Output, with the gate and what is said below it."""
    words = seen.caption(scene).split()
    length = len(words)
    weights = {name: found.weights[scene, :length] for name, found in outputs.items()}
    gates = {name: [f"{one:.2f}" for one in found.gates[scene, :length, 0]] for name, found in outputs.items()}
    said = {name: [WORDS[word] for word in found.logits[scene, :length].argmax(-1)] for name, found in outputs.items()}
    below = [
        [f"gate {gate}\nsays “{word}”" for gate, word in zip(gates[name], said[name], strict=True)] for name in outputs
    ]
    pictures.each_word(seen.images[scene], words, weights, cells_of(seen, scene), below=below)


def share_pointed(output, seen, where):
    """Return the share of the words at `where`, N×T, for which the largest weight lies on the thing."""
    largest = output.weights.argmax(-1)  # N T
    return (largest == seen.true)[where].float().mean().item()


def _relations(seen):
    """Return where the wanted words are relations, N×T."""
    return torch.isin(seen.wanted, torch.tensor([WORDS.index(word) for word in RELATIONS]))


def shares_right(said, seen):
    """Return the shares of right names, right relations and captions without a mistake, of the words that are said, N×T."""
    right = said == seen.wanted
    captions = (right | (seen.wanted == PAD)).all(1)
    return [share.float().mean().item() for share in (right[seen.named], right[_relations(seen)], captions)]


def most_frequent(seen):
    """Return captions with the most frequent name in place of each name and the most frequent relation in place of each relation, N×T."""
    said = seen.wanted.clone()
    for where in (seen.named, _relations(seen)):
        said[where] = seen.wanted[where].bincount().argmax()
    return said


def by_seed(table, value, setup):
    """Return what five captioners of a setup reached, in the order of their seeds."""
    return measured.by_seed(table, value, setup=setup)


def with_and_without_looks():
    """Return the shares of whole captions right, of five captioners that look and of five that get the mean of all annotations."""
    setups = {"attending before each word": "soft", "given the mean instead": "average"}
    shares = {name: by_seed("captions", "captions", setup) for name, setup in setups.items()}
    told = [f"{name} {each.mean():.2f} ({each.min():.2f} to {each.max():.2f})" for name, each in shares.items()]
    return f"whole captions right: {', '.join(told)}"


def relations_followed(setup):
    """Return shares of first relations that are right, of five captioners each: with nothing moved, and with the first or the second thing moved everywhere, in earlier looks and the first state, or in the look for the relation."""
    columns = {"nothing moves": "whole"}
    for called, thing in (("first", "before"), ("second", "after")):
        columns[f"the {called} object moves"] = f"{thing}_new"
        columns[f"the {called} object, only earlier"] = f"{thing}_earlier"
        columns[f"the {called} object, only in the look for the relation"] = f"{thing}_look"
    return {row: by_seed("relations", column, setup) for row, column in columns.items()}


def weights_on_things(setup):
    """Say how much weight the first relation puts on its two things where nothing moves, in the mean of five captioners."""
    first, second = (by_seed("relations", f"{thing}_weight", setup).mean() for thing in ("before", "after"))
    return f"mean weight on the first object {first:.2f}, on the second object {second:.2f}, with equal weights 0.04"


def names_by_seed():
    """Return a table of five captioners without the penalty and five with it: where they point, what they name, and what is lost without a thing."""
    setup = "penalty 0.01"
    rows = {
        "no penalty: pointing accuracy": by_seed("emptied", "pointing", "no penalty"),
        "no penalty: names right": by_seed("emptied", "whole", "no penalty"),
        "penalty: pointing accuracy": by_seed("emptied", "pointing", setup),
        "penalty: names right": by_seed("emptied", "whole", setup),
        "lost if the object is missing everywhere": _names_lost(setup, "thing"),
        "lost if it is missing one look earlier": _names_lost(setup, "look_before"),
        "lost if it is missing in the look for the name": _names_lost(setup, "look"),
    }
    return table(rows, [f"seed {seed}" for seed in range(5)], digits=2)


def _names_lost(setup, where):
    """The share of its right names that each of five captioners loses if the thing's cell is empty in one place, or everywhere; a gain is 0."""
    return (1 - by_seed("emptied", where, setup) / by_seed("emptied", "whole", setup)).clamp(min=0)


def on_flickr8k():
    """Print captions of the first test photographs of Flickr8k; return a table of BLEU on all 1,000, with the paper's."""
    print("The first six test photographs: by our captioner (beam 5) | by a person")
    for row in measured.read_rows("flickr8k_captions"):
        print(f"{row['written']} | {row['by_a_person'].removesuffix(' .')}")
    rows = {
        "attention, greedy": _of_photographs("attention", *(f"greedy{n}" for n in range(1, 5))),
        "attention, beam 5": _of_photographs("attention", *(f"beam{n}" for n in range(1, 5))),
        "the mean instead, beam 5": _of_photographs("mean", *(f"beam{n}" for n in range(1, 5))),
        "Xu et al. (2015), soft attention": PAPER,
    }
    columns = [f"BLEU-{n}" for n in range(1, 5)]
    return table(rows, columns, corner="Flickr8k, test part", digits=1, caption=TWO_RUNS)


def effect_of_covers():
    """Return a table of what covering a part of a test photograph does to the word with the largest weight."""
    places = {
        "around the largest weight": "at_the_largest",
        "at random": "at_random",
        "around the word's smallest weight": "at_the_smallest",
    }
    rows = {name: _of_photographs("attention", where, f"kept_{where}") for name, where in places.items()}
    whole = _of_photographs("attention", "whole").mean()
    columns = ["probability of the word", "still the most probable"]
    caption = f"{TWO_RUNS}; with nothing covered, the probability is {whole:.2f}"
    return table(rows, columns, corner="a covered square", digits=2, caption=caption)


def _of_photographs(setup, *columns):
    """What the captioners of photographs reached: runs × columns."""
    return torch.stack([by_seed("flickr8k", column, setup) for column in columns], 1)


def show_captioned(images, captions, titles=None):
    """Draw photographs, at most four in a row, each with a caption below it and perhaps a title above it."""
    rows, titles = math.ceil(len(captions) / 4), titles or [""] * len(captions)
    _, grid = plt.subplots(rows, 4, figsize=(10.4, 3.2 * rows), squeeze=False)
    for ax in grid.flat[len(captions) :]:
        ax.set_visible(False)
    for ax, title, image, caption in zip(grid.flat, titles, images, captions, strict=False):
        _show_photo(image, caption, title, ax)


def _show_photo(image, caption, title, ax):
    ax.imshow(image)
    ax.set(xticks=[], yticks=[], title=title)
    ax.set_xlabel(textwrap.fill(caption, 26), fontsize=10)


def show_photo_maps(image, words, weights):
    """Draw a photograph, Y×X×3, and over it, pale and grey, the weights for each word, T×L, at most six pictures in a row, in one scale of colours."""
    rows = math.ceil((len(words) + 1) / 6)
    figure, grid = plt.subplots(rows, 6, figsize=(10.4, 2.2 * rows), squeeze=False)
    most, equal = weights[: len(words)].max(), 1 / weights.shape[1]
    figure.suptitle(
        f"coloured where a weight exceeds the equal weight, {equal:.2f}; strongest at {most:.2f}", fontsize=9
    )
    for ax in grid.flat[len(words) + 1 :]:
        ax.set_visible(False)
    first, *others = grid.flat
    _show_photo(image, "", "", first)
    for ax, word, alpha in zip(others, words, weights, strict=False):
        _show_cells(image, alpha, most, word, ax)


def _show_cells(image, weights, most, title, ax):
    """Draw a weight for each of 7×7 cells over a photograph, one of `most` in the strongest colour."""
    weights = weights.view(7, 7).numpy()
    equal = 1 / weights.size
    alpha = (0.85 * (weights - equal) / (most.item() - equal)).clip(0, 1)
    ax.imshow(weights, cmap=ListedColormap([pictures.INK]), alpha=alpha, zorder=2)
    grey = 0.35 + 0.65 * image.float().mean(-1).numpy() / 255
    ax.imshow(grey, cmap="gray", vmin=0, vmax=1, extent=(-0.5, 6.5, 6.5, -0.5), zorder=1)
    row, column = divmod(weights.argmax().item(), 7)
    ax.add_patch(plt.Rectangle((column - 0.5, row - 0.5), 1, 1, fill=False, edgecolor=pictures.INK, zorder=3))
    ax.set(xticks=[], yticks=[], title=title)
    ax.set_xlabel(f"largest {weights.max():.2f} at ({row}, {column})", fontsize=8)
