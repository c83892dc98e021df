"""The mechanisms of lessons 5 to 12 in their simplest form, each a few lines beside its equation, for reading and for checking.

Here: one step of a recurrent network, of its attention, of a Transformer's layer, and of a search, as plain functions whose
weights are arguments. Not here: the models that train and translate (`recurrent.py`, `transformer.py`) and the search over
batches (`translation/search.py`), which compute the same faster: tests compare both with torch, or with each other.

Shape letters: B sentences, T target or query positions, S source or key positions, D model width or width of a word,
H width of a recurrent state, or heads, E width of an annotation or of what is read, A alignment width,
F feed-forward width, d = D / H head width, V vocabulary.
A mask is True at words and where a query may attend. A row without a True gets weights of zeros. What a mask B×S
leaves out has no effect, even if it is NaN. With a mask B×T×S, which is about pairs, all numbers must be finite.
"""

from collections.abc import Callable

import torch
import torch.nn.functional as F
from torch import Tensor

from course_utils.base.errors import CourseError
from course_utils.models.attention import causal_mask, masked_softmax

# Recurrent networks


def rnn_step(x: Tensor, state: Tensor, weight_x: Tensor, weight_s: Tensor, bias: Tensor) -> Tensor:
    """s_t = tanh(W_x x_t + W_s s_{t-1} + b) (Elman 1990, with tanh as in torch.nn.RNNCell): the next state B×H.

    x B×D, state B×H, weight_x H×D, weight_s H×H, bias H.
    """
    return torch.tanh(x @ weight_x.T + state @ weight_s.T + bias)  # B H


def gru_step(
    x: Tensor, state: Tensor, weight_ih: Tensor, weight_hh: Tensor, bias_ih: Tensor, bias_hh: Tensor
) -> Tensor:
    """s_t = (1 - z) n + z s_{t-1}, as torch.nn.GRUCell (Cho et al. 2014, section 2.3): the next state B×H.

    r = σ(W_r x + U_r s), z = σ(W_z x + U_z s), n = tanh(W x + r ∘ (U s)), where each product has a bias. In the paper r acts
    on s instead: U (r ∘ s).
    x B×D, state B×H, weight_ih 3H×D, weight_hh 3H×H, bias_ih and bias_hh 3H: blocks for r, z and n.
    """
    reset_x, update_x, new_x = (x @ weight_ih.T + bias_ih).chunk(3, dim=-1)  # B H each
    reset_s, update_s, new_s = (state @ weight_hh.T + bias_hh).chunk(3, dim=-1)  # B H each
    reset = torch.sigmoid(reset_x + reset_s)  # B H
    update = torch.sigmoid(update_x + update_s)  # B H
    new = torch.tanh(new_x + reset * new_s)  # B H
    return (1 - update) * new + update * state  # B H


def sequence_loss(logits: Tensor, target: Tensor, mask: Tensor) -> Tensor:
    """Σ -log p(y_t) / N over the N words of a batch, where p is the softmax of the logits: a scalar, 0 if there is no word.

    logits B×T×V, target B×T, mask B×T.
    """
    losses = F.cross_entropy(logits[mask], target[mask], reduction="sum")
    return losses / mask.sum().clamp(min=1)


# Attention in recurrent networks


def bahdanau_step(
    state: Tensor, annotations: Tensor, mask: Tensor, weight_s: Tensor, weight_h: Tensor, v: Tensor
) -> tuple[Tensor, Tensor]:
    """c = Σ_j α_j h_j with α = softmax of vᵀ tanh(W s + U h_j) (Bahdanau et al. 2014, section 3.1 and appendix A.1.2).

    state B×H, annotations B×S×E, mask B×S, weight_s A×H, weight_h A×E, v A → context B×E, weights B×S.
    """
    annotations = annotations.masked_fill(~mask[..., None], 0.0)  # B S E
    hidden_layer = torch.tanh((state @ weight_s.T)[:, None] + annotations @ weight_h.T)  # B S A
    weights = masked_softmax(hidden_layer @ v, mask)  # B S
    context = (weights[..., None] * annotations).sum(1)  # B E
    return context, weights


def luong_step(
    state: Tensor, annotations: Tensor, mask: Tensor, weight: Tensor, weight_c: Tensor
) -> tuple[Tensor, Tensor]:
    """tanh(W_c [c; s]), where c weights each h_j by the softmax of sᵀ W h_j (Luong et al. 2015, section 3.1, equation 5).

    state B×H, annotations B×S×E, mask B×S, weight H×E, weight_c D×(E+H) → features B×D, weights B×S.
    """
    annotations = annotations.masked_fill(~mask[..., None], 0.0)  # B S E
    scores = ((state @ weight)[:, None] * annotations).sum(-1)  # B S
    weights = masked_softmax(scores, mask)  # B S
    context = (weights[..., None] * annotations).sum(1)  # B E
    return torch.tanh(torch.cat([context, state], dim=-1) @ weight_c.T), weights  # B D


# The Transformer


