"""Right answers to 16.answer in other styles than the solution's: by an index, a recursion, a fold, hops of their own, loops."""

from functools import reduce
from itertools import pairwise

import torch
import torch.nn.functional as F


def memory_hop(question, memory, output, mask):
    scores = (memory * question[:, None]).sum(-1).masked_fill(~mask, -torch.inf)
    weights = torch.where(mask, scores.softmax(-1), 0.0)
    return question + (weights[..., None] * output).sum(1), weights


def by_index(question, memories, mask, readout):
    for k in range(len(memories) - 1):
        question = memory_hop(question, memories[k], memories[k + 1], mask)[0]
    return F.linear(question, readout)


def by_recursion(question, memories, mask, readout):
    if len(memories) == 1:
        return torch.einsum("bd,vd->bv", question, readout)
    state, _ = memory_hop(question, memories[0], memories[1], mask)
    return by_recursion(state, memories[1:], mask, readout)


def by_a_fold(question, memories, mask, readout):
    state = reduce(lambda state, pair: memory_hop(state, *pair, mask)[0], pairwise(memories), question)
    return (readout @ state.mT).mT


def by_einsum_of_its_own(question, memories, mask, readout):
    for memory, output in pairwise(memories):
        scores = torch.einsum("bd,bmd->bm", question, memory).masked_fill(~mask, -torch.inf)
        weights = scores.softmax(-1).masked_fill(~mask, 0.0)
        question = question + torch.einsum("bm,bmd->bd", weights, output)
    return question @ readout.mT


def with_the_memories_stacked(question, memories, mask, readout):
    every = torch.stack(memories)  # K+1 B M D
    for k in range(len(every) - 1):
        question, _ = memory_hop(question, every[k], every[k + 1], mask)
    return torch.matmul(question, readout.transpose(0, 1))


def what_is_read_added_up(question, memories, mask, readout):
    """The logits are a sum: those of the question, and those of what each hop reads."""
    logits, state = question @ readout.T, question
    for memory, output in zip(memories[:-1], memories[1:], strict=True):
        following, _ = memory_hop(state, memory, output, mask)
        logits = logits + (following - state) @ readout.T
        state = following
    return logits


def story_by_story(question, memories, mask, readout):
    result = torch.zeros(len(question), len(readout), dtype=question.dtype)
    for b in range(len(question)):
        u = question[b]
        real = mask[b]
        if real.any():
            for k in range(len(memories) - 1):
                scores = memories[k][b][real] @ u
                p = torch.softmax(scores, dim=0)
                o = torch.zeros_like(u)
                for weight, fact in zip(p, memories[k + 1][b][real], strict=True):
                    o = o + weight * fact
                u = u + o
        for v in range(len(readout)):
            result[b, v] = (readout[v] * u).sum()
    return result


def by_scaled_dot_product_attention(question, memories, mask, readout):
    nothing = ~mask.any(1, keepdim=True)  # B 1: before torch 2.5 a row without True is NaN
    for memory, output in pairwise(memories):
        seen = (mask | nothing)[:, None]  # B 1 M
        read = F.scaled_dot_product_attention(question[:, None], memory, output, seen, scale=1.0)[:, 0]
        question = question + read.masked_fill(nothing, 0.0)
    return F.linear(question, readout)


# PyTorch's own
OWN = [
    by_scaled_dot_product_attention,
]
RIGHT = [
    *OWN,
    by_index,
    by_recursion,
    by_a_fold,
    by_einsum_of_its_own,
    with_the_memories_stacked,
    what_is_read_added_up,
    # As beginners write them
    story_by_story,
]
WORKED = [(([[1]], [[[[2]]], [[[3]]], [[[5]]]], [[True]], [[1], [-1]]), "9 -9")]
INPUTS = {"memories": lambda draw: [draw.numbers("B×M×D") for _ in range(draw.randint(2, 5))]}
