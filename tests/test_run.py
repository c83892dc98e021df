"""Running an answer: errors at the learner's line, time, memory, prints, side effects."""

import builtins
import contextlib
import importlib
import os
import re
import signal
import subprocess
import sys
import threading
import time
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch
from tasks import TASKS

from course_utils.checks.judge import judge
from course_utils.checks.judge_answer import judge_answer
from course_utils.checks.running import contract, limit
from course_utils.checks.running.contract import (
    Candidate,
    Case,
    Failure,
    Opaque,
    Outcome,
    Stream,
    pack,
    unpack,
    without_labels,
)
from course_utils.checks.running.isolated_state import isolated_state
from course_utils.checks.running.limit import TimeIsUp
from course_utils.checks.running.run import PRINTED_AT_MOST, run

DOT = TASKS["04.dot"]


def test_an_error_is_told_at_the_learners_own_line():
    def helper(a, b):
        return a @ b  # the culprit

    def answer(state, hidden):
        return helper(state, hidden.permute(1, 0, 2))

    report = judge_answer(DOT, answer)
    assert report.state == "error" and "RuntimeError" in report.message
    (line,) = [text for _, text, here in report.failure.source if here]
    assert "the culprit" in line and report.failure.function == "helper"
    assert "course_utils" not in str(report) and "site-packages" not in str(report)
    assert "the culprit" in report._repr_html_()
    report = judge_answer(DOT, lambda state: state)
    (line,) = [text for _, text, here in report.failure.source if here]
    assert "positional argument" in report.message and "lambda state: state" in line


@pytest.mark.parametrize(
    "error", [SystemExit(3), KeyError("x"), RecursionError(), StopIteration(), ZeroDivisionError()]
)
def test_no_exception_of_an_answer_gets_out(error):
    def answer(state, hidden):
        raise error

    report = judge_answer(DOT, answer)
    assert report.state == "error" and type(error).__name__ in report.message


def loops_for_ever(state, hidden):
    while True:
        pass


def swallows_everything(state, hidden):
    while True:
        try:
            time.sleep(0.01)
        except:  # noqa: E722
            continue


def sleeps(state, hidden):
    time.sleep(1000)


def swallows_twice(state, hidden):
    while True:
        try:
            try:
                time.sleep(100)
            except:  # noqa: E722
                time.sleep(1)
        except:  # noqa: E722
            pass


def returns_what_it_has(state, hidden):
    try:
        time.sleep(1000)
    except:  # noqa: E722
        return state @ hidden


def stops_only_for_base_exceptions(state, hidden):
    while True:
        try:  # noqa: SIM105
            sum(range(1000))
        except Exception:
            pass


def loops_in_a_context(state, hidden):
    with contextlib.suppress(ValueError):
        while True:
            pass


NEEDS_AN_ALARM = pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="no timer signal on this system")


WAITS = "it waits and hardly computes"
NEVER_ENDS = "0.3 seconds of computing.*never ends"


@pytest.mark.parametrize(
    ("answer", "says"),
    [
        (loops_for_ever, NEVER_ENDS),
        (stops_only_for_base_exceptions, NEVER_ENDS),
        (loops_in_a_context, NEVER_ENDS),
        pytest.param(swallows_everything, f"{WAITS}|{NEVER_ENDS}", marks=NEEDS_AN_ALARM),
        *(
            pytest.param(answer, WAITS, marks=NEEDS_AN_ALARM)
            for answer in (sleeps, swallows_twice, returns_what_it_has, lambda *inputs: threading.Event().wait())
        ),
    ],
)
def test_an_infinite_loop_is_stopped_and_all_is_as_before(answer, says):
    def around():
        return sys.gettrace(), sys.stdout, builtins.input, sys.breakpointhook, torch.get_num_threads()

    start, before = time.monotonic(), around()
    report = judge_answer(DOT, answer, seconds=0.3)
    assert time.monotonic() - start < 100  # of the thousand that it sleeps
    assert report.state == "error" and re.search(says, report.message, re.DOTALL)
    assert around() == before


