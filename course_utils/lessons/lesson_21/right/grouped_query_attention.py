"""Right answers to 21.grouped_query_attention in other styles than the solution's: PyTorch's attention, with enable_gqa and repeat_interleave, einsum, loops."""

import torch
import torch.nn.functional as F


def by_repeat_interleave(query, key, value, mask):
    times = query.shape[1] // key.shape[1]
    key, value = (shared.repeat_interleave(times, dim=1) for shared in (key, value))
    return F.scaled_dot_product_attention(query, key, value, mask[:, None])


def by_enable_gqa(query, key, value, mask):
    return F.scaled_dot_product_attention(query, key, value, mask.unsqueeze(1), enable_gqa=True)


def by_expand(query, key, value, mask):
    """As in Llama's own code: an axis of copies, which take no memory until they are flattened."""
    B, H, T, d = query.shape
    _, G, S, _ = key.shape
    key, value = (shared[:, :, None].expand(B, G, H // G, S, d).reshape(B, H, S, d) for shared in (key, value))
    scores = torch.matmul(query, key.transpose(2, 3)) * d**-0.5
    return torch.matmul(torch.where(mask[:, None], scores, -torch.inf).softmax(-1), value)


def by_an_axis_of_groups(query, key, value, mask):
    grouped = query.unflatten(1, (key.shape[1], -1))  # B G H/G T d
    scores = grouped @ key[:, :, None].mT / query.shape[3] ** 0.5
    weights = scores.masked_fill(~mask[:, None, None], -torch.inf).softmax(-1)
    return (weights @ value[:, :, None]).flatten(1, 2)


def by_einsum(query, key, value, mask):
    grouped = query.unflatten(1, (key.shape[1], -1))
    scores = torch.einsum("bghtd,bgsd->bghts", grouped, key) / query.shape[-1] ** 0.5
    weights = scores.masked_fill(~mask[:, None, None], float("-inf")).softmax(-1)
    return torch.einsum("bghts,bgsd->bghtd", weights, value).flatten(1, 2)


def queries_of_a_group_side_by_side(query, key, value, mask):
    """The queries of a group's heads form one longer row of queries."""
    B, H, T, d = query.shape
    G = key.shape[1]
    rows = query.reshape(B, G, H // G * T, d)
    allowed = mask.repeat(1, H // G, 1)[:, None]
    return F.scaled_dot_product_attention(rows, key, value, allowed).reshape(B, H, T, d)


def head_by_head(query, key, value, mask):
    H, G = query.shape[1], key.shape[1]
    per_group = H // G
    contexts = []
    for h in range(H):
        g = h // per_group
        scores = query[:, h] @ key[:, g].transpose(1, 2) / query.shape[3] ** 0.5
        scores = scores.masked_fill(mask == 0, float("-inf"))
        contexts.append(torch.softmax(scores, dim=-1) @ value[:, g])
    return torch.stack(contexts, dim=1)


OWN = [by_repeat_interleave, by_enable_gqa]
RIGHT = [
    *OWN,
    by_expand,
    by_an_axis_of_groups,
    by_einsum,
    queries_of_a_group_side_by_side,
    # As beginners write them
    head_by_head,
]
WORKED = [
    (
        ([[[[1]]] * 4], [[[[0], [1.0986]]] * 2], [[[[4], [8]], [[10], [20]]]], [[[True, True]]]),
        "7 7 17.5 17.5",
    )
]
SIZES = {"H": lambda draw: draw.size("G") * draw.randint(1, 3), "G": lambda draw: draw.randint(1, 3)}
INPUTS = {"mask": lambda draw: draw.mask("B×T×S") | (torch.arange(draw.size("S")) == 0)}
