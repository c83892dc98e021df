"""Grades a class, from a folder of submissions to gradebooks and pages of feedback: `grade_class`.

    what_to_grade    the settings, the roster, the files, the locks: anything wrong with them is reported before anything runs
    which_lessons    those that count: named, in the journal, or handed in by the class
    fill_journal     grades and keeps each file that is not in the journal yet
    write_results    points, gradebooks, feedback and the class's page, from the journal alone

Nothing here prints or reads a command line: `commands/grade.py` does both.
"""

import secrets
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

from course_utils.base.errors import CourseError
from course_utils.base.files import opened
from course_utils.base.paths import chosen
from course_utils.checks import catalogue
from course_utils.checks.instructor_mistakes import InstructorMistake, packed
from course_utils.grading.ingest.class_settings import Settings, read_settings
from course_utils.grading.ingest.lessons import count_lessons, guess_lessons, worth_running
from course_utils.grading.ingest.overrides import Override, must_have_effect, read_overrides
from course_utils.grading.ingest.roster import read_roster
from course_utils.grading.ingest.submissions import Found, find
from course_utils.grading.ingest.written_answers import Written
from course_utils.grading.judging import own_mistakes, pool
from course_utils.grading.judging.budget import Limits
from course_utils.grading.judging.notebook_grader import read_once, result_key
from course_utils.grading.reports.class_page import class_page
from course_utils.grading.reports.class_results import graded_class
from course_utils.grading.reports.exports import write_all
from course_utils.grading.reports.pages import write_feedback, write_in_words
from course_utils.grading.sandbox import policy
from course_utils.grading.storage.journal import Journal, cannot_write
from course_utils.grading.storage.record import Person

LEAST_SEED = 2**96  # a smaller one can be found by trial, and whoever has it knows the inputs
FOLDERS = ("feedback", "gradescope")  # written to in the folder of results
UNSAFE = (
    "Unsafe: learners' code ran without locks. It could do whatever you may: read and change files, results and other "
    "submissions, use the network. Points can be forged."
)


@dataclass(frozen=True)
class GradingJob:
    """What is graded, and how."""

    submissions: Path
    out: Path
    lessons: list[str]  # that count, as "03"; [] until `which_lessons` has found them
    settings: Settings
    roster: dict[str, Person]
    overrides: dict[str, Override]
    layers: policy.Layers
    scheduler: str | None  # of a dask cluster; None grades on this machine
    unsafe: bool  # whether a machine without locks may grade
    beside: tuple[Path, ...]  # the instructor's files, which may be among the submissions
    found: list[Found]  # each student's files, and students without any
    mistakes: list[InstructorMistake]  # the instructor's own
    mistakes_from: Path | None  # the file that was named for them
    why_lessons: str = ""  # a note on them, if several were handed in and none was named

    @property
    def counted(self) -> list:
        """The tasks and questions that count."""
        return [task for lesson in self.lessons for task in self.settings.counted(lesson)]

    @property
    def files(self) -> int:
        """How many files were handed in."""
        return sum(bool(one.file) for one in self.found)

    @property
    def mistakes_in_words(self) -> str:
        """Where the instructor's own mistakes come from."""
        return own_mistakes.source_in_words(self.mistakes, self.mistakes_from)

    @property
    def without_locks(self) -> bool:
        """Whether learners' code may run without locks. On a cluster, each worker checks its own locks."""
        return self.unsafe and not self.layers.safe

    @property
    def locks_in_words(self) -> str:
        """Which locks are on, for the journal."""
        layers = "those of the cluster's workers" if self.scheduler else str(self.layers)
        return f"unsafe: {layers}" if self.without_locks else layers


@dataclass(frozen=True)
class GradingSummary:
    """The outcome of grading a class."""

    handed_in: int  # files
    new: int  # of these, graded now rather than taken from the journal
    lessons: list[str]  # that count
    problems: int  # files that could not be graded
    strangers: int  # students who handed in but are not on the roster, if there is one


