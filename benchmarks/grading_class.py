"""Grades a large class with `course grade`: rate, time of a submission, the parent's memory; and kills it on the way.

    python benchmarks/grading_class.py [--submissions 10000] [--workers 2] [--seed 0] [--kill 0]

Writes submissions of lesson 03, four tasks each, in the styles of `grading_nbgrader.py`: right, wrong, unfinished; one in
100 is hostile or no notebook. Grades them as a user does. With --kill N it grades them once more into another folder, kills
a worker, a fork server or the parent N times at random moments, goes on each time, and compares every export, seconds and
times aside. Promised: 10,000 in ten minutes on two cores; memory that stays flat; the same gradebook, byte for byte. Exits
1 when that is broken.
"""

import argparse
import json
import os
import platform
import random
import re
import signal
import statistics
import subprocess
import sys
import tempfile
import time
from contextlib import suppress
from pathlib import Path

import psutil
import torch
from grading_nbgrader import LESSON, ROOT, answer_sheets, filled

from course_utils.grading.handing_out import release

RATE = 10_000 / 600  # submissions a second, promised
GROWTH = 32  # MB that the parent may grow by after the first tenth; a result's place takes some 400 bytes
HOSTILE = {
    "03.padding_mask": [
        "def padding_mask(lengths, size):\n    while True:\n        pass",
        "def padding_mask(lengths, size):\n    return torch.ones(10**6, 10**6)",
        "import os\ndef padding_mask(lengths, size):\n    os._exit(0)",
        "def padding_mask(lengths, size):\n    return padding_mask(lengths, size)",
    ],
    "03.causal_mask": [
        "while True:\n    print('x' * 10**6)",
        "import os\nwhile True:\n    os.fork()",
        "held = []\nwhile True:\n    held.append(bytearray(10**8))",
        "def causal_mask(size):\n    try:\n        while True:\n            pass\n    except BaseException:\n        return causal_mask(size)",
    ],
}


