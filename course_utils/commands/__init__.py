"""The command line, `course`: each file in this folder is one command, with its arguments and its work.

A command has `WORDS`, which its help begins with, `add_arguments(parser)` and `run(options)`, which returns the exit code. Code that
several of them share is in files whose names begin with an underscore. Here: finding the commands, reading arguments, and saying in
one sentence what is wrong. Exit codes: 0 success, 1 problems found, 2 not done, 130 stopped by Ctrl-C.
"""

from __future__ import annotations  # so that an older Python gets a sentence, not a traceback

import argparse
import os
import sys
from importlib import import_module
from pathlib import Path
from pkgutil import iter_modules
from traceback import extract_tb

import course_utils
from course_utils.base import set_up
from course_utils.base.ascii_fallback import use_plain_signs
from course_utils.base.environment import DISTRIBUTION, IN_CLONE, INSTALL, PYTHONS, course_version, right_python
from course_utils.base.errors import CourseError
from course_utils.base.paths import LESSONS, current_folder
from course_utils.base.sanitise import clean, cut
from course_utils.base.words import did_you_mean

AT_MOST = 2000  # characters of a sentence
GROUPS = {  # as the help lists them; commands not named here come last, for authors
    "To learn": ("lab", "update", "progress", "submit", "doctor", "data"),
    "To translate": ("translate", "train", "evaluate"),
    "To teach a class": ("release", "grade", "mistakes", "term", "export", "site"),
}


class Parser(argparse.ArgumentParser):
    """Complains in one sentence, without the usage lines."""

    def error(self, message):
        raise CourseError(f"{message}; `{self.prog} --help` shows how it is used")


def main(arguments: list[str] | None = None) -> int:
    """Run one command and return its exit code; no traceback reaches a user unless COURSE_DEBUG is set."""
    use_plain_signs()
    try:
        return _run(arguments)
    except KeyboardInterrupt:
        return 130
    except BrokenPipeError:  # as in `course doctor | head -1`
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except Exception as error:
        if os.environ.get("COURSE_DEBUG"):
            raise
        print(f"course: {cut(clean(_sentence(error)), AT_MOST)}", file=sys.stderr)  # it may quote a stranger's file
        return 2


def _run(arguments):
    if not right_python():
        oldest, newest, present = (".".join(map(str, version[:2])) for version in (*PYTHONS, sys.version_info))
        raise CourseError(
            f"the course needs Python {oldest} to {newest}, and this is {present}: make its environment anew."
        )
    arguments = sys.argv[1:] if arguments is None else arguments
    parser = make_parser()
    if not arguments:
        parser.print_help()
        return 0
    if arguments[0] == "help":
        arguments = [*arguments[1:2], "--help"]
    _must_be_known(arguments[0])
    options, unknown = parser.parse_known_args(arguments)
    command = vars(options).pop("parser", parser)
    if unknown:
        names = [name for action in command._actions for name in action.option_strings]
        meant = did_you_mean(unknown[0].partition("=")[0], names)
        raise CourseError(
            f"`{command.prog}` does not know {' '.join(unknown)}{meant}: `{command.prog} --help` shows how it is used."
        )
    current_folder()  # must exist: otherwise PyTorch ends the program when a command imports it
    return options.command(options)


def _must_be_known(word):
    """Raise `CourseError` if the first word is neither an option nor a command."""
    names = _names()
    if word.startswith("-") or word in names:
        return
    if word in course_utils.__all__:
        raise CourseError(
            f"`{word}` is no command: call it in a cell of a notebook, as in `{word}(…)`. `course lab` opens the notebooks."
        )
    meant = did_you_mean(word, names)
    raise CourseError(f"there is no command `course {word}`{meant}: `course --help` lists the commands there are.")


def _names():
    return sorted(module.name for module in iter_modules(__path__) if not module.name.startswith("_"))


def _sentence(error):
    if isinstance(error, CourseError):
        return str(error)
    if isinstance(error, OSError) and error.filename:
        meant = _file_meant(error.filename) if isinstance(error, FileNotFoundError) else ""
        return f"cannot use {error.filename}: {error.strerror}{meant}"
    lacking = set_up.missing() if isinstance(error, ModuleNotFoundError) and IN_CLONE else []
    if lacking:
        return _which_python(lacking)
    if type(error).__name__ == "OutOfMemoryError":  # PyTorch's, of a GPU
        return "the GPU's memory is full: set batch_tokens lower, or translate shorter lines at a smaller width"
    words = " ".join(str(error).split())
    where = [
        f"{file}, line {line}" for file, line, *_ in extract_tb(error.__traceback__) if LESSONS in Path(file).parts
    ]
    place = f" at {where[-1]}" if where else ""
    return f"something went wrong{place} ({type(error).__name__}: {words}): set COURSE_DEBUG=1 to see all of it"


def _which_python(lacking):
    """Return a sentence for a Python that lacks packages the course needs, like the one of a notebook's set-up cell."""
    own = set_up.FOLDER / ".venv"
    python = own / ("Scripts/python.exe" if os.name == "nt" else "bin/python")
    remedy = (
        f"use the course's own environment instead, as in `{python} -m course_utils doctor"
        if python.exists()
        else f"run `{INSTALL}"
    )
    return f"this runs in {sys.executable}, which lacks {', '.join(lacking)}: {remedy}`."


def _file_meant(path):
    folder, name = os.path.split(os.fspath(path))
    return did_you_mean(name, os.listdir(folder or ".")) if os.path.isdir(folder or ".") else ""


def make_parser() -> Parser:
    """Return the parser of all commands; parsed options hold the chosen command's `run` as `command`."""
    modules = {name: import_module(f"{__name__}.{name}") for name in _names()}
    parser = Parser(
        prog="course",
        description="Attention, from sums to Transformers: the course's commands.",
        epilog=_grouped({name: module.WORDS for name, module in modules.items()}),
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    version = f"{DISTRIBUTION} {course_version() or 'that is not installed'}, in {Path(__file__).resolve().parents[2]}"
    parser.add_argument("--version", action="version", version=version, help="show the version and its folder")
    words = "one of those below; `course COMMAND --help` shows how it is used"
    commands = parser.add_subparsers(metavar="COMMAND", help=words)
    for name, module in modules.items():
        added = commands.add_parser(name, description=module.WORDS)
        added.set_defaults(command=module.run, parser=added)
        module.add_arguments(added)
    return parser


def _grouped(words):
    """Return the commands and what each does, in groups: argparse itself lists them all in one."""
    others = words.keys() - {name for names in GROUPS.values() for name in names}
    groups = GROUPS | {"To change the course": sorted(others)}
    return "\n\n".join(
        "\n".join([f"{group}:", *(f"  {name:10} {words[name]}" for name in names)]) for group, names in groups.items()
    )
