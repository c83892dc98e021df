"""Task 08.catch_biased_gradient: a test that tells unbiased estimators of a gradient from biased ones."""

from functools import cache
from itertools import product

import torch

from course_lessons.shared.candidate_tests import MistakenTests, asking, equal_up_to_rounding, one_case_each
from course_utils.checks.compare import describe
from course_utils.checks.task import Task

# The candidates: right ones written differently, wrong ones that the prompt shows, wrong ones that it does not. All see a
# uniform number through the place that it picks, so that what they return changes only where a cumulative probability is crossed.


def _picked(p, uniform):
    """The first position whose cumulative probability exceeds each uniform number: N."""
    return (p.cumsum(0) <= uniform[:, None]).sum(1).clamp(max=len(p) - 1)


def _gradient(p, places, advantage):
    """The mean over the draws of each advantage times the gradient of its log probability: S."""
    return (advantage[:, None] * (torch.eye(len(p))[places] - p)).mean(0)


def _softmax(logits):
    return logits.softmax(0)


def _plain(advantage=lambda earned, p, rewards: earned, probabilities=_softmax, pick=_picked):
    """An estimator; `advantage` is a function of what the draws have earned, N, of p and of rewards."""

    def estimator(logits, rewards, uniform):
        p = probabilities(logits)
        places = pick(p, uniform)
        return _gradient(p, places, advantage(rewards[places], p, rewards))

    return estimator


right_plain = _plain()
own_mean = _plain(lambda earned, p, rewards: earned - earned.mean())


def _others(earned):
    """The sum of what the other draws have earned, for each draw."""
    return earned.sum() - earned


def _true(p, rewards):
    return p * (rewards - p @ rewards)


def right_corrected(logits, rewards, uniform):
    """The mean of the same draws as a baseline, and a factor that makes up for it."""
    return own_mean(logits, rewards, uniform) * (len(uniform) / (len(uniform) - 1))


@torch.enable_grad()
def right_by_autograd(logits, rewards, uniform):
    leaf = logits.detach().double().requires_grad_()
    places = _picked(leaf.detach().softmax(0), uniform)
    (leaf.log_softmax(0)[places] * rewards[places]).mean().backward()
    return leaf.grad.float()


def for_probabilities(logits, rewards, uniform):
    """The gradient with respect to the probabilities, without the way through the softmax."""
    p = logits.softmax(0)
    places = _picked(p, uniform)
    return (rewards[places][:, None] * torch.eye(len(p))[places] / p).mean(0)


def picked_alone(logits, rewards, uniform):
    """The gradient of the picked logit: what the softmax takes from the others is left out."""
    p = logits.softmax(0)
    places = _picked(p, uniform)
    return (rewards[places][:, None] * torch.eye(len(p))[places]).mean(0)


def of_the_probability(logits, rewards, uniform):
    """Differentiates the probability of a pick, not its logarithm."""
    p = logits.softmax(0)
    places = _picked(p, uniform)
    return _gradient(p, places, rewards[places] * p[places])


RIGHT = {
    right_plain: "a correct estimator without a baseline",
    _plain(lambda earned, p, rewards: earned - 0.5): "a correct estimator with a constant baseline",
    _plain(lambda earned, p, rewards: earned - _others(earned) / (len(earned) - 1)): "a correct estimator whose baseline is the mean of the other draws",
    _plain(lambda earned, p, rewards: earned - _others(earned) / len(earned)): "a correct estimator whose baseline is the sum of the other draws divided by N",
    right_corrected: "a correct estimator with a factor that compensates for its baseline",
    _plain(lambda earned, p, rewards: earned - p @ rewards): "a correct estimator whose baseline is the expected reward",
    _plain(lambda earned, p, rewards: earned - rewards.mean()): "a correct estimator whose baseline is the mean over the positions",
    lambda logits, rewards, uniform: _true(logits.softmax(0), rewards): "a correct estimator that adds up over all positions and needs no draw",
    right_by_autograd: "a correct estimator written with backward, in float64: where a uniform number equals a cumulative probability, rounding may pick another position",
}  # fmt: skip

WRONG = {
    own_mean: "an incorrect estimator: its baseline is the mean of the same draws",
    lambda *given: -right_plain(*given): "an incorrect estimator: the sign is reversed",
    lambda logits, rewards, uniform: right_plain(logits, rewards, uniform) * len(uniform): "an incorrect estimator: the sum of the draws",
    _plain(probabilities=lambda logits: logits): "an incorrect estimator: logits used as probabilities",
    _plain(pick=lambda p, uniform: p.argmax().expand(len(uniform))): "an incorrect estimator: it always picks the most probable position",
    for_probabilities: "an incorrect estimator: the gradient with respect to the probabilities",
    of_the_probability: "an incorrect estimator: it differentiates the probability, not its logarithm",
    lambda *given: own_mean(*given) * 2: "an incorrect estimator: right for two draws only",
    _plain(lambda earned, p, rewards: earned - earned[0]): "an incorrect estimator: its baseline is the reward of the first draw",
    _plain(lambda earned, p, rewards: earned - earned.max()): "an incorrect estimator: its baseline is the reward of the best draw",
    _plain(lambda earned, p, rewards: (earned - earned.mean()) / (earned.std(correction=0) + 1e-3)): "an incorrect estimator: the rewards of the draws are divided by their spread",
    lambda logits, rewards, uniform: right_plain(logits, rewards, uniform) * len(uniform) / 2: "an incorrect estimator: the sum of the draws divided by 2, however many there are",
    _plain(probabilities=torch.exp): "an incorrect estimator: exponentials used as probabilities",
    picked_alone: "an incorrect estimator: the gradient of the picked logit alone",
    _plain(pick=lambda p, uniform: (uniform * len(p)).long()): "an incorrect estimator: it picks all positions with equal probability",
    _plain(pick=lambda p, uniform: (uniform >= p[0]).long()): "an incorrect estimator: it never picks a third position",
    lambda logits, rewards, uniform: right_plain(logits, rewards.clamp(0, 1), uniform): "an incorrect estimator: rewards are cut off at 0 and 1",
    _plain(lambda earned, p, rewards: earned.roll(-1)): "an incorrect estimator: each pick gets the reward of the next",
    _plain(lambda earned, p, rewards: earned - earned.reshape(-1, 2).flip(1).flatten()): "an incorrect estimator: it processes draws in pairs, and fails if one is left over",
    lambda *given: 1.01 * right_plain(*given): "an incorrect estimator: it is too large by a hundredth",
    lambda *given: torch.cat([torch.zeros(1), right_plain(*given)[1:]]): "an incorrect estimator: it is 0 at the first logit",
    lambda *given: torch.cat([right_plain(*given)[:-1], torch.zeros(1)]): "an incorrect estimator: it is 0 at the last logit",
}  # fmt: skip


