"""Completes a Python, such as VS Code may choose, that was not set up for the course but imports it from the course's folder.

A notebook's first cell calls `complete` before anything else of the course is imported, so this uses only the standard library.
"""

from __future__ import annotations  # so that an older Python gets a sentence, not a SyntaxError

import importlib
import re
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

FOLDER = Path(__file__).resolve().parents[2]
IMPORTED_AS = {"scikit-learn": "sklearn"}  # a distribution whose module has a different name


def complete(folder: Path = FOLDER) -> None:
    """Install what the course needs and this Python lacks; if that is not possible, end the cell with a sentence on what to do.

    Nothing is installed if the course has its own environment, which the notebook can use instead.
    """
    lacking = missing(folder)
    if not lacking:
        return
    here = f"This notebook runs in {sys.executable}, which lacks {', '.join(lacking)}."
    if (folder / ".venv").is_dir():
        sys.exit(f"{here} Choose the course's own environment as its kernel instead: {folder / '.venv'}.")
    print(f"{here} They are being installed, which takes some minutes.")
    if subprocess.run([sys.executable, "-m", "pip", "install", "--quiet", "-e", str(folder)]).returncode:
        sys.exit(
            f"{here} They could not be installed: check the connection and run this again, or run `make lab` in {folder} "
            f"and choose {folder / '.venv'} as the notebook's kernel."
        )
    importlib.invalidate_caches()


def missing(folder: Path = FOLDER) -> list[str]:
    """Return the modules that pyproject.toml requires on every Python but this one lacks."""
    text = (folder / "pyproject.toml").read_text(encoding="utf-8")
    wanted = re.search(r"^dependencies = \[$(.*?)^\]$", text, re.MULTILINE | re.DOTALL)
    names = re.findall(r'^ *"([\w-]+)[^";]*",?$', wanted[1], re.MULTILINE) if wanted else []
    return [name for name in (IMPORTED_AS.get(name, name) for name in names) if find_spec(name) is None]
