"""Task 21.gpt: a decoder alone, put together from given layers, with learned positions and pre-norm as GPT-2 has them (Radford et al. 2019)."""

from functools import partial

import torch
import torch.nn.functional as F

from course_lessons.shared.staged_cases import told_by_stages
from course_lessons.shared.transformer_layers import attention, drawn, in_precision, norm, silenced
from course_utils.base.words import count
from course_utils.checks.task import Case, Task

task = Task(
    __name__,
    "your own GPT",
    arguments=("sizes", "weights", "ids B×T"),
    result="logits B×T×V",
    module=True,
    difficulty=4,
    importance=5,
    minutes=30,
    partial={"edge": (0.5, "right on every ordinary input, wrong on an unusual one.")},
)


def _weights(draw, V, D, F, layers, longest):
    """The parameters by their names, in PyTorch's order."""
    weights = {
        "embedding.weight": drawn(draw, V, D, spread=D**0.5),
        "positions.weight": drawn(draw, longest, D, spread=D**0.5),
    }
    for n in range(layers):
        at = f"blocks.{n}"
        weights |= _of_a_norm(draw, f"{at}.norm1", D)
        weights[f"{at}.attention.in_proj_weight"] = drawn(draw, 3 * D, D, spread=1.5)
        weights[f"{at}.attention.in_proj_bias"] = drawn(draw, 3 * D, spread=0.5)
        weights[f"{at}.attention.out_proj.weight"] = drawn(draw, D, D, spread=1.5)
        weights[f"{at}.attention.out_proj.bias"] = drawn(draw, D)
        weights |= _of_a_norm(draw, f"{at}.norm2", D)
        for name, rows, columns in (("0", F, D), ("2", D, F)):
            weights[f"{at}.network.{name}.weight"] = drawn(draw, rows, columns, spread=1.5)
            weights[f"{at}.network.{name}.bias"] = drawn(draw, rows)
    return weights | _of_a_norm(draw, "norm", D)


def _of_a_norm(draw, name, D):
    signs = 1 - 2 * draw.whole(0, 2, D)
    return {
        f"{name}.weight": (draw.whole(1, 5, D) * signs).float() / 2,
        f"{name}.bias": draw.whole(-4, 5, D).float() / 2 + 0.25,
    }


def _args(draw, B, T, V, H, D, F, layers, longest):
    sizes = {"vocabulary": V, "width": D, "heads": H, "hidden": F, "layers": layers, "longest": longest}
    return sizes, _weights(draw, V, D, F, layers, longest), draw.whole(0, V, B, T)


# Sizes B, T, V, H, D, F, layers, longest: tiny first, then larger ones
LADDER = (
    (2, 3, 5, 1, 3, 4, 1, 7),
    (2, 5, 3, 2, 4, 3, 2, 7),
    (3, 5, 7, 3, 6, 11, 2, 8),
)


SMALL = (1, 3, 4, 1, 3, 2, 1, 5)
STAGES = {  # what gives something, its sizes, the layers that give zeros, and what is said where this is wrong first
    "only ids and positions": (
        SMALL,
        ("blocks.0.attention.out_proj", "blocks.0.network.2"),
        "Here attention and the network output zeros, which leaves the ids and their positions, the last norm and the readout: look at these first.",
    ),
    "attention alone": (
        SMALL,
        ("blocks.0.network.2",),
        "Here the network outputs zeros. If attention also outputs zeros, everything is correct, so look at attention first: what does it read, what is it added to, and what does its mask hide?",
    ),
    "attention and network": (
        SMALL,
        (),
        "If the network outputs zeros, everything is correct, so look at the network first: what does it read, and what is it added to?",
    ),
    "two blocks": (
        (*SMALL[:6], 2, 5),
        (),
        "With one block, everything is correct, but not with two. Does each block read the previous block's output, in their order?",
    ),
}
told_by_stages(task, {name: sentence for name, (*_, sentence) in STAGES.items()})


@task.cases
def _(draw):
    for name, (dims, silent, _) in STAGES.items():
        yield Case(f"{name}, {count(dims[1], 'id')}", silenced(_args(draw, *dims), silent))
    for dims in LADDER:
        B, T, V, H, D, _, layers, longest = dims
        name = f"{count(B, 'sentence')} of {count(T, 'id')}, V={V}, {count(H, 'head')}, width {D}, {count(layers, 'block')}, up to {longest} positions"
        yield Case(name, _args(draw, *dims), dims == LADDER[-1])
    yield Case("the maximum number of positions", _args(draw, 2, 5, 7, 2, 4, 3, 2, 5))
    yield Case("three blocks", _args(draw, 2, 4, 5, 2, 4, 3, 3, 7))
    yield Case("a single id", _args(draw, 2, 1, 5, 2, 4, 3, 2, 7), edge=True)
    yield Case("100 ids", _args(draw, 1, 100, 5, 2, 4, 3, 1, 101), edge=True)
    yield Case("float64 numbers", in_precision(_args(draw, 2, 3, 5, 2, 4, 3, 2, 7), torch.float64), True, hazard=True)


@task.steps
def _(sizes, weights, ids):
    table = weights["embedding.weight"]
    words = yield "the vectors of the ids", F.embedding, ids, table
    places = yield (
        "the vectors of the positions",
        lambda table, ids: table[: ids.shape[1]],
        weights["positions.weight"],
        ids,
    )
    x = yield "the sum of both", torch.add, words, places
    allowed = yield "the causal mask", torch.tril, torch.ones(1, ids.shape[1], ids.shape[1], dtype=torch.bool)
    for n in range(sizes["layers"]):
        at = f"blocks.{n}."
        attend, network = _attention(weights, at, sizes["heads"]), partial(_network, weights, at)
        y = yield "the output of norm1", partial(norm, weights, f"{at}norm1"), x
        seen = yield "the output of attention", attend, y, allowed
        x = yield "the sum after attention", torch.add, x, seen
        y = yield "the output of norm2", partial(norm, weights, f"{at}norm2"), x
        found = yield "the output of the network", network, y
        x = yield "the sum after the network", torch.add, x, found
    x = yield "the output of the last norm", partial(norm, weights, "norm"), x
    logits = yield "the product with the embedding", lambda x, table: x @ table.mT, x, table
    return logits


def _attention(weights, at, heads):
    return lambda y, allowed: attention(weights, f"{at}attention", y, y, y, heads, allowed)


def _network(weights, at, y):
    hidden = F.gelu(y @ weights[f"{at}network.0.weight"].T + weights[f"{at}network.0.bias"])
    return hidden @ weights[f"{at}network.2.weight"].T + weights[f"{at}network.2.bias"]
