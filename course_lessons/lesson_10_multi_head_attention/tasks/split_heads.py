"""Task 10.split_heads: queries, keys and values are read out of vectors that hold them head by head."""

from itertools import permutations

from course_utils.checks.reference_trace import left_out
from course_utils.checks.running.contract import Case
from course_utils.checks.task import Task, count, sizes

task = Task(
    "10.split_heads",
    "queries, keys and values from another library's layout",
    arguments=("qkv B×T×3·D", "heads"),
    result="parts 3×B×H×T×d",
    difficulty=3,
    importance=4,
    minutes=15,
    hints=(
        "First write down what is in one vector of width 3D, and give each level its own axis, from the largest to the smallest: heads, then query, key and value, then d numbers. "
        "Only then move axes. A `view` or `reshape` reads the numbers row by row and never swaps axes, so it cannot do both.",
        (
            "Take a word with the numbers 1, 2, 3, …, 12 and two heads, so d = 2. Head 0 has the query [1, 2], the key [3, 4] and the value [5, 6]; head 1 has [7, 8], [9, 10] and [11, 12]. The queries of the two heads are [1, 2] and [7, 8]. "
            "In PyTorch's layout, the queries would be the first four numbers, [1, 2] and [3, 4]."
        ),
        "B, T, width = the sizes of qkv; d = width // (3 * heads); give qkv the five axes B, T, heads, 3, d, in this order; then move the axes to 3, B, heads, T, d.",
    ),
)


def _words(draw, B, T, width):
    """Numbers that are all different, so that each shows where it has gone."""
    return draw.distinct(B * T * width, 1, 2 * B * T * width + 20).reshape(B, T, width) / 2


@task.cases
def _(draw):
    for size in sizes(B=2, T=5, H=4, d=7):
        name = f"{count(size.B, 'sentence')} of {count(size.T, 'word')}, {size.H} heads of width {size.d}"
        yield Case(name, (_words(draw, size.B, size.T, 3 * size.H * size.d), size.H), size.full)
    yield Case("as many sentences as words and heads", (_words(draw, 3, 3, 18), 3))
    yield Case("as many heads as the width of a head", (_words(draw, 2, 5, 48), 4))
    yield Case("a single head", (_words(draw, 2, 3, 15), 1), True, edge=True)
    yield Case("heads of width 1", (_words(draw, 2, 3, 15), 5), True, edge=True)
    yield Case("a single word", (_words(draw, 1, 1, 18), 2), edge=True)
    yield Case("200 words", (draw.numbers(2, 200, 18), 3), edge=True)


CUT, MOVED = "the vectors cut into parts", "the parts with their axes moved"


@task.steps
def _(qkv, heads):
    parts = yield CUT, lambda qkv, heads: qkv.unflatten(2, (heads, 3, -1)), qkv, heads
    split = yield MOVED, lambda parts: parts.permute(3, 0, 2, 1, 4), parts
    return split


task.changed_each(
    ("library_layout", "You read PyTorch's layout: the first third of each vector as queries, the second as keys, the last as values. Here each head has its own query, key and value side by side.", {CUT: lambda qkv, heads: qkv.unflatten(2, (3, heads, -1)).transpose(2, 3)}),
    ("viewed_at_once", "The entries are split without regard to words: a single `view` or `reshape` to 3×B×H×T×d keeps the order in memory. Split each vector first, to B×T×H×3×d, and then move the axes.", {CUT: lambda qkv, heads: qkv.reshape(3, len(qkv), heads, qkv.shape[1], -1), MOVED: left_out}),
    ("not_moved", "The vectors are split correctly, but no axis has moved: you return B×T×H×3×d. Bring the axes into the order 3, B, H, T, d.", {MOVED: left_out}),
    ("words_before_heads", "Words and heads have not been swapped: you return 3×B×T×H×d, but 3×B×H×T×d is expected.", {MOVED: lambda parts: parts.permute(3, 0, 1, 2, 4)}),
    ("interleaved", "You use every third entry of a head for its query, the next ones for its key and its value. The d entries of a query are side by side: give qkv the axes H, 3 and d, in this order.", {CUT: lambda qkv, heads: qkv.unflatten(2, (heads, -1, 3)).mT}),
    ("heads_taken_for_width", "You split into parts of width H. `heads` is the number of heads, and each query, key and value is D/H wide.", {CUT: lambda qkv, heads: qkv.unflatten(2, (-1, 3, heads))}),
    ("width_before_words", "The axes T and d are swapped: you return 3×B×H×d×T, but 3×B×H×T×d is expected.", {MOVED: lambda parts: parts.permute(3, 0, 2, 4, 1)}),
    ("queries_alone", "You return only the queries, B×H×T×d. Return queries, keys and values in one tensor, 3×B×H×T×d.", {"result": lambda split: split[0]}),
    ("in_reverse", "The heads are in reverse order. Head 0 has the first 3·d entries of each vector.", {"result": lambda split: split.flip(2)}),
)  # fmt: skip
for order in list(permutations(range(3)))[1:]:  # all but the right one
    said = [("queries", "keys", "values")[place] for place in order]
    task.changed(
        "_".join(said),
        f"You return {', '.join(said)}. Queries come first, then keys, then values.",
        {"result": lambda split, order=order: split[list(order)]},
    )
