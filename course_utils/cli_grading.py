"""What `course grade` takes, does and says: submissions in, results out.

Here: what a person at the keyboard sees, and the order of the steps. Not here: catching errors (`cli.py`), the work
itself (`grading/`), which is imported when it runs. Whatever is wrong is said in one sentence.
"""

import secrets
import sys
from collections import Counter
from pathlib import Path

UNSAFE = (
    "Unsafe: learners' code ran without locks. It could do whatever you may: read and change files, results and other "
    "submissions, use the network. Points can be forged."
)
WRITTEN = ("grades.csv", "class.html", "feedback/")


def add_grade(parser) -> None:
    """Add the arguments of `course grade`."""
    parser.add_argument("submissions", metavar="SUBMISSIONS", type=Path, help="notebooks, or a folder for each student")
    parser.add_argument(
        "--out", metavar="RESULTS", type=Path, required=True, help="the folder of results, made or gone on with"
    )
    parser.add_argument("--lessons", nargs="+", metavar="LESSON", help="such as 03 04; those handed in if left out")
    parser.add_argument(
        "--roster", metavar="FILE", type=Path, help="a CSV with a column student; also name, email, submitted"
    )
    parser.add_argument(
        "--settings", metavar="FILE", type=Path, help="a TOML file: points, tasks left out, late rule, limits"
    )
    parser.add_argument("--title", default="Attention course", help="the name of the assignment in gradebooks")
    parser.add_argument(
        "--seed", type=int, help="of the inputs that answers are tried on; a secret, drawn anew if left out"
    )
    parser.add_argument("--workers", type=int, help="notebooks graded at once; as many as cores if left out")
    parser.add_argument("--scheduler", metavar="ADDRESS", help="of a dask cluster that grades, such as tcp://host:8786")
    parser.add_argument("--unsafe", action="store_true", help="grade also where learners' code cannot be locked in")


def grade(options) -> int:
    """Grade, write the results, and say what came of it. 1 if a file could not be graded, else 0."""
    try:
        return _grade(options)
    except KeyboardInterrupt:
        print("\nStopped. The same command goes on where it stopped.", file=sys.stderr)
        raise


def _grade(options):
    from course_utils import tasks
    from course_utils.grading import cage
    from course_utils.grading.journal import Journal
    from course_utils.grading.points import read_settings
    from course_utils.grading.submissions import read_roster

    lessons = _lessons(options.lessons, tasks.by_lesson())
    if options.workers is not None and options.workers < 1:
        raise ValueError(f"--workers must be 1 or more, not {options.workers}.")
    if options.out.resolve() == options.submissions.resolve():
        raise ValueError(f"--out is the folder of the submissions: name another, such as {options.out / 'results'}.")
    settings = read_settings(options.settings)
    roster = read_roster(options.roster) if options.roster else {}
    files = sum(1 for _ in _found(options, roster))
    layers = cage.Layers() if options.scheduler else cage.chosen(options.unsafe)  # a cluster's workers have their own
    if _unsafe(options, layers):
        print(UNSAFE, file=sys.stderr)
    with Journal(options.out) as journal:
        seed = options.seed if options.seed is not None else journal.header.get("seed", secrets.randbits(128))
        journal.begin(seed, _locks(options, layers))
        keys = _fill(journal, options, roster, settings, layers, seed, files)
        notice = UNSAFE if _unsafe(options, layers) else ""
        return _write(journal, options, roster, settings, lessons, keys, notice)


def _locks(options, layers):
    """Which locks are on, for the journal."""
    said = "those of the cluster's workers" if options.scheduler else str(layers)
    return f"unsafe: {said}" if _unsafe(options, layers) else said


def _unsafe(options, layers):
    """Whether learners' code may run without locks. On a cluster each worker looks for itself what it has."""
    return options.unsafe and not layers.safe


def _found(options, roster):
    from course_utils.grading.submissions import find

    return find(options.submissions, roster, [options.out, *filter(None, (options.roster, options.settings))])


def _lessons(names, known):
    lessons = [name[:2] for name in names or ()]
    for lesson, name in zip(lessons, names or (), strict=True):
        if lesson not in known:
            raise ValueError(f"There is no lesson {name!r} with tasks: name some of {', '.join(known)}.")
    return sorted(set(lessons))


def _fill(journal, options, roster, settings, layers, seed, files):
    """Grade what the journal does not hold yet; the keys of all, in order of students and files."""
    from tqdm import tqdm

    from course_utils.grading.box import Limits
    from course_utils.grading.grader import result_key
    from course_utils.grading.pool import Plan, cores

    limits = Limits.from_settings(settings.limits)
    hidden = [options.submissions, options.out, *filter(None, (options.roster, options.settings))]
    plan = Plan(seed, layers, limits, tuple(str(Path(path).resolve()) for path in hidden), options.unsafe)
    keys, before = [], len(journal)

    def missing():
        for found in _found(options, roster):
            key = result_key(found, seed, limits, safe=not _unsafe(options, layers))
            keys.append(key)
            if key not in journal:
                yield found, key
            else:
                bar.update()

    with tqdm(desc="Graded", unit=" files", total=files, disable=not sys.stderr.isatty()) as bar:
        for result in _grading(options)(missing(), plan, options.workers or cores()):
            journal.add(result)
            bar.update()
    journal.sync()
    new = len(journal) - before
    print(
        f"{len(keys):,} files and students without any: {new:,} graded now, {len(keys) - new:,} taken from the journal."
    )
    return keys


def _grading(options):
    """What does the work: processes here, or a cluster's workers."""
    if options.scheduler:
        from course_utils.grading.cluster import grade_all

        return lambda found, plan, workers: grade_all(found, plan, options.scheduler)
    from course_utils.grading.pool import grade_all

    return grade_all


def _write(journal, options, roster, settings, lessons, keys, notice):
    from course_utils import tasks
    from course_utils.grading.class_page import class_page
    from course_utils.grading.gradebook import graded_class, lessons_of
    from course_utils.grading.journal import cannot_write
    from course_utils.grading.pages import write_feedback
    from course_utils.grading.results import replacing, write_all

    lessons = lessons or lessons_of(journal, keys)
    counted = [t for lesson in lessons for t in tasks.by_lesson()[lesson] if t.id not in settings.leave_out]

    def students():
        return graded_class(journal, keys, roster, settings, lessons)

    with cannot_write(options.out):
        write_all(options.out, students(), counted, options.title, journal.began)
        write_feedback(options.out / "feedback", students(), counted)
        with replacing(options.out / "class.html") as file:
            file.write(class_page(students(), counted, options.title, notice))
    problems = Counter(bool(r.problem) for student in students() for r in student.results if r.file)
    print(
        f"Lessons {', '.join(lessons) or 'none'}; {problems[True]:,} of {problems.total():,} files could not be graded."
    )
    print(f"Results: {options.out.as_posix()} ({', '.join(WRITTEN)}, and more). Begin with class.html.")
    return 1 if problems[True] else 0
