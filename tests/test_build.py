"""Tests of course_utils/authoring/build.py on small courses made here; the real lessons are not touched."""

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
import timeouts
from repository import git

from course_utils.authoring import build as builder
from course_utils.authoring.build import SOLUTIONS, build
from course_utils.authoring.execution import WIDGET_VIEW, tidy
from course_utils.authoring.headers import of_lesson
from course_utils.base.paths import LESSONS, file_of

LESSON = """\
# %%
from course_utils.helper import double

double(21)

# %% tags=["nbval-check-output"]
print("one")
print("two", flush=True)
print("three")

# %% [markdown]
# What does the line look like?

# %%
import matplotlib.pyplot as plt

plt.plot([1, 2]);

# %% [markdown]
# ## Seen
# The line **rises** by 0.5. It rises on.
"""

SOLUTION = '''\
# %% [markdown]
# One exercise on sums.

# %% [markdown]
# ## 01.double
#
# Twice a number.

# %%
def double(number):
    """Twice a number."""
    ### BEGIN SOLUTION
    secret = number + number
    return secret
    ### END SOLUTION

# %%
check = print
check("01.double", double(4))
'''

SUMS, TWO = "course_lessons/lesson_01_sums", "course_lessons/lesson_02_other"
SUMS_PLACE, TASKS_PLACE, OTHER_PLACE = f"{SUMS}/lesson.py", f"{SUMS}/exercises.py", f"{TWO}/lesson.py"
OTHER = """\
# %% [markdown]
# This is another one.

# %%
import os

{name: os.environ.get(name) for name in ("COURSE_PROGRESS", "COURSE_REAL_DATA", "OMP_NUM_THREADS", "TQDM_DISABLE", "MPLBACKEND", "KEPT")}
"""


FACTS = """\
from course_utils.checks.lesson import Lesson

lesson = Lesson(
    number="{number}", title="{title}", question="{question}", goals=("add", "add more"), needs="two numbers", reading=5, runs="a second"
)
"""

TASK = """\
from course_utils.checks.task import Task

task = Task(__name__, "twice", ("number",), "double", difficulty=2, importance=4, minutes=7)
"""


def write(path, text):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8", newline="\n")


@pytest.fixture(scope="session")
def built_once(tmp_path_factory):
    root = tmp_path_factory.mktemp("built")
    facts = [
        FACTS.format(number=number, title=title, question=question)
        for number, title, question in (("01", "Sums", "Do words add up?"), ("02", "Other", "Is this another one?"))
    ]
    for name, text in {
        "pyproject.toml": '[project.urls]\nRepository = "https://github.com/someone/sums"\n',
        "course_utils/__init__.py": '"""A small package."""\n',
        "course_utils/helper.py": "from . import deep\n\n\ndef double(x):\n    return deep.twice(x)\n",
        "course_utils/deep.py": "def twice(x):\n    return 2 * x\n",
        "course_utils/unused.py": "",
        "course_utils/learner/notebook.py": "from course_utils.checks import judge\n",
        "course_utils/checks/judge.py": "",
        f"{SUMS}/__init__.py": facts[0],
        f"{TWO}/__init__.py": facts[1],
        f"{SUMS}/tasks/double.py": TASK,
        f"{SUMS}/tasks/double.md": "# 01.double\n",
        f"{SUMS}/tasks/_shared.py": "from course_utils.unused import nothing\n",
        SUMS_PLACE: LESSON,
        OTHER_PLACE: OTHER,
        TASKS_PLACE: SOLUTION,
    }.items():
        write(root / name, text)
    assert build(root, say=[].append) == []
    return root


@pytest.fixture
def course(built_once, tmp_path):
    """A built course of one's own: copied, since kernels take a second each."""
    return Path(shutil.copytree(built_once, tmp_path / "course"))


@pytest.fixture
def no_kernel(monkeypatch):
    """Names what would be executed, and executes nothing."""
    executed = []

    def pretend(notebook, root, folder, timeout, on_start):
        executed.append(on_start.args[0].target.built)
        return notebook

    monkeypatch.setattr(builder, "execute", pretend)
    return executed


def load(path):
    return json.loads(path.read_text(encoding="utf-8"))


def cells_of(course, built="notebooks/02_other.ipynb"):
    return load(course / built)["cells"]


def rebuild(course, *names, **options):
    """Build a course that nothing is wrong with."""
    assert build(course, names or None, say=[].append, **options) == []


