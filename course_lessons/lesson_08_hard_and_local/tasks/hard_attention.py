"""Task 08.hard_attention: one position of each row, picked by its weight, and the logarithm of its probability."""

from operator import le

import torch
from torch.nn.functional import one_hot

from course_lessons.shared.partial_credit import USUAL
from course_utils.checks.reference_trace import left_out
from course_utils.checks.running.contract import Case
from course_utils.checks.task import Task, count, sizes

task = Task(
    "08.hard_attention",
    "one position, picked at random",
    arguments=("weights B×S", "values B×S×E", "uniform B"),
    result=("picked B×E", "log_probability B"),
    difficulty=3,
    importance=5,
    minutes=30,
    gradient_not_asked=("uniform",),
    hints=(
        "Lay the weights of a row end to end on a line from 0 to 1: each position gets a piece as long as its weight. A number drawn uniformly from the line falls into a piece with a probability equal to the length of the piece. Where the pieces end is what "
        "the cumulative sum says.",
        (
            "Take the weights 0.2, 0.5 and 0.3, the values 1, 5 and 9, and the uniform number 0.6. The cumulative weights are 0.2, 0.7 and 1. The first of them above 0.6 is 0.7, at position 1, counted from 0. The value there is 5, and the log "
            "probability is ln 0.5 = -0.6931. With the uniform number 0.7 it would be position 2, because 0.7 does not exceed 0.7."
        ),
        "cumulative = running sum of weights over the positions; passed = how many of a row's numbers do not exceed its uniform number, B; last = the last position of each row whose weight is above 0; position = the smaller of passed and last; for each row b: "
        "values[b, position[b]], and the logarithm of weights[b, position[b]], taken after picking.",
    ),
    partial=USUAL
    | {
        "none_reached_first": (0.75, "right where some cumulative weight exceeds the uniform number."),
        "none_reached_last_column": (0.75, "right where some cumulative weight exceeds the uniform number."),
        "at_least": (0.75, "right where the uniform number is no cumulative weight."),
    },
)


@task.property
def a_probability_is_at_most_one(case, value):
    """Its logarithm is at most 0."""
    most = value[1].max()
    return (
        f"A probability is at most 1, so its logarithm is never above 0; one of yours is {most:.4g}."
        if most > 1e-6
        else None
    )


@task.property
def picked_is_one_of_the_values(case, value):
    """What is picked is among the values of its row, as it is."""
    apart = (case.args[1].double() - value[0].double()[:, None]).abs().amax(-1).amin(-1)
    return (
        "What you return is not one of the values in its row. Return one of them as it is, neither mixed with the others nor multiplied by its weight."
        if apart.max() > 1e-4
        else None
    )


@task.property
def picked_at_the_right_place(case, value):
    """It is where the uniform number says."""
    weights, values, uniform = case.args
    same = ((values - value[0][:, None]).abs() <= 1e-5).all(-1)  # B S
    if not same.any(1).all():
        return None  # what comes back is no pick
    for row, right in enumerate(_place(weights, uniform).tolist()):
        if same[row].sum() == 1 and not same[row, right] and weights.shape[1] < 8:
            sums = ", ".join(f"{number:.4g}" for number in weights[row].cumsum(0).tolist())
            return (
                f"For the input “{case.name}” the cumulative weights of row {row} are {sums}, and its uniform number is {uniform[row]:.4g}. You pick the value at position {int(same[row].int().argmax())}, but you should pick the one at position {right}, "
                "counted from 0."
            )
    return None


@task.property
def improbable_stays_improbable(case, value):
    """The log probability of a very small weight is that of no larger one."""
    weights, _, uniform = case.args
    right = _at(weights, _place(weights, uniform)).double()
    row = int(right.argmin())
    came = value[1][row].double().exp()
    return (
        f"For the input “{case.name}” the weight of the picked position in row {row} is {right[row]:.3g}, and your log probability is the logarithm of {came:.3g}. Is a small number added to the weight before the logarithm, or is the weight kept from being "
        "small? A picked position has a weight above 0, so its logarithm needs no help."
        if right[row] < 1e-6 and 1.01 * right[row] < came < 1e-4
        else None
    )


