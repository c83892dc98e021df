"""What the tasks on scores share: the shapes of their arguments, and their cases. No task is in this file."""

import torch
from torch.nn.functional import normalize

from course_utils.checks.task import Case, Task, sizes


def shapes(name, B, T, S, D, E, A):
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


def score_task(home, title, arguments, result, **facts):
    """A Task on one score, with the cases that all scores share."""
    task = Task(home, title, arguments, result, **facts)
    name = task.answer_name

    @task.cases
    def _(draw):
        letters = {letter for argument in arguments for letter in argument.partition(" ")[2] if letter in "BTSDEA"}
        full = {"B": 2, "T": 3, "S": 5, "D": 7, "E": 11, "A": 13}
        for size in sizes(**{k: v for k, v in full.items() if k in letters or k == "S"}):
            dims = {**dict.fromkeys(full, 2), **{k: v for k, v in vars(size).items() if k != "full"}}
            args = tuple(draw.numbers(*shape) + 0.25 for shape in shapes(name, **dims))
            said = ", ".join(f"{k}={dims[k]}" for k in full if k in letters)
            yield Case(said, args, size.full)
        yield from edges(name, draw)

    return task


def edges(name, draw):
    square = tuple(draw.numbers(*shape) for shape in shapes(name, 2, 3, 5, 7, 7, 7))
    yield Case("D, E and A all 7", square, edge=True)
    as_many = tuple(draw.numbers(*shape) for shape in shapes(name, 3, 3, 3, 5, 5, 5))
    yield Case("as many queries as keys", as_many, edge=True)
    ones = tuple(draw.numbers(*shape) + 0.25 for shape in shapes(name, 2, 3, 1, 1, 1, 1))
    yield Case("a single hidden state, all widths 1", ones, edge=True)
    large = [draw.numbers(*shape).abs() + 0.5 for shape in shapes(name, 2, 2, 3, 2, 2, 2)]
    large[0] *= torch.tensor([[[1000.0], [-1000.0]]])
    yield Case("large numbers", tuple(large), edge=True, hazard=name == "perceptron")  # a tanh by hand overflows
    if name == "content_based":
        state = torch.tensor(
            [[[1.0, -2.0, 1.0], [0.0, 2.0, 0.5]]]
        )  # sums of 0 and single entries of 0, in no zero vector
        hidden = torch.tensor([[[1.5, 0.5, 1.0], [3.0, -1.0, -2.0], [0.0, 0.0, 2.0]]])[:, draw.distinct(3, 0, 3)]
        yield Case("entries of 0, and entries that add up to 0", (state, hidden))
        small = torch.tensor([[[3.0, 4.0], [0.0, 0.0]]])
        yield Case("2 states and 2 hidden states, each with one zero vector", (small, small.flip(1, 2)), edge=True)
        short = (0.05 * normalize(draw.numbers(2, 3, 5), dim=-1), 0.01 * normalize(draw.numbers(2, 4, 5), dim=-1))
        yield Case("short vectors", short, edge=True)
        state, hidden = (vectors.clone() for vectors in as_many)
        state[0, 1], hidden[1, 2] = 0, 0
        yield Case("a zero vector on either side", (state, hidden), edge=True)
