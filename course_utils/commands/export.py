"""`course export`: writes the course for another grader, nbgrader or Gradescope (`grading/handing_out/`)."""

from pathlib import Path

from course_utils.base.errors import CourseError
from course_utils.base.paths import own_course_folder
from course_utils.base.words import did_you_mean
from course_utils.commands._arguments import add_handing_out, quoted, use_mistakes

WORDS = "Write the course for another grader: nbgrader or Gradescope."


def add_arguments(parser) -> None:
    """Add the form, the folder, the lessons, --settings, --mistakes and --force."""
    parser.add_argument("form", type=form, metavar="FORM", help="nbgrader or gradescope")
    parser.add_argument("out", metavar="DIR", type=Path, help="the folder that is written")
    parser.add_argument("lessons", nargs="*", metavar="LESSON", help="such as 03; all if left out")
    add_handing_out(parser)


def form(text: str) -> str:
    """Return a known form. Raises `CourseError` for others; for Canvas and Moodle, which only import a table, it says where that is."""
    if text in ("canvas", "moodle"):
        raise CourseError(
            f"{text.title()} needs no export: `course grade` writes {text}.csv into its folder of results, as in "
            f"results/{text}.csv, and in {text.title()} you choose it under Grades, Import."
        )
    if text not in FORMS:
        raise CourseError(
            f"course export knows the forms {' and '.join(FORMS)}, not {text!r}{did_you_mean(text, FORMS)}."
        )
    return text


def run(options) -> int:
    """Write the course in the chosen form and say what to do next."""
    root = own_course_folder()
    from course_utils.grading.ingest.class_settings import read_settings

    settings = read_settings(options.settings)
    use_mistakes(options)
    FORMS[options.form](root, options, settings)
    return 0


def _nbgrader(root, options, settings):
    from course_utils.grading.handing_out import nbgrader

    notebooks = nbgrader.export(root, options.lessons, options.out, settings, options.force)
    names = [notebook.parent.name for notebook in notebooks]
    print(f"A course for nbgrader lies in {quoted(options.out)}; its assignments: {', '.join(names)}.")
    print(f"Go on there with `nbgrader generate_assignment {names[0]}`.")


def _gradescope(root, options, settings):
    from course_utils.grading.handing_out import gradescope

    for path in gradescope.export(root, options.lessons, options.out, options.settings, options.force):
        print(f"To be uploaded to Gradescope as an autograder: {quoted(path)}")


FORMS = {"nbgrader": _nbgrader, "gradescope": _gradescope}
