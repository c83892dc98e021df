"""Writes what people read: a page of feedback for each student, and the page on the class.

Not here: what is said on a task (`results`), the class page's sections (`class_page`), how texts are made safe (`markup`).
"""

from collections.abc import Callable, Iterable
from html import escape
from itertools import groupby
from pathlib import Path

from course_utils.base.files import opened
from course_utils.checks.report import with_code
from course_utils.grading.keeping.record import TO_BE_READ, Graded, Points
from course_utils.grading.reading.overrides import COLUMNS
from course_utils.grading.reading.written import REQUEST, Written
from course_utils.grading.writing.class_page import class_page
from course_utils.grading.writing.markup import (
    anchor,
    count,
    css_class,
    line,
    link,
    page,
    passage,
    sentence,
    sign,
    state,
)
from course_utils.grading.writing.results import (
    NOTHING,
    cell,
    file_name,
    hint,
    number,
    on_points,
    points_in_words,
    problems,
    requests,
    table,
    verdicts,
    why,
)

__all__ = ["class_page", "feedback", "write_feedback", "write_in_words"]


def feedback(graded: Graded, tasks: list) -> str:
    """Return the page for one student: what became of each task, why, and the first hint where one is wanted.

    It holds no answer and no input, but for what an exception says: only the judge's sentences, what was said on the notebook, and the task's own words.
    """
    rows = list(verdicts(graded, tasks))
    passed = sum(verdict.state == "passed" for _, verdict, _ in rows)
    name = graded.person.name or graded.person.student
    parts = [
        f"<header><h1>Feedback for <bdi>{line(name)}</bdi></h1><p class='lead'>{number(graded.total)} of "
        f"{number(graded.possible)} points. {passed} of {count(len(rows), 'task')} passed.</p>",
        f"<p>{sentence(graded.late)}</p>" if graded.late else "",
        f"<p>{sentence(f'Your instructor says: {graded.comment}')}</p>" if graded.comment else "",
        _overview(rows),
        "</header><main>",
        _remarks(graded),
        _requests(graded),
    ]
    for lesson, its in groupby(rows, key=lambda row: row[0].id.partition(".")[0]):
        parts.append(f"<h2>Lesson {escape(lesson)}</h2>{_lesson(list(its))}")
    parts.append(_way_on(rows))
    return page(f"Feedback for {name}", "".join([*parts, "</main>"]))


def _overview(rows):
    """Return a link to each task, its state as a sign and, for a screen reader, in words; the eye finds the words below."""
    items = []
    for task, verdict, points in rows:
        words = f"{sign(verdict, points)} {escape(task.id)}<span class='hidden'>: {line(verdict.state)}</span>"
        items.append(f"<li class='{css_class(verdict, points)}'><a href='#{anchor(task.id)}'>{words}</a></li>")
    return f"<nav aria-label='Tasks'><ul class='overview'>{''.join(items)}</ul></nav>" if len(rows) > 1 else ""


def _remarks(graded):
    said = [*problems(graded), *(remark for result in graded.results for remark in result.remarks)]
    items = "".join(f"<li>{sentence(text)}</li>" for text in said)
    return f"<h2>On your notebook</h2><div class='remarks'><ul>{items}</ul></div>" if items else ""


def _lesson(rows):
    by_hand = any(points.graded is not None or points.comment for _, _, points in rows)
    if by_hand or any(verdict.state != NOTHING for _, verdict, _ in rows):
        return "".join(_task(*row) for row in rows)
    possible = sum(points.possible for _, _, points in rows)
    asked = "".join(
        f"<li id='{anchor(task.id)}'><b>{escape(task.id)}</b>: {escape(task.title)}</li>" for task, _, _ in rows
    )
    said = f"{why(rows[0][1])} That is {points_in_words(Points('', 0, possible))}. What was asked:"
    return f"<div class='task none'><p>{sentence(said)}</p><ul>{asked}</ul></div>"


def _task(task, verdict, points):
    here, wanted, colour = anchor(task.id), hint(task, verdict), css_class(verdict, points)
    parts = [
        f"<article class='task {colour}' id='{here}' aria-labelledby='{here}-title'>",
        f"<header><h3 id='{here}-title'>{escape(task.id)}: {escape(task.title)}</h3>",
        f"<p><span class='word'>{state(verdict, points)}</span>, {escape(points_in_words(points))}</p></header>",
        *(f"<p>{sentence(text)}</p>" for text in (why(verdict), *on_points(points), verdict.note) if text),
        f"<p class='hint'><b>Hint.</b> {with_code(wanted)}</p>" if wanted else "",
        "</article>",
    ]
    return "".join(parts)


