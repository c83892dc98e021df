"""What the tasks on scores share: the shapes of their arguments, their cases, and how a product goes wrong. No task is in this file."""

import torch
from torch.nn.functional import normalize

from course_utils.checks.running.contract import Case
from course_utils.checks.task import Task, sizes


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


def score_task(name, title, arguments, result, hints, partial=None, **facts):
    """A Task on one score, with the cases that all scores share."""
    task = Task(f"04.{name}", title, arguments, result, hints, partial=partial, **facts)

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
        small = torch.tensor([[[3.0, 4.0], [0.0, 0.0]]])
        yield Case("2 states and 2 hidden states, each with one zero vector", (small, small.flip(1, 2)), edge=True)
        short = (0.05 * normalize(draw.numbers(2, 3, 5), dim=-1), 0.01 * normalize(draw.numbers(2, 4, 5), dim=-1))
        yield Case("short vectors", short, edge=True)
        state, hidden = (vectors.clone() for vectors in as_many)
        state[0, 1], hidden[1, 2] = 0, 0
        yield Case("a zero vector on either side", (state, hidden), edge=True)


PRODUCTS = {  # how the product of two sides, the second one transposed, goes wrong
    "not_transposed": (
        "`@` pairs the last axis on the left with the second-to-last axis on the right. The feature axis is the one that should disappear: swap the last two axes "
        "of hidden, `hidden.mT`. Otherwise this runs only if the sizes happen to fit, and may then give an incorrect result.",
        lambda first, turned: first @ turned.mT,
    ),
    "all_axes_reversed": (
        "`.T` reverses all axes of a batch: B×S×D becomes D×S×B. `.mT` swaps only the last two.",
        lambda first, turned: first @ turned.permute(1, 2, 0),
    ),
    "position_by_position": (
        "State t is compared only with hidden state t, if this runs at all. Every state must be compared with every hidden state, which gives T×S scores per sentence.",
        lambda first, turned: (first * turned.mT).sum(-1),
    ),
    "sentences_mixed": (
        "Your scores are added up over the sentences in the batch. In einsum, give the batch the same letter in both inputs and in the result, such as `b`.",
        lambda first, turned: first @ turned.sum(0),
    ),
}
AFTER = {  # what is done to a correct score that should not be
    "transposed": (
        "Rows and columns are swapped. A row belongs to a state (query) and a column to a hidden state (key): B×T×S.",
        lambda scores: scores.mT.contiguous(),
    ),
    "normalised": ("You apply the softmax as well. Return the scores as they are.", lambda scores: scores.softmax(-1)),
}


def shared_mistakes(task, product=""):
    """Declare the mistakes that many scores share. `product`: the words of the step that multiplies the two sides, if there is one."""
    for what, mistakes in ((product, PRODUCTS if product else {}), ("result", AFTER)):
        for name, (sentence, change) in mistakes.items():
            task.changed(name, sentence, {what: change})
