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
    close,
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
            return f"Your test calls `attend` with a `{name}` that holds NaN, infinity, or numbers above {LARGEST} in size. Random numbers of about 1 are enough."
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
        "You cannot compare with a reference, since right attentions give different weights. Look at what all of them keep to. Some promises can be read from one call: shapes, signs, sums, zeros, contexts. For the others compare the attention with itself: call it again with other numbers at all positions that a row may not see; the row has to stay the same. Some faults show in a sentence of one position only, others not before T = 8 or in a row that sees nothing.",
        "Take one head, the query 1 at two positions, the keys 0 and 1.0986, the values 4 and 8, and a mask that lets position 0 see only itself. Softmax gives row 0 the weights 1 and 0, and it reads 4. Change the second value to 12: row 0 still reads 4. An attention that sees the next position gives row 0 the weights 0.25 and 0.75. Its row sums to 1 and it reads 0.25·4 + 0.75·8 = 7, which is the sum of weights times values: so far all is well. But a weight stands where the mask is False, and with 12 in place of 8 the row reads 10.",
        "In a `try` that returns False on any exception: for T = 1 and T = 8: three random tensors 3×2×T×4 and a random mask 3×1×T×T, of which one row is False throughout. Call `attend` on them; compare them with copies that you made before; shapes; no weight below 0 and none where the mask is False; rows sum to 1, or to 0 where nothing may be seen; weights times value are the contexts. For each sentence b, head h and row t: draw three new tensors; put this row's query back, and the keys and values of this sentence and head that the row may see; call again; row b, h, t of both results is as before. Unless order_matters: the same with keys, values and the last axis of the mask in another order gives the same contexts, and the weights in that order.",
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
    same=close,
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
    "attention",
    "There are several possible reasons. You may expect all rows to sum to 1, even those without a True, which are zeros. You may compare with weights that you have computed yourself. You may change a position and expect rows that may see it to stay the same. Or your test itself raises an error, such as for an incorrect shape, and `except` returns False.",
)


@task.mistake(
    "Your test says what `order_matters` says, whatever the attention does. It only tells you whether the order of the keys may have an effect: call the attention, and look whether it keeps the promises."
)
def order_matters_returned(attend, order_matters):
    return order_matters


_mistaken(
    "runs_only",
    "Every attention that runs without an error passes your test. Look at what it returns.",
    left_out=PROMISES,
)


# How the test compares

mistakes_of_comparing(
    _mistaken,
    "attention",
    "Right attentions whose last digits differ are refused.",
    "Attentions that are off by less than a hundredth pass your test",
    0.02,
)
_mistaken(
    "first_head_only",
    "Attentions that go wrong only in the second head pass your test, since you look at the signs, the sums and the contexts of the first one only. Look at both.",
    part=lambda tensor: tensor[:, :1],
)
_mistaken(
    "first_sentence_only",
    "Attentions that go wrong in few rows only pass your test, such as one in which a row whose window is hidden sums to 0, although its mask has a True. Look at the signs, the sums and the contexts of all sentences, with masks in which such a row occurs.",
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
        f"An attention in which rows see what they should not, but only {_where}, passes your test. Put other numbers wherever a row may not look, and do so for every sentence, head and row.",
        staying=_staying,
    )


# What the test asks for that is not promised

_mistaken(
    "softmax_expected",
    "Your test refuses right attentions, since it compares their weights with a softmax of scaled products. Other scores and other normalisers are right, too: ask only for what is promised.",
    also=lambda on: close(masked_softmax(scaled_dot(*on.given[:2]), on.mask), on.weights),
)
_mistaken(
    "some_weight_everywhere",
    "Your test refuses right attentions in which a position that may be seen has the weight 0: sparsemax, a window, or the largest score only. Weights are 0 or more.",
    also=lambda on: ((on.weights > 0) | ~on.mask).all(),
)
_mistaken(
    "order_asked_of_all",
    "Your test refuses right attentions in which order matters, such as ALiBi. Ask about the order only if `order_matters` is False.",
    also=_order_has_no_effect,
)
_mistaken(
    "order_asked_of_the_others",
    "You ask about the order if `order_matters` is True, so right attentions such as ALiBi are refused, and those that use positions in secret pass. Ask if it is False.",
    left_out=("order",),
    also=lambda on: not on.order_matters or _order_has_no_effect(on),
)
_mistaken(
    "order_compared_wrongly",
    "Your test refuses right attentions when it reorders keys. Keys, values and the last axis of the mask have to be reordered together, all in the same order; the contexts then stay as they were, and the weights come in the new order along their last axis.",
    also=lambda on: on.order_matters or len(on.t[0, 0]) == 1,
)

