"""Judges outcomes: finds what is wrong first, names the mistake, writes the report. Never calls the answer.

Oracle and named mistakes are run here, on the judge's side, through the same `run` as the answer, so that their
values, gradients and side effects are compared like with like.
"""

from dataclasses import replace

import torch

from course_utils.base import trees
from course_utils.checks.compare import KINDS, Finding, close, describe, difference
from course_utils.checks.report import Report
from course_utils.checks.running.contract import (
    STATUSES,
    Failure,
    Foreign,
    Outcome,
    float_positions,
    holds_float64,
    in_precision,
)
from course_utils.checks.running.run import marked, run

# What PyTorch's commonest messages mean for a beginner.
IN_OTHER_WORDS = {
    "torch.return_types": "`max` and `min` along an axis return values and places: take `.values`.",
    "must match the size of tensor": "two axes that meet have different lengths: print both shapes before this line.",
    "shapes cannot be multiplied": "in a matrix product the last axis on the left meets the second last on the right.",
    "size for first two dimensions of batch2": "in a matrix product the last axis on the left meets the second last on the right.",
    "doesn't require grad": "somewhere on the way `.detach()`, `.item()` or torch.tensor(…) has cut the gradient.",
}


def refuse(task, kind, shown):
    """Return the Report on what cannot be run, from what `kind_of_answer` tells of it."""
    if kind == "empty":
        return Report(task, "not attempted")
    if kind == "class":
        sentence = f"check was given the class {shown}; it wants an instance: {shown}()."
    else:
        came = f"an object of type {shown.name}" if isinstance(shown, Foreign) else describe(shown)
        sentence = f"check was given {came}; it wants the function itself, without calling it: check(…, my_function)."
    return Report(task, "failed", finding=Finding("type", sentence))


class Expected:
    """What the truth and the named mistakes give on a task's cases, run once: for many answers on the same cases."""

    def __init__(self, task, cases):
        self.truth = _truth(task, cases)
        self.cases, self._task, self._mistakes = cases, task, {}

    def run_all(self):
        """Run every named mistake now, not when it is needed."""
        for mistake in self._task.mistakes:
            self.mistake(mistake, None)

    def mistake(self, mistake, first):
        """Return the outcomes of a named mistake on all cases; None where it differs from `first`, a (place, outcome), at once."""
        if mistake.name not in self._mistakes:
            if first and not alike_value(first[1], _run(self._task, mistake.function, [self.cases[first[0]]])[0]):
                return None
            self._mistakes[mistake.name] = _run(self._task, mistake.function, self.cases)
        return self._mistakes[mistake.name]


def judge(task, cases, outcomes, expected=None):
    """Return a Report on the outcomes that an answer gave for a task's cases.

    Args:
        task: the Task that the cases were made from.
        cases: the Cases the answer was run on.
        outcomes: what `run` gave: as many as cases, or fewer when it was stopped.
        expected: `Expected(task, cases)`, to be used again for further answers.
    """
    if not _readable(cases, outcomes):
        unreadable = Finding("error", "What came back from running your function cannot be read as an answer.")
        return Report(task, "error", finding=unreadable)
    if not outcomes or outcomes[0].status == "not implemented":
        return Report(task, "not attempted")
    expected = expected or Expected(task, cases)
    truth = expected.truth
    if len(outcomes) < len(cases) and outcomes[-1].status == "value":
        outcomes = [*outcomes, Outcome("stopped")]
    triples = zip(cases, outcomes, truth, strict=False)
    found = [(i, _first_wrong(task, *triple)) for i, triple in enumerate(triples)]
    found = [(i, finding) for i, finding in found if finding]
    if not found:
        return Report(task, "passed", remark=_remark(cases, outcomes))
    first, finding = min(found, key=lambda item: _urgency(cases[item[0]], item[1]))
    case, outcome = cases[first], outcomes[first]
    mistake = _diagnose(task, cases, outcomes, expected, first)
    report = Report(
        task,
        "error" if outcome.status != "value" else "failed",
        finding=finding,
        case=case,
        failure=outcome.failure or outcome.gradient_failure if finding.kind in ("error", "gradient") else None,
        printed=outcome.printed,
        mistake=mistake,
        properties=_broken_properties(task, cases, outcomes)
        if finding.kind in ("finite", "value") and not mistake
        else (),
    )
    beside = all(finding.kind in ("gradient", "side effect") for _, finding in found)
    complete = len(outcomes) == len(cases)
    report.values_right = complete and beside
    report.only_edges = complete and all(cases[i].edge for i, _ in found)
    return report


def _readable(cases, outcomes):
    """Return whether outcomes, which may come from a process that the learner's code has had to itself, fit the cases."""
    if not isinstance(outcomes, (list, tuple)) or len(outcomes) > len(cases):
        return False
    return all(map(_fits, cases, outcomes))


