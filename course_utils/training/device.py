"""Where a run computes: the device, its precision, its memory, and the processes that share a run.

Here: one answer each to "which device", "bf16 or fp32", "which of how many processes". Not here: what is computed.
"""

import contextlib
import ctypes
import functools
import os
import platform
import time
from collections.abc import Callable, Sequence

import torch
import torch.distributed as dist

from course_utils.base.errors import CourseError


def choose_device(name: str = "auto") -> torch.device:
    """Return the device named, or for "auto" a GPU if there is one, else the CPU.

    Under torchrun each process uses the GPU with its own number. Raises `CourseError` if there is no such device.
    """
    if name == "auto":
        name = "cuda" if torch.cuda.is_available() else "cpu"
    try:
        device = torch.device(name)
    except RuntimeError:
        device = None
    if device is None or device.type not in ("cpu", "cuda"):
        raise CourseError(f"device must be auto, cpu, cuda or cuda:N, not {name!r}")
    if device.type == "cuda":
        count = torch.cuda.device_count() if torch.cuda.is_available() else 0
        index = int(os.environ.get("LOCAL_RANK", 0)) if device.index is None else device.index
        if index >= count:
            raise CourseError(
                f"device {name} was named, but this machine has {count} {'GPU' if count == 1 else 'GPUs'} that PyTorch can use: name cpu or auto"
            )
        device = torch.device("cuda", index)
        torch.cuda.set_device(device)
        # cuDNN's attention sets itself up again whenever a batch has a new shape, and most do: on an H100 a batch
        # took 0.98 s with it and 0.14 s without.
        torch.backends.cuda.enable_cudnn_sdp(False)
    return device


def choose_precision(name: str, device: torch.device) -> torch.dtype:
    """Return the type of number a model computes in: "fp32", "bf16", or for "auto" bf16 if it is faster.

    Raises `CourseError` for any other name.
    """
    if name not in ("auto", "fp32", "bf16"):
        raise CourseError(f"precision must be auto, fp32 or bf16, not {name!r}")
    if name == "auto":
        # Not torch.cuda.is_bf16_supported(), which is also true of GPUs that emulate it, such as the T4.
        fast = torch.cuda.get_device_capability(device) >= (8, 0) if device.type == "cuda" else cpu_is_fast_in_bf16()
        (slow,) = agree([not fast], device)
        name = "fp32" if slow else "bf16"
    return torch.bfloat16 if name == "bf16" else torch.float32


@functools.cache
def cpu_is_fast_in_bf16() -> bool:
    """Measure whether this CPU multiplies matrices over 1.5 times as fast in bf16 as in fp32.

    Measured, not looked up: names of CPU features differ between systems, and without them bf16 works, but slowly.
    """
    best = {torch.float32: float("inf"), torch.bfloat16: float("inf")}
    for _ in range(7):  # the fastest of several runs, because the machine may be busy
        for dtype in best:
            x = torch.ones(384, 384, dtype=dtype)
            start = time.perf_counter()
            x @ x
            best[dtype] = min(best[dtype], time.perf_counter() - start)
    return best[torch.bfloat16] * 1.5 < best[torch.float32]


def keep_freed_memory() -> None:
    """Ask the C library to keep the memory that tensors free, instead of returning it to the system.

    Each training step frees its large tensors, and the next one needs as many. Memory that was returned comes back as new
    pages, which Linux first fills with zeros: that took 7% of the training time. Other C libraries are left alone.
    """
    if platform.libc_ver()[0] == "glibc":
        library = ctypes.CDLL(None)
        M_TRIM_THRESHOLD, M_MMAP_THRESHOLD = -1, -3  # mallopt(3)
        library.mallopt(M_MMAP_THRESHOLD, 2**31 - 1)
        library.mallopt(M_TRIM_THRESHOLD, 2**31 - 1)


def rank() -> int:
    """Return this process's number among those that share the run, even before it has joined them."""
    return dist.get_rank() if dist.is_initialized() else int(os.environ.get("RANK", 0))


def process_count() -> int:
    """Return how many processes share the run, even before this one has joined them."""
    return dist.get_world_size() if dist.is_initialized() else int(os.environ.get("WORLD_SIZE", 1))


def agree(wishes: Sequence[bool], device: torch.device) -> list[bool]:
    """Return for each wish whether any process that shares the run has it; all must call this."""
    if not dist.is_initialized():
        return list(wishes)
    flags = torch.tensor(wishes, dtype=torch.float32, device=device)
    dist.all_reduce(flags, dist.ReduceOp.MAX)
    return flags.bool().tolist()


def total(x: torch.Tensor) -> torch.Tensor:
    """Return the sum of a tensor over all processes; all must call this."""
    x = x.clone()
    if dist.is_initialized():
        dist.all_reduce(x)
    return x


def in_first_process_only(work: Callable[[], None]) -> None:
    """Have the first process do something; its error is raised in all, so that none waits for one that has ended."""
    wrong = [None]
    if rank() == 0:
        try:
            work()
        except (CourseError, RuntimeError, ValueError, OSError) as error:
            wrong = [error]
    if dist.is_initialized():
        dist.broadcast_object_list(wrong)
    if wrong[0] is not None:
        raise wrong[0]


@contextlib.contextmanager
def process_group(device: torch.device):
    """Join the other processes that torchrun started, if it did: NCCL between GPUs, Gloo between CPUs."""
    if "RANK" not in os.environ or dist.is_initialized():
        yield
        return
    dist.init_process_group("nccl" if device.type == "cuda" else "gloo")
    try:
        yield
    finally:
        dist.destroy_process_group()