_mistaken(
    "mask_not_looked_at",
    "Attentions that see what the mask hides pass your test. Ask that weights are 0 where the mask is False, and that a row stays when a position changes that it may not see.",
    left_out=("hidden", "places"),
)


_mistaken(
    "one_call_only",
    "Attentions that see other sentences, the other head, or what the mask hides pass your test, since you call each only once. Call it again with something else wherever a row may not look, and compare.",
    left_out=("places", "sentences", "heads", "order"),
)


# What the test gives

for _name, _sentence, _changes in (
    ("keys_and_values_only", "Attentions in which a row depends on the queries of other rows pass your test, since you change only keys and values of hidden positions. Change their queries, too.", {"left_out": ("places",), "also": partial(_hidden_places_have_no_effect, changed=(1, 2))}),
    ("long_ones_only", "Attentions that fail on a single position, lose its axis, or go wrong there pass your test. Try T = 1 as well, with a mask that is True and one that is False.", {"lengths": (LONGEST,)}),
    ("short_ones_only", "An attention that goes wrong only in long sentences passes your test. Try T = 8 as well.", {"lengths": (1, 4)}),
    ("one_place_only", "Attentions that see what they should not see pass your test, since you only try sentences of one position. Try T = 8 as well.", {"lengths": (1,)}),
    ("one_sentence_only", "Attentions that mix up the sentences of a batch, or their masks, pass your test, since you only try one sentence. Try three, with masks of their own.", {"B": 1}),
    ("nothing_masked", "Attentions that ignore the mask pass your test, since all of yours are True. Draw masks at random, and let a row be False throughout.", {"masked": lambda T, B, draw: torch.ones(B, 1, T, T, dtype=torch.bool)}),
):  # fmt: skip
    _mistaken(_name, _sentence, **_changes)
_mistaken(
    "no_empty_row",
    "Attentions that give NaN, or any weights or contexts, where nothing may be attended to pass your test. Let a row of the mask be False throughout, at T = 1 and at T = 8.",
    masked=lambda T, B, draw: _random_mask(T, B, draw) | torch.eye(T, dtype=torch.bool),
)
_mistaken(
    "one_mask_for_all",
    "Attentions that use the first sentence's mask for all sentences pass your test, since all of yours have the same one. Draw a mask for each.",
    masked=lambda T, B, draw: _random_mask(T, B, draw)[:1].repeat(B, 1, 1, 1),
)


LEFT_OUT = {  # what a test may leave out: what passes it then, and what to do
    "unchanged": (
        "attentions that change what they are given",
        "Compare query, key, value and mask with copies that you made before the call.",
    ),
    "shapes": (
        "attentions that return one head of weights for both, which broadcasting hides,",
        "Compare the shapes of contexts and weights.",
    ),
    "signs": ("attentions with weights below 0", "Ask that no weight is below 0."),
    "sums": (
        "attentions whose rows do not sum to 1",
        "Add up the weights of each row: 1 where the row of the mask has a True, and 0 elsewhere.",
    ),
    "contexts": (
        "attentions whose contexts do not come from the weights that they return",
        "Compare the contexts with weights @ value.",
    ),
    "places": (
        "attentions in which hidden positions have an effect, although their weight is 0,",
        "Change query, key and value at a position, and see that all other rows stay that may not see it.",
    ),
    "sentences": (
        "attentions in which the sentences of a batch see one another",
        "Call the attention with each sentence by itself, or change the others, and compare.",
    ),
    "heads": (
        "attentions in which heads see one another",
        "Change query, key and value of one head, and see that the other one stays.",
    ),
    "order": (
        "attentions that use positions although order should not matter",
        "Reorder keys, values and the last axis of the mask together: contexts stay, and weights come in the new order.",
    ),
}


tests_without(task, LEFT_OUT, lambda parts: partial(_test, left_out=parts), 1)
