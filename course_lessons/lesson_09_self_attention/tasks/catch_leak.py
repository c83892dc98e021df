"""Task 09.catch_leak: a test that finds models whose rows see later ones.

Where random numbers of about 1 are put into a row, whatever sees it moves by more than 1e-4 for most of them; what does not see it stays within rounding.
Each leak shows at T = 1, T = 5 or T = LONGEST, except the rare ones.
"""

import torch
import torch.nn.functional as F

from course_lessons.shared.candidate_tests import MistakenTests, equal_up_to_rounding, one_case_each
from course_lessons.shared.row_models import (
    VALUE,
    WIDTH,
    attention,
    causal_attention,
    causal_convolution,
    centred_convolution,
    each_by_itself,
    earlier,
    identity,
    next_rows,
    recurrent,
    running_mean,
    scores,
    without_gradient,
)
from course_utils.checks.task import Task

LONGEST = 12
LENGTHS_TRIED = (1, 5, LONGEST)  # by the tests below: they show every leak that is not rare

# Right ones


def _all_less_the_rest(x):
    """A running sum, as the sum of all rows less that of the later ones: its last digits depend on them."""
    later = x.flip(0).cumsum(0).flip(0) - x
    return x.sum(0) - later


RIGHT = {
    causal_attention: "a correct model: causal attention, in which each row sees itself and those before",
    causal_convolution: "a correct model: a causal convolution, which sees the two rows before",
    recurrent: "a correct model: a recurrent network, which reads from the first row to the last",
    running_mean: "a correct model: a running mean of the rows so far",
    identity: "a correct model: it changes nothing",
    each_by_itself: "a correct model: each row by itself",
    lambda x: torch.cat([torch.zeros(1, WIDTH), running_mean(x)[:-1]]): "a correct model: each row sees those before it, and the first one sees nothing",
    lambda x: causal_attention(x) + torch.arange(len(x), 0, -1)[:, None] / len(x) + len(x): "a correct model: it knows how many rows there are, and sees nothing of later ones",
    _all_less_the_rest: "a correct model: it subtracts later rows from the sum of all, so they change only its last digits",
}  # fmt: skip


# Wrong ones


def _later_rows(x):
    """The sum of all rows after each row."""
    return x.flip(0).cumsum(0).flip(0) - x


def _one_ahead_but_for_the_first(x):
    """The mask is off by one, except for the first row, which sees itself alone."""
    mask = torch.ones(len(x), len(x), dtype=torch.bool).tril(1)
    mask[0, 1:] = False
    return attention(x, mask)


def _from_length_9(x):
    """The mask is made for 8 rows, and nothing is hidden from later ones."""
    T = len(x)
    mask = torch.ones(T, T, dtype=torch.bool)
    mask[:8] = earlier(T)[:8]
    return attention(x, mask)


def _first_row_sees_all(x):
    """No row sees itself, and the first one, which has nothing to see, shares its weight among all."""
    found = scores(x).masked_fill(~earlier(len(x)).tril(-1), -1e9)
    return found.softmax(-1) @ (x @ VALUE)


def _ahead_but_not_the_last(x):
    """The mask is off by one, and hides the last row from all others as if it were padding."""
    mask = torch.ones(len(x), len(x), dtype=torch.bool).tril(1)
    mask[:-1, -1] = False
    return attention(x, mask)


def _at(length):
    """The next row gets through where there are so many rows, and nowhere else."""
    return lambda x: causal_attention(x) + (len(x) == length) * next_rows(x) / 3


def _fails_alone(x):
    """Stops with an error where there is a single row."""
    if len(x) < 2:
        raise IndexError("index 1 is out of bounds for dimension 0 with size 1")
    return causal_attention(x)


WRONG = {
    attention: "an incorrect model: attention without a mask, so each row sees all later ones",
    lambda x: attention(x, torch.ones(len(x), len(x), dtype=torch.bool).tril(1)): "an incorrect model: its mask is off by one, so each row sees the next one",
    _one_ahead_but_for_the_first: "an incorrect model: its mask is off by one except at row 0, so rows from 1 on see the next one",
    _ahead_but_not_the_last: "an incorrect model: its mask is off by one and hides the last row, so each row but the last two sees the next one",
    lambda x: x + torch.cat([x[2:], torch.zeros(2, WIDTH)])[: len(x)] / 2: "an incorrect model: each row sees the next but one",
    _first_row_sees_all: "an incorrect model: row 0 may see nothing, and sees all rows instead",
    lambda x: causal_attention(x) + x[-1] / 3: "an incorrect model: each row sees the last one",
    _at(5): "an incorrect model: the next row gets through only at T = 5",
    _from_length_9: "an incorrect model: its mask is made for eight rows, so in longer sequences the ninth and later ones see all",
    lambda x: causal_attention(x) + _later_rows(x)[:, 1:2] / 3: "an incorrect model: one feature of later rows gets through",
    lambda x: causal_convolution(x) + F.pad(_later_rows(x).sum(1, keepdim=True) / 3, (WIDTH - 1, 0)): "an incorrect model: one feature of its output sees later rows",
    lambda x: causal_attention(x) + next_rows(x)[:, :1] / 3 * torch.tensor([1.0, -1.0, 0.0, 0.0]): "an incorrect model: what it sees of the next row is added to one feature and subtracted from another",
    lambda x: causal_attention(x) + next_rows(x).relu() / 2: "an incorrect model: positive entries of the next row get through",
    lambda x: x + F.layer_norm(next_rows(x), (WIDTH,)) / 2: "an incorrect model: the next row gets through a layer norm",
    lambda x: x + F.normalize(next_rows(x), dim=-1) / 2: "an incorrect model: the direction of the next row gets through, but not its length",
    lambda x: x + next_rows(x) / 200: "an incorrect model: a little of the next row gets through, a two-hundredth",
    lambda x: (scores(x) - 2.0 * ~earlier(len(x))).softmax(-1) @ (x @ VALUE): "an incorrect model: the scores of later rows are lowered, but not by enough",
    lambda x: (scores(x).softmax(-1) * earlier(len(x))) @ (x @ VALUE): "an incorrect model: its mask comes after the softmax, so later rows share in the total",
    lambda x: (x - x.mean(0)) / (x.var(0, unbiased=False) + 1e-5).sqrt(): "an incorrect model: mean and variance are taken over all rows, later ones included",
    lambda x: x / x.abs().amax(): "an incorrect model: everything is divided by the largest number, which may be in a later row",
    lambda x: x + x.amax(0): "an incorrect model: the maximum over all rows is added, later rows included",
    centred_convolution: "an incorrect model: a centred convolution, in which each row sees the next one",
    lambda x: attention(x, earlier(len(x)).T): "an incorrect model: its mask is inverted, so each row sees the later ones",
    lambda x: recurrent(x) + recurrent(x.flip(0)).flip(0): "an incorrect model: a recurrent network in both directions, of which one begins with the last row",
    lambda x: x.flip(0): "an incorrect model: its rows are returned in reverse order",
    lambda x: attention(x, earlier(len(x)).tril(-1)): "an incorrect model: row 0 may see nothing, and is NaN",
    _fails_alone: "an incorrect model: it stops with an error at T = 1",
}  # fmt: skip

