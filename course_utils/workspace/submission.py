"""Writes the one file that a learner hands in, and says what is missing or odd in it: `course submit`.

Here: one notebook's cells, read as text. Nothing is run or judged: `course grade` does that, and it reads the file with
the same code.
"""

import ast
import re
import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from course_utils.authoring.notebook_builder import cell_id
from course_utils.authoring.sources import CHECK
from course_utils.base.environment import course_version
from course_utils.base.errors import CourseError
from course_utils.base.files import write
from course_utils.base.paths import OWN, chosen, course_of, file_of, names_in, number_of
from course_utils.base.words import count
from course_utils.checks import catalogue
from course_utils.grading.ingest.lessons import names_by_lesson, refuse_the_lesson
from course_utils.grading.ingest.notebook_file import (
    Unreadable,
    by_exec,
    cells_of,
    definition,
    definitions,
    fingerprint,
    last_check,
    likely_rename,
    must_fit,
    notebook_in,
    parse,
    read_notebook,
    read_own,
)
from course_utils.grading.sandbox.protocol import MAGICS
from course_utils.learner import state
from course_utils.learner.sandbox_warnings import sandbox_warnings
from course_utils.workspace.copies import HANDED_IN, KINDS, Place, a_dict, is_as_built, keep, to_text, with_id
from course_utils.workspace.merging import DEFINED
from course_utils.workspace.undefined_names import as_python, defined_names, undefined_names

CHANGED = state.STATES[0]  # the answer or its task is no longer what was checked
DEFINITIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
LONG = r"(?:[5-9]|\d{2})"  # the beginning of a number of seconds worth a remark
UNANSWERED = r"""\bcheck\(\s*["']{}["']\s*(?:,\s*\.\.\.|,\s*seed\b|\))"""


@dataclass(frozen=True)
class Row:
    """One task: what is in the file, and what its check said last."""

    task: str
    here: str  # "answered", "not attempted", "not Python" or "missing"
    checked: str  # as progress keeps it; "" if never checked, `CHANGED` if the answer or task has changed since
    placeholder: bool = False  # whether there is code, but also still the line that raises NotImplementedError


@dataclass(frozen=True)
class Submission:
    """The file to hand in, and remarks on it."""

    path: Path
    source: Path
    rows: list[Row]
    remarks: list[str]
    stays: bool  # nothing was written, since the notebook holds no answer but the existing file does


def submit(root: Path, lesson: str, file: Path | None = None) -> Submission:
    """Write the file to hand in for a lesson. Raises `CourseError` if there is nothing that could be graded.

    Args:
        root: the folder that contains my_course.
        lesson: as "03" or "03_queries_keys_values".
        file: the notebook; the learner's own copy of the lesson's exercises if left out.
    """
    (name,) = chosen([lesson], names_in(course_of(root), "exercises"), " with exercises")
    path = file or root / OWN / file_of("exercises", name)
    if not path.exists():
        raise CourseError(f"{path} is not there: `course lab` makes your copies, and --file names another notebook.")
    notebook, clean, text = _read(path, name)
    target = root / HANDED_IN / f"{name}.ipynb"
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # Python's warnings about the learner's code, which is only parsed
        skipped = dict(_no_python(notebook.cells))
        cells = tuple("" if place in skipped else _as_graded(cell) for place, cell in enumerate(notebook.cells))
        broken = {name for place in skipped for name in DEFINED.findall(notebook.cells[place])}
        kept = state.read()
        rows = [_row(task, cells, broken, kept.get(task.id, {})) for task in catalogue.by_lesson()[number_of(name)]]
        remarks = [
            *notebook.remarks,
            *skipped.values(),
            *_remarks(cells, number_of(name), broken, notebook.in_texts, kept),
        ]
    if unsaved := _unsaved(rows):
        ways = (
            f"If they are in another notebook, hand in that one instead of {path.name}."
            if file
            else "Save the notebook, and run this again."
        )
        where = "on this computer" if file else "in JupyterLab"
        remarks.append(f"Checked {where}, but without an answer in the saved file: {', '.join(unsaved)}. {ways}")
    now = _count_answers(notebook, rows)
    empty = not now
    original = Place(root, "exercises", name).original
    if empty and not file and not is_as_built(original):
        remarks.append(
            f"Are your answers in {original}? It is not as the course made it: name it with --file to hand it in."
        )
    before = _answers_in(target, number_of(name))
    stays = empty and before > 0
    if before > now > 0:
        kept_as = keep(root, Path(HANDED_IN).name, target)
        remarks.append(
            f"The file that you handed in before holds {count(before, 'answer')}, and this one {now}. The earlier one is kept as {kept_as}."
        )
    if not stays:
        _write(target, text)
    return Submission(target, path, rows, remarks, stays)


