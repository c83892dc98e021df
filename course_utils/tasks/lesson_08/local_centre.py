"""Task 08.local_centre: where in the source local attention looks."""

from operator import matmul, mul

import torch

from course_utils.checks.running.contract import Case
from course_utils.checks.task import Task, count, sizes
from course_utils.tasks.shares import USUAL

task = Task(
    "08.local_centre",
    "where to look",
    arguments=("state B×H", "weight A×H", "v A", "length B"),
    result="centre B",
    difficulty=2,
    importance=3,
    minutes=10,
    hints=(
        "The state decides at which share of the sentence to look, a number between 0 and 1, and the sentence's length turns this share into a place. The place need not be whole: a gradient has to come back through it.",
        (
            "Take the state [1], W = [[1]], v = [ln 3 / tanh 1] ≈ [1.4425] and a sentence of 8 words. tanh(W s) is 0.7616, times v that is ln 3 = 1.0986, and σ(1.0986) = 1 / (1 + 1/3) = 0.75. The centre is 8 · 0.75 = 6. In a sentence of 4 words "
            "the same state would look at place 3."
        ),
        "hidden = tanh of state times weight transposed, B×A; share = sigmoid of hidden times v, B; return length times share, without rounding.",
    ),
    partial=USUAL,
)


@task.property
def centre_lies_in_the_sentence(case, value):
    """The sigmoid lies between 0 and 1."""
    length = case.args[-1]
    outside = (value < -1e-4) | (value > length + 1e-4)
    if not outside.any():
        return None
    row = int(outside.int().argmax())
    return f"σ lies between 0 and 1, so the centre lies between 0 and the length; in row {row} the length is {length[row]}, and your centre is {value[row]:.4g}."


def _inputs(draw, B, H, A, dtype=torch.float32):
    weight, v = draw.numbers(A, H, dtype=dtype) / 2 + 0.125, draw.numbers(A, dtype=dtype) + 0.25
    return draw.numbers(B, H, dtype=dtype) + 0.125, weight, v, draw.distinct(B, 2, max(20, B + 2))


@task.cases
def _(draw):
    for size in sizes(B=3, H=5, A=7):
        name = f"{count(size.B, 'sentence')}, widths H={size.H}, A={size.A}"
        yield Case(name, _inputs(draw, size.B, size.H, size.A), size.full)
    yield Case("11 sentences, widths H=3, A=2", _inputs(draw, 11, 3, 2))
    yield Case("H and A both 5", _inputs(draw, 2, 5, 5))
    yield Case("as many sentences as A", _inputs(draw, 3, 2, 3))
    yield Case("widths of 1", _inputs(draw, 1, 1, 1), True, edge=True)
    state, weight, v, _ = _inputs(draw, 3, 5, 7)
    yield Case("sentences of one word", (state, weight, v, torch.ones(3, dtype=torch.long)), True, edge=True)
    yield Case("lengths of type int32", (state, weight, v, torch.tensor([4, 9, 2], dtype=torch.int32)), edge=True)
    # Every tanh is 1 or -1, so the scores are exact: 10,000, -10,000 and 0.
    far = torch.tensor([[1.0, 1.0], [-1.0, -1.0], [1.0, -1.0]])[draw.distinct(3, 0, 3)]
    large = (far, 100 * torch.eye(2), torch.tensor([5e3, 5e3]), torch.tensor([4, 9, 6]))
    yield Case("scores of ±10,000", large, True, hazard=True)
    yield Case("200 sentences", _inputs(draw, 200, 3, 5), True, edge=True)
    yield Case("float64 numbers", _inputs(draw, 3, 5, 7, torch.float64), True, edge=True)


@task.oracle
def _(state, weight, v, length):
    centres = []
    for s, words in zip(state, length.tolist(), strict=True):
        score = sum(v[a] * torch.tanh(sum(weight[a, h] * s[h] for h in range(len(s)))) for a in range(len(v)))
        centres.append(words * (torch.tanh(score / 2) + 1) / 2)
    return torch.stack(centres)


@task.steps
def _(state, weight, v, length):
    product = yield "the product of state and weight", matmul, state, weight.mT
    hidden = yield "the hidden layer", torch.tanh, product
    score = yield "the score", matmul, hidden, v
    share = yield "the share", torch.sigmoid, score
    centre = yield "the centre", mul, share, length
    return centre


def _score(state, weight, v):
    return torch.tanh(state @ weight.T) @ v


def _share(state, weight, v):
    return torch.sigmoid(_score(state, weight, v))


@task.mistake("tanh is missing: it stands between the two products, around W s.")
def no_tanh(state, weight, v, length):
    return length * torch.sigmoid(state @ weight.T @ v)


@task.mistake("You use ReLU. The hidden layer has tanh here.")
def with_relu(state, weight, v, length):
    return length * torch.sigmoid((state @ weight.T).relu() @ v)


@task.mistake("The hidden layer has the logistic sigmoid. It has tanh; the sigmoid comes at the end.")
def sigmoid_inside(state, weight, v, length):
    return length * torch.sigmoid((state @ weight.T).sigmoid() @ v)


@task.mistake("tanh stands around the whole score. It belongs around W s, before v.")
def tanh_outside(state, weight, v, length):
    return length * torch.sigmoid((state @ weight.T @ v).tanh())


@task.mistake(
    "The sigmoid is missing, so the centre may lie outside the sentence, even below 0. The sigmoid makes a share between 0 and 1 of the score."
)
def no_sigmoid(state, weight, v, length):
    return length * _score(state, weight, v)


@task.mistake(
    "You use tanh where the sigmoid belongs, so the centre may lie below 0. The sigmoid makes a share between 0 and 1 of the score."
)
def tanh_for_the_sigmoid(state, weight, v, length):
    return length * _score(state, weight, v).tanh()


