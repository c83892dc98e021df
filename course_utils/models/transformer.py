"""The Transformer of Vaswani et al. 2017, to be read from top to bottom, and fast on a CPU and a GPU.

Here: attention in many heads, positions, layers, encoder, decoder and the model. Not here: what makes dropout, the softmax and decoding
fast on a CPU (`optimized.py`), the loss and the training loop (`training/`), the search for a translation (`translation/search.py`),
weights given to torch.nn (`torch_conversion.py`), the same mechanisms in a few lines each (`minimal.py`).

Shape letters: B sentences, T target or query positions, S source or key positions, K hypotheses of a sentence,
H heads, D model width, d = D / H head width, F feed-forward width, V vocabulary.
A mask is True where a query may attend, and is shaped to fit B×H×T×S.
"""

from collections.abc import Callable

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from course_utils.base.errors import CourseError
from course_utils.models.minimal import sinusoidal_positions
from course_utils.models.optimized import Dropout, LayerCache, softmax
from course_utils.models.validation import check_sizes

PAD = 0  # the id that fills the end of short rows; no position attends to it


def attend(query: Tensor, key: Tensor, value: Tensor, mask: Tensor | None = None, *, need_weights: bool = False):
    """softmax(QKᵀ / √d) V in every head (Vaswani et al. 2017, equation 1): contexts B×H×T×d, weights B×H×T×S or None.

    query B×H×T×d, key and value B×H×S×d. A query that may attend to nothing gets zeros. On a GPU
    this needs `choose_device`, which turns off cuDNN's attention: it gives such a query other numbers.
    """
    if query.is_cuda and not need_weights:
        return F.scaled_dot_product_attention(query, key, value, attn_mask=mask), None
    scores = query * query.shape[-1] ** -0.5 @ key.mT  # B H T S
    if mask is None:
        weights = softmax(scores)
    else:
        weights = softmax(scores.masked_fill(~mask, torch.finfo(scores.dtype).min))
        empty = ~mask.any(-1, keepdim=True)  # B 1 1 1 or T 1, the queries that may attend to nothing
        if empty.is_cuda or empty.any():  # asking a GPU whether there is any would make it wait
            weights = weights.masked_fill(empty, 0.0)
    return weights @ value, weights


class MultiHeadAttention(nn.Module):
    """Attention in H subspaces at once (Vaswani et al. 2017, section 3.2.2)."""

    def __init__(self, width: int, heads: int):
        super().__init__()
        if width % heads:
            raise CourseError(f"the width must be a multiple of the number of heads, and {width} is not one of {heads}")
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

    def forward(self, x: Tensor, sublayer: Callable[[Tensor], Tensor]) -> Tensor:
        """Combine x B×T×D with the output of a sub-layer, a function from B×T×D to B×T×D."""
        if self.pre:
            return self.dropout.add(x, sublayer(self.norm(x)))
        return self.norm(self.dropout.add(x, sublayer(x)))


class EncoderLayer(nn.Module):
    """Self-attention, then feed-forward."""

    def __init__(self, width: int, heads: int, hidden: int, dropout: float, norm: str):
        super().__init__()
        self.self_attention = MultiHeadAttention(width, heads)
        self.feed_forward = FeedForward(width, hidden)
        self.first, self.second = (Residual(width, norm, dropout) for _ in range(2))

    def forward(self, x: Tensor, mask: Tensor | None = None) -> Tensor:
        """Encode x B×S×D, where the mask B×1×1×S says what may be attended to: B×S×D."""
        x = self.first(x, lambda y: self.self_attention(y, self.self_attention.project(y), mask)[0])
        return self.second(x, self.feed_forward)


