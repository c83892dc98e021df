"""What 13.catch_wrong_step tries a learner's test on: loops that train a model of the test's own. No task is declared here.

Each is train(model, weights, batches, held_out, rate, clip) → the last weights, a list of tensors, and the losses on held_out, where
model(weights, batch, training) → the loss of a batch and a list of its gradients.
"""

import torch
from torch import nn

# Right ones, written differently


def norm_of(tensors):
    """The norm of all numbers together."""
    return torch.cat([tensor.flatten() for tensor in tensors]).norm()


def _scaled(tensors, factor):
    return [factor * tensor for tensor in tensors]


def _minus(weights, changes):
    return [weight - change for weight, change in zip(weights, changes, strict=True)]


def _clipped(gradients, clip):
    return _scaled(gradients, (clip / norm_of(gradients)).clamp(max=1.0))


def by_hand(model, weights, batches, held_out, rate, clip):
    losses = []
    for batch in batches:
        _, gradients = model(weights, batch, True)
        weights = _minus(weights, _scaled(_clipped(gradients, clip), rate))
        losses.append(model(weights, held_out, False)[0])
    return weights, losses


def by_parameters(model, weights, batches, held_out, rate, clip):
    """As an optimizer does it: parameters with a `grad`, which change in place."""
    parameters, losses = [nn.Parameter(weight) for weight in weights], []
    for batch in batches:
        for parameter, gradient in zip(parameters, model(parameters, batch, True)[1], strict=True):
            parameter.grad = gradient
        nn.utils.clip_grad_norm_(parameters, clip)
        for parameter in parameters:
            parameter -= rate * parameter.grad
        losses.append(model(parameters, held_out, False)[0])
    return parameters, losses


def in_float64(model, weights, batches, held_out, rate, clip):
    def in_float32(weights, *others):
        loss, gradients = model([weight.float() for weight in weights], *others)
        return loss, [gradient.double() for gradient in gradients]

    last, losses = by_hand(in_float32, [weight.double() for weight in weights], batches, held_out, rate, clip)
    return [weight.float() for weight in last], losses


def as_one_vector(model, weights, batches, held_out, rate, clip):
    """All weights as one vector, which changes in place."""
    vector, losses = nn.utils.parameters_to_vector(weights), []
    for batch in batches:
        parts = vector.split([weight.numel() for weight in weights])
        weights = [part.view_as(weight) for part, weight in zip(parts, weights, strict=True)]
        gradient = nn.utils.parameters_to_vector(model(weights, batch, True)[1])
        vector -= gradient * (rate * clip / max(clip, float(gradient.norm())))
        losses.append(model(weights, held_out, False)[0])
    return weights, losses


# A correct one, of which the wrong ones change one part


def _loop(
    choose=lambda batches, t: batches[t],
    at=lambda path: path[-1],
    dropped=lambda t: True,
    whole=lambda new, earlier: new,
    clipped=_clipped,
    rate_at=lambda rate, t: rate,
    move=lambda weights, changes, clip: _minus(weights, changes),
    measured=lambda path, batch, held_out: (path[-1], held_out),
    dropped_then=lambda left: False,
    ending=lambda path, losses: (path[-1], losses),
):
    """Return a loop that trains as it should, but for the parts that are given. `path` holds the weights after each step, and begins with the given ones."""

    def train(model, weights, batches, held_out, rate, clip):
        path, earlier, losses = [weights], [], []
        for t, batch in enumerate(batches):
            new = whole(model(at(path), choose(batches, t), dropped(t))[1], earlier)
            earlier.append(new)
            path.append(move(path[-1], _scaled(clipped(new, clip), rate_at(rate, t)), clip))
            losses.append(model(*measured(path, batch, held_out), dropped_then(len(batches) - 1 - t))[0])
        return ending(path, losses)

    return train


def _plus(new, earlier, factor=1.0):
    """New gradients with those of the step before added."""
    return _minus(new, _scaled(earlier[-1], -factor)) if earlier else new


def _running_means(losses):
    return [sum(losses[: n + 1]) / (n + 1) for n in range(len(losses))]


def _off_at(place, by):
    """What a loop returns, with a single number of its weights off: the first or the last."""

    def ending(path, losses):
        weights = [weight.clone() for weight in path[-1]]
        weights[place].view(-1)[place] += by
        return weights, losses

    return ending


def _loss_off_at(place, by):
    return lambda path, losses: (path[-1], [loss + by * (n == place % len(losses)) for n, loss in enumerate(losses)])


