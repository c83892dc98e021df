"""Words for those who cannot see a picture: read from what is in a figure, and attached whenever a notebook shows one.

They come from the figure, not from the text around it, so they remain true after a learner has changed the cell.
Draws nothing.
"""

import sys
from base64 import b64encode
from html import escape
from math import floor, isfinite, log10

from matplotlib.collections import PathCollection, QuadMesh
from matplotlib.container import BarContainer
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter
from numpy import ma

NUMBERS_AT_MOST = 40  # of a grid: a larger one is described row by row, or by its range
ROWS_AT_MOST = 12
POINTS_AT_MOST = 5  # of a line
COLOURS = ("red", "green", "blue")
GREYS = ("gray", "grey")  # matplotlib's maps for grey pictures
STAYS_LIGHT = "jp-needs-light-background"  # JupyterLab's class for a PNG with `ground_of`'s metadata


UNSEEN = "position:absolute;width:1px;height:1px;overflow:hidden;clip-path:inset(50%)"  # but read aloud


def attach() -> None:
    """Make the notebook, if this runs in one, show every figure as before, but with its description as alternative text.

    JupyterLab shows a PNG without any, whatever its metadata say: there, the same picture in HTML carries the words.
    """
    shell = sys.modules["IPython"].get_ipython() if "IPython" in sys.modules else None
    if shell:
        shell.display_formatter.mimebundle_formatter.for_type(Figure, bundle)


def bundle(figure):
    """Return what a notebook shows of a figure, and its metadata, by MIME type."""
    from IPython.core.pylabtools import print_figure
    from matplotlib_inline.config import InlineBackend

    try:
        words = describe(figure)
    except Exception:  # whatever it is, the picture is still shown
        words = "A picture."
    png = print_figure(figure, "png", **InlineBackend.instance().print_figure_kwargs)
    if png is None:  # nothing was drawn
        return {}
    ground = ground_of(figure)
    data = {"image/png": b64encode(png).decode(), "text/html": image(png, words, ground), "text/plain": words}
    return data, {"image/png": {"alt": words}, **ground}


def ground_of(figure) -> dict[str, str]:
    """Return the metadata that keep a picture's colours on a dark page; none if light and dark are to be swapped there.

    The colours stay if they are what is shown: in a photograph, a grey picture, a mix of colours.
    """
    shown = [picture for ax in figure.axes for picture in ax.images]
    stay = any(picture.get_array().ndim == 3 or picture.get_cmap().name in GREYS for picture in shown)
    return {"needs_background": "light"} if stay else {}


def image(png: bytes, words: str, ground: dict[str, str]) -> str:
    """Return a picture as HTML with its words; `ground` holds what `ground_of` returns. Its space is reserved before the browser has decoded it."""
    width, height = (int.from_bytes(png[start : start + 4], "big") for start in (16, 20))  # where a PNG has them
    source, size = b64encode(png).decode(), f'width="{width}" height="{height}" style="max-width:100%;height:auto"'
    stays = f'class="{STAYS_LIGHT}" ' if "needs_background" in ground else ""
    return f'<img {stays}src="data:image/png;base64,{source}" alt="{escape(words)}" {size}>'


def describe(figure) -> str:
    """Return in a few sentences what a figure shows: titles, axes, and the numbers that are drawn."""
    shown = [ax for ax in figure.axes if ax.get_visible() and ax.get_label() != "<colorbar>"]
    parts = [_axes_text(ax) for ax in shown]
    if len(parts) > 1:
        parts = [f"Panel {n} of {len(parts)}: {part}" for n, part in enumerate(parts, 1)]
    title = _label_text(figure.get_suptitle())
    return " ".join(filter(None, [title and f"{title}.", *parts])) or "An empty picture."


