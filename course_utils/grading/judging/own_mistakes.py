"""Runs an instructor's own mistakes as answers run: in the sandbox. Their text comes from a file, and no file is code for the trusted side."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from course_utils.base.errors import CourseError
from course_utils.base.sanitise import clean, one_line
from course_utils.checks import catalogue
from course_utils.checks.expected import RunOwn
from course_utils.checks.instructor_mistakes import FILE, InstructorMistake, instructor_file
from course_utils.checks.running import contract
from course_utils.checks.running.contract import Case, Failure, Outcome, without_labels
from course_utils.checks.task import Mistake, Task
from course_utils.checks.try_instructor_mistakes import run_here, try_out
from course_utils.checks.validate_reply import is_valid_reply
from course_utils.grading.judging.budget import Limits
from course_utils.grading.judging.candidates import Candidates
from course_utils.grading.judging.notebook_run import AnswerRequest
from course_utils.grading.judging.sandbox_client import SandboxClient
from course_utils.grading.sandbox import policy

LIMITS = Limits()  # for trying a mistake: as for a notebook


def run_in(sandbox: SandboxClient) -> RunOwn:
    """Return the function that runs an instructor's own mistakes in a sandbox."""

    def run_own(task: Task, mistake: Mistake, cases: Sequence[Case]) -> list[Outcome]:
        request = AnswerRequest(
            task=task.id,
            name=task.answer_name,
            kinds=task.answer_kinds,
            cases=contract.pack([without_labels(case) for case in cases]),
            candidate=Candidates(task, cases) if task.candidates else None,
            offers=task.offers,
        )
        *failed, answer = sandbox.run_notebook([mistake.source], [request])
        if failed:
            return [Outcome("error", failure=Failure("Error", failed[0], kinds=("Exception",)))] * len(cases)
        valid = is_valid_reply(cases, answer.outcomes) and answer.outcomes
        return list(answer.outcomes) if valid else [Outcome("stopped")]

    return run_own


def use_own(file: Path | None, here: bool = False) -> list[InstructorMistake]:
    """Have this process use the mistakes of a file, or if none is named those that belong to the course; return them.

    `here`: whether they may run in this process. Raises `CourseError` for the first that cannot be read.
    """
    mistakes = catalogue.read_instructor_mistakes(file)
    catalogue.use_instructor_mistakes(mistakes, here)
    return mistakes


def source_in_words(mistakes: Sequence[InstructorMistake], file: Path | None) -> str:
    """Return a sentence on where mistakes come from. It also names a file in the current folder that is not read, as nobody has named it."""
    used = file or instructor_file()
    if mistakes and used:
        return f"Your own mistakes: {used}."
    if mistakes:
        return "Your own mistakes: those in this copy of the course."
    not_read = Path(FILE).is_file() and not (used and Path(FILE).samefile(used))
    add = f" The file {FILE} in this folder is not read: if it is yours, add `--mistakes {FILE}`." if not_read else ""
    return f"Your own mistakes: none.{add}"


def must_be_of_use(mistakes: Sequence[InstructorMistake], layers: policy.Layers | None, file: Path | None) -> None:
    """Try mistakes as `tried` does. Raises `CourseError` for the first that is of no use."""
    for _, problem in tried(mistakes, layers, file):
        if problem:
            raise CourseError(problem)


def tried(
    mistakes: Sequence[InstructorMistake], layers: policy.Layers | None, file: Path | None = None
) -> Iterator[tuple[str, str]]:
    """Yield for each mistake (what a check says, ""), or else ("", what is wrong with the mistake).

    Args:
        mistakes: those that this process uses.
        layers: the locks of the sandbox that they run in; None to run them in this process.
        file: where they were read, if it was named.
    """
    where = file or instructor_file() or FILE
    with _runner(mistakes, layers) as run_own:
        for own in mistakes:
            try:
                yield f"{own.task}, {own.name}: {clean(try_out(own, run_own))}", ""
            except CourseError as problem:
                yield "", f"{where}, {one_line(str(problem))}"


def layers_here() -> policy.Layers | None:
    """Return the locks of this machine; None if they are too few, as on Windows or a Mac."""
    layers = policy.available()
    return layers if layers.safe else None


@contextmanager
def _runner(mistakes, layers):
    """Yield the function that runs mistakes: in a new sandbox, unless none has code or there are no locks."""
    if layers is None or not any(own.source for own in mistakes):
        yield run_here
        return
    with SandboxClient(layers, LIMITS) as sandbox:
        yield run_in(sandbox)