def _way_on(rows):
    first = next((task.id for task, verdict, _ in rows if task.hints and verdict.state != "passed"), "")
    change = (
        "<p>Change your answer in the exercise notebook and run its check: it shows the smallest "
        f'input that goes wrong. <code>hint("{escape(first)}")</code> gives hints, one after the other.</p>'
    )
    named = first or (rows[0][0].id if rows else "")
    again = (
        "<p>Do you think that something was judged wrongly? Then add a text cell to your notebook that begins with "
        f"<code>**{REQUEST} {escape(named)}:**</code> and says why, and hand it in again. A person reads it.</p>"
    )
    return f"<h2>How to go on</h2>{change if first else ''}{again}" if named else ""


def _requests(graded):
    items = "".join(
        f"<li>{sentence(text)} <b>{'Your instructor has answered, see below.' if answered else 'Not answered yet.'}</b></li>"
        for text, answered in requests(graded)
    )
    return f"<h2>You asked to look again</h2><div class='remarks'><ul>{items}</ul></div>" if items else ""


def write_in_words(out: Path, students: Callable[[], Iterable[Graded]], questions: list[Written]) -> list[Path]:
    """Write to-read.html, all answers in words, and to-read.csv, a row of overrides for each that has no points yet.

    Args:
        out: the folder of results. Where there are no questions, what an earlier grading wrote is removed.
        students: gives the class anew, once for each question.
        questions: in order.
    """
    page_file, table_file = out / "to-read.html", out / "to-read.csv"
    if not questions:
        page_file.unlink(missing_ok=True)
        table_file.unlink(missing_ok=True)
        return []
    head = (
        "<header><h1>Answers in words</h1><p>Write points, and a comment if you like, into <code>to-read.csv</code>, which has a row for "
        "each answer without points. Copy its rows below those of your table of overrides and grade again: the answers have then been "
        "read. An empty row changes nothing.</p></header><main>"
    )
    before, after = page("Answers in words", f"{head}<!--answers--></main>").split("<!--answers-->")
    with opened(page_file) as file, opened(table_file, "utf-8-sig") as rows:
        to_read = table(rows)
        to_read.writerow(COLUMNS)
        file.write(before)
        for question in questions:
            file.write(f"<h2 id='{anchor(question.id)}'>{escape(question.id)}</h2><p>{line(question.text, 2000)}</p>")
            for graded in students():
                [(_, verdict, points)] = verdicts(graded, [question])
                if verdict.code:
                    file.write(_answer_in_words(graded, verdict, points))
                if verdict.state == TO_BE_READ:
                    to_read.writerow([cell(graded.person.student), question.id, "", "", ""])
        file.write(after)
    return [page_file, table_file]


def _answer_in_words(graded, verdict, points):
    said = f"{points_in_words(points)}. {points.comment}".strip() if points.read else "Still to be read."
    return (
        f"<article class='task {css_class(verdict, points)}'><header><h3>{link((graded.person.student, graded.person.name))}</h3>"
        f"</header>{passage(verdict.code)}<p>{sentence(said)}</p></article>"
    )


def write_feedback(out: Path, graded: Iterable[Graded], tasks: list) -> list[Path]:
    """Write feedback/, a page for each student, and beside it feedback.html with a link to each; return the index and the folder.

    The index lists everybody's points: it stays outside the folder that is handed out.
    """
    (out / "feedback").mkdir(parents=True, exist_ok=True)
    head = (
        "<main><h1>Feedback</h1><p>For you alone: it lists everybody's points. The pages that it leads to are for students.</p>"
        "<div class='scroll' role='region' aria-label='Students' tabindex='0'><table>"
        "<caption>A page for each student</caption><thead><tr><th scope='col'>student</th>"
        "<th scope='col' class='number'>points</th></tr></thead><tbody>\n"
    )
    before, after = page("Feedback", f"{head}<!--rows--></tbody></table></div></main>").split("<!--rows-->")
    with opened(out / "feedback.html") as index:
        index.write(before)
        for student in graded:
            with opened(out / "feedback" / f"{file_name(student.person.student)}.html") as file:
                file.write(feedback(student, tasks))
            who = link((student.person.student, student.person.name))
            index.write(f"<tr><td>{who}</td><td class='number'>{number(student.total)}</td></tr>\n")
        index.write(after)
    return [out / "feedback.html", out / "feedback"]
