"""Task 18.top_k_gates: a softmax over the k best experts of each row."""

import torch

from course_utils.checks.running.contract import Case
from course_utils.checks.task import Task, count
from course_utils.tasks.lesson_18._gates import drawn_logits
from course_utils.tasks.properties import no_weight_is_negative, rows_sum_to_one
from course_utils.tasks.shares import USUAL

TIES = (0.75, "right wherever no two logits of a row are equal.")

task = Task(
    "18.top_k_gates",
    "gates over the best k",
    arguments=("logits B×N", "k"),
    result="gates B×N",
    difficulty=3,
    importance=5,
    minutes=15,
    hints=(
        "The softmax runs over the k chosen experts as if there were no others, so their gates sum to 1. That is a masked softmax, as in lesson 03: the experts that are not chosen get the score -inf. What is left is to say which ones are chosen.",
        "Take the logits [-1, 0.6931, -2, -0.4055] and k = 2. The two largest are 0.6931 and -0.4055, and their exponentials are 2 and 0.6667. The sum is 2.6667, so the gates are 0, 0.75, 0 and 0.25. With zeros in place of -inf the first expert would get e⁰ = 1 as its exponential, more than the fourth.",
        "order = the experts of each row from the largest logit to the smallest, by a stable sort (descending=True, stable=True), so that equal ones stay in their order; the first k of them are chosen. Make a tensor like logits that has -inf at all experts that are not chosen, with scatter for instance, and return its softmax over the experts.",
    ),
    partial=USUAL
    | {
        "by_topk": TIES,
        "ties_all_kept": TIES,
        "last_of_ties": TIES,
        "overflow": (0.5, "right for logits of ordinary size."),
    },
)


task.property(rows_sum_to_one)


task.property(no_weight_is_negative)


@task.property
def so_many_gates_are_above_zero(case, value):
    """Softmax leaves nothing at -inf, and may leave nothing elsewhere if logits lie far apart."""
    logits, k = case.args
    found = (value != 0).sum(1)
    if (logits.abs() > 50).any() or (found == k).all():
        return None
    row = (found != k).nonzero()[0].item()
    return (
        f"Row {row} has {found[row]} gates that are not 0. There should be {k}, one for each expert that a row keeps."
    )


@task.property
def the_first_of_equal_ones_are_kept(case, value):
    """A stable sort does that."""
    logits, k = case.args
    right = _stable(logits, k)
    tied = ((logits[..., None] == logits[:, None]) & right[..., None] & ~right[:, None]).any((1, 2))
    wrong = tied & ((value > 0) != right).any(1)
    if not wrong.any():
        return None
    kept = (value[wrong][0] > 0).nonzero()[:, 0].tolist()
    return f"For the input “{case.name}” a row keeps the experts {kept}, but it should keep {right[wrong][0].nonzero()[:, 0].tolist()}. Of equal logits the first come first: a stable sort keeps their order."


def _tied(draw, B):
    """Logits of five experts, of which those ranked second to fourth are equal."""
    places = torch.stack([draw.distinct(5, 0, 5) for _ in range(B)])
    return torch.tensor([2.0, 0.5, 0.5, 0.5, -1.0])[places]


@task.cases
def _(draw):
    for B, N, k in ((1, 2, 1), (1, 3, 2), (2, 3, 1), (2, 3, 2), (2, 4, 2), (3, 5, 2)):
        yield Case(f"{count(B, 'row')} of {N} experts, k = {k}", (drawn_logits(draw, B, N), k), (B, k) == (3, 2))
    yield Case("3 rows of 7 experts, k = 3", (drawn_logits(draw, 3, 7), 3), True)
    yield Case("as many rows as experts", (drawn_logits(draw, 5, 5), 3))
    yield Case("as many rows as experts to keep", (drawn_logits(draw, 4, 7), 4))
    yield Case("all logits below 0", (drawn_logits(draw, 3, 5) - 5, 2))
    yield Case("all logits above 0", (drawn_logits(draw, 3, 5) + 5, 3))
    yield Case("all experts kept", (drawn_logits(draw, 3, 5), 5), True, edge=True)
    yield Case("a single expert", (drawn_logits(draw, 2, 1), 1), edge=True)
    yield Case("equal logits, k = 2", (_tied(draw, 7), 2), True, edge=True)
    yield Case("equal logits, k = 3", (_tied(draw, 7), 3), edge=True)
    close = _tied(draw, 7) + 2e-5 * torch.arange(5)
    yield Case("logits that differ by 0.00002", (close, 2), edge=True)
    yield Case("all logits equal", (torch.zeros(2, 7), 3), edge=True)
    yield Case("all logits 100", (torch.full((2, 7), 100.0), 3), edge=True)
    yield Case("all logits of 100 experts equal", (torch.ones(2, 100), 4), edge=True)
    far = (torch.stack([draw.distinct(5, 0, 5) for _ in range(3)]) - 2) * 5e3
    far[draw.whole(0, 3)] /= 1e4  # so that the largest logit of the batch is not each row's own
    yield Case("logits of ±10,000", (far, 2), True, hazard=True)
    yield Case("logits near -10,000", (drawn_logits(draw, 3, 5) - 1e4, 2), True, hazard=True)
    yield Case("200 experts", (drawn_logits(draw, 2, 200), 7), True, edge=True)
    yield Case("float64 numbers", (drawn_logits(draw, 3, 7, torch.float64), 2), True, edge=True)


