"""Says what to do in a Python, such as VS Code may choose, that was not set up for the course but imports it from the course's folder.

A notebook's first cell calls `complete` before anything else of the course is imported, so this uses only the standard library.
"""

from __future__ import annotations  # so that an older Python gets a sentence, not a SyntaxError

import re
import shutil
import sys
from importlib.util import find_spec
from pathlib import Path

FOLDER = Path(__file__).resolve().parents[2]
CPU_BUILD = "https://download.pytorch.org/whl/cpu"
IMPORTED_AS = {"scikit-learn": "sklearn"}  # a distribution whose module has a different name


def complete(folder: Path = FOLDER) -> None:
    """End the cell with a sentence on what to do if this Python lacks what the course needs.

    Nothing is installed: a Python that was chosen by mistake may belong to another project, or to the system.
    """
    lacking = missing(folder)
    if not lacking:
        return
    here, own = f"This notebook runs in {sys.executable}, which lacks {', '.join(lacking)}.", folder / ".venv"
    if own.is_dir():
        sys.exit(f"{here} Choose the course's own environment as its kernel instead: {own}.")
    sys.exit(
        f"{here} Run `make lab` in {folder} once (docs/setup.md says what to do without make) and choose {own} as the "
        "notebook's kernel. Or, to install everything into this Python after all, run this in a cell and restart the "
        f"kernel:\n\n{install_command(folder)}"
    )


def install_command(folder: Path) -> str:
    """Return the command for a cell that installs what the course needs, on Linux without an NVIDIA GPU in the smaller build."""
    needs_cpu_build = sys.platform == "linux" and not shutil.which("nvidia-smi")
    index = f" --extra-index-url {CPU_BUILD}" if needs_cpu_build else ""
    return f'%pip install{index} -c "{folder / "constraints.txt"}" -e "{folder}"'


def missing(folder: Path = FOLDER) -> list[str]:
    """Return the modules that pyproject.toml requires on every Python but this one lacks."""
    text = (folder / "pyproject.toml").read_text(encoding="utf-8")
    wanted = re.search(r"^dependencies = \[$(.*?)^\]$", text, re.MULTILINE | re.DOTALL)
    names = re.findall(r'^ *"([\w-]+)[^";]*",?$', wanted[1], re.MULTILINE) if wanted else []
    return [name for name in (IMPORTED_AS.get(name, name) for name in names) if find_spec(name) is None]
