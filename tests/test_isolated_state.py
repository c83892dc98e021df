"""A check says the same whatever a notebook has set globally, and leaves all that as it was."""

import builtins
import functools
import os
import random
import signal
import sys
import warnings

import numpy as np
import pytest
import torch
from alternative_solutions import exercises_of
from tasks import TASKS

from course_utils.checks.catalogue import solutions
from course_utils.checks.judge_answer import judge_answer
from course_utils.checks.running.isolated_state import isolated_state
from course_utils.learner.notebook import check

THREADS = torch.get_num_threads()


def context(made, *now):
    """Return what enters a context for good, and what leaves it again."""
    return made.__enter__, lambda: made.__exit__(None, None, None), *now


def attribute(place, name, value):
    before = getattr(place, name)
    return lambda: setattr(place, name, value), lambda: setattr(place, name, before), lambda: getattr(place, name)


def ignore_alarms():
    signal.signal(signal.SIGPROF, signal.SIG_IGN)
    signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGPROF, signal.SIGALRM})


def heed_alarms():
    signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGPROF, signal.SIGALRM})
    signal.signal(signal.SIGPROF, signal.SIG_DFL)


SETTINGS = {  # {what a notebook sets: (how, how back, what it is now)}
    "bfloat16": (lambda: torch.set_default_dtype(torch.bfloat16), lambda: torch.set_default_dtype(torch.float32), torch.get_default_dtype),
    "float64": (lambda: torch.set_default_dtype(torch.float64), lambda: torch.set_default_dtype(torch.float32), torch.get_default_dtype),
    "the device meta": (lambda: torch.set_default_device("meta"), lambda: torch.set_default_device(None), lambda: torch.empty(0).device),
    "a device that is not there": (lambda: torch.set_default_device("xpu"), lambda: torch.set_default_device(None), lambda: torch._GLOBAL_DEVICE_CONTEXT.device_context.device),
    "anomaly detection": (lambda: torch.autograd.set_detect_anomaly(True), lambda: torch.autograd.set_detect_anomaly(False), torch.is_anomaly_enabled),
    "deterministic algorithms": (lambda: torch.use_deterministic_algorithms(True), lambda: torch.use_deterministic_algorithms(False), torch.are_deterministic_algorithms_enabled),
    "autocast": context(torch.autocast("cpu"), lambda: torch.is_autocast_enabled("cpu")),
    "no gradients": (lambda: torch.set_grad_enabled(False), lambda: torch.set_grad_enabled(True), torch.is_grad_enabled),
    "inference mode": context(torch.inference_mode(), torch.is_inference_mode_enabled),
    "threads": (lambda: torch.set_num_threads(2), lambda: torch.set_num_threads(THREADS), torch.get_num_threads),
    "few digits": (lambda: torch.set_printoptions(precision=1, sci_mode=True), lambda: torch.set_printoptions(profile="default"), lambda: repr(torch.tensor(0.125))),
    "warnings as errors": context(warnings.catch_warnings(action="error"), lambda: warnings.filters[0][0]) if sys.version_info >= (3, 11) else context(warnings.catch_warnings()),
    "numpy's errors raised": context(np.errstate(all="raise"), lambda: np.geterr()["over"]),
    "little recursion": (lambda: sys.setrecursionlimit(300), lambda: sys.setrecursionlimit(1000), sys.getrecursionlimit),
    "alarms ignored": (ignore_alarms, heed_alarms, lambda: signal.getsignal(signal.SIGPROF)),
    "another print": attribute(builtins, "print", None),
}  # fmt: skip
LINES = "import math\nfrom collections import Counter\nimport torch\nfrom torch.nn import functional as F\n"


def answer_to(task_id, source=None):
    """Return the course's own answer to a task, or one of this source, made as in a notebook."""
    lines = [line for line in exercises_of(task_id[:2]).splitlines() if line.startswith(("import ", "from "))]
    names = {}
    exec("\n".join([*lines, source or solutions()[task_id]]), names)
    return names[TASKS[task_id].answer_name]