def _fits(case, outcome):
    if not isinstance(outcome, Outcome) or outcome.status not in STATUSES or not isinstance(outcome.printed, str):
        return False
    if not isinstance(outcome.in_float32, bool):
        return False
    if outcome.status == "error":
        return _is_failure(outcome.failure)
    if outcome.status != "value":
        return True
    if not (outcome.gradient_failure is None or _is_failure(outcome.gradient_failure)):
        return False
    places = range(len(case.args))
    if not isinstance(outcome.changed, (list, tuple)) or any(place not in places for place in outcome.changed):
        return False
    return _gradients_fit(case, outcome.gradients)


def _is_failure(failure):
    return isinstance(failure, Failure) and isinstance(failure.type, str) and isinstance(failure.message, str)


def _gradients_fit(case, gradients):
    if not case.gradient:
        return gradients is None
    inputs = [case.args[i] for i in float_positions(case.args)]
    if not isinstance(gradients, (list, tuple)) or len(gradients) != len(inputs):
        return False
    return all(
        g is None or isinstance(g, torch.Tensor) and g.shape == x.shape for g, x in zip(gradients, inputs, strict=True)
    )


def _run(task, function, cases):
    """Run a named mistake, as an answer is run."""
    return run(function, cases, 60, lambda key: marked(task.candidate(key)))


def _truth(task, cases):
    outcomes = run(task.oracle_function, [in_precision(case, torch.float64) for case in cases], 60, task.candidate)
    for case, outcome in zip(cases, outcomes, strict=True):
        if outcome.status != "value":
            raise RuntimeError(f"the oracle of {task.id} fails on {case.name}: {outcome.failure or outcome.status}")
    return outcomes


def _urgency(case, finding):
    """Ordinary inputs before edges, then the smallest input, then errors first and the order of KINDS."""
    kind = -1 if finding.kind == "error" else KINDS.index(finding.kind)
    size = sum(leaf.numel() if isinstance(leaf, torch.Tensor) else 1 for leaf in trees.leaves(case.args))
    return case.edge, size, kind


def _first_wrong(task, case, outcome, right):
    """Return the first thing wrong with one outcome as a Finding, or None."""
    if outcome.status != "value":
        return Finding("error", _stopped(outcome))
    result = task.results if len(task.results) > 1 else task.results[0]
    finding = difference(right.value, outcome.value, result)
    if finding:
        return finding
    if not outcome.unstable:
        broken_by_altering = outcome.changed and outcome.gradient_failure  # then the gradient's failure is a symptom
        return (not broken_by_altering and _gradient_wrong(task, case, outcome, right)) or _side_effect(task, outcome)
    return Finding(
        "value", "A second call with the same input gives another value: something random, or state kept between calls."
    )


def _stopped(outcome):
    if outcome.status == "timeout":
        return (
            f"Your function was stopped after {outcome.seconds or 0:g} seconds. Is there a loop that never ends? "
            "If it only needs longer, give the check more time: check(…, seconds=60)."
        )
    if outcome.status == "memory":
        return (
            "Your function asked for more memory than there is. Print the shapes: one tensor is far larger than needed."
        )
    if outcome.status == "stopped":
        return "The run of your function ended before this input. Does it end the whole process?"
    if outcome.status == "not implemented":
        return "For this input your function still raises NotImplementedError."
    if outcome.failure.by_candidate:
        return (
            f"The candidate raised {outcome.failure.type}, and your test passed it on. "
            "A candidate that raises is wrong: catch the exception and return False."
        )
    advice = next((advice for part, advice in IN_OTHER_WORDS.items() if part in outcome.failure.message), "")
    return f"Your function stops with {outcome.failure.type}: {outcome.failure.message}{advice and ' — '}{advice}"


def _gradient_wrong(task, case, outcome, right):
    if outcome.gradients is None:
        return None
    if outcome.gradient_failure:
        if "modified by an inplace operation" in outcome.gradient_failure.message:
            return Finding(
                "gradient",
                "The values are right, but you write into a tensor whose old numbers PyTorch still needs for the gradient. "
                "Make a new tensor instead: masked_fill, torch.where, `a = a + b` in place of `a += b`.",
            )
        sentence = "The values are right, but your function fails when gradients are wanted: "
        return Finding("gradient", f"{sentence}{outcome.gradient_failure.type}: {outcome.gradient_failure.message}")
    for position, expected, received in zip(
        float_positions(case.args), right.gradients, outcome.gradients, strict=True
    ):
        name = task.arguments[position].partition(" ")[0]
        if expected is None or (received is None and not expected.any()):
            continue
        if received is None:
            return Finding(
                "gradient",
                f"The values are right, but no gradient reaches {name}: the way from {name} to your result is cut. "
                "`.item()`, `.detach()`, `.data`, numpy and torch.tensor(…) on tensors cut it.",
            )
        if not received.isfinite().all():
            return Finding(
                "gradient", f"The values are right, but the gradient of {name} is not finite.", expected, received
            )
        if not close(expected, received).all():
            return Finding("gradient", f"The values are right, but the gradient of {name} is not.", expected, received)
    return None


