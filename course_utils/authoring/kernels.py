"""Kernels that run a lesson's notebook alike every time, and that can start side by side.

Here: which Python a kernel is, what it finds around it and where it listens, for the build and, as a plugin of pytest, for nbval.
Not here: what a kernel is given to run.
"""

import contextlib
import functools
import multiprocessing
import os
import runpy
import signal
import sys
import tempfile
import time
from pathlib import Path

# By the process that nbval's kernels are forked from.
IMPORTED_ONCE = ["torch", "torch._dynamo", "matplotlib.pyplot", "ipykernel.kernelapp"]


def this_python(folder: str):
    """Return a manager for a kernel of the running Python, whatever kernels are registered on this machine."""
    from jupyter_client.kernelspec import KernelSpec, KernelSpecManager
    from jupyter_client.manager import AsyncKernelManager

    class ThisPython(KernelSpecManager):
        def get_kernel_spec(self, kernel_name):
            argv = [sys.executable, "-m", "ipykernel_launcher", "-f", "{connection_file}"]
            return KernelSpec(argv=argv, display_name="Python 3", language="python")

    return AsyncKernelManager(kernel_spec_manager=ThisPython(), **listening_in(folder))


def environment(root: Path) -> dict[str, str]:
    """Return ours, with what makes runs alike; the kernel sees this folder's course_utils, whatever is installed."""
    ours = {key: value for key, value in os.environ.items() if key != "MPLBACKEND"}
    path = os.pathsep.join(filter(None, [str(root), ours.get("PYTHONPATH")]))
    return ours | {
        "COURSE_PROGRESS": "off",
        "COURSE_REAL_DATA": "1",  # a lesson's stored numbers are those of the real data, or there is no build
        "PYTHONHASHSEED": "0",
        "OMP_NUM_THREADS": "1",
        "PYTHONPATH": path,
    }


def listening_in(folder: str) -> dict[str, str]:
    """Return what a kernel manager takes so that its kernel listens at files in `folder`.

    A kernel's ports are chosen before the kernel takes them, so that another program can be there first, and the
    kernel dies. Windows knows no such files, and keeps to ports.
    """
    return {"transport": "tcp" if os.name == "nt" else "ipc", "connection_file": os.path.join(folder, "kernel.json")}


class Forked:
    """A kernel that begins with PyTorch imported, as importing it takes seconds: what a kernel's manager asks of its process."""

    stdin = stdout = stderr = None

    def __init__(self, command, cwd=None, env=None, **given):
        context = multiprocessing.get_context("forkserver")
        context.set_forkserver_preload(IMPORTED_ONCE)
        self._process = context.Process(target=_become, args=(command, cwd, env))
        self._process.start()
        self.pid, self.kill, self.terminate = self._process.pid, self._process.kill, self._process.terminate
        while os.getpgid(self.pid) != self.pid:  # its manager sends signals to its group
            time.sleep(0.001)

    def poll(self):
        return self._process.exitcode

    def wait(self):
        self._process.join()
        return self._process.exitcode

    def send_signal(self, number):
        with contextlib.suppress(ProcessLookupError):
            os.kill(self.pid, number)


def _become(command, cwd, env):
    """Become what a command starts that runs a module of Python."""
    os.setsid()
    signal.signal(signal.SIGINT, signal.default_int_handler)  # those of a fork server ignore it
    os.environ.clear()
    os.environ.update(env)
    os.chdir(cwd or ".")
    os.dup2(os.open(os.devnull, os.O_RDWR), 2)  # as nbval has it
    _, _, module, *sys.argv[1:] = command  # python -m module …
    sys.argv.append(f"--IPKernelApp.parent_handle={os.getppid()}")  # it ends with that
    runpy.run_module(module, run_name="__main__", alter_sys=True)


def pytest_configure(config):
    """Have nbval start its kernels like this; where processes can be forked safely, from one."""
    import nbval.kernel
    from jupyter_client.provisioning import local_provisioner

    folder = tempfile.TemporaryDirectory(prefix="course")
    config.add_cleanup(folder.cleanup)
    start, launch = nbval.kernel.KernelManager, local_provisioner.launch_kernel

    @functools.wraps(start)
    def manager(**options):
        return start(**listening_in(tempfile.mkdtemp(dir=folder.name)), **options)

    def set_back():
        nbval.kernel.KernelManager, local_provisioner.launch_kernel = start, launch

    nbval.kernel.KernelManager = manager
    one_thread = os.environ.get("OMP_NUM_THREADS") == "1"  # a fork would lose any other
    if sys.platform == "linux" and one_thread:
        # A kernel's, which is read when matplotlib is imported.
        os.environ["MPLBACKEND"] = "module://matplotlib_inline.backend_inline"
        local_provisioner.launch_kernel = Forked
    config.add_cleanup(set_back)
