"""What the pages of lesson 11 show: the hands of some pairs, and sinusoidal positions as columns."""

import ipywidgets

from course_utils.figures import plots
from course_utils.figures.widgets import explore


def clocks(pairs=(0, 4, 8, 12), D=64):
    """Return an Explorer: the hands of these pairs of dimensions, with a slider for the position."""

    def draw(position):
        angles = [position / 10_000 ** (2 * pair / D) for pair in pairs]
        for pair, angle, ax in zip(pairs, angles, plots.axes(len(pairs), width=2.5, height=2.6), strict=True):
            plots.dial({"": angle}, f"pair {pair}: {angle:.2f}", ax)
        return f"At position {position} pair {pairs[0]} has turned by {angles[0]:.0f} radians and pair {pairs[-1]} by {angles[-1]:.2f}."

    return explore(draw, position=ipywidgets.IntSlider(value=3, min=0, max=60))


def columns(sinusoidal, D=8):
    """Draw sinusoidal positions, a column each: at the left 30 neighbours, at the right every hundredth position."""
    for step, ax in zip((1, 100), plots.axes(2, width=6, height=3.2), strict=True):
        plots.scores(sinusoidal(30 * step, D)[::step].T, ax=ax, ylabel="dimension", xlabel="position")
        ax.set_xticks(range(0, 30, 5), [step * column for column in range(0, 30, 5)])
    ax.figure.colorbar(ax.images[0], ax=ax, label="entry")


def two_layers(seen, names):
    """Draw the weights of both layers, T×T each, with the words of the text."""
    for layer, ax in enumerate(plots.axes(2, width=5.2, height=3.7)):
        plots.weights(seen[layer], names, names, f"layer {layer}", ax, "keys: words", "queries: words")


def steps_back(weights):
    """Draw the weights of heads made by hand, T×T for each number of steps back."""
    for (steps, found), ax in zip(weights.items(), plots.axes(len(weights), width=4.6, height=3.4), strict=True):
        plots.weights(found, title=f"{steps} back", ax=ax, xlabel="keys: positions", ylabel="queries: positions")


def arrows(places):
    """Draw a query at m and a key at n, both turned from the right by 1 radian a position, for each pair of places (m, n)."""
    for (m, n), ax in zip(places, plots.axes(len(places), width=2.8, height=2.8), strict=True):
        plots.dial({"q": m, "k": n}, f"q at {m}, k at {n}", ax)
