"""What an instructor hands out: one lesson's exercises, stamped, with a page on how to hand them in.

Here: finding the built notebooks, writing files without losing anybody's work. Not here: nbgrader's format (`nbgrader`).
Anything wrong raises a `CourseError` of one sentence.
"""

import json
import os
import re
from datetime import datetime, timezone
from pathlib import Path

from course_utils.authoring.notebook_builder import content_hash, is_placeholder
from course_utils.authoring.sources import CHECK
from course_utils.base.environment import course_version
from course_utils.base.errors import CourseError
from course_utils.base.files import write
from course_utils.base.paths import chosen, file_of, names_in, number_of, remedy
from course_utils.base.words import count
from course_utils.checks import catalogue
from course_utils.grading.handing_out.package import NAME, package
from course_utils.grading.ingest.class_settings import Settings, written_out

ADDRESS = re.compile(r'"git\+(https?://[^"]+)"')  # in every notebook's set-up cell
SIBLING = re.compile(r"\]\(\.\./")  # a link out of the folder

QUESTIONS = """\
## Questions

Run a cell to see its question. Then replace the dots with your answer, a letter in quotes or a number, and leave the rest of the
cell as it is: the seed sets the order in which the answers appear."""

OPEN = "Open the notebook in JupyterLab, or upload it to Colab."
PUBLISHED = f"{OPEN} Its first cell installs the course's package where it is missing."
WITHHELD = f"{OPEN} Upload `{NAME}` beside it there: its first cell installs the course from it where it is missing."
NOT_PUBLISHED = "Open the notebook in JupyterLab, on a computer where the course is installed."

README = """\
# {title}

[{file}]({file}) holds {tasks}, {points} in all.

| task | what you write | points |
| --- | --- | --- |
{rows}
{left_out}{due}
## How to work

1. {begin}
2. Replace each `raise NotImplementedError` with your answer, in any style. The cell under each tells you at once what is
   right, what is wrong and why; `hint("{first}")` gives a hint.
3. Keep the functions' names. Cells, imports and functions of your own are welcome.

## How to hand in

1. Choose "Restart Kernel and Run All Cells": this shows what worked only because of a cell that you have deleted.
2. Save the notebook and hand it in as it is, as an `.ipynb` file, and not as a PDF or in an archive.
3. Hand in what is not finished, too: each task counts by itself, and none needs an earlier one.
4. If you think that an answer was judged wrongly, add a text cell that begins with `**Look again at {first}:**`, say why, and hand
   the notebook in again. A person reads it.
"""


def release(root: Path, names: list[str], out: Path, settings: Settings, force: bool = False) -> list[Path]:
    """Write each lesson's exercises into its own folder, out/NN_topic/, and return the notebooks' paths.

    Args:
        root: the folder of the course.
        names: lessons as "03" or "03_queries_keys_values".
        out: the folder that the lessons' folders go into.
        settings: the instructor's; the page on handing in states points and the late rule. Before the time set for solutions,
            each folder gets a copy of the course without them; afterwards, it gets the solutions.
        force: overwrite even files that hold something else.
    """
    files, notebooks, begin = {}, [], settings.solutions_from
    withheld = begin is not None and datetime.now(timezone.utc) < begin
    course = package(root, f"The solutions are handed out from {written_out(begin)} on.") if withheld else b""
    for lesson in lessons(root, names):
        notebook = read_built(root, "exercises", lesson)
        notebooks.append(out / lesson / f"{lesson}.ipynb")
        handed_out = _with_questions(_with_nbgrader_names(stamped(notebook, lesson), lesson), lesson, settings)
        handed_out = _with_written_questions(handed_out, lesson, settings)
        if withheld:
            handed_out = _with_local_install(handed_out)
            files[out / lesson / NAME] = course
        elif begin is not None:
            solved = stamped(read_built(root, "solutions", lesson), lesson)
            files[out / lesson / f"{lesson}_solutions.ipynb"] = to_text(solved)
        files[notebooks[-1]] = to_text(handed_out)
        files[out / lesson / "README.md"] = _readme_text(notebook, lesson, settings, withheld)
    write_all(files, force)
    return notebooks


