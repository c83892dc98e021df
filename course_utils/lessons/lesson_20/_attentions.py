"""The attentions that `catch_broken_attention` hands to a test: right ones and wrong ones. No task is declared here.

attend(query B×H×T×D, key B×H×T×D, value B×H×T×E, mask B×1×T×T) → contexts B×H×T×E, weights B×H×T×T.
What is wrong with a wrong one is off by more than 1e-4 for random numbers of about 1 and random masks at T = LONGEST, or at T = 1.
"""

import torch
import torch.nn.functional as F

WIDTH, HEADS, LONGEST, MOST = 4, 2, 8, 4  # of queries, keys and values; heads; places; sentences


# Scores B×H×T×T


def _dot(query, key):
    return query @ key.mT


def _scaled(query, key):
    return query @ key.mT / query.shape[-1] ** 0.5


def _cosine(query, key):
    return 3 * F.normalize(query, dim=-1) @ F.normalize(key, dim=-1).mT


def _nearness(query, key):
    return -(query[..., :, None, :] - key[..., None, :, :]).square().sum(-1) / 2


def _own_temperature(query, key):
    """Each head has its own."""
    return _scaled(query, key) * torch.arange(1, query.shape[1] + 1)[:, None, None]


def _mapped(query, key):
    return (F.elu(query) + 1) @ (F.elu(key) + 1).mT


def _distance(T):
    return (torch.arange(T)[:, None] - torch.arange(T)).abs()


def _alibi(query, key):
    H, T = query.shape[1:3]
    return _scaled(query, key) - 2 ** (-2 * torch.arange(1, H + 1) / H)[:, None, None] * _distance(T)


def _first_favoured(query, key):
    return _scaled(query, key) + (torch.arange(key.shape[2]) == 0)


def _turned(query, key):
    """Queries and keys are turned by an angle that grows with their position."""
    angles = torch.arange(query.shape[2])[:, None] * torch.tensor([1.0, 0.3])
    turns = torch.polar(torch.ones_like(angles), angles)
    query, key = (torch.view_as_complex(x.reshape(*x.shape[:3], 2, 2)) * turns for x in (query, key))
    return (query @ key.conj().mT).real / 2


def _every_second_favoured(query, key):
    return _scaled(query, key) + torch.arange(key.shape[2]) % 2


def _by_the_length_of_all_keys(query, key):
    """Hidden keys, too, say how the scores are scaled."""
    return _dot(query, key) / key.square().mean((-2, -1), keepdim=True)


def _less_the_mean_query(query, key):
    return _scaled(query - query.mean(2, keepdim=True), key)


def _with_neighbours(query, key):
    return _scaled(query, key + F.pad(key, (0, 0, 1, 0))[:, :, :-1] / 2)


def _mean_over_the_batch(query, key):
    return _scaled(query, key + key.mean(0))


def _next_sentence(query, key):
    return _scaled(query, key + key.roll(1, 0) / 2)


def _mean_over_heads(query, key):
    scores = _scaled(query, key)
    return scores.mean(1, keepdim=True).expand_as(scores)


def _a_little_of_the_other_head(query, key):
    return _scaled(query, key + 0.2 * key.flip(1))


# Weights from scores and a mask


def _softmax(scores, mask):
    return scores.masked_fill(~mask, -torch.inf).softmax(-1).masked_fill(~mask, 0.0)


def _softmax_in_float64(scores, mask):
    """Less the largest score of all, hidden ones too."""
    scores = scores.double()
    powers = (scores - scores.amax(-1, keepdim=True)).exp() * mask
    return (powers / powers.sum(-1, keepdim=True).clamp(min=1e-300)).float()


def _over_their_sum(powers):
    return powers / powers.sum(-1, keepdim=True).clamp(min=1e-6)


def _shares(scores, mask):
    return _over_their_sum(scores.masked_fill(~mask, 0.0))


def _relu(scores, mask):
    return _over_their_sum((F.relu(scores) + 0.01).masked_fill(~mask, 0.0))


def _even(scores, mask):
    return _over_their_sum(mask.expand_as(scores).float())


