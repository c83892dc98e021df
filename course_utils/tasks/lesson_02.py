"""What lesson 02 asks: softmax, its masked form, fixed attention by dot product and by MLP, and the backward pass."""

import torch

from course_utils.checks.running.contract import Case
from course_utils.checks.task import Task, count, sizes
from course_utils.tasks.properties import no_weight_is_negative, rows_sum_to_one

softmax = Task(
    "02.softmax",
    "softmax with a temperature",
    arguments=("scores …×S", "temperature"),
    result="weights …×S",
    hints=(
        "exp makes every score positive; dividing by the row's total makes the row sum to 1. A large score overflows exp, but adding a constant to a whole row changes nothing.",
        "weights_s = exp(z_s - m) / Σ_r exp(z_r - m) with z = scores / temperature and m the largest z of the same row.",
        "z = scores / temperature; z = z - its maximum over the last axis (keep the axis); e = exp(z); return e / sum of e over the last axis (keep the axis). torch.softmax does it all.",
    ),
    partial={"overflow": (0.5, "right until a score is too large for exp.")},
)
softmax.property(rows_sum_to_one)
softmax.property(no_weight_is_negative)


@softmax.cases
def _(draw):
    yield Case("three scores", (torch.tensor([1.0, 2.0, 4.0]),))
    yield Case("three scores, temperature 2", (torch.tensor([1.0, 2.0, 4.0]), 2.0))
    for size in sizes(B=3, S=5):
        yield Case(f"{count(size.B, 'row')} of {size.S} scores", (draw.numbers(size.B, size.S),), size.full)
    yield Case("2 rows of 2 scores, with different maxima", (torch.tensor([[0.0, 1.0], [2.0, 0.0]]),))
    yield Case("3 rows of 5 scores, temperature 0.5", (draw.numbers(3, 5), 0.5), True)
    yield Case("scores of shape (2, 3, 5), temperature 3", (draw.numbers(2, 3, 5), 3.0), True)
    far = torch.tensor([[1e4, -1e4, 0.0, 9e3], [-1e4, -2e4, -3e4, -1.5e4]])
    yield Case("scores of ±10,000", (far,), edge=True)
    yield Case("a single score", (torch.tensor([[3.0], [-1.0]]),), edge=True)
    yield Case("float64 numbers", (draw.numbers(3, 5, dtype=torch.float64), 0.5), edge=True)


@softmax.oracle
def _(scores, temperature=1.0):
    return torch.exp(scores / temperature - torch.logsumexp(scores / temperature, dim=-1, keepdim=True))


@softmax.mistake(
    "You normalise over the first axis: columns sum to 1, rows do not. The words of one row share the weight: the last axis."
)
def first_axis(scores, temperature=1.0):
    return (scores / temperature).softmax(0)


@softmax.mistake(
    "You divide by the total of all rows together. Each row has a total of its own: sum over the last axis and keep it (keepdim=True)."
)
def total_of_everything(scores, temperature=1.0):
    return (scores / temperature).reshape(-1).softmax(0).reshape(scores.shape)


@softmax.mistake(
    "exp overflows: above a score of about 88 it is infinite in float32, and infinity over infinity is NaN. Subtract each row's maximum first."
)
def overflow(scores, temperature=1.0):
    e = (scores / temperature).exp()
    return e / e.sum(-1, keepdim=True)


@softmax.mistake(
    "You subtract the largest score of the whole tensor. A row far below it has only zeros left after exp, and 0/0 is NaN. Subtract each row's own maximum."
)
def maximum_of_everything(scores, temperature=1.0):
    e = (scores / temperature - (scores / temperature).max()).exp()
    return e / e.sum(-1, keepdim=True)


@softmax.mistake(
    "The totals have lost their axis: `e / e.sum(-1)` lines up one total with each column, not with each row, where it runs at all. "
    "Keep the axis: `e.sum(-1, keepdim=True)`."
)
def total_without_its_axis(scores, temperature=1.0):
    e = (scores / temperature - (scores / temperature).amax(-1, keepdim=True)).exp()
    return e / e.sum(-1)


@softmax.mistake(
    "The maxima have lost their axis: `z - z.max(-1).values` lines up one maximum with each column, not with each row, where it runs "
    "at all. Keep the axis: `z.max(-1, keepdim=True).values`."
)
def maximum_without_its_axis(scores, temperature=1.0):
    z = scores / temperature
    e = (z - z.amax(-1)).exp()
    return e / e.sum(-1, keepdim=True)


