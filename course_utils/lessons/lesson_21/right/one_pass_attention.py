"""Right answers to 21.one_pass_attention in other styles than the solution's: logsumexp, a mean that moves, an extra column, loops, copies."""

import math

import torch

from course_utils.checks.running.contract import HandedOut


def by_logsumexp(next_block):
    """The context is kept divided, and mixed with that of a block by how much weight both have."""
    scores, values = next_block()
    weight, context = scores.logsumexp(0), scores.softmax(0) @ values
    while (block := next_block()) is not None:
        scores, values = block
        new = torch.logaddexp(weight, scores.logsumexp(0))
        context = (weight - new).exp() * context + (scores - new).exp() @ values
        weight = new
    return context


def with_a_column_of_ones(next_block):
    """The sum is the context of a value that is 1 everywhere."""
    largest, sums = torch.tensor(-torch.inf), 0.0
    for scores, values in iter(next_block, None):
        new = torch.stack([largest, scores.max()]).max()
        ones = torch.ones(len(scores), 1, dtype=values.dtype)
        sums = sums * torch.exp(largest - new) + torch.exp(scores - new) @ torch.hstack([values, ones])
        largest = new
    return sums[:-1] / sums[-1]


def by_the_share_of_a_block(next_block):
    context, log_sum = 0, -torch.inf * torch.ones(())
    block = next_block()
    while block:
        of_block = torch.logsumexp(block[0], 0)
        share = torch.sigmoid(of_block - log_sum)
        context = (1 - share) * context + share * (torch.softmax(block[0], 0) @ block[1])
        log_sum = torch.logaddexp(log_sum, of_block)
        block = next_block()
    return context


def all_of_them_copied(next_block):
    """It gives the same, and needs room for all blocks."""
    copies = [(scores.clone(), values.clone()) for scores, values in iter(next_block, None)]
    return torch.softmax(torch.cat([s for s, _ in copies]), 0) @ torch.cat([v for _, v in copies])


def score_by_score(next_block):
    m, l, o = -math.inf, 0.0, None
    while True:
        block = next_block()
        if block is None:
            break
        scores, values = block
        for i in range(len(scores)):
            s = float(scores[i])
            if o is None:
                o = torch.zeros(values.shape[1])
            if s > m:
                o = o * math.exp(m - s)
                l = l * math.exp(m - s)
                m = s
            o = o + math.exp(s - m) * values[i]
            l = l + math.exp(s - m)
    return o / l


OWN = [by_logsumexp]
RIGHT = [
    *OWN,
    with_a_column_of_ones,
    by_the_share_of_a_block,
    all_of_them_copied,
    # As beginners write them
    score_by_score,
]


def next_block(draw):
    blocks = []
    for _ in range(draw.randint(1, 5)):
        draw._sizes.pop("b", None)
        blocks.append((draw.numbers("b"), draw.numbers("b×D")))
    return HandedOut(tuple(blocks))


INPUTS = {"next_block": next_block}
