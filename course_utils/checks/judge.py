"""Judges outcomes: finds what is wrong first, names the mistake, writes the report. Never calls the answer.

`first_failure` finds what is wrong with one outcome, `match_mistake` a named mistake, `explain` a relation to the right value.
"""

from collections.abc import Sequence
from dataclasses import replace

import torch

from course_utils.base import trees
from course_utils.checks import explain
from course_utils.checks.compare import KINDS, Finding, describe
from course_utils.checks.expected import Expected, canonicalised
from course_utils.checks.first_failure import alters_first, first_failure
from course_utils.checks.match_mistake import match_beside_errors, match_mistake, match_mistake_at, match_second
from course_utils.checks.report import Report
from course_utils.checks.running.contract import GO_ON, Case, Outcome, float_paths, holds_float64
from course_utils.checks.task import Task
from course_utils.checks.validate_reply import is_valid_reply

LEAVES_MORE = 10  # times the right number of parts: properties of larger values are not checked


def refuse(task: Task, kind: str, shown: object) -> Report:
    """Return the Report on an answer that cannot be run, from the result of `kind_of_answer`."""
    if kind == "empty":
        return Report(task, "not attempted")
    if task.module:
        if kind == "callable" and shown:
            sentence = f"{shown} does not derive from nn.Module: begin it with `class {shown}(nn.Module):`."
            return Report(task, "failed", finding=Finding("type", sentence))
        received = {"callable": "a function", "module": f"an instance of {shown}"}.get(kind) or describe(shown)
        sentence = f"check was given {received}; it needs the class itself, derived from `nn.Module`: `check(…, {task.answer_name})`."
    elif kind == "class":
        sentence = f"check was given the class {shown}; it needs an instance: {shown}()."
    else:
        sentence = f"check was given {describe(shown)}; it needs the function itself, without calling it: check(…, my_function)."
    return Report(task, "failed", finding=Finding("type", sentence))


def judge(
    task: Task,
    cases: Sequence[Case],
    outcomes: Sequence[Outcome] | None,
    expected: Expected | None = None,
    explaining: bool = True,
) -> Report:
    """Return a Report on the outcomes that an answer gave for a task's cases.

    Args:
        task: the Task that the cases were made from.
        cases: the Cases the answer was run on.
        outcomes: what `run` returned: as many as cases, or fewer if it was stopped.
        expected: `Expected(task, cases)`, to be reused for further answers.
        explaining: whether to call `explain_further`, which may also be done later.
    """
    if not is_valid_reply(cases, outcomes):
        unreadable = Finding("error", "What came back from running your function cannot be read as an answer.")
        return Report(task, "error", finding=unreadable)
    if not outcomes:
        return Report(task, "not attempted")
    if outcomes[0].status == "not implemented":
        return Report(task, "not attempted", failure=outcomes[0].failure)
    expected = expected or Expected(task, cases)
    raw, outcomes = outcomes, [canonicalised(task, *each) for each in zip(cases, outcomes, strict=False)]
    if len(outcomes) < len(cases) and outcomes[-1].status in GO_ON:  # the cases after that were not run
        outcomes = [*outcomes, Outcome("stopped")]
    found = [(i, first_failure(task, expected, i, outcome)) for i, outcome in enumerate(outcomes)]
    found = [(i, finding) for i, finding in found if finding and i < expected.judged]
    if not found and task.cross_case_function:
        broken = task.cross_case_function(cases, [outcome.value for outcome in raw])
        found = [(broken[0], Finding("value", broken[1]))] if broken else []
    if all(cases[i].hazard and outcomes[i].status in ("value", "error") for i, _ in found):
        return _passed_report(task, cases, outcomes, expected, found)
    report = _failed_report(task, cases, outcomes, expected, found)
    if explaining:
        explain_further(report, expected, raw)
    return report


