"""Task 04.catch_wrong_scores: a test that tells right scores from wrong."""

import torch

from course_utils.checks.running.contract import Candidate, Case
from course_utils.checks.task import Task
from course_utils.models import attention
from course_utils.tasks.lesson_04 import (
    additive,
    concatenating,
    content_based,
    dot,
    general,
    location_based,
    perceptron,
    scaled_dot,
)
from course_utils.tasks.lesson_04._scores import shapes


def transposed(state, hidden):
    return hidden @ state.mT


def general_rows_exchanged(state, hidden, weight):
    return (state @ weight @ hidden.mT).mT.contiguous()


# The candidates: for each score a right one written differently, and wrong ones.


def additive_position_zero(state, hidden, weight, v):
    return attention.additive(state[:1].expand_as(state), hidden, weight, v)


def location_over_first_state(state, weight):
    return attention.location_based(state[:, :1].expand_as(state), weight)


def perceptron_hidden_of_first_sentence(state, hidden, weight_s, weight_h, v):
    return attention.perceptron(state, hidden[:1].expand_as(hidden), weight_s, weight_h, v)


SCORES = (dot, scaled_dot, additive, general, concatenating, perceptron, content_based, location_based)
RIGHT = {score.task.id.partition(".")[2]: score.task.oracle_function for score in SCORES}


WRONG_SHOWN = (
    ("dot", dot.scaled, "divided by √D"),
    ("scaled_dot", scaled_dot.divided_by_width, "divided by D"),
    ("additive", additive.with_relu, "ReLU instead of tanh"),
    ("general", general.weight_transposed, "the matrix transposed"),
    ("concatenating", concatenating.concatenating_turned, "the pair turned round"),
    ("perceptron", perceptron.matrices_exchanged, "the two matrices exchanged"),
    ("content_based", content_based.zero_gives_nan, "NaN at a zero vector"),
    ("location_based", location_based.softmax_over_states, "softmax over the states"),
)


WRONG_HIDDEN = (
    ("dot", dot.cosine),
    ("scaled_dot", scaled_dot.root_of_keys),
    ("scaled_dot", scaled_dot.not_scaled),
    ("additive", additive.no_tanh),
    ("additive", additive.pair_turned),
    ("additive", additive_position_zero),
    ("general", general.with_tanh),
    ("general", general.weight_unused),
    ("concatenating", concatenating.concatenating_with_tanh),
    ("concatenating", concatenating.state_unused),
    ("perceptron", perceptron.tanh_before_sum),
    ("perceptron", perceptron_hidden_of_first_sentence),
    ("content_based", content_based.norm_of_everything),
    ("content_based", content_based.hidden_length_missing),
    ("location_based", location_based.no_softmax),
    ("location_based", location_over_first_state),
    ("dot", transposed),
    ("scaled_dot", scaled_dot.always_eight),
    ("scaled_dot", scaled_dot.root_of_queries),
    ("additive", additive.v_unused),
    ("general", general_rows_exchanged),
    ("concatenating", concatenating.hidden_unused),
    ("perceptron", perceptron.perceptron_v_unused),
    ("content_based", content_based.state_length_missing),
)


_bank = (
    *((name, right, f"a right {name}, written differently") for name, right in RIGHT.items()),
    *((name, wrong, f"a wrong {name}: {what}") for name, wrong, what in WRONG_SHOWN),
    *((name, wrong, f"a wrong {name} that is not shown") for name, wrong in WRONG_HIDDEN),
)


task = Task(
    "04.catch_wrong_scores",
    "a test that tells right scores from wrong",
    arguments=("name", "candidate"),
    result="verdict",
    candidates=tuple(function for _, function, _ in _bank),
    difficulty=4,
    importance=5,
    minutes=25,
    offers=("models.attention",),
    hints=(
        (
            "`SCORES[name]` is right, so the work is in the inputs. Choose every size different, numbers of ordinary size, more than one "
            "sentence and more than one state, and for the cosine a zero vector. Then compare every number."
        ),
        (
            "Take a candidate for `scaled_dot` that divides by √T, the root of the number of states, instead of √D. One state [1, 1, 1, 1] and "
            "the hidden state [2, 0, 4, 2] have the right score 8 / √4 = 4, and the candidate gives 8 / √1 = 8. But with two states of width 2 "
            "both divide by √2, so on those sizes it looks right."
        ),
        (
            "shapes = {name: [shape, …]}; args = random tensors of these shapes; set one vector of state to zero; try received = "
            "candidate(*args), except Exception: return False; return whether shapes are equal and torch.allclose(…, atol=1e-5)."
        ),
    ),
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
def rounding_is_allowed(case, value):
    """No right candidate is refused."""
    name, candidate = case.args
    if value is False and task.candidate(candidate.key) is RIGHT[name]:
        return (
            "This candidate is right. It computes in another order, so its last digits differ: does your test leave room for rounding, about "
            "1e-5? And does it ask for nothing that a right result need not have?"
        )
    return None


def _tester(scale=1.0, zero=True, by_value=True, square=False, B=2, T=3):
    """A test like the solution's, with one thing left out."""

    def test(name, candidate):
        draw = torch.Generator().manual_seed(5)
        dims = (B, T, 5, 7, 7, 7) if square else (B, T, 5, 7, 11, 13)
        args = [scale * torch.randn(*shape, generator=draw) for shape in shapes(name, *dims)]
        if zero:
            args[0][0, 0] = 0
        try:
            expected, received = attention.SCORES[name](*args), candidate(*args)
            return expected.shape == received.shape and (
                not by_value or torch.allclose(expected, received, rtol=1e-4, atol=1e-5)
            )
        except Exception:
            return False

    return test


@task.mistake("Your test says True to every candidate.")
def always_true(name, candidate):
    return True


@task.mistake("Your test says False to every candidate, even to the right ones.")
def always_false(name, candidate):
    return False


@task.mistake(
    "Every candidate whose scores have the right shape passes your test, and nearly every wrong score has it. Compare the numbers too."
)
def shapes_only(name, candidate):
    return _tester(by_value=False)(name, candidate)


@task.mistake(
    "A cosine that gives NaN at a zero vector passes your test. Let one vector of state be zero, compare its scores too, and make sure "
    "that a NaN in them counts as wrong."
)
def no_zero_vector(name, candidate):
    return _tester(zero=False)(name, candidate)


@task.mistake(
    "Candidates that mix up the sentences of a batch pass your test. Use a batch of two sentences or more, and compare the scores of "
    "every sentence."
)
def batch_of_one(name, candidate):
    return _tester(B=1, zero=False)(name, candidate) and _zero_cosine(name, candidate)


@task.mistake(
    "A candidate that uses the first state in place of all the others passes your test. Use at least two states and at least two hidden "
    "states, and compare every number: a sum over them does not show it."
)
def one_state(name, candidate):
    return _tester(T=1, zero=False)(name, candidate) and _zero_cosine(name, candidate)


def _zero_cosine(name, candidate):
    return name != "content_based" or bool(candidate(torch.zeros(1, 1, 2), torch.ones(1, 1, 2)).isfinite().all())
