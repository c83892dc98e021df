"""The sentences about a student and about each task: every page, table and file of results takes them from here.

Not here: points (`points`), and where the sentences go (`exports`, `pages`, `statistics`).
"""

from collections.abc import Iterable, Iterator
from dataclasses import replace
from itertools import groupby

from course_utils.base.sanitise import clean, cut
from course_utils.base.words import count
from course_utils.grading.ingest.written_answers import ANSWER, Written
from course_utils.grading.storage.record import READ, TO_BE_READ, Graded, Points, Verdict

NOTHING = "not handed in"  # the state of a task whose lesson a student handed nothing in for
TEXT_AT_MOST = 1000  # characters of what a student reads on a task; an exception's message can be of any length
WANTED = ("failed", "error", "not attempted", "missing")  # states in which an answer was looked for and is still wanted
HINTED = ("not attempted", "missing")  # those without an answer, which may have followed the hint


def number(value: float) -> int | float:
    """Return a number with at most two decimals, without ".0"."""
    rounded = round(float(value), 2)
    return int(rounded) if rounded == int(rounded) else rounded


def fitted(text: str) -> str:
    """Return a sentence of unknown origin cleaned, and cut if it is long."""
    return cut(clean(text), TEXT_AT_MOST)


# About a task


def verdicts(graded: Graded, tasks: list) -> Iterator[tuple]:
    """Yield (task, its Verdict, its Points) for each task, even if grading came to no verdict."""
    known = {  # a notebook says nothing about another lesson
        verdict.task: verdict
        for result in graded.results
        for verdict in result.verdicts
        if verdict.task.startswith(f"{result.lesson}.")
    }
    points = {points.task: points for points in graded.points}
    for task in tasks:
        its = points.get(task.id) or Points(task.id, 0, getattr(task, "points", 1))
        verdict = known.get(task.id) or _no_verdict(graded, task)
        if its.read:  # by a person, who may also give points for an answer that was never handed in
            state = "passed" if its.points >= its.possible else READ
            verdict = replace(verdict, state=state, message="Your instructor has read your answer.")
        yield task, verdict, its


def by_lesson(rows: Iterable[tuple]) -> list[tuple[str, list[tuple]]]:
    """Return (lesson, its rows) for each lesson, from the rows that `verdicts` gives."""
    return [(lesson, list(its)) for lesson, its in groupby(rows, key=lambda row: row[0].id.partition(".")[0])]


def _no_verdict(graded, task):
    lesson = task.id.partition(".")[0]
    files = [result for result in graded.results if result.file and result.lesson in (lesson, "")]
    if any(result.problem for result in files):
        return Verdict(task.id, "not run", message=f"No notebook of lesson {lesson} could be graded.")
    if any(result.lesson for result in files):
        nothing = f"No text cell begins with **{ANSWER} {task.id}:** and goes on." if isinstance(task, Written) else ""
        return Verdict(task.id, "missing", message=nothing)
    return Verdict(task.id, NOTHING)


def on_task(verdict: Verdict, points: Points) -> list[str]:
    """Return what a student reads about a task: why it has its state, then what explains the points, then what was noted."""
    by_hand = points.graded is not None
    set_so = f"Your instructor has set these points; the grading gave {number(points.graded)}." if by_hand else ""
    texts = (why(verdict), points.explanation, set_so, _comment_sentence(points.comment), verdict.note)
    return [text for text in texts if text]


def why(verdict: Verdict) -> str:
    """Return the sentence that tells a student why the task has this state; code is in backquotes."""
    lesson, _, name = verdict.task.partition(".")
    return fitted(verdict.message) or {
        "passed": "Right, on every input it was tried on.",
        "not attempted": "There was nothing to grade: `raise NotImplementedError` has not been replaced.",
        "missing": f"Nothing named `{name}` was found in the notebook.",
        "not run": "It could not be run.",
        TO_BE_READ: "Your instructor has not read your answer yet. Its points are still to come.",
        NOTHING: f"No notebook of lesson {lesson} was handed in.",
    }.get(verdict.state, "It is not right yet.")


def hint(task, verdict: Verdict) -> str:
    """Return the task's first hint if there is no answer, which may have followed it already; else ""."""
    return task.hints[0] if task.hints and verdict.state in HINTED else ""


def points_in_words(points: Points) -> str:
    """Return points as in "1.5 of 2 points"."""
    return f"{number(points.points)} of {number(points.possible)} point{'s' * (number(points.possible) != 1)}"


def from_instructor(points: Points) -> bool:
    """Return whether an instructor has set a task's points or said something about it."""
    return points.graded is not None or bool(points.comment) or points.read


# About all that a student handed in


def handed_in(graded: Graded) -> bool:
    """Return whether the student handed in any file."""
    return any(result.file for result in graded.results)


def passed_in_words(rows: list[tuple]) -> str:
    """Return a sentence such as "3 of 4 tasks passed.", from the rows that `verdicts` gives."""
    return f"{sum(verdict.state == 'passed' for _, verdict, _ in rows)} of {count(len(rows), 'task')} passed."


def on_the_whole(graded: Graded) -> list[str]:
    """Return the sentence on lateness and the instructor's comment, if there are any."""
    return [text for text in (graded.late, _comment_sentence(graded.comment)) if text]


def problems(graded: Graded, of_files: bool = False) -> list[str]:
    """Return why files could not be graded, each with its file, and, unless `of_files`, what was not handed in."""
    found = [result for result in graded.results if result.problem and (result.file or not of_files)]
    return [f"{result.file}: {result.problem}" if result.file else result.problem for result in found]


def notes(graded: Graded, kind: str) -> list[str]:
    """Return all "remarks", "suspicions", "noticed" or "requests" of a student's notebooks. Students see only remarks."""
    return [text for result in graded.results for text in getattr(result, kind)]


def requests(graded: Graded) -> list[tuple[str, bool]]:
    """Return the requests to look again at a task, and whether the instructor has said something about it or set its points."""
    answered = {points.task for points in graded.points if from_instructor(points)}
    return [(text, text.partition(":")[0] in answered) for text in dict.fromkeys(notes(graded, "requests"))]


def set_by_hand(graded: Graded) -> list[str]:
    """Return what an instructor has set beside what was graded, such as "03.attention: 4, graded 0"."""
    found = [f"{p.task}: {number(p.points)}, graded {number(p.graded)}" for p in graded.points if p.graded is not None]
    return found + ["extension"] * graded.late.startswith("Your deadline was extended")


def on_stranger(graded: Graded) -> list[str]:
    """Return what an instructor is told about a name that is not on the roster but resembles one that is."""
    name = graded.resembled
    return [
        f"Perhaps it belongs to {name}, who is on the roster, but only a whole name counts: if so, move it into a folder "
        f"called {name} and grade again."
    ] * bool(name)


def _comment_sentence(comment):
    return comment and f"Your instructor says: {comment}"
