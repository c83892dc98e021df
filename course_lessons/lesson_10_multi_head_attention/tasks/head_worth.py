"""Task 10.head_worth: what each head is worth when it alone is switched off. The scores are made here, so the truth is known."""

import torch

from course_utils.checks.running.contract import Candidate, Case, UsageError
from course_utils.checks.task import Task

SCORES = {
    lambda on: 20 + sum(1.5 + 3 * (5 * h % 7) for h in range(len(on)) if on[h]): "each head adds something of its own",
    lambda on: 10 + 25 * (on[0] or on[-1]) + _inner(on, 2): "two heads do the same",
    lambda on: 12 + 30 * (on[0] and on[-1]) + _inner(on, 1): "two heads need each other",
    lambda on: 30 - 6.5 * on[0] + sum(4 + h for h in range(1, len(on)) if on[h]): "the score is higher without one head",
    lambda on: 40 * (1 - 0.5 ** sum(1 + h % 3 for h in range(len(on)) if on[h])): "the more heads, the less a further one adds",
    lambda on: 35.5 if all(on) else 3.25: "one missing head costs nearly everything",
    lambda on: 17.0: "no head matters",
}  # fmt: skip


def _inner(on, least):
    """What the heads between the first and the last one add."""
    return sum(least + h for h in range(1, len(on) - 1) if on[h])


def _asked(function):
    """The number for a mask, which has to be one."""

    def score(on):
        if not isinstance(on, torch.Tensor) or on.dtype != torch.bool or on.dim() != 1 or not len(on):
            raise UsageError(
                "`score` is called with something other than a tensor of truth values of shape H. Begin with torch.ones(heads, dtype=torch.bool)."
            )
        return float(function(on.tolist()))

    score.exact = function
    return score


task = Task(
    "10.head_worth",
    "what a head is worth when it alone is missing",
    arguments=("score", "heads"),
    result="worth H",
    candidates=tuple(map(_asked, SCORES)),
    suspects=False,
    difficulty=2,
    importance=4,
    minutes=15,
    hints=(
        "A head's worth is the difference between two scores: the score of the whole model and the score of the model in which everything but this head is on.",
        "Let a model with two heads score 9 with both of them, 7 without the first one and 10 without the second one. The first is worth 9 - 7 = 2. The second is worth 9 - 10 = -1: it hurts.",
        "everything = a mask of True for each head; whole = score(everything); for each head: a fresh copy of everything, with False at this head; its worth is whole minus the score of this copy; a tensor of all worths.",
    ),
)


@task.property
def the_two_scores(case, value):
    """A head's worth is the difference of two scores, which are told."""
    score, heads = task.candidate(case.args[0].key), case.args[1]
    whole = score.exact([True] * heads)
    for head, worth in enumerate(value.tolist()):
        without = score.exact([other != head for other in range(heads)])
        if abs(worth - (whole - without)) > 1e-3:
            return f"For the input “{case.name}” the whole model scores {whole:.4g}, and {without:.4g} with head {head} alone switched off, so head {head} is worth {whole - without:.4g}. Yours is {worth:.4g}."
    return None


@task.cases
def _(draw):
    for key, name in enumerate(SCORES.values()):
        for low, high in ((3, 5), (5, 9)):
            heads = int(draw.whole(low, high))
            yield Case(f"{name}, {heads} heads", (Candidate(key), heads))
    yield Case("each head adds something of its own, 2 heads", (Candidate(0), 2))
    yield Case("one missing head costs nearly everything, a single head", (Candidate(5), 1), edge=True)


@task.oracle
def _(score, heads):
    whole = score.exact([True] * heads)
    missing = [score.exact([other != head for other in range(heads)]) for head in range(heads)]
    return torch.tensor([float(whole - each) for each in missing], dtype=torch.float64)


def _on(heads, *but):
    mask = torch.ones(heads, dtype=torch.bool)
    mask[list(but)] = False
    return mask


def _scores(score, masks):
    return torch.tensor([score(mask) for mask in masks])


def _whole(score, heads):
    return score(_on(heads))


def _without_each(score, heads):
    return _scores(score, [_on(heads, head) for head in range(heads)])


def _each_alone(score, heads):
    return _scores(score, [~_on(heads, head) for head in range(heads)])


def _worth(score, heads):
    return _whole(score, heads) - _without_each(score, heads)


for _name, _function, _sentence in (
    ("sign_turned", lambda score, heads: -_worth(score, heads), "The sign is wrong: a head that is missed has a positive worth. Subtract the score without the head from the score of the whole model."),
    ("score_without", lambda score, heads: _without_each(score, heads), "You return the score that is left without each head. Its worth is what is lost: the score of the whole model minus this."),
    ("lost_when_alone", lambda score, heads: _whole(score, heads) - _each_alone(score, heads), "You leave only this head on and return what is lost then. Switch off this head alone and leave everything else on."),
    ("gained_alone", lambda score, heads: _each_alone(score, heads) - score(~_on(heads)), "You begin with all heads off and return what this head alone adds. Begin with all heads on and return what is lost when this head alone is off."),
    ("score_alone", lambda score, heads: _each_alone(score, heads), "You return the score with only this head on. Switch off this head alone and leave everything else on; its worth is what is lost."),
    ("mask_turned_round", lambda score, heads: score(~_on(heads)) - _each_alone(score, heads), "True and False are swapped in the mask: True means that a head is on. You compare no heads at all with a single head."),
    ("relative", lambda score, heads: _worth(score, heads) / _whole(score, heads), "You divide by the score of the whole model. What a head is worth is a difference, in the score's own unit."),
    ("mean_over_heads", lambda score, heads: _worth(score, heads).mean(), "You return one number, the mean over the heads. Each head has its own worth: return H numbers."),
    ("absolute", lambda score, heads: _worth(score, heads).abs(), "You take the absolute value, or the square root of a square. If the score is higher without a head, its worth is negative."),
    ("never_negative", lambda score, heads: _worth(score, heads).clamp(min=0), "You replace negative values with 0. If the score is higher without a head, its worth is negative: that head hurts."),
    ("whole_numbers", lambda score, heads: _worth(score, heads).floor(), "Your values are rounded to whole numbers, but a score may have decimals. Make a tensor of floating-point numbers."),
    ("as_a_list", lambda score, heads: _worth(score, heads).tolist(), "You return a list. Put the numbers into a tensor: torch.tensor(…)."),
):  # fmt: skip
    task.mistake(_sentence, _name)(_function)


@task.mistake(
    "Your mask stays changed: when head h is tried, the heads before it are still off. Make a fresh mask for each head, or set the entry back to True."
)
def mask_stays_changed(score, heads):
    whole, mask, worth = _whole(score, heads), _on(heads), []
    for head in range(heads):
        mask[head] = False
        worth.append(whole - score(mask))
    return torch.tensor(worth)