WRONG = {
    "04.dot": "def dot(state, hidden):\n    return state @ hidden.mT * 0.5 + torch.zeros(1)",
    "02.softmax": "def softmax(scores):\n    return torch.exp(scores)",
}


@functools.cache
def said_before():
    """Answers to tasks, and what is said of them where nothing is set."""
    right = ("00.weighted_sum", "03.attention", "12.encoder_layer", "03.catch_wrong_attention")
    given = [(task_id, answer_to(task_id)) for task_id in right]
    given += [(task_id, answer_to(task_id, source)) for task_id, source in WRONG.items()]
    return given, [str(judge_answer(TASKS[task_id], answer)) for task_id, answer in given]


@pytest.mark.parametrize("name", SETTINGS)
def test_a_check_says_the_same_whatever_a_notebook_has_set(name, course_folder, capsys):
    use, back, now = SETTINGS[name]
    given, expected = said_before()
    judged = (lambda task_id, answer: judge_answer(TASKS[task_id], answer)) if name == "another print" else check
    use()
    try:
        before, drawn = now(), (random.getstate(), np.random.get_state()[1].tolist())
        said = [str(judged(task_id, answer)) for task_id, answer in given]
        assert now() == before and drawn == (random.getstate(), np.random.get_state()[1].tolist())
    finally:
        back()
    assert [one.split("Stuck?")[0].rstrip() for one in said] == [one.split("Stuck?")[0].rstrip() for one in expected]


def test_an_answer_that_warns_is_right_where_warnings_are_errors(course_folder, capsys):
    def dot(state, hidden):
        warnings.warn("this is old", DeprecationWarning, stacklevel=1)
        return state @ hidden.mT

    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert check("04.dot", dot).state == "passed"


def test_settings_changed_by_an_answer_are_set_back():
    def dot(state, hidden):
        torch.set_default_dtype(torch.float64)
        torch.set_default_device("meta")
        torch.use_deterministic_algorithms(True)
        torch.autograd.set_detect_anomaly(True)
        torch.manual_seed(3), random.seed(3), np.random.seed(3)
        np.seterr(all="raise")
        torch.inference_mode().__enter__()
        sys.setrecursionlimit(200)
        sys.stdout = sys.stderr = None
        return state.cpu() @ hidden.mT

    def everything():
        set_now = [now() for name, (*_, now) in SETTINGS.items() if "device" not in name]
        return [*set_now, torch.empty(0).device, sys.stdout, random.getstate(), torch.get_rng_state().tolist()]

    before = everything()
    for _ in range(2):
        judge_answer(TASKS["04.dot"], dot)
    assert everything() == before


def test_a_folder_that_was_deleted_stops_no_check(course_folder, tmp_path, monkeypatch, capsys):
    gone = tmp_path / "gone"
    gone.mkdir()
    monkeypatch.chdir(gone)
    os.rmdir(gone)
    monkeypatch.delenv("COURSE_HOME")
    assert check("04.dot", answer_to("04.dot")).state == "passed"


def test_output_shown_by_an_answer_is_kept_as_what_it_prints(shell, course_folder, capsys):
    shell.run_cell(LINES + "import sys, warnings\nimport matplotlib.pyplot as plt\nfrom IPython.display import display\nfrom course_utils import check\n"
        "def dot(state, hidden):\n    for _ in range(300): display('shown'); print('x' * 100, file=sys.stderr)\n    plt.figure(); plt.plot([1, 2])\n    return state\n"
        "report = check('04.dot', dot)")  # fmt: skip
    report = shell.user_ns["report"]
    assert len(report.printed) < 2100 and "'shown'" in report.printed and "more characters" in report.printed
    out = capsys.readouterr()
    assert len(out.out) < 10_000 and out.err == "" and shell.user_ns["plt"].get_fignums() == []


def test_own_states_nest():
    with isolated_state():
        torch.set_default_dtype(torch.float64)
        with isolated_state():
            assert torch.ones(1).dtype == torch.float32
        assert torch.ones(1).dtype == torch.float64
    assert torch.ones(1).dtype == torch.float32
