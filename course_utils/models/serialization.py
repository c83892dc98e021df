"""Trained models by name: made from settings, saved in a folder, loaded from a folder or from the course.

A model's folder holds `model.safetensors` (weights), `model.json` (what to build them into, and where they come
from) and, if it translates, `subwords.json` (its vocabulary). A GPT's vocabulary is the characters listed in
`model.json`. A stranger's folder can do no harm: nothing in it is ever unpickled, and nothing is built that is much
larger than its weights or exceeds `MOST` in layers, positions or width.

Here: making, saving and loading. Not here: the models themselves, and how they are trained (`training/`).
"""

import contextlib
import hashlib
import inspect
import json
import os
from pathlib import Path

import torch
from torch import nn
from torch.nn.modules.module import register_module_parameter_registration_hook

from course_utils.base.errors import CourseError
from course_utils.base.files import replacing, write
from course_utils.base.paths import PRETRAINED
from course_utils.base.words import did_you_mean
from course_utils.data.subwords import Subwords

MOST = {"encoder_layers": 200, "decoder_layers": 200, "N": 200, "longest": 8192, "width": 4096, "D": 4096}  # fmt: skip


def make_model(kind: str, vocabulary: int, options: dict) -> nn.Module:
    """Return a new model: kind "seq2seq" or "attention" (GRU without and with attention), "transformer" or "gpt".

    Raises `CourseError` for an unknown kind, and for options the model does not accept.
    """
    maker, fixed = _class_and_options(kind)
    if beyond := _option_above_limit(options):
        raise CourseError(f"a model of kind {kind} can't be made with {beyond}")
    try:
        return maker(vocabulary, **(options | fixed))
    except (TypeError, ArithmeticError, RuntimeError) as error:  # an unknown option, heads=0, width=-1
        raise CourseError(
            f"a model of kind {kind} can't be made of these settings ({error}): see `course train --help`"
        ) from None


def _option_above_limit(options):
    """Return which option is more than `MOST` allows, in words; "" for none."""
    for name, most in MOST.items():
        if isinstance(value := options.get(name), int | float) and value > most:
            return f"{name} {value:,}: at most {most:,} are made"
    return ""


def model_options(kind: str) -> dict:
    """Return {name: default} of the options that a kind of model accepts. Raises `CourseError` for an unknown kind."""
    maker, fixed = _class_and_options(kind)
    found = list(inspect.signature(maker).parameters.values())[1:]  # after the vocabulary
    return {option.name: option.default for option in found if option.name not in fixed}


def _class_and_options(kind):
    """Return the class of a kind's models, and the options that define the kind."""
    from course_utils.models.gpt import GPT
    from course_utils.models.recurrent import RecurrentTranslator
    from course_utils.models.transformer import Transformer

    makers = {
        "seq2seq": (RecurrentTranslator, {"attention": "none"}),
        "attention": (RecurrentTranslator, {}),
        "transformer": (Transformer, {}),
        "gpt": (GPT, {}),
    }
    if kind not in tuple(makers):
        raise CourseError(f"kind must be one of {', '.join(makers)}, not {kind!r}")
    return makers[kind]


def save_model(
    folder: Path, kind: str, model: nn.Module, subwords: Subwords | str, about: dict, dtype=torch.float32
) -> None:
    """Write a model's folder, with `about` in `model.json`. Each file is written as a whole or not at all.

    For a model that reads characters, `subwords` is a text of all of them, each at the index of its id.
    """
    from safetensors.torch import save

    folder.mkdir(parents=True, exist_ok=True)
    weights = save({name: value.detach().to("cpu", dtype).contiguous() for name, value in _weights(model).items()})
    card = {"kind": kind, "config": model.config, "about": about, "sha256": hashlib.sha256(weights).hexdigest()}
    if isinstance(subwords, str):
        card["characters"] = subwords
    write(folder / "model.safetensors", weights, durable=True)
    write(folder / "model.json", json.dumps(card, indent=1) + "\n", durable=True)
    if isinstance(subwords, Subwords):
        with replacing(folder / "subwords.json", durable=True) as draft:
            subwords.save(draft)


