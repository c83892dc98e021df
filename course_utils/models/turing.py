"""A network with a memory that it reads and writes by attention: the neural Turing machine.

Here: the machine of Graves et al. 2014 (section 3), the LSTM that it is compared with, and their training; then the allocation and the
temporal links that Graves et al. 2016 added, and their computer, which has both. Not here: the sequences to copy and recall
(`data/sequences.py`).

Shape letters: B sequences, T steps, H heads (one reads, one writes), N places of the memory, W width of a place. Where a function says
`…`, any number of leading axes will do.
"""

from typing import NamedTuple

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from course_utils.data.sequences import Asked
from course_utils.models.train_model import train_model
from course_utils.models.validation import check_sizes


def content_weights(memory: Tensor, key: Tensor, strength: Tensor) -> Tensor:
    """Weights of the places that resemble a key: memory …×N×W, key …×W, strength … → …×N (equations 5 and 6)."""
    return (strength[..., None] * F.cosine_similarity(memory, key[..., None, :], dim=-1)).softmax(-1)


def interpolate(content: Tensor, previous: Tensor, gate: Tensor) -> Tensor:
    """A gate … of 1 gives the weights by content …×N, a gate of 0 keeps the previous ones (equation 7)."""
    return gate[..., None] * content + (1 - gate[..., None]) * previous


def shift(weights: Tensor, kernel: Tensor) -> Tensor:
    """Move weights …×N around a circle; kernel …×3 says how much of them moves by -1, 0 and +1 (equation 8)."""
    back, stay, forth = kernel[..., None, :].unbind(-1)
    return back * weights.roll(-1, -1) + stay * weights + forth * weights.roll(1, -1)


def sharpen(weights: Tensor, gamma: Tensor) -> Tensor:
    """Raise weights …×N to the power gamma … and make them sum to 1 again (equation 9)."""
    raised = weights.clamp(min=1e-16) ** gamma[..., None]
    return raised / raised.sum(-1, keepdim=True)


def read(memory: Tensor, weights: Tensor) -> Tensor:
    """The weighted sum of the places: memory …×N×W, weights …×N → …×W (equation 2)."""
    return (weights[..., None, :] @ memory)[..., 0, :]


def write(memory: Tensor, weights: Tensor, erase: Tensor, add: Tensor) -> Tensor:
    """Erase and add where the weights are: memory …×N×W, weights …×N, erase and add …×W → …×N×W (equations 3 and 4)."""
    at = weights[..., None]
    return memory * (1 - at * erase[..., None, :]) + at * add[..., None, :]


class MachineOutput(NamedTuple):
    """A machine's logits at each step, B×T×outputs, and, if it has a memory, the weights of its two heads, B×T×N each, and the memory."""

    logits: Tensor
    reads: Tensor | None = None
    writes: Tensor | None = None
    memory: Tensor | None = None  # B T N W, after each step


