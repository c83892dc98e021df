"""Correct answers to 12.sublayer in other styles than the solution's."""

import torch
import torch.nn.functional as F


def by_hand(x, function, gain, bias, order):
    def norm(y):
        var, mean = torch.var_mean(y, -1, correction=0, keepdim=True)
        return (y - mean) * (var + 1e-5).rsqrt() * gain + bias

    ways = {
        "pre": lambda: x + function(norm(x)),
        "post": lambda: norm(function(x) + x),
        "late": lambda: norm(function(x)) + x,
    }
    return ways[order]()


def through_both(x, function, gain, bias, order):
    """The same three steps for all orders, two of them left out in each."""
    norm = torch.nn.LayerNorm(x.shape[-1], dtype=x.dtype)
    with torch.no_grad():
        norm.weight.copy_(gain)
        norm.bias.copy_(bias)
        before, late, after = (norm if order == place else torch.nn.Identity() for place in ("pre", "late", "post"))
        return after(torch.add(late(function(before(x))), x))


def in_one_expression(x, function, gain, bias, order):
    norm = lambda y: F.layer_norm(y, (len(gain),), gain, bias)  # noqa: E731
    return (
        norm(x + function(x)) if order == "post" else x + (function(norm(x)) if order == "pre" else norm(function(x)))
    )


# PyTorch's own
OWN = [
    through_both,
    in_one_expression,
]
CORRECT = [
    *OWN,
    by_hand,
]


def function(draw):
    weight = draw.numbers("D×D")
    return lambda x: torch.tanh(x @ weight)


SIZES = {"D": lambda draw: draw.randint(3, 6)}
INPUTS = {"function": function, "order": lambda draw: draw.choice(["pre", "post", "late"])}