def _axes_text(ax):
    """Return what one pair of axes shows."""
    kinds = {"A grid": _grid, "A grid of choices": _choices, "Bars": _bars, "Dots": _dots, "Lines": _lines}
    kind, texts = next(((kind, texts) for kind, tell in kinds.items() if (texts := tell(ax))), ("A drawing", []))
    texts += [f"{len(dots.get_offsets())} points" for dots in _all_dots(ax) if str(dots.get_label()).startswith("_")]
    title, across, upward = map(_label_text, (ax.get_title(), ax.get_xlabel(), ax.get_ylabel()))
    if not ax.axison:
        across = upward = ""
    first, second = ("columns", "rows") if ax.images else ("across", "upward")
    sides = [f"{side}: {name}" for side, name in ((first, across), (second, upward)) if name]
    head = "; ".join([f"{kind}, “{title}”" if title else kind, *sides])
    return " ".join([f"{head}.", *(f"{sentence}." for sentence in [*texts, *_marked_words(ax)])])


def _grid(ax):
    """Describe a matrix shown as an image, row by row, or a picture made of colours."""
    if not ax.images:
        return []
    values = ax.images[0].get_array()
    if values.ndim == 3:
        if values.shape[:2] != (1, 1):
            return ["It is a picture in colours"]
        return [
            f"It is one colour: {', '.join(f'{name} {_number(v)}' for name, v in zip(COLOURS, values[0, 0], strict=False))}"
        ]
    rows, columns = _row_names(ax.yaxis, len(values)), _row_names(ax.xaxis, values.shape[1])
    if values.size > NUMBERS_AT_MOST and len(rows) > ROWS_AT_MOST:
        return [
            f"It has {len(rows)} rows and {len(columns)} columns of numbers from {_number(values.min())} to {_number(values.max())}"
        ]
    sentences, decimals = [], _decimals(ma.compressed(values), 3)
    mask = values.size > NUMBERS_AT_MOST and set(ma.compressed(values).tolist()) <= {0, 1}
    for name, row in zip(rows, values, strict=True):
        if mask:
            ones = [column for column, one in zip(columns, row, strict=True) if one]
            numbers = f"1 at {', '.join(ones)}, 0 elsewhere" if ones else "0 everywhere"
        elif values.size <= NUMBERS_AT_MOST:
            there = [(column, value) for column, value in zip(columns, row, strict=True) if value is not ma.masked]
            numbers = ", ".join(f"{column} {_number(value, decimals)}" for column, value in there)
        else:
            at = columns[row.argmax()]
            numbers = f"the largest is {_number(row.max(), decimals)}" + (f", at {at}" if at else "")
        sentences.append(f"Row {name}: {numbers}" if name else numbers.capitalize())
    return sentences


def _choices(ax):
    """Describe the most frequent number in each row of a grid of whole numbers from 0, counted from 1."""
    meshes = [mesh for mesh in ax.collections if isinstance(mesh, QuadMesh)]
    if not meshes:
        return []
    names = list(_tick_words(ax.yaxis).values())
    sentences = []
    for name, row in zip(names, meshes[0].get_array().reshape(len(names), -1).tolist(), strict=True):
        most = max(row, key=row.count)
        sentences.append(f"Row {name}: mostly {most + 1:g}, in {row.count(most)} of {len(row)} columns")
    return sentences


def _bars(ax):
    """Describe the height of each bar."""
    found = []
    for container in ax.containers:
        for bar in container if isinstance(container, BarContainer) else ():
            if container.orientation == "horizontal":
                found.append((ax.yaxis, bar.get_y() + bar.get_height() / 2, bar.get_width()))
            else:
                found.append((ax.xaxis, bar.get_x() + bar.get_width() / 2, bar.get_height()))
    decimals = _decimals([height for *_, height in found], 4)
    heights = [
        f"{_tick_words(axis).get(round(place, 6), _number(place))} {_number(height, decimals)}"
        for axis, place, height in found
    ]
    return [", ".join(heights)] if heights else []


def _all_dots(ax):
    return [dots for dots in ax.collections if isinstance(dots, PathCollection)]