@pytest.mark.parametrize("stop", [limit.time_limit, limit._watchdog])
def test_a_run_inside_a_limit_that_stops_it_leaves_all_as_it_was(stop):
    """So are references run where a class is graded: gradients left off there would cost later students their points."""

    def around():
        gradients = torch.is_grad_enabled(), torch.is_inference_mode_enabled(), torch.is_autocast_enabled("cpu")
        return *gradients, torch.get_default_dtype(), torch.get_num_threads(), np.geterr()

    def loops():
        torch.set_default_dtype(torch.float64)
        while True:
            pass

    before = around()
    for body in (loops, torch.no_grad()(loops), torch.inference_mode()(loops)):
        with pytest.raises(TimeIsUp), stop(0.2, 10):
            isolated_state()(body)()
        assert around() == before
    for context in (torch.no_grad, torch.inference_mode):
        with pytest.raises(TimeIsUp), stop(0.2, 10):
            context()(loops_for_ever)(None, None)
        assert around() == before


NEEDS_TRACING = pytest.mark.skipif(not hasattr(threading, "settrace_all_threads"), reason="needs Python 3.12")


@pytest.mark.parametrize("answer", [loops_for_ever, pytest.param(swallows_everything, marks=NEEDS_TRACING)])
def test_an_infinite_loop_is_stopped_outside_the_main_thread(answer):
    reports = []
    thread = threading.Thread(target=lambda: reports.append(judge_answer(DOT, answer, seconds=0.3)))
    thread.start()
    thread.join(20)
    assert reports and "never ends" in reports[0].message


def computing(seconds, answer):
    """The answer, after so much computing."""

    def slow(*inputs):
        end = time.process_time() + seconds
        while time.process_time() < end:
            pass
        return answer(*inputs)

    return slow


def test_a_busy_machine_costs_no_answer_its_time():
    busy = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(os.cpu_count())]
    try:
        (outcome,) = run(computing(0.5, lambda x: x), [Case("one", (torch.ones(2),))], 0.8, repeated=False)
    finally:
        for each in busy:
            each.kill()
            each.wait()
    assert outcome.status == "value"


def test_the_time_limit_can_be_raised():
    slow = computing(0.02, lambda state, hidden: state @ hidden.mT)
    assert judge_answer(DOT, slow, seconds=0.05).state == "error"
    assert judge_answer(DOT, slow, seconds=60).state == "passed"


def test_late_imports_are_made_before_an_answers_time_begins(monkeypatch):
    """Torch's comparison imports sympy when it is first used, which on a busy machine takes as long as an answer may."""
    asked, plain = [], importlib.import_module
    monkeypatch.setattr(importlib, "import_module", lambda name: asked.append(name) or plain(name))

    def compares(x):
        asked.append("begun")
        torch.testing.assert_close(x, x)

    run(compares, [Case("one", (torch.ones(2),))])
    assert asked[:2] == ["sympy", "begun"]


@pytest.mark.parametrize(
    ("answer", "says"),
    [
        (lambda state, hidden: torch.ones(10**8, 10**8) @ state, "more memory than there is"),
        (lambda state, hidden: state * float(input("how much? ")), "would wait for somebody to type"),
    ],
    ids=["more memory than there is", "input"],
)
def test_an_answer_that_wants_too_much_is_told_so(answer, says):
    report = judge_answer(DOT, answer)
    assert report.state == "error" and says in report.message


def test_prints_are_shown_once_and_cut_and_floods_cost_no_memory():
    def floods(state, hidden):
        print("begin")
        while True:
            print("x" * 1000)

    report = judge_answer(DOT, lambda s, h: print("called") or s @ h.mT + 1)
    assert report.printed == "called\n" and "called" in str(report) and "called" in report._repr_html_()
    report = judge_answer(DOT, floods, seconds=0.3)
    assert "0.3 seconds" in report.message and report.printed.startswith("begin")
    assert len(report.printed) < PRINTED_AT_MOST + 50 and "more characters" in report.printed


@pytest.mark.parametrize("numbers", [torch.float32, torch.int64], ids=["only float32 works", "nothing works"])
def test_prints_are_shown_once_where_float32_follows_float64(numbers):
    def prints(x):
        print("called")
        return x @ torch.ones(2, 2, dtype=numbers)

    (outcome,) = run(prints, [Case("float64", (torch.ones(2, 2, dtype=torch.float64),))])
    assert outcome.in_float32 == (numbers == torch.float32) and outcome.printed == "called\n"


def test_an_answer_runs_in_one_thread():
    seen = set()
    torch.set_num_threads(2)
    judge_answer(DOT, lambda s, h: seen.add(torch.get_num_threads()) or s @ h.mT)
    assert seen == {1}


