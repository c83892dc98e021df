"""The course's plots: weights, masks, directions, curves with a spread. Computes only means and spreads.

Not here: drawn diagrams (`diagrams.py`), tables (`tables.py`), widgets (`widgets.py`).

Weights use a sequential map from 0 to 1. Lines differ in dashes and markers, not only in colour.
Every function draws into `ax`, or into a new figure, and returns nothing, so that a notebook shows only the figure.
"""

import math
from itertools import cycle, product

import matplotlib.pyplot as plt
import torch
from matplotlib.colors import LinearSegmentedColormap, PowerNorm
from matplotlib.ticker import MaxNLocator
from matplotlib.transforms import Bbox

from course_utils.figures import alt_text
from course_utils.figures.roles import GREY, INK, colour_of
from course_utils.figures.roles import WEIGHTS as ENDS

plt.rcParams.update(
    {
        "figure.dpi": 90,
        "figure.constrained_layout.use": True,
        "font.size": 11,
        "axes.spines.top": False,
        "axes.spines.right": False,
        "figure.facecolor": "white",
    }
)
alt_text.attach()
COLOURS = ("#0b6fa4", "#d1495b", "#3f7d20", "#7a4f9e", "#b8860b", "#4d4d4d")
LOOKS = tuple(zip(COLOURS, ("-", "--", "-.", ":", (0, (5, 1)), (0, (3, 1, 1, 1))), "os^Dv*", strict=True))
CHOICES = plt.get_cmap("Set3")  # a colour for each of up to twelve things
WIDEST = 11.0  # inches of a row of pictures
KEYS, QUERIES = "keys: words looked at", "queries"
WEIGHTS = LinearSegmentedColormap.from_list("weights", ENDS)  # a weight from 0 to 1, in every picture
SHOWN = 0.05  # smaller weights have no number in their cell
BLANK = f"no number: below {SHOWN}"
SHORT, APART = 16, 16  # letters of a name that can stand at the end of its line; pixels between two such names


def axes(columns=1, width=4.6, height=3.2):
    """Make a figure with `columns` axes in a row and return them as a list, or a single one by itself."""
    _, made = plt.subplots(1, columns, figsize=(width * columns, height), squeeze=False)
    return made[0, 0] if columns == 1 else list(made[0])


def colours(vectors, names):
    """Colours as squares in a row, each under its name: each vector holds the strengths of red, green and blue, from 0 to 1."""
    across = axes(len(vectors), width=1.5, height=1.7)
    across[0].figure.set_facecolor("none")  # no light background on a dark page; the names can be read on both
    for ax, vector, name in zip(across, vectors, names, strict=True):
        ax.imshow(vector.reshape(1, 1, 3).numpy())
        ax.set(xticks=[], yticks=[])
        ax.spines[:].set_visible(False)
        ax.set_title(name, color="0.47")


def weights(matrix, keys=None, queries=None, title="", ax=None, xlabel=KEYS, ylabel=QUERIES, marked=()):
    """Attention weights as a picture: rows queries, columns keys, from 0 (white) to 1 (dark); numbers below 0.05 are left out, and a note says so.

    `marked` holds pairs (row, column) of cells to frame with dashes, such as those where the weight should be.
    """
    numbers = [[f"{x:.2f}" if x >= SHOWN else "" for x in row] for row in torch.as_tensor(matrix).tolist()]
    ax = _draw_matrix(matrix, keys, queries, title, ax, xlabel, ylabel, numbers, cmap=WEIGHTS, vmin=0, vmax=1)
    for row, column in marked:
        frame = {"fill": False, "color": INK, "linewidth": 1.6, "linestyle": (0, (3, 2))}
        ax.add_patch(plt.Rectangle((column - 0.45, row - 0.45), 0.9, 0.9, **frame))
    _draw_lines_between_cells(ax, matrix.shape, "0.88")
    _colour_roles(ax, keys)
    if ax.texts and bool((torch.as_tensor(matrix) < SHOWN).any()):
        _explain_blanks(ax)


