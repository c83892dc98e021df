"""What `course release` and `course export` take and say: exercises to hand out, a course for nbgrader.

Here: what a person at the keyboard sees. Not here: catching errors (`cli.py`), the work itself (`grading/`), which each
imports when it runs: `cli.py` imports this file for every command. Whatever is wrong is a `ValueError` of one sentence.
"""

from pathlib import Path

RELEASED = Path("released")  # in the current folder


def add_release(parser) -> None:
    """Add the arguments of `course release`."""
    parser.add_argument("lessons", nargs="+", metavar="LESSON", help="such as 03 or 03_queries_keys_values")
    words = "where each lesson gets a folder; released/ if left out"
    parser.add_argument("--out", metavar="DIR", type=Path, default=RELEASED, help=words)
    _add_both(parser)


def release(options) -> int:
    """Write exercises to hand out, and say where they lie."""
    from course_utils.cli_training import quoted
    from course_utils.grading import release
    from course_utils.grading.points import read_settings

    settings = read_settings(options.settings)
    notebooks = release.release(release.course_folder(), options.lessons, options.out, settings, options.force)
    for notebook in notebooks:
        print(f"To hand out: {quoted(notebook.parent)} ({notebook.name} and README.md, how to hand in)")
    return 0


def add_export(parser) -> None:
    """Add the arguments of `course export`."""
    parser.add_argument("form", metavar="FORM", help="nbgrader")
    parser.add_argument("out", metavar="DIR", type=Path, help="the folder of the course to be")
    parser.add_argument("lessons", nargs="*", metavar="LESSON", help="such as 03; all if left out")
    _add_both(parser)


def export(options) -> int:
    """Write a course for nbgrader, and say how to go on with it."""
    from course_utils.cli_training import quoted
    from course_utils.grading import nbgrader_export, release
    from course_utils.grading.points import read_settings

    if options.form != "nbgrader":
        raise ValueError(f"course export knows one form, nbgrader, not {options.form!r}.")
    root, settings = release.course_folder(), read_settings(options.settings)
    notebooks = nbgrader_export.export(root, options.lessons, options.out, settings, options.force)
    names = [notebook.parent.name for notebook in notebooks]
    print(f"A course for nbgrader lies in {quoted(options.out)}; its assignments: {', '.join(names)}.")
    print(f"Go on there with `nbgrader generate_assignment {names[0]}`.")
    return 0


def _add_both(parser):
    words = "the class's points and late rule, one small TOML file; the tasks' own points if left out"
    parser.add_argument("--settings", metavar="FILE", type=Path, help=words)
    parser.add_argument("--force", action="store_true", help="also over files that hold something else")
