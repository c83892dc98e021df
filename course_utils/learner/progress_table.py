"""The table of a learner's progress and what comes next, as text and as HTML.

Not here: the arguments of `progress` (`notebook.py`) and where progress is kept (`state.py`).
"""

from collections.abc import Collection, Mapping
from html import escape

from course_utils.base.words import listed
from course_utils.checks import catalogue
from course_utils.checks.report import SYMBOLS, with_code

FAILS_NOW = "passed before, fails now"
CHANGED_SINCE = "passed before, changed since"
SIGNS = SYMBOLS | {FAILS_NOW: SYMBOLS["failed"]}
PASSED_BEFORE = {  # once passed, a task counts as passed, whatever its last check said
    "failed": FAILS_NOW,
    "error": FAILS_NOW,
    "changed since": CHANGED_SINCE,
}


def progress_table(saved: Mapping, all: bool, to_see_all: str, lessons: Collection[str] = ()) -> tuple[str, str]:
    """Return how far a learner is, as text and as HTML.

    Args:
        saved: the entry of each task and question, by its id, as `state.read` returns it.
        all: whether every lesson is shown, including those not begun.
        to_see_all: what to type to see every lesson.
        lessons: the numbers of the only lessons to show, if any.
    """
    groups = {
        number: [_row(task, saved.get(task.id, {})) for task in catalogue.asked(number, questions=True)]
        for number in catalogue.by_lesson()
    }
    total, ahead = _summary(sum(groups.values(), [])), _next_of(groups, lessons) or _what_comes_next(groups)
    displayed = {
        f"{number} {catalogue.lessons()[number].title}: {_summary(rows)}": rows
        if lessons or _has_begun(rows) and (all or _not_passed(rows))
        else []
        for number, rows in groups.items()
        if (number in lessons if lessons else all or _has_begun(rows))
    }
    if not all:
        ahead += f" `{to_see_all}` shows every lesson."
    return _as_text(total, displayed, ahead), _as_html(total, displayed, ahead)


def _row(task, entry):
    reached = entry.get("state", "not attempted")
    attempts = entry.get("attempts", 0)
    is_task = isinstance(task, catalogue.Task)
    if reached == "not attempted" and attempts:  # a question that is shown again was answered before, not changed
        reached = "changed since" if is_task else "failed"
    if entry.get("passed"):
        reached = PASSED_BEFORE.get(reached, "passed") if is_task else "passed"
    return is_task, task.id, task.title, reached, attempts, entry.get("hints", 0)


def _summary(rows):
    tasks_reached, questions_reached = ([row[3] for row in rows if row[0] == is_task] for is_task in (True, False))
    before = sum(reached in PASSED_BEFORE.values() for reached in tasks_reached)
    passed = f"{tasks_reached.count('passed')} of {len(tasks_reached)} tasks passed"
    passed += f" ({before} more passed before)" if before else ""
    return f"{passed}, {questions_reached.count('passed')} of {len(questions_reached)} questions right"


def _has_begun(rows):
    return any(attempts or hints for *_, attempts, hints in rows)


def _not_passed(rows):
    return [row for row in rows if row[3] not in ("passed", *PASSED_BEFORE.values())]


def _next_of(groups, lessons):
    """Say what has to be checked again in the given lessons, and the first task or question left, else the first that fails now; "" for none."""
    rows = [row for number, rows in groups.items() if number in lessons for row in rows]
    left = _not_passed(rows) or [row for row in rows if row[3] not in ("passed", CHANGED_SINCE)]
    return _again(rows) + (_next_is(left[0]) if left else "")


def _next_is(row):
    _, id, title, *_ = row
    return f"Next comes {id}, {title}{'' if title.endswith('?') else '.'}"


def _what_comes_next(groups):
    """Say what comes next: in the last lesson begun, what has to be checked again and the first task or question left, else the next lesson."""
    begun = [number for number, rows in groups.items() if _has_begun(rows)]
    return (_again(groups[begun[-1]]) if begun else "") + _new_things_next(groups, begun)


def _again(rows):
    again = [id for _, id, _, reached, *_ in rows if reached == CHANGED_SINCE]
    return f"Check {listed(again)} again: changed since. " * bool(again)


def _new_things_next(groups, begun):
    if begun and (left := _not_passed(groups[begun[-1]])):
        return _next_is(left[0])
    following = [number for number in groups if not begun or number > begun[-1]]
    if not following:
        return "You have finished the last lesson."
    lesson = catalogue.lessons()[following[0]]
    return f"Next comes lesson {lesson.number}, {lesson.title}: {lesson.question}"


def _as_text(total, groups, ahead):
    lines = [total, ""]
    width = max([26, *(len(id) for rows in groups.values() for _, id, *_ in rows)])
    for heading, rows in groups.items():
        lines.append(heading)
        for is_task, id, _, reached, attempts, hints in rows:
            line = f"  {SIGNS.get(reached, '○')} {id:{width}} {reached:28}  attempts {attempts:2}"
            lines.append(line + f"  hints {hints}" * is_task)
    return "\n".join([*lines, *[""] * bool(groups), ahead])


def _as_html(total, groups, ahead):
    left = "style='text-align:left'"

    def row_of(is_task, id, title, reached, attempts, hints):
        return (
            f"<tr><td {left}>{id}</td><td {left}>{escape(title)}</td>"
            f"<td style='text-align:left;white-space:nowrap'>{SIGNS.get(reached, '○')} {reached}</td>"
            f"<td>{attempts}</td><td>{hints if is_task else ''}</td></tr>"
        )

    names = ("task", "what", "state", "attempts", "hints")
    head = "".join(f"<th scope='col' {left}>{name}</th>" for name in names)
    bodies = "".join(
        f"<tbody><tr><th scope='rowgroup' colspan='{len(names)}' {left}>{escape(heading)}</th></tr>"
        f"{''.join(row_of(*each) for each in rows)}</tbody>"
        for heading, rows in groups.items()
    )
    table = f"<table><caption {left}>{total}</caption><thead><tr>{head}</tr></thead>{bodies}</table>"
    return f"{table if groups else f'<div>{total}</div>'}<div style='margin:.4em 0'>{with_code(ahead)}</div>"
