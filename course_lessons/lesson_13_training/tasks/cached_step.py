"""Task 13.cached_step: the newest word attends to itself and to the words before it, whose keys and values are kept."""

import torch

from course_lessons.shared.partial_credit import USUAL
from course_utils.base.words import count
from course_utils.checks.task import Case, Task

task = Task(
    __name__,
    "one new word, with keys and values cached",
    arguments=(
        "x B×1×D",
        "keys B×H×t×d",
        "values B×H×t×d",
        "in_weight 3·D×D",
        "in_bias 3·D",
        "out_weight D×D",
        "out_bias D",
    ),
    result=("output B×1×D", "keys B×H×(t+1)×d", "values B×H×(t+1)×d"),
    difficulty=3,
    importance=4,
    minutes=25,
    partial=USUAL,
)


@task.property
def what_is_kept_stays_in_front(case, value):
    """The old keys and values come first, as they were."""
    for name, kept, returned in zip(("keys", "values"), case.args[1:3], value[1:], strict=True):
        t = kept.shape[2]
        if returned.shape[2] == t + 1 and not torch.allclose(returned[:, :, :t].to(kept), kept, atol=1e-4, rtol=1e-4):
            return f"The first {t} of the {name} that you return should be the ones you were given, in the same order; yours differ."
    return None


def _inputs(draw, B, t, H, d, dtype=torch.float32):
    D = H * d
    x, keys, values = (
        draw.normal(B, 1, D, dtype=dtype),
        draw.normal(B, H, t, d, dtype=dtype),
        draw.normal(B, H, t, d, dtype=dtype),
    )
    in_weight, out_weight = draw.normal(3 * D, D, dtype=dtype) * 1.2 / D**0.5, draw.normal(D, D, dtype=dtype) / D**0.5
    return (
        x,
        keys,
        values,
        in_weight,
        draw.normal(3 * D, dtype=dtype) / 2 + 0.125,
        out_weight,
        draw.normal(D, dtype=dtype) + 0.125,
    )


# Sizes B, t, H, d: tiny first, where wrong axes do not fit one another, then one longer or shorter at a time, then all
LADDER = ((2, 3, 2, 2), (1, 3, 2, 2), (2, 2, 2, 2), (2, 1, 2, 3), (1, 3, 3, 2), (2, 5, 3, 7))


@task.cases
def _(draw):
    for dims in LADDER:
        B, t, H, d = dims
        name = f"{count(B, 'sentence')}, {count(t, 'word')} before, {H} heads of width {d}"
        yield Case(name, _inputs(draw, *dims), dims == LADDER[-1])
    yield Case("as many sentences as heads", _inputs(draw, 3, 4, 3, 2))
    yield Case("as many words before as the width of a head", _inputs(draw, 2, 3, 2, 3))
    yield Case("the first word: nothing is cached yet", _inputs(draw, 2, 0, 3, 2), True, edge=True)
    yield Case("a single head", _inputs(draw, 2, 3, 1, 4), True, edge=True)
    yield Case("heads of width 1", _inputs(draw, 2, 3, 4, 1), True, edge=True)
    yield Case("200 words before", _inputs(draw, 1, 200, 2, 2), edge=True)
    x, keys, values, *rest = _inputs(draw, 2, 3, 2, 2)
    far = torch.stack([draw.distinct(3, -2, 3) for _ in range(8)]).reshape(2, 2, 2, 3).mT * 1e4 + keys
    yield Case("keys near ±10,000", (x, far, values, *rest), hazard=True)
    yield Case("float64 numbers", _inputs(draw, 2, 3, 2, 3, torch.float64), True, hazard=True)
