"""How much a model learns from a few examples, by how many classes it has learned from, and with half of its parts, in the world of characters.

    python benchmarks/snail.py [--seeds 5]

The world is that of `course_utils/data/episodes.py`. Fills characters.csv, which lesson 19 shows: right labels, by how often each class
was shown before, of held-out digits and of new episodes as in training, after 1,500 steps or 6,000. The halves of SNAIL, SNAIL itself, and two
attentions with positions also learn as on the page, for 4,000 steps, and the last for 400, too.
"""

import torch
from measuring import fill, jobs, read_options, timed
from torch import nn

from course_utils.data.episodes import WAYS, character_episodes
from course_utils.models.snail import (
    AttentionBlock,
    DenseBlock,
    Snail,
    by_examples,
    dilations,
    fit_characters,
    predict_labels,
)

COLUMNS = "setup seed steps examples held_out own cpu_seconds"
STEPS = 26  # of an episode of characters
CHARACTERS = {  # the kind of those in training
    "many classes": "joined",
    "five classes": "upright",
    "forty classes": "turned",
    "many classes, 6,000 steps": "joined",
}
TWO = "two attentions with positions"
AS_ON_PAGE = {  # steps of those that learn upright ones, apart from the test pictures
    "convolutions alone, 4,000 steps": 4000,
    "attention alone, 4,000 steps": 4000,
    "SNAIL, 4,000 steps": 4000,
    f"{TWO}, 4,000 steps": 4000,
    f"{TWO}, 400 steps": 400,
}


class WithPositions(nn.Module):
    """x B×T×D → B×T×(D + STEPS): each step beside a one at its position, among zeros."""

    def forward(self, x):
        return torch.cat([x, torch.eye(STEPS)[: x.shape[1]].expand(len(x), -1, -1)], -1)


def make(setup):
    """SNAIL, its dense blocks or its attention alone, or two attentions with positions, and a readout."""
    width, filters, key, value = 64 + WAYS, 32, 32, 16
    if "SNAIL" in setup or setup in CHARACTERS:
        return Snail(width, WAYS, STEPS)
    if "attention alone" in setup:
        return nn.Sequential(AttentionBlock(width, key, value), nn.Linear(width + value, WAYS))
    if TWO in setup:
        width += STEPS
        first, second = AttentionBlock(width, key, filters), AttentionBlock(width + filters, key, value)
        return nn.Sequential(WithPositions(), first, second, nn.Linear(width + filters + value, WAYS))
    far = dilations(STEPS)
    blocks = [DenseBlock(width + n * filters, filters, dilation) for n, dilation in enumerate(far)]
    return nn.Sequential(*blocks, nn.Linear(width + len(far) * filters, WAYS))


def characters(setup, seed):
    """Train on one kind of characters; return a row for each number of examples."""
    kind, steps = CHARACTERS.get(setup, "upright"), 6000 if "6,000" in setup else AS_ON_PAGE.get(setup, 1500)
    rate = 4e-3 if setup in AS_ON_PAGE else 3e-3
    torch.manual_seed(seed)
    model = make(setup)
    _, seconds = timed(fit_characters, model, kind, seed, steps, rate=rate, part="train")
    tests = (("held out", "all"), (kind, "test"))
    unseen = [character_episodes(1000, of, torch.Generator().manual_seed(10_000), part=part) for of, part in tests]
    held_out, own = (by_examples(predict_labels(model, episodes), episodes) for episodes in unseen)
    return [(steps, k + 1, held_out[k], own[k], seconds) for k in range(5)]


if __name__ == "__main__":
    fill(
        "characters",
        COLUMNS,
        jobs(
            [*CHARACTERS, *AS_ON_PAGE],
            read_options(__doc__, 5).seeds,
            dict.fromkeys(["many classes, 6,000 steps", *AS_ON_PAGE], 3),
        ),
        characters,
    )
