"""Writes a file completely or not at all: a reader never sees half of it, whatever happens to the writer.

Here: `replacing`, `opened` and `write`, `scratch`, a temporary folder, and `must_be_ordinary`, to be called before a file is read. Not here: what to say to a person when the disk is full.
"""

import contextlib
import errno
import os
import secrets
import shutil
import stat
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import TextIO

from filelock import FileLock, Timeout

IN_USE = ".in-use"  # locked in a scratch folder as long as its process lives
SECONDS_TO_LOCK = 60  # after which a new scratch folder has surely been locked


def must_be_ordinary(path: Path) -> None:
    """Raise `OSError` for a pipe, a socket or a device: reading one may never end."""
    mode = os.stat(path).st_mode
    if not (stat.S_ISREG(mode) or stat.S_ISDIR(mode)):
        raise OSError(errno.EINVAL, "it is a pipe, a socket or a device, not an ordinary file", str(path))


@contextlib.contextmanager
def replacing(path: Path, durable: bool = False) -> Iterator[Path]:
    """Yield the path of a draft, which replaces `path` once the body has ended without an error.

    Args:
        path: the file to be written; its folder must exist.
        durable: wait until the disk holds the draft, so that a crash of the machine cannot leave an empty file.

    Raises:
        OSError: if it cannot be written; what was at `path` before is still there.
    """
    draft = path.with_name(f".{path.name}.{secrets.token_hex(6)}.tmp")  # unique, even on a shared disk
    try:
        with _file_named_in_errors(path, draft):
            yield draft
            if durable:
                with open(draft, "r+b") as file:  # Windows does not flush a file opened only for reading
                    os.fsync(file.fileno())
            os.replace(draft, path)
    finally:
        draft.unlink(missing_ok=True)


@contextlib.contextmanager
def _file_named_in_errors(path, draft):
    """Make an OSError that names the draft, or no file at all, as for a full disk, name the file itself."""
    try:
        yield
    except OSError as error:
        if error.errno is not None and error.filename in (None, draft, str(draft)):
            error.filename = str(path)
        raise


@contextlib.contextmanager
def scratch(prefix: str) -> Iterator[Path]:
    """Yield a new temporary folder, removed at the end; folders with this prefix left by killed processes are removed first."""
    for left in Path(tempfile.gettempdir()).glob(f"{prefix}-*"):
        _remove_if_left(left)
    folder = Path(tempfile.mkdtemp(prefix=f"{prefix}-"))
    try:
        with FileLock(folder / IN_USE):
            yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _remove_if_left(folder):
    with contextlib.suppress(OSError, Timeout):
        status = os.lstat(folder)
        ours = not hasattr(os, "getuid") or status.st_uid == os.getuid()
        if ours and time.time() - status.st_mtime > SECONDS_TO_LOCK and (folder / IN_USE).is_file():
            with FileLock(folder / IN_USE, timeout=0):
                shutil.rmtree(folder, ignore_errors=True)


@contextlib.contextmanager
def opened(path: Path, encoding: str = "utf-8") -> Iterator[TextIO]:
    """Open a text file for writing that replaces `path` once the body has ended without an error."""
    with replacing(path) as draft, open(draft, "w", encoding=encoding, newline="") as file:
        yield file


def write(path: Path, content: str | bytes, durable: bool = False) -> bool:
    """Write a file, text as UTF-8, unless it already holds exactly that; return whether anything was written.

    A durable file is always written: it may be large, and what is there may not have reached the disk.
    """
    data = content.encode() if isinstance(content, str) else content
    with contextlib.suppress(OSError):
        if not durable and path.read_bytes() == data:
            return False
    with replacing(path, durable) as draft:
        draft.write_bytes(data)
    return True
