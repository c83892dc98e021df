"""A network that describes a picture word by word and looks at a part of it for each word (Xu et al. 2015, Show, Attend and Tell).

Here: the encoder that makes annotations of a picture, the decoder, which looks softly or at one place, its losses and its training.
Not here: the pictures (`data/scenes.py`).

Shape letters: B pictures, L places of a picture, E width of an annotation, T words, H width of a state, D width of a word, A alignment
width, V words of the vocabulary.
"""

from typing import NamedTuple

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from course_utils.data.scenes import GRID, THINGS, WORDS, Scenes, things
from course_utils.data.subwords import PAD
from course_utils.models.train_model import train_model

VOCABULARY = len(WORDS)
WIDTH = 64 + 2 * GRID  # of an annotation: what is seen, its row and its column


class Encoder(nn.Module):
    """Convolutions that give one annotation for each cell of a picture (section 3.1.1).

    They are pretrained to tell single things apart and then frozen, like the paper's VGG network. Their output for a cell
    does not depend on where the cell is, so row and column are added as one-hot vectors (lesson 11).
    """

    def __init__(self):
        super().__init__()
        self.see = nn.Sequential(
            *(nn.Conv2d(1, 16, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2)),
            *(nn.Conv2d(16, 32, 3, padding=1), nn.ReLU(), nn.Conv2d(32, 64, 3, padding=1), nn.ReLU(), nn.MaxPool2d(5)),
        )
        self.name = nn.Linear(64, len(THINGS))

    def fit(self, seed=0, steps=1000, batch=128) -> list[float]:
        """Learn to name single things, 10×10 pixels; return the loss of each step."""

        def loss_of_batch(draw):
            images, which = things(batch, draw)
            return F.cross_entropy(self.name(self.see(images[:, None]).flatten(1)), which)

        return train_model(self, loss_of_batch, seed, steps, rate=3e-3)

    @torch.no_grad()
    def forward(self, images: Tensor, places=True) -> Tensor:
        """Return annotations: images B×50×50 → B×25×E. Without `places` the last ten numbers are zeros."""
        few = images[:, None].split(20)  # at a time, to save memory
        seen = torch.cat([self.see(part).flatten(2).mT for part in few])
        seen = F.layer_norm(seen, (64,))  # B L 64
        cells = torch.arange(GRID * GRID)
        where = torch.cat([F.one_hot(cells // GRID, GRID), F.one_hot(cells % GRID, GRID)], 1).float()  # L 10
        return torch.cat([seen, (where * places).expand(len(images), -1, -1)], -1)


class Output(NamedTuple):
    """A captioner's logits B×T×V, weights B×T×L and gates B×T×1, and the places it drew, B×T, or None for soft attention."""

    logits: Tensor
    weights: Tensor
    gates: Tensor
    places: Tensor | None = None


class Look(nn.Module):
    """A state's look at a picture: lesson 04's perceptron as the score, and a gate (equations 4, 5 and 13, section 4.2.1)."""

    def __init__(self, annotation, hidden, alignment, gate=True):
        super().__init__()
        self.key, self.query = nn.Linear(annotation, alignment), nn.Linear(hidden, alignment, bias=False)
        self.v = nn.Linear(alignment, 1, bias=False)
        self.gate = nn.Linear(hidden, 1) if gate else None

    def weights(self, keys: Tensor, state: Tensor) -> Tensor:
        """Return the weights of all places: keys B×L×A, state B×H → B×L."""
        return self.v(torch.tanh(keys + self.query(state)[:, None])).squeeze(-1).softmax(-1)

    def forward(self, annotations, keys, state, hard=False, draw=None):
        """Return the gated context B×E, the weights B×L, the gate B×1, and the place it read, B, or None."""
        weights, place = self.weights(keys, state), None
        if hard:
            place = weights.argmax(-1) if draw is None else torch.multinomial(weights, 1, generator=draw)[:, 0]
            context = annotations[torch.arange(len(place)), place]  # B E
        else:
            context = (weights[:, None] @ annotations)[:, 0]  # B E
        gate = torch.ones_like(state[:, :1]) if self.gate is None else torch.sigmoid(self.gate(state))
        return gate * context, weights, gate, place


class Captioner(nn.Module):
    """An LSTM that looks at a picture's annotations before each word.

    Args:
        gate: whether the state says how much of the context a word needs.
        look: the class that looks.
    """

    def __init__(self, words=VOCABULARY, annotation=WIDTH, width=32, hidden=64, alignment=64, gate=True, look=Look):
        super().__init__()
        self.embedding = nn.Embedding(words, width)
        self.first_state, self.first_memory = nn.Linear(annotation, hidden), nn.Linear(annotation, hidden)
        self.look = look(annotation, hidden, alignment, gate)
        self.lstm = nn.LSTMCell(width + annotation, hidden)
        self.from_state, self.from_look = nn.Linear(hidden, width), nn.Linear(annotation, width, bias=False)
        self.readout = nn.Linear(width, words)

    def forward(
        self, annotations: Tensor, given: Tensor, hard=False, draw: torch.Generator | None = None, looks=None
    ) -> Output:
        """Score each next word, given the correct words before it.

        Args:
            annotations: B×L×E.
            given: B×T, ids of words, BOS first.
            hard: whether one place is drawn for each word, instead of a weighted sum of all.
            draw: the random generator; without it, hard attention reads the place with the largest weight.
            looks: B×T×L×E, what each look reads instead of the annotations, which then only give the first state.
        """
        keys, state, steps = self.look.key(annotations), self.first(annotations), []
        for t, word in enumerate(self.embedding(given).unbind(1)):
            if looks is not None:
                annotations, keys = looks[:, t], self.look.key(looks[:, t])
            step, state = self.step(annotations, keys, state, word, hard, draw)
            steps.append(step)
        *parts, places = zip(*steps, strict=True)
        return Output(*(torch.stack(part, 1) for part in parts), torch.stack(places, 1) if hard else None)

    def first(self, annotations: Tensor) -> tuple[Tensor, Tensor]:
        """Return the first state and memory, B×H each, of annotations B×L×E."""
        mean = annotations.mean(1)
        return torch.tanh(self.first_state(mean)), torch.tanh(self.first_memory(mean))

    def step(self, annotations, keys, state, word, hard=False, draw=None):
        """Return an Output without the axis T for one more word, and the new state and memory: word B×D, keys B×L×A."""
        context, weights, gate, place = self.look(annotations, keys, state[0], hard, draw)
        state = self.lstm(torch.cat([word, context], -1), state)
        logits = self.readout(torch.tanh(word + self.from_state(state[0]) + self.from_look(context)))
        return Output(logits, weights, gate, place), state


def soft_loss(output: Output, wanted: Tensor, penalty=0.0) -> Tensor:
    """Return the cross-entropy of the words, plus `penalty` times Σ (1 - a place's total weight)² (equation 14)."""
    loss = F.cross_entropy(output.logits.flatten(0, 1), wanted.flatten(), ignore_index=PAD)
    looked = (output.weights * (wanted != PAD)[..., None]).sum(1)  # B L
    return loss + penalty * (1 - looked).square().sum(1).mean()


def hard_loss(output: Output, wanted: Tensor, baseline: float, entropy=0.01) -> tuple[Tensor, float]:
    """Return the loss of hard attention, and the mean reward (equations 11 and 12).

    A place is rewarded with the log probability of its own word. The paper rewards all places of a caption with that of all its words,
    which is noisier. `baseline` is a running mean of past rewards. The entropy of the weights is rewarded too, so that the captioner
    keeps exploring.
    """
    real = wanted != PAD  # B T
    log_likelihood = output.logits.log_softmax(-1).gather(-1, wanted[..., None]).squeeze(-1) * real  # B T
    log_weights = output.weights.clamp(min=1e-9).log()  # B T L
    drawn = log_weights.gather(-1, output.places[..., None]).squeeze(-1) * real  # B T
    policy = ((log_likelihood.detach() - baseline) * drawn).sum() / real.sum()
    spread = -((output.weights * log_weights).sum(-1) * real).sum() / real.sum()
    reward = log_likelihood.sum() / real.sum()
    return -reward - policy - entropy * spread, reward.item()


def fit(model, annotations: Tensor, seen: Scenes, seed=0, steps=600, batch=64, hard=0.0, loss=soft_loss, rate=5e-3):
    """Train a captioner on annotated scenes, N×L×E; return the loss of each step.

    `loss` is a function(output, wanted) for batches with soft attention. `hard` is the share of batches for which places are drawn; in
    the paper it is a half (section 4.1), because the others keep the noise low.
    """
    baseline = [-3.0]  # near the log probability of a word among 21

    def loss_of_batch(draw):
        rows = torch.randint(len(annotations), (batch,), generator=draw)
        wanted = seen.wanted[rows]
        if not torch.rand((), generator=draw) < hard:
            return loss(model(annotations[rows], seen.given[rows]), wanted)
        found, reward = hard_loss(model(annotations[rows], seen.given[rows], True, draw), wanted, baseline[0])
        baseline[0] = 0.9 * baseline[0] + 0.1 * reward
        return found

    return train_model(model, loss_of_batch, seed, steps, rate)


class Score(NamedTuple):
    """Shares, from 0 to 1: of right words and whole captions; of words for things whose largest weight is on the thing, at the word
    itself and one word earlier; and the mean weight on the thing."""

    words: float
    captions: float
    pointing: float
    one_earlier: float
    on_thing: float


@torch.no_grad()
def score(model: Captioner, annotations: Tensor, seen: Scenes, hard=False) -> Score:
    """Return how well a captioner names and points, given the correct words before each word."""
    output = model(annotations, seen.given, True) if hard else model(annotations, seen.given)
    real, right = seen.wanted != PAD, output.logits.argmax(-1) == seen.wanted  # B T each
    picture, word = seen.named.nonzero(as_tuple=True)
    true = seen.true[picture, word]
    at = [output.weights[picture, place] for place in (word, word - 1)]  # each names×L; an "a" precedes each name
    pointing, one_earlier = ((weights.argmax(-1) == true).float().mean().item() for weights in at)
    on_thing = at[0].gather(1, true[:, None]).mean().item()
    words, captions = right[real].float().mean().item(), (right | ~real).all(1).float().mean().item()
    return Score(words, captions, pointing, one_earlier, on_thing)


@torch.no_grad()
def words_kept(model, annotations: Tensor, seen: Scenes, where: Tensor, cells, empty: Tensor, only=None) -> float:
    """Return the share of words that are right when one cell is emptied for each of them.

    Args:
        annotations: N×L×E.
        where: N×T, True at the words that are looked at, such as `seen.named`.
        cells: one for each of these words, in the order of `where.nonzero()`; with None nothing is emptied.
        empty: L×E, the annotations of an empty picture.
        only: where the cell is emptied: "start", in the mean annotation only; 0, in the look at the word; 1, in the look one word
            earlier; None, everywhere.
    """
    picture, word = where.nonzero(as_tuple=True)
    rows, whole, given = torch.arange(len(word)), annotations[picture], seen.given[picture]
    changed = whole.clone()
    if cells is not None:
        changed[rows, cells] = empty[cells]
    if only is None:
        output = model(changed, given)
    else:
        looks = whole[:, None].repeat(1, given.shape[1], 1, 1)  # words T L E
        if only != "start":
            looks[rows, word - only] = changed
        output = model(changed if only == "start" else whole, given, looks=looks)
    predicted = output.logits[rows, word].argmax(-1)
    return (predicted == seen.wanted[picture, word]).float().mean().item()
