"""Task 14.hybrid_loss: what is seen is learned with its labels, where to look with rewards, and the baseline with its own error."""

from operator import add, mul, sub

import torch

from course_lessons.shared.partial_credit import USUAL
from course_utils.checks.reference_trace import left_out
from course_utils.checks.running.contract import Case
from course_utils.checks.task import Task

task = Task(
    "14.hybrid_loss",
    "a loss with five faults",
    arguments=("logits B×V", "label B", "log_probability B×T", "reward B", "baseline B×T"),
    result="loss",
    gradient_not_asked=("reward",),
    difficulty=3,
    importance=5,
    minutes=25,
    hints=(
        "Three losses are added. Only the cross-entropy reaches the part that classifies, through the logits. Only the second reaches the part that chooses the locations, through the log probabilities: there, the amount by which the reward exceeded expectations is a plain number. The third makes the baseline a better guess of the reward.",
        (
            "Take one example of two classes with the logits [0, 0] and label 0, and two steps with the log probabilities -1 and -2, the reward 1 and the baselines 0.5 and 0.25. The cross-entropy is ln 2 = 0.6931. The reward minus the baselines is 0.5 and 0.75; times the log probabilities this is -0.5 and -1.5, whose sum over the steps is -2. "
            "The squares are 0.25 and 0.5625, and their mean is 0.4062. The loss is 0.6931 + 2 + 0.4062 = 3.0994. The gradient at the log probabilities is -0.5 and -0.75; at the baselines it is -0.5 and -0.75 as well, and comes from the squares alone: 2·(0.5 - 1) / 2 and 2·(0.25 - 1) / 2."
        ),
        "advantage = reward as B×1 minus baseline, B×T; classify = mean cross-entropy of logits and label; look = advantage without its gradient, times log_probability; sum over T, mean over B; guess = mean over B and T of advantage squared; return classify minus look plus guess.",
    ),
    partial=USUAL,
)


def _inputs(draw, B, T, V, dtype=torch.float32, rewards=None):
    reward = draw.whole(0, 2, B).to(dtype) if rewards is None else rewards.to(dtype)
    if rewards is None:
        reward[0], reward[-1] = 0.0, 1.0  # so that not all are alike
    return (
        draw.normal(B, V, dtype=dtype),
        draw.whole(0, V, B),
        -draw.normal(B, T, dtype=dtype).abs() - 0.25,
        reward,
        draw.normal(B, T, dtype=dtype) / 2 + 0.375,
    )


# B, T, V: small first, then one axis longer at a time, then all
LADDER = ((2, 3, 4), (3, 2, 4), (2, 5, 4), (2, 3, 5), (3, 5, 7))


@task.cases
def _(draw):
    for dims in LADDER:
        B, T, V = dims
        yield Case(f"{B} examples, {T} steps, {V} classes", _inputs(draw, *dims), dims == LADDER[-1])
    yield Case("11 examples, 3 steps, 2 classes", _inputs(draw, 11, 3, 2), True)
    yield Case("as many examples as steps", _inputs(draw, 5, 5, 3), True)
    yield Case("as many steps as classes", _inputs(draw, 3, 7, 7))
    rewards = torch.randn(5, generator=draw.generator, dtype=torch.float64) * 2
    yield Case("rewards that are not 0 and 1", _inputs(draw, 5, 3, 7, rewards=rewards))
    yield Case("a single step", _inputs(draw, 3, 1, 5), True, edge=True)
    yield Case("a single example", _inputs(draw, 1, 5, 3), True, edge=True)
    logits, label, log_probability, reward, _ = _inputs(draw, 3, 5, 7)
    expected = reward[:, None].expand(3, 5).clone()
    yield Case("rewards as expected", (logits, label, log_probability, reward, expected), True, edge=True)
    far = torch.tensor([1e4, -1e4, 0.0, 5e3, -5e3, 1.0, 2.0])[draw.distinct(7, 0, 7)].expand(3, 7).clone()
    far[draw.whole(0, 3)] /= 1e4  # so that the largest number of the batch is not each row's own
    yield Case("logits of ±10,000", (far, *_inputs(draw, 3, 5, 7)[1:]), True, hazard=True)
    logits, label, log_probability, reward, baseline = _inputs(draw, 3, 5, 7)
    log_probability[draw.whole(0, 3, 1), draw.whole(0, 5, 1)] = -1e4
    yield Case("a log probability of -10,000", (logits, label, log_probability, reward, baseline), True, hazard=True)
    logits, label, log_probability, reward, baseline = _inputs(draw, 3, 5, 7)
    yield Case("log densities above 0", (logits, label, -log_probability, reward, baseline), True, edge=True)
    yield Case("50 examples, 20 steps", _inputs(draw, 50, 20, 10), True, edge=True)
    yield Case("float64 numbers", _inputs(draw, 5, 3, 7, torch.float64), True, hazard=True)


