"""The Transformer of Vaswani et al. 2017, to be read from top to bottom, and fast on a CPU and a GPU.

Here: dropout, attention in many heads, positions, layers, encoder, decoder, the model and its cache for decoding.
Not here: the loss and the training loop (`training.py`), the search for a translation (`decoding.py`), weights
taken from and given to torch.nn (`conversion.py`).

Shape letters: B sentences, T target or query positions, S source or key positions, K hypotheses of a sentence,
H heads, D model width, d = D / H head width, F feed-forward width, V vocabulary.
A mask is True where a query may attend, and is shaped to fit B×H×T×S.
"""

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from course_utils.base.errors import CourseError

PAD = 0  # the id that fills the end of short rows; no position attends to it


class Dropout(nn.Module):
    """Set each number to zero with probability p while training, and scale the others by 1 / (1 - p).

    torch draws a random number of 32 bits for each element, which on a CPU costs a fifth of the training time. Here
    a draw of 64 bits serves eight elements, so that there p is rounded to a 256th.
    """

    def __init__(self, p: float):
        super().__init__()
        if not 0 <= p < 1:
            raise CourseError(f"dropout must be at least 0 and less than 1, not {p}")
        self.p = p

    def forward(self, x: Tensor) -> Tensor:
        """Return x with some elements dropped, the same shape."""
        return x * self.kept(x) if self.training and self.p else x

    def add(self, residual: Tensor, x: Tensor) -> Tensor:
        """Return residual + dropout(x), in one pass over both."""
        return torch.addcmul(residual, x, self.kept(x)) if self.training and self.p else residual + x

    def kept(self, x: Tensor) -> Tensor:
        """Draw a tensor shaped as x: 0 where x is dropped, 1 / (1 - p) where it is kept."""
        if x.is_cuda:
            return torch.empty_like(x).bernoulli_(1 - self.p).div_(1 - self.p)
        draws = torch.empty((x.numel() + 7) // 8, dtype=torch.int64).random_(-(2**63), None)
        draws, dropped = draws.view(torch.uint8)[: x.numel()].view(x.shape), min(round(self.p * 256), 255)
        kept = torch.empty(x.shape, dtype=x.dtype)
        return torch.ge(draws, dropped, out=kept).mul_(256 / (256 - dropped))

    def extra_repr(self) -> str:
        return f"p={self.p}"


def attend(query: Tensor, key: Tensor, value: Tensor, mask: Tensor | None = None, *, need_weights: bool = False):
    """softmax(QKᵀ / √d) V in every head (Vaswani et al. 2017, equation 1): contexts B×H×T×d, weights B×H×T×S or None.

    query B×H×T×d, key and value B×H×S×d. A query that may attend to nothing gets zeros.
    """
    if query.is_cuda and not need_weights:
        return F.scaled_dot_product_attention(query, key, value, attn_mask=mask), None
    scores = query * query.shape[-1] ** -0.5 @ key.mT  # B H T S
    if mask is None:
        weights = softmax(scores)
    else:
        weights = softmax(scores.masked_fill(~mask, torch.finfo(scores.dtype).min))
        empty = ~mask.any(-1, keepdim=True)  # B 1 1 1 or T 1, the queries that may attend to nothing
        if empty.is_cuda or empty.any():  # a GPU does not have to answer
            weights = weights.masked_fill(empty, 0.0)
    return weights @ value, weights


def softmax(scores: Tensor) -> Tensor:
    """torch's softmax over the last axis, of rows filled up to whole vectors of 64 bytes: others take a CPU far longer."""
    S = scores.shape[-1]
    return F.pad(scores, (0, -S % (64 // scores.element_size())), value=-torch.inf).softmax(-1)[..., :S]


class MultiHeadAttention(nn.Module):
    """Attention in H subspaces at once (Vaswani et al. 2017, section 3.2.2)."""

    def __init__(self, width: int, heads: int):
        super().__init__()
        if width % heads:
            raise CourseError(f"the width must be a multiple of the number of heads: {width} is none of {heads}")
        self.heads = heads
        self.query = nn.Linear(width, width)
        self.key_value = nn.Linear(width, 2 * width)  # W^K above W^V
        self.output = nn.Linear(width, width)  # W^O

    def forward(self, x: Tensor, keys_values: tuple[Tensor, Tensor], mask: Tensor | None = None, need_weights=False):
        """Let x B×T×D attend to projected keys and values B×H×S×d: the merged contexts B×T×D, weights B×H×T×S or None."""
        (query,) = self.split(self.query(x), 1)
        context, weights = attend(query, *keys_values, mask, need_weights=need_weights)
        return self.output(context.transpose(1, 2).flatten(2)), weights

    def project(self, memory: Tensor) -> tuple[Tensor, Tensor]:
        """Return the keys and values B×H×S×d of a memory B×S×D, which a decoder computes once and keeps."""
        return self.split(self.key_value(memory), 2)

    def split(self, x: Tensor, parts: int) -> tuple[Tensor, ...]:
        """Cut B×T×(parts·D) into its parts, and these into heads: each B×H×T×d."""
        x = x.unflatten(-1, (parts, self.heads, -1))  # B T parts H d
        return x.permute(2, 0, 3, 1, 4).contiguous().unbind(0)  # in one piece, for products over small matrices


class FeedForward(nn.Sequential):
    """max(0, x W₁ + b₁) W₂ + b₂ at each position (Vaswani et al. 2017, equation 2): B×T×D → B×T×D."""

    def __init__(self, width: int, hidden: int):
        super().__init__(nn.Linear(width, hidden), nn.ReLU(), nn.Linear(hidden, width))


class Residual(nn.Module):
    """A sub-layer with its residual connection: x + f(norm(x)) pre-norm, norm(x + f(x)) post-norm.

    Post-norm is the paper's (section 5.4); pre-norm (Xiong et al. 2020) trains without a long warm-up.
    """

    def __init__(self, width: int, norm: str, dropout: float):
        super().__init__()
        self.pre = norm == "pre"
        self.norm = nn.LayerNorm(width)
        self.dropout = Dropout(dropout)

    def enter(self, x: Tensor) -> Tensor:
        """Return what the sub-layer reads: B×T×D → B×T×D."""
        return self.norm(x) if self.pre else x

    def leave(self, x: Tensor, y: Tensor) -> Tensor:
        """Join the sub-layer's result y to the x it came from: B×T×D → B×T×D."""
        joined = self.dropout.add(x, y)
        return joined if self.pre else self.norm(joined)


class EncoderLayer(nn.Module):
    """Self-attention, then feed-forward."""

    def __init__(self, width: int, heads: int, hidden: int, dropout: float, norm: str):
        super().__init__()
        self.self_attention = MultiHeadAttention(width, heads)
        self.feed_forward = FeedForward(width, hidden)
        self.first, self.second = (Residual(width, norm, dropout) for _ in range(2))

    def forward(self, x: Tensor, mask: Tensor | None = None) -> Tensor:
        """x B×S×D, mask B×1×1×S → B×S×D."""
        y = self.first.enter(x)
        y, _ = self.self_attention(y, self.self_attention.project(y), mask)
        x = self.first.leave(x, y)
        y = self.feed_forward(self.second.enter(x))
        return self.second.leave(x, y)


class DecoderLayer(nn.Module):
    """Self-attention to the words so far, attention to the source, then feed-forward."""

    def __init__(self, width: int, heads: int, hidden: int, dropout: float, norm: str):
        super().__init__()
        self.self_attention = MultiHeadAttention(width, heads)
        self.source_attention = MultiHeadAttention(width, heads)
        self.feed_forward = FeedForward(width, hidden)
        self.first, self.second, self.third = (Residual(width, norm, dropout) for _ in range(3))

    def forward(
        self, x: Tensor, source: tuple, mask: Tensor | None, source_mask: Tensor | None, cache=None, start=0,
        need_weights=False,
    ):  # fmt: skip
        """Decode x R×T×D, where R = B·K rows share the projected keys and values B×H×S×d of B source sentences.

        `cache` holds the keys and values R×H×C×d of the `start` words before x, and takes those of x; masks T×(start+T)
        and B×1×1×S. Returns the result R×T×D, the cache, and the weights B×H×(K·T)×S on the source or None.
        """
        y = self.first.enter(x)
        new = self.self_attention.project(y)
        cache = new if cache is None else tuple(append(*pair, start) for pair in zip(cache, new, strict=True))
        so_far = tuple(kept[:, :, : start + x.shape[1]] for kept in cache)
        y, _ = self.self_attention(y, so_far, mask)
        x = self.first.leave(x, y)
        # Queries do not see each other here, so the K hypotheses of a sentence are K·T queries to one memory.
        y = self.second.enter(x).reshape(len(source[0]), -1, x.shape[-1])
        y, weights = self.source_attention(y, source, source_mask, need_weights)
        x = self.second.leave(x, y.reshape(x.shape))
        y = self.feed_forward(self.third.enter(x))
        return self.third.leave(x, y), cache, weights


def append(cache: Tensor, new: Tensor, start: int) -> Tensor:
    """Write new R×H×T×d behind the first `start` places of a cache R×H×C×d, in place if there is room, else in a larger one.

    A larger one has room for seven words more: with less it is copied too often, with more its rows lie too far apart.
    """
    end = start + new.shape[2]
    if end > cache.shape[2]:
        filled, cache = cache, new.new_empty(*new.shape[:2], end + 7, new.shape[3])
        cache[:, :, :start] = filled[:, :, :start]
    cache[:, :, start:end] = new
    return cache


class Embedding(nn.Module):
    """Word vectors times √D plus position vectors, with dropout (Vaswani et al. 2017, sections 3.4, 3.5 and 5.4)."""

    def __init__(self, vocabulary: int, width: int, positions: str, longest: int, dropout: float):
        super().__init__()
        self.words = nn.Embedding(vocabulary, width)
        if positions == "learned":
            self.positions = nn.Parameter(torch.randn(longest, width) * 0.02)
        else:
            self.register_buffer("positions", sinusoids(longest, width), persistent=False)
        self.dropout = Dropout(dropout)

    def forward(self, tokens: Tensor, start: int = 0) -> Tensor:
        """Embed tokens B×T that stand at the positions from `start` on: B×T×D."""
        end, longest = start + tokens.shape[1], len(self.positions)
        if end > longest:
            raise CourseError(
                f"a sentence may have at most {longest} tokens, not {end}: shorten it, or train with a larger `longest`"
            )
        words = self.words(tokens) * self.words.embedding_dim**0.5  # B T D
        return self.dropout(words + self.positions[start:end])


def sinusoids(longest: int, width: int) -> Tensor:
    """sin(pos / 10000^(2i/D)) at even and cos at odd places (Vaswani et al. 2017, section 3.5): longest×width."""
    if width % 2:
        raise CourseError(f"sinusoidal positions need an even width, not {width}")
    position = torch.arange(longest, dtype=torch.float64)[:, None]
    frequency = 10000 ** (-torch.arange(0, width, 2, dtype=torch.float64) / width)  # D/2
    angle = position * frequency  # longest D/2
    return torch.stack([angle.sin(), angle.cos()], dim=-1).flatten(1).to(torch.get_default_dtype())


class Transformer(nn.Module):
    """An encoder and a decoder over one vocabulary, whose embedding is also the readout (section 3.4).

    Args:
        vocabulary: the number of tokens V; id 0 is padding.
        width, heads, hidden: D, H and F; the width must be a multiple of the heads.
        encoder_layers, decoder_layers: how many of each.
        dropout: the share of each sub-layer's result, and of the embeddings, set to zero while training.
        norm: "pre" or "post", where the layer normalisation stands. Pre-norm normalises once more at the end.
        positions: "sinusoidal" or "learned".
        longest: the largest number of tokens in a sentence.
    """

    def __init__(self, vocabulary, width=128, heads=4, hidden=512, encoder_layers=3, decoder_layers=3, dropout=0.1, norm="pre",
                 positions="sinusoidal", longest=512):  # fmt: skip
        super().__init__()
        self.config = {k: v for k, v in locals().items() if k not in ("self", "__class__")}
        for name, value, allowed in (
            ("norm", norm, ("pre", "post")),
            ("positions", positions, ("sinusoidal", "learned")),
        ):
            if value not in allowed:
                raise CourseError(f"{name} must be {' or '.join(allowed)}, not {value!r}")
        check_sizes(1, vocabulary=vocabulary, width=width, heads=heads, hidden=hidden, decoder_layers=decoder_layers)
        check_sizes(0, encoder_layers=encoder_layers)
        check_sizes(2, longest=longest)  # BOS and a word
        self.aligned_layer = decoder_layers // 2  # whose attention to the source is shown
        self.longest_target = longest - 1  # tokens, behind BOS: `decoding.py` stops there
        layer = (width, heads, hidden, dropout, norm)
        self.embedding = Embedding(vocabulary, width, positions, longest, dropout)
        self.encoder = nn.ModuleList(EncoderLayer(*layer) for _ in range(encoder_layers))
        self.decoder = nn.ModuleList(DecoderLayer(*layer) for _ in range(decoder_layers))
        self.encoder_norm, self.decoder_norm = (
            nn.LayerNorm(width) if norm == "pre" else nn.Identity() for _ in range(2)
        )
        self.readout = nn.Linear(width, vocabulary, bias=False)
        self.reset_parameters()
        self.readout.weight = self.embedding.words.weight

    def reset_parameters(self):
        """Draw weights with a spread of 1/2 over the root of what they sum, and embeddings of length 1.

        Half the spread that keeps a sum's variance, so that at first a sub-layer adds little to what passes by it: on
        Multi30k this learned faster than Glorot & Bengio 2010. Logits begin with a spread near 1.
        """
        for module in self.modules():
            if isinstance(module, nn.Linear) and module is not self.readout:
                nn.init.normal_(module.weight, std=0.5 * module.in_features**-0.5)
                nn.init.zeros_(module.bias)
        nn.init.normal_(self.embedding.words.weight, std=self.config["width"] ** -0.5)

    def forward(self, source: Tensor, target: Tensor) -> Tensor:
        """Score each next word, given the words before it: source B×S, target B×T → logits B×T×V."""
        return self.readout(self.features(source, target))

    def features(self, source: Tensor, target: Tensor) -> Tensor:
        """Return what the readout reads: source B×S, target B×T → B×T×D."""
        return self.decode(target, self.encode(source))[0]

    def attention(self, source: Tensor, target: Tensor) -> Tensor:
        """Return how much each target position attends to each source position, mean over heads: B×T×S."""
        return self.decode(target, self.encode(source), need_weights=True)[2]

    def encode(self, source: Tensor) -> dict:
        """Read source sentences B×S: their padding mask, and each decoder layer's keys and values B×H×S×d."""
        mask = (source != PAD)[:, None, None]  # B 1 1 S
        x = self.embedding(source)
        for layer in self.encoder:
            x = layer(x, mask)
        x = self.encoder_norm(x)
        return {"mask": mask, "layers": [layer.source_attention.project(x) for layer in self.decoder]}

    def decode(self, target: Tensor, memory: dict, past: dict | None = None, need_weights: bool = False):
        """Read target R×T after the words in `past`, which is used up: features R×T×D, a new past, weights B×(K·T)×S or None."""
        start = past["words"] if past else 0
        mask = None if target.shape[1] == 1 else causal_mask(target.shape[1], start, target.device)
        x, caches, weights = self.embedding(target, start), [], None
        for i, layer in enumerate(self.decoder):
            wanted = need_weights and i == self.aligned_layer
            cache = past["caches"][i] if past else None
            x, cache, seen = layer(x, memory["layers"][i], mask, memory["mask"], cache, start, wanted)
            caches.append(cache)
            weights = seen.mean(1) if wanted else weights
        return self.decoder_norm(x), {"words": start + target.shape[1], "caches": caches}, weights

    def start(self, source: Tensor) -> tuple[dict, dict]:
        """Encode source sentences B×S for decoding: what stays the same, and what grows with each hypothesis (nothing yet)."""
        memory = self.encode(source)
        empty = memory["layers"][0][0][:, None, :, :0]  # B K H 0 d
        return memory, {"words": 0, "caches": [(empty, empty) for _ in self.decoder]}

    def step(self, tokens: Tensor, memory: dict, state: dict) -> tuple[Tensor, dict, Tensor]:
        """Read one more token of each hypothesis: tokens B×K → logits B×K×V, the new state, weights B×K×S. The old one is used up."""
        past = state | {"caches": [tuple(cache.flatten(0, 1) for cache in pair) for pair in state["caches"]]}
        x, past, weights = self.decode(tokens.reshape(-1, 1), memory, past, need_weights=True)
        caches = [tuple(cache.unflatten(0, tokens.shape) for cache in pair) for pair in past["caches"]]
        return self.readout(x[:, 0]).view(*tokens.shape, -1), past | {"caches": caches}, weights


def check_sizes(least: int, **sizes: int) -> None:
    """Raise `ValueError` for a size of a model below the least."""
    for name, size in sizes.items():
        if not size >= least:
            raise CourseError(f"{name} must be at least {least}, not {size}")


def causal_mask(length: int, start: int, device) -> Tensor:
    """True where a query does not come before the key: length×(start + length), queries from position `start` on."""
    return torch.ones(length, start + length, dtype=torch.bool, device=device).tril(start)