def _dots(ax):
    """Describe the range of the dots of each named series."""
    reach = {_label_text(dots.get_label()): sorted(float(x) for x, _ in dots.get_offsets()) for dots in _all_dots(ax)}
    told = {name: f"{xs[0]:.2f} to {xs[-1]:.2f}" if xs else "none" for name, xs in reach.items()}
    return [f"{name}: {extent}" for name, extent in told.items() if not name.startswith("_")]


def _lines(ax):
    """Describe a few points of each named line; of the others only if nothing else is said."""
    lines = [line for line in ax.get_lines() if len(line.get_xdata()) > 1]
    named = [line for line in lines if not str(line.get_label()).startswith("_")]
    sentences = [f"{_label_text(line.get_label())}: {_points_text(line)}" for line in named]
    return sentences if sentences or ax.texts else [_points_text(line) for line in lines[:POINTS_AT_MOST]]


def _points_text(line):
    points = [
        (x, y) for x, y in zip(line.get_xdata(orig=False), line.get_ydata(orig=False), strict=True) if isfinite(y)
    ]
    if len(points) > POINTS_AT_MOST:
        last = len(points) - 1
        points = [points[round(i * last / (POINTS_AT_MOST - 1))] for i in range(POINTS_AT_MOST)]
    decimals = None if line.axes.get_yscale() == "log" else _decimals([y for _, y in points], 4)
    across = line.axes.xaxis
    names = _tick_words(across) if isinstance(across.get_major_formatter(), FuncFormatter) else {}
    return ", ".join(f"{_number(y, decimals)} at {names.get(round(float(x), 6), _number(x))}" for x, y in points)


def _marked_words(ax):
    """Describe the words written into a picture; for an open drawing with axes, also where they are."""
    # An annotation's own position may be an offset in points: what it points at is in the data's numbers.
    texts = [(_label_text(text.get_text()), getattr(text, "xy", text.get_position())) for text in ax.texts]
    told = {_label_text(line.get_label()) for line in ax.get_lines()}  # a line's name is said with its points
    texts = [(words, place) for words, place in texts if words and words not in told and not _is_number(words)]
    if ax.images or not texts:
        return []
    if ax.axison and not ax.containers and not ax.get_legend():
        return ["Marked: " + ", ".join(f"{words} near ({_number(x)}, {_number(y)})" for words, (x, y) in texts)]
    return ["Marked: " + ", ".join(words for words, _ in texts)]


def _row_names(axis, count):
    """Return the name of each row or column of a grid; its number if no name is written."""
    ticks = _tick_words(axis)
    return [ticks.get(float(i), "" if not ticks else str(i)) for i in range(count)]


def _tick_words(axis):
    """Return the words written along an axis, by place."""
    return {
        round(float(place), 6): _label_text(label.get_text()) or _number(place)
        for place, label in zip(axis.get_majorticklocs(), axis.get_majorticklabels(), strict=False)
    }


def _label_text(text):
    """Return a label on one line, its formulas without markup."""
    marks = {ord(mark): None for mark in "\\{}_^"}
    parts = str(text).split("$")  # every second one is a formula
    return " ".join("".join(part.translate(marks) if i % 2 else part for i, part in enumerate(parts)).split())


def _is_number(text):
    try:
        return isfinite(float(text))
    except ValueError:
        return False


def _decimals(values, digits):
    """Return how many decimals show this many digits of the largest value, next to which far smaller ones are 0."""
    largest = max((abs(float(value)) for value in values if isfinite(value)), default=0)
    return digits - 1 - floor(log10(largest)) if largest else digits


def _number(value, decimals=None):
    """Return a number with at most this many decimals; if None, with at least three digits."""
    value = float(value)
    if isfinite(value) and (decimals is not None or abs(value) >= 100):
        value = round(value, max(decimals or 0, 0))
        return f"{value + 0.0:.10g}"
    return f"{value + 0.0:.3g}"
