"""Task 09.self_attention: each word of a sentence looks at all of its words, through three projections and with scaled scores."""

from operator import matmul

import torch

from course_utils.checks.running.contract import Case
from course_utils.checks.task import Task, count, sizes
from course_utils.models.attention import masked_softmax
from course_utils.tasks.shares import USUAL

task = Task(
    "09.self_attention",
    "self-attention, scaled and safe",
    arguments=("x B×T×D", "weight_q D×d", "weight_k D×d", "weight_v D×E", "mask B×T×T"),
    result="context B×T×E",
    difficulty=3,
    importance=5,
    minutes=25,
    hints=(
        "Each word plays three parts: it asks, it is found, and it gives. Each part is the word's vector times a matrix of its own. What the words ask is compared with what they are found by, and the scores are divided by the root of the width of these two. Then each word sums what all words give. "
        "Where there is a mask, words that may attend to nothing need care.",
        (
            "Take two words [1, 0] and [0, 1] of width 2, weight_q = [[2], [0]], weight_k = [[0], [1.0986]] and weight_v = [[4], [8]]. The queries are 2 and 0, the keys 0 and 1.0986, the values 4 and 8. The width d of queries and keys is 1, so dividing by √1 changes nothing. The first word's scores are 2·0 = 0 and 2·1.0986 = 2.1972, their "
            "exponentials 1 and 9, its weights 0.1 and 0.9, and its context is 0.1·4 + 0.9·8 = 7.6. The second word scores 0 with both, so its weights are 0.5 and 0.5 and its context is 6. If the mask lets the second word attend to nothing, its context is 0."
        ),
        "query, key, value = x times each of the three matrices; scores = query times key transposed, divided by the root of the query's width; -inf where the mask is False; softmax over the last axis; zeros where the "
        "mask is False; return the weights times value.",
    ),
    partial=USUAL
    | {
        "empty_row_nan": (0.5, "right for every word that may attend to something."),
        "empty_row_uniform": (0.5, "right for every word that may attend to something."),
    },
)


@task.property
def contexts_lie_between_the_values(case, value):
    """A weighted sum whose weights are not negative and sum to 1 lies between the smallest and the largest value."""
    x, _, _, weight_v, mask = case.args
    if x.isnan().any() or x.isinf().any():
        return None
    values = (x.double() @ weight_v.double())[:, None]  # B 1 T E
    kept = torch.ones(1, 1, 1, dtype=torch.bool) if mask is None else mask
    least = torch.where(kept[..., None], values, torch.inf).amin(2)
    most = torch.where(kept[..., None], values, -torch.inf).amax(2)
    room = 1e-4 * (1 + values.abs().max())
    outside = (value < least - room) | (value > most + room)
    if mask is not None:
        outside = outside & mask.any(2)[..., None]
    return (
        "Each number of a context should lie between the smallest and the largest of the values that its word may attend to; one of yours lies outside. Are the weights of each word at least 0, do they sum to 1, and are they 0 where the mask is False?"
        if outside.any()
        else None
    )


@task.property
def nothing_to_attend_gives_zeros(case, value):
    """A word that may attend to nothing has a context of zeros."""
    mask = case.args[4]
    empty = None if mask is None else value[~mask.any(2)]
    return (
        f"A word that may attend to nothing should have a context of zeros; in one of yours stands {empty.flatten()[empty.abs().argmax()]:.4g}."
        if empty is not None and empty.numel() and empty.abs().max() > 1e-6
        else None
    )


def _inputs(draw, B, T, D, d, E, mask, dtype=torch.float32):
    x, *weights = (draw.numbers(*shape, dtype=dtype) for shape in ((B, T, D), (D, d), (D, d), (D, E)))
    return (x, *(weight / 2 + 0.125 for weight in weights), mask)


def _with_padding(draw, B, T):
    """Return a mask B×T×T and the padding B×T: real words stand anywhere, and attend to some of one another; padding takes no part."""
    real = draw.mask(B, T)
    both = real[:, :, None] & real[:, None, :]
    return both & (draw.mask(B, T, T) | torch.eye(T, dtype=torch.bool)), ~real


