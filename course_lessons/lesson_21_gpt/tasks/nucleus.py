"""Task 21.nucleus: the smallest set of ids whose probability reaches p (Holtzman et al. 2020, section 3.1).

Sums of probabilities stay away from p by more than rounding, except where all probabilities are powers of two.
"""

from operator import le, sub, truediv

import torch

from course_lessons.shared.weight_properties import no_weight_is_negative, rows_sum_to_one
from course_utils.checks.reference_trace import left_out
from course_utils.checks.running.contract import Case
from course_utils.checks.task import Task

APART = 1e-3  # at least, between p and the sums of probabilities
TRIES = 1000

task = Task(
    "21.nucleus",
    "the ids that a nucleus leaves",
    arguments=("logits V", "p"),
    result="probabilities V",
    gradient_not_asked=("logits",),
    difficulty=3,
    importance=4,
    minutes=20,
    hints=(
        "Add up the probabilities from the most probable id downwards until they reach p: the id that reaches it still belongs to the set. One question decides for each id: what do the probabilities before it sum to? All ids outside the set get 0, and the remaining probabilities have to sum to 1 again, each at its own id.",
        (
            "Take four ids with the probabilities 0.1, 0.5, 0.15 and 0.25, and p = 0.7. In the order of their probabilities they are ids 1, 3, 2, 0, with 0.5, 0.25, 0.15, 0.1. The sums before them are 0, 0.5, 0.75 and 0.9: the first two are below 0.7, so ids 1 and 3 stay. Their probabilities sum to 0.75. "
            "The result is 0, 0.6667, 0, 0.3333. With p = 0.45, id 1 reaches it by itself, and the result is 0, 1, 0, 0."
        ),
        "probabilities = softmax of logits; order = the ids sorted by probability, the largest first, equal ones in the order of their ids; sorted = the probabilities in that order; before = the running sum of sorted, minus sorted; kept = the ids in order at which before is below p; result = zeros; put the probabilities of kept there; divide by their sum.",
    ),
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


ORDER, ORDERED, SUMS = "the order", "the sorted probabilities", "the running sum"
BEFORE, KEEP = "the sum before each", "the prefix that is kept"
KEPT, LEFT = "the kept ids", "the probabilities with zeros"
TOTAL, SHARED = "the kept sum", "the new probabilities"


@task.steps
def _(logits, p):
    probabilities = yield "the softmax", lambda logits: logits.softmax(-1), logits
    order = yield ORDER, lambda probabilities: probabilities.argsort(descending=True, stable=True), probabilities
    ordered = yield ORDERED, lambda probabilities, order: probabilities[order], probabilities, order
    sums = yield SUMS, lambda ordered: ordered.cumsum(-1), ordered
    before = yield BEFORE, sub, sums, ordered
    of_order = yield KEEP, lambda before, p: before < p, before, p
    kept = yield KEPT, lambda kept, order: torch.zeros_like(kept).scatter(0, order, kept), of_order, order
    left = yield LEFT, lambda probabilities, kept: probabilities * kept, probabilities, kept
    total = yield TOTAL, torch.sum, left
    result = yield SHARED, truediv, left, total
    return result


def _first(kept):
    """The same, and the most probable id in any case."""
    return kept | (torch.arange(len(kept)) == 0)


task.changed(
    "crossing_left_out",
    "The id that takes the sum to p is missing: you keep the ids whose running sum is at most p, and if the first id is above p, nothing is left. An id belongs to the set if the ids before it do not reach p.",
    {BEFORE: left_out, KEEP: le},
)
task.changed(
    "crossing_left_out_but_for_the_first",
    "The id that takes the sum to p is missing, except if it is the most probable one: you keep the ids whose running sum is at most p. An id belongs to the set if the ids before it do not reach p.",
    {BEFORE: left_out, KEEP: lambda sums, p: _first(sums <= p)},
)
task.changed(
    "one_too_many",
    "You keep one id too many: the one after the id that reaches p.",
    {KEEP: lambda before, p: torch.cat([before[:1] < 1, (before < p)[:-1]])},
)
task.changed(
    "above_p",
    "If the sum of the probabilities is exactly p, you continue and keep one id too many. Reaching p is enough: compare the sum before an id using `<`, not `<=`.",
    {KEEP: le},
)
task.changed(
    "threshold",
    "You keep the ids whose own probability reaches p. It is the whole set that has to reach p: add up the probabilities, starting with the largest.",
    {KEEP: lambda before, p, *, done: done[ORDERED] >= p},
)
task.changed(
    "threshold_of_the_rest",
    "You keep the ids whose own probability reaches 1 - p. Add up the probabilities, starting with the largest, until the sum reaches p.",
    {KEEP: lambda before, p, *, done: done[ORDERED] >= 1 - p},
)
task.changed(
    "exponentials_not_divided",
    "You add up the exponentials of the logits, which are not probabilities until they are divided by their sum: torch.softmax does both.",
    {"the softmax": torch.exp},
)
task.changed(
    "not_renormalised",
    "Your result does not sum to 1. Divide the probabilities that are left by their sum.",
    {SHARED: left_out},
)
task.changed(
    "softmax_of_probabilities",
    "You apply a softmax to the probabilities that are kept, which makes them more similar. Divide them by their sum, or apply the softmax to their logits.",
    {LEFT: lambda probabilities, kept: torch.where(kept, probabilities, -torch.inf).softmax(0), SHARED: left_out},
)
task.changed_each(
    ("softmax_with_the_zeros", "You apply a softmax to the probabilities that are left, zeros included: exp(0) is 1, so the ids that were left out come back. Divide by the sum.", {SHARED: lambda left, total: left.softmax(0)}),
    ("equal_shares", "All ids that are kept get the same probability. Each keeps its share of the set's probability: divide the probabilities that are left by their sum.", {LEFT: lambda probabilities, kept: kept.to(probabilities)}),
    ("filtered_logits", "You return logits, with minus infinity at the ids that are left out. Return probabilities: apply a softmax.", {"result": lambda result, *, logits, done: logits.masked_fill(~done[KEPT], -torch.inf)}),
    ("logits_added", "You add up the logits, which are not probabilities: apply a softmax first.", {"the softmax": left_out}),
    ("log_probabilities_added", "You add up log probabilities. They are all below 0, so their sum never reaches p: add up the probabilities.", {"the softmax": lambda logits: logits.log_softmax(-1)}),
    ("all_kept", "p has no effect: you return the probabilities of all ids.", {KEEP: lambda before, p: torch.ones_like(before, dtype=torch.bool)}),
    ("most_probable_alone", "You keep only the most probable id, whatever p is. Continue until the probabilities that you keep reach p.", {KEEP: lambda before, p: torch.arange(len(before)) == 0}),
    ("put_back_by_the_order_itself", "You look up the new probabilities by their ids: `kept[places]`. That shuffles them once more. To put each back at its id, write into zeros: `kept[places] = …`, or scatter.", {"result": lambda result, *, done: result[done[ORDER]][done[ORDER]]}),
)  # fmt: skip
task.changed(
    "order_not_undone",
    "You return the probabilities in order of size. Put each back at its own id.",
    {"result": lambda result, *, done: result[done[ORDER]]},
)
task.changed(
    "mask_not_put_back",
    "You decide in sorted order which probabilities are kept, but apply the decision to the ids in their own order: whatever has a small id is kept. Put each decision back at the id it belongs to.",
    {KEPT: left_out},
)
task.changed(
    "put_back_by_another_order",
    "You sort once more to undo the order, or use the order itself instead of its inverse: `ordered[places]` looks up, whereas `kept[places] = …` puts back, which is what you need.",
    {KEPT: lambda kept, order: kept[order]},
)
task.changed(
    "upwards",
    "You start with the least probable ids. Start with the most probable one.",
    {ORDER: lambda probabilities: probabilities.argsort(stable=True)},
)
task.changed(
    "in_the_order_of_ids",
    "You add up the probabilities in the order of the ids. Sort them first, with the most probable one at the front.",
    {ORDER: lambda probabilities: torch.arange(len(probabilities))},
)
task.changed(
    "ties_by_larger_id",
    "Of equally probable ids, you keep the larger ones. The smaller ones come first: sort with stable=True and descending=True instead of reversing the result.",
    {ORDER: lambda probabilities: probabilities.argsort(stable=True).flip(0)},
)
task.changed(
    "all_that_tie",
    "You keep all ids that are as probable as the last id needed. Of equally probable ids, keep only as many as needed, the smaller ids first.",
    {KEEP: lambda before, p, *, done: done[ORDERED] >= done[ORDERED][before < p].amin()},
)
task.changed(
    "each_by_itself",
    "You keep the ids whose own probability is p or more. Add up the probabilities, starting with the largest, until the sum reaches p.",
    {KEEP: lambda before, p, *, done: _first(done[ORDERED] >= p)},
)
task.changed(
    "share_of_the_largest",
    "You keep the ids whose probability is at least p times the largest. Add up the probabilities, starting with the largest, until the sum reaches p.",
    {KEEP: lambda before, p, *, done: done[ORDERED] >= p * done[ORDERED][0]},
)
task.changed(
    "share_of_the_vocabulary",
    "You keep a share p of the ids, as top-k does with k = p·V. It is their probability that has to reach p, not their number.",
    {KEEP: lambda before, p: torch.arange(len(before)) < p * len(before)},
)
for name, rounded, how in (("up", round, "to the nearest whole number"), ("down", int, "down")):
    task.changed(
        f"share_of_the_vocabulary_rounded_{name}",
        f"You keep a share p of the ids, p·V rounded {how}, as top-k does. It is their probability that has to reach p, not their number.",
        {KEEP: lambda before, p, rounded=rounded: torch.arange(len(before)) < rounded(p * len(before))},
    )
task.changed(
    "up_to_the_rest",
    "You stop when the sum reaches 1 - p. It should reach p.",
    {"p": lambda p: 1 - p},
)
task.changed(
    "kept_alone",
    "You return only the probabilities of the ids that are kept. Return V probabilities, with 0 for the other ids, so that each is at its own id.",
    {"result": lambda result, *, done: result[done[KEPT]]},
)
task.changed(
    "overflow",
    "exp overflows: for a logit above about 88 it is infinite in float32. torch.softmax handles logits of any size.",
    {"the softmax": lambda logits: logits.exp() / logits.exp().sum()},
)
task.changed(
    "divided_by_p",
    "You divide by p. The probabilities that are kept sum to p or more: divide by their sum.",
    {SHARED: lambda left, total, *, p: left / p},
)
task.changed(
    "zeros_for_logits",
    "You replace the logits that are not kept with 0 and apply the softmax, but a logit of 0 still gets a probability. Replace them with minus infinity.",
    {"result": lambda result, *, logits, done: (logits * done[KEPT]).softmax(0)},
)