@softmax.mistake(
    "Maxima and totals have both lost their axis: they line up with the columns, not with the rows, where they run at all. "
    "Keep it in both: keepdim=True."
)
def both_without_their_axis(scores, temperature=1.0):
    z = scores / temperature
    e = (z - z.amax(-1)).exp()
    return e / e.sum(-1)


@softmax.mistake(
    "`e.sum()` adds up the whole tensor: all rows together sum to 1. Each row has a total of its own: sum over the last axis, keepdim=True."
)
def one_total(scores, temperature=1.0):
    z = scores / temperature
    e = (z - z.amax(-1, keepdim=True)).exp()
    return e / e.sum()


@softmax.mistake(
    "You subtract the mean of each row. A score far above the mean still overflows exp; above the maximum there is none: subtract that."
)
def mean_subtracted(scores, temperature=1.0):
    z = scores / temperature
    e = (z - z.mean(-1, keepdim=True)).exp()
    return e / e.sum(-1, keepdim=True)


@softmax.mistake("You multiply by the temperature. A high temperature should even the weights out: divide by it.")
def temperature_multiplies(scores, temperature=1.0):
    return (scores * temperature).softmax(-1)


@softmax.mistake("The temperature has no effect.")
def temperature_unused(scores, temperature=1.0):
    return scores.softmax(-1)


@softmax.mistake(
    "You apply the temperature after the softmax, to the weights: rows no longer sum to 1. It divides the scores, before."
)
def temperature_after(scores, temperature=1.0):
    return scores.softmax(-1) / temperature


@softmax.mistake("These are logarithms of the weights (log-softmax).")
def logarithms(scores, temperature=1.0):
    return (scores / temperature).log_softmax(-1)


masked_softmax = Task(
    "02.masked_softmax",
    "softmax over what may be attended",
    arguments=("scores …×S", "mask …×S"),
    result="weights …×S",
    hints=(
        "A score that must not count has to leave the softmax before it is computed: exp turns minus infinity into exactly 0.",
        "weights_s = mask_s · exp(scores_s) / Σ_r mask_r · exp(scores_r), computed stably; a row where the mask is all False gives zeros, not NaN.",
        "Fill scores with -inf where the mask is False; softmax over the last axis; a row that was all -inf is NaN now: fill the weights with 0 where the mask is False.",
    ),
    partial={
        "empty_row_nan": (0.5, "right in every row with something to attend."),
        "empty_row_uniform": (0.5, "right in every row with something to attend."),
        "gradient": (0.75, "every weight is right, its gradient is not."),
        "side effect": (0.75, "every weight is right, but the scores that came in are altered."),
    },
)
masked_softmax.property(rows_sum_to_one)
masked_softmax.property(no_weight_is_negative)


@masked_softmax.property
def nothing_where_masked(case, value):
    """No weight where the mask is False."""
    leaked = value[~case.args[1]]
    return (
        f"Where the mask is False the weight should be 0; one of yours is {leaked.max():.4g}."
        if (leaked > 1e-6).any()
        else None
    )


@masked_softmax.cases
def _(draw):
    yield Case(
        "three scores, the last one masked", (torch.tensor([[1.0, 0.0, 0.5]]), torch.tensor([[True, True, False]]))
    )
    for size in sizes(B=3, S=5):
        args = (draw.numbers(size.B, size.S), draw.mask(size.B, size.S))
        yield Case(f"{count(size.B, 'row')} of {size.S} scores", args, size.full)
    yield Case("scores of shape (2, 3, 5)", (draw.numbers(2, 3, 5), draw.mask(2, 3, 5)), True)
    yield Case("rows as many as scores", (draw.numbers(5, 5), draw.mask(5, 5)))
    open_and_empty = torch.tensor([[True, False], [False, False]])
    yield Case("2 rows of 2 scores, nothing to attend in the second", (draw.numbers(2, 2), open_and_empty), edge=True)
    empty = draw.mask(3, 5)
    empty[1] = False
    yield Case("a row with nothing to attend", (draw.numbers(3, 5), empty), True, edge=True)
    low = torch.tensor([[-2e4, -3e4, 0.0, 1.0], [-1e4, 3.0, 1e4, 9e3]])
    yield Case(
        "scores of -20,000 beside a masked 0",
        (low, torch.tensor([[True, True, False, False], [True, True, False, True]])),
        edge=True,
    )
    yield Case("float64 numbers", (draw.numbers(3, 5, dtype=torch.float64), draw.mask(3, 5)), edge=True)


