"""What lesson 04 asks: the eight alignment scores, and a test that tells right scores from wrong."""

import torch

from course_utils.checks.running.contract import Candidate, Case
from course_utils.checks.task import Task, sizes
from course_utils.models import attention


def _shapes(name, B, T, S, D, E, A):
    """The shapes of a score's arguments."""
    state, hidden, same = (B, T, D), (B, S, E), (B, S, D)
    return {
        "dot": (state, same),
        "scaled_dot": (state, same),
        "additive": (state, hidden, (A, D + E), (A,)),
        "general": (state, hidden, (D, E)),
        "concatenating": (state, hidden, (D + E,)),
        "perceptron": (state, hidden, (A, D), (A, E), (A,)),
        "content_based": (state, same),
        "location_based": (state, (S, D)),
    }[name]


def _score_task(name, title, arguments, result, hints, partial=None):
    """A Task on one score, with the cases that all eight share."""
    task = Task(f"04.{name}", title, arguments, result, hints, partial=partial)

    @task.cases
    def _(draw):
        letters = {letter for argument in arguments for letter in argument.partition(" ")[2] if letter in "BTSDEA"}
        full = {"B": 2, "T": 3, "S": 5, "D": 7, "E": 11, "A": 13}
        for size in sizes(**{k: v for k, v in full.items() if k in letters or k == "S"}):
            dims = {**dict.fromkeys(full, 2), **{k: v for k, v in vars(size).items() if k != "full"}}
            args = tuple(draw.numbers(*shape) + 0.25 for shape in _shapes(name, **dims))
            said = ", ".join(f"{k}={dims[k]}" for k in full if k in letters)
            yield Case(said, args, size.full)
        yield from _edges(name, draw)

    return task


def _edges(name, draw):
    square = tuple(draw.numbers(*shape) for shape in _shapes(name, 2, 3, 5, 7, 7, 7))
    yield Case("D, E and A all 7", square, edge=True)
    as_many = tuple(draw.numbers(*shape) for shape in _shapes(name, 3, 3, 3, 5, 5, 5))
    yield Case("as many queries as keys", as_many, edge=True)
    double = tuple(draw.numbers(*shape, dtype=torch.float64) for shape in _shapes(name, 2, 3, 5, 7, 11, 13))
    yield Case("float64 numbers", double, edge=True)
    ones = tuple(draw.numbers(*shape) + 0.25 for shape in _shapes(name, 2, 3, 1, 1, 1, 1))
    yield Case("a single hidden state, widths of 1", ones, edge=True)
    large = [draw.numbers(*shape).abs() + 0.5 for shape in _shapes(name, 2, 2, 3, 2, 2, 2)]
    large[0] *= torch.tensor([[[1000.0], [-1000.0]]])
    yield Case("large numbers", tuple(large), edge=True)
    if name == "additive":
        wide = tuple(draw.numbers(*shape) for shape in _shapes(name, 2, 3, 5, 3, 4, 7))
        # Not an edge: elsewhere a forgotten transposition only raises, as any slip does.
        yield Case("A as large as D+E", wide)


PRODUCTS = {  # how `first @ second.mT`, the product that most scores rest on, goes wrong
    "not_transposed": (
        "`@` pairs the last axis on the left with the second to last on the right. The features are what should go away: exchange the last two axes "
        "of hidden, `hidden.mT`. Without it this runs only where the sizes happen to fit, and is wrong there.",
        lambda first, second: first @ second,
    ),
    "all_axes_reversed": (
        "`.T` reverses all axes of a batch, B×S×D becomes D×S×B. `.mT` exchanges the last two only.",
        lambda first, second: first @ second.permute(2, 1, 0),
    ),
    "position_by_position": (
        "State t meets hidden state t only, where that runs at all. Every state has to meet every hidden state: T×S scores a sentence.",
        lambda first, second: (first * second).sum(-1),
    ),
    "sentences_mixed": (
        "Your scores add up over the sentences of the batch: in einsum the batch has one letter on both sides, `b`, and stays in the result.",
        lambda first, second: torch.einsum("btd,csd->bts", first, second),
    ),
}
AFTER = {  # what is done to a right score that should not be
    "transposed": (
        "Rows and columns are exchanged: a row belongs to a state (query), a column to a position of the hidden states (key), B×T×S.",
        lambda scores: scores.mT.contiguous(),
    ),
    "normalised": ("You go on to the softmax. Asked are the scores.", lambda scores: scores.softmax(-1)),
}