def _explain_blanks(ax):
    """Say once in a figure, below a matrix, why some cells hold no number."""
    if not any(note.get_text() == BLANK for one in ax.figure.axes for note in one.texts):
        style = {"va": "top", "fontsize": 9, "color": GREY}
        ax.annotate(BLANK, (0, 0), (0, -5), xycoords="axes fraction", textcoords="offset points", **style)


def heads(weights, line):
    """Where the heads of a machine are at each step: `weights` maps a title to steps×positions; a dashed line at the step `line`."""
    across, root = axes(len(weights), width=2.6, height=3.6), PowerNorm(0.5, vmin=0, vmax=1)
    for ax, (title, matrix) in zip(across, weights.items(), strict=True):
        steps, positions = matrix.shape
        position = "position" if ax is across[0] else ""
        _draw_matrix(matrix.T, None, None, title, ax, "step", position, cmap=WEIGHTS, norm=root)
        ax.axvline(line, color="0.4", linestyle="--", linewidth=1)
        ax.set_xticks(range(0, steps, 4), range(0, steps, 4))
        places = range(0, positions, 10 if positions > 20 else 5)
        ax.set_yticks(places, places)
        ax.invert_yaxis()  # larger positions are further up
    label, marks = "weight (square root scale)", [0, 0.05, 0.25, 1]
    across[0].figure.colorbar(across[0].images[0], ax=across, label=label).set_ticks(marks, labels=map(str, marks))


def reading(looks, facts, question, answer, support=()):
    """Draw how much each hop attends to each fact, looks hops×M, with frames at the facts in `support`, one per hop; return a sentence."""
    hops, ax = [f"hop {k}" for k in range(1, len(looks) + 1)], axes(width=5, height=0.7 + 0.3 * len(facts))
    frames = [(fact, hop) for hop, fact in enumerate(support)]
    weights(looks.T, hops, facts, f"{question}?", ax, f"It says: {answer}", "", marked=frames)
    ax.set_xticks(range(len(hops)), hops, rotation=0, ha="center")
    looks = ", ".join(f"{hop} at “{facts[row.argmax()]}”" for hop, row in zip(hops, looks, strict=True))
    return f"{question}? {looks.replace('hop 1', 'Hop 1 looks most', 1)}. The network says {answer}."


def amounts(matrix, keys=None, queries=None, title="", ax=None, xlabel=KEYS, ylabel=QUERIES, most=1.0, unit=""):
    """Amounts as a picture: white at 0, dark at `most`, with a colour bar that names the unit."""
    ax = _draw_matrix(matrix, keys, queries, title, ax, xlabel, ylabel, cmap="Purples", vmin=0, vmax=most)
    ax.figure.colorbar(ax.images[0], ax=ax, label=unit)


def side_by_side(draw, panels, width=3.6, height=3.2, **options):
    """Draw several matrices, each by a function such as `weights`: `panels` maps a title to (matrix, keys, queries).

    They are in one row, or in more if a page would have to shrink it until its numbers cannot be read.
    """
    rows = math.ceil(len(panels) * width / WIDEST)
    columns = math.ceil(len(panels) / rows)
    figure, across = plt.subplots(rows, columns, figsize=(width * columns, height * rows), squeeze=False)
    for (title, panel), ax in zip(panels.items(), across.flat, strict=False):
        draw(*panel, title=title, ax=ax, **options)
    for ax in across.flat[len(panels) :]:
        figure.delaxes(ax)


def mask(matrix, keys=None, queries=None, title="", ax=None, xlabel=KEYS, ylabel=QUERIES, dot="●"):
    """Draw a mask as a picture: dark where a query may attend, with a dot or the text `dot`; white where it may not."""
    matrix = torch.as_tensor(matrix)
    numbers = [[dot if may else "" for may in row] for row in matrix.tolist()]
    ax = _draw_matrix(matrix.float(), keys, queries, title, ax, xlabel, ylabel, numbers, cmap="Blues", vmin=0, vmax=1.6)
    _draw_lines_between_cells(ax, matrix.shape)
    _colour_roles(ax, keys)


