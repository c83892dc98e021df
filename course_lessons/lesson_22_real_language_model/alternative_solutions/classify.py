"""Correct answers to 22.classify in other styles than the solution's."""

import statistics

import torch


def review_by_review(logits, unlabelled, positive, negative):
    def score(row):
        total = torch.logsumexp(row, 0)
        return float((row[positive] - total) - (row[negative] - total))

    usual = statistics.median(score(row) for row in unlabelled)
    return torch.tensor([score(row) > usual for row in logits])


def by_log_odds(logits, unlabelled, positive, negative):
    """The two ids alone, as probabilities of one against the other: they rise with the score."""
    pair = [positive, negative]
    share, usual = (each[:, pair].double().softmax(-1)[:, 0] for each in (logits, unlabelled))
    return share > usual.sort().values[len(usual) // 2]


NONE_OF_ITS_OWN = "PyTorch has a median and a softmax; nothing in it compares two tokens."
CORRECT = [review_by_review, by_log_odds]


def inputs(draw):
    N, V, M = draw.size("N"), draw.randint(2, 8), 2 * draw.randint(0, 5) + 1
    logits, unlabelled = (3 * torch.randn(n, V, generator=draw.generator) for n in (N, M))
    positive, negative = draw.sample(range(V), 2)
    return logits, unlabelled, positive, negative
