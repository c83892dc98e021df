"""What the page of lesson 03 shows: the stored measurements of self-attention with and without each matrix."""

from course_utils.data.measured import measured_at
from course_utils.figures.tables import table

EPOCHS = [15, 40, 75]


def share_right_by_matrices():
    """Show the share of new reviews that models with these matrices get right, by epochs; without matrices also at other rates."""
    names = {"none": "none", "value": "value", "shared": "one for query and key", "query": "query", "key": "key", "all three": "all three"}  # fmt: skip
    rows = {
        name: measured_at("projections", "right", "epochs", EPOCHS, matrices=matrices, rate=0.05)
        for matrices, name in names.items()
    }
    for rate in (0.02, 0.1, 0.2):
        rows[f"none, at the rate {rate}"] = measured_at(
            "projections", "right", "epochs", EPOCHS, matrices="none", rate=rate
        )
    columns = [f"{epochs} epochs" for epochs in EPOCHS]
    caption = (
        "Share of new reviews right, five seeds: mean [lowest to highest]. The rate is 0.05 unless stated otherwise."
    )
    return table(rows, columns, corner="learned matrices", digits=2, caption=caption)