def lessons(root: Path, names: list[str]) -> list[str]:
    """Return the lessons with exercises that the names stand for, as "03_queries_keys_values", in order; all for none."""
    known = names_in(root, "exercises")
    if not known:
        raise CourseError(f"{root / 'exercises'} holds no notebooks: run `{remedy(root, 'course build')}` first.")
    return chosen(names, known, " with exercises") if names else known


def read_built(root: Path, folder: str, lesson: str) -> dict:
    """Return a notebook that the build wrote. Raises `CourseError` if it was altered: an answer could be handed out."""
    file, again = file_of(folder, lesson), remedy(root, f"course build {number_of(lesson)}")
    try:
        notebook = json.loads((root / file).read_text(encoding="utf-8"))
        untouched = notebook["metadata"]["course"]["content"] == content_hash(notebook)
    except (OSError, ValueError, KeyError, TypeError):
        raise CourseError(f"{file} cannot be read as a notebook of the course: run `{again}`.") from None
    if not untouched:
        raise CourseError(
            f"{file} holds something else than the build wrote, perhaps an answer of yours: keep what you need of it "
            f"elsewhere, delete it and run `{again}`."
        )
    return notebook


def stamped(notebook: dict, lesson: str) -> dict:
    """Return a copy that does not need the rest of the course: it says which lesson it is, and its links lead to the course's address."""
    course = {
        "lesson": number_of(lesson),
        "name": lesson,
        "version": course_version(),
        "source": notebook["metadata"]["course"]["source"],
    }
    address = _course_address(notebook)
    base = f"{address.removesuffix('.git')}/blob/main/" if address else None
    cells = [cell | {"source": "".join(cell["source"])} for cell in notebook["cells"]]
    for cell in cells:
        if cell["cell_type"] == "markdown" and base:
            cell["source"] = SIBLING.sub(f"]({base}", cell["source"])
    return notebook | {"cells": cells, "metadata": notebook["metadata"] | {"course": course}}


def address_in(notebook: Path) -> str:
    """Return the address from which a notebook's first cell would install the course, "" for none."""
    return _course_address(json.loads(notebook.read_text(encoding="utf-8")))


def _course_address(notebook):
    code = ("".join(cell["source"]) for cell in notebook["cells"] if cell["cell_type"] == "code")
    return next((found[1] for found in map(ADDRESS.search, code) if found), "")


def worth(lesson: str, settings: Settings) -> dict[str, float]:
    """Return the points of each task of a lesson that counts, by its id, in order."""
    return {task.id: float(settings.worth(task)) for task in settings.counted(number_of(lesson))}


def _with_local_install(notebook):
    """Return a notebook whose first cell installs the copy of the course beside it."""
    cells = [
        cell | {"source": ADDRESS.sub(f'"{NAME}"', cell["source"])} if cell["cell_type"] == "code" else cell
        for cell in notebook["cells"]
    ]
    return notebook | {"cells": cells}


def _with_nbgrader_names(notebook, lesson):
    """Return a notebook whose answer cells have nbgrader's names, so that nbgrader can collect and grade it, too."""
    known, cells = {task.id for task in catalogue.by_lesson()[number_of(lesson)]}, []
    for cell, following in zip(notebook["cells"], [*notebook["cells"][1:], {"source": ""}], strict=True):
        check = CHECK.search(following["source"])
        if check and check.group(1) in known and "NotImplementedError" in cell["source"]:
            cell = cell | {"metadata": cell["metadata"] | to_be_solved(check.group(1))}
        cells.append(cell)
    return notebook | {"cells": cells}


def to_be_solved(task: str) -> dict:
    """Return nbgrader's metadata for the cell that a task's answer is written in."""
    return for_nbgrader(cell_name(task))


