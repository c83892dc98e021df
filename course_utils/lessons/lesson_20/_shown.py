"""What feeds the tables and pictures of lesson 20: what was measured.

No task is declared here. The attentions themselves, and how they are trained, stand on the page or in `models/variants.py`.
"""

from course_utils.data.measured import by_seed
from course_utils.figures.tables import table
from course_utils.models import compared, variants


def shares(name, world, length):
    """The share of right answers of a measured attention, for each seed."""
    return by_seed("variants", "right", variant=name, world=world, length=length)


def best_in(world):
    """The measured attention with the most right answers in a world, on average over seeds and two lengths."""

    def mean(name):
        return sum(shares(name, world, length).mean() for length in (32, 128))

    return max(variants.VARIANTS, key=mean)


def parts_taken_out():
    """A row for each memory, part and world at the longest length: the share right with the part and without it, seed by seed."""
    rows, length = {}, compared.LENGTHS[-1]
    for world, name, part, label in (
        ("latest", "delta rule", "the reading", "the overwriting"),
        ("once", "delta rule", "the reading", "the overwriting"),
        ("once", "linear", "φ", "φ"),
        ("once", "linear", "the division", "the division"),
        ("once", "linear", "both", "φ and the division"),
    ):
        without = shares(f"{name} without {part}", world, length)
        whole = shares(name, world, length)
        rows[f"{world}: {name}, {label}"] = [whole, without, whole - without]
    return table(
        rows,
        ["with it", "without it", "difference, seed by seed"],
        "what is taken out",
        2,
        f"share right at {length} steps",
    )


def won_and_lost():
    """A row for each variant: the mean share right in both worlds at the longest length, and how many numbers a head keeps after it."""
    length, width = compared.LENGTHS[-1], 16
    kept = {"linear": width * width + width, "delta rule": width * width}
    rows = {}
    for name in variants.VARIANTS:
        right = [shares(name, world, length).mean() for world in compared.WORLDS]
        rows[name] = [*right, kept.get(name, length * 2 * width)]
    return table(rows, [*compared.WORLDS, "numbers kept"], f"at {length} steps", 2)


def by_slopes():
    """A row for each number of heads with the slope 1/4, and for ALiBi: the share right in both worlds at the longest length, for all seeds."""
    variants = {
        "no head (dot product)": "dot product",
        "two heads (mine)": "1/4 in two heads",
        "all heads": "1/4 in all heads",
        "ALiBi, other slopes": "ALiBi",
    }
    length = compared.LENGTHS[-1]
    rows = {row: [shares(name, world, length) for world in compared.WORLDS] for row, name in variants.items()}
    return table(rows, list(compared.WORLDS), "slope 1/4 in", 2, f"share right at {length} steps, mean of five seeds")
