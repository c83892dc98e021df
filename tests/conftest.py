"""What holds for all tests."""

import gc
import json
import os
import signal
import sys
from pathlib import Path

import pytest
import sampling
import timeouts
import torch
from IPython.core.interactiveshell import InteractiveShell

from course_utils.commands import doctor
from course_utils.data import download
from course_utils.learner import history, notebook, state

# A shell that starts the tests in the background has them ignore Ctrl-C, and all that they start, too: programs whose
# Ctrl-C is tested. One that is handled here is none of theirs, and they begin with their own.
if signal.getsignal(signal.SIGINT) == signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)


# What is imported and collected stays to the end: looking for garbage in it takes nearly half the time of collecting.
gc.disable()


def pytest_collection_finish():
    """From now on look for garbage, in what the tests make alone."""
    gc.freeze()
    gc.enable()


def pytest_deselected(items):
    """Count what is left to the thorough run; each of several processes sees all tests."""
    sampling.LEFT["tests"] = len(items)


def pytest_sessionfinish():
    """Write down what was left to the thorough run, where `course test` asks for it."""
    if folder := os.environ.get("COURSE_LEFT_OUT"):
        process = os.environ.get("PYTEST_XDIST_WORKER", "main")
        (Path(folder) / f"{process}.json").write_text(json.dumps(sampling.LEFT))


@pytest.fixture(autouse=True)
def as_many_threads_after_as_before():
    """Several processes share the cores: a test that leaves more threads behind slows down all that follow in its process tenfold."""
    before = torch.get_num_threads()
    yield
    if torch.get_num_threads() != before:
        torch.set_num_threads(before)


@pytest.fixture(autouse=True)
def no_figure_left():
    """A test that counts the open figures must not find those of the tests before it in its process."""
    yield
    if pyplot := sys.modules.get("matplotlib.pyplot"):
        pyplot.close("all")


@pytest.fixture
def course_folder(tmp_path, monkeypatch):
    """An empty folder that keeps a learner's progress, and a kernel in which nothing has been checked yet."""
    monkeypatch.setenv("COURSE_HOME", str(tmp_path))
    monkeypatch.delenv("COURSE_PROGRESS", raising=False)
    monkeypatch.setattr(state, "_in_memory", {})
    monkeypatch.setattr(history, "_ran", [])
    monkeypatch.setattr(notebook, "session", notebook.Session())
    return tmp_path


BESIDE = Path(__file__).resolve().parents[2] / "shared" / "data"
MIRROR = os.environ.get("COURSE_DATA_MIRROR") or (str(BESIDE) if BESIDE.is_dir() else None)
REGISTRY = download.REGISTRY


@pytest.fixture
def real_data(monkeypatch):
    """Have the real data sets come from COURSE_DATA_MIRROR, or from `shared/data` beside the repository."""
    if MIRROR is None:
        pytest.skip("the real data are not tested: name a folder or an address that has them in COURSE_DATA_MIRROR")
    monkeypatch.setattr(download, "REGISTRY", REGISTRY)
    monkeypatch.setenv("COURSE_DATA_MIRROR", MIRROR)


@pytest.fixture(scope="session")
def chromium():
    """The path of a Chromium, for tests in a real browser."""
    path = doctor.find_chromium()
    if path is None:
        pytest.skip(f"no Chromium for the browser test: {doctor.GET_CHROMIUM}")
    return path


@pytest.fixture(scope="session")
def sandbox():
    """The process behind locks in which tests run learners' code. It takes seconds to start, so there is one for all that set no locks of their own."""
    from course_utils.grading.judging.budget import Limits
    from course_utils.grading.judging.sandbox_client import SandboxClient
    from course_utils.grading.sandbox import policy

    with SandboxClient(policy.chosen(), Limits(whole=timeouts.SECONDS)) as started:
        yield started


@pytest.fixture(scope="session")
def make_grader(sandbox):
    """Make a grader that has answers run there."""
    from course_utils.grading.judging.budget import Limits
    from course_utils.grading.judging.notebook_grader import Grader

    def make(seed, limits=Limits(), options_seed=None):  # noqa: B008
        made = Grader(seed, sandbox.layers, limits, options_seed=options_seed)
        made.sandbox, sandbox.limits = sandbox, limits
        return made

    return make


@pytest.fixture
def graded_here(make_grader, monkeypatch):
    """Have classes graded in this process: those of its own that a grading starts take seconds, and `test_grading_run.py` tries them."""
    from course_utils.grading.judging import pool

    def grade_all(found, plan, workers):
        grader = make_grader(plan.seed, plan.limits, plan.options_seed)
        return (grader.grade(*each) for each in found)

    monkeypatch.setattr(pool, "grade_all", grade_all)


@pytest.fixture
def shell():
    """An IPython kernel's shell, without a kernel."""
    shell = InteractiveShell.instance()
    yield shell
    InteractiveShell.clear_instance()
