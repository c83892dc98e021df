"""Task 19.attention_block: attention to all places so far, put beside what was there (Mishra et al. 2018, section 3, AttentionBlock)."""

from operator import matmul, truediv

import torch

from course_utils.checks.running.contract import Case
from course_utils.checks.task import Task, sizes
from course_utils.tasks.shares import USUAL

task = Task(
    "19.attention_block",
    "attention that keeps what it was given",
    arguments=("x B×T×D", "weight_q D×K", "weight_k D×K", "weight_v D×E"),
    result="block B×T×(D+E)",
    difficulty=3,
    importance=5,
    minutes=15,
    hints=(
        "This is the self-attention of lesson 09 with the causal mask of lesson 03 and the scaling of lesson 04. A place looks at all places so far, itself included, and what it reads is put beside its own vector, as in 19.dense_block.",
        "Take two places with one feature, 1 and 3, and weight_q = [[1.0986]], weight_k = [[0.5]], weight_v = [[4]]. The queries are 1.0986 and 3.2958, the keys 0.5 and 1.5, the values 4 and 12. K is 1, so nothing is divided. Place 0 sees only itself and reads 4. Place 1 scores 1.6479 and 4.9437. The difference is 3.2958, whose exponential is 27, so the weights are 1/28 and 27/28, and it reads (4 + 27·12)/28 = 11.7143. The block returns [1, 4] and [3, 11.7143].",
        "query, key, value = x times each of the three weights; scores = query times key transposed, divided by the square root of K: B×T×T; put -inf where the key's place comes after the query's; weights = softmax over the last axis; return x and weights times value side by side, along the last axis.",
    ),
    partial=USUAL
    | {
        "divided_by_what_is_left": (0.5, "right for scores of ordinary size."),
        "finite_fill": (0.5, "right for scores of ordinary size."),
        "overflow": (0.5, "right for scores of ordinary size."),
    },
)


@task.property
def what_was_there_stays(case, value):
    """It comes first."""
    x = case.args[0]
    off = (value[..., : x.shape[2]] - x).abs() > 1e-3 * (1 + x.abs())
    return (
        f"The first D features of the result should be x as it came in. For the input “{case.name}” they are not: put x first, and what was read after it."
        if off.any()
        else None
    )


@task.property
def the_first_place_reads_itself(case, value):
    """There is nothing else so far."""
    x, weight_v = case.args[0], case.args[3]
    read, right = value[:, 0, x.shape[2] :], x[:, 0] @ weight_v
    off = (read - right).abs() > 1e-3 * (1 + right.abs())
    return (
        f"Place 0 sees nothing but itself, so its weight is 1 and it reads its own value, x_0 times weight_v. For the input “{case.name}” yours reads something else. Does it see later places, or not even itself?"
        if off.any()
        else None
    )


def _inputs(draw, B, T, D, K, E, dtype=torch.float32):
    x = draw.numbers(B, T, D, dtype=dtype) + 0.125
    weights = ((draw.numbers(D, width, dtype=dtype) + 0.125) / D**0.5 for width in (K, K, E))
    return x, *weights


@task.cases
def _(draw):
    for size in sizes(B=2, T=7, D=3, K=5, E=11):
        B, T = size.B, size.T if size.full else size.T + 2
        name = f"{'1 sequence' if B == 1 else f'{B} sequences'} of {T} places, D = {size.D}, K = {size.K}, E = {size.E}"
        yield Case(name, _inputs(draw, B, T, size.D, size.K, size.E), size.full)
    yield Case("as many features as in keys and values", _inputs(draw, 2, 5, 3, 3, 3), True)
    yield Case("values as wide as keys", _inputs(draw, 2, 5, 3, 2, 2))
    yield Case("values as wide as x", _inputs(draw, 2, 5, 3, 2, 3))
    yield Case("as many sequences as places", _inputs(draw, 5, 5, 2, 3, 2))
    yield Case("as many places as features", _inputs(draw, 2, 5, 5, 3, 5))
    yield Case("B, T, D, K and E all 3", _inputs(draw, 3, 3, 3, 3, 3))
    yield Case("a single place, widths of 1", _inputs(draw, 1, 1, 1, 1, 1), True, edge=True)
    x, *weights = _inputs(draw, 2, 5, 3, 2, 3)
    yield Case("scores in the hundreds", (15 * x, *weights), True, edge=True)
    # Numbers of one feature that lie far apart, so that no two scores come near each other.
    _, *others = _inputs(draw, 2, 7, 1, 3, 2)
    x = 100.0 * torch.stack([torch.arange(7, 0, -1), draw.distinct(7, 1, 8)])[..., None]
    weight_k, weight_v = others[1].abs() + 0.5, others[2]
    yield Case("scores far below 0", (x, -weight_k, weight_k, weight_v), edge=True)
    yield Case("scores far above 0", (x, weight_k, weight_k, weight_v), edge=True)
    yield Case("100 places", _inputs(draw, 1, 100, 3, 2, 3), edge=True)  # more take a loop over pairs too long
    yield Case("float64 numbers", _inputs(draw, 2, 7, 3, 5, 11, torch.float64), True, edge=True)