def attend(query: Tensor, key: Tensor, value: Tensor, mask: Tensor | None = None) -> Tensor:
    """softmax(QKᵀ / √d) V (Vaswani et al. 2017, equation 1): query …×T×d, key …×S×d, value …×S×E → contexts …×T×E.

    The mask fits …×T×S; None allows everything.
    """
    scores = query @ key.mT / query.shape[-1] ** 0.5  # … T S
    return masked_softmax(scores, mask) @ value  # … T E


def self_attention(
    x: Tensor, weight_q: Tensor, weight_k: Tensor, weight_v: Tensor, mask: Tensor | None = None
) -> Tensor:
    """softmax(QKᵀ / √d) V with Q = X W_Q, K = X W_K, V = X W_V (Vaswani et al. 2017, equation 1): contexts B×T×E.

    x B×T×D, weight_q and weight_k D×d, weight_v D×E, mask B×T×T; None allows everything.
    """
    return attend(x @ weight_q, x @ weight_k, x @ weight_v, mask)  # B T E


def split_heads(x: Tensor, heads: int) -> Tensor:
    """Cut each vector into one part for each head: x B×T×D → B×H×T×d."""
    B, T, D = x.shape
    return x.view(B, T, heads, D // heads).transpose(1, 2)  # B H T d


def merge_heads(x: Tensor) -> Tensor:
    """Put the parts of all heads side by side again: x B×H×T×d → B×T×D."""
    return x.transpose(1, 2).flatten(2)  # B T D


def multi_head_attention(
    query: Tensor, key: Tensor, value: Tensor, in_weight: Tensor, in_bias: Tensor, out_weight: Tensor, out_bias: Tensor,
    heads: int, mask: Tensor | None = None,
) -> Tensor:  # fmt: skip
    """Concat(head_1 … head_H) W^O, where head_i = Attention(Q W_i^Q, K W_i^K, V W_i^V) (Vaswani et al. 2017, section 3.2.2).

    query B×T×D, key and value B×S×D, in_weight 3D×D and in_bias 3D (W^Q above W^K above W^V, as in nn.MultiheadAttention),
    out_weight D×D, out_bias D, mask B×T×S, or what fits it, for all heads; None allows everything → B×T×D.
    """
    weight_q, weight_k, weight_v = in_weight.chunk(3)  # D D each
    bias_q, bias_k, bias_v = in_bias.chunk(3)  # D each
    query = split_heads(query @ weight_q.T + bias_q, heads)  # B H T d
    key = split_heads(key @ weight_k.T + bias_k, heads)  # B H S d
    value = split_heads(value @ weight_v.T + bias_v, heads)  # B H S d
    context = attend(query, key, value, None if mask is None else mask.unsqueeze(-3))  # B H T d
    return merge_heads(context) @ out_weight.T + out_bias  # B T D


def sinusoidal_positions(length: int, width: int) -> Tensor:
    """sin(p / 10000^(2i/D)) at entry 2i of position p, cos at entry 2i + 1 (Vaswani et al. 2017, section 3.5): length×width.

    Raises:
        CourseError: for an odd width.
    """
    if width % 2:
        raise CourseError(f"sinusoidal positions need an even width, not {width}")
    position = torch.arange(length, dtype=torch.float64)[:, None]  # length 1
    even = torch.arange(0, width, 2, dtype=torch.float64)  # D/2: 2i
    angle = position / 10000 ** (even / width)  # length D/2
    positions = torch.zeros(length, width)  # length D
    positions[:, 0::2] = torch.sin(angle)
    positions[:, 1::2] = torch.cos(angle)
    return positions


def rotate(x: Tensor, start: int = 0) -> Tensor:
    """Rotate each pair of entries (2i, 2i + 1) of x …×T×D at position p by the angle p / 10000^(2i/D) (Su et al. 2021, section 3.2.2).

    (a, b) becomes (a cos - b sin, a sin + b cos). The first row is at position `start`, and D is even.
    """
    table = sinusoidal_positions(start + x.shape[-2], x.shape[-1])[start:].to(x)  # T D
    return turn(x, table[:, 0::2], table[:, 1::2])


def turn(x: Tensor, sin: Tensor, cos: Tensor) -> Tensor:
    """Rotate each pair of entries of x …×T×D by the angle with this sine and cosine, both T×D/2."""
    a, b = x[..., 0::2], x[..., 1::2]  # … T D/2 each
    return torch.stack([a * cos - b * sin, a * sin + b * cos], dim=-1).flatten(-2)


def feed_forward(x: Tensor, weight_1: Tensor, bias_1: Tensor, weight_2: Tensor, bias_2: Tensor) -> Tensor:
    """max(0, x W_1 + b_1) W_2 + b_2 at each position (Vaswani et al. 2017, equation 2): B×T×D → B×T×D.

    x B×T×D, weight_1 F×D, bias_1 F, weight_2 D×F, bias_2 D: transposed, as nn.Linear stores them.
    """
    hidden = torch.relu(x @ weight_1.T + bias_1)  # B T F
    return hidden @ weight_2.T + bias_2  # B T D


def layer_norm(x: Tensor, gain: Tensor, bias: Tensor, eps: float = 1e-5) -> Tensor:
    """g (x - μ) / √(σ² + ε) + b, with the mean and variance of each vector (Ba et al. 2016, section 3): …×D → …×D.

    x …×D, gain D, bias D.
    """
    mean = x.mean(-1, keepdim=True)  # … 1
    variance = (x - mean).square().mean(-1, keepdim=True)  # … 1
    return gain * (x - mean) / torch.sqrt(variance + eps) + bias  # … D


def sublayer(x: Tensor, function: Callable[[Tensor], Tensor], gain: Tensor, bias: Tensor, order: str) -> Tensor:
    """A function with its residual connection and layer norm: B×T×D → B×T×D.

    order "post": norm(x + f(x)) (Vaswani et al. 2017, section 5.4); "pre": x + f(norm(x)) (Xiong et al. 2020).
    """
    if order == "pre":
        return x + function(layer_norm(x, gain, bias))  # B T D
    return layer_norm(x + function(x), gain, bias)  # B T D


# A layer's weights are a dict: "self_attention" and "source_attention" hold in_weight, in_bias, out_weight, out_bias,
# "feed_forward" weight_1, bias_1, weight_2, bias_2, and each of "norm_1", "norm_2", "norm_3" gain, bias.


def encoder_layer(x: Tensor, mask: Tensor, weights: dict[str, tuple], heads: int, order: str) -> Tensor:
    """Self-attention to all words, then feed-forward (Vaswani et al. 2017, section 3.1): B×S×D.

    x B×S×D, mask B×S. The output at padding is meaningless.
    """
    x = x.masked_fill(~mask[..., None], 0.0)  # B S D

    def attend_to_words(y: Tensor) -> Tensor:
        return multi_head_attention(y, y, y, *weights["self_attention"], heads, mask[:, None])

    x = sublayer(x, attend_to_words, *weights["norm_1"], order)  # B S D
    return sublayer(x, lambda y: feed_forward(y, *weights["feed_forward"]), *weights["norm_2"], order)  # B S D


def decoder_layer(
    x: Tensor, memory: Tensor, memory_mask: Tensor, weights: dict[str, tuple], heads: int, order: str
) -> Tensor:
    """Self-attention to the words so far, attention to the source, feed-forward (Vaswani et al. 2017, section 3.1): B×T×D.

    x B×T×D, memory B×S×D is the encoder's output, memory_mask B×S.
    """
    memory = memory.masked_fill(~memory_mask[..., None], 0.0)  # B S D

    def attend_to_words(y: Tensor) -> Tensor:
        return multi_head_attention(y, y, y, *weights["self_attention"], heads, causal_mask(y.shape[1]))

    def attend_to_source(y: Tensor) -> Tensor:
        return multi_head_attention(y, memory, memory, *weights["source_attention"], heads, memory_mask[:, None])

    x = sublayer(x, attend_to_words, *weights["norm_1"], order)  # B T D
    x = sublayer(x, attend_to_source, *weights["norm_2"], order)  # B T D
    return sublayer(x, lambda y: feed_forward(y, *weights["feed_forward"]), *weights["norm_3"], order)  # B T D


# Search. `step(prefix)` takes a list of ids, bos first, and returns the natural logarithms of the next id's
# probabilities, V. `longest` is at least 1 and counts eos, but not bos.


def greedy(step: Callable[[list[int]], Tensor], bos: int, eos: int, longest: int) -> list[int]:
    """Take the most probable next id until it is eos: the ids after bos, including eos, at most `longest`. Ties: the smallest."""
    prefix = [bos]
    for _ in range(longest):
        prefix = [*prefix, int(step(prefix).argmax())]
        if prefix[-1] == eos:
            break
    return prefix[1:]


def beam_search(
    step: Callable[[list[int]], Tensor], bos: int, eos: int, width: int, longest: int
) -> list[tuple[list[int], float]]:
    """Keep the `width` most probable beginnings at each step, and set aside the ones that end (Sutskever et al. 2014, section 3.2).

    Returns all those set aside, the most probable first: ids as in `greedy`, and their log probability. Those still
    open after `longest` ids are included.
    """
    open_ones, ended = [([bos], 0.0)], []
    for _ in range(longest):
        continuations = [
            ([*prefix, token], log_probability + more)
            for prefix, log_probability in open_ones
            for token, more in enumerate(step(prefix).tolist())
        ]
        best = sorted(continuations, key=lambda hypothesis: -hypothesis[1])[:width]
        ended += [hypothesis for hypothesis in best if hypothesis[0][-1] == eos]
        open_ones = [hypothesis for hypothesis in best if hypothesis[0][-1] != eos]
    found = sorted(ended + open_ones, key=lambda hypothesis: -hypothesis[1])
    return [(prefix[1:], log_probability) for prefix, log_probability in found]
