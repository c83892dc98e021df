"""Several processes for one run, started by the command itself: torchrun's machinery without its command line.

Here: how many, starting them, passing on the error of one. Not here: what they compute (`loop.py`), and how they
find each other (`device.py`, which reads what torchrun or this file has left in their environment).
"""

import contextlib
import json
import logging
import multiprocessing
import os
import sys
import uuid
from collections.abc import Callable
from pathlib import Path

import torch
from torch.distributed.elastic.multiprocessing.api import SignalException
from torch.distributed.elastic.multiprocessing.errors import ChildFailedError
from torch.distributed.launcher.api import LaunchConfig, elastic_launch

from course_utils.base.errors import CourseError
from course_utils.training.run_folder import RunError

STOPPED = 130  # the exit code of a process that Ctrl-C ends


def how_many(named: int | None, device: str, resumed: str | None = None) -> int:
    """Return how many processes share a run: the number named, else that of the resumed run, else one per GPU.

    In a process that torchrun started it is 1: the others have been started too. Raises `CourseError` for several on one GPU.
    """
    if "RANK" in os.environ:
        if named is not None:
            raise CourseError("torchrun has started the processes: leave out --processes, or torchrun")
        return 1
    if named is None and resumed is not None:
        with contextlib.suppress(OSError, ValueError, KeyError, TypeError):  # the run itself will say what is wrong
            named = int(json.loads((Path(resumed) / "environment.json").read_text(encoding="utf-8"))["processes"])
    if named is None:
        named = torch.cuda.device_count() if device in ("auto", "cuda") and torch.cuda.is_available() else 1
    if named > 1 and device.startswith("cuda:"):
        raise CourseError(f"{named} processes need a device each, and {device} is one: name cuda, cpu or auto")
    return max(1, named)


def run_in(number: int, work: Callable, *arguments) -> int:
    """Call work(*arguments), all of it picklable, in this many processes of one run; return the exit code that the first returned.

    Raises the error of the process that failed first, after the others have ended, or `KeyboardInterrupt` if they were
    stopped, which they must tell by the exit code 130.
    """
    failures = multiprocessing.get_context("spawn").SimpleQueue()
    config = LaunchConfig(min_nodes=1, max_nodes=1, nproc_per_node=number, run_id=uuid.uuid4().hex, rdzv_backend="c10d",
                          rdzv_endpoint="localhost:0", local_addr="localhost", max_restarts=0)  # fmt: skip
    logging.disable(logging.CRITICAL)  # the launcher takes 30 lines to say that one failed
    try:
        return elastic_launch(config, _as_one)(failures, number, work, *arguments)[0]
    except ChildFailedError as error:
        code = error.get_first_failure()[1].exitcode
    except SignalException:
        code = STOPPED
    finally:
        logging.disable(logging.NOTSET)
    if code == STOPPED:
        raise KeyboardInterrupt
    if code < 0 or failures.empty():  # by a signal, or without a word
        raise RunError(f"one of {number} processes was ended from outside (exit code {code}): resume the run")
    raise failures.get()


def _as_one(failures, number: int, work: Callable, *arguments) -> int:
    if "OMP_NUM_THREADS" not in os.environ:
        torch.set_num_threads(max(1, (os.cpu_count() or 1) // number))
    try:
        code = work(*arguments)
    except Exception as error:
        failures.put(error)
        raise
    if code == STOPPED:
        sys.exit(code)  # returning it would wait for a launcher that was stopped as well
    return code
