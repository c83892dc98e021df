"""What is expected on a task's cases: what the oracle and the named mistakes give there, and how large rounding errors may be.

They are run here, on the judge's side, through the same `run` as the answer, so that values, gradients and side effects
can be compared.
"""

from collections.abc import Callable, Sequence
from dataclasses import replace

import torch

from course_utils.base.errors import CourseError
from course_utils.checks.compare import describe, scale
from course_utils.checks.running.call_tracer import NULL_TRACER
from course_utils.checks.running.contract import Case, Failure, Outcome, in_precision, is_float, map_given
from course_utils.checks.running.run import marked, run
from course_utils.checks.task import Mistake, Task

USAGE_ERROR = "UsageError"  # the type of a failure whose message needs nothing added: from `run` for a module, a candidate for a call, `canonicalised` for a value
FRESH = 7919  # the seed of inputs that tell apart relations that all fit
NEAR, PERTURBATIONS, ROUNDINGS = 1e-2, 8, 8  # see Expected.reach
RunOwn = Callable[[Task, Mistake, Sequence[Case]], list[Outcome]]


class Expected:
    """What the oracle and the named mistakes give on a task's cases, run once for many answers.

    `run_own(task, mistake, cases)` returns the outcomes of an instructor's own mistake; if left out, its function runs here.
    """

    def __init__(self, task: Task, cases: Sequence[Case], run_own: RunOwn | None = None) -> None:
        self.truth = _right_outcomes(task, cases)
        self.task, self.cases, self._run_own = task, cases, run_own
        self.judged = len(cases)  # how many count: on two draws, those of the first; see `second_draw`
        self.both: Expected | None = None
        self._mistakes: dict[tuple[str, int], Outcome] = {}
        self._reaches: dict[tuple[int, bool], torch.Tensor | list | None] = {}
        self._fresh: Expected | None = None

    def fresh(self) -> "Expected":
        """Return the Expected for a second, fixed set of inputs."""
        if self._fresh is None:
            self._fresh = Expected(self.task, self.task.make_cases(FRESH), self._run_own)
        return self._fresh

    def run_all(self) -> None:
        """Run every named mistake on all cases now, not when needed."""
        for mistake in self.task.mistakes:
            self._run_mistake(mistake, range(len(self.cases)))

    def of_mistake(self, mistake: Mistake, place: int) -> Outcome:
        """Return the outcome of a named mistake on one case."""
        if (mistake.name, place) not in self._mistakes:
            self._run_mistake(mistake, range(len(self.cases)) if mistake.source else [place])
        return self._mistakes[mistake.name, place]

    def _run_mistake(self, mistake, places):
        """Keep the outcomes of a mistake on some cases."""
        cases = [self.cases[place] for place in places]
        if mistake.source and self._run_own:
            outcomes = canonical_outcomes(self.task, cases, self._run_own(self.task, mistake, cases))
            outcomes += [Outcome("stopped")] * (len(cases) - len(outcomes))
        else:
            outcomes = run_mistake(self.task, mistake.function, cases)
        self._mistakes |= {(mistake.name, place): outcome for place, outcome in zip(places, outcomes, strict=False)}

    def reach(self, place: int, gradients: bool = False) -> torch.Tensor | list | None:
        """Return how far off a correct answer's value, or its gradients, may be because float32 keeps 24 binary digits.

        The last digit of every input number is altered, in a few ways, equal numbers alike. How far the truth then moves
        is what rounding the input once does; a computation rounds several times.
        """
        if (place, gradients) not in self._reaches:
            case, moved = replace(self.cases[place], gradient=gradients), []
            for turn in range(PERTURBATIONS):
                args = map_given(lambda leaf, turn=turn: _with_last_digit_altered(leaf, turn), case.args)
                moved += run_oracle(self.task, [replace(case, args=args)])
            single = [in_precision(case, torch.float32)]  # and how far off the oracle itself is in float32
            moved += [
                outcome
                for outcome in run(self.task.oracle_function, single, 60, self.task.candidate, False, NULL_TRACER)
                if outcome.status == "value"
            ]
            right, *others = [each.gradients if gradients else each.value for each in (self.truth[place], *moved)]
            self._reaches[place, gradients] = _largest_distance(right, others)
        return self._reaches[place, gradients]


def _with_last_digit_altered(leaf, turn):
    if not is_float(leaf) or bool(((leaf == 0) | (leaf == 1)).all()):  # labels and masks are exact, not rounded
        return leaf
    exact = leaf.double()
    return exact * (1 + 2**-23 * (exact * 12345.678 + turn).sin().sign())


def _largest_distance(right, others):
    """Return a tree like `right`: a multiple of each tensor's largest distance from the others, capped; None for other leaves."""
    if isinstance(right, (list, tuple)):
        alike = all(isinstance(other, (list, tuple)) and len(other) == len(right) for other in others)
        return [_largest_distance(r, [other[i] for other in others]) for i, r in enumerate(right)] if alike else None
    if not is_float(right) or not all(is_float(other) and other.shape == right.shape for other in others):
        return None
    off = max((other - right).abs().nan_to_num(0, 0, 0).max().item() for other in others) if right.numel() else 0
    return torch.full_like(right, min(ROUNDINGS * off, NEAR * scale(right)))


def run_mistake(task: Task, function: Callable, cases: Sequence[Case]) -> list[Outcome]:
    """Run a named mistake as an answer is run; a test over candidates only once, as it is slow and gives the same again."""
    candidates = lambda key: marked(task.candidate(key))  # noqa: E731
    outcomes = run(function, cases, 60, candidates, repeated=not task.candidates, tracer=NULL_TRACER)
    return canonical_outcomes(task, cases, outcomes)


def canonical_outcomes(task: Task, cases: Sequence[Case], outcomes: Sequence[Outcome]) -> list[Outcome]:
    """Return outcomes with the canonical forms of their values instead of the values."""
    return [canonicalised(task, case, outcome) for case, outcome in zip(cases, outcomes, strict=False)]


def canonicalised(task: Task, case: Case, outcome: Outcome) -> Outcome:
    """Return an outcome with the canonical form of its value instead of the value, for tasks with many correct values."""
    if not task.canonical_function or outcome.status != "value":
        return outcome
    try:
        return replace(outcome, value=task.canonical_function(case, outcome.value))
    except CourseError as problem:
        sentence = str(problem)
    except Exception:  # a value that the canonical form was not made for
        sentence = f"What your function returned cannot be read: {describe(outcome.value)}."
    return replace(outcome, status="error", value=None, failure=Failure(USAGE_ERROR, sentence))


def run_oracle(task: Task, cases: Sequence[Case]) -> list[Outcome]:
    """Return the outcomes of the oracle, which computes in float64."""
    cases = [in_precision(case, torch.float64) for case in cases]
    return run(task.oracle_function, cases, 60, task.candidate, repeated=False, tracer=NULL_TRACER)


def _right_outcomes(task, cases):
    outcomes = run_oracle(task, cases)
    for case, outcome in zip(cases, outcomes, strict=True):
        right = case.raises in outcome.failure.kinds if case.raises and outcome.failure else outcome.status == "value"
        if not right or case.raises and outcome.status == "value":
            raise RuntimeError(f"the oracle of {task.id} fails on {case.name}: {outcome.failure or outcome.status}")
    return outcomes
