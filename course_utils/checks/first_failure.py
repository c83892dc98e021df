"""Finds the first thing that is wrong with the outcome of one case: its value, its gradients, or what it did to its input."""

from dataclasses import replace

import torch

from course_utils.base import trees
from course_utils.checks.compare import Finding, close, describe, difference, scale
from course_utils.checks.expected import NEAR, Expected
from course_utils.checks.failure_message import describe_failure, hints_for_failure
from course_utils.checks.running.contract import Case, Outcome, float_paths, is_float
from course_utils.checks.task import Task

RIGHT = "For this input the values are right, but "  # a larger one may show more
BY_A_TENSOR = (
    "Operations whose names end in an underscore do that, and so do `+=`, `*=` and assignments into an argument."
)
BY_A_LIST = (
    "A list's methods `sort`, `reverse`, `append`, `extend` and `pop` change the list itself, and so do assignments into it. "
    "`sorted(…)` and `list(…)` make a new list, which you may change."
)
NO_SLOPE = "Some step has no finite slope there, such as the softmax of a row of only -inf, or the square root of 0. `nan_to_num` after that step repairs the value but not the gradient."
AGAIN = "A second call with the same input gives a different value: something in it is random, or it keeps state between calls."
OTHER_VERDICT = (
    "Your test gives different verdicts on one and the same candidate when it is called twice. If its inputs are random, make them the same each time "
    "(`torch.manual_seed(0)`, or a Generator with a seed). Allow for rounding as the exercise says, or else "
    "as `torch.allclose(…, atol=1e-5)` does, but no more."
)
OTHER_MODE = (
    "Your module gives a different value in evaluation mode than in training mode. Here both should give the same. "
    "Does a mask hide everything from some position, or is there a dropout or a batch norm in it?"
)
WRONG_IN_BOTH_MODES = "Your module also gives a different value in evaluation mode: does a mask hide everything from some position, or is there a batch norm in it?"
PRINTED = (
    "Your function prints, but it returns nothing (None). `print` only shows a value; to hand it back, write `return`."
)


def first_failure(task: Task, expected: Expected, place: int, outcome: Outcome) -> Finding | None:
    """Return the first thing that is wrong with the outcome of one case as a Finding, or None."""
    case, right = expected.cases[place], expected.truth[place]
    if case.raises:
        return _wrong_exception(task, case, outcome)
    if outcome.status != "value":
        return describe_failure(task, case, outcome)
    result = task.results if len(task.results) > 1 else task.results[0]
    if outcome.unstable:
        finding = difference(right.value, outcome.value, result)
        if finding and finding.kind == "type":  # wrong in every call
            return finding
        again = OTHER_VERDICT if task.candidates and isinstance(right.value, bool) else AGAIN
        return Finding("value", again, steady=False)
    if outcome.value is None and right.value is not None and outcome.printed:
        return Finding("type", PRINTED)
    finding = difference(right.value, outcome.value, result)
    if finding and _may_be_rounding(finding):
        finding = difference(right.value, outcome.value, result, expected.reach(place))
    if finding and task.mismatch_function:
        finding = Finding("value", task.mismatch_function(case, right.value, outcome.value))
    if finding and outcome.mode_matters:
        return replace(finding, sentence=f"{finding.sentence} {WRONG_IN_BOTH_MODES}")
    if finding:  # an altered input may be why the value is wrong
        return replace(finding, altered=alters_first(task, case, outcome)) if finding.kind == "value" else finding
    if outcome.mode_matters:
        return Finding("value", OTHER_MODE, steady=False)
    if outcome.changed and outcome.gradient_failure:  # the gradient's failure is a symptom
        return _side_effect(task, case, outcome)
    finding = _wrong_gradient(task, case, outcome, right)
    if finding and _may_be_rounding(finding):
        finding = _wrong_gradient(task, case, outcome, right, expected.reach(place, gradients=True))
    return finding or _side_effect(task, case, outcome)


