"""Ways to tell a model where each word is, and a small model that needs to know.

Here: what lesson 11 compares. Not here: the Transformer, which adds sinusoidal or learned positions to its words (`transformer.py`).

Shape letters: B sentences, T places, D width.
"""

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from course_utils.base.errors import CourseError
from course_utils.data.recall import WORDS, recall_next
from course_utils.models.minimal import attend, rotate, sinusoidal_positions
from course_utils.models.sequence_layers import SelfAttention
from course_utils.models.train_model import train_model

LONGEST = WORDS + 1  # places of a text of `recall_next`
KINDS = ("none", "number", "sinusoidal", "learned", "rotary")


class RotarySelfAttention(SelfAttention):
    """Self-attention whose queries and keys are rotated by angles that grow with their positions (Su et al. 2021)."""

    def forward(self, x: Tensor) -> Tensor:
        """Let each place attend to all: B×T×D → B×T×D."""
        return x + attend(rotate(self.query(x)), rotate(self.key(x)), self.value(x))


class NextWord(nn.Module):
    """Two layers of self-attention that predict the next word, which is the one that followed the last word before.

    Args:
        positions: how they are told apart. "none": they are not; "number": one entry of the vector grows by 0.1 for each;
            "sinusoidal" and "learned": a vector is added for each; "rotary": queries and keys are rotated.
        width: D, even.

    Raises:
        CourseError: for any other kind of positions.
    """

    def __init__(self, positions: str, width: int = 64):
        super().__init__()
        if positions not in KINDS:
            raise CourseError(f"positions must be one of {', '.join(KINDS)}, not {positions!r}")
        self.embedding = nn.Embedding(WORDS, width)
        layer = RotarySelfAttention if positions == "rotary" else SelfAttention
        self.layers = nn.Sequential(layer(width), layer(width))
        self.readout = nn.Linear(width, WORDS)
        table = sinusoidal_positions(LONGEST, width) if positions == "sinusoidal" else torch.zeros(LONGEST, width)
        if positions == "number":
            table[:, 0] = torch.arange(LONGEST) / 10
        if positions == "learned":
            self.positions = nn.Parameter(torch.randn(LONGEST, width))
        else:
            self.register_buffer("positions", table)

    def forward(self, words: Tensor) -> Tensor:
        """Read words B×T: logits for the next one, B×`WORDS`."""
        x = self.embedding(words) + self.positions[: words.shape[1]]  # B T D
        return self.readout(self.layers(x)[:, -1])


def fit(model, seed=0, steps=2000, batch=64, rate=3e-3, longest=12) -> list[float]:
    """Train on texts of 2 to `longest` words, new in each step; return the loss of each step, in nats."""

    def loss_of_batch(draw):
        length = int(torch.randint(2, longest + 1, (1,), generator=draw))
        words, answers = recall_next(batch, length, draw)
        return F.cross_entropy(model(words), answers)

    return train_model(model, loss_of_batch, seed, steps, rate)


@torch.no_grad()
def share_right(model, length: int, number: int = 500) -> float:
    """Return the share of texts of a length for which a model gives the right word; the texts are always the same."""
    words, answers = recall_next(number, length, torch.Generator().manual_seed(10_000))
    return (model(words).argmax(-1) == answers).double().mean().item()
