"""The sandbox policy, which confines a learner's code: the kernel's locks, which of them this machine has, and how a process puts them on.

    Landlock      no file but Python's libraries and the course's public parts; no TCP; no signals to others
    seccomp       no system call but those that computing needs: no process, thread, socket, program, signal
    limits        memory, CPU time, open files; nothing written
    bubblewrap    if it is installed: namespaces without network, other processes, or other files

seccomp and either Landlock or bubblewrap are required; a machine without them does not grade, unless told to.
What the sandbox shows and hides is here, too: of the course, a learner's code may read only the folders in `PUBLIC`.

The locks are a few system calls, written out in `landlock.py` and `seccomp.py`, so that one person can check them against the kernel's documentation.
The libraries that we considered need a compiler (pyseccomp), have one author and few users (landlock, py-landlock, landlockpy), or need Linux 6.7
and bring 10 MB of machine code (sandlock).
"""

import ctypes
import functools
import os
import platform
import shutil
import site
import struct
import subprocess
import sys
import sysconfig
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

from course_utils.base.errors import CourseError
from course_utils.base.imports import PACKAGES
from course_utils.grading.sandbox import landlock, seccomp

try:
    import resource
except ImportError:  # Windows, where nothing is graded
    resource = None

PACKAGE = Path(__file__).resolve().parents[2]
# Folders of the package that hold neither tasks nor judge nor an answer to a task, and this one, which runs in the sandbox itself.
# Instead of `stand_ins.WITHHELD_PACKAGES`, which do hold answers, there is only what a task offers.
PUBLIC = ("base", "data", "figures", "checks/running", "grading/sandbox")
SYSTEM = ("/lib", "/lib64", "/usr/lib", "/usr/lib64", "/usr/share/zoneinfo", "/etc/ld.so.cache", "/etc/localtime")
ANSWERS_OF_OTHERS = ("sacrebleu",)  # libraries that answer a task, such as 07.bleu
DEPTH_OF_COPIES = 2  # below a folder of libraries, as in lib/python3.12/site-packages/course_utils
DEVICES = ("/dev/null",)
SYSTEM_FACTS = ("/sys/devices/system/cpu",)  # for PyTorch
WAYS_OUT = (
    "grade on Linux 5.13 or later (WSL 2 on Windows, a virtual machine on macOS, or a hosted runner), install bubblewrap on an "
    "older one, or trust all submissions and add --unsafe"
)


class SandboxError(CourseError):
    """The sandbox cannot be built here: one sentence that names the ways out."""


@dataclass(frozen=True)
class Layers:
    """Which locks are on, or available."""

    landlock: int = 0  # its version, 0 for none
    seccomp: bool = False
    bubblewrap: str = ""  # its path, "" for none

    @property
    def safe(self) -> bool:
        """Whether they keep a hostile program in."""
        return self.seccomp and bool(self.landlock or self.bubblewrap)

    def __str__(self):
        names = [f"Landlock {self.landlock}"] * bool(self.landlock) + ["seccomp"] * self.seccomp
        return ", ".join([*names, *["bubblewrap"] * bool(self.bubblewrap)]) or "none"


@functools.cache
def available() -> Layers:
    """Return the locks that this machine offers this user."""
    if platform.system() != "Linux":
        return Layers()
    return Layers(landlock.version(), seccomp.supported(), _bubblewrap())


def _bubblewrap():
    found = shutil.which("bwrap")
    trial = [found, "--unshare-all", "--die-with-parent", "--ro-bind", "/", "/", "--proc", "/proc", "true"]
    try:
        works = found and subprocess.run(trial, capture_output=True, timeout=10).returncode == 0
    except (OSError, subprocess.TimeoutExpired):
        works = False
    return found if works else ""


def chosen(unsafe: bool = False) -> Layers:
    """Return all available locks. Raises SandboxError if they are not enough, unless `unsafe`."""
    layers = available()
    if not hasattr(os, "fork"):
        raise SandboxError(f"Answers run in forked processes, which {platform.system()} does not have: {WAYS_OUT}.")
    if not layers.safe and not unsafe:
        raise SandboxError(f"This machine cannot lock a learner's code in (what it gives: {layers}): {WAYS_OUT}.")
    return layers


