"""Task 21.nucleus: the smallest set of ids whose probability reaches p (Holtzman et al. 2020, section 3.1).

Sums of probabilities stay away from p by more than rounding, except where all probabilities are powers of two.
"""

from operator import sub, truediv

import torch

from course_lessons.shared.weight_properties import no_weight_is_negative, rows_sum_to_one
from course_utils.checks.task import Case, Task

APART = 1e-3  # at least, between p and the sums of probabilities
TRIES = 1000

task = Task(
    __name__,
    "the ids that a nucleus leaves",
    arguments=("logits V", "p"),
    result="probabilities V",
    gradient_not_asked=("logits",),
    difficulty=3,
    importance=4,
    minutes=20,
    partial={"edge": (0.5, "right on every ordinary input, wrong on an unusual one.")},
)


def _steps_of(logits):
    """The sums of the probabilities, from the most probable id downwards."""
    return logits.double().softmax(0).sort(descending=True).values.cumsum(0)


def _inputs(draw, V, p, kept=None, ordered=False):
    """Logits of which p keeps so many, or any number, and no two of which are alike."""
    for _ in range(TRIES):
        logits = torch.randn(V, generator=draw.generator).round(decimals=2 if V < 100 else 6) * 1.5
        logits = logits.sort(descending=True).values if ordered else logits
        sums = _steps_of(logits)
        apart = (sums[:, None] - torch.tensor([p, 1 - p])).abs().amin() > 3 * APART
        alike = logits.unique().numel() < V
        out_of_order = (
            ordered or int(logits.argmax()) > 0 and not torch.equal(logits.argsort(), logits.argsort().flip(0))
        )
        if kept in (None, int((sums < p).sum()) + 1) and apart and not alike and out_of_order:
            return logits, p
    raise RuntimeError("no logits fit what a case is to show")


@task.cases
def _(draw):
    for V, p, kept in ((3, 0.6, 2), (5, 0.7, 2), (5, 0.8, 3), (7, 0.5, 2), (11, 0.9, 6), (13, 0.75, 4)):
        yield Case(f"{V} ids, p = {p}, of which {kept} are kept", _inputs(draw, V, p, kept))
    yield Case("7 ids, p = 0.3, of which the first is enough", _inputs(draw, 7, 0.3, 1))
    yield Case("7 ids, the most probable ones first, p = 0.8", _inputs(draw, 7, 0.8, 4, ordered=True))
    logits, p = _inputs(draw, 5, 0.8, 3)
    yield Case("5 ids with logits far below 0", (logits - 8, p))
    high, low = float(draw.whole(2, 4)), float(draw.whole(-2, 1))
    place = draw.distinct(3, 0, 7)
    tied = torch.full((7,), low)
    tied[place] = high
    several = float(_steps_of(tied)[0] + _steps_of(tied)[1]) / 2
    yield Case("7 ids, the three most probable ones equal, of which 2 are kept", (tied, round(several, 3)), edge=True)
    yield Case(
        "4 equal ids, p = 0.5, which two of them reach exactly",
        (torch.full((4,), float(draw.whole(-3, 4))), 0.5),
        edge=True,
    )
    yield Case("8 equal ids, p = 0.3", (torch.full((8,), float(draw.whole(-3, 4))), 0.3), edge=True)
    yield Case("p = 1, which keeps all ids", (draw.distinct(7, -4, 5).float() / 2, 1.0), edge=True)
    yield Case("41 equal ids, p = 1: rounding leaves their sum just below 1", (torch.zeros(41), 1.0), edge=True)
    yield Case("p = 0.001, which keeps one id", (draw.distinct(7, -4, 5).float() / 2, 0.001), edge=True)
    yield Case("a vocabulary of one id", (draw.numbers(1), 0.4), edge=True)
    yield Case("200 ids", _inputs(draw, 200, 0.5), edge=True)
    yield Case("float64 numbers", (_inputs(draw, 7, 0.8, 3)[0].double(), 0.8), hazard=True)
    far = draw.distinct(5, -2, 3).float() * 5e3
    yield Case("logits of ±10,000", (far, 0.9), hazard=True)


@task.oracle
def _(logits, p):
    most = logits.amax()
    total = float((logits - most).exp().sum())
    probabilities = [float((logit - most).exp()) / total for logit in logits]
    kept, reached = [], 0.0
    for token in sorted(range(len(probabilities)), key=lambda token: (-probabilities[token], token)):
        kept.append(token)
        reached += probabilities[token]
        if reached >= p - 1e-12:
            break
    return torch.tensor([probabilities[i] / reached if i in kept else 0.0 for i in range(len(probabilities))]).to(
        logits
    )


task.property(rows_sum_to_one)
task.property(no_weight_is_negative)


@task.property
def no_more_ids_than_it_takes(case, value):
    """Without the least probable of them, the ids that are kept do not reach p."""
    logits, p = case.args
    probabilities, kept = logits.double().softmax(0), value != 0
    if value.shape != logits.shape or not kept.any():
        return None
    together = float(probabilities[kept].sum())
    if together < p - APART:
        return f"The ids that you keep have a total probability of {together:.4g}, which does not reach p = {p:.4g}. The id that reaches it belongs to the set."
    without = together - float(probabilities[kept].min())
    if without > p + APART:
        return f"You keep {int(kept.sum())} ids, but without the least probable of them, the others would still have a total of {without:.4g}, which reaches p = {p:.4g}: keep only as many as needed."
    return None


@task.property
def smaller_ids_first(case, value):
    """Of two ids that are equally probable, the larger one is not kept without the smaller one."""
    logits, _ = case.args
    if value.shape != logits.shape:
        return None
    kept, left_out = value > 0, value == 0
    swapped = kept[None] & left_out[:, None] & (logits[None] == logits[:, None])  # V V: smaller id, larger id
    if not swapped.triu(1).any():
        return None
    small, large = swapped.triu(1).nonzero()[0].tolist()
    return f"Ids {small} and {large} are equally probable, but you keep {large} without {small}: smaller ids come first. topk returns equal ones in any order; sort with stable=True keeps their order."


@task.steps
def _(logits, p):
    probabilities = yield "the softmax", lambda logits: logits.softmax(-1), logits
    order = yield "the order", lambda probabilities: probabilities.argsort(descending=True, stable=True), probabilities
    ordered = yield "the sorted probabilities", lambda probabilities, order: probabilities[order], probabilities, order
    sums = yield "the running sum", lambda ordered: ordered.cumsum(-1), ordered
    before = yield "the sum before each", sub, sums, ordered
    of_order = yield "the prefix that is kept", lambda before, p: before < p, before, p
    kept = yield "the kept ids", lambda kept, order: torch.zeros_like(kept).scatter(0, order, kept), of_order, order
    left = yield "the probabilities with zeros", lambda probabilities, kept: probabilities * kept, probabilities, kept
    total = yield "the kept sum", torch.sum, left
    result = yield "the new probabilities", truediv, left, total
    return result
