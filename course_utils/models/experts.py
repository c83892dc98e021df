"""Networks of which only some answer: mixtures of experts.

Here: the losses that make experts compete or share the work, a mixture for small lessons, and a layer of experts for lesson 12's
Transformer. Not here: the worlds that they learn (`data/regimes.py`).

Shape letters: B inputs or tokens, N experts, D width, E width of an expert's output, V words.
"""

from typing import NamedTuple

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from course_utils.models.train_model import train_model
from course_utils.models.transformer import EncoderLayer, FeedForward
from course_utils.models.validation import check_sizes


def mix(outputs: Tensor, gates: Tensor) -> Tensor:
    """The experts' outputs B×N×E, weighted by their gates B×N → B×E; an expert with gate 0 has no effect."""
    return (gates[..., None] * outputs.masked_fill((gates == 0)[..., None], 0.0)).sum(1)


def mixture_loss(outputs: Tensor, gates: Tensor, target: Tensor) -> Tensor:
    """Mean of -log Σ g exp(-½ ‖target - output‖²): experts compete, and one that is right is enough (Jacobs et al. 1991, equation 1.3)."""
    log_likelihoods, shut = -(target[:, None] - outputs).square().sum(-1) / 2, gates == 0
    return -(gates.masked_fill(shut, 1.0).log() + log_likelihoods).masked_fill(shut, float("-inf")).logsumexp(-1).mean()


def balance_loss(probabilities: Tensor, chosen: Tensor) -> Tensor:
    """N Σ f P: the share of tokens that each expert gets, times its mean probability (Fedus et al. 2021, equation 4)."""
    N = probabilities.shape[-1]
    shares = F.one_hot(chosen, N).to(probabilities).mean(0)
    return N * (shares * probabilities.mean(0)).sum()


def within_capacity(chosen: Tensor, experts: int, capacity: int) -> Tensor:
    """True for each of B tokens that is among the first `capacity` of its expert."""
    so_far = F.one_hot(chosen, experts).cumsum(0)  # B N, this one included
    return so_far.gather(1, chosen[:, None])[:, 0] <= capacity


class MixtureOutput(NamedTuple):
    """What each expert returns, B×N×E, and how much it counts, B×N."""

    outputs: Tensor
    gates: Tensor


class Mixture(nn.Module):
    """Experts of one architecture, and a linear gate that reads the same input (Jacobs et al. 1991).

    Args:
        width, out: D and E.
        experts: N.
        hidden: width of each expert's hidden layer with ReLU; 0 for linear experts.
    """

    def __init__(self, width: int, out: int, experts=4, hidden=0):
        super().__init__()
        check_sizes(1, width=width, out=out, experts=experts)
        self.experts = nn.ModuleList(
            nn.Sequential(nn.Linear(width, hidden), nn.ReLU(), nn.Linear(hidden, out))
            if hidden
            else nn.Linear(width, out)
            for _ in range(experts)
        )
        self.gate = nn.Linear(width, experts)

    def forward(self, x: Tensor) -> MixtureOutput:
        """Ask the experts: x B×D."""
        return MixtureOutput(torch.stack([expert(x) for expert in self.experts], 1), self.gate(x).softmax(-1))


def fit(
    mixture: Mixture, x: Tensor, target: Tensor, seed=0, steps=800, batch=64, rate=3e-3, compete=True
) -> list[float]:
    """Train on inputs B×D with targets B×E; return the loss of each step.

    With `compete` each expert is judged by itself; without, only the weighted sum is.
    """

    def loss_of_batch(draw):
        rows = torch.randint(len(x), (batch,), generator=draw)
        (outputs, gates), wanted = mixture(x[rows]), target[rows]
        if compete:
            return mixture_loss(outputs, gates, wanted)
        return (mix(outputs, gates) - wanted).square().sum(-1).mean() / 2

    return train_model(mixture, loss_of_batch, seed, steps, rate)