def readable(hidden=(), data=()) -> list[str]:
    """Return the files and folders that may be read in the sandbox: libraries, the public parts of the course, data.

    Args:
        hidden: files and folders that may not be read even inside one of those, such as the submissions.
        data: the files of the real data sets, not the folder that they are in, which may hold anything.
    """
    roots = {os.path.realpath(root) for root in (*_library_folders(), *SYSTEM, *data)}
    secret = [*_course_copies(), *(os.path.realpath(path) for path in hidden)]
    shown = [path for root in sorted(roots) for path in _paths_without(root, secret)]
    return shown + public()


@functools.cache
def _course_copies():
    """Return the course's packages, every other copy of them that is installed where a learner's code may read, and what else holds answers."""
    found = {str(PACKAGE.with_name(name)) for name in PACKAGES}
    for root in {os.path.realpath(root) for root in (*_library_folders(), "/usr/lib", "/usr/lib64", "/usr/local/lib")}:
        for name in (*PACKAGES, *ANSWERS_OF_OTHERS):
            found |= {os.path.realpath(place) for place in _folders_named(root, name, DEPTH_OF_COPIES)}
    return sorted(found)


def _folders_named(folder, name, depth):
    """Yield the folders with this name in a folder, and down to `depth` levels deeper."""
    with suppress(OSError), os.scandir(folder) as entries:
        for entry in entries:
            if entry.name == name:
                yield entry.path
            elif depth and entry.is_dir(follow_symlinks=False):
                yield from _folders_named(entry.path, name, depth - 1)


def public() -> list[str]:
    """Return the public folders of the course, and the `__init__.py` of each folder above them, as paths."""
    above = {PACKAGE} | {
        folder for part in PUBLIC for folder in (PACKAGE / part).parents if folder.is_relative_to(PACKAGE)
    }
    return [*(str(folder / "__init__.py") for folder in sorted(above)), *(str(PACKAGE / part) for part in PUBLIC)]


def _library_folders():
    """Return the folders of Python's own libraries and of installed packages."""
    paths = [sysconfig.get_paths()[name] for name in ("stdlib", "platstdlib", "purelib", "platlib")]
    paths.append(str(Path(find_spec("torch").origin).parents[1]))  # wherever it was installed
    paths += [site.getusersitepackages()] if site.ENABLE_USER_SITE else []
    bases = [os.path.join(prefix, "lib") for prefix in (sys.prefix, sys.base_prefix)]  # libpython, conda's libraries
    return [path for path in (*paths, *bases, *site.getsitepackages()) if os.path.isdir(path)]


def _paths_without(root, secret):
    """Return `root` or, if something secret lies below it, everything in it but that."""
    if any(_is_within(root, path) for path in secret):
        return []
    if not any(_is_within(path, root) for path in secret):
        return [root]
    return [
        path for entry in sorted(os.scandir(root), key=lambda e: e.name) for path in _paths_without(entry.path, secret)
    ]


def _is_within(path, folder):
    return path == folder or path.startswith(folder.rstrip("/") + "/")


def python() -> str:
    """Return the path of this environment's Python, without links among its folders; the file may still be one."""
    return os.path.join(os.path.realpath(os.path.dirname(sys.executable)), os.path.basename(sys.executable))


def command(layers: Layers, program: list[str], hidden=(), data=()) -> list[str]:
    """Return the command line that starts `program`, inside bubblewrap if it is among the layers."""
    if not layers.bubblewrap:
        return program
    shown = {os.path.realpath(path) for path in (sys.prefix, sys.base_prefix, *_library_folders(), "/usr", *data)}
    binds = [option for path in sorted(shown) for option in ("--ro-bind", path, path)]
    for path in ("/lib", "/lib64", "/bin", "/etc/ld.so.cache", "/etc/localtime", *SYSTEM_FACTS):
        binds += ["--ro-bind-try", path, path]
    masks = [
        option for path in (*map(os.path.realpath, hidden), *_course_copies()) for option in _mask_options(path, shown)
    ]
    shown_again = [option for path in public() for option in ("--ro-bind", path, path)]
    alone = ["--unshare-all", "--die-with-parent", "--new-session", "--cap-drop", "ALL", "--chdir", "/"]
    return [
        layers.bubblewrap,
        *alone,
        "--dev",
        "/dev",
        "--proc",
        "/proc",
        "--tmpfs",
        "/tmp",
        *binds,
        *masks,
        *shown_again,
        "--",
        *program,
    ]


