"""`course export`: writes the course for another grader, nbgrader (`grading/handing_out/nbgrader.py`)."""

from pathlib import Path

from course_utils.base.errors import CourseError
from course_utils.base.places import course_folder
from course_utils.commands._arguments import add_handing_out, quoted

WORDS = "Write a course for another grader: nbgrader."


def add_arguments(parser) -> None:
    """Add the form, the folder, the lessons, --settings and --force."""
    parser.add_argument("form", metavar="FORM", help="nbgrader")
    parser.add_argument("out", metavar="DIR", type=Path, help="the folder of the course to be")
    parser.add_argument("lessons", nargs="*", metavar="LESSON", help="such as 03; all if left out")
    add_handing_out(parser)


def run(options) -> int:
    """Write a course for nbgrader, and say how to go on with it."""
    from course_utils.grading.handing_out import nbgrader
    from course_utils.grading.reading.settings import read_settings

    if options.form != "nbgrader":
        raise CourseError(f"course export knows one form, nbgrader, not {options.form!r}.")
    root, settings = course_folder(), read_settings(options.settings)
    notebooks = nbgrader.export(root, options.lessons, options.out, settings, options.force)
    names = [notebook.parent.name for notebook in notebooks]
    print(f"A course for nbgrader lies in {quoted(options.out)}; its assignments: {', '.join(names)}.")
    print(f"Go on there with `nbgrader generate_assignment {names[0]}`.")
    return 0
