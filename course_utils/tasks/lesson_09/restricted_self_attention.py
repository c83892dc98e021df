"""Task 09.restricted_self_attention: each place looks at its neighbourhood alone."""

from operator import le, matmul

import torch

from course_utils.checks.running.contract import Case
from course_utils.checks.task import Task, count, sizes
from course_utils.tasks.shares import USUAL

task = Task(
    "09.restricted_self_attention",
    "attention to the neighbourhood",
    arguments=("query B×T×D", "key B×T×D", "value B×T×E", "radius"),
    result="context B×T×E",
    difficulty=3,
    importance=3,
    minutes=20,
    hints=(
        "How far is place j from place i? Compute that for all pairs, and compare it with the radius: that is a mask of T×T, the same for all sentences. The places beyond the ends of a sentence are not in it at all, so nothing has to be padded.",
        (
            "Take three places with the queries [1], [1], [1], the keys [0], [1.0986], [0] and the values [4], [8], [16], and a radius of 1. The scores are those of the keys: 0, 1.0986 and 0, with the exponentials 1, 3 and 1. The first place sees places 0 and 1: its weights are 0.25 and 0.75, and its context is 0.25·4 + 0.75·8 = 7. "
            "The second sees all three, with the weights 0.2, 0.6 and 0.2: 0.2·4 + 0.6·8 + 0.2·16 = 8.8. The third sees places 1 and 2: 0.75·8 + 0.25·16 = 10."
        ),
        "distance = |i - j| for all pairs of places, T×T, from torch.arange with an axis more and without; scores = query times key transposed, divided by the root of D; -inf where the distance is above the radius; softmax over the last axis; return the weights times value.",
    ),
    partial=USUAL,
)


def _distance(T):
    place = torch.arange(T)
    return (place[:, None] - place).abs()


@task.property
def contexts_lie_between_the_values_in_reach(case, value):
    """A weighted sum whose weights are not negative and sum to 1 lies between the smallest and the largest value."""
    values, radius = case.args[2].double(), case.args[3]
    near = (_distance(values.shape[1]) <= radius)[None, :, :, None]
    least = torch.where(near, values[:, None], torch.inf).amin(2)
    most = torch.where(near, values[:, None], -torch.inf).amax(2)
    room = 1e-4 * (1 + values.abs().max())
    outside = ((value < least - room) | (value > most + room)).any(2).any(0).nonzero()[:, 0].tolist()
    return (
        f"A context should lie between the smallest and the largest of the values at most {radius} away; one of yours at place {outside[0]} lies outside. Are the weights of each place at least 0, do they sum to 1, and are they 0 for the places that are farther away?"
        if outside
        else None
    )


def _inputs(draw, B, T, D, E, radius, dtype=torch.float32):
    return (*(draw.numbers(*shape, dtype=dtype) for shape in ((B, T, D), (B, T, D), (B, T, E))), radius)


@task.cases
def _(draw):
    for size in sizes(B=2, T=7, D=3, E=5):
        T, radius = (size.T, 2) if size.full else (size.T + 3, 1)
        name = f"{count(size.B, 'sentence')} of {T} words, widths D={size.D}, E={size.E}, radius {radius}"
        yield Case(name, _inputs(draw, size.B, T, size.D, size.E, radius), size.full)
    yield Case("11 words, radius 3", _inputs(draw, 2, 11, 3, 2, 3))
    yield Case("17 words, radius 5", _inputs(draw, 2, 17, 2, 3, 5))
    yield Case("as many words as features", _inputs(draw, 2, 5, 5, 5, 1))
    yield Case("as many sentences as words", _inputs(draw, 5, 5, 3, 2, 2))
    yield Case("radius 0", _inputs(draw, 2, 5, 3, 7, 0), True, edge=True)
    yield Case("the radius reaches the far end", _inputs(draw, 2, 5, 3, 7, 4), edge=True)
    yield Case("the radius is larger than the sentence", _inputs(draw, 2, 3, 5, 7, 11), True, edge=True)
    yield Case("a single word, widths of 1", _inputs(draw, 1, 1, 1, 1, 1), True, edge=True)
    yield Case("200 words, radius 7", _inputs(draw, 1, 200, 3, 5, 7), edge=True)
    yield Case("float64 numbers", _inputs(draw, 2, 7, 3, 5, 2, torch.float64), True, edge=True)
    # Places 0 and 1 are in each other's reach, and place 2, which is not in that of 0, has a far larger score.
    key = torch.tensor([[[-100.0], [-100.5], [100.0], [-99.0]]])
    yield Case("scores of ±10,000", (100 * torch.ones(1, 4, 1), key, draw.numbers(1, 4, 2) + 0.25, 1), hazard=True)