def test_a_candidate_does_not_tell_what_it_is():
    task = TASKS["03.catch_wrong_attention"]
    keys = [[case.args[0].key for case in task.make_cases(seed)] for seed in range(2)]
    assert keys[0] != keys[1] and min(keys[0]) > len(task.candidates)
    assert without_labels(task.make_cases(0)[0]).name == ""

    def reads_names(candidate):
        return any("right" in str(frame.f_locals.get("case", "")) for frame in frames())

    def frames():
        frame = sys._getframe()
        while frame:
            yield frame
            frame = frame.f_back

    assert judge_answer(task, reads_names).state == "failed"


def test_a_candidates_error_is_told_as_the_candidates():
    report = judge_answer(TASKS["03.catch_wrong_attention"], lambda candidate: bool(candidate(*[torch.ones(2, 3)] * 4)))
    assert report.state == "error" and "The candidate raised" in report.message and "return False" in report.message


def test_an_answer_in_a_folder_named_like_ours_keeps_its_line(tmp_path):
    from course_utils.checks.running import run as module

    folder = Path(module.__file__).parents[2]
    assert not f"{folder}_mine/answer.py".startswith(module.NOT_THE_LEARNERS)
    assert str(folder / "attention.py").startswith(module.NOT_THE_LEARNERS)


def forgeries(cases):
    """Outcomes that no honest run gives, from those of a correct answer."""
    honest = run(lambda s, h: s @ h.mT, cases)
    full = next(i for i, case in enumerate(cases) if case.gradient)
    yield from ([*honest, honest[0]], honest[:3], ["value", *honest[1:]], "outcomes")
    for place, changes in (
        (full, {"gradients": None}),
        (full, {"gradients": ()}),
        (full, {"gradients": (torch.ones(1), torch.ones(1))}),
        (0, {"status": "passed"}),
        (0, {"status": "error"}),
        (0, {"status": "error", "failure": "boom"}),
        (0, {"changed": (99,)}),
        (0, {"printed": 3}),
        (0, {"status": "error", "failure": Failure("a", "b"), "gradients": 3}),
    ):
        yield [replace(outcome, **changes) if i == place else outcome for i, outcome in enumerate(honest)]
    yield [Outcome("value", None)] * len(cases)


def test_forged_outcomes_never_pass_and_never_stop_the_judge():
    cases = DOT.make_cases(0)
    for outcomes in forgeries(cases):
        report = judge(DOT, cases, outcomes)
        assert report.state in ("error", "failed"), outcomes
        assert str(report) and report._repr_html_()


def test_text_that_a_learner_writes_is_escaped_in_html():
    def answer(state, hidden):
        print("<script>alert(1)</script>")
        raise ValueError("<b>bold</b>")

    html = judge_answer(DOT, answer)._repr_html_()
    assert "<script>" not in html and "<b>" not in html


def test_numbers_too_long_to_write_do_not_cross_but_are_told():
    kept = run(lambda s, h: {"a": 10**5000}, DOT.make_cases(0)[:1])
    assert "thousands of digits" in str(unpack(pack(kept))[0].value)


PLAIN = {
    "tensors": [
        torch.randn(2, 3),
        torch.zeros(0, 4),
        torch.tensor(True),
        torch.arange(3),
        torch.rand(2, dtype=torch.bfloat16),
        torch.arange(2)[None][:, 1],  # contiguous, as torch says, although it keeps the row's stride
    ],
    "numbers": (1, 2.5, True, None, "text", float("inf")),
    "classes": (Case("a", (Candidate(3), torch.ones(2)), True), Opaque("Linear")),
    "keys": {0: "zero", "one": [1]},
}


def test_packed_values_come_back_unchanged():
    back = unpack(pack(PLAIN))
    for before, after in zip(PLAIN["tensors"], back["tensors"], strict=True):
        assert before.dtype == after.dtype and torch.equal(before, after)
    assert back["numbers"] == PLAIN["numbers"] and back["keys"] == PLAIN["keys"]
    assert back["classes"][0].args[0] == Candidate(3) and back["classes"][1] == Opaque("Linear")
    expected = {"Case", "Candidate", "Callback", "Stream", "Opaque", "Failure", "Outcome"}
    assert set(contract.PLAIN_CLASSES) == expected
    with pytest.raises(TypeError, match="only tensors, numbers, strings"):
        pack({"model": torch.nn.Linear(1, 1)})