@task.oracle
def _(logits, label, log_probability, reward, baseline):
    B, T = baseline.shape
    total = 0 * logits.sum()
    for b in range(B):
        most = logits[b].max().detach()
        total = total + (most + (logits[b] - most).exp().sum().log() - logits[b, label[b]]) / B
        for t in range(T):
            error = reward[b].item() - baseline[b, t]
            total = total - error.item() * log_probability[b, t] / B + error * error / (B * T)
    return total


@task.steps
def _(logits, label, log_probability, reward, baseline):
    log_p = yield "the logarithms of the softmax", lambda logits: logits.log_softmax(1), logits
    of_label = yield "the labels' log probabilities", _of_label, log_p, label
    mean = yield "the mean log probability", torch.mean, of_label
    classify = yield "the cross-entropy", torch.neg, mean
    of_steps = yield "the reward of each step", lambda reward: reward[:, None], reward
    advantage = yield "the surprise", sub, of_steps, baseline
    plain = yield "the detached surprise", torch.detach, advantage
    products = yield "the weighted log probabilities", mul, plain, log_probability
    sums = yield "the sums over the steps", lambda products: products.sum(1), products
    look = yield "the term for the looks", torch.mean, sums
    squares = yield "the squared surprises", torch.square, advantage
    guess = yield "the mean of the squares", torch.mean, squares
    both = yield "the first two terms", sub, classify, look
    loss = yield "the loss", add, both, guess
    return loss


def _of_label(log_p, label):
    return log_p.gather(1, label[:, None])[:, 0]


PLAIN, PRODUCTS = "the detached surprise", "the weighted log probabilities"
SUMS, LOOK = "the sums over the steps", "the term for the looks"
SQUARES, GUESS = "the squared surprises", "the mean of the squares"
BOTH = "the first two terms"
LEARNS, NEVER_LEARNS = {PLAIN: left_out}, {SQUARES: lambda advantage: advantage.detach().square()}
LOG_P_CUT_OFF = {PRODUCTS: lambda advantage, log_p: advantage * log_p.detach()}