def _backwards(weights):
    """The numbers of each row in the opposite order, or those of a column, or the tensors if each holds a single number."""
    if all(weight.numel() == 1 for weight in weights):
        return weights[::-1]
    return [
        weight.flip(-1 if weight.dim() and weight.shape[-1] > 1 else tuple(range(weight.dim()))) for weight in weights
    ]


def _rows_backwards(weights):
    """The rows of each tensor in the opposite order, or the numbers of each row if there is one row in each."""
    if all(weight.dim() == 0 or weight.shape[0] == 1 for weight in weights):
        return _backwards(weights)
    return [weight.flip(0) if weight.dim() else weight for weight in weights]


def training_losses(model, weights, batches, held_out, rate, clip):
    """Returns the losses that it trains with."""
    losses = []
    for batch in batches:
        loss, gradients = model(weights, batch, True)
        losses.append(loss)
        weights = _minus(weights, _scaled(_clipped(gradients, clip), rate))
        model(weights, held_out, False)
    return weights, losses


def multiplies_a_list(model, weights, batches, held_out, rate, clip):
    """Raises TypeError: a list of gradients is no tensor."""
    return weights - rate * model(weights, batches[0], True)[1], []


def one_step_more(model, weights, batches, held_out, rate, clip):
    """Takes a last step with held_out."""
    weights, losses = by_hand(model, weights, [*batches, held_out], held_out, rate, clip)
    return weights, losses[:-1]


