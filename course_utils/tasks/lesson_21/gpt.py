"""Task 21.gpt: a decoder alone, put together from given layers, with learned positions and pre-norm as GPT-2 has them (Radford et al. 2019)."""

import torch
import torch.nn.functional as F

from course_utils.checks.running.contract import Case
from course_utils.checks.task import Task, count
from course_utils.models.attention import causal_mask
from course_utils.tasks.lesson_12._layers import attention, drawn, norm

task = Task(
    "21.gpt",
    "a GPT of one's own",
    arguments=("sizes", "weights", "ids B×T"),
    result="logits B×T×V",
    module=True,
    difficulty=4,
    importance=5,
    minutes=30,
    hints=(
        "It is the encoder layer of lesson 12 with norm_first, several times over, and a causal mask in each attention, in which True means hidden. Below the layers each id becomes the sum of two vectors, one for the id and one for its position. Above them stands one more norm, and then the product with the table of ids itself, in which each id has its row.",
        (
            "Take a width of 3, a vocabulary of two ids with the vectors [0, 1, 2] and [2, 0, 0], positions of which the first is [0, 1, 2], and one layer whose attention gives [1, 1, 1] and whose network gives [0, 0, -3], whatever they read. The id 0 at position 0 is [0, 2, 4]. With what attention gives it is [1, 3, 5], with what the network gives [1, 3, 2]. "
            "The last norm, with a gain of 1 and a bias of 0, makes [-1.2247, 1.2247, 0] of it. The products with the two vectors are the logits 1.2247 and -2.4495."
        ),
        "T = the number of positions. x = embedding of ids, plus the first T rows of positions. hidden = T×T, True above the diagonal. For each layer: y = its norm1 of x; x = x + its attention of y, y, y with attn_mask=hidden, of whose two results the first is taken; x = x + its network of norm2 of x. Return norm of x, times the embedding's weight transposed.",
    ),
    partial={"edge": (0.5, "right on every ordinary input, wrong on an unusual one.")},
)

NAMES = ("norm1", "attention", "norm2", "network")  # the parts of a block


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


def _in_float64(args):
    sizes, weights, ids = args
    return sizes, {name: weight.double() for name, weight in weights.items()}, ids


# Sizes B, T, V, H, D, F, layers, longest: tiny first, then larger ones
LADDER = (
    (1, 2, 3, 1, 4, 2, 1, 5),
    (2, 3, 5, 1, 3, 4, 1, 7),
    (2, 5, 3, 2, 4, 3, 2, 7),
    (3, 5, 7, 3, 6, 11, 2, 8),
)


@task.cases
def _(draw):
    for dims in LADDER:
        B, T, V, H, D, _, layers, longest = dims
        name = f"{count(B, 'sentence')} of {count(T, 'id')}, V={V}, {count(H, 'head')}, width {D}, {count(layers, 'block')}, up to {longest} positions"
        yield Case(name, _args(draw, *dims), dims == LADDER[-1])
    yield Case("as many positions as there may be", _args(draw, 2, 5, 7, 2, 4, 3, 2, 5))
    yield Case("three blocks", _args(draw, 2, 4, 5, 2, 4, 3, 3, 7))
    yield Case("a single id", _args(draw, 2, 1, 5, 2, 4, 3, 2, 7), edge=True)
    yield Case("100 ids", _args(draw, 1, 100, 5, 2, 4, 3, 1, 101), edge=True)
    yield Case("float64 numbers", _in_float64(_args(draw, 2, 3, 5, 2, 4, 3, 2, 7)), True, edge=True)


PYTORCHS = {  # the names of a block's parts in nn.TransformerEncoderLayer
    "attention": "self_attn",
    "network.0": "linear1",
    "network.2": "linear2",
    "norm1": "norm1",
    "norm2": "norm2",
}


