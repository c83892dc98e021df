"""Judges outcomes: finds what is wrong first, names the mistake, writes the report. Never calls the answer.

Oracle and named mistakes are run here, on the judge's side, through the same `run` as the answer, so that their
values, gradients and side effects are compared like with like.
"""

import re
from dataclasses import replace
from functools import cached_property

import torch

from course_utils.base import trees
from course_utils.base.errors import CourseError
from course_utils.checks import explain
from course_utils.checks.compare import KINDS, Finding, close, describe, difference, scale
from course_utils.checks.report import Report
from course_utils.checks.running.contract import (
    STATUSES,
    Failure,
    Foreign,
    Outcome,
    float_paths,
    holds_float64,
    in_precision,
    is_float,
)
from course_utils.checks.running.run import marked, run

# What PyTorch's commonest messages mean for a beginner.
IN_OTHER_WORDS = {
    "torch.return_types": "`max` and `min` along an axis return values and places: take `.values`.",
    "must match the size of tensor": "two axes that meet have different lengths: print both shapes before this line.",
    "shapes cannot be multiplied": "in a matrix product the last axis on the left must be as long as the second to last on the right.",
    "size for first two dimensions of batch2": "in a matrix product the last axis on the left must be as long as the second to last on the right.",
    "doesn't require grad": "somewhere on the way `.detach()`, `.item()` or torch.tensor(…) has cut the gradient.",
    "Boolean value of Tensor with more than one value": "`if`, `and`, `or` and `not` need a single truth value, and a tensor holds many. "
    "To ask whether there is a mask at all, write `mask is not None`; to choose number by number, use torch.where or masked_fill.",
}
BY_A_TENSOR = "Operations whose names end in an underscore do that, and so do assignments into an argument."
BY_A_LIST = (
    "A list's methods `sort`, `reverse`, `append`, `extend` and `pop` change the list itself, and so do assignments into it. "
    "`sorted(…)` and `list(…)` make a new list, which you may change."
)
TURNED = "`.T` reverses the order of all three axes of a tensor; `.mT` exchanges only the last two."
AGAIN = "A second call with the same input gives a different value: something in it is random, or it keeps state between calls."
OTHER_VERDICT = (
    "Your test gives different verdicts on one and the same candidate when it is called twice. Where its inputs are random, let them be the same each time "
    "(`torch.manual_seed(0)`, or a Generator with a seed). And leave room for rounding, which changes from input to input: allow differences of about 1e-5, as "
    "`torch.allclose(…, atol=1e-5)` does."
)
MAY_BE_ANYTHING = (
    "a wrong candidate may return anything, such as numbers of another shape, and it may raise an exception. Where that stops your test, the candidate is wrong: "
    "put the call and the comparison inside `try`, and return False on `except Exception`. If it also happens with a right candidate, your own line is to blame."
)
OTHER_MODE = (
    "Your module gives a different value in evaluation mode than in training mode. Here both should give the same."
)
NOT_AS_ASKED = (
    "NotAsAsked"  # the type of a failure whose message says all: `run` raises it for a module, `as_read` for a value
)
FRESH = 7919  # the seed of inputs on which relations that all fit are told apart
NEAR, PERTURBATIONS, ROUNDINGS = 1e-2, 8, 8  # see Expected.reach
LEAVES_MORE = 10  # times the right number of a value's parts, up to which its properties are looked at


def refuse(task, kind, shown):
    """Return the Report on what cannot be run, from what `kind_of_answer` tells of it."""
    if kind == "empty":
        return Report(task, "not attempted")
    if task.module:
        if kind == "callable" and shown:
            sentence = f"{shown} does not derive from nn.Module: begin it with `class {shown}(nn.Module):`."
            return Report(task, "failed", finding=Finding("type", sentence))
        came = {"callable": "a function", "module": f"an instance of {shown}"}.get(kind) or _told(shown)
        sentence = (
            f"check was given {came}; it wants the class itself, derived from nn.Module: check(…, {task.answer_name})."
        )
    elif kind == "class":
        sentence = f"check was given the class {shown}; it wants an instance: {shown}()."
    else:
        sentence = (
            f"check was given {_told(shown)}; it wants the function itself, without calling it: check(…, my_function)."
        )
    return Report(task, "failed", finding=Finding("type", sentence))