def unsaved(cells: list[str], number: str) -> list[str]:
    """Return the tasks of a lesson whose answer has been checked, although these code cells hold none."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        kept = state.read()
        return _unsaved(
            _row(task, cells, set(), kept.get(task.id, {})) for task in catalogue.by_lesson().get(number, ())
        )


def _unsaved(rows):
    empty = (row for row in rows if row.here in ("not attempted", "missing") and not row.placeholder)
    return [row.task for row in empty if row.checked == CHANGED]


def _read(path, name):
    """Return a notebook as grading reads it, and what to hand in, as a dict and as text. Raises `CourseError` if it is not the lesson's."""
    try:
        plain = read_own(path)
        notebook, clean = notebook_in(plain, names_by_lesson(), ""), _clean(plain, name)  # whatever the file is called
        if notebook.lesson not in ("", number_of(name)):  # if names fit several lessons, `name` decides
            notebook = notebook_in(plain, names_by_lesson(), name)
        refuse_the_lesson(notebook)
        text = to_text(clean)
        must_fit(len(text.encode()))
        parse(text.encode())  # as grading reads it: with the limits for files of unknown origin
    except Unreadable as problem:
        if path.suffix.lower() != ".ipynb":
            raise CourseError(f"{path} is not a notebook: --file takes the .ipynb file with your answers.") from None
        raise CourseError(f"{path} cannot be handed in. {problem}") from None
    if notebook.lesson != number_of(name):
        holds = f"the exercises of lesson {notebook.lesson}" if notebook.lesson else "no task of any lesson"
        raise CourseError(
            f"{path} holds {holds}, and lesson {number_of(name)} is asked for: name the right lesson or --file."
        )
    return notebook, clean, text


def _answers_in(path, number):
    """Return how many answers a file handed in earlier holds, including those in words."""
    try:
        before = read_notebook(path, names_by_lesson())
    except Unreadable:
        return 0
    cells = tuple(map(_as_graded, before.cells))
    return _count_answers(before, (_row(task, cells, set(), {}) for task in catalogue.by_lesson()[number]))


def _count_answers(notebook, rows):
    return len(notebook.in_words) + sum(row.here == "answered" for row in rows)


def _write(target, text):
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        write(target, text)
    except OSError as error:
        raise CourseError(
            f"{target} cannot be written ({error.strerror}): see that you may write in that folder, and run this again."
        ) from None


def _clean(plain, name):
    """Return a notebook that has only the cells and their pictures, without outputs, and says which lesson it belongs to."""
    cells, seen = [], {None}
    for place, cell in enumerate(map(with_id, cells_of(plain))):
        kind, source = cell["cell_type"] if cell["cell_type"] in KINDS else "raw", cell["source"] or ""
        identity = cell_id("handed_in", name, source, place) if cell["id"] in seen else cell["id"]
        seen.add(identity)
        bare = {"cell_type": kind, "id": identity, "metadata": cell["metadata"], "source": source}
        if kind == "code":
            bare |= {"outputs": [], "execution_count": None}
        elif pictures := a_dict(cell.get("attachments")):
            bare["attachments"] = pictures
        cells.append(bare)
    metadata = {
        "kernelspec": {"name": "python3", "display_name": "Python 3", "language": "python"},
        "language_info": {"name": "python"},
        "course": {"lesson": number_of(name), "name": name, "version": course_version()},
    }
    return {"nbformat": 4, "nbformat_minor": 5, "metadata": metadata, "cells": cells}


