"""Task 21.nucleus: the smallest set of ids whose probability reaches p (Holtzman et al. 2020, section 3.1).

Sums of probabilities stay away from p by more than rounding, except where all probabilities are powers of two.
"""

from operator import sub, truediv

import torch

from course_utils.checks.running.contract import Case
from course_utils.checks.task import Task
from course_utils.tasks.properties import no_weight_is_negative, rows_sum_to_one

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
        "Count the ids from the most probable one downwards until their probabilities reach p: the id with which they reach it still belongs to the set. There is a question that decides for each id by itself: how much probability do those before it have together? Then all others get 0, and what is left has to sum to 1 again, at the ids where it was.",
        (
            "Take four ids with the probabilities 0.1, 0.5, 0.15 and 0.25, and p = 0.7. In the order of their probabilities they are ids 1, 3, 2, 0, with 0.5, 0.25, 0.15, 0.1. Before them stand 0, 0.5, 0.75 and 0.9: the first two are below 0.7, so ids 1 and 3 stay. Together they have 0.75. "
            "The result is 0, 0.6667, 0, 0.3333. With p = 0.45, id 1 alone reaches it, and the result is 0, 1, 0, 0."
        ),
        "probabilities = softmax of logits; order = the ids sorted by probability, the largest first, those that are equal in the order of their ids; sorted = the probabilities in that order; before = the running sum of sorted, less sorted; kept = the ids in order at which before is below p; result = zeros; put the probabilities of kept there; divide by their sum.",
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
    yield Case("7 ids, p = 0.3, of which the first to come is enough", _inputs(draw, 7, 0.3, 1))
    yield Case("7 ids, the most probable ones first, p = 0.8", _inputs(draw, 7, 0.8, 4, ordered=True))
    high, low = float(draw.whole(2, 4)), float(draw.whole(-2, 1))
    place = draw.distinct(3, 0, 7)
    tied = torch.full((7,), low)
    tied[place] = high
    several = float(_steps_of(tied)[0] + _steps_of(tied)[1]) / 2
    yield Case("7 ids, the most probable three alike, of which 2 are kept", (tied, round(several, 3)), edge=True)
    yield Case(
        "4 ids alike, p = 0.5, which two of them reach exactly",
        (torch.full((4,), float(draw.whole(-3, 4))), 0.5),
        edge=True,
    )
    yield Case("8 ids alike, p = 0.3", (torch.full((8,), float(draw.whole(-3, 4))), 0.3), edge=True)
    yield Case("p = 1, which keeps all ids", (draw.distinct(7, -4, 5).float() / 2, 1.0), edge=True)
    yield Case("p = 0.001, which keeps one id", (draw.distinct(7, -4, 5).float() / 2, 0.001), edge=True)
    yield Case("a vocabulary of one id", (draw.numbers(1), 0.4), edge=True)
    yield Case("200 ids", _inputs(draw, 200, 0.5), edge=True)
    yield Case("float64 numbers", (_inputs(draw, 7, 0.8, 3)[0].double(), 0.8), edge=True)
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
        return f"The ids that you keep have a probability of {together:.4g} together, which does not reach p = {p:.4g}. The id with which it is reached belongs to the set."
    without = together - float(probabilities[kept].min())
    if without > p + APART:
        return f"You keep {int(kept.sum())} ids, and without the least probable of them the others would still have {without:.4g} together, which reaches p = {p:.4g}: keep no more than it takes."
    return None


@task.steps
def _(logits, p):
    probabilities = yield "the softmax", lambda logits: logits.softmax(-1), logits
    order = yield "the order of the probabilities", _downwards, probabilities
    ordered = yield (
        "the probabilities in their order",
        lambda probabilities, order: probabilities[order],
        probabilities,
        order,
    )
    sums = yield "the running sum", lambda ordered: ordered.cumsum(-1), ordered
    before = yield "the running sum less each probability", sub, sums, ordered
    of_order = yield "what is kept, in the order of the probabilities", lambda before, p: before < p, before, p
    kept = yield "what is kept", lambda kept, order: torch.zeros_like(kept).scatter(0, order, kept), of_order, order
    left = yield "the probabilities with zeros", lambda probabilities, kept: probabilities * kept, probabilities, kept
    total = yield "the sum of those that are kept", torch.sum, left
    result = yield "the probabilities divided by their sum", truediv, left, total
    return result