def _shared_mistakes(task, factors=None, after=tuple(AFTER)):
    """Register the mistakes that many scores share. `factors` gives the two that make the score, `first @ second.mT`."""

    def name(function, name):
        function.__name__ = name
        return function

    if factors:
        for called, (sentence, product) in PRODUCTS.items():
            task.mistake(sentence)(name(lambda *args, product=product: product(*factors(*args)), called))
    for called in after:
        sentence, change = AFTER[called]
        right = attention.SCORES[task.id.partition(".")[2]]
        task.mistake(sentence)(name(lambda *args, change=change, right=right: change(right(*args)), called))


dot = _score_task(
    "dot",
    "the dot-product score",
    ("state B×T×D", "hidden B×S×D"),
    "scores B×T×S",
    (
        "Every state meets every hidden state, and their features are multiplied and added up.",
        "scores_(b,t,s) = Σ_d state_(b,t,d) · hidden_(b,s,d).",
        "Swap the last two axes of hidden (B×D×S) and take the matrix product with state (B×T×D).",
    ),
)


@dot.oracle
def _(state, hidden):
    return (state[:, :, None] * hidden[:, None]).sum(-1)


@dot.mistake("You divide by √D. That is the scaled dot product, the next task.")
def scaled(state, hidden):
    return state @ hidden.mT / state.shape[-1] ** 0.5


@dot.mistake("You divide by the lengths. That is the cosine, the content-based score.")
def cosine(state, hidden):
    return torch.nn.functional.cosine_similarity(state[:, :, None], hidden[:, None], dim=-1)


@dot.mistake(
    "A reshape changes the shape, but leaves the numbers in their order: it does not exchange axes. That is `hidden.mT` or `hidden.transpose(1, 2)`."
)
def reshaped(state, hidden):
    return state @ hidden.reshape(hidden.shape[0], hidden.shape[2], hidden.shape[1])


_shared_mistakes(dot, lambda state, hidden: (state, hidden))


scaled_dot = _score_task(
    "scaled_dot",
    "the dot product, scaled by √D",
    ("state B×T×D", "hidden B×S×D"),
    "scores B×T×S",
    (
        "The more features are added up, the wider the dot products spread. Dividing brings the spread back to 1; the lesson measures by what.",
        "scores_(b,t,s) = (state_(b,t) · hidden_(b,s)) / √D with D the width of the vectors, whatever it is.",
        "Take the dot product score and divide by the square root of state's last size.",
    ),
)


@scaled_dot.oracle
def _(state, hidden):
    return (state[:, :, None] * hidden[:, None]).sum(-1) * state.shape[-1] ** -0.5


@scaled_dot.mistake(
    "You divide by D instead of √D: the scores come out too small, and the softmax too flat. It is the standard deviation of the dot product that grows like √D."
)
def divided_by_width(state, hidden):
    return state @ hidden.mT / state.shape[-1]


@scaled_dot.mistake("The scaling is missing: this is the plain dot product.")
def not_scaled(state, hidden):
    return state @ hidden.mT


@scaled_dot.mistake("You multiply by √D. Dividing is asked.")
def multiplied(state, hidden):
    return state @ hidden.mT * state.shape[-1] ** 0.5


@scaled_dot.mistake(
    "You take the root of the number of keys, S. What counts is how many products are added up: the width D, the last axis of state."
)
def root_of_keys(state, hidden):
    return state @ hidden.mT / hidden.shape[1] ** 0.5


@scaled_dot.mistake(
    "You take the root of the number of queries, T. What counts is how many products are added up: the width D, the last axis of state."
)
def root_of_queries(state, hidden):
    return state @ hidden.mT / state.shape[1] ** 0.5


@scaled_dot.mistake("You divide by 8 always. That is √64: right for a width of 64 only. Read the width from state.")
def always_eight(state, hidden):
    return state @ hidden.mT / 8