class Machine(nn.Module):
    """A neural Turing machine with one head that reads and one that writes.

    Args:
        inputs, outputs: how many numbers it reads and returns at each step.
        places, width: N and W of the memory.
        hidden: width of the controller, an LSTM.
        moves: whether heads may shift; without, they find places by content only.
        write: function as `write`.

    `start`, places×width, is the initial memory, the same at all places.

    Raises:
        CourseError: for a size below 1.
    """

    def __init__(self, inputs: int, outputs: int, places=64, width=16, hidden=64, moves=True, write=write):
        super().__init__()
        check_sizes(1, inputs=inputs, outputs=outputs, places=places, width=width, hidden=hidden)
        self.places, self.width, self.moves, self.write = places, width, moves, write
        self.register_buffer("start", torch.full((places, width), 1e-6), persistent=False)
        self.controller = nn.LSTMCell(inputs + width, hidden)
        self.heads = nn.Linear(hidden, 2 * (width + 6))  # of each head: key, strength, gate, kernel, gamma
        self.writer = nn.Linear(hidden, 2 * width)  # erase, add
        self.readout = nn.Linear(hidden + width, outputs)

    def forward(self, sequences: Tensor) -> MachineOutput:
        """Read B sequences, B×T×inputs, and return the output of each step."""
        B = len(sequences)
        memory = self.start.to(sequences).expand(B, -1, -1)
        at = torch.zeros(B, 2, dtype=torch.long, device=sequences.device)
        weights = F.one_hot(at, self.places).to(sequences)  # both at place 0
        seen, state, steps = read(memory, weights[:, 0]), None, []
        for now in sequences.unbind(1):
            state = self.controller(torch.cat([now, seen], -1), state)
            weights = self.address(memory, weights, self.heads(state[0]).view(B, 2, -1))
            erase, add = self.writer(state[0]).chunk(2, -1)
            memory = self.write(memory, weights[:, 1], erase.sigmoid(), add.tanh())
            seen = read(memory, weights[:, 0])
            steps.append((self.readout(torch.cat([state[0], seen], -1)), *weights.unbind(1), memory))
        return MachineOutput(*(torch.stack(each, 1) for each in zip(*steps, strict=True)))

    def address(self, memory: Tensor, previous: Tensor, commands: Tensor) -> Tensor:
        """Return where the heads go: memory B×N×W, previous weights B×H×N, commands B×H×(W + 6) → weights B×H×N."""
        key, strength, gate, kernel, gamma = commands.split([self.width, 1, 1, 3, 1], -1)
        weights = content_weights(memory[:, None], key.tanh(), F.softplus(strength[..., 0]))
        weights = interpolate(weights, previous, gate[..., 0].sigmoid())
        if self.moves:
            weights = shift(weights, kernel.softmax(-1))
        return sharpen(weights, 1 + F.softplus(gamma[..., 0]))


class Recurrent(nn.Module):
    """An LSTM that keeps what it reads in its state; it has one layer, where the paper's has three (section 4)."""

    def __init__(self, inputs: int, outputs: int, hidden=256):
        super().__init__()
        check_sizes(1, inputs=inputs, outputs=outputs, hidden=hidden)
        self.lstm, self.readout = nn.LSTM(inputs, hidden, batch_first=True), nn.Linear(hidden, outputs)

    def forward(self, sequences: Tensor) -> MachineOutput:
        return MachineOutput(self.readout(self.lstm(sequences)[0]))


def fit(model: nn.Module, draw_batch, seed=0, steps=2000, rate=1e-3, warmup=0, loss_of=None) -> list[float]:
    """Train a model; `draw_batch(generator)` draws a batch. Returns the loss of each step.

    Args:
        warmup: steps in which the rate grows.
        loss_of: function(model, batch) → a scalar; `loss`, in nats per bit, if none is given.
    """
    loss_of = loss_of or loss
    return train_model(model, lambda draw: loss_of(model, draw_batch(draw)), seed, steps, rate, warmup)


def loss(model: nn.Module, batch: Asked) -> Tensor:
    """Mean cross-entropy of the bits that a model should say, in nats."""
    logits = model(batch.given).logits[:, -batch.wanted.shape[1] :]
    return F.binary_cross_entropy_with_logits(logits, batch.wanted)


@torch.no_grad()
def wrong_bits(model: nn.Module, batch: Asked) -> float:
    """Share of wrong bits, from 0 to 1; a model that knows nothing gets half of them wrong."""
    predicted = model(batch.given).logits[:, -batch.wanted.shape[1] :] > 0
    return (predicted != batch.wanted.bool()).float().mean().item()


def usage(before: Tensor, write: Tensor, reads: Tensor, free: Tensor) -> Tensor:
    """How far each place is in use: before and write B×N, reads B×R×N, free gates B×R → B×N (Graves et al. 2016, methods).

    A write uses places, and a read whose gate is open frees what it has read.
    """
    retention = (1 - free[..., None] * reads).prod(-2)
    return (before + write - before * write) * retention