@masked_softmax.oracle
def _(scores, mask):
    rows, out = scores.reshape(-1, scores.shape[-1]), []
    for row, kept in zip(rows, mask.reshape(rows.shape), strict=True):
        total = torch.logsumexp(row[kept], 0) if kept.any() else row.sum() * 0
        out.append(torch.stack([(s - total).exp() if k else s * 0 for s, k in zip(row, kept, strict=True)]))
    return torch.stack(out).reshape(scores.shape)


@masked_softmax.mistake("The mask has no effect: what is masked still gets weight.")
def mask_unused(scores, mask):
    return scores.softmax(-1)


@masked_softmax.mistake('The mask is the wrong way round: True means "may attend", and you hide exactly those.')
def mask_inverted(scores, mask):
    return torch.nan_to_num(scores.masked_fill(mask, -torch.inf).softmax(-1))


@masked_softmax.mistake(
    "You set the masked weights to 0 after the softmax: the rest no longer sums to 1. Take the scores out before."
)
def masked_after(scores, mask):
    return scores.softmax(-1) * mask


@masked_softmax.mistake(
    "Masked scores become 0, or as good as (-1e-9 is a tiny number, not a very negative one): exp(0) = 1 is a weight like any other. Use -inf."
)
def filled_with_zero(scores, mask):
    return (scores * mask).softmax(-1)


@masked_softmax.mistake(
    "Adding the mask as 0 and 1 lowers a masked score by 1 only: it keeps 1/e of its weight. Minus infinity takes all of it."
)
def mask_added(scores, mask):
    return (scores + mask.to(scores.dtype)).softmax(-1)


@masked_softmax.mistake("A finite fill such as -10,000 can be higher than the honest scores. Minus infinity never is.")
def fill_undercut(scores, mask):
    return scores.masked_fill(~mask, -1e4).softmax(-1) * mask


@masked_softmax.mistake(
    "A row with nothing to attend gives NaN: a softmax of only -inf is 0/0. Zeros are asked for there."
)
def empty_row_nan(scores, mask):
    return scores.masked_fill(~mask, -torch.inf).softmax(-1)


@masked_softmax.mistake(
    "A row with nothing to attend spreads its weight over the masked words (a finite fill makes them all equal). Zeros are asked for there."
)
def empty_row_uniform(scores, mask):
    return scores.masked_fill(~mask, torch.finfo(scores.dtype).min).softmax(-1)


@masked_softmax.mistake(
    "The values are right, but in a row with nothing to attend the gradient is NaN: it runs through the -inf that you added. "
    "masked_fill stops it there; adding -inf does not."
)
def gradient_nan(scores, mask):
    bias = torch.zeros(mask.shape, dtype=scores.dtype).masked_fill(~mask, -torch.inf)
    return torch.where(mask, (scores + bias).softmax(-1), torch.zeros((), dtype=scores.dtype))


@masked_softmax.mistake(
    "You normalise over the first axis. Each row shares its weight among its own words: the last axis."
)
def first_axis(scores, mask):
    return torch.nan_to_num(scores.masked_fill(~mask, -torch.inf).softmax(0))


@masked_softmax.mistake(
    "A score that is exactly 0 counts as masked in yours: you look for the zeros that scores * mask leaves. Ask the mask itself."
)
def zero_is_masked(scores, mask):
    kept = scores * mask
    return torch.nan_to_num(kept.masked_fill(kept == 0, -torch.inf).softmax(-1))


@masked_softmax.mistake(
    "Masked scores still count before they are taken out: in the softmax whose weights you divide by their new total, or in the "
    "maximum that you subtract. Where they are far larger than the rest, nothing is left to divide. Mask before the softmax."
)
def masked_after_and_divided(scores, mask):
    kept = scores.softmax(-1) * mask
    return kept / kept.sum(-1, keepdim=True)