def source(cell):
    return "".join(cell["source"])


def snapshot(root):
    files = [path for path in root.rglob("*") if path.is_file() and "__pycache__" not in path.parts]
    return {path: (path.read_bytes(), path.stat().st_mtime_ns) for path in files}


def change(path, old, new):
    text = path.read_text(encoding="utf-8")
    assert old in text
    write(path, text.replace(old, new))


def test_a_notebook_is_written_as_sorted_json_without_its_run(built_once):
    path = built_once / "notebooks/01_sums.ipynb"
    notebook = load(path)
    assert path.read_bytes() == (json.dumps(notebook, indent=1, sort_keys=True, ensure_ascii=False).encode() + b"\n")
    assert notebook["metadata"]["kernelspec"]["name"] == "python3"
    assert notebook["metadata"]["language_info"] == {"name": "python"}
    assert set(notebook["metadata"]) == {"kernelspec", "language_info", "course"}
    identities = [cell["id"] for cell in notebook["cells"]]
    assert len(set(identities)) == len(identities)
    (setup,) = (cell["metadata"] for cell in notebook["cells"] if "setup" in cell["metadata"].get("tags", ()))
    assert setup["jupyter"] == {"source_hidden": True}
    assert all(set(cell["metadata"]) <= {"tags", "jupyter", "cellView"} for cell in notebook["cells"])


def test_a_title_that_looks_like_a_magic_stays_a_title(course, no_kernel):
    write(course / OTHER_PLACE, "# %% [markdown]\n# # Why?\n\n# %%\n# x?\n1\n")
    rebuild(course)
    _, _, text, code = cells_of(course)
    assert source(text) == "# Why?" and source(code) == "# x?\n1"


def test_outputs_are_kept_and_streams_merged(built_once):
    cells = cells_of(built_once, "notebooks/01_sums.ipynb")
    assert cells[2]["outputs"][0]["data"]["text/plain"] == ["42"]
    assert [output["text"] for output in cells[3]["outputs"]] == [["one\n", "two\n", "three\n"]]


def test_outputs_store_a_picture_once_and_a_widget_as_a_picture():
    data = {"image/png": "abc", "text/html": "<img src='abc' alt='a line'>", "text/plain": "Lines. 1 at 0, 2 at 1."}
    shown = {"output_type": "display_data", "data": data, "metadata": {}}
    table = {"output_type": "display_data", "data": {"text/html": "<table>", "text/plain": "a table"}, "metadata": {}}
    view = {"image/png": "aGk=", WIDGET_VIEW: {"model_id": "random"}, "text/plain": "Slider()"}
    moving, bare = ({"output_type": "display_data", "data": dict(view), "metadata": {}} for _ in range(2))
    del bare["data"]["image/png"]
    cell = {"cell_type": "code", "metadata": {}, "source": "", "outputs": [shown, table, bare, moving]}
    tidy([cell])
    own = {"cell_type": "code", "metadata": {"tags": ["own-machine"]}, "outputs": [dict(table)], "execution_count": 3}
    tidy([own])
    assert own["outputs"] == [] and own["execution_count"] is None  # what is about the reader's machine
    assert cell["outputs"] == [shown, table, moving] and set(moving["data"]) == {"image/png", "text/plain"}
    assert shown["data"] == {"image/png": "abc", "text/plain": "Lines. 1 at 0, 2 at 1."}
    assert shown["metadata"]["image/png"]["alt"] == "Lines. 1 at 0, 2 at 1."
    assert "text/html" in table["data"]


def test_the_kernel_gets_its_own_settings_and_keeps_the_others(course, monkeypatch):
    monkeypatch.setenv("KEPT", "yes")
    monkeypatch.setenv("MPLBACKEND", "agg")
    rebuild(course, "02", everything=True)
    shown = "".join(cells_of(course)[2]["outputs"][0]["data"]["text/plain"])
    given = {"COURSE_PROGRESS": "off", "COURSE_REAL_DATA": "1", "OMP_NUM_THREADS": "1", "TQDM_DISABLE": "1"}
    assert eval(shown).items() >= (given | {"KEPT": "yes"}).items()
    assert "'agg'" not in shown


