"""What lesson 03 asks: the two masks, attention as f(Q, K, V), and a test that tells right attention from wrong."""

from functools import partial

import torch

from course_utils.checks.running.contract import Candidate, Case
from course_utils.checks.task import Task, sizes
from course_utils.tasks.properties import no_weight_is_negative, rows_sum_to_one

padding_mask = Task(
    "03.padding_mask",
    "True at words, False at padding",
    arguments=("lengths B", "size"),
    result="mask B×size",
    hints=(
        "What has one entry for each place? The numbers 0 … size - 1, as torch.arange counts them: place s is a word when s is smaller than the length.",
        "mask_(b,s) = (s < lengths_b), for s = 0 … size - 1: compare a row of places with a column of lengths.",
        "positions = torch.arange(size), shape (size,); compare with lengths given a second axis, shape (B, 1): broadcasting makes B×size.",
    ),
)


@padding_mask.cases
def _(draw):
    yield Case("a sentence of 2 words, padded to 3", (torch.tensor([2]), 3))
    yield Case("sentences of 1 and 3 words, padded to 3", (torch.tensor([1, 3]), 3))
    yield Case("5 random lengths up to 7, padded to 11", (draw.whole(1, 8, 5), 11))
    yield Case("a length of 0", (torch.tensor([2, 0, 3]), 3), edge=True)
    yield Case("a single place", (torch.tensor([1, 0]), 1), edge=True)
    yield Case("as many sentences as places", (torch.tensor([3, 1, 2]), 3), edge=True)


@padding_mask.oracle
def _(lengths, size):
    return torch.tensor([[s < n for s in range(size)] for n in lengths.tolist()])


@padding_mask.mistake('The mask is the wrong way round: here True means "is a word".')
def inverted(lengths, size):
    return torch.arange(size) >= lengths[:, None]


@padding_mask.mistake("One position too many is True: positions count from 0, so the last word stands at length - 1.")
def one_too_many(lengths, size):
    return torch.arange(size) <= lengths[:, None]


@padding_mask.mistake("You mark the end of the row: that is padding on the left. Here the words come first.")
def padded_left(lengths, size):
    return torch.arange(size) >= size - lengths[:, None]


@padding_mask.mistake(
    "Your mask is as wide as the longest sentence. It should have `size` places, however long the sentences are."
)
def width_of_longest(lengths, size):
    return torch.arange(int(lengths.max())) < lengths[:, None]


@padding_mask.mistake("The axes are swapped: a row is a sentence, B×size.")
def transposed(lengths, size):
    return torch.arange(size)[:, None] < lengths


@padding_mask.mistake(
    "You return 0 and 1 as numbers. A comparison gives True and False by itself; numbers turn into them with `.bool()`."
)
def numbers_not_truth(lengths, size):
    return (torch.arange(size) < lengths[:, None]).float()


@padding_mask.mistake(
    "You return 0 and 1 as whole numbers. A comparison gives True and False by itself; numbers turn into them with `.bool()`."
)
def whole_numbers_not_truth(lengths, size):
    return (torch.arange(size) < lengths[:, None]).long()


causal_mask = Task(
    "03.causal_mask",
    "no look into the future",
    arguments=("size",),
    result="mask size×size",
    hints=(
        "Row t is a query: it may attend to the keys 0 … t, itself included, and to none after.",
        "mask_(t,s) = (s <= t): True on the diagonal and below it.",
        "Compare torch.arange(size) as a row with torch.arange(size) as a column, or keep the lower triangle of a matrix of True (tril).",
    ),
)


@causal_mask.cases
def _(draw):
    yield Case("size 2", (2,))
    yield Case("size 3", (3,))
    yield Case("size 7", (7,))
    yield Case("size 1", (1,), edge=True)


@causal_mask.oracle
def _(size):
    return torch.tensor([[s <= t for s in range(size)] for t in range(size)])


@causal_mask.mistake(
    "A position may attend to itself, too: the diagonal should be True. Without it the first position has nothing to attend."
)
def hides_itself(size):
    return torch.ones(size, size, dtype=torch.bool).tril(-1)


