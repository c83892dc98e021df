"""What the tasks share whose answers are whole layers: weights by PyTorch's names, steps to right answers, and mistakes that change them.

No task is declared here. A mask is True where a word may attend to another.
"""

from functools import partial

import torch
import torch.nn.functional as F

from course_lessons.shared.transformer_layers import attention, drawn, norm
from course_utils.checks.reference_trace import left_out


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
    return (yield CHOICE, lambda after, before: before if sizes["norm_first"] else after, *found)


# Changes of such steps

NUMBERS = {"norm1": "first", "norm2": "second", "norm3": "third"}  # which sub-layer each norm belongs to
FEED, CHOICE = "the network", "the choice between the two"


def attend(y, allowed, *, weights, sizes, name="self_attn", empty=torch.nan):
    """Take the place of self-attention, with other weights, or with another number where nothing may be attended to."""
    return attention(weights, name, y, y, y, sizes["heads"], allowed, empty)


def either_way(step, change):
    """The same change with norm_first and without."""
    return {f"{step} (norm_first={first})": change for first in (False, True)}


def normed_by(norms):
    """Changes after which sub-layers have other norms: {the words for a sub-layer: the name of a norm}."""
    changes = {}
    for what, name in norms.items():
        change = lambda y, *, weights, name=name: norm(weights, name, y)  # noqa: E731
        changes |= {
            f"the norm before {what} (norm_first=True)": change,
            f"the norm after {what} (norm_first=False)": change,
        }
    return changes


def not_added(what):
    """Changes after which x is not added to what a sub-layer gives."""
    return either_way(f"the sum after {what}", lambda y, given: given)


def without(what):
    """Changes that leave out a sub-layer."""
    return either_way(f"the sum after {what}", left_out) | {f"the norm after {what} (norm_first=False)": left_out}