@scaled_dot.mistake("You divide by 2 always. That is √4: right for a width of 4 only. Read the width from state.")
def always_two(state, hidden):
    return state @ hidden.mT / 2


@scaled_dot.mistake(
    "len(state) is the first size, the number of sentences B. What counts is how many products are added up: the width D, state.shape[-1]."
)
def root_of_batch(state, hidden):
    return state @ hidden.mT / len(state) ** 0.5


_shared_mistakes(scaled_dot, lambda state, hidden: (state / state.shape[-1] ** 0.5, hidden))


additive = _score_task(
    "additive",
    "a small network on the pair, its input laid end to end",
    ("state B×T×D", "hidden B×S×E", "weight A×(D+E)", "v A"),
    "scores B×T×S",
    (
        "One hidden layer looks at a state and a hidden state together; v turns the layer into one number. Every state has to be paired with every hidden state.",
        "scores_(b,t,s) = vᵀ tanh(W [state_(b,t); hidden_(b,s)]): the state comes first in the pair; W is A×(D+E).",
        "Expand state to B×T×S×D and hidden to B×T×S×E; cat them on the last axis; times W transposed; tanh; times v.",
    ),
)


@additive.oracle
def _(state, hidden, weight, v):
    D = state.shape[-1]
    first, second = (
        torch.einsum("btd,ad->bta", state, weight[:, :D]),
        torch.einsum("bse,ae->bsa", hidden, weight[:, D:]),
    )
    return torch.einsum("btsa,a->bts", (first[:, :, None] + second[:, None]).tanh(), v)


def _pairs(state, hidden):
    return attention.pairs(state, hidden)


@additive.mistake("Without tanh the two matrices are one, and the score is linear: that is the concatenating score.")
def no_tanh(state, hidden, weight, v):
    return _pairs(state, hidden) @ weight.T @ v


@additive.mistake("You use ReLU. Bahdanau's score has tanh, which keeps each hidden unit between -1 and 1.")
def with_relu(state, hidden, weight, v):
    return (_pairs(state, hidden) @ weight.T).relu() @ v


@additive.mistake("You use the logistic sigmoid. Here the non-linearity is tanh.")
def with_sigmoid(state, hidden, weight, v):
    return (_pairs(state, hidden) @ weight.T).sigmoid() @ v


@additive.mistake(
    "The pair is the wrong way round: [s; h], the state first. The first D columns of W belong to the state."
)
def pair_turned(state, hidden, weight, v):
    pairs = _pairs(hidden, state).transpose(1, 2)
    return (pairs @ weight.T).tanh() @ v


@additive.mistake("v is missing: the hidden units are added up with weight 1.")
def v_unused(state, hidden, weight, v):
    return (_pairs(state, hidden) @ weight.T).tanh().sum(-1)


@additive.mistake("tanh stands outside, around the score. It belongs around W[s; h], before v.")
def tanh_outside(state, hidden, weight, v):
    return (_pairs(state, hidden) @ weight.T @ v).tanh()


@additive.mistake(
    "You pair position with position, which runs only where T = S: state t meets hidden state t only. Every state has to meet every "
    "hidden state: T×S scores a sentence."
)
def position_by_position(state, hidden, weight, v):
    return torch.tanh(torch.cat([state, hidden], -1) @ weight.T) @ v


@additive.mistake(
    "weight is A×(D+E): for rows of pairs it has to be transposed, `weight.T`. Without it this runs only where A = D+E, and is wrong there."
)
def weight_not_transposed(state, hidden, weight, v):
    return (_pairs(state, hidden) @ weight).tanh() @ v


def _overflowing_tanh(z):
    return (z.exp() - (-z).exp()) / (z.exp() + (-z).exp())


@additive.mistake(
    "Your own tanh overflows: exp of a large number is infinity, and infinity over infinity is NaN. Use torch.tanh."
)
def tanh_overflow(state, hidden, weight, v):
    return _overflowing_tanh(_pairs(state, hidden) @ weight.T) @ v


_shared_mistakes(additive)


