"""Projections into heads, as PyTorch keeps their weights: the steps, and the mistakes that they invite."""

from operator import add, matmul

from course_lessons.shared.scaling_mistakes import scaling_mistakes
from course_utils.checks.reference_trace import left_out
from course_utils.models.minimal import merge_heads, split_heads

TRANSPOSED = (
    "PyTorch stores a weight as outputs × inputs: a vector is a row, and its layers compute `vector @ weight.T`."
)
BLOCKS = "in_weight and in_bias contain the query block, then the key block, then the value block."
APART = "The d entries of a head are side by side in a vector."
MIXING = "a single `view` or `reshape` to B×H×T×d keeps the order in memory, so each head gets whole stretches of the sentence. Split each vector first, to B×T×H×d, and then swap the axes T and H"
ORDERS = (  # which blocks serve for queries, keys and values
    ("key_and_value_exchanged", "The key and value blocks are swapped", (0, 2, 1)),
    ("query_and_key_exchanged", "The query and key blocks are swapped", (1, 0, 2)),
    ("blocks_in_reverse", "The query and value blocks are swapped", (2, 1, 0)),
    ("value_first", "You use the first block for values, the second for queries and the third for keys", (1, 2, 0)),
    ("key_first", "You use the first block for keys, the second for values and the third for queries", (2, 0, 1)),
    ("one_block_for_all", "The query block is used for queries, keys and values", (0, 0, 0)),
)


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


def projection_mistakes(task, queries="queries", keys="keys", values="values"):
    """Declare the mistakes of a task whose steps contain `projecting`, for these names in this order, and `joining`."""
    parts = (queries, keys, values)

    def each(step, change):
        return {step.format(part): change for part in parts}

    def blocks(cut):
        """Changes of what is cut from in_weight and in_bias for each of the three; `cut` gets the rows and the place of the three."""
        steps = ("the block for the {}", "the bias for the {}")
        at = lambda place: lambda rows: cut(rows, place)  # noqa: E731
        return {step.format(part): at(place) for step in steps for place, part in enumerate(parts)}

    for name, sentence, order in ORDERS:
        own = lambda rows, place, order=order: rows.chunk(3)[order[place]]  # noqa: E731
        task.changed(name, f"{sentence}: {BLOCKS}", blocks(own))
    task.changed(
        "interleaved_blocks",
        f"You use every third row of in_weight and every third entry of in_bias for the queries, the next ones for the keys, and so on. The rows of a block are adjacent: {BLOCKS}",
        blocks(lambda rows, place: rows[place::3]),
    )

    in_as_it_is, out_as_it_is = each("the transposed block for {}", left_out), {"out_weight transposed": left_out}
    task.changed("blocks_transposed", f"You multiply by the blocks of in_weight as they are. {TRANSPOSED}", in_as_it_is)
    task.changed("out_transposed", f"You multiply by out_weight as it is. {TRANSPOSED}", out_as_it_is)
    task.changed(
        "all_transposed",
        f"You multiply by the blocks of in_weight and by out_weight as they are. {TRANSPOSED}",
        in_as_it_is | out_as_it_is,
    )

    no_in_bias, no_out_bias = each("the projected {}", left_out), {"the product plus out_bias": left_out}
    no_out_weight = {"the product with out_weight": left_out}
    task.changed(
        "biases_forgotten",
        "in_bias and out_bias are missing. Each projection adds its bias after the product.",
        no_in_bias | no_out_bias,
    )
    task.changed(
        "in_bias_forgotten",
        "in_bias is missing: each of its three parts is added to the product for the queries, the keys or the values.",
        no_in_bias,
    )
    task.changed(
        "one_number_of_in_bias",
        "A single entry of in_bias is added to all queries, the next one to all keys, the third to all values. Each projection has its own D entries of in_bias.",
        {f"the bias for the {part}": lambda rows, i=i: rows[i] for i, part in enumerate(parts)},
    )
    task.changed("out_bias_forgotten", "out_bias is missing: add it after the product with out_weight.", no_out_bias)
    task.changed(
        "out_weight_forgotten", "out_bias is added, but the product with out_weight is missing.", no_out_weight
    )
    task.changed(
        "no_output_projection",
        "The output projection is missing: the joined contexts go through out_weight and out_bias.",
        no_out_weight | no_out_bias,
    )

    cut_interleaved = each("the {} of all heads", lambda x, heads: x.unflatten(2, (-1, heads)).permute(0, 3, 1, 2))
    joined_interleaved = {"the contexts side by side": lambda x: x.permute(0, 2, 3, 1).flatten(2)}
    task.changed(
        "split_interleaved",
        f"The heads are interleaved when they are split: the first head gets every H-th entry of a vector. {APART}",
        cut_interleaved,
    )
    task.changed(
        "merge_interleaved",
        f"The heads are interleaved when they are joined: the first entries of all heads come first, then the second entries. {APART}",
        joined_interleaved,
    )
    task.changed(
        "interleaved",
        f"The heads are interleaved both when they are split and when they are joined: the first head gets every H-th entry of a vector. {APART}",
        cut_interleaved | joined_interleaved,
    )
    scaling_mistakes(task, width="D/H, the width of a head", contexts="the contexts of all heads")
    for name, sentence, root in (
        ("divided_by_root_of_D", "You divide the scores by √D. Divide by √d: the scores of a head are sums of d products, where d = D/H.", lambda D: D**0.5),
        ("divided_by_D", "You divide the scores by D. Divide by √d: the scores of a head are sums of d products, where d = D/H.", lambda D: D),
    ):  # fmt: skip
        task.changed(name, sentence, {"√d": lambda d, *, out_bias, root=root: root(len(out_bias))})
    for axis, name, sentence in (
        (2, "softmax_over_queries", "the queries, so the words that ask compete for each key"),
        (1, "softmax_over_heads", "the heads, so they compete with one another"),
        (0, "softmax_over_batch", "the batch, so sentences compete with one another"),
    ):
        task.changed(
            name,
            f"Your softmax runs over {sentence}. In each head, each word spreads its weight over the keys, the last axis.",
            {"the softmax": lambda scores, axis=axis: scores.softmax(axis)},
        )
    task.changed(
        "weights_averaged",
        "All heads use the mean of their weights, so all attend to the same words. Each head has its own weights. (nn.MultiheadAttention returns such a mean for inspection, but does not use it in the sum.)",
        {"the contexts of all heads": lambda weights, values: weights.mean(1, keepdim=True) @ values},
    )
