"""Task 08.reinforce_loss: the loss whose gradient makes picks with a good reward more probable."""

from operator import mul, sub

import torch

from course_lessons.shared.partial_credit import USUAL
from course_utils.checks.reference_trace import left_out
from course_utils.checks.running.contract import Case
from course_utils.checks.task import Task, count, sizes

task = Task(
    "08.reinforce_loss",
    "the loss that teaches hard attention",
    arguments=("log_probability B", "reward B", "baseline B"),
    result="loss",
    difficulty=2,
    importance=5,
    minutes=10,
    hints=(
        "Picks that were better than expected should become more probable, and picks that were worse should become less probable. How much better a pick was is the reward minus the baseline, and this difference is a plain number: the loss acts on the log probability "
        "alone.",
        (
            "Take the log probabilities -1 and -2, the rewards 1 and 0, and the baselines 0.25 and 0.5. The rewards minus the baselines are 0.75 and -0.5. Multiplied by the log probabilities, they give -0.75 and 1; the mean of the two is 0.125, and the "
            "loss is -0.125. Its gradient is -0.375 at the first log probability and 0.25 at the second: a step against it makes the first pick more probable and the second less."
        ),
        "advantage = reward minus baseline, cut off from any gradient with detach; return minus the mean over B of advantage times log_probability.",
    ),
    partial=USUAL,
)


@task.property
def not_divided_by_the_spread(case, value):
    """The differences are used as they are."""
    log_probability, reward, baseline = (numbers.double() for numbers in case.args)
    advantage = reward - baseline
    right = -(advantage * log_probability).mean()
    spreads = [advantage.std(correction=n).item() for n in (0, 1)] if len(reward) > 4 else []
    return (
        f"For the input “{case.name}” your loss is the right one divided by the standard deviation of reward minus baseline. That is sometimes done, but it gives a different gradient, and for a single pick this standard deviation is 0 or NaN. Use the "
        "differences as they are."
        if any(
            abs(spread - 1) > 0.01 < abs(right) and abs(value.item() * spread / right - 1) < 1e-4 for spread in spreads
        )
        else None
    )


def _inputs(draw, B):
    reward = draw.numbers(B) + 1
    reward[-1] += 1.0  # so that not all are alike
    return -draw.numbers(B).abs() - 0.25, reward, draw.numbers(B) / 2 + 0.125


@task.cases
def _(draw):
    for size in sizes(B=3):
        yield Case(count(size.B, "pick"), _inputs(draw, size.B), size.full)
    for B in (5, 13):
        yield Case(count(B, "pick"), _inputs(draw, B), True)
    log_probability, reward, _ = _inputs(draw, 7)
    yield Case("no baseline", (log_probability, reward, torch.zeros(7)))
    hits = torch.tensor([1.0, 0.0, 0.0, 1.0, 1.0])[draw.distinct(5, 0, 5)]
    yield Case("rewards of 0 and 1, one baseline for all", (log_probability[:5], hits, torch.full((5,), 0.375)))
    yield Case("a single pick", _inputs(draw, 1), True, edge=True)
    yield Case("rewards that are what was expected", (log_probability, reward, reward.clone()), True, edge=True)
    certain = (torch.zeros(3), *_inputs(draw, 3)[1:])
    yield Case("picks of probability 1", certain, True, edge=True)
    improbable = torch.tensor([-1e4, -5e3, -0.5])[draw.distinct(3, 0, 3)]
    yield Case("log probabilities of -10,000", (improbable, *_inputs(draw, 3)[1:]), True, hazard=True)
    yield Case("200 picks", _inputs(draw, 200), True, edge=True)


@task.steps
def _(log_probability, reward, baseline):
    difference = yield "the difference of reward and baseline", sub, reward, baseline
    advantage = yield "the advantage", torch.detach, difference
    products = yield "the products with the log probability", mul, advantage, log_probability
    mean = yield "the mean of the products", torch.mean, products
    loss = yield "minus the mean", torch.neg, mean
    return loss