def test_each_notebook_begins_with_a_link_to_colab_and_set_up(built_once):
    for folder in ("notebooks", "solutions", "exercises"):
        first, setup, *_ = cells_of(built_once, file_of(folder, "01_sums"))
        lines = source(first).split("\n")
        assert lines[0].startswith("# ")
        address = f"colab.research.google.com/github/someone/sums/blob/main/{file_of(folder, '01_sums')}"
        assert lines[2] == f"[Open in Colab](https://{address})"
        assert setup["metadata"]["tags"] == ["setup"]
        assert '"git+https://github.com/someone/sums"' in source(setup)
        lines = source(setup).split("\n")
        assert len(lines) <= 13 and [line[:2] for line in lines[:3]] == ["# ", "# ", "im"]
        assert max(map(len, lines[:2])) <= 75  # JupyterLab shows the first line of a folded cell, and never breaks it


@pytest.mark.parametrize("address", ["https://example.org/sums", "https://github.com/example/sums"])
def test_the_link_to_colab_is_missing_where_nothing_is_there(course, no_kernel, address):
    """Colab opens notebooks from GitHub alone, and at a placeholder there is nothing to open."""
    write(course / "pyproject.toml", f'[project.urls]\nRepository = "{address}/"\n')
    build(course, ["01"], say=[].append)
    first, setup, *_ = cells_of(course, "exercises/01_sums_exercises.ipynb")
    assert "Colab" not in source(first) and f'"git+{address}"' in source(setup)


def test_answer_is_cut_out_and_stored(built_once):
    exercise = (built_once / "exercises/01_sums_exercises.ipynb").read_text(encoding="utf-8")
    assert "secret" not in exercise and "SOLUTION" not in exercise
    cells = load(built_once / "exercises/01_sums_exercises.ipynb")["cells"]
    assert source(cells[2]) == "## Twice `01.double`\n\nEasy · high importance · up to 7 minutes\n\nTwice a number."
    assert source(cells[3]) == ('def double(number):\n    """Twice a number."""\n    raise NotImplementedError')
    assert not any(cell.get("outputs") for cell in cells)
    assert load(built_once / SOLUTIONS) == {
        "01.double": 'def double(number):\n    """Twice a number."""\n    secret = number + number\n    return secret'
    }


@pytest.mark.parametrize(
    ("old", "new", "line", "words"),
    [
        ("    ### END SOLUTION\n", "", 12, "has no `### END SOLUTION`"),
        ("    ### BEGIN SOLUTION\n", "", 14, "only `### BEGIN SOLUTION` is right"),
        ("    secret = number", "    ### BEGIN SOLUTION\n    secret = number", 13, "only `### END SOLUTION`"),
        ("### BEGIN SOLUTION", "## Begin solution", 12, "`## Begin solution` stands"),
        ("    secret =", "    a = 1  ### BEGIN SOLUTION\n    secret =", 13, "on a line of its own"),
        ("sums.\n", "sums.\n# ### BEGIN SOLUTION\n", 3, "in a code cell"),
        ('check("01.double", double(4))', "", 10, "needs a `check("),
        ('check("01.double"', 'check("02.double"', 18, "must be used once and start with 01"),
    ],
)
def test_wrong_marks_of_a_solution_are_named_with_their_line(course, no_kernel, old, new, line, words):
    before = snapshot(course)
    change(course / TASKS_PLACE, old, new)
    (problem,) = build(course, say=[].append)
    assert problem.startswith(f"{TASKS_PLACE}, line {line}: ") and words in problem
    for name in ("exercises/01_sums_exercises.ipynb", SOLUTIONS):  # what was right is not lost
        assert (course / name).read_bytes() == before[course / name][0]


def test_a_second_build_executes_only_what_has_changed(course, no_kernel):
    before, said = snapshot(course), []
    assert build(course, say=said.append) == []
    assert snapshot(course) == before and no_kernel == [] and said == []
    change(course / OTHER_PLACE, "import os", "import os.path as os")
    rebuild(course)
    assert no_kernel == ["notebooks/02_other.ipynb"]


def outputs(course, built="notebooks/01_sums.ipynb"):
    return [cell["outputs"] for cell in cells_of(course, built) if cell["cell_type"] == "code"]


@pytest.mark.parametrize(
    "file, old, new",
    [
        (SUMS_PLACE, "What does the line look like?", "What, then, does the line look like?"),
        (SUMS_PLACE, "double(21)", "# Twice.\ndouble( 21 )"),
        ("course_utils/deep.py", "    return", '    """Twice."""\n    return'),
        ("course_utils/deep.py", "def", "LEFT = 3\n\n\ndef"),
        (f"{SUMS}/__init__.py", "add more", "add much more"),
    ],
)
def test_prose_comments_and_what_is_not_used_execute_nothing(course, no_kernel, file, old, new):
    before = outputs(course)
    change(course / file, old, new)
    rebuild(course)
    rebuild(course, check=True)
    assert no_kernel == [] and outputs(course) == before


