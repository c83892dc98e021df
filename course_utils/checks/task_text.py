"""Reads what a task says from the Markdown file beside its module, `tasks/attention.md` beside `tasks/attention.py`:

    ## Hints

    There are three steps: …

    Take the query [1, 1], …

    ## scaled

    You divide the scores by √D. Here, leave the scores as they are.

        query @ key.mT -> query @ key.mT / query.shape[-1] ** 0.5

Each paragraph below `## Hints` is a hint. Every other heading names a mistake. Below it is what a learner who makes it is told, then,
indented by four spaces, what it changes in the solution (`changed_solution.py` shows how). A mistake without a change is a function in the
module, registered with `task.mistake()` under the same name.

    ## from masked_softmax: mask_unused, mask_inverted

        others = the masked keys

takes these mistakes from `course_lessons/shared/masked_softmax.md`, with these words where that file has `{others}`. A change that is only an
empty word, as after `no_zeros =`, is left out. If the solution calls a function that does most of the work, `## Solution` may show, indented, a
correct answer that writes it out: the changes are then made to this. `## Steps` names steps of the solution (`derived_steps.py`), such as

    hidden = the hidden layer
    _ @ weight.T = the product with weight
"""

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

from course_utils.base.errors import CourseError
from course_utils.base.words import did_you_mean

HINTS, SOLUTION, STEPS = "Hints", "Solution", "Steps"
SHARED = re.compile(r"from (\w+): (\w+(?:, \w+)*)")
INDENT = "    "


@dataclass(frozen=True)
class Section:
    """What is below a heading: its paragraphs, each as one line, and the indented lines."""

    line: int
    heading: str
    paragraphs: tuple[str, ...]
    changes: tuple[str, ...]


def sections(text: str) -> Iterator[Section]:
    """Yield the parts of a text that begin with `## `."""
    lines = text.split("\n")
    starts = [number for number, line in enumerate(lines) if line.startswith("## ")]
    for start, end in pairwise([*starts, len(lines)]):
        body = lines[start + 1 : end]
        changes = tuple(line.removeprefix(INDENT).rstrip() for line in body if line.startswith(INDENT) and line.strip())
        prose = "\n".join("" if line.startswith(INDENT) else line.strip() for line in body)
        paragraphs = tuple(" ".join(part.split()) for part in re.split(r"\n{2,}", prose) if part.strip())
        yield Section(start + 1, lines[start].removeprefix("## ").strip(), paragraphs, changes)


@dataclass(frozen=True)
class TaskText:
    """What a task's Markdown file says; `mistakes` in their order, including those from shared files; `solution` "" if it shows none.

    `steps`: the words for steps, by variable or expression; None if there is no such section.
    """

    hints: tuple[str, ...]
    mistakes: tuple[Section, ...]
    solution: str
    steps: dict[str, str] | None = None


def read_task_text(path: Path, shared: Path) -> TaskText:
    """Return what a task's Markdown file says.

    Args:
        path: a task's Markdown file.
        shared: the folder of shared files.

    Raises `CourseError`, with file and line, for what cannot be read.
    """
    if not path.is_file():
        raise CourseError(f"{path} is missing: it has the hints and mistakes of the task beside it.")
    hints, mistakes, solution, steps = (), [], "", None
    for section in sections(path.read_text(encoding="utf-8")):
        if section.heading == HINTS:
            hints = section.paragraphs
        elif section.heading == SOLUTION:
            solution = "\n".join(section.changes)
        elif section.heading == STEPS and steps is None:
            steps = _words_of_steps(path, section)
        elif match := SHARED.fullmatch(section.heading):
            mistakes += _from_shared(path, section, shared / f"{match[1]}.md", match[2].split(", "))
        else:
            mistakes.append(section)
    for number, section in enumerate(mistakes):
        if any(section.heading == other.heading for other in mistakes[:number]):
            raise CourseError(f"{path}, line {section.line}: there are two mistakes named {section.heading}.")
        if section.heading == STEPS:
            raise CourseError(f"{path}, line {section.line}: there are two sections `## {STEPS}`.")
        if not section.paragraphs:
            meant = did_you_mean(section.heading, [HINTS, SOLUTION, STEPS])
            raise CourseError(
                f"{path}, line {section.line}: the mistake {section.heading}{meant} has no sentence for a learner."
            )
    return TaskText(hints, tuple(mistakes), solution, steps)


def _words_of_steps(path, section):
    """Return {variable or expression: words}."""
    found, at = {}, f"{path}, below line {section.line}"
    if section.paragraphs:
        raise CourseError(f"{at}: indent `{section.paragraphs[0]}` by four spaces.")
    for line in section.changes:
        expression, _, words = line.rpartition(" = ")
        try:
            ast.parse(expression, mode="eval")
        except SyntaxError:
            raise CourseError(f"{at}: `{line}` is not `variable or expression = words`.") from None
        if not words or words.endswith(".") or words[0].isupper():
            raise CourseError(f"{at}: `{line}`: write words that fit into a sentence, such as `the scores`.")
        if expression in found or words in found.values():
            raise CourseError(f"{at}: `{line}` repeats another line.")
        found[expression] = words
    return found


def _from_shared(path, section, file, names):
    """Return mistakes from a shared file, with a task's words filled in."""
    words = dict(re.split(r"\s*=\s*", line, maxsplit=1) for line in section.changes)
    if not file.is_file():
        there = sorted(each.stem for each in file.parent.glob("*.md"))
        meant = did_you_mean(file.stem, there)
        raise CourseError(
            f"{path}, line {section.line}: there is no shared file {file.name}{meant}. The files: {', '.join(there)}."
        )
    known = {each.heading: each for each in sections(file.read_text(encoding="utf-8"))}
    if missing := [name for name in names if name not in known]:
        raise CourseError(f"{path}, line {section.line}: {file.name} has no mistake {missing[0]}: {', '.join(known)}.")

    def filled(text):
        return " ".join(re.sub(r"\{(\w+)\}", lambda match: words.get(match[1], match[0]), text).split())

    for name in names:
        each = known[name]
        changes = tuple(filter(None, map(filled, each.changes)))  # an empty word leaves it out
        found = Section(section.line, name, tuple(map(filled, each.paragraphs)), changes)
        if left := re.search(r"\{([a-z]\w*)\}", " ".join((*found.paragraphs, *found.changes))):
            raise CourseError(f"{path}, line {section.line}: {name} needs the word {left[1]}: `{left[1]} = …`.")
        yield found
