"""Task 08.catch_biased_gradient: a test that tells unbiased estimators of a gradient from biased ones."""

from functools import cache, wraps
from itertools import product

import torch

from course_utils.checks.compare import describe
from course_utils.checks.running.contract import NotAsAsked
from course_utils.checks.task import Task
from course_utils.tasks.candidates import mistakes_of_tests, one_case_each, tests_without

# The candidates: right ones written differently, wrong ones that the prompt shows, wrong ones that it does not. All see a
# uniform number through the place that it picks, so that what they return changes only where a cumulative probability is crossed.


def _picked(p, uniform):
    """The first place whose cumulative probability exceeds each uniform number: N."""
    return (p.cumsum(0) <= uniform[:, None]).sum(1).clamp(max=len(p) - 1)


def _gradient(p, places, advantage):
    """The mean over the draws of each advantage times the gradient of its log probability: S."""
    return (advantage[:, None] * (torch.eye(len(p))[places] - p)).mean(0)


def _with(baseline):
    """An estimator that subtracts a baseline, which function(earned N, p, rewards) gives, from what the draws have earned."""

    def estimator(logits, rewards, uniform):
        p = logits.softmax(0)
        places = _picked(p, uniform)
        return _gradient(p, places, rewards[places] - baseline(rewards[places], p, rewards))

    return estimator


right_plain = _with(lambda earned, p, rewards: 0.0)
right_constant = _with(lambda earned, p, rewards: 0.5)
right_expected_reward = _with(lambda earned, p, rewards: p @ rewards)
right_mean_of_all_rewards = _with(lambda earned, p, rewards: rewards.mean())
right_leave_one_out = _with(lambda earned, p, rewards: (earned.sum() - earned) / (len(earned) - 1))
right_others_over_n = _with(lambda earned, p, rewards: (earned.sum() - earned) / len(earned))
own_mean = _with(lambda earned, p, rewards: earned.mean())
first_as_baseline = _with(lambda earned, p, rewards: earned[0])
best_as_baseline = _with(lambda earned, p, rewards: earned.max())


def right_exact(logits, rewards, uniform):
    """The true gradient: it needs no draw."""
    p = logits.softmax(0)
    return p * (rewards - p @ rewards)


def right_corrected(logits, rewards, uniform):
    """The mean of the same draws as a baseline, and a factor that makes up for it."""
    return own_mean(logits, rewards, uniform) * (len(uniform) / (len(uniform) - 1))


def right_by_autograd(logits, rewards, uniform):
    leaf = logits.detach().double().requires_grad_()
    places = _picked(leaf.detach().softmax(0), uniform)
    (leaf.log_softmax(0)[places] * rewards[places]).mean().backward()
    return leaf.grad.float()


def sign_turned_round(logits, rewards, uniform):
    return -right_plain(logits, rewards, uniform)


def summed(logits, rewards, uniform):
    return right_plain(logits, rewards, uniform) * len(uniform)


def divided_by_two(logits, rewards, uniform):
    """Divides the sum over the draws by 2, however many there are."""
    return right_plain(logits, rewards, uniform) * len(uniform) / 2


def corrected_for_two(logits, rewards, uniform):
    """The mean of the same draws as a baseline, with the factor that makes up for it where there are two."""
    return own_mean(logits, rewards, uniform) * 2


def normalised(logits, rewards, uniform):
    """What the draws have earned, minus its mean, divided by its spread."""
    p = logits.softmax(0)
    places = _picked(p, uniform)
    earned = rewards[places]
    return _gradient(p, places, (earned - earned.mean()) / (earned.std(correction=0) + 1e-3))


def logits_for_probabilities(logits, rewards, uniform):
    places = _picked(logits, uniform)
    return _gradient(logits, places, rewards[places])


def not_normalised(logits, rewards, uniform):
    """Takes the exponentials for probabilities, which is right where they sum to 1."""
    p = logits.exp()
    places = _picked(p, uniform)
    return _gradient(p, places, rewards[places])


def most_probable(logits, rewards, uniform):
    places = logits.argmax().expand(len(uniform))
    return _gradient(logits.softmax(0), places, rewards[places])


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


