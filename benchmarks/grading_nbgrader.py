"""How many submissions a second: nbgrader's autograde and `course grade`, on the same answers, taking turns.

    python benchmarks/grading_nbgrader.py [--cores 1] [--rounds 3] [--nbgrader 8] [--ours 1000] [--seed 0]

Writes submissions of lesson 03, four tasks each, right, wrong and unfinished in different styles. In every round nbgrader
grades some of them and `course grade` others, each as a user starts it, start-up included; both are held to as many cores.
With several, `course grade` has a worker for each; nbgrader takes one submission after the other, as it always does.
The answers of nbgrader's submissions are graded by both, and what they earn is compared. Prints minimum, median and
maximum over the rounds, also of the CPU time that a submission takes, which other work on the machine alters less, and
of our submissions' times median and 99th percentile. Promised: at least 100 times nbgrader's
rate, a median of 50 ms and a 99th percentile of 150 ms. Exits 1 when that, or the agreement, is broken.

nbgrader is installed for this into build/nbgrader-venv, which git ignores; what is installed here already serves there too.
"""

import argparse
import copy
import csv
import hashlib
import json
import os
import platform
import random
import shutil
import statistics
import subprocess
import sys
import sysconfig
import tempfile
import time
import venv
from pathlib import Path

import torch
from filelock import FileLock

from course_utils.checks.catalogue import solutions
from course_utils.grading.handing_out import nbgrader, release
from course_utils.grading.ingest.class_settings import Settings

ROOT = Path(__file__).resolve().parents[1]
NBGRADER = "nbgrader==0.9.6"
LESSON = "03_queries_keys_values"
TIMES_FASTER, MEDIAN, P99 = 100, 0.050, 0.150  # promised; seconds a submission
SCORES = """
import json
from nbgrader.api import Gradebook

with Gradebook("sqlite:///gradebook.db") as gradebook:
    found = gradebook.assignment_submissions("03")
    print(json.dumps({s.student.id: {g.name: g.score for n in s.notebooks for g in n.grades} for s in found}))
"""

# Answers beside the course's own; None is an exercise not begun.
STYLES = {
    "03.padding_mask": [
        """
def padding_mask(lengths, size):
    return torch.stack([torch.arange(size) < k for k in lengths])""",
        """
def padding_mask(lengths, size):
    mask = torch.zeros(len(lengths), size, dtype=torch.bool)
    for b, n in enumerate(lengths):
        mask[b, :n] = True
    return mask""",
        """
def padding_mask(lengths, size):
    return torch.arange(size) <= lengths[:, None]""",
        """
def padding_mask(lengths, size):
    return (torch.arange(size) < lengths[:, None]).float()""",
        None,
    ],
    "03.causal_mask": [
        """
causal_mask = lambda n: ~torch.triu(torch.ones(n, n), diagonal=1).bool()""",
        """
def causal_mask(size):
    return torch.tensor([[j <= i for j in range(size)] for i in range(size)])""",
        """
def causal_mask(size):
    return torch.ones(size, size, dtype=torch.bool).triu()""",
        """
def causal_mask(size):
    return torch.ones(size).tril()""",
        None,
    ],
    "03.attention": [
        """
def scores_of(q, k):
    return torch.einsum("btd,bsd->bts", q, k)


def attention(q, k, v, m=None):
    scores = scores_of(q, k)
    if m is not None:
        scores = scores + (~m).to(scores.dtype) * torch.finfo(scores.dtype).min / 2
    w = torch.softmax(scores, 2)
    w = w if m is None else w * m
    return torch.einsum("bts,bse->bte", w, v), w""",
        """
def attention(query, key, value, mask=None):
    B, T, _ = query.shape
    S, E = key.shape[1], value.shape[2]
    weights, context = torch.zeros(B, T, S, dtype=query.dtype), torch.zeros(B, T, E, dtype=query.dtype)
    for b in range(B):
        for t in range(T):
            keep = [s for s in range(S) if mask is None or mask[b, t, s]]
            if not keep:
                continue
            w = torch.stack([query[b, t] @ key[b, s] for s in keep]).softmax(0)
            for i, s in enumerate(keep):
                weights[b, t, s] = w[i]
                context[b, t] = context[b, t] + w[i] * value[b, s]
    return context, weights""",
        """
def attention(query, key, value, mask=None):
    scores = query @ key.mT / query.shape[-1] ** 0.5
    if mask is not None:
        scores = scores.masked_fill(~mask, -1e9)
    weights = scores.softmax(-1)
    return weights @ value, weights""",
        """
def attention(query, key, value, mask=None):
    weights = (query @ key.transpose(0, 1)).softmax(-1)
    return weights @ value, weights""",
        None,
    ],
    "03.catch_wrong_attention": [
        """
def catch_wrong_attention(candidate):
    try:
        for seed in range(3):
            g = torch.Generator().manual_seed(seed)
            q, k, v = (torch.randn(s, generator=g) for s in ((3, 4, 6), (3, 5, 6), (3, 5, 2)))
            m = torch.rand(3, 4, 5, generator=g) > 0.4
            m[1, 2] = False
            for mask in (m, None):
                torch.testing.assert_close(tuple(candidate(q, k, v, mask)), reference(q, k, v, mask), atol=1e-5, rtol=1e-4)
    except Exception:
        return False
    return True""",
        """
def catch_wrong_attention(candidate):
    q = torch.randn(1, 2, 3)
    return torch.allclose(candidate(q, q, q, None)[0], reference(q, q, q, None)[0], atol=1e-5)""",
        """
def catch_wrong_attention(candidate):
    return True""",
        None,
    ],
}


