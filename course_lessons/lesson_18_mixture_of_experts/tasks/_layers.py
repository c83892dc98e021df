"""What 18.catch_wrong_routing tries a learner's test on: layers of experts with weights of their own. No task is declared here.

Each is layer(x B×4) → (y B×4, gates B×N, outputs B×N×4). At most MOST_EXPERTS experts, and room for at most ROOM rows at each, so that
MOST_EXPERTS·ROOM + 1 rows show every layer that leaves rows out.
"""

import torch
import torch.nn.functional as F

WIDTH, MOST_EXPERTS, ROOM = 4, 6, 8
TOPS = 2  # experts that a row keeps


def _made(seed, *shape):
    """A fixed weight."""
    return torch.randn(shape, generator=torch.Generator().manual_seed(seed)) * 0.6


EXPERTS, BIASES = _made(41, MOST_EXPERTS, WIDTH, WIDTH), _made(42, MOST_EXPERTS, WIDTH)
ROUTER = 2 * _made(43, MOST_EXPERTS, WIDTH)


def _outputs(x, N):
    """What each expert puts out for each row, B×N×4."""
    return torch.einsum("ndk,bk->bnd", EXPERTS[:N].to(x.dtype), x) + BIASES[:N].to(x.dtype)


def _logits(x, N):
    return x @ ROUTER[:N].T.to(x.dtype)


def _sum(gates, outputs, x):
    return torch.einsum("bn,bnd->bd", gates, outputs)


# Gates, B×N, from x and the number of experts


def _softmax(x, N):
    return _logits(x, N).softmax(1)


def _best(x, N, k=TOPS):
    """Which experts are among the k best of each row."""
    return torch.zeros(len(x), N, dtype=torch.bool).scatter(1, _logits(x, N).topk(k, dim=1).indices, True)


def _top_two(x, N):
    return _logits(x, N).masked_fill(~_best(x, N), -torch.inf).softmax(1)


def _top_one(x, N):
    """The best gate of the softmax as it is, so that a row sums to less than 1."""
    return _softmax(x, N) * _best(x, N, 1)


def _sigmoid(x, N):
    return _logits(x, N).sigmoid()


def _two_sigmoids(x, N):
    return _sigmoid(x, N) * _best(x, N)


def _either_sign(x, N):
    return _logits(x, N).tanh()


def _with_room(x, N):
    """Rows for which the best expert has no room get no gate."""
    return _top_one(x, N) * _has_room(_best(x, N, 1))


def _has_room(chosen, room=ROOM):
    """Which of the rows that chose each expert, B×N, are among its first ones."""
    return chosen & (chosen.cumsum(0) <= room)


