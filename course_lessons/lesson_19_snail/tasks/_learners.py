"""What 19.catch_label_leak tries a learner's test on: models with weights of their own. No task is declared here.

Each is model(inputs T×3, labels T) → numbers T×V, for T up to LONGEST. They end in sums: a label that has an effect moves some number by more
than 1e-4 when it is changed to some other class. Each wrong one shows at T = 1, or at T = LONGEST.
"""

import torch
import torch.nn.functional as F

WIDTH, CLASSES, LONGEST = 3, 5, 10


def _made(seed, *shape):
    """A fixed weight."""
    return torch.randn(shape, generator=torch.Generator().manual_seed(seed)) * 0.6


OF_INPUT, OF_LABEL = _made(51, CLASSES, WIDTH), _made(52, CLASSES, CLASSES)
ASKS, FINDS, OF_STATE = _made(53, 4, WIDTH), _made(54, 4, WIDTH), 0.7 * torch.linalg.qr(_made(55, 4, 4)).Q
READS = _made(56, 4, CLASSES)


# What is seen of the labels, T×5, from inputs T×3 and the labels as one-hot rows T×5


def _moved(rows, by=1):
    """Rows moved so many steps later, with zeros before them."""
    return F.pad(rows, (0, 0, by, 0))[: len(rows)] if by > 0 else F.pad(rows, (0, 0, 0, -by))[-by:]


def _before(T, shift=-1):
    """True at the steps whose labels a step may see, T×T."""
    return torch.ones(T, T, dtype=torch.bool).tril(shift)


def _scores(inputs):
    return (inputs @ ASKS.T) @ (inputs @ FINDS.T).T / 2


def _attention(keep):
    """Attention to the labels of steps where keep(T) is True; zeros if there are none."""

    def seen(inputs, rows):
        scores = _scores(inputs).masked_fill(~keep(len(rows)), -torch.inf)
        return scores.softmax(1).nan_to_num(0.0) @ rows

    return seen


_earlier = _attention(_before)


def _convolution(inputs, rows):
    return _moved(rows) + 0.5 * _moved(rows, 2)


def _previous(inputs, rows):
    return _moved(rows)


def _running_mean(inputs, rows):
    return _moved(rows.cumsum(0)) / torch.arange(len(rows)).clamp(min=1)[:, None]


def _first(inputs, rows):
    """The first label, seen by all steps after it."""
    return torch.cat([torch.zeros_like(rows[:1]), rows[:1].expand_as(rows[1:])])


def _recurrent(inputs, rows):
    state, seen = torch.zeros(4), []
    for x, row in zip(inputs, _moved(rows), strict=True):
        state = OF_STATE @ state + torch.tanh(FINDS @ x) + READS @ row
        seen.append(state @ READS)
    return torch.stack(seen)


def _nearest(inputs, rows):
    """The label of the earlier step whose input is the nearest."""
    apart = torch.cdist(inputs, inputs).masked_fill(~_before(len(rows)), torch.inf)
    return rows[apart.argmin(1)] * (torch.arange(len(rows)) > 0)[:, None]


def _one_class(inputs, rows):
    """How often class 2 came before, and nothing else."""
    return _running_mean(inputs, rows) * F.one_hot(torch.tensor(2), CLASSES)


def _all_less_the_rest(inputs, rows):
    """A running sum, as the sum of all labels less the later ones: its last digits depend on these."""
    rows = rows * 0.7
    return (rows.sum(0) - rows.flip(0).cumsum(0).flip(0)) / 3


def _model(seen=_earlier, inputs_seen=lambda inputs: inputs, leak=None, blind=None, end=lambda y: y):
    """A model that sees seen(inputs, rows) of the labels, a leak beside it, and nothing at the steps where `blind` is True."""

    def model(inputs, labels):
        rows = F.one_hot(labels, CLASSES).to(inputs.dtype)
        told = seen(inputs, rows)
        if blind:
            told = told.masked_fill(blind(torch.arange(len(rows)))[:, None], 0.0)
        if leak:
            told = told + leak(inputs, rows)
        return end(inputs_seen(inputs) @ OF_INPUT.T.to(inputs.dtype) + told @ OF_LABEL.T.to(inputs.dtype))

    return model


# Right ones


