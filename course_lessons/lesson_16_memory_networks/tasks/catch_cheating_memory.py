"""Task 16.catch_cheating_memory: a test that finds models which answer without the question, without some fact, or from padding."""

from functools import partial
from types import SimpleNamespace

import torch

from course_lessons.lesson_16_memory_networks.tasks._readers import MOST, RARE, RIGHT, WIDTH, WRONG
from course_lessons.shared.candidate_tests import (
    asking,
    equal_up_to_rounding,
    mistakes_of_tests,
    one_case_each,
    test_of,
    tests_without,
)
from course_lessons.shared.padding import words_first
from course_utils.checks.task import Task

LARGEST = 10  # of what a test gives, so that rounding stays below 1e-5
LARGEST_PADDING = 10_000


def _problem(question, facts, mask):
    """What is wrong with the arguments that a test gives to a candidate; None for nothing."""
    for name, tensor, form, dims in (("question", question, "B×4", 2), ("facts", facts, "B×M×4", 3)):
        if not isinstance(tensor, torch.Tensor) or tensor.dtype != torch.float32:
            return f"Your test calls a model with `{name}` that is not a float32 tensor."
        if tensor.dim() != dims or tensor.shape[-1] != WIDTH or not tensor.numel() or max(tensor.shape) > MOST:
            return f"Your test calls a model with `{name}` of shape {tuple(tensor.shape)}. It should be {form}, and B and M should be between 1 and {MOST}."
        if not (tensor.abs() <= LARGEST_PADDING).all():
            return f"Your test calls a model with `{name}` that contains NaN, infinity or numbers above {LARGEST_PADDING} in size. Random numbers of about 1 are enough, even at padding."
    if not isinstance(mask, torch.Tensor) or mask.dtype != torch.bool or mask.shape != facts.shape[:2]:
        return "Your test calls a model with a `mask` that is not a bool tensor B×M, with B and M as in facts."
    if len(question) != len(facts):
        return "Your test calls a model with different numbers of questions and stories. Both should have B rows."
    if (question.abs() > LARGEST).any() or (facts[mask].abs() > LARGEST).any():
        return f"Your test calls a model with a question or a real fact that contains numbers above {LARGEST} in size. Random numbers of about 1 are enough."
    if not mask[:, 0].all() or (mask[:, 1:] & ~mask[:, :-1]).any():
        return "Your test calls a model with a `mask` in which a row has no True, or a False before a True. The facts come first, at least one in each row."
    return None


task = Task(
    "16.catch_cheating_memory",
    "a test that catches models that do not read",
    arguments=("model",),
    result="verdict",
    candidates=asking(_problem, (*RIGHT, *WRONG, *RARE), copies=True),
    difficulty=4,
    importance=5,
    minutes=30,
    hints=(
        "There is no reference to compare with, so compare the model with itself: call it once, change one part of its input and call it again. A changed question or fact has to change some number in its own row. Changed padding has to leave all numbers in all rows unchanged.",
        "Take a model that returns the question plus the mean of all facts but the last one, and a story with the facts 2, 4 and 9 and the question 1: it returns 1 + 3 = 4. Ask 2 instead and it returns 5, so it depends on the question. Add 1 to all three facts and it also returns 5, so it seems to read. Add 1 only to the first and it returns 4.5; add 1 only to the last and it still returns 4. Changing one fact at a time shows which facts are ignored.",
        "In a `try` that returns False on any exception: before = the numbers for random questions and facts of several stories with different numbers of facts, at least seven in one of them, and padding in each. For each row b: on a fresh copy, add random numbers to its question; row b of the new numbers must not be close to row b of `before`. For each position m in the row: on a fresh copy, add random numbers to what is there. Where mask is True, row b must not be close to what it was; where it is False, all rows must stay close to what they were. Close means torch.allclose(…, atol=1e-5).",
    ),
)


one_case_each(task, RIGHT, WRONG, RARE)


# What a test promises itself of a model