def equal_chances(logits, rewards, uniform):
    places = (uniform * len(logits)).long()
    return _gradient(logits.softmax(0), places, rewards[places])


def two_places(logits, rewards, uniform):
    """Picks the first place or the second, as if there were no more."""
    p = logits.softmax(0)
    places = (uniform >= p[0]).long()
    return _gradient(p, places, rewards[places])


def rewards_cut_off(logits, rewards, uniform):
    return right_plain(logits, rewards.clamp(0, 1), uniform)


def reward_of_the_next(logits, rewards, uniform):
    """Each pick gets what the next one has earned."""
    p = logits.softmax(0)
    places = _picked(p, uniform)
    return _gradient(p, places, rewards[places].roll(-1))


def in_pairs(logits, rewards, uniform):
    """Each draw's baseline is its partner's reward: stops with an error where a draw has no partner."""
    p = logits.softmax(0)
    places = _picked(p, uniform)
    partners = rewards[places].reshape(-1, 2).flip(1).flatten()
    return _gradient(p, places, rewards[places] - partners)


RIGHT = {
    right_plain: "a right estimator without a baseline",
    right_constant: "a right estimator with a constant baseline",
    right_leave_one_out: "a right estimator whose baseline is the mean of the other draws",
    right_others_over_n: "a right estimator whose baseline is the sum of the other draws divided by N",
    right_corrected: "a right estimator with a factor that makes up for its baseline",
    right_expected_reward: "a right estimator whose baseline is the expected reward",
    right_mean_of_all_rewards: "a right estimator whose baseline is the mean over the places",
    right_exact: "a right estimator that adds up over all places and needs no draw",
    right_by_autograd: "a right estimator written with backward, in float64: where a uniform number equals a cumulative probability, rounding may pick another place",
}


WRONG = {
    own_mean: "a wrong estimator: its baseline is the mean of the same draws",
    sign_turned_round: "a wrong estimator: the sign is turned round",
    summed: "a wrong estimator: the sum of the draws",
    logits_for_probabilities: "a wrong estimator: logits taken for probabilities",
    most_probable: "a wrong estimator: it always picks the most probable place",
    for_probabilities: "a wrong estimator: the gradient with respect to the probabilities",
    of_the_probability: "a wrong estimator: it differentiates the probability, not its logarithm",
    corrected_for_two: "a wrong estimator: right for two draws only",
    first_as_baseline: "a wrong estimator: its baseline is what the first draw has earned",
    best_as_baseline: "a wrong estimator: its baseline is what the best draw has earned",
    normalised: "a wrong estimator: what the draws have earned is divided by its spread",
    divided_by_two: "a wrong estimator: the sum of the draws divided by 2, however many there are",
    not_normalised: "a wrong estimator: exponentials taken for probabilities",
    picked_alone: "a wrong estimator: the gradient of the picked logit alone",
    equal_chances: "a wrong estimator: it picks all places with equal chances",
    two_places: "a wrong estimator: it never picks a third place",
    rewards_cut_off: "a wrong estimator: rewards are cut off at 0 and 1",
    reward_of_the_next: "a wrong estimator: each pick gets the reward of the next",
    in_pairs: "a wrong estimator: it takes draws in pairs, and fails where one is left over",
}


def _asking(estimator):
    """A candidate: it says where a test breaks the rules of the prompt, and so whether it is right or wrong."""

    @wraps(estimator)
    def candidate(logits, rewards, uniform):
        problem = _problem(logits, rewards, uniform)
        if problem:
            raise NotAsAsked(problem)
        return estimator(logits, rewards, uniform)

    return candidate


