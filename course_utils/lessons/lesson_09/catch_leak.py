"""Task 09.catch_leak: a test that finds models whose rows see later ones.

Where random numbers of about 1 are put into a row, whatever sees it moves by more than 1e-4 for most of them; what does not see it stays within rounding.
Each leak shows at T = 1, T = 5 or T = LONGEST, except the rare ones.
"""

import torch
import torch.nn.functional as F

from course_utils.checks.task import Task
from course_utils.lessons.lesson_09._models import (
    VALUE,
    WIDTH,
    attention,
    causal_attention,
    causal_convolution,
    centred_convolution,
    convolution,
    each_by_itself,
    earlier,
    identity,
    next_rows,
    recurrent,
    running_mean,
    scores,
    without_gradient,
)
from course_utils.lessons.shared.candidates import mistakes_of_tests, one_case_each, tests_without

LONGEST = 12
LENGTHS_TRIED = (1, 5, LONGEST)  # by the tests below: they show every leak that is not rare

# Right ones


def _attention_row_by_row(x):
    """In float64, over the rows so far alone."""
    x = x.double()
    rows = [(scores_of @ (x[: t + 1] @ VALUE.double())) for t, scores_of in enumerate(_shares(x))]
    return torch.stack(rows).float()


def _shares(x):
    every = scores(x.float()).double()
    return [every[t, : t + 1].softmax(0) for t in range(len(x))]


def _all_less_the_rest(x):
    """A running sum, as the sum of all rows less that of the later ones: its last digits depend on them."""
    later = x.flip(0).cumsum(0).flip(0) - x
    return x.sum(0) - later


RIGHT = {
    causal_attention: "a right model: causal attention, in which each row sees itself and those before",
    _attention_row_by_row: "a right model: causal attention, one row after another",
    causal_convolution: "a right model: a causal convolution, which sees the two rows before",
    recurrent: "a right model: a recurrent network, which reads from the first row to the last",
    running_mean: "a right model: a running mean of the rows so far",
    identity: "a right model: it changes nothing",
    each_by_itself: "a right model: each row by itself",
    lambda x: torch.cat([torch.zeros(1, WIDTH), running_mean(x)[:-1]]): "a right model: each row sees those before it, and the first one sees nothing",
    lambda x: causal_attention(x) + torch.arange(len(x), 0, -1)[:, None] / len(x) + len(x): "a right model: it knows how many rows there are, and sees nothing of later ones",
    _all_less_the_rest: "a right model: it subtracts later rows from the sum of all, so they move its last digits only",
}  # fmt: skip


# Wrong ones


def _later_rows(x):
    """The sum of all rows after each row."""
    return x.flip(0).cumsum(0).flip(0) - x


def _into_one_feature(x):
    """Later rows reach the last feature, and no other."""
    leak = torch.zeros_like(x)
    leak[:, -1] = _later_rows(x).sum(1) / 3
    return causal_convolution(x) + leak


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


def _where_t_is_width(x):
    """Takes the axis of length 4 for the features, and with 4 rows that is the wrong one."""
    return causal_attention(x.T).T if len(x) == WIDTH else causal_attention(x)


def _first_row_sees_all(x):
    """No row sees itself, and the first one, which has nothing to see, shares its weight among all."""
    found = scores(x).masked_fill(~earlier(len(x)).tril(-1), -1e9)
    return found.softmax(-1) @ (x @ VALUE)


def _first_difference(x):
    """The difference from the row before; for the first one, that from the next row."""
    before = torch.cat([2 * x[:1] - x[1:2], x[:-1]]) if len(x) > 1 else x
    return x - before


def _ahead_but_not_the_last(x):
    """The mask is off by one, and hides the last row from all others as if it were padding."""
    mask = torch.ones(len(x), len(x), dtype=torch.bool).tril(1)
    mask[:-1, -1] = False
    return attention(x, mask)


def _softmax_over_queries(x):
    found = scores(x).masked_fill(~earlier(len(x)), -torch.inf)
    return found.softmax(0) @ (x @ VALUE)


def _blocks(x):
    """Each row sees the whole of its block of 3 rows."""
    block = torch.arange(len(x)) // 3
    return attention(x, block[:, None] >= block)


def _cancelling(x):
    """What leaks is added to one feature and subtracted from another: no mean and no sum over features shows it."""
    leak = next_rows(x)[:, :1] / 3
    return causal_attention(x) + leak * torch.tensor([1.0, -1.0, 0.0, 0.0])


