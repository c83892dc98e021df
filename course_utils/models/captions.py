"""A network that describes a picture word by word and looks at a part of it for each word (Xu et al. 2015, Show, Attend and Tell).

Here: the encoder that makes annotations of a picture, the decoder, which looks softly or at one place, its losses and its training.
Not here: the pictures (`data/scenes.py`), the search for the best caption (`translation/search.py`).

Shape letters: B pictures, L places of a picture, E width of an annotation, T words, H width of a state, D width of a word, A alignment
width, K hypotheses of a picture, V words of the vocabulary.
"""

from typing import NamedTuple

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from course_utils.data.scenes import GRID, THINGS, WORDS, Scenes, things
from course_utils.data.subwords import PAD
from course_utils.models.learn import learn

VOCABULARY = len(WORDS)
WIDTH = 64 + 2 * GRID  # of an annotation: what is seen, its row and its column


class Encoder(nn.Module):
    """Convolutions that give one annotation for each cell of a picture (section 3.1.1).

    They are trained beforehand to tell single things apart, and then stay as they are, as the paper's VGG network did. What they say
    of a cell does not depend on where the cell lies, so row and column are added as ones among zeros (lesson 11).
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

        return learn(self, loss_of_batch, seed, steps, rate=3e-3)

    @torch.no_grad()
    def forward(self, images: Tensor, places=True) -> Tensor:
        """Return annotations: images B×50×50 → B×25×E. Without `places` the last ten numbers are zeros."""
        few = images[:, None].split(20)  # at a time, as all together take much memory
        seen = torch.cat([self.see(part).flatten(2).mT for part in few])
        seen = F.layer_norm(seen, (64,))  # B L 64
        cells = torch.arange(GRID * GRID)
        where = torch.cat([F.one_hot(cells // GRID, GRID), F.one_hot(cells % GRID, GRID)], 1).float()  # L 10
        return torch.cat([seen, (where * places).expand(len(images), -1, -1)], -1)


class Told(NamedTuple):
    """What a captioner said and where it looked: logits B×T×V; weights B×T×L; the places it drew, B×T, or None where it looked softly."""

    logits: Tensor
    weights: Tensor
    places: Tensor | None = None


class Captioner(nn.Module):
    """An LSTM that attends to a picture's annotations before each word.

    Args:
        gate: whether the state says how much of the context a word needs (section 4.2.1).
    """

    def __init__(self, words=VOCABULARY, annotation=WIDTH, width=32, hidden=64, alignment=64, gate=True):
        super().__init__()
        self.embedding = nn.Embedding(words, width)
        self.first_state, self.first_memory = nn.Linear(annotation, hidden), nn.Linear(annotation, hidden)
        self.key, self.query = nn.Linear(annotation, alignment), nn.Linear(hidden, alignment, bias=False)
        self.v = nn.Linear(alignment, 1, bias=False)
        self.gate = nn.Linear(hidden, 1) if gate else None
        self.cell = nn.LSTMCell(width + annotation, hidden)
        self.from_state, self.from_context = nn.Linear(hidden, width), nn.Linear(annotation, width, bias=False)
        self.readout = nn.Linear(width, words)

    def begin(self, annotations: Tensor) -> tuple[Tensor, Tensor]:
        """Return the first state and memory, B×H each, made of the mean annotation."""
        mean = annotations.mean(1)  # B E
        return self.first_state(mean).tanh(), self.first_memory(mean).tanh()

    def attend(self, state: Tensor, keys: Tensor) -> Tensor:
        """Return the weights of all places: state B×H, keys B×L×A → B×L (equations 4 and 5, with lesson 04's perceptron as the score)."""
        return self.v((keys + self.query(state)[:, None]).tanh()).squeeze(-1).softmax(-1)

    def say(self, word: Tensor, context: Tensor, state: Tensor, memory: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """Read a word B×D and a context B×E: logits B×V, the next state and memory (equations 1 to 3 and 7)."""
        if self.gate is not None:
            context = self.gate(state).sigmoid() * context
        state, memory = self.cell(torch.cat([word, context], -1), (state, memory))
        return self.readout((word + self.from_state(state) + self.from_context(context)).tanh()), state, memory

    def forward(self, annotations: Tensor, given: Tensor, hard=False, draw: torch.Generator | None = None) -> Told:
        """Score each next word, given the right words before it.

        Args:
            annotations: B×L×E.
            given: B×T, ids of words, BOS first.
            hard: whether one place is drawn for each word, instead of a weighted sum of all.
            draw: where chance comes from; without it, hard attention takes the place of the largest weight.
        """
        (state, memory), keys = self.begin(annotations), self.key(annotations)
        logits, weights, places = [], [], []
        for word in self.embedding(given).unbind(1):
            share = self.attend(state, keys)  # B L
            if hard:
                place = share.argmax(-1) if draw is None else torch.multinomial(share, 1, generator=draw)[:, 0]
                context = annotations[torch.arange(len(place)), place]  # B E
                places.append(place)
            else:
                context = (share[:, None] @ annotations)[:, 0]  # B E
            scores, state, memory = self.say(word, context, state, memory)
            logits.append(scores)
            weights.append(share)
        return Told(torch.stack(logits, 1), torch.stack(weights, 1), torch.stack(places, 1) if hard else None)


def soft_loss(told: Told, wanted: Tensor, penalty=0.0) -> Tensor:
    """Return the cross-entropy of the words, plus `penalty` times what the places are over- or overlooked (equation 14)."""
    loss = F.cross_entropy(told.logits.flatten(0, 1), wanted.flatten(), ignore_index=PAD)
    looked = (told.weights * (wanted != PAD)[..., None]).sum(1)  # B L
    return loss + penalty * (1 - looked).square().sum(1).mean()


def hard_loss(told: Told, wanted: Tensor, baseline: float, entropy=0.01) -> tuple[Tensor, float]:
    """Return the loss of hard attention, and the mean reward (equations 11 and 12).

    A place is rewarded with the log probability of its own word; the paper rewards all places of a caption with that of all its words,
    which is noisier. `baseline` is a running mean of past rewards. The entropy of the weights is rewarded too, so that the captioner
    goes on trying.
    """
    real = wanted != PAD  # B T
    said = told.logits.log_softmax(-1).gather(-1, wanted[..., None]).squeeze(-1) * real  # B T
    log_weights = told.weights.clamp(min=1e-9).log()  # B T L
    drawn = log_weights.gather(-1, told.places[..., None]).squeeze(-1) * real  # B T
    policy = ((said.detach() - baseline) * drawn).sum() / real.sum()
    spread = -((told.weights * log_weights).sum(-1) * real).sum() / real.sum()
    reward = said.sum() / real.sum()
    return -reward - policy - entropy * spread, reward.item()


def fit(model: Captioner, annotations: Tensor, seen: Scenes, seed=0, steps=600, batch=64, hard=0.0, penalty=0.0):
    """Train a captioner on annotated scenes, N×L×E; return the loss of each step.

    `hard` is the share of batches for which places are drawn; in the paper it is a half (section 4.1), as the others keep the noise low.
    """
    baseline = [-3.0]  # near the log probability of a word among 21

    def loss_of_batch(draw):
        rows = torch.randint(len(annotations), (batch,), generator=draw)
        wanted = seen.wanted[rows]
        drawn = bool(torch.rand((), generator=draw) < hard)
        told = model(annotations[rows], seen.given[rows], drawn, draw)
        if not drawn:
            return soft_loss(told, wanted, penalty)
        loss, reward = hard_loss(told, wanted, baseline[0])
        baseline[0] = 0.9 * baseline[0] + 0.1 * reward
        return loss

    return learn(model, loss_of_batch, seed, steps, rate=5e-3)


class Score(NamedTuple):
    """Shares, from 0 to 1: of right words and whole captions; of words for things whose largest weight lies on the thing, at the word
    itself and one word earlier; and the mean weight on the thing."""

    words: float
    captions: float
    pointing: float
    one_earlier: float
    on_thing: float


@torch.no_grad()
def score(model: Captioner, annotations: Tensor, seen: Scenes, hard=False) -> Score:
    """Say how well a captioner names and points, given the right words before each word."""
    told = model(annotations, seen.given, hard)
    real, right = seen.wanted != PAD, told.logits.argmax(-1) == seen.wanted  # B T each
    picture, word = seen.named.nonzero(as_tuple=True)
    true = seen.true[picture, word]
    at = [told.weights[picture, place] for place in (word, word - 1)]  # each names×L; before each name stands an "a"
    pointing, one_earlier = ((weights.argmax(-1) == true).float().mean().item() for weights in at)
    on_thing = at[0].gather(1, true[:, None]).mean().item()
    words, captions = right[real].float().mean().item(), (right | ~real).all(1).float().mean().item()
    return Score(words, captions, pointing, one_earlier, on_thing)


class Described(nn.Module):
    """A captioner as the search wants it, whose "source" is a picture: a row of ids, one for each annotation."""

    def __init__(self, model: Captioner, annotations: Tensor):
        super().__init__()
        B, L, _ = annotations.shape
        self.model, self.annotations = model, annotations.flatten(0, 1)  # B·L E
        self.source = 1 + torch.arange(B * L).view(B, L)  # from 1, as 0 is padding

    def start(self, source: Tensor) -> tuple[dict, tuple]:
        """Return the annotations with their keys, and the first state and memory, B×1×H each."""
        annotations = self.annotations[source - 1]  # B L E
        state, memory = self.model.begin(annotations)
        return {"annotations": annotations, "keys": self.model.key(annotations)}, (state[:, None], memory[:, None])

    def step(self, tokens: Tensor, memory: dict, state: tuple) -> tuple[Tensor, tuple, Tensor]:
        """Read one more word of each hypothesis: tokens B×K → logits B×K×V, the next state, weights B×K×L."""
        B, K = tokens.shape
        annotations, keys = (value.repeat_interleave(K, 0) for value in (memory["annotations"], memory["keys"]))
        h, c = (part.flatten(0, 1) for part in state)  # B·K H each
        weights = self.model.attend(h, keys)  # B·K L
        context = (weights[:, None] @ annotations)[:, 0]  # B·K E
        logits, h, c = self.model.say(self.model.embedding(tokens.flatten()), context, h, c)
        logits, h, c, weights = (part.view(B, K, -1) for part in (logits, h, c, weights))
        return logits, (h, c), weights
