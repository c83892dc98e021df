"""Task 09.restricted_self_attention: each position looks at its neighbourhood, and hubs see all and are seen by all."""

import torch

from course_lessons.shared.partial_credit import USUAL
from course_lessons.shared.weight_properties import outside_the_values
from course_utils.base.words import count
from course_utils.checks.task import Case, Task, sizes

task = Task(
    __name__,
    "restricted self-attention with hubs",
    arguments=("query B×T×D", "key B×T×D", "value B×T×E", "radius", "hub B×T"),
    result="context B×T×E",
    difficulty=3,
    importance=3,
    minutes=20,
    partial=USUAL,
)


def _distance(T):
    position = torch.arange(T)
    return (position[:, None] - position).abs()


@task.property
def contexts_lie_between_the_values_in_reach(case, value):
    """A weighted sum whose weights are not negative and sum to 1 lies between the smallest and the largest value."""
    values, radius, hub = case.args[2:]
    seen = (_distance(values.shape[1]) <= radius) | hub[:, :, None] | hub[:, None, :]
    outside = outside_the_values(value, values, seen).any(2).any(0).nonzero()[:, 0].tolist()
    if outside:
        return f"A context should lie between the smallest and the largest of the values that its position sees; one of yours at position {outside[0]} lies outside. Are the weights of each position at least 0, do they sum to 1, and are they 0 for what is neither at most {radius} away nor connected by a hub?"
    return None


def _inputs(draw, B, T, D, E, radius, hubs=0):
    hub = torch.zeros(B, T, dtype=torch.bool)
    for sentence in hub:
        sentence[draw.distinct(hubs, 0, T)] = True
    return (*(draw.numbers(*shape) for shape in ((B, T, D), (B, T, D), (B, T, E))), radius, hub)


@task.cases
def _(draw):
    for size in sizes(B=2, T=7, D=3, E=5):
        T, radius = (size.T, 2) if size.full else (size.T + 3, 1)
        name = f"{count(size.B, 'sentence')} of {T} words, widths D={size.D}, E={size.E}, radius {radius}"
        yield Case(f"{name}, no hubs", _inputs(draw, size.B, T, size.D, size.E, radius), size.full)
        yield Case(f"{name}, a hub", _inputs(draw, size.B, T, size.D, size.E, radius, 1), size.full)
    yield Case("11 words, radius 3", _inputs(draw, 2, 11, 3, 2, 3))
    yield Case("17 words, radius 5, 2 hubs", _inputs(draw, 2, 17, 2, 3, 5, 2))
    yield Case("as many words as features", _inputs(draw, 2, 5, 5, 5, 1))
    yield Case("as many sentences as words", _inputs(draw, 5, 5, 3, 2, 1, 1))
    yield Case("radius 0", _inputs(draw, 2, 5, 3, 7, 0, 1), True, edge=True)
    yield Case("the radius reaches the far end", _inputs(draw, 2, 5, 3, 7, 4), edge=True)
    yield Case("the radius is larger than the sentence", _inputs(draw, 2, 3, 5, 7, 11), True, edge=True)
    yield Case("a single word, widths of 1", _inputs(draw, 1, 1, 1, 1, 1), True, edge=True)
    yield Case("all words are hubs", _inputs(draw, 2, 7, 3, 5, 1, 7), edge=True)
    yield Case("200 words, radius 7, 3 hubs", _inputs(draw, 1, 200, 3, 5, 7, 3), edge=True)
    # Positions 0 and 1 are in each other's reach, and position 2, which is not in that of 0, has a far larger score.
    key, none = torch.tensor([[[-100.0], [-100.5], [100.0], [-99.0]]]), torch.zeros(1, 4, dtype=torch.bool)
    far = (100 * torch.ones(1, 4, 1), key, draw.numbers(1, 4, 2) + 0.25, 1, none)
    yield Case("very large scores, near ±10,000", far, hazard=True)


def softmax_with_zeros(scores, radius):
    """Take the place of the softmax: beyond both ends of the sentence there are keys of zeros, with a score of 0."""
    T = scores.shape[1]
    at = torch.arange(T)
    beyond = (radius - at).clamp(min=0) + (at + radius - (T - 1)).clamp(min=0)  # T: how many zeros each position sees
    zeros = beyond.log()[:, None].expand(len(scores), T, 1)  # that many scores of 0 are one of log(beyond)
    return torch.cat([scores, zeros], -1).softmax(-1)[..., :-1]
