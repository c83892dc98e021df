"""Arguments that several commands share, and how they print paths, threads and problems. No command is here."""

import argparse
import math
import shlex
import sys
from collections.abc import Callable
from pathlib import Path

from course_utils.base.paths import PRETRAINED
from course_utils.base.words import count


def at_least(least: float, kind: type) -> Callable[[str], float]:
    """Return a function that reads an int or a float, as `kind` says, of at least `least`."""

    def read(text):
        try:
            number = kind(text)
        except ValueError:
            number = math.nan
        if not least <= number < math.inf:
            words = "a whole number" if kind is int else "a number"
            raise argparse.ArgumentTypeError(f"expected {words} of at least {least}, not {text!r}")
        return number

    return read


def add_device(parser: argparse.ArgumentParser) -> None:
    """Add --device and --threads."""
    parser.add_argument("--device", default="auto", help="auto (if left out: a GPU where there is one), cpu or cuda")
    parser.add_argument(
        "--threads",
        type=at_least(1, int),
        metavar="N",
        help="of the CPU; if left out, PyTorch's choice, and 1 for training in the generated world",
    )


def add_search(parser: argparse.ArgumentParser) -> None:
    """Add what determines a translation: --model, --width, --alpha."""
    shipped = sorted(path.parent.name for path in PRETRAINED.glob("*/subwords.json"))
    words = f"a run's folder, or a model of the course: {', '.join(shipped)}; transformer-en-de if left out"
    parser.add_argument("--model", metavar="NAME", help=words)
    parser.add_argument("--width", type=at_least(1, int), default=5, help="of the beam; 5 if left out, 1 is greedy")
    words = "exponent of the length penalty; 1.2 if left out"
    parser.add_argument("--alpha", type=at_least(0, float), default=1.2, help=words)


def add_mistakes(parser: argparse.ArgumentParser) -> None:
    """Add --mistakes."""
    words = "mistakes of your own; if left out, course_mistakes.md in the folder of the course's code"
    parser.add_argument("--mistakes", metavar="FILE", type=Path, help=words)


def add_handing_out(parser: argparse.ArgumentParser) -> None:
    """Add --settings, --mistakes and --force, for writing files for a class."""
    words = "the class's points and late rule, one small TOML file; the tasks' own points if left out"
    parser.add_argument("--settings", metavar="FILE", type=Path, help=words)
    add_mistakes(parser)
    parser.add_argument("--force", action="store_true", help="also over files that hold something else")


def use_mistakes(options: argparse.Namespace) -> None:
    """Use the instructor's own mistakes, and say where they come from. Raises `CourseError` for the first that is of no use."""
    from course_utils.grading.judging import own_mistakes

    layers = own_mistakes.layers_here()
    mistakes = own_mistakes.use_own(options.mistakes, here=layers is None)
    if mistakes or Path(own_mistakes.FILE).is_file():
        print(own_mistakes.source_in_words(mistakes, options.mistakes), file=sys.stderr)
    own_mistakes.must_be_of_use(mistakes, layers, options.mistakes)


def report(problems: list[str]) -> int:
    """Print the problems, a line each, and return the exit code."""
    for problem in problems:
        print(problem, file=sys.stderr)
    return 1 if problems else 0


def quoted(path: Path) -> str:
    """Return a path as a command line takes it, even on Windows."""
    return shlex.quote(path.as_posix())


def threads() -> str:
    """Return how many CPU threads PyTorch uses, in words."""
    import torch

    return count(torch.get_num_threads(), "thread")


def how_to_resume(run: Path) -> str:
    """Name the command that resumes a run."""
    return f"`course train --resume {quoted(run)}` goes on"
