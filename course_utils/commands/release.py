"""`course release`: writes lessons' exercises to hand out (`grading/handing_out/release.py`)."""

import sys
from pathlib import Path

from course_utils.base.paths import own_course_folder
from course_utils.commands._arguments import add_handing_out, quoted, use_mistakes

WORDS = "Write lessons' exercises to hand out."
REMEDY = "Write the course's address into pyproject.toml under Repository, run `course build`, and release again."
RELEASED = Path("released")  # in the current folder


def add_arguments(parser) -> None:
    """Add the lessons, --out, --settings, --mistakes and --force."""
    parser.add_argument("lessons", nargs="+", metavar="LESSON", help="such as 03 or 03_queries_keys_values")
    words = "where each lesson gets a folder; released/ if left out"
    parser.add_argument("--out", metavar="DIR", type=Path, default=RELEASED, help=words)
    add_handing_out(parser)


def run(options) -> int:
    """Write exercises to hand out and say where they are."""
    root = own_course_folder()
    from course_utils.authoring.notebook_builder import is_placeholder
    from course_utils.grading.handing_out.release import address_in, release
    from course_utils.grading.ingest.class_settings import read_settings

    settings = read_settings(options.settings)
    use_mistakes(options)
    notebooks = release(root, options.lessons, options.out, settings, options.force)
    for notebook in notebooks:
        address = address_in(notebook)
        if address and is_placeholder(address):
            print(
                f"Careful: {address} is a placeholder, so {notebook.name} cannot install the course, on Colab for instance. {REMEDY}",
                file=sys.stderr,
            )
        print(f"To hand out: {quoted(notebook.parent)} ({notebook.name} and README.md, how to hand in)")
    return 0