@causal_mask.mistake("Each position sees one step into the future: the True part reaches one diagonal too far.")
def sees_one_ahead(size):
    return torch.ones(size, size, dtype=torch.bool).tril(1)


@causal_mask.mistake(
    "This is the upper triangle: each position sees itself and the future. Rows are queries, columns are keys: the past lies to the left."
)
def future_only(size):
    return torch.ones(size, size, dtype=torch.bool).triu()


@causal_mask.mistake(
    'You mark the future with True. In this course True means "may attend": the mask is the wrong way round.'
)
def inverted(size):
    return torch.ones(size, size, dtype=torch.bool).triu(1)


@causal_mask.mistake(
    "You return 0 and 1 as numbers. Start from a matrix of True (dtype=torch.bool), or end with `.bool()`."
)
def numbers_not_truth(size):
    return torch.ones(size, size).tril()


@causal_mask.mistake(
    "You return 0 and 1 as whole numbers. Start from a matrix of True (dtype=torch.bool), or end with `.bool()`."
)
def whole_numbers_not_truth(size):
    return torch.ones(size, size, dtype=torch.long).tril()


@causal_mask.mistake(
    "You return 0 and minus infinity, to be added to scores. Here a mask holds True (may attend) and False."
)
def additive_mask(size):
    return torch.full((size, size), -torch.inf).triu(1)


attention = Task(
    "03.attention",
    "attention as f(Q, K, V)",
    arguments=("query B×T×D", "key B×S×D", "value B×S×E", "mask B×T×S"),
    result=("context B×T×E", "weights B×T×S"),
    hints=(
        "Three steps: score every query against every key, normalise each query's scores over the keys, sum the values with these weights.",
        "scores_(b,t,s) = query_(b,t) · key_(b,s); weights = masked softmax of scores over s; context_(b,t) = Σ_s weights_(b,t,s) value_(b,s). No scaling. A query that may attend to nothing gets zeros.",
        "scores = query times key transposed (swap its last two axes); where mask is False fill with -inf; softmax over the last axis; turn the NaN of empty rows into 0; context = weights times value; return context, weights.",
    ),
    partial={
        "empty_row_nan": (0.5, "right for every query that may attend to something."),
        "empty_row_uniform": (0.5, "right for every query that may attend to something."),
        "edge": (0.5, "right on every ordinary input, wrong on an unusual one."),
    },
)
attention.property(rows_sum_to_one)
attention.property(no_weight_is_negative)


@attention.property
def nothing_where_masked(case, value):
    """No weight where the mask is False."""
    mask = case.args[3]
    leaked = value[1][~mask] if mask is not None else torch.zeros(1)
    return (
        f"Where the mask is False the weight should be 0; one of yours is {leaked.max():.4g}."
        if (leaked > 1e-6).any()
        else None
    )


@attention.property
def context_is_weighted_sum(case, value):
    """The context follows from the weights, whatever they are."""
    context, weights = value
    apart = (context.double() - weights.double() @ case.args[2].double()).abs().max()
    return "Your context is not the sum of the values with your own weights." if apart > 1e-4 else None


def _inputs(draw, B, T, S, D, E, dtype=torch.float32):
    return tuple(draw.numbers(*shape, dtype=dtype) for shape in ((B, T, D), (B, S, D), (B, S, E)))


