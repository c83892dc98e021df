"""`course build`: writes the notebooks from their sources (`authoring/build.py`)."""

from course_utils.base.paths import clone_folder
from course_utils.commands._arguments import report

WORDS = "Write the notebooks from their sources: what changed, or the lessons named."


def add_arguments(parser) -> None:
    """Add lessons, --check, --all, --equal and --release."""
    parser.add_argument("names", nargs="*", metavar="NAME", help="such as 02 or 02_weighted_sums")
    parser.add_argument("--check", action="store_true", help="write nothing, name what is stale")
    parser.add_argument("--all", action="store_true", help="build also what is up to date")
    words = "keep the outputs of cells that are as they were: what has changed in the package computes the same"
    parser.add_argument("--equal", action="store_true", help=words)
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

    names, how = options.names or None, {"check": options.check, "everything": options.all, "equal": options.equal}
    problems = build(root, names, say=say, **how)
    if options.release:
        problems += placeholders(root)
    if not problems and not written:
        print("Everything is up to date.")
    return report(problems)
