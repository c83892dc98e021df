"""What `course train` does and says: settings from the command line, a run's folder, how it ended.

Here: what a person at the keyboard sees. Not here: reading arguments and catching errors (`cli.py`), training itself (`training/`).
Whatever is wrong is a `ValueError` of one sentence.
"""

import argparse
import contextlib
import os
import shlex
import sys
from pathlib import Path

import torch

from course_utils import training
from course_utils.training import device as devices
from course_utils.training import processes
from course_utils.training.settings import KINDS, tomllib

RUNS = Path("runs")  # in the current folder
TABLES = ("model", "world")  # the settings that have settings of their own


def train(options) -> int:
    """Train a model, or go on training it, and say where it lies; 130 if it was stopped before its end.

    With several GPUs, or where more are asked for, in several processes, of which the first speaks.
    """
    number = processes.how_many(getattr(options, "processes", None), options.device, options.resume)
    if number == 1:
        return _train_here(options)
    _no_settings(options) if options.resume else _settings(options)  # what is wrong with them is said without processes
    plain = argparse.Namespace(**{name: value for name, value in vars(options).items() if name != "command"})
    return processes.run_in(number, _train_here, plain)


def _train_here(options) -> int:
    """Train in this process, which may be one of several."""
    if options.threads:
        torch.set_num_threads(options.threads)
    first = int(os.environ.get("RANK", 0)) == 0  # of several processes, the one that speaks
    settings = _no_settings(options) if options.resume else _settings(options)
    said = [_announcement(settings, options.device)] if first and settings else []
    run = Path(options.resume or options.run or (_free_folder(settings) if first else RUNS))
    try:
        if first:
            print(*said, f"Run folder: {run.as_posix()}", sep="\n", flush=True)
        bar = sys.stderr.isatty()
        trainer = training.train(settings, run, device=options.device, resume=bool(options.resume), show=bar)
    except KeyboardInterrupt:  # a second one, in the middle of a step
        if first and (run / "settings.json").exists():
            print(f"{how_to_resume(run)}.")
        raise
    finally:
        if first and not (options.resume or options.run):
            with contextlib.suppress(OSError):  # it is empty only if the run could not begin
                run.rmdir()
    if not first:
        return 0 if trainer.progress.finished else processes.STOPPED
    return _say_how_it_ended(trainer, run)


def _say_how_it_ended(trainer: training.Trainer, run: Path) -> int:
    if not trainer.progress.finished:
        print(f"Stopped after step {trainer.progress.step:,} of {trainer.steps:,}. {how_to_resume(run)}.")
        return processes.STOPPED
    loss, bleu = trainer.measure()  # of the final weights, which may be an average or an earlier best
    print(f"Validation: loss {loss:.3f} a token, BLEU {bleu:.1f} (greedy search).")
    print(f"The model lies in {run.as_posix()}; `course translate --model {quoted(run)}` translates what you type.")
    return 0


def _settings(options) -> training.Settings:
    """Return a preset's settings, changed by the options that have a name, then by each --set."""
    if options.kind is None:
        raise ValueError(f"expected a kind of model ({', '.join(KINDS)}), or --resume with a run's folder")
    named = {name: getattr(options, name) for name in ("data", "pair", "seed", "epochs", "precision")}
    changes = {name: value for name, value in named.items() if value is not None}
    for text in options.set:
        _change(changes, text)
    fitting = "laptop" if changes.get("data") == "multi30k" else "world"
    values = training.load_preset(options.kind, options.preset or fitting)
    tables = {name: values.get(name, {}) | changes[name] for name in TABLES if isinstance(changes.get(name), dict)}
    return training.make_settings({"kind": options.kind} | values | changes | tables)


def _change(changes: dict, text: str) -> None:
    """Note what a NAME=VALUE says; a value is read as TOML, and as a string without quotes where it is none."""
    name, equals, value = text.partition("=")
    table, dot, key = name.strip().partition(".")
    if not equals or not table:
        raise ValueError(f"--set expects NAME=VALUE, such as rate=2e-3 or model.width=64, not {text!r}")
    if not dot:
        changes[table] = _value(value)
    elif table in TABLES and isinstance(changes.setdefault(table, {}), dict):
        changes[table][key] = _value(value)
    else:
        raise ValueError(
            f"there is no setting {name.strip()!r}: only {' and '.join(TABLES)} have settings of their own"
        )


def _value(text: str):
    try:
        values = tomllib.loads(f"value = {text.strip()}")
    except tomllib.TOMLDecodeError:
        return text.strip()
    return values["value"] if len(values) == 1 else text.strip()


def _no_settings(options) -> None:
    """See to it that --resume comes without what the run has settled."""
    settled = ("kind", "data", "pair", "preset", "run", "seed", "epochs", "precision", "set")
    for name in settled:
        if getattr(options, name) not in (None, []):
            word = "the kind of model" if name == "kind" else f"--{name}"
            raise ValueError(f"--resume goes on with the settings that the run began with: leave out {word}")


def _free_folder(settings: training.Settings) -> Path:
    """Make a folder in runs/ whose number is free; to make it is to take it, also when two runs begin at once."""
    name = f"{settings.kind}-{settings.data}" + (f"-{settings.pair}" if settings.data == "multi30k" else "")
    number = 1
    while True:
        folder = RUNS / f"{name}-{number}"
        try:
            folder.mkdir(parents=True)
        except FileExistsError:
            if not folder.exists():  # it is runs/ itself that is in the way
                raise
            number += 1
        else:
            return folder


def _announcement(settings: training.Settings, device: str) -> str:
    on = devices.choose_device(device)
    precision = devices.choose_precision(settings.precision, on)
    data = f"Multi30k, {settings.pair}" if settings.data == "multi30k" else "the generated world"
    place = torch.cuda.get_device_name(on) if on.type == "cuda" else f"the CPU, {threads()}"
    number = int(os.environ.get("WORLD_SIZE", 1))
    place = f"{number} processes, each on {place}" if number > 1 else place
    said = f"Training {settings.kind} on {data}: {place}, {'bf16' if precision == torch.bfloat16 else 'fp32'}."
    if precision == torch.float32 and settings.precision == "auto":
        said += " This device is not faster in bf16, so the run goes on in fp32."
    return said


def how_to_resume(run: Path) -> str:
    """Name the command that goes on with a run."""
    return f"`course train --resume {quoted(run)}` goes on"


def quoted(path: Path) -> str:
    """Spell a path as a command line takes it, on Windows too."""
    return shlex.quote(path.as_posix())


def threads() -> str:
    """Say how many threads of the CPU PyTorch uses."""
    number = torch.get_num_threads()
    return f"{number} thread{'s' * (number > 1)}"