general = _score_task(
    "general",
    "a matrix between state and hidden state",
    ("state B×T×D", "hidden B×S×E", "weight D×E"),
    "scores B×T×S",
    (
        "The matrix carries the state into the space of the hidden states; there the dot product is taken. D and E may differ.",
        "scores_(b,t,s) = Σ_d Σ_e state_(b,t,d) · weight_(d,e) · hidden_(b,s,e).",
        "state times weight is B×T×E; times hidden with its last two axes exchanged, B×E×S.",
    ),
)


@general.oracle
def _(state, hidden, weight):
    return torch.einsum("btd,de,bse->bts", state, weight, hidden)


@general.mistake(
    "weight is transposed in yours. It is D×E and stands between state and hidden: sᵀ W h. This only runs where D = E, and is wrong there."
)
def weight_transposed(state, hidden, weight):
    return state @ weight.T @ hidden.mT


@general.mistake("weight has no effect: this is the plain dot product, and needs D = E.")
def weight_unused(state, hidden, weight):
    return state @ hidden.mT


@general.mistake("You divide by √D. Luong's general score is not scaled.")
def general_scaled(state, hidden, weight):
    return state @ weight @ hidden.mT / state.shape[-1] ** 0.5


@general.mistake("There is a tanh too much: the general score is sᵀ W h, linear in each of the two.")
def with_tanh(state, hidden, weight):
    return (state @ weight).tanh() @ hidden.mT


_shared_mistakes(general, lambda state, hidden, weight: (state @ weight, hidden))


concatenating = _score_task(
    "concatenating",
    "one weight vector on the pair",
    ("state B×T×D", "hidden B×S×E", "weight D+E"),
    "scores B×T×S",
    (
        "State and hidden state are laid end to end, and one weight vector turns the pair into a number. Nothing else happens.",
        "scores_(b,t,s) = Σ_d weight_d · state_(b,t,d) + Σ_e weight_(D+e) · hidden_(b,s,e).",
        "Either cat the expanded pairs (B×T×S×(D+E)) and multiply by weight, or add state @ weight[:D] as B×T×1 and hidden @ weight[D:] as B×1×S.",
    ),
)


@concatenating.oracle
def _(state, hidden, weight):
    D = state.shape[-1]
    return (state * weight[:D]).sum(-1)[:, :, None] + (hidden * weight[D:]).sum(-1)[:, None]


@concatenating.mistake(
    "There is a tanh too much: the concatenating score is linear. With tanh (and v) it is the additive one."
)
def concatenating_with_tanh(state, hidden, weight):
    return (_pairs(state, hidden) @ weight).tanh()


@concatenating.mistake(
    "The pair is the wrong way round: [s; h], the state first. The first D weights belong to the state."
)
def concatenating_turned(state, hidden, weight):
    return (_pairs(hidden, state) @ weight).mT.contiguous()


@concatenating.mistake("Only the hidden states enter: the state's part of the sum is missing.")
def state_unused(state, hidden, weight):
    return (hidden @ weight[state.shape[-1] :])[:, None].expand(-1, state.shape[1], -1).clone()


@concatenating.mistake("Only the states enter: the hidden states' part of the sum is missing.")
def hidden_unused(state, hidden, weight):
    return (state @ weight[: state.shape[-1]])[:, :, None].expand(-1, -1, hidden.shape[1]).clone()


@concatenating.mistake("You multiply the two parts. Laid end to end they are added.")
def parts_multiplied(state, hidden, weight):
    D = state.shape[-1]
    return (state @ weight[:D])[:, :, None] * (hidden @ weight[D:])[:, None]


@concatenating.mistake(
    "You pair position with position, which runs only where T = S: state t meets hidden state t only. Every state has to meet every "
    "hidden state: T×S scores a sentence."
)
def laid_position_by_position(state, hidden, weight):
    return torch.cat([state, hidden], -1) @ weight


@concatenating.mistake(
    "You add position to position: state t meets hidden state t only, where that runs at all. Every state has to meet every hidden "
    "state: give the state's part the shape B×T×1, the other B×1×S."
)
def added_position_by_position(state, hidden, weight):
    D = state.shape[-1]
    return state @ weight[:D] + hidden @ weight[D:]