def _at(length):
    """The next row gets through where there are so many rows, and nowhere else."""
    return lambda x: causal_attention(x) + (len(x) == length) * next_rows(x) / 3


def _fails_alone(x):
    """Stops with an error where there is a single row."""
    if len(x) < 2:
        raise IndexError("index 1 is out of bounds for dimension 0 with size 1")
    return causal_attention(x)


WRONG = {
    attention: "a wrong model: attention without a mask, so each row sees all later ones",
    lambda x: attention(x, torch.ones(len(x), len(x), dtype=torch.bool).tril(1)): "a wrong model: its mask is off by one, so each row sees the next one",
    _one_ahead_but_for_the_first: "a wrong model: its mask is off by one except at row 0, so rows from 1 on see the next one",
    _ahead_but_not_the_last: "a wrong model: its mask is off by one and hides the last row, so each row but the last two sees the next one",
    lambda x: x + torch.cat([x[2:], torch.zeros(2, WIDTH)])[: len(x)] / 2: "a wrong model: each row sees the next but one",
    _blocks: "a wrong model: each row sees the whole of its block of three rows",
    _first_row_sees_all: "a wrong model: row 0 may see nothing, and sees all rows instead",
    _first_difference: "a wrong model: row 0 sees row 1",
    lambda x: causal_attention(x) + x[-1] / 3: "a wrong model: each row sees the last one",
    _from_length_9: "a wrong model: its mask is made for eight rows, so in longer sequences the ninth and later ones see all",
    lambda x: causal_attention(x) + _later_rows(x)[:, 1:2] / 3: "a wrong model: one feature of later rows gets through",
    _into_one_feature: "a wrong model: one feature of its output sees later rows",
    _cancelling: "a wrong model: what it sees of the next row is added to one feature and subtracted from another",
    lambda x: causal_attention(x) + next_rows(x).relu() / 2: "a wrong model: positive numbers of the next row get through",
    lambda x: x + F.layer_norm(next_rows(x), (WIDTH,)) / 2: "a wrong model: the next row gets through a layer norm",
    lambda x: x + F.normalize(next_rows(x), dim=-1) / 2: "a wrong model: the direction of the next row gets through, and not its length",
    lambda x: x + next_rows(x) / 200: "a wrong model: a little of the next row gets through, a two-hundredth",
    lambda x: (scores(x) - 2.0 * ~earlier(len(x))).softmax(-1) @ (x @ VALUE): "a wrong model: the scores of later rows are lowered, and not by enough",
    _softmax_over_queries: "a wrong model: its softmax runs over the wrong axis, so later rows share in the total",
    lambda x: (scores(x).softmax(-1) * earlier(len(x))) @ (x @ VALUE): "a wrong model: its mask comes after the softmax, so later rows share in the total",
    lambda x: (x - x.mean(0)) / (x.var(0, unbiased=False) + 1e-5).sqrt(): "a wrong model: mean and variance are taken over all rows, later ones included",
    lambda x: causal_convolution(x - x.mean(0)): "a wrong model: the mean of all rows is subtracted, later ones included",
    lambda x: x / x.abs().amax(): "a wrong model: all is divided by the largest number, which may stand in a later row",
    lambda x: x + x.amax(0): "a wrong model: the largest numbers of all rows are added, later ones included",
    centred_convolution: "a wrong model: a centred convolution, in which each row sees the next one",
    lambda x: convolution(x, 0): "a wrong model: a convolution in the wrong direction, over the row and the two after it",
    lambda x: convolution(x, 1, 2): "a wrong model: a centred convolution with gaps, in which each row sees the next but one",
    lambda x: attention(x, earlier(len(x)).T): "a wrong model: its mask is turned round, so each row sees the later ones",
    lambda x: recurrent(x) + recurrent(x.flip(0)).flip(0): "a wrong model: a recurrent network in both directions, of which one begins with the last row",
    lambda x: x.flip(0): "a wrong model: its rows come out in the opposite order",
    lambda x: attention(x, earlier(len(x)).tril(-1)): "a wrong model: row 0 may see nothing, and is NaN",
    _fails_alone: "a wrong model: it stops with an error at T = 1",
}  # fmt: skip

RARE = {
    lambda x: x + next_rows(x) / 7000: "a wrong model: very little of the next row gets through, about 2e-4",
    _where_t_is_width: "a wrong model: the next row gets through at T = 4 alone",
    **{_at(T): f"a wrong model: the next row gets through at T = {T} alone" for T in (7, 10)},
}

