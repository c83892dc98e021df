"""How much a model learns from a few examples, by how many classes it has learned from, in the world of characters.

    python benchmarks/snail.py [--seeds 5]

The world is that of `course_utils/data/episodes.py`. Fills characters.csv, which lesson 19 shows: right labels, by how often each class
was shown before, of held-out digits and of new episodes as in training, after 1,500 steps.
"""

import torch
from measuring import fill, jobs, read_options, timed

from course_utils.data.episodes import WAYS, character_episodes
from course_utils.models.snail import Snail, by_examples, fit_characters, predict_labels

COLUMNS = "setup seed steps examples held_out own cpu_seconds"
STEPS = 26  # of an episode of characters
CHARACTERS = {"SNAIL": "joined", "five classes": "upright", "forty classes": "turned"}  # the kind of those in training


def characters(setup, seed):
    """Train on one kind of characters; return a row for each number of examples."""
    kind = CHARACTERS[setup]
    torch.manual_seed(seed)
    model = Snail(64 + WAYS, WAYS, STEPS)
    _, seconds = timed(fit_characters, model, kind, seed)
    unseen = [character_episodes(1000, of, torch.Generator().manual_seed(10_000)) for of in ("held out", kind)]
    held_out, own = (by_examples(predict_labels(model, episodes), episodes) for episodes in unseen)
    return [(1500, k + 1, held_out[k], own[k], seconds) for k in range(5)]


if __name__ == "__main__":
    fill("characters", COLUMNS, jobs(CHARACTERS, read_options(__doc__, 5).seeds), characters)
