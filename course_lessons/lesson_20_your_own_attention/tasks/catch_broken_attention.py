"""Task 20.catch_broken_attention: a test of what every attention keeps to, whatever its scores and its normaliser."""

from functools import partial
from types import SimpleNamespace

import torch

from course_lessons.lesson_20_your_own_attention.tasks._attentions import (
    HEADS,
    LAST,
    LONGEST,
    MOST,
    RIGHT,
    RIGHT_WITH_AN_ORDER,
    WIDTH,
    WRONG,
    WRONG_WITH_AN_ORDER,
)
from course_lessons.shared.candidate_tests import MistakenTests, asking, equal_up_to_rounding, one_case_each
from course_utils.checks.task import Task
from course_utils.models.attention import masked_softmax, scaled_dot

MOST_PLACES = 20
LARGEST = 10  # of what a test gives, so that rounding stays below 1e-5
ALL_RIGHT, ALL_WRONG = RIGHT | RIGHT_WITH_AN_ORDER, WRONG | WRONG_WITH_AN_ORDER
CANDIDATES = (*ALL_RIGHT, *ALL_WRONG, *LAST)


def _problem(query, key, value, mask):
    """What is wrong with what a test gives to an attention; None for nothing."""
    for name, tensor in (("query", query), ("key", key), ("value", value)):
        if not isinstance(tensor, torch.Tensor) or tensor.dtype != torch.float32:
            return f"Your test calls `attend` with a `{name}` that is not a float32 tensor. It should be B×2×T×4."
        B, H, T, D = tensor.shape if tensor.dim() == 4 else (0, 0, 0, 0)
        if (H, D) != (HEADS, WIDTH) or not 1 <= B <= MOST or not 1 <= T <= MOST_PLACES:
            return f"Your test calls `attend` with a `{name}` of shape {tuple(tensor.shape)}. It should be B×2×T×4, with B from 1 to {MOST} and T from 1 to {MOST_PLACES}."
        if tensor.shape != query.shape:
            return f"Your test calls `attend` with a `query` of shape {tuple(query.shape)} and a `{name}` of shape {tuple(tensor.shape)}. They should have the same shape."
        if not (tensor.abs() <= LARGEST).all():
            return f"Your test calls `attend` with a `{name}` that contains NaN, infinity or numbers above {LARGEST} in size. Random numbers of about 1 are enough."
    if not isinstance(mask, torch.Tensor) or mask.dtype != torch.bool:
        return "Your test calls `attend` with a `mask` that is not a tensor of truth values (torch.bool)."
    if mask.shape != (B, 1, T, T):
        return f"Your test calls `attend` with a `mask` of shape {tuple(mask.shape)}. With this `query` it should be B×1×T×T, here {(B, 1, T, T)}."
    return None


task = Task(
    __name__,
    "a test that any attention has to pass",
    arguments=("attend", "order_matters"),
    result="verdict",
    candidates=asking(_problem, CANDIDATES),
    difficulty=4,
    importance=5,
    minutes=30,
)


one_case_each(
    task,
    ALL_RIGHT,
    ALL_WRONG,
    beside=lambda place: CANDIDATES[place] in RIGHT_WITH_AN_ORDER or CANDIDATES[place] in WRONG_WITH_AN_ORDER,
    last=LAST,
)


def _random_mask(T, B, draw):
    mask = torch.rand(B, 1, T, T, generator=draw) < 0.5
    mask[-1, 0, -1] = True
    mask[0, 0, 0] = False
    return mask


def _trial(
    attend,
    order_matters,
    T,
    B=3,
    masked=_random_mask,
    same=equal_up_to_rounding,
    part=lambda tensor: tensor,
    staying=lambda b, h, t: b == b,
):
    """What an attention makes of random numbers; of signs, sums and contexts a test looks at a part, and it asks some rows to stay."""
    draw = torch.Generator().manual_seed(5)
    given = [torch.randn(B, HEADS, T, WIDTH, generator=draw) for _ in range(3)] + [masked(T, B, draw)]
    on = SimpleNamespace(attend=attend, order_matters=order_matters, draw=draw, given=given, same=same, part=part)
    _, _, on.value, on.mask = given
    on.b, on.h, on.t = torch.meshgrid(*map(torch.arange, (B, HEADS, T)), indexing="ij")  # B H T each
    on.asked_to_stay = staying(on.b, on.h, on.t)
    on.copies = [tensor.clone() for tensor in given]
    on.contexts, on.weights = attend(*on.copies)
    return on


def _sums_are_right(on):
    sums = on.mask.any(-1).expand(on.value.shape[:3]).float()
    return on.same(on.part(sums), on.part(on.weights.sum(-1).expand_as(sums)))