def write_class(folder: Path, number: int, seed: int) -> set[str]:
    """Write that many students' submissions; return who is hostile."""
    draw, hostile = random.Random(seed), set()
    blank = release.stamped(release.read_built(ROOT, "exercises", LESSON), LESSON)
    folder.mkdir()
    for i, sheet in enumerate(answer_sheets(number, seed)):
        student = f"s{i:06}"
        text = json.dumps(filled(blank, sheet))
        if i % 100 == 50:
            hostile.add(student)
            task = draw.choice(list(HOSTILE))
            text = json.dumps(filled(blank, sheet | {task: draw.choice(HOSTILE[task])}))
            text = text[: len(text) // 2] if draw.random() < 0.2 else text
        (folder / f"{student}.ipynb").write_text(text, encoding="utf-8")
    return hostile


class Grading:
    """A running `course grade`, and how far its journal is."""

    def __init__(self, submissions: Path, out: Path, workers: int, seed: int):
        self._journal, self._place, self.done = out / "journal.jsonl", 0, -1  # the header is no result
        line = [sys.executable, "-m", "course_utils", "grade", submissions, "--out", out]
        line += ["--workers", str(workers), "--seed", f"{2**127 + seed:032x}", "--title", "Large class"]
        self.process = subprocess.Popen(line, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        self.parent = psutil.Process(self.process.pid)

    def look(self) -> int:
        """How many results the journal holds."""
        with suppress(FileNotFoundError), open(self._journal, "rb") as file:
            file.seek(self._place)
            new = file.read()
            whole = new[: new.rfind(b"\n") + 1]
            self._place += len(whole)
            self.done += whole.count(b"\n")
        return max(0, self.done)

    def memory(self) -> float:
        """Of the parent alone, MB that nobody shares."""
        with suppress(psutil.Error):
            return self.parent.memory_full_info().uss / 1e6
        return 0.0

    def cpu(self) -> float:
        """Seconds that all living processes of it have used so far, and those they waited for."""
        total = 0.0
        with suppress(psutil.Error):
            for process in [self.parent, *self.parent.children(recursive=True)]:
                with suppress(psutil.Error):
                    total += sum(process.cpu_times()[:4])
        return total

    def family(self, kind: str) -> list[psutil.Process]:
        """The parent, the workers, or their fork servers."""
        with suppress(psutil.Error):
            workers = [p for p in self.parent.children() if "spawn_main" in " ".join(p.cmdline())]
            servers = [p for worker in workers for p in worker.children() if "fork_server" in " ".join(p.cmdline())]
            return {"parent": [self.parent], "worker": workers, "fork server": servers}[kind]
        return []

    def ended(self) -> bool:
        if self.process.poll() is None:
            return False
        if self.process.returncode not in (0, 1, -signal.SIGKILL):
            raise RuntimeError(f"course grade gave {self.process.returncode}: {self.process.stderr.read()[-2000:]}")
        return True


def grade(submissions, out, options) -> dict:
    """Grade undisturbed; what was measured."""
    start = time.perf_counter()
    running, memory, cpu, graded = Grading(submissions, out, options.workers, options.seed), {}, 0.0, 0.0
    step = max(1, options.submissions // 10)
    while not running.ended():
        done = running.look()
        if done and done // step not in memory:
            memory[done // step] = running.memory()
        if done >= options.submissions and not graded:
            graded = time.perf_counter() - start
        cpu = max(cpu, running.cpu())
        time.sleep(0.1)
    seconds = time.perf_counter() - start
    return {"seconds": seconds, "graded": graded or seconds, "cpu": cpu, "memory": [memory[t] for t in sorted(memory)]}


def grade_and_kill(submissions, out, options) -> list[str]:
    """Grade, kill on the way, go on; what was killed and when."""
    draw = random.Random(options.seed)
    moments = sorted(draw.sample(range(1, options.submissions), options.kill))
    running, killed = Grading(submissions, out, options.workers, options.seed), []
    while True:
        if running.ended():
            if running.process.returncode >= 0:
                return killed
            running = Grading(submissions, out, options.workers, options.seed)
        if moments and running.look() >= moments[0]:
            kind = draw.choice(["worker", "fork server", "parent"])
            time.sleep(draw.random() * 0.2)
            with suppress(psutil.Error, IndexError):  # there may be none of the kind just now
                draw.choice(running.family(kind)).kill()
                killed.append(f"{kind} at {running.done:,}")
                moments.pop(0)
        time.sleep(0.02)


def exports(out: Path) -> dict[str, str]:
    """All results as texts, without the journal, the seconds in class.html and when grading began."""
    found = {}
    for path in sorted(out.rglob("*")):
        if path.is_file() and not path.name.startswith("journal."):
            found[path.relative_to(out).as_posix()] = path.read_text(encoding="utf-8")
    found["ags.json"] = re.sub(r'("timestamp": )"[^"]*"', r"\1", found["ags.json"])
    found["class.html"] = re.sub(
        "<section aria-labelledby='slowest'>.*?</section>", "", found["class.html"], flags=re.S
    )
    return found


def differences(ours: dict[str, str], theirs: dict[str, str]) -> list[str]:
    """Sentences on files that differ, with the first line that does."""
    said = [f"{name} is in one of them only" for name in sorted(ours.keys() ^ theirs.keys())]
    for name in sorted(ours.keys() & theirs.keys()):
        if ours[name] != theirs[name]:
            lines = zip(ours[name].splitlines(), theirs[name].splitlines(), strict=False)
            said.append(f"{name} differs: {next((pair for pair in lines if pair[0] != pair[1]), 'in length')}"[:600])
    return said


def report(measured: dict, out: Path, hostile: set[str], options) -> bool:
    """Print what was measured; whether it is as promised."""
    lines = [json.loads(line) for line in (out / "journal.jsonl").read_text(encoding="utf-8").splitlines()[1:]]
    honest = sorted(line["seconds"] for line in lines if line["student"] not in hostile)
    worst = max((line["seconds"] for line in lines if line["student"] in hostile), default=0.0)
    rate, memory = options.submissions / measured["seconds"], measured["memory"]
    grown = memory[-1] - memory[min(1, len(memory) - 1)] if memory else 0.0
    print(f"{measured['graded']:8.1f} s to grade, {measured['seconds']:.1f} s with all results written")
    print(f"{rate:8.1f} submissions a second (promised {RATE:.1f} on two cores)")
    print(f"{1000 * statistics.median(honest):8.0f} ms for an honest submission, median")
    print(f"{1000 * honest[int(0.99 * (len(honest) - 1))]:8.0f} ms, 99th percentile")
    print(f"{worst:8.1f} s for the slowest hostile one, of {len(hostile)}")
    print(f"{measured['cpu'] / options.submissions:8.3f} CPU seconds a submission, everything included")
    print(f"{(out / 'journal.jsonl').stat().st_size / options.submissions:8.0f} bytes of journal a submission")
    print(
        f"{'':8} parent's memory at each tenth, MB: {' '.join(f'{mb:.0f}' for mb in memory)}; {grown:+.1f} after the first"
    )
    return rate >= RATE and grown <= GROWTH and len(lines) == options.submissions


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--submissions", type=int, default=10_000)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--kill", type=int, default=0, help="processes to kill in a second run")
    options = parser.parse_args()
    print(f"Python {platform.python_version()}, torch {torch.__version__}, {os.cpu_count()} cores, ", end="")
    print(f"load {os.getloadavg()[0]:.1f} before; {options.submissions:,} submissions, {options.workers} workers")
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        hostile = write_class(folder / "submissions", options.submissions, options.seed)
        measured = grade(folder / "submissions", folder / "undisturbed", options)
        good = report(measured, folder / "undisturbed", hostile, options)
        if options.kill:
            killed = grade_and_kill(folder / "submissions", folder / "disturbed", options)
            said = differences(exports(folder / "undisturbed"), exports(folder / "disturbed"))
            print(f"killed on the way: {', '.join(killed)}", *said, sep="\n")
            print("after which the results are " + ("others" if said else "the same, byte for byte"))
            good = good and not said and bool(killed)
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
