"""A photograph, and what a network pretrained on ImageNet computes from it. `coffee/README.md` says where both come from; `benchmarks/photograph.py` made the files."""

from pathlib import Path
from typing import NamedTuple

import torch
from torch import Tensor

from course_utils.data.measured import read_rows

FOLDER = Path(__file__).with_name("coffee")
GRID = 7  # cells in a row and in a column
WORDS = ("espresso", "ladle")


class Photograph(NamedTuple):
    """A photograph and its annotations."""

    image: Tensor  # Y X 3, from 0 to 1
    annotations: Tensor  # 1 L E
    readout: Tensor  # 2 E: the row of each of WORDS
    bias: Tensor  # 2


def load_photograph() -> Photograph:
    """Return the photograph of a cup of coffee with its L = 49 annotations of dimension E = 1,280."""
    import matplotlib.pyplot as plt
    from safetensors.torch import load_file

    tensors = load_file(FOLDER / "annotations.safetensors")
    image = torch.tensor(plt.imread(FOLDER / "photograph.jpg")) / 255
    return Photograph(image, *(tensors[name].float() for name in ("annotations", "readout", "bias")))


def load_losses(fill: str) -> tuple[Tensor, Tensor]:
    """Return what the logit of each of WORDS loses when a square is covered, L×2, and its scores in the covered cells, L×2; `fill` is "mean" or "grey"."""
    lost, own = [], []
    for word in WORDS:
        (whole,) = read_rows("photograph", ("logit",), {"word": word, "fill": "nothing"})
        rows = read_rows("photograph", ("logit", "own_score"), {"word": word, "fill": fill})
        lost.append([float(whole["logit"]) - float(row["logit"]) for row in rows])
        own.append([float(row["own_score"]) for row in rows])
    return torch.tensor(lost).mT, torch.tensor(own).mT
