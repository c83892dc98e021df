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
TWO = "two attentions with positions"
SETUPS = {  # the kind of classes in training, the steps, their rate, and how many seeds there are at most
    "many classes": ("joined", 1500, 3e-3, 5),
    "five classes": ("upright", 1500, 3e-3, 5),
    "forty classes": ("turned", 1500, 3e-3, 5),
    "many classes, 6,000 steps": ("joined", 6000, 3e-3, 3),
    "convolutions alone, 4,000 steps": ("upright", 4000, 4e-3, 3),  # this one and those below as on the page
    "attention alone, 4,000 steps": ("upright", 4000, 4e-3, 3),
    "SNAIL, 4,000 steps": ("upright", 4000, 4e-3, 3),
    f"{TWO}, 4,000 steps": ("upright", 4000, 4e-3, 3),
    f"{TWO}, 400 steps": ("upright", 400, 4e-3, 3),
}


class WithPositions(nn.Module):
    """x B×T×D → B×T×(D + STEPS): each step beside a one at its position, among zeros."""

    def forward(self, x):
        return torch.cat([x, torch.eye(STEPS)[: x.shape[1]].expand(len(x), -1, -1)], -1)


def make(setup):
    """SNAIL, its dense blocks or its attention alone, or two attentions with positions, and a readout."""
    width, filters, key, value = 64 + WAYS, 32, 32, 16
    if "SNAIL" in setup or "classes" in setup:
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
    kind, steps, rate, _ = SETUPS[setup]
    torch.manual_seed(seed)
    model = make(setup)
    _, seconds = timed(fit_characters, model, kind, seed, steps, rate=rate, part="train")
    tests = (("held out", "all"), (kind, "test"))
    unseen = [character_episodes(1000, of, torch.Generator().manual_seed(10_000), part=part) for of, part in tests]
    held_out, own = (by_examples(predict_labels(model, episodes), episodes) for episodes in unseen)
    return [(steps, k + 1, held_out[k], own[k], seconds) for k in range(5)]


if __name__ == "__main__":
    most = {setup: seeds for setup, (*_, seeds) in SETUPS.items()}
    fill("characters", COLUMNS, jobs(SETUPS, read_options(__doc__, 5).seeds, most), characters)