@task.oracle
def _(sizes, weights, ids):
    T, D = ids.shape[1], sizes["width"]
    layer = torch.nn.TransformerEncoderLayer(
        D, sizes["heads"], sizes["hidden"], 0.0, "gelu", norm_first=True, batch_first=True
    ).to(weights["embedding.weight"].dtype)
    x = F.embedding(ids, weights["embedding.weight"]) + F.embedding(torch.arange(T), weights["positions.weight"])
    for n in range(sizes["layers"]):
        of_layer = {
            name.replace(f"blocks.{n}.{ours}.", f"{theirs}."): weight
            for ours, theirs in PYTORCHS.items()
            for name, weight in weights.items()
            if name.startswith(f"blocks.{n}.{ours}.")
        }
        x = torch.func.functional_call(layer, of_layer, x, {"src_mask": ~causal_mask(T)})
    x = F.layer_norm(x, (D,), weights["norm.weight"], weights["norm.bias"])
    return F.linear(x, weights["embedding.weight"])


@task.steps
def _(sizes, weights, ids):
    words = yield "the vectors of the ids", F.embedding, ids, weights["embedding.weight"]
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
        y = yield "what norm1 gives", lambda x, at=at: norm(weights, f"{at}norm1", x), x
        seen = yield (
            "what attention gives",
            lambda y, allowed, at=at: _attend(weights, at, y, sizes, allowed),
            y,
            allowed,
        )
        x = yield "the sum after attention", torch.add, x, seen
        y = yield "what norm2 gives", lambda x, at=at: norm(weights, f"{at}norm2", x), x
        found = yield "what the network gives", lambda y, at=at: _network(weights, at, y), y
        x = yield "the sum after the network", torch.add, x, found
    x = yield "what the last norm gives", lambda x: norm(weights, "norm", x), x
    logits = yield "the product with the embedding", lambda x, table: x @ table.mT, x, weights["embedding.weight"]
    return logits


# A right GPT, of which mistakes change one part


def _attend(weights, at, y, sizes, allowed, raw=None):
    return attention(weights, f"{at}attention", y, *((y, y) if raw is None else (raw, raw)), sizes["heads"], allowed)


def _network(weights, at, y, between=F.gelu):
    hidden = between(y @ weights[f"{at}network.0.weight"].T + weights[f"{at}network.0.bias"])
    return hidden @ weights[f"{at}network.2.weight"].T + weights[f"{at}network.2.bias"]


def _pre(x, attend, network, norm1, norm2):
    x = x + attend(norm1(x))
    return x + network(norm2(x))


def _causal(T):
    return causal_mask(T)[None]


def _gpt(
    sizes,
    weights,
    ids,
    words=lambda table, ids: table[ids],
    places=lambda x, table, ids: x + table[: ids.shape[1]],
    allowed=_causal,
    order=lambda layers: range(layers),
    block=_pre,
    between_blocks=lambda x, last: x,
    last=lambda x, last: last(x),
    read=lambda x, weights: x @ weights["embedding.weight"].T,
    ending=lambda logits: logits,
):
    normal = lambda name: lambda x: norm(weights, name, x)  # noqa: E731
    x = places(words(weights["embedding.weight"], ids), weights["positions.weight"], ids)
    for n in order(sizes["layers"]):
        at = f"blocks.{n}."
        attend = lambda y, at=at: _attend(weights, at, y, sizes, allowed(ids.shape[1]))  # noqa: E731
        network = lambda y, at=at: _network(weights, at, y)  # noqa: E731
        x = block(x, attend, network, normal(f"{at}norm1"), normal(f"{at}norm2"))
        x = between_blocks(x, normal("norm"))
    return ending(read(last(x, normal("norm")), weights))


def _mistake(name, sentence, **parts):
    task.mistake(sentence, name)(lambda sizes, weights, ids: _gpt(sizes, weights, ids, **parts))


HIDDEN = (
    "In attn_mask True means hidden: it is True above the diagonal alone, torch.ones(T, T, dtype=torch.bool).triu(1)."
)

