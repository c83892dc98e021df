"""Four ways to let the words of a sentence see each other, as layers of one shape: x B×T×D → B×T×D.

Here: what lesson 09 compares, each in its plainest form, and a model that answers one question with it. Not here: several heads and the
Transformer's layers (`transformer.py`), or their costs in theory (the lesson).

Shape letters: B sentences, T places, D width, R places on each side, W = 2R + 1 places of a window, V answers to choose from.
"""

import torch
import torch.nn.functional as F
from torch import Tensor, nn
from torch.utils.flop_counter import FlopCounterMode

from course_utils.base.errors import CourseError
from course_utils.data.recall import AT_ONCE, VALUES, recall_at_distance
from course_utils.models.attention import masked_softmax
from course_utils.models.minimal import attend
from course_utils.models.train_model import train_model
from course_utils.models.validation import check_sizes


class SelfAttention(nn.Module):
    """x + softmax(QKᵀ / √D) V with Q, K and V made from x: every place sees every other."""

    def __init__(self, width: int):
        super().__init__()
        self.query, self.key, self.value = (nn.Linear(width, width, bias=False) for _ in range(3))

    def forward(self, x: Tensor) -> Tensor:
        """Let each place attend to all: B×T×D → B×T×D."""
        return x + attend(self.query(x), self.key(x), self.value(x))


class RestrictedSelfAttention(SelfAttention):
    """The same, but a place sees only those at most `radius` away; the others are not even scored.

    Raises:
        CourseError: for a radius below 0.
    """

    def __init__(self, width: int, radius: int):
        super().__init__(width)
        check_sizes(0, radius=radius)
        self.radius = radius

    def forward(self, x: Tensor) -> Tensor:
        """Let each place see its neighbours: B×T×D → B×T×D."""
        R = self.radius
        query, key, value = self.query(x), self.key(x), self.value(x)  # B T D
        keys, values = (F.pad(part, (0, 0, R, R)).unfold(1, 2 * R + 1, 1) for part in (key, value))  # B T D W
        there = F.pad(x.new_ones(x.shape[1], dtype=torch.bool), (R, R)).unfold(0, 2 * R + 1, 1)  # T W
        scores = (query[:, :, None] @ keys).squeeze(2) / x.shape[-1] ** 0.5  # B T W
        return x + (values @ masked_softmax(scores, there)[..., None]).squeeze(-1)


class Recurrent(nn.Module):
    """A recurrent network from left to right: each place sees those before it through the state.

    Args:
        width: of words and state, D.
        cell: nn.RNN for lesson 05's tanh cell, or nn.LSTM, whose gates decide what the state keeps.
    """

    def __init__(self, width: int, cell: type[nn.RNNBase] = nn.RNN):
        super().__init__()
        self.cells = cell(width, width, batch_first=True)

    def forward(self, x: Tensor) -> Tensor:
        """Read one place after the other: B×T×D → B×T×D."""
        return self.cells(x)[0]


class Convolution(nn.Module):
    """x + ReLU(convolution) over `kernel` places, `dilation` apart; the kernel is odd, so that it has a middle.

    Raises:
        CourseError: for a kernel that is even or below 1.
    """

    def __init__(self, width: int, kernel: int, dilation: int = 1):
        super().__init__()
        if kernel < 1 or kernel % 2 == 0:
            raise CourseError(f"kernel must be odd and at least 1, not {kernel}")
        self.convolution = nn.Conv1d(width, width, kernel, padding=dilation * (kernel // 2), dilation=dilation)

    def forward(self, x: Tensor) -> Tensor:
        """Mix each place with its neighbours: B×T×D → B×T×D."""
        return x + F.relu(self.convolution(x.mT).mT)


class Answerer(nn.Module):
    """Reads pairs, then filler words, then a question, and answers it from the last place (`data/recall.py`)."""

    def __init__(self, *layers: nn.Module, width: int):
        super().__init__()
        self.embedding = nn.Embedding(AT_ONCE, width)
        self.layers = nn.Sequential(*layers)
        self.readout = nn.Linear(width, VALUES)

    def forward(self, tokens: Tensor) -> Tensor:
        """Read tokens B×T: logits B×V."""
        return self.readout(self.layers(self.embedding(tokens))[:, -1])


def fit(model, seed=0, steps=1500, batch=64, rate=5e-3, pairs=3, furthest=32) -> list[float]:
    """Train on `pairs` pairs at distances of 0 to `furthest`, new in each step; return the loss of each step, in nats."""

    def loss_of_batch(draw):
        distance = int(torch.randint(furthest + 1, (1,), generator=draw))
        tokens, answers = recall_at_distance(batch, pairs, distance, draw)
        return F.cross_entropy(model(tokens), answers)

    return train_model(model, loss_of_batch, seed, steps, rate)


@torch.no_grad()
def multiplications(layer, x: Tensor) -> int:
    """Return how many multiplications a layer does for x, in the matrix products and convolutions that torch can count."""
    with FlopCounterMode(display=False) as counter:
        layer(x)
    return counter.get_total_flops() // 2  # a multiplication and an addition are two
