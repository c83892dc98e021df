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
        "course_utils.models.attention.SCORES[name] is right. The work is in the inputs: every size different, numbers of ordinary size, more than one sentence, and for the cosine a zero vector.",
        "The arguments' shapes depend on the name: state B×T×D and hidden B×S×E (or B×S×D), then the weights of the table in the lesson. Compare shapes first, then values up to rounding. A candidate that raises is wrong.",
        "shapes = {name: [shape, …]}; args = random tensors of these shapes; also zero out one vector of state; try candidate(*args), except: False; return shapes equal and torch.allclose(…, atol=1e-5).",
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
        return "That one is right, computed in another order: its last digits differ. Is there room for rounding, about 1e-5?"
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


@task.mistake("Your test says False to every candidate, also to the right ones.")
def always_false(name, candidate):
    return False


@task.mistake("Your test looks at shapes only. Nearly every wrong score has the right shape: compare the numbers.")
def shapes_only(name, candidate):
    return _tester(by_value=False)(name, candidate)


@task.mistake(
    "A cosine that gives NaN at a zero vector goes by unseen: let one vector of state be zero, and keep the NaN."
)
def no_zero_vector(name, candidate):
    return _tester(zero=False)(name, candidate)


@task.mistake(
    "Your test sees one sentence only: what mixes up sentences goes by unseen. Take a batch of two or more, and compare them all."
)
def batch_of_one(name, candidate):
    return _tester(B=1, zero=False)(name, candidate) and _zero_cosine(name, candidate)


@task.mistake(
    "Your test sees one state only: what mixes up the states goes by unseen. Take T = 2 or more, and compare them all."
)
def one_state(name, candidate):
    return _tester(T=1, zero=False)(name, candidate) and _zero_cosine(name, candidate)


def _zero_cosine(name, candidate):
    return name != "content_based" or bool(candidate(torch.zeros(1, 1, 2), torch.ones(1, 1, 2)).isfinite().all())