@attention.cases
def _(draw):
    for size in sizes(B=2, T=3, S=5, D=7, E=11):
        B, T, S = size.B, size.T, size.S
        inputs = _inputs(draw, B, T, S, size.D, size.E)
        yield Case(f"B={B}, T={T}, S={S}, D={size.D}, E={size.E}, no mask", (*inputs, None), size.full)
        yield Case(
            f"B={B}, T={T}, S={S}, D={size.D}, E={size.E}, with a mask", (*inputs, draw.mask(B, T, S)), size.full
        )
    each_its_own = torch.tensor([[[True, False], [False, True]], [[False, True], [True, True]]])
    yield Case("B=2, T=2, S=2, D=2, E=2, each query with its own mask", (*_inputs(draw, 2, 2, 2, 2, 2), each_its_own))
    open_and_empty = torch.tensor([[[True, False], [False, False]]])
    inputs = _inputs(draw, 1, 2, 2, 2, 2)
    yield Case("2 queries and 2 keys, the second query may attend to nothing", (*inputs, open_and_empty), edge=True)
    empty = draw.mask(2, 3, 5)
    empty[1, 2] = False
    yield Case("a query that may attend to nothing", (*_inputs(draw, 2, 3, 5, 7, 11), empty), True, edge=True)
    yield Case("queries as many as keys", (*_inputs(draw, 2, 5, 5, 3, 3), draw.mask(2, 5, 5)), edge=True)
    yield Case("float64 numbers", (*_inputs(draw, 2, 3, 5, 7, 11, torch.float64), draw.mask(2, 3, 5)), edge=True)
    yield Case("a single key, widths of 1", (*_inputs(draw, 2, 3, 1, 1, 1), None), edge=True)
    across = torch.tensor([[[0.0, 1.0], [1.0, 1.0], [2.0, 0.0]]])
    kept = torch.tensor([[[True, True, False]]])
    inputs = (torch.tensor([[[1.0, 0.0]]]), across, draw.numbers(1, 3, 2) + 0.25)
    yield Case("a key at right angles to the query", (*inputs, kept), edge=True)
    far = (torch.tensor([[[100.0], [-100.0]]]), torch.tensor([[[-100.0], [-150.0], [100.0]]]), torch.eye(3)[None])
    yield Case("scores of ±10,000", (*far, kept.expand(1, 2, 3).clone()), edge=True)


@attention.oracle
def _(query, key, value, mask=None):
    contexts, weights = [], []
    for b in range(len(query)):
        for t in range(query.shape[1]):
            scores = (query[b, t] * key[b]).sum(-1)
            allowed = torch.ones_like(scores, dtype=torch.bool) if mask is None else mask[b, t]
            most = scores.detach()[allowed].max() if allowed.any() else 0.0
            e = torch.where(allowed, (scores - most).clamp(max=0).exp(), scores * 0)
            weights.append(e / e.sum() if allowed.any() else e)
            contexts.append((weights[-1][:, None] * value[b]).sum(0))
    shape = query.shape[:2]
    return torch.stack(contexts).reshape(*shape, -1), torch.stack(weights).reshape(*shape, -1)


def _softmax(scores, mask, dim=-1):
    return torch.nan_to_num((scores if mask is None else scores.masked_fill(~mask, -torch.inf)).softmax(dim))


@attention.mistake(
    "Your softmax runs over the queries: they compete for each key. Each query spreads its weight over the keys, the last axis."
)
def softmax_over_queries(query, key, value, mask=None):
    weights = _softmax(query @ key.mT, mask, 1)
    return weights @ value, weights


@attention.mistake(
    "Your softmax runs over the batch: sentences compete with one another. Each query spreads its weight over the keys, the last axis."
)
def softmax_over_batch(query, key, value, mask=None):
    weights = _softmax(query @ key.mT, mask, 0)
    return weights @ value, weights


@attention.mistake("You divide the scores by √D. That is lesson 04's scaled dot product; here the plain one is asked.")
def scaled(query, key, value, mask=None):
    weights = _softmax(query @ key.mT / query.shape[-1] ** 0.5, mask)
    return weights @ value, weights


@attention.mistake("The mask has no effect.")
def mask_unused(query, key, value, mask=None):
    weights = (query @ key.mT).softmax(-1)
    return weights @ value, weights


@attention.mistake('The mask is the wrong way round: True means "may attend", and you hide exactly those.')
def mask_inverted(query, key, value, mask=None):
    weights = _softmax(query @ key.mT, None if mask is None else ~mask)
    return weights @ value, weights


@attention.mistake("The mask comes after the softmax: what remains no longer sums to 1. Take the scores out before.")
def masked_after(query, key, value, mask=None):
    weights = (query @ key.mT).softmax(-1) * (1 if mask is None else mask)
    return weights @ value, weights


@attention.mistake(
    "Masked scores become 0, or as good as (-1e-9 is tiny, not very negative): exp(0) = 1 is a weight like any other. Use -inf."
)
def filled_with_zero(query, key, value, mask=None):
    weights = (query @ key.mT * (1 if mask is None else mask)).softmax(-1)
    return weights @ value, weights


