"""Networks of which only some answer: mixtures of experts.

Here: gates that choose experts, what balances them, a mixture for small lessons and its training. Not here: the worlds that the experts
learn (`data/regimes.py`).

Shape letters: B inputs or tokens, N experts, D width, E what an expert gives.
"""

import torch
import torch.nn.functional as F
from torch import Tensor


def top_k_gates(logits: Tensor, k: int) -> Tensor:
    """Softmax over the k largest logits of each row, B×N, zeros elsewhere; of equal ones the first (Shazeer et al. 2017, equations 3 and 5)."""
    kept = logits.argsort(dim=-1, descending=True, stable=True)[..., :k]
    closed = torch.ones_like(logits, dtype=torch.bool).scatter(-1, kept, False)
    return logits.masked_fill(closed, float("-inf")).softmax(-1)


def mix(outputs: Tensor, gates: Tensor) -> Tensor:
    """The experts' outputs B×N×E, weighted by their gates B×N → B×E; what has gate 0 has no effect."""
    return (gates[..., None] * outputs.masked_fill((gates == 0)[..., None], 0.0)).sum(1)


def mixture_loss(outputs: Tensor, gates: Tensor, target: Tensor) -> Tensor:
    """Mean of -log Σ g exp(-½ ‖target - output‖²): each expert is judged by itself (Jacobs et al. 1991, equation 1.3)."""
    distances = (target[:, None] - outputs).square().sum(-1)  # B N
    return -(gates.log() - distances / 2).logsumexp(-1).mean()


def importance_loss(gates: Tensor) -> Tensor:
    """Squared coefficient of variation of how much each expert is used, B×N → scalar (Shazeer et al. 2017, equation 7)."""
    used = gates.sum(0)
    return used.var(correction=0) / used.mean().square()


def balance_loss(probabilities: Tensor, chosen: Tensor) -> Tensor:
    """N Σ f P: the share of tokens that each expert gets, times its mean probability (Fedus et al. 2021, equation 4)."""
    N = probabilities.shape[-1]
    shares = F.one_hot(chosen, N).to(probabilities).mean(0)
    return N * (shares * probabilities.mean(0)).sum()


def within_capacity(chosen: Tensor, experts: int, capacity: int) -> Tensor:
    """True for each of B tokens that is among the first `capacity` of its expert."""
    before = F.one_hot(chosen, experts).cumsum(0)  # B N, how many so far, this one included
    return before.gather(1, chosen[:, None])[:, 0] <= capacity
