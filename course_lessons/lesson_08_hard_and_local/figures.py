"""What a translator gets right with a window, as measured by `benchmarks/local.py`. No task is declared here."""

from course_utils.data.measured import by_seed

LENGTHS = (12, 20)
LARGEST = "global, largest weight alone"
KINDS = {"global": "global", LARGEST: LARGEST, "local-m": "local-m", "local-p": "local-p", "no attention": "none"}


def words_right(order):
    """Return, for each kind of attention, the shares of words that are right in sentences of 12 words and of 20, of five seeds each."""
    rows = {}
    for name, setup in KINDS.items():
        where = {"order": order, "setup": setup}
        rows[name] = [by_seed("local", "words_right", length=n, **where) for n in LENGTHS]
    return rows