def _may_be_rounding(finding):
    """Return whether rounding in float32 might be all that is wrong."""
    expected, received = finding.expected, finding.received
    if not is_float(expected) or not is_float(received) or expected.shape != received.shape:
        return False
    return finding.kind in ("value", "gradient") and bool(((expected - received).abs() <= NEAR * scale(expected)).all())


def _wrong_exception(task, case, outcome):
    """Check a case in which the answer should raise an exception; return a Finding, or None."""
    if outcome.status == "value":
        return Finding(
            "value", f"For this input {case.raises} should be raised; your function returned {describe(outcome.value)}."
        )
    if outcome.status == "error" and case.raises in outcome.failure.kinds:
        return None
    finding = describe_failure(task, case, outcome)
    if outcome.status == "error":
        return replace(finding, sentence=f"For this input {case.raises} should be raised. {finding.sentence}")
    return finding


def alters_first(task: Task, case: Case, outcome: Outcome) -> str:
    """Return the sentence that comes first if an answer alters its input, else ""."""
    return f"Your function alters its input {_altered_inputs(task, case, outcome)}. " if outcome.changed else ""


def _wrong_gradient(task, case, outcome, right, reach=None):
    if outcome.gradients is None or task.gradient_optional:
        return None
    if failure := outcome.gradient_failure:
        if "modified by an inplace operation" in failure.message:
            return Finding(
                "gradient",
                f"{RIGHT}you write into a tensor whose old numbers PyTorch still needs for the gradient. "
                "Make a new tensor instead: masked_fill, torch.where, `a = a + b` instead of `a += b`.",
            )
        sentence = f"{RIGHT}your function fails when gradients are required: {failure.type}: {failure.message}"
        return Finding("gradient", sentence, hints=hints_for_failure(task, case, failure))
    rooms = reach or [None] * len(right.gradients)
    for path, expected, received, room in zip(
        float_paths(case.args), right.gradients, outcome.gradients, rooms, strict=True
    ):
        name = trees.path_text(task.names, path)
        if task.names[path[0]] in task.gradient_not_asked:
            continue
        if expected is None or not expected.any():
            if received is None or close(torch.zeros_like(received), received, 0 if room is None else room).all():
                continue
            if expected is None:
                return Finding("gradient", f"{RIGHT}a gradient reaches {name}, and none should: `.detach()` stops it.")
        if received is None:
            return Finding(
                "gradient",
                f"{RIGHT}no gradient reaches {name}: something between {name} and your result stops it. "
                "`.item()`, `.detach()`, `.data`, numpy and torch.tensor(…) on tensors do that, and so does copying into a module's weights.",
            )
        if not received.isfinite().all():
            return Finding("gradient", f"{RIGHT}the gradient of {name} is not finite. {NO_SLOPE}", expected, received)
        level = received  # minus what is the same for a whole row, if that does not count
        if task.names[path[0]] in task.rows_sum_to_one:
            level = received + (expected - received).mean(-1, keepdim=True)
        if not close(expected, level, 0 if room is None else room).all():
            return Finding(
                "gradient",
                f"{RIGHT}the gradient of {name} is not. Is there a `.detach()` or `.data` where none belongs, or is one missing?",
                expected,
                received,
            )
    return None


def _side_effect(task, case, outcome):
    if not outcome.changed:
        return None
    return Finding(
        "side effect",
        f"For this input the result is right, but your function alters its input {_altered_inputs(task, case, outcome)}: its caller finds different values there afterwards. {BY_A_LIST if _is_list_altered(case, outcome.changed[0]) else BY_A_TENSOR}",
    )


def _altered_inputs(task, case, outcome):
    """Return the names of the inputs that were altered; for anything altered inside a list, the name of the list."""
    paths = (path[:1] if _is_list_altered(case, path) else path for path in outcome.changed)
    return " and ".join(dict.fromkeys(trees.path_text(task.names, path) for path in paths))


def _is_list_altered(case, path):
    """Return whether a list itself was altered: a list of tensors is if it has lost or gained some."""
    argument = case.args[path[0]]
    return isinstance(argument, list) and (len(path) == 1 or not trees.tensors(argument))