def _row(task, cells, broken, entry):
    answer = _answer_in(cells, task)
    text, lost = answer.text, "not Python" if answer.given in broken else "missing"
    here = "answered" if fingerprint(text) else "not attempted" if text else lost
    placeholder = _keeps_placeholder(text)
    if placeholder:
        here = "not attempted"
    checked = entry.get("state", "") if entry.get("attempts") else ""
    nowhere = answer.counts is None
    where = cells if nowhere else [cells[answer.counts]]  # what was checked may be there under another name
    if checked and (nowhere or "cell" in entry) and entry.get("cell") not in map(state.answer_digest, where):
        checked = CHANGED
    return Row(task.id, here, checked, placeholder)


def _what_counts(cells, name, check):
    """Return the cell and the source of the definition that is graded; None and "" if there is none.

    It is the one that the last check was given, or the last of all if that was empty.
    """
    places = definitions(cells, name)
    above = [place for place in places if place <= check]
    if above and fingerprint(given := definition(cells, name, last=check)):
        return above[-1], given
    return (places[-1], definition(cells, name)) if places else (None, "")


def _as_graded(cell):
    """Return a cell's code as it is graded: without its cell magic, "" if that magic does not run it."""
    magic = re.match(r"\s*%%(\w+)[^\n]*\n?", cell)
    if magic is None:
        return cell
    return cell[magic.end() :] if magic[1] in MAGICS else ""


def _keeps_placeholder(text):
    """Return whether an answer has code but still reaches the line in which its stub raises an error."""
    return bool(fingerprint(text)) and any(_reaches_placeholder(each.body) for each in _functions_of(text))


def _functions_of(text):
    """Return the function that an answer defines, or the methods of its class; [] unless it is a single statement."""
    try:
        (answer,) = ast.parse(text).body
    except (SyntaxError, ValueError):
        return []
    functions = answer.body if isinstance(answer, ast.ClassDef) else [answer]
    return [each for each in functions if isinstance(each, (ast.FunctionDef, ast.AsyncFunctionDef))]


def _reaches_placeholder(body):
    ends = (statement for statement in body if isinstance(statement, (ast.Return, ast.Raise)))
    return ast.unparse(next(ends, ast.Pass())).startswith("raise NotImplementedError")


# What is odd


@dataclass(frozen=True)
class _Answer:
    """Where a notebook defines the answer to a task, by code cells counted from 0, and the answer itself."""

    name: str  # the task's name for it
    given: str  # the name that its last check was given
    check: int  # the cell of that check; -1 if there is none
    places: list[int]  # the cells that define `name`
    counts: int | None  # the one that is graded, if any
    text: str  # the definition there


def _answer_in(cells, task):
    check, given = last_check(cells, task.id, task.answer_name)
    return _Answer(
        task.answer_name, given, check, definitions(cells, task.answer_name), *_what_counts(cells, given, check)
    )


