"""The checkpoint of a run: which state is saved, and how a resumed run restores it.

Here: which tensors and numbers, and whether they belong to the run. Not here: the file (`run_folder.py`), and when (`loop.py`).
"""

import hashlib
import json
import math
from dataclasses import asdict, dataclass
from typing import Protocol

import torch

from course_utils.base.errors import CourseError
from course_utils.training import device as devices
from course_utils.training.batches import Batches
from course_utils.training.optimizer import Optimizer
from course_utils.training.run_folder import RunError, RunFolder
from course_utils.training.settings import Settings, make_settings


@dataclass
class Progress:
    """How far a run has come: kept in the checkpoint, beside the tensors."""

    step: int = 0
    tokens: int = 0  # of the target, so far
    loss_tokens: int = 0  # of them, since the last validation
    seconds: float = 0.0  # of wall-clock time, over all parts of the run
    averaged: int = 0  # how many weights the average holds
    best: float = -math.inf  # what early stopping watches; higher is better
    since_best: int = 0  # validations
    finished: bool = False


def identify(settings: Settings, batches: Batches) -> str:
    """Return what identifies a run's checkpoints: a checksum of its settings and of what it trains on."""
    settings = make_settings(settings.to_dict()).to_dict()  # as they are read back: an epoch is 1.0 epochs
    described = [settings, batches.sources, batches.targets]
    return hashlib.sha256(json.dumps(described, sort_keys=True).encode()).hexdigest()


class Run(Protocol):
    """What a checkpoint saves of a run and needs to know about it: a `Trainer`."""

    folder: RunFolder
    device: torch.device
    identity: str
    progress: Progress
    curves: list[dict]
    optimizer: Optimizer
    loss: torch.Tensor
    average: dict[str, torch.Tensor]
    best: dict[str, torch.Tensor]


def save(trainer: Run) -> None:
    """Write everything a resumed run needs; the other processes add their loss."""
    tensors = trainer.optimizer.state() | {"loss": devices.total(trainer.loss)}
    for prefix, weights in ("average", trainer.average), ("best", trainer.best):
        tensors |= {f"{prefix}.{name}": value for name, value in weights.items()}
    state = {"progress": asdict(trainer.progress), "curves": trainer.curves}
    state |= {"processes": devices.process_count(), "run": trainer.identity}
    devices.in_first_process_only(lambda: trainer.folder.save_checkpoint(tensors, state))


def restore(trainer: Run) -> None:
    """Resume the run from its checkpoint; without one, from the beginning."""
    found = trainer.folder.load_checkpoint()
    if found is None:
        return
    tensors, state = found
    which = f"the checkpoint in {trainer.folder.path}"
    if state.get("run") != trainer.identity:
        raise RunError(f"{which} belongs to another run, or to other settings or data: start anew in another folder")
    if state.get("processes") != devices.process_count():
        raise RunError(
            f"this run had {state.get('processes')} processes and now has {devices.process_count()}: resume it with as many"
        )
    try:
        trainer.progress, trainer.curves = Progress(**state["progress"]), state["curves"]
        trainer.optimizer.load(tensors)
        trainer.loss.copy_(tensors["loss"] if devices.rank() == 0 else torch.zeros(()))
    except (CourseError, KeyError, TypeError, ValueError, RuntimeError):
        raise RunError(f"{which} lacks part of the run's state: delete it to begin at step 0") from None
    for name in trainer.optimizer.masters:
        for prefix, weights in ("average", trainer.average), ("best", trainer.best):
            if f"{prefix}.{name}" in tensors:
                weights[name] = tensors[f"{prefix}.{name}"].to(trainer.device)
