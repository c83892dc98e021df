"""What a learner's notebook calls: check, hint, solution, play, progress, predict, reveal."""

import ast
import re
import time
from dataclasses import dataclass, field
from dis import get_instructions
from functools import partial
from pathlib import Path

from course_utils.base.ascii_fallback import printable
from course_utils.base.errors import CourseError
from course_utils.base.paths import chosen
from course_utils.base.progress_bar import shown_while_waiting
from course_utils.checks import catalogue
from course_utils.checks.judge_answer import judge_answer
from course_utils.checks.question import Answered, shown
from course_utils.checks.report import Report, framed, headline, with_code
from course_utils.checks.running.isolated_state import warnings_stay_warnings
from course_utils.checks.running.run import code_of, kind_of_answer
from course_utils.learner import history, state
from course_utils.learner.progress_table import progress_table
from course_utils.learner.sandbox_warnings import sandbox_warnings

history.record_cells()  # as of the first import


class _LeftOut:
    def __repr__(self):  # as `help(check)` shows it
        return "left out"


LEFT_OUT = _LeftOut()
USES = {
    "check": '`check("02.softmax", softmax)`, or `check()` for the answer that you defined last',
    "hint": '`hint("02.softmax")`, or `hint()` for the task that you tried last',
    "solution": '`solution("02.softmax")`, or `solution()` for the task that you tried last',
    "play": '`play("02.softmax")`, or `play()` for the check that failed last',
    "progress": '`progress()`, `progress("03")` for one lesson, `progress(all=True)` for every lesson, or `progress(save="progress.json")` to take it with you and `progress(load="progress.json")` where you go on',
    "predict": '`predict("02.cold", 0.5)`',
    "reveal": '`reveal("02.cold", value)`',
}
AS_STORED = 0  # the seed of the options' order in a notebook as built
IN_YOUR_ORDER = "Each learner sees the options in an order of their own, and this is yours, which may differ from the one that the page showed: choose your letter here and run the cell again."


@dataclass
class Session:
    """What has happened since this kernel started; not stored in any file."""

    checked: str | None = None  # the task of the last check
    tried: str | None = None  # the same, ignoring checks that found a stub: Run All in a fresh notebook tries nothing
    took: dict = field(default_factory=dict)  # {task: (code of the answer checked last, wall-clock seconds)}
    failed: dict = field(default_factory=dict)  # {task: what `play` opens}, the latest at the end
    hinted: set = field(default_factory=set)  # the tasks for which a hint was shown
    # {prediction: guess}: what a cell shows depends on its notebook, never on who runs it.
    guesses: dict = field(default_factory=dict)


session = Session()


class Message:
    """A sentence to show: HTML in a notebook, text elsewhere."""

    def __init__(self, text, html=None):
        self.text, self.html = text, html or f"<div style='margin:.3em 0'>{with_code(text)}</div>"

    def __repr__(self):
        return printable(self.text)

    def _repr_html_(self):
        return printable(self.html)


class Code(Message):
    """Code to show: Markdown in a notebook, for the colours of its theme; text elsewhere."""

    def _repr_html_(self):
        return None  # a notebook would prefer it to Markdown

    def _repr_markdown_(self):
        return f"```python\n{self.text}\n```"


