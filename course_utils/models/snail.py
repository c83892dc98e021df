"""A model that learns from a few examples while it reads them: causal convolutions and attention (Mishra et al. 2018, "SNAIL").

Here: its blocks, the model, and how it learns from episodes. Not here: the episodes (`data/episodes.py`).

Shape letters: B episodes, T steps, D width of what is read, F filters, K width of keys, E width of values, V labels.
"""

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from course_utils.data.episodes import WAYS, Episodes, character_episodes
from course_utils.models.attention import attention, causal_mask
from course_utils.models.train_model import train_model
from course_utils.models.validation import check_sizes


def causal_convolution(x: Tensor, weight: Tensor, bias: Tensor, dilation: int) -> Tensor:
    """Convolve each step with one before it (Mishra et al. 2018, section 3).

    Args:
        x: B×T×D.
        weight: F×D×2; weight[..., 1] meets x at t, weight[..., 0] meets x at t - dilation, which is 0 before the beginning.
        bias: F.
        dilation: how many steps back.

    Returns:
        B×T×F.
    """
    now, back = (x @ torch.cat([weight[..., 1], weight[..., 0]]).T).chunk(2, -1)  # B T F each
    return now + F.pad(back, (0, 0, dilation, 0))[:, : x.shape[1]] + bias


def dilations(steps: int) -> list[int]:
    """1, 2, 4, ...: as many as the last of these steps needs to see the first."""
    return [2**i for i in range((steps - 1).bit_length())]


class DenseBlock(nn.Module):
    """x B×T×D → [x; tanh(f) · σ(g)] B×T×(D + F), where f and g are causal convolutions of x."""

    def __init__(self, width: int, filters: int, dilation: int):
        super().__init__()
        bound = (2 * width) ** -0.5
        self.weights = nn.Parameter(torch.empty(2, filters, width, 2).uniform_(-bound, bound))
        self.biases = nn.Parameter(torch.zeros(2, filters))
        self.dilation = dilation

    def forward(self, x: Tensor) -> Tensor:
        both = causal_convolution(x, self.weights.flatten(0, 1), self.biases.flatten(), self.dilation)  # B T 2F
        f, g = both.chunk(2, -1)
        return torch.cat([x, f.tanh() * g.sigmoid()], -1)


class AttentionBlock(nn.Module):
    """x B×T×D → [x; context] B×T×(D + E): scaled dot-product attention of each step to itself and those before; keeps its weights B×T×T."""

    def __init__(self, width: int, key: int, value: int):
        super().__init__()
        self.query, self.key, self.value = nn.Linear(width, key), nn.Linear(width, key), nn.Linear(width, value)
        self.weights = None

    def forward(self, x: Tensor) -> Tensor:
        query, key = self.query(x) / self.query.out_features**0.5, self.key(x)
        context, self.weights = attention(query, key, self.value(x), causal_mask(x.shape[1]).expand(len(x), -1, -1))
        return torch.cat([x, context], -1)


class Snail(nn.Module):
    """Dense blocks whose dilations span the episode, then a block of attention, and a linear readout.

    Args:
        width, out: D and V.
        steps: the longest episode.
        filters, key, value: F, K and E.
    """

    def __init__(self, width: int, out: int, steps: int, filters=32, key=32, value=16):
        super().__init__()
        check_sizes(1, width=width, out=out, steps=steps, filters=filters, key=key, value=value)
        made = []
        for dilation in dilations(steps):
            made.append(DenseBlock(width, filters, dilation))
            width += filters
        self.blocks = nn.Sequential(*made, AttentionBlock(width, key, value))
        self.readout = nn.Linear(width + value, out)

    def forward(self, x: Tensor) -> Tensor:
        """Answer at each step of x B×T×D: B×T×V."""
        return self.readout(self.blocks(x))


def read(x: Tensor, y: Tensor) -> Tensor:
    """What a model reads: each input B×T×D, beside the answer to the one before, B×T×V → B×T×(D + V); zeros beside the first one."""
    return torch.cat([x, F.pad(y, (0, 0, 1, 0))[:, :-1]], -1)


def answers(model: nn.Module, episodes: Episodes, read=read) -> Tensor:
    """A score for each label at each step of episodes of characters, B×T×V."""
    return model(read(episodes.pictures, F.one_hot(episodes.labels, WAYS).float()))


def fit_characters(
    model: nn.Module, kind="joined", seed=0, steps=1500, batch=32, rate=3e-3, read=read, part="all"
) -> list[float]:
    """Learn to label characters of a kind, at all steps whose class was shown before; return the loss of each step."""

    def loss_of_batch(draw):
        episodes = character_episodes(batch, kind, draw, part=part)
        known = episodes.before > 0
        return F.cross_entropy(answers(model, episodes, read)[known], episodes.labels[known])

    return train_model(model, loss_of_batch, seed, steps, rate, warmup=20)


@torch.no_grad()
def predict_labels(model: nn.Module, episodes: Episodes, read=read) -> Tensor:
    """Which label a model gives each character, B×T."""
    return answers(model, episodes, read).argmax(-1)


def by_examples(predicted: Tensor, episodes: Episodes, most=5) -> list[float]:
    """The share of right labels B×T among characters whose class was shown once before, twice, ... `most` times."""
    right = predicted == episodes.labels
    return [right[episodes.before == k].float().mean().item() for k in range(1, most + 1)]
