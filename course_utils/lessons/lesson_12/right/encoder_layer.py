"""Right answers to 12.encoder_layer in other styles than the solution's: attn_mask, by hand from the weights, sub-layers in a loop, in steps."""

import torch
import torch.nn.functional as F
from torch import nn


class Given(nn.Module):
    """As the exercise gives it."""

    def __init__(self, width, heads, hidden, norm_first):
        super().__init__()
        self.norm_first = norm_first
        self.self_attn = nn.MultiheadAttention(width, heads, batch_first=True)
        self.linear1 = nn.Linear(width, hidden)
        self.linear2 = nn.Linear(hidden, width)
        self.norm1 = nn.LayerNorm(width)
        self.norm2 = nn.LayerNorm(width)


class ByAttentionMask(Given):
    """A mask for pairs, one for each head, and functions that take a norm or none."""

    def forward(self, x, mask):
        B, S = mask.shape
        x = torch.where(mask[..., None], x, 0.0)
        hidden = (~mask)[:, None, None].expand(B, self.self_attn.num_heads, S, S).flatten(0, 1)
        none = nn.Identity()
        before, after = (
            ((self.norm1, self.norm2), (none, none)) if self.norm_first else ((none, none), (self.norm1, self.norm2))
        )
        y = before[0](x)
        x = after[0](x + self.self_attn(y, y, y, attn_mask=hidden)[0])
        return after[1](x + self.linear2(F.relu(self.linear1(before[1](x)))))


class ByHand(Given):
    """Attention from its weights, by scaled_dot_product_attention; padding is cleared after each sub-layer."""

    def attend(self, x, mask):
        q, k, v = F.linear(x, self.self_attn.in_proj_weight, self.self_attn.in_proj_bias).chunk(3, -1)
        q, k, v = (part.unflatten(-1, (self.self_attn.num_heads, -1)).transpose(1, 2) for part in (q, k, v))
        found = F.scaled_dot_product_attention(q, k, v, mask[:, None, None])
        return self.self_attn.out_proj(found.transpose(1, 2).flatten(2))

    def forward(self, x, mask):
        clear = lambda y: y.masked_fill(~mask.unsqueeze(-1), 0)  # noqa: E731
        functions = [
            (self.norm1, lambda y: self.attend(y, mask)),
            (self.norm2, lambda y: self.linear2(self.linear1(y).clamp(min=0))),
        ]
        x = clear(x)
        for norm, function in functions:
            x = clear(x + function(norm(x)) if self.norm_first else norm(x + function(x)))
        return x


class SentenceBySentence(Given):
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


class InSteps(Given):
    def forward(self, x, mask):
        x = x.clone()
        x[~mask] = 0
        padding = mask == False  # noqa: E712
        residual = x
        if self.norm_first:
            x = self.norm1(x)
        x, weights = self.self_attn(x, x, x, key_padding_mask=padding)
        x = x + residual
        if not self.norm_first:
            x = self.norm1(x)
        residual = x
        if self.norm_first:
            x = self.norm2(x)
        x = self.linear1(x)
        x = torch.relu(x)
        x = self.linear2(x)
        x = x + residual
        if not self.norm_first:
            x = self.norm2(x)
        return x


class TheLibrarys(nn.TransformerEncoderLayer):
    def __init__(self, width, heads, hidden, norm_first):
        super().__init__(width, heads, hidden, dropout=0.0, batch_first=True, norm_first=norm_first)

    def forward(self, x, mask):
        return super().forward(x, src_key_padding_mask=~mask)


# PyTorch's own
OWN = [
    TheLibrarys,
]
RIGHT = [
    *OWN,
    ByAttentionMask,
    ByHand,
    SentenceBySentence,
    # As beginners write them
    InSteps,
]

SIZES = {"D": lambda draw: draw.size("heads") * draw.randint(2, 4), "heads": lambda draw: draw.randint(1, 3)}


def inputs(draw):
    sizes = {"width": draw.size("D"), "heads": draw.size("heads")}
    sizes |= {"hidden": draw.randint(1, 5), "norm_first": draw.random() < 0.5}
    mask = draw.probabilities("B×S", zeros=0.4) > 0  # a place is left in each row
    return sizes, draw.weights(Given(**sizes)), draw.numbers("B×S×D"), mask
