"""The attentions that `catch_broken_attention` hands to a test: right ones and wrong ones. No task is declared here.

attend(query B×H×T×D, key B×H×T×D, value B×H×T×E, mask B×1×T×T) → contexts B×H×T×E, weights B×H×T×T.
What is wrong with an incorrect one is off by more than 1e-4 for random numbers of about 1 and random masks at T = LONGEST, or at T = 1.
"""

import torch
import torch.nn.functional as F

from course_utils.models.attention import dot, masked_softmax, scaled_dot
from course_utils.models.variants import linear, sparsemax

WIDTH, HEADS, LONGEST, MOST = 4, 2, 8, 4  # of queries, keys and values; heads; places; sentences


# Scores B×H×T×T


def _distance(T):
    return (torch.arange(T)[:, None] - torch.arange(T)).abs()


def _alibi(query, key):
    H, T = query.shape[1:3]
    return scaled_dot(query, key) - 2 ** (-2 * torch.arange(1, H + 1) / H)[:, None, None] * _distance(T)


def _by_the_length_of_all_keys(query, key):
    """Hidden keys, too, say how the scores are scaled."""
    return dot(query, key) / key.square().mean((-2, -1), keepdim=True)


def _only(where):
    """Scores that are divided so where `where(sentence, head, row)` is True, and elsewhere plain products."""

    def score(query, key):
        places = torch.meshgrid(*map(torch.arange, query.shape[:3]), indexing="ij")  # B H T each
        return torch.where(where(*places)[..., None], _by_the_length_of_all_keys(query, key), dot(query, key))

    return score


def _less_the_mean_query(query, key):
    return scaled_dot(query - query.mean(2, keepdim=True), key)


def _with_neighbours(query, key):
    return scaled_dot(query, key + F.pad(key, (0, 0, 1, 0))[:, :, :-1] / 2)


# Weights from scores and a mask


def _softmax_in_float64(scores, mask):
    """Less the largest score of all, hidden ones too."""
    scores = scores.double()
    powers = (scores - scores.amax(-1, keepdim=True)).exp() * mask
    return (powers / powers.sum(-1, keepdim=True).clamp(min=1e-300)).float()


def _even(scores, mask):
    return masked_softmax(0 * scores, mask)


def _largest(scores, mask):
    best = scores.masked_fill(~mask, -torch.inf).argmax(-1)
    return F.one_hot(best, scores.shape[-1]).float().masked_fill(~mask, 0.0)


def _near(mask, width=2):
    return mask & (_distance(mask.shape[-1]) <= width)


def _window(scores, mask):
    """Places at most two away, or all that may be attended to if there is none."""
    near = _near(mask)
    return masked_softmax(scores, torch.where(near.any(-1, keepdim=True), near, mask))


def _window_without_a_way_out(scores, mask):
    return masked_softmax(scores, _near(mask, 1))


def _next_seen(scores, mask):
    return masked_softmax(scores, mask | torch.eye(mask.shape[-1]).roll(1, 1).triu(1).bool())


def _hidden_in_the_sum(scores, mask):
    return scores.softmax(-1) * mask


def _even_if_empty(scores, mask):
    return scores.masked_fill(~mask, -1e9).softmax(-1)


def _rounded(scores, mask):
    return masked_softmax(scores, mask).bfloat16().float()


def _small_leak(scores, mask):
    """A hundredth of a row's weight goes to all positions alike."""
    weights = masked_softmax(scores, mask)
    return torch.where(mask.any(-1, keepdim=True), 0.99 * weights + 0.01 / mask.shape[-1], weights)


def _only_where(is_so, wrong):
    """Weights that are wrong only where T is one for which `is_so(T)` is true."""
    return lambda scores, mask: (wrong if is_so(mask.shape[-1]) else masked_softmax)(scores, mask)


# What is returned


def _mixed(weights, value):
    return weights @ value, weights


def _made(score=scaled_dot, normalise=masked_softmax, end=_mixed):
    return lambda query, key, value, mask: end(normalise(score(query, key), mask), value)


def _sharper(weights, value):
    """The contexts come from other weights than those that are returned."""
    sharp = weights.square() / weights.square().sum(-1, keepdim=True).clamp(min=1e-12)
    return sharp @ value, weights


def _mean_if_empty(weights, value):
    contexts = weights @ value
    return torch.where(weights.sum(-1, keepdim=True) > 0, contexts, value.mean(2, keepdim=True)), weights


# Right ones


def _by_the_library(query, key, value, mask):
    _, weights = _made()(query, key, value, mask)
    seen = mask.any(-1, keepdim=True)
    contexts = F.scaled_dot_product_attention(query, key, value, mask | ~seen)
    return contexts * seen, weights


RIGHT = {
    _made(): "a correct one: softmax of scaled products",
    _made(dot): "a correct one: softmax of products that are not scaled",
    _made(dot, sparsemax): "a correct one: sparsemax",
    linear: "a correct one: linear attention",
    _made(normalise=_largest): "a correct one: the largest score gets all the weight",
    _made(normalise=_even): "a correct one: uniform weights",
    _made(normalise=_softmax_in_float64): "a correct one: it subtracts the maximum over all scores, in float64",
    _by_the_library: "a correct one: contexts from F.scaled_dot_product_attention",
}

RIGHT_WITH_AN_ORDER = {
    _made(_alibi): "a correct one in which order matters: ALiBi",
    _made(normalise=_window): "a correct one in which order matters: a window",
}


