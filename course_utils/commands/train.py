"""`course train`: settings from the command line, a run's folder, and how it ended; training itself is in `training/`.

Heavy packages such as PyTorch are imported where they are used, since every command's help imports this file.
"""

import argparse
import contextlib
import dataclasses
import json
import os
from pathlib import Path

from course_utils.base.errors import CourseError
from course_utils.commands._arguments import add_device, at_least, how_to_resume, quoted, threads
from course_utils.training.settings import KINDS, TABLES, Settings, load_preset, make_settings

WORDS = "Train a translator, from the generated world or Multi30k."
RUNS = Path("runs")  # in the current folder
SETTINGS = """\
Settings, for --set: {own}. Of a transformer: model.width, heads, hidden, encoder_layers, decoder_layers, dropout, norm, positions, longest,
tied. Of seq2seq and attention: model.width, hidden, encoder_hidden, score, input_feeding, dropout, longest; of attention
also model.attention. Of the generated world: world.pairs, shortest, longest, order, vocabulary, fertility, agreement."""


def add_arguments(parser) -> None:
    """Add the kind of model, its data and preset, the run's folder, and the options that change settings."""
    parser.add_argument("kind", nargs="?", metavar="KIND", help="seq2seq, attention or transformer")
    parser.add_argument("--data", help="world (generated; needs no download) or multi30k; world if left out")
    parser.add_argument("--pair", help="languages of Multi30k, such as en-de (if left out), de-fr")
    parser.add_argument("--preset", help="world or laptop if left out, as --data says; also paper, gpu")
    parser.add_argument("--run", metavar="DIR", help="the folder to keep the run in; a new one in runs/ if left out")
    parser.add_argument("--resume", metavar="DIR", help="go on with the run in a folder, as it was set")
    parser.add_argument("--seed", type=int, help="another gives another run; 0 if left out")
    parser.add_argument("--epochs", type=float, help="how often to go through the data, such as 0.5")
    parser.add_argument("--precision", help="auto (if left out: bf16 where that is faster), fp32 or bf16")
    words = "any setting of those below, such as rate=2e-3, model.width=64, world.order=reversed; may be repeated"
    parser.add_argument("--set", metavar="NAME=VALUE", action="append", default=[], help=words)
    words = "that share the run, each with its part of every batch; one for each GPU if left out"
    parser.add_argument("--processes", type=at_least(1, int), metavar="N", help=words)
    add_device(parser)
    own = [field.name for field in dataclasses.fields(Settings) if field.name not in TABLES]
    parser.epilog = SETTINGS.format(own=", ".join(own))


def run(options) -> int:
    """Train a model, or resume its training, and say where it is; 130 if it was stopped before its end.

    With several GPUs, or if asked to, it uses several processes, of which only the first prints.
    """
    from course_utils.training import processes

    number = processes.how_many(options.processes, options.device, options.resume)
    if number == 1:
        return _train_here(options)
    _settings(options)  # wrong settings are reported before any process starts
    plain = argparse.Namespace(**{name: value for name, value in vars(options).items() if name != "command"})
    return processes.run_in(number, _train_here, plain)


def _in_the_world(settings, resumed) -> bool:
    """Return whether a run's sentences come from the generated world; for a resumed run, its settings say so."""
    if settings:
        return settings.data == "world"
    try:
        return json.loads((Path(resumed) / "settings.json").read_text(encoding="utf-8"))["data"] == "world"
    except (OSError, ValueError, KeyError, TypeError):  # reported when the run is opened
        return False


def _train_here(options) -> int:
    """Train in this process, which may be one of several."""
    import torch

    from course_utils.training.device import rank
    from course_utils.training.loop import train
    from course_utils.training.processes import STOPPED

    first = rank() == 0  # of several processes, the one that prints
    settings = _settings(options)
    if options.threads or _in_the_world(settings, options.resume) and "OMP_NUM_THREADS" not in os.environ:
        # The world's tensors are so small that more threads would wait for one another.
        torch.set_num_threads(options.threads or 1)
    announcement = [_announcement(settings, options.device)] if first and settings else []
    run = Path(options.resume or options.run or (_free_folder(settings) if first else RUNS))
    try:
        if first:
            print(*announcement, f"Run folder: {run.as_posix()}", sep="\n", flush=True)
        trainer = train(settings, run, device=options.device, resume=bool(options.resume))
    except KeyboardInterrupt:  # a second Ctrl-C, in the middle of a step
        if first and (run / "settings.json").exists():
            print(f"{how_to_resume(run)}.")
        raise
    finally:
        if first and not (options.resume or options.run):
            with contextlib.suppress(OSError):  # it is empty only if the run could not begin
                run.rmdir()
    if not first:
        return 0 if trainer.progress.finished else STOPPED
    return _say_how_it_ended(trainer, run)


