"""Task 08.hard_attention: one position of each row, picked by its weight, and the logarithm of its probability."""

import torch

from course_lessons.shared.partial_credit import USUAL
from course_utils.base.words import count
from course_utils.checks.task import Case, Task, sizes

task = Task(
    __name__,
    "one position, picked at random",
    arguments=("weights B×S", "values B×S×E", "uniform B"),
    result=("picked B×E", "log_probability B"),
    difficulty=3,
    importance=5,
    minutes=30,
    gradient_not_asked=("uniform",),
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
    if most > 1e-6:
        return f"A probability is at most 1, so its logarithm is never above 0; one of yours is {most:.4g}."
    return None


@task.property
def picked_is_one_of_the_values(case, value):
    """What is picked is among the values of its row, as it is."""
    apart = (case.args[1].double() - value[0].double()[:, None]).abs().amax(-1).amin(-1)
    if apart.max() > 1e-4:
        return "What you return is not one of the values in its row. Return one of them as it is, neither mixed with the others nor multiplied by its weight."
    return None


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


def _at(numbers, place):
    """What is at a position of each row."""
    return numbers[torch.arange(len(numbers)), place]


def _place(weights, uniform):
    """The right position: B."""
    return task.variant({"result": lambda *_, done: done["the picked position"]})(weights, weights, uniform)
