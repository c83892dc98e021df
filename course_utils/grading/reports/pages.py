"""Writes a page of feedback for each student, with a list of them, and the page of all answers in words.

Not here: what is said about a task (`sentences`), the page about the class (`class_page`), the pages themselves (`templates/`).
"""

from collections.abc import Callable, Iterable
from pathlib import Path

from course_utils.base.files import opened
from course_utils.grading.ingest.notebook_file import Unreadable, cells_of, parse, read_bytes
from course_utils.grading.ingest.overrides import COLUMNS
from course_utils.grading.ingest.written_answers import REQUEST, Written, pictures
from course_utils.grading.reports.exports import file_name, table
from course_utils.grading.reports.markup import template
from course_utils.grading.reports.pictures import PAGE_AT_MOST, shown
from course_utils.grading.reports.sentences import (
    NOTHING,
    WANTED,
    by_lesson,
    from_instructor,
    notes,
    points_in_words,
    problems,
    requests,
    verdicts,
    why,
)
from course_utils.grading.storage.record import TO_BE_READ, Graded, Points


def feedback(graded: Graded, tasks: list) -> str:
    """Return the page for one student: the result of each task, why, and the first hint if there is no answer.

    It holds no answer and no input, except in an exception's text: only the judge's sentences, remarks on the notebook, and the task's own words.
    """
    rows = list(verdicts(graded, tasks))
    name = graded.person.name or graded.person.student
    lessons = [(lesson, its, _why_nothing_judged(graded, lesson, its)) for lesson, its in by_lesson(rows)]
    judged = [row for _, its, nothing in lessons if not nothing for row in its]
    return template("feedback.html").render(
        title=f"Feedback for {name}",
        name=name,
        graded=graded,
        rows=rows,
        remarks=[*problems(graded), *notes(graded, "remarks")],
        requests=requests(graded),
        lessons=lessons,
        judged=judged,
        wanted=next((task.id for task, verdict, _ in judged if verdict.state in WANTED), ""),
        request=REQUEST,
        NOTHING=NOTHING,
    )


def _why_nothing_judged(graded, lesson, rows):
    """Return a sentence on a lesson without verdicts or points set by hand, since nothing was readable or handed in; else ""."""
    judged = any(result.verdicts for result in graded.results if result.lesson == lesson)
    if judged or any(from_instructor(points) for _, _, points in rows):
        return ""
    possible = sum(points.possible for _, _, points in rows)
    return f"{why(rows[0][1])} That is {points_in_words(Points('', 0, possible))}."


def write_in_words(
    out: Path, students: Callable[[], Iterable[Graded]], questions: list[Written], files: dict[tuple[str, str], Path]
) -> list[Path]:
    """Write to-read.html, all answers in words, and to-read.csv, a row of overrides for each without points yet.

    Args:
        out: the folder of results. If there are no questions, what an earlier grading wrote is removed.
        students: returns the class anew, called once for each question.
        questions: in order.
        files: what was handed in, by student and a Result's `file`. Pictures are read from there.
    """
    page_file, table_file = out / "to-read.html", out / "to-read.csv"
    if not questions:
        page_file.unlink(missing_ok=True)
        table_file.unlink(missing_ok=True)
        return []
    with opened(page_file) as file, opened(table_file, "utf-8-sig") as rows:
        to_read = table(rows)
        to_read(COLUMNS)
        left = PAGE_AT_MOST

        def answers(question):
            nonlocal left
            for graded in students():
                [(_, verdict, points)] = verdicts(graded, [question])
                if verdict.state == TO_BE_READ:
                    to_read([graded.person.student, question.id, "", "", ""])
                if verdict.code:
                    source, found = _pictures(graded, question, files) if verdict.pictures else ("", [])
                    addresses = shown(found, left)
                    left -= sum(map(len, addresses))
                    yield (graded.person.student, graded.person.name), verdict, points, source, addresses

        listed = ((question, answers(question)) for question in questions)
        file.writelines(template("to_read.html").generate(title="Answers in words", questions=listed))
    return [page_file, table_file]


def _pictures(graded, question, files):
    """Return the file that holds an answer in words, and the answer's pictures; none if the file is gone or unreadable."""
    [result] = [each for each in graded.results if question.id in {verdict.task for verdict in each.verdicts}]
    try:
        path = files[result.student, result.file]
        return result.file, pictures(cells_of(parse(read_bytes(path))), question.id)
    except (KeyError, Unreadable):
        return result.file, []


def write_feedback(out: Path, graded: Iterable[Graded], tasks: list) -> list[Path]:
    """Write feedback/, a page for each student, and beside it feedback.html with a link to each; return the index and the folder.

    The index lists everybody's points, so it stays outside the folder that is handed out.
    """
    (out / "feedback").mkdir(parents=True, exist_ok=True)

    def students():
        for student in graded:
            with opened(out / "feedback" / f"{file_name(student.person.student)}.html") as file:
                file.write(feedback(student, tasks))
            yield (student.person.student, student.person.name), student.total

    with opened(out / "feedback.html") as index:
        index.writelines(template("feedback_index.html").generate(title="Feedback", students=students()))
    return [out / "feedback.html", out / "feedback"]