_mistake(
    "no_mask",
    "Each position sees all later ones, and so the id that it should predict. Give attention a causal mask: attn_mask=….",
    allowed=lambda T: torch.ones(1, T, T, dtype=torch.bool),
)
_mistake(
    "mask_turned_round",
    f"The mask is turned round: each position sees the later ones alone, and the last one nothing, which gives NaN. {HIDDEN}",
    allowed=lambda T: ~_causal(T),
)
_mistake(
    "itself_hidden",
    f"No position sees itself, and the first one sees nothing, which gives NaN. {HIDDEN}",
    allowed=lambda T: _causal(T).tril(-1),
)
_mistake(
    "one_ahead",
    f"Each position also sees the next one, which it should predict. {HIDDEN}",
    allowed=lambda T: torch.ones(1, T, T, dtype=torch.bool).tril(1),
)
_mistake(
    "itself_and_later_ones",
    f"Each position sees itself and the later ones: the mask is transposed. {HIDDEN}",
    allowed=lambda T: _causal(T).mT,
)
_mistake(
    "itself_alone",
    f"Each position sees itself alone. {HIDDEN}",
    allowed=lambda T: torch.eye(T, dtype=torch.bool)[None],
)
_mistake(
    "no_positions",
    "The positions are missing: add the first T rows of self.positions.weight to the vectors of the ids.",
    places=lambda x, table, ids: x,
)
_mistake(
    "first_position_for_all",
    "All positions get the vector of position 0. Position t gets row t of self.positions.weight.",
    places=lambda x, table, ids: x + table[0],
)
_mistake(
    "positions_of_ids",
    "The ids are looked up in self.positions as well. It is their places, 0 to T-1, that are looked up there.",
    places=lambda x, table, ids: x + table[ids],
)
_mistake(
    "positions_from_1",
    "The positions begin at 1: the first id gets row 1 of self.positions.weight. They begin at 0.",
    places=lambda x, table, ids: x + table.roll(-1, 0)[: ids.shape[1]],
)
_mistake(
    "positions_from_the_end",
    "The last rows of self.positions.weight are added. Take the first T rows: position t gets row t.",
    places=lambda x, table, ids: x + table[-ids.shape[1] :],
)
_mistake(
    "positions_multiplied",
    "You multiply the vectors of the ids by those of the positions. Add them.",
    places=lambda x, table, ids: x * table[: ids.shape[1]],
)
_mistake(
    "embedding_scaled",
    "You multiply the vectors of the ids by √D, as the Transformer of 2017 did. Here they are added to the positions as they are.",
    words=lambda table, ids: table[ids] * table.shape[1] ** 0.5,
)
_mistake(
    "no_residual",
    "Both residual connections are missing: x is added to what attention gives, and again to what the network gives.",
    block=lambda x, attend, network, norm1, norm2: network(norm2(attend(norm1(x)))),
)
_mistake(
    "attention_not_added",
    "The residual connection around attention is missing: what attention gives takes the place of x. Add x to it.",
    block=lambda x, attend, network, norm1, norm2: _pre(x, lambda y: attend(y) - x, network, norm1, norm2),
)


@task.mistake(
    "The residual connection around the network is missing: what the network gives takes the place of x. Add x to it."
)
def network_not_added(sizes, weights, ids):
    def block(x, attend, network, norm1, norm2):
        return network(norm2(x + attend(norm1(x))))

    return _gpt(sizes, weights, ids, block=block)


_mistake(
    "normalised_x_added",
    "What is added to attention's and the network's results is x after the norm. The residual connection passes by the norm: add x as it came.",
    block=lambda x, attend, network, norm1, norm2: _added_to(norm2, network, _added_to(norm1, attend, x)),
)


def _added_to(norm, function, x):
    y = norm(x)
    return y + function(y)