def _told(shown):
    return f"an object of type {shown.name}" if isinstance(shown, Foreign) else describe(shown)


class Expected:
    """What the truth and the named mistakes give on a task's cases, run once: for many answers on the same cases."""

    def __init__(self, task, cases):
        self.truth = _truth(task, cases)
        self.cases, self._task, self._mistakes, self._reaches = cases, task, {}, {}

    @cached_property
    def known(self):
        """What `explain` knows of these cases."""
        return explain.Known(self._task, self.cases, self.truth)

    def fresh(self):
        """Return the same for other inputs, which are always the same ones."""
        if FRESH not in self._reaches:
            self._reaches[FRESH] = Expected(self._task, self._task.make_cases(FRESH))
        return self._reaches[FRESH]

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

    def reach(self, place):
        """Return (value, gradients): how far off a right answer to a case may be because float32 keeps 24 binary digits.

        Every number of the input is altered by its last digit, in a few ways, equal numbers alike; what the truth then
        moves by is what rounding an input once does, and a computation rounds several times.
        """
        if place not in self._reaches:
            right, moved = self.truth[place], []
            for turn in range(PERTURBATIONS):
                args = trees.map_leaves(lambda leaf, turn=turn: _last_digit(leaf, turn), self.cases[place].args)
                moved += run_oracle(self._task, [replace(self.cases[place], args=args)])
            single = [in_precision(self.cases[place], torch.float32)]  # and how far off the truth itself is in float32
            moved += [
                came
                for came in run(self._task.oracle_function, single, 60, self._task.candidate)
                if came.status == "value"
            ]
            self._reaches[place] = (
                _farthest(right.value, [outcome.value for outcome in moved]),
                _farthest(right.gradients, [outcome.gradients for outcome in moved]),
            )
        return self._reaches[place]


def _last_digit(leaf, turn):
    if not is_float(leaf) or bool(((leaf == 0) | (leaf == 1)).all()):  # labels and masks are exact, not rounded
        return leaf
    exact = leaf.double()
    return exact * (1 + 2**-23 * (exact * 12345.678 + turn).sin().sign())


def _farthest(right, others):
    """Return a tree like `right` of how far its numbers lie from the others' at most; 0 for what is no tensor of numbers."""
    if isinstance(right, (list, tuple)):
        alike = all(isinstance(other, (list, tuple)) and len(other) == len(right) for other in others)
        return [_farthest(r, [other[i] for other in others]) for i, r in enumerate(right)] if alike else None
    if not is_float(right) or not all(is_float(other) and other.shape == right.shape for other in others):
        return None
    off = max((other - right).abs().nan_to_num(0, 0, 0).max().item() for other in others) if right.numel() else 0
    return torch.full_like(right, min(ROUNDINGS * off, NEAR * scale(right)))


def judge(task, cases, outcomes, expected=None, explaining=True):
    """Return a Report on the outcomes that an answer gave for a task's cases.

    Args:
        task: the Task that the cases were made from.
        cases: the Cases the answer was run on.
        outcomes: what `run` gave: as many as cases, or fewer when it was stopped.
        expected: `Expected(task, cases)`, to be used again for further answers.
        explaining: whether to look for a relation, where no named mistake fits; else `explain_further` may do that later.
    """
    if not _readable(cases, outcomes):
        unreadable = Finding("error", "What came back from running your function cannot be read as an answer.")
        return Report(task, "error", finding=unreadable)
    if not outcomes or outcomes[0].status == "not implemented":
        return Report(task, "not attempted")
    expected = expected or Expected(task, cases)
    outcomes = [as_read(task, case, outcome) for case, outcome in zip(cases, outcomes, strict=False)]
    if len(outcomes) < len(cases) and outcomes[-1].status == "value":
        outcomes = [*outcomes, Outcome("stopped")]
    found = [(i, first_wrong(task, expected, i, outcome)) for i, outcome in enumerate(outcomes)]
    found = [(i, finding) for i, finding in found if finding]
    changeable = [(i, finding) for i, finding in found if finding.sentence in (AGAIN, OTHER_VERDICT, OTHER_MODE)]
    if not found:
        borrowed = tuple(name for name in outcomes[0].called if not task.is_offered(name))
        return Report(task, "passed", remark=_remark(task, cases, outcomes, borrowed), borrowed=borrowed)
    first, finding = min(changeable or found, key=lambda item: _urgency(cases[item[0]], item[1]))
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
        properties=_broken_properties(task, expected, outcomes)
        if finding.kind in ("finite", "value") and not mistake
        else (),
    )
    beside = all(finding.kind in ("gradient", "side effect") for _, finding in found)
    complete = len(outcomes) == len(cases)
    report.values_right = complete and beside
    report.only_edges = complete and all(cases[i].edge for i, _ in found)
    if explaining:
        explain_further(report, expected, outcomes)
    return report


