"""Correct answers to 22.classify in other styles than the solution's."""

import statistics

import numpy as np
import torch


def review_by_review(logits, unlabelled, positive, negative):
    def score(row):
        total = torch.logsumexp(row, 0)
        return float((row[positive] - total) - (row[negative] - total))

    usual = statistics.median(score(row) for row in unlabelled)
    return torch.tensor([score(row) > usual for row in logits])


def by_numpy(logits, unlabelled, positive, negative):
    """Differences of logits: the softmax's sum cancels."""
    difference = logits.numpy()[:, positive] - logits.numpy()[:, negative]
    usual = unlabelled.numpy()[:, positive] - unlabelled.numpy()[:, negative]
    return torch.from_numpy(difference > np.median(usual))


def by_log_odds(logits, unlabelled, positive, negative):
    """The two ids alone, as probabilities of one against the other: they rise with the score."""
    pair = [positive, negative]
    share, usual = (each[:, pair].double().softmax(-1)[:, 0] for each in (logits, unlabelled))
    return share > usual.sort().values[len(usual) // 2]


def by_quantile(logits, unlabelled, positive, negative):
    ratio = logits.softmax(1)[:, positive].log() - logits.softmax(1)[:, negative].log()
    usual = unlabelled.softmax(1)[:, positive].log() - unlabelled.softmax(1)[:, negative].log()
    return torch.sub(ratio, usual.quantile(0.5)).gt(0)


NONE_OF_ITS_OWN = "PyTorch has a median and a softmax; nothing in it compares two tokens."
CORRECT = [review_by_review, by_numpy, by_log_odds, by_quantile]


def inputs(draw):
    N, V, M = draw.size("N"), draw.randint(2, 8), 2 * draw.randint(0, 5) + 1
    logits, unlabelled = (3 * torch.randn(n, V, generator=draw.generator) for n in (N, M))
    positive, negative = draw.sample(range(V), 2)
    return logits, unlabelled, positive, negative
