"""The command line: `course lab`, `doctor`, `build`, `lint`, `data` and `test`.

Here: reading arguments, starting JupyterLab, saying in one sentence what is wrong. Not here: the work of the
other commands, which each imports when it runs. Exit codes: 0 all well, 1 problems found, 2 it was not done.
"""

import argparse
import json
import os
import sys
from importlib.util import find_spec
from pathlib import Path

from course_utils import doctor

EXTRAS = {"lab": "jupyterlab", "test": "nbval"}  # an extra of pyproject.toml -> a module that only it brings


class Wrong(Exception):
    """One sentence for the person at the keyboard: what was expected, what came, what to do."""


class Parser(argparse.ArgumentParser):
    """Complains in one sentence, without the usage lines."""

    def error(self, message):
        raise Wrong(f"{message}; `{self.prog} --help` shows how it is used")


def main(arguments=None) -> int:
    """Run one command and return its exit code; no traceback reaches a user unless COURSE_DEBUG is set."""
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
        print(f"course: {_sentence(error)}", file=sys.stderr)
        return 2


def _run(arguments):
    if not doctor.right_python():
        came = ".".join(map(str, sys.version_info[:2]))
        raise Wrong(f"The course needs Python 3.10 to 3.13, and this is {came}: make its environment anew.")
    parser = _parser()
    options = parser.parse_args(arguments)
    if "command" not in options:
        parser.print_help()
        return 0
    return options.command(options)


def _sentence(error):
    if isinstance(error, Wrong):
        return str(error)
    if isinstance(error, OSError) and error.filename:
        return f"Cannot use {error.filename}: {error.strerror}."
    if type(error).__name__ == "DataError":
        return str(error)
    words = " ".join(str(error).split())
    return f"Something went wrong ({type(error).__name__}: {words}): set COURSE_DEBUG=1 to see where."


def _parser():
    parser = Parser(prog="course", description="Attention, from sums to Transformers: the course's commands.")
    commands = parser.add_subparsers(metavar="COMMAND")

    def add(name, command, words):
        added = commands.add_parser(name, help=words, description=words)
        added.set_defaults(command=command)
        return added

    lab = add("lab", _lab, "Open JupyterLab on a lesson.")
    lab.add_argument("lesson", nargs="?", default="00", help="such as 02 or 02_weighted_sums (the first if left out)")
    lab.add_argument("--port", type=_port, default=8888, help="8888 if left out; a taken port gives the next")
    lab.add_argument("--no-browser", action="store_true", help="only print the address")
    add("doctor", _doctor, "Say in one table whether everything is there, and what to do where not.")
    build = add("build", _build, "Write the notebooks from their sources: what changed, or the lessons named.")
    build.add_argument("names", nargs="*", metavar="NAME", help="such as 02 or 02_weighted_sums")
    build.add_argument("--check", action="store_true", help="write nothing, name what is stale")
    build.add_argument("--all", action="store_true", help="build also what is up to date")
    add("lint", _lint, "Hold the notebooks to the style guide.")
    add("data", _data, "Download the real data sets, or say where they are.")
    test = add("test", _test, "Run every check there is.")
    test.add_argument("--quick", action="store_true", help="leave out notebooks, browser and Colab")
    return parser


def _port(text):
    if not text.isdecimal() or not 1 <= int(text) <= 65535:
        raise argparse.ArgumentTypeError(f"expected a number from 1 to 65535, not {text!r}")
    return int(text)


def _root():
    """Return the folder of the course around the current one."""
    try:
        here = Path.cwd()
    except OSError:
        raise Wrong("The current folder is gone: change into the folder of the course.") from None
    for folder in (here, *here.parents):
        if (folder / "pyproject.toml").is_file() and (folder / "notebooks").is_dir():
            return folder
    raise Wrong(f"{here} is not inside the course: change into its folder (it holds pyproject.toml and notebooks/).")