def _largest(scores, mask):
    best = scores.masked_fill(~mask, -torch.inf).argmax(-1)
    return F.one_hot(best, scores.shape[-1]).float().masked_fill(~mask, 0.0)


def _sparsemax(scores, mask):
    """By halving: 50 steps towards the threshold of each row."""
    hidden = scores.masked_fill(~mask, -torch.inf)
    high = hidden.amax(-1, keepdim=True).nan_to_num(neginf=0.0).double()
    low = high - 1
    for _ in range(50):
        middle = (low + high) / 2
        too_much = (hidden - middle).clamp(min=0).sum(-1, keepdim=True) > 1
        low, high = torch.where(too_much, middle, low), torch.where(too_much, high, middle)
    return (hidden - low).clamp(min=0).float().masked_fill(~mask, 0.0)


def _near(mask, width=2):
    return mask & (_distance(mask.shape[-1]) <= width)


def _window(scores, mask):
    """Places at most two away, or all that may be attended to if there is none."""
    near = _near(mask)
    return _softmax(scores, torch.where(near.any(-1, keepdim=True), near, mask))


def _window_without_a_way_out(scores, mask):
    return _softmax(scores, _near(mask, 1))


def _next_seen(scores, mask):
    return _softmax(scores, mask | torch.eye(mask.shape[-1]).roll(1, 1).triu(1).bool())


def _hidden_in_the_sum(scores, mask):
    return scores.softmax(-1) * mask


def _sigmoid(scores, mask):
    return scores.sigmoid() * mask


def _below_zero(scores, mask):
    return 1.5 * _softmax(scores, mask) - 0.5 * _even(scores, mask)


def _nan_if_empty(scores, mask):
    return scores.masked_fill(~mask, -torch.inf).softmax(-1)


def _even_if_empty(scores, mask):
    return scores.masked_fill(~mask, -1e9).softmax(-1)


def _over_axis(dim):
    return lambda scores, mask: scores.masked_fill(~mask, -torch.inf).softmax(dim).masked_fill(~mask, 0.0).nan_to_num()


def _first_mask(scores, mask):
    return _softmax(scores, mask[:1].expand_as(mask))


def _no_mask(scores, mask):
    return scores.softmax(-1)


def _mask_inverted(scores, mask):
    return _softmax(scores, ~mask)


def _rounded(scores, mask):
    return _softmax(scores, mask).bfloat16().float()


def _small_leak(scores, mask):
    """A hundredth of a row's weight goes to all positions alike."""
    weights = _softmax(scores, mask)
    return torch.where(mask.any(-1, keepdim=True), 0.99 * weights + 0.01 / mask.shape[-1], weights)


def _if(wrong, where, right=_softmax):
    """Weights that are wrong only where `where(weights)`, of which it sets some to True, says so."""

    def normalise(scores, mask):
        return torch.where(where(scores), wrong(scores, mask), right(scores, mask))

    return normalise


def _long(scores):
    return torch.full_like(scores, scores.shape[-1] > 5, dtype=torch.bool)


def _single(scores):
    return torch.full_like(scores, scores.shape[-1] == 1, dtype=torch.bool)


def _last_head(scores):
    return (torch.arange(scores.shape[1]) == HEADS - 1)[:, None, None]


def _last_sentence(scores):
    return (torch.arange(len(scores)) == max(len(scores) - 1, 1))[:, None, None, None]


def _last_row(scores):
    return (torch.arange(scores.shape[2]) == scores.shape[2] - 1)[:, None]


# What is returned


def _mixed(weights, value):
    return weights @ value, weights


def _made(score=_scaled, normalise=_softmax, end=_mixed):
    def attend(query, key, value, mask):
        return end(normalise(score(query, key), mask), value)

    return attend


def _sharper(weights, value):
    """The contexts come from other weights than those that are returned."""
    sharp = weights.square() / weights.square().sum(-1, keepdim=True).clamp(min=1e-12)
    return sharp @ value, weights


def _mean_if_empty(weights, value):
    contexts = weights @ value
    return torch.where(weights.sum(-1, keepdim=True) > 0, contexts, value.mean(2, keepdim=True)), weights


