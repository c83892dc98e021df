"""Reads the .py files that people edit: their cells, and the answers between two marks. Writes nothing."""

import ast
import re
from dataclasses import dataclass, replace
from pathlib import Path

from course_utils.base.errors import CourseError
from course_utils.base.paths import file_of, number_of, source_of

# If jupytext looked for magics, it would take a title such as "# Why?" for a commented call for help.
PERCENT = {"extension": ".py", "format_name": "percent", "comment_magics": False}
BEGIN, END = "### BEGIN SOLUTION", "### END SOLUTION"
ANY_MARK = re.compile(r"#+\s*(begin|end)\s+solution", re.IGNORECASE)  # a misspelt mark would leak the answer
TASK_HEADING = re.compile(r"## (?:.*`)?(\d\d\.\w+)`?(?=\n|$)")  # the id, and in a built notebook a title before it
CHECK = re.compile(r"""\bcheck\(\s*["']([\w.]+)["']""")


@dataclass(frozen=True)
class Cell:
    """One cell of a source file; `line` is where its text starts, 0 for a cell that the build inserts."""

    kind: str
    text: str
    line: int
    metadata: dict


@dataclass(frozen=True)
class Target:
    """One notebook to be written, e.g. folder "exercises" and name "02_weighted_sums"."""

    folder: str
    name: str

    @property
    def built(self):
        return file_of(self.folder, self.name)

    @property
    def source(self):
        return source_of(self.folder, self.name)

    @property
    def number(self):
        return number_of(self.name)


def read_text(path):
    """Return a file's text with "\\n" line ends, whatever the checkout made of them."""
    return Path(path).read_text(encoding="utf-8")


def read_source(root: Path, name: str) -> list[Cell]:
    """Return the cells of a jupytext percent file, e.g. name "course_lessons/lesson_02_weighted_sums/lesson.py"."""
    import jupytext

    try:
        text = read_text(root / name)
        ast.parse(text)
        cells = jupytext.reads(text, fmt=PERCENT).cells
    except (OSError, ValueError) as error:
        raise CourseError(f"{name} cannot be read: {error}.") from None
    except SyntaxError as error:
        raise CourseError(f"{name}, line {error.lineno}: this is not Python: {error.msg}.") from None
    starts = [number for number, line in enumerate(text.split("\n"), 2) if re.match(r"# ?%%", line)]
    starts = [1] * (len(cells) - len(starts)) + starts  # text before the first mark is also a cell
    return [
        Cell(cell.cell_type, cell.source, line, {k: v for k, v in cell.metadata.items() if k == "tags"})
        for cell, line in zip(cells, starts, strict=False)
    ]


def begins_in_header(cells: list[Cell]) -> bool:
    """Return whether the first cell is text without a heading, which the build adds to the header."""
    return bool(cells) and cells[0].kind == "markdown" and not cells[0].text.startswith("#")


def has_answer(cell: Cell) -> bool:
    """Return whether a cell holds a task's answer between its two marks."""
    return cell.kind == "code" and BEGIN in cell.text


def split_solutions(name, cells):
    """Return the exercise's cells, solutions cut out, and the solutions by task id."""
    exercise, solutions = [], {}
    for cell, following in zip(cells, [*cells[1:], None], strict=True):
        text = _cut(name, cell)
        exercise.append(replace(cell, text=text))
        if text == cell.text:
            continue
        found = CHECK.search(following.text) if following and following.kind == "code" else None
        if not found:
            raise CourseError(f'{name}, line {cell.line}: the answer needs a `check("...", ...)` cell right under it.')
        task = found.group(1)
        if number_of(task) != number_of(name) or task in solutions:
            raise CourseError(
                f"{name}, line {following.line}: task id {task} must be used once and start with {number_of(name)}."
            )
        lines = cell.text.split("\n")
        solutions[task] = "\n".join(line for line in lines if line.strip() not in (BEGIN, END))
    return exercise, solutions


def _cut(name, cell):
    """Return the cell's text with each marked answer replaced by `raise NotImplementedError`."""
    lines, begun = [], None
    for number, line in enumerate(cell.text.split("\n"), cell.line):
        if ANY_MARK.search(line):
            expected = END if begun else BEGIN
            if line.strip() != expected or cell.kind != "code":
                raise CourseError(
                    f"{name}, line {number}: `{line.strip()}` stands where only `{expected}` is right, "
                    "on a line of its own in a code cell."
                )
            if not begun:
                lines.append(line[: line.index("#")] + "raise NotImplementedError")
            begun = None if begun else number
        elif not begun:
            lines.append(line)
    if begun:
        raise CourseError(f"{name}, line {begun}: `{BEGIN}` has no `{END}` in its cell.")
    return "\n".join(lines)
