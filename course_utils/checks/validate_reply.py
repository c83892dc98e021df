"""Validates outcomes before they are judged: they may come from a process that runs the learner's code."""

from collections.abc import Sequence

import torch

from course_utils.base import trees
from course_utils.checks.running.contract import STATUSES, Case, Failure, Outcome, float_paths


def is_valid_reply(cases: Sequence[Case], outcomes: object) -> bool:
    """Return whether outcomes fit the cases. They may come from a process that the learner's code had to itself."""
    if not isinstance(outcomes, (list, tuple)) or len(outcomes) > len(cases):
        return False
    return all(map(_is_outcome_of, cases, outcomes))


def _is_outcome_of(case, outcome):
    if not isinstance(outcome, Outcome) or outcome.status not in STATUSES or not isinstance(outcome.printed, str):
        return False
    if not isinstance(outcome.called, tuple) or not all(isinstance(name, str) for name in outcome.called):
        return False
    if not all(
        isinstance(flag, bool) for flag in (outcome.in_float32, outcome.mode_matters, outcome.seeded, outcome.waited)
    ):
        return False
    if outcome.status == "error":
        return _is_failure(outcome.failure)
    if outcome.status == "not implemented":
        return outcome.failure is None or _is_failure(outcome.failure)
    if outcome.status != "value":
        return True
    if not (outcome.gradient_failure is None or _is_failure(outcome.gradient_failure)):
        return False
    if not isinstance(outcome.changed, (list, tuple)) or not all(_leads(case.args, path) for path in outcome.changed):
        return False
    return _gradients_fit(case, outcome.gradients)


def _leads(args, path):
    try:
        trees.at(args, path)
    except (KeyError, IndexError, TypeError):
        return False
    return isinstance(path, tuple) and len(path) > 0 and type(path[0]) is int and path[0] >= 0


def _is_failure(failure):
    if not isinstance(failure, Failure) or not isinstance(failure.kinds, tuple):
        return False
    return isinstance(failure.type, str) and isinstance(failure.message, str)


def _gradients_fit(case, gradients):
    if not case.gradient:
        return gradients is None
    inputs = [trees.at(case.args, path) for path in float_paths(case.args)]
    if not isinstance(gradients, (list, tuple)) or len(gradients) != len(inputs):
        return False
    return all(
        g is None or isinstance(g, torch.Tensor) and g.shape == x.shape for g, x in zip(gradients, inputs, strict=True)
    )