def allocation(usage: Tensor) -> Tensor:
    """Weights of places to write to, the free ones first: usage …×N, from 0 to 1 → …×N (Graves et al. 2016, methods, equation 1)."""
    used, order = usage.sort(dim=-1, stable=True)
    taken = torch.cat([torch.ones_like(used[..., :1]), used[..., :-1].cumprod(-1)], -1)  # of the places before
    return torch.zeros_like(usage).scatter(-1, order, (1 - used) * taken)


def temporal_link(link: Tensor, precedence: Tensor, weights: Tensor) -> tuple[Tensor, Tensor]:
    """Record which place was written after which: link B×N×N, precedence and the write's weights B×N → both after the write.

    `link[b, i, j]` says to what degree place i was written right after place j; the precedence says which place was written last.
    """
    w = weights
    changed = (1 - w[..., :, None] - w[..., None, :]) * link + w[..., :, None] * precedence[..., None, :]
    diagonal = torch.eye(w.shape[-1], dtype=torch.bool, device=w.device)
    return changed.masked_fill(diagonal, 0.0), (1 - w.sum(-1, keepdim=True)) * precedence + w


def follow_link(link: Tensor, weights: Tensor) -> tuple[Tensor, Tensor]:
    """Where the next and the previous write went: link B×N×N, weights of a read B×N → forward and backward, B×N each."""
    return (link @ weights[..., None])[..., 0], (weights[..., None, :] @ link)[..., 0, :]


class Computer(nn.Module):
    """A differentiable neural computer with one head that reads and one that writes (Graves et al. 2016, methods).

    Args:
        inputs, outputs: how many numbers it reads and returns at each step.
        places, width: N and W of the memory.
        hidden: width of the controller, an LSTM.
        links: whether the read head may follow the temporal links; without, it finds places by content only.

    Raises:
        CourseError: for a size below 1.
    """

    def __init__(self, inputs: int, outputs: int, places=32, width=16, hidden=64, links=True):
        super().__init__()
        check_sizes(1, inputs=inputs, outputs=outputs, places=places, width=width, hidden=hidden)
        self.places, self.width, self.links = places, width, links
        self.controller = nn.LSTMCell(inputs + width, hidden)
        self.interface = nn.Linear(
            hidden, 4 * width + 8
        )  # two keys, erase, add; read modes, two strengths, three gates
        self.readout = nn.Linear(hidden + width, outputs)

    def forward(self, sequences: Tensor) -> MachineOutput:
        """Read B sequences, B×T×inputs, and return the output of each step."""
        B, N, W = len(sequences), self.places, self.width
        memory, link = sequences.new_full((B, N, W), 1e-6), sequences.new_zeros(B, N, N)
        used = precedence = written = at = sequences.new_zeros(B, N)
        seen, state, steps = sequences.new_zeros(B, W), None, []
        for now in sequences.unbind(1):
            state = self.controller(torch.cat([now, seen], -1), state)
            wanted, key, erase, add, modes, strengths, gates = self.interface(state[0]).split([W, W, W, W, 3, 2, 3], -1)
            (free, allocate, enter), strengths = gates.sigmoid().split(1, -1), 1 + F.softplus(strengths)
            used = usage(used, written, at[:, None], free)
            alike = content_weights(memory, key.tanh(), strengths[:, 0])
            written = enter * (allocate * allocation(used) + (1 - allocate) * alike)
            memory = write(memory, written, erase.sigmoid(), add.tanh())
            found = content_weights(memory, wanted.tanh(), strengths[:, 1])
            if self.links:
                link, precedence = temporal_link(link, precedence, written)
                after, before = follow_link(link, at)
                backward, content, forward = modes.softmax(-1).split(1, -1)
                found = backward * before + content * found + forward * after
            at, seen = found, read(memory, found)
            steps.append((self.readout(torch.cat([state[0], seen], -1)), at, written, memory))
        return MachineOutput(*(torch.stack(each, 1) for each in zip(*steps, strict=True)))