@pytest.mark.parametrize(("shown", "is_stale"), [("", False), ("Divide by the number of vectors.", True)])
def test_a_sentence_of_a_task_counts_where_an_output_shows_it(course, shown, is_stale):
    place = course / SUMS / "tasks/_shared.py"
    write(place, 'SENTENCE = "Divide by the number of vectors."\nFACTOR = 2\n')
    imports = "def later():\n    from course_lessons.lesson_01_sums.tasks._shared import FACTOR, SENTENCE\n"
    write(course / OTHER_PLACE, f"# %%\n{imports}\n\nprint({shown!r})\n")
    rebuild(course)
    change(place, "Divide by", "You have to divide by")
    assert bool(build(course, check=True)) == is_stale
    change(place, "FACTOR = 2", "FACTOR = 3")
    assert build(course, check=True) != []


QUESTION = """\
## 01.{}

What do you see in {}?

- [x] Yes.
  > It is the reason why.
- [ ] No.
  > Look at it once more.
"""


@pytest.mark.parametrize(
    ("old", "new", "is_stale"),
    [
        ("It is the reason why.", "It was the reason why.", False),  # no output shows it
        ("What do you see in", "What can you see in", True),
        ("- [ ] No.", "- [ ] Not.", True),  # too short to be looked for in outputs
        ("- [x] Yes.\n  > It is the reason why.\n- [ ] No.", "- [ ] Yes.\n  > It is the reason why.\n- [x] No.", True),
        ("## 01.q2: another", "## 01.q2: a second", False),  # which no cell asks
    ],
)
def test_a_notebook_depends_on_the_questions_it_asks_and_shows(course, old, new, is_stale):
    place = course / SUMS / "questions.md"
    write(place, QUESTION.format("q1: one", "this") + "\n" + QUESTION.format("q2: another", "that"))
    asks = '# %%\ndef later():\n    check("01.q1", ...)\n\n\nprint("What do you see in this? Yes. No.")\n'
    write(course / OTHER_PLACE, asks)
    rebuild(course)
    write(place, place.read_text(encoding="utf-8").replace(old, new, 1))
    assert bool(build(course, check=True)) == is_stale


@pytest.mark.parametrize("asks", [OTHER_PLACE, TASKS_PLACE])
@pytest.mark.parametrize(("module", "without_question"), [("question", False), ("report", True)])
def test_code_showing_questions_counts_only_where_one_is_asked(course, no_kernel, asks, module, without_question):
    write(course / SUMS / "questions.md", QUESTION.format("q1: one", "it"))
    for name in ("question", "report"):
        write(course / f"course_utils/checks/{name}.py", "")
    change(course / asks, "# %%\n", '# %%\ndef later():\n    check("01.q1", ...)\n\n# %%\n')
    rebuild(course)
    write(course / f"course_utils/checks/{module}.py", "print('changed')\n")
    stale = {line.split()[0] for line in build(course, check=True)}
    expected = {"notebooks/02_other.ipynb"} if asks == OTHER_PLACE else {"solutions/01_sums.ipynb"}
    assert stale == expected | ({"solutions/01_sums.ipynb"} if without_question else set())


def test_an_output_is_kept_until_code_above_it_changes(course, no_kernel):
    before = outputs(course)
    change(course / SUMS_PLACE, "plt.plot([1, 2]);", "plt.plot([1, 3]);")
    rebuild(course)
    assert no_kernel == ["notebooks/01_sums.ipynb"]
    assert outputs(course) == [*before[:-1], []]  # nothing was executed here, so the last cell has no output


def test_build_equal_keeps_outputs_after_a_change_to_the_package(course, no_kernel):
    before = outputs(course)
    write(course / "course_utils/deep.py", "def twice(x):\n    return x + x\n")
    assert build(course, check=True) != []
    rebuild(course, equal=True)
    assert no_kernel == [] and outputs(course) == before
    rebuild(course, check=True)
    change(course / SUMS_PLACE, "plt.plot([1, 2]);", "plt.plot([1, 3]);")
    rebuild(course, equal=True)
    assert no_kernel == ["notebooks/01_sums.ipynb"]  # its own cell