@task.oracle
def _(logits, k):
    rows = []
    for row in logits:
        best = sorted(range(len(row)), key=lambda i, row=row: (-row[i].item(), i))[:k]
        powers = {i: (row[i] - row[best[0]]).exp() for i in best}
        total = sum(powers.values())
        rows.append(torch.stack([powers[i] / total if i in powers else 0 * row[i] for i in range(len(row))]))
    return torch.stack(rows)


@task.steps
def _(logits, k):
    ranks = yield "the rank of each expert", _ranks, logits
    kept = yield "what is among the k largest", lambda ranks, k: ranks < k, ranks, k
    scores = yield (
        "the logits with -inf elsewhere",
        lambda logits, kept: logits.masked_fill(~kept, -torch.inf),
        logits,
        kept,
    )
    gates = yield "the softmax over the experts", _softmax, scores
    return gates


def _ranks(logits):
    """0 for the largest of a row, 1 for the next, the first of equal ones first."""
    return logits.argsort(dim=1, descending=True, stable=True).argsort(1)


def _stable(logits, k):
    return _ranks(logits) < k


def _minus_infinity(logits, kept):
    return logits.masked_fill(~kept, -torch.inf)


def _softmax(scores):
    return scores.softmax(1)


def _gates(logits, k, choose=_stable, fill=_minus_infinity, weigh=_softmax, end=lambda gates, kept: gates):
    kept = choose(logits, k)
    return end(weigh(fill(logits, kept)), kept)


def _mistake(name, sentence, **parts):
    """Register gates that are right but for the parts that are given."""
    task.mistake(sentence, name)(lambda logits, k: _gates(logits, k, **parts))


# Who is chosen