def _problem(logits, rewards, uniform):
    """What is wrong with the inputs of a call, or None."""
    given = {"logits": logits, "rewards": rewards, "uniform": uniform}
    for name, numbers in given.items():
        if not isinstance(numbers, torch.Tensor) or numbers.dim() != 1 or not numbers.is_floating_point():
            return f"Your test calls a candidate with {name} = {describe(numbers)}. Candidates accept tensors with one axis and floating-point numbers: logits S, rewards S and uniform N."
    if len(logits) != len(rewards) or len(logits) < 2:
        return f"Your test calls a candidate with {len(logits)} logits and {len(rewards)} rewards. The numbers must be equal, and at least 2."
    if len(uniform) < 2:
        return f"Your test calls a candidate with N = {len(uniform)}. Estimators are judged for N = 2 or more: a baseline that is the mean of the other draws needs at least one other draw."
    if not ((uniform >= 0) & (uniform < 1)).all():
        return "Your test calls a candidate with a uniform number below 0, or not below 1. Candidates accept numbers from 0 up to but not including 1."
    return None


task = Task(
    __name__,
    "a test that finds biased gradients",
    arguments=("estimator",),
    result="verdict",
    candidates=asking(_problem, (*RIGHT, *WRONG)),
    difficulty=5,
    importance=4,
    minutes=40,
)


one_case_each(task, RIGHT, WRONG)


def _middles(parts):
    return [(i + 0.5) / parts for i in range(parts)]


@cache
def _fillings(N):
    """Every way to fill N uniform numbers with the middles of four parts."""
    return [torch.tensor(numbers) for numbers in product(_middles(4), repeat=N)]


def _test(
    estimator,
    odd=True,
    places=True,
    unequal=True,
    shifted=True,
    range=True,
    draws=None,
    fillings=_fillings,
    compare=equal_up_to_rounding,
    raising=False,
):
    """A test like the solution's, in which things may be left out."""
    if unequal:
        p = torch.tensor([0.5, 0.25, 0.25] if places else [0.75, 0.25])
    else:
        p = torch.full((4,), 0.25) if places else torch.full((2,), 0.5)
    rewards = torch.tensor([2.0, -1.0, 0.25, 3.0] if range else [1.0, 0.25, 0.0, 0.5])[: len(p)]
    try:
        for N in draws or ((2, 3) if odd else (2,)):
            came = [estimator(p.log() + shifted, rewards.clone(), uniform.clone()) for uniform in fillings(N)]
            if not compare(torch.stack(came).mean(0), _true(p, rewards)):
                return False
        return True
    except Exception:
        return raising


_mistaken = MistakenTests(task, _test)
_mistaken("finite_only", compare=lambda came, right: came.shape == right.shape and bool(came.isfinite().all()))
_mistaken("errors_pass", raising=True)
_mistaken(
    "many_draws",
    draws=(20000,),
    fillings=lambda N: [torch.rand(N, generator=torch.Generator().manual_seed(0))],
    compare=lambda came, right: came.shape == right.shape and bool((came - right).abs().max() < 0.04),
)
_mistaken("same_number_for_all", fillings=lambda N: [torch.full((N,), u) for u in _middles(4)])
_mistaken("all_in_one_call", draws=(4,), fillings=lambda N: [torch.tensor(_middles(N))])
_mistaken("direction_compared", compare=lambda came, right: bool(torch.cosine_similarity(came, right, 0) > 0.9999))
_mistaken("signs_not_compared", compare=lambda came, right: equal_up_to_rounding(came.abs(), right.abs()))
_mistaken("sums_compared", compare=lambda came, right: equal_up_to_rounding(came.sum(), right.sum()))


@task.mistake()
def compared_call_by_call(estimator):
    p, rewards = torch.tensor([0.5, 0.25, 0.25]), torch.tensor([2.0, -1.0, 0.25])
    args = [(p.log() + 1, rewards, uniform) for N in (2, 3) for uniform in _fillings(N)]
    try:
        return all(equal_up_to_rounding(estimator(*args), right_plain(*args)) for args in args)
    except Exception:
        return False


@task.mistake()
def true_in_each_call(estimator):
    return all(_test(estimator, draws=(2,), fillings=lambda N, one=uniform: [one]) for uniform in _fillings(2))


LEFT_OUT = ("odd", "places", "unequal", "shifted", "range")  # what a test may leave out


_mistaken.without(LEFT_OUT, 3, lambda parts: dict.fromkeys(parts, False))