def _not_used(mask):
    """True at padding, B×T: places that attend to nothing and that nothing attends to."""
    return ~(mask.any(1) | mask.any(2))


@task.cases
def _(draw):
    for size in sizes(B=2, T=5, D=7, d=3, E=11):
        B, T = size.B, size.T if size.full else size.T + 1
        dims = (B, T, size.D, size.d, size.E)
        name = f"{count(B, 'sentence')} of {T} words, widths D={size.D}, d={size.d}, E={size.E}"
        yield Case(f"{name}, no mask", _inputs(draw, *dims, None), size.full)
        yield Case(f"{name}, with a mask", _inputs(draw, *dims, draw.mask(B, T, T)), size.full)
    yield Case("D, d and E all 3", _inputs(draw, 2, 5, 3, 3, 3, draw.mask(2, 5, 5)))
    causal = torch.ones(5, 5).tril().bool().repeat(2, 1, 1)
    yield Case("each word may attend to itself and to earlier ones", _inputs(draw, 2, 5, 7, 3, 4, causal))
    unseen = draw.mask(2, 5, 5) | torch.eye(5, dtype=torch.bool).roll(1, 1)
    unseen[:, 2] = True  # with a single word to attend to, it would not matter what it asks
    unseen[:, :, 2] = False
    unseen[:, 1, 3] = True
    yield Case("a word that nothing attends to, and that attends to others", _inputs(draw, 2, 5, 2, 3, 7, unseen))
    yield Case("as many sentences as words", _inputs(draw, 3, 3, 5, 2, 7, draw.mask(3, 3, 3)))
    yield Case("a single word, widths of 1", _inputs(draw, 2, 1, 1, 1, 1, None), True, edge=True)
    empty = draw.mask(2, 5, 5) | torch.eye(5, dtype=torch.bool)
    empty[1, 2] = False
    empty[1, 0, 2] = True
    yield Case("a word that may attend to nothing", _inputs(draw, 2, 5, 7, 3, 11, empty), True, edge=True)
    double = _inputs(draw, 2, 5, 7, 3, 11, draw.mask(2, 5, 5), torch.float64)
    yield Case("float64 numbers", double, True, edge=True)
    mask, padding = _with_padding(draw, 3, 5)
    x, weight_q, weight_k, weight_v, mask = _inputs(draw, 3, 5, 7, 3, 11, mask)
    weights = (weight_q, weight_k, 4 * weight_v, mask)  # large: the greatest number of float32 does not stay finite
    garbage = torch.tensor([torch.nan, torch.inf, -torch.inf, torch.nan, torch.inf, torch.nan, -torch.inf])
    yield Case(
        "NaN and infinity at padding", (torch.where(padding[..., None], garbage, x), *weights), True, hazard=True
    )
    yield Case("NaN at padding", (x.masked_fill(padding[..., None], torch.nan), *weights), hazard=True)
    yield Case("200 words", _inputs(draw, 1, 200, 3, 2, 5, draw.mask(1, 200, 200)), edge=True)
    # The first word's allowed scores lie far below the one that is hidden from it.
    x = torch.tensor([[[100.0], [-100.0], [-70.0]], [[-100.0], [110.0], [90.0]]])
    far = torch.tensor([[False, True, True], [True, True, False], [False, True, True]]).repeat(2, 1, 1)
    one = torch.ones(1, 1)
    yield Case("scores of ±10,000", (x, one, one, draw.numbers(1, 2) / 50 + 0.0525, far), hazard=True)


@task.oracle
def _(x, weight_q, weight_k, weight_v, mask=None):
    B, T, _ = x.shape
    allowed = torch.ones(B, T, T, dtype=torch.bool) if mask is None else mask
    x = torch.where(_not_used(allowed)[..., None], 0.0, x)
    sentences = []
    for words, pairs in zip(x, allowed, strict=True):
        query, key, value = (torch.einsum("td,da->ta", words, w) for w in (weight_q, weight_k, weight_v))
        contexts = []
        for asking, seen in zip(query, pairs, strict=True):
            scores = (key * asking).sum(-1) / len(asking) ** 0.5
            most = scores.detach()[seen].max() if seen.any() else 0.0
            shares = torch.where(seen, (scores - most).clamp(max=0).exp(), 0 * scores)
            contexts.append((shares[:, None] * value).sum(0) / (shares.sum() if seen.any() else 1))
        sentences.append(torch.stack(contexts))
    return torch.stack(sentences)