def test_the_build_prints_each_output_that_it_changes(course):
    said = []
    write(course / "course_utils/deep.py", "def twice(x):\n    return 3 * x\n")
    assert build(course, say=said.append) == []
    assert "  notebooks/01_sums.ipynb says now: '63', and said: '42'" in said
    assert outputs(course)[1][0]["data"]["text/plain"] == ["63"]


def test_a_build_of_everything_gives_the_same_bytes(course):
    before = snapshot(course)
    rebuild(course, everything=True)
    assert snapshot(course) == before


def test_windows_line_ends_are_not_a_change(course):
    for path in [*course.rglob("*.py"), *course.rglob("*.ipynb"), course / SOLUTIONS]:
        path.write_bytes(path.read_bytes().replace(b"\n", b"\r\n"))
    rebuild(course, check=True)


STALE = "{} is stale, owing to a change in what it is built from: run `course build 01`."


def test_check_names_the_function_that_made_a_notebook_stale(course, monkeypatch):
    git(course, "init", "-q")
    git(course, "add", "-A")
    git(course, "commit", "-qm", "as it was built")
    write(course / "course_utils/deep.py", "def unused():\n    pass\n\ndef twice(x):\n    return x + x\n")
    assert build(course, check=True) == [
        "notebooks/01_sums.ipynb is stale, owing to a change in course_utils/deep.py (twice): run `course build 01`."
    ]
    monkeypatch.setenv("PATH", str(course))  # where there is no git
    assert build(course, check=True) == [STALE.format("notebooks/01_sums.ipynb")]


def test_a_table_that_is_measured_anew_counts(course, no_kernel):
    reads = "lambda: (measured('rain'), measured_once('wind'), measured_at('hail'), by_seed('fog'))"
    change(course / OTHER_PLACE, "import os", f"import os\n{reads}")
    for table in ("snow", "rain", "wind", "hail", "fog"):
        rebuild(course)
        write(course / f"course_utils/data/measured_tables/{table}.csv", "seed,mm\n0,3\n")
        assert bool(build(course, ["02"], check=True)) == (table != "snow")


def test_a_course_without_solutions_can_be_checked(course):
    for name in ("solutions", "exercises"):
        shutil.rmtree(course / name)
    for name in ("solutions.json", "lesson_01_sums/tasks/double.py", "lesson_01_sums/exercises.py"):
        (course / LESSONS / name).unlink()
    assert [problem.split(",")[0] for problem in build(course, check=True)] == ["notebooks/01_sums.ipynb is stale"]
    header = of_lesson(course, "01_sums", exercises=False)
    assert "exercises" not in header and "About 5 minutes to read." in header


@pytest.mark.parametrize("name", ["", '"01.double"', '"01.other"'])
def test_a_lesson_or_task_that_is_not_declared_is_named(course, name):
    declared = (course / SUMS / "tasks/double.py").read_text(encoding="utf-8")
    assert "Task(__name__," in declared
    write(course / SUMS / "tasks/double.py", declared.replace("Task(__name__,", f"Task({name},") if name else "")
    write(course / TWO / "__init__.py", "")
    problems = build(course, check=True)
    assert f"{SUMS}/tasks/double.py must declare `task = Task(__name__, ...)`." in problems
    assert f"{TWO}/__init__.py declares no lesson" in "\n".join(problems)


def test_the_readmes_table_is_written_from_the_facts(course, no_kernel):
    marks = "<!-- lessons: written by `course build` -->\n<!-- end of lessons -->"
    write(course / "README.md", f"# Sums\n\n{marks}\n\nThe end.\n")
    (problem,) = build(course, check=True)
    assert problem == "README.md is stale, what it shows of the lessons has changed: run `course build`."
    rebuild(course)
    text = (course / "README.md").read_text(encoding="utf-8")
    assert "| [01 Sums](notebooks/01_sums.ipynb) | Do words add up? | 5 min | [1 task, 7 min](exercises/" in text
    assert "\nReading the 2 lessons takes about 0 hours, and the exercises take up to 0 hours.\n\n| lesson |" in text
    assert text.startswith("# Sums\n") and text.endswith("The end.\n")
    rebuild(course, check=True)