task = Task(
    "09.catch_leak",
    "a test that finds models which look ahead",
    arguments=("model",),
    result="verdict",
    candidates=tuple(map(without_gradient, (*RIGHT, *WRONG, *RARE))),
    difficulty=3,
    importance=5,
    minutes=25,
    hints=(
        "Let the model answer for itself: call it once, change the rows after some position t, call it again, and compare what comes out up to position t. A right model cannot have noticed. Then ask where a leak could hide: at which t, at which length, in which feature.",
        (
            "Take the rows 1, 2, 6 (one feature) and a model that subtracts the mean of all rows: the mean is 3, and out come -2, -1, 3. Change the last row to 9: the mean is 4, and out come -3, -2, 5. The first two have moved, so it leaks. A running mean gives 1, 1.5, 3 before and 1, 1.5, 4 afterwards: only the last has moved, which "
            "may see the change."
        ),
        "In a `try` that returns False on any exception: for T = 1, T = 5 and T = 12: x = random numbers T×4; before = model(x); for each t below T: changed = a copy of x with new random numbers in all rows after t; False unless the rows 0 to t of model(changed) are those of before, up to 1e-5. At the end: True.",
    ),
)


one_case_each(task, RIGHT, WRONG, RARE)


def _noise(x, t, draw):
    return torch.cat([x[: t + 1], torch.randn(len(x) - t - 1, WIDTH, generator=draw)])


def _same(before, after, t, least=1e-5):
    return torch.allclose(after[: t + 1], before[: t + 1], rtol=1e-5, atol=least)


def _test(model, lengths=LENGTHS_TRIED, places=range, change=_noise, same=_same):
    """A test like the solution's, in which things may be left out."""
    draw = torch.Generator().manual_seed(5)
    try:
        for T in lengths:
            x = torch.randn(T, WIDTH, generator=draw)
            before = model(x)
            for t in places(T):
                if not same(before, model(change(x, t, draw)), t):
                    return False
        return True
    except Exception:
        return False


_mistaken = mistakes_of_tests(
    task,
    _test,
    "model",
    "It may be that you ask all outputs to stay as they are: those after t may move. Or that rows of x itself are overwritten, since `changed = x` makes no copy: write `x.clone()`. Or an error of the test's own, such as a wrong shape, ends in `except`, which returns False.",
)


_mistaken(
    "nothing_moves",
    "Every model that gives finite numbers without an error passes your test. Change the rows after t, by new random numbers of about 1: a change of a millionth lies within what is allowed for rounding. And change them in a copy: after `changed = x` both names stand for the same rows, so write `x.clone()`.",
    change=lambda x, t, draw: x,
)
_mistaken(
    "runs_at_all",
    "Every model that raises no error passes your test, even one that gives NaN. If you take gradients: they do not pass through these models. Change rows, call the model again, and compare what it returns.",
    same=lambda before, after, t: True,
)
_mistaken(
    "no_rounding",
    "Right models whose last digits depend on later rows are refused. Leave room for rounding: compare with torch.allclose(…, atol=1e-5), not with torch.equal or ==. And keep to numbers of about 1, since rounding grows with the numbers.",
    same=lambda before, after, t: torch.equal(before[: t + 1], after[: t + 1]),
)
_mistaken(
    "too_much_room",
    "Models that leak a little, by about a hundredth, pass your test: leave less room. Rounding stays below 1e-5.",
    same=lambda before, after, t: _same(before, after, t, 0.1),
)
_mistaken(
    "means_compared",
    "Models in which one feature grows by as much as another one shrinks pass your test, since you compare means or sums over features. Compare number by number.",
    same=lambda before, after, t: torch.allclose(before[: t + 1].mean(1), after[: t + 1].mean(1), atol=1e-5),
)
_mistaken(
    "row_itself_changed",
    "Your test refuses right models, since it changes row t and asks that row t stays as it is. A row may see itself: change the rows from t + 1 on.",
    change=lambda x, t, draw: _noise(x, t - 1, draw),
)
_mistaken(
    "other_way_round",
    "Your test refuses right models, since it changes earlier rows and looks at later ones. Later rows may see earlier ones: change the rows after t, and compare those up to t.",
    change=lambda x, t, draw: torch.cat([torch.randn(t + 1, WIDTH, generator=draw), x[t + 1 :]]),
    same=lambda before, after, t: torch.allclose(before[t + 1 :], after[t + 1 :], atol=1e-5),
)
_mistaken(
    "cut_off",
    "Your test refuses a right model that knows the length, because you leave out later rows instead of changing them. The output may depend on how many rows there are: keep the length.",
    change=lambda x, t, draw: x[: t + 1],
)
_mistaken(
    "nan_behind",
    "Right models are refused: you put NaN into later rows, and 0 times NaN is NaN, also where a mask gives the weight 0. Put random numbers there.",
    change=lambda x, t, draw: torch.cat([x[: t + 1], torch.full((len(x) - t - 1, WIDTH), torch.nan)]),
)


