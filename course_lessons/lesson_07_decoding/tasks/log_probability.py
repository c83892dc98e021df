"""Task 07.log_probability: how probable a whole translation is."""

import torch

from course_lessons.shared.log_softmax import find_small_number, with_an_improbable_word
from course_lessons.shared.partial_credit import EDGE, SIDE_EFFECT
from course_utils.base.words import count
from course_utils.checks.task import Case, Task, sizes

task = Task(
    __name__,
    "how probable a translation is",
    arguments=("logits T×V", "target T"),
    result="log_probability",
    difficulty=2,
    importance=5,
    minutes=10,
    gradient_optional=True,  # neither the prompt nor the lesson speaks of a gradient
    partial=EDGE
    | SIDE_EFFECT
    | {"product_then_logarithm": (0.5, "right for a few words and logits of ordinary size.")},
)


@task.property
def a_probability_is_at_most_one(case, value):
    """Its logarithm is at most 0."""
    if value > 1e-6:
        return f"A probability is at most 1, so its logarithm is never above 0; yours is {value:.4g}."
    return None


def _target(draw, T, V):
    """Ids, among them the id 0 and, where there is room, one that comes twice."""
    target = draw.whole(0, V, T)
    target[-1] = 0
    if T > 2:
        target[1] = target[0]
    return target


@task.cases
def _(draw):
    for size in sizes(T=5, V=7):
        T, V = size.T + 1, size.V
        name = f"{count(T, 'word')}, {V} words in the vocabulary"
        yield Case(name, (draw.numbers(T, V), _target(draw, T, V)), size.full)
    yield Case("as many words as the vocabulary has", (draw.numbers(5, 5), _target(draw, 5, 5)))
    yield Case("11 words, 3 words in the vocabulary", (draw.numbers(11, 3), _target(draw, 11, 3)))
    yield Case("a single word", (draw.numbers(1, 5), draw.whole(1, 5, 1)), True, edge=True)
    yield Case("a vocabulary of one word", (draw.numbers(3, 1), torch.zeros(3).long()), edge=True)
    target = draw.whole(0, 5, 3)
    improbable = with_an_improbable_word(draw.numbers(3, 5), target)
    yield Case("a word with a probability of 1e-13", (improbable, target), edge=True)
    yield Case("200 words", (draw.numbers(200, 5), _target(draw, 200, 5)), True, edge=True)
    apart = draw.numbers(3, 5) + torch.tensor([[40.0], [-70.0], [0.0]])
    yield Case("words whose logits are far apart", (apart, _target(draw, 3, 5)), hazard=True)
    far = torch.stack([draw.distinct(5, -2, 3) * 5e3 for _ in range(3)])
    far[0] = torch.tensor([-1e4, 1e4, 5e3, 0.0, -5e3])
    yield Case("logits of ±10,000", (far, torch.tensor([0, 4, int(far[2].argmax())])), True, hazard=True)


def _taken(numbers, target):
    """The number of each row that its target points to: T."""
    return numbers.gather(-1, target[:, None]).squeeze(-1)


find_small_number(task)
