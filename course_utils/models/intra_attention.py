"""Recurrent networks that attend to their own past, and a small model that shows what that is good for.

Here: attention over a network's earlier states, the long short-term memory-network of Cheng et al. 2016, and the model of
`benchmarks/recall.py` that reads pairs and answers. Not here: attention of one network to another (`alignment.py`,
`recurrent.py`), or of all places to each other without a recurrent network (`transformer.py`).

Shape letters: B sequences, T places, N answers, D width of an input, H width of a state, A alignment width, V answers to choose from.
"""

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from course_utils.data.recall import TOKENS, VALUES, recall
from course_utils.models.attention import attention, causal_mask
from course_utils.models.train_model import train_model
from course_utils.models.validation import check_sizes


class LSTM(nn.LSTM):
    """One layer of torch's LSTM that returns its states alone, and None for weights."""

    def __init__(self, width: int, hidden: int):
        super().__init__(width, hidden, batch_first=True)
        self.output = hidden

    def forward(self, x: Tensor) -> tuple[Tensor, None]:
        """Read x B×T×D: states B×T×H, and None."""
        return super().forward(x)[0], None


class LookingBack(nn.Module):
    """An LSTM and, beside each of its states, a weighted sum of the states before it, by scaled dot product."""

    def __init__(self, width: int, hidden: int):
        super().__init__()
        self.lstm, self.query = LSTM(width, hidden), nn.Linear(hidden, hidden, bias=False)
        self.output = 2 * hidden

    def forward(self, x: Tensor) -> tuple[Tensor, Tensor]:
        """Read x B×T×D: states with their contexts B×T×2H, and how much each place attends to each before it, B×T×T."""
        states, _ = self.lstm(x)  # B T H
        earlier = causal_mask(x.shape[1]).tril(-1)  # T T
        contexts, weights = attention(
            self.query(states) / states.shape[-1] ** 0.5, states, states, earlier
        )  # B T H, B T T
        return torch.cat([states, contexts], -1), weights


class LSTMN(nn.Module):
    """An LSTM whose step begins not with the state before, but with a weighted sum of all states so far (section 3.1).

    The weights are the softmax of vᵀ tanh(W_h h_i + W_x x_t + W_s h̃_{t-1}) over the places i before t (equations 5 and 6), and
    both h_i and c_i are summed with them (equation 7): h̃_t and c̃_t, which replace h_{t-1} and c_{t-1} in an LSTM's step
    (equations 8 to 10). At the first place there is nothing to attend to: the sums are zero.

    Args:
        width: D, of an input.
        hidden: H, of a state, and A.

    Raises:
        CourseError: for a size below 1.
    """

    def __init__(self, width: int, hidden: int):
        super().__init__()
        check_sizes(1, width=width, hidden=hidden)
        self.cell = nn.LSTMCell(width, hidden)
        self.from_past = nn.Linear(hidden, hidden, bias=False)  # W_h
        self.from_input = nn.Linear(width, hidden)  # W_x
        self.from_summary = nn.Linear(hidden, hidden, bias=False)  # W_s
        self.v = nn.Linear(hidden, 1, bias=False)
        self.output = hidden

    def forward(self, x: Tensor) -> tuple[Tensor, Tensor]:
        """Read x B×T×D, one place after the other: states B×T×H, and how much each place attends to each before it, B×T×T."""
        B, T, _ = x.shape
        inputs = self.from_input(x)  # B T A
        summary, memory = (x.new_zeros(B, self.cell.hidden_size) for _ in range(2))  # h̃ and c̃, B H
        states, memories, keys, weights = [], [], [], x.new_zeros(B, T, T)
        for t in range(T):
            if t:
                query = inputs[:, t] + self.from_summary(summary)  # B A
                scores = self.v(torch.tanh(torch.stack(keys, 1) + query[:, None])).squeeze(-1)  # B t
                attended = scores.softmax(-1)  # B t
                weights[:, t, :t] = attended
                summary = (attended[..., None] * torch.stack(states, 1)).sum(1)  # B H
                memory = (attended[..., None] * torch.stack(memories, 1)).sum(1)  # B H
            h, c = self.cell(x[:, t], (summary, memory))
            states.append(h)
            memories.append(c)
            keys.append(self.from_past(h))
        return torch.stack(states, 1), weights  # B T H, B T T


class Recaller(nn.Module):
    """Reads pairs and then questions, and gives each question one of the answers (`data/recall.py`).

    `layer` is one of the classes above, with the widths D and H.
    """

    def __init__(self, layer, width: int = 16, hidden: int = 32):
        super().__init__()
        self.embedding = nn.Embedding(len(TOKENS), width)
        self.layer = layer(width, hidden)
        self.readout = nn.Linear(self.layer.output, VALUES)

    def forward(self, tokens: Tensor) -> tuple[Tensor, Tensor | None]:
        """Read tokens B×T, a third of which are questions, at the end: logits B×N×V, weights B×T×T or None."""
        states, weights = self.layer(self.embedding(tokens))
        return self.readout(states[:, -(tokens.shape[1] // 3) :]), weights


def fit(model, seed=0, steps=2000, batch=64, rate=1e-2, most=8) -> list[float]:
    """Train on sequences of 1 to `most` pairs, new in each step; return the loss of each step, in nats per answer."""

    def loss_of_batch(draw):
        tokens, answers, _ = recall(batch, int(torch.randint(1, most + 1, (1,), generator=draw)), draw)
        return F.cross_entropy(model(tokens)[0].flatten(0, 1), answers.flatten())

    return train_model(model, loss_of_batch, seed, steps, rate)
