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
from course_lessons.shared.candidate_tests import (
    asking,
    equal_up_to_rounding,
    mistakes_of_comparing,
    mistakes_of_tests,
    one_case_each,
    tests_without,
)
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
    "20.catch_broken_attention",
    "a test that any attention has to pass",
    arguments=("attend", "order_matters"),
    result="verdict",
    candidates=asking(_problem, CANDIDATES),
    difficulty=4,
    importance=5,
    minutes=30,
    hints=(
        "You cannot compare with a reference, since correct candidates return different weights. Check the promises that they all keep. Some can be checked from one call: shapes, signs, sums, zeros, contexts. For the others, compare the candidate with itself: call it again with different numbers at all positions that a row may not see; the row has to stay the same. Some faults show only in a sentence of one position, others only at T = 8 or in a row that sees nothing.",
        "Take one head, the query 1 at two positions, the keys 0 and 1.0986, the values 4 and 8, and a mask that lets position 0 see only itself. Softmax gives row 0 the weights 1 and 0, and it reads 4. Change the second value to 12: row 0 still reads 4. A candidate that sees the next position gives row 0 the weights 0.25 and 0.75. Its row sums to 1 and it reads 0.25·4 + 0.75·8 = 7, which is the sum of weights times values: so far all is well. But there is a weight where the mask is False, and with 12 instead of 8 the row reads 10.",
        "In a `try` that returns False on any exception: for T = 1 and T = 8: three random tensors 3×2×T×4 and a random mask 3×1×T×T, of which one row is False throughout. Call `attend` on them; compare them with copies that you made before; check the shapes; no weight below 0 and none where the mask is False; rows sum to 1, or to 0 where nothing may be seen; weights times value are the contexts. For each sentence b, head h and row t: draw three new tensors; put this row's query back, and the keys and values of this sentence and head that the row may see; call again; row b, h, t of both results is as before. Unless order_matters: the same with keys, values and the last axis of the mask in a different order gives the same contexts, and the weights in that order.",
    ),
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

    try:
        return all(map(is_right, lengths))
    except Exception:
        return False


_mistaken = mistakes_of_tests(
    task,
    _test,
    "candidate",
    "There are several possible reasons. You may expect all rows to sum to 1, even rows without a True, which are zeros. You may compare with weights that you have computed yourself. You may change a position and expect rows that may see it to stay the same. Or your test itself raises an error, for instance because of an incorrect shape, and `except` returns False.",
)


@task.mistake(
    "Your test returns `order_matters`, whatever the candidate does. It only tells you whether the order of the keys may have an effect: call the candidate and check whether it keeps the promises."
)
def order_matters_returned(attend, order_matters):
    return order_matters


_mistaken(
    "runs_only",
    "Every candidate that runs without an error passes your test. Check what it returns.",
    left_out=PROMISES,
)


# How the test compares

mistakes_of_comparing(
    _mistaken,
    "candidate",
    "Correct candidates whose last digits differ are rejected.",
    "Your test passes candidates that are off by less than a hundredth",
    0.02,
)
_mistaken(
    "first_head_only",
    "Candidates that fail only in the second head pass your test, since you check the signs, the sums and the contexts of only the first. Check both.",
    part=lambda tensor: tensor[:, :1],
)
_mistaken(
    "first_sentence_only",
    "Your test passes candidates that fail only in a few rows, such as one in which a row whose window is hidden sums to 0, although its mask has a True. Check the signs, the sums and the contexts of all sentences, with masks in which such a row occurs.",
    part=lambda tensor: tensor[:1],
)
for _name, _where, _staying in (
    ("one_head_stays", "in the second head", lambda b, h, t: h == 0),
    ("one_sentence_stays", "in later sentences", lambda b, h, t: b == 0),
    ("last_sentence_stays", "in sentences before the last", lambda b, h, t: b == b.max()),
    ("one_row_stays", "in rows after the first", lambda b, h, t: t == 0),
):
    _mistaken(
        _name,
        f"Your test passes a candidate in which rows see what they should not, but only {_where}. Change the numbers wherever a row may not look, for every sentence, head and row.",
        staying=_staying,
    )


# What the test asks for that is not promised