PARTS = 16


def _weights(draw, B, S):
    """Weights that are sixteenths, some of them 0 perhaps, so that sums of them are exact."""
    cuts = draw.whole(0, PARTS + 1, B, S - 1).sort(1).values
    ends = torch.nn.functional.pad(cuts, (0, 1), value=PARTS)
    return (ends - torch.nn.functional.pad(ends[:, :-1], (1, 0))).float() / PARTS


def _between(draw, B):
    """Uniform numbers in the middle of a sixteenth, so that none is a cumulative weight."""
    return (draw.distinct(B, 0, PARTS).float() + 0.5) / PARTS


@task.cases
def _(draw):
    for size in sizes(B=3, S=5, E=7):
        B, S, E = size.B, size.S, size.E
        name = f"{count(B, 'row')} of {count(S, 'position')}, values of width {E}"
        yield Case(name, (_weights(draw, B, S), draw.numbers(B, S, E), _between(draw, B)), size.full)
    yield Case("11 rows of 7 positions", (_weights(draw, 11, 7), draw.numbers(11, 7, 3), _between(draw, 11)))
    yield Case("as many rows as positions", (_weights(draw, 5, 5), draw.numbers(5, 5, 3), _between(draw, 5)))
    yield Case("all weight on the first of two positions", (torch.eye(2)[:1], draw.numbers(1, 2, 3), _between(draw, 1)))
    some = torch.tensor([[0.0, 0.25, 0.0, 0.75, 0.0], [0.0, 0.0, 0.5, 0.0, 0.5], [0.125, 0.0, 0.875, 0.0, 0.0]])
    some = some[draw.distinct(3, 0, 3)]
    yield Case("weights of 0", (some, draw.numbers(3, 5, 7), _between(draw, 3)), True)
    yield Case("a single position", (torch.ones(2, 1), draw.numbers(2, 1, 3), _between(draw, 2)), True, edge=True)
    yield Case("a uniform number of 0", (some, draw.numbers(3, 5, 2), torch.zeros(3)), True, edge=True)
    exact = torch.tensor([[0.25, 0.25, 0.5, 0.0], [0.5, 0.0, 0.25, 0.25]])
    ends = (exact, draw.numbers(2, 4, 3), torch.tensor([0.25, 0.5]))
    yield Case("uniform numbers that are cumulative weights", ends, True, edge=True)
    rounded = torch.tensor([[0.47, 0.5, 0.02994, 0.0, 0.0], [0.97, 0.0, 0.0, 0.02994, 0.0]])
    none = (rounded, draw.numbers(2, 5, 3), torch.full((2,), 0.999945))  # shown as 0.9999
    yield Case("weights that sum to slightly less than 1, and uniform numbers above that", none, True, edge=True)
    tiny = torch.tensor([[1e-12, 0.5, 0.5], [0.0, 1e-20, 1.0]])
    yield Case("a weight of 1e-12", (tiny, draw.numbers(2, 3, 2), torch.zeros(2)), edge=True)
    many = torch.rand(2, 200, generator=draw.generator, dtype=torch.float64) + 0.5
    many, at = many / many.sum(1, keepdim=True), draw.whole(0, 200, 2, 1)
    middle = (many.cumsum(1) - many / 2).gather(1, at)[:, 0]
    yield Case("200 positions", (many.float(), draw.numbers(2, 200, 3), middle.float()), True, edge=True)
    yield Case("values of 1e30", (_weights(draw, 3, 5), 1e30 * draw.numbers(3, 5, 7), _between(draw, 3)), hazard=True)


