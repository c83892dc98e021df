"""A decoder-only Transformer, like GPT-2 and Llama: each character or word attends to those before it, and the next one is predicted.

Here: the model of 2017, with four later changes to choose from (RMSNorm, rotary positions, SwiGLU, grouped queries), its cache, a
recurrent network for the same task, and their training in seconds. Not here: encoders and attention to a source
(`transformer.py`).

Shape letters: B texts, T positions that are read, S positions that are seen (those in the cache and those read), H heads, G groups of
heads that share a key and a value, D model width, d = D / H head width, F feed-forward width, V vocabulary, N layers.
A mask is True where a query may attend.
"""

import math

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from course_utils.base.errors import CourseError
from course_utils.models.minimal import sinusoidal_positions, turn
from course_utils.models.train_model import train_model
from course_utils.models.validation import check_tokens

NORMS, POSITIONS = ("layer", "rms"), ("sinusoidal", "rotary")


class RMSNorm(nn.Module):
    """g · x / √(mean of x² + ε) (Zhang & Sennrich 2019, equation 4)."""

    def __init__(self, D: int, eps: float = 1e-5):
        super().__init__()
        self.weight, self.eps = nn.Parameter(torch.ones(D)), eps

    def forward(self, x: Tensor) -> Tensor:
        """…×D → …×D."""
        mean_square = x.square().mean(-1, keepdim=True)  # … 1
        return self.weight * x * (mean_square + self.eps).rsqrt()  # … D


class Cache:
    """The keys and values of what a model has read so far, for each layer B×G×S×d, so that they are computed once."""

    def __init__(self, layers: int):
        self.keys, self.values = [None] * layers, [None] * layers

    def __len__(self) -> int:
        """The number of positions read, the same in every layer."""
        return 0 if self.keys[-1] is None else self.keys[-1].shape[2]

    def append(self, layer: int, key: Tensor, value: Tensor) -> tuple[Tensor, Tensor]:
        """Add a layer's keys and values B×G×T×d, and return those of all positions B×G×S×d."""
        for cached, new in ((self.keys, key), (self.values, value)):
            cached[layer] = new if cached[layer] is None else torch.cat([cached[layer], new], 2)  # B G S d
        return self.keys[layer], self.values[layer]

    def bytes(self) -> int:
        """The memory that keys and values take."""
        return sum(each.numel() * each.element_size() for each in (*self.keys, *self.values) if each is not None)