@task.oracle
def _(query, key, value, radius):
    sentences = []
    for queries, keys, values in zip(query, key, value, strict=True):
        contexts = []
        for i, asking in enumerate(queries):
            near = [j for j in range(len(keys)) if i - radius <= j <= i + radius]
            scores = torch.stack([(asking * keys[j]).sum() for j in near]) / len(asking) ** 0.5
            shares = (scores - scores.detach().max()).exp()
            contexts.append(sum(share * values[j] for share, j in zip(shares, near, strict=True)) / shares.sum())
        sentences.append(torch.stack(contexts))
    return torch.stack(sentences)


@task.steps
def _(query, key, value, radius):
    products = yield "the products of query and key", matmul, query, key.mT
    scores = yield "the scores", lambda products, query: products / query.shape[-1] ** 0.5, products, query
    distance = yield "the distances", lambda query: _distance(query.shape[1]), query
    near = yield "the places in reach", le, distance, radius
    masked = yield "the masked scores", lambda scores, near: scores.masked_fill(~near, -torch.inf), scores, near
    weights = yield "the weights", lambda masked: masked.softmax(-1), masked
    context = yield "the product of weights and value", matmul, weights, value
    return context


def _scores(query, key):
    return query @ key.mT / query.shape[-1] ** 0.5


def _softmax(scores, near):
    return scores.masked_fill(~near, -torch.inf).softmax(-1)


def _within(radius, T):
    return _distance(T) <= radius


def _right_but(name, sentence, near=_within, weights=_softmax, scores=_scores):
    """Register a mistake that is right but for the places in reach, the weights, or the scores."""

    def mistaken(query, key, value, radius):
        return weights(scores(query, key), near(radius, query.shape[1])) @ value

    task.mistake(sentence, name)(mistaken)


# Which places are in reach


def _ahead(T):
    """How far each column lies behind each row: negative on the left."""
    place = torch.arange(T)
    return place - place[:, None]


