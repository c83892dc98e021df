"""Task 22.grouped_query_attention: heads that share keys and values in groups (Ainslie et al. 2023)."""

from itertools import product
from types import SimpleNamespace

import torch
import torch.nn.functional as F

from course_lessons.shared.partial_credit import USUAL
from course_lessons.shared.weight_properties import outside_the_values
from course_utils.checks.task import Case, Task
from course_utils.models.attention import causal_mask

task = Task(
    __name__,
    "heads that share keys and values",
    arguments=("query B×H×T×d", "key B×G×S×d", "value B×G×S×d", "mask B×T×S"),
    result="contexts B×H×T×d",
    difficulty=3,
    importance=5,
    minutes=25,
    partial=USUAL,
)


def _inputs(draw, B, H, G, T, S, d, mask=None, dtype=torch.float32):
    mask = draw.mask(B, T, S) if mask is None else mask
    return (
        1.5 * draw.normal(B, H, T, d, dtype=dtype),
        draw.normal(B, G, S, d, dtype=dtype),
        draw.normal(B, G, S, d, dtype=dtype) + 0.5,
        mask,
    )


# Sizes B, H, G, T, S, d: tiny first, where wrong axes do not fit one another, then all
LADDER = (
    (1, 4, 2, 1, 2, 1),
    (1, 4, 2, 3, 2, 2),
    (2, 4, 2, 1, 3, 2),
    (1, 6, 2, 2, 3, 2),
    (1, 6, 3, 2, 5, 3),
    (2, 6, 3, 5, 7, 11),
)


@task.cases
def _(draw):
    for dims in LADDER:
        size, full = SimpleNamespace(**dict(zip("BHGTSd", dims, strict=True))), dims == LADDER[-1]
        name = f"B={size.B}, {size.H} heads in {size.G} groups, T={size.T}, S={size.S}, head width {size.d}"
        everything = torch.ones(size.B, size.T, size.S, dtype=torch.bool)
        yield Case(f"{name}, everything allowed", _inputs(draw, *dims, everything), full)
        yield Case(f"{name}, with a mask", _inputs(draw, *dims), full)
    causal = causal_mask(5).repeat(2, 1, 1)
    yield Case("each position sees itself and earlier ones", _inputs(draw, 2, 4, 2, 5, 5, 3, causal))
    yield Case("as many groups as heads in a group", _inputs(draw, 3, 9, 3, 2, 5, 2))
    yield Case("as many sentences as heads", _inputs(draw, 4, 4, 2, 3, 5, 3))
    yield Case("one group for all heads", _inputs(draw, 2, 3, 1, 2, 5, 3), True, edge=True)
    yield Case("as many groups as heads", _inputs(draw, 2, 3, 3, 2, 5, 3), True, edge=True)
    yield Case("a single head", _inputs(draw, 2, 1, 1, 2, 5, 3), edge=True)
    yield Case("a single key", _inputs(draw, 2, 4, 2, 3, 1, 3), edge=True)
    yield Case("200 keys", _inputs(draw, 1, 4, 2, 3, 200, 2), edge=True)
    yield Case("float64 numbers", _inputs(draw, 2, 4, 2, 3, 5, 3, dtype=torch.float64), True, hazard=True)
    # Width 1: the largest scores are hidden, and those that are allowed lie far apart.
    query, mask = (
        torch.tensor([100.0, -110.0]).expand(1, 4, 2)[..., None],
        torch.tensor([[[False, True, True], [True, True, False]]]),
    )
    key = torch.tensor([100.0, -100.0, -70.0]).expand(1, 2, 3)[..., None]
    yield Case(
        "very large scores, near ±10,000",
        (query.clone(), key.clone(), draw.numbers(1, 2, 3, 1) + 0.25, mask),
        hazard=True,
    )


def _of_groups(case, h, of_keys, of_values):
    """What head h gets with the keys of one group and the values of another."""
    query, key, value, mask = (tensor.double() if tensor.is_floating_point() else tensor for tensor in case.args)
    return F.scaled_dot_product_attention(query[:, h], key[:, of_keys], value[:, of_values], mask)


@task.property
def each_head_reads_its_group(case, value):
    """Which group's keys and values a head has used in its place; else which context is no mean of its group's values."""
    query, key, values, mask = case.args
    H, G = query.shape[1], key.shape[1]
    if value.shape != (*query.shape[:3], values.shape[3]) or query.shape[2] == 1:
        return None  # at a single position, another group's numbers may agree by chance
    alike = lambda h, *groups: torch.allclose(value[:, h].double(), _of_groups(case, h, *groups), atol=1e-4)  # noqa: E731
    for h in (h for h in range(H) if not alike(h, h * G // H, h * G // H)):
        for a, b in product(range(G), repeat=2):
            if alike(h, a, b):
                used = f"group {a}" if a == b else f"the keys of group {a} and the values of group {b}"
                return f"Head {h} uses {used}. It should use group {h * G // H}: of {H} heads and {G} groups, {H // G} heads side by side share one."
        off = outside_the_values(value[:, h], values[:, h * G // H], mask)
        if off.any():
            b, t, e = off.nonzero()[0].tolist()
            return f"A context is a mean of values, with weights that sum to 1. Entry {e} of head {h}'s context at position {t} of sentence {b} is outside the range of its group's visible values: do your weights sum to 1, and are they 0 where the mask is False?"
    return None


def own(shared, heads):
    """Keys or values as each head uses them: B×G×S×d → B×H×S×d."""
    return shared.repeat_interleave(heads // shared.shape[1], 1)