class MultiHeadAttention(nn.Module):
    """Causal attention in H heads, of which H/G share a key and a value (Ainslie et al. 2023); by default G = H, as in 2017."""

    def __init__(self, D: int, H: int, G: int | None = None):
        super().__init__()
        G = G or H
        if D % H or H % G:
            raise CourseError(f"the width {D} must be a multiple of the heads {H}, and these of the groups {G}")
        self.H, self.G, d = H, G, D // H
        self.W_Q, self.W_K = nn.Linear(D, D), nn.Linear(D, G * d)
        self.W_V, self.W_O = nn.Linear(D, G * d), nn.Linear(D, D)

    def forward(self, x: Tensor, mask: Tensor, angles=None, cache: Cache | None = None, layer: int = 0) -> Tensor:
        """Let x B×T×D attend to itself and to the cache, under a mask T×S; `angles` are the sines and cosines to rotate by."""
        query = self.W_Q(x).unflatten(-1, (self.H, -1)).transpose(1, 2)  # B H T d
        key, value = (W(x).unflatten(-1, (self.G, -1)).transpose(1, 2) for W in (self.W_K, self.W_V))  # B G T d
        if angles is not None:
            query, key = turn(query, *angles), turn(key, *angles)
        if cache is not None:
            key, value = cache.append(layer, key, value)  # B G S d
        key, value = (part.repeat_interleave(self.H // self.G, 1) for part in (key, value))  # B H S d
        context = F.scaled_dot_product_attention(query, key, value, attn_mask=mask)  # B H T d
        return self.W_O(context.transpose(1, 2).flatten(2))  # B T D


class FeedForward(nn.Module):
    """max(0, x W₁ + b₁) W₂ + b₂ (Vaswani et al. 2017, equation 2)."""

    def __init__(self, D: int, F: int):
        super().__init__()
        self.W_1, self.W_2 = nn.Linear(D, F), nn.Linear(F, D)

    def forward(self, x: Tensor) -> Tensor:
        """B×T×D → B×T×D."""
        return self.W_2(self.W_1(x).relu())


class SwiGLU(nn.Module):
    """(SiLU(x W_gate) ⊙ x W_up) W_down (Shazeer 2020, equation 6)."""

    def __init__(self, D: int, F: int):
        super().__init__()
        self.gate = nn.Linear(D, F, bias=False)
        self.up = nn.Linear(D, F, bias=False)
        self.down = nn.Linear(F, D, bias=False)

    def forward(self, x: Tensor) -> Tensor:
        """B×T×D → B×T×D."""
        return self.down(F.silu(self.gate(x)) * self.up(x))


class SubLayer(nn.Module):
    """x + f(norm(x)): pre-norm with a residual connection."""

    def __init__(self, D: int, f: nn.Module, norm: type[nn.Module] = nn.LayerNorm):
        super().__init__()
        self.norm, self.f = norm(D), f

    def forward(self, x: Tensor, *others) -> Tensor:
        """Add f(norm(x), *others) to x B×T×D."""
        return x + self.f(self.norm(x), *others)


class Layer(nn.Module):
    """Attention, then feed-forward."""

    def __init__(self, D: int, attention: nn.Module, feed_forward: nn.Module, norm: type[nn.Module]):
        super().__init__()
        self.attention = SubLayer(D, attention, norm)
        self.feed_forward = SubLayer(D, feed_forward, norm)

    def forward(self, x: Tensor, *others) -> Tensor:
        """B×T×D → B×T×D; the other arguments go to the attention."""
        return self.feed_forward(self.attention(x, *others))


class GPT(nn.Module):
    """A decoder without a source.

    Args:
        V: vocabulary; D, H, F, N: width, heads, hidden units and layers.
        longest: positions, at most.
        norm: "layer" or "rms". positions: "sinusoidal" or "rotary". gated: SwiGLU instead of the feed-forward network.
        groups: of heads, each with one key and one value; None for one group per head.

    Raises:
        CourseError: for an unknown norm or positions, and for widths and heads that don't divide.
    """

    def __init__(
        self, V: int, D: int = 48, H: int = 4, F: int = 192, N: int = 2, longest: int = 64,
        *, norm: str = "layer", positions: str = "sinusoidal", gated: bool = False, groups: int | None = None,
    ):  # fmt: skip
        super().__init__()
        for name, value, known in (("norm", norm, NORMS), ("positions", positions, POSITIONS)):
            if value not in known:
                raise CourseError(f"{name} must be one of {', '.join(known)}, not {value!r}")
        self.config = {"vocabulary": V, "D": D, "H": H, "F": F, "N": N, "longest": longest}
        self.config |= {"norm": norm, "positions": positions, "gated": gated, "groups": groups}
        self.V, self.D, self.longest, self.rotary = V, D, longest, positions == "rotary"
        make_norm = RMSNorm if norm == "rms" else nn.LayerNorm
        self.embedding = nn.Embedding(V, D)
        nn.init.normal_(self.embedding.weight, std=D**-0.5)  # times √D, its entries are as large as positions
        self.layers = nn.ModuleList()
        for _ in range(N):  # SwiGLU's three matrices with 2F/3 hidden units have as many weights as two with F
            attention = MultiHeadAttention(D, H, groups)
            feed_forward = SwiGLU(D, 2 * F // 3) if gated else FeedForward(D, F)
            self.layers.append(Layer(D, attention, feed_forward, make_norm))
        self.norm = make_norm(D)
        table = sinusoidal_positions(longest, D // H if self.rotary else D)  # T d, or T D
        self.register_buffer("P", table, persistent=False)
        self.register_buffer("causal", torch.ones(longest, longest, dtype=torch.bool).tril(), persistent=False)

    def forward(self, ids: Tensor, cache: Cache | None = None) -> Tensor:
        """Read ids B×T, after those in the cache: logits B×T×V for the id after each. What is read is added to the cache.

        Raises:
            CourseError: for ids outside the vocabulary, and for more positions than the model has.
        """
        check_tokens(ids, self.V)
        start = len(cache) if cache is not None else 0
        end = start + ids.shape[1]
        if end > self.longest:
            raise CourseError(f"the model has {self.longest} positions, and this is to be read up to {end}")
        x, P, angles = self.embedding(ids) * self.D**0.5, self.P[start:end], None  # B T D, T D or T d
        if self.rotary:
            angles = P[:, 0::2], P[:, 1::2]  # T d/2 each
        else:
            x = x + P
        mask = self.causal[start:end, :end]  # T S
        for i, layer in enumerate(self.layers):
            x = layer(x, mask, angles, cache, i)
        return self.norm(x) @ self.embedding.weight.T  # B T V


class Recurrent(nn.Module):
    """A GRU that predicts the next id, with the same readout: what attention is measured against."""

    def __init__(self, V: int, D: int = 48, hidden: int = 96):
        super().__init__()
        self.embedding, self.gru = nn.Embedding(V, D), nn.GRU(D, hidden, batch_first=True)
        self.readout = nn.Linear(hidden, V)

    def forward(self, ids: Tensor) -> Tensor:
        """Read ids B×T: logits B×T×V."""
        return self.readout(self.gru(self.embedding(ids))[0])


def bits(model: nn.Module, ids: Tensor) -> Tensor:
    """Return the bits that a model needs for each id but the first of rows B×T+1, given those before it: B×T."""
    logits = model(ids[:, :-1])  # B T V
    return F.cross_entropy(logits.mT, ids[:, 1:], reduction="none") / math.log(2)


def fit(model: nn.Module, ids: Tensor, seed=0, steps=700, batch=16, rate=0.01, warmup=20) -> list[float]:
    """Train on rows B×T+1 drawn from these; return the loss of each step, in bits."""
    return train_model(
        model,
        lambda draw: bits(model, ids[torch.randint(len(ids), (batch,), generator=draw)]).mean(),
        seed,
        steps,
        rate,
        warmup,
    )


def top_k(p: Tensor, k: int) -> Tensor:
    """Keep the k most probable of the probabilities p, V, and divide them by their sum (Fan et al. 2018)."""
    kept, places = torch.zeros_like(p), p.argsort(descending=True, stable=True)[:k]
    kept[places] = p[places]
    return kept / kept.sum()


def nucleus(p: Tensor, threshold: float) -> Tensor:
    """Keep the fewest most probable entries of p, V, that sum to the threshold, divided by their sum (Holtzman et al. 2020)."""
    # Lesson 21 shows a loop, which is slow for a large vocabulary.
    ordered, places = p.sort(descending=True, stable=True)
    before = ordered.cumsum(0) - ordered  # the sum of all that are more probable
    outside = places[before >= threshold]  # the places in p of those to remove
    kept = p.clone()
    kept[outside] = 0.0
    return kept / kept.sum()
