"""Right answers to 12.decoder_layer in other styles than the solution's: by hand from the weights, masks of numbers, word by word, in steps."""

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


class WithMasksOfNumbers(Given):
    """Masks of 0 and -inf, which are added to the scores."""

    def forward(self, x, memory, memory_mask):
        T = x.shape[1]
        future = torch.full((T, T), -torch.inf, dtype=x.dtype).triu(1)
        hidden = torch.zeros(memory_mask.shape, dtype=x.dtype).masked_fill(~memory_mask, -torch.inf)
        memory = memory.masked_fill(~memory_mask[..., None], 0)

        def around(x, norm, function):
            return norm(x + function(x)) if not self.norm_first else function(norm(x)) + x

        x = around(x, self.norm1, lambda y: self.self_attn(y, y, y, attn_mask=future)[0])
        x = around(x, self.norm2, lambda y: self.multihead_attn(y, memory, memory, key_padding_mask=hidden)[0])
        return around(x, self.norm3, lambda y: self.linear2(self.linear1(y).relu()))


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


class InSteps(Given):
    def forward(self, x, memory, memory_mask):
        T = x.size(1)
        causal = torch.zeros(T, T, dtype=torch.bool)
        for i in range(T):
            for j in range(i + 1, T):
                causal[i, j] = True
        memory = memory.clone()
        memory[~memory_mask] = 0.0
        if self.norm_first:
            y = self.norm1(x)
            y, _ = self.self_attn(y, y, y, attn_mask=causal)
            x = x + y
            y = self.norm2(x)
            y, _ = self.multihead_attn(y, memory, memory, key_padding_mask=~memory_mask)
            x = x + y
            y = self.norm3(x)
            y = self.linear2(torch.relu(self.linear1(y)))
            x = x + y
        else:
            y, _ = self.self_attn(x, x, x, attn_mask=causal)
            x = self.norm1(x + y)
            y, _ = self.multihead_attn(x, memory, memory, key_padding_mask=~memory_mask)
            x = self.norm2(x + y)
            y = self.linear2(torch.relu(self.linear1(x)))
            x = self.norm3(x + y)
        return x


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
RIGHT = [
    *OWN,
    ByHand,
    WithMasksOfNumbers,
    WordByWord,
    # As beginners write them
    InSteps,
]

SIZES = {"D": lambda draw: draw.size("heads") * draw.randint(2, 4), "heads": lambda draw: draw.randint(1, 3)}


def inputs(draw):
    sizes = {"width": draw.size("D"), "heads": draw.size("heads")}
    sizes |= {"hidden": draw.randint(1, 5), "norm_first": draw.random() < 0.5}
    mask = draw.probabilities("B×S", zeros=0.4) > 0  # a place is left in each row
    return sizes, draw.weights(Given(**sizes)), draw.numbers("B×T×D"), draw.numbers("B×S×D"), mask
