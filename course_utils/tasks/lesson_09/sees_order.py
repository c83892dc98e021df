"""Task 09.sees_order: a test that finds out whether a model notices the order of its rows.

Where rows change their order, whatever notices it moves by more than 1e-4 in most orders; what does not notice it stays within rounding.
Each model that notices it does so at some length up to LONGEST.
"""

import torch
import torch.nn.functional as F

from course_utils.checks.task import Task
from course_utils.tasks.candidates import one_case_each
from course_utils.tasks.lesson_09._models import (
    VALUE,
    WIDTH,
    attention,
    causal_attention,
    causal_convolution,
    convolution,
    each_by_itself,
    identity,
    made,
    recurrent,
    running_mean,
    without_gradient,
)

LONGEST = 12
PLACES = made(7, 64, WIDTH)


# Models that do not notice the order


def _two_layers(x):
    x = x + attention(x)
    return x + attention(each_by_itself(x))


def _mean_of_all(x):
    """Every row becomes the mean of all."""
    return x.mean(0).expand_as(x)


def _less_the_mean(x):
    return x - x.mean(0)


def _largest_of_all(x):
    return each_by_itself(x) + x.amax(0)


def _knows_the_length(x):
    return attention(x) + len(x)


def _added_one_by_one(x):
    """Adds up one row after another, from 4 on: in another order the last digits differ."""
    total = 4 + torch.zeros(WIDTH)
    for row in x:
        total = total + row
    return each_by_itself(x) + (total - 4) / len(x)


UNAWARE = {
    attention: "a model that does not notice the order: self-attention",
    _two_layers: "a model that does not notice the order: two layers of self-attention",
    identity: "a model that does not notice the order: it changes nothing",
    each_by_itself: "a model that does not notice the order: each row by itself",
    _mean_of_all: "a model that does not notice the order: all rows become their mean",
    _less_the_mean: "a model that does not notice the order: each row less the mean of all",
    _largest_of_all: "a model that does not notice the order: the largest numbers of all rows are added",
    _knows_the_length: "a model that does not notice the order: self-attention that knows the length",
    _added_one_by_one: "a model that does not notice the order: it adds up one row after another",
}


# Models that notice it


def _with_places(x):
    return attention(x + PLACES[: len(x)])


def _places_far_out(x):
    """Places are told apart from the seventh on."""
    return attention(x + F.pad(PLACES[6 : max(len(x), 6)], (0, 0, min(len(x), 6), 0)))


def _first_row(x):
    return each_by_itself(x) + x[0]


def _last_row(x):
    return each_by_itself(x) + x[-1] / 2


def _circle(x):
    """A convolution that goes round in a circle: where all rows move on by the same number of places, it does not notice."""
    return x + x.roll(1, 0) / 2 - x.roll(-1, 0) / 3


def _both_neighbours(x):
    """A convolution that takes the left and the right neighbour alike: where the order is reversed, it does not notice."""
    return x + convolution_of_neighbours(x)


def convolution_of_neighbours(x):
    padded = F.pad(x, (0, 0, 1, 1))
    return (padded[:-2] + padded[2:]) @ VALUE / 2


def _sorted(x):
    """What comes out is sorted: whatever the order, the same comes out, and not the same for each row."""
    return x[x[:, 0].argsort()]


def _reversed(x):
    return each_by_itself(x).flip(0)


def _weakly(x):
    return attention(x) + PLACES[: len(x)] / 100


def _where_t_is_width(x):
    """Takes the axis of length 4 for the features, and with 4 rows that is the wrong one."""
    return attention(x.T).T if len(x) == WIDTH else attention(x)


def _at(length):
    """Places are added where there are so many rows, and nowhere else."""
    return lambda x: attention(x + (len(x) == length) * PLACES[: len(x)])