@masked_softmax.mistake(
    "Your zeros are right where nothing may be attended. But masked scores still count before they are taken out (in the softmax, or in "
    "the maximum that you subtract): where they are far larger than the rest, the rest comes out as zeros too. Mask before the softmax."
)
def masked_after_and_divided_safely(scores, mask):
    return torch.nan_to_num(masked_after_and_divided(scores, mask))


@masked_softmax.mistake(
    "0 times infinity is NaN, and you multiply the mask by -inf: that spoils what it should leave alone. Use masked_fill or torch.where."
)
def zero_times_infinity(scores, mask):
    return (scores + ~mask * -torch.inf).softmax(-1)


@masked_softmax.mistake(
    "The values are right, but you write into the result of softmax, which its gradient still needs: make a new tensor, with "
    "masked_fill or nan_to_num."
)
def written_into_softmax(scores, mask):
    weights = scores.masked_fill(~mask, -torch.inf).softmax(-1)
    weights[weights.isnan()] = 0
    return weights


dot_scores = Task(
    "02.dot_scores",
    "fixed attention: one dot product a word",
    arguments=("words B×S×D", "theta D"),
    result="scores B×S",
    hints=(
        "One question, theta, is asked of every word of every sentence. The answer is one number a word.",
        "scores_(b,s) = Σ_d words_(b,s,d) · theta_d: the feature axis goes away, B and S stay.",
        "A matrix product of words (B×S×D) with theta (D) does it; so does multiplying and summing over the last axis.",
    ),
)


@dot_scores.cases
def _(draw):
    for size in sizes(B=3, S=5, D=7):
        B, S, D = size.B, size.S, size.D
        name = f"{count(B, 'sentence')} of {S} words, width {D}"
        yield Case(name, (draw.numbers(B, S, D), draw.numbers(D)), size.full)
    yield Case(
        "float64 numbers",
        (draw.numbers(3, 5, 7, dtype=torch.float64), draw.numbers(13, dtype=torch.float64)[:7]),
        edge=True,
    )
    yield Case("sentences of one word, width 1", (draw.numbers(2, 1, 1), draw.numbers(1)), edge=True)
    yield Case("large numbers", (100 * (draw.numbers(2, 3, 2) + 0.25), draw.numbers(2) + 0.25), edge=True)


@dot_scores.oracle
def _(words, theta):
    return torch.stack(
        [torch.stack([sum(x * t for x, t in zip(word, theta, strict=True)) for word in s]) for s in words]
    )


@dot_scores.mistake("You go on to the softmax. Asked are the scores, before they are normalised.")
def normalised(words, theta):
    return (words @ theta).softmax(-1)


@dot_scores.mistake("You divide by √D. That scaling comes in lesson 04; here the plain dot product is asked.")
def scaled(words, theta):
    return words @ theta / theta.numel() ** 0.5


@dot_scores.mistake(
    "You multiply but do not add up: one number a word is asked, so sum over the features, the last axis."
)
def not_added(words, theta):
    return words * theta


@dot_scores.mistake(
    "You add over the words, axis 1. Each word has a score of its own: add over its features, the last axis."
)
def added_over_words(words, theta):
    return (words * theta).sum(1)


@dot_scores.mistake("You divide by the lengths: that is the cosine. The dot product keeps them.")
def cosine(words, theta):
    return torch.nn.functional.cosine_similarity(words, theta, dim=-1)


@dot_scores.mistake(
    "Your scores have a trailing axis of size 1. Softmax over that axis would make every weight 1: squeeze it away."
)
def trailing_axis(words, theta):
    return words @ theta[:, None]


@dot_scores.mistake(
    "The order of the product is turned round: in a matrix product the axis that goes away stands last on the left. That is D, "
    "so `words` (B×S×D) comes first. `theta @ words` runs only where S = D, and is wrong there."
)
def product_turned(words, theta):
    return theta @ words


mlp_scores = Task(
    "02.mlp_scores",
    "fixed attention: a small network a word",
    arguments=("words B×S×D", "weight H×D", "bias H", "theta H"),
    result="scores B×S",
    hints=(
        "The same network with one hidden layer looks at every word on its own; theta then asks its question of the hidden layer.",
        "scores_(b,s) = θᵀ σ(W x_(b,s) + b), with the logistic σ(z) = 1/(1 + exp(-z)); W is H×D, so W x means x (D) times W transposed (D×H).",
        "hidden = sigmoid(words @ weight transposed + bias), shape B×S×H; return hidden @ theta, shape B×S.",
    ),
)