def _rows_stay(on, new, rows, changed=(0, 1, 2), results=2):
    """Whether these rows stay if query, key and value are other numbers where `new` is True: both B×H×T."""
    given = [tensor.clone() for tensor in on.given]
    for i in changed:
        given[i][new] = torch.randn(given[i][new].shape, generator=on.draw)
    now, before = on.attend(*given), (on.contexts, on.weights)
    rows = (rows & on.asked_to_stay)[..., None]
    return all(on.same(torch.where(rows, before[i], 0), torch.where(rows, now[i], 0)) for i in range(results))


def _hidden_places_have_no_effect(on, changed=(0, 1, 2)):
    T = on.mask.shape[-1]
    return all(_rows_stay(on, on.t == s, (on.t != s) & ~on.mask[..., s], changed) for s in range(T))


def _order_has_no_effect(on):
    """Whether keys and values in reverse order give the same contexts, and weights in that order."""
    query, key, value, mask = on.given
    contexts, weights = on.attend(query, key.flip(2), value.flip(2), mask.flip(3))
    return on.same(on.contexts, contexts) and on.same(on.weights.flip(3), weights)


PROMISES = {
    "unchanged": lambda on: all(map(torch.equal, on.given, on.copies)),
    "shapes": lambda on: (on.contexts.shape, on.weights.shape) == (on.value.shape, (*on.b.shape, on.b.shape[2])),
    "signs": lambda on: not on.part(on.weights < -1e-5).any(),
    "hidden": lambda on: on.same(on.part(torch.zeros_like(on.weights)), on.part(on.weights.masked_fill(on.mask, 0.0))),
    "sums": _sums_are_right,
    "contexts": lambda on: on.same(on.part(on.weights @ on.value), on.part(on.contexts)),
    "places": _hidden_places_have_no_effect,
    "sentences": lambda on: all(_rows_stay(on, on.b != b, on.b == b) for b in range(len(on.mask))),
    "heads": lambda on: all(_rows_stay(on, on.h != h, on.h == h, results=1) for h in range(HEADS)),
    "order": lambda on: on.order_matters or _order_has_no_effect(on),
}


def _test(attend, order_matters, left_out=(), also=lambda on: True, lengths=(1, LONGEST), **how):
    """A test like the solution's, in smaller steps, in which promises may be left out and more be asked."""
    asked = [promise for name, promise in PROMISES.items() if name not in left_out] + [also]

    def is_right(T):
        on = _trial(attend, order_matters, T, **how)
        return all(promise(on) for promise in asked)

    return all(map(is_right, lengths))


_mistaken = MistakenTests(task, _test)


@task.mistake()
def order_matters_returned(attend, order_matters):
    return order_matters


_mistaken("runs_only", left_out=PROMISES)


# How the test compares

_mistaken.by_comparing(0.02)
_mistaken("first_head_only", part=lambda tensor: tensor[:, :1])
_mistaken("first_sentence_only", part=lambda tensor: tensor[:1])
_mistaken("one_head_stays", staying=lambda b, h, t: h == 0)
_mistaken("one_sentence_stays", staying=lambda b, h, t: b == 0)
_mistaken("last_sentence_stays", staying=lambda b, h, t: b == b.max())
_mistaken("one_row_stays", staying=lambda b, h, t: t == 0)


# What the test asks for that is not promised

_mistaken(
    "softmax_expected",
    also=lambda on: equal_up_to_rounding(masked_softmax(scaled_dot(*on.given[:2]), on.mask), on.weights),
)
_mistaken("some_weight_everywhere", also=lambda on: ((on.weights > 0) | ~on.mask).all())
_mistaken("order_asked_of_all", also=_order_has_no_effect)
_mistaken(
    "order_asked_of_the_others", left_out=("order",), also=lambda on: not on.order_matters or _order_has_no_effect(on)
)
_mistaken("order_compared_wrongly", also=lambda on: on.order_matters or len(on.t[0, 0]) == 1)

_mistaken("mask_not_looked_at", left_out=("hidden", "places"))


_mistaken("one_call_only", left_out=("places", "sentences", "heads", "order"))


# What the test gives

_mistaken("keys_and_values_only", left_out=("places",), also=partial(_hidden_places_have_no_effect, changed=(1, 2)))
_mistaken("long_ones_only", lengths=(LONGEST,))
_mistaken("short_ones_only", lengths=(1, 4))
_mistaken("one_place_only", lengths=(1,))
_mistaken("one_sentence_only", B=1)
_mistaken("nothing_masked", masked=lambda T, B, draw: torch.ones(B, 1, T, T, dtype=torch.bool))
_mistaken("no_empty_row", masked=lambda T, B, draw: _random_mask(T, B, draw) | torch.eye(T, dtype=torch.bool))
_mistaken("one_mask_for_all", masked=lambda T, B, draw: _random_mask(T, B, draw)[:1].repeat(B, 1, 1, 1))


# What a test may leave out
LEFT_OUT = ("unchanged", "shapes", "signs", "sums", "contexts", "places", "sentences", "heads", "order")
_mistaken.without(LEFT_OUT, 1, lambda parts: {"left_out": parts})
