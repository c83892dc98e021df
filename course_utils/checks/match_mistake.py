"""Finds the named mistake that an answer makes: the one with the same outcomes."""

from collections.abc import Sequence
from dataclasses import replace

import torch

from course_utils.base import trees
from course_utils.checks.compare import close
from course_utils.checks.error_hints import mistake_in_a_line
from course_utils.checks.expected import Expected
from course_utils.checks.first_failure import first_failure
from course_utils.checks.running.contract import GO_ON, Case, Outcome
from course_utils.checks.task import Mistake, Task


def match_mistake(
    task: Task, cases: Sequence[Case], outcomes: Sequence[Outcome], expected: Expected, wrong: Sequence[int]
) -> Mistake | None:
    """Return the named mistake with the answer's outcomes, or None. Never a guess: if several fit, it returns None.

    If none fits, the line where the answer stops may show one that any task invites. "The answer's outcomes" means, strictest first:
    everything agrees in every case; the values do; the same two, hazards aside; the values agree in every ordinary case. Each time, the
    mistake must differ from the truth in what is compared. A mistake with a different value in an ordinary case is ruled out at once;
    the cases `wrong`, in which the answer is wrong, come first. If the value is right in the first of these, a mistake that is right
    there explains nothing.
    """
    if task.recognise_function and (first := _outcome_at(outcomes, wrong[0])).status == "value":
        name = task.recognise_function(first.value)
        return next((mistake for mistake in task.mistakes if mistake.name == name), None)
    truth, everywhere = expected.truth, range(len(cases))
    safe, ordinary = [i for i in everywhere if not cases[i].hazard], [i for i in everywhere if not cases[i].edge]
    tried = [
        (m, [expected.of_mistake(m, i) for i in everywhere])
        for m in task.mistakes
        if all(
            agree_in_value(_outcome_at(outcomes, i), expected.of_mistake(m, i))
            for i in dict.fromkeys((*wrong, *ordinary))
            if not cases[i].edge
        )
    ]
    finding = first_failure(task, expected, wrong[0], _outcome_at(outcomes, wrong[0]))
    tried = [
        (m, theirs)
        for m, theirs in tried
        if _may_show(finding, first_failure(task, expected, wrong[0], theirs[wrong[0]]))
    ]
    for agree, keep in (
        (_agree_in_everything, everywhere),
        (agree_in_value, everywhere),
        (_agree_in_everything, safe),
        (agree_in_value, safe),
        (agree_in_value, ordinary),
    ):

        def same(a, b, agree=agree, keep=keep):
            return all(agree(_outcome_at(a, i), _outcome_at(b, i)) for i in keep)

        fitting = [m for m, theirs in tried if same(outcomes, theirs) and not same(truth, theirs)]
        if fitting:
            return fitting[0] if len(fitting) == 1 else None
    return mistake_in_a_line(task, cases, outcomes)


def match_second(first: Mistake, task: Task, outcomes: Sequence[Outcome], expected: Expected) -> Mistake | None:
    """Return the only mistake that gives the answer's values together with the first, or None.

    None, too, if the first alone gives them, hazards aside. A mistake with the right values, such as one of a gradient, does not count.
    """
    safe = [i for i, case in enumerate(expected.cases) if not case.hazard]
    fits = lambda mistake: all(agree_in_value(_outcome_at(outcomes, i), expected.of_mistake(mistake, i)) for i in safe)  # noqa: E731
    is_right = lambda mistake: all(agree_in_value(expected.truth[i], expected.of_mistake(mistake, i)) for i in safe)  # noqa: E731
    if not first.changes or fits(first):
        return None
    both = [
        Mistake(f"{first.name} and {other.name}", other.sentence, function)
        for other in task.mistakes
        if other is not first and not is_right(other) and (function := task.both(first, other))
    ]
    fitting = [mistake for mistake in both if fits(mistake)]
    return fitting[0] if len(fitting) == 1 else None