def _mask_options(path, shown):
    """Return options that put an empty folder or file over a path, if it would be seen."""
    if not any(_is_within(path, root) for root in shown):
        return []
    return ["--tmpfs", path] if os.path.isdir(path) else ["--ro-bind", "/dev/null", path]


def rules(layers: Layers, hidden=(), data=()) -> int | None:
    """Return a descriptor of Landlock's rules for `lock_server`, None if it is not among the layers. Raises OSError.

    The trusted side makes them, so that the locked process never knows the paths that it may not read.
    """
    if not layers.landlock:
        return None
    listed = [path for path in _library_folders() if os.path.isdir(path)]
    return landlock.rules(readable(hidden, data), DEVICES, [*listed, str(PACKAGE)])


def lock_server(layers: Layers, ruleset: int | None = None) -> None:
    """Lock this process, which has imported what answers need, and all that it forks. Raises OSError.

    Args:
        layers: the locks to put on.
        ruleset: from `rules`.
    """
    for name, most in (("NOFILE", 64), ("STACK", 2**26), ("CORE", 0), ("FSIZE", 0), ("MEMLOCK", 0), ("MSGQUEUE", 0)):
        _set_limit(name, most)
    if layers.seccomp:
        seccomp.libc().prctl(4, 0, 0, 0, 0)  # PR_SET_DUMPABLE: nobody may read or write its memory
    if ruleset is not None:
        landlock.lock(ruleset)
    if layers.safe:
        _drop_capabilities()
    if layers.seccomp:
        seccomp.compiled(_may_write(layers))  # once, for all forks


def lock_child(layers: Layers, memory: dict[str, int], cpu_seconds: int) -> None:
    """Lock a forked process for good, right before it meets a learner's code.

    Args:
        memory: from `memory_limits`.
        cpu_seconds: after which the kernel kills it.
    """
    for name, most in {**memory, "CPU": cpu_seconds}.items():
        _set_limit(name, most)
    if layers.seccomp:
        seccomp.libc().prctl(1, 9, 0, 0, 0)  # PR_SET_PDEATHSIG: it never outlives the server
        _set_limit("NPROC", 0)
        seccomp.lock(_may_write(layers))


def _may_write(layers):
    """Return whether opening files for writing can be left to Landlock, which refuses all but /dev/null."""
    return layers.landlock >= 3


def memory_limits(more: int) -> dict[str, int]:
    """Return the limits, in bytes by name, for a process that may take `more` bytes above what this one has; {} if this is not Linux.

    They are on address space and on its own memory, since a process may give back the libraries' share of the former. To be
    called before the process is locked, since the answer is in a file.
    """
    if platform.system() != "Linux":
        return {}
    with open("/proc/self/statm") as file:
        pages = file.read().split()
    return {name: int(pages[i]) * resource.getpagesize() + more for name, i in (("AS", 0), ("DATA", 5))}


def limit_memory(more: int) -> None:
    """Limit this process and what it starts, for good, to `more` bytes above what it has."""
    for name, most in memory_limits(more).items():
        _set_limit(name, most)


@contextmanager
def limited_memory(more: int):
    """Limit the body to `more` bytes of address space above what this process has; then restore the limit."""
    before = resource.getrlimit(resource.RLIMIT_AS)
    most = memory_limits(more).get("AS", before[0])
    if before[0] == resource.RLIM_INFINITY or most < before[0]:
        resource.setrlimit(resource.RLIMIT_AS, (most, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_AS, before)


def _set_limit(name, most):
    kind = getattr(resource, f"RLIMIT_{name}", None)
    if kind is not None:
        with suppress(ValueError, OSError):  # unknown to this system
            most = min([most, *(limit for limit in resource.getrlimit(kind) if limit != resource.RLIM_INFINITY)])
            resource.setrlimit(kind, (most, most))


def _drop_capabilities():
    """Drop all capabilities of this process: root inside is nobody special. Numbers from linux/capability.h."""
    header = struct.pack("Ii", 0x20080522, 0)
    if seccomp.libc().syscall(126 if platform.machine() == "x86_64" else 91, header, bytes(24)):
        raise OSError(ctypes.get_errno(), "capabilities cannot be dropped")