_mistake(
    "post_norm",
    "The norms come after the additions: that is post-norm, as in 2017. Here each comes before its function: x + f(norm(x)).",
    block=lambda x, attend, network, norm1, norm2: norm2(norm1(x + attend(x)) + network(norm1(x + attend(x)))),
)
_mistake(
    "norm_of_the_branch",
    "You normalise what attention and the network give. The norm belongs before them: x + f(norm(x)).",
    block=lambda x, attend, network, norm1, norm2: x + norm1(attend(x)) + norm2(network(x + norm1(attend(x)))),
)
_mistake(
    "no_norms_in_the_blocks",
    "norm1 and norm2 are missing: attention and the network each read x after a norm.",
    block=lambda x, attend, network, norm1, norm2: _pre(x, attend, network, lambda y: y, lambda y: y),
)
_mistake(
    "norm1_missing",
    "norm1 is missing: attention reads x after a norm.",
    block=lambda x, attend, network, norm1, norm2: _pre(x, attend, network, lambda y: y, norm2),
)
_mistake(
    "norm2_missing",
    "norm2 is missing: the network reads x after a norm.",
    block=lambda x, attend, network, norm1, norm2: _pre(x, attend, network, norm1, lambda y: y),
)
_mistake(
    "norms_exchanged",
    "norm1 and norm2 are exchanged: norm1 belongs to attention, norm2 to the network.",
    block=lambda x, attend, network, norm1, norm2: _pre(x, attend, network, norm2, norm1),
)
_mistake(
    "norm1_twice",
    "norm1 is used for attention and for the network. The network has a norm of its own, norm2.",
    block=lambda x, attend, network, norm1, norm2: _pre(x, attend, network, norm1, norm1),
)
_mistake(
    "side_by_side",
    "Attention and the network both read the x that comes into the block. The network reads what attention has been added to.",
    block=lambda x, attend, network, norm1, norm2: x + attend(norm1(x)) + network(norm2(x)),
)
_mistake(
    "network_first",
    "The network comes before attention. Attention comes first.",
    block=lambda x, attend, network, norm1, norm2: _pre(x, network, attend, norm2, norm1),
)
_mistake(
    "no_attention",
    "Attention is missing: positions never see one another.",
    block=lambda x, attend, network, norm1, norm2: x + network(norm2(x)),
)
_mistake(
    "no_network",
    "The networks are missing: each block has one after its attention.",
    block=lambda x, attend, network, norm1, norm2: x + attend(norm1(x)),
)
_mistake(
    "first_block_alone",
    "x goes through the first block alone. It goes through all of self.blocks.",
    order=lambda layers: range(1),
)
_mistake(
    "first_block_again_and_again",
    "x goes through the first block as often as there are blocks. It goes through each of them once.",
    order=lambda layers: [0] * layers,
)
_mistake(
    "blocks_in_reverse",
    "x goes through the blocks from the last to the first. Begin with self.blocks[0].",
    order=lambda layers: reversed(range(layers)),
)
_mistake(
    "no_last_norm",
    "The last norm is missing: self.norm stands between the last block and the readout.",
    last=lambda x, last: x,
)
_mistake(
    "last_norm_after_each_block",
    "self.norm is applied after each block. It stands after the last one alone.",
    between_blocks=lambda x, last: last(x),
    last=lambda x, last: x,
)
_mistake(
    "no_readout",
    "You return vectors of width D. Logits are their products with the rows of self.embedding.weight, one for each id.",
    read=lambda x, weights: x,
)
_mistake(
    "read_by_positions",
    "The readout is made with self.positions. It is the embedding of the ids: x @ its weight transposed.",
    read=lambda x, weights: x @ weights["positions.weight"].T,
)
_mistake(
    "probabilities",
    "You return probabilities. Return the logits as they are: the loss applies the softmax.",
    ending=lambda logits: logits.softmax(-1),
)
_mistake(
    "log_probabilities",
    "You return log probabilities. Return the logits as they are: the loss applies the softmax.",
    ending=lambda logits: logits.log_softmax(-1),
)
_mistake(
    "last_position_alone",
    "You return the logits of the last position alone, which is all that speaking needs. Training needs those of all positions: B×T×V.",
    ending=lambda logits: logits[:, -1],
)
_mistake(
    "positions_and_vocabulary_exchanged",
    "You return B×V×T, as F.cross_entropy takes it. Return B×T×V.",
    ending=lambda logits: logits.mT,
)
