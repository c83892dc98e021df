"""`course progress`: says how far a learner is, as `progress()` does in a notebook."""

import os

WORDS = "Show how far you are in the lessons, and what comes next."


def add_arguments(parser) -> None:
    """Add the lesson and --all."""
    parser.add_argument("lesson", nargs="?", help="such as 02, to show it alone")
    parser.add_argument("--all", action="store_true", help="show every lesson, also those that you have not begun")


def run(options) -> int:
    """Print the table, or say that there is no progress yet."""
    from course_utils.base.errors import CourseError
    from course_utils.base.paths import OWN, chosen, is_clone, learners_folder, workspace_folder
    from course_utils.checks.catalogue import by_lesson
    from course_utils.learner import state
    from course_utils.learner.notebook import overall_progress
    from course_utils.workspace.copies import say_what_is_newer

    lessons = chosen([options.lesson], by_lesson()) if options.lesson else ()
    folder = learners_folder()
    file = folder / state.FILE
    if not file.is_file():
        if not (folder / OWN).is_dir() and not is_clone(folder):
            workspace_folder()  # raises `CourseError` outside the course
            print(f"No progress is kept in {folder}: run this in the folder that holds {OWN}.")
        else:
            print("You have not checked an answer yet: your progress begins with your first check.")
        if not (options.all or lessons):
            return 0
    elif not os.access(file, os.R_OK):
        raise CourseError(
            f"{file}, which keeps your progress, cannot be read: give yourself the permission to read it."
        )
    print(overall_progress(options.all, "course progress --all", lessons))
    if (folder / OWN).is_dir():
        say_what_is_newer(folder)
    return 0
