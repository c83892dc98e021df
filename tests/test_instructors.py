"""Carries out docs/instructors.md: hands out, grades, runs its workflows, and lets nbgrader itself grade what is exported for it.

Not here: how a submission is sandboxed, judged and written up (`test_grading_*.py`); how fast it is (`benchmarks/grading_nbgrader.py`).
"""

import copy
import csv
import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import zipfile
from datetime import datetime, timezone
from pathlib import Path

import nbformat
import pytest
import sampling
import timeouts
import torch
import yaml
from repository import ROOT, git
from script_loader import program
from submissions import grades, needs_sandbox
from tasks import as_answer
from wheels import build_wheel

from course_utils import commands
from course_utils.authoring.notebook_builder import is_placeholder
from course_utils.base import paths, trees
from course_utils.base.environment import tomllib
from course_utils.base.errors import CourseError
from course_utils.base.paths import file_of, names_in
from course_utils.checks import catalogue
from course_utils.checks.catalogue import solutions
from course_utils.grading.handing_out import nbgrader as nbgrader_form
from course_utils.grading.handing_out import release
from course_utils.grading.ingest.class_settings import Settings, read_settings
from course_utils.grading.ingest.lessons import names_by_lesson

PAGE = (ROOT / "docs" / "instructors.md").read_text(encoding="utf-8")
BLOCK = re.compile(r"^```(\w+)(?: (\S+))?\n(.*?)^```$", re.MULTILINE | re.DOTALL)
LESSONS = names_in(ROOT, "exercises")
QUERIES = "03_queries_keys_values"
KNOWN = names_by_lesson()
GITHUBS = {"actions/checkout", "actions/setup-python", "actions/upload-artifact"}  # what a test need not run

NOT_HERE = "the page's commands are for a POSIX shell: run it on Linux or macOS"
posix = pytest.mark.skipif(sys.platform == "win32", reason=NOT_HERE)
benchmark = program("grading_nbgrader")


def command(name, *arguments):
    """Run `course release` or `course export` as the command line does."""
    options = commands.make_parser().parse_args([name, *map(str, arguments)])
    return options.command(options)


@pytest.fixture
def in_the_course(monkeypatch):
    monkeypatch.chdir(ROOT / "notebooks")  # a folder of the course, not its root


@pytest.fixture
def copy_of_the_course(tmp_path):
    """A folder with the notebooks that are handed out, as a course's folder has them, in a repository of its own."""
    for name in ("pyproject.toml", ".gitignore"):
        shutil.copy(ROOT / name, tmp_path)
    subprocess.run(["git", "init", "--quiet", tmp_path], check=True)
    for folder in ("notebooks", "exercises", "solutions"):
        (tmp_path / folder).mkdir()
        for path in (ROOT / folder).glob("*.ipynb"):
            shutil.copy(path, tmp_path / folder)
    return tmp_path


def could_be_committed(folder, *names):
    """Return the files that Git does not ignore and that one of these names is in, in the path or in the text."""
    listed = git(folder, "ls-files", "-z", "--others", "--cached", "--exclude-standard").split("\0")
    assert "pyproject.toml" in listed
    ours = [path for path in listed if path and not re.match("(notebooks|exercises)/", path)]
    found = {path: (folder / path).read_bytes() for path in ours}
    return [path for path, text in found.items() for name in names if name in path or name.encode() in text]


def read(path):
    return json.loads(path.read_text(encoding="utf-8"))


def blocks(section=None, language=None):
    """The page's blocks as (language, name, text), of one section or language."""
    text = PAGE
    if section:
        text = re.search(rf"^## {section}\n(.*?)(?=^## |\Z)", PAGE, re.MULTILINE | re.DOTALL).group(1)
    return [block for block in BLOCK.findall(text) if language in (None, block[0])]


def sources(notebook, kind="code"):
    return ["".join(cell["source"]) for cell in notebook["cells"] if cell["cell_type"] == kind]


# course release


def test_a_released_exercise_tells_its_lesson_and_no_answer(tmp_path, in_the_course, capsys):
    assert command("release", "3", "00_start_here", "--out", tmp_path) == 0
    assert sorted(path.name for path in tmp_path.iterdir()) == ["00_start_here", QUERIES]
    said = capsys.readouterr().out
    assert f"{tmp_path.as_posix()}/{QUERIES}" in said and "00_start_here.ipynb" in said
    file = tmp_path / QUERIES / f"{QUERIES}.ipynb"
    nbformat.validate(nbformat.read(file, as_version=4))
    notebook = read(file)
    assert sources(notebook) == sources(read(ROOT / file_of("exercises", QUERIES)))
    assert notebook["metadata"]["course"]["lesson"] == "03"
    assert notebook["metadata"]["course"]["name"] == QUERIES
    assert "](../" not in file.read_text(encoding="utf-8")
    assert any("blob/main/notebooks/03_queries_keys_values.ipynb)" in text for text in sources(notebook, "markdown"))
    for lesson, number in (("00_start_here", 1), (QUERIES, 6)):
        readme = (tmp_path / lesson / "README.md").read_text(encoding="utf-8")
        rows = re.findall(r"^\| (\d\d\.\w+) \| .* \| ([\d.]+) \|$", readme, re.MULTILINE)
        assert rows == [(task.id, f"{task.points:g}") for task in catalogue.by_lesson()[lesson[:2]]]
        assert len(rows) == number and f"{lesson}.ipynb" in readme
        assert ("Colab" in readme) != is_placeholder(release.address_in(file))


