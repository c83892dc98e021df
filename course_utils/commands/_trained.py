"""Finds trained models by name and reads the lines that they translate. No command is here."""

import contextlib
import itertools
import json
import sys
from collections.abc import Iterator
from pathlib import Path

import torch

from course_utils.base.errors import CourseError
from course_utils.base.words import did_you_mean
from course_utils.commands._arguments import how_to_resume
from course_utils.commands.train import RUNS
from course_utils.models import serialization
from course_utils.training.device import choose_device

DEFAULT_MODEL = "transformer-en-de"


def load(options) -> tuple:
    """Return the model and subwords that the options name, on their device, and the settings it was trained with."""
    if options.threads:
        torch.set_num_threads(options.threads)
    device, folder = choose_device(options.device), model_folder(options.model)
    model, subwords = serialization.load_model(folder)
    if isinstance(subwords, str):
        translators = ", ".join(serialization.pretrained_names(translators=True))
        raise CourseError(f"the model in {folder} translates nothing: name one that does, such as {translators}")
    about = json.loads((folder / "model.json").read_text(encoding="utf-8")).get("about")
    settings = about.get("settings") if isinstance(about, dict) else None
    return model.to(device), subwords, settings if isinstance(settings, dict) else {}


def model_folder(name: str | None) -> Path:
    """Return the folder of a model of the course or of a run; without a name, the folder of DEFAULT_MODEL."""
    shipped = serialization.pretrained_names()
    if (name or DEFAULT_MODEL) in shipped:
        return serialization.PRETRAINED / (name or DEFAULT_MODEL)
    folder = Path(name or DEFAULT_MODEL)
    if name and folder.is_dir():
        if (folder / "settings.json").exists() and not (folder / "model.json").exists():
            raise CourseError(
                f"the run in {folder} has not come to its end, so has no model yet: {how_to_resume(folder)}"
            )
        return folder
    known = serialization.pretrained_names(translators=True) + sorted(
        path.parent.as_posix() for path in RUNS.glob("*/model.json")
    )
    advice = f"name one of {', '.join(known)} with --model" if known else "train one with `course train transformer`"
    meant = did_you_mean(name or "", known)
    problem = (
        f"there is no model {name!r}{meant}, neither a folder nor one of the course" if name else "no model was named"
    )
    raise CourseError(f"{problem}: {advice}")


def lines(name: str | None) -> Iterator[str]:
    """Yield the lines of a file or of standard input, words separated by single spaces."""
    if name and " " in name and not Path(name).exists():
        raise CourseError(
            f'{name!r} is not a file: to translate a sentence, pipe it, as in echo "{name}" | course translate'
        )
    terminal = name is None and sys.stdin.isatty()
    if terminal:
        print("A sentence and Enter, please; Ctrl-D ends.", file=sys.stderr)
    with open(name, "rb") if name else contextlib.nullcontext(sys.stdin.buffer) as file:
        for number in itertools.count(1):
            if terminal:
                print("> ", end="", file=sys.stderr, flush=True)
            if not (line := file.readline()):
                break
            try:
                text = line.decode("utf-8-sig" if number == 1 else "utf-8")
            except UnicodeDecodeError:
                place = name or "standard input"
                raise CourseError(f"line {number} of {place} is not UTF-8 text: save it as UTF-8") from None
            yield " ".join(text.split())
    if terminal:
        print(file=sys.stderr)