_shared_mistakes(concatenating)


perceptron = _score_task(
    "perceptron",
    "a small network with a matrix for each side",
    ("state B×T×D", "hidden B×S×E", "weight_s A×D", "weight_h A×E", "v A"),
    "scores B×T×S",
    (
        "Each side is carried into the hidden layer by a matrix of its own; the two are added for every pair, then tanh, then v.",
        "scores_(b,t,s) = vᵀ tanh(W state_(b,t) + U hidden_(b,s)), with weight_s = W and weight_h = U.",
        "(state times W transposed) as B×T×1×A plus (hidden times U transposed) as B×1×S×A; tanh; times v.",
    ),
)


@perceptron.oracle
def _(state, hidden, weight_s, weight_h, v):
    weight = torch.cat([weight_s, weight_h], dim=1)
    layer = torch.einsum("btsp,ap->btsa", _pairs(state, hidden), weight)
    return (layer.tanh() * v).sum(-1)


def _layer(state, hidden, weight_s, weight_h):
    return (state @ weight_s.T)[:, :, None] + (hidden @ weight_h.T)[:, None]


@perceptron.mistake("Without tanh the score is linear, and state and hidden state no longer interact.")
def perceptron_no_tanh(state, hidden, weight_s, weight_h, v):
    return _layer(state, hidden, weight_s, weight_h) @ v


@perceptron.mistake("You use ReLU. Bahdanau's score has tanh, which keeps each hidden unit between -1 and 1.")
def perceptron_with_relu(state, hidden, weight_s, weight_h, v):
    return _layer(state, hidden, weight_s, weight_h).relu() @ v


@perceptron.mistake(
    "You take tanh of each side and then add. The sum comes first, then tanh: else the two sides never interact."
)
def tanh_before_sum(state, hidden, weight_s, weight_h, v):
    return ((state @ weight_s.T).tanh()[:, :, None] + (hidden @ weight_h.T).tanh()[:, None]) @ v


@perceptron.mistake(
    "The two matrices are exchanged: weight_s belongs to the state, weight_h to the hidden states. This only runs where D = E, and is wrong there."
)
def matrices_exchanged(state, hidden, weight_s, weight_h, v):
    return _layer(state, hidden, weight_h, weight_s).tanh() @ v


@perceptron.mistake("v is missing: the hidden units are added up with weight 1.")
def perceptron_v_unused(state, hidden, weight_s, weight_h, v):
    return _layer(state, hidden, weight_s, weight_h).tanh().sum(-1)


@perceptron.mistake(
    "You add position to position: state t meets hidden state t only, where that runs at all. Every state has to meet every hidden "
    "state: T×S scores a sentence."
)
def perceptron_by_position(state, hidden, weight_s, weight_h, v):
    return torch.tanh(state @ weight_s.T + hidden @ weight_h.T) @ v


@perceptron.mistake(
    "Your own tanh overflows: exp of a large number is infinity, and infinity over infinity is NaN. Use torch.tanh."
)
def perceptron_tanh_overflow(state, hidden, weight_s, weight_h, v):
    return _overflowing_tanh(_layer(state, hidden, weight_s, weight_h)) @ v


@perceptron.mistake(
    "weight_s is A×D and weight_h A×E: for rows of vectors they have to be transposed, `.T`. Without it this runs only where A, D and E "
    "are alike, and is wrong there."
)
def perceptron_not_transposed(state, hidden, weight_s, weight_h, v):
    return _layer(state, hidden, weight_s.T, weight_h.T).tanh() @ v


@perceptron.mistake(
    "weight_s is A×D: for rows of states it has to be transposed, `weight_s.T`. Without it this runs only where A = D, and is wrong there."
)
def state_weight_not_transposed(state, hidden, weight_s, weight_h, v):
    return _layer(state, hidden, weight_s.T, weight_h).tanh() @ v


@perceptron.mistake(
    "weight_h is A×E: for rows of hidden states it has to be transposed, `weight_h.T`. Without it this runs only where A = E, and is wrong there."
)
def hidden_weight_not_transposed(state, hidden, weight_s, weight_h, v):
    return _layer(state, hidden, weight_s, weight_h.T).tanh() @ v


