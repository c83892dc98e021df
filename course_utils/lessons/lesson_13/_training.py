"""What 13.catch_wrong_step tries a learner's test on: functions that train a matrix of weights. No task is declared here.

Each is train(weight D×V, batches, rate, clip) → a list with the weights after each step, where a batch is x N×D, target N and
mask N, which is True at real rows.
"""

import torch
import torch.nn.functional as F
from torch import nn

# Right ones, written differently


def by_autograd(weight, batches, rate, clip):
    weights = []
    for x, target, mask in batches:
        weight = weight.detach().clone().requires_grad_()
        loss = F.cross_entropy(x[mask] @ weight, target[mask])
        (gradient,) = torch.autograd.grad(loss, weight)
        weight = weight.detach() - rate * _clipped(gradient, clip)
        weights.append(weight)
    return weights


def by_hand(weight, batches, rate, clip):
    """The gradient written out: the words' vectors times what is predicted too much."""
    weights = [weight]
    for x, target, mask in batches:
        x, target = x[mask], target[mask]
        error = (x @ weights[-1]).softmax(-1)
        error[torch.arange(len(target)), target] -= 1
        weights.append(weights[-1] - rate * _clipped(x.T @ error / len(target), clip))
    return weights[1:]


def by_the_optimizer(weight, batches, rate, clip):
    parameter = nn.Parameter(weight.detach().clone())
    optimizer, weights = torch.optim.SGD([parameter], lr=rate), []
    for x, target, mask in batches:
        optimizer.zero_grad()
        F.cross_entropy((x @ parameter)[mask], target[mask]).backward()
        nn.utils.clip_grad_norm_([parameter], clip)
        optimizer.step()
        weights.append(parameter.detach().clone())
    return weights


def in_float64(weight, batches, rate, clip):
    batches = [(x.double(), target, mask) for x, target, mask in batches]
    return [each.float() for each in by_hand(weight.double(), batches, rate, clip)]


def by_a_layer(weight, batches, rate, clip):
    """An nn.Linear, whose weight is V×D; padding is ignored by its target."""
    layer = nn.Linear(*weight.shape, bias=False)
    layer.weight.data = weight.detach().T.clone()
    weights = []
    for x, target, mask in batches:
        layer.weight.grad = None
        F.cross_entropy(layer(x), target.masked_fill(~mask, -100)).backward()
        scale = min(1.0, clip / max(float(layer.weight.grad.norm()), 1e-12))
        layer.weight.data -= rate * scale * layer.weight.grad
        weights.append(layer.weight.detach().T.clone())
    return weights


# A right one, of which the wrong ones change one part


def _gradient(weight, x, target, mask):
    """The gradient of the mean cross-entropy over the real rows."""
    return _gradient_of_the_sum(weight, x, target, mask) / mask.sum()


def _gradient_of_the_sum(weight, x, target, mask):
    x, target = x[mask], target[mask]
    return x.T @ ((x @ weight).softmax(-1) - F.one_hot(target.long(), weight.shape[1]))


def _clipped(gradient, clip):
    return gradient * (clip / gradient.norm()).clamp(max=1.0)


def _steps(
    gradient=_gradient,
    clipped=_clipped,
    choose=lambda batches, t: batches[t],
    rate_at=lambda rate, t, batches: rate,
    whole=lambda new, earlier: new,
    at=lambda weights: weights[-1],
    move=lambda weight, change, clip: weight - change,
    ending=lambda weights: weights[1:],
):
    """Return a function that trains as it should, but for the parts that are given. `weights` begins with the given one."""

    def train(weight, batches, rate, clip):
        weights, gradients = [weight], []
        for t in range(len(batches)):
            new = gradient(at(weights), *choose(batches, t))
            new = whole(new, gradients)
            gradients.append(new)
            weights.append(move(weights[-1], rate_at(rate, t, batches) * clipped(new, clip), clip))
        return ending(weights)

    return train


def _all_rows(weight, x, target, mask):
    return _gradient(weight, x, target, torch.ones_like(mask))


def _over_the_wrong_axis(weight, x, target, mask):
    x, target = x[mask], target[mask]
    return x.T @ ((x @ weight).softmax(0) - F.one_hot(target.long(), weight.shape[1])) / len(x)