def test_the_header_tells_the_lessons_facts(built_once):
    first = source(cells_of(built_once, "notebooks/01_sums.ipynb")[0])
    assert first.startswith("# 01 Do words add up?\n")
    for words in (
        "- add\n- add more",
        "**You need** two numbers.",
        "About 5 minutes",
        "up to 7 minutes more",
        "runs in a second",
    ):
        assert words in first
    first = source(cells_of(built_once, "exercises/01_sums_exercises.ipynb")[0])
    assert first.startswith("# 01 Sums: exercises\n") and first.endswith("One exercise on sums.")
    assert "1 task, up to 7 minutes in all" in first and "how hard it is" in first


@pytest.mark.parametrize("name", ["course_utils/checks/judge.py", f"{SUMS}/tasks/double.py", "course_utils/unused.py"])
def test_a_shown_check_depends_on_the_checks_and_on_its_task(course, no_kernel, name):
    write(course / OTHER_PLACE, '# %%\ncheck = print\ncheck("01.double", 4)\n')
    write(course / SUMS / "tasks/double.py", f"{TASK}\n\ndef later():\n    from course_utils import unused\n")
    rebuild(course)
    write(course / name, (course / name).read_text(encoding="utf-8") + "print('changed')\n")
    assert build(course, check=True) == [STALE.format("notebooks/02_other.ipynb").replace("build 01", "build 02")]


def test_check_names_what_is_wrong_and_writes_nothing(course, no_kernel):
    change(course / OTHER_PLACE, "another", "one more")
    change(course / "notebooks/01_sums.ipynb", "Do words", "Don't words")
    (course / "solutions/01_sums.ipynb").unlink()
    for name in ("01_sums", "07_gone_exercises"):  # what the exercises were called once; and without a source
        shutil.copy(course / "exercises/01_sums_exercises.ipynb", course / f"exercises/{name}.ipynb")
    write(course / "exercises/08_mine.ipynb", "{}")
    write(course / SOLUTIONS, "{}")
    before = snapshot(course)
    assert build(course, check=True, say=[].append) == [
        "exercises/01_sums.ipynb is not built from any source: `course build` removes it.",
        "exercises/07_gone_exercises.ipynb is not built from any source: `course build` removes it.",
        "exercises/08_mine.ipynb is not built from any source and holds more than the build wrote: "
        "keep what you need of it elsewhere, then delete it.",
        f"{SOLUTIONS} is stale: run `course build`.",
        "notebooks/01_sums.ipynb was edited by hand: put your change into course_lessons/lesson_01_sums/lesson.py, then run "
        "`course build 01`.",
        "solutions/01_sums.ipynb is missing: run `course build 01`.",
        "notebooks/02_other.ipynb is stale, owing to a change in what it is built from: run `course build 02`.",
    ]
    assert snapshot(course) == before and no_kernel == []


def test_the_build_mends_what_was_changed_deleted_or_left_over(course, built_once):
    change(course / "exercises/01_sums_exercises.ipynb", "One exercise", "My exercise")
    shutil.copy(course / "notebooks/01_sums.ipynb", course / "notebooks/07_gone.ipynb")
    (course / SOLUTIONS).unlink()
    said = []
    assert build(course, say=said.append) == build(course, check=True) == []
    for name in ("exercises/01_sums_exercises.ipynb", SOLUTIONS):
        assert (course / name).read_bytes() == (built_once / name).read_bytes()
    assert not (course / "notebooks/07_gone.ipynb").exists() and len(said) == 4
    copy = course / "exercises/.ipynb_checkpoints/01_sums_exercises-before-build.ipynb"
    assert "My exercise" in copy.read_text(encoding="utf-8")


def test_a_failing_cell_leaves_the_old_file(course):
    before = snapshot(course)
    change(course / SUMS_PLACE, "double(21)", '\ndouble(21) / 0  # "oh"')
    cell = "the cell `from course_utils.helper import double`"
    failed = f"{SUMS_PLACE}, line 2: {cell} failed with ZeroDivisionError: division by zero."
    assert build(course, ["01"], say=[].append) == [failed]
    built = course / "notebooks/01_sums.ipynb"
    assert (built.read_bytes(), built.stat().st_mtime_ns) == before[built]


def test_a_cell_that_never_ends_is_named_with_its_line(course, monkeypatch):
    monkeypatch.setattr(builder, "CELL_TIMEOUT", 1)
    change(course / OTHER_PLACE, "import os\n", "while True:\n    pass\n")
    assert build(course, ["02"], say=[].append) == [
        f"{OTHER_PLACE}, line 5: the cell `while True:` ran longer than 1 s."
    ]


