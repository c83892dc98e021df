"""Task 21.gpt: a decoder alone, put together from given layers, with learned positions and pre-norm as GPT-2 has them (Radford et al. 2019)."""

from functools import partial

import torch
import torch.nn.functional as F

from course_lessons.shared.staged_cases import told_by_stages
from course_lessons.shared.transformer_layers import attention, drawn, in_precision, norm, silenced
from course_utils.checks.reference_trace import left_out
from course_utils.checks.running.contract import Case
from course_utils.checks.task import Task, count

task = Task(
    "21.gpt",
    "your own GPT",
    arguments=("sizes", "weights", "ids B×T"),
    result="logits B×T×V",
    module=True,
    difficulty=4,
    importance=5,
    minutes=30,
    hints=(
        "It is lesson 12's encoder layer with norm_first, repeated several times, with a causal mask in which True means hidden. Before the layers, each id becomes the sum of two vectors, one for the id and one for its position. After the layers come one more norm and the product with the embedding matrix itself, which has a row for each id.",
        (
            "Take a width of 3, a vocabulary of two ids with the vectors [0, 1, 2] and [2, 0, 0], positions of which the first is [0, 1, 2], and one layer whose attention outputs [1, 1, 1] and whose network outputs [0, 0, -3], whatever they read. The id 0 at position 0 is [0, 2, 4]. Adding the output of attention gives [1, 3, 5], and adding the output of the network gives [1, 3, 2]. "
            "The last norm, with a gain of 1 and a bias of 0, turns it into [-1.2247, 1.2247, 0]. The products with the two vectors are the logits 1.2247 and -2.4495."
        ),
        "T = the number of positions. x = embedding of ids, plus the first T rows of positions. hidden = T×T, True above the diagonal. For each layer: y = its norm1 of x; x = x + the first result of its attention of y, y, y with attn_mask=hidden; x = x + its network of norm2 of x. Return norm of x, times the embedding's weight transposed.",
    ),
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


IDS, PLACES, EMBEDDED, MASK = (
    "the vectors of the ids",
    "the vectors of the positions",
    "the sum of both",
    "the causal mask",
)
NORM1, SEEN, AFTER1 = "the output of norm1", "the output of attention", "the sum after attention"
NORM2, FOUND, AFTER2 = "the output of norm2", "the output of the network", "the sum after the network"
LAST, READ = "the output of the last norm", "the product with the embedding"


@task.steps
def _(sizes, weights, ids):
    table = weights["embedding.weight"]
    words = yield IDS, F.embedding, ids, table
    places = yield PLACES, lambda table, ids: table[: ids.shape[1]], weights["positions.weight"], ids
    x = yield EMBEDDED, torch.add, words, places
    allowed = yield MASK, torch.tril, torch.ones(1, ids.shape[1], ids.shape[1], dtype=torch.bool)
    for n in range(sizes["layers"]):
        at = f"blocks.{n}."
        attend, network = _attention(weights, at, sizes["heads"]), partial(_network, weights, at)
        norm1 = yield "the first norm", lambda name: partial(norm, weights, name), f"{at}norm1"
        norm2 = yield "the second norm", lambda name: partial(norm, weights, name), f"{at}norm2"
        y = yield NORM1, norm1, x
        seen = yield SEEN, attend, y, allowed
        x = yield AFTER1, torch.add, x, seen
        y = yield NORM2, norm2, x
        found = yield FOUND, network, y
        x = yield AFTER2, torch.add, x, found
    x = yield LAST, partial(norm, weights, "norm"), x
    logits = yield READ, lambda x, table: x @ table.mT, x, table
    return logits


def _attention(weights, at, heads):
    return lambda y, allowed, empty=torch.nan: attention(weights, f"{at}attention", y, y, y, heads, allowed, empty)


def _network(weights, at, y):
    hidden = F.gelu(y @ weights[f"{at}network.0.weight"].T + weights[f"{at}network.0.bias"])
    return hidden @ weights[f"{at}network.2.weight"].T + weights[f"{at}network.2.bias"]


def alone(x, part):
    """Take the place of a residual connection: what is added to x, without x."""
    return part


HIDDEN = "In attn_mask, True means hidden: it should be True only above the diagonal, torch.ones(T, T, dtype=torch.bool).triu(1)."

task.changed(
    "no_mask",
    "Each position sees all later ones, including the id that it should predict. Give attention a causal mask: attn_mask=….",
    {MASK: left_out},
)
task.changed(
    "mask_turned_round",
    f"The mask is inverted: each position sees only the later ones, and the last position sees nothing, which gives NaN. {HIDDEN}",
    {MASK: lambda ones: ones.triu(1)},
)
task.changed(
    "itself_hidden",
    f"No position sees itself, and the first one sees nothing, which gives NaN. {HIDDEN}",
    {MASK: lambda ones: ones.tril(-1)},
)
task.changed(
    "one_ahead",
    f"Each position also sees the next one, which it should predict. {HIDDEN}",
    {MASK: lambda ones: ones.tril(1)},
)
task.changed(
    "itself_and_later_ones",
    f"Each position sees itself and the later ones: the mask is transposed. {HIDDEN}",
    {MASK: torch.triu},
)
task.changed(
    "mask_of_numbers",
    f"Your attn_mask contains numbers, which PyTorch adds to the scores: the 1 gives later positions even more weight. {HIDDEN}",
    {MASK: lambda ones: 1 - ones.float().tril()},
)
NO_NAN = {SEEN: lambda y, allowed, *, right: right(y, allowed, empty=0.0)}  # as with need_weights=False
task.changed_each(
    ("mask_of_numbers_inverted", f"Your attn_mask contains numbers, which PyTorch adds to the scores: the positions so far get 1 more, and no later one is hidden. {HIDDEN}", {MASK: lambda ones: ones.float().tril()}),
    ("mask_inverted_without_nan", f"The mask is inverted: each position sees only the later ones, and the last position sees nothing. {HIDDEN}", {MASK: lambda ones: ones.triu(1)} | NO_NAN),
    ("itself_hidden_without_nan", f"No position sees itself, and the first one sees nothing. {HIDDEN}", {MASK: lambda ones: ones.tril(-1)} | NO_NAN),
)  # fmt: skip
task.changed(
    "no_positions",
    "The positions are missing: add the first T rows of self.positions.weight to the ids' embeddings.",
    {EMBEDDED: left_out},
)
task.changed(
    "positions_of_ids",
    "You also look up the ids in self.positions. Look up their positions there, 0 to T-1.",
    {PLACES: lambda table, ids: table[ids]},
)
task.changed_each(
    ("positions_from_1", "Your positions start with row 1 of self.positions.weight. The first id is at position 0.", {PLACES: lambda table, ids: table[1 : ids.shape[1] + 1]}),
    ("last_positions", "You add the last T rows of self.positions.weight. The ids are at positions 0 to T-1: use the first T rows.", {PLACES: lambda table, ids: table[-ids.shape[1] :]}),
    ("one_position_for_all", "All ids get the same position's embedding. Each position has its own: row t for the id at position t.", {PLACES: lambda table, ids: table[ids.shape[1] - 1]}),
    ("positions_reversed", "Your positions are counted from the end of the text. The first id is at position 0.", {PLACES: lambda table, ids: table[: ids.shape[1]].flip(0)}),
    ("positions_multiplied", "You multiply the ids' embeddings by the positions' embeddings. Add them.", {EMBEDDED: torch.mul}),
    ("ids_unused", "The ids have no effect: x consists of the positions only. Add the ids' embeddings, self.embedding(ids).", {EMBEDDED: lambda words, places: 0 * words + places}),
)  # fmt: skip
task.changed(
    "embedding_scaled",
    "You multiply the ids' embeddings by √D, as the 2017 Transformer did. Here they are added to the positions without this factor.",
    {IDS: lambda ids, table: table[ids] * table.shape[1] ** 0.5},
)
task.changed(
    "no_residual",
    "Both residual connections are missing: add x to attention's output, and again to the network's output.",
    {AFTER1: alone, AFTER2: alone},
)
for name, noun, number, NORM, AFTER in (
    ("attention", "attention", "norm1", NORM1, AFTER1),
    ("network", "the network", "norm2", NORM2, AFTER2),
):
    task.changed(
        f"{name}_not_added",
        f"The residual connection around {noun} is missing: {noun}'s output replaces x. Add x to it.",
        {AFTER: alone},
    )
    task.changed(
        f"normalised_x_added_to_{name}",
        f"You add x after {number} to {noun}'s output, perhaps because x was overwritten with it. The residual connection bypasses the norm: add x from before the norm.",
        {AFTER: lambda x, part, *, done, NORM=NORM: done[NORM] + part},
    )
    task.changed(f"{number}_missing", f"{number} is missing: {noun} should read x after a norm.", {NORM: left_out})
task.changed(
    "normalised_x_added",
    "You add x after the norm to the outputs of attention and the network. The residual connection bypasses the norm: add x from before the norm.",
    {AFTER1: lambda x, seen, *, done: done[NORM1] + seen, AFTER2: lambda x, found, *, done: done[NORM2] + found},
)
task.changed(
    "post_norm",
    "The norms come after the additions, which is post-norm, as in the 2017 Transformer. Here each norm comes before its sub-layer: x + f(norm(x)).",
    {
        NORM1: left_out,
        AFTER1: lambda x, seen, *, done: done["the first norm"](x + seen),
        NORM2: left_out,
        AFTER2: lambda x, found, *, done: done["the second norm"](x + found),
    },
)
task.changed(
    "norm_of_the_branch",
    "You normalise the outputs of attention and the network. The norm belongs before them: x + f(norm(x)).",
    {
        NORM1: left_out,
        SEEN: lambda y, allowed, *, right, done: done["the first norm"](right(y, allowed)),
        NORM2: left_out,
        FOUND: lambda y, *, right, done: done["the second norm"](right(y)),
    },
)
task.changed(
    "no_norms_in_the_blocks",
    "norm1 and norm2 are missing: attention and the network should each read x after a norm.",
    {NORM1: left_out, NORM2: left_out},
)
task.changed(
    "norm1_twice",
    "norm1 is used for attention and for the network. The network has its own norm, norm2.",
    {"the second norm": lambda name, *, right: right(name.replace("norm2", "norm1"))},
)
task.changed(
    "side_by_side",
    "Attention and the network both read the block's input. The network should read x after attention's output has been added.",
    {NORM2: lambda x, *, right, done: right(x - done[SEEN])},
)


def _blocks(order):
    """A change of the weights: for each block, those of another one; order(block, how many there are) tells which."""

    def change(weights, *, sizes):
        found = dict(weights)
        for n in range(sizes["layers"]):
            own, other = f"blocks.{n}.", f"blocks.{order(n, sizes['layers'])}."
            found |= {name: weights[name.replace(own, other)] for name in weights if name.startswith(own)}
        return found

    return change


task.changed_each(
    ("network_reads_what_attention_read", "The network reads norm1 of x, as attention does. It should read norm2 of x after attention's output has been added.", {NORM2: lambda x, *, done: done[NORM1]}),
    ("blocks_in_reverse", "x goes through the blocks from last to first. Start with the first block.", {"weights": _blocks(lambda n, layers: layers - 1 - n)}),
    ("one_block_for_all", "x goes through the first block again and again. Use every block of self.blocks: each has its own weights.", {"weights": _blocks(lambda n, layers: 0)}),
    ("last_block_alone", "x goes only through the last block, or all blocks read the same x. Each block should read the previous block's output.", {"weights": _blocks(lambda n, layers: layers - 1), "sizes": lambda sizes: sizes | {"layers": 1}}),
)  # fmt: skip
task.changed(
    "first_block_alone",
    "x goes only through the first block. It should go through all of self.blocks.",
    {"sizes": lambda sizes: sizes | {"layers": 1}},
)
task.changed(
    "no_last_norm",
    "The last norm is missing: self.norm belongs between the last block and the readout.",
    {LAST: left_out},
)
task.changed(
    "last_norm_after_each_block",
    "self.norm is applied after each block. It belongs only after the last one.",
    {AFTER2: lambda x, found, *, weights: norm(weights, "norm", x + found), LAST: left_out},
)
task.changed(
    "probabilities",
    "You return probabilities. Return the logits as they are: the loss applies the softmax.",
    {"result": lambda logits: logits.softmax(-1)},
)
task.changed_each(
    ("log_probabilities", "You return log probabilities. Return the logits as they are: the loss applies the log softmax.", {"result": lambda logits: logits.log_softmax(-1)}),
    ("logits_scaled", "You divide the logits by √D. Here the readout is the product with the embedding, without this factor.", {READ: lambda x, table: x @ table.mT / x.shape[-1] ** 0.5}),
    ("no_readout", "You return the last norm's output. The readout is missing: the product of each vector with self.embedding.weight, transposed.", {READ: left_out}),
)  # fmt: skip
task.changed(
    "last_position_alone",
    "You return only the last position's logits, which is all that writing needs. Training needs the logits of all positions: B×T×V.",
    {"result": lambda logits: logits[:, -1]},
)