def _softmax_twice(weight, x, target, mask):
    with torch.enable_grad():
        leaf = weight.detach().clone().requires_grad_()
        F.cross_entropy((x[mask] @ leaf).softmax(-1), target[mask]).backward()
    return leaf.grad


def _one_batch(batches, t):
    return tuple(torch.cat(parts) for parts in zip(*batches, strict=True))


def no_snapshots(weight, batches, rate, clip):
    """One tensor, which later steps go on changing, stands in the list again and again."""
    weight, weights = weight.detach().clone(), []
    for x, target, mask in batches:
        weight -= rate * _clipped(_gradient(weight, x, target, mask), clip)
        weights.append(weight)
    return weights


def given_weight_altered(weight, batches, rate, clip):
    """Right, but each step is taken in the tensor that was given."""
    weights = []
    for x, target, mask in batches:
        weight -= rate * _clipped(_gradient(weight, x, target, mask), clip)
        weights.append(weight.clone())
    return weights


def stops_at_the_first_padding(weight, batches, rate, clip):
    """Takes padding to stand at the end, and counts the real rows."""
    cut = [(x[: mask.sum()], target[: mask.sum()], mask[: mask.sum()] | True) for x, target, mask in batches]
    return by_hand(weight, cut, rate, clip)


def needs_equal_batches(weight, batches, rate, clip):
    """Stops where batches have different numbers of rows."""
    torch.stack([x for x, _, _ in batches])
    return by_hand(weight, batches, rate, clip)