def differences(matrix, columns=None, rows=None, title="", ax=None, xlabel="", ylabel="", zero=1e-5):
    """Differences as a picture in which the zeros stand out: dark up to `zero`, all else white with its number."""
    matrix = torch.as_tensor(matrix).detach().abs()
    numbers = [["0" if d <= zero else f"{d:.2f}" if d >= 0.005 else f"{d:.1g}" for d in row] for row in matrix.tolist()]
    colours = {"cmap": "Blues", "vmin": 0, "vmax": 1.2}
    ax = _draw_matrix((matrix <= zero).float(), columns, rows, title, ax, xlabel, ylabel, numbers, **colours)
    _draw_lines_between_cells(ax, matrix.shape)


def choices(matrix, title="", ax=None, xlabel="", ylabel=""):
    """Which of up to twelve things is chosen where: N×M whole numbers from 0; each has a colour, and its number, from 1, in the cell."""
    matrix = torch.as_tensor(matrix)
    rows, columns = matrix.shape
    ax = axes(width=1.2 + 0.3 * columns, height=1.1 + 0.3 * rows) if ax is None else ax
    ax.pcolormesh(matrix.numpy(), cmap=CHOICES, vmin=-0.5, vmax=11.5, edgecolors="white", linewidth=0.5)
    for (row, column), number in zip(product(range(rows), range(columns)), matrix.flatten().tolist(), strict=True):
        ax.text(column + 0.5, row + 0.5, str(number + 1), ha="center", va="center", fontsize=9)
    ax.set_xticks([column + 0.5 for column in range(columns)], range(1, columns + 1), fontsize=9)
    ax.set_yticks([row + 0.5 for row in range(rows)], range(1, rows + 1), fontsize=9)
    ax.tick_params(length=0)
    ax.invert_yaxis()
    ax.spines[:].set_visible(False)
    ax.set(title=title, xlabel=xlabel, ylabel=ylabel)


def _colour_roles(ax, keys):
    """Put the keys' names on top, and give them and the queries' names the colours of their roles."""
    ax.xaxis.tick_top()
    ax.xaxis.set_label_position("top")
    for axis, role in ((ax.xaxis, "key"), (ax.yaxis, "query")):
        axis.set_tick_params(length=0, labelcolor=colour_of(role))
        axis.label.set_color(GREY)
    if keys is not None:
        plt.setp(ax.get_xticklabels(), ha="left", rotation_mode="anchor")


def _draw_lines_between_cells(ax, shape, colour="0.7"):
    """Draw thin lines around every cell, so that a row of empty cells looks like a row."""
    ax.set_xticks([j - 0.5 for j in range(shape[1] + 1)], minor=True)
    ax.set_yticks([i - 0.5 for i in range(shape[0] + 1)], minor=True)
    ax.grid(which="minor", color=colour, linewidth=1, clip_on=False)
    ax.tick_params(which="minor", length=0)


def _draw_matrix(matrix, keys, queries, title, ax, xlabel, ylabel, numbers=None, **colours):
    matrix = torch.as_tensor(matrix).detach().float()
    rows, columns = matrix.shape
    if ax is None:
        ax = axes(width=max(3.2, 1.8 + 0.55 * columns), height=max(1.7, 1.1 + 0.42 * rows))
    ax.imshow(matrix.numpy(), aspect="auto", **colours)
    if matrix.numel() <= 150:
        _write_numbers(ax, matrix, numbers)
    ax.set_xticks(
        range(columns),
        range(columns) if keys is None else keys,
        rotation=0 if keys is None else 40,
        ha="center" if keys is None else "right",
    )
    ax.set_yticks(range(rows), range(rows) if queries is None else queries)
    if queries == [""]:  # a row without a name needs no tick
        ax.tick_params(axis="y", length=0)
    ax.set(xlabel=xlabel, ylabel=ylabel, title=title)
    ax.spines[:].set_visible(False)
    return ax


def _write_numbers(ax, matrix, texts):
    for i, row in enumerate(matrix.tolist()):
        for j, value in enumerate(row):
            text = f"{value:.2f}" if texts is None else texts[i][j]
            if value != value:  # not a number: the cell is empty
                continue
            dark = ax.images[0].norm(value) > 0.55
            ax.text(j, i, text, ha="center", va="center", fontsize=10, color="white" if dark else "black")


