"""What the tasks share whose answers are whole layers: weights by PyTorch's names, and the parts of which right and wrong layers are made.

No task is declared here. A mask is True where a word may attend to another.
"""

import torch

from course_utils.models.plain import merge_heads, split_heads


def drawn(draw, *shape, spread=1.0):
    """Normally distributed numbers; those of a matrix are small enough that a product with it keeps its spread."""
    numbers = torch.randn(shape, generator=draw.generator, dtype=torch.float64).float()
    return numbers * spread / (shape[-1] ** 0.5 if len(shape) == 2 else 1)


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


def in_precision(args, dtype):
    """The same sizes, weights and inputs, with float numbers in one type."""
    sizes, weights, *inputs = args
    turned = [x.to(dtype) if x.is_floating_point() else x for x in inputs]
    return sizes, {name: weight.to(dtype) for name, weight in weights.items()}, *turned


def attention(weights, name, query, key, value, heads, allowed=None, empty=torch.nan):
    """Multi-head attention with the weights under a name; `allowed` fits B×T×S. A word that may attend to nothing gets `empty`.

    Where `allowed` holds numbers, they are added to the scores, as PyTorch does with such a mask.
    """
    projected = zip(
        (query, key, value),
        weights[f"{name}.in_proj_weight"].chunk(3),
        weights[f"{name}.in_proj_bias"].chunk(3),
        strict=True,
    )
    q, k, v = (split_heads(x @ weight.T + bias, heads) for x, weight, bias in projected)
    scores = q @ k.mT / q.shape[-1] ** 0.5  # B H T S
    if allowed is not None and allowed.is_floating_point():
        scores, allowed = scores + allowed[:, None], None
    if allowed is not None:
        scores = scores.masked_fill(~allowed[:, None], -torch.inf)
    shares = scores.softmax(-1)
    if allowed is not None:
        shares = torch.where(allowed.any(-1)[:, None, :, None], shares, empty)
    return merge_heads(shares @ v) @ weights[f"{name}.out_proj.weight"].T + weights[f"{name}.out_proj.bias"]


def feed_forward(weights, x, between=torch.relu):
    hidden = between(x @ weights["linear1.weight"].T + weights["linear1.bias"])
    return hidden @ weights["linear2.weight"].T + weights["linear2.bias"]


def feed_forward_steps(weights, x, where):
    """The same, as a part of the steps to a right answer."""
    times = lambda x, weight: x @ weight.mT  # noqa: E731
    product = yield f"the product with linear1's weight ({where})", times, x, weights["linear1.weight"]
    before = yield f"what linear1 gives ({where})", torch.add, product, weights["linear1.bias"]
    hidden = yield f"what the ReLU gives ({where})", torch.relu, before
    product = yield f"the product with linear2's weight ({where})", times, hidden, weights["linear2.weight"]
    return (yield f"what linear2 gives ({where})", torch.add, product, weights["linear2.bias"])


def norm(weights, name, x):
    return torch.nn.functional.layer_norm(x, x.shape[-1:], weights[f"{name}.weight"], weights[f"{name}.bias"])


# One sub-layer: x, a function of what it reads and of x as it came, and a norm.


def pre(x, function, norm):
    return x + function(norm(x), x)


def post(x, function, norm):
    return norm(x + function(x, x))


PRE = {  # ways to err where the norm comes first, and in words what is wrong
    "normalised_x_added": lambda x, function, norm: norm(x) + function(norm(x), x),
    "norm_of_the_branch": lambda x, function, norm: x + norm(function(x, x)),
    "residual_forgotten": lambda x, function, norm: function(norm(x), x),
    "no_norm": lambda x, function, norm: x + function(x, x),
    "norm_twice": lambda x, function, norm: norm(x + function(norm(x), x)),
}
POST = {
    "norm_of_the_branch": lambda x, function, norm: x + norm(function(x, x)),
    "residual_forgotten": lambda x, function, norm: norm(function(x, x)),
    "no_norm": PRE["no_norm"],
    "norm_twice": PRE["norm_twice"],
}


def stacked(x, sublayers, norm_first, before=pre, after=post):
    """Send x through sub-layers, pairs of a function and a norm."""
    for function, of in sublayers:
        x = (before if norm_first else after)(x, function, of)
    return x


AROUND = {  # mistakes in the order of norm, function and addition: (what to change, the sentence)
    "orders_exchanged": (
        {"order": lambda first: not first},
        "norm_first is turned round. Where it is True, each norm comes before its function: x + f(norm(x)); where it is False, after the addition.",
    ),
    "always_post": (
        {"order": lambda first: False},
        "The norms come after the additions in any case. Where norm_first is True, each comes before its function: x + f(norm(x)).",
    ),
    "always_pre": (
        {"order": lambda first: True},
        "The norms come before the functions in any case. Where norm_first is False, each comes after the addition: norm(x + f(x)).",
    ),
    "normalised_x_added": (
        {"before": PRE["normalised_x_added"]},
        "With norm_first, the normalised x is added to what the functions give. The residual connection passes by the norm: add x as it came in.",
    ),
    "norm_of_the_branch": (
        {"after": POST["norm_of_the_branch"]},
        "Without norm_first, you normalise what the functions give and add x afterwards. The sum is normalised: first add x, then normalise.",
    ),
    "residual_forgotten": (
        {"before": PRE["residual_forgotten"], "after": POST["residual_forgotten"]},
        "The residual connections are missing: x is added to what each function gives.",
    ),
    "no_norm": (
        {"before": PRE["no_norm"], "after": POST["no_norm"]},
        "Nothing is normalised. Each sub-layer has its norm: before the function with norm_first, after the addition without.",
    ),
    "norm_twice_with_norm_first": (
        {"before": PRE["norm_twice"]},
        "With norm_first, each norm stands in two places: before its function and after the addition. Nothing is normalised after an addition there.",
    ),
    "norm_twice_without_norm_first": (
        {"after": POST["norm_twice"]},
        "Without norm_first, each norm stands in two places: before its function and after the addition. It belongs after the addition alone.",
    ),
}

RAW = {  # self-attention that does not read normalised words alone: (what is read, of the normalised and the raw; the words for it)
    "raw_keys_and_values": (lambda y, x: (y, x, x), "keys and values are"),
    "raw_queries": (lambda y, x: (x, y, y), "the queries are"),
    "raw_keys": (lambda y, x: (y, x, y), "the keys are"),
    "raw_values": (lambda y, x: (y, y, x), "the values are"),
}