def _need(extra):
    if find_spec(EXTRAS[extra]) is None:
        raise Wrong(f'{EXTRAS[extra]} is missing: run `pip install -c constraints.txt -e ".[lab,test]"` first.')


def _doctor(options):
    report = doctor.doctor()
    print(report)
    return 0 if all(row.ok for row in report.rows) else 1


def _build(options):
    root = _root()
    from course_utils.build import build

    return _report(build(root, options.names or None, check=options.check, everything=options.all))


def _lint(options):
    root = _root()
    from course_utils.lint import lint

    return _report(lint(root))


def _report(problems):
    for problem in problems:
        print(problem, file=sys.stderr)
    return 1 if problems else 0


def _data(options):
    from course_utils.data import download

    print(f"Real data come from the {download.where()}.")
    for path in download.REGISTRY:
        print(f"{path}: {download.fetch(path)}")
    return 0


def _test(options):
    root = _root()
    _need("test")
    from course_utils.testing import run_all

    return run_all(root, options.quick)


def _lab(options):
    root = _root()
    _need("lab")
    notebook = _notebook(root, options.lesson)
    _set_up_kernel()
    os.chdir(root)
    os.environ["JUPYTER_PREFER_ENV_PATH"] = "1"  # this environment's kernel before one in the home folder
    arguments = [
        f"--ServerApp.root_dir={root}",
        f"--ServerApp.port={options.port}",
        f"--LabApp.default_url=/lab/tree/{notebook}",
        f"--LabApp.app_settings_dir={Path(__file__).parent / 'lab_settings'}",  # no question about news, kernel
        "--LabApp.extension_manager=readonly",  # the other one asks the network
        "--ServerApp.log_level=ERROR",
        "--LabApp.log_level=ERROR",
        "--ServerApp.answer_yes=True",  # one Ctrl-C ends it
    ]
    if options.no_browser or not _has_display():
        arguments.append("--no-browser")
    if hasattr(os, "geteuid") and os.geteuid() == 0:
        arguments.append("--allow-root")
    print(f"Opening {notebook} in JupyterLab. Ctrl-C here ends it.", flush=True)
    from jupyterlab.labapp import main as lab

    return lab(arguments) or 0


def _notebook(root, lesson):
    """Return the path below the root of the notebook of a lesson such as 02, once it can be read."""
    files = (root / "notebooks").glob("[0-9][0-9]_*")
    known = sorted({path.stem for path in files if path.suffix in (".py", ".ipynb")})
    wanted = lesson.zfill(2) if lesson.isdecimal() else Path(lesson).stem
    name = next((name for name in known if wanted in (name, name[:2])), None)
    if name is None:
        raise Wrong(f"There is no lesson {lesson!r}: the lessons are {', '.join(known) or 'not here yet'}.")
    notebook = f"notebooks/{name}.ipynb"
    try:
        json.loads((root / notebook).read_text(encoding="utf-8"))["cells"]
    except FileNotFoundError:
        raise Wrong(f"{notebook} is not there: run `course build {name[:2]}`.") from None
    except (OSError, ValueError, KeyError, TypeError):
        raise Wrong(f"{notebook} cannot be read as a notebook: run `course build {name[:2]}`.") from None
    return notebook


def _set_up_kernel():
    """Write this environment's kernel into its own folder, so that no other environment's is taken."""
    if doctor.kernel_is_ours():
        return
    from ipykernel.kernelspec import install

    try:
        install(prefix=sys.prefix, kernel_name="python3", display_name=doctor.KERNEL_NAME)
    except OSError:
        print(f"{sys.prefix} cannot be written: Jupyter's own Python 3 kernel serves instead.")


def _has_display():
    if os.environ.get("CI") or os.environ.get("SSH_CONNECTION"):
        return False
    return not sys.platform.startswith("linux") or bool(os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY"))


if __name__ == "__main__":
    sys.exit(main())