def curves(x, runs, xlabel, ylabel, title="", ax=None, theory=None, log=False, legend="best"):
    """Lines with a spread: `runs` maps a label to a runs×points tensor; the band is from the lowest run to the highest.

    `theory` maps a label to one value per point, drawn as a broad grey line. Names stand at the ends of their lines where
    they are short and do not touch, else in a legend. `legend` is its place in the axes, or "above" them.
    """
    ax = axes() if ax is None else ax
    x = torch.as_tensor(x).numpy()
    for (label, values), (colour, dash, marker) in zip(runs.items(), cycle(LOOKS), strict=False):
        values = torch.as_tensor(values).double().numpy()
        ax.plot(x, values.mean(0), color=colour, linestyle=dash, marker=marker, markersize=5, label=label)
        ax.fill_between(x, values.min(0), values.max(0), color=colour, alpha=0.2, linewidth=0)
    for label, values in (theory or {}).items():
        ax.plot(x, values, color="0.45", linewidth=4, alpha=0.45, zorder=0, label=label)
    if log:
        ax.set_xscale("log", base=2)
        ax.set_yscale("log")
    elif (x == x.round()).all():
        ax.xaxis.set_major_locator(MaxNLocator(integer=True))
    ax.set(xlabel=xlabel, ylabel=ylabel, title=title)
    if legend == "best" and _name_lines(ax):
        return
    if legend == "above":
        ax.legend(loc="lower center", bbox_to_anchor=(0.5, 1.0), ncols=2 if len(runs) > 3 else 1, frameon=False)
    else:
        ax.legend(loc=legend, edgecolor="none", framealpha=0.85)


def _name_lines(ax):
    """Write each line's name at its right end; return whether that was possible."""
    lines = [line for line in ax.get_lines() if not str(line.get_label()).startswith("_")]
    ends = [(line.get_xdata()[-1], line.get_ydata()[-1]) for line in lines]
    ax.autoscale_view()
    heights = sorted(ax.transData.transform(end)[1] for end in ends)
    apart = [upper - lower for lower, upper in zip(heights, heights[1:], strict=False)]
    if any(len(line.get_label()) > SHORT for line in lines) or not all(gap >= APART for gap in apart):
        return False
    for line, end in zip(lines, ends, strict=True):
        ax.annotate(line.get_label(), end, (6, 0), textcoords="offset points", va="center", color=line.get_color())
    return True


def bars(runs, ylabel, title="", ax=None, ylim=(0, 1), expected=None):
    """Draw a bar for each label at the mean of its runs, and a dot for each run.

    `expected` maps labels of bars to their expected heights, each drawn as a short mark at its bar.
    """
    ax = axes(width=max(4.2, 1.2 * len(runs) + 1)) if ax is None else ax
    expected, tall = expected or {}, ylim[1] - ylim[0]
    for i, (name, values) in enumerate(runs.items()):
        values = torch.as_tensor(values).double().reshape(-1).numpy()
        ax.bar(i, values.mean(), color=COLOURS[0], alpha=0.35, edgecolor=COLOURS[0])
        ax.plot([i] * len(values), values, "o", color=COLOURS[0], markersize=4)
        top = values.max()
        if top <= expected.get(name, top) < top + 0.1 * tall:  # the mark would cross the number
            top = expected.get(name, top)
        ax.text(i, top + 0.015 * tall, f"{values.mean():.3f}", ha="center", va="bottom")
    if expected:
        places = [list(runs).index(name) for name in expected]
        left, right = [place - 0.46 for place in places], [place + 0.46 for place in places]
        marks = ax.hlines(expected.values(), left, right, color="black", linewidth=2.5, clip_on=False, zorder=1.5)
        ax.figure.legend([marks], ["expected"], loc="outside lower center", frameon=False)
    ax.set_xticks(range(len(runs)), runs)
    ax.set(ylabel=ylabel, title=title, ylim=ylim)


