"""Runs the course's checks, step by step, and adds up the results: `course test`.

Here: the steps of the usual run, of the thorough one and of a contributor's, their order and the closing table. Not here: the
checks themselves, which are in `lint.py`, `build.py`, `tests/` and the notebooks. `impact.py` finds what depends on what has changed.
"""

import json
import os
import subprocess
import sys
import tempfile
import time
import xml.etree.ElementTree as ElementTree
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

import psutil

from course_utils.authoring import impact
from course_utils.base.paths import FOLDERS, file_of, number_of, sources_in

RUN_BY_NBVAL = ("notebooks", "solutions")  # in the usual run, where tests/test_exercises.py tries the exercises
# Lessons that train: their notebooks and solutions take four fifths of the time of all notebooks. `course build --check` has just
# seen that their outputs match today's code, so the usual run repeats them only if something that they use has changed.
LONG = ("05", "06", "12", "13", "14", "15", "16", "17", "19", "20", "21", "22")
NO_TESTS = 5  # pytest's exit code if it has run none
MEMORY = 3 * 2**30  # bytes that each process of tests may need
PYTEST = (
    *("-m", "pytest", "-p", "no:cacheprovider", "--no-header", "-q"),
    *("--dist", "loadfile", "--durations=40", "--durations-min=10"),  # what a file's tests share is made once
)
TESTS = ("tests", "-rs", "-p", "no:nbval")  # loading nbval takes seconds in each process
# Every cell runs; those tagged nbval-check-output are compared. A notebook's cells stay in one process. nbval
# and the libraries below it warn, so warnings are not errors here: tests/ holds the course's own code to that.
NBVAL = (
    *("-p", "course_utils.authoring.kernels"),
    *("--nbval-lax", "--nbval-current-env", "--nbval-cell-timeout=300", "--nbval-sanitize-with=tests/nbval.cfg"),
    *("-o", "filterwarnings=default"),
)
NOTEBOOKS_ALONE = {"COURSE_PROGRESS": "off", "PYTHONHASHSEED": "0"}  # a learner's progress is left as it is
# As on an older processor, and in two threads: compared outputs must not depend on either.
OTHER_PROCESSOR = {"ATEN_CPU_CAPABILITY": "default", "ONEDNN_MAX_CPU_ISA": "SSE41", "OMP_NUM_THREADS": "2"}
PATIENT = "--nbval-cell-timeout=3600"  # seconds, with these: they take up to ten times as long


@dataclass
class Step:
    """The result of one step: how many passed, failed and were skipped, why those were, and how many were left to the thorough run."""

    name: str
    counts: Counter = field(default_factory=Counter)
    reasons: Counter = field(default_factory=Counter)
    left: Counter = field(default_factory=Counter)
    seconds: float = 0.0


def run_usual(root: Path) -> int:
    """Run in `root` what every change has to pass; print the table; return 1 if anything failed, else 0."""
    steps = [*_quick_steps(root), _pytest(root, "tests", *TESTS, "-m", "not thorough"), _usual_notebooks(root)]
    return _close(root, steps)


def run_all(root: Path, night: int) -> int:
    """Run every check there is. Seeds, mutants and styles beyond those of the usual run are drawn from the number `night`."""
    print(f"What this run draws, it draws from {night}: `course test --all --night {night}` draws the same again.")
    steps = [
        *_quick_steps(root),
        _pytest(root, "tests", *TESTS, extra={"COURSE_THOROUGH": str(night)}),
        _pytest(root, "notebooks", *FOLDERS, *NBVAL, extra=NOTEBOOKS_ALONE),
        _pytest(root, "as elsewhere", *RUN_BY_NBVAL, *NBVAL, PATIENT, extra=NOTEBOOKS_ALONE | OTHER_PROCESSOR),
    ]
    return _close(root, steps)


def run_changed(root: Path) -> int:
    """Run what depends on the files that have changed since the last recorded run without a failure."""
    names = impact.changed_since_success(root)
    if names is None:
        print("No run without a failure is remembered for this environment: everything of the usual run is taken.")
        return run_usual(root)
    if not names:
        print("Nothing has changed since the last run without a failure.")
        return 0
    print(f"Changed since the last run without a failure: {', '.join(sorted(names))}.")
    notebooks = impact.notebooks(root, names, RUN_BY_NBVAL)
    plugin = ("-m", "not thorough", "-p", impact.__name__)
    steps = [*_quick_steps(root), _pytest(root, "tests", *TESTS, *plugin, extra=impact.as_variable(names), empty=True)]
    if notebooks:
        steps.append(_pytest(root, "notebooks", *notebooks, *NBVAL, extra=NOTEBOOKS_ALONE))
    return _close(root, steps)


def _quick_steps(root):
    course = ("-m", "course_utils")
    return [
        _command(root, "code style", "-m", "ruff", "check", "."),
        _command(root, "code format", "-m", "ruff", "format", "--check", "."),
        _command(root, "notebook style", *course, "lint"),
        _command(root, "notebooks up to date", *course, "build", "--check"),
    ]