@task.steps
def _(weights, values, uniform):
    cumulative = yield "the cumulative weights", lambda weights: weights.cumsum(1), weights
    passed = yield "which positions are passed", le, cumulative, uniform[:, None]
    n_passed = yield "the number of passed positions", lambda passed: passed.sum(1), passed
    last = yield "the last position with weight", lambda weights: (weights > 0).long().cumsum(1).argmax(1), weights
    place = yield "the position", torch.minimum, n_passed, last
    picked = yield "the picked value", _at, values, place
    weight = yield "the picked weight", _at, weights, place
    log_p = yield "the log probability picked", torch.log, weight
    return picked, log_p


def _at(numbers, place):
    """What is at a position of each row."""
    return numbers[torch.arange(len(numbers)), place]


def _place(weights, uniform):
    """The right position: B."""
    return task.variant({"result": lambda *_, done: done["the position"]})(weights, weights, uniform)


# Another place is picked


def _first_true(truths):
    """The first True of each row, 0 where there is none."""
    return truths.int().argmax(1)


EACH_ROW = "Each row has its own weights: add them up over the positions, the second axis."
NONE_REACHED = (
    "If rounding leaves the sum of the weights below the uniform number, no cumulative weight exceeds it, and you pick"
)
LAST = "Pick the last position whose weight is above 0."
for name, sentence, place in (
    (
        "largest",
        "You pick the position with the largest weight, whatever the uniform number is. A position should be picked with the probability that its weight gives: that is what the uniform number is for.",
        lambda weights, uniform: weights.argmax(1),
    ),
    (
        "not_cumulative",
        "You compare the uniform number with each weight separately. Compare it with the cumulative weights, the sums of the weights up to and including each position.",
        lambda weights, uniform: _first_true(weights > uniform[:, None]),
    ),
    (
        "lined_up_with_places",
        "You compare the uniform number of row i with the cumulative weight at position i, which runs only if B = S or B = 1. Each row has one number for all its positions: give uniform an axis, B×1.",
        lambda weights, uniform: _first_true(weights.cumsum(1) > uniform),
    ),
    (
        "one_too_early",
        "You pick the position before the right one: the last position whose cumulative weight does not exceed the uniform number. Pick the first position whose cumulative weight does.",
        lambda weights, uniform: (_place(weights, uniform) - 1).clamp(min=0),
    ),
    (
        "one_too_far",
        "You pick the position after the right one. The weight of a position counts in its own cumulative weight, and positions are counted from 0.",
        lambda weights, uniform: (_place(weights, uniform) + 1).clamp(max=weights.shape[1] - 1),
    ),
    ("over_the_batch", f"You add up the weights over the batch. {EACH_ROW}", lambda weights, uniform: _first_true(weights.cumsum(0) > uniform[:, None])),
    (
        "at_least",
        'You pick the first position whose cumulative weight is at least the uniform number. It has to be larger: where the two are equal, the next piece has begun. With the uniform number 0 your rule picks a first position of weight 0, whose '
        "logarithm is infinite.",
        lambda weights, uniform: _first_true(weights.cumsum(1) >= uniform[:, None]),
    ),
    ("none_reached_first", f"{NONE_REACHED} the first position: argmax of a row of nothing but False is 0. {LAST}", lambda weights, uniform: _first_true(weights.cumsum(1) > uniform[:, None])),
    (
        "none_reached_last_column",
        f"{NONE_REACHED} the last column. Its weight may be 0, and the logarithm of 0 is infinite. {LAST}",
        lambda weights, uniform: (weights.cumsum(1) <= uniform[:, None]).sum(1).clamp(max=weights.shape[1] - 1),
    ),
):  # fmt: skip
    task.changed(
        name, sentence, {"the position": lambda *_, weights, uniform, place=place: place(weights.detach(), uniform)}
    )


# What is picked