@task.oracle
def _(x, weight_q, weight_k, weight_v):
    query, key, value = (torch.einsum("btd,dk->btk", x, weight) for weight in (weight_q, weight_k, weight_v))
    rows = []
    for t in range(x.shape[1]):
        scores = (query[:, t : t + 1] * key[:, : t + 1]).sum(2) / weight_k.shape[1] ** 0.5
        shares = (scores - scores.detach().amax(1, keepdim=True)).exp()
        rows.append((shares[..., None] * value[:, : t + 1]).sum(1) / shares.sum(1, keepdim=True))
    return torch.cat([x, torch.stack(rows, 1)], 2)


@task.steps
def _(x, weight_q, weight_k, weight_v):
    query = yield "the queries", matmul, x, weight_q
    key = yield "the keys", matmul, x, weight_k
    value = yield "the values", matmul, x, weight_v
    scores = yield "the product of query and key", matmul, query, key.mT
    scaled = yield "the scores", truediv, scores, weight_k.shape[1] ** 0.5
    masked = yield "the scores with -inf at later places", _masked, scaled
    weights = yield "the softmax", lambda scores: scores.softmax(-1), masked
    read = yield "what is read", matmul, weights, value
    block = yield "x and what is read side by side", _side_by_side, x, read
    return block


def _masked(scores):
    return scores.masked_fill(~_causal(scores), -torch.inf)


def _causal(scores, shift=0):
    """True where a place may look: up to itself, or to `shift` places later."""
    return torch.ones_like(scores, dtype=torch.bool).tril(shift)


def _softmax(scores):
    return _masked(scores).softmax(-1)


def _side_by_side(x, read):
    return torch.cat([x, read], 2)


def _projected(x, weight_q, weight_k, weight_v):
    return x @ weight_q, x @ weight_k, x @ weight_v


def _block(
    x,
    weight_q,
    weight_k,
    weight_v,
    project=_projected,
    scale=lambda D, K, E, T: K**-0.5,
    weigh=_softmax,
    end=_side_by_side,
):
    query, key, value = project(x, weight_q, weight_k, weight_v)
    scores = query @ key.mT * scale(*weight_k.shape, weight_v.shape[1], x.shape[1])
    return end(x, weigh(scores) @ value)


def _mistake(name, sentence, **parts):
    """Register a block that is right but for the parts that are given."""
    task.mistake(sentence, name)(lambda *given: _block(*given, **parts))


def _over_their_sum(weights):
    return weights / weights.sum(-1, keepdim=True)


def _filled(keep, fill=-torch.inf, dim=-1):
    """A softmax of scores that have `fill` wherever keep(scores) is False."""
    return lambda scores: scores.masked_fill(~keep(scores), fill).softmax(dim)


# Who is seen