def test_work_is_not_written_over_unless_forced(tmp_path, in_the_course):
    command("release", "03", "--out", tmp_path)
    file = tmp_path / QUERIES / f"{QUERIES}.ipynb"
    handed_out = file.read_bytes()
    command("release", "03", "--out", tmp_path)  # the same once more does no harm
    file.write_bytes(handed_out.replace(b"raise NotImplementedError", b"return 1"))
    with pytest.raises(CourseError, match=rf"{QUERIES}\.ipynb is there already .*--force"):
        command("release", "00", "03", "--out", tmp_path)
    assert b"return 1" in file.read_bytes()
    assert not (tmp_path / "00_start_here").exists(), "all or nothing"
    command("release", "00", "03", "--out", tmp_path, "--force")
    assert file.read_bytes() == handed_out
    assert not [path for path in tmp_path.rglob("*") if path.is_file() and path.suffix not in (".ipynb", ".md")]


@pytest.mark.parametrize("name", ["98", "", "..", "03x"])
def test_a_lesson_that_is_not_there_is_refused_in_one_sentence(name, tmp_path, in_the_course):
    for arguments in (("release", name, "--out", tmp_path), ("export", "nbgrader", tmp_path, name)):
        with pytest.raises(CourseError, match=f"^there is no lesson {re.escape(repr(name))} .* are 00_start_here, "):
            command(*arguments)
    assert not list(tmp_path.iterdir())


def test_an_exercise_that_was_worked_in_is_not_handed_out(copy_of_the_course, monkeypatch):
    monkeypatch.chdir(copy_of_the_course)
    monkeypatch.setattr(paths, "CODE", copy_of_the_course)
    for folder, name, arguments in (
        ("exercises", "00_start_here", ("release", "00")),
        ("solutions", "00_start_here", ("export", "nbgrader", "there", "00")),
    ):
        file = copy_of_the_course / file_of(folder, name)
        built = file.read_text(encoding="utf-8")
        for damaged, sentence in (
            (built.replace("values", "value"), "holds something else than the build wrote"),
            (built[:-20], "cannot be read as a notebook"),
            ("[]", "cannot be read as a notebook"),
        ):
            file.write_text(damaged, encoding="utf-8")
            with pytest.raises(CourseError, match=f"{file_of(folder, name)} {sentence}.*course build 00"):
                command(*arguments)
        file.write_text(built, encoding="utf-8")
        command(*arguments)


@pytest.mark.parametrize("arguments", [("release", "00"), ("export", "nbgrader", "there", "00"), ("export", "gradescope", "there", "00")])  # fmt: skip
def test_a_folder_that_is_no_clone_is_not_handed_out(arguments, copy_of_the_course, monkeypatch):
    project = copy_of_the_course / "pyproject.toml"
    project.write_text(project.read_text(encoding="utf-8").replace("setuptools", "a_trap"), encoding="utf-8")
    for here in (copy_of_the_course, copy_of_the_course / "exercises"):
        monkeypatch.chdir(here)
        with pytest.raises(CourseError, match=f"{copy_of_the_course.name} looks like a clone .* belongs to {ROOT}"):
            command(*arguments)
    assert not [*copy_of_the_course.rglob("there")] and not [*copy_of_the_course.rglob("released")]


