"""Task 04.catch_wrong_scores: a test that tells correct scores from incorrect ones."""

from functools import partial

import torch

from course_lessons.lesson_04_alignment_scores.tasks import content_based, dot, perceptron
from course_lessons.lesson_04_alignment_scores.tasks._scores import shapes
from course_lessons.shared.candidate_tests import MistakenTests
from course_utils.checks.task import Candidate, Case, Task
from course_utils.models import attention


def _hidden_layer(state, hidden, weight):
    return attention.pairs(state, hidden) @ weight.mT  # B T S A


def location_based(state, weight):
    powers = torch.einsum("btd,sd->bts", state, weight).exp()
    return powers / powers.sum(-1, keepdim=True)


# For each score, a correct candidate that computes it differently from the course.
RIGHT = {
    "dot": dot.task.oracle_function,
    "content_based": content_based.task.oracle_function,
    "perceptron": perceptron.task.oracle_function,
    "scaled_dot": lambda s, h: torch.einsum("btd,bsd->bts", s / s.shape[-1] ** 0.5, h),
    "general": lambda s, h, W: torch.einsum("btd,de,bse->bts", s, W, h),
    "additive": lambda s, h, W, v: attention.perceptron(s, h, W[:, : s.shape[-1]], W[:, s.shape[-1] :], v),
    "concatenating": lambda s, h, w: attention.pairs(s, h) @ w,
    "location_based": location_based,
}

# Wrong candidates, each with the promise that it breaks.
WRONG = (
    ("dot", dot.task.wrong("scaled"), "divided by √D"),
    ("dot", dot.task.wrong("cosine"), "divided by the lengths"),
    ("dot", lambda s, h: s @ h.mT - 0.001, "too small by 0.001"),
    ("dot", lambda s, h: h @ s.mT, "rows and columns swapped"),
    ("dot", lambda s, h: torch.cat([(s @ h.mT)[..., :-1], (s @ h.mT)[..., -1:] + 0.1], -1), "too large by 0.1 at the last hidden state"),
    ("scaled_dot", lambda s, h: s @ h.mT / s.shape[-1], "divided by D"),
    ("scaled_dot", lambda s, h: RIGHT["scaled_dot"](s, h)[None], "with one axis too many"),
    ("scaled_dot", lambda s, h: s @ h.mT / h.shape[1] ** 0.5, "divided by √S, the number of hidden states"),
    ("scaled_dot", lambda s, h: s @ h.mT / s.shape[1] ** 0.5, "divided by √T, the number of states"),
    ("scaled_dot", lambda s, h: s @ h.mT, "not divided"),
    ("scaled_dot", lambda s, h: s @ h.mT / 8, "always divided by 8"),
    ("additive", lambda s, h, W, v: _hidden_layer(s, h, W).relu() @ v, "ReLU instead of tanh"),
    ("additive", lambda s, h, W, v: _hidden_layer(s, h, W) @ v, "no tanh"),
    ("additive", lambda s, h, W, v: (_hidden_layer(h, s, W).tanh() @ v).mT, "the hidden state comes first"),
    ("additive", lambda s, h, W, v: _hidden_layer(s[:1].expand_as(s), h, W).tanh() @ v, "the first sentence's states in all sentences"),
    ("additive", lambda s, h, W, v: _hidden_layer(s, h, W).tanh().sum(-1), "v left out"),
    ("general", lambda s, h, W: s @ W @ h.mT + 0.001, "too large by 0.001"),
    ("general", lambda s, h, W: s @ W.T @ h.mT, "the matrix transposed"),
    ("general", lambda s, h, W: (s @ W).tanh() @ h.mT, "one tanh too many"),
    ("general", lambda s, h, W: s @ h.mT, "the matrix left out"),
    ("general", lambda s, h, W: (s @ W @ h.mT).mT.contiguous(), "rows and columns swapped"),
    ("concatenating", lambda s, h, w: (attention.pairs(h, s) @ w).mT, "the hidden state comes first"),
    ("concatenating", lambda s, h, w: (attention.pairs(s, h) @ w).tanh(), "one tanh too many"),
    ("concatenating", lambda s, h, w: attention.pairs(torch.zeros_like(s), h) @ w, "the state left out"),
    ("concatenating", lambda s, h, w: attention.pairs(s, torch.zeros_like(h)) @ w, "the hidden state left out"),
    ("perceptron", perceptron.task.wrong("matrices_exchanged"), "the two matrices swapped"),
    ("perceptron", perceptron.task.wrong("tanh_before_sum"), "tanh before the sum"),
    ("perceptron", perceptron.task.wrong("perceptron_v_unused"), "v left out"),
    ("perceptron", lambda s, h, W, U, v: attention.perceptron(s, h[:1].expand_as(h), W, U, v), "the first sentence's hidden states in all sentences"),
    ("content_based", content_based.task.wrong("zero_gives_nan"), "NaN at a zero vector"),
    ("content_based", content_based.task.wrong("norm_of_everything"), "divided by the norm of everything together"),
    ("content_based", content_based.task.wrong("hidden_length_missing"), "not divided by the length of the hidden state"),
    ("content_based", content_based.task.wrong("state_length_missing"), "not divided by the length of the state"),
    ("content_based", lambda s, h: RIGHT["content_based"](s, h.reshape(s.shape)), "fails if T and S differ"),
    ("location_based", lambda s, W: (s @ W.T).softmax(1), "softmax over the states"),
    ("location_based", lambda s, W: s @ W.T, "no softmax"),
    ("location_based", lambda s, W: attention.location_based(s[:, :1].expand_as(s), W), "the first state instead of all"),
)  # fmt: skip


