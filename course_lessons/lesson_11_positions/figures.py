"""What the pages of lesson 11 show: the hands of clocks, the newest rows of a table, and the weights of two layers."""

import ipywidgets

from course_utils.figures import plots
from course_utils.figures.tables import table
from course_utils.figures.widgets import explore


def clocks(pairs=(0, 4, 8, 12), D=64):
    """Return an Explorer: the hands of these pairs of dimensions, with a slider for the position."""

    def draw(position):
        angles = [position / 10_000 ** (2 * pair / D) for pair in pairs]
        for pair, angle, ax in zip(pairs, angles, plots.axes(len(pairs), width=2.5, height=2.6), strict=True):
            plots.dial({"": angle}, f"pair {pair}: {angle:.2f}", ax)
        return f"At position {position} pair {pairs[0]} has turned by {angles[0]:.0f} radians and pair {pairs[-1]} by {angles[-1]:.2f}."

    return explore(draw, position=ipywidgets.IntSlider(value=3, min=0, max=60))


def last_two(shares, headings):
    """Show the last two rows of a table that grows: the newest way, below the one before it."""
    return table(dict([*shares.items()][-2:]), headings, digits=2)


def two_layers(model, text):
    """Draw the weights of both layers of a Reader, T×T each, with the words of the text."""
    x, names = model.add(model.embedding(text[None])), [*map(str, text.tolist())]
    names[-1] += " (last)"
    for layer, ax in enumerate(plots.axes(2, width=5.2, height=3.7)):
        weights = model.weights(layer, x)
        plots.weights(weights[0], names, names, f"layer {layer}", ax, "keys: words", "queries: words")
        x = x + weights @ model.W_V[layer](x)


def arrows(places):
    """Draw a query at m and a key at n, both turned from the right by 1 radian a position, for each pair of places (m, n)."""
    for (m, n), ax in zip(places, plots.axes(len(places), width=2.8, height=2.8), strict=True):
        plots.dial({"q": m, "k": n}, f"q at {m}, k at {n}", ax)