def test_release_and_export_say_so_outside_the_course(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    path = os.pathsep.join([str(ROOT), os.environ.get("PYTHONPATH", "")])
    for arguments in ("release 03 --settings none", "export nbgrader there --settings none"):  # whatever else is wrong
        program = (
            f"import sys\nfrom course_utils.commands import main\ncode = main({arguments.split()})\n"
            "sys.exit(code if 'torch' not in sys.modules else 'it imported PyTorch')"
        )
        options = {"capture_output": True, "text": True, "timeout": timeouts.SECONDS}
        done = subprocess.run([sys.executable, "-c", program], env={**os.environ, "PYTHONPATH": path}, **options)
        assert done.returncode == 2 and done.stderr.count("\n") == 1, done.stderr
        assert "is not inside the course" in done.stderr
    shutil.copy(ROOT / "pyproject.toml", tmp_path)
    for folder in ("notebooks", "exercises", "solutions"):
        (tmp_path / folder).mkdir()
    monkeypatch.setattr(paths, "CODE", tmp_path)
    with pytest.raises(CourseError, match="holds no notebooks: run `course build`"):
        command("release", "03")


def test_the_class_settings_count_in_what_is_handed_out(tmp_path, in_the_course):
    settings = tmp_path / "class.toml"
    settings.write_text(dict(block[1:] for block in blocks("Set points and deadlines"))["class.toml"], encoding="utf-8")
    command("release", "03", "--out", tmp_path, "--settings", settings)
    readme = (tmp_path / QUERIES / "README.md").read_text(encoding="utf-8")
    for words in (
        "holds 5 tasks, 8 points in all",
        "\nIt also holds what does not count: 03.catch_wrong_attention.\n",
        "\nHand in by Friday, 20 November 2026, 23:59 (UTC+01:00). Each day begun after that costs 10% of the points. ",
        "After 7 days nothing counts.\n\n## How to work",
    ):
        assert words in readme
    assert re.search(r"^\| 03.attention \| .* \| 4 \|$", readme, re.MULTILINE) and readme.count("\n| 03.") == 5
    command("export", "nbgrader", tmp_path / "nbgrader", "03", "--settings", settings)
    notebook = read(tmp_path / "nbgrader" / "source" / "03" / f"{QUERIES}.ipynb")
    marked = [cell["metadata"]["nbgrader"] for cell in notebook["cells"] if "nbgrader" in cell["metadata"]]
    points = {values["grade_id"]: values["points"] for values in marked if values["grade"]}
    once = {f"03_{name}_graded": 1 for name in ("padding_mask", "causal_mask", "self_attention", "influence")}
    assert points == once | {"03_attention_graded": 4}
    assert len(marked) == 2 * 6 - 1  # a solution and a graded cell each; the task that is left out is not graded


FORGED = 'import sys\nsys.modules["course_utils.learner.notebook"].question_replies = '
SAID = {  # by student: what the cell of 02.q1 says, and the state and points that it earns
    "right": ('check("02.q1", "CORRECT", seed=7)', "passed", 1),
    "wrong": ('check("02.q1", "WRONG", seed=7)', "failed", 0),
    "blank": ('check("02.q1", ..., seed=7)', "missing", 0),
    "unseeded": ('check("02.q1", "CORRECT")', "not run", 0),
    "other_order": ('check("02.q1", "CORRECT", seed=8)', "not run", 0),
    "no_letter": ('check("02.q1", "z", seed=7)', "not attempted", 0),
    "last_counts": ('check("02.q1", "WRONG", seed=7)\ncheck("02.q1", "CORRECT", seed=7)', "passed", 1),
    "many": ('for letter in "abcd" * 99: check("02.q1", letter, seed=7)\ncheck("02.q1", "WRONG", seed=7)', "failed", 0),
    "huge": ('check("02.q1", "CORRECT" * 10**7, seed=7)', "not attempted", 0),
    "floods": ('for i in range(10**5): check(str(i), "a", seed=7)', "missing", 0),
    "forges": (FORGED + '{"02.q1": ("passed", 10**4000), "02.q2": object()}', "missing", 0),
    "writes": (FORGED + '"x" * 10**8', "missing", 0),
    "ends": ("import os\nos._exit(0)", "missing", 0),
}


@posix
@needs_sandbox
def test_a_class_may_be_graded_on_questions(tmp_path, in_the_course, graded_here):
    settings = tmp_path / "class.toml"
    settings.write_text('[points]\nquestions = 7\n"02.q2" = 3\n', encoding="utf-8")
    command("release", "02", "--out", tmp_path, "--settings", settings)
    (lesson,) = (name for name in os.listdir(tmp_path) if name.startswith("02"))
    assert "holds 13 tasks, 15 points in all" in (tmp_path / lesson / "README.md").read_text(encoding="utf-8")
    blank = read(tmp_path / lesson / f"{lesson}.ipynb")
    cells = {cell["id"]: cell for cell in blank["cells"]}
    assert cells["02-q1"]["source"] == 'check("02.q1", ..., seed=7)'
    question = catalogue.load("02.q1")
    letters = {text: letter for letter, text in question.options(7)}
    right, wrong = letters[question.right[0]], letters[question.wrong[0][0]]
    for student, (source, _, _) in SAID.items():
        cells["02-q1"]["source"] = source.replace("CORRECT", right).replace("WRONG", wrong)
        cells["02-q2"]["source"] = 'check("02.q2", 0.75, seed=7)'
        path = tmp_path / "submissions" / f"{student}.ipynb"
        path.parent.mkdir(exist_ok=True)
        path.write_text(json.dumps(blank), encoding="utf-8")
    command("grade", tmp_path / "submissions", "--out", tmp_path / "results", "--settings", settings)
    found = grades(tmp_path / "results")
    for student, (_, state, points) in SAID.items():
        assert found[student]["02.q1 state"] == state, student
        assert float(found[student]["02.q1 points"]) == points, student
        assert float(found[student]["possible"]) == 15
    assert float(found["right"]["02.q2 points"]) == 3 and float(found["right"]["total"]) == 4
    assert found["wrong"]["02.q1 mistake"] == question.wrong[0][0]
    feedback = (tmp_path / "results" / "feedback" / "wrong.html").read_text(encoding="utf-8")
    assert "is not right" in feedback and "a low temperature" in feedback


def test_questions_are_handed_out_and_counted_only_if_so_set(tmp_path, in_the_course):
    command("release", "02", "--out", tmp_path)
    (lesson,) = os.listdir(tmp_path)
    assert "02.q1" not in (tmp_path / lesson / f"{lesson}.ipynb").read_text(encoding="utf-8")
    assert "holds 8 tasks" in (tmp_path / lesson / "README.md").read_text(encoding="utf-8")
    settings = tmp_path / "class.toml"
    settings.write_text("[points]\nquestions = true\n", encoding="utf-8")
    with pytest.raises(CourseError, match="questions must be a whole number such as 7"):
        read_settings(settings)


# course export nbgrader


@pytest.fixture(scope="module")
def exported(tmp_path_factory):
    folder = tmp_path_factory.mktemp("exported")
    nbgrader_form.export(ROOT, [], folder, Settings())
    return folder


def test_export_knows_only_nbgrader_and_gradescope(tmp_path, in_the_course):
    with pytest.raises(CourseError, match="knows the forms nbgrader and gradescope, not 'otter'"):
        command("export", "otter", tmp_path)
    for more in ((), (tmp_path,), (tmp_path, "03")):
        for name in ("canvas", "moodle"):
            with pytest.raises(CourseError, match=f"`course grade` writes {name}.csv into its folder of results"):
                command("export", name, *more)


def test_files_nbgrader_writes_beside_the_course_are_ignored(copy_of_the_course, in_the_course):
    """Whatever nbgrader calls it, as the test that runs nbgrader looks at what it does write."""
    folder = copy_of_the_course / "ours"
    command("export", "nbgrader", folder, "03")
    for place in ("submitted/zebedee/03", "autograded/zebedee/03", "feedback/zebedee/03", "exchange", "else"):
        (folder / place).mkdir(parents=True)
        (folder / place / "x.ipynb").write_text("zebedee")
    for name in ("gradebook.db", "grades.csv", ".nbgrader.log", "zebedee.txt"):
        (folder / name).write_text("zebedee")
    assert could_be_committed(copy_of_the_course, "zebedee") == []
    (folder / ".gitignore").write_text("source/\n")
    for force in ((), ("--force",)):
        with pytest.raises(CourseError, match=r"ours has a \.gitignore of its own"):
            command("export", "nbgrader", folder, "03", *force)


@pytest.mark.parametrize("lesson", LESSONS)
def test_exported_tasks_have_a_solution_and_a_locked_graded_cell(exported, lesson):
    file = exported / "source" / lesson[:2] / f"{lesson}.ipynb"
    nbformat.validate(nbformat.read(file, as_version=4))
    notebook = read(file)
    marked = [cell for cell in notebook["cells"] if "nbgrader" in cell["metadata"]]
    names = [cell["metadata"]["nbgrader"]["grade_id"] for cell in marked]
    assert all(re.fullmatch(r"[\w-]+", name) for name in names) and len({*names}) == len(names)
    asked = catalogue.by_lesson()[lesson[:2]]
    assert len(marked) == 2 * len(asked)
    for task, solution, graded in zip(asked, marked[::2], marked[1::2], strict=True):
        assert solution["metadata"]["nbgrader"]["solution"]
        assert re.findall("### (BEGIN|END) SOLUTION", solution["source"]) == ["BEGIN", "END"]
        values = graded["metadata"]["nbgrader"]
        assert values["grade"] and values["locked"] and not values["solution"] and values["points"] == task.points
        assert f'grade("{task.id}", ' in graded["source"]
    outside = [cell for cell in notebook["cells"] if cell not in marked[::2]]
    assert not any("BEGIN SOLUTION" in cell["source"] for cell in outside)
    assert "Open in Colab" not in file.read_text(encoding="utf-8")


@pytest.mark.parametrize("lesson", sampling.usually(LESSONS, 3))
def test_the_solutions_pass_every_graded_cell_and_a_stub_none(exported, lesson):
    notebook = read(exported / "source" / lesson[:2] / f"{lesson}.ipynb")
    cells = [cell for cell in notebook["cells"] if "nbgrader" in cell["metadata"]]
    _, imports, *_ = sources(notebook)  # the first cell installs what is missing
    names = {}
    exec(imports, names)
    for solution, graded in zip(cells[::2], cells[1::2], strict=True):
        with pytest.raises(NameError):
            exec(graded["source"], dict(names))
        exec(solution["source"], names)
        exec(graded["source"], names)
    with pytest.raises(AssertionError, match="nothing to check yet"):
        nbgrader_form.grade(catalogue.by_lesson()[lesson[:2]][0].id, None, 1)


def test_a_graded_cell_gives_points_for_what_is_right(capfd):
    def right_but_loud(size):
        print("nbgrader takes this for a failure", file=sys.stderr)
        return torch.ones(size, size).tril() == 1

    assert nbgrader_form.grade("03.causal_mask", right_but_loud, 2) is None
    assert capfd.readouterr().err == ""
    (overflow,) = [mistake for mistake in catalogue.load("02.softmax").mistakes if mistake.name == "overflow"]
    assert nbgrader_form.grade("02.softmax", overflow.function, 3) == 1.5
    assert "50% of the points: right until a score is too large for exp." in capfd.readouterr().out
    with pytest.raises(AssertionError, match="✗ 03.causal_mask – no look into the future: failed"):
        nbgrader_form.grade("03.causal_mask", lambda size: torch.ones(size, size, dtype=torch.bool).triu(), 2)


def _wrong_at_edges(task):
    """An answer that is wrong on the unusual inputs alone."""
    edges = [_seen(case.args) for case in task.make_cases(0) if case.edge and not case.hazard]

    def answer(*args):
        value = task.oracle_function(*args)
        return trees.map_leaves(_spoilt, value) if _seen(args) in edges else value

    def context_of_up_to_a_hundred_blocks(next_block):
        blocks = []
        context = task.oracle_function(lambda: blocks.append(next_block()) or blocks[-1])
        return context if len(blocks) <= 101 else 2 * context  # the last one says that there is none

    return context_of_up_to_a_hundred_blocks if task.id == "22.one_pass_attention" else answer


def _seen(args):
    """Arguments as they can be compared, in whatever precision they come; functions are left out."""
    leaves = [leaf for leaf in trees.leaves(args) if not callable(leaf)]
    return [(100 * x.double()).round().nan_to_num().tolist() if isinstance(x, torch.Tensor) else x for x in leaves]


def _spoilt(leaf):
    if isinstance(leaf, bool):
        return not leaf
    if isinstance(leaf, torch.Tensor) and leaf.dtype == torch.bool:
        return ~leaf
    return leaf + ("x" if isinstance(leaf, str) else 1)


def _without_gradient(task):
    return lambda *args: task.oracle_function(*(arg.detach() if isinstance(arg, torch.Tensor) else arg for arg in args))


def _altering(task):
    def answer(*args):
        value = task.oracle_function(*(arg if callable(arg) else copy.deepcopy(arg) for arg in args))
        altered = next(arg for arg in args if isinstance(arg, (list, torch.Tensor)))
        altered.clear() if isinstance(altered, list) else altered.zero_()
        return value

    return answer


SPECIAL = {"gradient": _without_gradient, "side effect": _altering, "edge": _wrong_at_edges}
TASKS = [task for lesson in catalogue.by_lesson().values() for task in lesson]
SHARES = [(task.id, key) for task in TASKS for key in SPECIAL if key in task.partial]


@pytest.mark.parametrize(("task_id", "key"), sampling.usually(SHARES, 15))
def test_a_graded_cell_gives_partial_credit_for_one_wrong_aspect(task_id, key, capsys):
    task = catalogue.load(task_id)
    answer = SPECIAL[key](task)
    share, sentence = task.partial[key]
    assert nbgrader_form.grade(task_id, as_answer(task, answer), 4) == 4 * share
    assert sentence in capsys.readouterr().out


def test_wrong_values_earn_no_share_for_their_gradient():
    right = catalogue.load("02.masked_softmax").oracle_function
    with pytest.raises(AssertionError, match="failed"):
        nbgrader_form.grade("02.masked_softmax", lambda scores, mask: right(scores.detach(), mask) * 2, 4)


# docs/instructors.md


def shell(folder, commands, programs=(), **environment):
    """Run commands as a GitHub runner does, the programs of some folders before others; returns what they print."""
    places = [*map(str, programs), str(Path(sys.executable).parent), os.environ["PATH"]]
    environment = {**os.environ, "PATH": os.pathsep.join(places), "OMP_NUM_THREADS": "1", **environment}
    environment = {name: value for name, value in environment.items() if value is not None}
    words = ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", commands]
    into = {"stdout": subprocess.PIPE, "stderr": subprocess.STDOUT, "text": True}
    done = subprocess.run(words, cwd=folder, env=environment, **into)
    assert done.returncode == 0, f"`{commands}` gave {done.returncode}:\n{done.stdout}"
    return done.stdout


# Where the course is installed anew: it is there already, one environment below, so pip takes it for done, and what it needs is there.
INSTALLING = {"PYTHONPATH": None, "PIP_FORCE_REINSTALL": "1", "PIP_NO_DEPS": "1", "PIP_NO_INDEX": "1"}


def hand_in(blank, path, **answered):
    """Write a learner's notebook: answers as source, by the task's name without its lesson; None leaves the stub."""
    notebook = read(blank)
    lesson = notebook["metadata"]["course"]["lesson"]
    own = {task: text for task, text in solutions().items() if task.startswith(lesson)}
    benchmark.hand_in(path, notebook, own | {f"{lesson}.{name}": text for name, text in answered.items()})


WRONG = {
    "padding_mask": "def padding_mask(lengths, size):\n    return torch.arange(size) <= lengths[:, None]",
    "causal_mask": None,
    "self_attention": None,
    "influence": None,
    # right but for a query that may attend to nothing: half of the points
    "attention": """\
def attention(query, key, value, mask=None):
    scores = query @ key.mT
    if mask is not None:
        scores = scores.masked_fill(~mask, -torch.inf)
    weights = scores.softmax(-1)
    return weights @ value, weights""",
}


def class_folder(folder, blank):
    """A folder with the page's roster and settings, one right and one wrong submission."""
    for _, name, text in blocks("Collect") + blocks("Set points and deadlines"):
        (folder / name).write_text(text, encoding="utf-8")
    hand_in(blank, folder / "submissions" / "ada.ipynb")
    hand_in(blank, folder / "submissions" / "emmy" / "anything.ipynb", **WRONG)


def test_every_block_of_the_page_is_one_that_the_tests_below_run():
    named = "solutions.toml in-words.toml roster.csv class.toml my_grading.py overrides.csv notebooks.yml grade.yml"
    assert [name for _, name, _ in blocks() if name] == f"{named} course_mistakes.md".split()
    assert [language for language, name, _ in blocks() if not name] == ["sh"] * 9


LATER = datetime(2999, 12, 5, tzinfo=timezone.utc)


def test_solutions_are_left_out_until_their_time_has_come(tmp_path, in_the_course):
    release.release(ROOT, ["03"], tmp_path / "before", Settings(solutions_from=LATER))
    folder = tmp_path / "before" / QUERIES
    assert {path.name for path in folder.iterdir()} == {"README.md", f"{QUERIES}.ipynb", "attention-course.zip"}
    code = "\n".join(sources(read(folder / f"{QUERIES}.ipynb")))
    assert '"attention-course.zip"' in code and "git+" not in code
    assert "Upload `attention-course.zip` beside it" in (folder / "README.md").read_text(encoding="utf-8")
    with zipfile.ZipFile(folder / "attention-course.zip") as archive:
        held = {name: archive.read(name) for name in archive.namelist()}
    assert not [name for name in held if re.search("_exercises.py|/alternative_solutions/|__pycache__", name)]
    own = json.loads(held["attention-course/course_lessons/solutions.json"])
    later = "# The solutions are handed out from Thursday, 5 December 2999, 00:00 (UTC) on."
    assert own == dict.fromkeys(solutions(), later)
    for solution in solutions().values():  # nor does any file hold a solution of some length
        if len(solution) > 400:
            assert not [name for name, data in held.items() if solution.encode() in data]
    release.release(ROOT, ["03"], tmp_path / "after", Settings(solutions_from=LATER.replace(year=2020)))
    after = tmp_path / "after" / QUERIES
    assert {path.name for path in after.iterdir()} == {"README.md", f"{QUERIES}.ipynb", f"{QUERIES}_solutions.ipynb"}
    assert "git+" in "\n".join(sources(read(after / f"{QUERIES}.ipynb")))


@posix
@pytest.mark.thorough
def test_gradescopes_autograder_runs_as_gradescope_runs_it(tmp_path, in_the_course):
    (tmp_path / "class.toml").write_text('[points]\n"03.attention" = 4\n')
    ((_, _, export),) = blocks("With Gradescope")
    line = export.replace(" gradescope 03", f" {tmp_path} 03", 1).replace("class.toml", str(tmp_path / "class.toml"))
    assert command(*shlex.split(line)[1:]) == 0
    there, stand_ins = tmp_path / "autograder", tmp_path / "stand-ins"
    for name in ("source", "submission", "results"):
        (there / name).mkdir(parents=True)
    with zipfile.ZipFile(tmp_path / "autograder-03.zip") as archive:
        archive.extractall(there / "source")
    # What its image brings is here already: a system's packages, and what the course needs, one environment below.
    stand_ins.mkdir()
    (stand_ins / "apt-get").write_text(f'#!/bin/sh\necho "$@" >> {tmp_path}/apt.log\n')
    layered = f"import sys; sys.path.insert(0, {str(ROOT / 'benchmarks')!r}); from pathlib import Path; from grading_nbgrader import layered_environment as made; made(Path(sys.argv[-1]))"
    (stand_ins / "python3").write_text(f'#!/bin/sh\n[ "$2" = venv ] && exec {sys.executable} -c "{layered}" "$@"\n')
    for stand_in in stand_ins.iterdir():
        stand_in.chmod(0o755)
    settings = INSTALLING | {"PIP_NO_BUILD_ISOLATION": "0"}
    shell(there / "source", "bash setup.sh", [stand_ins], **settings)
    assert "python3-venv" in (tmp_path / "apt.log").read_text()
    shutil.copy(there / "source" / "run_autograder", there)
    release.release(ROOT, ["03"], tmp_path / "released", Settings())
    hand_in(tmp_path / "released" / QUERIES / f"{QUERIES}.ipynb", there / "submission" / "my answers.ipynb", **WRONG)
    shell(there, "bash run_autograder", **settings)
    came = json.loads((there / "results" / "results.json").read_text())
    assert came["score"] == 3 and [test["score"] for test in came["tests"]] == [0, 0, 2, 0, 0, 1]
    kept = next((there / "environment").rglob("solutions.json")).read_text()
    assert "Your instructor has the solutions." in kept and "def " not in kept


@posix
def test_gradescopes_autograder_never_runs_a_submission_twice(tmp_path, in_the_course):
    """A second run, without locks, followed each failure of the first, which had them: a submission could bring it about."""
    command("export", "gradescope", tmp_path, "03")
    with zipfile.ZipFile(tmp_path / "autograder-03.zip") as archive:
        archive.extract("run_autograder", tmp_path)
    for folder in ("submission", "results", "environment/bin"):
        (tmp_path / folder).mkdir(parents=True)
    stand_in = tmp_path / "environment" / "bin" / "course"
    stand_in.write_text(f'#!/bin/sh\necho "$@" >> {tmp_path}/calls\nexit 2\n')
    stand_in.chmod(0o755)
    subprocess.run(["bash", "run_autograder"], cwd=tmp_path, capture_output=True, timeout=timeouts.SECONDS)
    assert len((tmp_path / "calls").read_text().splitlines()) == 1


@posix
@needs_sandbox
def test_a_class_goes_from_handing_out_to_feedback(copy_of_the_course, monkeypatch):
    """Once a class is graded, the commands run in this process, since all that they would start anew is Python."""
    folder = copy_of_the_course
    (_, _, hand_out), (_, _, withheld), (_, _, in_words) = blocks("Hand out")
    assert tomllib.loads(in_words)["written"]["03.why_three"]["points"] == 2
    assert tomllib.loads(withheld)["solutions"]["from"].tzinfo is not None
    (_, _, grade), (_, program, text) = blocks("Grade")
    ((_, _, shortest),) = blocks("A first class")
    _, release_all, grade_all = shortest.replace(".venv/bin/", "").splitlines()
    assert release_all.startswith(hand_out.strip())
    shell(ROOT, release_all.replace("handed-out", f"{folder}/handed-out"), PYTHONPATH=str(ROOT))
    class_folder(folder, folder / "handed-out" / QUERIES / f"{QUERIES}.ipynb")
    shell(folder, grade_all.replace("  #", " --workers 1  #"), PYTHONPATH=str(ROOT))
    assert (folder / "results" / "class.html").is_file() and any((folder / "results" / "feedback").iterdir())
    shell(folder, f"{grade.strip()} --workers 1", PYTHONPATH=str(ROOT))  # each takes seconds to start

    section = re.search(r"^## Grade\n(.*?)^## ", PAGE, re.MULTILINE | re.DOTALL).group(1)
    rows = [line.split("|")[1] for line in section.splitlines() if line.startswith("| `")]
    named = [name for row in rows for name in re.findall(r"`([^`]+)`", row)]
    assert len(named) == 10
    for name in named:
        place = folder / "results" / name
        assert place.is_dir() and any(place.iterdir()) if name.endswith("/") else place.is_file(), name

    (folder / program).write_text(text, encoding="utf-8")
    assert shell(folder, f"python {program}", PYTHONPATH=str(ROOT)).startswith("0 graded now, 0 of ")
    assert len(list((folder / "results" / "feedback").glob("*.html"))) >= 2
    found = grades(folder / "results")
    assert float(found["ada"]["total"]) == float(found["ada"]["possible"]) == 8  # 4 + 4 times 1, one task left out
    assert float(found["emmy"]["03.attention points"]) == 2  # half of 4
    assert float(found["emmy"]["03.padding_mask points"]) == 0
    assert found["emmy"]["03.causal_mask state"] == "not attempted"
    assert float(found["emmy"]["total"]) == 1.2  # less a tenth of 8: handed in on the next day

    journal = (folder / "results" / "journal.jsonl").read_bytes()
    settings = folder / "class.toml"
    settings.write_text(settings.read_text(encoding="utf-8").replace('"03.attention" = 4', '"03.attention" = 8'))
    monkeypatch.chdir(folder)
    assert command(*shlex.split(grade)[1:]) == 0
    assert float(grades(folder / "results")["ada"]["total"]) == 12
    assert (folder / "results" / "journal.jsonl").read_bytes() == journal, "what has been run is not run again"

    (_, table, text), (_, _, by_hand) = blocks("Adjust grades by hand")
    (folder / table).write_text(text, encoding="utf-8")
    assert command(*shlex.split(by_hand)[1:]) == 0
    found = grades(folder / "results")
    assert float(found["ada"]["total"]) == 8 and found["ada"]["by hand"] == "03.attention: 4, graded 8"
    assert float(found["emmy"]["total"]) == 4 and found["emmy"]["by hand"] == "extension"  # half of 8, in time now
    ((_, _, term),) = blocks("Summarise a whole term")
    assert command(*shlex.split(term)[1:]) == 0
    assert "Ada Lovelace" in (folder / "term" / "term.csv").read_text(encoding="utf-8-sig")
    assert "Lesson 03" in (folder / "term" / "term.html").read_text(encoding="utf-8")
    assert could_be_committed(folder, "Lovelace", "emmy") == []


@pytest.mark.thorough
@posix
@needs_sandbox
def test_grading_reads_what_nbgrader_has_collected(exported, tmp_path):
    notebook = read(exported / "source" / "03" / f"{QUERIES}.ipynb")
    stubs = [text for text in sources(read(ROOT / file_of("exercises", QUERIES))) if "NotImplementedError" in text]
    for cell in notebook["cells"]:  # as nbgrader's generate_assignment does
        if "BEGIN SOLUTION" in "".join(cell["source"]):
            cell["source"] = stubs.pop(0)
    blank = tmp_path / "blank.ipynb"
    blank.write_text(json.dumps(notebook), encoding="utf-8")
    for student, answered in (("ada", {}), ("emmy", WRONG)):
        hand_in(blank, tmp_path / "submitted" / student / "03" / f"{QUERIES}.ipynb", **answered)
    shell(tmp_path, "course grade submitted --out results", PYTHONPATH=str(ROOT))
    found = grades(tmp_path / "results")
    assert [row["total"] for row in found.values()] == ["6", "1.5"]
    for row in found.values():  # nothing is said on the cells that nbgrader grades by
        assert (row["remarks"], row["noticed"], row["suspicions"]) == ("", "", "")


# The page's workflows


def carry_out(name, folder, wheel, go_on_here=False):
    """Run a workflow's commands in a folder, the course installed by them; returns what runs one more command there.

    go_on_here: what comes after installing is run in this environment, from this checkout. A sandbox lets answers read an
    environment's own libraries only, and the one that is made here borrows them.
    """
    (text,) = [text for language, file, text in blocks("In CI", "yaml") if file == name]
    file = folder / name
    file.write_text(text, encoding="utf-8")
    schema = [sys.executable, "-m", "check_jsonschema", "--builtin-schema", "vendor.github-workflows", file]
    checked = subprocess.run(schema, capture_output=True, text=True)
    assert checked.returncode == 0, checked.stdout + checked.stderr
    workflow = yaml.safe_load(text)
    (job,) = workflow["jobs"].values()
    environment = folder / ".environment"
    benchmark.layered_environment(environment)
    wanted, _, address = workflow["env"]["COURSE"].partition(" @ ")
    assert address == "git+" + repository()
    settings = INSTALLING | {"COURSE": f"{wanted} @ {wheel.as_uri()}"}

    def again(commands):
        if go_on_here and "pip install" not in commands:
            return shell(folder, commands, PYTHONPATH=str(ROOT))
        return shell(folder, commands, [environment / "bin"], **settings)

    for step in job["steps"]:
        if "run" in step:
            again(step["run"])
        else:
            assert step["uses"].partition("@")[0] in GITHUBS
            if path := step.get("with", {}).get("path"):
                assert (folder / path).exists()
    look = "python -c 'import course_utils; print(course_utils.__file__)' && course --help"
    used, _, said = shell(folder, look, [environment / "bin"], **settings).partition("\n")
    assert Path(used).is_relative_to(environment) and " grade " in said, "they must use what they have installed"
    return again, [step["run"] for step in job["steps"] if "run" in step]


def repository():
    return tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["urls"]["Repository"]


@pytest.fixture(scope="module")
def wheel(tmp_path_factory):
    return build_wheel(tmp_path_factory.mktemp("wheel"))


@pytest.mark.thorough
@posix
def test_the_workflow_that_runs_notebooks_works(tmp_path, wheel):
    cells = [
        nbformat.v4.new_code_cell("from course_utils import check\n\n3 * 14"),
        nbformat.v4.new_code_cell("print(3 * 14, callable(check))", metadata={"tags": ["nbval-check-output"]}),
    ]
    cells[0].execution_count, cells[1].execution_count = 1, 2
    cells[1].outputs = [nbformat.v4.new_output("stream", text="42 True\n")]
    notebook = nbformat.v4.new_notebook(cells=cells)
    file = tmp_path / "notebooks" / "mine.ipynb"
    file.parent.mkdir()
    nbformat.write(notebook, file)
    again, commands = carry_out("notebooks.yml", tmp_path, wheel)
    cells[1].outputs[0].text = "43 True\n"
    nbformat.write(notebook, file)
    with pytest.raises(AssertionError, match="43 True"):
        again(commands[-1])


@posix
@pytest.mark.thorough
def test_outputs_that_nbval_compares_are_the_same_for_everybody(tmp_path):
    """Run here by somebody who has answered the predictions, with a progress of their own, a narrow terminal and another hash seed."""
    place, lesson = tmp_path / "notebooks" / "00_start_here.ipynb", ROOT / file_of("notebooks", "00_start_here")
    place.parent.mkdir()
    place.write_bytes(lesson.read_bytes())
    asked = re.findall(r'predict\("(.+?)"', "\n".join(sources(read(lesson))))
    assert len(asked) >= 2
    own = {"PYTHONPATH": str(ROOT), "COURSE_HOME": str(tmp_path), "COURSE_PROGRESS": None}
    own |= {"COLUMNS": "40", "PYTHONHASHSEED": "random"}
    guesses = [f"predict({name!r}, 123)" for name in asked]
    answers = "\n".join(["from course_utils import check, predict", *guesses, "check('00.q1', 'a')"])
    shell(tmp_path, f"python - <<'END'\n{answers}\nEND", **own)
    assert (tmp_path / ".course" / "progress.json").exists()
    (workflow,) = [text for _, name, text in blocks("In CI", "yaml") if name == "notebooks.yml"]
    (job,) = yaml.safe_load(workflow)["jobs"].values()
    assert " passed" in shell(tmp_path, job["steps"][-1]["run"], **own)


@pytest.mark.thorough
@posix
@needs_sandbox
def test_the_workflow_that_grades_works(tmp_path, wheel):
    release.release(ROOT, ["03"], tmp_path / "released", Settings())
    class_folder(tmp_path, tmp_path / "released" / QUERIES / f"{QUERIES}.ipynb")
    again, commands = carry_out("grade.yml", tmp_path, wheel, go_on_here=True)
    (tmp_path / "submissions" / "mallory.ipynb").write_text("not a notebook", encoding="utf-8")
    with pytest.raises(AssertionError, match=" gave 1:"):
        again(commands[-1])
    found = grades(tmp_path / "results")
    assert float(found["ada"]["total"]) == 8 and float(found["emmy"]["total"]) == 1.2
    assert "not a notebook" in found["mallory"]["problem"]


# nbgrader itself


@pytest.fixture(scope="module")
def nbgrader():
    try:
        return benchmark.environment()
    except OSError as error:
        pytest.skip(f"nbgrader itself is not tested: {error}: try again with a network")


@pytest.mark.thorough
@posix
def test_nbgrader_makes_grades_and_explains_what_is_exported(copy_of_the_course, nbgrader):
    folder = copy_of_the_course
    (_, _, prepare), (_, _, grade) = blocks("With nbgrader")
    alone = benchmark.settings(folder)
    shell(ROOT, prepare.replace("nbgrader-course", f"{folder}/nbgrader-course"), [nbgrader], **alone)
    course = folder / "nbgrader-course"
    blank = course / "release" / "03" / f"{QUERIES}.ipynb"
    assert "BEGIN SOLUTION" not in blank.read_text(encoding="utf-8")
    exercise = sources(read(ROOT / file_of("exercises", QUERIES)))
    assert [text for text in sources(read(blank)) if not text.startswith("# Graded")] == exercise

    warns = solutions()["03.causal_mask"].replace("    return", "    import warnings; warnings.warn('eh')\n    return")
    assert "warn" in warns
    hand_in(blank, course / "submitted" / "ada" / "03" / blank.name, causal_mask=warns)
    wrong = course / "submitted" / "emmy" / "03" / blank.name
    hand_in(blank, wrong, **WRONG)
    tampered = read(wrong)
    for cell in tampered["cells"]:
        if "".join(cell["source"]).startswith("# Graded: 03.padding_mask"):
            cell["source"] = "1.0"
    wrong.write_text(json.dumps(tampered), encoding="utf-8")
    release.release(ROOT, ["03"], folder / "handed-out", Settings())  # collected into nbgrader all the same
    released = folder / "handed-out" / QUERIES / blank.name
    hand_in(released, course / "submitted" / "zoe" / "03" / blank.name, **WRONG)
    shell(folder, grade, [nbgrader], **alone)

    found = benchmark.scores(course, nbgrader)
    assert found["ada"] == {f"03_{name}_graded": 1 for name in KNOWN["03"]}
    earned = {"attention": 0.5, "catch_wrong_attention": 1}
    expected = {f"03_{name}_graded": earned.get(name, 0) for name in KNOWN["03"]}
    assert found["emmy"] == expected and found["zoe"] == expected
    feedback = (course / "feedback" / "emmy" / "03" / f"{QUERIES}.html").read_text(encoding="utf-8")
    assert "50% of the points: right for every query that may attend to something." in feedback
    with open(course / "grades.csv", encoding="utf-8", newline="") as file:
        exported = {(row["assignment"], row["student_id"]): row["score"] for row in csv.DictReader(file)}
    assert exported[("03", "ada")] == "6.0" and exported[("03", "emmy")] == "1.5"
    assert not list(folder.rglob("progress.json")), "grading keeps no learner's progress"
    assert could_be_committed(folder, "emmy", "zoe") == []