def for_nbgrader(name: str, points: float | None = None) -> dict:
    """Return nbgrader's metadata for a cell: a graded one if there are points, else one for an answer."""
    graded = points is not None
    values = {"schema_version": 3, "grade_id": name, "grade": graded, "solution": not graded}
    values |= {"locked": graded, "task": False, "cell_type": "code"}
    return {"nbgrader": values | {"points": points} if graded else values}


def cell_name(task: str) -> str:
    """Return a task's id as nbgrader allows it: letters, digits, - and _."""
    return task.replace(".", "_")


def _with_questions(notebook, lesson, settings):
    """Return a notebook with the lesson's questions below its exercises, if they count."""
    questions = catalogue.questions_of(number_of(lesson))
    if settings.options_seed is None or not questions:
        return notebook
    cells = [{"cell_type": "markdown", "id": "questions", "metadata": {}, "source": QUESTIONS}]
    for question in questions:
        source = f'check("{question.id}", ..., seed={settings.options_seed})'
        cells.append(
            {
                "cell_type": "code",
                "id": question.id.replace(".", "-"),
                "metadata": {},
                "source": source,
                "execution_count": None,
                "outputs": [],
            }
        )
    return notebook | {"cells": [*notebook["cells"], *cells]}


def _with_written_questions(notebook, lesson, settings):
    """Return a notebook with the questions for a person to read at its end."""
    cells = [cell for question in settings.in_words(number_of(lesson)) for cell in question.cells()]
    return notebook | {"cells": [*notebook["cells"], *cells]}


def _readme_text(notebook, lesson, settings, withheld=False):
    number, points = number_of(lesson), worth(lesson, settings)
    counted = settings.counted(number)
    left_out = [each.id for each in catalogue.asked(number, settings.options_seed is not None) if each.id not in points]
    return README.format(
        title="".join(notebook["cells"][0]["source"]).partition("\n")[0].removeprefix("# "),
        file=f"{lesson}.ipynb",
        tasks=count(len(counted), "task"),
        points=count(sum(points.values()), "point"),
        rows="\n".join(f"| {task.id} | {task.title} | {points[task.id]:g} |" for task in counted),
        left_out=f"\nIt also holds what does not count: {', '.join(left_out)}.\n" if left_out else "",
        due=_deadline_paragraph(settings),
        first=next((task.id for task in counted if task.hints), catalogue.by_lesson()[number][0].id),
        begin=WITHHELD if withheld else NOT_PUBLISHED if is_placeholder(_course_address(notebook)) else PUBLISHED,
    )


def _deadline_paragraph(settings):
    """Return a paragraph on the deadline, "" if there is none."""
    if settings.deadline is None:
        return ""
    sentences = [f"Hand in by {written_out(settings.deadline)}."]
    if settings.per_day:
        sentences.append(f"Each day begun after that costs {float(settings.per_day) * 100:g}% of the points.")
    if settings.none_after is not None:
        sentences.append(f"After {count(float(settings.none_after), 'day')} nothing counts.")
    return f"\n{' '.join(sentences)}\n"


def to_text(notebook: dict) -> str:
    """Return a notebook as the text of its file, as Jupyter writes it."""
    return json.dumps(notebook, indent=1, sort_keys=True, ensure_ascii=False) + "\n"


def write_all(files: dict[Path, str | bytes], force: bool = False) -> None:
    """Write all the files, each in one step; none, with a `CourseError`, if one exists with other content, unless `force`."""
    for path, text in files.items():
        if not force and os.path.lexists(path) and not _holds(path, text):
            raise CourseError(
                f"{path} is there already and holds something else, perhaps somebody's work: "
                "name another folder, or say --force to write over it."
            )
    for path, text in files.items():
        path.parent.mkdir(parents=True, exist_ok=True)
        write(path, text)


def _holds(path, text):
    return path.is_file() and path.read_bytes() == (text.encode() if isinstance(text, str) else text)