DIFFERENCE, ADVANTAGE = "the difference of reward and baseline", "the advantage"
PRODUCTS = "the products with the log probability"

task.changed(
    "mean_reward",
    "Each reward is replaced by the mean of all rewards. That also happens if an axis is added to the reward, as in `reward[:, None] - baseline`: every reward is then paired with every baseline, and the differences are B×B. Subtract pick by pick.",
    {DIFFERENCE: lambda reward, baseline: reward[:, None] - baseline},
)
task.changed(
    "mean_reward_as_baseline",
    "You subtract the mean of the rewards. Subtract the baseline that is given. The mean of these very rewards depends on the picks that it should judge, which changes the gradient.",
    {DIFFERENCE: lambda reward, baseline: reward - reward.mean()},
)


def _normalised(reward, baseline):
    centred = (reward - baseline) - (reward - baseline).mean()
    spread = (centred.square().sum() / (len(centred) - 1)).sqrt()  # as torch.std, without its warning for a single pick
    return centred / (spread + 1e-8)


task.changed(
    "advantage_normalised",
    "You normalise the differences between reward and baseline: their mean is subtracted, and they are divided by their standard deviation. That is sometimes done, but it gives a different gradient. Use them as they are.",
    {DIFFERENCE: _normalised},
)
task.changed(
    "reward_outside",
    "The baseline is multiplied by the log probability, but the reward is not: the brackets around reward minus baseline are missing.",
    {PRODUCTS: lambda _, log_p, *, reward, baseline: reward.detach() - baseline.detach() * log_p},
)
task.changed(
    "probability",
    "You use the probabilities: the exponential of the log probability. The less probable a pick was, the weaker its gradient, so the mean over many picks is not the gradient of the expected reward. Use the log probability as it is.",
    {PRODUCTS: lambda advantage, log_p: advantage * log_p.exp()},
)
task.changed(
    "mean_times_mean",
    "You multiply the mean of the rewards minus the baselines by the mean of the log probabilities, or every difference by every log probability. A pick then shares in what the others earned: multiply pick by pick, then take the mean.",
    {PRODUCTS: lambda advantage, log_p: advantage.mean() * log_p.mean()},
)
task.changed(
    "no_minus",
    "The minus sign is missing. A step against the gradient of this number makes good picks less probable and bad ones more probable: a loss should fall where good picks become more probable.",
    {"minus the mean": left_out},
)
task.changed(
    "summed",
    "This is the sum over the batch. Take the mean: divide by the number of picks.",
    {"the mean of the products": torch.sum},
)
task.changed(
    "baseline_loss_added",
    "You add the squared error of the baseline. A baseline that is learned has such a loss, but here it is given: return minus the mean of the products alone.",
    {"result": lambda loss, *, reward, baseline: loss + (reward - baseline).square().mean()},
)
task.changed(
    "reward_learns",
    "The value is right, but a gradient reaches the reward. The loss would then also train the reward. Cut the reward off with `.detach()`.",
    {ADVANTAGE: lambda difference, *, reward, baseline: reward - baseline.detach()},
)
task.changed(
    "baseline_learns",
    "The value is right, but a gradient reaches the baseline. The loss would then also train the baseline. If a network gives the baseline, this gradient does not make it a better estimate of the reward. Cut it off with `.detach()`.",
    {ADVANTAGE: lambda difference, *, reward, baseline: reward.detach() - baseline},
)
task.changed(
    "both_learn",
    "The value is right, but a gradient reaches the reward and the baseline. The loss would then train both of them as well. Cut their difference off with `.detach()`.",
    {ADVANTAGE: left_out},
)
task.changed(
    "nothing_learns",
    "The value is right, but no gradient reaches log_probability, so nothing is learned. Cut off the reward and the baseline alone, not the whole product.",
    {"result": torch.detach},
)