RARE = {
    lambda x: x + next_rows(x) / 7000: "an incorrect model: very little of the next row gets through, about 2e-4",
    **{_at(T): f"an incorrect model: the next row gets through only at T = {T}" for T in (4, 7, 10)},
}

task = Task(
    __name__,
    "a test that finds models which look ahead",
    arguments=("model",),
    result="verdict",
    candidates=tuple(map(without_gradient, (*RIGHT, *WRONG, *RARE))),
    difficulty=3,
    importance=5,
    minutes=25,
)


one_case_each(task, RIGHT, WRONG, RARE)


def _noise(x, t, draw):
    return torch.cat([x[: t + 1], torch.randn(len(x) - t - 1, WIDTH, generator=draw)])


def _test(
    model, lengths=LENGTHS_TRIED, places=range, change=_noise, same=equal_up_to_rounding, shown=lambda t: slice(t + 1)
):
    """A test like the solution's, in which things may be left out."""
    draw = torch.Generator().manual_seed(5)
    for T in lengths:
        x = torch.randn(T, WIDTH, generator=draw)
        before = model(x)
        for t in places(T):
            if not same(before[shown(t)], model(change(x, t, draw))[shown(t)]):
                return False
    return True


_mistaken = MistakenTests(task, _test)


_mistaken("nothing_moves", change=lambda x, t, draw: x)
_mistaken("runs_at_all", same=lambda before, after: True)
_mistaken.by_comparing(0.1)
_mistaken("row_itself_changed", change=lambda x, t, draw: _noise(x, t - 1, draw))
_mistaken(
    "other_way_round",
    change=lambda x, t, draw: torch.cat([torch.randn(t + 1, WIDTH, generator=draw), x[t + 1 :]]),
    shown=lambda t: slice(t + 1, None),
)
_mistaken("cut_off", change=lambda x, t, draw: x[: t + 1])
_mistaken(
    "nan_behind", change=lambda x, t, draw: torch.cat([x[: t + 1], torch.full((len(x) - t - 1, WIDTH), torch.nan)])
)


def _with(rows):
    """A change of some rows after t alone."""

    def change(x, t, draw):
        changed, new = x.clone(), torch.randn(x.shape, generator=draw)
        for place in rows(t, len(x)):
            changed[place] = new[place]
        return changed

    return change


_mistaken("next_row_alone", change=_with(lambda t, T: [t + 1] if t + 1 < T else []), shown=lambda t: slice(t, t + 1))
_mistaken("last_row_alone", change=_with(lambda t, T: [T - 1] if t + 1 < T else []))
_mistaken("same_number_added", change=lambda x, t, draw: torch.cat([x[: t + 1], x[t + 1 :] + 1]))
_mistaken("multiplied", change=lambda x, t, draw: torch.cat([x[: t + 1], 2 * x[t + 1 :]]))


_mistaken("first_place_alone", places=lambda T: [0])


LEFT_OUT = ("long", "one", "read", "shown", "itself")  # what a test may leave out


def _without(parts):
    def change(x, t, draw):
        changed = _noise(x, t, draw)
        if "read" in parts:
            changed[:, 2:] = x[:, 2:]
            changed[:, 1] = x[:, 1]
        return changed

    def same(before, after):
        if "shown" in parts:
            return equal_up_to_rounding(before[:, :2], after[:, :2])
        return equal_up_to_rounding(before, after)

    lengths = [T for T in LENGTHS_TRIED if not ("one" in parts and T == 1 or "long" in parts and T > 8)]
    end = 0 if "itself" in parts else 1
    return {"lengths": lengths, "change": change, "same": same, "shown": lambda t: slice(t + end)}


_mistaken.without(LEFT_OUT, 2, _without)