@mlp_scores.cases
def _(draw):
    for size in sizes(B=2, S=5, D=7, H=3):
        B, S, D, H = size.B, size.S, size.D, size.H
        args = (draw.numbers(B, S, D), draw.numbers(H, D), draw.numbers(H) + 0.25, draw.numbers(H) + 0.25)
        name = f"{count(B, 'sentence')} of {S} words, width {D}, {count(H, 'hidden unit')}"
        yield Case(name, args, size.full)
    shapes = ((2, 5, 7), (3, 7), (3,), (3,))
    yield Case("float64 numbers", tuple(draw.numbers(*s, dtype=torch.float64) for s in shapes), edge=True)
    ones = tuple(draw.numbers(*s) for s in ((2, 1, 1), (1, 1), (1,), (1,)))
    yield Case("sentences of one word, one hidden unit", ones, edge=True)
    far = torch.tensor([[[1e3, 0.0], [-1e3, 1.0]]])
    yield Case("large numbers", (far, torch.ones(2, 2), draw.numbers(2), draw.numbers(2) + 0.25), edge=True)


@mlp_scores.oracle
def _(words, weight, bias, theta):
    hidden = torch.einsum("bsd,hd->bsh", words, weight) + bias
    return sum(theta[h] * (hidden[..., h].div(2).tanh() + 1) / 2 for h in range(len(theta)))


@mlp_scores.mistake(
    "Without the non-linearity two matrices in a row are one matrix: this is dot-product attention in disguise. σ goes around Wx + b."
)
def no_sigmoid(words, weight, bias, theta):
    return (words @ weight.T + bias) @ theta


@mlp_scores.mistake("You use tanh. Here σ is the logistic sigmoid, between 0 and 1.")
def with_tanh(words, weight, bias, theta):
    return (words @ weight.T + bias).tanh() @ theta


@mlp_scores.mistake("You use ReLU. Here σ is the logistic sigmoid, between 0 and 1.")
def with_relu(words, weight, bias, theta):
    return (words @ weight.T + bias).relu() @ theta


@mlp_scores.mistake("The bias is missing.")
def no_bias(words, weight, bias, theta):
    return (words @ weight.T).sigmoid() @ theta


@mlp_scores.mistake("The bias comes after the sigmoid in yours. It belongs inside: σ(Wx + b).")
def bias_outside(words, weight, bias, theta):
    return ((words @ weight.T).sigmoid() + bias) @ theta


@mlp_scores.mistake("theta is missing: the hidden units are added up with weight 1.")
def theta_unused(words, weight, bias, theta):
    return (words @ weight.T + bias).sigmoid().sum(-1)


@mlp_scores.mistake("The sigmoid stands outside, around the score. It belongs around Wx + b, before theta.")
def sigmoid_outside(words, weight, bias, theta):
    return ((words @ weight.T + bias) @ theta).sigmoid()


@mlp_scores.mistake("You go on to the softmax. Asked are the scores, before they are normalised.")
def normalised(words, weight, bias, theta):
    return ((words @ weight.T + bias).sigmoid() @ theta).softmax(-1)


@mlp_scores.mistake(
    "weight is H×D: for rows of words it has to be transposed, `words @ weight.T`. Without it this runs only where H = D, and is wrong there."
)
def not_transposed(words, weight, bias, theta):
    return (words @ weight + bias).sigmoid() @ theta


@mlp_scores.mistake(
    "exp(z) / (1 + exp(z)) is infinity over infinity for a large z. Use torch.sigmoid, or 1 / (1 + exp(-z))."
)
def overflow(words, weight, bias, theta):
    e = (words @ weight.T + bias).exp()
    return (e / (1 + e)) @ theta


@mlp_scores.mistake(
    "The order of the product is turned round: in a matrix product the axis that goes away stands last on the left. That is D, "
    "so `words` (B×S×D) comes first. `weight @ words` runs only where S, D and H are alike, and is wrong there."
)
def product_turned(words, weight, bias, theta):
    return (weight @ words + bias).sigmoid() @ theta