def _failed_report(task, cases, outcomes, expected, found):
    """Return the Report on an incorrect answer; `found` lists what is wrong as (index of the outcome, Finding)."""
    unsteady = [(i, finding) for i, finding in found if not finding.steady]
    first, finding = min(unsteady or found, key=lambda item: _urgency(cases[item[0]], item[1]))
    case, outcome, complete = cases[first], outcomes[first], all(each.status in GO_ON for each in outcomes)
    mistake = match_mistake(task, cases, outcomes, expected, [first, *(place for place, _ in found)])
    altered = ""
    if mistake and not mistake.is_run:  # a line shows it: its hint is said once
        finding = replace(finding, hints=tuple(hint for hint in finding.hints if hint not in mistake.sentence))
    elif mistake and not expected.of_mistake(mistake, first).changed:
        altered = alters_first(task, case, outcome)
    return Report(
        task,
        "error" if outcome.status != "value" else "failed",
        finding=finding,
        case=case,
        failure=outcome.failure or outcome.gradient_failure if finding.kind in ("error", "gradient") else None,
        printed=outcome.printed,
        mistake=mistake,
        altered=altered,
        properties=_broken_properties(task, expected, outcomes, first) if _may_break(finding) and not mistake else (),
        values_right=complete and all(finding.kind in ("gradient", "side effect") for _, finding in found),
        only_edges=complete and all(cases[i].edge for i, _ in found),
    )


def _passed_report(task, cases, outcomes, expected, at_hazards):
    """Return the Report on a correct answer; `at_hazards`: what is wrong on inputs that no lesson builds, (place, Finding) each."""
    called = dict.fromkeys(name for outcome in outcomes for name in outcome.called)
    borrowed = tuple(name for name in called if not task.is_offered(name))
    remark, mistake = _remark(task, cases, outcomes, borrowed), None
    if at_hazards and not borrowed:
        place, finding = min(at_hazards, key=lambda item: _urgency(cases[item[0]], item[1]))
        mistake = match_mistake(task, cases, outcomes, expected, [place])
        mistake = mistake or match_mistake_at(task, cases, outcomes, expected, place)
        if task.candidates:
            broken = (_try_property(broken, cases[place], outcomes[place].value) for broken in task.properties)
            why = mistake.sentence if mistake else next(filter(None, broken), finding.text)
            remark = f"Right, for every candidate that counts. A remark on a rarer one, which the prompt does not ask you to find: {why}"
        else:
            why = mistake.sentence if mistake else finding.text
            remark = (
                f"Right, on every input that counts. A remark on one that costs no points, “{cases[place].name}”: {why}"
            )
    return Report(task, "passed", mistake=mistake, remark=remark, borrowed=borrowed, hazard=bool(at_hazards))


def explain_further(report: Report, expected: Expected, outcomes: Sequence[Outcome]) -> None:
    """Add a second mistake to a Report that names one, or else the relation of the incorrect value to the right one.

    The sentence on a broken property stays if it says more: more than a relation if the value is in canonical form and the task has no
    steps, more than two mistakes if the value is not finite.
    Runs only the course's own code, on the task's own cases: what an answer returned is only compared.
    """
    wrong_value = report.kind in ("shape", "finite", "value") and not report.case.edge and report.shows_values
    task = expected.task
    read = [canonicalised(task, *each) for each in zip(expected.cases, outcomes, strict=False)]
    first = next((mistake for mistake in task.mistakes if mistake.name == report.mistake), None)
    if first and not report.case.edge and (second := match_second(first, task, read, expected)):
        report.diagnosis = f"{explain.TOGETHER} The first: “{first.sentence}” The second: “{second.sentence}”"
    if not wrong_value or report.mistake or report.properties and task.canonical_function and not task.steps_function:
        return
    outcome = next(outcome for case, outcome in zip(expected.cases, read, strict=False) if case is report.case)
    if outcome.mode_matters:  # what is wrong in one mode is only half of it
        return
    pairs = not (report.properties and report.kind == "finite")
    if relation := explain.explain(expected, read, pairs):
        report.relation = report.diagnosis = relation
        report.altered = alters_first(task, report.case, outcome)
    else:
        report.diagnosis = _mistake_beside_errors(report, expected, read)