_mistake(
    "no_mask",
    "Every place sees all places, later ones too. Put -inf at the scores of later places, before the softmax.",
    weigh=lambda scores: scores.softmax(-1),
)
_mistake(
    "mask_the_other_way_round",
    "A place sees itself and the places after it: the mask is the wrong way round. Row t of the scores keeps the columns 0 to t, as tril gives them.",
    weigh=_filled(lambda scores: _causal(scores).mT),
)
_mistake(
    "mask_inverted",
    "You hide what a place may see and show it what comes later: True and False of the mask are exchanged, and the last place, which then sees nothing, becomes NaN. Put -inf at the scores of later places.",
    weigh=_filled(lambda scores: ~_causal(scores)),
)
_mistake(
    "one_place_ahead",
    "The mask is off by one: each place also sees the next one. Row t of the scores keeps the columns 0 to t: hide those above the diagonal, as triu(1) gives them.",
    weigh=_filled(lambda scores: _causal(scores, 1)),
)
_mistake(
    "place_itself_hidden",
    "The mask hides a place from itself, and place 0, which then sees nothing, becomes NaN. Here a place sees itself: triu(1) marks the later places only, triu() the place itself as well.",
    weigh=_filled(lambda scores: _causal(scores, -1)),
)
_mistake(
    "place_itself_hidden_and_zeros",
    "The mask hides a place from itself, and place 0 reads zeros. Here a place sees itself, so place 0 reads its own value.",
    weigh=lambda scores: _filled(lambda scores: _causal(scores, -1))(scores).nan_to_num(0.0),
)
_mistake(
    "place_itself_hidden_and_even",
    "The mask hides a place from itself, and place 0, whose scores are then all alike, shares its weight among all places, later ones too. Here a place sees itself.",
    weigh=_filled(lambda scores: _causal(scores, -1), -1e9),
)
_mistake(
    "place_itself_only",
    "Each place reads only itself. Row t of the scores keeps all columns from 0 to t.",
    weigh=lambda scores: torch.eye(scores.shape[-1], dtype=scores.dtype).expand_as(scores),
)
_mistake(
    "masked_after_the_softmax",
    "You set the weights of later places to 0 after the softmax, so the rest of a row sums to less than 1. Put -inf at their scores before the softmax.",
    weigh=lambda scores: scores.softmax(-1) * _causal(scores),
)
_mistake(
    "divided_by_what_is_left",
    "You take the softmax over all places, later ones too, and divide what is left by its sum. If a later place has by far the largest score, nothing is left, and 0 divided by 0 is NaN. Put -inf at the scores of later places before the softmax.",
    weigh=lambda scores: _over_their_sum(scores.softmax(-1) * _causal(scores)),
)
_mistake(
    "zeros_for_infinity",
    "You set the scores of later places to 0, or multiply them by 0. The softmax then still gives them a weight, since e⁰ is 1. Put -inf there.",
    weigh=_filled(_causal, 0.0),
)
_mistake(
    "finite_fill",
    "The number that you put at later places is not small enough: if all scores so far lie below it, the later places win. Put -inf there, as -torch.inf or float('-inf').",
    weigh=_filled(_causal, -1e4),
)


# Scores and weights

_mistake(
    "not_scaled",
    "The scores are not scaled. Divide them by the square root of K, the width of the keys.",
    scale=lambda D, K, E, T: 1.0,
)
_mistake(
    "divided_by_k",
    "You divide the scores by K. Divide by its square root.",
    scale=lambda D, K, E, T: 1 / K,
)
_mistake(
    "times_the_root",
    "You multiply the scores by the square root of K. Divide by it.",
    scale=lambda D, K, E, T: K**0.5,
)
_mistake(
    "scaled_by_the_width_of_the_values",
    "You divide by the square root of E, the width of the values. The scores are sums over the K features of queries and keys: divide by the square root of K.",
    scale=lambda D, K, E, T: E**-0.5,
)
_mistake(
    "scaled_by_the_width_of_x",
    "You divide by the square root of D, the width of x. The scores are sums over the K features of queries and keys: divide by the square root of K.",
    scale=lambda D, K, E, T: D**-0.5,
)
_mistake(
    "scaled_by_the_number_of_places",
    "You divide by the square root of T, the number of places. Divide by the square root of K, the width of the keys.",
    scale=lambda D, K, E, T: T**-0.5,
)
_mistake(
    "softmax_over_the_queries",
    "Your softmax runs over the queries, axis 1, so it is not the weights of one place that sum to 1. Let it run over the last axis.",
    weigh=_filled(_causal, dim=1),
)
_mistake(
    "softmax_over_the_batch",
    "Your softmax runs over the batch, axis 0, and mixes the sequences. Let it run over the last axis.",
    weigh=lambda scores: _filled(_causal, dim=0)(scores).nan_to_num(0.0),
)
_mistake(
    "softmax_missing",
    "The softmax is missing: the values are weighted by the scores themselves. Take the softmax over the last axis.",
    weigh=lambda scores: scores * _causal(scores),
)
_mistake(
    "softmax_of_infinities_missing",
    "The softmax is missing: the scores of later places are still -inf when you multiply by the values, which gives infinity and NaN. Take the softmax of the scores over the last axis first.",
    weigh=_masked,
)
_mistake(
    "sigmoids",
    "You take the sigmoid of each score, so the weights of a place do not sum to 1. Take the softmax over the last axis.",
    weigh=lambda scores: scores.sigmoid() * _causal(scores),
)
_mistake(
    "even_weights",
    "All places so far get the same weight. The weights are the softmax of the scores.",
    weigh=lambda scores: _over_their_sum(_causal(scores).to(scores.dtype)),
)
_mistake(
    "overflow",
    "If scores are far above 0, exp gives infinity, and infinity divided by infinity is NaN; if they are far below, you get 0 divided by 0. Take torch.softmax, or subtract each row's largest score first.",
    weigh=lambda scores: _over_their_sum(_masked(scores).exp()),
)