@task.steps
def _(x, weight_q, weight_k, weight_v, mask=None):
    if mask is not None:
        x = x.masked_fill(_not_used(mask)[..., None], 0.0)
    query = yield "the queries", matmul, x, weight_q
    key = yield "the keys", matmul, x, weight_k
    value = yield "the values", matmul, x, weight_v
    products = yield "the products of queries and keys", matmul, query, key.mT
    scores = yield "the scores", lambda products, query: products / query.shape[-1] ** 0.5, products, query
    if mask is not None:
        scores = yield "the masked scores", lambda scores, mask: scores.masked_fill(~mask, -torch.inf), scores, mask
    weights = yield "the softmax", lambda scores: scores.softmax(-1), scores
    if mask is not None:
        weights = yield "the weights with zeros", lambda w, mask: w.masked_fill(~mask, 0.0), weights, mask
    context = yield "the product of weights and value", matmul, weights, value
    return context


def _clean(x, mask):
    return x if mask is None else x.masked_fill(_not_used(mask)[..., None], 0.0)


def _no_cleaning(x, mask):
    return x


def _scaled(query, key, scale=None):
    return query @ key.mT / (query.shape[-1] ** 0.5 if scale is None else scale)


def _attend(query, key, value, mask, weights=lambda scores, mask: masked_softmax(scores, mask), scale=None):
    """Attention that is right but for its weights, function(scores, mask), or for what scores are divided by."""
    return weights(_scaled(query, key, scale), mask) @ value


def _projected(x, weight_q, weight_k, weight_v, mask=None, clean=_no_cleaning):
    x = clean(x, mask)
    return x @ weight_q, x @ weight_k, x @ weight_v, mask


def _right_but(name, sentence, weights=None, scale=None, clean=_no_cleaning, other_mask=None):
    """Register a mistake that attends rightly but for what is named."""

    def mistaken(x, weight_q, weight_k, weight_v, mask=None):
        *parts, kept = _projected(x, weight_q, weight_k, weight_v, mask, clean)
        kept = other_mask(kept) if other_mask and kept is not None else kept
        by = scale(x, weight_q, weight_v) if scale else None
        return _attend(*parts, kept, **({"weights": weights} if weights else {}), scale=by)

    task.mistake(sentence, name)(mistaken)


# Projections


@task.mistake(
    "The queries are not projected: each word asks with its own vector. Multiply it by weight_q. Without that this runs only where D = d, and gives a wrong result there."
)
def query_not_projected(x, weight_q, weight_k, weight_v, mask=None):
    _, key, value, _ = _projected(x, weight_q, weight_k, weight_v, mask)
    return _attend(x, key, value, mask)


@task.mistake(
    "The keys are not projected: each word is found by its own vector. Multiply it by weight_k. Without that this runs only where D = d, and gives a wrong result there."
)
def key_not_projected(x, weight_q, weight_k, weight_v, mask=None):
    query, _, value, _ = _projected(x, weight_q, weight_k, weight_v, mask)
    return _attend(query, x, value, mask)


@task.mistake(
    "The values are not projected: you sum the words' own vectors. What a word gives is its vector times weight_v."
)
def value_not_projected(x, weight_q, weight_k, weight_v, mask=None):
    query, key, _, _ = _projected(x, weight_q, weight_k, weight_v, mask)
    return _attend(query, key, x, mask)


@task.mistake("No projection is used: this is attention of the plain words to one another.")
def nothing_projected(x, weight_q, weight_k, weight_v, mask=None):
    return _attend(x, x, x, mask)


@task.mistake(
    "Queries and keys are exchanged. The rows of the scores belong to the words that ask, and those go through weight_q."
)
def query_and_key_exchanged(x, weight_q, weight_k, weight_v, mask=None):
    return _attend(*_projected(x, weight_k, weight_q, weight_v, mask))