@mlp_scores.mistake(
    "The last product is turned round: the axis that goes away, H, stands last on the left, so the hidden layer comes first. "
    "`theta @ hidden` runs only where S = H, and is wrong there."
)
def theta_on_the_left(words, weight, bias, theta):
    return theta @ (words @ weight.T + bias).sigmoid()


several_attentions = Task(
    "02.several_attentions",
    "several fixed attentions, concatenated",
    arguments=("words B×S×D", "thetas N×D", "mask B×S"),
    result="contexts B×(N·D)",
    hints=(
        "Each theta is an attention of its own: its own scores, its own softmax over the words, its own weighted sum. Only then are the N results laid end to end.",
        "a_(b,n,:) = masked softmax over s of (words_(b,s) · theta_n); v_(b,n) = Σ_s a_(b,n,s) words_(b,s); the result is [v_(b,1); …; v_(b,N)].",
        "scores = thetas times words transposed, B×N×S; weights = masked softmax over the last axis, with the mask as B×1×S; contexts = weights times words, B×N×D; reshape to B×(N·D).",
    ),
)


@several_attentions.cases
def _(draw):
    for size in sizes(B=2, S=5, D=7, N=3):
        B, S, D, N = size.B, size.S, size.D, size.N
        args = (draw.numbers(B, S, D), draw.numbers(N, D), draw.lengths_mask(B, S))
        name = f"{count(B, 'sentence')} of up to {S} words, width {D}, {count(N, 'attention')}"
        yield Case(name, args, size.full)
    yield Case(
        "2 sentences of up to 3 words, width 2, 2 attentions",
        (draw.numbers(2, 3, 2), draw.numbers(2, 2), draw.lengths_mask(2, 3)),
    )
    shorter = torch.tensor([[True, False, False], [True] * 3])
    yield Case("the first sentence is the shorter one", (draw.numbers(2, 3, 2) + 0.25, draw.numbers(2, 2), shorter))
    empty = torch.tensor([[True] * 3, [False] * 3])
    yield Case("a sentence of padding only", (draw.numbers(2, 3, 5), draw.numbers(2, 5), empty), edge=True)
    front = torch.tensor([[True, True, True], [False, True, True]])
    yield Case("padding in front", (draw.numbers(2, 3, 5) + 0.25, draw.numbers(2, 5), front), edge=True)
    one = (draw.numbers(2, 1, 1), draw.numbers(2, 1), torch.ones(2, 1) > 0)
    yield Case("sentences of one word, width 1", one, edge=True)
    across = torch.tensor([[[0.0, 1.0], [1.0, 1.0], [2.0, 0.0]]])
    kept = torch.tensor([[True, True, False]])
    yield Case("a word at right angles to theta", (across, torch.tensor([[1.0, 0.0]]), kept), edge=True)
    far = torch.tensor([[[-100.0], [-150.0], [100.0]]])
    yield Case("scores of ±10,000", (far, torch.tensor([[100.0], [-100.0]]), kept), edge=True)
    words, thetas = draw.numbers(2, 5, 7, dtype=torch.float64), draw.numbers(3, 7, dtype=torch.float64)
    yield Case("float64 numbers", (words, thetas, draw.lengths_mask(2, 5)), edge=True)


def _context(words, theta, mask):
    return (
        torch.nan_to_num((words @ theta).masked_fill(~mask, -torch.inf).softmax(-1))
        .unsqueeze(1)
        .matmul(words)
        .squeeze(1)
    )


@several_attentions.oracle
def _(words, thetas, mask):
    out = []
    for sentence, real in zip(words, mask, strict=True):
        kept = sentence[real]
        for theta in thetas:
            e = (kept @ theta - (kept @ theta).max()).exp() if len(kept) else kept.sum(1)
            out.append((e[:, None] * kept).sum(0) / e.sum() if len(kept) else sentence.sum(0) * 0)
    return torch.stack(out).reshape(len(words), -1)


@several_attentions.mistake(
    "Your softmax runs over the attentions: they compete for each word. Each attention spreads its weight over the words, on its own."
)
def softmax_over_attentions(words, thetas, mask):
    weights = (words @ thetas.T).softmax(-1) * mask[..., None]
    return (weights.mT @ words).flatten(1)


@several_attentions.mistake(
    "Your softmax runs over all attentions and words at once. Each attention has weights of its own, which sum to 1."
)
def one_softmax(words, thetas, mask):
    scores = (thetas @ words.mT).masked_fill(~mask[:, None], -torch.inf)
    return torch.nan_to_num(scores.flatten(1).softmax(-1)).reshape(scores.shape).matmul(words).flatten(1)