def _experts_choose(x, N):
    """Each expert takes the rows that suit it best: some rows get none, others several."""
    kept = max(1, len(x) // 2)
    scores = _softmax(x, N)
    return torch.zeros_like(scores).scatter(0, scores.topk(kept, dim=0).indices, 1.0) * scores


def _layer(gate=_top_two, N=5, combine=_sum, ending=lambda y, x: y, told=lambda gates: gates):
    """Return a layer that is right but for the parts that are given; `told` makes the returned gates."""

    def layer(x):
        gates, outputs = gate(x, N), _outputs(x, N)
        return ending(combine(gates, outputs, x), x), told(gates), outputs

    return layer


# Right ones

softmax, top_two, top_one = _layer(_softmax, 5), _layer(_top_two, 5), _layer(_top_one, 6)
sigmoids, either_sign, one_expert = _layer(_sigmoid, 3), _layer(_either_sign, 4), _layer(_softmax, 1)
with_room, experts_choose, two_sigmoids = _layer(_with_room, 6), _layer(_experts_choose, 4), _layer(_two_sigmoids, 5)


def dispatched(x):
    """Each expert runs on its own rows only, and adds to them."""
    gates, outputs, y = _top_two(x, 5), torch.zeros(len(x), 5, WIDTH), torch.zeros_like(x)
    for i in range(5):
        rows = gates[:, i].nonzero()[:, 0]
        outputs[rows, i] = x[rows] @ EXPERTS[i].T + BIASES[i]
        y.index_add_(0, rows, gates[rows, i, None] * outputs[rows, i])
    return y, gates, outputs


def left_over(x):
    """Where a gate is 0, numbers of other rows are left in the outputs."""
    gates, outputs = _top_one(x, 4), _outputs(x, 4)
    old = outputs.flip(0) + 7
    outputs = torch.where(gates[..., None] == 0, old, outputs)
    return (gates[..., None] * outputs).sum(1), gates, outputs


# Wrong ones: what y is made of


def _with_gates(change, gate=_top_two, N=5):
    """A layer that mixes with other gates than it returns."""
    return _layer(gate, N, lambda gates, outputs, x: _sum(change(gates), outputs, x))


def _with_outputs(change, gate=_top_two, N=5):
    return _layer(gate, N, lambda gates, outputs, x: _sum(gates, change(outputs), x))


def _ending(change, gate=_top_two, N=5):
    return _layer(gate, N, ending=change)


def _over_their_sum(gates):
    return gates / gates.sum(1, keepdim=True)


def _ones(gates):
    return (gates != 0).float()


def _only_with_room(room):
    """Rows for which an expert has no room are left out, and keep their gates."""
    return lambda gates: gates * _has_room(gates != 0, room)


def _order(gates):
    """The rows, sorted by their best expert."""
    return gates.argmax(1).argsort(stable=True)


def _ordered_twice(gates, outputs, x):
    order = _order(gates)
    return _sum(gates, outputs, x)[order][order]


def _gates_left_in_order(gates, outputs, x):
    """The results are put back, but meet the gates in the sorted order."""
    return _sum(gates[_order(gates)], outputs, x)


def _off_at(place, by, from_rows=1):
    """A layer of which a single number of y is off, the first or the last, in batches of so many rows or more."""

    def off(y, x):
        y = y.clone()
        y.view(-1)[place] += by * (len(x) >= from_rows)
        return y

    return _ending(off)


def _needs_two_rows(y, x):
    if len(x) < 2:
        raise ValueError("expected more than 1 value per channel when training")
    return y


def outputs_in_the_order_of_the_experts(x):
    """y is right, and outputs are in another order than its rows."""
    y, gates, outputs = top_two(x)
    return y, gates, outputs[_order(gates)]


def tells_the_k_gates_only(x):
    """Gates B×2, in the order of their size."""
    y, gates, outputs = top_two(x)
    return y, gates.topk(TOPS, dim=1).values, outputs


RIGHT = {
    softmax: "a correct one: all experts, by a softmax",
    top_two: "a correct one: the two best experts",
    top_one: "a correct one: the best gate of a softmax as it is",
    sigmoids: "a correct one: a sigmoid for each expert",
    two_sigmoids: "a correct one: the two best sigmoids",
    either_sign: "a correct one: gates above and below 0",
    one_expert: "a correct one: a single expert",
    with_room: "a correct one: rows without room have gates of 0",
    experts_choose: "a correct one: the experts choose their rows",
    lambda x: tuple(each.float() for each in top_two(x.double())): "a correct one, in float64",
    dispatched: "a correct one: each expert runs on its own rows",
    left_over: "a correct one: any numbers where a gate is 0",
}
WRONG = {
    _with_gates(_ones): "an incorrect one: it adds up the chosen experts without their gates",
    _with_gates(_over_their_sum, _top_one, 6): "an incorrect one: it divides the best gate by itself but returns the undivided gate",
    _with_gates(_over_their_sum, _sigmoid, 3): "an incorrect one: it divides sigmoids by their sum but returns the undivided ones",
    _with_gates(lambda gates: _over_their_sum(_ones(gates))): "an incorrect one: it takes the mean of the chosen experts",
    _with_gates(lambda gates: gates * F.one_hot(gates.argmax(1), gates.shape[1])): "an incorrect one: only the better of two experts has an effect",
    _with_gates(lambda gates: gates.softmax(1), _softmax): "an incorrect one: it applies another softmax to the gates but returns them without it",
    _with_gates(torch.square): "an incorrect one: it squares the gates but returns the original ones",
    _with_gates(torch.abs, _either_sign, 4): "an incorrect one: it drops the sign of gates",
    _with_gates(torch.relu, _either_sign, 4): "an incorrect one: gates below 0 are treated as 0",
    _with_gates(lambda gates: gates.mean(1, keepdim=True).expand_as(gates), _softmax): "an incorrect one: all experts get the mean gate",
    _with_gates(lambda gates: gates.mean(0).expand_as(gates), _softmax): "an incorrect one: all rows use the mean gates of the batch",
    _with_gates(lambda gates: gates[:1].expand_as(gates), _softmax): "an incorrect one: all rows use the first row's gates",
    _with_gates(lambda gates: gates.roll(1, 0)): "an incorrect one: each row uses the previous row's gates",
    _with_gates(lambda gates: gates.roll(1, 1)): "an incorrect one: each expert gets the previous expert's gate",
    _with_gates(lambda gates: torch.cat([0 * gates[:, :1], gates[:, 1:]], 1), _softmax): "an incorrect one: it leaves out the first expert",
    _with_gates(_only_with_room(ROOM), _top_one, 6): "an incorrect one: rows for which an expert has no room are left out but keep their gates; a large batch reveals it",
    _with_gates(_only_with_room(4)): "an incorrect one: an expert has room for four rows, but the others keep their gates; a large batch reveals it",
    _with_gates(_only_with_room(6), _softmax, 3): "an incorrect one: it leaves out rows after the sixth, which keep their gates; a large batch reveals it",
    _with_outputs(lambda outputs: outputs.roll(1, 0)): "an incorrect one: each row gets the previous row's outputs",
    _with_outputs(lambda outputs: outputs.flip(2)): "an incorrect one: the numbers of each output are in the opposite order",
    _layer(_top_one, 5, lambda gates, outputs, x: _sum(gates, outputs, x)[_order(gates)]): "an incorrect one: it leaves the rows in the order of their experts",
    _layer(_top_one, 6, _ordered_twice): "an incorrect one: it sorts the rows by their experts once more and does not put them back",
    _layer(_top_two, 5, _gates_left_in_order): "an incorrect one: it puts the rows back but leaves the gates in the order of the experts",
    _layer(_softmax, 4, lambda gates, outputs, x: outputs.mean(1)): "an incorrect one: it takes the mean of all experts",
    _layer(_top_two, 5, lambda gates, outputs, x: _sum(gates, outputs, x) / TOPS): "an incorrect one: it divides by the number of chosen experts",
    _layer(_softmax, 4, lambda gates, outputs, x: _sum(gates, outputs, x) / 4): "an incorrect one: it divides by the number of all experts",
    _ending(lambda y, x: torch.cat([y[:-1], torch.zeros_like(y[-1:])])): "an incorrect one: it forgets the last row of the batch",
    _ending(lambda y, x: y if len(y) == 1 else torch.cat([torch.zeros_like(y[:1]), y[1:]])): "an incorrect one: it forgets the first row of several",
    _ending(_needs_two_rows): "an incorrect one: it fails on a batch of a single row",
    _ending(lambda y, x: y.squeeze()): "an incorrect one: y loses its axis in a batch of a single row",
    _ending(lambda y, x: x + y): "an incorrect one: it adds x to y",
    _ending(lambda y, x: y.relu()): "an incorrect one: y goes through a ReLU",
    _ending(lambda y, x: torch.cat([y[:, :-1], 0 * y[:, -1:]], 1)): "an incorrect one: the last number of each row of y is 0",
    _ending(lambda y, x: -y): "an incorrect one: y has the opposite sign",
    _ending(lambda y, x: y.bfloat16().float()): "an incorrect one: y is rounded to three digits",
    _ending(lambda y, x: y + 0.1): "an incorrect one: all numbers of y are too large by 0.1",
    _ending(lambda y, x: y + 0.0003): "an incorrect one: all numbers of y are too large by 0.0003",
    _off_at(0, 0.0015): "an incorrect one: only the very first number of y is wrong, too large by 0.0015",
    _off_at(-1, -0.0015, MOST_EXPERTS * ROOM + 1): "an incorrect one: only the very last number of y is wrong, too small by 0.0015; a large batch reveals it",
    _ending(lambda y, x: y[:, None]): "an incorrect one: y has one axis too many",
    _ending(lambda y, x: y[:1]): "an incorrect one: y contains only the first row",
    _layer(_top_one, 6, told=lambda gates: gates.sum(1, keepdim=True)): "an incorrect one: it returns one gate for each row, without saying which expert it belongs to",
    outputs_in_the_order_of_the_experts: "an incorrect one: its outputs are in the order of the experts, but y is in the order of the rows",
    tells_the_k_gates_only: "an incorrect one: it returns only the gates of the chosen experts, sorted by size",
}  # fmt: skip
RARE = {
    _ending(
        lambda y, x: y * torch.nan
    ): "an incorrect one: y is NaN, so its differences are neither above 1e-5 nor below"
}
