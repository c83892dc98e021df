"""Task 08.local_centre: where in the source local attention looks."""

from operator import matmul, mul

import torch

from course_lessons.shared.partial_credit import USUAL
from course_utils.checks.reference_trace import left_out
from course_utils.checks.running.contract import Case
from course_utils.checks.task import Task, count, sizes

task = Task(
    "08.local_centre",
    "where to look",
    arguments=("state B×H", "weight A×H", "v A", "length B"),
    result="centre B",
    difficulty=2,
    importance=3,
    minutes=10,
    hints=(
        "The state decides how far into the sentence to look, as a share between 0 and 1, and the length of the sentence turns this share into a position. The position need not be a whole number, because a gradient has to pass back through it.",
        (
            "Take the state [1], weight [[1]], v = [ln 3 / tanh 1] ≈ [1.4425] and a sentence of 8 words. tanh(1) is 0.7616, which multiplied by v gives ln 3 = 1.0986, and σ(1.0986) = 1 / (1 + 1/3) = 0.75. The centre is 8 · 0.75 = 6. In a sentence of 4 words "
            "the same state would look at position 3."
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


def _inputs(draw, B, H, A):
    weight, v = draw.numbers(A, H) / 2 + 0.125, draw.numbers(A) + 0.25
    return draw.numbers(B, H) + 0.125, weight, v, draw.distinct(B, 2, max(20, B + 2))


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
    yield Case("lengths of type int32", (state, weight, v, torch.tensor([4, 9, 2], dtype=torch.int32)), hazard=True)
    # Every tanh is 1 or -1, so the scores are exact: 10,000, -10,000 and 0.
    far = torch.tensor([[1.0, 1.0], [-1.0, -1.0], [1.0, -1.0]])[draw.distinct(3, 0, 3)]
    large = (far, 100 * torch.eye(2), torch.tensor([5e3, 5e3]), torch.tensor([4, 9, 6]))
    yield Case("very large scores, near ±10,000", large, True, hazard=True)
    yield Case("200 sentences", _inputs(draw, 200, 3, 5), True, edge=True)


@task.steps
def _(state, weight, v, length):
    product = yield "the product of state and weight", matmul, state, weight.mT
    hidden = yield "the hidden layer", torch.tanh, product
    score = yield "the score", matmul, hidden, v
    share = yield "the share", torch.sigmoid, score
    centre = yield "the centre", mul, share, length
    return centre


SIGMOID = "The sigmoid turns the score into a share between 0 and 1."
ROUNDED = "A whole number passes no gradient to the weights, so they could not learn where to look. Leave the centre as it is, between two positions if need be."
task.changed_each(
    ("no_tanh", "tanh is missing: apply it between the two products, to the product of state and weight.", {"the hidden layer": left_out}),
    ("tanh_outside", "tanh is applied to the whole score. Apply it to the product of state and weight, before v.", {"the hidden layer": left_out, "the score": lambda hidden, v: (hidden @ v).tanh()}),
    ("exchanged", "tanh and the sigmoid are swapped: apply tanh to the product of state and weight, and the sigmoid to the score.", {"the hidden layer": torch.sigmoid, "the share": torch.tanh}),
    ("no_sigmoid", f"The sigmoid is missing, so the centre may lie outside the sentence, even below 0. {SIGMOID}", {"the share": left_out}),
    ("share_alone", "This is the share, between 0 and 1. Multiply it by the length to get a position.", {"the centre": left_out}),
    ("counted_from_one", "Your centre is one position too far to the right: 1 is added, as if positions were counted from 1. They are counted from 0.", {"result": lambda centre: centre + 1}),
    ("rounded", f"You round the centre. {ROUNDED}", {"result": torch.round}),
    ("cut_off", f"You turn the centre into an integer, which cuts off its decimals. {ROUNDED}", {"result": torch.Tensor.long}),
    ("length_minus_one", "You multiply by the length minus 1. The centre would then end at the last position counted from 0, but it is a share of the length itself.", {"length": lambda length: length - 1}),
    ("longest_for_all", "You use the length of the longest sentence for all, as if padding counted. Each sentence has its own length.", {"length": lambda length: length.max()}),
    ("every_share_with_every_length", "You return B×B numbers, every share times every length: one of the two has an extra axis of size 1. Both should have the shape B.", {"the centre": lambda share, length: share[:, None] * length}),
    ("not_transposed", "weight is A×H. For rows of vectors it has to be transposed: `.T`. Without that, it runs only if A = H, and may then give an incorrect result.", {"weight": torch.t}),
    ("overflow", "exp overflows: for a score above about 88 it is infinite in float32, and infinity divided by infinity is NaN. torch.sigmoid handles scores of any size.", {"the share": lambda score: score.exp() / (1 + score.exp())}),
)  # fmt: skip
task.changed(
    "gradient_overflows",
    "The values are right, but for a score far below 0 the gradient is NaN: in 1 / (1 + exp(-score)) the exponential becomes infinite, and in the backward pass infinity is multiplied by 0. torch.sigmoid handles scores of any size.",
    {"the share": lambda score: 1 / (1 + (-score).exp())},
)