_mistake(
    "k_unused",
    "You take the softmax over all experts, so every one of them has to run. Keep the k largest logits of each row, and put -inf in place of the others before the softmax.",
    choose=lambda logits, k: torch.ones_like(logits, dtype=torch.bool),
)
_mistake(
    "smallest_kept",
    "You keep the k smallest logits of each row. Keep the largest: sort with descending=True.",
    choose=lambda logits, k: _stable(-logits, k),
)
_mistake(
    "others_kept",
    "You keep all experts but the best k: the mask is the wrong way round. The k largest logits stay, and all others become -inf.",
    choose=lambda logits, k: ~_stable(logits, k),
)
_mistake(
    "best_one_only",
    "Only the best expert of each row gets a gate, whatever k is. Keep the k best.",
    choose=lambda logits, k: _stable(logits, 1),
)
_mistake(
    "one_too_many",
    "You keep one expert too many: k + 1 of them. If you count the ranks from 0, those below k are kept; if you compare with a logit, take that of the last expert to be kept, not of the next one.",
    choose=lambda logits, k: _stable(logits, k + 1),
)
_mistake(
    "one_too_few",
    "You keep one expert too few: k - 1 of them, and none at all for k = 1. If you compare with the k-th largest logit, keep that one as well: >=, not >.",
    choose=lambda logits, k: _stable(logits, k - 1),
)
_mistake(
    "by_size",
    "You keep the logits with the largest absolute values. Compare them as they are: a logit far below 0 is a small one.",
    choose=lambda logits, k: _stable(logits.abs(), k),
)
_mistake(
    "first_k",
    "You keep the first k experts of each row, whatever their logits. Sort the logits first, or use `topk`.",
    choose=lambda logits, k: (torch.arange(logits.shape[1]) < k).expand_as(logits),
)
_mistake(
    "chosen_over_the_batch",
    "For each expert you choose the k rows with the largest logits, along the batch, axis 0. Each row chooses its own experts: sort along axis 1.",
    choose=lambda logits, k: _stable(logits.T, k).T,
)
_mistake(
    "first_row_chooses_for_all",
    "All rows use the experts that the first row has chosen. Each row chooses its own.",
    choose=lambda logits, k: _stable(logits[:1], k).expand_as(logits),
)
_mistake(
    "chosen_by_any_row",
    "A row gets the experts that any row of the batch has chosen. An assignment such as `kept[:, best] = True` does that: it writes into all rows. Use scatter along axis 1, so that each row's choice stays in that row.",
    choose=lambda logits, k: _stable(logits, k).any(0).expand_as(logits),
)
_mistake(
    "best_of_the_whole_batch",
    "You keep the k largest logits of the whole batch, and in the other rows nothing is left. Each row keeps k experts: sort along axis 1.",
    choose=lambda logits, k: _stable(logits.reshape(1, -1), k).view_as(logits),
)
_mistake(
    "ties_all_kept",
    "Where logits are equal, you keep more than k experts: all that are as large as the k-th largest. Of equal ones keep the first, so that there are k: a stable sort gives their order.",
    choose=lambda logits, k: logits >= logits.sort(1, descending=True)[0][:, k - 1 : k],
)
_mistake(
    "last_of_ties",
    "Of equal logits you keep the last ones. Keep the first: with descending=True and stable=True a sort leaves them in their order.",
    choose=lambda logits, k: _stable(logits.flip(1), k).flip(1),
)
_mistake(
    "by_topk",
    "Of equal logits you keep those that `topk` returns, which are not always the first. Use a stable sort, logits.sort(dim=1, descending=True, stable=True): it leaves equal ones in their order.",
    choose=lambda logits, k: torch.zeros_like(logits, dtype=torch.bool).scatter(1, logits.topk(k).indices, True),
)


# What stands in the place of the others

_mistake(
    "zeros_before_the_softmax",
    "You put 0 in place of the logits that are not kept, or a number as close to it as -1e-9. That is a logit like any other: its exponential is 1, and it may be larger than the kept ones. Put -inf there.",
    fill=lambda logits, kept: logits * kept,
)
_mistake(
    "finite_fill",
    "Where all logits are far below 0, experts that are not kept get gates, because you put a finite number such as -1e4 in place of their logits. Put -inf there: nothing is below it.",
    fill=lambda logits, kept: logits.masked_fill(~kept, -1e4),
)
_mistake(
    "fill_of_a_hundred",
    "You put -100 in place of the logits that are not kept. Other logits may be as small as that: put -inf there.",
    fill=lambda logits, kept: logits.masked_fill(~kept, -100.0),
)
_mistake(
    "plus_infinity",
    "You put +inf in place of the logits that are not kept, and their softmax is NaN. Put -inf there.",
    fill=lambda logits, kept: logits.masked_fill(~kept, torch.inf),
)


# The softmax


def _over_their_sum(numbers):
    return numbers / numbers.sum(1, keepdim=True)


def _not_divided_again(weigh):
    """Gates that are weighed over all experts, and kept where they belong."""
    return {"fill": lambda logits, kept: logits, "weigh": weigh, "end": lambda gates, kept: gates * kept}