def layer_mistakes(task, norms):
    """Declare what every layer invites whose steps are `stacked` with these norms, the first of which is that of self-attention."""

    def each(step, first, change):
        """For each sub-layer what `change(its words, the name of its norm)` gives, with norm_first or without."""
        return {f"{step} {what} (norm_first={first})": change(what, name) for what, name in norms.items()}

    def normalised_x_added(what, name):
        return lambda y, given, *, done: done[f"the norm before {what} (norm_first=True)"] + given

    def given_normed(what, name):
        return lambda y, given, *, weights: y + norm(weights, name, given)

    def sum_normed(what, name):
        return lambda y, given, *, weights: norm(weights, name, y + given)

    no_norm_after = each("the norm after", False, lambda what, name: left_out)
    read_first = {FEED: "the product with linear1's weight"}
    norms_read = {
        f"{read_first.get(what, f'the output of {what}')} (norm_first=False)": lambda y, other, *, weights, right, name=name: (
            right(norm(weights, name, y), other)
        )
        for what, name in norms.items()
    }
    no_residuals = {step: change for what in norms for step, change in not_added(what).items()}

    def other_norm(function):
        """For each norm, before its function or after the addition, function(its input, gain, bias) in its place."""
        return {
            step: lambda y, *, weights, name=name: function(y, weights[f"{name}.weight"], weights[f"{name}.bias"])
            for what, name in norms.items()
            for step in (f"the norm before {what} (norm_first=True)", f"the norm after {what} (norm_first=False)")
        }

    task.changed_each(
        ("orders_exchanged", "norm_first is the wrong way round. If it is True, each norm comes before its sub-layer: x + f(norm(x)); if it is False, after the addition.", {CHOICE: lambda after, before, *, sizes: after if sizes["norm_first"] else before}),
        ("always_post", "The norms come after the additions in either case. If norm_first is True, each should come before its sub-layer: x + f(norm(x)).", {CHOICE: left_out}),
        ("always_pre", "The norms come before the sub-layers in either case. If norm_first is False, each should come after the addition: norm(x + f(x)).", {CHOICE: lambda after, before: before}),
        ("normalised_x_added", "With norm_first, the normalised x is added to the sub-layers' outputs. The residual connection bypasses the norm: add x itself.", each("the sum after", True, normalised_x_added)),
        ("norm_of_the_branch", "Without norm_first, you normalise the sub-layers' outputs and add x afterwards. The sum should be normalised: first add x, then normalise.", each("the sum after", False, given_normed) | no_norm_after),
        ("residual_forgotten", "The residual connections are missing: add x to the output of each sub-layer.", no_residuals),
        ("no_norm", "Nothing is normalised. Each sub-layer has its norm: before the sub-layer if norm_first is True, after the addition otherwise.", each("the norm before", True, lambda what, name: left_out) | no_norm_after),
        ("norm_twice_with_norm_first", "With norm_first, each norm is applied twice: before its sub-layer and after the addition. It belongs only before its sub-layer.", each("the sum after", True, sum_normed)),
        ("norm_twice_without_norm_first", "Without norm_first, each norm is applied twice: before its sub-layer and after the addition. It belongs only after the addition.", norms_read),
        ("no_norm_with_norm_first", "With norm_first, nothing is normalised. Each sub-layer should have its norm before it: x + f(norm(x)).", each("the norm before", True, lambda what, name: left_out)),
        ("no_norm_without_norm_first", "Without norm_first, nothing is normalised. Each sub-layer should have its norm after the addition: norm(x + f(x)).", no_norm_after),
        ("norms_without_their_weights", "Your norms have no gain and no bias: they are just F.layer_norm, or norms of your own. Use self.norm1 and the others, whose gain and bias are learned.", other_norm(lambda y, gain, bias: F.layer_norm(y, y.shape[-1:]))),
        ("norms_over_all_words", "Your norms run over all words of a sentence together. A layer norm runs over the features of one word, the last axis, as self.norm1 does.", other_norm(lambda y, gain, bias: F.layer_norm(y, y.shape[1:]) * gain + bias)),
        ("x_added_again", "Every sub-layer adds the layer's input. The second should add the first one's result, and so on: after each, replace the old x with the new one.", {step: change for what in list(norms)[1:] for step, change in either_way(f"the sum after {what}", lambda y, given, *, x: x + given).items()}),
        ("relu_after_linear2", "The ReLU comes after linear2. It belongs between linear1 and linear2.", either_way("the output of the ReLU", left_out) | either_way("the output of linear2", lambda product, bias: torch.relu(product + bias))),
        ("relu_after_both", "There is also a ReLU after linear2. It belongs between linear1 and linear2 only.", either_way("the output of linear2", lambda product, bias: torch.relu(product + bias))),
        ("no_relu", "There is no ReLU between linear1 and linear2.", either_way("the output of the ReLU", left_out)),
        ("gelu", "There is a GELU between linear1 and linear2. Many later models have it, but this task asks for a ReLU.", either_way("the output of the ReLU", torch.nn.functional.gelu)),
    )  # fmt: skip

    for name, noun, function in (
        ("tanh", "a tanh", torch.tanh),
        ("sigmoid", "a sigmoid", torch.sigmoid),
        ("silu", "a SiLU", F.silu),
        ("leaky_relu", "a leaky ReLU", F.leaky_relu),
    ):
        sentence = f"There is {noun} between linear1 and linear2. This task asks for a ReLU."
        task.changed(name, sentence, either_way("the output of the ReLU", function))
    for what, name in norms.items():
        task.changed(
            f"{name}_missing_before",
            f"With norm_first, {name} is missing: the {NUMBERS[name]} sub-layer should read {name} of x; x itself is added.",
            {f"the norm before {what} (norm_first=True)": left_out},
        )
        task.changed(
            f"{name}_missing_after",
            f"Without norm_first, {name} is missing: it belongs after the addition of the {NUMBERS[name]} sub-layer's output.",
            {f"the norm after {what} (norm_first=False)": left_out},
        )

    def with_raw_keys_and_values(y, allowed, *, x, weights, sizes):
        return attention(weights, "self_attn", y, x, x, sizes["heads"], allowed)

    task.changed(
        "raw_keys_and_values",
        "With norm_first, the keys and values in self-attention are computed from x itself. Queries, keys and values are all computed from the normalised words.",
        {"the output of self-attention (norm_first=True)": with_raw_keys_and_values},
    )