def load_model(folder: str | os.PathLike) -> tuple[nn.Module, Subwords | str]:
    """Return the model in a folder, in fp32 and evaluation mode, and its subwords, or the characters that it reads.

    Raises `CourseError` if a file is missing, damaged, or belongs to something else.
    """
    from safetensors.torch import load

    folder = Path(folder)
    _check_files(folder, "model.json", "model.safetensors")
    try:
        card = json.loads((folder / "model.json").read_text(encoding="utf-8"))
        weights = (folder / "model.safetensors").read_bytes()
        kind, config, sha256 = card["kind"], dict(card["config"]), card["sha256"]
        characters = str(card["characters"]) if kind == "gpt" else None
    except (OSError, ValueError, KeyError, TypeError, RecursionError):
        raise CourseError(
            f"{folder / 'model.json'} can't be read as a model of this course: train it again, or copy it anew"
        ) from None
    if characters is None:
        _check_files(folder, "subwords.json")
    if hashlib.sha256(weights).hexdigest() != sha256:
        raise CourseError(
            f"{folder / 'model.safetensors'} is not what model.json says it is (another checksum): copy both anew"
        )
    if beyond := _option_above_limit(config):
        raise CourseError(f"{folder / 'model.json'} asks for {beyond}")
    try:
        vocabulary, tensors = config.pop("vocabulary"), load(weights)
        with _size_limit(3 * sum(value.numel() for value in tensors.values())):  # a tied weight counts three times
            model = make_model(kind, vocabulary, config)
        missing, unexpected = model.load_state_dict(tensors, strict=False)
        left = [name for name in missing if name in _weights(model)]
        if left or unexpected:
            raise KeyError
    except Exception:
        raise CourseError(
            f"the weights in {folder} do not fit the model that model.json describes: copy both anew, or train again"
        ) from None
    subwords = Subwords.load(folder / "subwords.json") if characters is None else characters
    if len(subwords) != vocabulary:
        file, what = ("subwords.json", "subwords") if characters is None else ("model.json", "characters")
        raise CourseError(f"{folder / file} has {len(subwords)} {what}, and the model {vocabulary}: copy both anew")
    return model.eval(), subwords


@contextlib.contextmanager
def _size_limit(numbers):
    """Raise ValueError if a model that is being made has more parameters, before they take any memory."""
    left = [numbers]

    def count(module, name, parameter):
        left[0] -= 0 if parameter is None else parameter.numel()
        if left[0] < 0:
            raise ValueError

    hook = register_module_parameter_registration_hook(count)
    try:
        yield
    finally:
        hook.remove()


def _check_files(folder, *names):
    for name in names:
        if not os.path.exists(folder / name):
            raise CourseError(
                f"expected a trained model in {folder}, but {name} is not there: name the folder of a finished run, or train one"
            )


def load_pretrained(name: str) -> tuple[nn.Module, Subwords | str]:
    """Return a model that ships with the course, such as "transformer-en-de", and its subwords, or the characters that it reads.

    Raises `CourseError` for an unknown name.
    """
    if name not in pretrained_names():
        raise CourseError(
            f"no model {name!r} ships with the course{did_you_mean(name, pretrained_names())}: name one of {', '.join(pretrained_names())}"
        )
    return load_model(PRETRAINED / name)


def pretrained_names(translators: bool = False) -> list[str]:
    """Return the names that `load_pretrained` knows; with `translators`, only those of models that translate."""
    return sorted(path.parent.name for path in PRETRAINED.glob("*/subwords.json" if translators else "*/model.json"))


def _weights(model: nn.Module) -> dict:
    """Return a model's tensors by name, a tied one once."""
    seen, weights = set(), {}
    for name, value in model.state_dict(keep_vars=True).items():
        if id(value) not in seen:
            seen.add(id(value))
            weights[name] = value
    return weights
