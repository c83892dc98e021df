"""Runs the walk-throughs of CONTRIBUTING.md and docs/writing-*.md, exactly as printed, in a copy of the course."""

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from repository import ROOT

from course_utils.base.paths import FOLDERS, file_of

PAGES = ("CONTRIBUTING.md", "docs/writing-tasks.md", "docs/writing-lessons.md")
BLOCK = re.compile(r"^```(\w+)(?: (\w+)=(\S+))?\n(.*?)^```$", re.MULTILINE | re.DOTALL)


@pytest.fixture(scope="module")
def course(tmp_path_factory):
    folder = tmp_path_factory.mktemp("contributing") / "course"
    left_out = shutil.ignore_patterns(".*", "build", "*.egg-info", "__pycache__")
    shutil.copytree(ROOT, folder, ignore=left_out)
    return folder


def section(title):
    text = "\n".join((ROOT / page).read_text(encoding="utf-8") for page in PAGES)
    return re.search(rf"^## {title}\n((?:^```\w.*?^```$|.)*?)(?=^## |\Z)", text, re.MULTILINE | re.DOTALL).group(1)


def carry_out(course, title):
    """Apply a section's blocks in order; returns the output of its commands."""
    printed = []
    for language, how, name, text in BLOCK.findall(section(title)):
        if language == "sh":
            printed += [run(course, command) for command in text.strip().splitlines()]
        elif language == "diff":
            replace(course, text)
        else:
            file = course / name
            file.parent.mkdir(parents=True, exist_ok=True)
            new = text if how == "write" else before_last_cells(file.read_text(encoding="utf-8"), text)
            file.write_text(new, encoding="utf-8")
    return "\n".join(printed)


def before_last_cells(source, text):
    """A solution file with cells put before its last two."""
    place = [match.start() for match in re.finditer(r"^# %%", source, re.MULTILINE)][-2]
    return f"{source[:place]}{text}\n{source[place:]}"


def replace(course, diff):
    name = re.search(r"^\+\+\+ b/(\S+)", diff, re.MULTILINE).group(1)
    (old,) = re.findall(r"^-(?!--)(.*)$", diff, re.MULTILINE)
    (new,) = re.findall(r"^\+(?!\+\+)(.*)$", diff, re.MULTILINE)
    source = (course / name).read_text(encoding="utf-8")
    assert source.count(old) == 1, f"the line to change stands {source.count(old)} times in {name}"
    (course / name).write_text(source.replace(old, new), encoding="utf-8")


def run(course, command):
    place = str(Path(sys.executable).parent)
    environment = {**os.environ, "PYTHONPATH": str(course), "PATH": place + os.pathsep + os.environ["PATH"]}
    environment["OMP_NUM_THREADS"] = "1"
    done = subprocess.run(
        command.split(), cwd=course, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    )
    assert done.returncode == 0, f"`{command}` gave {done.returncode}:\n{done.stdout}"
    return done.stdout


@pytest.mark.thorough
def test_the_walk_through_for_changing_a_lesson_works(course):
    before = (course / "notebooks" / "01_bag_of_words.ipynb").read_bytes()
    printed = carry_out(course, "Change a lesson")
    assert "wrote notebooks/00_start_here.ipynb" in printed
    assert "step=0.1, " in (course / "notebooks" / "00_start_here.ipynb").read_text(encoding="utf-8")
    assert (course / "notebooks" / "01_bag_of_words.ipynb").read_bytes() == before


@pytest.mark.thorough
def test_the_walk_through_for_changing_a_task_works(course):
    printed = carry_out(course, "Change a task")
    assert re.search(r"\b\d+ passed", printed) and "failed" not in printed
    assert "up to 10 minutes" in (course / "exercises" / "00_start_here_exercises.ipynb").read_text(encoding="utf-8")
    readme = (course / "README.md").read_text(encoding="utf-8")
    assert "[1 task, 10 min](exercises/00_start_here_exercises.ipynb)" in readme


@pytest.mark.thorough
def test_the_walk_through_for_adding_a_task_works(course):
    printed = carry_out(course, "Add a task in ten minutes")
    assert re.search(r"\b\d+ passed", printed) and "failed" not in printed
    exercise = (course / "exercises" / "00_start_here_exercises.ipynb").read_text(encoding="utf-8")
    assert "def mean_vector" in exercise and "values.mean(0)" not in exercise
    assert '"00.mean_vector"' in (course / "course_lessons" / "solutions.json").read_text(encoding="utf-8")


@pytest.mark.thorough
def test_the_walk_through_for_adding_a_lesson_works(course):
    printed = carry_out(course, "Add a lesson")
    assert all(f"wrote {file_of(folder, '98_example')}" in printed for folder in FOLDERS)
    assert "[98 An example](notebooks/98_example.ipynb)" in (course / "README.md").read_text(encoding="utf-8")
    cells = json.loads((course / "notebooks" / "98_example.ipynb").read_text(encoding="utf-8"))["cells"]
    assert "".join(cells[0]["source"]).startswith("# 98 How many numbers does a state have?\n")
    assert "torch.Size([2])" in "".join(cells[-2]["outputs"][0]["data"]["text/plain"])


@pytest.mark.parametrize("page", PAGES)
def test_files_printed_whole_on_a_page_pass_the_style_check(page):
    for language, how, name, text in BLOCK.findall((ROOT / page).read_text(encoding="utf-8")):
        if (language, how) == ("python", "write"):
            for check in (["check"], ["format", "--check"]):
                command = [sys.executable, "-m", "ruff", *check, "--stdin-filename", name, "-"]
                done = subprocess.run(command, input=text, cwd=ROOT, capture_output=True, text=True)
                assert done.returncode == 0, done.stdout + done.stderr


def test_the_packages_are_all_described():
    told = re.findall(r"^\| `(\w+)/` \|", section("The packages"), re.MULTILINE)
    there = sorted(folder.parent.name for folder in (ROOT / "course_utils").glob("*/__init__.py"))
    assert sorted(told) == there


def test_contributing_is_short():
    words = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8").split()
    assert len(words) <= 1500, "move what only some contributors need to docs/"