@task.mistake(
    "The queries serve as keys, too, so that two words ask each other alike. What a word is found by is its vector times weight_k."
)
def queries_for_keys(x, weight_q, weight_k, weight_v, mask=None):
    return _attend(*_projected(x, weight_q, weight_q, weight_v, mask))


@task.mistake(
    "The keys serve as queries, too, so that two words ask each other alike. What a word asks for is its vector times weight_q."
)
def keys_for_queries(x, weight_q, weight_k, weight_v, mask=None):
    return _attend(*_projected(x, weight_k, weight_k, weight_v, mask))


@task.mistake("You sum the keys. The weights are for the values, x times weight_v.")
def keys_summed(x, weight_q, weight_k, weight_v, mask=None):
    return _attend(*_projected(x, weight_q, weight_k, weight_k, mask))


@task.mistake("You sum the queries. The weights are for the values, x times weight_v.")
def queries_summed(x, weight_q, weight_k, weight_v, mask=None):
    return _attend(*_projected(x, weight_q, weight_k, weight_q, mask))


TRANSPOSED = {
    "weight_q": (True, False, False),
    "weight_k": (False, True, False),
    "weight_v": (False, False, True),
    "the matrices": (True, True, True),
}
for _name, _turned in TRANSPOSED.items():

    def _transposed(x, weight_q, weight_k, weight_v, mask=None, turned=_turned):
        weights = (w.mT if t else w for w, t in zip((weight_q, weight_k, weight_v), turned, strict=True))
        return _attend(*_projected(x, *weights, mask))

    _one = all(_turned)
    task.mistake(
        f"You transpose {_name}. A word's vector is a row and stands on the left, as in `x @ weight`, with the matrix as it is. Transposed {'they fit' if _one else 'it fits'} only where the widths happen to be equal, and {'give' if _one else 'gives'} a wrong result there.",
        f"{_name.split()[-1]}_transposed",
    )(_transposed)


# Scores


_right_but(
    "unscaled",
    "The scores are not scaled: divide them by √d, where d is the width of queries and keys.",
    scale=lambda x, q, v: 1,
)
_right_but(
    "divided_by_d", "You divide the scores by d. Divide them by its square root.", scale=lambda x, q, v: q.shape[1]
)
_right_but(
    "divided_by_root_of_D",
    "You divide the scores by √D, the root of the words' width. Divide by √d: the scores are sums of d products, and d is the width of queries and keys.",
    scale=lambda x, q, v: x.shape[2] ** 0.5,
)
_right_but(
    "divided_by_D",
    "You divide the scores by D, the words' width. Divide by √d: the scores are sums of d products, and d is the width of queries and keys.",
    scale=lambda x, q, v: x.shape[2],
)
_right_but(
    "divided_by_root_of_E",
    "You divide the scores by √E, the root of the values' width. Divide by √d: the scores are sums of d products, and d is the width of queries and keys.",
    scale=lambda x, q, v: v.shape[1] ** 0.5,
)
_right_but(
    "divided_by_root_of_T",
    "You divide the scores by √T, the root of the number of words. Divide by √d, where d is the width of queries and keys.",
    scale=lambda x, q, v: x.shape[1] ** 0.5,
)
_right_but(
    "multiplied_by_root",
    "You multiply the scores by √d. Divide them by it.",
    scale=lambda x, q, v: q.shape[1] ** -0.5,
)
_right_but(
    "root_of_root",
    "You divide the scores by the root of √d. Divide them by √d.",
    scale=lambda x, q, v: q.shape[1] ** 0.25,
)


# Weights


def _masked(scores, mask, number=-torch.inf):
    return scores if mask is None else scores.masked_fill(~mask, number)


def _kept(mask):
    return 1 if mask is None else mask


def _causal(query):
    return torch.ones(query.shape[1], query.shape[1], dtype=torch.bool).tril().repeat(len(query), 1, 1)