def surprise(text, bits, title="", ax=None):
    """Draw how many bits each character of a text carries, side by side: `bits` maps a label to a number for each character."""
    ax = axes(width=11, height=3) if ax is None else ax
    wide = 0.8 / len(bits)
    for i, ((label, values), hatch) in enumerate(zip(bits.items(), ("", "///", "..."), strict=False)):
        values = torch.as_tensor(values).detach().double().tolist()
        places = [place + (i + 0.5) * wide - 0.4 for place in range(len(values))]
        ax.bar(places, values, wide, label=label, color=COLOURS[i], alpha=0.75, hatch=hatch, edgecolor="white")
    ax.set_xticks(range(len(text)), [{" ": "␣", "\n": "⏎"}.get(c, c) for c in text], fontsize=9)
    ax.set(ylabel="bits", xlabel="character", title=title, xlim=(-0.7, len(text) - 0.3))
    ax.legend(loc="upper left", bbox_to_anchor=(0, 1.22), ncols=len(bits), frameon=False)


def scatter(x, y, xlabel, ylabel, names=None, title="", ax=None):
    """A dot for each pair of numbers; `names` maps the places of some dots to a name, which is written beside the dot."""
    ax = axes(width=6.4, height=4.6) if ax is None else ax
    x, y = (torch.as_tensor(values).detach().double().tolist() for values in (x, y))
    names = names or {}
    others = [i for i in range(len(x)) if i not in names]
    ax.axhline(0, color="0.8", linewidth=1, zorder=0)
    ax.axvline(0, color="0.8", linewidth=1, zorder=0)
    ax.plot([x[i] for i in others], [y[i] for i in others], ".", color="0.6", markersize=5)
    ax.plot([x[i] for i in names], [y[i] for i in names], "o", color=COLOURS[0], markersize=6)
    ax.margins(0.12)
    ax.set(xlabel=xlabel, ylabel=ylabel, title=title)
    ax.figure.draw_without_rendering()  # from here on the axes do not move
    taken = [_dot_square(ax, x[i], y[i]) for i in names]
    for i, name in names.items():
        taken.append(_write_beside(ax, (x[i], y[i]), name, taken))


def _dot_square(ax, x, y):
    """Return the little square, in pixels, that a dot covers."""
    across, up = ax.transData.transform((x, y))
    return Bbox.from_extents(across - 4, up - 4, across + 4, up + 4)


def _write_beside(ax, point, name, taken):
    """Write a name where it covers neither a named dot nor another name, if possible; return the space it takes."""
    sides = ((1, 0), (-1, 0), (0, 1), (0, -1), (1, 1), (-1, 1), (1, -1), (-1, -1))
    for away, (right, up) in product((7, 20, 34, 48, 62), sides):  # points
        style = {"ha": ("right", "center", "left")[right + 1], "va": ("top", "center", "bottom")[up + 1]}
        style["bbox"] = {"facecolor": "white", "alpha": 0.7, "linewidth": 0, "pad": 0.5}
        place = {"xy": point, "xytext": (away * right, away * up), "textcoords": "offset points"}
        text = ax.annotate(name, **place, **style)
        space = text.get_window_extent()
        inside = all(ax.bbox.contains(*corner) for corner in space.corners())
        if inside and not any(space.overlaps(other) for other in taken):
            break
        text.remove()
    else:
        text = ax.annotate(name, **place)
    if away > 7:
        ax.annotate("", **place, arrowprops={"arrowstyle": "-", "color": "0.5", "linewidth": 0.8}, zorder=0)
    return space