# Wrong ones


def _mask_altered(query, key, value, mask):
    result = _made()(query, key, value, mask)
    mask.logical_not_()
    return result


def _key_altered(query, key, value, mask):
    key /= 2
    return _made(dot)(query, key, value, mask)


def _stops_at_one_place(query, key, value, mask):
    if query.shape[2] == 1:
        raise RuntimeError("there is nothing to attend to")
    return _made()(query, key, value, mask)


WRONG = {
    _made(normalise=_even, end=lambda weights, value: (weights @ value, weights[:, :1])): "an incorrect one: its weights are B×1×T×T",
    _mask_altered: "an incorrect one: it changes the mask that it is given",
    _key_altered: "an incorrect one: it changes the keys that it is given",
    _made(normalise=lambda scores, mask: 1.5 * masked_softmax(scores, mask) - 0.5 * _even(scores, mask)): "an incorrect one: it has weights below 0",
    _made(normalise=lambda scores, mask: scores.softmax(-1)): "an incorrect one: the mask has no effect",
    _made(normalise=lambda scores, mask: masked_softmax(scores, mask[:1].expand_as(mask))): "an incorrect one: it uses the first sentence's mask for all",
    _made(normalise=_next_seen): "an incorrect one: each row sees the next position, although its mask hides it",
    _made(normalise=_small_leak): "an incorrect one: a hundredth of the weight goes to all positions, hidden ones included",
    _made(normalise=_hidden_in_the_sum): "an incorrect one: hidden positions are part of the sum that weights are divided by, so rows sum to less than 1",
    _made(normalise=_rounded): "an incorrect one: its weights are rounded to three digits, so rows do not sum to 1",
    _made(normalise=lambda scores, mask: masked_softmax(scores.mT, mask.mT).mT): "an incorrect one: its softmax runs over the queries",
    _made(normalise=lambda scores, mask: scores.masked_fill(~mask, -torch.inf).softmax(-1)): "an incorrect one: NaN where nothing may be attended to",
    _made(normalise=_even_if_empty): "an incorrect one: uniform weights where nothing may be attended to",
    _made(end=_mean_if_empty): "an incorrect one: the mean of all values where nothing may be attended to, with weights of 0",
    _made(end=_sharper): "an incorrect one: its contexts come from weights other than the ones it returns",
    _made(end=lambda weights, value: (weights @ value, weights[:, :1].expand_as(weights).clone())): "an incorrect one: it returns the first head's weights for both",
    _made(_by_the_length_of_all_keys): "an incorrect one: its scores are divided by the length of all keys, hidden ones included",
    _made(_only(lambda b, h, t: h == 0)): "an incorrect one: in the first head, scores are divided by the length of all keys, hidden ones included",
    _made(_only(lambda b, h, t: h == 1)): "an incorrect one: in the second head, scores are divided by the length of all keys, hidden ones included",
    _made(_only(lambda b, h, t: b > 0)): "an incorrect one: in all sentences but the first, scores are divided by the length of all keys, hidden ones included",
    _made(_only(lambda b, h, t: b < b.max())): "an incorrect one: in all sentences but the last, scores are divided by the length of all keys, hidden ones included",
    _made(_only(lambda b, h, t: t % 2 == 0)): "an incorrect one: in the rows 0, 2, 4 and so on, scores are divided by the length of all keys, hidden ones included",
    _made(_only(lambda b, h, t: t % 2 == 1)): "an incorrect one: in the rows 1, 3, 5 and so on, scores are divided by the length of all keys, hidden ones included",
    _made(_less_the_mean_query): "an incorrect one: the mean of all queries is subtracted, so a row depends on other rows' queries",
    _made(lambda query, key: scaled_dot(query, key + key.mean(0))): "an incorrect one: scores are mixed across the batch, so sentences see one another",
    _made(lambda query, key: scaled_dot(query, key + 0.2 * key.flip(1))): "an incorrect one: each head's scores contain a little of the other head's",
    _made(lambda query, key: scaled_dot(query, key) + torch.arange(key.shape[2]) % 2): "an incorrect one: every second key is favoured, though order should not matter",
    _made(_alibi): "an incorrect one: ALiBi, though order should not matter",
    _made(normalise=_window): "an incorrect one: a window, though order should not matter",
}  # fmt: skip
WRONG_WITH_AN_ORDER = {
    _made(_alibi, _next_seen): "an incorrect one in which order matters: ALiBi, and each row sees the next position, although its mask hides it",
    _made(_alibi, _hidden_in_the_sum): "an incorrect one in which order matters: ALiBi, and hidden positions are part of the sum that weights are divided by",
    _made(normalise=_window_without_a_way_out): "an incorrect one in which order matters: a row whose window is hidden sums to 0, although its mask has a True",
    _made(_with_neighbours): "an incorrect one in which order matters: each key is mixed with the previous one, which may be hidden",
}  # fmt: skip
LAST = {
    _made(end=lambda weights, value: ((weights @ value).squeeze(), weights.squeeze())): "an incorrect one: it loses its axes at T = 1",
    _stops_at_one_place: "an incorrect one: it fails at T = 1",
    _made(normalise=_only_where(lambda T: T > 5, _next_seen)): "an incorrect one: each row sees the next position if T is above 5",
    _made(normalise=_only_where(lambda T: T == 1, _even_if_empty)): "an incorrect one: at T = 1 a row that may see nothing gets a weight of 1",
}  # fmt: skip