VALUE, WEIGHT, LOGARITHM = "the picked value", "the picked weight", "the log probability picked"
SOFT = "You return the weighted mean of the values, which is soft attention"
task.changed_each(
    ("soft", f"{SOFT}. Here one value is picked and returned as it is.", {VALUE: lambda values, _, *, weights: _mean(weights.detach(), values)}),
    ("soft_with_gradient", f"{SOFT}, and its gradient reaches the weights. Here one value is picked and returned as it is.", {VALUE: lambda values, _, *, weights: _mean(weights, values)}),
    ("probability", "You return the probability of the position. Return its natural logarithm.", {LOGARITHM: left_out}),
    ("axis_kept", "The axis of positions is still there, with size 1: B×1×E and B×1. Remove it, to return B×E and B.", {"result": lambda picked, log_p: (picked[:, None], log_p[:, None])}),
    ("order_swapped", "You return the log probability first. Return the picked value first, then its log probability.", {"result": lambda picked, log_p: (log_p, picked)}),
)  # fmt: skip
task.changed(
    "log_of_cumulative",
    "The position is right, but you take the logarithm of its cumulative weight, the probability of this position or one before it. Take the logarithm of its own weight.",
    {WEIGHT: lambda weights, place: _at(weights.cumsum(1), place)},
)


def _mean(weights, values):
    return (weights[..., None] * values).sum(1)


task.changed(
    "every_place_of_every_row",
    "`values[:, place]` takes every position from every row, which gives B×B×E. Row and position belong together in pairs: replace the colon with the indices of the rows, `torch.arange` of B.",
    dict.fromkeys((VALUE, WEIGHT), lambda numbers, place: numbers[:, place]),
)
task.changed(
    "one_hot_times_log",
    "The logarithm of 0 is infinite, and 0 times infinity is NaN: you take the logarithm of every weight and multiply by 0 where the position is not picked. Pick the weight first, then take its logarithm.",
    {WEIGHT: lambda weights, place: (one_hot(place, weights.shape[1]) * weights.log()).sum(1), LOGARITHM: left_out},
)
task.changed(
    "log_before_picking",
    "The values are right, but where a weight is 0 its gradient is NaN: you take the logarithm of every weight and pick afterwards. The backward pass then runs through all of these logarithms, where 0 times infinity is NaN. Pick the weight "
    "first, then take its logarithm.",
    {WEIGHT: lambda weights, place: _at(weights.log(), place), LOGARITHM: left_out},
)
task.changed(
    "something_added",
    "A small number is added to the weight before the logarithm, or the weight is kept from being small. A very improbable position then seems more probable than it is. A picked position has a weight above 0, so its logarithm needs no help.",
    {LOGARITHM: lambda weight: (weight + 1e-9).log()},
)


# The gradient

NO_SLOPE = "Picking has no slope: return the value as it is, so that only the log probability passes a gradient to the weights."
NORMALISED = (
    "The values are right, but the gradient is not: it is 1 too small at every position, because you divide the weights by their sum, which is 1 already, and the division affects the gradient. "
    "torch.distributions.Categorical(probs=…) does that as well. Take the logarithm of the weight as it is."
)


def _straight_through(values, place, *, weights):
    return _mean(one_hot(place, weights.shape[1]) + (weights - weights.detach()), values)


task.changed(
    "straight_through",
    f"The values are right, but through the picked value a gradient reaches the weights, as if it were their weighted mean. {NO_SLOPE}",
    {VALUE: _straight_through},
)


task.changed("divided_by_their_sum", NORMALISED, {"weights": lambda weights: weights / weights.sum(1, keepdim=True)})


def _by_categorical(weight, *, weights, done):
    return torch.distributions.Categorical(probs=weights, validate_args=False).log_prob(done["the position"])


task.changed(
    "by_categorical",
    f"{NORMALISED} And a weight of 1e-12 gets a different log probability in your function: Categorical keeps its probabilities from becoming smaller than about 1e-7.",
    {LOGARITHM: _by_categorical},
)