def explain_further(report, expected, outcomes):
    """Tell in the Report the relation of a wrong value to the right one, where it has no name and there is such a relation.

    Runs the course's own code alone, on the task's own cases: what an answer returned is only compared.
    """
    wrong_value = report.kind in ("shape", "finite", "value") and not report.case.edge and report.shows_values
    relation = explain.explain(expected, outcomes) if wrong_value and not report.mistake else None
    if relation:
        report.tell(relation)


def _readable(cases, outcomes):
    """Return whether outcomes, which may come from a process that the learner's code has had to itself, fit the cases."""
    if not isinstance(outcomes, (list, tuple)) or len(outcomes) > len(cases):
        return False
    return all(map(_fits, cases, outcomes))


def _fits(case, outcome):
    if not isinstance(outcome, Outcome) or outcome.status not in STATUSES or not isinstance(outcome.printed, str):
        return False
    if not isinstance(outcome.called, tuple) or not all(isinstance(name, str) for name in outcome.called):
        return False
    if not isinstance(outcome.in_float32, bool) or not isinstance(outcome.mode_matters, bool):
        return False
    if outcome.status == "error":
        return _is_failure(outcome.failure)
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


def _run(task, function, cases):
    """Run a named mistake, as an answer is run."""
    outcomes = run(function, cases, 60, lambda key: marked(task.candidate(key)))
    return [as_read(task, case, outcome) for case, outcome in zip(cases, outcomes, strict=False)]


def as_read(task, case, outcome):
    """Return an outcome with what its value comes to in place of the value, for tasks to which many values are right."""
    if not task.reading_function or outcome.status != "value":
        return outcome
    try:
        return replace(outcome, value=task.reading_function(case, outcome.value))
    except CourseError as problem:
        sentence = str(problem)
    except Exception:  # whatever a reading meets in a value that it was not made for
        sentence = f"What your function returned cannot be read: {describe(outcome.value)}."
    return replace(outcome, status="error", value=None, failure=Failure(NOT_AS_ASKED, sentence))


def run_oracle(task, cases):
    """Return the outcomes of the oracle, which computes in float64."""
    return run(task.oracle_function, [in_precision(case, torch.float64) for case in cases], 60, task.candidate)


def _truth(task, cases):
    outcomes = run_oracle(task, cases)
    for case, outcome in zip(cases, outcomes, strict=True):
        asked = case.raises in outcome.failure.kinds if case.raises and outcome.failure else outcome.status == "value"
        if not asked or case.raises and outcome.status == "value":
            raise RuntimeError(f"the oracle of {task.id} fails on {case.name}: {outcome.failure or outcome.status}")
    return outcomes


def _urgency(case, finding):
    """Ordinary inputs before edges, then the smallest input, then errors first and the order of KINDS."""
    kind = -1 if finding.kind == "error" else KINDS.index(finding.kind)
    size = sum(leaf.numel() if isinstance(leaf, torch.Tensor) else 1 for leaf in trees.leaves(case.args))
    return case.edge, size, kind


