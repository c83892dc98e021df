"""What the tasks on hops share: the scores, and a hop in loops for their oracles. No task is declared here."""

import torch

from course_utils.lessons.lesson_06._looking import weights_by_loops, without_garbage


def dot(question, memory):
    """Return the scores of question B×D and memory B×M×D: B×M."""
    return (question[:, None] * memory).sum(-1)


def hop_by_loops(question, memory, output, mask):
    """Return (question + read, weights), one fact after another; what is at padding may be anything."""
    memory, output = without_garbage(memory, mask), without_garbage(output, mask)
    scores = [[q @ fact for fact in story] for q, story in zip(question, memory, strict=True)]
    weights = weights_by_loops(torch.stack([torch.stack(row) for row in scores]), mask)
    read = [
        sum(w * fact for w, fact in zip(shares, story, strict=True))
        for shares, story in zip(weights, output, strict=True)
    ]
    return question + torch.stack(read), weights
