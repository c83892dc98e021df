"""The smallest translation model: one recurrent network reads a sentence into one vector, another writes the translation from it.

Here: the model of lesson 05, after Sutskever et al. 2014 (section 2), and its training in seconds. Their networks are four
layers of LSTMs, ours one layer of GRUs or of plain tanh cells. Not here: the models that look back at the source
(`recurrent.py`), training that can be stopped and resumed (`training/`), the search (`translation/search.py`).

Shape letters: B sentences, T target length, S source length, K hypotheses of a sentence, D width of embeddings, H width of
a state, V vocabulary. Source and target share the vocabulary; id 0 is padding.
"""

from itertools import zip_longest

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from course_utils.base.errors import CourseError
from course_utils.data.subwords import BOS, EOS, PAD
from course_utils.models.train_model import train_model
from course_utils.models.validation import check_sizes, check_tokens

CELLS = {"tanh": nn.RNN, "gru": nn.GRU}


class Seq2Seq(nn.Module):
    """Two recurrent networks and the one vector that passes between them.

    Args:
        vocabulary: the number of tokens V.
        width: D, of an embedding.
        hidden: H, of a state, and so of the vector that holds the sentence.
        cell: "gru" or "tanh".

    Raises:
        CourseError: for a size below 1, or an unknown cell.
    """

    def __init__(self, vocabulary: int, width: int = 32, hidden: int = 64, cell: str = "gru"):
        super().__init__()
        check_sizes(1, vocabulary=vocabulary, width=width, hidden=hidden)
        if cell not in CELLS:
            raise CourseError(f"cell must be one of {', '.join(CELLS)}, not {cell!r}")
        self.embedding = nn.Embedding(vocabulary, width)
        self.encoder = CELLS[cell](width, hidden, batch_first=True)
        self.decoder = CELLS[cell](width, hidden, batch_first=True)
        self.readout = nn.Linear(hidden, vocabulary)

    def encode(self, source: Tensor) -> Tensor:
        """Read the source B×S; return the state after each sentence's last word, B×H: its sentence vector.

        Raises CourseError for a sentence without a word, and for ids outside the vocabulary.
        """
        check_tokens(source, self.embedding.num_embeddings, words=True)
        lengths = (source != PAD).sum(1)  # B
        states, _ = self.encoder(self.embedding(source))  # B S H
        return states[torch.arange(len(source)), lengths - 1]  # B H

    def forward(self, source: Tensor, given: Tensor) -> Tensor:
        """Score each next word, given the correct words before it (teacher forcing): B×S and B×T → logits B×T×V."""
        check_tokens(given, self.embedding.num_embeddings)
        states, _ = self.decoder(self.embedding(given), self.encode(source)[None])  # B T H
        return self.readout(states)  # B T V

    def start(self, source: Tensor) -> tuple[dict, Tensor]:
        """Return what a search begins with: nothing to look at, and the sentence vector as the first state, B×1×H."""
        return {}, self.encode(source)[:, None]

    def step(self, tokens: Tensor, memory: dict, state: Tensor) -> tuple[Tensor, Tensor, None]:
        """Read one more token of each hypothesis: tokens B×K, state B×K×H → logits B×K×V, the next state; no weights."""
        B, K = tokens.shape
        words = self.embedding(tokens).flatten(0, 1)[:, None]  # B·K 1 D
        states, _ = self.decoder(words, state.flatten(0, 1)[None].contiguous())  # B·K 1 H
        states = states.view(B, K, -1)
        return self.readout(states), states, None


def make_batch(sources: list[list[int]], targets: list[list[int]]) -> tuple[Tensor, Tensor, Tensor]:
    """Return source B×S, each row ending in EOS, what the decoder is given, BOS first, and what it should say, EOS last, B×T."""
    rows = ([*ids, EOS] for ids in sources), ([BOS, *ids] for ids in targets), ([*ids, EOS] for ids in targets)
    # One tensor for each side: one for each sentence takes three times as long.
    source, given, wanted = (torch.tensor([*zip_longest(*side, fillvalue=PAD)]).T.contiguous() for side in rows)
    return source, given, wanted


def fit(model, sources, targets, seed=0, steps=600, batch=64, rate=1e-2, warmup=0) -> list[float]:
    """Train a model on pairs of lists of ids by teacher forcing; return the loss of each step, in nats per word.

    The pairs of a batch are drawn at random. The rate grows over `warmup` steps and then falls.
    """

    def loss_of_batch(draw):
        rows = torch.randint(len(sources), (batch,), generator=draw).tolist()
        source, given, wanted = make_batch([sources[i] for i in rows], [targets[i] for i in rows])
        return F.cross_entropy(model(source, given).flatten(0, 1), wanted.flatten(), ignore_index=PAD)

    return train_model(model, loss_of_batch, seed, steps, rate, warmup)
