"""An attention of one's own beside the others: what it promises, what it gets right in two worlds, and a picture of both.

Not here: what is promised (`properties.py`), the worlds (`data/lookups.py`), and the models that are trained (`variants.py`).
"""

from typing import NamedTuple

import torch

from course_utils.data.lookups import lookups, read
from course_utils.data.measured import measured
from course_utils.figures import plots
from course_utils.models.properties import PROMISES, broken
from course_utils.models.variants import Attend, fit, reader, right

WORLDS, LENGTHS = ("once", "latest"), (32, 64, 128)


class Report(NamedTuple):
    """Of an attention: its name, each promise with None or what breaks it, and shares of right answers by world: seeds × lengths."""

    name: str
    promises: dict[str, str | None]
    right: dict[str, list[list[float]]]


def report(name: str, attend: Attend, seeds: int = 1, promises=None) -> Report:
    """Try each promise, train in both worlds (ten seconds and more for each seed), and draw what came of it beside dot products.

    Args:
        attend: as in `variants.py`.
        seeds: how many models are trained in each world.
        promises: those to try; all of `properties.PROMISES` if None.
    """
    promises = promises or PROMISES
    found, answers = broken(attend, promises), {}
    for world in WORLDS:
        answers[world] = []
        for seed in range(seeds):
            torch.manual_seed(seed)
            model = reader(attend)
            fit(model, world, seed)
            answers[world].append([right(model, world, length) for length in LENGTHS])
    done = Report(name, {promise: found.get(promise) for promise in promises}, answers)
    _draw(done, model)
    return done


@torch.no_grad()
def _draw(done, model):
    """The shares in both worlds, and where the last model looks in a sequence of 32 steps, on average over its heads."""
    asked = lookups(1, WORLDS[-1], torch.Generator().manual_seed(0), LENGTHS[0])
    model(read(asked))
    axes = plots.axes(2 if model.weights is None else 3, width=3.6)
    for ax, world in zip(axes, WORLDS, strict=False):
        others = measured("variants", "right", "length", variant="dot product", world=world)[1]
        lines = {done.name: done.right[world], "dot product": others}
        plots.curves(LENGTHS, lines, "steps", "share of right answers", world, ax)
        ax.set_ylim(0, 1.05)
    if model.weights is not None:
        axes[2].imshow(model.weights[0].mean(0), cmap="Blues")
        axes[2].set(title=f"weights, {WORLDS[-1]}", xlabel="step", ylabel="step")
