"""What this Python offers the course, and how to get what is missing: versions, the kernel of JupyterLab, a browser.

Nothing here uses the network or changes anything. Not here: the table that `course doctor` makes from it.
"""

from __future__ import annotations  # so that an older Python gets a sentence, not a SyntaxError

import glob
import json
import os
import shutil
import sys
from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec
from pathlib import Path

from course_utils.base.errors import CourseError

try:
    import tomllib
except ImportError:  # Python 3.10; older versions may have neither, and are refused before anything is read
    try:
        import tomli as tomllib
    except ImportError:
        tomllib = None

PYTHONS = ((3, 10), (3, 13))  # the oldest and the newest the course is tested on
DISTRIBUTION = "attention-course"  # what pip calls the course
KERNEL_NAME = "Attention course"
# An extra of pyproject.toml -> a module that shows whether it is installed.
EXTRAS = {"lab": "jupyterlab", "test": "nbval", "site": "sphinx_book_theme"}
IN_CLONE = (Path(__file__).resolve().parents[2] / "pyproject.toml").is_file()


def course_version() -> str:
    """Return the installed version of the course; "" if it runs from a folder that is not installed."""
    try:
        return version(DISTRIBUTION)
    except PackageNotFoundError:
        return ""


def install(extras: str) -> str:
    """Return the command that installs extras of pyproject.toml, such as "lab,test", in a clone or for an installed wheel."""
    return f'pip install -c constraints.txt -e ".[{extras}]"' if IN_CLONE else f'pip install "{DISTRIBUTION}[{extras}]"'


INSTALL = install("lab")

CHROMIUM_COMMANDS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome", "msedge")
CHROMIUM_PLACES = (  # where installers put it outside the PATH; the last three are Playwright's own downloads
    "/Applications/Chromium.app/Contents/MacOS/Chromium",
    "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome",
    r"%PROGRAMFILES%\Google\Chrome\Application\chrome.exe",
    r"%PROGRAMFILES(X86)%\Google\Chrome\Application\chrome.exe",
    r"%LOCALAPPDATA%\Google\Chrome\Application\chrome.exe",
    "~/.cache/ms-playwright/chromium-*/chrome-linux*/chrome",
    "~/Library/Caches/ms-playwright/chromium-*/chrome-mac*/*.app/Contents/MacOS/*",
    r"%LOCALAPPDATA%\ms-playwright\chromium-*\chrome-win*\chrome.exe",
)
GET_CHROMIUM = "run `python -m playwright install chromium`, or name a browser in CHROMIUM"


def right_python(version=None) -> bool:
    """Return whether this Python (or the version given) is one the course is tested on."""
    return PYTHONS[0] <= tuple(version or sys.version_info)[:2] <= PYTHONS[1]


def kernel_folder() -> Path:
    """Return where this environment, and no other, keeps its Python kernel."""
    return Path(sys.prefix) / "share" / "jupyter" / "kernels" / "python3"


def kernel_is_ours() -> bool:
    """Return whether that kernel has the course's name and starts this very Python."""
    try:
        spec = json.loads((kernel_folder() / "kernel.json").read_text(encoding="utf-8"))
        return spec["display_name"] == KERNEL_NAME and spec["argv"][0] == sys.executable
    except (OSError, ValueError, KeyError, IndexError, TypeError):
        return False


def kernel_metadata() -> dict[str, dict]:
    """Return what JupyterLab writes into a notebook once the course's kernel runs it: a notebook with it stays unchanged when opened.

    {} if that kernel has not been set up.
    """
    if not kernel_is_ours():
        return {}
    from ipykernel.ipkernel import IPythonKernel

    spec = {"display_name": KERNEL_NAME, "language": "python", "name": "python3"}
    return {"kernelspec": spec, "language_info": IPythonKernel.language_info}


def find_chromium() -> str | None:
    """Return the path of Chromium or Chrome: what CHROMIUM names, else from the PATH or the usual places."""
    if os.environ.get("CHROMIUM"):
        return shutil.which(os.environ["CHROMIUM"])
    for command in filter(shutil.which, CHROMIUM_COMMANDS):
        return shutil.which(command)
    for place in CHROMIUM_PLACES:
        for path in sorted(glob.glob(os.path.expandvars(os.path.expanduser(place))), reverse=True):
            if os.access(path, os.X_OK):
                return path
    return None


def need(extra: str) -> None:
    """Raise `CourseError` unless an extra of pyproject.toml, "lab", "test" or "site", is installed."""
    if find_spec(EXTRAS[extra]) is None:
        command = install("lab,site") if extra == "site" else install("lab,test") if IN_CLONE else INSTALL
        raise CourseError(f"{EXTRAS[extra]} is missing: run `{command}` first.")