def _problem(logits, rewards, uniform):
    """What is wrong with the inputs of a call, or None."""
    given = {"logits": logits, "rewards": rewards, "uniform": uniform}
    for name, numbers in given.items():
        if not isinstance(numbers, torch.Tensor) or numbers.dim() != 1 or not numbers.is_floating_point():
            return f"Your test calls a candidate with {name} = {describe(numbers)}. Candidates take tensors with one axis and floating-point numbers: logits S, rewards S and uniform N."
    if len(logits) != len(rewards) or len(logits) < 2:
        return f"Your test calls a candidate with {len(logits)} logits and {len(rewards)} rewards. There are as many of the one as of the other, 2 or more."
    if len(uniform) < 2:
        return f"Your test calls a candidate with N = {len(uniform)}. Estimators are right or wrong for N = 2 or more: a baseline that is the mean of the other draws needs another draw."
    if not ((uniform >= 0) & (uniform < 1)).all():
        return "Your test calls a candidate with a uniform number below 0, or not below 1. Candidates take numbers from 0 up to but not 1."
    return None


CANDIDATES = tuple(map(_asking, (*RIGHT, *WRONG)))

task = Task(
    "08.catch_biased_gradient",
    "a test that finds biased gradients",
    arguments=("estimator",),
    result="verdict",
    candidates=CANDIDATES,
    difficulty=5,
    importance=4,
    minutes=40,
    hints=(
        "What an estimator returns differs from draw to draw, and so do right ones among each other. Unbiased means that the **mean over all draws** is the true gradient. Small cases have so few different draws that you can try them all, and then nothing is left to chance.",
        (
            "Take two places with the probabilities 0.75 and 0.25 and the rewards 4 and 0. The expected reward is 3, so the true gradient is 0.75 · (4 - 3) = 0.75 and 0.25 · (0 - 3) = -0.75. The four numbers 0.125, 0.375, 0.625 and 0.875 pick the first "
            "place three times and the second once. With two draws there are 16 pairs of them. The plain estimator gives 1 for the first place where both numbers pick it, in 9 pairs, 0.5 in 6 pairs, and 0 in 1: the mean is 12 / 16 = 0.75. With the mean of "
            "the same two draws as baseline it gives 1 in the 6 pairs in which the two picks differ, and 0 in all others: the mean is 6 / 16 = 0.375, half of the truth."
        ),
        "p = three probabilities that are multiples of 1/4; logits = log p plus a constant; rewards of both signs, above 1 too; right = p · (rewards - sum of p · rewards). For N = 2 and N = 3: for each of the 4ᴺ ways to fill uniform with 0.125, 0.375, 0.625 "
        "and 0.875: call the estimator; compare the mean of all results with right, up to 1e-5; any exception: False.",
    ),
)


one_case_each(task, RIGHT, WRONG)


def _middles(parts):
    return [(i + 0.5) / parts for i in range(parts)]


@cache
def _fillings(parts, draws):
    """Every way to fill `draws` uniform numbers with the middles of so many parts."""
    return [torch.tensor(numbers) for numbers in product(_middles(parts), repeat=draws)]


def _true(p, rewards):
    return p * (rewards - p @ rewards)


def _close(came, right):
    return came.shape == right.shape and torch.allclose(came, right, atol=1e-5)


