"""What a learner's notebook calls: check, hint, solution, progress."""

from html import escape

from course_utils import tasks
from course_utils.base.errors import CourseError
from course_utils.checks.answer import judge_answer
from course_utils.checks.report import SYMBOLS, Report, with_code
from course_utils.learner import state


class Message:
    """A sentence or a piece of code to show: HTML in a notebook, text elsewhere."""

    def __init__(self, text, html=None):
        self.text, self.html = text, html or f"<div style='margin:.3em 0'>{with_code(text)}</div>"

    def __repr__(self):
        return self.text

    def _repr_html_(self):
        return self.html


def check(task_id, answer, seed=0, seconds=10):
    """Check an answer, show the report and return it; None where there is nothing to report, as for an unknown task.

    Args:
        task_id: such as "02.softmax".
        answer: the function you wrote, or anything that can be called like it.
        seed: another seed gives other inputs.
        seconds: how long all the check's calls of your function may take together.
    """
    task = _find(task_id)
    if not isinstance(task, tasks.Task):
        return _show(task)
    if not (isinstance(seconds, (int, float)) and seconds > 0 and isinstance(seed, int)):
        return _show(
            Message(
                f"check takes a whole number as seed and seconds above 0, not seed={seed!r} and seconds={seconds!r}."
            )
        )
    try:
        report = judge_answer(task, answer, seed, seconds)
    except KeyboardInterrupt:
        return _show(Message(f"The check of {task.id} was stopped before its end: it says nothing."))

    def count(entry):
        entry["state"] = report.state
        entry["passed"] = entry.get("passed", False) or report.state == "passed"
        entry["attempts"] = entry.get("attempts", 0) + (report.state != "not attempted")

    entry = state.change(task.id, count, _say)
    if report.state in ("failed", "error"):
        report.note = _way_on(task, entry)
    return _show(report)


def _way_on(task, entry):
    seen = min(entry.get("hints", 0), len(task.hints))
    left = len(task.hints) - seen
    if left:
        return f'Stuck? `hint("{task.id}")` gives hint {seen + 1} of {len(task.hints)}.'
    return f'You have seen all hints. `solution("{task.id}")` shows an answer.'


def hint(task_id):
    """Show the next hint for a task: first the idea, then the formula with shapes, then pseudocode."""
    task = _find(task_id)
    if not isinstance(task, tasks.Task):
        return _show(task)
    step = state.change(task.id, lambda e: e.update(hints=min(e.get("hints", 0) + 1, len(task.hints))), _say)["hints"]
    more = "" if step < len(task.hints) else f' That was the last one; `solution("{task.id}")` shows an answer.'
    return _show(Message(f"Hint {step} of {len(task.hints)} for {task.id}. {task.hints[step - 1]}{more}"))


def solution(task_id, force=False):
    """Show an answer, once you have tried: after a check that did not say "not attempted", or with force=True."""
    task = _find(task_id)
    if not isinstance(task, tasks.Task):
        return _show(task)
    if not force and not state.read(_say).get(task.id, {}).get("attempts"):
        text = f'Try {task.id} first: run its check on an answer of yours. `solution("{task.id}", force=True)` shows one all the same.'
        return _show(Message(text))
    code = tasks.answers()[task.id]
    return _show(
        Message(
            code,
            f"<pre aria-label='an answer to {task.id}' style='overflow-x:auto;font-family:monospace'>{escape(code)}</pre>",
        )
    )


def progress():
    """Show a table of lessons and tasks and how far you are."""
    kept, rows = state.read(_say), []
    for lesson, lesson_tasks in tasks.by_lesson().items():
        for task in lesson_tasks:
            entry = kept.get(task.id, {})
            reached = "passed" if entry.get("passed") else entry.get("state", "not attempted")
            rows.append((lesson, task.id, task.title, reached, entry.get("attempts", 0), entry.get("hints", 0)))
    done = sum(row[3] == "passed" for row in rows)
    return _show(Message(_progress_text(rows, done), _progress_html(rows, done)))


def _progress_text(rows, done):
    lines = [f"{SYMBOLS[reached]} {id:26} {reached:14} attempts {a:2}  hints {h}" for _, id, _, reached, a, h in rows]
    return "\n".join([f"{done} of {len(rows)} tasks passed", *lines])


def _progress_html(rows, done):
    body = "".join(
        f"<tr><td style='text-align:left'>{id}</td><td style='text-align:left'>{escape(title)}</td>"
        f"<td style='text-align:left;white-space:nowrap'>{SYMBOLS[reached]} {reached}</td><td>{a}</td><td>{h}</td></tr>"
        for _, id, title, reached, a, h in rows
    )
    head = "".join(
        f"<th scope='col' style='text-align:left'>{t}</th>" for t in ("task", "what", "state", "attempts", "hints")
    )
    return f"<table><caption style='text-align:left'>{done} of {len(rows)} tasks passed</caption><tr>{head}</tr>{body}</table>"


def _find(task_id):
    """Return the task of that id, or a Message that says which there are."""
    try:
        return tasks.load(task_id)
    except CourseError as error:
        return Message(str(error))


def _say(sentence):
    _show(Message(sentence))


def _show(thing):
    """Display in a notebook, print elsewhere. Returns a Report, which a notebook does not show a second time, else None."""
    try:
        from IPython import get_ipython
        from IPython.display import display
    except ImportError:
        print(thing)
    else:
        (display if get_ipython() else print)(thing)
    return thing if isinstance(thing, Report) else None
