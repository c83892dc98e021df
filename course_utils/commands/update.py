"""`course update`: brings new versions of lessons into the learner's own copies (`workspace/updating.py`)."""

from course_utils.base.paths import workspace_folder
from course_utils.commands._arguments import report

WORDS = "Bring new versions of lessons into your own copies; what you have written stays."


def add_arguments(parser) -> None:
    """Add the lessons."""
    parser.add_argument(
        "lessons", nargs="*", metavar="LESSON", help="such as 03 or 03_queries_keys_values; all if left out"
    )


def run(options) -> int:
    """Update the copies and say what was done to each; 1 if one could not be updated."""
    root = workspace_folder()
    from course_utils.workspace.updating import update

    written = []

    def say(line):
        written.append(line)
        print(line)

    problems = update(root, options.lessons, say)
    if not written and not problems:
        print("Your copies are up to date.")
    return report(problems)