def _trial(model, lengths=(4, 8, 2), M=10):
    """What a model says of stories with so many facts, in M places."""
    B = len(lengths)
    draw = torch.Generator().manual_seed(6)
    question, facts, noise = (torch.randn(shape, generator=draw) for shape in ((B, WIDTH), (B, M, WIDTH), (WIDTH,)))
    mask = words_first(torch.tensor(lengths), M)
    before = model(question, facts, mask)
    return SimpleNamespace(
        model=model, question=question, facts=facts, mask=mask, lengths=lengths, noise=noise, before=before
    )


def _own_row_moves(after, before, b, least=1e-5):
    return not equal_up_to_rounding(before[b], after[b], least)


def _all_rows_stay(after, before, b, same=equal_up_to_rounding):
    return same(before, after)


def _questions(on, rows=range, change=torch.add, holds=_own_row_moves):
    """Each question that changes moves its own row."""
    for b in rows(len(on.question)):
        question = on.question.clone()
        question[b] = change(question[b], on.noise)
        if not holds(on.model(question, on.facts, on.mask), on.before, b):
            return False
    return True


def _places(on, places, holds, rows=range, change=torch.add, copied=True):
    """What changes at each of these places of a row holds."""
    for b in rows(len(on.facts)):
        for m in places(on.lengths[b], on.facts.shape[1]):
            facts = on.facts.clone() if copied else on.facts
            facts[b, m] = change(facts[b, m], on.noise)
            if not holds(on.model(on.question, facts, on.mask), on.before, b):
                return False
    on.before = on.before if copied else on.model(on.question, on.facts, on.mask)
    return True


PROMISES = {
    "question": _questions,
    "facts": partial(_places, places=lambda n, M: range(n), holds=_own_row_moves),
    "padding": partial(_places, places=lambda n, M: range(n, M), holds=_all_rows_stay),
}


def _weaker(*names, **how):
    """These promises with something about each of them changed."""
    return {name: partial(PROMISES[name], **how) for name in names}


_test = test_of(_trial, PROMISES)
_mistaken = mistakes_of_tests(
    task,
    _test,
    "model",
    "Perhaps an error in the test itself, such as an incorrect shape, ends in `except`, which returns False; or the test asks for a change when nothing has been changed. Or a change is still in your tensors when you try the next one: make each change on a fresh copy.",
)


def _order_is_nothing(on):
    """Whether the numbers stay if the first two facts of each story are exchanged."""
    turned = torch.cat([on.facts[:, :2].flip(1), on.facts[:, 2:]], 1)
    return equal_up_to_rounding(on.before, on.model(on.question, turned, on.mask))