def directions(vectors, names, direction=None, title="", ax=None, direction_name="θ"):
    """Vectors of width 2 as arrows from 0, each with its name, and dotted lines to their projections on `direction`."""
    ax = axes(width=4.8, height=4.4) if ax is None else ax
    vectors = torch.as_tensor(vectors).detach().double()
    reach = 1.15 * vectors.abs().max().item()
    if direction is not None:
        direction = direction.detach().double()
        longest = 1.1 * reach * direction / direction.norm()
        ax.plot(*torch.stack([-longest, longest]).T.tolist(), color="0.6", linewidth=1)
        x, y = min(direction, longest, key=torch.norm).tolist()
        ax.annotate("", (x, y), (0, 0), arrowprops={"arrowstyle": "->", "color": "0.3", "linewidth": 2})
        ax.text(x, y, f"{direction_name} ", color="0.3", fontsize=13, ha="right")
        shadows = (vectors @ direction)[:, None] * direction / direction.dot(direction)
        for vector, shadow in zip(vectors, shadows, strict=True):
            ax.plot(*torch.stack([vector, shadow]).T.tolist(), color="0.4", linestyle=":", linewidth=1)
    for (x, y), name in zip(vectors.tolist(), names, strict=True):
        ax.annotate("", (x, y), (0, 0), arrowprops={"arrowstyle": "->", "color": COLOURS[0]})
        length = max((x * x + y * y) ** 0.5, 1e-9)  # the name is beyond the arrow's head
        place = x + 0.08 * reach * x / length, y + 0.08 * reach * y / length
        box = {"facecolor": "white", "edgecolor": "none", "pad": 1}  # a name may be on the direction
        ax.text(*place, name, fontsize=10, zorder=4, bbox=box if name else None, **_text_alignment(x, y))
    left, bottom = (vectors.amin(0).clamp(max=0) - 0.3 * reach).tolist()
    right, top = (vectors.amax(0).clamp(min=0) + 0.4 * reach).tolist()
    ax.set(xlim=(left, right), ylim=(bottom, top), title=title, aspect="equal")
    ax.set(xlabel="feature 0", ylabel="feature 1")


def _text_alignment(x, y):
    """Return the text alignment that keeps a name outside the arrow that points to (x, y)."""
    sideways = abs(x) > abs(y)
    return {
        "ha": ("left" if x > 0 else "right") if sideways else "center",
        "va": "center" if sideways else ("bottom" if y > 0 else "top"),
    }


def dial(hands, title="", ax=None):
    """A clock: a circle with a tick at each whole radian, and `hands`, an angle for each name, counted anticlockwise from the right."""
    ax = axes(width=3.0, height=3.0) if ax is None else ax
    ax.add_patch(plt.Circle((0, 0), 1, fill=False, color="0.6"))
    for angle in range(7):
        x, y = math.cos(angle), math.sin(angle)
        ax.plot([0.92 * x, x], [0.92 * y, y], color="0.4", linewidth=1.5)
        ax.text(1.14 * x, 1.14 * y, str(angle), ha="center", va="center", fontsize=9, color="0.4")
    for (name, angle), (colour, dash, _) in zip(hands.items(), cycle(LOOKS), strict=False):
        x, y = math.cos(angle), math.sin(angle)
        arrow = {"arrowstyle": "-|>", "color": colour, "linewidth": 2.2, "linestyle": dash, "shrinkA": 0, "shrinkB": 0}
        ax.annotate("", (0.9 * x, 0.9 * y), (0, 0), arrowprops=arrow)
        box = {"facecolor": "white", "edgecolor": "none", "pad": 1}
        ax.text(0.5 * x, 0.5 * y, name, ha="center", va="center", fontsize=10, color=colour, bbox=box if name else None)
    ax.set(xlim=(-1.3, 1.3), ylim=(-1.3, 1.3), aspect="equal", title=title)
    ax.axis("off")


def polarity(values, names, title="", xlabel="cosine with the direction of sentiment", ax=None):
    """Named values between -1 and 1 as bars, sorted, negative to the left."""
    order = sorted(range(len(names)), key=lambda i: values[i])
    ax = axes(width=5.6, height=0.26 * len(names) + 0.9) if ax is None else ax
    heights = [float(values[i]) for i in order]
    ax.barh(range(len(order)), heights, color=[COLOURS[0] if h > 0 else COLOURS[1] for h in heights], alpha=0.7)
    ax.set_yticks(range(len(order)), [names[i] for i in order])
    ax.axvline(0, color="0.3", linewidth=1)
    ax.set(xlabel=xlabel, title=title, xlim=(-1.05, 1.05))


def ranked(names, values, xlabel, title=""):
    """One dot for each name, from the first at the top, each with its value."""
    ax = axes(width=9, height=1 + 0.42 * len(names))
    ax.plot(values, range(len(names)), "o", color=COLOURS[0])
    for place, value in enumerate(values):
        ax.text(value, place, f"   {value:.2f}", va="center")
    ax.set_yticks(range(len(names)), names)
    ax.margins(x=0.2)
    ax.set(xlabel=xlabel, title=title, ylim=(len(names) - 0.5, -0.5))


