"""Correct answers to 12.decoder_layer in other styles than the solution's."""

import torch
import torch.nn.functional as F
from torch import nn


class Given(nn.Module):
    """As the exercise gives it."""

    def __init__(self, width, heads, hidden, norm_first):
        super().__init__()
        self.norm_first = norm_first
        self.self_attn = nn.MultiheadAttention(width, heads, batch_first=True)
        self.multihead_attn = nn.MultiheadAttention(width, heads, batch_first=True)
        self.linear1 = nn.Linear(width, hidden)
        self.linear2 = nn.Linear(hidden, width)
        self.norm1 = nn.LayerNorm(width)
        self.norm2 = nn.LayerNorm(width)
        self.norm3 = nn.LayerNorm(width)


class ByHand(Given):
    """Both attentions by scaled_dot_product_attention, the three sub-layers in a loop."""

    def attend(self, part, asking, asked, **how):
        w, b, D = part.in_proj_weight, part.in_proj_bias, asking.shape[-1]
        q = F.linear(asking, w[:D], b[:D])
        k, v = F.linear(asked, w[D:], b[D:]).chunk(2, -1)
        q, k, v = (x.unflatten(-1, (part.num_heads, -1)).transpose(1, 2) for x in (q, k, v))
        return part.out_proj(F.scaled_dot_product_attention(q, k, v, **how).transpose(1, 2).flatten(2))

    def forward(self, x, memory, memory_mask):
        memory = torch.where(memory_mask.unsqueeze(2), memory, torch.zeros_like(memory))
        functions = (
            lambda y: self.attend(self.self_attn, y, y, is_causal=True),
            lambda y: self.attend(self.multihead_attn, y, memory, attn_mask=memory_mask[:, None, None]),
            lambda y: self.linear2(F.relu(self.linear1(y))),
        )
        for function, norm in zip(functions, (self.norm1, self.norm2, self.norm3), strict=True):
            x = x + function(norm(x)) if self.norm_first else norm(x + function(x))
        return x


class WordByWord(Given):
    """Each word is decoded from what is before it, and each sentence by itself, without masks."""

    def forward(self, x, memory, memory_mask):
        return torch.stack([self.sentence(x[b], memory[b, memory_mask[b]]) for b in range(len(x))])

    def sentence(self, x, memory):
        rows = []
        for t in range(len(x)):
            word, seen = x[t : t + 1], x[: t + 1]
            if self.norm_first:
                word = word + self.self_attn(self.norm1(word), self.norm1(seen), self.norm1(seen))[0]
                word = word + self.multihead_attn(self.norm2(word), memory, memory)[0]
                word = word + self.linear2(torch.relu(self.linear1(self.norm3(word))))
            else:
                word = self.norm1(word + self.self_attn(word, seen, seen)[0])
                word = self.norm2(word + self.multihead_attn(word, memory, memory)[0])
                word = self.norm3(word + self.linear2(torch.relu(self.linear1(word))))
            rows.append(word)
        return torch.cat(rows)


class TheLibrarys(nn.TransformerDecoderLayer):
    def __init__(self, width, heads, hidden, norm_first):
        super().__init__(width, heads, hidden, dropout=0.0, batch_first=True, norm_first=norm_first)

    def forward(self, x, memory, memory_mask):
        later = torch.ones(x.shape[1], x.shape[1], dtype=torch.bool).triu(1)
        return super().forward(x, memory, tgt_mask=later, memory_key_padding_mask=~memory_mask)


# PyTorch's own
OWN = [
    TheLibrarys,
]
CORRECT = [
    *OWN,
    ByHand,
    WordByWord,
]

SIZES = {"D": lambda draw: draw.size("heads") * draw.randint(2, 4), "heads": lambda draw: draw.randint(1, 3)}


def inputs(draw):
    sizes = {"width": draw.size("D"), "heads": draw.size("heads")}
    sizes |= {"hidden": draw.randint(1, 5), "norm_first": draw.random() < 0.5}
    mask = draw.probabilities("B×S", zeros=0.4) > 0  # a place is left in each row
    return sizes, draw.weights(Given(**sizes)), draw.numbers("B×T×D"), draw.numbers("B×S×D"), mask
