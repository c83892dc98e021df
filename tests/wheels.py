"""The course's wheel, built for a test."""

import os
import shutil
import subprocess
import sys

from repository import ROOT

from course_utils.base.imports import PACKAGES
from course_utils.base.paths import FOLDERS


def build_wheel(folder, change=None):
    """Build the course's wheel from a copy, so that the tree stays clean and no old build/ gets in; `change` may alter that copy.

    Without a change, COURSE_WHEEL may name a wheel that has been built already, such as one that is going to be published.
    """
    if change is None and (built := os.environ.get("COURSE_WHEEL")):
        return ROOT / built
    copy = folder / "copy"
    copy.mkdir(parents=True)
    for name in ("pyproject.toml", "setup.py", "README.md", "LICENSE", "LICENSE-TEXT"):
        shutil.copy(ROOT / name, copy)
    for name in (*PACKAGES, "tests", "docs", *FOLDERS):
        shutil.copytree(ROOT / name, copy / name, ignore=shutil.ignore_patterns("__pycache__"))
    if change:
        change(copy)
    command = [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--wheel-dir", folder, copy]
    subprocess.run(command, check=True)
    return next(folder.glob("*.whl"))