@several_attentions.mistake(
    "The outputs are interleaved, feature by feature. First comes all of the first attention's vector, then all of the second's: stack them on axis 1, or cat."
)
def interleaved(words, thetas, mask):
    return torch.stack([_context(words, theta, mask) for theta in thetas], -1).flatten(1)


@several_attentions.mistake("The mask has no effect: padding is attended.")
def mask_unused(words, thetas, mask):
    return ((thetas @ words.mT).softmax(-1) @ words).flatten(1)


@several_attentions.mistake("The attentions' outputs are added up. Laid end to end, they stay apart: B×(N·D).")
def added_up(words, thetas, mask):
    return sum(_context(words, theta, mask) for theta in thetas)


@several_attentions.mistake(
    "The outputs still have an axis of their own, B×N×D. Lay them end to end: flatten the last two axes."
)
def not_flattened(words, thetas, mask):
    return torch.stack([_context(words, theta, mask) for theta in thetas], 1)


@several_attentions.mistake("The words are weighted by the raw scores: the softmax is missing.")
def no_softmax(words, thetas, mask):
    return ((thetas @ words.mT) * mask[:, None] @ words).flatten(1)


@several_attentions.mistake(
    "A sentence of padding only gives NaN: its softmax has nothing to share among. Zeros are asked for there."
)
def empty_sentence_nan(words, thetas, mask):
    scores = (thetas @ words.mT).masked_fill(~mask[:, None], -torch.inf)
    return (scores.softmax(-1) @ words).flatten(1)


@several_attentions.mistake(
    "You count the words and attend to the first so many: right only where the padding stands at the end. The mask says which ones are words."
)
def padding_at_the_end_assumed(words, thetas, mask):
    first = torch.arange(mask.shape[1]) < mask.sum(1, keepdim=True)
    return torch.stack([_context(words, theta, first) for theta in thetas], 1).flatten(1)


@several_attentions.mistake(
    "exp overflows: above a score of about 88 it is infinite in float32, and infinity over infinity is NaN. Subtract the largest score first."
)
def overflow(words, thetas, mask):
    e = (thetas @ words.mT).exp() * mask[:, None]
    return (e / e.sum(-1, keepdim=True).clamp(min=1e-30) @ words).flatten(1)


@several_attentions.mistake(
    "A finite fill such as -10,000 can be higher than the honest scores. Minus infinity never is."
)
def fill_undercut(words, thetas, mask):
    weights = (thetas @ words.mT).masked_fill(~mask[:, None], -1e4).softmax(-1) * mask[:, None]
    return (weights @ words).flatten(1)


@several_attentions.mistake(
    "The mask is B×S, your scores B×N×S: it needs an axis for the attentions, `mask[:, None]`. Without it this runs only where sizes "
    "happen to fit, and may be wrong there."
)
def mask_without_attentions(words, thetas, mask):
    return (torch.nan_to_num((thetas @ words.mT).masked_fill(~mask, -torch.inf).softmax(-1)) @ words).flatten(1)


@several_attentions.mistake(
    "Your scores are B×S×N, and masked and normalised over the last axis, the attentions. Turn them into B×N×S, and give the "
    "mask an axis for the attentions, `mask[:, None]`."
)
def words_before_attentions(words, thetas, mask):
    weights = torch.nan_to_num((words @ thetas.T).masked_fill(~mask, -torch.inf).softmax(-1))
    return (weights.mT @ words).flatten(1)


@several_attentions.mistake(
    "The mask is B×S, your scores B×S×N: it needs an axis for the attentions, here the last, `mask[..., None]`."
)
def mask_without_last_axis(words, thetas, mask):
    weights = torch.nan_to_num((words @ thetas.T).masked_fill(~mask, -torch.inf).softmax(1))
    return (weights.mT @ words).flatten(1)


@several_attentions.mistake(
    "`cat` along axis 0 lays the outputs under one another, as if there were more sentences. Each sentence gets one long row: "
    "the last axis."
)
def concatenated_along_batch(words, thetas, mask):
    return torch.cat([_context(words, theta, mask) for theta in thetas], 0)


