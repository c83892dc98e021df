"""Attention alone, in one layer or two, that learns to say what came after the same word last time; and the scores of its induction head.

Here: the model of Olsson et al. 2022 in small, its training in seconds, and its scores. Not here: the texts (`data/recall.py`).

Shape letters: B texts, T words of each, V words there are, D width, N layers.
"""

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from course_utils.data.recall import WORDS, recall_next
from course_utils.models.attention import causal_mask, masked_softmax
from course_utils.models.plain import sinusoidal_positions
from course_utils.models.train_model import train_model


class AttentionAlone(nn.Module):
    """Layers of one head each with residual connections, without norms and feed-forward networks; it says the word after the last one.

    Args:
        attention: class (width, heads) of modules from x B×T×D and a mask T×T to B×T×D, with projections W_Q, W_K, W_V and W_O.
        N: layers.
    """

    def __init__(self, attention: type[nn.Module], N: int, D: int = 64):
        super().__init__()
        self.embedding = nn.Embedding(WORDS, D)
        self.register_buffer("P", sinusoidal_positions(WORDS + 1, D))  # T D
        self.layers = nn.ModuleList(attention(D, 1) for _ in range(N))
        self.readout = nn.Linear(D, WORDS)

    def forward(self, words: Tensor, unseen: int | None = None) -> Tensor:
        """Read words B×T: logits B×V. If `unseen` is given, layer 1 may not see the word so many positions back."""
        return self.readout(self.read(words, unseen)[0][:, -1])

    def read(self, words: Tensor, unseen: int | None = None) -> tuple[Tensor, list[Tensor]]:
        """Return what the last layer gives, B×T×D, and the weights of each layer, B×T×T."""
        x, weights = self.embedding(words) + self.P[: words.shape[1]], []  # B T D
        for i, layer in enumerate(self.layers):
            mask = causal_mask(words.shape[1])
            if unseen and i == 0:
                mask = hide_back(mask, unseen)
            scores = layer.W_Q(x) @ layer.W_K(x).mT / x.shape[-1] ** 0.5  # B T T
            weights.append(masked_softmax(scores, mask))
            x = x + layer(x, mask)
        return x, weights


def hide_back(mask: Tensor, places: int) -> Tensor:
    """Return a mask …×T×T that also hides from each query the key so many places before it."""
    return mask & ~torch.ones_like(mask).tril(-places).triu(-places)


def fit(model: nn.Module, seed=0, steps=1000, batch=64, rate=0.005, longest=12) -> list[float]:
    """Train on texts of 2 to `longest` words, drawn anew for each step; return the loss of each step, in nats."""

    def loss_of_batch(draw):
        length = int(torch.randint(2, longest + 1, (1,), generator=draw))
        words, answers = recall_next(batch, length, draw)
        return F.cross_entropy(model(words), answers)

    return train_model(model, loss_of_batch, seed, steps, rate)


@torch.no_grad()
def induction_scores(model: AttentionAlone, words: Tensor, answers: Tensor, at: Tensor, unseen=None) -> list[float]:
    """Return the share of right words, the weight on the word before in layer 1, prefix matching and copying.

    Prefix matching is the last layer's weight on the word to copy. Copying is the share of words that raise their own logit most when
    they are attended to there. Both are made after Olsson et al. 2022, appendix.

    Args:
        words, answers: as of `recall_next`, B×(T+1) and B.
        at: where the last word was before, B.
        unseen: as of the model.
    """
    each, (x, weights), last = torch.arange(len(words)), model.read(words, unseen), model.layers[-1]
    found = (
        model.readout(x[:, -1]).argmax(-1) == answers,
        weights[0][each, at + 1, at],
        weights[-1][each, -1, at + 1],
        model.readout(last.W_O(last.W_V(model.embedding.weight))).argmax(-1) == torch.arange(WORDS),
    )
    return [one.float().mean().item() for one in found]