_right_but("radius_unused", "The radius has no effect: each place sees all.", lambda radius, T: _distance(T) >= 0)
_right_but(
    "radius_exclusive",
    "A place that is exactly `radius` away is left out. It is in reach: at most `radius` away means `<=`.",
    lambda radius, T: _distance(T) < radius,
)
_right_but(
    "one_too_far",
    "You look one place too far on both sides: places `radius` + 1 away are in reach in your answer.",
    lambda radius, T: _distance(T) <= radius + 1,
)
_right_but(
    "left_side_alone",
    "Each place sees itself and what stands on its left. The neighbourhood has two sides: take the absolute value of the distance.",
    lambda radius, T: (_ahead(T) <= 0) & (_distance(T) <= radius),
)
_right_but(
    "right_side_alone",
    "Each place sees itself and what stands on its right. The neighbourhood has two sides: take the absolute value of the distance.",
    lambda radius, T: (_ahead(T) >= 0) & (_distance(T) <= radius),
)
_right_but(
    "no_limit_on_the_left",
    "On the left each place sees all, however far away. The radius holds on both sides: take the absolute value of the distance.",
    lambda radius, T: _ahead(T) <= radius,
)
_right_but(
    "no_limit_on_the_right",
    "On the right each place sees all, however far away. The radius holds on both sides: take the absolute value of the distance.",
    lambda radius, T: _ahead(T) >= -radius,
)
_right_but(
    "right_end_left_out",
    "The place that is `radius` away on the right is left out, and the one on the left is not. Note that a slice or a range ends before its second number: it has to be i + radius + 1.",
    lambda radius, T: (_ahead(T) >= -radius) & (_ahead(T) < radius),
)
_right_but(
    "left_end_left_out",
    "The place that is `radius` away on the left is left out, and the one on the right is not. Both are in reach.",
    lambda radius, T: (_ahead(T) > -radius) & (_ahead(T) <= radius),
)
_right_but(
    "itself_left_out",
    "No place sees itself in your answer. A place is 0 away from itself, and so in its own reach.",
    lambda radius, T: (_distance(T) <= radius) & (_distance(T) > 0),
)
_right_but(
    "radius_as_width",
    "You look at half of `radius` on each side. A radius reaches from the place itself to each side: `radius` places on the left and as many on the right.",
    lambda radius, T: _distance(T) <= radius // 2,
)
_right_but(
    "twice_the_radius",
    "You look twice as far as the radius on each side. It holds on each side, not for both together.",
    lambda radius, T: _distance(T) <= 2 * radius,
)
_right_but(
    "far_places_alone",
    "The mask is used the wrong way round: the places in reach are hidden, and those that are farther away are seen.",
    lambda radius, T: _distance(T) > radius,
)


_right_but(
    "places_added",
    "Places i and j are in reach in your answer where i + j is at most the radius, so that later words see nothing and get NaN. How far they are apart is their difference.",
    lambda radius, T: torch.arange(T)[:, None] + torch.arange(T) <= radius,
)


def _moved_inward(radius, T):
    start = (torch.arange(T) - radius).clamp(min=0, max=max(T - 2 * radius - 1, 0))
    place = torch.arange(T)
    return (place >= start[:, None]) & (place <= start[:, None] + 2 * radius)


_right_but(
    "window_moved_inward",
    "Near the ends your window is moved inward, so that it always holds 2·radius + 1 places, and then it reaches too far on one side. It becomes smaller there.",
    _moved_inward,
)


def _in_blocks(radius, T):
    block = torch.arange(T) // (2 * radius + 1)
    return block[:, None] == block


_right_but(
    "in_blocks",
    "You cut the sentence into blocks of 2·radius + 1 places, and each place sees its block. Each place has a neighbourhood of its own, with the place in the middle.",
    _in_blocks,
)
_right_but(
    "circle",
    "The neighbourhood goes round in a circle: places at one end see those at the other. Beyond the ends there is nothing; `roll`, circular padding and negative places come back at the other end.",
    lambda radius, T: torch.minimum(_distance(T), T - _distance(T)) <= radius,
)


@task.mistake(
    "Where i - radius is negative, your slice begins at a place counted from the end, and it is empty or wrong. Let it begin at max(0, i - radius)."
)
def negative_start(query, key, value, radius):
    contexts = []
    for i in range(query.shape[1]):
        near = slice(i - radius, i + radius + 1)
        contexts.append(_scores(query[:, i : i + 1], key[:, near]).softmax(-1) @ value[:, near])
    return torch.cat(contexts, 1)


def _windows(numbers, radius, mode="constant"):
    """Return the neighbourhood of each place: B×T×W×D, with numbers of a kind beyond the ends."""
    T = numbers.shape[1]
    place = torch.arange(T)[:, None] + torch.arange(-radius, radius + 1)
    inside = place.clamp(0, T - 1)
    windows = numbers[:, inside]
    return windows if mode == "replicate" else windows.masked_fill((place != inside)[..., None], 0.0)


