"""The course as pip installs it, without a clone: where its notebooks are found, where a learner's copies go, and the whole way in.

Not here: what is in the wheel, file by file (`test_packaging.py`); merging and handing in themselves (`test_workspace.py`).
"""

import io
import json
import os
import re
import shutil
import subprocess
import sys
import venv
import zipfile

import pytest
import timeouts
from repository import ROOT
from running_lab import Lab, free_port
from test_workspace import BUILT, PROMPT, SOFTMAX, SUMS, answered, load, published, replaced, sources, write_into
from wheels import build_wheel

from course_utils.base import paths
from course_utils.base.errors import CourseError
from course_utils.base.paths import clone_folder, course_folder, file_of, learners_folder, workspace_folder
from course_utils.commands import lab, main
from course_utils.grading.handing_out import package, release
from course_utils.learner import state
from course_utils.workspace import copies
from course_utils.workspace.updating import update


@pytest.fixture
def installed(tmp_path, monkeypatch):
    """What a wheel of two lessons installs beside the code."""
    folder = tmp_path / "site-packages" / "course_utils" / "published"
    for part in ("notebooks", "exercises", "solutions"):
        (folder / part).mkdir(parents=True)
        for name in ("00_start_here", SUMS):
            shutil.copy(ROOT / file_of(part, name), folder / part)
    for name in package.BESIDE:
        shutil.copy(ROOT / name, folder)
    shutil.copytree(ROOT / "docs", folder / "docs", ignore=shutil.ignore_patterns("*.py", "*.png", "*.webp"))
    for module in (paths, package):
        monkeypatch.setattr(module, "PUBLISHED", folder)
    for name in ("COURSE_HOME", "COURSE_PROGRESS"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(state, "_in_memory", {})
    return folder


@pytest.fixture
def folder(tmp_path, installed, monkeypatch):
    """An empty folder in which a learner calls `course`."""
    (tmp_path / "learning").mkdir()
    monkeypatch.chdir(tmp_path / "learning")
    return tmp_path / "learning"


def test_copies_and_progress_lie_where_the_course_was_opened(folder, monkeypatch):
    assert lab._notebook(workspace_folder(), "02") == f"notebooks/{SUMS}.ipynb"
    assert len(list((folder / "my_course").rglob("*.ipynb"))) == 4
    assert (folder / "my_course" / "docs" / "setup.md").is_file()  # lesson 00 links to it
    for below in (folder / "my_course" / "exercises", folder / "my_course" / "notebooks", folder / "my_course", folder):
        monkeypatch.chdir(below)
        assert workspace_folder() == learners_folder() == folder
    state.change("02.softmax", lambda entry: entry.update(state="passed"))
    assert (folder / ".course" / "progress.json").is_file()


def test_an_installed_course_stays_as_it_is(folder, installed):
    before = {path: path.read_bytes() for path in installed.rglob("*") if path.is_file()}
    lab._notebook(workspace_folder(), "00")
    write_into(folder / "my_course" / BUILT, answered(SOFTMAX))
    assert main(["submit", "02"]) == main(["update"]) == main(["release", "02"]) == 0
    assert {path: path.read_bytes() for path in installed.rglob("*") if path.is_file()} == before


@pytest.mark.parametrize("foreign", ["my_course/lectures/week 1.ipynb", "my_course/notes.txt", "my_course"])
@pytest.mark.parametrize("command", [("lab",), ("update",), ("submit", "02")])
def test_a_folder_of_that_name_with_other_things_is_left_alone(folder, foreign, command, capsys):
    (folder / foreign).parent.mkdir(parents=True, exist_ok=True)
    (folder / foreign).write_text("Mine.")
    before = sorted(folder.rglob("*"))
    assert main([*command]) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith(f"course: {folder / 'my_course'} is there already and holds something else")
    assert line.endswith("Change into another folder, such as a new one, and run this again there.")
    assert sorted(folder.rglob("*")) == before and (folder / foreign).read_text() == "Mine."


def test_other_projects_and_the_installed_course_are_no_clone(folder, installed, monkeypatch):
    (folder / "notebooks").mkdir()
    (folder / "pyproject.toml").write_bytes(b'[project]\nname = "my-analysis"  # \xff\n')
    assert course_folder() == installed and workspace_folder() == folder
    for place in (folder, installed / "notebooks"):
        monkeypatch.chdir(place)
        assert course_folder() == installed
        with pytest.raises(CourseError, match="is not inside the course: change into the folder of a clone"):
            clone_folder()


def test_a_clone_counts_for_those_inside_it(folder):
    shutil.copy(ROOT / "pyproject.toml", folder)
    (folder / "notebooks").mkdir()
    assert course_folder() == workspace_folder() == clone_folder() == folder
    assert list(copies.places(folder)) == []


def test_a_damaged_installation_is_told_how_to_mend_it(folder, installed):
    copies.make_missing(folder)
    again = "pip install --force-reinstall --no-deps attention_course-0.1.0-py3-none-any.whl"
    write_into(installed / BUILT, answered(SOFTMAX))
    (problem,) = update(folder, ["02"])
    assert problem.startswith(f"{BUILT} holds something else than the course's version") and again in problem
    with pytest.raises(CourseError, match=again):
        release.read_built(installed, "exercises", SUMS)
    (installed / "notebooks" / "00_start_here.ipynb").write_text("[]")
    (folder / "my_course" / "notebooks" / "00_start_here.ipynb").unlink()
    with pytest.raises(CourseError, match=f"cannot be read as a notebook: run `{again}`"):
        lab._notebook(folder, "00")


def test_students_without_solutions_get_no_notebook_of_the_wheel(installed):
    code = installed.parents[1] / "course_lessons/lesson_02_weighted_sums"
    for name in ("lesson.py", "exercises.py", "alternative_solutions/softmax.py"):
        (code / name).parent.mkdir(parents=True, exist_ok=True)
        (code / name).write_text("1")
    archive = zipfile.ZipFile(io.BytesIO(package.package(installed, "Later.")))
    names = ("solutions.json", "changed_solutions.json.gz", "lesson_02_weighted_sums/lesson.py")
    code = {f"course_lessons/{name}" for name in names}
    assert {name.removeprefix("attention-course/") for name in archive.namelist()} == {*package.BESIDE} | code
    assert SOFTMAX not in archive.read("attention-course/course_lessons/solutions.json").decode()


@pytest.mark.parametrize("works", [True, False])
def test_lab_installs_jupyterlab_where_the_wheel_came_without_it(monkeypatch, capsys, works):
    asked, there = [], []
    monkeypatch.setattr(lab, "IN_CLONE", False)
    monkeypatch.setattr(lab, "find_spec", lambda name: there or None)
    monkeypatch.setattr(lab.subprocess, "run", lambda it: (asked.append(it), there.append(1) if works else None))
    monkeypatch.setattr("course_utils.base.environment.find_spec", lambda name: there or None)
    monkeypatch.setattr("course_utils.base.environment.IN_CLONE", False)
    monkeypatch.setattr("course_utils.base.environment.INSTALL", 'pip install "attention-course[lab]"')
    if works:
        lab._complete()
        lab._complete()
    else:
        missing = r'^jupyterlab is missing: run `pip install "attention-course\[lab\]"` first'
        with pytest.raises(CourseError, match=missing):
            lab._complete()
    assert asked == [[sys.executable, "-m", "pip", "install", "attention-course[lab]"]]  # pip shows how far it is
    assert "JupyterLab is not there yet. It is being installed" in capsys.readouterr().out


# The whole way in: a wheel in an environment of its own, in an empty folder

RUN = """
import pathlib, sys, nbclient, nbformat

notebook = nbformat.read(sys.argv[1], as_version=4)
for code in ('hint("02.softmax")', 'solution("02.softmax")', "import course_utils; print(course_utils.__file__)"):
    notebook.cells.append(nbformat.v4.new_code_cell(code))
where = {"metadata": {"path": str(pathlib.Path(sys.argv[1]).parent)}}
nbclient.NotebookClient(notebook, timeout=300, kernel_name="python3", allow_errors=True, resources=where).execute()
for cell in notebook.cells:
    for output in cell.get("outputs", ()):
        print(cell.source, output.get("text") or output.get("data", {}).get("text/plain") or output.get("ename"), sep=": ")
"""


class Environment:
    """An environment that finds this one's libraries, and of the course nothing but the wheel."""

    def __init__(self, folder):
        venv.create(folder / "venv", with_pip=False)
        windows = os.name == "nt"
        self.python = folder / "venv" / ("Scripts/python.exe" if windows else "bin/python")
        version = "Lib" if windows else f"lib/python{sys.version_info[0]}.{sys.version_info[1]}"
        libraries = [path for path in sys.path if path.endswith("-packages")]
        (folder / "venv" / version / "site-packages" / "these.pth").write_text("\n".join(libraries))
        self.folder = folder / "learning"
        self.folder.mkdir()
        left_out = ("PYTHONPATH", "COURSE_HOME", "COURSE_PROGRESS")
        self.variables = {name: value for name, value in os.environ.items() if name not in left_out}
        self.variables |= {"JUPYTER_PREFER_ENV_PATH": "1", "PYTHONPATH": ""}

    def install(self, wheel):
        pip = [sys.executable, "-m", "pip", "--python", self.python, "install", "--quiet", "--no-deps"]
        subprocess.run([*pip, wheel], check=True)

    def run(self, *arguments, code=0):
        options = {"capture_output": True, "text": True, "timeout": timeouts.SECONDS}
        done = subprocess.run([self.python, *arguments], cwd=self.folder, env=self.variables, **options)
        assert done.returncode == code and "Traceback" not in done.stderr, done.stdout + done.stderr
        return done.stderr if code else done.stdout

    def course(self, *arguments, code=0):
        return self.run("-m", "course_utils", *arguments, code=code)


def newer(copy):
    """Make of a copy of the repository the next version, in which a task's text is another."""
    project = copy / "pyproject.toml"
    text = project.read_text(encoding="utf-8")
    project.write_text(re.sub(r'(?m)^version = ".*"', 'version = "99.0"', text), encoding="utf-8")
    published(copy, replaced(*PROMPT))


@pytest.mark.thorough
def test_a_wheel_leads_to_a_grade_without_a_clone(tmp_path):
    made = Environment(tmp_path)
    made.install(build_wheel(tmp_path / "first"))
    assert "TO DO" not in made.course("doctor")

    # A learner opens the first lesson, answers a task, and asks for help.
    with Lab(made.folder, "--port", str(free_port()), python=made.python, **made.variables) as opened:
        assert opened.path == "notebooks/00_start_here.ipynb"
        assert "<title>JupyterLab</title>" in opened.get(f"lab/tree/{opened.path}")
        assert json.loads(opened.get("api/contents/docs/setup.md"))["content"].startswith("# ")  # lesson 00 links to it
        lesson = json.loads(opened.get(f"api/contents/{opened.path}"))
        assert lesson["type"] == "notebook" and len(lesson["content"]["cells"]) > 20
        kernel = json.loads(opened.get("api/kernelspecs"))["kernelspecs"]["python3"]["spec"]
        assert (kernel["display_name"], kernel["argv"][0]) == ("Attention course", str(made.python))
    mine = made.folder / "my_course" / BUILT
    lessons = len(list((ROOT / "notebooks").glob("*.ipynb")))
    assert len(list((made.folder / "my_course").rglob("*.ipynb"))) == 2 * lessons
    write_into(mine, answered(SOFTMAX))
    shown = made.run("-c", RUN, str(mine))
    assert "02.softmax – softmax with a temperature: passed" in shown
    assert "Hint 1 of 3 for 02.softmax. exp makes every score positive" in shown
    answer = json.loads((ROOT / "course_lessons" / "solutions.json").read_text())["02.softmax"]
    assert answer.strip().splitlines()[-1] in shown
    assert str(tmp_path / "venv") in shown.split("print(course_utils.__file__)")[-1]
    assert (made.folder / ".course" / "progress.json").is_file()

    # A newer wheel brings another text, and keeps the answer.
    assert "Your copies are up to date." in made.course("update")
    made.install(build_wheel(tmp_path / "second", newer))
    assert "1 cell of yours kept; read 02.softmax again" in made.course("update")
    assert SOFTMAX in sources(mine) and any(PROMPT[1] in text for text in sources(mine))
    row = "02.softmax                  answered           not checked since it or its task changed"
    assert row in made.course("submit", "02")
    handed_in = made.folder / "my_course" / "handed_in" / f"{SUMS}.ipynb"
    assert load(handed_in)["metadata"]["course"]["version"] == "99.0"

    # A teacher hands out, grades and publishes.
    settings = made.folder / "class.toml"
    settings.write_text("[solutions]\nfrom = 2099-01-01T00:00:00Z\n")
    made.course("release", "02", "--settings", "class.toml")
    archive = zipfile.ZipFile(made.folder / "released" / SUMS / "attention-course.zip")
    assert "attention-course/pyproject.toml" in archive.namelist()
    assert not [name for name in archive.namelist() if re.search("published|_exercises.py|solutions/", name)]
    (made.folder / "submissions" / "ada").mkdir(parents=True)
    shutil.copy(handed_in, made.folder / "submissions" / "ada")
    made.course("grade", "submissions", "--out", "results", "--lessons", "02", "--workers", "1")
    grades = (made.folder / "results" / "grades.csv").read_text(encoding="utf-8")
    assert '\n"ada","","",1,8,0,"","","",1,"passed",' in grades
    assert "is not inside the course" in made.course("build", code=2)
    if sys.version_info >= (3, 11):
        assert f"pages are in {made.folder / 'pages'}" in made.course("site", "03", "--out", "pages")
        page = (made.folder / "pages" / "notebooks" / "03_queries_keys_values.html").read_text(encoding="utf-8")
        assert "queries, keys, values" in page.lower()