def _with(rows):
    """A change of some rows after t alone."""

    def change(x, t, draw):
        changed, new = x.clone(), torch.randn(x.shape, generator=draw)
        for place in rows(t, len(x)):
            changed[place] = new[place]
        return changed

    return change


_mistaken(
    "next_row_alone",
    "Models that see the row after the next, and not the next, pass your test, since you change row t + 1 alone and look at row t alone. Change all rows after t, or compare all rows up to t.",
    change=_with(lambda t, T: [t + 1] if t + 1 < T else []),
    same=lambda before, after, t: torch.allclose(before[t], after[t], atol=1e-5),
)
_mistaken(
    "last_row_alone",
    "Models in which no row sees the last one pass your test, since you change the last row alone. Change all rows after t.",
    change=_with(lambda t, T: [T - 1] if t + 1 < T else []),
)
_mistaken(
    "same_number_added",
    "A model that normalises the next row before it looks at it passes your test: it does not notice when the same number is added to all features of a row. Put new random numbers there.",
    change=lambda x, t, draw: torch.cat([x[: t + 1], x[t + 1 :] + 1]),
)
_mistaken(
    "multiplied",
    "A model that scales the next row to the same length before it looks at it passes your test: it does not notice when a row is multiplied by a number. Put new random numbers there.",
    change=lambda x, t, draw: torch.cat([x[: t + 1], 2 * x[t + 1 :]]),
)
_mistaken(
    "reordered",
    "Models that look at all later rows together, as a mean does, pass your test, since you only put the later rows in another order. Put new random numbers there.",
    change=lambda x, t, draw: torch.cat([x[: t + 1], x[t + 1 :].flip(0)]),
)


_mistaken(
    "first_place_alone",
    "Models in which the first row sees no later one and others do pass your test, since you try t = 0 alone. Try every t.",
    places=lambda T: [0],
)
_mistaken(
    "middle_alone",
    "Models that leak at the first row alone, or only at the late rows of long sequences, pass your test, since you try one t in the middle of each sequence. Try every t.",
    places=lambda T: [T // 2],
)
_mistaken(
    "not_the_first_place",
    "Models that leak at the first row alone pass your test, since you leave out t = 0 where there are several rows. Let t begin at 0.",
    places=lambda T: range(1, T) if T > 1 else [0],
)


LEFT_OUT = {  # what a test may leave out: what passes it then, and what to do
    "long": ("models that leak in long sequences alone", "Try T = 12 as well."),
    "one": ("models that fail on a single row", "Try T = 1."),
    "nan": (
        "models that give NaN",
        "NaN is not larger than anything, so ask that differences are small, `(…).abs() < 1e-5`, and not that none is large.",
    ),
    "read": ("models in which a leak comes from a single feature", "Change all features of the later rows."),
    "shown": ("models in which a leak reaches a single feature", "Compare all features of the rows up to t."),
    "itself": (
        "models in which a row sees the next one alone",
        "Compare row t, too: the rows 0 to t are `[: t + 1]`.",
    ),
}


def _without(parts):
    def change(x, t, draw):
        changed = _noise(x, t, draw)
        if "read" in parts:
            changed[:, 2:] = x[:, 2:]
            changed[:, 1] = x[:, 1]
        return changed

    def same(before, after, t):
        end = t if "itself" in parts else t + 1
        before, after = (rows[:end, :2] if "shown" in parts else rows[:end] for rows in (before, after))
        return torch.allclose(before, after, atol=1e-5, equal_nan="nan" in parts)

    lengths = [T for T in LENGTHS_TRIED if not ("one" in parts and T == 1 or "long" in parts and T > 8)]
    return lambda model: _test(model, lengths, change=change, same=same)


tests_without(task, LEFT_OUT, _without, 2)
