"""Correct answers to 10.multi_head_attention in other styles than the solution's."""

import torch
from torch import nn


def _cleaned(query, key, value, mask):
    """Zeros where nothing attends, and a mask in any case."""
    B, T, _ = query.shape
    if mask is None:
        return query, key, value, torch.ones(B, T, key.shape[1], dtype=torch.bool)
    asked = mask.any(dim=1).unsqueeze(2)
    zero = torch.zeros((), dtype=query.dtype)
    query = torch.where(mask.any(dim=2).unsqueeze(2), query, zero)
    return query, torch.where(asked, key, zero), torch.where(asked, value, zero), mask


def by_the_layer(query, key, value, in_weight, in_bias, out_weight, out_bias, heads, mask=None):
    query, key, value, mask = _cleaned(query, key, value, mask)
    nothing = ~mask.any(2, keepdim=True)
    layer = nn.MultiheadAttention(query.shape[2], heads, batch_first=True, dtype=query.dtype)
    given = {"in_proj_weight": in_weight, "in_proj_bias": in_bias, "out_proj.weight": out_weight}
    given["out_proj.bias"] = out_bias
    hidden = (~mask & ~nothing).repeat_interleave(heads, dim=0)
    output, _ = torch.func.functional_call(layer, given, (query, key, value), {"attn_mask": hidden})
    return torch.where(nothing, out_bias, output)


def word_by_word(query, key, value, in_weight, in_bias, out_weight, out_bias, heads, mask=None):
    B, T, D = query.shape
    S = key.shape[1]
    d = D // heads
    wq, wk, wv = in_weight[0:D], in_weight[D : 2 * D], in_weight[2 * D : 3 * D]
    bq, bk, bv = in_bias[0:D], in_bias[D : 2 * D], in_bias[2 * D : 3 * D]
    rows = []
    for b in range(B):
        for t in range(T):
            places = [s for s in range(S) if mask is None or mask[b, t, s]]
            context = torch.zeros(D, dtype=query.dtype)
            if len(places) > 0:
                q = wq @ query[b, t] + bq
                keys = key[b, places] @ wk.T + bk
                values = value[b, places] @ wv.T + bv
                parts = []
                for h in range(heads):
                    here = slice(h * d, (h + 1) * d)
                    weights = torch.softmax(keys[:, here] @ q[here] / d**0.5, dim=0)
                    parts.append(weights @ values[:, here])
                context = torch.cat(parts)
            rows.append(out_weight @ context + out_bias)
    return torch.stack(rows).reshape(B, T, D)


def by_the_layer_alone(query, key, value, in_weight, in_bias, out_weight, out_bias, heads, mask=None):
    """NaN where a word may attend to nothing."""
    layer = nn.MultiheadAttention(query.shape[2], heads, batch_first=True, dtype=query.dtype)
    given = {"in_proj_weight": in_weight, "in_proj_bias": in_bias}
    given |= {"out_proj.weight": out_weight, "out_proj.bias": out_bias}
    hidden = None if mask is None else (~mask).repeat_interleave(heads, 0)
    return torch.func.functional_call(layer, given, (query, key, value), {"attn_mask": hidden})[0]


# PyTorch's own
OWN = [
    # As the lesson writes it: what stands where the mask is False is never NaN
    by_the_layer_alone,
    by_the_layer,
]
CORRECT = [
    *OWN,
    # As beginners write them
    word_by_word,
]