for _name, _sentence, _changes in (
    ("runs_only", "Every model that raises no error passes your test. Change its input and check whether its numbers change or stay the same.", {"question": None, "facts": None, "padding": None}),
    ("no_rounding", "Your test rejects a correct model whose last digits differ when padding changes, because it adds padding and subtracts it again. Allow for rounding where numbers have to stay the same: torch.allclose(…, atol=1e-5), not torch.equal or `==`.", _weaker("padding", holds=partial(_all_rows_stay, same=torch.equal))),
    ("too_much_room", "A model that reads a little padding passes your test, because you allow padding too large an effect. Rounding errors stay below 1e-5.", _weaker("padding", holds=partial(_all_rows_stay, same=partial(equal_up_to_rounding, room=0.02)))),
    ("too_coarse", "Your test rejects correct models because it misses small changes: one fact among many may change the numbers by less than 0.1. Real changes are above 1e-4, and rounding errors stay below 1e-5.", _weaker("question", "facts", holds=partial(_own_row_moves, least=0.1))),
    ("a_constant_added", "Your test rejects a correct model that subtracts each fact's mean from its features: adding the same number to all of them has no effect on it. Add a random number to each feature.", _weaker("question", "facts", "padding", change=lambda fact, noise: fact + 1)),
    ("multiplied", "Your test rejects a correct model that first scales each fact to the same length: multiplying a fact by a number has no effect on it. Add random numbers to the fact.", _weaker("question", "facts", "padding", change=lambda fact, noise: 2 * fact)),
    # Which facts are changed, and where the test looks
    ("all_facts_at_once", "Models that overlook some fact pass your test because you change all facts of a story at once. Change one fact at a time, each on a fresh copy.", _weaker("facts", places=lambda n, M: [slice(0, n)])),
    ("first_fact_only", "Your test passes models that overlook a fact other than the first, because you change only the first. Change each fact in turn.", _weaker("facts", places=lambda n, M: [0])),
    ("both_ends_only", "Your test passes models that overlook a fact in the middle of a story, because you change only the first and the latest. Change each fact in turn.", _weaker("facts", places=lambda n, M: [0, n - 1])),
    ("last_fact_left_out", "A model that overlooks the latest fact passes your test because you stop one fact too early: the positions of n facts are 0 to n - 1.", _weaker("facts", places=lambda n, M: range(n - 1))),
    ("first_row_only", "Your test passes models that answer or read only in the first row, or that read padding in the others, because you change only the first row. Change each row.", _weaker("question", "facts", "padding", rows=lambda B: [0])),
    ("any_row_may_move", "Your test passes models that answer another row's question, or read another row's story: they change that row's numbers, and you only ask whether something changes. Compare the row whose input you have changed.", _weaker("question", "facts", holds=lambda after, before, b: not equal_up_to_rounding(before, after))),
    ("questions_at_once", "Your test passes models that answer another row's question, or the same question in every row, because you change all questions at once. Change one row's question and compare that row.", _weaker("question", rows=lambda B: [slice(None)])),
    ("no_fresh_copies", "Models that overlook a fact pass your test, because you change the same tensor again and again: once some number has changed, it stays changed, whatever you change next. Begin each change with a fresh copy, `facts.clone()`.", _weaker("facts", "padding", copied=False)),
    # Padding
    ("first_padding_only", "Your test passes a model that treats the last position as the last fact, because you change only the first padding position. Change each position in turn, up to the last.", _weaker("padding", places=lambda n, M: [n])),
    ("last_padding_only", "Models that read one position too many pass your test because you change only the last padding position. Change each position in turn, starting right after the last fact.", _weaker("padding", places=lambda n, M: [M - 1])),
    ("own_row_only", "A model in which padding reaches another row passes your test because you compare only the row whose padding was changed. Compare all rows.", _weaker("padding", holds=lambda after, before, b: equal_up_to_rounding(before[b], after[b]))),
    # Sizes: how many facts each story has, and in how many places
    ("no_padding", "Models that read padding pass your test because your stories have none. Use stories with different numbers of facts, followed by padding that you change.", {"lengths": (8, 8, 8), "M": 8}),
    ("one_length", "Your test passes a model that uses one story's mask for all stories, because all your stories have the same number of facts. Give them different numbers.", {"lengths": (8, 8, 8), "M": 10}),
    ("batch_of_one", "Your test passes models that answer another row's question, or make a mistake in only some rows, because your batch has one row. Use several rows and change each of them.", {"lengths": (8,), "M": 10}),
    ("few_facts", "Models whose memory contains only six facts pass your test because your stories have no more. Use at least seven facts in one story.", {"lengths": (4, 6, 2), "M": 10}),
    ("as_many_stories_as_places", "Your test passes a model that works only if there are as many stories as positions. Use different numbers of stories and positions.", {"lengths": (4, 8, 2, 7, 3, 6, 5, 9, 1, 8), "M": 10}),
    # What a correct model need not do
    ("every_number_moves", "Your test rejects correct models because it requires every number in a row to change a lot. It is enough if some number changes by more than 1e-4.", _weaker("question", "facts", holds=lambda after, before, b: ((after[b] - before[b]).abs() > 0.02).all())),
    ("order_has_no_effect", "Your test rejects correct models for which the order of the facts matters: it changes their order and requires that the numbers stay the same. Here a fact's age may have an effect.", {"more": _order_is_nothing}),
):  # fmt: skip
    _mistaken(_name, _sentence, **_changes)


LEFT_OUT = {  # what a test may leave out: what passes it then, and what to do
    "question": (
        "models that ignore the question, or answer another row's,",
        "Change each row's question in turn and check that this row's numbers change.",
    ),
    "facts": (
        "models that overlook a fact, or all of them,",
        "Change each real fact in turn and check that its row's numbers change.",
    ),
    "padding": (
        "models that read padding",
        "Change what is at padding and check that all numbers stay the same.",
    ),
}
tests_without(task, LEFT_OUT, lambda parts: lambda model: _test(model, **dict.fromkeys(parts)), 2)
