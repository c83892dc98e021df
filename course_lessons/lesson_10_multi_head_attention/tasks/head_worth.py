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
    lambda on: -2.5 - sum(0.75 + h for h in range(len(on)) if not on[h]): "all scores are below 0",
    lambda on: 4.5 - sum(3.25 + h for h in range(len(on)) if not on[h]) - 6 * (not on[0]): "without its first head the model scores below 0",
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
    __name__,
    "what a head is worth when it alone is missing",
    arguments=("score", "heads"),
    result="worth H",
    candidates=tuple(map(_asked, SCORES)),
    suspects=False,
    difficulty=2,
    importance=4,
    minutes=15,
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


task.mistake("sign_turned")(lambda score, heads: -_worth(score, heads))
task.mistake("score_without")(lambda score, heads: _without_each(score, heads))
task.mistake("lost_when_alone")(lambda score, heads: _whole(score, heads) - _each_alone(score, heads))
task.mistake("gained_alone")(lambda score, heads: _each_alone(score, heads) - score(~_on(heads)))
task.mistake("score_alone")(lambda score, heads: _each_alone(score, heads))
task.mistake("mask_turned_round")(lambda score, heads: score(~_on(heads)) - _each_alone(score, heads))
task.mistake("relative")(lambda score, heads: _worth(score, heads) / _whole(score, heads))
task.mistake("mean_over_heads")(lambda score, heads: _worth(score, heads).mean())
task.mistake("absolute")(lambda score, heads: _worth(score, heads).abs())
task.mistake("never_negative")(lambda score, heads: _worth(score, heads).clamp(min=0))
task.mistake("whole_numbers")(lambda score, heads: _worth(score, heads).floor())
task.mistake("as_a_list")(lambda score, heads: _worth(score, heads).tolist())


@task.mistake()
def mask_stays_changed(score, heads):
    whole, mask, worth = _whole(score, heads), _on(heads), []
    for head in range(heads):
        mask[head] = False
        worth.append(whole - score(mask))
    return torch.tensor(worth)