@attention.mistake(
    "A query that may attend to nothing gives NaN, which then spreads through everything. Zeros are asked for there."
)
def empty_row_nan(query, key, value, mask=None):
    scores = query @ key.mT
    weights = (scores if mask is None else scores.masked_fill(~mask, -torch.inf)).softmax(-1)
    return weights @ value, weights


@attention.mistake(
    "A query that may attend to nothing attends to everything it should not see (a finite fill makes all its scores equal). Zeros are asked for there."
)
def empty_row_uniform(query, key, value, mask=None):
    scores = query @ key.mT
    weights = (scores if mask is None else scores.masked_fill(~mask, -1e9)).softmax(-1)
    return weights @ value, weights


@attention.mistake("You sum the keys. Keys are for scoring; what is summed are the values.")
def keys_summed(query, key, value, mask=None):
    weights = _softmax(query @ key.mT, mask)
    return weights @ key, weights


@attention.mistake("You return the weights first. Asked is (context, weights).")
def order_swapped(query, key, value, mask=None):
    weights = _softmax(query @ key.mT, mask)
    return weights, weights @ value


@attention.mistake("You return the scores instead of the weights as the second part.")
def scores_returned(query, key, value, mask=None):
    return _softmax(query @ key.mT, mask) @ value, query @ key.mT


@attention.mistake("You use the raw scores as weights: the softmax is missing.")
def no_softmax(query, key, value, mask=None):
    scores = query @ key.mT * (1 if mask is None else mask)
    return scores @ value, scores


@attention.mistake(
    "Queries and keys are exchanged: your weights have a row for each key. Rows belong to the queries, B×T×S."
)
def queries_and_keys_exchanged(query, key, value, mask=None):
    weights = (key @ query.mT).softmax(-1)
    return weights @ value, weights


@attention.mistake(
    "A score that is exactly 0 counts as masked in yours: you look for the zeros that scores * mask leaves. Ask the mask itself."
)
def zero_is_masked(query, key, value, mask=None):
    scores = query @ key.mT
    weights = _softmax(scores, None if mask is None else scores * mask != 0)
    return weights @ value, weights


@attention.mistake(
    "exp overflows: above a score of about 88 it is infinite in float32, and infinity over infinity is NaN. Subtract each row's maximum first."
)
def overflow(query, key, value, mask=None):
    e = (query @ key.mT).exp() * (1 if mask is None else mask)
    weights = e / e.sum(-1, keepdim=True).clamp(min=1e-30)
    return weights @ value, weights


@attention.mistake("A finite fill such as -10,000 can be higher than the honest scores. Minus infinity never is.")
def fill_undercut(query, key, value, mask=None):
    scores = query @ key.mT
    weights = scores.softmax(-1) if mask is None else scores.masked_fill(~mask, -1e4).softmax(-1) * mask
    return weights @ value, weights


@attention.mistake("You return one tensor, the context. Asked are two: `return context, weights`.")
def context_alone(query, key, value, mask=None):
    return _softmax(query @ key.mT, mask) @ value


@attention.mistake(
    "`key.T` reverses all axes, the batch too. Exchange only the last two: `key.mT` or `key.transpose(1, 2)`."
)
def all_axes_reversed(query, key, value, mask=None):
    weights = _softmax(query @ key.permute(2, 1, 0), mask)
    return weights @ value, weights


@attention.mistake(
    "`query @ key` multiplies features with keys: the axis that goes away has to stand last on the left and second to last on the "
    "right. Exchange the last two axes of key, `key.mT`. Without it this runs only where S = D, and is wrong there."
)
def key_not_transposed(query, key, value, mask=None):
    weights = _softmax(query @ key, mask)
    return weights @ value, weights


@attention.mistake(
    "exp overflows above a score of about 88, and infinity over infinity is NaN: you turn that into zeros, which hides it. Subtract "
    "each row's largest score first; only a row that may attend to nothing should be zeros."
)
def overflow_hidden(query, key, value, mask=None):
    scores = query @ key.mT
    e = (scores if mask is None else scores.masked_fill(~mask, -torch.inf)).exp()
    weights = torch.nan_to_num(e / e.sum(-1, keepdim=True))
    return weights @ value, weights


