"""`course test`: runs the course's checks (`authoring/testing.py`)."""

from datetime import date

from course_utils.base.environment import need
from course_utils.base.paths import clone_folder

WORDS = "Run the checks: those that every change has to pass, or more, or fewer."


def add_arguments(parser) -> None:
    """Add --changed, --all and --night."""
    which = parser.add_mutually_exclusive_group()
    which.add_argument(
        "--changed",
        action="store_true",
        help="only what hangs on the files changed since the last run without a failure",
    )
    which.add_argument("--all", action="store_true", help="every check there is, which takes hours")
    parser.add_argument(
        "--night",
        type=int,
        metavar="NUMBER",
        default=int(f"{date.today():%Y%m%d}"),
        help="with --all: draw seeds, mutants and styles from this number, and not from today's date",
    )


def run(options) -> int:
    """Run the checks; 1 if one failed."""
    root = clone_folder()
    need("test")
    from course_utils.authoring import testing

    if options.all:
        return testing.run_all(root, options.night)
    return testing.run_changed(root) if options.changed else testing.run_usual(root)
