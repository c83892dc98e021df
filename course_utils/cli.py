"""The command line: `course lab`, `doctor`, `build`, `lint`, `data`, `test`, `train`, `translate`, `evaluate`, `grade`, `release` and `export`.

Here: reading arguments, starting JupyterLab, saying in one sentence what is wrong. Not here: the work of the
other commands, which each imports when it runs. Exit codes: 0 all well, 1 problems found, 2 it was not done,
130 stopped by Ctrl-C.
"""

import argparse
import json
import math
import os
import sys
from importlib.util import find_spec
from pathlib import Path

from course_utils import doctor
from course_utils.cli_grading import add_grade, grade
from course_utils.cli_instructors import add_export, add_release, export, release

EXTRAS = {"lab": "jupyterlab", "test": "nbval"}  # an extra of pyproject.toml -> a module that only it brings
# Exceptions whose text is a sentence for the person at the keyboard, by name, so that none is imported for it.
TOLD = ("CageError", "ClusterError", "DataError", "JournalError", "RunError", "SettingsError", "SubmissionError")


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
    if type(error).__name__ in TOLD or (type(error) is ValueError and _raised_by_us(error)):
        return str(error)
    if type(error).__name__ == "OutOfMemoryError":  # PyTorch's, of a GPU
        return "The GPU's memory is full: set batch_tokens lower, or translate shorter lines at a smaller width."
    words = " ".join(str(error).split())
    return f"Something went wrong ({type(error).__name__}: {words}): set COURSE_DEBUG=1 to see where."


def _raised_by_us(error):
    """Whether the course itself raised it, to be read as it stands; a library's own says little without its traceback."""
    place = error.__traceback__
    while place and place.tb_next:
        place = place.tb_next
    return bool(place) and Path(place.tb_frame.f_code.co_filename).is_relative_to(Path(__file__).parent)


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
    _add_train(add("train", _train, "Train a translator, from the generated world or Multi30k."))
    _add_translate(add("translate", _translate, "Translate lines of text with a trained model."))
    _add_evaluate(add("evaluate", _evaluate, "Measure how well a model translates, with BLEU and chrF."))
    add_grade(add("grade", grade, "Grade a class's notebooks, locked in, and write gradebooks and feedback."))
    add_release(add("release", release, "Write lessons' exercises to hand out."))
    add_export(add("export", export, "Write a course for another grader: nbgrader."))
    return parser


def _add_train(train):
    train.add_argument("kind", nargs="?", metavar="KIND", help="seq2seq, attention or transformer")
    train.add_argument("--data", help="world (generated; needs no download) or multi30k; world if left out")
    train.add_argument("--pair", help="languages of Multi30k, such as en-de (if left out), de-fr")
    train.add_argument("--preset", help="world or laptop if left out, as --data says; also paper, gpu")
    train.add_argument("--run", metavar="DIR", help="the folder to keep the run in; a new one in runs/ if left out")
    train.add_argument("--resume", metavar="DIR", help="go on with the run in a folder, as it was set")
    train.add_argument("--seed", type=int, help="another gives another run; 0 if left out")
    train.add_argument("--epochs", type=float, help="how often to go through the data, such as 0.5")
    train.add_argument("--precision", help="auto (if left out: bf16 where that is faster), fp32 or bf16")
    words = "any setting, such as rate=2e-3, model.width=64, world.order=reversed; may be repeated"
    train.add_argument("--set", metavar="NAME=VALUE", action="append", default=[], help=words)
    words = "that share the run, each with its part of every batch; one for each GPU if left out"
    train.add_argument("--processes", type=_at_least(1, int), metavar="N", help=words)
    _add_device(train)


def _add_translate(translate):
    translate.add_argument("file", nargs="?", metavar="FILE", help="of UTF-8 lines; what is typed or piped if left out")
    _add_search(translate)
    translate.add_argument("--show", action="store_true", help="draw under each translation what attended to what")
    translate.add_argument("--picture", metavar="FILE", help="draw that for the first line, into a .png or .svg")
    _add_device(translate)


def _add_evaluate(evaluate):
    _add_search(evaluate)
    evaluate.add_argument("--data", help="world or multi30k; what the model was trained on if left out")
    evaluate.add_argument("--pair", help="languages of Multi30k; the model's if left out")
    evaluate.add_argument("--split", nargs="+", help="such as val, test_2017_flickr; the first test if left out")
    evaluate.add_argument("--hypotheses", metavar="FILE", help="measure these lines instead of a model's translations")
    evaluate.add_argument("--output", metavar="FILE", help="write the translations")
    _add_device(evaluate)


def _add_search(command):
    command.add_argument("--model", metavar="NAME", help="a run's folder or a model of the course")
    command.add_argument("--width", type=_at_least(1, int), default=5, help="of the beam; 5 if left out, 1 is greedy")
    words = "exponent of the length penalty; 1.2 if left out"
    command.add_argument("--alpha", type=_at_least(0, float), default=1.2, help=words)


def _add_device(command):
    command.add_argument("--device", default="auto", help="auto (if left out: a GPU where there is one), cpu or cuda")
    command.add_argument(
        "--threads", type=_at_least(1, int), metavar="N", help="of the CPU; PyTorch's choice if left out"
    )


def _at_least(least, kind):
    """Return what reads a number of a kind, int or float, of at least `least`."""

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


def _train(options):
    from course_utils.cli_training import train

    return train(options)


def _translate(options):
    from course_utils.cli_translation import translate

    return translate(options)


def _evaluate(options):
    from course_utils.cli_translation import evaluate

    return evaluate(options)


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
