"""Task 14.hybrid_loss: what is seen is learned with its labels, where to look with rewards, and the baseline with its own error."""

import torch

from course_lessons.shared.partial_credit import USUAL
from course_utils.checks.task import Case, Task

task = Task(
    __name__,
    "a loss with five faults",
    arguments=("logits B×V", "label B", "log_probability B×T", "reward B", "baseline B×T"),
    result="loss",
    gradient_not_asked=("reward",),
    difficulty=3,
    importance=5,
    minutes=25,
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