_shared_mistakes(perceptron)


content_based = _score_task(
    "content_based",
    "the cosine",
    ("state B×T×D", "hidden B×S×D"),
    "scores B×T×S",
    (
        "Only the angle counts: a hidden state twice as long gets the same score.",
        "scores_(b,t,s) = (state_(b,t) · hidden_(b,s)) / (‖state_(b,t)‖ ‖hidden_(b,s)‖), and 0 where one of the two is a zero vector.",
        "Divide each vector by its own norm (leave zero vectors zero), then take dot products. torch.nn.functional.normalize(…, dim=-1) does the first part.",
    ),
    {"zero_gives_nan": (0.75, "right wherever no vector is zero.")},
)


@content_based.oracle
def _(state, hidden):
    product = (state[:, :, None] * hidden[:, None]).sum(-1)
    square = state.square().sum(-1)[:, :, None] * hidden.square().sum(-1)[:, None]
    return torch.where(square > 0, product / square.clamp(min=1e-300).sqrt(), 0 * product)


_content_cases = content_based.make_cases


def _with_zero_vectors(seed=0):
    cases = _content_cases(seed)
    state, hidden = (arg.clone() for arg in next(case for case in cases if case.name == "as many queries as keys").args)
    state[0, 1], hidden[1, 2] = 0, 0
    small = torch.tensor([[[3.0, 4.0], [0.0, 0.0]]])
    at_hand = Case("2 states and 2 hidden states, one of each zero", (small, small.flip(1, 2)), edge=True)
    return [*cases, at_hand, Case("a zero vector on either side", (state, hidden), edge=True)]


content_based.make_cases = _with_zero_vectors


@content_based.mistake("These are dot products: long vectors get large scores. Divide by both lengths.")
def dot_product(state, hidden):
    return state @ hidden.mT


@content_based.mistake(
    "You divide by the norm of everything together. Each vector has a length of its own: take the norm over the last axis."
)
def norm_of_everything(state, hidden):
    return torch.nan_to_num(state @ hidden.mT / (state.norm() * hidden.norm()))


@content_based.mistake("A zero vector gives 0/0, which is NaN. It has no direction; 0 is asked there.")
def zero_gives_nan(state, hidden):
    return state @ hidden.mT / (state.norm(dim=-1)[:, :, None] * hidden.norm(dim=-1)[:, None])


@content_based.mistake("You divide by the length of the hidden states only; the state's is missing.")
def state_length_missing(state, hidden):
    return state @ torch.nn.functional.normalize(hidden, dim=-1).mT


@content_based.mistake("You divide by the length of the states only; the hidden states' is missing.")
def hidden_length_missing(state, hidden):
    return torch.nn.functional.normalize(state, dim=-1) @ hidden.mT


@content_based.mistake("You divide by the squared lengths: the square root is missing.")
def squared_lengths(state, hidden):
    return torch.nan_to_num(state @ hidden.mT / (state.square().sum(-1)[:, :, None] * hidden.square().sum(-1)[:, None]))


@content_based.mistake(
    "You normalise along the wrong axis: over the positions instead of over the features, the last axis."
)
def wrong_axis(state, hidden):
    return torch.nn.functional.normalize(state, dim=1) @ torch.nn.functional.normalize(hidden, dim=1).mT


_shared_mistakes(
    content_based,
    lambda state, hidden: tuple(torch.nn.functional.normalize(vectors, dim=-1) for vectors in (state, hidden)),
)


location_based = _score_task(
    "location_based",
    "weights from the state alone",
    ("state B×T×D", "weight S×D"),
    "weights B×T×S",
    (
        "No hidden state enters: the state alone says where to look, by position. And this one gives weights, already normalised.",
        "weights_(b,t,:) = softmax over s of (weight_s · state_(b,t)); weight has one row for each of the S positions.",
        "scores = state times weight transposed, B×T×S; softmax over the last axis.",
    ),
)


