"""Correct answers to 21.gpt in other styles than the solution's."""

import torch
import torch.nn.functional as F
from torch import nn


class Given(nn.Module):
    """As the exercise gives it."""

    def __init__(self, vocabulary, width, heads, hidden, layers, longest):
        super().__init__()
        self.embedding = nn.Embedding(vocabulary, width)
        self.positions = nn.Embedding(longest, width)
        self.blocks = nn.ModuleList(
            nn.ModuleDict(
                {
                    "norm1": nn.LayerNorm(width),
                    "attention": nn.MultiheadAttention(width, heads, batch_first=True),
                    "norm2": nn.LayerNorm(width),
                    "network": nn.Sequential(nn.Linear(width, hidden), nn.GELU(), nn.Linear(hidden, width)),
                }
            )
            for _ in range(layers)
        )
        self.norm = nn.LayerNorm(width)


class ByPyTorchsMask(Given):
    def forward(self, ids):
        T = ids.shape[-1]
        mask = nn.Transformer.generate_square_subsequent_mask(T, dtype=self.norm.weight.dtype)
        x = self.embedding(ids) + self.positions(torch.arange(T))
        for block in self.blocks:
            y = block["norm1"](x)
            x = x + block["attention"](y, y, y, attn_mask=mask, is_causal=True)[0]
            x = x + block["network"](block["norm2"](x))
        return F.linear(self.norm(x), self.embedding.weight)


class ByHand(Given):
    """Attention from its weights, by scaled_dot_product_attention."""

    def look(self, attention, y):
        q, k, v = F.linear(y, attention.in_proj_weight, attention.in_proj_bias).chunk(3, -1)
        q, k, v = (part.unflatten(-1, (attention.num_heads, -1)).transpose(1, 2) for part in (q, k, v))
        found = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        return attention.out_proj(found.transpose(1, 2).flatten(2))

    def forward(self, ids):
        x = F.embedding(ids, self.embedding.weight)
        x = x + self.positions.weight.narrow(0, 0, ids.shape[1])
        for norm1, attention, norm2, network in (block.values() for block in self.blocks):
            x = x + self.look(attention, norm1(x))
            x = x + network(norm2(x))
        return torch.einsum("btd,vd->btv", self.norm(x), self.embedding.weight)


class PositionByPosition(Given):
    """No mask: each position looks at what the blocks have read at those before it, as with a cache."""

    def forward(self, ids):
        read, found = [[] for _ in self.blocks], []
        for t in range(ids.shape[1]):
            x = self.embedding(ids[:, t : t + 1]) + self.positions.weight[t]
            for block, so_far in zip(self.blocks, read, strict=True):
                so_far.append(block["norm1"](x))
                keys = torch.cat(so_far, 1)
                x = x + block["attention"](so_far[-1], keys, keys)[0]
                x = x + block["network"](block["norm2"](x))
            found.append(self.norm(x))
        return torch.cat(found, 1) @ self.embedding.weight.T


OWN = [
    ByPyTorchsMask,
]
CORRECT = [
    *OWN,
    ByHand,
    PositionByPosition,
]


def inputs(draw):
    heads = draw.randint(1, 3)
    sizes = {
        "vocabulary": draw.size("V"),
        "width": heads * draw.randint(2, 4),
        "heads": heads,
        "hidden": draw.randint(1, 5),
    }
    sizes |= {"layers": draw.randint(1, 3), "longest": draw.size("T") + draw.randint(0, 2)}
    return sizes, draw.weights(Given(**sizes)), draw.whole("B×T", 0, draw.size("V"))