class ExpertsLayer(nn.Module):
    """Replaces a feed-forward network: each token goes to k of N experts.

    With k = 1, the expert's output is multiplied by its probability (Fedus et al. 2021, section 2.1); with more, the k probabilities
    are divided by their sum (Jiang et al. 2024, section 2.1).

    Args:
        width: D, of input and output.
        experts: the N networks.
        k: how many of them answer a token.
        capacity: how many times its fair share of a batch an expert accepts in training; choices beyond it add nothing. None for no limit.
        bias: whether the gate has one.
        noise: standard deviation of the noise added to the gate's scores in training.
        nudge: what is added after each training batch to the offset of each expert below its fair share, and subtracted for each above it.
            The offsets affect which experts are chosen, not their gates (Wang et al. 2024, algorithm 1).
    """

    def __init__(self, width: int, experts, k=1, capacity: float | None = None, bias=False, noise=0.0, nudge=0.0):
        super().__init__()
        self.experts, self.k = nn.ModuleList(experts), k
        check_sizes(1, width=width, experts=len(self.experts), k=k)
        self.gate, self.capacity = nn.Linear(width, len(self.experts), bias=bias), capacity
        self.noise, self.nudge, self.offsets = noise, nudge, torch.zeros(len(self.experts))
        self.balance, self.chosen, self.kept = torch.zeros(()), None, None  # of the last batch

    def forward(self, x: Tensor) -> Tensor:
        """Send each token of x B×T×D to its experts: B×T×D."""
        tokens, N = x.flatten(0, 1), len(self.experts)
        scores = self.gate(tokens)
        if self.training and self.noise:
            scores = scores + self.noise * torch.randn_like(scores)
        probabilities = scores.softmax(-1)
        self.chosen = (probabilities + self.offsets).topk(self.k).indices  # B·T k
        weights = probabilities.gather(1, self.chosen)  # B·T k
        if self.k > 1:
            weights = weights / weights.sum(-1, keepdim=True)
        choices = self.chosen.flatten()
        self.balance = balance_loss(probabilities, choices)
        self.kept = torch.ones_like(self.chosen, dtype=torch.bool)
        if self.capacity and self.training:
            room = int(self.capacity * len(choices) / N)
            self.kept = within_capacity(choices, N, room).view_as(self.chosen)
        if self.nudge and self.training:
            self.offsets = self.offsets + self.nudge * (len(choices) / N - choices.bincount(minlength=N)).sign()
        result = torch.zeros_like(tokens)
        for number, expert in enumerate(self.experts):
            rows, places = ((self.chosen == number) & self.kept).nonzero(as_tuple=True)
            if len(rows):
                answers = weights[rows, places, None] * expert(tokens[rows])
                result = result.index_put((rows,), answers, accumulate=True)
        return result.view_as(x)


class Translator(nn.Module):
    """One layer of lesson 12's encoder that reads a language and words and translates each word.

    Args:
        languages, words: how many there are.
        width, hidden: of the layer.
        experts: None for an ordinary feed-forward network.
        more: of `ExpertsLayer`, such as `k` and `capacity`.
    """

    def __init__(self, languages: int, words: int, width=32, hidden=32, experts: int | None = None, **more):
        super().__init__()
        self.embedding = nn.Embedding(languages + words, width)
        self.layer = EncoderLayer(width, 2, hidden, 0.0, "pre")
        if experts:
            networks = [FeedForward(width, hidden) for _ in range(experts)]
            self.layer.feed_forward = ExpertsLayer(width, networks, **more)
        self.readout = nn.Linear(width, words)

    def forward(self, tokens: Tensor) -> Tensor:
        """tokens B×(1 + T): a language, then words → logits B×T×V."""
        return self.readout(self.layer(self.embedding(tokens))[:, 1:])


def fit_translator(model: Translator, draw_batch, seed=0, steps=1000, rate=5e-3, balance=0.01) -> list[float]:
    """Train a translator; `draw_batch(generator)` returns what is given and wanted. Returns the loss of each step."""

    def loss_of_batch(draw):
        tokens, wanted = draw_batch(draw)
        loss = F.cross_entropy(model(tokens).flatten(0, 1), wanted.flatten())
        sent = model.layer.feed_forward
        return loss + balance * sent.balance if isinstance(sent, ExpertsLayer) else loss

    return train_model(model, loss_of_batch, seed, steps, rate)


@torch.no_grad()
def sent(model: Translator, languages: int, words: int) -> Tensor:
    """Which expert each word goes to in each language, languages×words, as the first of six words."""
    sentences = languages + (torch.arange(words)[:, None] + torch.arange(6)) % words  # W 6
    found = []
    for language in range(languages):
        model(torch.cat([torch.full((words, 1), language), sentences], 1))
        found.append(model.layer.feed_forward.chosen[:, 0].view(words, -1)[:, 1])
    return torch.stack(found)
