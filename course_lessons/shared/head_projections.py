"""The steps of projections into heads, with weights as PyTorch keeps them."""

from operator import add, matmul

from course_utils.models.minimal import merge_heads, split_heads


def projecting(name, place, words, in_weight, in_bias, heads):
    """The steps that make queries, keys or values of words; `place` is that of their block."""
    block = lambda rows: rows.chunk(3)[place]  # noqa: E731
    weight = yield f"the block for the {name}", block, in_weight
    bias = yield f"the bias for the {name}", block, in_bias
    turned = yield f"the transposed block for {name}", lambda weight: weight.mT, weight
    product = yield f"the product for the {name}", matmul, words, turned
    projected = yield f"the projected {name}", add, product, bias
    part = yield f"the {name} of all heads", split_heads, projected, heads
    return part


def joining(weights, values, out_weight, out_bias):
    """The steps from weights to the output."""
    contexts = yield "the contexts of all heads", matmul, weights, values
    merged = yield "the contexts side by side", merge_heads, contexts
    turned = yield "out_weight transposed", lambda weight: weight.mT, out_weight
    product = yield "the product with out_weight", matmul, merged, turned
    output = yield "the product plus out_bias", add, product, out_bias
    return output
