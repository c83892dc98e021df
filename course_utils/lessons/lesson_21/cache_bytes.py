"""Task 21.cache_bytes: how many bytes keys and values take that a decoder keeps."""

from course_utils.checks.running.contract import Case
from course_utils.checks.task import Task, count

task = Task(
    "21.cache_bytes",
    "how large a cache is",
    arguments=("layers", "heads", "groups", "d", "length", "bytes"),
    result="size",
    difficulty=1,
    importance=4,
    minutes=10,
    hints=(
        "Ask what is kept for a single position in a single layer, and how many bytes that takes. Then count positions and layers. Queries are used once and are not kept.",
        (
            "Take 2 layers, 4 heads in 2 groups of width 3, a text of 5 positions, and 2 bytes for each number. At one position, one layer keeps 2 keys and 2 values of 3 numbers each: 12 numbers, 24 bytes. For 5 positions and 2 layers that is 24·5·2 = 240 bytes. "
            "If each of the 4 heads had keys and values of its own, it would be 480."
        ),
        "Multiply: 2, as there are keys and values; layers; groups; the width of a head; positions; bytes of a number.",
    ),
)


@task.cases
def _(draw):
    for layers, groups, times, d, length, size in ((1, 1, 2, 3, 5, 2), (2, 2, 3, 3, 5, 4), (3, 2, 5, 7, 11, 2), (5, 3, 2, 7, 11, 1), (7, 2, 3, 5, 13, 8)):  # fmt: skip
        length = length + 2 * int(draw.whole(0, 8))
        name = f"{count(layers, 'layer')}, {groups * times} heads in {count(groups, 'group')} of width {d}, {length} positions, {count(size, 'byte')}"
        yield Case(name, (layers, groups * times, groups, d, length, size))
    layers, length = int(draw.whole(20, 40)), int(draw.whole(1000, 9000))
    yield Case(
        f"{layers} layers, 32 heads in 8 groups of width 128, {length:,} positions", (layers, 32, 8, 128, length, 2)
    )
    yield Case("as many groups as heads", (3, 5, 5, 7, int(draw.whole(11, 20)), 2), edge=True)
    yield Case("one group for all heads", (3, 5, 1, 7, int(draw.whole(11, 20)), 2), edge=True)
    yield Case("a single position", (3, 6, 2, 5, 1, 4), edge=True)
    yield Case("Llama 3 8B with 8,192 positions in bfloat16", (32, 32, 8, 128, 8192, 2), edge=True)
    yield Case("Llama 3 405B with 131,072 positions in bfloat16", (126, 128, 8, 128, 131_072, 2), edge=True)


@task.oracle
def _(layers, heads, groups, d, length, bytes):
    kept = 0
    for _ in range(layers):
        for _ in ("keys", "values"):
            kept += groups * d * bytes  # for one position
    return kept * length


for _name, _sentence, _of in (
    ("keys_alone", "It is half of what it should be: keys are kept, and values too.", lambda l, h, g, d, n, b: l * g * d * n * b),
    ("heads_for_groups", "You count keys and values for each head. The heads of a group share theirs: count groups.", lambda l, h, g, d, n, b: 2 * l * h * d * n * b),
    ("one_of_both_for_each_head", "You count either keys or values for each head. The heads of a group share both: count groups for keys and for values.", lambda l, h, g, d, n, b: l * (h + g) * d * n * b),
    ("heads_and_groups", "You multiply by the number of heads and by that of groups. A group keeps its keys and values once, however many heads use them: leave the heads out.", lambda l, h, g, d, n, b: 2 * l * h * g * d * n * b),
    ("heads_in_a_group", "You multiply by how many heads share a group. What they share is kept once: multiply by the number of groups.", lambda l, h, g, d, n, b: 2 * l * (h // g) * d * n * b),
    ("queries_too", "You count three things: queries are not kept, as each is used once. Keys and values are two.", lambda l, h, g, d, n, b: 3 * l * g * d * n * b),
    ("queries_of_heads_too", "You count queries of all heads beside keys and values. Queries are used once and are not kept.", lambda l, h, g, d, n, b: (2 * g + h) * l * d * n * b),
    ("one_layer", "It is the cache of one layer. Each layer has its own keys and values.", lambda l, h, g, d, n, b: 2 * g * d * n * b),
    ("one_position", "It is the cache of one position. Keys and values of all positions are kept.", lambda l, h, g, d, n, b: 2 * l * g * d * b),
    ("scores_too", "You multiply by the length twice, as if scores were kept for all pairs of positions. Keys and values are kept, for each position once.", lambda l, h, g, d, n, b: 2 * l * g * d * n * n * b),
    ("numbers", "You count numbers. Each takes some bytes: multiply by them.", lambda l, h, g, d, n, b: 2 * l * g * d * n),
    ("bits", "You count bits. `bytes` says how many bytes a number takes: leave out the 8.", lambda l, h, g, d, n, b: 16 * l * g * d * n * b),
    ("width_forgotten", "The width is missing: a key holds d numbers, and so does a value.", lambda l, h, g, d, n, b: 2 * l * g * n * b),
    ("width_of_a_head_divided", "You divide d by the number of heads. It is the width of one head already.", lambda l, h, g, d, n, b: 2 * l * g * d * n * b // h),
):  # fmt: skip
    task.mistake(_sentence, _name)(_of)
