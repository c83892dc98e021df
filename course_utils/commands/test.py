"""`course test`: runs every check there is (`authoring/testing.py`)."""

from course_utils.base.environment import need
from course_utils.base.places import course_folder

WORDS = "Run every check there is."


def add_arguments(parser) -> None:
    """Add --quick."""
    parser.add_argument("--quick", action="store_true", help="leave out notebooks, browser and Colab")


def run(options) -> int:
    """Run the checks; 1 if one failed."""
    root = course_folder()
    need("test")
    from course_utils.authoring.testing import run_all

    return run_all(root, options.quick)