# A right nucleus, of which mistakes change one part


def _downwards(probabilities):
    return probabilities.argsort(descending=True, stable=True)


def _kept(ordered, p):
    """What stays, of probabilities in their order."""
    return ordered.cumsum(0) - ordered < p


def _put_back(kept, order):
    return torch.zeros_like(kept).scatter(0, order, kept)


def _shared(probabilities, kept):
    left = probabilities * kept
    return left / left.sum()


def _nucleus(
    logits,
    p,
    softmax=lambda logits: logits.softmax(0),
    order=_downwards,
    keep=_kept,
    back=_put_back,
    share=_shared,
    ending=lambda result, probabilities, kept, order: result,
):
    probabilities = softmax(logits)
    ranks = order(probabilities)
    kept = back(keep(probabilities[ranks], p), ranks)
    return ending(share(probabilities, kept), probabilities, kept, ranks)


def _mistake(name, sentence, **parts):
    task.mistake(sentence, name)(lambda logits, p: _nucleus(logits, p, **parts))


def _first(kept):
    """The same, and the most probable id in any case."""
    return kept | (torch.arange(len(kept)) == 0)


_mistake(
    "crossing_left_out",
    "The id with which the sum reaches p is missing: you keep those ids whose running sum is at most p, and where the first id alone is above p, nothing is left. An id belongs to the set if those before it do not reach p.",
    keep=lambda ordered, p: ordered.cumsum(0) <= p,
)
_mistake(
    "crossing_left_out_but_for_the_first",
    "The id with which the sum reaches p is missing, except where it is the most probable one: you keep those ids whose running sum is at most p. An id belongs to the set if those before it do not reach p.",
    keep=lambda ordered, p: _first(ordered.cumsum(0) <= p),
)
_mistake(
    "one_too_many",
    "You keep one id more than it takes: the one after that with which the sum has reached p.",
    keep=lambda ordered, p: torch.cat([ordered.new_ones(1) > 0, (ordered.cumsum(0) - ordered < p)[:-1]]),
)
_mistake(
    "above_p",
    "Where the sum of the probabilities is exactly p, you go on and keep one id more. It is enough to reach p: compare what stands before an id by `<`, not by `<=`.",
    keep=lambda ordered, p: ordered.cumsum(0) - ordered <= p,
)
_mistake(
    "not_renormalised",
    "What you return does not sum to 1. Divide the probabilities that are left by their sum.",
    share=lambda probabilities, kept: probabilities * kept,
)
_mistake(
    "all_alike",
    "The ids that are kept all get the same probability. They keep the proportions that they had: divide their probabilities by the sum of them.",
    share=lambda probabilities, kept: kept / kept.sum(),
)
_mistake(
    "softmax_of_probabilities",
    "You apply a softmax to the probabilities that are kept, which makes them more alike. Divide them by their sum, or apply the softmax to their logits.",
    share=lambda probabilities, kept: torch.where(kept, probabilities, -torch.inf).softmax(0),
)
_mistake(
    "rest_shared_out",
    "What the other ids have lost is added in equal parts to those that are kept. They keep the proportions that they had: divide by their sum.",
    share=lambda probabilities, kept: torch.where(
        kept, probabilities + (1 - (probabilities * kept).sum()) / kept.sum(), 0.0
    ),
)
_mistake(
    "order_not_undone",
    "You return the probabilities in the order of their size. Put each back at its own id.",
    ending=lambda result, probabilities, kept, order: result[order],
)
_mistake(
    "mask_not_put_back",
    "You decide in the order of the probabilities which are kept, and apply that to the ids as they stand: whatever has a small id is kept. Put the decision back at the ids that it is about.",
    back=lambda kept, order: kept,
)
_mistake(
    "put_back_by_another_order",
    "You sort once more to undo the order, or use the order itself in place of its inverse: `kept[order]` looks up and `result[order] = …` puts back. The second one is needed.",
    back=lambda kept, order: kept[order],
)
_mistake(
    "upwards",
    "You begin with the least probable ids. Begin with the most probable one.",
    order=lambda probabilities: probabilities.argsort(stable=True),
)
_mistake(
    "in_the_order_of_ids",
    "You add up the probabilities in the order of the ids. Sort them first, with the most probable one in front.",
    order=lambda probabilities: torch.arange(len(probabilities)),
)
_mistake(
    "ties_by_larger_id",
    "Of ids that are equally probable you keep those with the larger ids. Those with the smaller ones come first: sort with stable=True, and with descending=True in place of a reversed result.",
    order=lambda probabilities: probabilities.argsort(stable=True).flip(0),
)
_mistake(
    "all_that_tie",
    "You keep all ids that are as probable as the last one that it takes. Of equal ones, keep no more than it takes, the smaller ids first.",
    keep=lambda ordered, p: ordered >= ordered[_kept(ordered, p)].amin(),
)
_mistake(
    "each_by_itself",
    "You keep the ids whose own probability is p or more. It is the sum that has to reach p, from the most probable id downwards.",
    keep=lambda ordered, p: _first(ordered >= p),
)
_mistake(
    "rest_by_itself",
    "You keep the ids whose own probability is 1 - p or more. It is the sum that has to reach p, from the most probable id downwards.",
    keep=lambda ordered, p: _first(ordered >= 1 - p),
)
_mistake(
    "share_of_the_largest",
    "You keep the ids whose probability is p times the largest one or more. It is the sum that has to reach p, from the most probable id downwards.",
    keep=lambda ordered, p: ordered >= p * ordered[0],
)
_mistake(
    "share_of_the_vocabulary",
    "You keep a share p of the ids, as top-k does with k = p·V. It is their probability that has to reach p, not their number.",
    keep=lambda ordered, p: torch.arange(len(ordered)) < p * len(ordered),
)
_mistake(
    "most_probable_alone",
    "You keep the most probable id alone. Go on until the sum reaches p.",
    keep=lambda ordered, p: torch.arange(len(ordered)) == 0,
)
_mistake(
    "p_unused",
    "You keep all ids. Stop where the sum reaches p.",
    keep=lambda ordered, p: torch.ones_like(ordered) > 0,
)
_mistake(
    "up_to_the_rest",
    "You stop where the sum reaches 1 - p. It should reach p.",
    keep=lambda ordered, p: _kept(ordered, 1 - p),
)
_mistake(
    "softmax_once_more",
    "You apply the softmax to the result once more, so that ids that are not kept get some probability again. Divide by the sum, and leave it at that.",
    ending=lambda result, probabilities, kept, order: result.softmax(0),
)
_mistake(
    "truth_values",
    "You return which ids are kept, as True and False. Return their probabilities, which sum to 1, and 0 at the others.",
    ending=lambda result, probabilities, kept, order: kept,
)
_mistake(
    "ids",
    "You return the ids that are kept. Return V probabilities, with 0 at the ids that are not kept.",
    ending=lambda result, probabilities, kept, order: kept.nonzero()[:, 0],
)
_mistake(
    "kept_alone",
    "You return the probabilities of the ids that are kept, and leave the others out. Return V of them, with 0 at the others, so that each stands at its id.",
    ending=lambda result, probabilities, kept, order: result[kept],
)
_mistake(
    "logits_taken_for_probabilities",
    "You add up logits. Apply a softmax to them first.",
    softmax=lambda logits: logits,
)
_mistake(
    "overflow",
    "exp overflows: for a logit above about 88 it is infinite in float32. torch.softmax takes logits of any size.",
    softmax=lambda logits: logits.exp() / logits.exp().sum(),
)


@task.mistake("You divide by p. The ids that are kept have p or more together: divide by their sum.")
def divided_by_p(logits, p):
    return _nucleus(logits, p, share=lambda probabilities, kept: probabilities * kept / p)


@task.mistake(
    "You put 0 in place of the logits that are not kept and apply the softmax: a logit of 0 has a probability. Put minus infinity there."
)
def zeros_for_logits(logits, p):
    return _nucleus(logits, p, share=lambda probabilities, kept: (logits * kept).softmax(0))