_mistaken(
    "softmax_expected",
    "Your test rejects correct candidates, since it compares their weights with a softmax of scaled products. Other scores and other normalisers are also correct: check only what is promised.",
    also=lambda on: equal_up_to_rounding(masked_softmax(scaled_dot(*on.given[:2]), on.mask), on.weights),
)
_mistaken(
    "some_weight_everywhere",
    "Your test rejects correct candidates in which a position that may be seen has a weight of 0: sparsemax, a window, or only the largest score. Weights are 0 or more.",
    also=lambda on: ((on.weights > 0) | ~on.mask).all(),
)
_mistaken(
    "order_asked_of_all",
    "Your test rejects correct candidates in which order matters, such as ALiBi. Check the order only if `order_matters` is False.",
    also=_order_has_no_effect,
)
_mistaken(
    "order_asked_of_the_others",
    "You check the order if `order_matters` is True, so correct candidates such as ALiBi are rejected, and candidates that secretly use positions pass. Check it if `order_matters` is False.",
    left_out=("order",),
    also=lambda on: not on.order_matters or _order_has_no_effect(on),
)
_mistaken(
    "order_compared_wrongly",
    "Your test rejects correct candidates when it reorders keys. Keys, values and the last axis of the mask have to be reordered together, all in the same order; the contexts then stay the same, and the weights are in the new order along their last axis.",
    also=lambda on: on.order_matters or len(on.t[0, 0]) == 1,
)

_mistaken(
    "mask_not_looked_at",
    "Candidates that see what the mask hides pass your test. Check that weights are 0 where the mask is False, and that a row stays the same when a position that it may not see changes.",
    left_out=("hidden", "places"),
)


_mistaken(
    "one_call_only",
    "Your test passes candidates that see other sentences, the other head, or what the mask hides, since you call each only once. Call it again with different numbers wherever a row may not look, and compare.",
    left_out=("places", "sentences", "heads", "order"),
)


# What the test gives

for _name, _sentence, _changes in (
    ("keys_and_values_only", "Your test passes candidates in which a row depends on the queries of other rows, since you change only the keys and values of hidden positions. Also change their queries.", {"left_out": ("places",), "also": partial(_hidden_places_have_no_effect, changed=(1, 2))}),
    ("long_ones_only", "Your test passes candidates that raise an error on a single position, lose its axis, or are wrong there. Also try T = 1, with a mask that is True and one that is False.", {"lengths": (LONGEST,)}),
    ("short_ones_only", "A candidate that fails only in long sentences passes your test. Also try T = 8.", {"lengths": (1, 4)}),
    ("one_place_only", "Candidates that see what they should not see pass your test, since you only try sentences of one position. Also try T = 8.", {"lengths": (1,)}),
    ("one_sentence_only", "Your test passes candidates that mix up the sentences of a batch, or their masks, since you only try one sentence. Try three, each with its own mask.", {"B": 1}),
    ("nothing_masked", "Candidates that ignore the mask pass your test, since all of yours are True. Draw masks at random and make one row all False.", {"masked": lambda T, B, draw: torch.ones(B, 1, T, T, dtype=torch.bool)}),
):  # fmt: skip
    _mistaken(_name, _sentence, **_changes)
_mistaken(
    "no_empty_row",
    "Your test passes candidates that return NaN, or any weights or contexts, where nothing may be attended to. Make one row of the mask all False, at T = 1 and at T = 8.",
    masked=lambda T, B, draw: _random_mask(T, B, draw) | torch.eye(T, dtype=torch.bool),
)
_mistaken(
    "one_mask_for_all",
    "Your test passes candidates that use the first sentence's mask for all sentences, since all of yours have the same one. Draw a mask for each.",
    masked=lambda T, B, draw: _random_mask(T, B, draw)[:1].repeat(B, 1, 1, 1),
)


LEFT_OUT = {  # what a test may leave out: what passes it then, and what to do
    "unchanged": (
        "candidates that change their arguments",
        "Compare query, key, value and mask with copies that you made before the call.",
    ),
    "shapes": (
        "candidates that return one head's weights for both, which broadcasting hides,",
        "Compare the shapes of contexts and weights.",
    ),
    "signs": ("candidates with weights below 0", "Check that no weight is below 0."),
    "sums": (
        "candidates whose rows do not sum to 1",
        "Add up the weights of each row: 1 where the row of the mask has a True, and 0 elsewhere.",
    ),
    "contexts": (
        "candidates whose contexts do not come from the weights that they return",
        "Compare the contexts with weights @ value.",
    ),
    "places": (
        "candidates in which hidden positions have an effect although their weight is 0",
        "Change query, key and value at a position and check that all other rows that may not see it stay the same.",
    ),
    "sentences": (
        "candidates in which the sentences of a batch see one another",
        "Call the candidate on each sentence separately, or change the others, and compare.",
    ),
    "heads": (
        "candidates in which heads see one another",
        "Change query, key and value of one head and check that the other stays the same.",
    ),
    "order": (
        "candidates that use positions although order should not matter",
        "Reorder keys, values and the last axis of the mask together: the contexts stay the same, and the weights are in the new order.",
    ),
}


tests_without(task, LEFT_OUT, lambda parts: partial(_test, left_out=parts), 1)