def _padded(query, key, value, radius, mode):
    scores = (query[:, :, None] * _windows(key, radius, mode)).sum(-1) / query.shape[-1] ** 0.5
    return (scores.softmax(-1)[..., None] * _windows(value, radius, mode)).sum(2)


@task.mistake(
    "Beyond the ends of the sentence you pad with zeros, and these take part in the softmax: a key of zeros has the score 0, and exp(0) = 1 is a weight like any other. Leave these places out, or put -inf in place of their scores."
)
def zeros_beyond_the_ends(query, key, value, radius):
    return _padded(query, key, value, radius, "constant")


@task.mistake(
    "Beyond the ends of the sentence its first and its last word are repeated, and so they count several times. Count each place once: beyond the ends there is nothing."
)
def ends_repeated(query, key, value, radius):
    return _padded(query, key, value, radius, "replicate")


@task.mistake(
    "The sentences of the batch are laid end to end, and windows reach from one into the next. Each sentence stands by itself."
)
def across_sentences(query, key, value, radius):
    B, T, _ = query.shape
    query, key, flat = (numbers.flatten(0, 1)[None] for numbers in (query, key, value))
    return (_softmax(_scores(query, key), _within(radius, B * T)) @ flat).view(value.shape)


# Weights


def _over(axis):
    return lambda scores, near: torch.nan_to_num(scores.masked_fill(~near, -torch.inf).softmax(axis))


_right_but(
    "softmax_over_queries",
    "Your softmax runs over the places that ask, and so they compete for each key. Each spreads its weight over the keys, the last axis.",
    weights=_over(1),
)
_right_but(
    "softmax_over_batch",
    "Your softmax runs over the batch, so sentences compete with one another. Each place spreads its weight over the keys, the last axis.",
    weights=_over(0),
)
_right_but(
    "weights_transposed",
    "The weights are transposed when they meet the values: each place takes what others would give it weight for. The rows of the weights belong to the places that ask.",
    weights=lambda scores, near: _softmax(scores, near).mT,
)
_right_but(
    "no_softmax",
    "You use the scores as weights: the softmax is missing.",
    weights=lambda scores, near: scores * near,
)
_right_but(
    "equal_weights",
    "All places in reach get the same weight, so your context is a moving mean of the values. The scores should decide.",
    weights=lambda scores, near: _softmax(0 * scores, near),
)
_right_but(
    "largest_alone",
    "You give all weight to the place with the largest score. Give each place in reach its share with a softmax, which also lets a gradient reach the scores.",
    weights=lambda scores, near: torch.zeros_like(scores).scatter(
        -1, scores.masked_fill(~near, -torch.inf).argmax(-1, keepdim=True), 1.0
    ),
)
_right_but(
    "mean_for_sum",
    "You take the mean of the weighted values over all places, and it is too small by their number. The weights sum to 1 already: add up.",
    weights=lambda scores, near: _softmax(scores, near) / scores.shape[-1],
)
_right_but(
    "masked_after",
    "The mask comes after the softmax over the whole sentence, so the remaining weights no longer sum to 1. Take out the scores of places that are too far away before the softmax.",
    weights=lambda scores, near: scores.softmax(-1) * near,
)
_right_but(
    "masked_with_zeros",
    "The scores of places that are too far away become 0 or nearly 0. exp(0) = 1 is a weight like any other. Put -inf in their place.",
    weights=lambda scores, near: (scores * near).softmax(-1),
)
_right_but(
    "mask_added",
    "You add the mask to the scores as 0 and 1. A score that is larger by 1 has a weight that is 2.7 times as large, and no weight becomes 0. Put -inf in place of the scores of places that are too far away.",
    weights=lambda scores, near: (scores + near).softmax(-1),
)
_right_but(
    "fill_undercut",
    "The scores of places that are too far away become a finite number, such as -100 or -1000. The honest scores can be lower, and then those places take the weight. Only -inf lies below every score.",
    weights=lambda scores, near: scores.masked_fill(~near, -1000.0).softmax(-1),
)
_right_but(
    "renormalised",
    "The mask comes after a softmax over the whole sentence, and you divide by what is left. Where a place out of reach has by far the largest score, nothing is left, and 0/0 is NaN. Take out its score before the softmax.",
    weights=lambda scores, near: (scores.softmax(-1) * near) / (scores.softmax(-1) * near).sum(-1, keepdim=True),
)
_right_but(
    "overflow",
    "exp overflows: for a score above about 88 it is infinite in float32, and infinity divided by infinity is NaN. torch.softmax takes scores of any size; by hand, subtract the largest score in reach first.",
    weights=lambda scores, near: (
        scores.masked_fill(~near, -torch.inf).exp() / scores.masked_fill(~near, -torch.inf).exp().sum(-1, keepdim=True)
    ),
)


