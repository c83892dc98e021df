"""`course build`: writes the notebooks from their sources (`authoring/build.py`)."""

from course_utils.base.paths import clone_folder
from course_utils.commands._arguments import report

WORDS = "Write the notebooks from their sources: what changed, or the lessons named."


def add_arguments(parser) -> None:
    """Add lessons, --check, --all and --release."""
    parser.add_argument("names", nargs="*", metavar="NAME", help="such as 02 or 02_weighted_sums")
    parser.add_argument("--check", action="store_true", help="write nothing, name what is stale")
    parser.add_argument("--all", action="store_true", help="build also what is up to date")
    parser.add_argument(
        "--release", action="store_true", help="fail while a placeholder is in place of the course's address"
    )


def run(options) -> int:
    """Build; 1 if anything is wrong or, with --check, stale."""
    root = clone_folder()
    from course_utils.authoring.build import build, placeholders

    written = []

    def say(line):
        written.append(line)
        print(line)

    problems = build(root, options.names or None, check=options.check, everything=options.all, say=say)
    if options.release:
        problems += placeholders(root)
    if not problems and not written:
        print("Everything is up to date.")
    return report(problems)
