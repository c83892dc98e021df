"""Right answers to 16.memory_hop in other styles than the solution's: einsum, bmm, PyTorch's own attention, exponentials, loops."""

from math import log

import torch
import torch.nn.functional as F


def _clean(mask, *tensors):
    return [torch.where(mask[..., None], t, torch.zeros_like(t)) for t in tensors]


def by_einsum(question, memory, output, mask):
    memory, output = _clean(mask, memory, output)
    scores = torch.einsum("bd,bmd->bm", question, memory).masked_fill(~mask, -torch.inf)
    weights = torch.where(mask, scores.softmax(-1), 0.0)
    return question + torch.einsum("bm,bmd->bd", weights, output), weights


def by_bmm(question, memory, output, mask):
    memory, output = _clean(mask, memory, output)
    scores = torch.bmm(memory, question.unsqueeze(2)).squeeze(2)
    lowest = torch.finfo(scores.dtype).min
    weights = F.softmax(scores.masked_fill(~mask, lowest), dim=1) * mask
    return torch.baddbmm(question[:, None], weights[:, None], output).squeeze(1), weights


def by_broadcasting(question, memory, output, mask):
    memory, output = _clean(mask, memory, output)
    scores = (question.unsqueeze(1) * memory).sum(2)
    some = mask.any(1, keepdim=True)
    kept = mask | ~some  # nothing is hidden in a story without facts, and its weights are set to 0 afterwards
    weights = scores.masked_fill(~kept, -torch.inf).softmax(1) * some
    return (weights.unsqueeze(2) * output).sum(1) + question, weights


def by_exponentials(question, memory, output, mask):
    """The largest real score is subtracted first."""
    memory, output = _clean(mask, memory, output)
    scores = (memory @ question[:, :, None]).squeeze(-1)
    most = scores.detach().masked_fill(~mask, -torch.inf).amax(1, keepdim=True).nan_to_num(neginf=0.0)
    shares = torch.where(mask, scores - most, -torch.inf).exp()
    weights = shares / shares.sum(1, keepdim=True).clamp(min=1e-30)
    return question + torch.matmul(weights[:, None], output)[:, 0], weights


def by_log_softmax(question, memory, output, mask):
    memory, output = _clean(mask, memory, output)
    scores = torch.where(mask, (memory * question[:, None]).sum(-1), -1e30)
    weights = scores.log_softmax(-1).exp().masked_fill(~mask, 0)
    read = sum(w[:, None] * fact for w, fact in zip(weights.unbind(1), output.unbind(1), strict=True))
    return question + read, weights


def in_place_on_copies(question, memory, output, mask):
    memory, output = memory.clone(), output.clone()
    memory[~mask] = 0
    output[~mask] = 0
    scores = (memory @ question.unsqueeze(-1)).squeeze(-1)
    scores[~mask] = -torch.inf
    weights = scores.softmax(-1).masked_fill(~mask, 0.0)
    state = question.clone()
    state += (weights.unsqueeze(1) @ output).squeeze(1)
    return state, weights


def story_by_story(question, memory, output, mask):
    states, shares = [], []
    for b in range(len(question)):
        weights = torch.zeros(mask.shape[1], dtype=question.dtype)
        state = question[b]
        if mask[b].any():
            scores = []
            for m in range(mask.shape[1]):
                if mask[b, m]:
                    scores.append((question[b] * memory[b, m]).sum())
            real = torch.softmax(torch.stack(scores), dim=0)
            weights = weights.masked_scatter(mask[b], real)
            i = 0
            for m in range(mask.shape[1]):
                if mask[b, m]:
                    state = state + real[i] * output[b, m]
                    i += 1
        states.append(state)
        shares.append(weights)
    return torch.stack(states), torch.stack(shares)


def weights_alone_keep_padding_out(question, memory, output, mask):
    scores = torch.einsum("bd,bmd->bm", question, memory).masked_fill(~mask, -torch.inf)
    weights = scores.softmax(-1).masked_fill(~mask, 0)
    return question + torch.einsum("bm,bmd->bd", weights, output), weights


def by_scaled_dot_product_attention(question, memory, output, mask):
    nothing = ~mask.any(1, keepdim=True)  # B 1: before torch 2.5 a row without True is NaN
    (B, M), seen = mask.shape, (mask | nothing)[:, None]
    both = torch.cat([output, torch.eye(M).to(output).expand(B, M, M)], -1)  # the values that bring out the weights
    found = F.scaled_dot_product_attention(question[:, None], memory, both, seen, scale=1.0)[:, 0]
    read, weights = found.masked_fill(nothing, 0.0).split([output.shape[-1], M], -1)
    return question + read, weights


# PyTorch's own
OWN = [
    by_scaled_dot_product_attention,
]
RIGHT = [
    # As the lesson writes it: what stands where the mask is False is never NaN
    weights_alone_keep_padding_out,
    *OWN,
    by_einsum,
    by_bmm,
    by_broadcasting,
    by_exponentials,
    by_log_softmax,
    in_place_on_copies,
    # As beginners write them
    story_by_story,
]
WORKED = [(([[1, 1]], [[[log(3), 0], [0, 0]]], [[[4, -4], [0, 8]]], [[True, True]]), "4 0 0.75 0.25")]
