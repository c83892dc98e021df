"""Compares an attention function with the others: the promises it keeps, and its accuracy in two worlds.

Not here: the promises (`attention_properties.py`), the worlds (`data/lookups.py`), and the models (`variants.py`).
"""

from statistics import fmean
from typing import NamedTuple

import torch

from course_utils.data.lookups import KINDS
from course_utils.data.measured import by_seed, measured
from course_utils.figures import plots
from course_utils.models.attention_properties import PROMISES, broken
from course_utils.models.variants import Attend, accuracy, fit, reader

WORLDS, LENGTHS = tuple(KINDS), (32, 64, 128)


def signed(number: float) -> str:
    """Return a number with its sign and two decimals; what rounds to 0 has a plus."""
    return f"{round(number, 2) + 0.0:+.2f}"


class Report(NamedTuple):
    """An attention's name, each promise with None or what breaks it, and shares of right answers by world: seeds × lengths."""

    name: str
    promises: dict[str, str | None]
    right: dict[str, list[list[float]]]
    expected: dict[str, float] = {}  # a world's share at the shortest length, as predicted
    beside: str = "dot product"  # one of `variants.VARIANTS`

    def __str__(self):
        lines = ["keeps: " + ", ".join(p for p, sentence in self.promises.items() if not sentence)]
        lines += [f"breaks {p}: {sentence}" for p, sentence in self.promises.items() if sentence]
        for world, runs in self.right.items():
            for n, length in enumerate(LENGTHS):
                usual = by_seed("variants", "right", variant=self.beside, world=world, length=length)
                more = [run[n] - one.item() for run, one in zip(runs, usual, strict=False)]
                line = f"{world}, {length} steps: " + ", ".join(f"{run[n]:.2f}" for run in runs)
                if n == 0 and world in self.expected:
                    line += f" (expected {self.expected[world]:.2f})"
                line += f"; minus {self.beside}: " + ", ".join(map(signed, more))
                lines.append(line + (f" (mean {signed(fmean(more))})" if len(more) > 1 else ""))
        return "\n".join([f"{self.name}:", *lines])


def report(
    name: str, attend: Attend, seeds: int = 1, promises=None, expected=None, beside="dot product"
) -> Report | str:
    """Test each promise, train in both worlds (ten seconds or more per seed), and plot the results beside those of a measured attention.

    Nothing is trained if the shapes are wrong, or if `expected` holds anything but shares.

    Args:
        attend: as in `variants.py`.
        seeds: how many models are trained in each world.
        promises: those to test; None for all of `PROMISES`.
        expected: the share of right answers expected in each world, by name.
        beside: the measured attention, one of `variants.VARIANTS`.
    """
    if ... in (expected or {}).values():
        return "First say what you expect: replace each of the dots with a share from 0 to 1."
    for world, share in (expected or {}).items():
        if not isinstance(share, (int, float)) or not 0 <= share <= 1:
            return f"What you expect of {world!r} is a share from 0 to 1, such as 0.9, and not {share!r}: change it, and run this again."
    promises = promises or PROMISES
    found, answers = broken(attend, promises), {}
    done = Report(name, {promise: found.get(promise) for promise in promises}, answers, expected or {}, beside)
    if "shape" in found:
        return done
    for world in WORLDS:
        answers[world] = []
        for seed in range(seeds):
            torch.manual_seed(seed)
            model = reader(attend)
            fit(model, world, seed)
            answers[world].append([accuracy(model, world, length) for length in LENGTHS])
    draw_accuracy(beside, own=done)
    return done


def draw_accuracy(*names: str, own: Report | None = None):
    """Plot the shares of right answers in both worlds by sequence length, for measured variants and for a report."""
    axes = plots.axes(len(WORLDS), width=4.2)
    for ax, world in zip(axes, WORLDS, strict=True):
        lines = {own.name: own.right[world]} if own else {}
        for name in names:
            lines[name] = measured("variants", "right", "length", variant=name, world=world)[1]
        plots.curves(LENGTHS, lines, "steps", "share of right answers", world, ax, legend="lower left")
        ax.set(ylim=(0, 1.05), xticks=LENGTHS)
    axes[0].get_legend().remove()  # one is enough
    axes[1].legend(loc="center left", bbox_to_anchor=(1, 0.5), frameon=False)  # beside the lines