def check(task_id=None, answer=LEFT_OUT, *more, seed=None, seconds=10, keep=True, **unknown):
    """Check an answer, show the report and return it; None where there is nothing to report, as for an unknown task.

    Args:
        task_id: such as "02.softmax", or a question's id; if it is left out, the task that you defined a function for last.
        answer: the function you wrote, or the class; for a question a letter or a number. If it is left out, the function of the
            task's name is taken, and a question is shown.
        seed: another seed gives other inputs, and a question's options in another order.
        seconds: how long all the check's calls of your function may take together.
        keep: False for a demonstration, which does not count in `progress`.
    """
    history.record_cells()  # in case the notebook's shell started after the first import
    if more or unknown:
        return _wrong_use("check", task_id, answer, *more)
    if callable(task_id):  # check(softmax)
        name = getattr(task_id, "__name__", "")
        task_id, answer = answer if isinstance(answer, str) else _id_of_answer(name), task_id
        if task_id is None:
            return _show(Message(f"There is no task called `{name}`: write its id too, as in {USES['check']}."))
    task = _task(task_id, "check")
    if isinstance(task, Message):
        return _show(task)
    if not isinstance(task, catalogue.Task):
        return _check_question(task, None if answer is LEFT_OUT else answer, seed, keep)
    if not (
        isinstance(seconds, (int, float))
        and 0.01 <= seconds <= 86_400
        and (seed is None or type(seed) is int and 0 <= seed < 2**63)
    ):
        return _show(
            Message(
                f"check takes a whole number as seed, and a number of seconds above 0 and up to a day, not seed={shown(seed)} and seconds={shown(seconds)}."
            )
        )
    if answer is LEFT_OUT:
        if task.answer_name not in history.namespace():
            return _show(Message(f"There is no `{task.answer_name}` yet: run the cell that defines it, then this one."))
        answer = history.namespace()[task.answer_name]
    elif other := _answer_to_another(task, answer):
        return _show(
            Message(
                f'`{answer.__name__}` is the answer to {other}: for {task.id}, write `check("{task.id}", {task.answer_name})`. Nothing was checked.'
            )
        )
    began = time.monotonic()
    try:
        waiting = _waiting_line(task, answer, seconds)
        with shown_while_waiting(waiting), warnings_stay_warnings(), history.kernel_stays():
            report = judge_answer(task, answer, seed or 0, seconds)
    except KeyboardInterrupt:
        return _show(Message(f"The check of {task.id} was stopped before it had finished, so there is no result."))
    session.took[task.id] = code_of(answer), time.monotonic() - began
    if answer is None:  # as from a call of a function that returns nothing
        report.remark = (
            f"check was given None. Hand over {'the class' if task.module else 'the function'} itself, without brackets behind its name: "
            f'`check("{task.id}", {task.answer_name})`.'
        )
    cell = history.cell_of(answer)
    # A call with the wrong kind of answer, such as an instance of the class, says nothing about the answer itself.
    counts = report.state == "not attempted" or kind_of_answer(answer)[0] in task.answer_kinds
    counted = partial(_count_attempt, reached=report.state, cell=cell, borrowed=report.borrowed)
    entry = _change_entry(task.id, counted, keep and counts)
    session.checked = task.id
    if report.state != "not attempted":
        session.tried = task.id
    if report.state in ("failed", "error"):
        report.note = f"{_failed_below(task, answer)}{_next_step(task, entry)}"
        if {"exit", "quit"} & {*getattr(code_of(answer), "co_names", ())}:
            report.remark = f"Your {'class' if task.module else 'function'} calls `exit` or `quit`, which ends the whole program, here the notebook's kernel. Delete that call, and hand the result back with `return`."
    elif report.state == "passed":
        report.note = next(sandbox_warnings([cell]), "")
    _keep_failure(task, answer, report)
    if lost := history.unused_edit(answer):
        _show(Message(lost, f"<div style='margin:.3em 0'><strong>{with_code(lost)}</strong></div>"))
        if report.state == "not attempted":
            report.remark = "The earlier version holds no answer yet."
    return _show(report)


def _waiting_line(task, answer, seconds):
    """Return the line shown during a long check; if the same answer was checked before, it says how long that took."""
    line = f"Still checking your answer. It is stopped after {seconds:g} seconds of computing."
    before, took = session.took.get(task.id, (None, 0))
    if before is not None and before == code_of(answer):
        line += f" The last check of this answer took {took:.0f} seconds."
    return line


def _change_entry(task_id, alter, keep):
    """Alter the entry of a task and return it; if it is not to be kept, alter and return a copy."""
    if keep:
        return state.change(task_id, alter, _say)
    entry = dict(state.read(_say).get(task_id, {}))
    alter(entry)
    return entry


def _answer_to_another(task, answer):
    """Return the id of another task of the lesson if this is its answer and the notebook has an answer to this task, too; else ""."""
    name, known = getattr(answer, "__name__", ""), history.namespace()
    others = {each.answer_name: each.id for each in catalogue.by_lesson()[task.id[:2]] if each.id != task.id}
    both_are_here = known.get(name) is answer and known.get(task.answer_name) not in (None, answer)
    return others.get(name, "") if both_are_here else ""


def _count_attempt(entry, reached, cell="", borrowed=()):
    digest = state.answer_digest(cell) if cell else ""
    again = digest and (entry.get("cell"), entry.get("state")) == (digest, reached)  # as when all cells run again
    entry["state"] = reached
    entry.pop("borrowed", None)
    if borrowed:
        entry["borrowed"] = borrowed[0]
    if digest:
        entry["cell"] = digest
    entry["passed"] = entry.get("passed", False) or reached == "passed"
    entry["attempts"] = entry.get("attempts", 0) + (reached != "not attempted" and not again)


