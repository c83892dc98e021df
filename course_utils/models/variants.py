"""Variants of attention with one interface: another normaliser, another score, another memory; and a small model that any of them fits into.

attend(query B×H×T×D, key B×H×T×D, value B×H×T×E, mask T×T or B×1×T×T) → contexts B×H×T×E and weights B×H×T×T, or None if it has none.

Shape letters: B sequences, H heads, T steps, D width of queries and keys, E width of values, V answers.
"""

from collections.abc import Callable

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from course_utils.data.lookups import KEYS, VALUES, lookups, read
from course_utils.models.attention import causal_mask, masked_softmax, scaled_dot
from course_utils.models.train_model import train_model

Attend = Callable[[Tensor, Tensor, Tensor, Tensor], tuple[Tensor, Tensor | None]]


def dot_product(query: Tensor, key: Tensor, value: Tensor, mask: Tensor) -> tuple[Tensor, Tensor]:
    """Softmax of qᵀk / √D, as in lesson 09 (Vaswani et al. 2017, equation 1)."""
    weights = masked_softmax(scaled_dot(query, key), mask)
    return weights @ value, weights


def sparsemax(scores: Tensor, mask: Tensor) -> Tensor:
    """The weights nearest to the scores among all that are 0 or more and sum to 1; a row with nothing to attend to gives zeros.

    Martins & Astudillo 2016, algorithm 1: each score less a threshold, and 0 below it.
    """
    scores = scores - scores.masked_fill(~mask, -torch.inf).amax(-1, keepdim=True).nan_to_num(neginf=0.0)
    down = scores.masked_fill(~mask, -torch.inf).sort(-1, descending=True).values
    count = torch.arange(1, scores.shape[-1] + 1, device=scores.device)
    total = down.masked_fill(down == -torch.inf, 0).cumsum(-1)
    support = (1 + count * down > total).sum(-1, keepdim=True).clamp(min=1)
    threshold = (total.gather(-1, support - 1) - 1) / support
    return (scores - threshold).clamp(min=0).masked_fill(~mask, 0.0)


def sparse(query: Tensor, key: Tensor, value: Tensor, mask: Tensor) -> tuple[Tensor, Tensor]:
    """Another normaliser: sparsemax of the scores."""
    weights = sparsemax(scaled_dot(query, key), mask)
    return weights @ value, weights


def slopes(heads: int) -> Tensor:
    """2^(-8/H), 2^(-16/H), ..., 2^-8: how much each head subtracts from a score for each step back (Press et al. 2022, section 3)."""
    return 2 ** (-8 * torch.arange(1, heads + 1) / heads)


def alibi(
    query: Tensor, key: Tensor, value: Tensor, mask: Tensor, own: Tensor | None = None, normalise=masked_softmax
) -> tuple[Tensor, Tensor]:
    """Another score: qᵀk / √D less the head's slope times the distance (Press et al. 2022, section 3); `own` are other slopes, H."""
    of_heads = slopes(query.shape[1]) if own is None else own
    place = torch.arange(query.shape[-2], device=query.device)
    distance = (place[:, None] - place).abs()  # T T
    scores = scaled_dot(query, key) - of_heads.to(query)[:, None, None] * distance
    weights = normalise(scores, mask)
    return weights @ value, weights


def positive(x: Tensor) -> Tensor:
    """φ(x) = elu(x) + 1: x + 1 above 0, exp(x) below, so that no weight is negative (Katharopoulos et al. 2020, equation 7)."""
    return F.elu(x) + 1


def unit(x: Tensor) -> Tensor:
    """Vectors of length 1."""
    return F.normalize(x, dim=-1)


def linear(query: Tensor, key: Tensor, value: Tensor, mask: Tensor, phi=positive, divide=True) -> tuple[Tensor, Tensor]:
    """Another memory: φ(q)ᵀφ(k) instead of exp(qᵀk), divided by its sum over the keys (Katharopoulos et al. 2020, section 3.2).

    With φ = `unit` and no division it is the delta rule without Sᵀk: S ← S + k vᵀ.
    """
    weights = (phi(query) @ phi(key).mT).masked_fill(~mask, 0.0)
    if divide:
        total = weights.sum(-1, keepdim=True)
        weights = weights / total.where(total.abs() > 1e-18, 1e-18)
    return weights @ value, weights


def delta(query: Tensor, key: Tensor, value: Tensor, mask: Tensor) -> tuple[Tensor, None]:
    """Another memory, which overwrites: S ← S + k (v - Sᵀk)ᵀ, read as Sᵀq, keys and queries of length 1; it has no weights.

    Schlag et al. 2021, section 4.2. Each step reads what was written so far. A step to which no query may attend is not written; the mask
    has no other effect. All that is written solves one triangular system, so no loop over the steps is needed (Yang et al. 2024 do this in
    chunks).
    """
    query, written = unit(query), mask.any(-2)[..., None]
    key, value = unit(key).masked_fill(~written, 0.0), value.masked_fill(~written, 0.0)
    overlap = (key @ key.mT).tril(-1)  # B H T T: what each key finds of those before it
    difference = torch.linalg.solve_triangular(overlap, value, upper=False, unitriangular=True)  # B H T E
    return (query @ key.mT).tril() @ difference, None


VARIANTS: dict[str, Attend] = {
    "dot product": dot_product,
    "sparsemax": sparse,
    "ALiBi": alibi,
    "linear": linear,
    "delta rule": delta,
}


class Reader(nn.Module):
    """One layer of attention with H heads, and a readout: x B×T×D → answers B×T×V."""

    def __init__(self, width: int, out: int, attend: Attend, heads=4, size=16):
        super().__init__()
        self.project = nn.Linear(width, 3 * heads * size)
        self.readout = nn.Linear(heads * size, out)
        self.attend, self.heads = attend, heads

    def forward(self, x: Tensor) -> Tensor:
        B, T, _ = x.shape
        query, key, value = self.project(x).view(B, T, 3, self.heads, -1).permute(2, 0, 3, 1, 4)
        context, _ = self.attend(query, key, value, causal_mask(T))
        return self.readout(context.transpose(1, 2).flatten(2))


def reader(attend: Attend) -> Reader:
    """Return a model that answers lookups with an attention."""
    return Reader(2 * KEYS + VALUES, VALUES, attend)


def fit(model: nn.Module, kind: str, seed=0, steps=600, length=32, batch=32, rate=5e-3) -> list[float]:
    """Learn to answer a kind of lookups; return the loss of each step."""

    def loss_of_batch(draw):
        questions = lookups(batch, kind, draw, length)
        return F.cross_entropy(model(read(questions)).flatten(0, 1), questions.answer.flatten())

    return train_model(model, loss_of_batch, seed, steps, rate, warmup=20)


@torch.no_grad()
def accuracy(model: nn.Module, kind: str, length: int, number=200, seed=10_000) -> float:
    """The share of right answers in the last quarter of sequences of a length."""
    questions = lookups(number, kind, torch.Generator().manual_seed(seed), length)
    # A few at a time take less memory.
    predicted = torch.cat([model(part).argmax(-1) for part in read(questions).split(20)])
    return (predicted == questions.answer)[:, -(length // 4) :].float().mean().item()