@location_based.oracle
def _(state, weight):
    scores = torch.einsum("btd,sd->bts", state, weight)
    return (scores - scores.logsumexp(-1, keepdim=True)).exp()


@location_based.mistake("These are scores: the softmax is missing. This one of the eight gives weights.")
def no_softmax(state, weight):
    return state @ weight.T


@location_based.mistake(
    "Your softmax runs over the states (queries). Each state spreads its weight over the positions, the last axis."
)
def softmax_over_states(state, weight):
    return (state @ weight.T).softmax(1)


@location_based.mistake(
    "Your softmax runs over the batch. Each state spreads its weight over the positions, the last axis."
)
def softmax_over_batch(state, weight):
    return (state @ weight.T).softmax(0)


@location_based.mistake("You divide by √D before the softmax. Luong's location score is not scaled.")
def location_scaled(state, weight):
    return (state @ weight.T / state.shape[-1] ** 0.5).softmax(-1)


@location_based.mistake("You put a tanh before the softmax. It is softmax(W s), nothing else.")
def location_tanh(state, weight):
    return (state @ weight.T).tanh().softmax(-1)


@location_based.mistake(
    "exp overflows: above a score of about 88 it is infinite in float32, and infinity over infinity is NaN. Subtract each row's maximum first, or use softmax."
)
def location_overflow(state, weight):
    e = (state @ weight.T).exp()
    return e / e.sum(-1, keepdim=True)


@location_based.mistake("These are logarithms of the weights (log-softmax). Weights are positive and sum to 1.")
def location_logarithms(state, weight):
    return (state @ weight.T).log_softmax(-1)


@location_based.mistake(
    "A sigmoid weighs each position by itself: the row does not sum to 1. The positions share the weight: softmax over the last axis."
)
def location_sigmoid(state, weight):
    return (state @ weight.T).sigmoid()


@location_based.mistake(
    "weight is S×D: for rows of states it has to be transposed, `weight.T`. Without it this runs only where S = D, and is wrong there."
)
def location_not_transposed(state, weight):
    return (state @ weight).softmax(-1)


_shared_mistakes(location_based, after=("transposed",))


def transposed(state, hidden):
    return hidden @ state.mT


def general_rows_exchanged(state, hidden, weight):
    return (state @ weight @ hidden.mT).mT.contiguous()


# The bank for 04.catch_wrong_scores: for each score a right one written differently, and wrong ones.


def _right(name):
    def candidate(*args):
        tasks = {
            t.id: t
            for t in (dot, scaled_dot, additive, general, concatenating, perceptron, content_based, location_based)
        }
        return tasks[f"04.{name}"].answer(*args)

    return candidate


def additive_position_zero(state, hidden, weight, v):
    return attention.additive(state[:1].expand_as(state), hidden, weight, v)


def location_over_first_state(state, weight):
    return attention.location_based(state[:, :1].expand_as(state), weight)


def perceptron_hidden_of_first_sentence(state, hidden, weight_s, weight_h, v):
    return attention.perceptron(state, hidden[:1].expand_as(hidden), weight_s, weight_h, v)


RIGHT = {name: _right(name) for name in attention.SCORES}
WRONG_SHOWN = (
    ("dot", scaled, "divided by √D"),
    ("scaled_dot", divided_by_width, "divided by D"),
    ("additive", with_relu, "ReLU instead of tanh"),
    ("general", weight_transposed, "the matrix transposed"),
    ("concatenating", concatenating_turned, "the pair turned round"),
    ("perceptron", matrices_exchanged, "the two matrices exchanged"),
    ("content_based", zero_gives_nan, "NaN at a zero vector"),
    ("location_based", softmax_over_states, "softmax over the states"),
)
WRONG_HIDDEN = (
    ("dot", cosine),
    ("scaled_dot", root_of_keys),
    ("scaled_dot", not_scaled),
    ("additive", no_tanh),
    ("additive", pair_turned),
    ("additive", additive_position_zero),
    ("general", with_tanh),
    ("general", weight_unused),
    ("concatenating", concatenating_with_tanh),
    ("concatenating", state_unused),
    ("perceptron", tanh_before_sum),
    ("perceptron", perceptron_hidden_of_first_sentence),
    ("content_based", norm_of_everything),
    ("content_based", hidden_length_missing),
    ("location_based", no_softmax),
    ("location_based", location_over_first_state),
    ("dot", transposed),
    ("scaled_dot", always_eight),
    ("scaled_dot", root_of_queries),
    ("additive", v_unused),
    ("general", general_rows_exchanged),
    ("concatenating", hidden_unused),
    ("perceptron", perceptron_v_unused),
    ("content_based", state_length_missing),
)
_bank = (
    *((name, right, f"a right {name}, written differently") for name, right in RIGHT.items()),
    *((name, wrong, f"a wrong {name}: {what}") for name, wrong, what in WRONG_SHOWN),
    *((name, wrong, f"a wrong {name} that is not shown") for name, wrong in WRONG_HIDDEN),
)