def _remarks(cells, number, broken, elsewhere, kept):
    """Yield a sentence for each thing that the learner may not have meant.

    `broken` are names in code cells that are not Python, `elsewhere` names that text cells define, `kept` the progress.
    """
    exercises = catalogue.by_lesson()[number]
    checked = {found for cell in cells for found in CHECK.findall(cell)}
    if not checked.intersection(task.id for task in exercises) and not any(
        definitions(cells, name) or name in broken | elsewhere for name in names_by_lesson()[number]
    ):
        return
    defined = [defined_names(cell) for cell in cells]
    for task in exercises:
        answer = _answer_in(cells, task)
        if answer.given in elsewhere and not fingerprint(answer.text):
            yield f"{task.id}: `{answer.given}` is in a text cell. Make it a code cell (key Y in JupyterLab), take out lines of ``` around it, and save."
        elif not answer.places and answer.given == answer.name not in broken:
            yield f"{task.id}: `{answer.name}` {_why_not_there(cells, answer, number, defined)}"
        sentences = (*_of_its_code(answer, defined), *_of_its_check(answer, cells, kept.get(task.id, {})))
        yield from (f"{task.id}: {sentence}" for sentence in sentences)
    if gone := [task.id for task in exercises if task.id not in checked]:
        yield f"No cell checks {', '.join(gone)} any more. Grading does not need it, but you cannot see there whether you are right."
    yield from sandbox_warnings(cells)
    yield from _that_wait(cells)
    yield from _questions(cells, number, checked, kept)


def _of_its_code(answer, defined):
    """Yield what is odd about the code of an answer; `defined` is what each cell defines."""
    if any(isinstance(each, ast.AsyncFunctionDef) for each in _functions_of(answer.text)):
        yield "`async def` makes a function that returns a coroutine, not a value: write `def` alone."
    if _keeps_placeholder(answer.text):
        yield "your code is there, but so is the placeholder `raise NotImplementedError`: delete that line."
    elif len(answer.places) > 1 and not fingerprint(answer.text):
        last, above = answer.places[-1] + 1, answer.places[-2] + 1
        yield f"the empty function in cell {last} replaces the one above it, in cell {above}: delete it."
    elif missing := undefined_names(answer.text, defined):
        yield (
            f"your answer uses `{'`, `'.join(missing)}`, which no cell of this notebook defines, so it works only "
            "as long as your kernel remembers. Restart the kernel and run all cells: does its check still pass?"
        )
    elif answer.check >= 0 and (below := undefined_names(answer.text, [*defined[: answer.check + 1], {answer.given}])):
        yield (
            f"your answer uses `{'`, `'.join(below)}`, which only a cell below its check defines: move that cell "
            "above the check, restart the kernel and run all cells."
        )


def _of_its_check(answer, cells, entry):
    """Yield what is odd about an answer and its check; `entry` is the task's entry in the progress."""
    digests = {state.answer_digest(cells[place]) for place in answer.places}
    now = None if answer.counts is None else state.answer_digest(cells[answer.counts])
    checked_last = entry.get("cell")
    if "borrowed" in entry and now and checked_last == now:
        yield (
            f"your answer calls the course's own `{entry['borrowed']}`, which this task does not offer: where a class is graded, it "
            "may earn no points. Write it yourself."
        )
    if checked_last in digests and checked_last != now:
        yield (
            f"`{answer.given}` is defined in cells {' and '.join(str(place + 1) for place in answer.places)}. The one in cell "
            f"{answer.counts + 1} counts, and your last check was of another: keep the one that you mean, and delete the others."
        )
    elif checked_last and now and checked_last != now and fingerprint(answer.text):
        yield "what you checked last is not what the saved file holds. Save the notebook and run this again, or check this answer."
    if len(answer.places) > 1 and answer.check < 0:
        yield f"`{answer.name}` is defined in {len(answer.places)} cells, and the last one counts."
    if answer.places and answer.places[-1] > answer.check >= 0:
        again = bool(fingerprint(definition(cells, answer.given, last=answer.check)))
        todo = (
            "What that check was given counts: move the check below, or delete what you do not need."
            if again
            else "Nothing is there to check when the notebook runs from the top: move the check below."
        )
        yield f"`{answer.name}` is defined{' again' * again} in cell {answer.places[-1] + 1}, below its last check in cell {answer.check + 1}. {todo}"


