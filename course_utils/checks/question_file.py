"""Reads a lesson's questions and predictions from its `questions.md`, where they are written as Markdown:

    ## 04.q1: two widths                       a question: its id and a title for tables

    Why is … ?

    - [x] Because …                            the right option
      > Why that is right.
    - [ ] Because …                            a wrong one, of which there may be several
      > Why that is wrong.

    ## 04.q2: three words                      a question for a number

    How much … ?

    - [x] 0.25 ± 0.01                          without ±, only this number is right
      > Why.
    - [ ] 0.5                                  a likely wrong number
      > Why that is wrong.
    - [ ] otherwise                            what to say about any other number; optional
      > Look at …

    ## 04.wide                                 a prediction: no title

    How large … ?

    - yes                                      its choices; without any, a number is asked for
    - no

    > Why the result is what it is.

Lines are joined as in Markdown. Text before the first `## ` is for authors.
"""

import re
from dataclasses import dataclass, field
from pathlib import Path

from course_utils.base.errors import CourseError
from course_utils.checks.question import NumberQuestion, Prediction, Question, as_number

HEADING = re.compile(r"## (\d\d)\.(\w+)(?:: (.+))?")
OPTION = re.compile(r"- \[([ x])\] (.+)")
CHOICE = re.compile(r"- (?!\[)(.+)")
QUOTED = re.compile(r"(?:  )?> (.+)")
NUMBER = re.compile(r"(-?\d+(?:\.\d+)?)(?: ± (\d+(?:\.\d+)?))?")
OTHERWISE = "otherwise"


@dataclass
class _Item:
    """An option or a choice, or what is asked: its text, and the explanation below it."""

    line: int
    mark: str = ""  # "x" or " " of an option, "-" of a choice
    text: list[str] = field(default_factory=list)
    why: list[str] = field(default_factory=list)


def read_questions(path: Path, number: str) -> tuple[list, list]:
    """Return the questions and the predictions of the lesson `number`, such as "04", in the file's order.

    Raises `CourseError` for the first place that cannot be read, with its line and what was expected there.
    """
    questions, predictions, seen = [], [], set()
    for line, heading, items in _headings(path.read_text(encoding="utf-8").split("\n")):
        complain = _error_at(path, line)
        match = HEADING.fullmatch(heading)
        if not match or match[1] != number:
            raise complain(
                f"expected a heading such as `## {number}.q1: a title` or `## {number}.name`, not {heading!r}"
            )
        name = f"{match[1]}.{match[2]}"
        if name in seen:
            raise complain(f"{name} occurs twice")
        seen.add(name)
        asked, *others = items
        if not asked.text:
            raise complain(f"{name} asks nothing: write the question below its heading")
        if match[3]:
            questions.append(_question(name, match[3], asked, others, path))
        else:
            predictions.append(_prediction(name, asked, others, path))
    return questions, predictions


def _headings(lines):
    """Yield the line and the text of each heading, with the items below it; the first is what is asked."""
    part = None
    for place, line in enumerate(lines, 1):
        if line.startswith("#") and not line.startswith("# "):
            if part:
                yield part
            part = place, line.rstrip(), [_Item(place)]
        elif part and line.strip():
            _add_line(line.rstrip(), place, part[2])
    if part:
        yield part


def _add_line(line, place, items):
    """Add a line to the item that it belongs to, or as a new item."""
    if match := OPTION.fullmatch(line):
        items.append(_Item(place, match[1], [match[2]]))
    elif match := CHOICE.fullmatch(line):
        items.append(_Item(place, "-", [match[1]]))
    elif match := QUOTED.fullmatch(line):
        item = items[-1] if line.startswith("  ") else items[0]
        item.why.append(match[1])
    else:
        items[-1].text.append(line.strip())


def _error_at(path, line):
    return lambda what: CourseError(f"{path}, line {line}: {what}.")


def _question(name, title, asked, options, path):
    pairs = []
    for item in options:
        complain = _error_at(path, item.line)
        if item.mark == "-":
            raise complain("an option begins with `- [ ]`, or `- [x]` if it is right")
        if not item.why:
            raise complain("an option needs, on the line below it, `  > ` and why it is right or wrong")
        pairs.append((item.mark, " ".join(item.text), " ".join(item.why)))
    right = [(text, why) for mark, text, why in pairs if mark == "x"]
    wrong = [(text, why) for mark, text, why in pairs if mark == " "]
    if len(right) != 1:
        raise _error_at(path, asked.line)(f"{name} needs one option that begins with `- [x]`, not {len(right)}")
    text = " ".join(asked.text)
    if not (number := NUMBER.fullmatch(right[0][0])):
        return Question(name, title, text, right=right[0], wrong=tuple(wrong))
    others = {text: why for text, why in wrong if text != OTHERWISE}
    if odd := [text for text in others if as_number(text) is None]:
        raise _error_at(path, asked.line)(f"{name} asks for a number, but its option {odd[0]!r} is not one")
    return NumberQuestion(
        name,
        title,
        text,
        answer=float(number[1]),
        tolerance=float(number[2] or 0),
        why=right[0][1],
        wrong={as_number(text): why for text, why in others.items()},
        otherwise=dict(wrong).get(OTHERWISE, ""),
    )


def _prediction(name, asked, choices, path):
    if not asked.why:
        raise _error_at(path, asked.line)(
            f"{name} needs a line that begins with `> ` and says why the result is what it is"
        )
    for item in choices:
        if item.mark != "-" or item.why:
            raise _error_at(path, item.line)(
                "a choice of a prediction begins with `- ` and has no explanation of its own"
            )
    return Prediction(name, " ".join(asked.text), " ".join(asked.why), tuple(" ".join(item.text) for item in choices))
