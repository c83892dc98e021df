"""Correct answers to 12.encoder_layer in other styles than the solution's."""

import torch
from torch import nn


class TheLibrarys(nn.TransformerEncoderLayer):
    def __init__(self, width, heads, hidden, norm_first):
        super().__init__(width, heads, hidden, dropout=0.0, batch_first=True, norm_first=norm_first)

    def forward(self, x, mask):
        return super().forward(x, src_key_padding_mask=~mask)


class SentenceBySentence(TheLibrarys):
    """Only the words of each sentence are looked at; padding stays 0."""

    def forward(self, x, mask):
        result = torch.zeros_like(x)
        for b in range(len(x)):
            result[b, mask[b]] = self.words(x[b, mask[b]])
        return result

    def words(self, x):
        if self.norm_first:
            y = self.norm1(x)
            x = x + self.self_attn(y, y, y, need_weights=False)[0]
            return x + self.linear2(self.linear1(self.norm2(x)).relu())
        x = self.norm1(x + self.self_attn(x, x, x)[0])
        return self.norm2(x + self.linear2(self.linear1(x).relu()))


OWN = [TheLibrarys]
CORRECT = [*OWN, SentenceBySentence]

SIZES = {"D": lambda draw: draw.size("heads") * draw.randint(2, 4), "heads": lambda draw: draw.randint(1, 3)}


def inputs(draw):
    sizes = {"width": draw.size("D"), "heads": draw.size("heads")}
    sizes |= {"hidden": draw.randint(1, 5), "norm_first": draw.random() < 0.5}
    mask = draw.probabilities("B×S", zeros=0.4) > 0  # a place is left in each row
    return sizes, draw.weights(TheLibrarys(**sizes)), draw.numbers("B×S×D"), mask