def _say_how_it_ended(trainer, run):
    from course_utils.training.processes import STOPPED

    if not trainer.progress.finished:
        print(f"Stopped after step {trainer.progress.step:,} of {trainer.steps:,}. {how_to_resume(run)}.")
        return STOPPED
    loss, bleu = trainer.measure()  # of the final weights, which may be an average or an earlier best
    print(f"Validation: loss {loss:.3f} a token, BLEU {bleu:.1f} (greedy search).")
    print(f"The model lies in {run.as_posix()}; `course translate --model {quoted(run)}` translates what you type.")
    return 0


def _settings(options):
    """Return a preset's settings, changed by the options that have a name, then by each --set; None for --resume."""
    if options.resume:
        _refuse_settings(options)
        return None
    if options.kind is None:
        raise CourseError(f"expected a kind of model ({', '.join(KINDS)}), or --resume with a run's folder")
    named = {name: getattr(options, name) for name in ("data", "pair", "seed", "epochs", "precision")}
    changes = {name: value for name, value in named.items() if value is not None}
    for text in options.set:
        _change(changes, text)
    fitting = "laptop" if changes.get("data") == "multi30k" else "world"
    values = load_preset(options.kind, options.preset or fitting)
    tables = {name: values.get(name, {}) | changes[name] for name in TABLES if isinstance(changes.get(name), dict)}
    return make_settings({"kind": options.kind} | values | changes | tables)


def _change(changes, text):
    """Add what a NAME=VALUE says; the value is read as TOML or, if it is not TOML, as a string without quotes."""
    name, equals, value = text.partition("=")
    table, dot, key = name.strip().partition(".")
    if not equals or not table:
        raise CourseError(f"--set expects NAME=VALUE, such as rate=2e-3 or model.width=64, not {text!r}")
    if dot and table in TABLES:
        if not isinstance(changes.get(table), dict):
            changes[table] = {}
        changes[table][key] = _value(value)
    else:
        changes[name.strip()] = _value(value)


def _value(text):
    from course_utils.base.environment import tomllib

    try:
        values = tomllib.loads(f"value = {text.strip()}")
    except tomllib.TOMLDecodeError:
        return text.strip()
    return values["value"] if len(values) == 1 else text.strip()


def _refuse_settings(options):
    """Raise `CourseError` if --resume comes with what the run has settled."""
    settled = ("kind", "data", "pair", "preset", "run", "seed", "epochs", "precision", "set")
    for name in settled:
        if getattr(options, name) not in (None, []):
            word = "the kind of model" if name == "kind" else f"--{name}"
            raise CourseError(f"--resume goes on with the settings that the run began with: leave out {word}")


def _free_folder(settings):
    """Make a folder in runs/ with a free number; making it claims it, even if two runs begin at once."""
    name = f"{settings.kind}-{settings.data}" + (f"-{settings.pair}" if settings.data == "multi30k" else "")
    number = 1
    while True:
        folder = RUNS / f"{name}-{number}"
        try:
            folder.mkdir(parents=True)
        except FileExistsError:
            if not folder.exists():  # runs/ itself is in the way
                raise
            number += 1
        else:
            return folder


def _announcement(settings, device):
    import torch

    from course_utils.training.device import choose_device, choose_precision, process_count

    on = choose_device(device)
    precision = choose_precision(settings.precision, on)
    data = f"Multi30k, {settings.pair}" if settings.data == "multi30k" else "the generated world"
    place = torch.cuda.get_device_name(on) if on.type == "cuda" else f"the CPU, {threads()}"
    place = f"{process_count()} processes, each on {place}" if process_count() > 1 else place
    message = f"Training {settings.kind} on {data}: {place}, {'bf16' if precision == torch.bfloat16 else 'fp32'}."
    if precision == torch.float32 and settings.precision == "auto":
        message += " This device is not faster in bf16, so the run goes on in fp32."
    return message
