"""The course's reference attention: masks, softmax, the eight alignment scores, f(Q, K, V). No models, no training.

Shape letters: B batch, T queries, S keys or words, D width, E width of the keys or values, A alignment width.
A mask is True where a query may attend. Every function is plain PyTorch and carries gradients.
"""

import torch
from torch import Tensor


def padding_mask(lengths: Tensor, size: int) -> Tensor:
    """True at the words of each sentence, False at the padding after them: lengths B → mask B×size."""
    return torch.arange(size, device=lengths.device) < lengths[:, None]


def causal_mask(size: int) -> Tensor:
    """True where the key is not later than the query: size×size, each position may attend to itself."""
    return torch.ones(size, size, dtype=torch.bool).tril()


def masked_softmax(scores: Tensor, mask: Tensor | None = None) -> Tensor:
    """Softmax over the last axis, of the scores whose mask is True. A row with nothing to attend gives zeros."""
    if mask is None:
        return scores.softmax(-1)
    weights = scores.masked_fill(~mask, -torch.inf).softmax(-1)
    return weights.masked_fill(~mask, 0.0)  # a row of only -inf is NaN until here


def attention(query: Tensor, key: Tensor, value: Tensor, mask: Tensor | None = None) -> tuple[Tensor, Tensor]:
    """Score by dot product, normalise, sum: f(Q, K, V), unscaled.

    Args:
        query: B×T×D.
        key: B×S×D.
        value: B×S×E.
        mask: B×T×S, True where the query may attend to the key; None allows everything.

    Returns:
        The contexts B×T×E and the weights B×T×S.

    Raises:
        ValueError: if queries and keys differ in width, or keys and values in number.
    """
    if query.shape[-1] != key.shape[-1]:
        raise ValueError(f"keys have width {key.shape[-1]}, queries {query.shape[-1]}: they must match")
    if key.shape[-2] != value.shape[-2]:
        raise ValueError(f"there are {key.shape[-2]} keys and {value.shape[-2]} values: each key needs one value")
    weights = masked_softmax(dot(query, key), mask)  # B T S
    return weights @ value, weights


def dot(state: Tensor, hidden: Tensor) -> Tensor:
    """sᵀh (Luong et al. 2015, section 3.1): state B×T×D, hidden B×S×D → scores B×T×S."""
    return state @ hidden.mT


def scaled_dot(state: Tensor, hidden: Tensor) -> Tensor:
    """sᵀh / √D (Vaswani et al. 2017, equation 1): state B×T×D, hidden B×S×D → scores B×T×S."""
    return dot(state, hidden) / state.shape[-1] ** 0.5


def additive(state: Tensor, hidden: Tensor, weight: Tensor, v: Tensor) -> Tensor:
    """vᵀ tanh(W [s; h]): state B×T×D, hidden B×S×E, weight A×(D+E), v A → scores B×T×S.

    Luong et al. 2015 call it "concat" (section 3.1). It is the score of Bahdanau et al. 2014 (appendix A.1.2)
    with its two matrices written as one.
    """
    return torch.tanh(pairs(state, hidden) @ weight.T) @ v


def general(state: Tensor, hidden: Tensor, weight: Tensor) -> Tensor:
    """sᵀ W h (Luong et al. 2015, section 3.1): state B×T×D, hidden B×S×E, weight D×E → scores B×T×S."""
    return state @ weight @ hidden.mT


def concatenating(state: Tensor, hidden: Tensor, weight: Tensor) -> Tensor:
    """W [s; h], linear: state B×T×D, hidden B×S×E, weight (D+E) → scores B×T×S.

    The "concat" score of Luong et al. 2015 (section 3.1) is quoted both like this and as `additive`.
    """
    return pairs(state, hidden) @ weight


def perceptron(state: Tensor, hidden: Tensor, weight_s: Tensor, weight_h: Tensor, v: Tensor) -> Tensor:
    """vᵀ tanh(W s + U h) (Bahdanau et al. 2014, appendix A.1.2).

    state B×T×D, hidden B×S×E, weight_s A×D, weight_h A×E, v A → scores B×T×S.
    """
    hidden_layer = (state @ weight_s.T)[:, :, None] + (hidden @ weight_h.T)[:, None]  # B T S A
    return hidden_layer.tanh() @ v


def content_based(state: Tensor, hidden: Tensor) -> Tensor:
    """The cosine of s and h (Graves et al. 2014, equation 6): state B×T×D, hidden B×S×D → scores B×T×S; 0 at a zero vector."""
    return torch.nn.functional.normalize(state, dim=-1) @ torch.nn.functional.normalize(hidden, dim=-1).mT


def location_based(state: Tensor, weight: Tensor) -> Tensor:
    """softmax(W s) (Luong et al. 2015, section 3.1, "location"): state B×T×D, weight S×D → weights, not scores, B×T×S."""
    return (state @ weight.T).softmax(-1)


def pairs(state: Tensor, hidden: Tensor) -> Tensor:
    """Pair every state with every hidden state: state B×T×D, hidden B×S×E → B×T×S×(D+E)."""
    T, S = state.shape[1], hidden.shape[1]
    return torch.cat([state[:, :, None].expand(-1, -1, S, -1), hidden[:, None].expand(-1, T, -1, -1)], dim=-1)


SCORES = {
    f.__name__: f
    for f in (dot, scaled_dot, additive, general, concatenating, perceptron, content_based, location_based)
}