def _close(root, steps):
    print(closing_table(steps))
    if failed := any(step.counts["failed"] for step in steps):
        return int(failed)
    impact.record_success(root)
    return 0


def closing_table(steps: list[Step]) -> str:
    """Return the table of all steps, what was skipped and how to get it, what was left to the thorough run, and finally the sums."""
    sums = sum((step.counts for step in steps), Counter())
    width = max(len(step.name) for step in steps)
    lines = ["", "What was checked"]
    lines += [f"  {step.name:{width}}  {_in_words(step.counts):32}  {step.seconds:5.0f} s" for step in steps]
    reasons = sum((step.reasons for step in steps), Counter())
    if reasons:
        lines += ["", "What was skipped, and how to get it"]
        lines += [f"  {count} x {reason}" for reason, count in reasons.items()]
    left = sum((step.left for step in steps), Counter())
    if left:
        lines += ["", "What was left to the thorough run, `make test-all`"]
        lines += [f"  {count:,} {what}" for what, count in left.items()]
    lines += ["", f"{sums['passed']} passed, {sums['failed']} failed, {sums['skipped']} skipped"]
    return "\n".join(lines)


def read_results(file: Path, step: Step) -> None:
    """Add to a step what pytest wrote to its results file; no file, or no test in it, is a failure."""
    try:
        cases = list(ElementTree.parse(file).getroot().iter("testcase"))
    except (OSError, ElementTree.ParseError):
        cases = []
    for case in cases:
        kinds = {child.tag: child for child in case}
        if "failure" in kinds or "error" in kinds:
            step.counts["failed"] += 1
        elif "skipped" in kinds:
            step.counts["skipped"] += 1
            step.reasons[kinds["skipped"].get("message", "no reason given")] += 1
        else:
            step.counts["passed"] += 1
    if not step.counts["passed"] and not step.counts["failed"]:
        step.counts["failed"] = 1


def _command(root, name, *arguments):
    step = Step(name)
    code = _run(root, step, arguments)
    step.counts["failed" if code else "passed"] += 1
    return step


def _usual_notebooks(root):
    names = impact.changed_since_success(root) if (root / impact.KEPT).exists() else impact.changed_by_last_commit(root)
    left_out = []
    if names is not None and "constraints.txt" not in names:
        there = [(folder, name) for folder in RUN_BY_NBVAL for name in sources_in(root, folder)]
        long = [file_of(folder, name) for folder, name in there if number_of(name) in LONG]
        again = impact.notebooks(root, names, RUN_BY_NBVAL, long)
        left_out = [built for built in long if built not in again]
    ignored = [f"--ignore={built}" for built in left_out]
    step = _pytest(root, "notebooks", *RUN_BY_NBVAL, *NBVAL, *ignored, extra=NOTEBOOKS_ALONE)
    step.left["notebooks of lessons that train and use nothing that has changed"] += len(left_out)
    return step


def _pytest(root, name, *arguments, extra=None, empty=False):
    step = Step(name)
    with tempfile.TemporaryDirectory() as folder:
        results = Path(folder) / "results.xml"
        command = (*PYTEST, "-n", str(_processes()), *arguments, f"--junitxml={results}")
        code = _run(root, step, command, {"COURSE_LEFT_OUT": folder, **(extra or {})})
        if empty and code == NO_TESTS:
            return step
        read_results(results, step)
        _read_left(Path(folder), step)
    if code and not step.counts["failed"]:  # pytest itself broke, after the tests
        step.counts["failed"] += 1
    return step


def _processes():
    """Return one more than the cores this process may use, as some tests wait a third of the time; fewer if memory is short."""
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return max(1, min(cores + 1, psutil.virtual_memory().total // MEMORY))


def _read_left(folder, step):
    """Add up what the processes of a run left to the thorough one. Each of them sees all tests and runs a part of them."""
    for file in folder.glob("*.json"):
        left = Counter(json.loads(file.read_text(encoding="utf-8")))
        tests = max(left.pop("tests", 0), step.left["tests"])
        step.left += left
        step.left["tests"] = tests
    step.left = +step.left


def _run(root, step, arguments, extra=None):
    print(f"\n== {step.name}", flush=True)
    start = time.monotonic()
    code = subprocess.run(
        [sys.executable, *arguments], cwd=root, env=_environment(root, extra or {}), check=False
    ).returncode
    step.seconds = time.monotonic() - start
    return code


def _environment(root, extra):
    # One thread for each process, and this folder's course_utils, whatever is installed. Hundreds of processes
    # read the same files, so Python's bytecode is kept, even where it usually is not.
    inherited = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    path = os.pathsep.join(filter(None, [str(root), inherited.get("PYTHONPATH")]))
    return {"OMP_NUM_THREADS": "1", **inherited, "PYTHONPATH": path, **extra}


def _in_words(counts):
    return ", ".join(f"{counts[kind]} {kind}" for kind in ("passed", "failed", "skipped") if counts[kind])
