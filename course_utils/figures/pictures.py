"""Grey pictures, and where a model looks in them.

A picture in black and white keeps its colours on a dark page. One from `attended` does not: its white background turns dark, too.

Not here: plots of numbers (`plots.py`), drawn diagrams (`diagrams.py`).
"""

import matplotlib.pyplot as plt
import torch

from course_utils.figures import plots

INK = "#d7630a"  # of what is drawn over a grey picture; visible on it in light and dark
SHADE = {"facecolor": "black", "edgecolor": "none", "alpha": 0.85, "pad": 0.4}  # behind a number on a grey picture
SQUARES = (INK, "#2f8fd0", "#3f9b4f")  # of a glimpse's patches, from the finest


def picture(image, title="", ax=None, frame=None):
    """Show a grey picture, Y×X numbers from 0 (black) to 1 (white), in a frame of this colour if one is given."""
    ax = plots.axes(width=2.6, height=2.6) if ax is None else ax
    ax.imshow(torch.as_tensor(image).numpy(), cmap="gray", vmin=0, vmax=1)
    ax.set(xticks=[], yticks=[], title=title)
    if frame is not None:
        ax.spines[:].set(visible=True, color=frame, linewidth=3)


def looks(image, locations, size, corner=None, title="", ax=None, wider=(), number=1):
    """Show a picture and, on it, where glimpses are, numbered in order.

    Args:
        image: Y×X.
        locations: T×2, (x, y) from -1 to 1.
        size: side of the square drawn for each, in pixels.
        corner: row and column of the upper left corner of a box to mark with dashes, such as a digit's 8×8 pixels.
        wider: sides of the squares of coarser patches around the first location.
        number: of the first location.
    """
    ax = plots.axes(width=2.6, height=2.6) if ax is None else ax
    picture(image, title, ax)
    height, width = torch.as_tensor(image).shape
    centres = [((x + 1) / 2 * width - 0.5, (y + 1) / 2 * height - 0.5) for x, y in torch.as_tensor(locations).tolist()]
    ways = [(x, y, end_x - x, end_y - y) for (x, y), (end_x, end_y) in zip(centres, centres[1:], strict=False)]
    if ways:
        ax.quiver(*zip(*ways, strict=True), angles="xy", scale_units="xy", scale=1, color=INK, width=0.012, zorder=3)
    places = []  # of the numbers: outside their squares, and side by side if squares coincide
    for i, (x, y) in enumerate(centres, number):
        _draw_square(ax, x, y, size, INK)
        left, top = max(x - size / 2, 0), y - size / 2
        above = top > 3
        place = (left, top - 0.3 if above else y + size / 2 + 0.3)
        while any(abs(place[0] - x) < 2.5 and abs(place[1] - y) < 2.5 for x, y in places):
            place = place[0] + 2.5, place[1]
        places.append(place)
        ax.text(
            *place, i, color=INK, va="bottom" if above else "top", ha="left", fontweight="bold", zorder=4, bbox=SHADE
        )
    for side, colour in zip(wider, SQUARES[1:], strict=False):
        _draw_square(ax, *centres[0], side, colour)
    if corner is not None:
        row, column = (float(place) - 0.5 for place in corner)
        ax.add_patch(plt.Rectangle((column, row), 8, 8, fill=False, color="white", linestyle="--", linewidth=1.2))
    margin = 0.6 if max(wider, default=0) >= min(height, width) else 0  # so that such a square can be seen
    ax.spines[:].set_visible(False)
    ax.set(xlim=(-0.5 - margin, width - 0.5 + margin), ylim=(height - 0.5 + margin, -0.5 - margin))


def _draw_square(ax, x, y, side, colour):
    ax.add_patch(plt.Rectangle((x - side / 2, y - side / 2), side, side, fill=False, color=colour, linewidth=1.8))


def attended(image, weights=None, cell=None, title="", ax=None):
    """Show a picture in black on white, with lines between its cells and a colour for their weights: none at 0, strongest at 1.

    Args:
        image: Y×X.
        weights: one for each of 5×5 cells (or other squares), row by row; None for no weights.
        cell: the number of a cell to mark with dashes: where the thing is that a word names.
    """
    ax = plots.axes(width=2.2, height=2.4) if ax is None else ax
    ax.imshow(torch.as_tensor(image).numpy(), cmap="Greys", vmin=0, vmax=1)
    ax.set(xticks=[], yticks=[], title=title)
    weights = torch.zeros(25) if weights is None else torch.as_tensor(weights).double()
    grid = round(len(weights) ** 0.5)
    side = torch.as_tensor(image).shape[0] / grid
    if weights.max() > 0:
        cells = {"largest": weights.argmax(), "on the object": cell}
        lines = [f"{name} {weights[number]:.2f}" for name, number in cells.items() if number is not None]
        ax.set_xlabel("\n".join(lines), fontsize=9)
    ax.spines[:].set(visible=True, color="0.85")
    lines = [side * line - 0.5 for line in range(1, grid)]
    ax.hlines(lines, *ax.get_xlim(), color="0.85", linewidth=0.6)
    ax.vlines(lines, *ax.get_ylim(), color="0.85", linewidth=0.6)
    for number, weight in enumerate(weights.tolist()):
        row, column = divmod(number, grid)
        place = (side * column - 0.5, side * row - 0.5)
        ax.add_patch(plt.Rectangle(place, side, side, color=INK, alpha=0.75 * weight, linewidth=0))
        if number == cell:
            ax.add_patch(plt.Rectangle(place, side, side, fill=False, color="black", linestyle="--", linewidth=1.4))


def each_word(image, words, rows, cells, width=1.4, below=None):
    """Show a map for each word: `rows` maps the name of a row to its weights, T×L; `cells` are the cells to mark with dashes, T; `below` are more lines to write below the maps, T for each row."""
    size = (width * len(words) + 0.3, (1.9 if below is None else 2.3) * len(rows) + 0.3)
    _, grid = plt.subplots(len(rows), len(words), figsize=size, squeeze=False)
    for number, (line, (name, weights)) in enumerate(zip(grid, rows.items(), strict=True)):
        for place, ax in enumerate(line):
            attended(image, weights[place], cells[place], "" if number else words[place], ax)
            if below is not None:
                ax.set_xlabel(f"{ax.get_xlabel()}\n{below[number][place]}", fontsize=9)
        line[0].set_ylabel(name)
