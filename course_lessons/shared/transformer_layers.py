"""Parts of whole layers, with weights by PyTorch's names. A mask is True where a word may attend to another."""

import torch

from course_utils.models.minimal import merge_heads, split_heads


def drawn(draw, *shape, spread=1.0):
    """Normally distributed numbers; those of a matrix are small enough that a product with it keeps its spread."""
    numbers = torch.randn(shape, generator=draw.generator, dtype=torch.float64).float()
    return numbers * spread / (shape[-1] ** 0.5 if len(shape) == 2 else 1)


def in_precision(args, dtype):
    """The same sizes, weights and inputs, with float numbers in one type."""
    sizes, weights, *inputs = args
    turned = [x.to(dtype) if x.is_floating_point() else x for x in inputs]
    return sizes, {name: weight.to(dtype) for name, weight in weights.items()}, *turned


def attention(weights, name, query, key, value, heads, allowed):
    """Multi-head attention with the weights under a name; `allowed` fits B×T×S."""
    projected = zip(
        (query, key, value),
        weights[f"{name}.in_proj_weight"].chunk(3),
        weights[f"{name}.in_proj_bias"].chunk(3),
        strict=True,
    )
    q, k, v = (split_heads(x @ weight.T + bias, heads) for x, weight, bias in projected)
    scores = q @ k.mT / q.shape[-1] ** 0.5  # B H T S
    shares = scores.masked_fill(~allowed[:, None], -torch.inf).softmax(-1)
    return merge_heads(shares @ v) @ weights[f"{name}.out_proj.weight"].T + weights[f"{name}.out_proj.bias"]


def norm(weights, name, x):
    return torch.nn.functional.layer_norm(x, x.shape[-1:], weights[f"{name}.weight"], weights[f"{name}.bias"])


def silenced(args, parts):
    """The same sizes and inputs, with weights and biases of 0 for the layers of these names."""
    sizes, weights, *inputs = args
    silent = {name: weight * (name.rpartition(".")[0] not in parts) for name, weight in weights.items()}
    return sizes, silent, *inputs