AWARE = {
    _with_places: "a model that notices the order: places are added",
    causal_attention: "a model that notices the order: a causal mask",
    causal_convolution: "a model that notices the order: a convolution",
    recurrent: "a model that notices the order: a recurrent network",
    _first_row: "a model that notices the order: the first row counts more",
    _places_far_out: "a model that notices the order in long sequences alone, from eight rows on",
    _sorted: "a model that notices the order: what comes out is sorted, and does not move along with the rows",
    running_mean: "a model that notices the order: a running mean",
    _last_row: "a model that notices the order: the last row counts more",
    _circle: "a model that notices the order: each row sees its neighbours, round in a circle",
    _both_neighbours: "a model that notices the order: each row sees both neighbours, alike",
    _reversed: "a model that notices the order: rows come out in the opposite order",
    _weakly: "a model that notices the order weakly: a hundredth of each place is added",
    lambda x: convolution(x, 1): "a model that notices the order: a centred convolution",
    lambda x: x + x.roll(2, 0) / 2: "a model that notices the order: each row sees the one two places before, round in a circle",
}  # fmt: skip


RARE = {
    _where_t_is_width: "a model that notices the order of four rows alone",
    **{_at(T): f"a model that notices the order of {T} rows alone" for T in (7, 10, LONGEST)},
}

task = Task(
    "09.sees_order",
    "a test that finds models which notice order",
    arguments=("model",),
    result="verdict",
    candidates=tuple(map(without_gradient, (*UNAWARE, *AWARE, *RARE))),
    suspects=False,
    difficulty=3,
    importance=4,
    minutes=15,
    hints=(
        "A model that does not notice the order gives each row the same, wherever it stands. So put the rows in another order: what comes out has to be in that order, too, and otherwise unchanged.",
        (
            "Take the rows 1, 2, 6 (one feature). A model that subtracts the mean gives -2, -1, 3. In the order 6, 1, 2 it gives 3, -2, -1: the same numbers, in the new order, so it does not notice. A running mean gives 1, 1.5, 3 for the first order and 6, 3.5, 3 for the second, where 3, 1, 1.5 would be the first result in the new "
            "order: it notices."
        ),
        "For each T from 2 to 12, and for several orders = torch.randperm(T): x = random numbers T×4; compare model(x[order]) with model(x)[order], up to 1e-5; return True as soon as they differ. At the end: False.",
    ),
)


one_case_each(task, UNAWARE, AWARE, RARE, verdict=False)


def _random(T, draw):
    return [torch.randperm(T, generator=draw) for _ in range(3)]


def _close(before, after, order, least=1e-5):
    return torch.allclose(after, before[order], rtol=1e-5, atol=least)


def _test(model, lengths=range(1, LONGEST + 1), orders=_random, same=_close):
    """A test like the solution's, in which things may be left out."""
    draw = torch.Generator().manual_seed(6)
    for T in lengths:
        for order in orders(T, draw):
            x = torch.randn(T, WIDTH, generator=draw)
            if not same(model(x), model(x[order]), order):
                return True
    return False


def _columns(model):
    draw = torch.Generator().manual_seed(6)
    for T in range(1, LONGEST + 1):
        x, order = torch.randn(T, WIDTH, generator=draw), torch.tensor([2, 0, 3, 1])
        if not torch.allclose(model(x[:, order]), model(x)[:, order], rtol=1e-5, atol=1e-5):
            return True
    return False


def _later_rows(model):
    draw = torch.Generator().manual_seed(6)
    for T in range(2, LONGEST + 1):
        x, other = torch.randn(T, WIDTH, generator=draw), torch.randn(T, WIDTH, generator=draw)
        before = model(x)
        for t in range(T):
            changed = torch.cat([x[: t + 1], other[t + 1 :]])
            if not torch.allclose(model(changed)[: t + 1], before[: t + 1], rtol=1e-5, atol=1e-5):
                return True
    return False


