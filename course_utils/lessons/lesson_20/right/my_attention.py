"""Answers to 20.my_attention of each kind: other scores, other normalisers, other memories."""

import torch


def cosines(query, key, value, mask):
    query, key = (torch.nn.functional.normalize(x, dim=-1) for x in (query, key))
    weights = (5 * query @ key.mT).masked_fill(~mask, -torch.inf).softmax(-1).masked_fill(~mask, 0.0)
    return weights @ value, weights


def distances(query, key, value, mask):
    """Near keys get much: minus the squared distance, step by step for each query."""
    contexts = torch.zeros_like(value)
    for t in range(query.shape[2]):
        far = (query[:, :, t, None] - key).square().sum(-1)
        scores = (-far / 2).masked_fill(~mask[..., t, :], -torch.inf)
        contexts[:, :, t] = (scores.softmax(-1).nan_to_num()[..., None] * value).sum(2)
    return contexts, None


def squares(query, key, value, mask):
    scores = (query @ key.mT).square() * mask
    weights = scores / scores.sum(-1, keepdim=True).clamp(min=1e-9)
    return [weights @ value, weights]


def argmax_with_the_latest(query, key, value, mask):
    """All weight to the best key; of equal ones to the latest."""
    steps = query.shape[2]
    scores = (query @ key.mT).masked_fill(~mask, -torch.inf)
    best = steps - 1 - scores.flip(-1).argmax(-1)
    weights = torch.nn.functional.one_hot(best, steps).to(value.dtype) * mask
    return weights @ value, weights


def fading_sums(query, key, value, mask):
    """A memory that fades: a tenth goes at each step."""
    written = mask.expand(len(query), 1, -1, -1).any(-2)[..., None]
    memory, contexts = 0.0, []
    for t in range(query.shape[2]):
        new = key[:, :, t, :, None] * value[:, :, t, None]
        memory = 0.9 * memory + new.masked_fill(~written[:, :, t, :, None], 0.0)
        contexts.append((query[:, :, t, None] @ memory)[:, :, 0])
    return torch.stack(contexts, 2), None


NONE_OF_ITS_OWN = "It is to be another attention than PyTorch's own."
RIGHT = (cosines, distances, squares, argmax_with_the_latest, fading_sums)


def inputs(draw):
    """A task's own case: its sequences have to differ in one thing each."""
    from course_utils.lessons.lesson_20.my_attention import task  # not to be had where a class is graded

    return task.make_cases(draw.randint(0, 99))[0].args