@task.mistake(
    "You divide the weights by the square root of K, after the softmax, so they no longer sum to 1. Divide the scores, before the softmax."
)
def divided_after_the_softmax(x, weight_q, weight_k, weight_v):
    K = weight_k.shape[1]
    return _block(x, weight_q * K**0.5, weight_k, weight_v / K**0.5)


# Queries, keys and values

_mistake(
    "query_and_key_exchanged",
    "Queries and keys are exchanged. The rows of the scores belong to the places that ask, and those go through weight_q.",
    project=lambda x, weight_q, weight_k, weight_v: (x @ weight_k, x @ weight_q, x @ weight_v),
)
_mistake(
    "queries_for_both",
    "Queries and keys both come from weight_q. The keys have a weight of their own, weight_k.",
    project=lambda x, weight_q, weight_k, weight_v: (x @ weight_q, x @ weight_q, x @ weight_v),
)
_mistake(
    "keys_for_both",
    "Queries and keys both come from weight_k. The queries have a weight of their own, weight_q.",
    project=lambda x, weight_q, weight_k, weight_v: (x @ weight_k, x @ weight_k, x @ weight_v),
)
_mistake(
    "keys_summed",
    "You sum the keys. The weights are for the values, x times weight_v.",
    project=lambda x, weight_q, weight_k, weight_v: (x @ weight_q, x @ weight_k, x @ weight_k),
)
_mistake(
    "values_not_projected",
    "You sum the places' own vectors. What a place gives is its vector times weight_v.",
    project=lambda x, weight_q, weight_k, weight_v: (x @ weight_q, x @ weight_k, x),
)
_mistake(
    "weights_transposed",
    "The weights are transposed. They are D×K, D×K and D×E: a place's vector stands on their left, as in x @ weight_q. Transposed they fit only if the widths are equal.",
    project=lambda x, weight_q, weight_k, weight_v: (x @ weight_q.T, x @ weight_k.T, x @ weight_v.T),
)
_mistake(
    "nothing_projected",
    "No projection is used: this is attention of the plain vectors to one another. Multiply x by weight_q, weight_k and weight_v.",
    project=lambda x, weight_q, weight_k, weight_v: (x, x, x),
)


# What is returned

_mistake(
    "x_left_out",
    "You return only what was read. Put x before it, along the last axis: B×T×(D+E).",
    end=lambda x, read: read,
)
_mistake(
    "read_first",
    "What was read comes first in your result, and x after it. Put x first.",
    end=lambda x, read: torch.cat([read, x], 2),
)
_mistake(
    "added_to_x",
    "You add what was read to x, as a Transformer does, and this runs without an error only if both have the same width. Here it is put beside x: join both along the last axis.",
    end=lambda x, read: x + read,
)
_mistake(
    "one_after_the_other",
    "You join x and what was read along the time axis, so there are twice as many places. Join them along the last axis: B×T×(D+E).",
    end=lambda x, read: torch.cat([x, read], 1),
)
_mistake(
    "more_sequences",
    "You join x and what was read along the batch, as torch.cat does by default, so there are twice as many sequences. Join them along the last axis: B×T×(D+E).",
    end=lambda x, read: torch.cat([x, read]),
)
_mistake(
    "interleaved",
    "The features of x and of what was read alternate in your result, as stack and flatten give it. Put all of x first, and then what was read: torch.cat joins them.",
    end=lambda x, read: torch.stack([x, read], 3).flatten(2),
)


# Gradients, and what came in


@task.mistake(
    "The numbers are right, but the x in the result passes no gradient on. Put x itself there, without `detach`: that is the short way on which gradients reach the first layers."
)
def old_features_cut_off(x, weight_q, weight_k, weight_v):
    return _block(x, weight_q, weight_k, weight_v, end=lambda x, read: _side_by_side(x.detach(), read))


@task.mistake(
    "The numbers are right, but no gradient flows through what was read, so the three weights would never learn. Leave out `detach` and `no_grad`."
)
def read_cut_off(x, weight_q, weight_k, weight_v):
    return _block(x, weight_q, weight_k, weight_v, end=lambda x, read: _side_by_side(x, read.detach()))


@task.mistake(
    "The numbers are right, but no gradient flows through the attention weights, so weight_q and weight_k would never learn. Leave out `detach`."
)
def weights_cut_off(x, weight_q, weight_k, weight_v):
    return _block(x, weight_q, weight_k, weight_v, weigh=lambda scores: _softmax(scores).detach())


@task.mistake(
    "The block is right, but you write into the x that came in, and whoever uses it later finds other numbers there. Work on a copy; torch.cat makes one."
)
def written_into_x(x, weight_q, weight_k, weight_v):
    right = _block(x, weight_q, weight_k, weight_v)
    with torch.no_grad():
        x.neg_()
    return right
