"""What feeds the tables and pictures of lesson 20: what was measured.

No task is declared here. The attentions themselves, and how they are trained, stand on the page or in `models/variants.py`.
"""

import torch

from course_utils.data.lookups import lookups, most_told
from course_utils.data.measured import by_seed
from course_utils.figures.tables import table
from course_utils.models import attention_report, variants


def shares(name, world, length):
    """The share of right answers of a measured attention, for each seed."""
    return by_seed("variants", "right", variant=name, world=world, length=length)


def best_in(world):
    """The measured attention with the most right answers in a world, on average over seeds and two lengths."""

    def mean(name):
        return sum(shares(name, world, length).mean() for length in (32, 128))

    return max(variants.VARIANTS, key=mean)


def by_key_asked_for(model, length=32):
    """A row for a model and for the most frequent value: the share right in "latest", by whether a step's own key is asked for."""
    asked = lookups(200, "latest", torch.Generator().manual_seed(10_000), length)
    own = (asked.query == asked.key)[:, -(length // 4) :]  # B T/4
    rows = {}
    with torch.no_grad():
        answers = {"the model": model(asked).argmax(-1), "the key's most frequent value": most_told(asked)}
    for name, answer in answers.items():
        right = (answer == asked.answer)[:, -(length // 4) :].float()  # B T/4
        rows[name] = [right[own].mean(), right[~own].mean(), right.mean()]
    return table(rows, ["the step's own key", "another key", "all"], "asked for", 2, "share right, one training")


def read_in_other_ways():
    """A row for each way to read models that have learned "once" with dot products: the share right at the longest length, for all seeds."""
    length = attention_report.LENGTHS[-1]
    ways = {"softmax": "", "softmax, scores times 1.25": ", read with scores times 1.25"}
    ways |= {"softmax, scores times 2": ", read with scores times 2", "sparsemax": ", read with sparsemax"}
    rows = {row: [shares(f"dot product{way}", "once", length)] for row, way in ways.items()}
    return table(rows, [f"share right at {length} steps, five seeds"], "trained with a softmax, read with", 3)


def without_overwriting():
    """A row for each world: the share right of the delta rule with its overwriting and without, at the longest length, seed by seed."""
    rows, length = {}, attention_report.LENGTHS[-1]
    for world in ("latest", "once"):
        whole, without = (shares(f"delta rule{part}", world, length) for part in ("", " without the reading"))
        rows[world] = [whole, without, whole - without]
    columns = ["overwrites", "only adds", "difference, seed by seed"]
    return table(rows, columns, "delta rule", 2, f"share right at {length} steps, mean of five seeds")


def by_phi():
    """A row for each φ of linear attention: the share right in "once" at the longest length with the division and without, for all seeds."""
    length = attention_report.LENGTHS[-1]
    variants = {
        "elu(x) + 1": ("linear", "linear without the division"),
        "relu(x)": ("linear, relu", "linear, relu, without the division"),
        "x": ("linear without φ", "linear without both"),
    }
    rows = {phi: [shares(name, "once", length) for name in names] for phi, names in variants.items()}
    return table(rows, ["divided", "not divided"], "φ(x)", 2, f"`once`: share right at {length} steps, five seeds")


def won_and_lost():
    """A row for each variant: the mean share right in both worlds at the longest length, and how many numbers a head keeps after it."""
    length, width = attention_report.LENGTHS[-1], 16
    kept = {"linear": width * width + width, "delta rule": width * width}
    rows = {}
    for name in variants.VARIANTS:
        right = [shares(name, world, length).mean() for world in attention_report.WORLDS]
        rows[name] = [*right, kept.get(name, length * 2 * width)]
    return table(rows, [*attention_report.WORLDS, "numbers kept"], f"at {length} steps", 2)


def by_slopes():
    """A row for each number of heads with the slope 1/4, and for ALiBi: the share right in both worlds at the longest length, for all seeds."""
    variants = {
        "no head (dot product)": "dot product",
        "two heads (mine)": "1/4 in two heads",
        "all heads": "1/4 in all heads",
        "ALiBi, other slopes": "ALiBi",
    }
    length = attention_report.LENGTHS[-1]
    rows = {row: [shares(name, world, length) for world in attention_report.WORLDS] for row, name in variants.items()}
    return table(
        rows, list(attention_report.WORLDS), "slope 1/4 in", 2, f"share right at {length} steps, mean of five seeds"
    )