@pytest.mark.skipif(os.name == "nt", reason="an interrupt cannot be sent to one process there")
def test_an_interrupt_stops_the_kernel(course):
    begun = course / "notebooks/begun"
    change(course / OTHER_PLACE, "import os\n", "open('begun', 'w').close()\nwhile True:\n    pass\n")
    code = (
        "import signal, sys\nfrom pathlib import Path\nfrom course_utils.authoring.build import build\n"
        "signal.signal(signal.SIGINT, signal.default_int_handler)\n"
        "try:\n    build(Path(sys.argv[1]))\nexcept KeyboardInterrupt:\n    print('stopped')\n"
    )
    environment = os.environ | {"PYTHONPATH": str(Path(builder.__file__).parents[2])}
    command = [sys.executable, "-c", code, str(course)]
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    run = subprocess.Popen(command, cwd=course.parent, env=environment, **pipes)
    try:
        while not begun.exists() and run.poll() is None:
            time.sleep(0.05)
        run.send_signal(signal.SIGINT)
        assert run.communicate(timeout=timeouts.SECONDS) == ("stopped\n", "")
    finally:
        run.kill()


def test_a_build_of_one_lesson_keeps_the_other_answers(course, no_kernel):
    for name, text in {"exercises.py": SOLUTION, "tasks/double.py": TASK, "tasks/double.md": "# 01.double\n"}.items():
        write(course / TWO / name, text.replace("01.", "02."))
    change(course / TASKS_PLACE, "secret", "hidden")
    change(course / OTHER_PLACE, "import os", "import os.path as os")
    write(course / "notebooks/08_mine.ipynb", "{}")
    rebuild(course, "02")
    answers = load(course / SOLUTIONS)
    assert list(answers) == ["01.double", "02.double"] and "secret" in answers["01.double"]
    assert "notebooks/02_other.ipynb" in no_kernel and all("02_other" in name for name in no_kernel)


@pytest.mark.parametrize("text", ["", "# %%\n# A comment\n", "# %% [markdown]\n# No title\n"])
def test_a_source_needs_no_title(course, no_kernel, text):
    write(course / OTHER_PLACE, text)
    rebuild(course)
    assert source(cells_of(course)[0]).startswith("# 02 Is this another one?\n")


def test_the_build_says_in_a_sentence_what_it_cannot_build(course, monkeypatch):
    assert build(course, ["09"]) == ["there is no lesson '09': the lessons are 01_sums, 02_other."]
    lesson = (course / SUMS_PLACE).read_text(encoding="utf-8")
    write(course / SUMS_PLACE, "# %%\nx = (\n")
    assert build(course) == [f"{SUMS_PLACE}, line 2: this is not Python: '(' was never closed."]
    write(course / SUMS_PLACE, lesson)
    monkeypatch.setattr(builder, "MAX_TOTAL_BYTES", 1000)
    (problem,) = build(course, check=True)
    assert problem.startswith("All notebooks together have 0.0 MB, at most 0 MB")
    monkeypatch.setattr(builder, "TOOLS", ("json", "no_such_tool"))
    assert build(course) == ['the build needs no_such_tool: run `pip install -c constraints.txt -e ".[lab]"`.']


def test_a_folder_that_is_no_course_is_refused(tmp_path):
    assert "holds no pyproject.toml" in build(tmp_path)[0]
    write(tmp_path / "pyproject.toml", '[project.urls]\nRepository = "https://example.org"\n')
    assert build(tmp_path) == [
        f"{tmp_path.resolve()} holds no lessons: expected files such as course_lessons/lesson_02_title/lesson.py."
    ]


def test_a_folder_that_cannot_be_written_is_named(course, no_kernel, monkeypatch):
    def refuse(self, content):
        raise PermissionError(13, "Permission denied")

    change(course / OTHER_PLACE, "another", "one more")
    monkeypatch.setattr(Path, "write_bytes", refuse)
    assert build(course, say=[].append) == ["notebooks/02_other.ipynb could not be written: Permission denied."]


def test_a_cell_that_reveals_is_folded(course, no_kernel):
    change(course / OTHER_PLACE, "# %%\nimport os", '# %% tags=["reveals"]\nimport os')
    rebuild(course)
    (cell,) = (cell for cell in cells_of(course) if "reveals" in str(cell["metadata"]))
    assert cell["metadata"]["jupyter"] == {"outputs_hidden": True}