def _check_question(question, answer, seed, keep):
    """Show a question, and the verdict on an answer to it."""
    from_the_page = seed is None and keep
    seed = state.seed(_say) if seed is None else seed
    if type(seed) is not int or abs(seed) >= 2**63:
        return _show(Message(f"check takes a whole number as seed, not {shown(seed)}."))
    report = question.judge(answer, seed)
    options = question.options(seed)
    never_shown = from_the_page and question.id not in state.read(_say)
    if never_shown and report.state != "not attempted" and options != question.options(AS_STORED):
        report = Answered("not attempted", IN_YOUR_ORDER)
    _change_entry(question.id, lambda entry: _count_attempt(entry, report.state), keep)
    text = "\n".join(
        [
            headline(question.id, question.title, report.state),
            question.text,
            *(f"  {letter}) {option}" for letter, option in options),
            report.message,
        ]
    )
    items = "".join(f"<div style='margin:.2em 0'>{letter}) {with_code(option)}</div>" for letter, option in options)
    parts = [
        f"<p style='margin:.4em 0'>{with_code(question.text)}</p>",
        f"<div style='margin:.4em 0 .4em 1em'>{items}</div>" if items else "",
        f"<p style='margin:.4em 0'>{with_code(report.message)}</p>",
    ]
    return _show(Message(text, framed(question.id, question.title, report.state, parts)))


def _failed_below(task, answer):
    """Return a sentence if this answer calls the learner's answer to another task of the lesson whose last check failed; else ""."""
    code = code_of(answer)
    called = {step.argval for step in get_instructions(code) if step.opname == "LOAD_GLOBAL"} if code else set()
    for other in catalogue.by_lesson()[task.id[:2]]:
        name = other.answer_name
        is_own = getattr(history.namespace().get(name), "__module__", "") == "__main__"
        if (
            name in called
            and other.id != task.id
            and is_own
            and state.read(_say).get(other.id, {}).get("state") in ("failed", "error")
        ):
            return f"It calls your `{name}`, which failed the last check of {other.id}: look there first. "
    return ""


def _next_step(task, entry):
    seen = min(entry.get("hints", 0), len(task.hints))
    left = len(task.hints) - seen
    if left:
        return f'Stuck? `hint("{task.id}")` gives hint {seen + 1} of {len(task.hints)}.'
    return f'You have seen all hints. `solution("{task.id}")` shows a solution.'


def _keep_failure(task, answer, report):
    """Keep the input on which an answer failed for `play`, and have the report in a notebook mention it."""
    session.failed.pop(task.id, None)
    if report.case is None or not history.in_notebook():
        return
    from course_utils.learner.input_explorer import can_explore

    if can_explore(task, report):
        session.failed[task.id] = task, history.newest(answer), report.case
        if history.namespace().setdefault("play", play) is play:  # even if it is not imported
            report.note += " `play()` lets you change this input and see what comes."


def play(task_id=None, *more, **unknown):
    """Open the input on which a check failed as text to change, with what is expected and what your function returns beside it.

    Args:
        task_id: such as "02.softmax"; if it is left out, the task whose check failed last.
    """
    if more or unknown or not (task_id is None or isinstance(task_id, str)):
        return _wrong_use("play")
    if not history.in_notebook():
        return _show(Message("`play()` works in a notebook: it shows fields to write in."))
    if task_id is None:
        failed = state.read(_say).get(session.tried, {}).get("state") in ("failed", "error")
        task_id = next(reversed(session.failed), session.tried if failed else None)
        if task_id is None:
            return _show(
                Message("There is nothing to play with: `play()` opens the input on which a check has failed.")
            )
    if task_id not in session.failed:
        task = _task(task_id, "play")
        none = f"There is no input of {task_id} to play with: `play()` opens tensors and numbers on which its check has failed."
        return _show(task if isinstance(task, Message) else Message(none))
    from course_utils.learner.input_explorer import InputExplorer

    return _show(InputExplorer(*session.failed[task_id]))


