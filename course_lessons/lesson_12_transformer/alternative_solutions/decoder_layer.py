"""Correct answers to 12.decoder_layer in other styles than the solution's."""

import torch
from torch import nn


class TheLibrarys(nn.TransformerDecoderLayer):
    def __init__(self, width, heads, hidden, norm_first):
        super().__init__(width, heads, hidden, dropout=0.0, batch_first=True, norm_first=norm_first)

    def forward(self, x, memory, memory_mask):
        later = torch.ones(x.shape[1], x.shape[1], dtype=torch.bool).triu(1)
        return super().forward(x, memory, tgt_mask=later, memory_key_padding_mask=~memory_mask)


class WordByWord(TheLibrarys):
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


OWN = [TheLibrarys]
CORRECT = [*OWN, WordByWord]

SIZES = {"D": lambda draw: draw.size("heads") * draw.randint(2, 4), "heads": lambda draw: draw.randint(1, 3)}


def inputs(draw):
    sizes = {"width": draw.size("D"), "heads": draw.size("heads")}
    sizes |= {"hidden": draw.randint(1, 5), "norm_first": draw.random() < 0.5}
    mask = draw.probabilities("B×S", zeros=0.4) > 0  # a place is left in each row
    return sizes, draw.weights(TheLibrarys(**sizes)), draw.numbers("B×T×D"), draw.numbers("B×S×D"), mask
