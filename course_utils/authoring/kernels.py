"""Kernels that run a lesson's notebook the same way every time and can start side by side.

Here: which Python a kernel runs, its environment and where it listens, for the build and, as a plugin of pytest, for nbval.
Not here: what a kernel is given to run.
"""

import functools
import os
import sys
import tempfile
from pathlib import Path


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
    """Return our variables, plus those that make runs alike; the kernel uses this folder's course_utils, whatever is installed."""
    ours = {key: value for key, value in os.environ.items() if key != "MPLBACKEND"}
    path = os.pathsep.join(filter(None, [str(root), ours.get("PYTHONPATH")]))
    return ours | {
        "COURSE_PROGRESS": "off",
        "COURSE_REAL_DATA": "1",  # stored numbers come from the real data, or the build fails
        "PYTHONHASHSEED": "0",
        "OMP_NUM_THREADS": "1",
        "TQDM_DISABLE": "1",  # no bars in stored outputs
        "PYTHONPATH": path,
    }


def listening_in(folder: str) -> dict[str, str]:
    """Return the options with which a kernel manager's kernel listens at files in `folder`.

    A kernel's ports are chosen before the kernel opens them, so another program may take one first, and the
    kernel dies. Windows has no such files and keeps to ports.
    """
    return {"transport": "tcp" if os.name == "nt" else "ipc", "connection_file": os.path.join(folder, "kernel.json")}


def pytest_configure(config):
    """Make nbval start its kernels this way."""
    import nbval.kernel

    folder = tempfile.TemporaryDirectory(prefix="course")
    config.add_cleanup(folder.cleanup)
    start = nbval.kernel.KernelManager
    os.environ["TQDM_DISABLE"] = "1"  # no bars in compared outputs

    @functools.wraps(start)
    def manager(**options):
        return start(**listening_in(tempfile.mkdtemp(dir=folder.name)), **options)

    nbval.kernel.KernelManager = manager
    config.add_cleanup(lambda: setattr(nbval.kernel, "KernelManager", start))