def hint(task_id=None, *more, keep=True, **unknown):
    """Show the next hint for a task: first the idea, then an example worked with numbers, then pseudocode.

    Args:
        task_id: such as "02.softmax"; if it is left out, the task that you tried last.
        keep: False for a demonstration, which does not count in `progress`.
    """
    if more or unknown:
        return _wrong_use("hint")
    task = _task(task_id, "hint")
    if isinstance(task, Message):
        return _show(task)
    if not isinstance(task, catalogue.Task):
        return _show(Message(f"{task.id} is a question and has no hints: each wrong answer says why it is wrong."))
    # A hint cell that runs again after a restart shows the same hint as before.
    more = int(not keep or task.id in session.hinted or not state.read(_say).get(task.id, {}).get("hints"))
    session.hinted.add(task.id)
    entry = _change_entry(task.id, lambda e: e.update(hints=min(e.get("hints", 0) + more, len(task.hints))), keep)
    step, first = entry["hints"], "" if entry.get("attempts") else "Once you have tried it, "
    end = "" if step < len(task.hints) else f' That was the last one. {first}`solution("{task.id}")` shows a solution.'
    return _show(Message(f"Hint {step} of {len(task.hints)} for {task.id}. {task.hints[step - 1]}{end}"))


def solution(task_id=None, *more, force=False, **unknown):
    """Show a solution, once you have tried: after a check that did not say "not attempted", or with force=True."""
    if more or unknown:
        return _wrong_use("solution")
    task = _task(task_id, "solution")
    if isinstance(task, Message):
        return _show(task)
    if not isinstance(task, catalogue.Task):
        return _show(Message(f"{task.id} is a question: try an answer, and it says why that is right or wrong."))
    if not force and not state.read(_say).get(task.id, {}).get("attempts"):
        text = f'Try {task.id} first: write an answer and run its check. Then this shows a solution; `solution("{task.id}", force=True)` shows it at once.'
        return _show(Message(text))
    source = catalogue.solutions()[task.id]
    held_back = source.startswith("# ")  # a class that holds solutions back has a sentence instead of each
    return _show(Message(source.removeprefix("# ")) if held_back else Code(_without_docstring(source)))


def _without_docstring(code):
    """Return a solution without its docstring, which the learner already has in their own answer."""
    definition, lines = ast.parse(code).body[-1], code.splitlines()
    if ast.get_docstring(definition):
        text = definition.body[0]
        del lines[text.lineno - 1 : text.end_lineno]
    return "\n".join(lines)


def predict(prediction_id=None, guess=None, *more, **unknown):
    """Keep what you guess before a cell shows it, and show what is asked. There is no wrong guess, and none is graded.

    Args:
        prediction_id: such as "02.cold".
        guess: a number, or one of the choices that are offered; if it is left out, what is asked is shown.
    """
    prediction = _prediction(prediction_id, "predict", (guess, *more), unknown)
    if isinstance(prediction, Message):
        return _show(prediction)
    session.guesses.pop(prediction.id, None)  # whatever becomes of this guess, an earlier one is dropped
    if guess is None or guess is ...:
        return _show(Message(f"{prediction.text} Replace the dots with {prediction.wanted()}, then run the next cell."))
    value = prediction.read(guess)
    if value is None:
        return _show(Message(f"{prediction.text} Your guess should be {prediction.wanted()}, not {shown(guess)}."))
    session.guesses[prediction.id] = value
    text = f"{value:g}" if isinstance(value, float) else value
    return _show(Message(f"{prediction.text} Your guess is {text}. Run the next cell to see what comes out."))


def reveal(prediction_id=None, value=None, *more, **unknown):
    """Show the result, how far off your guess for `predict` in this notebook was, and why the result is what it is.

    Args:
        prediction_id: such as "02.cold".
        value: what was computed: a number, a tensor of one, or one of the prediction's choices.
    """
    prediction = _prediction(prediction_id, "reveal", (value, *more), unknown)
    if isinstance(prediction, Message):
        return _show(prediction)
    outcome = prediction.read(value)
    if outcome is None:
        return _show(Message(f"reveal takes {prediction.wanted()} for {prediction.id}, not {shown(value)}."))
    return _show(Message(prediction.compare(session.guesses.get(prediction.id), outcome)))


def _prediction(prediction_id, use, given, unknown):
    """Return the prediction with this id, or a Message that says what is wrong; `given` is everything passed after the id."""
    if len(given) > 1 or unknown or not isinstance(prediction_id, str):
        return _how_to_use(use, prediction_id, *given)
    try:
        return catalogue.load_prediction(prediction_id)
    except CourseError as error:
        return Message(str(error))


