"""What lesson 22 shows of stored measurements (`benchmarks/llama.py`)."""

from statistics import median
from textwrap import shorten

import matplotlib.pyplot as plt
import torch
from torch import Tensor

from course_utils.data.measured import by_seed, measured, read_rows
from course_utils.figures import plots
from course_utils.figures.tables import Table, table

GROUPS = {"all": "300 reviews", "negated": "383 with a negation"}
ROWS = {
    "sum of word vectors": ("sst2_trained", "right", {"model": "sum"}),
    "one layer of self-attention": ("sst2_trained", "right", {"model": "attention"}),
    "SmolLM2, threshold 0": ("sst2_llama", "right", {}),
    "SmolLM2, median": ("sst2_llama", "right_by_median", {}),
}


NAMES = {  # of mistakes that the stored table names more shortly
    "no cache, newest token only": "without a cache, only the newest token read",
    "positions start again at 0": "positions of new tokens start again at 0",
    "cache of another text": "cache still holds another question",
    "text cut after a space": "text cut in two after a space, parts encoded",
}


def stored_logits(text: int) -> tuple[list[int], Tensor]:
    """Return the ids of the 20 tokens to which `transformers` gives the largest logits after a text, and these logits, 20."""
    tokens, (logits,) = measured("llama_logits", "logit", "token", text=text)
    return [int(token) for token in tokens], torch.tensor(logits)


def draw_weights_of_heads(weights: dict[str, Tensor]) -> None:
    """Draw the mean weight of each head of each layer, N×H for each name, one below the other."""
    _, below = plt.subplots(len(weights), 1, figsize=(9, 2.7 * len(weights)))
    for ax, (name, matrix) in zip(below, weights.items(), strict=True):
        plots.weights(matrix.T, range(len(matrix)), title=name, ax=ax, xlabel="layer", ylabel="head")
        ax.set_xticks(range(0, len(matrix), 2), range(0, len(matrix), 2), rotation=0, ha="center", color="0.2")


def shares_of_reviews() -> Table:
    """Return the share of SST-2's test reviews that each model gets right, with the spread over seeds or sets of examples."""
    rows = {}
    for name, (stored, column, which) in ROWS.items():
        rows[name] = [by_seed(stored, column, reviews=group, **which) for group in GROUPS]
    return table(rows, list(GROUPS.values()), corner="share right", digits=2)


def table_of_mistakes() -> Table:
    """Return what each mistake changes: nats per token with the spread over draws of random tokens, the logits, and how the answer begins."""
    rows = {}
    for row in read_rows("mistakes", where={"seed": 0}):
        name = row["mistake"]
        prose, difference = float(row["prose"]), float(row["difference"])
        rows[NAMES.get(name, name)] = [
            prose,
            by_seed("mistakes", "second_copy", mistake=name),
            difference,
            shorten(row["writes"], 56, placeholder=" …"),
        ]
    columns = ["prose, nats", "second copy, nats", "largest difference of logits", "answer"]
    return table(rows, columns, corner="mistake", digits=2)


def most_needed_for_copying(most: int = 6) -> str:
    """Return by how many nats the second copy becomes worse without each of the heads that matter most, and without the median one."""
    (whole,) = by_seed("one_head", "second_copy", head=-1)  # the row of the whole model
    worse = []
    for head in range(9):
        layers, (nats,) = measured("one_head", "second_copy", "layer", head=head)
        worse += [(each - float(whole), f"{layer:.0f}.{head}") for layer, each in zip(layers, nats, strict=True)]
    worse.sort(reverse=True)
    told = ", ".join(f"head {name}: +{more:.1f}" for more, name in worse[:most])
    middle = median(more for more, _ in worse)
    return f"Nats lost in the second copy without one head: {told}; median of all {len(worse)} heads: {middle:+.2f}"