class DecoderLayer(nn.Module):
    """Self-attention to the words so far, attention to the source, then feed-forward."""

    def __init__(self, width: int, heads: int, hidden: int, dropout: float, norm: str):
        super().__init__()
        self.self_attention = MultiHeadAttention(width, heads)
        self.source_attention = MultiHeadAttention(width, heads)
        self.feed_forward = FeedForward(width, hidden)
        self.first, self.second, self.third = (Residual(width, norm, dropout) for _ in range(3))

    def forward(
        self, x: Tensor, source: tuple[Tensor, Tensor], mask: Tensor | None, source_mask: Tensor | None,
        cache: LayerCache | None = None, need_weights=False,
    ):  # fmt: skip
        """Decode x R×T×D, where R = B·K rows share the projected keys and values B×H×S×d of B source sentences.

        A cache holds the words before x, and x is added; without one, there are none. With C words in it the mask is
        T×(C+T), the source's B×1×1×S. Returns the result R×T×D, and the weights B×H×(K·T)×S on the source or None.
        """
        weights = None

        def attend_to_words(y: Tensor) -> Tensor:
            keys_values = self.self_attention.project(y)
            return self.self_attention(y, cache.append(*keys_values) if cache else keys_values, mask)[0]

        def attend_to_source(y: Tensor) -> Tensor:
            # Queries do not see each other here, so the K hypotheses of a sentence are K·T queries to one memory.
            nonlocal weights
            queries = y.reshape(len(source[0]), -1, y.shape[-1])  # B K·T D
            context, weights = self.source_attention(queries, source, source_mask, need_weights)
            return context.reshape(y.shape)

        x = self.first(x, attend_to_words)
        x = self.second(x, attend_to_source)
        return self.third(x, self.feed_forward), weights


class Embedding(nn.Module):
    """Word vectors times √D plus position vectors, with dropout (Vaswani et al. 2017, sections 3.4, 3.5 and 5.4)."""

    def __init__(self, vocabulary: int, width: int, positions: str, longest: int, dropout: float):
        super().__init__()
        self.words, self.kind = nn.Embedding(vocabulary, width), positions
        if positions == "learned":
            self.positions = nn.Parameter(torch.randn(longest, width) * 0.02)
        else:
            table = sinusoidal_positions(longest, width) if positions == "sinusoidal" else torch.zeros(longest, width)
            self.register_buffer("positions", table, persistent=False)
        self.dropout = Dropout(dropout)

    def forward(self, tokens: Tensor, start: int = 0) -> Tensor:
        """Embed tokens B×T at the positions from `start` on: B×T×D."""
        end, longest = start + tokens.shape[1], len(self.positions)
        if end > longest:
            raise CourseError(
                f"a sentence may have at most {longest} tokens, not {end}: shorten it, or train with a larger `longest`"
            )
        words = self.words(tokens) * self.words.embedding_dim**0.5  # B T D
        return self.dropout(words + self.positions[start:end])


