"""`course submit`: writes the file that a learner hands in (`workspace/submission.py`)."""

from datetime import datetime
from pathlib import Path

from course_utils.base.errors import CourseError
from course_utils.base.paths import workspace_folder
from course_utils.commands._arguments import quoted

WORDS = "Write the file to hand in for a lesson, and say what is missing in it."
HERE = {"answered": "answered", "not attempted": "not attempted yet", "missing": "missing", "not Python": "not Python"}


def add_arguments(parser) -> None:
    """Add the lesson and --file."""
    parser.add_argument("lessons", metavar="LESSON", nargs="+", help="such as 03 or 03_queries_keys_values")
    words = (
        "the notebook (.ipynb) with your answers, such as one from Colab; your own copy of the exercises if left out"
    )
    parser.add_argument("--file", metavar="NOTEBOOK", type=Path, help=words)


def run(options) -> int:
    """Write each lesson's file and say what is in it and where it is; 1 if one has no answer and an earlier file stays."""
    if options.file and len(options.lessons) > 1:
        raise CourseError(
            f"--file names the notebook of one lesson, not of {len(options.lessons)}: hand them in one by one."
        )
    root = workspace_folder()
    from course_utils.workspace.copies import rename_old

    rename_old(root)
    return max([_submit(root, lesson, options.file) for lesson in options.lessons])


def _submit(root, lesson, file):
    from course_utils.workspace.copies import say_what_is_newer
    from course_utils.workspace.submission import CHANGED, submit

    done = submit(root, lesson, file)
    width = max(len(row.task) for row in done.rows)
    for row in done.rows:
        checked = f"its last check: {row.checked}" if row.checked else "never checked here"
        if row.checked == CHANGED:
            checked = "not checked since it or its task changed"
        print(f"  {row.task:{width}}  {HERE[row.here]:17}  {checked}")
    for remark in done.remarks:
        print(remark)
    if file is None:
        say_what_is_newer(root, done.path.stem)
    if done.stays:
        put_right = "put right what is named above, save the notebook, and run this again"
        put_right += ", or name another notebook" if file else ""
        print(
            f"{done.source} holds no answer that counts, so the file that you have handed in before stays as it was: {put_right}."
        )
        return 1
    answered = sum(row.here == "answered" for row in done.rows)
    saved = datetime.fromtimestamp(done.source.stat().st_mtime).strftime("%H:%M on %d %B")
    failed = sum(row.here == "answered" and row.checked in ("failed", "error") for row in done.rows)
    but = f", {failed} of them failed the last check," * bool(failed)
    print(f"{answered} of {len(done.rows)} tasks answered{but} in {done.source.name}, as it was saved at {saved}.")
    if not answered:
        print(
            "So there is nothing to grade yet: answer a task, save the notebook, and run this again before you hand in."
        )
    print(f"The file to hand in: {quoted(done.path)}")
    return 0
