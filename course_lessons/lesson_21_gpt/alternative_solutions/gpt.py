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
        self.blocks = nn.ModuleList(self.block(width, heads, hidden) for _ in range(layers))
        self.norm = nn.LayerNorm(width)

    def block(self, width, heads, hidden):
        attention = nn.MultiheadAttention(width, heads, batch_first=True)
        network = nn.Sequential(nn.Linear(width, hidden), nn.GELU(), nn.Linear(hidden, width))
        parts = {"norm1": nn.LayerNorm(width), "attention": attention}
        return nn.ModuleDict(parts | {"norm2": nn.LayerNorm(width), "network": network})


class ByPyTorchsMask(Given):
    def forward(self, ids):
        return F.linear(self.states(ids), self.embedding.weight)

    def states(self, ids):
        T = ids.shape[-1]
        mask = nn.Transformer.generate_square_subsequent_mask(T, dtype=self.norm.weight.dtype)
        x = self.embedding(ids) + self.positions(torch.arange(T))
        for block in self.blocks:
            y = block["norm1"](x)
            x = x + block["attention"](y, y, y, attn_mask=mask, is_causal=True)[0]
            x = x + block["network"](block["norm2"](x))
        return self.norm(x)


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


class TiedInForward(ByPyTorchsMask):
    """The readout is a layer that gets the table of embeddings as its weight, at each call."""

    def forward(self, ids):
        x = self.states(ids)
        readout = nn.Linear(x.shape[-1], self.embedding.num_embeddings, bias=False)
        readout.weight = self.embedding.weight
        return readout(x)


OWN = [ByPyTorchsMask]
CORRECT = [*OWN, PositionByPosition, TiedInForward]


def inputs(draw):
    heads = draw.randint(1, 3)
    sizes = {"vocabulary": draw.size("V"), "width": heads * draw.randint(2, 4), "heads": heads}
    sizes |= {"hidden": draw.randint(1, 5), "layers": draw.randint(1, 3)}
    sizes |= {"longest": draw.size("T") + draw.randint(0, 2)}
    return sizes, draw.weights(Given(**sizes)), draw.whole("B×T", 0, draw.size("V"))
