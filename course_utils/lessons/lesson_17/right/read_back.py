"""Right answers to 17.read_back in other styles than the solution's."""

import torch


def by_writing_and_reading(write_weights, read_weights):
    """A vector of width 1 is written to an empty memory, and read."""
    memory = torch.zeros(len(write_weights), 1, dtype=write_weights.dtype)
    memory = memory + write_weights[:, None] * torch.ones(1, dtype=write_weights.dtype)
    return (read_weights @ memory)[0]


def position_by_position(write_weights, read_weights):
    total = 0
    for i in range(len(write_weights)):
        total = total + write_weights[i] * read_weights[i]
    return total


# PyTorch's own
OWN = [
    torch.dot,
    lambda w, r: torch.nn.functional.linear(w, r[None])[0],
]
RIGHT = [
    *OWN,
    by_writing_and_reading,
    position_by_position,
    lambda w, r: torch.einsum("n,n->", w, r),
    lambda w, r: sum(a * b for a, b in zip(w, r, strict=True)),
]
INPUTS = {
    "write_weights": lambda draw: draw.numbers("N", 0).softmax(0),
    "read_weights": lambda draw: draw.numbers("N", 0).softmax(0),
}
WORKED = [(([0.5, 0.5, 0], [0, 0.2, 0.8]), "0.1")]