def _mistake_beside_errors(report, expected, outcomes):
    """Return the sentences on an answer that gives the values of one mistake and stops elsewhere; "" for any other."""
    task, cases = expected.task, expected.cases
    here = next(i for i, case in enumerate(cases) if case is report.case)
    stops = [i for i, outcome in enumerate(outcomes) if outcome.status == "error" and not cases[i].raises]
    if not stops or not (mistake := match_beside_errors(task, outcomes, expected, here)):
        return ""
    findings = [(i, first_failure(task, expected, i, outcomes[i])) for i in stops]
    place, finding = min(findings, key=lambda item: _urgency(cases[item[0]], item[1]))
    return (
        f"One mistake explains every result that your function returns: “{mistake.sentence}” "
        f"Another shows for “{cases[place].name}”: {finding.text}"
    )


def _urgency(case, finding):
    """Sort ordinary inputs before edges, hazards last, then by size of the input, then errors first and by KINDS."""
    kind = -1 if finding.kind == "error" else KINDS.index(finding.kind)
    size = sum(leaf.numel() if isinstance(leaf, torch.Tensor) else 1 for leaf in trees.leaves(case.args))
    return case.edge, case.hazard, size, kind


def _remark(task, cases, outcomes, borrowed):
    """Return something worth saying about a correct answer, or None."""
    if borrowed:
        return (
            f"Right, but your function calls the course's own `{borrowed[0]}`, which this task does not offer: write it yourself. "
            "Where a class is graded, such an answer may earn no points."
        )
    if any(outcome.seeded for outcome in outcomes) and not task.candidates and not task.asks_for_seed:
        return "Right. A remark for later: your function calls `torch.manual_seed`, which sets the random numbers of the whole program, including those of its caller. Nothing is random here: leave it out."
    if any(outcome.gradients and outcome.gradients[0] is None for outcome in outcomes) and task.gradient_optional:
        return (
            "Right. A remark for later: no gradient flows back through your result, because `.item()`, `.tolist()`, numpy or "
            "torch.tensor(…) on tensors stops it. Whatever is to be trained needs a gradient; tensor operations keep it."
        )
    for case, outcome in zip(cases, outcomes, strict=True):
        dtypes = {tensor.dtype for tensor in trees.tensors(outcome.value)}
        if holds_float64(case) and (outcome.in_float32 or torch.float32 in dtypes):
            how = "stops, since a part of it computes in float32" if outcome.in_float32 else "still returns float32"
            return (
                "Right. A remark for later: if the inputs have sixteen digits (float64) instead of seven, your function "
                f"{how}, with seven."
            )
        if torch.float64 in dtypes and float_paths(case.args) and not holds_float64(case):
            return "Given float32 you return float64: correct, but it takes twice the memory and does not mix with float32 weights."
    return None


def _may_break(finding):
    """Return whether checking a property may say more about an incorrect value: one of numbers, or a list of any length."""
    return finding.kind in ("finite", "value") or finding.kind == "shape" and isinstance(finding.expected, list)


def _broken_properties(task, expected, outcomes, first):
    """Return a sentence on each property that a wrong answer breaks: on the case that is shown or else on the first that breaks it."""
    looked_at = [
        (case, outcome.value, "" if place == first else f"On another input ({case.name}): ")
        for place, (case, right, outcome) in enumerate(zip(expected.cases, expected.truth, outcomes, strict=False))
        if outcome.status == "value" and not case.hazard and _has_the_right_size(right.value, outcome.value)
    ]
    looked_at.sort(key=lambda each: bool(each[2]))
    sentences = []
    for broken in task.properties:
        found = ((case, where, _try_property(broken, case, value)) for case, value, where in looked_at)
        told = (sentence if case.name in sentence else where + sentence for case, where, sentence in found if sentence)
        sentences.append(next(told, None))
    return tuple(filter(None, sentences))


def _has_the_right_size(right, value):
    """Return whether a value's tensors have shapes that the right one has, and it has at most LEAVES_MORE times as many parts.

    On any other value, a property could take any time and memory: the answer chooses the shapes.
    """
    shapes = {torch.Size(()), *(tensor.shape for tensor in trees.tensors(right))}  # a number may come as a tensor
    most = LEAVES_MORE * (1 + len(list(trees.leaves(right))))
    return all(tensor.shape in shapes for tensor in trees.tensors(value)) and len(list(trees.leaves(value))) <= most


def _try_property(broken, case, value):
    try:
        return broken(case, value)
    except Exception:  # a property may rely on a type or shape that this wrong answer does not have
        return None