def environment() -> Path:
    """Make, once for these pins, an environment with nbgrader on top of this one; return the folder of its programs."""
    base = sysconfig.get_paths()["purelib"]
    pins = (ROOT / "constraints.txt").read_bytes() + f"{NBGRADER} {sys.version} {base}".encode()
    folder = ROOT / "build" / "nbgrader-venv" / hashlib.sha256(pins).hexdigest()[:12]
    programs = folder / ("Scripts" if os.name == "nt" else "bin")
    folder.parent.mkdir(parents=True, exist_ok=True)
    with FileLock(folder.with_suffix(".lock")):
        if not (folder / "ready").exists():
            layered_environment(folder, "-c", str(ROOT / "constraints.txt"), NBGRADER)
            subprocess.run(
                [programs / "python", "-m", "ipykernel", "install", "--sys-prefix"], check=True, capture_output=True
            )
            (folder / "ready").touch()
    return programs


def layered_environment(folder: Path, *install: str) -> None:
    """Make an environment that also sees what is installed here, and pip-install into it what that lacks."""
    venv.create(folder, clear=True, symlinks=os.name != "nt")
    python = folder / ("Scripts/python.exe" if os.name == "nt" else "bin/python")
    asked = [python, "-c", "import sysconfig; print(sysconfig.get_paths()['purelib'])"]
    site = subprocess.run(asked, check=True, capture_output=True, text=True).stdout.strip()
    Path(site, "below.pth").write_text(f"import site; site.addsitedir({sysconfig.get_paths()['purelib']!r})\n")
    if install:
        pip = [python, "-m", "pip", "--quiet", "--disable-pip-version-check", "install", *install]
        done = subprocess.run(pip, capture_output=True, text=True)
        if done.returncode:
            raise OSError(f"pip could not install {install[-1]}: {done.stderr.strip()[-500:]}")


def settings(folder: Path) -> dict[str, str]:
    """Environment variables for nbgrader: this course, this environment's kernel, and nothing of the user's Jupyter."""
    return {
        "PYTHONPATH": str(ROOT),
        "JUPYTER_CONFIG_DIR": str(folder / ".jupyter"),
        "JUPYTER_DATA_DIR": str(folder / ".jupyter"),
        "JUPYTER_PATH": str(Path(sys.prefix, "share", "jupyter")),  # the pages' templates, of the environment below
        "JUPYTER_PREFER_ENV_PATH": "1",
        "OMP_NUM_THREADS": "1",
    }