catch_wrong_scores = Task(
    "04.catch_wrong_scores",
    "a test that tells right scores from wrong",
    arguments=("name", "candidate"),
    result="verdict",
    candidates=tuple(function for _, function, _ in _bank),
    hints=(
        "course_utils.models.attention.SCORES[name] is right. The work is in the inputs: every size different, numbers of ordinary size, more than one sentence, and for the cosine a zero vector.",
        "The arguments' shapes depend on the name: state B×T×D and hidden B×S×E (or B×S×D), then the weights of the table in the lesson. Compare shapes first, then values up to rounding. A candidate that raises is wrong.",
        "shapes = {name: [shape, …]}; args = random tensors of these shapes; also zero out one vector of state; try candidate(*args), except: False; return shapes equal and torch.allclose(…, atol=1e-5).",
    ),
)


@catch_wrong_scores.cases
def _(draw):
    for key in torch.randperm(len(_bank), generator=draw.generator).tolist():
        name, _, said = _bank[key]
        yield Case(said, (name, Candidate(key)))


@catch_wrong_scores.oracle
def _(name, candidate):
    return candidate is RIGHT[name]


def _tester(scale=1.0, zero=True, by_value=True, square=False, B=2, T=3):
    """A test like the solution's, with one thing left out."""

    def test(name, candidate):
        draw = torch.Generator().manual_seed(5)
        dims = (B, T, 5, 7, 7, 7) if square else (B, T, 5, 7, 11, 13)
        args = [scale * torch.randn(*shape, generator=draw) for shape in _shapes(name, *dims)]
        if zero:
            args[0][0, 0] = 0
        try:
            expected, received = attention.SCORES[name](*args), candidate(*args)
            return expected.shape == received.shape and (
                not by_value or torch.allclose(expected, received, rtol=1e-4, atol=1e-5)
            )
        except Exception:
            return False

    return test


@catch_wrong_scores.mistake("Your test says True to every candidate.")
def always_true(name, candidate):
    return True


@catch_wrong_scores.mistake("Your test says False to every candidate, also to the right ones.")
def always_false(name, candidate):
    return False


@catch_wrong_scores.mistake(
    "Your test looks at shapes only. Nearly every wrong score has the right shape: compare the numbers."
)
def shapes_only(name, candidate):
    return _tester(by_value=False)(name, candidate)


@catch_wrong_scores.mistake(
    "A cosine that gives NaN at a zero vector goes by unseen: let one vector of state be zero, and keep the NaN."
)
def no_zero_vector(name, candidate):
    return _tester(zero=False)(name, candidate)


@catch_wrong_scores.mistake(
    "Your test sees one sentence only: what mixes up sentences goes by unseen. Take a batch of two or more, and compare them all."
)
def batch_of_one(name, candidate):
    return _tester(B=1, zero=False)(name, candidate) and _zero_cosine(name, candidate)


@catch_wrong_scores.mistake(
    "Your test sees one state only: what mixes up the states goes by unseen. Take T = 2 or more, and compare them all."
)
def one_state(name, candidate):
    return _tester(T=1, zero=False)(name, candidate) and _zero_cosine(name, candidate)


def _zero_cosine(name, candidate):
    return name != "content_based" or bool(candidate(torch.zeros(1, 1, 2), torch.ones(1, 1, 2)).isfinite().all())
