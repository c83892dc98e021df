"""Finds the one simple relation between an unrecognised wrong answer and the right one and states it in a sentence.

A relation is reported only if it holds on every ordinary input. The search tries a computation that stops early, then changes of the
result, of the arguments, of one step of the reference computation, changes on top of a named mistake and, on request, two changes at
once. If several fit, nothing is reported unless they agree on fresh inputs. The relations are in `relations`.
"""

import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from inspect import signature
from itertools import combinations, islice
from math import e, isclose, isfinite, log2, log10
from weakref import WeakKeyDictionary

import torch

from course_utils.base import trees
from course_utils.checks.compare import close
from course_utils.checks.expected import Expected
from course_utils.checks.reference_trace import run_trace, trace_steps
from course_utils.checks.relations.argument_changes import of_arguments
from course_utils.checks.relations.factors import formulas, sizes_of
from course_utils.checks.relations.result_changes import of_results
from course_utils.checks.relations.step_changes import NeedsArguments, of_steps
from course_utils.checks.running.contract import Case, Outcome, Stream, in_precision
from course_utils.checks.running.run import plain
from course_utils.checks.task import Task

AT_LEAST = 4  # finite numbers, in wrong results, that a relation has to account for
FACTORS = {  # what a correct number is often multiplied by, and why
    -1: " The sign is wrong: there is one minus sign too many, or one is missing.",
    log10(e): " That is the logarithm to base 10, `log10`, instead of the natural one, `log`.",
    log2(e): " That is the logarithm to base 2, `log2`, instead of the natural one, `log`.",
}
DEFAULTS = (0, 0.5, 1, 2, 3, 5, 10, -1)
TOGETHER = "Two mistakes together would give exactly what you return."  # others might, too, so it does not say that they were made
PARTS_AT_MOST = 1000  # of a value
STEPS_AT_MOST = 20_000  # computed for pairs of changes: a limit in steps, not seconds, so that the report depends on the answer alone
# The `shapes` of the Value of one True or False, which two changes often give by chance.
A_TRUTH_VALUE = ["one", (torch.Size(()), True)]


@dataclass(frozen=True, eq=False)
class Baseline:
    """The computation that a relation starts from. `compute(args)` returns its value; `exact`: from float64 arguments.

    `kind` is "truth", "mistake", "changed", "stopped" or "two"; `text` says what is wrong.
    """

    kind: str
    compute: Callable
    text: str = ""
    exact: bool = True
    default: tuple = ()  # (place of an argument, its value where a case leaves it out)


