"""Right answers to 10.multi_head_attention in other styles than the solution's: PyTorch's layer, its function, einsum, head by head, word by word."""

import torch
from torch import nn
from torch.nn import functional as F


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


def by_scaled_dot_product_attention(query, key, value, in_weight, in_bias, out_weight, out_bias, heads, mask=None):
    query, key, value, mask = _cleaned(query, key, value, mask)
    nothing = ~mask.any(2)[:, None, :, None]
    q, k, v = (
        F.linear(x, w, b).unflatten(2, (heads, -1)).transpose(1, 2)
        for x, w, b in zip((query, key, value), in_weight.chunk(3), in_bias.chunk(3), strict=True)
    )
    context = F.scaled_dot_product_attention(q, k, v, mask[:, None] | nothing).masked_fill(nothing, 0.0)
    return F.linear(context.transpose(1, 2).flatten(2), out_weight, out_bias)


def by_einsum(query, key, value, in_weight, in_bias, out_weight, out_bias, heads, mask=None):
    query, key, value, mask = _cleaned(query, key, value, mask)
    D = query.shape[-1]
    weights, biases = in_weight.view(3, heads, D // heads, D), in_bias.view(3, 1, heads, 1, D // heads)
    q, k, v = (torch.einsum("btD,hdD->bhtd", x, weights[i]) + biases[i] for i, x in enumerate((query, key, value)))
    scores = torch.einsum("bhtd,bhsd->bhts", q, k) * (D / heads) ** -0.5
    scores = torch.where(mask.unsqueeze(1), scores, -torch.inf)
    shares = torch.where(mask.unsqueeze(1), torch.softmax(scores, dim=3), 0.0)
    return torch.einsum("bhts,bhsd,Ehd->btE", shares, v, out_weight.view(D, heads, -1)) + out_bias


def sum_over_heads(query, key, value, in_weight, in_bias, out_weight, out_bias, heads, mask=None):
    """Each head has its rows of the weights and its columns of out_weight; what they give is added up."""
    query, key, value, mask = _cleaned(query, key, value, mask)
    D = query.shape[2]
    d = D // heads
    output = out_bias.expand(query.shape)
    for h in range(heads):
        rows = [slice(i * D + h * d, i * D + (h + 1) * d) for i in range(3)]
        q, k, v = (x @ in_weight[r].T + in_bias[r] for x, r in zip((query, key, value), rows, strict=True))
        scores = (q @ k.transpose(1, 2) / d**0.5).masked_fill(~mask, float("-inf"))
        weights = torch.nan_to_num(scores.softmax(2).masked_fill(~mask, 0.0))
        output = output + weights @ v @ out_weight[:, h * d : (h + 1) * d].T
    return output


def heads_in_the_batch(query, key, value, in_weight, in_bias, out_weight, out_bias, heads, mask=None):
    query, key, value, mask = _cleaned(query, key, value, mask)
    B, T, D = query.shape
    q = query @ in_weight[:D].T + in_bias[:D]
    k = key @ in_weight[D : 2 * D].T + in_bias[D : 2 * D]
    v = value @ in_weight[2 * D :].T + in_bias[2 * D :]
    q, k, v = (torch.cat(x.chunk(heads, 2), 0) for x in (q, k, v))  # H·B, all sentences of head 1 first
    scores = torch.bmm(q, k.mT) / (D // heads) ** 0.5
    allowed = mask.repeat(heads, 1, 1)
    most = scores.masked_fill(~allowed, torch.finfo(scores.dtype).min).amax(-1, keepdim=True).detach()
    e = torch.where(allowed, scores - most, 0).exp() * allowed
    context = torch.bmm(e / e.sum(-1, keepdim=True).clamp(min=1e-30), v)
    return torch.addmm(out_bias, torch.cat(context.chunk(heads, 0), 2).reshape(B * T, D), out_weight.T).view(B, T, D)


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
    by_scaled_dot_product_attention,
]
RIGHT = [
    *OWN,
    by_einsum,
    sum_over_heads,
    heads_in_the_batch,
    # As beginners write them
    word_by_word,
]
