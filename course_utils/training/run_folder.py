"""A run's folder: settings, environment, curves, checkpoint, and in the end the model.

    settings.json       what was asked for, and the seed
    environment.json    machine, versions, precision, processes
    curves.csv          a row for each validation
    checkpoint.safetensors    everything a resumed run needs
    model.safetensors, model.json, subwords.json    the trained model (`models/serialization.py`)

Here: what is written and read, safely. Not here: when (`loop.py`).
"""

import contextlib
import csv
import io
import json
import os
import platform
import sys
from pathlib import Path

import torch
from torch import nn

from course_utils.base.errors import CourseError
from course_utils.base.files import write
from course_utils.data.subwords import Subwords
from course_utils.models.serialization import save_model
from course_utils.training import device
from course_utils.training.settings import Settings, make_settings

CURVES = ("step", "epoch", "tokens", "seconds", "rate", "loss", "val_loss", "val_bleu")


class RunError(CourseError):
    """A run can't begin or go on: the message says in one sentence what was expected, what arrived, what to do."""


class RunFolder:
    """The files of one run; only the process of rank 0 writes."""

    def __init__(self, path: str | os.PathLike):
        self.path = Path(path)

    def create(self, settings: Settings, environment: dict) -> None:
        """Make the folder. Raises `RunError` if it already holds a run or can't be written."""
        if os.path.exists(self.path / "settings.json"):
            raise RunError(f"{self.path} already holds a run: resume it with --resume, or name another folder")
        self.save("environment.json", (json.dumps(environment, indent=1) + "\n").encode())
        # Last, so that a folder with this file can be resumed.
        self.save("settings.json", (json.dumps(settings.to_dict(), indent=1) + "\n").encode())

    def settings(self) -> Settings:
        """Return the settings of the run in the folder. Raises `RunError` if there is none."""
        try:
            return make_settings(json.loads((self.path / "settings.json").read_text(encoding="utf-8")))
        except FileNotFoundError:
            raise RunError(
                f"there is no run in {self.path}: name the folder of one, or start it without --resume"
            ) from None
        except (CourseError, OSError, ValueError, TypeError, AttributeError) as error:
            raise RunError(
                f"{self.path / 'settings.json'} can't be read as a run's settings ({error}): start the run anew"
            ) from None

    def environment(self) -> dict:
        """Return what `create` wrote about the environment."""
        try:
            return dict(json.loads((self.path / "environment.json").read_text(encoding="utf-8")))
        except (OSError, ValueError, TypeError) as error:
            raise RunError(f"{self.path / 'environment.json'} can't be read ({error}): start the run anew") from None

    def save(self, name: str, content: bytes) -> None:
        """Write a file as a whole or leave the old one. Raises `RunError` if it can't be written."""
        with self.writing(name):
            self.path.mkdir(parents=True, exist_ok=True)
            write(self.path / name, content, durable=True)

    @contextlib.contextmanager
    def writing(self, name: str):
        """Return a context in which an `OSError` becomes a `RunError`."""
        try:
            yield
        except OSError as error:
            raise RunError(
                f"{self.path / name} can't be written ({error.strerror or error}): what was there before is intact; "
                "make room or name another folder"
            ) from None

    def save_model(self, kind: str, model: nn.Module, subwords: Subwords, about: dict) -> None:
        """Write the trained model, with the environment added to `about`. Raises `RunError` if that fails."""
        with self.writing("model.safetensors"):
            save_model(self.path, kind, model, subwords, about | {"environment": self.environment()})

    def save_checkpoint(self, tensors: dict[str, torch.Tensor], state: dict) -> None:
        """Write tensors and a state that JSON can hold, in one file that replaces the last one as a whole."""
        from safetensors.torch import save

        tensors = {name: value.detach().cpu().contiguous() for name, value in tensors.items()}
        self.save("checkpoint.safetensors", save(tensors, {"state": json.dumps(state)}))

    def load_checkpoint(self) -> tuple[dict[str, torch.Tensor], dict] | None:
        """Return what `save_checkpoint` wrote, or None before the first one. Raises `RunError` if it is damaged."""
        from safetensors import safe_open

        path = self.path / "checkpoint.safetensors"
        if not path.exists():
            return None
        try:
            with safe_open(path, "pt") as file:
                state = json.loads(file.metadata()["state"])
                # Copies, because the library's tensors are the file itself, which the next checkpoint replaces.
                return {name: file.get_tensor(name).clone() for name in file.keys()}, dict(state)  # noqa: SIM118
        except Exception:  # the library raises its own, and JSON, keys and types may be wrong too
            raise RunError(
                f"{path} is damaged or no checkpoint of this course: delete it to begin at step 0, or start the run anew"
            ) from None

    def save_curves(self, rows: list[dict]) -> None:
        """Write all rows of the curves."""
        text = io.StringIO()
        table = csv.DictWriter(text, CURVES, lineterminator="\n")
        table.writeheader()
        table.writerows(rows)
        self.save("curves.csv", text.getvalue().encode())


def describe_environment(on: torch.device, precision: torch.dtype) -> dict:
    """Return what a run's results depend on besides its settings."""
    gpu = torch.cuda.get_device_name(on) if on.type == "cuda" else None
    return {
        "command": " ".join(["course", *sys.argv[1:]]),
        "python": platform.python_version(),
        "torch": torch.__version__,
        "system": platform.platform(),
        "cpu": _cpu(),
        "threads": torch.get_num_threads(),
        "gpu": gpu,
        "device": on.type,
        "precision": "bf16" if precision == torch.bfloat16 else "fp32",
        "processes": device.process_count(),
    }


def _cpu() -> str:
    """Return the processor's name, which platform.processor() leaves empty on Linux."""
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
        return next(line.split(":", 1)[1].strip() for line in lines if line.startswith("model name"))
    except (OSError, StopIteration):
        return platform.processor() or platform.machine()
