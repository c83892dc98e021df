"""SST-2: 9,613 sentences of real movie reviews (Socher et al. 2013), whole sentences with binary labels.

Here: a file's text made into `Reviews`. Not here: how the file gets onto this machine (`download.py`).
"""

import torch

from course_utils.base.errors import CourseError
from course_utils.data.download import fetch
from course_utils.data.reviews import Reviews, holds_negation

SPLITS = ("train", "dev", "test")


def load_sst2(split: str) -> Reviews:
    """Return the train (6,920), dev (872) or test (1,821) split.

    Raises `CourseError` for any other split, and `DataError` if the file is unavailable.
    """
    if split not in SPLITS:
        raise CourseError(f"split must be one of {', '.join(SPLITS)}, not {split!r}")
    # The last line of a file has no newline, so every piece is a row: a sentence, a tab, its label.
    lines = fetch(f"sst2/{split}.tsv").read_text(encoding="utf-8").split("\n")
    rows = [line.split("\t") for line in lines]
    sentences = [sentence.split(" ") for sentence, _ in rows]
    labels = torch.tensor([int(label) for _, label in rows])  # N
    return Reviews(sentences, labels, f"SST-2 {split}", holds_negation(sentences))