def _why_not_there(cells, answer, number, defined):
    """End a sentence about an answer that no cell defines; `defined` is what each cell defines."""
    name, here = answer.name, names_by_lesson()[number]  # `my_attention` of lesson 20 may be 03's `attention`, renamed
    if any(name in names for names in defined if names):
        return "is imported, and grading looks for a cell that defines it: put its code into a cell."
    if re.search(rf"^[ \t]*#[# \t]*(?:def|class)[ \t]+{name}\b", "\n".join(cells), re.MULTILINE):
        return "is in a comment: remove the `#` in front of its lines."
    found = (node for cell in cells for node in ast.walk(_parsed(cell)) if isinstance(node, DEFINITIONS))
    if any(node.name == name for node in found):
        return "is defined only inside a class or another function: move it to the left edge of a cell."
    if made := by_exec(tuple(cells), name):
        return made
    if re.search(rf"^[ \t]*(?:def|class)[ \t]+{name}\b", "\n".join(cells), re.MULTILINE):
        return "is defined only inside a string: take out the quotes around it."
    names = {name for of_lesson in names_by_lesson().values() for name in of_lesson}
    like = likely_rename(cells, name, here) or _defined_above(cells, answer.check, names)
    return "is nowhere defined." + f" Perhaps it is `{like}` now: grading looks for the name `{name}`." * bool(like)


def _defined_above(cells, check, names):
    """Return the function or class that the cell above a task's last check defines last; "" if there is none or it is a task's."""
    found = next((DEFINED.findall(cell) for cell in reversed(cells[: max(check, 0)]) if cell), [])
    return found[-1] if found and found[-1] not in names else ""


def _parsed(cell):
    """Return a cell's code as a tree, an empty one if it is not Python."""
    try:
        return ast.parse(as_python(cell))
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return ast.Module([], [])


def _no_python(cells):
    """Yield (place, sentence) for each code cell that is not Python."""
    for place, cell in enumerate(cells):
        first = next((line.strip() for line in cell.split("\n") if line.strip()), "")
        begins = f" (`{first[:40]}{'…' * (len(first) > 40)}`)"
        names = f", which defines `{'`, `'.join(found)}`," if (found := DEFINED.findall(cell)) else begins
        try:
            ast.parse(as_python(cell))
        except SyntaxError as error:
            yield (
                place,
                f"Cell {place + 1}{names} is not Python (line {error.lineno}: {error.msg}), so grading skips it: fix it or delete it.",
            )
        except (ValueError, RecursionError, MemoryError):
            yield place, f"Cell {place + 1}{names} is not Python, so grading skips it: fix it or delete it."


def _that_wait(cells):
    """Yield a sentence for each cell that plainly never ends, or sleeps: in grading, this takes time from the answers."""
    for place, cell in enumerate(cells):
        waiting = list(_parsed(cell).body)
        while waiting:
            node = waiting.pop()
            if isinstance(node, (*DEFINITIONS, ast.Lambda)):
                continue
            sleeps = isinstance(node, ast.Call) and re.match(rf"(?:time\.)?sleep\({LONG}", ast.unparse(node))
            if sleeps or _never_ends(node):
                line = ast.unparse(node).split("\n")[0]
                yield f"Cell {place + 1} waits (`{line}`), which takes time from your answers where a class is graded: delete it."
                break
            waiting += ast.iter_child_nodes(node)


def _never_ends(node):
    if not (isinstance(node, ast.While) and isinstance(node.test, ast.Constant) and node.test.value):
        return False
    return not any(isinstance(each, (ast.Break, ast.Return, ast.Raise)) for each in ast.walk(node))


def _questions(cells, number, checked, kept) -> Iterator[str]:
    """Yield a sentence on unanswered questions; an instructor may hand them out with the exercises, and then they count."""
    ids = [question.id for question in catalogue.questions_of(number)]
    if here := [name for name in ids if name in checked]:
        text = "\n".join(cells)
        if left := [name for name in here if re.search(UNANSWERED.format(re.escape(name)), text)]:
            yield f"Not answered yet: {', '.join(left)}. Replace the dots with your answer."
        return
    if left := [name for name in ids if not kept.get(name, {}).get("attempts")]:
        yield f"In the lesson, you have not answered {', '.join(left)}. The questions are not part of what you hand in."