@task.mistake("tanh and the sigmoid are exchanged: tanh stands around W s, and the sigmoid around the score.")
def exchanged(state, weight, v, length):
    return length * ((state @ weight.T).sigmoid() @ v).tanh()


@task.mistake("The sigmoid is applied twice. Apply it once, to the score.")
def sigmoid_twice(state, weight, v, length):
    return length * _share(state, weight, v).sigmoid()


@task.mistake(
    "You use a softmax over the batch where the sigmoid belongs, so sentences compete with one another. Each sentence has a share of its own: apply the sigmoid to each score."
)
def softmax_for_the_sigmoid(state, weight, v, length):
    return length * _score(state, weight, v).softmax(0)


@task.mistake("This is the share, between 0 and 1. Multiply it by the length to get a place.")
def share_alone(state, weight, v, length):
    return _share(state, weight, v)


@task.mistake(
    "You multiply the score by the length before the sigmoid, so the result is never above 1. Multiply after it."
)
def length_inside(state, weight, v, length):
    return torch.sigmoid(length * _score(state, weight, v))


@task.mistake("You add the length to the share. Multiply the two.")
def length_added(state, weight, v, length):
    return length + _share(state, weight, v)


@task.mistake("You divide the share by the length. Multiply the two.")
def divided_by_length(state, weight, v, length):
    return _share(state, weight, v) / length


@task.mistake(
    "You multiply by the length minus 1. That would end at the last place counted from 0, but the equation multiplies by the length itself."
)
def length_minus_one(state, weight, v, length):
    return (length - 1) * _share(state, weight, v)


@task.mistake(
    "Your centre is one place further to the right: 1 is added, as if places were counted from 1. They are counted from 0."
)
def counted_from_one(state, weight, v, length):
    return length * _share(state, weight, v) + 1


@task.mistake(
    "Your centre is one place further to the left: 1 is subtracted. The equation subtracts nothing; only the share is multiplied by the length."
)
def one_subtracted(state, weight, v, length):
    return length * _share(state, weight, v) - 1


@task.mistake("Your centre is counted from the end of the sentence: 1 minus the share is multiplied by the length.")
def from_the_end(state, weight, v, length):
    return length * (1 - _share(state, weight, v))


ROUNDED = "A whole number passes no gradient to the weights, so where to look could not be learned. Keep the centre as it is, between two places if need be."


@task.mistake(f"You round the centre. {ROUNDED}")
def rounded(state, weight, v, length):
    return (length * _share(state, weight, v)).round()


@task.mistake(f"You round the centre down, to a floating-point number. {ROUNDED}")
def rounded_down(state, weight, v, length):
    return (length * _share(state, weight, v)).floor()


@task.mistake(f"You turn the centre into an integer, which cuts off what stands behind the point. {ROUNDED}")
def cut_off(state, weight, v, length):
    return (length * _share(state, weight, v)).long()


@task.mistake(f"You turn the centre into an integer after rounding it. {ROUNDED}")
def rounded_integer(state, weight, v, length):
    return (length * _share(state, weight, v)).round().long()


@task.mistake("You use the first sentence's length for all sentences. Each has its own.")
def first_length_for_all(state, weight, v, length):
    return length[0] * _share(state, weight, v)


@task.mistake(
    "You use the length of the longest sentence for all, as if padding counted. Each sentence has its own length."
)
def longest_for_all(state, weight, v, length):
    return length.max() * _share(state, weight, v)


@task.mistake(
    "You return B×B numbers, every share times every length: one of the two has an axis of size 1 too many. Both have the shape B."
)
def every_share_with_every_length(state, weight, v, length):
    return _share(state, weight, v)[:, None] * length


@task.mistake("Your result has an axis of size 1 too many: B×1. One number for each sentence is asked for, B.")
def axis_kept(state, weight, v, length):
    return (length * _share(state, weight, v))[:, None]


@task.mistake("v is missing: you add up the hidden units, each with weight 1.")
def v_unused(state, weight, v, length):
    return length * torch.tanh(state @ weight.T).sum(-1).sigmoid()


@task.mistake(
    "The hidden units are not added up: you take the sigmoid of each of them times its number of v, which gives B×A. Take the sum over A first."
)
def not_summed(state, weight, v, length):
    return length[:, None] * torch.sigmoid(torch.tanh(state @ weight.T) * v)


@task.mistake("You take the mean over the hidden units. `vᵀ` times the hidden layer is their sum, weighted by v.")
def mean_for_sum(state, weight, v, length):
    return length * torch.sigmoid(_score(state, weight, v) / len(v))


@task.mistake("You divide the score by √A. That belongs to the scaled dot product: leave this score as it is.")
def scaled(state, weight, v, length):
    return length * torch.sigmoid(_score(state, weight, v) / len(v) ** 0.5)


@task.mistake(
    "weight is A×H. For rows of vectors it has to be transposed: `.T`. Without that it runs only where A = H, and gives a wrong result there."
)
def not_transposed(state, weight, v, length):
    return length * _share(state, weight.T, v)


@task.mistake(
    "exp overflows: for a score above about 88 it is infinite in float32, and infinity divided by infinity is NaN. torch.sigmoid takes scores of any size."
)
def overflow(state, weight, v, length):
    e = _score(state, weight, v).exp()
    return length * (e / (1 + e))


@task.mistake(
    "The values are right, but for a score far below 0 the gradient is NaN: in 1 / (1 + exp(-score)) the exponential becomes infinite, and on the way back infinity is multiplied by 0. torch.sigmoid takes scores of any size."
)
def gradient_overflows(state, weight, v, length):
    return length * (1 / (1 + (-_score(state, weight, v)).exp()))
