"""Right answers to 06.bahdanau_step in other styles than the solution's: sentence by sentence, einsum, one matrix, the library."""

import torch
import torch.nn.functional as F

from course_utils.models.attention import masked_softmax


def sentence_by_sentence(state, annotations, mask, weight_s, weight_h, v):
    contexts, weights = [], []
    for s, sentence, real in zip(state, annotations, mask, strict=True):
        words = sentence[real]
        shares = torch.softmax(torch.tanh(weight_s @ s + words @ weight_h.T) @ v, 0)
        contexts.append(shares @ words)
        weights.append(torch.zeros(len(real), dtype=state.dtype).index_put((real.nonzero()[:, 0],), shares))
    return torch.stack(contexts), torch.stack(weights)


def by_einsum(state, annotations, mask, weight_s, weight_h, v):
    clean = torch.where(mask.unsqueeze(-1), annotations, torch.zeros_like(annotations))
    layer = torch.einsum("bh,ah->ba", state, weight_s).unsqueeze(1) + torch.einsum("bse,ae->bsa", clean, weight_h)
    weights = masked_softmax(torch.einsum("bsa,a->bs", layer.tanh(), v), mask)
    return torch.einsum("bs,bse->be", weights, clean), weights


def one_matrix_for_the_pair(state, annotations, mask, weight_s, weight_h, v):
    clean = annotations.clone()
    clean[~mask] = 0
    pairs = torch.cat([state[:, None].expand(-1, mask.shape[1], -1), clean], -1)
    scores = F.linear(torch.tanh(F.linear(pairs, torch.cat([weight_s, weight_h], 1))), v[None]).squeeze(-1)
    nothing = ~mask.any(1, keepdim=True)
    weights = torch.softmax(scores.masked_fill(~mask & ~nothing, float("-inf")), 1).masked_fill(nothing, 0)
    return torch.bmm(weights[:, None], clean)[:, 0], weights


def from_exponentials(state, annotations, mask, weight_s, weight_h, v):
    clean = torch.where(mask[..., None], annotations, 0.0)
    scores = (v * torch.tanh((weight_s @ state.T).T[:, None, :] + clean @ weight_h.T)).sum(-1)
    lowest = torch.finfo(scores.dtype).min
    largest = torch.where(mask, scores, lowest).amax(1, keepdim=True).detach()
    shares = torch.where(mask, scores - largest, 0.0).exp() * mask
    weights = shares / shares.sum(1, keepdim=True).clamp(min=1e-30)
    return (weights.unsqueeze(1) @ clean).squeeze(1), weights


def place_by_place(state, annotations, mask, weight_s, weight_h, v):
    B, S, E = annotations.shape
    context = torch.zeros(B, E)
    weights = torch.zeros(B, S)
    for b in range(B):
        places = [j for j in range(S) if mask[b, j]]
        if not places:
            continue
        scores = []
        for j in places:
            hidden = torch.tanh(torch.mv(weight_s, state[b]) + torch.mv(weight_h, annotations[b, j]))
            scores.append(torch.dot(v, hidden))
        alpha = torch.softmax(torch.stack(scores), dim=0)
        for k, j in enumerate(places):
            weights[b, j] = alpha[k]
            context[b] += alpha[k] * annotations[b, j]
    return context, weights


def weights_alone_keep_padding_out(state, annotations, mask, weight_s, weight_h, v):
    scores = torch.tanh((state @ weight_s.T)[:, None] + annotations @ weight_h.T) @ v
    weights = masked_softmax(scores, mask)
    return torch.einsum("bs,bse->be", weights, annotations), weights


def by_masked_softmax(state, annotations, mask, weight_s, weight_h, v):
    """PyTorch has no layer with this score: two linear ones, a masked softmax and a batched product make it."""
    layer = (F.linear(state, weight_s)[:, None] + F.linear(annotations, weight_h)).tanh()
    weights = torch.masked.softmax(F.linear(layer, v), -1, mask=mask).nan_to_num()
    return torch.bmm(weights[:, None], annotations)[:, 0], weights


# PyTorch's own
OWN = [
    by_masked_softmax,
]
RIGHT = [
    # As the lesson writes it: what stands where the mask is False is never NaN
    weights_alone_keep_padding_out,
    *OWN,
    sentence_by_sentence,
    by_einsum,
    one_matrix_for_the_pair,
    from_exponentials,
    # As beginners write them
    place_by_place,
]
WORKED = [
    (([[1]], [[[0], [2]]], [[True, True]], [[1]], [[-1]], [1.4425]), "0.2 0.9 0.1"),
    (([[1]], [[[0], [2]]], [[False, True]], [[1]], [[-1]], [1.4425]), "2 0 1"),
]