class Evaluator:
    """Evaluates baselines on a task's cases, each once. A value is stored as its structure and its tensors."""

    def __init__(self, task: Task, cases: Sequence[Case], truth: Sequence[Outcome]) -> None:
        oracle = task.oracle_function
        self.task, self.cases, self.args = task, cases, [_with_defaults(oracle, case.args) for case in cases]
        self.truth = Baseline("truth", lambda args: oracle(*args))
        self._kept = {(self.truth, place): _value_of(outcome) for place, outcome in enumerate(truth)}

    @cached_property
    def _example(self):
        """The arguments of the largest ordinary case; one that is None there is taken from another case."""
        rows = [args for args, case in zip(self.args, self.cases, strict=True) if not case.edge and not case.raises]
        return tuple(next((arg for arg in column[::-1] if arg is not None), None) for column in zip(*rows, strict=True))

    @cached_property
    def _argument_changes(self):
        return list(of_arguments(self.task, self._example, self.discrete))

    @cached_property
    def _step_changes(self):
        return list(of_steps(self.task, _as_given(self._example), self.discrete)) if self.task.steps_function else []

    @cached_property
    def largest(self) -> int:
        """The place of the largest ordinary case."""
        return max(place for place, case in enumerate(self.cases) if not case.edge and not case.raises)

    @cached_property
    def discrete(self) -> bool:
        """Whether the right results are truth values or whole numbers."""
        value = self.at(self.truth, self.largest)
        return value is not None and not any(part.is_floating_point() for part in value.parts)

    def _variant(self, changes, stop=""):
        """Return the reference computation with some steps changed, as a function of args."""
        return partial(_run_trace, self.task.steps_function, changes, stop=stop)

    @cached_property
    def of_arguments(self) -> list[Baseline]:
        """The right answer for altered arguments."""
        right = self._variant({}) if self.task.steps_function else self.truth.compute
        return [
            Baseline("changed", lambda args, change=change: right(change(args)), text)
            for text, change, *_ in self._argument_changes
        ]

    @cached_property
    def of_steps(self) -> list[Baseline]:
        """The reference computation with one step changed."""
        return [
            Baseline("changed", self._variant({change.step: change.function}), change.text)
            for change in self._step_changes
        ]

    @cached_property
    def of_step_results(self) -> list[Baseline]:
        """The part of `of_steps` that changes only the value of a step."""
        return [
            baseline for baseline, change in zip(self.of_steps, self._step_changes, strict=True) if change.of_result
        ]

    @cached_property
    def stopped(self) -> list[Baseline]:
        """The reference computation, stopped after a step."""
        steps = list(dict.fromkeys(change.step for change in self._step_changes))[:-1]  # the last one is the answer
        return [Baseline("stopped", self._variant({}, stop=step), step) for step in steps]

    @cached_property
    def of_defaults(self) -> list[Baseline]:
        """The right answer with a different default for a number that a case leaves out."""
        found = []
        for place, parameter in enumerate(signature(self.task.oracle_function).parameters.values()):
            if isinstance(parameter.default, (int, float)):
                for value in DEFAULTS:
                    text = f"with {value:g} as the default of {parameter.name}"
                    found.append(Baseline("changed", self.truth.compute, text, default=(place, value)))
        return found

    @cached_property
    def mistakes(self) -> list[Baseline]:
        """The course's named mistakes that show on ordinary inputs; an instructor's own may run in the sandbox alone."""
        found = [
            Baseline("mistake", lambda args, f=m.function: f(*args), m.sentence, exact=False)
            for m in self.task.mistakes
            if not m.source
        ]
        ordinary = [place for place, case in enumerate(self.cases) if not case.edge and not case.raises]
        return [
            baseline
            for baseline in found
            if not all(_values_agree(self.at(baseline, i), self.at(self.truth, i)) for i in ordinary)
        ]

    @cached_property
    def pairs(self) -> list[Baseline]:
        """Two changes at once, as many as STEPS_AT_MOST allows: no others are made."""
        return list(islice(self._pairs(), STEPS_AT_MOST // self._step_count))

    def _pairs(self):
        """Yield two named mistakes at once, two frequent changes of steps, or a named mistake on altered arguments."""
        shown = {baseline.text for baseline in self.mistakes}
        for a, b in combinations([m for m in self.task.mistakes if m.sentence in shown], 2):
            if both := self.task.both(a, b):
                text = f"The first: “{a.sentence}” The second: “{b.sentence}”"
                yield Baseline("two", lambda args, both=both: both(*args), text, exact=False)
        often = [change for change in self._step_changes if change.often]
        for a, b in combinations(often, 2):
            if a.step != b.step:
                both = self._variant({a.step: a.function, b.step: b.function})
                yield Baseline("two", both, f"The right computation gives it {a.text}, and {b.text}.")
        for mistake in self.mistakes:
            for text, change, *_ in (change for change in self._argument_changes if change.often):
                both = lambda args, mistake=mistake, change=change: mistake.compute(change(args))  # noqa: E731
                sentence = f"The first: “{mistake.text}” The second: you compute it {text}."
                yield Baseline("two", both, sentence, exact=False)

    @cached_property
    def _step_count(self):
        """The number of steps of the reference computation on the example, counting each iteration of a loop."""
        if not self.task.steps_function:
            return 1
        return sum(1 for _ in trace_steps(self.task.steps_function, _as_given(self._example)))

    def at(self, baseline: Baseline, place: int) -> "Value | None":
        """Return the value of a baseline in a case, or None if it cannot be compared."""
        if (baseline, place) not in self._kept:
            self._kept[baseline, place] = self.compute(baseline, place)
        return self._kept[baseline, place]

    def compute(self, baseline: Baseline, place: int) -> "Value | None":
        """Compute the value of a baseline in one case."""
        args = list(self.args[place])
        if baseline.default and len(self.cases[place].args) <= baseline.default[0]:
            args[baseline.default[0]] = baseline.default[1]
        case = replace(self.cases[place], args=tuple(args))
        args = in_precision(case, torch.float64).args if baseline.exact else case.args
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # a mistake may get arguments that it was not written for
                value = plain(baseline.compute(_as_given(args)))
                read = self.task.canonical_function
                return _value(read(self.cases[place], value) if read else value)
        except Exception:  # an altered argument or step may raise anything
            return FAILED


_evaluators = WeakKeyDictionary()  # by Expected: later answers reuse what has been computed


def evaluator_of(expected: Expected) -> Evaluator:
    """Return the Evaluator for the cases of an `Expected`."""
    if expected not in _evaluators:
        _evaluators[expected] = Evaluator(expected.task, expected.cases, expected.truth)
    return _evaluators[expected]


def _as_given(args):
    """Return copies of arguments, as an answer gets them."""

    def copy(leaf):
        if isinstance(leaf, Stream):
            return leaf.function()
        return leaf.clone() if isinstance(leaf, torch.Tensor) else leaf

    return trees.map_leaves(copy, args)


def _run_trace(steps, changes, args, stop=""):
    """Run the reference computation with some steps changed; pass the arguments to changes that need them."""
    for change in changes.values():
        if isinstance(change, NeedsArguments):
            change.args = args
    return run_trace(steps, args, changes, stop)


def _with_defaults(function, args):
    """Return the arguments, with the defaults of those that a case leaves out."""
    defaults = [parameter.default for parameter in signature(function).parameters.values()]
    return (*args, *defaults[len(args) :])


class Value:
    """A value as it is compared: its structure and its tensors. Their `shapes` and `first` number are compared first."""

    def __init__(self, structure: str | int | tuple, parts: list[torch.Tensor]) -> None:
        self.structure, self.parts = structure, parts
        self.shapes = [structure, *((part.shape, part.dtype == torch.bool) for part in parts)]
        self.first = next((float(part.flatten()[0]) for part in parts if part.numel() and not part.is_complex()), 0.0)

    def agrees_with(self, other: "Value | None") -> bool:
        """Return whether another value has the same structure and, up to rounding, the same numbers."""
        if other is None or self.shapes != other.shapes or abs(self.first - other.first) > 1e-2 * (1 + abs(self.first)):
            return False
        return all(map(_tensors_agree, self.parts, other.parts))


FAILED = Value("failed", [])  # where an exception was raised


def _value_of(outcome):
    """Return the Value of an outcome; None where it cannot be compared."""
    if outcome.status != "value":
        return FAILED if outcome.status == "error" else None
    return _value(outcome.value)


def _value(value):
    """Return the Value of a tensor, a number or up to PARTS_AT_MOST of them; None for anything else."""
    if isinstance(value, (dict, list, tuple)) and len(value) > PARTS_AT_MOST:
        return None
    if isinstance(value, (torch.Tensor, bool, int, float)):
        structure, parts = "one", [value]
    elif isinstance(value, dict) and all(type(number) is int for number in value.values()):
        keys = sorted(value, key=repr)
        structure, parts = ("dict", *keys), [[value[key] for key in keys]]
    elif isinstance(value, list) and value and all(type(number) is int for number in value):
        structure, parts = "list", [value]
    elif isinstance(value, (tuple, list)) and all(isinstance(part, (torch.Tensor, int, float)) for part in value):
        structure, parts = len(value), value
    else:
        return None
    try:
        return Value(structure, [part if isinstance(part, torch.Tensor) else torch.tensor(part) for part in parts])
    except (OverflowError, RuntimeError, ValueError):  # whole numbers with more than 64 binary digits
        return None


def _tensors_agree(a, b):
    """Return whether two tensors have the same shape and kind and agree up to rounding."""
    if a.shape != b.shape or (a.dtype == torch.bool) != (b.dtype == torch.bool) or a.is_complex() or b.is_complex():
        return False
    return bool(close(a, b).all())


def _values_agree(a, b):
    return a is not None and a.agrees_with(b)


@dataclass(frozen=True)
class Hypothesis:
    """A baseline and a change of its wrong parts: function(tensor, case) returns a tensor.

    `text` says what the answer returns, with {} for the baseline's result; `evidence` is a further sentence. `often`: it may be reported on top
    of a named mistake.
    """

    baseline: Baseline
    text: str = ""
    function: Callable | None = None
    wrong: tuple = ()
    evidence: str = ""
    often: bool = False

    def at(self, evaluator: Evaluator, place: int) -> Value | None:
        """Return the predicted value for a case, or None if there is no prediction."""
        value = evaluator.at(self.baseline, place)
        if value is None or self.function is None or value is FAILED:
            return value
        try:
            case = replace(evaluator.cases[place], args=evaluator.args[place])
            changed = [self.function(p, case) if i in self.wrong else p for i, p in enumerate(value.parts)]
            return Value(value.structure, changed)
        except Exception:  # a change may not fit the tensor or the arguments
            return FAILED


def explain(expected: Expected, outcomes: Sequence[Outcome], pairs: bool = True) -> str | None:
    """Return the sentence that explains an incorrect answer, or None.

    Args:
        expected: the judge's `Expected`, with the cases and what is known about them.
        outcomes: the answer's, one for each case.
        pairs: whether to look for two changes at once, too, which takes longer than everything else.
    """
    hypothesis, evaluator = find(expected, outcomes, pairs), evaluator_of(expected)
    if hypothesis is None:
        return None
    received = [
        (place, _value_of(outcome)) for place, outcome in enumerate(outcomes) if not expected.cases[place].raises
    ]
    return _sentence(
        hypothesis,
        evaluator,
        [evaluator.cases[i] for i, value in received if not _values_agree(hypothesis.at(evaluator, i), value)],
    )


def find(expected: Expected, outcomes: Sequence[Outcome], pairs: bool = True) -> Hypothesis | None:
    """Return the one Hypothesis that holds on all ordinary inputs, or None."""
    evaluator, cases = evaluator_of(expected), expected.cases
    ordinary = [place for place, case in enumerate(cases) if not case.edge and not case.raises]
    if evaluator.task.candidates or len(outcomes) < len(cases):
        return None
    received = [_value_of(outcome) for outcome in outcomes]
    if any(received[place] is None or evaluator.at(evaluator.truth, place) is None for place in ordinary):
        return None
    ordinary.sort(key=lambda place: _count_finite(received[place]))
    off = [place for place in ordinary if not _values_agree(evaluator.at(evaluator.truth, place), received[place])]
    seen = [place for place in off if received[place] is not FAILED]
    if sum(_count_finite(received[place]) for place in seen) < AT_LEAST:
        return None
    probe = next((place for place in seen if _count_finite(received[place]) >= AT_LEAST), seen[-1])
    pairs = pairs and any(evaluator.at(evaluator.truth, place).shapes != A_TRUTH_VALUE for place in ordinary)
    # Where an answer fails for most inputs, one of hundreds of pairs fits its few values by chance.
    pairs = pairs and 2 * len(seen) >= len(off)
    kinds = ("stopped", "results", "of_defaults", "of_arguments", "of_steps", "mistakes", *(["pairs"] if pairs else []))
    for where in kinds:
        found = _guesses(where, evaluator, probe, off, received)
        fits = [hypothesis for hypothesis in found if _fits_all(hypothesis, evaluator, ordinary, received)]
        if fits and where == "of_arguments":  # doubled scores do not show whether the query was doubled
            further_on = _fitting_hypotheses(evaluator, evaluator.of_step_results, probe, received)
            fits = [
                hypothesis for hypothesis in further_on if _fits_all(hypothesis, evaluator, ordinary, received)
            ] or fits
        if fits:
            return fits[0] if _agree_on_fresh_inputs(fits, expected) else None
    return None


def _fits_all(hypothesis, evaluator, places, received):
    return all(_values_agree(hypothesis.at(evaluator, place), received[place]) for place in places)


def _count_finite(value):
    """Count the finite numbers in a value: NaN is no evidence, because any computation that leads to NaN would explain it."""
    return sum(int(part.isfinite().sum()) for part in value.parts)


def _agree_on_fresh_inputs(fits, expected):
    """Return whether the relations that fit amount to the same: whether they agree on fresh inputs."""
    if len(fits) == 1:
        return True
    fresh = evaluator_of(expected.fresh())
    first, *others = (
        [hypothesis.at(fresh, place) for place, case in enumerate(fresh.cases) if not case.edge] for hypothesis in fits
    )
    return all(_values_agree(a, b) for other in others for a, b in zip(first, other, strict=True))


def _guesses(where, evaluator, probe, off, received):
    """Yield the hypotheses of one kind that fit one case, the probe; the others are checked afterwards."""
    if where == "results":
        yield from _changes_of(evaluator, evaluator.truth, probe, off, received)
    elif where == "mistakes":
        for baseline in evaluator.mistakes:
            # A change that is rarely made may fit by chance what is one mistake of another kind.
            value = evaluator.at(baseline, probe)
            if value and value.shapes != received[probe].shapes:  # its sentence is on a shape that nobody returned
                continue
            yield from (each for each in _changes_of(evaluator, baseline, probe, off, received) if each.often)
    else:
        yield from _fitting_hypotheses(evaluator, getattr(evaluator, where), probe, received)


def _fitting_hypotheses(evaluator, baselines, probe, received):
    return [
        Hypothesis(baseline) for baseline in baselines if _values_agree(evaluator.at(baseline, probe), received[probe])
    ]


def _changes_of(evaluator, baseline, probe, off, received):
    """Yield the hypotheses with a change on top of a baseline that fit the probe."""
    value, answer = evaluator.at(baseline, probe), received[probe]
    if value is None or value.structure != answer.structure:
        return
    wrong = tuple(i for i, pair in enumerate(zip(value.parts, answer.parts, strict=True)) if not _tensors_agree(*pair))
    if not wrong:
        return
    yield from _by_a_number(evaluator, baseline, wrong, off, received)
    if len({value.parts[i].dim() for i in wrong}) > 1:
        return
    tensor, target = value.parts[wrong[0]], answer.parts[wrong[0]]
    case = replace(evaluator.cases[probe], args=evaluator.args[probe])
    letters = evaluator.task.results[wrong[0]].partition(" ")[2] if wrong[0] < len(evaluator.task.results) else ""
    example = evaluator.at(baseline, evaluator.largest)  # with enough numbers to tell their kind
    example = example.parts[wrong[0]] if example and example.structure == value.structure else tensor
    for change in of_results(letters, example, evaluator.task.names, case.args):
        try:
            fits = _tensors_agree(change.function(tensor, case), target)
        except Exception:  # a softmax of truth values, a missing axis
            continue
        if fits:
            yield Hypothesis(baseline, change.text, change.function, wrong, often=change.often)


def _by_a_number(evaluator, baseline, wrong, off, received):
    """Yield the hypotheses that wrong parts are off by a factor or a constant, which may depend on a size."""
    off = [place for place in off if received[place] is not FAILED]
    for text, why_of, measure, apply in (
        ("{{}} times {}", FACTORS, lambda b, r: r / b, lambda b, n: b * n),
        ("{{}} plus {} everywhere", {}, lambda b, r: r - b, lambda b, n: b + n),
    ):
        numbers = [_number(evaluator.at(baseline, place), received[place], wrong, measure, apply) for place in off]
        if None in numbers or not numbers:
            continue
        sizes = [sizes_of(evaluator.task, evaluator.args[place]) for place in off]
        if all(isclose(number, numbers[0], rel_tol=1e-4) for number in numbers):
            number = numbers[0]
            words = text.format(_number_text(number)).replace("plus -", "minus ")
            evidence = next((why for factor, why in why_of.items() if isclose(number, factor, rel_tol=1e-4)), "")
            often = bool(why_of) and any(isclose(number, factor, rel_tol=1e-4) for factor in (-1, 2, 0.5))
            yield Hypothesis(
                baseline, words, lambda t, case, n=number, apply=apply: apply(t, n), wrong, evidence, often
            )
            continue
        found = formulas(sizes, numbers)
        if len(found) == 1:
            formula, letter, of_sizes = found[0]
            function = lambda t, case, n=of_sizes, apply=apply: apply(t, n(sizes_of(evaluator.task, case.args)))  # noqa: E731
            words = text.format(formula).replace("plus -", "minus ")
            yield Hypothesis(baseline, words, function, wrong, _evidence(letter, sizes, numbers))


def _number_text(number):
    """Return a number with four significant digits, or with as many as it takes not to read as 1 if it is not 1."""
    number = round(number) if isclose(number, round(number), rel_tol=1e-6) else number
    return next(text for digits in range(4, 18) if (text := f"{number:.{digits}g}") != "1" or number == 1)


def _number(baseline, answer, wrong, measure, apply):
    """Return the one number by which all wrong parts differ from the baseline's; None if there is none."""
    if baseline is None or baseline.structure != answer.structure:
        return None
    pairs = [(baseline.parts[i], answer.parts[i]) for i in wrong if baseline.parts[i].shape == answer.parts[i].shape]
    pairs = [(b.double(), r.double()) for b, r in pairs if not r.is_complex()]
    if len(pairs) < len(wrong) or any(not b.numel() or not b.isfinite().all() for b, _ in pairs):
        return None
    b, r = pairs[0]
    place = b.abs().argmax()
    number = measure(b.flatten()[place], r.flatten()[place]).item()
    return (
        number if number and isfinite(number) and all(_tensors_agree(apply(b, number), r) for b, r in pairs) else None
    )


def _evidence(letter, sizes, numbers):
    """Return the evidence for a formula: the numbers at two different sizes."""
    a, b = 0, next(i for i, each in enumerate(sizes) if each[letter] != sizes[0][letter])
    return f" With {letter} = {sizes[a][letter]:g} the number is {numbers[a]:.4g}, with {letter} = {sizes[b][letter]:g} it is {numbers[b]:.4g}."


def _sentence(hypothesis, evaluator, exceptions):
    """Return the sentence on a relation; it does not hold in the cases `exceptions`."""
    baseline, results = hypothesis.baseline, evaluator.task.results
    where = "On every ordinary input" if exceptions else "In every case"
    names = [results[i].partition(" ")[0] for i in hypothesis.wrong if i < len(results)]
    listed = " and ".join(names)
    if len(results) > 1 and names:  # some results may be right
        returned, right = (
            f"your {listed} {'are' if len(names) > 1 else 'is'}",
            f"the right {listed if len(names) == 1 else 'ones'}",
        )
    else:
        returned, right = "you return", f"the right {listed}"
    if baseline.kind == "stopped":
        return f"{where}, {returned} {baseline.text}: the later steps are missing."
    if baseline.kind == "changed":
        elsewhere = next((case.name for case in exceptions if not case.hazard), None)
        rest = f"For “{elsewhere}” you return something else again." if elsewhere else "Everything else is right."
        return f"{where}, you return what the right computation gives {baseline.text}. {rest}"
    if baseline.kind == "two":
        return f"{TOGETHER} {baseline.text}"
    if baseline.kind == "mistake":
        return f"{TOGETHER} The first: “{baseline.text}” The second: {returned} {hypothesis.text.format('that wrong result')}.{hypothesis.evidence}"
    return f"{where}, {returned} {hypothesis.text.format(right)}.{hypothesis.evidence}"