@task.mistake(
    "The division by √d comes after the softmax, so the weights do not sum to 1. Scale the scores, before the softmax."
)
def scaled_after(x, weight_q, weight_k, weight_v, mask=None):
    root = weight_q.shape[1] ** 0.5
    return _attend(*_projected(x, weight_q, weight_k, weight_v, mask), scale=1) / root


_right_but(
    "softmax_over_queries",
    "Your softmax runs over the queries, so the words that ask compete for each key. Each word spreads its weight over the keys, the last axis.",
    lambda scores, mask: torch.nan_to_num(_masked(scores, mask).softmax(1)),
)
_right_but(
    "softmax_over_queries_nan",
    "Your softmax runs over the queries, so the words that ask compete for each key, and a word that nobody may attend to gives NaN. Each word spreads its weight over the keys, the last axis.",
    lambda scores, mask: _masked(scores, mask).softmax(1),
)
_right_but(
    "softmax_over_batch",
    "Your softmax runs over the batch, so sentences compete with one another. Each word spreads its weight over the keys, the last axis.",
    lambda scores, mask: torch.nan_to_num(_masked(scores, mask).softmax(0)),
)
_right_but(
    "weights_transposed",
    "The weights are transposed when they meet the values: each word takes what others would give it weight for. The rows of the weights belong to the words that ask, and stand on the left: weights B×T×T times value B×T×E.",
    lambda scores, mask: masked_softmax(scores, mask).mT,
)
_right_but(
    "no_softmax", "You use the scores as weights: the softmax is missing.", lambda scores, mask: scores * _kept(mask)
)
_right_but(
    "largest_alone",
    "You give all weight to the word with the largest score. Give each its share with a softmax, which also lets a gradient reach the scores.",
    lambda scores, mask: (
        torch.zeros_like(scores).scatter(-1, _masked(scores, mask).argmax(-1, keepdim=True), 1.0) * _kept(mask)
    ),
)
_right_but(
    "equal_weights",
    "All words that a word may attend to get the same weight, so your context is a plain mean of values. The scores should decide.",
    lambda scores, mask: masked_softmax(0 * scores, mask),
)
_right_but(
    "mean_for_sum",
    "You take the mean of the weighted values, and it is too small by the number of words. The weights sum to 1 already: add up.",
    lambda scores, mask: masked_softmax(scores, mask) / scores.shape[-1],
)
_right_but(
    "log_weights",
    "Your weights are logarithms: use softmax in place of log_softmax.",
    lambda scores, mask: (
        scores.log_softmax(-1) if mask is None else _masked(scores, mask).log_softmax(-1).masked_fill(~mask, 0.0)
    ),
)


# Masks


_right_but("mask_unused", "The mask has no effect.", other_mask=lambda mask: None)
INVERTED = 'The mask is used the wrong way round: True means "may attend", and those are the words you hide.'
_right_but("mask_inverted", INVERTED, other_mask=torch.logical_not)
_right_but(
    "mask_inverted_nan",
    f"{INVERTED} A word that may attend to all words then has nothing left, and the softmax of nothing but -inf gives NaN.",
    lambda scores, mask: scores.softmax(-1) if mask is None else scores.masked_fill(mask, -torch.inf).softmax(-1),
)
_right_but(
    "mask_inverted_level",
    f"{INVERTED} A word that may attend to all words then has scores that are all the same, and gives each word the same weight.",
    lambda scores, mask: scores.softmax(-1) if mask is None else scores.masked_fill(mask, -1e9).softmax(-1),
)
_right_but(
    "mask_transposed",
    "The mask is transposed. Its rows belong to the words that attend, and its columns to those they attend to.",
    other_mask=lambda mask: mask.mT,
)
_right_but(
    "one_mask_for_all_words",
    "You use the mask of each sentence's first word for all its words. Each word has its own row in the mask, B×T×T.",
    other_mask=lambda mask: mask[:, :1].expand_as(mask),
)
_right_but(
    "one_mask_for_all_sentences",
    "You use the mask of the first sentence for all sentences. Each has its own, B×T×T.",
    other_mask=lambda mask: mask[:1].expand_as(mask),
)


