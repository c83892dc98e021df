"""What the tasks share whose candidates are models from rows T×4 to rows T×4. No task is declared here."""

from functools import partial

import torch
import torch.nn.functional as F

from course_lessons.shared.fixed_weights import fixed
from course_utils.checks.running.contract import UsageError

WIDTH = 4
made = partial(fixed, spread=0.8)  # small enough that no attention weight comes near 0
QUERY, KEY, VALUE = made(1, WIDTH, 3), made(2, WIDTH, 3), made(3, WIDTH, WIDTH)
OF_INPUT, OF_STATE = made(4, WIDTH, WIDTH), made(5, WIDTH, WIDTH)
KERNEL = made(6, 3, WIDTH, WIDTH)


def scores(x):
    return (x @ QUERY) @ (x @ KEY).T / 3**0.5  # T T


def earlier(T):
    """True at the row's own place and before it."""
    return torch.ones(T, T, dtype=torch.bool).tril()


def attention(x, mask=None):
    """Self-attention; a mask is True where a row may attend to another."""
    found = scores(x) if mask is None else scores(x).masked_fill(~mask, -torch.inf)
    return found.softmax(-1) @ (x @ VALUE)


def causal_attention(x):
    return attention(x, earlier(len(x)))


def convolution(x, before):
    """A kernel over 3 rows, of which so many stand before the row itself; beyond the ends are zeros."""
    padded = F.pad(x, (0, 0, before, 2 - before))
    return sum(padded[i : i + len(x)] @ KERNEL[i] for i in range(3))


def causal_convolution(x):
    return convolution(x, 2)


def centred_convolution(x):
    return convolution(x, 1)


def recurrent(x):
    state, states = torch.zeros(WIDTH), []
    for row in x:
        state = torch.tanh(row @ OF_INPUT + state @ OF_STATE)
        states.append(state)
    return torch.stack(states)


def running_mean(x):
    return x.cumsum(0) / torch.arange(1, len(x) + 1)[:, None]


def next_rows(x):
    """Each row's next one; zeros after the last."""
    return torch.cat([x[1:], torch.zeros(1, WIDTH)])


def added_one_by_one(x):
    """The sum of the rows, one after another, from 4 on: in another order the last digits differ."""
    total = 4 + torch.zeros(WIDTH)
    for row in x:
        total = total + row
    return total - 4


def identity(x):
    return x


def each_by_itself(x):
    """The same small network for each row."""
    return torch.tanh(x @ OF_INPUT) @ VALUE


def without_gradient(model):
    """The numbers alone, from rows of width 4; what comes in stays as it is."""

    def call(x):
        if not isinstance(x, torch.Tensor) or x.dim() != 2 or x.shape[1] != WIDTH or len(x) < 1:
            raise UsageError(
                "Your test calls a model with something other than a tensor of T rows of width 4, T×4, with T at least 1."
            )
        if x.requires_grad:
            raise UsageError(
                "Your test passes a model rows that require a gradient. Gradients do not pass through these models: change the rows, call the model again and compare the outputs."
            )
        with torch.no_grad():
            return model(x.detach().float().clone())

    return call
