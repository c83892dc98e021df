"""`course grade`: submissions in, results out. The work, stage by stage, is `grade_class` in `grading/pipeline.py`."""

import argparse
import os
import re
import sys
from pathlib import Path

from course_utils.commands._arguments import add_mistakes

WORDS = "Grade a class's notebooks, locked in, and write gradebooks and feedback."
WRITTEN = ("class.html", "grades.csv", "feedback/")


def add_arguments(parser) -> None:
    """Add submissions and results, and the options for points, inputs and where the work is done."""
    parser.add_argument("submissions", metavar="SUBMISSIONS", type=Path, help="notebooks, or a folder for each student")
    parser.add_argument(
        "--out", metavar="RESULTS", type=Path, required=True, help="the folder of results, made or gone on with"
    )
    parser.add_argument(
        "--lessons", nargs="+", metavar="LESSON", help="such as 03 04; if left out, those that many students handed in"
    )
    parser.add_argument(
        "--roster", metavar="FILE", type=Path, help="a CSV with a column student; also name, email, submitted"
    )
    parser.add_argument(
        "--settings", metavar="FILE", type=Path, help="a TOML file: points, tasks left out, late rule, limits"
    )
    parser.add_argument(
        "--overrides", metavar="FILE", type=Path, help="a CSV: student, task, points, extension, comment"
    )
    add_mistakes(parser)
    parser.add_argument(
        "--title", default="", help="the name of the assignment in gradebooks; the lesson's if left out"
    )
    parser.add_argument(
        "--seed", type=seed, metavar="HEX", help="of the inputs, a secret of 32 hexadecimal digits; drawn if left out"
    )
    parser.add_argument("--workers", type=int, help="notebooks graded at once; as many as cores if left out")
    parser.add_argument("--scheduler", metavar="ADDRESS", help="of a dask cluster that grades, such as tcp://host:8786")
    parser.add_argument("--unsafe", action="store_true", help="grade also where learners' code cannot be locked in")


def seed(text: str) -> int:
    """Read a seed: 32 hexadecimal digits."""
    if not re.fullmatch("[0-9a-fA-F]{32}", text):
        raise argparse.ArgumentTypeError(
            'expected 32 random hexadecimal digits, as `python -c "import secrets; print(secrets.token_hex(16))"` prints: '
            "whoever tries out a short seed knows the inputs"
        )
    return int(text, 16)


def run(options) -> int:
    """Grade and print a summary; 1 if a file could not be graded."""
    sys.path[:] = filter(
        os.path.isabs, sys.path
    )  # import nothing from the current folder, which may be one of submissions
    # A sign of life at once: the next imports take seconds.
    print(f"Looking through {options.submissions.as_posix()} …", file=sys.stderr, flush=True)
    from contextlib import ExitStack

    from course_utils.base.progress_bar import shown_steps
    from course_utils.grading.pipeline import UNSAFE, grade_class

    shown, step = ExitStack(), None  # begun once it is known what there is to grade

    def begin(what):
        nonlocal step
        if what.without_locks:
            print(UNSAFE, file=sys.stderr)
        if what.why_lessons:
            print(what.why_lessons)
        print(what.mistakes_in_words, file=sys.stderr)
        without = len(what.found) - what.files
        print(f"Files handed in: {what.files:,}. Students without a file: {without:,}.", file=sys.stderr)
        step = shown.enter_context(shown_steps("Graded", "files", what.files))

    def graded(new, taken):
        shown.close()
        print(f"Graded now: {new:,}. Taken from the journal: {taken:,}.")

    taken = (
        "submissions",
        "out",
        "lessons",
        "roster",
        "settings",
        "overrides",
        "mistakes",
        "title",
        "seed",
        "workers",
        "scheduler",
        "unsafe",
    )
    try:
        with shown:
            arguments = {name: getattr(options, name) for name in taken}
            done = grade_class(**arguments, begin=begin, step=lambda: step(), graded=graded)
    except KeyboardInterrupt:
        print("\nStopped. The same command goes on where it stopped.", file=sys.stderr)
        raise
    lessons = ", ".join(done.lessons) or "none"
    print(
        f"Lessons: {lessons}. Files handed in: {done.handed_in:,}. Files that could not be graded: {done.problems:,}."
    )
    if done.strangers:
        print(f"Handed in by somebody who is not on the roster: {done.strangers:,}. class.html lists who that is.")
    print(f"Results: {options.out.as_posix()} ({', '.join(WRITTEN)}, and more). Begin with class.html.")
    return 1 if done.problems else 0