RIGHT = {
    by_hand: "a correct one, by hand",
    by_parameters: "a correct one, with nn.Parameter and clip_grad_norm_",
    in_float64: "a correct one, in float64",
    as_one_vector: "a correct one, with all weights in one vector",
}
WRONG = {
    _loop(dropped=lambda t: False): "an incorrect one: it trains with dropout off",
    _loop(dropped=lambda t: t == 0): "an incorrect one: dropout stays off once the first loss has been measured",
    _loop(dropped_then=lambda left: True): "an incorrect one: it measures with dropout on",
    _loop(dropped_then=lambda left: left > 0): "an incorrect one: it turns dropout off only for the last loss",
    _loop(dropped=lambda t: False, dropped_then=lambda left: True): "an incorrect one: it trains with dropout off and measures with dropout on",
    _loop(measured=lambda path, batch, held_out: (path[-2], held_out)): "an incorrect one: it measures each loss before the step instead of after it",
    _loop(measured=lambda path, batch, held_out: (path[-1], batch)): "an incorrect one: it measures the loss on the batch it has just trained on instead of `held_out`",
    training_losses: "an incorrect one: it returns its training losses instead of the losses on `held_out`",
    multiplies_a_list: "an incorrect one: it raises TypeError, because it multiplies the list of gradients by `rate`",
    one_step_more: "an incorrect one: it also trains on `held_out`, in a last step",
    _loop(ending=lambda path, losses: (path[-1], losses[-1:])): "an incorrect one: it returns only the last loss",
    _loop(ending=lambda path, losses: (path[-1], losses[:-1])): "an incorrect one: it leaves out the last loss",
    _loop(ending=lambda path, losses: (path[-1], _running_means(losses))): "an incorrect one: its losses are the means of all losses so far",
    _loop(ending=lambda path, losses: (path[-2], losses)): "an incorrect one: it returns the weights before the last step",
    _loop(ending=lambda path, losses: ([path[-2][0], *path[-1][1:]], losses)): "an incorrect one: it returns the first tensor as it was before the last step",
    _loop(ending=lambda path, losses: ([*path[-1][:-1], path[-2][-1]], losses)): "an incorrect one: it returns the last tensor as it was before the last step",
    _loop(ending=lambda path, losses: (path[1 + losses.index(min(losses))], losses)): "an incorrect one: it returns the weights with the lowest loss instead of the last ones",
    _loop(ending=lambda path, losses: ([weight + 0.1 for weight in path[-1]], losses)): "an incorrect one: all its weights are too large by 0.1",
    _loop(ending=lambda path, losses: (_scaled(path[-1], -1), losses)): "an incorrect one: its weights have the opposite sign",
    _loop(ending=lambda path, losses: (_backwards(path[-1]), losses)): "an incorrect one: the numbers of its weights are in the opposite order",
    _loop(ending=lambda path, losses: (_rows_backwards(path[-1]), losses)): "an incorrect one: the rows of its weights are in the opposite order",
    _loop(ending=_off_at(0, 0.0012)): "an incorrect one: only the very first number of its weights is wrong, too large by 0.0012",
    _loop(ending=_off_at(-1, -0.0012)): "an incorrect one: only the very last number of its weights is wrong, too small by 0.0012",
    _loop(ending=lambda path, losses: (path[-1], [loss + 0.1 for loss in losses])): "an incorrect one: all its losses are too large by 0.1",
    _loop(ending=lambda path, losses: ([weight + 0.1 for weight in path[-1]], [loss + 0.1 for loss in losses])): "an incorrect one: all its weights and losses are too large by 0.1",
    _loop(ending=lambda path, losses: (path[-1], [-loss for loss in losses])): "an incorrect one: its losses have the opposite sign",
    _loop(ending=lambda path, losses: (path[-1], losses[::-1])): "an incorrect one: its losses are in the opposite order",
    _loop(ending=_loss_off_at(0, 0.0012)): "an incorrect one: only its first loss is wrong, too large by 0.0012",
    _loop(ending=_loss_off_at(-1, -0.0012)): "an incorrect one: only its last loss is wrong, too small by 0.0012",
    _loop(clipped=lambda gradients, clip: gradients): "an incorrect one: nothing is clipped",
    _loop(clipped=lambda gradients, clip: [gradient.clamp(-clip, clip) for gradient in gradients]): "an incorrect one: it clips each entry of the gradients instead of their norm",
    _loop(clipped=lambda gradients, clip: [_clipped([gradient], clip)[0] for gradient in gradients]): "an incorrect one: the gradient of each tensor is clipped separately",
    _loop(clipped=lambda gradients, clip: _scaled(gradients, (clip / max(map(torch.norm, gradients))).clamp(max=1.0))): "an incorrect one: it uses the largest norm of any tensor as the norm of all gradients",
    _loop(clipped=lambda gradients, clip: _scaled(gradients, (clip / sum(map(torch.norm, gradients))).clamp(max=1.0))): "an incorrect one: it adds up the norms of the tensors",
    _loop(clipped=lambda gradients, clip: _scaled(gradients, (clip / norm_of(gradients) ** 2).clamp(max=1.0))): "an incorrect one: it uses the squared norm as the norm",
    _loop(clipped=lambda gradients, clip: _scaled(gradients, clip / norm_of(gradients))): "an incorrect one: the gradients are scaled to the norm `clip` even if their norm is smaller",
    _loop(clipped=lambda gradients, clip: _scaled(gradients, norm_of(gradients) <= clip)): "an incorrect one: gradients above the limit are dropped instead of scaled down",
    _loop(clipped=lambda gradients, clip: gradients, move=lambda weights, changes, clip: _minus(weights, _clipped(changes, clip))): "an incorrect one: the gradients are clipped after they have been multiplied by the rate",
    _loop(clipped=lambda gradients, clip: gradients, move=lambda weights, changes, clip: _clipped(_minus(weights, changes), clip)): "an incorrect one: it clips the norm of the weights instead of the gradients' norm",
    _loop(whole=_plus): "an incorrect one: the gradients are never reset to 0, so they add up over the batches",
    _loop(whole=lambda new, earlier: _plus(new, earlier, 0.9)): "an incorrect one: it has momentum, so nine tenths of the previous step are added",
    _loop(at=lambda path: path[0]): "an incorrect one: it computes all gradients at the first weights",
    _loop(choose=lambda batches, t: batches[0]): "an incorrect one: it uses the first batch again and again",
    _loop(choose=lambda batches, t: batches[-1 - t]): "an incorrect one: it starts with the last batch",
    _loop(choose=lambda batches, t: batches[max(t - 1, 0)]): "an incorrect one: it uses the previous batch each time, and the first one twice",
    _loop(rate_at=lambda rate, t: rate / (t + 1)): "an incorrect one: the rate falls from step to step",
    _loop(rate_at=lambda rate, t: -rate): "an incorrect one: it adds the gradients instead of subtracting them",
    _loop(move=lambda weights, changes, clip: [*weights[:-1], *_minus(weights[-1:], changes[-1:])]): "an incorrect one: only the last tensor is trained",
    _loop(move=lambda weights, changes, clip: _minus(_scaled(weights, 0.99), changes)): "an incorrect one: the weights shrink by a hundredth in each step",
    _loop(move=lambda weights, changes, clip: [weight.bfloat16().float() for weight in _minus(weights, changes)]): "an incorrect one: its weights are rounded to three digits",
    _loop(ending=lambda path, losses: ([weight + 0.0003 for weight in path[-1]], losses)): "an incorrect one: all its weights are too large by 0.0003",
    _loop(ending=lambda path, losses: (path[-1], [loss - 0.0003 for loss in losses])): "an incorrect one: all its losses are too small by 0.0003",
}  # fmt: skip