def grade_class(
    submissions: Path,
    out: Path,
    *,
    lessons: list[str] | None = None,
    roster: Path | None = None,
    settings: Path | None = None,
    overrides: Path | None = None,
    mistakes: Path | None = None,
    title: str = "",
    seed: int | None = None,
    workers: int | None = None,
    scheduler: str | None = None,
    unsafe: bool = False,
    begin: Callable[[GradingJob], None] = lambda what: None,
    step: Callable[[], None] = lambda: None,
    graded: Callable[[int, int], None] = lambda new, taken: None,
) -> GradingSummary:
    """Grade the submissions and write the results; what an earlier, interrupted call has graded is not graded again.

    Args:
        submissions: notebooks, or a folder for each student.
        out: the folder of results, created or continued.
        lessons: such as ["03"]; None for the journal's, or else those that many students have handed in.
        roster: a CSV file with the class.
        settings: a TOML file with points, tasks left out, the late rule, limits.
        overrides: a CSV file with what is set by hand: points, extensions, comments.
        mistakes: a file of the instructor's own mistakes; None for the one beside the course's code, if there is one.
        title: the name of the assignment in gradebooks; "" for the lessons' own.
        seed: of the inputs that answers are tried on, a secret of 128 bits; None takes the journal's, or draws one.
        workers: notebooks graded at once; None for one per core.
        scheduler: the address of a dask cluster to grade on.
        unsafe: grade even if learners' code cannot be locked in.
        begin: called once with what is to be graded, before anything runs.
        step: called after each file.
        graded: called before the results are written, with how many files were graded now, and how many taken from the journal.

    Raises:
        CourseError: one sentence on what is wrong with the arguments, the files or the machine.
    """
    if workers is not None and workers < 1:
        raise CourseError(f"--workers must be 1 or more, not {workers}.")
    if seed is not None and not LEAST_SEED <= seed < 2**128:
        raise CourseError(
            "the seed must be a random number of 128 bits, as secrets.randbits(128) gives: whoever tries out a small one "
            "knows the inputs. Leave it out, and one is drawn and kept."
        )
    what = what_to_grade(submissions, out, lessons, roster, settings, scheduler, unsafe, overrides, mistakes)
    with Journal(what.out) as journal:
        what = which_lessons(what, journal)
        must_have_effect(what.overrides, what.counted, what.settings)
        begin(what)
        if (
            layers := own_mistakes.layers_here() if scheduler else what.layers
        ):  # useless ones are reported before hours of grading
            own_mistakes.must_be_of_use(what.mistakes, layers, what.mistakes_from)
        if seed is None:
            seed = journal.header.get("seed", LEAST_SEED + secrets.randbelow(2**128 - LEAST_SEED))
        journal.begin(seed, what.locks_in_words, what.lessons)
        keys, new, taken = fill_journal(journal, what, seed, workers or pool.cores(), step)
        graded(new, taken)
        count = write_results(journal, keys, what, title)
        return GradingSummary(what.files, new, what.lessons, count["problems"], count["strangers"])


def what_to_grade(
    submissions, out, lessons, roster, settings, scheduler, unsafe, overrides=None, mistakes=None
) -> GradingJob:
    """Read and validate the arguments of `grade_class`. Raises `CourseError`."""
    submissions, out = Path(submissions), Path(out)
    if mistakes and Path(mistakes).resolve().is_relative_to(submissions.resolve()):
        raise CourseError(f"{mistakes} lies among the submissions: move your own mistakes out of them.")
    own = own_mistakes.use_own(mistakes)
    numbers = chosen(lessons or (), catalogue.by_lesson(), " with tasks")
    if out.resolve().is_relative_to(submissions.resolve()):
        raise CourseError(
            f"--out lies among the submissions, where a student could put files into it: name a folder beside them, such as "
            f"{submissions.resolve().parent / 'results'}."
        )
    for folder in (out / name for name in FOLDERS):
        if folder.is_symlink():  # it may lead anywhere, and the folder is handed out
            raise CourseError(f"{folder} is a link, which is not written through: remove it, or choose another --out.")
    beside = tuple(filter(None, (roster, settings, overrides, mistakes)))
    read = read_settings(settings)
    people = read_roster(roster, read) if roster else {}
    found = list(find(submissions, people, [out, *beside]))
    by_hand = read_overrides(overrides, {each.student for each in found}, read) if overrides else {}
    layers = policy.Layers() if scheduler else policy.chosen(unsafe)  # a cluster's workers have their own
    return GradingJob(
        submissions, out, numbers, read, people, by_hand, layers, scheduler, unsafe, beside, found, own, mistakes
    )


