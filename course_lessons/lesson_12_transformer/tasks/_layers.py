"""What the tasks share whose answers are whole layers: weights by PyTorch's names, and steps to right answers. No task is declared here."""

from functools import partial

import torch

from course_lessons.shared.transformer_layers import drawn, norm


def weights_of(draw, D, F, attentions, norms):
    """The parameters of a layer by PyTorch's names, in PyTorch's order."""
    weights = {}
    for name in attentions:
        weights[f"{name}.in_proj_weight"] = drawn(draw, 3 * D, D, spread=1.5)
        weights[f"{name}.in_proj_bias"] = drawn(draw, 3 * D, spread=0.5)
        weights[f"{name}.out_proj.weight"] = drawn(draw, D, D, spread=1.5)
        weights[f"{name}.out_proj.bias"] = drawn(draw, D)
    for name, rows, columns in (("linear1", F, D), ("linear2", D, F)):
        weights[f"{name}.weight"] = drawn(draw, rows, columns, spread=1.5)
        weights[f"{name}.bias"] = drawn(draw, rows)
    for name in norms:
        signs = 1 - 2 * draw.whole(0, 2, D)
        weights[f"{name}.weight"] = (draw.whole(1, 5, D) * signs).float() / 2
        weights[f"{name}.bias"] = draw.whole(-4, 5, D).float() / 2 + 0.25
    return weights


def words(draw, B, T, D):
    """Words whose mean is not 0, so that it shows where a norm is missing."""
    return drawn(draw, B, T, D, spread=1.5) + torch.arange(D) / 4 + 1.0


# Steps


def feed_forward(weights, x, way):
    """The steps of the feed-forward network."""
    times = lambda x, weight: x @ weight.mT  # noqa: E731
    product = yield f"the product with linear1's weight ({way})", times, x, weights["linear1.weight"]
    before = yield f"the output of linear1 ({way})", torch.add, product, weights["linear1.bias"]
    hidden = yield f"the output of the ReLU ({way})", torch.relu, before
    product = yield f"the product with linear2's weight ({way})", times, hidden, weights["linear2.weight"]
    return (yield f"the output of linear2 ({way})", torch.add, product, weights["linear2.bias"])


def stacked(x, sizes, weights, norms, branches):
    """The steps through sub-layers, with norm_first and without, so that each way has its steps; one of them is the answer.

    Args:
        norms: {the words for a sub-layer: the name of its norm}, in their order.
        branches: for each, function(what it reads, the words for the way) returns its steps.
    """
    found = []
    for norm_first in (False, True):
        y, way = x, f"norm_first={norm_first}"
        for (what, name), branch in zip(norms.items(), branches, strict=True):
            read, normal = y, partial(norm, weights, name)
            if norm_first:
                read = yield f"the norm before {what} ({way})", normal, y
            given = yield from branch(read, way)
            y = yield f"the sum after {what} ({way})", torch.add, y, given
            if not norm_first:
                y = yield f"the norm after {what} ({way})", normal, y
        found.append(y)
    return (yield "the choice between the two", lambda after, before: before if sizes["norm_first"] else after, *found)