MISTAKES = {
    "turned_round": (
        "True and False are exchanged: your test says True to models that do not notice the order, and False to those that do.",
        lambda model: not _test(model),
    ),
    "always_true": ("Your test says True to every model.", lambda model: True),
    "always_false": (
        "Your test says False to every model, also to those that notice the order. Does it change the order at all?",
        lambda model: False,
    ),
    "outputs_not_reordered": (
        "Your test says True to models that do not notice the order, because you compare what comes out place by place. Each row takes what belongs to it along to its new place: put the outputs of the first call in the same order.",
        lambda model: _test(model, same=lambda before, after, order: torch.allclose(before, after, atol=1e-5)),
    ),
    "reordered_twice": (
        "Your test says True to models that do not notice the order, because you put the outputs of the second call in the new order once more. They already stand in it: `[order.argsort()]` puts them back, and `[order]` does so only where rows change places in pairs.",
        lambda model: _test(
            model, same=lambda before, after, order: torch.allclose(after[order], before, rtol=1e-5, atol=1e-5)
        ),
    ),
    "columns_reordered": (
        "Your test says True to models that do not notice the order of rows, because you put the columns in another order. Words are rows: x[order], and not x[:, order].",
        lambda model: _columns(model),
    ),
    "later_rows_changed": (
        "Your test says True to models in which a row sees later ones, and that is what 09.catch_leak asks. Here change nothing but the order of the rows, and compare what comes out for each row before and afterwards.",
        lambda model: _later_rows(model),
    ),
    "later_rows_changed_turned_round": (
        "Your test says True to models in which no row sees a later one, and that is what 09.catch_leak asks. Here change nothing but the order of the rows, and compare what comes out for each row before and afterwards.",
        lambda model: not _later_rows(model),
    ),
    "no_rounding": (
        "Your test says True to models that do not notice the order but add up in another one, so that last digits differ. Leave room for rounding: torch.allclose(…, atol=1e-5) in place of torch.equal or ==.",
        lambda model: _test(model, same=lambda before, after, order: torch.equal(before[order], after)),
    ),
    "too_much_room": (
        "Your test says False to a model that notices the order a little: leave less room. Rounding stays below 1e-5.",
        lambda model: _test(model, same=lambda before, after, order: _close(before, after, order, 0.1)),
    ),
    "sums_compared": (
        "Your test says False to models that notice the order, because you compare sums or means over all rows, and these may stay the same. Compare row by row.",
        lambda model: _test(
            model, same=lambda before, after, order: torch.allclose(before.sum(0), after.sum(0), atol=1e-4)
        ),
    ),
    "reversed_alone": (
        "Your test says False to models that treat both directions alike, because you try the reversed order alone. Try several random orders.",
        lambda model: _test(model, orders=lambda T, draw: [torch.arange(T).flip(0)]),
    ),
    "moved_on_alone": (
        "Your test says False to models that go round in a circle, because you only move all rows on by the same number of places. Try several random orders.",
        lambda model: _test(model, orders=lambda T, draw: [torch.arange(T).roll(1), torch.arange(T).roll(2)]),
    ),
    "short_alone": (
        "Your test says False to models that notice the order in long sequences alone. Try every T up to 12.",
        lambda model: _test(model, lengths=range(1, 6)),
    ),
    "two_rows_alone": (
        "Your test says False to models for which two rows are too few to show it. Try every T up to 12.",
        lambda model: _test(model, lengths=(2,), orders=lambda T, draw: [torch.tensor([1, 0])]),
    ),
    "first_two_swapped": (
        "Your test says False to models that do not notice when the first two rows change places. Try several random orders of all rows.",
        lambda model: _test(
            model, lengths=range(3, LONGEST + 1), orders=lambda T, draw: [torch.tensor([1, 0, *range(2, T)])]
        ),
    ),
}
for _name, (_sentence, _function) in MISTAKES.items():

    def _mistaken(model, function=_function):
        return function(model)

    task.mistake(_sentence, _name)(_mistaken)