def run(folder: Path, *command, programs: Path) -> str:
    """Run a command in a folder, the programs of another folder before all others; return what it prints."""
    path = os.pathsep.join([str(programs), os.environ["PATH"]])
    environment = {**os.environ, **settings(folder), "PATH": path}
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True)
    if done.returncode:
        said = (done.stdout + done.stderr)[-3000:]
        raise RuntimeError(f"`{' '.join(map(str, command))}` gave {done.returncode}:\n{said}")
    return done.stdout


def nbgrader_course(folder: Path, programs: Path, names: list[str] = ("03",)) -> None:
    """Write the course for nbgrader and let nbgrader make its assignments for the learners, in release/."""
    nbgrader.export(ROOT, list(names), folder, Settings())
    for name in names:
        run(folder, programs / "nbgrader", "generate_assignment", name, programs=programs)


def filled(notebook: dict, answered: dict) -> dict:
    """A copy of a learner's notebook with answers, as {"03.attention": code or None}, in place of the stubs."""
    notebook = copy.deepcopy(notebook)
    for cell, following in zip(notebook["cells"], notebook["cells"][1:], strict=False):
        text, check = "".join(cell["source"]), "".join(following["source"])
        task = next((task for task in answered if f'check("{task}"' in check), None)
        if task and "raise NotImplementedError" in text and answered[task]:
            cell["source"] = answered[task].strip("\n")
    return notebook


def answer_sheets(number: int, seed: int):
    """That many sheets of answers, in different styles: most right, some wrong, some unfinished."""
    draw = random.Random(seed)
    own = solutions()
    for _ in range(number):
        yield {task: draw.choice([own[task], *styles]) for task, styles in STYLES.items()}


def hand_in(path: Path, notebook: dict, answered: dict) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(filled(notebook, answered)), encoding="utf-8")


def read(path: Path) -> dict:
    return json.loads(path.read_text(encoding="utf-8"))


def timed(*arguments, **options) -> tuple[float, float]:
    """Run a command and return its seconds, by the clock and of CPU time."""
    start, before = time.perf_counter(), os.times()
    run(*arguments, **options)
    after = os.times()
    cpu = after.children_user + after.children_system - before.children_user - before.children_system
    return time.perf_counter() - start, cpu


def grade_nbgrader(course: Path, programs: Path) -> tuple[float, float]:
    """Let nbgrader grade what lies in submitted/; return the seconds, by the clock and of CPU time."""
    return timed(course, programs / "nbgrader", "autograde", "03", programs=programs)


def scores(course: Path, programs: Path) -> dict[str, dict[str, float]]:
    """What nbgrader's gradebook holds: {student: {name of a graded cell: points}}."""
    return json.loads(run(course, programs / "python", "-c", SCORES, programs=programs))


def grade_ours(folder: Path, results: Path, workers: int) -> tuple[float, float, list[float], dict]:
    """Let `course grade` grade a folder; return seconds, CPU seconds, the seconds of each submission, grades.csv's rows."""
    command = [sys.executable, "-m", "course_utils", "grade", folder, "--out", results, "--workers", str(workers)]
    seconds, cpu = timed(folder.parent, *command, programs=Path(sys.executable).parent)
    lines = (results / "journal.jsonl").read_text(encoding="utf-8").splitlines()
    each = [entry["seconds"] for entry in map(json.loads, lines) if entry.get("verdicts")]
    with open(results / "grades.csv", encoding="utf-8-sig", newline="") as file:
        return seconds, cpu, each, {row["student"]: row for row in csv.DictReader(file)}


def disagreements(theirs: dict, ours: dict) -> list[str]:
    """Sentences on tasks that nbgrader and we gave different points for."""
    sentences = []
    for student, grades in theirs.items():
        for cell, points in grades.items():
            task = cell.removesuffix("_graded").replace("_", ".", 1)
            own = float(ours[student][f"{task} points"])
            if own != points:
                sentences.append(f"{student}, {task}: nbgrader {points:g}, ours {own:g}")
    return sentences


