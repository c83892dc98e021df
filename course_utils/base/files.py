"""Writes a file as a whole or not at all: whoever reads it never sees a half of it, whatever happens to the writer.

Here: `replacing`, `opened` and `write`. Not here: what to say to a person when the disk is full.
"""

import contextlib
import os
import secrets
from collections.abc import Iterator
from pathlib import Path
from typing import TextIO


@contextlib.contextmanager
def replacing(path: Path, durable: bool = False) -> Iterator[Path]:
    """Give the path of a draft, which takes the place of `path` once the body has ended without an error.

    Args:
        path: the file to be written; its folder must be there.
        durable: wait until the disk holds the draft, so that a crash of the machine cannot leave an empty file.

    Raises:
        OSError: when it cannot be written; what was at `path` before is still there.
    """
    draft = path.with_name(f".{path.name}.{secrets.token_hex(6)}.tmp")  # nobody else's, on a shared disk too
    try:
        yield draft
        if durable:
            with open(draft, "r+b") as file:  # Windows flushes no file that is open for reading alone
                os.fsync(file.fileno())
        os.replace(draft, path)
    finally:
        draft.unlink(missing_ok=True)


@contextlib.contextmanager
def opened(path: Path, encoding: str = "utf-8") -> Iterator[TextIO]:
    """Open a text file for writing that takes the place of `path` once the body has ended without an error."""
    with replacing(path) as draft, open(draft, "w", encoding=encoding, newline="") as file:
        yield file


def write(path: Path, content: str | bytes, durable: bool = False) -> bool:
    """Write a file, a text as UTF-8, unless it holds just that already; return whether anything was written.

    A durable one is written in any case: it may be large, and what is there may not have reached the disk.
    """
    data = content.encode() if isinstance(content, str) else content
    with contextlib.suppress(OSError):
        if not durable and path.read_bytes() == data:
            return False
    with replacing(path, durable) as draft:
        draft.write_bytes(data)
    return True