def first_wrong(task, expected, place, outcome):
    """Return the first thing wrong with the outcome of one case as a Finding, or None."""
    case, right = expected.cases[place], expected.truth[place]
    if case.raises:
        return _raised_wrong(task, case, outcome)
    if outcome.status != "value":
        return Finding("error", _stopped(task, case, outcome))
    if outcome.unstable or outcome.mode_matters:
        again = OTHER_VERDICT if task.candidates and task.suspects else AGAIN
        return Finding("value", again if outcome.unstable else OTHER_MODE)
    result = task.results if len(task.results) > 1 else task.results[0]
    finding = difference(right.value, outcome.value, result)
    if finding and _near(finding):
        finding = difference(right.value, outcome.value, result, expected.reach(place)[0])
    if finding:
        return _also_altered(task, case, outcome, finding)
    if outcome.changed and outcome.gradient_failure:  # the gradient's failure is a symptom
        return _side_effect(task, case, outcome)
    finding = _gradient_wrong(task, case, outcome, right)
    if finding and _near(finding):
        finding = _gradient_wrong(task, case, outcome, right, expected.reach(place)[1])
    return finding or _side_effect(task, case, outcome)


def _near(finding):
    """Return whether rounding in float32 might be all that is wrong."""
    expected, received = finding.expected, finding.received
    if not is_float(expected) or not is_float(received) or expected.shape != received.shape:
        return False
    return finding.kind in ("value", "gradient") and bool(((expected - received).abs() <= NEAR * scale(expected)).all())


def _raised_wrong(task, case, outcome):
    """Return what is wrong where an exception is asked for, as a Finding, or None."""
    if outcome.status == "value":
        return Finding(
            "value", f"For this input {case.raises} should be raised; your function returned {describe(outcome.value)}."
        )
    if outcome.status == "error" and case.raises not in outcome.failure.kinds:
        return Finding("error", f"For this input {case.raises} should be raised. {_stopped(task, case, outcome)}")
    return None if outcome.status == "error" else Finding("error", _stopped(task, case, outcome))


def _also_altered(task, case, outcome, finding):
    """Return a Finding on a value with the altered inputs told first: numbers altered before they are used may be its cause."""
    if finding.kind != "value" or not outcome.changed:
        return finding
    return replace(
        finding, sentence=f"Your function alters its input {_altered(task, case, outcome)}. {finding.sentence}"
    )


def _stopped(task, case, outcome):
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
    if outcome.failure.by_candidate and not task.suspects:
        return (
            f"The function that you were given raises {outcome.failure.type} for the arguments that you call it with. "
            "Print their shapes, and compare them with those in the exercise."
        )
    if outcome.failure.by_candidate:
        return (
            f"The candidate raised {outcome.failure.type}, and your test passed it on. "
            "A candidate that raises is wrong: catch the exception and return False."
        )
    if outcome.failure.type == NOT_AS_ASKED:
        return outcome.failure.message
    advice = next((advice for part, advice in IN_OTHER_WORDS.items() if part in outcome.failure.message), "")
    of_three = [
        name
        for name, arg in zip(task.names, case.args, strict=False)
        if isinstance(arg, torch.Tensor) and arg.dim() > 2
    ]
    turned = rf"\b({'|'.join(map(re.escape, of_three))})\.T\b"
    if of_three and any(here and re.search(turned, text) for _, text, here in _lines(outcome.failure)):
        advice = f"{advice} {TURNED}".strip()
    advice = _on_the_left(task, case, outcome.failure) or advice
    if task.candidates and task.suspects:
        advice = MAY_BE_ANYTHING
    return f"Your function stops with {outcome.failure.type}: {outcome.failure.message}{advice and ' — '}{advice}"


def _on_the_left(task, case, failure):
    """Return what to say where a matrix stands to the left of a batch of vectors, as in formulas on one vector; else nothing."""
    of = {2: [], 3: []}
    for name, arg in zip(task.names, case.args, strict=False):
        if is_float(arg) and arg.dim() in of:
            of[arg.dim()].append(re.escape(name))
    pattern = rf"\b({'|'.join(of[2])})\s*@\s*({'|'.join(of[3])})\b(?!\s*[.\[])"
    found = (re.search(pattern, text) for _, text, here in _lines(failure) if here) if of[2] and of[3] else ()
    for matrix, vectors in (match.groups() for match in found if match):
        return (
            f"a formula such as W x is meant for one vector, a column. In {vectors} each vector is a row, and there the matrix stands on the right, "
            f"transposed: first {vectors}, then {matrix} with its two axes exchanged."
        )
    return ""