def _weights_of_the_first_head(weights, value):
    return weights @ value, weights[:, :1].expand_as(weights).clone()


def _weights_turned(weights, value):
    return weights @ value, weights.mT


def _axes_exchanged(weights, value):
    return (weights @ value).transpose(1, 2), weights


def _mean_weights(weights, value):
    return weights @ value, weights.mean(1)


def _one_head_of_weights(weights, value):
    return weights @ value, weights[:, :1]


def _squeezed(weights, value):
    return (weights @ value).squeeze(), weights.squeeze()


def _values_of_the_first_head(weights, value):
    return weights @ value[:, :1], weights


# Right ones


def _one_by_one(query, key, value, mask):
    """Sentence by sentence, head by head, row by row, in float64."""
    contexts, weights = torch.zeros_like(value), value.new_zeros(*value.shape[:3], value.shape[2])
    for b, h, t in torch.cartesian_prod(*map(torch.arange, value.shape[:3])).reshape(-1, 3).tolist():
        seen = mask[b, 0, t]
        if seen.any():
            shares = (key[b, h, seen].double() @ query[b, h, t].double() / 2).softmax(0)
            weights[b, h, t, seen] = shares.float()
            contexts[b, h, t] = (shares @ value[b, h, seen].double()).float()
    return contexts, weights


def _by_the_library(query, key, value, mask):
    _, weights = _made()(query, key, value, mask)
    seen = mask.any(-1, keepdim=True)
    contexts = F.scaled_dot_product_attention(query, key, value, mask | ~seen)
    return contexts * seen, weights


RIGHT = {
    _made(): "a right one: softmax of scaled products",
    _made(_dot): "a right one: softmax of products that are not scaled",
    _made(_dot, _sparsemax): "a right one: sparsemax",
    _made(_mapped, _shares): "a right one: linear attention",
    _made(_scaled, _relu): "a right one: relu in place of the exponential",
    _made(_scaled, _largest): "a right one: the largest score gets all",
    _made(_scaled, _even): "a right one: even weights",
    _made(_cosine): "a right one: cosines",
    _made(_nearness): "a right one: the nearer, the more",
    _made(_own_temperature): "a right one: each head has a temperature of its own",
    _made(_scaled, _softmax_in_float64): "a right one: it subtracts the largest of all scores, in float64",
    _one_by_one: "a right one: row by row, in float64",
    _by_the_library: "a right one: contexts by F.scaled_dot_product_attention",
}

RIGHT_WITH_AN_ORDER = {
    _made(_alibi): "a right one in which order matters: ALiBi",
    _made(_scaled, _window): "a right one in which order matters: a window",
    _made(_turned): "a right one in which order matters: queries and keys turned by their positions",
}


# Wrong ones


def _mask_altered(query, key, value, mask):
    result = _made()(query, key, value, mask)
    mask.logical_not_()
    return result


def _key_altered(query, key, value, mask):
    key /= 2
    return _made(_dot)(query, key, value, mask)


def _stops_at_one_place(query, key, value, mask):
    if query.shape[2] == 1:
        raise RuntimeError("there is nothing to attend to")
    return _made()(query, key, value, mask)


def _own_running_sums(query, key, value, mask):
    """Linear attention from running sums: causal, whatever the mask says."""
    return _made(_mapped, _shares)(query, key, value, torch.ones_like(mask).tril())