_mistake(
    "not_divided_again",
    "You take the softmax over all experts and keep its k largest numbers, so a row sums to less than 1: the others' share is lost. Put -inf in place of their logits before the softmax.",
    **_not_divided_again(_softmax),
)
_mistake(
    "softmax_twice",
    "You take a softmax over all experts, and then another one over the k largest of its numbers. The second softmax should be the only one, and should see the logits.",
    fill=lambda logits, kept: logits.softmax(1).masked_fill(~kept, -torch.inf),
)
_mistake(
    "softmax_and_zeros_twice",
    "After the softmax you take the softmax once more, of numbers in which the other experts have 0. That gives every expert a gate. Take the softmax once, with -inf in place of the other logits.",
    weigh=lambda scores: scores.softmax(1).softmax(1),
)
_mistake(
    "softmax_over_the_batch",
    "Your softmax runs over the batch, axis 0, and gives NaN where no row keeps an expert. Each row shares out its gates among its own experts: axis 1.",
    weigh=lambda scores: scores.softmax(0),
)
_mistake(
    "softmax_over_all",
    "Your softmax runs over all numbers of the batch, so all gates together sum to 1. Each row has its own softmax: axis 1.",
    weigh=lambda scores: scores.reshape(-1).softmax(0).view_as(scores),
)
_mistake(
    "even_gates",
    "Every chosen expert gets the same gate, 1 / k, so no gradient reaches the gating network. Take the softmax of the chosen logits.",
    weigh=lambda scores: scores.isfinite() / scores.isfinite().sum(1, keepdim=True).to(scores.dtype),
)
_mistake(
    "ones_at_the_chosen",
    "You return which experts are chosen, as zeros and ones. Return their gates: the softmax of their logits.",
    weigh=lambda scores: scores.isfinite().to(scores.dtype),
)
_mistake(
    "logits_returned",
    "You return the logits of the chosen experts. Take their softmax, with -inf in place of the others.",
    weigh=lambda scores: scores.masked_fill(scores.isinf(), 0.0),
)
_mistake(
    "with_infinities_returned",
    "You return the logits with -inf in place of the others. The softmax is missing.",
    weigh=lambda scores: scores,
)
_mistake(
    "divided_by_their_sum",
    "You divide the chosen logits by their sum, without exponentials. Logits below 0 then give gates below 0. Take the softmax.",
    weigh=lambda scores: _over_their_sum(scores.masked_fill(scores.isinf(), 0.0)),
)
_mistake(
    "sigmoids",
    "You take the sigmoid of each chosen logit by itself, so a row does not sum to 1. Take the softmax over them.",
    weigh=torch.sigmoid,
)
_mistake(
    "sigmoids_divided_by_their_sum",
    "You divide the sigmoids of the chosen logits by their sum. Some newer models do that, but here the gates are the softmax of the logits.",
    weigh=lambda scores: _over_their_sum(scores.sigmoid()),
)
_mistake(
    "exponentials_returned",
    "You return the exponentials of the chosen logits. Divide them by their sum, so that a row sums to 1.",
    weigh=torch.exp,
)
_mistake(
    "log_softmax",
    "You return the logarithms of the gates. Return the softmax, not the log_softmax.",
    weigh=lambda scores: scores.log_softmax(1),
)
_mistake(
    "signs_turned",
    "Of the chosen experts the one with the smallest logit gets the largest gate: the sign of the logits is turned round. Take the softmax of the logits as they are.",
    weigh=lambda scores: (-scores).masked_fill(scores.isinf(), -torch.inf).softmax(1),
)
_mistake(
    "overflow",
    "Where logits are far above 0, exp gives infinity, and infinity divided by infinity is NaN. Where they are far below, you get 0 divided by 0. Take torch.softmax, or subtract the row's largest logit first.",
    weigh=lambda scores: _over_their_sum(scores.exp()),
)


# What is returned

_mistake(
    "in_order_of_size",
    "Your gates stand in the order of their size, the largest in the first column. Column i belongs to expert i: put each gate back at its expert, with scatter for instance.",
    end=lambda gates, kept: gates.sort(1, descending=True)[0],
)


@task.mistake(
    "You return only the k gates of each row, B×k, in the order of their size. Return B×N, with each gate in the column of its expert and zeros elsewhere: scatter puts them there."
)
def gates_without_their_places(logits, k):
    return logits.sort(dim=1, descending=True, stable=True)[0][:, :k].softmax(1)


@task.mistake(
    "The gates are right, but no gradient reaches the logits, so the gating network would never learn. Leave out `detach` and `no_grad`: choosing passes no gradient by itself, and the softmax should pass one."
)
def gradient_cut(logits, k):
    return _gates(logits.detach(), k)


@task.mistake(
    "The gates are right, but you write -inf into the logits that came in, and whoever uses them later finds it there. Work on a copy: masked_fill without the underscore, or logits.clone()."
)
def written_into_the_logits(logits, k):
    kept = _stable(logits, k)
    with torch.no_grad():
        logits.masked_fill_(~kept, -torch.inf)
    return logits.softmax(1)