@attention.mistake(
    "Two things give NaN: exp overflows above a score of about 88, so subtract each row's largest score first; and a query that may "
    "attend to nothing is 0/0, where zeros are asked for."
)
def overflow_and_empty_row(query, key, value, mask=None):
    scores = query @ key.mT
    e = (scores if mask is None else scores.masked_fill(~mask, -torch.inf)).exp()
    weights = e / e.sum(-1, keepdim=True)
    return weights @ value, weights


@attention.mistake(
    "For a query that may attend to nothing your context is zeros, but the weights are still NaN: clean the weights, and the context follows."
)
def weights_still_nan(query, key, value, mask=None):
    context, weights = empty_row_nan(query, key, value, mask)
    return torch.nan_to_num(context), weights


@attention.mistake(
    "The values are right, but you write into the result of softmax, which its gradient still needs: make a new tensor, with "
    "masked_fill or nan_to_num."
)
def written_into_softmax(query, key, value, mask=None):
    _, weights = empty_row_nan(query, key, value, mask)
    weights[weights.isnan()] = 0
    return weights @ value, weights


@attention.mistake(
    "The values are right, but where there is a mask you write into the result of softmax, which its gradient still needs: make a "
    "new tensor, with masked_fill or nan_to_num."
)
def written_into_softmax_where_masked(query, key, value, mask=None):
    _, weights = empty_row_nan(query, key, value, mask)
    if mask is not None:
        weights[~mask] = 0
    return weights @ value, weights


# The bank for 03.catch_wrong_attention: right ones written differently, wrong ones shown, wrong ones not shown.


def right_by_loops(query, key, value, mask=None):
    return tuple(part.to(value.dtype) for part in attention.answer(query.double(), key.double(), value.double(), mask))


def right_by_einsum(query, key, value, mask=None):
    scores = torch.einsum("btd,bsd->bts", query, key)
    open_scores = scores if mask is None else torch.where(mask, scores, -torch.inf)
    e = torch.exp(open_scores - open_scores.amax(-1, keepdim=True).clamp(min=-1e30))
    weights = e / e.sum(-1, keepdim=True).clamp(min=1e-30)
    return torch.einsum("bts,bse->bte", weights, value), weights


def right_by_library(query, key, value, mask=None):
    empty = torch.zeros(()) if mask is None else ~mask.any(-1, keepdim=True)
    parts = [
        torch.nn.functional.scaled_dot_product_attention(query, key, v, attn_mask=mask, scale=1.0)
        for v in (value, torch.eye(key.shape[1], dtype=value.dtype).expand(len(key), -1, -1))
    ]
    return tuple(part.nan_to_num().masked_fill(empty.bool(), 0.0) for part in parts)


def right_by_bmm(query, key, value, mask=None):
    scores = torch.bmm(query, key.transpose(1, 2))
    if mask is not None:
        scores = scores + torch.where(mask, 0.0, -torch.inf)
    weights = scores.softmax(2).nan_to_num(0.0)
    return torch.bmm(weights, value), weights


def context_right_weights_unmasked(query, key, value, mask=None):
    return _softmax(query @ key.mT, mask) @ value, (query @ key.mT).softmax(-1)


def weights_right_context_averaged(query, key, value, mask=None):
    weights = _softmax(query @ key.mT, mask)
    return value.mean(1, keepdim=True).expand(-1, query.shape[1], -1), weights


@attention.mistake(
    "You use the mask of each sentence's first query for all its queries. Each query has a row of its own in the mask, B×T×S."
)
def one_mask_for_all_queries(query, key, value, mask=None):
    weights = _softmax(query @ key.mT, None if mask is None else mask[:, :1].expand_as(mask))
    return weights @ value, weights


@attention.mistake("You use the mask of the first sentence for all of them. Each sentence has its own, B×T×S.")
def one_mask_for_all_sentences(query, key, value, mask=None):
    weights = _softmax(query @ key.mT, None if mask is None else mask[:1].expand_as(mask))
    return weights @ value, weights