_bank = (
    *((name, right, f"a correct {name}, written differently") for name, right in RIGHT.items()),
    *((name, wrong, f"an incorrect {name}: {what}") for name, wrong, what in WRONG),
)


task = Task(
    __name__,
    "a test that tells correct scores from incorrect ones",
    arguments=("name", "candidate"),
    result="verdict",
    candidates=tuple(function for _, function, _ in _bank),
    difficulty=4,
    importance=5,
    minutes=25,
    offers=("models.attention",),
)


@task.cases
def _(draw):
    for key in torch.randperm(len(_bank), generator=draw.generator).tolist():
        name, _, said = _bank[key]
        yield Case(said, (name, Candidate(key)))


@task.oracle
def _(name, candidate):
    return candidate is RIGHT[name]


@task.property
def the_verdict_is_right(case, value):
    """No right candidate is refused, and no wrong one passes."""
    name, candidate = case.args
    is_right = task.candidate(candidate.key) is RIGHT[name]
    if value is False and is_right:
        return (
            "This candidate is correct. It computes in a different order, so its last digits differ: does your test allow for rounding, about "
            "1e-5? And does it require nothing that a correct result need not have?"
        )
    return f"Your test returns True for {case.name}." if value is True and not is_right else None


close = partial(torch.allclose, rtol=1e-4, atol=1e-5)


def _test(name, candidate, B=2, T=3, zero=True, same=close):
    """A correct test: random numbers of sizes that all differ, and a zero vector for the cosine."""
    draw = torch.Generator().manual_seed(5)
    args = [torch.randn(*shape, generator=draw) for shape in shapes(name, B, T, 5, 7, 11, 13)]
    expected, received = attention.SCORES[name](*args), candidate(*args)
    if zero and name == "content_based" and candidate(torch.zeros(1, 1, 2), torch.ones(1, 1, 2)).isnan().any():
        return False
    return expected.shape == received.shape and bool(same(expected, received))


mistaken = MistakenTests(task, _test)
mistaken.on_one_side(1e-4)
mistaken("shapes_only", same=lambda expected, received: True, zero=False)
mistaken("too_much_room", same=partial(torch.allclose, atol=0.01))
mistaken("no_zero_vector", zero=False)
mistaken("batch_of_one", B=1)
mistaken("one_state", T=1)