WRONG = {
    _made(_scaled, _even, _one_head_of_weights): "a wrong one: its weights are B×1×T×T",
    _made(end=_mean_weights): "a wrong one: its weights have no axis for the heads",
    _made(end=_axes_exchanged): "a wrong one: its contexts are B×T×2×4",
    _made(end=_squeezed): "a wrong one: it loses its axes at T = 1",
    _stops_at_one_place: "a wrong one: it fails at T = 1",
    _mask_altered: "a wrong one: it changes the mask that it is given",
    _key_altered: "a wrong one: it changes the keys that it is given",
    _made(_scaled, _below_zero): "a wrong one: it has weights below 0",
    _made(_scaled, _if(_below_zero, _last_row)): "a wrong one: the last row has weights below 0",
    _made(_scaled, _no_mask): "a wrong one: the mask has no effect",
    _made(_scaled, _mask_inverted): "a wrong one: its mask is turned round",
    _made(_scaled, _first_mask): "a wrong one: it uses the first sentence's mask for all",
    _made(_scaled, _if(_no_mask, _last_sentence)): "a wrong one: the mask has no effect in the last sentence",
    _made(_scaled, _next_seen): "a wrong one: each row sees the next position, although its mask hides it",
    _made(_scaled, _if(_next_seen, _long)): "a wrong one: each row sees the next position where T is above 5",
    _made(_scaled, _small_leak): "a wrong one: a hundredth of the weight goes to all positions, hidden ones too",
    _made(_scaled, _hidden_in_the_sum): "a wrong one: hidden positions count in the sum that weights are divided by, so rows sum to less than 1",
    _made(_scaled, _if(_hidden_in_the_sum, _last_head)): "a wrong one: in the second head hidden positions count in the sum that weights are divided by",
    _made(_scaled, _sigmoid): "a wrong one: rows do not sum to 1",
    _made(_scaled, _rounded): "a wrong one: its weights have three digits only, so rows do not sum to 1",
    _made(_scaled, _over_axis(0)): "a wrong one: its softmax runs over the sentences",
    _made(_scaled, _over_axis(1)): "a wrong one: its softmax runs over the heads",
    _made(_scaled, _over_axis(2)): "a wrong one: its softmax runs over the queries",
    _made(_scaled, _nan_if_empty): "a wrong one: NaN where nothing may be attended to",
    _made(_scaled, _even_if_empty): "a wrong one: even weights where nothing may be attended to",
    _made(_scaled, _if(_even_if_empty, _single)): "a wrong one: at T = 1 a row that may see nothing gets the weight 1",
    _made(end=_mean_if_empty): "a wrong one: the mean of all values where nothing may be attended to, with weights of 0",
    _made(end=_sharper): "a wrong one: its contexts come from other weights than it returns",
    _made(end=_weights_of_the_first_head): "a wrong one: it returns the first head's weights for both",
    _made(end=_values_of_the_first_head): "a wrong one: both heads read the first head's values",
    _made(end=_weights_turned): "a wrong one: it returns its weights transposed",
    _own_running_sums: "a wrong one: a row sees all positions up to its own, whatever its mask says",
    _made(_by_the_length_of_all_keys): "a wrong one: its scores are divided by the length of all keys, hidden ones too",
    _made(_less_the_mean_query): "a wrong one: the mean of all queries is subtracted, so a row depends on other rows' queries",
    _made(_mean_over_the_batch): "a wrong one: scores are mixed over the batch, so sentences see one another",
    _made(_next_sentence): "a wrong one: each sentence uses the next one's numbers for its scores",
    _made(_a_little_of_the_other_head): "a wrong one: each head's scores have a little of the other's",
    _made(_mean_over_heads): "a wrong one: both heads use the mean of their scores",
    _made(_first_favoured): "a wrong one: the first key is favoured, though order should not matter",
    _made(_every_second_favoured): "a wrong one: every second key is favoured, though order should not matter",
    _made(_alibi): "a wrong one: ALiBi, though order should not matter",
    _made(_turned): "a wrong one: queries and keys are turned by their positions, though order should not matter",
    _made(_scaled, _window): "a wrong one: a window, though order should not matter",
    _made(_with_neighbours): "a wrong one: each key is mixed with the one before it, which may be hidden",
}  # fmt: skip
WRONG_WITH_AN_ORDER = {
    _made(_alibi, _next_seen): "a wrong one in which order matters: ALiBi, and each row sees the next position, although its mask hides it",
    _made(_alibi, _hidden_in_the_sum): "a wrong one in which order matters: ALiBi, and hidden positions count in the sum that weights are divided by",
    _made(_scaled, _window_without_a_way_out): "a wrong one in which order matters: a row whose window is hidden sums to 0, although its mask has a True",
    _made(_with_neighbours): "a wrong one in which order matters: each key is mixed with the one before it, which may be hidden",
}  # fmt: skip
