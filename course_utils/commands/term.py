"""`course term`: the lessons of a term side by side (`grading/reports/term_summary.py`)."""

from pathlib import Path

from course_utils.commands._arguments import quoted

WORDS = "Put the results of several lessons side by side."


def add_arguments(parser) -> None:
    """Add the folders of results, and --out."""
    words = "folders that `course grade` has written, in the order of the columns"
    parser.add_argument("results", nargs="+", metavar="RESULTS", type=Path, help=words)
    parser.add_argument("--out", metavar="DIR", type=Path, default=Path("term"), help="term/ if left out")


def run(options) -> int:
    """Write the page and the table and say where they are."""
    from course_utils.grading.reports.term_summary import write_term

    page, table = write_term(options.results, options.out)
    print(f"The term: {quoted(page)}, and as a table {quoted(table)}.")
    return 0