def _lines(failure):
    """Return the lines around a failure where they can be read as such: they come from the answer's side."""
    readable = isinstance(failure.source, tuple) and all(
        isinstance(line, tuple) and len(line) == 3 for line in failure.source
    )
    return [line for line in failure.source if isinstance(line[1], str)] if readable else []


def _gradient_wrong(task, case, outcome, right, reach=None):
    if outcome.gradients is None or task.gradient_optional:
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
                return Finding(
                    "gradient",
                    f"The values are right, but a gradient reaches {name}, and none should: `.detach()` stops it.",
                )
        if received is None:
            return Finding(
                "gradient",
                f"The values are right, but no gradient reaches {name}: something between {name} and your result stops it. "
                "`.item()`, `.detach()`, `.data`, numpy and torch.tensor(…) on tensors do that.",
            )
        if not received.isfinite().all():
            return Finding(
                "gradient", f"The values are right, but the gradient of {name} is not finite.", expected, received
            )
        if not close(expected, received, 0 if room is None else room).all():
            return Finding("gradient", f"The values are right, but the gradient of {name} is not.", expected, received)
    return None


def _side_effect(task, case, outcome):
    if not outcome.changed:
        return None
    return Finding(
        "side effect",
        f"The result is right, but your function alters its input {_altered(task, case, outcome)}: whoever calls it finds something else "
        f"there afterwards. {BY_A_LIST if _in_a_list(case, outcome.changed[0]) else BY_A_TENSOR}",
    )


def _altered(task, case, outcome):
    """Return the names of what was altered; of a list, whatever was altered in it, its own name."""
    paths = (path[:1] if _in_a_list(case, path) else path for path in outcome.changed)
    return " and ".join(dict.fromkeys(trees.path_text(task.names, path) for path in paths))


def _in_a_list(case, path):
    return isinstance(case.args[path[0]], list) and not trees.tensors(case.args[path[0]])


def _remark(task, cases, outcomes, borrowed):
    """Something worth saying about a right answer, or None."""
    if borrowed:
        return (
            f"Right, but your function calls the course's own `{borrowed[0]}`, which this exercise does not offer: write it yourself. "
            "Where a class is graded, such an answer may earn no points."
        )
    if any(outcome.gradients and outcome.gradients[0] is None for outcome in outcomes) and task.gradient_optional:
        return (
            "Right. A remark for later: no gradient flows back through your result, because `.item()`, `.tolist()`, numpy or "
            "torch.tensor(…) on tensors stops it. Whatever is to be trained needs a gradient; tensor operations keep it."
        )
    for case, outcome in zip(cases, outcomes, strict=True):
        dtypes = {tensor.dtype for tensor in trees.tensors(outcome.value)}
        if holds_float64(case) and (outcome.in_float32 or torch.float32 in dtypes):
            return (
                "Right. A remark for later: where numbers come in with sixteen digits (float64) and not seven, your function still "
                "computes in float32, with seven."
            )
        if torch.float64 in dtypes and float_paths(case.args) and not holds_float64(case):
            return "Given float32 you return float64: right, but twice the memory, and it does not mix with float32 weights."
    return None


def _broken_properties(task, expected, outcomes):
    """Sentences on the properties that an unknown wrong answer breaks, from the smallest case that shows each."""
    looked_at = [
        (case, outcome.value)
        for case, right, outcome in zip(expected.cases, expected.truth, outcomes, strict=False)
        if outcome.status == "value" and _of_the_right_size(right.value, outcome.value)
    ]
    sentences = []
    for broken in task.properties:
        sentences.append(next(filter(None, (_try_property(broken, case, value) for case, value in looked_at)), None))
    return tuple(filter(None, sentences))


def _of_the_right_size(right, value):
    """Return whether a value's tensors have shapes of the right one's, and its containers hold no more than a few times as much.

    What a property computes for another one could take any time and memory: shapes are the answer's to choose.
    """
    shapes, most = {tensor.shape for tensor in trees.tensors(right)}, LEAVES_MORE * (1 + len(list(trees.leaves(right))))
    return all(tensor.shape in shapes for tensor in trees.tensors(value)) and len(list(trees.leaves(value))) <= most


def _try_property(broken, case, value):
    try:
        return broken(case, value)
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
        and (a.unstable, a.mode_matters) == (b.unstable, b.mode_matters)
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
