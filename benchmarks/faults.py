"""How much the usual run of the tests finds of what the whole suite finds: faults are put into a copy of the course, one at a time.

Two thirds of the faults in faults.toml are fixes from the history, undone; the others are new. Each names the test that is known to
notice it, where one is known, and is tried by it first: a test that fails in the usual run has found it. A fault that this does not
find is tried by all tests that hang on its files, and by the notebooks that do.

    python benchmarks/faults.py [NAMES] [--out faults.csv]

Prints for each fault whether the usual run and the whole suite find it, and by which test, and last of all the sums. A fault whose text
is no longer in its file is told as such, and counts for nothing. Takes about a minute a fault.
"""

import argparse
import csv
import json
import os
import subprocess
import sys
import sysconfig
import tempfile
import time
import venv
from collections import Counter
from pathlib import Path

from course_utils.authoring import impact
from course_utils.authoring.testing import NBVAL, NOTEBOOKS_ALONE, RUN_BY_NBVAL, TESTS
from course_utils.base.environment import tomllib

ROOT = Path(__file__).resolve().parents[1]
FAULTS = Path(__file__).with_name("faults.toml")
USUAL = ("-m", "not thorough")
REST = ("-m", "thorough")
NO_TESTS = 5  # pytest's exit code
TWO = ("-n", "2", "--dist", "loadfile")  # processes; a notebook's cells need each other


class Copy:
    """A clone of the course as it is committed, with an environment of its own in which it is installed."""

    def __init__(self, folder):
        self.root = Path(folder) / "course"
        subprocess.run(["git", "clone", "-q", ROOT, self.root], check=True)
        venv.create(self.root / ".venv", with_pip=False)
        bin = self.root / ".venv" / "bin"
        site = next((self.root / ".venv" / "lib").glob("python*/site-packages"))
        # What is installed here, and this copy of the course; links of an editable installation are not followed from there.
        (site / "course.pth").write_text(f"{self.root}\n{sysconfig.get_path('purelib')}\n", encoding="utf-8")
        (bin / "ruff").symlink_to(Path(sys.executable).parent / "ruff")
        self.python = bin / "python"

    def apply(self, fault):
        """Put a fault in; return the names of the files it changes, or none where its text is no longer there."""
        self.restore()
        texts = {}
        for edit in fault["edit"]:
            text = texts.get(edit["file"]) or (self.root / edit["file"]).read_text(encoding="utf-8")
            if text.count(edit["old"]) != 1:
                return set()
            texts[edit["file"]] = text.replace(edit["old"], edit["new"])
        for name, text in texts.items():
            (self.root / name).write_text(text, encoding="utf-8")
        return set(texts)

    def restore(self):
        """Take all faults out."""
        subprocess.run(["git", "checkout", "-q", "."], cwd=self.root, check=True)

    def fails(self, *arguments, names=None, extra=None):
        """Run pytest and return the first test that fails, or None."""
        tests = impact.as_variable(names) if names else {}
        environment = {**os.environ, "OMP_NUM_THREADS": "1", "PYTHONPATH": str(self.root), **tests, **(extra or {})}
        environment.pop("PYTHONDONTWRITEBYTECODE", None)
        options = ("-x", "-q", "-p", "no:cacheprovider", "--tb=no")
        command = [self.python, "-m", "pytest", *options, *arguments, "-rfE"]  # last, as the arguments have an -r, too
        done = subprocess.run(command, cwd=self.root, env=environment, capture_output=True, text=True)
        found = [line.split(" ", 1)[1] for line in done.stdout.splitlines() if line.startswith(("FAILED ", "ERROR "))]
        if found or done.returncode in (0, NO_TESTS):
            return found[0].split(" - ")[0] if found else None
        return f"pytest ended with {done.returncode}"

    def stale(self):
        """Return what `course build --check` or `course lint` says first, or None."""
        for words in (["build", "--check"], ["lint"]):
            done = subprocess.run(
                [self.python, "-m", "course_utils", *words], cwd=self.root, capture_output=True, text=True
            )
            if done.returncode:
                return f"{' '.join(words)}: {(done.stdout + done.stderr).strip().splitlines()[0]}"
        return None


def find(copy, fault, names):
    """Return (what finds it in the usual run, what finds it in the whole suite), None for nothing."""
    known = fault["test"]
    if "::" in known:
        if by := copy.fails(known, *TESTS[2:], *USUAL):
            return by, by
        if by := copy.fails(known, *TESTS[2:]):
            return search(copy, fault, names), by
    usual = search(copy, fault, names)
    return usual, usual or copy.fails(*TESTS, *REST, "-p", impact.__name__, *TWO, names=names)


def search(copy, fault, names):
    """Return what finds a fault among all of the usual run that hangs on the files it changes, or None."""
    # After a change to the package, every notebook is stale until it is built again, with the fault in it: this finds nothing.
    if not any(name.startswith("course_utils/") for name in names) and (by := copy.stale()):
        return by
    if by := copy.fails(*TESTS, *USUAL, "-p", impact.__name__, *TWO, names=names):
        return by
    notebooks = impact.notebooks(copy.root, names, RUN_BY_NBVAL)
    if not notebooks or not (by := copy.fails(*notebooks, *NBVAL, *TWO, extra=NOTEBOOKS_ALONE)):
        return None
    copy.restore()
    alike = copy.fails(by.partition("::")[0], *NBVAL, extra=NOTEBOOKS_ALONE)  # without the fault
    copy.apply(fault)
    return None if alike else by


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("names", nargs="*", help="the faults to try; all, where none is named")
    parser.add_argument("--out", type=Path, help="a CSV file for the results")
    options = parser.parse_args()
    faults = tomllib.loads(FAULTS.read_text(encoding="utf-8"))["fault"]
    faults = [fault for fault in faults if not options.names or fault["name"] in options.names]
    counts, rows = Counter(), []
    with tempfile.TemporaryDirectory() as folder:
        copy = Copy(folder)
        for fault in faults:
            started, names = time.monotonic(), copy.apply(fault)
            usual, whole = find(copy, fault, names) if names else (None, None)
            told = "no longer there" if not names else "usual" if usual else "whole suite only" if whole else "nothing"
            counts[told] += 1
            rows.append([fault["name"], fault["package"], fault["origin"], told, usual or whole or ""])
            print(
                f"{fault['name']:50} {told:17} {time.monotonic() - started:4.0f} s  {usual or whole or ''}", flush=True
            )
            if options.out:
                with options.out.open("w", newline="", encoding="utf-8") as file:
                    csv.writer(file).writerows([["name", "package", "origin", "found by", "first"], *rows])
    print(json.dumps(counts))


if __name__ == "__main__":
    main()