class Transformer(nn.Module):
    """An encoder and a decoder over one vocabulary, whose embedding is also the readout (section 3.4; Press & Wolf 2017).

    Args:
        vocabulary: the number of tokens V; id 0 is padding.
        width, heads, hidden: D, H and F; the width must be a multiple of the heads.
        encoder_layers, decoder_layers: how many of each.
        dropout: the share of each sub-layer's result, and of the embeddings, set to zero while training.
        norm: "pre" or "post", where the layer normalisation is. Pre-norm normalises once more at the end.
        positions: "sinusoidal", "learned" or "none".
        longest: the largest number of tokens in a sentence.
        tied: whether the embedding is also the readout, which otherwise has its own weights.

    Raises:
        CourseError: for a size that is too small, a width that does not fit the heads or the positions, an
            unknown name, or a dropout outside 0 to 1.
    """

    def __init__(self, vocabulary, width=128, heads=4, hidden=512, encoder_layers=3, decoder_layers=3, dropout=0.1, norm="pre",
                 positions="sinusoidal", longest=512, tied=True):  # fmt: skip
        super().__init__()
        self.config = {k: v for k, v in locals().items() if k not in ("self", "__class__")}
        for name, value, allowed in (
            ("norm", norm, ("pre", "post")),
            ("positions", positions, ("sinusoidal", "learned", "none")),
        ):
            if value not in allowed:
                raise CourseError(f"{name} must be {' or '.join(allowed)}, not {value!r}")
        check_sizes(1, vocabulary=vocabulary, width=width, heads=heads, hidden=hidden, decoder_layers=decoder_layers)
        check_sizes(0, encoder_layers=encoder_layers)
        check_sizes(2, longest=longest)  # BOS and a word
        self.aligned_layer = decoder_layers // 2  # whose attention to the source is shown
        self.longest_target = longest - 1  # tokens, after BOS: the search stops there
        layer = (width, heads, hidden, dropout, norm)
        self.embedding = Embedding(vocabulary, width, positions, longest, dropout)
        self.encoder = nn.ModuleList(EncoderLayer(*layer) for _ in range(encoder_layers))
        self.decoder = nn.ModuleList(DecoderLayer(*layer) for _ in range(decoder_layers))
        self.encoder_norm, self.decoder_norm = (
            nn.LayerNorm(width) if norm == "pre" else nn.Identity() for _ in range(2)
        )
        self.readout = nn.Linear(width, vocabulary, bias=False)
        self.reset_parameters()
        if tied:
            self.readout.weight = self.embedding.words.weight

    def reset_parameters(self):
        """Draw weights with a spread of 1/2 over the root of the number of inputs, and embeddings of length 1.

        Half the spread that keeps a sum's variance, so that at first a sub-layer adds little to its input. On
        Multi30k this learned faster than Glorot & Bengio (2010). Logits begin with a spread near 1.
        """
        for module in self.modules():
            if isinstance(module, nn.Linear) and module is not self.readout:
                nn.init.normal_(module.weight, std=0.5 * module.in_features**-0.5)
                nn.init.zeros_(module.bias)
        nn.init.normal_(self.embedding.words.weight, std=self.config["width"] ** -0.5)
        if not self.config["tied"]:
            nn.init.normal_(self.readout.weight, std=self.config["width"] ** -0.5)

    def forward(self, source: Tensor, target: Tensor) -> Tensor:
        """Score each next word, given the words before it: source B×S, target B×T → logits B×T×V."""
        return self.readout(self.features(source, target))

    def features(self, source: Tensor, target: Tensor) -> Tensor:
        """Return what the readout reads: source B×S, target B×T → B×T×D."""
        return self.decode(target, self.encode(source))[0]

    def attention(self, source: Tensor, target: Tensor) -> Tensor:
        """Return how much each target position attends to each source position, mean over heads: B×T×S."""
        return self.decode(target, self.encode(source), need_weights=True)[1]

    def encode(self, source: Tensor) -> dict:
        """Read source sentences B×S: their padding mask, and each decoder layer's keys and values B×H×S×d."""
        mask = (source != PAD)[:, None, None]  # B 1 1 S
        x = self.embedding(source)
        for layer in self.encoder:
            x = layer(x, mask)
        x = self.encoder_norm(x)
        return {"mask": mask, "layers": [layer.source_attention.project(x) for layer in self.decoder]}

    def decode(self, target: Tensor, memory: dict, caches: list[LayerCache] | None = None, need_weights: bool = False):
        """Read target R×T: features R×T×D and weights B×(K·T)×S or None.

        The caches, one for each layer, hold the words before the target, and the target is added.
        """
        start = caches[0].words if caches else 0
        mask = None if target.shape[1] == 1 else cached_causal_mask(target.shape[1], start, target.device)
        x, weights = self.embedding(target, start), None
        for i, layer in enumerate(self.decoder):
            wanted = need_weights and i == self.aligned_layer
            x, seen = layer(x, memory["layers"][i], mask, memory["mask"], caches[i] if caches else None, wanted)
            weights = seen.mean(1) if wanted else weights
        return self.decoder_norm(x), weights

    # A search sees the caches as tuples (keys, values, words), with B×K instead of R rows, so that it can pick
    # sentences and hypotheses without knowing any model.

    def start(self, source: Tensor) -> tuple[dict, list[tuple]]:
        """Encode source sentences B×S for decoding: what stays the same, and what grows with each hypothesis (nothing yet)."""
        memory = self.encode(source)
        empty = memory["layers"][0][0][:, None, :, :0]  # B K H 0 d
        return memory, [(empty, empty, 0)] * len(self.decoder)

    def step(self, tokens: Tensor, memory: dict, state: list[tuple]) -> tuple[Tensor, list[tuple], Tensor]:
        """Read one more token of each hypothesis: tokens B×K → logits B×K×V, the new state, weights B×K×S. The old state is used up."""
        BK = tokens.shape
        caches = [LayerCache(keys.flatten(0, 1), values.flatten(0, 1), words) for keys, values, words in state]
        x, weights = self.decode(tokens.reshape(-1, 1), memory, caches, need_weights=True)
        state = [(cache.keys.unflatten(0, BK), cache.values.unflatten(0, BK), cache.words) for cache in caches]
        return self.readout(x[:, 0]).unflatten(0, BK), state, weights


def cached_causal_mask(length: int, start: int, device) -> Tensor:
    """True where a query does not come before the key: length×(start + length), queries from position `start` on."""
    return torch.ones(length, start + length, dtype=torch.bool, device=device).tril(start)
