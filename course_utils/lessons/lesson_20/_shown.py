"""What feeds the tables and pictures of lesson 20: who breaks which promise, what was measured, and what each key reads.

No task is declared here. The attentions themselves, and how they are trained, stand on the page or in `models/variants.py`.
"""

from course_utils.data.measured import by_seed
from course_utils.figures.tables import table
from course_utils.models import compared, properties, variants


def who_breaks(attentions):
    """A row for each promise: what it says, and the attentions that break it; the last row names those that break none."""
    found = {name: properties.broken(attend) for name, attend in attentions.items()}
    rows = {}
    for promise, test in properties.PROMISES.items():
        by = [name for name, sentences in found.items() if promise in sentences]
        rows[promise] = [test.__doc__, ", ".join(by)]
    rows["all kept"] = ["", "by " + ", ".join(name for name, sentences in found.items() if not sentences)]
    return table(rows, ["what it says", "broken by"], left=["what it says", "broken by"])


def shares(name, world, length):
    """The share of right answers of a measured attention, for each seed."""
    return by_seed("variants", "right", variant=name, world=world, length=length)


def best_in(world):
    """The measured attention with the most right answers in a world, on average over seeds and two lengths."""

    def mean(name):
        return sum(shares(name, world, length).mean() for length in (32, 128))

    return max(variants.VARIANTS, key=mean)


def beside(report, other):
    """A row for each world and seed at the longest length: the share right of a report, and how much more it is than another's."""
    rows, length = {}, compared.LENGTHS[-1]
    for world, runs in report.right.items():
        for seed, run in enumerate(runs):
            more = run[-1] - shares(other, world, length)[seed]
            rows[f"{world}, seed {seed}"] = [f"{run[-1]:.2f}", f"{more:+.2f}"]
    return table(rows, [report.name, f"minus {other}"], caption=f"share right at {length} steps")
