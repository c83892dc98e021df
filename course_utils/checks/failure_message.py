"""Says why an answer returned no value, and where its author may look."""

from dataclasses import replace

from course_utils.checks.compare import Finding
from course_utils.checks.error_hints import AT_MOST, hints_for_error, misspelt
from course_utils.checks.expected import USAGE_ERROR
from course_utils.checks.running.contract import Case, Failure, Outcome
from course_utils.checks.task import Task

MAY_BE_ANYTHING = (
    "an incorrect candidate may return anything, such as numbers of a different shape, and it may raise an exception. If that stops your test, the candidate is wrong: "
    "put the call and the comparison inside `try`, and return False on `except Exception`. If it also happens with a correct candidate, your own line is to blame."
)


def describe_failure(task: Task, case: Case, outcome: Outcome) -> Finding:
    """Return the Finding on an answer that returned no value."""
    failure = outcome.failure
    if outcome.status == "error" and not failure.by_candidate and failure.type != USAGE_ERROR:
        sentence = f"Your function stops with {failure.type}: {failure.message}"
        return Finding("error", sentence, hints=hints_for_failure(task, case, failure))
    return Finding("error", _message(task, outcome))


def _message(task, outcome):
    if outcome.status == "timeout" and outcome.waited:
        return "Your function was stopped because it waits and hardly computes. Does it call `sleep`, or wait for a lock, a queue or another thread?"
    if outcome.status == "timeout":
        return (
            f"Your function was stopped after {outcome.seconds or 0:g} seconds of computing, which can be longer by the clock. Is there a loop that never ends? "
            "If it only needs longer, give the check more time: `check(…, seconds=60)`."
        )
    if outcome.status == "memory":
        return (
            "Your function asked for more memory than there is. Print the shapes: one tensor is far larger than needed."
        )
    if outcome.status == "stopped":
        return "The run of your function ended before this input. Does it end the whole process?"
    if outcome.status == "not implemented":
        return "For this input your function still raises NotImplementedError."
    if outcome.failure.by_candidate and not task.suspects:
        return (
            f"The function that you were given raises {outcome.failure.type} for the arguments that you call it with. "
            "Print their shapes, and compare them with those in the exercise."
        )
    if outcome.failure.by_candidate:
        return (
            f"The candidate raised {outcome.failure.type}, and your test did not catch it. "
            "A candidate that raises is wrong: catch the exception and return False."
        )
    return outcome.failure.message


def hints_for_failure(task: Task, case: Case, failure: Failure) -> tuple[str, ...]:
    """Return hints, if any, for the author of an answer that raised an exception."""
    short = replace(failure, message=failure.message[:AT_MOST])
    if task.candidates and task.suspects:
        return (misspelt(task, case, short) or MAY_BE_ANYTHING,)
    return hints_for_error(task, case, short)