# Scores


SCALES = {
    "unscaled": ("The scores are not scaled: divide them by √D.", lambda query: 1),
    "divided_by_D": ("You divide the scores by D. Divide them by its square root.", lambda query: query.shape[2]),
    "divided_by_half_of_D": (
        "You divide the scores by half of D. Divide them by its square root: `** 0.5`.",
        lambda query: query.shape[2] * 0.5,
    ),
    "divided_by_D_squared": (
        "You divide the scores by the square of D. Divide them by its square root.",
        lambda query: query.shape[2] ** 2,
    ),
    "multiplied_by_D": (
        "You multiply the scores by D. Divide them by its square root.",
        lambda query: 1 / query.shape[2],
    ),
    "divided_by_root_of_T": (
        "You divide the scores by √T, the root of the number of words. Divide by √D, the root of the width of the queries.",
        lambda query: query.shape[1] ** 0.5,
    ),
    "multiplied_by_root": (
        "You multiply the scores by √D. Divide them by it.",
        lambda query: query.shape[2] ** -0.5,
    ),
}
for _name, (_sentence, _scale) in SCALES.items():
    _right_but(_name, _sentence, scores=lambda query, key, scale=_scale: query @ key.mT / scale(query))


@task.mistake(
    "You divide the scores by the root of the number of places in reach. Divide by √D, the root of the width of the queries."
)
def divided_by_root_of_window(query, key, value, radius):
    near = _within(radius, query.shape[1])
    return _softmax(query @ key.mT / near.sum(-1, keepdim=True) ** 0.5, near) @ value


# Parts


def _attend(query, key, value, radius):
    return _softmax(_scores(query, key), _within(radius, query.shape[1])) @ value


@task.mistake(
    "Queries and keys are exchanged. The rows of the scores belong to the queries: query times key transposed."
)
def query_and_key_exchanged(query, key, value, radius):
    return _attend(key, query, value, radius)


@task.mistake("The queries are compared with one another. Compare them with the keys: query times key transposed.")
def queries_for_keys(query, key, value, radius):
    return _attend(query, query, value, radius)


@task.mistake("The keys are compared with one another. Compare the queries with them: query times key transposed.")
def keys_for_queries(query, key, value, radius):
    return _attend(key, key, value, radius)


@task.mistake("You sum the keys. The keys are for scoring; the values are what is summed.")
def keys_summed(query, key, value, radius):
    return _attend(query, key, key, radius)


@task.mistake("You sum the queries. The queries are for scoring; the values are what is summed.")
def queries_summed(query, key, value, radius):
    return _attend(query, key, query, radius)


@task.mistake("You return the weights. Return the contexts: the weights times the values.")
def weights_returned(query, key, value, radius):
    return _softmax(_scores(query, key), _within(radius, query.shape[1]))


@task.mistake("You return contexts and weights. Only the contexts are asked for.")
def weights_too(query, key, value, radius):
    return _attend(query, key, value, radius), weights_returned(query, key, value, radius)