@task.mistake(
    "Where `mask` is None, no word attends to a later one in your answer. None allows everything: no causal mask is asked for."
)
def causal_without_mask(x, weight_q, weight_k, weight_v, mask=None):
    query, key, value, _ = _projected(x, weight_q, weight_k, weight_v, mask)
    return _attend(query, key, value, _causal(query) if mask is None else mask)


@task.mistake(
    "No word attends to a later one in your answer, with a mask and without. The mask alone says who may attend to whom, and None allows everything."
)
def always_causal(x, weight_q, weight_k, weight_v, mask=None):
    query, key, value, _ = _projected(x, weight_q, weight_k, weight_v, mask)
    return _attend(query, key, value, _causal(query) if mask is None else mask & _causal(query))


_right_but(
    "always_itself",
    "Each word may attend to itself in your answer, whatever the mask says. Where the mask is False on the diagonal, a word does not see itself.",
    other_mask=lambda mask: mask | torch.eye(mask.shape[-1], dtype=torch.bool),
)
_right_but(
    "never_itself",
    "No word attends to itself in your answer, whatever the mask says. Where the mask is True on the diagonal, a word sees itself, too.",
    other_mask=lambda mask: mask & ~torch.eye(mask.shape[-1], dtype=torch.bool),
)
_right_but(
    "no_look_ahead",
    "Wherever there is a mask, no word attends to a later one in your answer. The mask alone says who may attend to whom.",
    other_mask=lambda mask: mask.tril(),
)
_right_but(
    "masked_after",
    "The mask comes after the softmax, so the remaining weights no longer sum to 1. Take the scores out before the softmax.",
    lambda scores, mask: scores.softmax(-1) * _kept(mask),
)
_right_but(
    "masked_with_zeros",
    "Masked scores become 0 or nearly 0 (-1e-9 is a tiny number, not a very negative one). exp(0) = 1 is a weight like any other. Use -inf.",
    lambda scores, mask: (scores * _kept(mask)).softmax(-1),
)
_right_but(
    "mask_added",
    "You add the mask to the scores as 0 and 1. A score that is larger by 1 has a weight that is 2.7 times as large, and no weight becomes 0. Put -inf in place of the scores where the mask is False.",
    lambda scores, mask: (scores if mask is None else scores + mask).softmax(-1),
)


EMPTY = "A word that may attend to nothing takes nothing: its context should be zeros."
GARBAGE = "What stands at padding may be NaN or infinite, and 0 times NaN is NaN: a weight of 0 does not keep it out. Put zeros in place of the words that attend to nothing and that nothing attends to, before you compute anything."


def _filled(number, zeroed=False):
    """Weights where masked scores become a number; with zeros for the weights of False places."""

    def weights(scores, mask):
        shares = _masked(scores, mask, number).softmax(-1)
        return shares * _kept(mask) if zeroed else shares

    return weights


_right_but(
    "empty_row_nan",
    f"A word that may attend to nothing gives NaN: the softmax of nothing but -inf is 0/0. {EMPTY}",
    _filled(-torch.inf),
)
_right_but(
    "empty_row_uniform",
    f"A word that may attend to nothing attends to everything: a very negative but finite number makes all its scores equal. {EMPTY}",
    _filled(-1e9),
)
_right_but("garbage_times_zero", GARBAGE)
_right_but(
    "fill_undercut",
    "Masked scores become a finite number, such as -1000. That is not -inf: the honest scores can be lower, and then masked words take the weight. Only -inf lies below every score.",
    _filled(-1000.0, zeroed=True),
)


@task.mistake(
    "The values are right, but NaN from padding gets into the gradient: you leave it out of the sum, but the backward pass still runs through its projections. Put zeros in place of the words that attend to nothing and that nothing attends to, before you compute anything."
)
def garbage_reaches_the_gradient(x, weight_q, weight_k, weight_v, mask=None):
    query, key, value, _ = _projected(x, weight_q, weight_k, weight_v, mask)
    value = value if mask is None else value.masked_fill(_not_used(mask)[..., None], 0.0)
    return _attend(query, key, value, mask)


