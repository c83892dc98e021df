"""Task 10.merge_heads: what each head adds to the output, where the heads would be put side by side and projected."""

from course_utils.checks.reference_trace import left_out
from course_utils.checks.running.contract import Case
from course_utils.checks.task import Task, count, sizes

task = Task(
    "10.merge_heads",
    "what each head adds to the output",
    arguments=("x B×H×T×d", "out_weight D×D"),
    result="shares B×H×T×D",
    difficulty=3,
    importance=4,
    minutes=20,
    hints=(
        "A product with a vector is a sum over its numbers. In the merged vector, the entries of head 0 come first, then the entries of head 1. The sum therefore splits into one part for each head, and each part is multiplied by its own part of W^O.",
        (
            "Take H = 2, d = 1, and a word for which head 0 outputs 2 and head 1 outputs 3. Let out_weight be [[1, 10], [0, 5]]. Merged, the vector is [2, 3], and the output is [1·2 + 10·3, 0·2 + 5·3] = [32, 15]. "
            "Head 0 uses the first column, [1, 0], and adds [2, 0]. Head 1 uses the second column, [10, 5], and adds [30, 15]."
        ),
        "Head i has the columns i·d to (i+1)·d of out_weight, D×d. Give out_weight the axes D, H, d; bring them into the order H, d, D; then x times this.",
    ),
)


def _inputs(draw, B, H, T, d):
    return draw.numbers(B, H, T, d), draw.numbers(H * d, H * d)


@task.cases
def _(draw):
    for size in sizes(B=2, H=3, T=5, d=7):
        name = f"{count(size.B, 'sentence')} of {count(size.T, 'word')}, {size.H} heads of width {size.d}"
        yield Case(name, _inputs(draw, size.B, size.H, size.T, size.d), size.full)
    yield Case("as many sentences as words, heads and entries in a part", _inputs(draw, 3, 3, 3, 3))
    yield Case("a single head", _inputs(draw, 2, 1, 3, 5), True, edge=True)
    yield Case("heads of width 1", _inputs(draw, 2, 5, 3, 1), True, edge=True)
    yield Case("a single word", _inputs(draw, 1, 2, 1, 3), edge=True)
    yield Case("200 words", _inputs(draw, 2, 3, 200, 2), edge=True)


COLUMNS, TURNED, SHARES = "the columns of each head", "the columns by head", "the products of parts and columns"


@task.steps
def _(x, out_weight):
    columns = yield COLUMNS, lambda out_weight, x: out_weight.unflatten(1, (x.shape[1], -1)), out_weight, x
    turned = yield TURNED, lambda columns: columns.permute(1, 2, 0), columns
    shares = yield SHARES, lambda x, turned: x @ turned, x, turned
    return shares


task.changed_each(
    ("rows_taken", "You multiply by rows of out_weight. nn.Linear stores a weight as outputs × inputs, W^O transposed: head i's output is multiplied by d *columns*.", {COLUMNS: lambda out_weight, x: out_weight.unflatten(0, (x.shape[1], -1)), TURNED: left_out}),
    ("interleaved", "The columns are interleaved: head 0 gets every H-th column, head 1 the next ones. The d columns of a head are side by side, as its entries are in the merged vector.", {COLUMNS: lambda out_weight, x: out_weight.unflatten(1, (-1, x.shape[1])).mT}),
    ("same_columns_for_all", "Each head uses the columns of head 0. Head i has the columns from i·d to (i+1)·d.", {COLUMNS: lambda out_weight, x: out_weight.unflatten(1, (x.shape[1], -1))[:, :1].expand(-1, x.shape[1], -1)}),
    ("columns_in_reverse", "The columns are in reverse order: head 0 uses the columns of the last head.", {COLUMNS: lambda out_weight, x: out_weight.unflatten(1, (x.shape[1], -1)).flip(1)}),
    ("words_mixed", "Words and heads are mixed in x, as a `view` or `reshape` to B×T×H×d mixes them, since it keeps the order in memory. x is already split into heads: multiply it as it is, or swap axes with `transpose`.", {"x": lambda x: x.reshape(len(x), x.shape[2], x.shape[1], -1).transpose(1, 2)}),
    ("summed", "You return the whole output, B×T×D. Return what each head adds to it, before the sum over the heads.", {"result": lambda shares: shares.sum(1)}),
    ("averaged", "You divide by the number of heads. The output is the sum of the shares, not their mean.", {"result": lambda shares, *, x: shares / x.shape[1]}),
    ("words_before_heads", "Words and heads are swapped: you return B×T×H×D, but B×H×T×D is expected.", {"result": lambda shares: shares.transpose(1, 2)}),
    ("not_projected", "Each head's numbers are in their own place, with zeros for the other heads, but are not projected. Also multiply by out_weight.", {SHARES: lambda x, turned: _in_place(x)}),
)  # fmt: skip


def _in_place(x):
    """Each head's part in a vector of zeros, B×H×T×D."""
    H, d = x.shape[1], x.shape[3]
    whole = x.new_zeros(*x.shape[:3], H * d)
    for head in range(H):
        whole[:, head, :, head * d : (head + 1) * d] = x[:, head]
    return whole