def match_beside_errors(task: Task, outcomes: Sequence[Outcome], expected: Expected, wrong: int) -> Mistake | None:
    """Return the only mistake that gives every value of an answer that raises an exception in other cases, or None.

    It has to be wrong in the case `wrong` and in another one: a single value may agree by chance.
    """
    returned = [i for i, outcome in enumerate(outcomes) if outcome.status == "value"]
    if not all(outcome.status in GO_ON for outcome in outcomes):
        return None

    def explains(mistake):
        off = [i for i in returned if not agree_in_value(expected.truth[i], expected.of_mistake(mistake, i))]
        return wrong in off and len(off) > 1

    fitting = [
        m
        for m in task.mistakes
        if all(agree_in_value(outcomes[i], expected.of_mistake(m, i)) for i in returned) and explains(m)
    ]
    return fitting[0] if len(fitting) == 1 else None


def match_mistake_at(
    task: Task, cases: Sequence[Case], outcomes: Sequence[Outcome], expected: Expected, place: int
) -> Mistake | None:
    """Return the only named mistake that is right except at hazards and has the answer's outcome at the hazard `place`; or None.

    If the value there is wrong, only the value has to agree. If several fit, any that is wrong at another hazard in a different way from the answer is ruled out.
    """
    safe, hazards = ([i for i, case in enumerate(cases) if case.hazard is hazard] for hazard in (False, True))
    finding = first_failure(task, expected, place, outcomes[place])
    agree = _agree_in_everything if _is_beside_value(finding) else agree_in_value
    fitting = [
        m
        for m in task.mistakes
        if agree(outcomes[place], expected.of_mistake(m, place))
        and _may_show(finding, first_failure(task, expected, place, expected.of_mistake(m, place)))
        and all(agree_in_value(expected.truth[i], expected.of_mistake(m, i)) for i in safe)
    ]
    if len(fitting) > 1:
        fitting = [m for m in fitting if all(_may_make(m, outcomes, expected, i) for i in hazards)]
    return fitting[0] if len(fitting) == 1 else None


def _may_make(mistake, outcomes, expected, i):
    """Return whether an outcome agrees with a mistake, or the mistake is right there and something else may be wrong."""
    theirs = expected.of_mistake(mistake, i)
    return agree_in_value(_outcome_at(outcomes, i), theirs) or agree_in_value(expected.truth[i], theirs)


def _may_show(finding, of_mistake):
    """Return whether a mistake with this finding may be why the answer has that one: not if it is right there, or of the right type."""
    if _is_beside_value(finding):
        return of_mistake is not None
    return finding is None or finding.kind != "type" or of_mistake is not None and of_mistake.kind == "type"


def _is_beside_value(finding):
    """Return whether something other than the value is wrong."""
    return finding is not None and finding.kind in ("gradient", "side effect")


def _outcome_at(outcomes, i):
    return outcomes[i] if i < len(outcomes) else replace(outcomes[-1], status="stopped")


def _agree_in_everything(a, b):
    """Return whether two outcomes agree in everything: status, value, gradients, altered inputs."""
    return (
        agree_in_value(a, b)
        and a.changed == b.changed
        and (a.gradient_failure is None) == (b.gradient_failure is None)
        and trees.alike(_leaves_agree, a.gradients, b.gradients)
        and (a.unstable, a.mode_matters) == (b.unstable, b.mode_matters)
    )


def agree_in_value(a: Outcome, b: Outcome) -> bool:
    """Return whether two outcomes agree in status and value."""
    return a.status == b.status and (a.status != "value" or trees.alike(_leaves_agree, a.value, b.value))


def _leaves_agree(a, b):
    if isinstance(a, torch.Tensor) and isinstance(b, torch.Tensor):
        same_kind = a.is_floating_point() == b.is_floating_point() and (a.dtype == torch.bool) == (
            b.dtype == torch.bool
        )
        return a.shape == b.shape and same_kind and bool(close(a, b).all())
    if isinstance(a, float) or isinstance(b, float):
        return (
            isinstance(a, (int, float, torch.Tensor))
            and isinstance(b, (int, float, torch.Tensor))
            and _numbers_agree(a, b)
        )
    return type(a) is type(b) and a == b


def _numbers_agree(a, b):
    try:
        a, b = torch.as_tensor(a, dtype=torch.float64), torch.as_tensor(b, dtype=torch.float64)
    except (OverflowError, RuntimeError):
        return False
    return a.shape == b.shape and bool(close(a, b).all())