def progress(lesson=None, *more, all=False, save=None, load=None, **unknown):
    """Show how far you are in the lessons that you have begun and what comes next.

    Args:
        lesson: such as "03", to show only this lesson.
        all: True shows every lesson, including those that you have not begun.
        save: a file, such as "progress.json", to which your progress is written, so that you can continue elsewhere.
        load: such a file; for each task, the better of its result and the one stored here counts.
    """
    files = [file for file in (save, load) if file is not None]
    if more or unknown or type(all) is not bool or any(not file or not isinstance(file, (str, Path)) for file in files):
        return _wrong_use("progress")
    try:
        lessons = () if lesson is None else chosen([str(lesson)], catalogue.by_lesson())
    except CourseError as error:
        sentence = str(error)  # in lower case, as after `course:`
        return _show(Message(sentence[:1].upper() + sentence[1:]))
    try:
        _load_and_save(save, load)
    except CourseError as error:
        return _show(Message(str(error)))
    return _show(overall_progress(all, "progress(all=True)", lessons))


def overall_progress(all, to_see_all, lessons=()):
    """Return how far the learner is, as a Message; `to_see_all` is what to type to see every lesson. If `lessons` are given, only they are shown."""
    return Message(*progress_table(state.read(_say), all, to_see_all, lessons))


def _load_and_save(save, load):
    if load is not None:
        state.load(load, _say)
        _say(f"The progress in {load} has been added to yours.")
    if save is not None:
        state.save(save)
        name = Path(save).name
        _say(
            f'Your progress is in {save}. To go on elsewhere, put that file beside the notebook there and run `progress(load="{name}")`.'
        )


def _task(task_id, use):
    """Return the task or question with this id (for None, the one that is meant) or a Message that says what to write."""
    if task_id is None:
        task_id = _id_defined_last() if use == "check" else session.tried
        if task_id is None:
            return Message(_which_task(use))
    if not isinstance(task_id, str):
        return Message(f"A task is named by its id in quotes: {USES[use]}.")
    try:
        return catalogue.load(task_id)
    except CourseError as error:
        return Message(_ids_meant(task_id) or str(error))


def _which_task(use):
    """Return a question that asks which task is meant and suggests the first open one of the notebook's lesson, if any."""
    defined = _id_defined_last() or ""
    saved = state.read(_say)
    left = (task.id for task in catalogue.by_lesson().get(defined[:2], ()) if not saved.get(task.id, {}).get("passed"))
    if first := next(left, None):
        return f'Which task? You have not tried one since this kernel started. The first open one is {first}: write `{use}("{first}")`.'
    return f"Which task? Write {USES[use]}."


def _ids_meant(task_id):
    """Return a sentence for an id that lacks its lesson or has the wrong one; "" if no task has this name."""
    name = task_id.strip().rpartition(".")[2]
    ids = [task.id for of_lesson in catalogue.by_lesson().values() for task in of_lesson]
    meant = [f'"{known}"' for known in ids if known[3:] == name]
    if not meant:
        return ""
    return f'There is no task "{task_id}". An id begins with its lesson: did you mean {" or ".join(meant)}?'


def _id_defined_last():
    """Return the id of the task whose answer a cell defined last; None if none did."""
    name = history.last_defined(
        [task.answer_name for of_lesson in catalogue.by_lesson().values() for task in of_lesson]
    )
    return name and _id_of_answer(name)


def _id_of_answer(name):
    """Return the id of the task that a function or class of this name answers, preferably in the lesson checked last; None if there is none."""
    found = [task.id for of_lesson in catalogue.by_lesson().values() for task in of_lesson if task.answer_name == name]
    here = [task_id for task_id in found if session.checked and task_id[:2] == session.checked[:2]]
    return next(iter(here or found), None)


def _wrong_use(use, *given):
    return _show(_how_to_use(use, *given))


def _how_to_use(use, *given):
    """Say how to call a function that got wrong arguments; for a number with a decimal comma, how Python writes it."""
    if len(given) == 3 and isinstance(given[0], str) and type(given[1]) is int and type(given[2]) is int:
        name, whole, decimals = given
        call = f'{use}("{name}", {{}})'.format
        point, comma = call(f"{whole}.{decimals}"), call(f"{whole},{decimals}")
        return Message(f"Python writes a decimal number with a point: `{point}`. In `{comma}` it sees two numbers.")
    if use == "check" and given and re.fullmatch(r"\d\d\.q\d+", str(given[0])):
        return Message(
            f'Use it like this: `check("{given[0]}", …)`, with your letter in quotes or your number in place of the dots.'
        )
    return Message(f"Use it like this: {USES[use]}.")


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