RIGHT = {
    by_autograd: "a right one, with autograd",
    by_hand: "a right one, with the gradient by hand",
    by_the_optimizer: "a right one, with torch.optim.SGD and clip_grad_norm_",
    in_float64: "a right one, in float64",
    by_a_layer: "a right one, with nn.Linear",
}
WRONG = {
    _steps(_all_rows): "a wrong one: the mask has no effect",
    _steps(lambda weight, x, target, mask: _gradient_of_the_sum(weight, x, target, mask) / len(mask)): "a wrong one: it divides by the number of all rows, padding included",
    _steps(lambda weight, x, target, mask: _all_rows(weight, x * mask[:, None], target, mask)): "a wrong one: padding becomes vectors of zeros, which count in the mean",
    _steps(_gradient_of_the_sum): "a wrong one: its loss is the sum over the real rows, and not their mean",
    stops_at_the_first_padding: "a wrong one: it takes padding to stand at the end",
    needs_equal_batches: "a wrong one: it fails where batches have different numbers of rows",
    _steps(_over_the_wrong_axis): "a wrong one: its softmax runs over the rows, and not over the vocabulary",
    _steps(_softmax_twice): "a wrong one: its softmax is applied twice",
    _steps(clipped=lambda gradient, clip: gradient): "a wrong one: nothing is clipped",
    _steps(clipped=lambda gradient, clip: gradient.clamp(-clip, clip)): "a wrong one: each number of the gradient is clipped, and not its norm",
    _steps(clipped=lambda gradient, clip: gradient, move=lambda weight, change, clip: _clipped(weight - change, clip)): "a wrong one: the norm of the weights is clipped, and not that of the gradient",
    _steps(clipped=lambda gradient, clip: gradient, move=lambda weight, change, clip: (weight - change).clamp(-clip, clip)): "a wrong one: each weight is clipped, and not the gradient",
    _steps(clipped=lambda gradient, clip: gradient, move=lambda weight, change, clip: weight - _clipped(change, clip)): "a wrong one: the gradient is clipped when it has been multiplied by the rate",
    _steps(clipped=lambda gradient, clip: gradient * clip / gradient.norm()): "a wrong one: the gradient is scaled to the norm `clip` where it is smaller, too",
    _steps(clipped=lambda gradient, clip: gradient * (clip / gradient.norm()).clamp(min=1.0)): "a wrong one: small gradients are scaled up, and large ones are not scaled down",
    _steps(clipped=lambda gradient, clip: gradient * (clip / gradient.square().sum()).clamp(max=1.0)): "a wrong one: it takes the squared norm for the norm",
    _steps(clipped=lambda gradient, clip: gradient * (clip / gradient.abs().sum()).clamp(max=1.0)): "a wrong one: it takes the sum of magnitudes for the norm",
    _steps(clipped=lambda gradient, clip: gradient * (clip / gradient.abs().max()).clamp(max=1.0)): "a wrong one: it takes the largest magnitude for the norm",
    _steps(clipped=lambda gradient, clip: gradient * (clip / gradient.norm(dim=0)).clamp(max=1.0)): "a wrong one: each column of the gradient is clipped by itself",
    _steps(clipped=lambda gradient, clip: gradient * (clip / gradient.norm(dim=1, keepdim=True)).clamp(max=1.0)): "a wrong one: each row of the gradient is clipped by itself",
    _steps(clipped=lambda gradient, clip: gradient * (gradient.norm() <= clip)): "a wrong one: gradients above the limit are left out, and not scaled down",
    _steps(clipped=lambda gradient, clip: gradient * (clip / (gradient.norm() + 0.05)).clamp(max=1.0)): "a wrong one: it adds 0.05 to the norm before it divides",
    _steps(whole=lambda new, earlier: new + (earlier[-1] if earlier else 0)): "a wrong one: gradients add up over batches",
    _steps(whole=lambda new, earlier: new + 0.9 * earlier[-1] if earlier else new): "a wrong one: nine tenths of the gradient before are added",
    _steps(whole=lambda new, earlier: (new + (earlier[-1] if earlier else new)) / 2): "a wrong one: the mean of the gradient and the one before",
    _steps(at=lambda weights: weights[0]): "a wrong one: it takes all gradients at the first weight",
    _steps(choose=lambda batches, t: batches[0]): "a wrong one: it uses the first batch again and again",
    _steps(choose=_one_batch): "a wrong one: it uses all batches at once, in every step",
    _steps(choose=lambda batches, t: batches[-1 - t]): "a wrong one: it begins with the last batch",
    _steps(choose=lambda batches, t: batches[max(t - 1, 0)]): "a wrong one: it uses the batch before, and the first one twice",
    _steps(rate_at=lambda rate, t, batches: rate / len(batches)): "a wrong one: the rate is divided by the number of batches",
    _steps(rate_at=lambda rate, t, batches: -rate): "a wrong one: it adds the gradient, and does not subtract it",
    _steps(rate_at=lambda rate, t, batches: rate / (t + 1)): "a wrong one: the rate falls from step to step",
    _steps(move=lambda weight, change, clip: 0.99 * weight - change): "a wrong one: the weights shrink by a hundredth in each step",
    _steps(move=lambda weight, change, clip: (weight - change).bfloat16().float()): "a wrong one: its weights have three digits only",
    _steps(ending=lambda weights: weights[:-1]): "a wrong one: its weights are those before each step",
    _steps(ending=lambda weights: weights): "a wrong one: the given weight stands in its list, too",
    _steps(ending=lambda weights: weights[-1:]): "a wrong one: it returns the last weight alone",
    _steps(ending=lambda weights: weights[1:-1]): "a wrong one: it leaves out the last weight",
    _steps(ending=lambda weights: [*weights[1:], weights[-1]]): "a wrong one: it returns the last weight twice",
    _steps(ending=lambda weights: weights[:1:-1] + weights[1:2]): "a wrong one: its weights come in the opposite order",
    _steps(ending=lambda weights: [weight.T for weight in weights[1:]]): "a wrong one: its weights are V×D",
    _steps(ending=lambda weights: [weight * torch.nan for weight in weights[1:]]): "a wrong one: its weights are NaN",
    _steps(ending=lambda weights: weights[1:-1] + [weights[-1] * torch.nan]): "a wrong one: its last weight is NaN",
    no_snapshots: "a wrong one: the same tensor stands in its list after each step, as it is in the end",
    given_weight_altered: "a wrong one: it alters the weight that it is given",
}  # fmt: skip
RARE = {_steps(rate_at=lambda rate, t, batches: min(1.0, 2 * rate)): "a wrong one: it doubles the rate, up to 1"}