def _in_float64(inputs, labels):
    """Row by row, over the labels before each."""
    inputs, rows = inputs.double(), F.one_hot(labels, CLASSES).double()
    found = (inputs @ ASKS.T.double()) @ (inputs @ FINDS.T.double()).T / 2
    told = [found[t, :t].softmax(0) @ rows[:t] for t in range(len(rows))]
    return (inputs @ OF_INPUT.T.double() + torch.stack(told) @ OF_LABEL.T.double()).float()


RIGHT = {
    _model(): "a correct model: attention to the earlier labels",
    _model(_convolution): "a correct model: a convolution over the earlier labels",
    _model(_recurrent): "a correct model: a recurrent network",
    _model(_previous): "a correct model: it sees only the previous label",
    _model(_first): "a correct model: it sees only the first label",
    _model(_running_mean): "a correct model: the mean of the earlier labels",
    _model(_nearest): "a correct model: it sees only the label of the nearest earlier input",
    _model(_one_class): "a correct model: it notices only one class",
    _model(_running_mean, torch.zeros_like): "a correct model: it ignores the inputs",
    _model(_earlier, lambda inputs: inputs + inputs.mean(0)): "a correct model: it sees all inputs",
    _model(_all_less_the_rest): "a correct model: it subtracts later labels from the sum over all",
    _in_float64: "a correct model: step by step, in float64",
    lambda inputs, labels: _model(_previous)(inputs, labels) + len(labels): "a correct model that knows the length",
    _model(_recurrent, end=lambda y: y.log_softmax(1)): "a correct model: log probabilities",
    lambda inputs, labels: _model()(inputs, labels)[:, :1]: "a correct model with a single number",
}


# Wrong ones


def _own(inputs, rows):
    return rows


def _where(kept, leak=_own, weight=0.5):
    """A leak at the steps where kept(steps) is True."""
    return lambda inputs, rows: weight * leak(inputs, rows) * kept(torch.arange(len(rows)))[:, None]


def _of_class(number):
    """The own label, if it is of this class."""
    return lambda inputs, rows: 0.5 * rows * F.one_hot(torch.tensor(number), CLASSES)


def _from_length(longest, leak=_own):
    return lambda inputs, rows: 0.5 * leak(inputs, rows) * (len(rows) > longest)


def _next(inputs, rows):
    return _moved(rows, -1)


def _mean_of_all(inputs, rows):
    return rows.mean(0).expand_as(rows)


def _less_the_mean(inputs, rows):
    return _running_mean(inputs, rows - rows.mean(0)) + _previous(inputs, rows)


def _masked_after(inputs, rows):
    """The labels take part in the scores, and later ones in the softmax."""
    scores = _scores(inputs) + rows @ torch.arange(CLASSES).float()
    return (scores.softmax(1) * _before(len(rows))) @ rows


def _asks_with_its_label(inputs, rows):
    """Each step looks for its own label among those before, and reads their inputs' labels."""
    scores = (rows @ rows.T).masked_fill(~_before(len(rows)), -torch.inf)
    return scores.softmax(1).nan_to_num(0.0) @ rows


def _repeated(inputs, rows):
    """Whether the own label is that of the step before."""
    return (rows * _moved(rows)).sum(1, keepdim=True).expand_as(rows)


def _blocks(T):
    """Each step sees the whole of its block of 3."""
    block = torch.arange(T) // 3
    return block[:, None] >= block


def _into_one_number(inputs, labels):
    y = _model()(inputs, labels)
    return torch.cat([y[:, :-1], y[:, -1:] + 0.3 * labels[:, None]], 1)


def _cancelling(inputs, labels):
    """What leaks is added to one number and subtracted from another."""
    leak = 0.3 * labels[:, None] * torch.tensor([1.0, -1.0, 0.0, 0.0, 0.0])
    return _model()(inputs, labels) + leak


def _fails_alone(inputs, labels):
    if len(labels) < 2:
        raise IndexError("index 1 is out of bounds for dimension 0 with size 1")
    return _model()(inputs, labels)


def _even(steps):
    return steps % 2 == 0


def _last(steps):
    return steps == len(steps) - 1


def _place(t):
    return lambda steps: steps == t