def _side_effect(task, outcome):
    if not outcome.changed:
        return None
    names = " and ".join(task.arguments[i].partition(" ")[0] for i in outcome.changed)
    return Finding(
        "side effect",
        f"The result is right, but your function alters its input {names}: whoever calls it finds other numbers there "
        "afterwards. Operations that end in an underscore, and assignments into an argument, do that.",
    )


def _remark(cases, outcomes):
    """Something worth saying about a right answer, or None."""
    for case, outcome in zip(cases, outcomes, strict=True):
        dtypes = {tensor.dtype for tensor in trees.tensors(outcome.value)}
        if holds_float64(case) and (outcome.in_float32 or torch.float32 in dtypes):
            return (
                "Right. A remark for later: numbers of the type float64 keep sixteen digits and those of float32 keep "
                "seven, and your function computes in float32 whatever comes in. A buffer made by "
                "`torch.zeros(…, dtype=x.dtype)`, or a mask turned by `.to(x.dtype)`, keeps all the digits."
            )
        if torch.float64 in dtypes and float_positions(case.args) and not holds_float64(case):
            return "Given float32 you return float64: right, but twice the memory, and it does not mix with float32 weights."
    return None


def _broken_properties(task, cases, outcomes):
    """Sentences on the properties that an unknown wrong answer breaks, from the smallest case that shows each."""
    sentences = []
    for broken in task.properties:
        for case, outcome in zip(cases, outcomes, strict=False):
            sentence = _try_property(broken, case, outcome)
            if sentence:
                sentences.append(sentence)
                break
    return tuple(sentences)


def _try_property(broken, case, outcome):
    if outcome.status != "value":
        return None
    try:
        return broken(case, outcome.value)
    except Exception:  # a property may rely on a type or shape that this wrong answer does not have
        return None


def _diagnose(task, cases, outcomes, expected, first):
    """Return the named mistake whose outcomes are the answer's, or None. Never a guess: several that fit are none.

    Three readings, strictest first: everything alike; the values alike in every case; the values alike in every
    ordinary case. In each, the mistake must differ from the truth in what is compared. `first` is the case that
    shows the answer wrong: an ordinary one rules out at once every mistake that does something else there.
    """
    shows = None if cases[first].edge else (first, outcomes[first])
    tried = [(m, expected.mistake(m, shows)) for m in task.mistakes]
    tried = [(m, theirs) for m, theirs in tried if theirs is not None]
    truth = expected.truth
    edges = [case.edge for case in cases]
    for alike, core in ((_alike, False), (alike_value, False), (alike_value, True)):
        keep = [i for i, edge in enumerate(edges) if not (core and edge)]

        def same(a, b, alike=alike, keep=keep):
            return all(alike(_at(a, i), _at(b, i)) for i in keep)

        fitting = [m for m, theirs in tried if same(outcomes, theirs) and not same(truth, theirs)]
        if fitting:
            return fitting[0] if len(fitting) == 1 else None
    return None


def _at(outcomes, i):
    return outcomes[i] if i < len(outcomes) else replace(outcomes[-1], status="stopped")


def _alike(a, b):
    """Return whether two outcomes agree in everything: status, value, gradients, altered inputs."""
    return (
        alike_value(a, b)
        and a.changed == b.changed
        and (a.gradient_failure is None) == (b.gradient_failure is None)
        and trees.alike(_alike_leaf, a.gradients, b.gradients)
        and a.unstable == b.unstable
        and _precision(a) == _precision(b)
    )


def _precision(outcome):
    return [t.dtype == torch.float64 for t in trees.tensors(outcome.value)]


def alike_value(a, b):
    """Return whether two outcomes agree in status and value."""
    return a.status == b.status and (a.status != "value" or trees.alike(_alike_leaf, a.value, b.value))


def _alike_leaf(a, b):
    if isinstance(a, torch.Tensor) and isinstance(b, torch.Tensor):
        same_kind = a.is_floating_point() == b.is_floating_point() and (a.dtype == torch.bool) == (
            b.dtype == torch.bool
        )
        return a.shape == b.shape and same_kind and bool(close(a, b).all())
    if isinstance(a, float) or isinstance(b, float):
        return (
            isinstance(a, (int, float, torch.Tensor))
            and isinstance(b, (int, float, torch.Tensor))
            and _numbers_alike(a, b)
        )
    return type(a) is type(b) and a == b


def _numbers_alike(a, b):
    try:
        a, b = torch.as_tensor(a, dtype=torch.float64), torch.as_tensor(b, dtype=torch.float64)
    except (OverflowError, RuntimeError):
        return False
    return a.shape == b.shape and bool(close(a, b).all())
