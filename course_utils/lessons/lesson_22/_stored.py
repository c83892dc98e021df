"""What lesson 22 shows of stored measurements (`benchmarks/llama.py`)."""

from course_utils.data.measured import by_seed
from course_utils.figures.tables import Table, table

GROUPS = {"all": "300 reviews", "negated": "383 with a negation"}
ROWS = {
    "sum of word vectors": ("sst2_trained", "right", {"model": "sum"}),
    "one layer of self-attention": ("sst2_trained", "right", {"model": "attention"}),
    "SmolLM2, threshold 0": ("sst2_llama", "right", {}),
    "SmolLM2, median": ("sst2_llama", "right_by_median", {}),
}


def shares_of_reviews() -> Table:
    """Return the share of SST-2's test reviews that each model gets right, with the spread over seeds or sets of examples."""
    rows = {}
    for name, (stored, column, which) in ROWS.items():
        rows[name] = [by_seed(stored, column, reviews=group, **which) for group in GROUPS]
    return table(rows, list(GROUPS.values()), corner="share right", digits=2)
