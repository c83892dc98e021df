"""Task 16.catch_cheating_memory: a test that finds models which answer without the question, without some fact, or from padding."""

from functools import partial
from types import SimpleNamespace

import torch

from course_lessons.lesson_16_memory_networks.tasks._readers import MOST, RARE, RIGHT, WIDTH, WRONG
from course_lessons.shared.candidate_tests import MistakenTests, asking, equal_up_to_rounding, one_case_each, test_of
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
    __name__,
    "a test that catches models that do not read",
    arguments=("model",),
    result="verdict",
    candidates=asking(_problem, (*RIGHT, *WRONG, *RARE), copies=True),
    difficulty=4,
    importance=5,
    minutes=30,
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


_mistaken = MistakenTests(task, test_of(_trial, PROMISES))


def _order_is_nothing(on):
    """Whether the numbers stay if the first two facts of each story are exchanged."""
    turned = torch.cat([on.facts[:, :2].flip(1), on.facts[:, 2:]], 1)
    return equal_up_to_rounding(on.before, on.model(on.question, turned, on.mask))


_mistaken("runs_only", question=None, facts=None, padding=None)
_mistaken("no_rounding", **_weaker("padding", holds=partial(_all_rows_stay, same=torch.equal)))
_mistaken(
    "too_much_room",
    **_weaker("padding", holds=partial(_all_rows_stay, same=partial(equal_up_to_rounding, tolerance=0.02))),
)
_mistaken("too_coarse", **_weaker("question", "facts", holds=partial(_own_row_moves, least=0.1)))
_mistaken("a_constant_added", **_weaker("question", "facts", "padding", change=lambda fact, noise: fact + 1))
_mistaken("multiplied", **_weaker("question", "facts", "padding", change=lambda fact, noise: 2 * fact))

# Which facts are changed, and where the test looks

_mistaken("all_facts_at_once", **_weaker("facts", places=lambda n, M: [slice(0, n)]))
_mistaken("first_fact_only", **_weaker("facts", places=lambda n, M: [0]))
_mistaken("both_ends_only", **_weaker("facts", places=lambda n, M: [0, n - 1]))
_mistaken("last_fact_left_out", **_weaker("facts", places=lambda n, M: range(n - 1)))
_mistaken("first_row_only", **_weaker("question", "facts", "padding", rows=lambda B: [0]))
_mistaken(
    "any_row_may_move",
    **_weaker("question", "facts", holds=lambda after, before, b: not equal_up_to_rounding(before, after)),
)
_mistaken("questions_at_once", **_weaker("question", rows=lambda B: [slice(None)]))
_mistaken("no_fresh_copies", **_weaker("facts", "padding", copied=False))

# Padding

_mistaken("first_padding_only", **_weaker("padding", places=lambda n, M: [n]))
_mistaken("last_padding_only", **_weaker("padding", places=lambda n, M: [M - 1]))
_mistaken(
    "own_row_only", **_weaker("padding", holds=lambda after, before, b: equal_up_to_rounding(before[b], after[b]))
)

# Sizes: how many facts each story has, and in how many places

_mistaken("no_padding", lengths=(8, 8, 8), M=8)
_mistaken("one_length", lengths=(8, 8, 8), M=10)
_mistaken("batch_of_one", lengths=(8,), M=10)
_mistaken("few_facts", lengths=(4, 6, 2), M=10)
_mistaken("as_many_stories_as_places", lengths=(4, 8, 2, 7, 3, 6, 5, 9, 1, 8), M=10)

# What a correct model need not do

_mistaken(
    "every_number_moves",
    **_weaker("question", "facts", holds=lambda after, before, b: ((after[b] - before[b]).abs() > 0.02).all()),
)
_mistaken("order_has_no_effect", more=_order_is_nothing)


LEFT_OUT = ("question", "facts", "padding")  # what a test may leave out
_mistaken.without(LEFT_OUT, 2, dict.fromkeys)
