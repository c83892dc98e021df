"""Task 01.sentiment_gradient: the gradient of the mean cross-entropy, by formula."""

import torch

from course_utils.base.words import count
from course_utils.checks.task import Case, Task, sizes

task = Task(
    __name__,
    "the gradient of the mean cross-entropy, by formula",
    arguments=("sums B×D", "labels B", "weight D", "bias"),
    result=("weight_gradient D", "bias_gradient"),
    difficulty=3,
    importance=3,
    minutes=20,
)


@task.cases
def _(draw):
    for size in sizes(B=5, D=3):
        labels = draw.whole(0, 2, size.B).float()
        if size.full:
            labels[draw.distinct(size.B, 0, size.B)[:2]] = torch.tensor([0.0, 1.0])
        args = (draw.numbers(size.B, size.D), labels, draw.numbers(size.D), draw.numbers(13)[0])
        yield Case(f"{count(size.B, 'sentence')}, width {size.D}", args)
    for label, name in ((1.0, "only positive sentences"), (0.0, "only negative sentences")):
        yield Case(name, (draw.numbers(4, 2), torch.full((4,), label), draw.numbers(2), draw.numbers(13)[0]))
    far = torch.tensor([[1e4], [-1e4], [0.0]])
    yield Case(
        "very large scores, near ±10,000",
        (far, torch.tensor([1.0, 0, 1]), torch.ones(1), torch.tensor(0.0)),
        hazard=True,
    )


@task.oracle
def _(sums, labels, weight, bias):
    weight, bias = weight.clone().requires_grad_(), bias.clone().requires_grad_()
    loss = torch.nn.functional.binary_cross_entropy_with_logits(sums @ weight + bias, labels)
    by_weight, by_bias = torch.autograd.grad(loss, (weight, bias))
    return by_weight, by_bias.item()
