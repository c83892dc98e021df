"""What tests of tasks share: every task, the course's own answers, also altered, and what is said of an answer."""

import functools
import linecache

from course_utils.base.errors import CourseError
from course_utils.checks import catalogue
from course_utils.checks import judge_answer as judging
from course_utils.checks.catalogue import solutions
from course_utils.checks.changed_solution import refuse_undefined
from course_utils.checks.judge import judge
from course_utils.checks.running.contract import without_labels
from course_utils.checks.running.run import kind_of_answer, marked, run
from course_utils.checks.solutions import imports_of

# On a busy machine, too: time is tried in test_run.py.
judge_answer = functools.partial(judging.judge_answer, seconds=60)
TASKS = {task.id: task for lesson in catalogue.by_lesson().values() for task in lesson}


def solution_of(task_id):
    """The course's own answer, run from the text that `solution` shows."""
    return answer_of(task_id, solutions()[task_id])


def answer_of(task_id, code, cell="<answer>"):
    """The answer that a cell holds, run below the imports of its lesson's exercises."""
    space = {}
    exec(imports_of(task_id), space)
    exec(compile(code, cell, "exec"), space)
    return space[TASKS[task_id].answer_name]


def altered(task_id, *changes):
    """The course's own answer with pieces of its text changed, (old, new) for each, as a cell of a notebook holds it."""
    code, cell = solutions()[task_id], f"<cell {task_id} {changes}>"
    for old, new in changes:
        assert old in code
        code = code.replace(old, new, 1)
    linecache.cache[cell] = (len(code), None, code.splitlines(True), cell)
    return answer_of(task_id, code, cell)


def judge_briefly(task, answer, expected, seconds=60):
    """The report on an answer, without the search for a relation to the right values, which takes long."""
    if kind_of_answer(answer)[0] not in task.answer_kinds:
        return judge_answer(task, answer)
    outcomes = run(answer, list(map(without_labels, expected.cases)), seconds, lambda key: marked(task.candidate(key)))
    return judge(task, expected.cases, outcomes, expected, explaining=False)


def assert_mistakes_can_be_made(task):
    for mistake in task.mistakes:
        if mistake.changes:
            source = task.source(mistake)
            try:
                refuse_undefined(source, vars(task.home))
            except CourseError as problem:
                raise CourseError(f"{task.place(mistake)}: {problem}.") from None
        assert mistake.changes or mistake.function, (
            f"{task.place(mistake)} has neither a change nor a function: "
            "indent its change by four spaces, or register a function below @task.mistake()"
        )


def as_answer(task, function):
    """A function as what a task asks for: where that is a class of modules, one with the parameters that the exercise gives."""
    if not task.module or isinstance(function, type):
        return function
    given = solution_of(task.id)

    class Answer(given):
        def __init__(self, **sizes):
            super().__init__(**sizes)
            self.sizes = sizes

        def forward(self, *inputs):
            return function(self.sizes, dict(self.named_parameters()), *inputs)

    return Answer
