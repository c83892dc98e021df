"""Runs every check there is, one after the other, and adds up what came of them: `course test`.

Here: the steps, their order and the closing table. Not here: any check itself; those are in `lint.py`,
`build.py`, `tests/` and the notebooks.
"""

import os
import subprocess
import sys
import tempfile
import time
import xml.etree.ElementTree as ElementTree
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

from course_utils.base.places import FOLDERS

SLOW_TESTS = ("tests/test_browser.py", "tests/test_colab.py")
PYTEST = (
    "-m",
    "pytest",
    "-n",
    "2",
    "-p",
    "no:cacheprovider",
    "--no-header",
    "-q",
    "--durations=40",
    "--durations-min=10",
)
# Every cell runs; those tagged nbval-check-output are compared. A notebook's cells stay in one process. nbval
# and the libraries below it warn, hence no errors from warnings: tests/ holds the course's own code to that.
NBVAL = (
    *("--nbval-lax", "--nbval-current-env", "--nbval-cell-timeout=300", "--nbval-sanitize-with=tests/nbval.cfg"),
    *("--dist", "loadfile", "-o", "filterwarnings=default"),
)
NOTEBOOKS_ALONE = {"COURSE_PROGRESS": "off", "PYTHONHASHSEED": "0"}  # a learner's progress is left as it is


@dataclass
class Step:
    """What came of one step: how many passed, failed and were skipped, and why those were."""

    name: str
    counts: Counter = field(default_factory=Counter)
    reasons: Counter = field(default_factory=Counter)
    seconds: float = 0.0


def run_all(root: Path, quick: bool = False) -> int:
    """Run all steps in `root`, also after a failure; print the table; return 1 if anything failed, else 0."""
    course = ("-m", "course_utils")
    steps = [
        _command(root, "code style", "-m", "ruff", "check", "."),
        _command(root, "code format", "-m", "ruff", "format", "--check", "."),
        _command(root, "notebook style", *course, "lint"),
        _command(root, "notebooks up to date", *course, "build", "--check"),
        _pytest(root, "tests", "tests", "-rs", *(f"--ignore={path}" for path in SLOW_TESTS if quick)),
        _skipped_notebooks() if quick else _pytest(root, "notebooks", *FOLDERS, *NBVAL, extra=NOTEBOOKS_ALONE),
    ]
    print(closing_table(steps))
    return 1 if any(step.counts["failed"] for step in steps) else 0


def closing_table(steps: list[Step]) -> str:
    """Return the table of all steps, what was skipped and how to get it, and last of all the sums."""
    sums = sum((step.counts for step in steps), Counter())
    width = max(len(step.name) for step in steps)
    lines = ["", "What was checked"]
    lines += [f"  {step.name:{width}}  {_in_words(step.counts):32}  {step.seconds:5.0f} s" for step in steps]
    reasons = sum((step.reasons for step in steps), Counter())
    if reasons:
        lines += ["", "What was skipped, and how to get it"]
        lines += [f"  {count} x {reason}" for reason, count in reasons.items()]
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


def _pytest(root, name, *arguments, extra=None):
    step = Step(name)
    with tempfile.TemporaryDirectory() as folder:
        results = Path(folder) / "results.xml"
        code = _run(root, step, (*PYTEST, *arguments, f"--junitxml={results}"), extra)
        read_results(results, step)
    if code and not step.counts["failed"]:  # pytest itself broke, after the tests
        step.counts["failed"] += 1
    return step


def _skipped_notebooks():
    return Step("notebooks", Counter(skipped=1), Counter({"notebooks: run `course test` without --quick": 1}))


def _run(root, step, arguments, extra=None):
    print(f"\n== {step.name}", flush=True)
    start = time.monotonic()
    code = subprocess.run(
        [sys.executable, *arguments], cwd=root, env=_environment(root, extra or {}), check=False
    ).returncode
    step.seconds = time.monotonic() - start
    return code


def _environment(root, extra):
    # One thread for each of the two processes, and this folder's course_utils, whatever is installed.
    path = os.pathsep.join(filter(None, [str(root), os.environ.get("PYTHONPATH")]))
    return {"OMP_NUM_THREADS": "1", **os.environ, "PYTHONPATH": path, **extra}


def _in_words(counts):
    return ", ".join(f"{counts[kind]} {kind}" for kind in ("passed", "failed", "skipped") if counts[kind])