task.changed_each(
    ("sign_of_the_rewards", "The sign of the log probability term is wrong: it is added, or the reward is subtracted from the baseline in it. The loss should fall when choices that were better than expected become more probable: subtract the product of (reward minus baseline) and the log probabilities.", {BOTH: add}),
    ("reward_along_the_steps", "reward has the shape B and baseline B×T; broadcasting aligns shapes from the right, so B is matched with T. Unless B or T is 1, this runs only if B equals T, and then it pairs rewards with steps. Add an axis to reward to make it B×1.", {"the reward of each step": left_out}),
    ("baseline_unused", "The baseline has no effect on the location term. Also subtract it from the reward there.", {PLAIN: lambda advantage, *, baseline: (advantage + baseline).detach()}),
    ("one_surprise_for_all_looks", "You multiply the log probabilities of all steps by one mean surprise per example. Each step has its own baseline: multiply step by step, then sum.", {PLAIN: lambda advantage: advantage.mean(1, keepdim=True).detach()}),
    ("advantage_normalised", "You standardise reward minus baseline before you multiply: its mean is subtracted, and it is divided by its standard deviation. That is sometimes done, but it gives a different gradient. Use the difference itself.", {PLAIN: lambda advantage: ((advantage - advantage.mean()) / (advantage.var(correction=0) + 1e-12).sqrt()).detach()}),
    ("reward_of_ones_own", "You compute the reward from the logits and the label (1 if the largest logit is at the label). The reward is given: use it.", {"reward": lambda reward, *, logits, label: (logits.argmax(1) == label).to(reward.dtype)}),
    # Sums and means
    ("mean_over_the_steps", "You take the mean over the steps of the products with the log probabilities, or over everything at once. The log probabilities of all steps together belong to one chosen path: sum over T, then take the mean over B.", {SUMS: left_out}),
    ("sum_over_the_batch", "You also sum the products with the log probabilities over the batch. Sum over T, then take the mean over B.", {LOOK: torch.sum}),
    ("axes_exchanged", "You sum the products with the log probabilities over the batch and take the mean over the steps. It should be the other way round: the sum over T, the mean over B.", {SUMS: lambda products: products.sum(0)}),
    ("last_step_alone", "Only the last step's log probabilities have an effect. The reward comes at the end, but all steps led to it: sum over all of them.", {SUMS: lambda products: products[:, -1]}),
    ("squares_summed", "You sum the squares over the steps. They are errors of a prediction: take their mean over B and T.", {GUESS: lambda squares: squares.sum(1).mean()}),
    ("softmax_twice", "You apply a softmax before cross_entropy, which applies its own. Pass it the logits.", {"the logarithms of the softmax": lambda logits: logits.softmax(1).log_softmax(1)}),
    ("cross_entropy_summed", "You sum the cross-entropy over the batch. Take its mean, as `cross_entropy` does.", {"the mean log probability": torch.sum}),
    # Terms
    ("no_cross_entropy", "The cross-entropy is missing: without it the model does not learn to classify.", {"the cross-entropy": lambda mean: 0 * mean}),
    ("no_part_of_the_looks", "The log probability term is missing: without it the model does not learn where to look.", {LOOK: lambda sums: 0 * sums.mean()}),
    ("no_baseline_term", "The squared error of the baseline is missing, so the baseline never learns.", {GUESS: lambda squares: 0 * squares.mean()}),
    ("squares_subtracted", "You subtract the squared error of the baseline, so the baseline learns to be wrong. Add it.", {"the loss": sub}),
    ("surprise_unused", "The looks are not weighted: you sum their log probabilities as they are. Multiply each by reward minus baseline.", {PLAIN: torch.ones_like}),
    ("surprise_squared", "You multiply the log probabilities by the square of reward minus baseline, which has lost its sign. Multiply by the difference itself.", {PLAIN: lambda advantage: advantage.detach().square()}),
    ("absolute_error", "The baseline learns from its absolute error. Square it.", {SQUARES: torch.abs}),
    ("sums_multiplied", "You multiply sums over the steps: the sum of the surprises by the sum of the log probabilities. Multiply step by step, then sum.", {PRODUCTS: lambda advantage, log_p: advantage.sum(1, keepdim=True) * log_p}),
    # Gradients
    ("baseline_learns_from_the_picks", "The value is correct, but through the products with the log probabilities a gradient also reaches the baseline, which does not make its predictions better. Detach reward minus baseline there with `.detach()`; in the squares, leave it as it is.", LEARNS),
    ("baseline_never_learns", "The value is correct, but no gradient reaches the baseline. In the products it has to be detached, but it learns from the squares, so leave it as it is there.", NEVER_LEARNS),
    ("detached_in_the_wrong_part", "The value is correct, but the gradients are swapped: the baseline gets one through the products and none through the squares. Detach it in the products, not in the squares.", LEARNS | NEVER_LEARNS),
    ("locations_never_learn", "The value is correct, but no gradient reaches log_probability, so nothing learns where to look. Detach only reward minus baseline, not the log probability.", LOG_P_CUT_OFF),
    ("wrong_factor_detached", "The value is correct, but you detach the wrong factor of the products: the baseline gets the gradient, and log_probability gets none. Detach reward minus baseline.", LEARNS | LOG_P_CUT_OFF),
    ("as_given", "This is the loss as it was given, with its five faults.", NEVER_LEARNS | {PLAIN: lambda advantage: advantage.mean(1, keepdim=True), SUMS: left_out, BOTH: add}),
)  # fmt: skip