AT_THE_END = "for a word that may attend to nothing the weights are NaN, and you put zeros into its context in the end. The backward pass still runs through these weights, and 0 times NaN is NaN. Put zeros into the weights, before they meet the values."


def _zeros_where_empty(context, mask):
    return context if mask is None else context.masked_fill(~mask.any(2)[..., None], 0.0)


def _zeros_at_the_end(name, sentence, clean=_clean, end=_zeros_where_empty):
    """Register a mistake that puts zeros in place of NaN when the contexts are there."""

    def mistaken(x, weight_q, weight_k, weight_v, mask=None):
        return end(_attend(*_projected(x, weight_q, weight_k, weight_v, mask, clean), _filled(-torch.inf)), mask)

    task.mistake(sentence, name)(mistaken)


_zeros_at_the_end("zeros_into_the_context", f"The values are right, but the gradient is NaN: {AT_THE_END}")


@task.mistake(
    "The values are right, but the gradient of a word that may attend to nothing is NaN: -inf is added to its scores, their softmax is NaN, and turning that into zeros afterwards does not reach the backward pass. Put -inf in place of the scores, with masked_fill or torch.where, and not on top of them."
)
def infinity_added(x, weight_q, weight_k, weight_v, mask=None):
    *parts, kept = _projected(x, weight_q, weight_k, weight_v, mask)
    bias = 0.0 if mask is None else torch.zeros(mask.shape, dtype=x.dtype).masked_fill(~mask, -torch.inf)
    return _attend(*parts, kept, lambda scores, mask: torch.nan_to_num((scores + bias).softmax(-1)))


_right_but(
    "unseen_words_emptied",
    "You put zeros in place of every word that nothing attends to. Such a word may still attend to others, and then it has to ask. Padding is only what attends to nothing as well.",
    clean=lambda x, mask: x if mask is None else x.masked_fill(~mask.any(1)[..., None], 0.0),
)
_right_but(
    "words_that_see_nothing_emptied",
    "You put zeros in place of every word that may attend to nothing. Others may still attend to it, and then it has something to give. Padding is only what nothing attends to as well.",
    clean=lambda x, mask: x if mask is None else x.masked_fill(~mask.any(2)[..., None], 0.0),
)


def _overflowing(least):
    def weights(scores, mask):
        e = scores.exp() * _kept(mask)
        return e / (e.sum(-1, keepdim=True) + least)

    return weights


_right_but(
    "overflow",
    "exp overflows: for a score above about 88 it is infinite in float32, and infinity divided by infinity is NaN. torch.softmax takes scores of any size; by hand, subtract each row's largest allowed score first.",
    _overflowing(1e-30),
)


# What is returned


@task.mistake("You return the weights. Return the contexts: the weights times the values.")
def weights_returned(x, weight_q, weight_k, weight_v, mask=None):
    query, key, _, _ = _projected(x, weight_q, weight_k, weight_v, mask)
    return masked_softmax(_scaled(query, key), mask)


@task.mistake("You return contexts and weights. Only the contexts are asked for.")
def weights_too(x, weight_q, weight_k, weight_v, mask=None):
    query, key, value, _ = _projected(x, weight_q, weight_k, weight_v, mask)
    weights = masked_softmax(_scaled(query, key), mask)
    return weights @ value, weights


@task.mistake(
    "You add the word itself to what it takes from others. That is a residual connection, which comes in a later lesson: return the context alone."
)
def word_added(x, weight_q, weight_k, weight_v, mask=None):
    return x + _attend(*_projected(x, weight_q, weight_k, weight_v, mask))


@task.mistake(
    "You add the word's own value to what it takes from others. That is a residual connection, which comes in a later lesson: return the context alone."
)
def value_added(x, weight_q, weight_k, weight_v, mask=None):
    query, key, value, _ = _projected(x, weight_q, weight_k, weight_v, mask)
    return value + _attend(query, key, value, mask)


@task.mistake("You return the contexts of all words added up. Each word has its own: B×T×E.")
def contexts_summed(x, weight_q, weight_k, weight_v, mask=None):
    return _attend(*_projected(x, weight_q, weight_k, weight_v, mask)).sum(1)
