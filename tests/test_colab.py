"""Runs a lesson and its exercises as Colab does: one file in an empty folder, and the course not installed.

Not here: all notebooks in the course's own environment; `course test` runs them under nbval.
"""

import hashlib
import os
import shutil
import subprocess
import sys
import venv
from pathlib import Path

import pytest
from filelock import FileLock
from repository import ROOT
from wheels import build_wheel

ALREADY_THERE = ("torch", "matplotlib", "ipywidgets", "ipykernel", "nbclient")
RUN = """
import sys, nbclient, nbformat

notebook = nbformat.read(sys.argv[1], as_version=4)
notebook.cells.append(nbformat.v4.new_code_cell("import course_utils; print(course_utils.__file__)"))
nbclient.NotebookClient(notebook, timeout=300, kernel_name="python3").execute()
print(notebook.cells[-1].outputs[0].text)
"""


def bare_environment():
    """Make, once for these pins, what Colab has before the course comes; return its Python."""
    pins = (ROOT / "constraints.txt").read_bytes() + sys.version.encode()
    folder = ROOT / "build" / "colab-venv" / hashlib.sha256(pins).hexdigest()[:12]
    python = folder / ("Scripts/python.exe" if os.name == "nt" else "bin/python")
    ready = folder / "ready"
    if not ready.exists():
        shutil.rmtree(folder.parent, ignore_errors=True)
        venv.create(folder, with_pip=True)
        pip(python, "install", "-c", ROOT / "constraints.txt", *ALREADY_THERE)
        ready.touch()
    return python


def pip(python, *arguments):
    """Run pip there, without PYTHONPATH: in the folder it names pip would find the course, and leave the installed one as it is."""
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    command = [python, "-m", "pip", "--quiet", "--disable-pip-version-check", *arguments]
    subprocess.run(command, env=environment, check=True)


def lesson(folder):
    """The notebook of lesson 02 in a folder, or the first there is."""
    built = sorted((ROOT / folder).glob("*.ipynb"))
    assert built, f"{folder}/ holds no notebook: run `course build`"
    return next((path for path in built if path.name.startswith("02")), built[0])


@pytest.mark.thorough
def test_a_lone_notebook_installs_the_course_and_runs_to_the_end(tmp_path):
    # One test for both notebooks: they share the environment, and tests run in parallel.
    (ROOT / "build").mkdir(exist_ok=True)
    with FileLock(ROOT / "build" / "colab-venv.lock"):
        python = bare_environment()
        environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
        environment |= {"COURSE_SOURCE": str(build_wheel(tmp_path)), "JUPYTER_PREFER_ENV_PATH": "1"}
        for folder in ("notebooks", "exercises"):
            pip(python, "uninstall", "--yes", "attention-course")
            empty = tmp_path / folder
            empty.mkdir()
            notebook = Path(shutil.copy(lesson(folder), empty))
            command = [python, "-c", RUN, notebook.name]
            done = subprocess.run(command, cwd=empty, env=environment, capture_output=True, text=True)
            assert done.returncode == 0, done.stderr
            assert Path(done.stdout.strip()).is_relative_to(python.parent.parent), done.stdout