@several_attentions.mistake(
    "These are the weights, B×N×S. Asked are the contexts: sum the words with these weights, then lay the sums end to end."
)
def weights_returned(words, thetas, mask):
    return torch.nan_to_num((thetas @ words.mT).masked_fill(~mask[:, None], -torch.inf).softmax(-1))


# The result is a gradient itself: none of it is asked for.
error_through_attention = Task(
    "02.error_through_attention",
    "what the backward pass brings to each word",
    arguments=("weights B×S", "error B×D"),
    result="word_errors B×S×D",
    hints=(
        "Going forward, a word enters the sum multiplied by its weight. Going backward, the error reaches it through the same multiplication.",
        "context = Σ_s weights_s · x_s, so ∂L/∂x_(b,s,d) = weights_(b,s) · error_(b,d), with the weights held fixed.",
        "Give weights a last axis of size 1 (B×S×1) and error a middle one (B×1×D); their product is B×S×D.",
    ),
)


@error_through_attention.cases
def _(draw):
    for size in sizes(B=2, S=5, D=3):
        B, S, D = size.B, size.S, size.D
        weights = (
            draw.numbers(B, S).softmax(-1) if size.full else torch.tensor([0.25, 0.75, 0.0])[:S].expand(B, S).clone()
        )
        yield Case(f"{count(B, 'sentence')} of {S} words, width {D}", (weights, draw.numbers(B, D)))
    one = torch.tensor([[1.0, 0.0], [0.0, 1.0], [0.5, 0.5]])
    yield Case("one word gets all the weight", (one, draw.numbers(3, 5)), edge=True)
    yield Case("sentences of one word, width 1", (torch.ones(2, 1), draw.numbers(2, 1) + 0.25), edge=True)
    yield Case(
        "float64 numbers",
        (draw.numbers(2, 5, dtype=torch.float64).softmax(-1), draw.numbers(2, 3, dtype=torch.float64)),
        edge=True,
    )


@error_through_attention.oracle
def _(weights, error):
    words = torch.zeros(*weights.shape, error.shape[-1], dtype=error.dtype, requires_grad=True)
    context = (weights[..., None] * words).sum(1)
    return torch.autograd.grad((context * error).sum(), words)[0]


@error_through_attention.mistake(
    "Every word gets the whole error. That is the plain sum; attention multiplies it by the word's weight."
)
def unweighted(weights, error):
    return error[:, None].expand(-1, weights.shape[1], -1).clone()


@error_through_attention.mistake(
    "Every word gets an equal share of the error. That is the mean; attention shares it out by weight."
)
def equal_shares(weights, error):
    return error[:, None].expand(-1, weights.shape[1], -1) / weights.shape[1]


@error_through_attention.mistake(
    "You divide by the weights. Backward a multiplication stays a multiplication by the same number."
)
def divided(weights, error):
    return error[:, None] / weights[..., None]


@error_through_attention.mistake("The last two axes are swapped: B×S×D is asked, words before features.")
def transposed(weights, error):
    return error[..., None] * weights[:, None]


@error_through_attention.mistake("You apply a softmax to the weights once more. They are weights already.")
def softmax_again(weights, error):
    return weights.softmax(-1)[..., None] * error[:, None]


@error_through_attention.mistake("You multiply by the weight twice.")
def weight_twice(weights, error):
    return weights[..., None] ** 2 * error[:, None]


@error_through_attention.mistake(
    "`weights * error` lines words up with features. Every word meets every feature: give weights a last axis and error a middle one. "
    "Without them this runs only where sizes happen to fit, and is wrong there."
)
def words_on_features(weights, error):
    return weights * error


@error_through_attention.mistake(
    "weights have their third axis, error does not: B×D lines up with S×D, and sentences meet words. Give error a middle axis, "
    "`error[:, None]`."
)
def sentences_on_words(weights, error):
    return weights[..., None] * error


@error_through_attention.mistake(
    "You add over the words. Each word receives an error of its own: B×S×D, nothing is added up."
)
def added_over_words(weights, error):
    return (weights[..., None] * error[:, None]).sum(1)


@error_through_attention.mistake(
    "a(1 - a) is what reaches the score; asked is what reaches the word, with the weights held fixed."
)
def softmax_derivative(weights, error):
    return (weights * (1 - weights))[..., None] * error[:, None]