def hold_to(cores: int) -> str:
    """Hold this process, and all that it starts, to so many cores, where the system can do so; say what came of it."""
    if not hasattr(os, "sched_setaffinity"):
        return "all cores: this system does not hold a process to some"
    os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[:cores])
    return f"{len(os.sched_getaffinity(0))} of {os.cpu_count()} cores"


def spread(values):
    return f"{min(values):8.3f} {statistics.median(values):8.3f} {max(values):8.3f}"


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--cores", type=int, default=1)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--nbgrader", type=int, default=8, help="submissions that nbgrader grades in a round")
    parser.add_argument("--ours", type=int, default=1000, help="submissions that `course grade` grades in a round")
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    programs = environment()
    print(
        f"Python {platform.python_version()}, torch {torch.__version__}, {platform.processor() or platform.machine()}, {hold_to(options.cores)}"
    )
    with tempfile.TemporaryDirectory() as temporary:
        return measure(Path(temporary), programs, options)


def measure(folder: Path, programs: Path, options) -> int:
    course = folder / "nbgrader"
    nbgrader_course(course, programs)
    theirs_blank = read(course / "release" / "03" / f"{LESSON}.ipynb")
    ours_blank = release.stamped(release.read_built(ROOT, "exercises", LESSON), LESSON)
    rates, cpu = {"nbgrader": [], "ours": []}, {"nbgrader": [], "ours": []}
    times, wrong, graded = [], [], 0
    for number in range(options.rounds):
        sheets = answer_sheets(max(options.ours, options.nbgrader), options.seed + number)
        students = []
        for i, sheet in enumerate(sheets):
            student = f"s{number}x{i}"
            hand_in(folder / f"round{number}" / student / f"{LESSON}.ipynb", ours_blank, sheet)
            if i < options.nbgrader:
                students.append(student)
                hand_in(course / "submitted" / student / "03" / f"{LESSON}.ipynb", theirs_blank, sheet)
        seconds, cpu_seconds = grade_nbgrader(course, programs)
        rates["nbgrader"].append(len(students) / seconds)
        cpu["nbgrader"].append(cpu_seconds / len(students))
        shutil.rmtree(course / "submitted")
        seconds, cpu_seconds, each, rows = grade_ours(
            folder / f"round{number}", folder / f"results{number}", options.cores
        )
        rates["ours"].append(len(rows) / seconds)
        cpu["ours"].append(cpu_seconds / len(rows))
        times += each
        theirs = {s: grades for s, grades in scores(course, programs).items() if s in students}
        graded += len(theirs)
        wrong += disagreements(theirs, rows)
    return report(rates, cpu, times, wrong, graded)


def report(rates, cpu, times, wrong, graded) -> int:
    ratios = [ours / theirs for ours, theirs in zip(rates["ours"], rates["nbgrader"], strict=True)]
    print(f"{'':42} {'min':>8} {'median':>8} {'max':>8}")
    print(f"{'submissions a second, nbgrader autograde':42} {spread(rates['nbgrader'])}")
    print(f"{'submissions a second, course grade':42} {spread(rates['ours'])}")
    print(f"{'times faster':42} {spread(ratios)}   promised {TIMES_FASTER}")
    print(f"{'CPU seconds a submission, nbgrader':42} {spread(cpu['nbgrader'])}")
    print(f"{'CPU seconds a submission, course grade':42} {spread(cpu['ours'])}")
    middle, late = statistics.median(times), sorted(times)[int(0.99 * (len(times) - 1))]
    print(f"one of our submissions: median {middle * 1000:.0f} ms (promised {MEDIAN * 1000:.0f}), ", end="")
    print(f"99th percentile {late * 1000:.0f} ms (promised {P99 * 1000:.0f}), of {len(times)}")
    print(f"graded by both: {graded} submissions, {len(wrong)} tasks with other points", *wrong, sep="\n")
    return int(statistics.median(ratios) < TIMES_FASTER or middle > MEDIAN or late > P99 or bool(wrong))


if __name__ == "__main__":
    sys.exit(main())