def values_of_first_sentence(query, key, value, mask=None):
    weights = _softmax(query @ key.mT, mask)
    return weights @ value[:1], weights


def mask_required(query, key, value, mask=None):
    weights = torch.nan_to_num((query @ key.mT).masked_fill(~mask, -torch.inf).softmax(-1))
    return weights @ value, weights


def half_as_sharp(query, key, value, mask=None):
    weights = _softmax(query @ key.mT / 2, mask)
    return weights @ value, weights


def values_scored(query, key, value, mask=None):
    """Values for keys: as long as the two are the same nobody sees it."""
    weights = _softmax(query @ value.mT, mask)
    return weights @ value, weights


def queries_for_keys(query, key, value, mask=None):
    weights = _softmax(query @ query.mT, mask)
    return weights @ value, weights


def queries_summed(query, key, value, mask=None):
    weights = _softmax(query @ key.mT, mask)
    return weights @ query, weights


def context_reshaped(query, key, value, mask=None):
    """Transposed and not back: each number is there, at another place."""
    context, weights = right_by_bmm(query, key, value, mask)
    return context.mT.reshape(context.shape), weights


def features_turned(query, key, value, mask=None):
    context, weights = right_by_bmm(query, key, value, mask)
    return context.flip(-1), weights


RIGHT = {
    right_by_loops: "a right attention, written with loops",
    right_by_einsum: "a right attention, written with einsum",
    right_by_library: "a right attention, by torch's own function",
    right_by_bmm: "a right attention, written with bmm and an additive mask",
}
WRONG_SHOWN = {
    softmax_over_queries: "a wrong attention: softmax over the queries",
    scaled: "a wrong attention: scores divided by √D",
    mask_unused: "a wrong attention: the mask has no effect",
    mask_inverted: "a wrong attention: the mask turned round",
    masked_after: "a wrong attention: masked after the softmax",
    empty_row_nan: "a wrong attention: NaN where nothing may be attended",
    softmax_over_batch: "a wrong attention: softmax over the batch",
}
WRONG_HIDDEN = (
    context_right_weights_unmasked,
    weights_right_context_averaged,
    one_mask_for_all_queries,
    one_mask_for_all_sentences,
    values_of_first_sentence,
    mask_required,
    half_as_sharp,
    empty_row_uniform,
    order_swapped,
    keys_summed,
    values_scored,
    queries_for_keys,
    queries_summed,
    context_reshaped,
    features_turned,
)

catch_wrong_attention = Task(
    "03.catch_wrong_attention",
    "a test that tells right attention from wrong",
    arguments=("candidate",),
    result="verdict",
    candidates=(*RIGHT, *WRONG_SHOWN, *WRONG_HIDDEN),
    hints=(
        "Choose inputs on which wrong ones differ from right ones: more than one sentence, T, S, D and E all different, a mask that is not the same in each row, and one row that may attend to nothing. Also try it without a mask.",
        "Compare both results, context and weights, with those of `reference(…)` on the same inputs: first the shapes, then the values up to rounding. A candidate that raises an error is wrong.",
        "For mask in (None, a random mask with one empty row): expected = reference(…); try received = candidate(…), except Exception: return False; if shapes differ or not torch.allclose(…, atol=1e-5): return False. At the end return True.",
    ),
)


@catch_wrong_attention.cases
def _(draw):
    names = [*RIGHT.values(), *WRONG_SHOWN.values(), *["a wrong attention that is not shown"] * len(WRONG_HIDDEN)]
    for key in torch.randperm(len(names), generator=draw.generator).tolist():
        yield Case(names[key], (Candidate(key),))


@catch_wrong_attention.oracle
def _(candidate):
    return candidate in RIGHT


def _probe(B=2, T=3, S=5, D=7, E=11, empty=True, mask=True):
    draw = torch.Generator().manual_seed(3)
    inputs = [torch.randn(*shape, generator=draw) for shape in ((B, T, D), (B, S, D), (B, S, E))]
    allowed = torch.rand(B, T, S, generator=draw) < 0.5
    allowed[:, :, 0] = ~allowed[:, :, 1]
    if empty:
        allowed[-1, -1] = False
    return (*inputs, allowed if mask else None)


