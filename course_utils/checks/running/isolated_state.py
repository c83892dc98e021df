"""Isolates the global state in which an answer is run and judged: Python, NumPy and PyTorch as they start, whatever a notebook has set.

A notebook may have set a different dtype, a device, anomaly detection, autocast and more, and so may an answer. None of
this changes a verdict, and afterwards everything is as it was.
"""

import builtins
import random
import signal
import sys
import warnings
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager

import numpy as np
import torch

FRAMES_AT_LEAST = 1000  # on the stack: Python's default
TIMERS = {
    getattr(signal, name) for name in ("SIGALRM", "SIGPROF") if hasattr(signal, name)
}  # the signals of `time_limit`


@contextmanager
def isolated_state() -> Iterator[None]:
    """Run the body in one thread and in the initial state; restore afterwards whatever the body has changed.

    One thread, since small tensors gain nothing from more and, on a busy machine, can take a hundred times as long.
    """
    set_back = _snapshot()
    try:
        with ExitStack() as until_then:
            for state in (
                torch.inference_mode(False),
                torch.enable_grad(),
                torch.autograd.set_detect_anomaly(False),
                torch.autocast("cpu", enabled=False),
                np.errstate(divide="warn", over="warn", under="ignore", invalid="warn"),
            ):
                until_then.enter_context(state)
            if _has_another_device():
                until_then.enter_context(torch.device("cpu"))
            torch.set_default_dtype(torch.float32)
            if torch.are_deterministic_algorithms_enabled():  # the call imports a compiler, which takes seconds
                torch.use_deterministic_algorithms(False)
            torch.set_num_threads(1)
            sys.setrecursionlimit(max(sys.getrecursionlimit(), FRAMES_AT_LEAST))
            if hasattr(signal, "pthread_sigmask"):
                signal.pthread_sigmask(signal.SIG_UNBLOCK, TIMERS)
            yield
    finally:
        set_back()


@contextmanager
def warnings_stay_warnings() -> Iterator[None]:
    """Let no warning become an error in the body, whatever filters a notebook has set. Python's own on `async def` is left out."""
    with warnings.catch_warnings():
        for place, (action, *rest) in enumerate(warnings.filters):
            if action == "error":
                warnings.filters[place] = ("default", *rest)
        warnings.filterwarnings("ignore", "coroutine .* was never awaited", RuntimeWarning)
        yield


def _has_another_device():
    """Return whether new tensors are made anywhere but on the CPU, or cannot be made at all."""
    try:
        return torch.empty(0).device.type != "cpu"
    except Exception:  # a device that this machine lacks
        return True


def _snapshot() -> Callable[[], None]:
    """Snapshot global state and return a function that restores it, even after a context manager that was never closed."""
    names = [(sys, "stdout"), (sys, "stderr"), (builtins, "input"), (builtins, "print"), (sys, "breakpointhook")]
    kept = [(place, name, getattr(place, name)) for place, name in names]
    dtype, threads, device = torch.get_default_dtype(), torch.get_num_threads(), _default_device()
    deterministic = _deterministic_settings()
    gradients, frames, profile = torch.is_grad_enabled(), sys.getrecursionlimit(), sys.getprofile()
    drawn = random.getstate(), np.random.get_state(), torch.get_rng_state()
    blocked = signal.pthread_sigmask(signal.SIG_BLOCK, ()) if hasattr(signal, "pthread_sigmask") else None

    def set_back():
        for place, name, value in kept:
            setattr(place, name, value)
        torch.set_default_dtype(dtype)
        torch.set_num_threads(threads)
        if _deterministic_settings() != deterministic:
            torch.use_deterministic_algorithms(deterministic[0], warn_only=deterministic[1])
        torch.set_grad_enabled(gradients)
        if _default_device() is not device:
            torch.set_default_device(device and device.device)
        random.setstate(drawn[0])
        np.random.set_state(drawn[1])
        torch.set_rng_state(drawn[2])
        sys.setrecursionlimit(frames)
        if blocked is not None:
            signal.pthread_sigmask(signal.SIG_SETMASK, blocked)
        sys.setprofile(profile if callable(profile) else None)
        if hasattr(profile, "enable"):  # that of %prun
            profile.enable()

    return set_back


def _deterministic_settings():
    return torch.are_deterministic_algorithms_enabled(), torch.is_deterministic_algorithms_warn_only_enabled()


def _default_device():
    """Return what `torch.set_default_device` has set, or None."""
    return getattr(torch._GLOBAL_DEVICE_CONTEXT, "device_context", None)