def test_a_stream_hands_out_one_by_one_and_anew_with_each_run():
    given = Stream(((torch.ones(2), 3), (torch.zeros(1), 4)))
    (back,) = unpack(pack((given,)))
    kept = []

    def all_of_them(hand_out):
        blocks = list(iter(hand_out, None))
        kept.append((hand_out(), [tensor.isnan().all().item() for tensor, _ in blocks]))
        return [number for _, number in blocks]

    outcomes = run(all_of_them, [Case("", (back,)), Case("", (back,))])
    assert [outcome.value for outcome in outcomes] == [[3, 4]] * 2
    assert not any(outcome.unstable or outcome.changed for outcome in outcomes)
    assert kept == [(None, [True, True])] * 4  # twice for each case
    assert torch.equal(back.values[0][0], torch.ones(2))


def test_a_stream_has_no_arguments_and_the_inputs_precision():
    (outcome,) = run(lambda hand_out: hand_out(1), [Case("", (Stream(()),))])
    assert outcome.status == "error" and outcome.failure.by_candidate
    (given,) = contract.in_precision(Case("", (Stream(((torch.ones(2), 3),)),)), torch.float64).args
    assert given.values[0][0].dtype == torch.float64 and given.values[0][1] == 3


def test_advice_on_axes_is_given_where_it_helps():
    turned = judge_answer(DOT, lambda state, hidden: state @ hidden.T.mT @ hidden)
    assert ".mT" in turned.message
    typo = judge_answer(TASKS["02.mlp_scores"], lambda words, weight, bias, theta: words @ weight.T + bais)  # noqa: F821
    assert ".mT" not in typo.message and "bais" in typo.message


def test_a_part_of_an_answer_that_is_none_is_named():
    report = judge_answer(TASKS["03.attention"], lambda q, k, v, mask=None: (q, None))
    assert report.message == "weights is None."


# Modules


class Layer(torch.nn.Module):
    """A layer that looks at its own parameters."""

    def __init__(self, width):
        super().__init__()
        self.weight, self.seen = torch.nn.Parameter(torch.zeros(width)), []

    def forward(self, x):
        weight = dict(self.named_parameters())["weight"]
        self.seen.append(
            isinstance(weight, torch.nn.Parameter)
            and weight is self.weight is next(self.parameters())
            and weight.requires_grad
            and weight.is_leaf
            and torch.equal(self.state_dict()["weight"], weight)
            and weight.dtype == x.dtype
        )
        assert all(self.seen)
        self.weight = self.weight  # only a Parameter may take a parameter's place
        return x * weight


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_a_modules_weights_are_its_own_parameters(dtype):
    weight, x = torch.tensor([2.0, 3.0], dtype=dtype), torch.tensor([[1.0, -1.0]], dtype=dtype)
    case = Case("a layer", ({"width": 2}, {"weight": weight}, x), gradient=True, module=True)
    outcome = run(Layer, [case])[0]
    assert outcome.status == "value" and not outcome.gradient_failure, outcome
    assert torch.equal(outcome.value, x * weight) and outcome.value.dtype == dtype
    wanted = run(lambda sizes, weights, x: x * weights["weight"], [case])[0].gradients
    assert all(map(torch.allclose, outcome.gradients, wanted)) and not outcome.changed


def test_a_module_that_changes_its_weights_is_found_to():
    class Halved(Layer):
        def forward(self, x):
            with torch.no_grad():
                self.weight *= 0.5
            return x * self.weight

    case = Case("a layer", ({"width": 2}, {"weight": torch.ones(2)}, torch.ones(1, 2)), module=True)
    assert run(Halved, [case])[0].changed == ((1, "weight"),)


@pytest.mark.parametrize("given", [lambda key: (Candidate(key),), lambda key: (key,)])
def test_a_slow_answer_is_called_once_for_later_cases(given):
    calls = []

    def slow(candidate):
        calls.append(candidate)
        ended = time.process_time() + 0.15
        while time.process_time() < ended:
            pass
        return True

    cases = [Case(f"number {key}", given(key)) for key in range(8)]
    assert len(run(slow, cases, 10, lambda key: len)) == 8
    assert 8 < len(calls) < 12, len(calls)