def _agrees(candidate, args, parts=(0, 1), exactly=False):
    same = torch.equal if exactly else partial(torch.allclose, atol=1e-5)
    try:
        expected, received = right_by_bmm(*args), candidate(*args)
        return all(expected[i].shape == received[i].shape and same(expected[i], received[i]) for i in parts)
    except Exception:
        return False


@catch_wrong_attention.mistake("Your test says True to every candidate.")
def always_true(candidate):
    return True


@catch_wrong_attention.mistake("Your test says False to every candidate, also to the right ones.")
def always_false(candidate):
    return False


@catch_wrong_attention.mistake(
    "Your test looks at shapes only. Nearly every wrong attention has the right shapes: compare the numbers."
)
def shapes_only(candidate):
    try:
        args = _probe()
        return all(a.shape == b.shape for a, b in zip(right_by_bmm(*args), candidate(*args), strict=True))
    except Exception:
        return False


@catch_wrong_attention.mistake("Your test never uses a mask: what goes wrong with masks goes by unseen.")
def never_a_mask(candidate):
    return _agrees(candidate, _probe(mask=False))


@catch_wrong_attention.property
def rounding_is_allowed(case, value):
    """No right candidate is refused."""
    if value is False and catch_wrong_attention.candidates[case.args[0].key] in RIGHT:
        return "That one is right, computed in another order: its last digits differ. Is there room for rounding, about 1e-5?"
    return None


@catch_wrong_attention.mistake(
    "Right candidates are refused for their last digits: another order of adding rounds differently. Allow rounding, "
    "torch.allclose(…, atol=1e-5), in place of torch.equal or ==."
)
def no_rounding(candidate):
    return _agrees(candidate, _probe(), exactly=True) and _agrees(candidate, _probe(mask=False), exactly=True)


@catch_wrong_attention.mistake("No query in your test may attend to nothing: NaN and leaks in such a row go by unseen.")
def no_empty_row(candidate):
    return _agrees(candidate, _probe(empty=False)) and _agrees(candidate, _probe(mask=False))


@catch_wrong_attention.mistake(
    "Your test looks at the context only. The weights are part of the result: compare them too."
)
def context_only(candidate):
    return _agrees(candidate, _probe(), parts=(0,)) and _agrees(candidate, _probe(mask=False), parts=(0,))


@catch_wrong_attention.mistake(
    "Your test looks at the weights only. The context is part of the result: compare it too."
)
def weights_only(candidate):
    return _agrees(candidate, _probe(), parts=(1,)) and _agrees(candidate, _probe(mask=False), parts=(1,))


@catch_wrong_attention.mistake(
    "Your test sees one sentence only: what mixes up sentences goes by unseen. Take a batch of two or more, and compare them all."
)
def batch_of_one(candidate):
    return _agrees(candidate, _probe(B=1)) and _agrees(candidate, _probe(B=1, mask=False))


@catch_wrong_attention.mistake("Your test always gives a mask. mask=None is allowed, and a candidate may fail there.")
def always_a_mask(candidate):
    return _agrees(candidate, _probe())


@catch_wrong_attention.mistake(
    "Your test always gives a mask, and one in which every query may attend to something. Two more inputs are needed: mask=None, and a "
    "query with nothing to attend."
)
def always_a_mask_never_empty(candidate):
    return _agrees(candidate, _probe(empty=False))


@catch_wrong_attention.mistake(
    "Your test sees one sentence only, and always with a mask. Take a batch of two or more, and try mask=None too."
)
def batch_of_one_always_a_mask(candidate):
    return _agrees(candidate, _probe(B=1))


@catch_wrong_attention.mistake(
    "Your test sees one sentence only, and never a mask. Take a batch of two or more, with a mask as well as without."
)
def batch_of_one_never_a_mask(candidate):
    return _agrees(candidate, _probe(B=1, mask=False))


@catch_wrong_attention.mistake(
    "Your test sees one sentence only, in which every query may attend to something. Take a batch of two or more, and a query with "
    "nothing to attend."
)
def batch_of_one_never_empty(candidate):
    return _agrees(candidate, _probe(B=1, empty=False)) and _agrees(candidate, _probe(B=1, mask=False))