WRONG = {
    _model(_own): "an incorrect model: a step sees only its own label",
    _model(_attention(lambda T: _before(T, 0))): "an incorrect model: the mask is off by one, so a step sees its own label as well",
    _model(_attention(lambda T: torch.ones(T, T, dtype=torch.bool))): "an incorrect model: attention to all labels, its own and later ones included",
    _model(_attention(lambda T: _before(T).T)): "an incorrect model: its mask is inverted, so a step sees later labels",
    _model(_attention(_blocks)): "an incorrect model: a step sees the whole of its block of three labels",
    _model(_masked_after): "an incorrect model: its mask comes after the softmax, so its own and later labels are part of the total",
    _model(_asks_with_its_label): "an incorrect model: a step looks for its own label among the earlier ones",
    _model(_next): "an incorrect model: labels are shifted the wrong way, so a step sees the next one",
    _model(leak=_where(lambda steps: steps >= 0, _next)): "an incorrect model: a step also sees the next label",
    _model(lambda inputs, rows: rows.roll(1, 0)): "an incorrect model: the last label wraps around to step 0",
    _model(_mean_of_all): "an incorrect model: the mean of all labels, its own and later ones included",
    _model(leak=lambda inputs, rows: 0.2 * _mean_of_all(inputs, rows)): "an incorrect model: the mean of all labels is added to attention to the earlier ones",
    _model(_less_the_mean): "an incorrect model: the mean of all labels is subtracted, its own and later ones included",
    _model(end=lambda y: y.softmax(0)): "an incorrect model: its softmax runs over the steps, so later labels are part of the total",
    _model(end=lambda y: y - y.mean(0)): "an incorrect model: the mean over all steps is subtracted from its predictions",
    _model(leak=_repeated): "an incorrect model: a step sees whether its own label is the previous step's",
    _model(leak=_where(_place(0))): "an incorrect model: step 0 sees its own label",
    _model(leak=_where(_place(5))): "an incorrect model: step 5 sees its own label",
    _model(leak=_where(_place(9))): "an incorrect model: step 9 sees its own label",
    _model(leak=_where(_last)): "an incorrect model: the last step sees its own label",
    _model(leak=_where(_even)): "an incorrect model: even-numbered steps see their own labels",
    **{_model(leak=_of_class(number)): f"an incorrect model: a step sees whether its own label is {number}" for number in (0, 2, 3)},
    _model(leak=_from_length(8)): "an incorrect model: each step sees its own label, if there are more than eight steps",
    _model(leak=_from_length(8, _next)): "an incorrect model: each step sees the next label, if there are more than eight steps",
    _model(leak=lambda inputs, rows: 0.5 * rows * (len(rows) == 1)): "an incorrect model: a single step sees its own label",
    _model(leak=_where(lambda steps: steps >= 0, weight=0.005)): "an incorrect model: a two-hundredth of its own label gets through",
    _into_one_number: "an incorrect model: one number of a prediction sees its own label",
    _cancelling: "an incorrect model: what it sees of its own label is added to one number and subtracted from another",
    _model(lambda inputs, rows: torch.zeros_like(rows)): "an incorrect model: it sees no label",
    _model(lambda inputs, rows: 0 * _earlier(inputs, rows)): "an incorrect model: it looks at the earlier labels but uses nothing that it sees",
    _model(lambda inputs, rows: _moved(rows, 2)): "an incorrect model: it sees only the label two steps before, so step 1 sees none",
    _model(blind=_last): "an incorrect model: the last step sees no label",
    _model(blind=_place(1)): "an incorrect model: step 1 sees no label",
    _model(_running_mean, blind=_place(6)): "an incorrect model: step 6 sees no label",
    _model(_first, blind=_place(3)): "an incorrect model: step 3 sees no label, and the others see the first one",
    _model(_running_mean, blind=_even): "an incorrect model: even-numbered steps see no label",
    _model(_previous, blind=lambda steps: steps > 7): "an incorrect model: steps from 8 on see no label",
    _model(_running_mean, blind=lambda steps: steps < len(steps) - 1): "an incorrect model: only the last step sees the earlier labels",
    _model(lambda inputs, rows: _running_mean(inputs, rows) * (len(rows) < 9)): "an incorrect model: it sees no label, if there are more than eight steps",
    _fails_alone: "an incorrect model: it fails on a single step",
}  # fmt: skip
RARE = {_model(leak=_where(lambda steps: steps >= 0, weight=0.0006)): "an incorrect model: a two-thousandth of its own label gets through"}  # fmt: skip
