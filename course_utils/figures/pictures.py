"""Grey pictures, and where a model looks in them.

Not here: plots of numbers (`plots.py`), drawn diagrams (`diagrams.py`).
"""

import matplotlib.pyplot as plt
import torch

from course_utils.figures import plots

INK = "#d7630a"  # of what is drawn over a grey picture; read beside it in light and dark


def picture(image, title="", ax=None):
    """Show a grey picture, Y×X numbers from 0 (black) to 1 (white)."""
    ax = plots.axes(width=2.6, height=2.6) if ax is None else ax
    ax.imshow(torch.as_tensor(image).numpy(), cmap="gray", vmin=0, vmax=1)
    ax.set(xticks=[], yticks=[], title=title)


def looks(image, locations, size, corner=None, title="", ax=None):
    """Show a picture, and on it where glimpses lie, numbered in their order.

    Args:
        image: Y×X.
        locations: T×2, (x, y) from -1 to 1.
        size: side of the square drawn for each, in pixels.
        corner: row and column of the upper left corner of a box to mark with dashes, such as a digit's 8×8 pixels.
    """
    ax = plots.axes(width=2.6, height=2.6) if ax is None else ax
    picture(image, title, ax)
    height, width = torch.as_tensor(image).shape
    centres = [((x + 1) / 2 * width - 0.5, (y + 1) / 2 * height - 0.5) for x, y in torch.as_tensor(locations).tolist()]
    ax.plot(*zip(*centres, strict=True), color=INK, linewidth=1.5)
    for i, (x, y) in enumerate(centres, 1):
        ax.add_patch(plt.Rectangle((x - size / 2, y - size / 2), size, size, fill=False, color=INK, linewidth=1.5))
        ax.text(x - size / 2 + 0.6, y - size / 2 + 0.6, i, color=INK, va="top", ha="left", fontweight="bold")
    if corner is not None:
        row, column = (float(place) - 0.5 for place in corner)
        ax.add_patch(plt.Rectangle((column, row), 8, 8, fill=False, color="white", linestyle="--", linewidth=1.2))
    ax.set(xlim=(-0.5, width - 0.5), ylim=(height - 0.5, -0.5))
