"""`course lint`: holds the notebooks to the style guide (`authoring/lint.py`)."""

from course_utils.base.paths import clone_folder
from course_utils.commands._arguments import report

WORDS = "Hold the notebooks to the style guide."


def add_arguments(parser) -> None:
    """Add nothing: all lessons are read."""


def run(options) -> int:
    """Print what breaks a rule; 1 if anything does."""
    root = clone_folder()
    from course_utils.authoring.lint import lint

    problems = lint(root)
    if not problems:
        print("The notebooks keep to the style guide.")
    return report(problems)