def which_lessons(what: GradingJob, journal: Journal) -> GradingJob:
    """Return the job with the lessons that count: those named, else the journal's, else those that many students handed in."""
    if what.lessons:
        return what
    lessons = [lesson for lesson in journal.header.get("lessons", []) if lesson in catalogue.by_lesson()]
    if lessons:
        return replace(what, lessons=lessons)
    count = count_lessons(what.found)
    lessons = guess_lessons(count)
    if len(count) < 2:
        return replace(what, lessons=lessons)
    others = [f"lesson {lesson} by {count[lesson]}" for lesson in sorted(count) if lesson not in lessons]
    why = f"The notebooks are for several lessons. Those that count: {', '.join(lessons)}."
    if others:
        why += f" Handed in by few, and not counted: {', '.join(others)}. To count others, name all with --lessons."
    return replace(what, lessons=lessons, why_lessons=why)


def fill_journal(
    journal: Journal, what: GradingJob, seed: int, workers: int, step: Callable[[], None]
) -> tuple[list[str], int, int]:
    """Grade what is not in the journal yet.

    Return all keys, in order of students and files, how many files were graded now, and how many the journal had.
    """
    limits, options_seed, keys = Limits.from_settings(what.settings.limits), what.settings.options_seed, []
    hidden = tuple(str(Path(path).resolve()) for path in (what.submissions, what.out, *what.beside))
    plan = pool.Plan(seed, what.layers, limits, hidden, what.unsafe, options_seed, packed(what.mistakes))
    count = Counter()

    def note(kind, file):
        if file:  # a student without one is a row, not a file
            count[kind] += 1
            step()

    def missing():
        for found in map(read_once, worth_running(what.found, what.lessons)):
            key = result_key(found, seed, limits, not what.without_locks, options_seed)
            keys.append(key)
            if key not in journal:
                yield found, key
            else:
                note("taken", found.file)

    for result in _grading(what, workers)(missing(), plan):
        journal.add(result)
        note("new", result.file)
    journal.sync()
    return keys, count["new"], count["taken"]


def _grading(what, workers):
    """Return the function that grades, with processes here or a cluster's workers."""
    if what.scheduler:
        from course_utils.grading.judging import cluster  # dask is an extra

        return lambda found, plan: cluster.grade_all(found, plan, what.scheduler)
    return lambda found, plan: pool.grade_all(found, plan, workers)


def write_results(journal: Journal, keys: list[str], what: GradingJob, title: str) -> Counter:
    """Write all results; return how many files could not be graded, and how many students are strangers."""
    title = title or _title(what.lessons)
    counted = what.counted

    def students():
        return graded_class(journal, keys, what.roster, what.settings, what.lessons, what.overrides)

    with cannot_write(what.out):
        _remove_drafts(what.out)
        write_all(what.out, students(), counted, title, journal.began, what.settings.canvas)
        write_feedback(what.out, students(), counted)
        files = {(one.student, one.file): one.path for one in what.found}
        write_in_words(what.out, students, [each for each in counted if isinstance(each, Written)], files)
        with opened(what.out / "class.html") as file:
            file.write(class_page(students(), counted, title, UNSAFE if what.without_locks else ""))
    count = Counter()
    for student in students():
        problems = sum(bool(result.problem) for result in student.results if result.file)
        count.update(problems=problems, strangers=student.stranger)
    return count


def _title(lessons):
    """Return the name of an assignment: a lesson's title, or the numbers of several."""
    if len(lessons) == 1:
        return f"Lesson {lessons[0]}: {catalogue.lessons()[lessons[0]].title}"
    return f"Attention course, lessons {', '.join(lessons)}" if lessons else "Attention course"


def _remove_drafts(out):
    """Remove drafts that a killed run has left behind. The journal's lock keeps others from writing here."""
    for folder in (out, *(out / name for name in FOLDERS)):
        for draft in folder.glob(".*.tmp"):
            draft.unlink(missing_ok=True)
    # From an earlier version; it would show students each other's points.
    (out / "feedback" / "index.html").unlink(missing_ok=True)