def _test(
    estimator,
    odd=True,
    places=True,
    unequal=True,
    shifted=True,
    range=True,
    draws=None,
    fillings=_fillings,
    compare=_close,
    parts=4,
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
            came = [estimator(p.log() + shifted, rewards.clone(), uniform.clone()) for uniform in fillings(parts, N)]
            if not compare(torch.stack(came).mean(0), _true(p, rewards)):
                return False
        return True
    except Exception:
        return raising


mistakes_of_tests(
    task,
    _test,
    "candidate",
    "Does it take the mean over many calls, with draws of the right probabilities, and does it leave room for rounding, about 1e-5?",
)


@task.mistake(
    "Every candidate that returns finite numbers of the right shape passes your test. Compare their mean over all draws with the true gradient."
)
def finite_only(estimator):
    return _test(estimator, compare=lambda came, right: came.shape == right.shape and bool(came.isfinite().all()))


@task.mistake(
    "A candidate that raises an error where N is odd passes your test. Try N = 3 as well as N = 2, and return False where a candidate raises an error: it is wrong."
)
def errors_pass(estimator):
    return _test(estimator, raising=True)


@task.mistake(
    "Candidates whose baseline comes from the same draws pass your test. It shrinks the gradient by (N - 1)/N, which for a large N is nearly 1 and hard to tell from chance. For N = 2 it is a half: take the mean over many calls with two or three draws each."
)
def many_draws(estimator):
    uniform = torch.rand(20000, generator=torch.Generator().manual_seed(0))
    near = lambda came, right: came.shape == right.shape and bool((came - right).abs().max() < 0.04)  # noqa: E731
    return _test(estimator, draws=(20000,), fillings=lambda parts, N: [uniform], compare=near)


@task.mistake(
    "Right candidates with a baseline are refused, and so is the one that needs no draw, as where every call has to give what the plain estimator gives on the same draws. Single calls may differ: only the mean over all draws has to be the true gradient."
)
def compared_call_by_call(estimator):
    p, rewards = torch.tensor([0.5, 0.25, 0.25]), torch.tensor([2.0, -1.0, 0.25])
    args = [(p.log() + 1, rewards, uniform) for N in (2, 3) for uniform in _fillings(4, N)]
    try:
        return all(_close(estimator(*args), right_plain(*args)) for args in args)
    except Exception:
        return False


@task.mistake(
    "Nearly all right candidates are refused, all but the one that needs no draw. That is so where a single call has to give the true gradient: what it returns depends on its draws, so take the mean of many calls. It is also so where the mean has to be right to the last digit: leave room for rounding, about 1e-5."
)
def true_in_each_call(estimator):
    return all(
        _test(estimator, draws=(len(uniform),), fillings=lambda *_, uniform=uniform: [uniform])
        for uniform in _fillings(4, 2)
    )


@task.mistake(
    "Right candidates whose baseline comes from the other draws are refused. They are right where the draws of a call are independent of each other; where all its uniform numbers are the same, they are not. Try every pair of numbers."
)
def same_number_for_all(estimator):
    return _test(estimator, fillings=lambda parts, N: [torch.full((N,), u) for u in _middles(parts)])


@task.mistake(
    "Candidates whose baseline comes from the same draws pass your test, and right ones whose baseline comes from the other draws are refused. That is so where the draws of a call depend on each other, such as where one call gets all numbers at once, so that each place comes exactly as often as its probability says. Give each call two or three numbers, and try every combination."
)
def all_in_one_call(estimator):
    return _test(estimator, draws=(4,), fillings=lambda parts, N: [torch.tensor(_middles(parts))])


@task.mistake(
    "Candidates whose gradient points in the right direction and has a wrong length pass your test. That is what a baseline from the same draws does: it shrinks the gradient. Compare number by number."
)
def direction_compared(estimator):
    return _test(estimator, compare=lambda came, right: bool(torch.cosine_similarity(came, right, 0) > 0.9999))


@task.mistake(
    "Candidates whose gradient has the right size and the wrong sign pass your test. Compare the numbers with their signs."
)
def signs_not_compared(estimator):
    return _test(estimator, compare=lambda came, right: _close(came.abs(), right.abs()))


@task.mistake(
    "Candidates whose gradient is wrong and sums to the right number, 0, pass your test: it is the sum of the gradient over the places that you compare, or its mean. Compare number by number."
)
def sums_compared(estimator):
    return _test(estimator, compare=lambda came, right: _close(came.sum(), right.sum()))


LEFT_OUT = {  # what a test may leave out: what passes it then, and what to do
    "odd": (
        "candidates that are right for two draws and not for three",
        "Try N = 3 as well as N = 2.",
    ),
    "places": (
        "candidates that pick only from the first two places",
        "Try three places or more.",
    ),
    "unequal": (
        "candidates that pick every place equally often",
        "Give the places probabilities that are not all equal.",
    ),
    "shifted": (
        "candidates that take the exponentials of the logits for probabilities",
        "Add a constant to the logits, so that their exponentials do not sum to 1.",
    ),
    "range": (
        "candidates that cut off rewards below 0 or above 1",
        "Try rewards of -1 and 2 as well.",
    ),
}


def _without(parts):
    return lambda estimator: _test(estimator, **dict.fromkeys(parts, False))


tests_without(task, LEFT_OUT, _without, 3)