def dots(rows, xlabel, title="", ax=None, xlim=(-0.03, 1.03), guess=None):
    """A mark for each run: `rows` maps a label to one series or several, each a name with its runs; a name has one marker in all rows.

    `guess` is (name, levels): a level for each row, drawn as a vertical grey line, such as what guessing would reach.
    """
    names = list(next(iter(rows.values())))
    ax = axes(width=8, height=1.3 + 0.14 * len(rows) * len(names)) if ax is None else ax
    for place, (name, (colour, _, marker)) in enumerate(zip(names, LOOKS, strict=False)):
        for row, series in enumerate(rows.values()):
            values = torch.as_tensor(series[name]).double().reshape(-1).tolist()
            height = row + 0.7 / len(names) * (place - (len(names) - 1) / 2)
            label = f"{list(rows)[row]}, {name}"  # for those who can't see the picture
            ax.scatter(values, [height] * len(values), color=colour, marker=marker, alpha=0.65, label=label)
    above = {"loc": "lower center", "bbox_to_anchor": (0.5, 1.0), "ncols": len(names), "frameon": False}
    handles = ax.collections[:: len(rows)]
    if guess:
        levels, heights = list(map(float, guess[1])), torch.arange(len(rows)).numpy()
        handles.append(ax.vlines(levels, heights - 0.4, heights + 0.4, color="0.6", linewidth=3, zorder=0))
        names, above["ncols"] = [*names, guess[0]], len(names) + 1
    ax.legend(handles, names, **above)
    ax.hlines([row + 0.5 for row in range(len(rows) - 1)], *xlim, color="0.88", linewidth=1)
    ax.set_yticks(range(len(rows)), rows)
    ax.set(xlabel=xlabel, title=title, xlim=xlim, ylim=(len(rows) - 0.45, -0.55))


def tree(probabilities, kept=(), title="", ax=None, best=None):
    """A tree of continuations: `probabilities` maps each beginning, a tuple of words, to its total probability.

    A line shows the probability of its word, given the words before; a word shows that of all words up to it. The beginnings in `kept` are filled and have solid lines, the others dashed ones. `best` is one of them, in a different colour.
    """
    kept, heights, leaves = set(kept), {}, 0
    beginnings = sorted(probabilities, key=lambda one: (len(one), list(probabilities).index(one)))
    children = {one: [other for other in beginnings if other[:-1] == one] for one in [(), *beginnings]}

    def place(one):
        nonlocal leaves
        for child in children[one]:
            place(child)
        heights[one] = leaves if not children[one] else sum(map(heights.get, children[one])) / len(children[one])
        leaves += not children[one]

    place(())
    ax = axes(width=9.2, height=1.2 + 0.38 * leaves) if ax is None else ax
    for one in beginnings:
        colour, line = (COLOURS[0], "-") if one in kept else ("0.6", (0, (4, 3)))
        left, right = len(one) - 1, len(one)  # the boxes cover the ends
        y = heights[one[:-1]], heights[one]
        ax.plot([left, right], y, color=colour, linestyle=line)
        share = probabilities[one] / probabilities.get(one[:-1], 1)
        white = {"facecolor": "white", "edgecolor": "none", "pad": 1}
        ax.text(
            (left + right) / 2,
            (y[0] + y[1]) / 2,
            f"{share:.2g}",
            ha="center",
            va="center",
            fontsize=9,
            bbox=white,
        )
    for one in beginnings:
        chosen, colour = one in kept, COLOURS[1 if one == best else 0]
        box = {
            "boxstyle": "round",
            "facecolor": colour if chosen else "white",
            "edgecolor": colour if chosen else "0.6",
        }
        text = f"{one[-1]}  {probabilities[one]:.2g}"
        ax.text(len(one), heights[one], text, ha="center", va="center", bbox=box, color="white" if chosen else "0.2")
    ax.set(title=title, xlim=(-0.1, max(map(len, beginnings)) + 0.5), ylim=(leaves - 0.5, -0.5))
    ax.axis("off")
