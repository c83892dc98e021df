"""Keeps kernels that start side by side out of each other's way.

Here: where a kernel listens, for the build and, as a plugin of pytest, for nbval. Not here: what a kernel is given to run.
"""

import functools
import os
import tempfile


def listening_in(folder: str) -> dict[str, str]:
    """Return what a kernel manager takes so that its kernel listens at files in `folder`.

    A kernel's ports are chosen before the kernel takes them, so that another program can be there first, and the
    kernel dies. Windows knows no such files, and keeps to ports.
    """
    return {"transport": "tcp" if os.name == "nt" else "ipc", "connection_file": os.path.join(folder, "kernel.json")}


def pytest_configure(config):
    """Have nbval start its kernels like this."""
    import nbval.kernel

    folder = tempfile.TemporaryDirectory(prefix="course")
    config.add_cleanup(folder.cleanup)
    start = nbval.kernel.KernelManager

    @functools.wraps(start)
    def manager(**options):
        return start(**listening_in(tempfile.mkdtemp(dir=folder.name)), **options)

    nbval.kernel.KernelManager = manager
    config.add_cleanup(lambda: setattr(nbval.kernel, "KernelManager", start))
