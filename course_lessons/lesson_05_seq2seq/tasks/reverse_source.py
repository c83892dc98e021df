"""Task 05.reverse_source: each sentence backwards, while padding stays after it."""

import torch

from course_lessons.shared.padding import lengths_below, words_first
from course_lessons.shared.partial_credit import EDGE, SIDE_EFFECT
from course_utils.base.words import count
from course_utils.checks.task import Case, Task, sizes

task = Task(
    __name__,
    "each sentence backwards, padding after it",
    arguments=("source B×S", "mask B×S"),
    result="reversed B×S",
    difficulty=2,
    importance=3,
    minutes=15,
    partial=EDGE | SIDE_EFFECT | {"empty_row_turned_round": (0.5, "right in every row that holds a word.")},
)


def _ids(draw, B, S):
    """Ids that are all different; what padding is called cannot be seen from them."""
    return draw.distinct(B * S, 1, max(60, 2 * B * S)).reshape(B, S)


@task.property
def each_place_reads_its_mirror(case, value):
    """Which position is read, and which one should be."""
    source, mask = case.args
    right = task.oracle_function(source, mask)
    if not (value != right).any():
        return None
    b, s = (value != right).nonzero()[0].tolist()
    n = int(mask[b].sum())
    received = (source[b] == value[b, s]).nonzero().flatten().tolist()
    what = (
        f"yours holds the one from position {received[0]}"
        if len(received) == 1
        else f"yours holds {value[b, s].item()}"
    )
    if s >= n:
        return f"Row {b} has {count(n, 'word')}, so position {s} is after them and keeps its id; {what}."
    return f"Row {b} has {count(n, 'word')}, so position {s} gets the word from position {n} - 1 - {s} = {n - 1 - s}; {what}."


@task.cases
def _(draw):
    yield Case("3 words, padded to 5 positions", (_ids(draw, 1, 5), words_first(torch.tensor([3]), 5)))
    for size in sizes(B=3, S=7):
        B, S = size.B, size.S if size.full else size.S + 1
        lengths = 1 + lengths_below(draw, B, S - 1)  # a sentence of one word says nothing
        yield Case(f"{count(B, 'sentence')}, padded to {S} positions", (_ids(draw, B, S), words_first(lengths, S)))
    with_zeros = _ids(draw, 3, 7)
    with_zeros[0, 1], with_zeros[1, 0] = 0, 0
    yield Case("words whose id is 0", (with_zeros, words_first(torch.tensor([4, 5, 3]), 7)))
    yield Case("as many sentences as positions", (_ids(draw, 5, 5), words_first(1 + draw.distinct(5, 0, 5), 5)))
    a, b, c = draw.distinct(3, 3, 60).tolist()
    to_the_end = torch.tensor([[a, b, a, 2, 0], [c, 2, 0, 0, 0], [b, b, c, a, 2]])
    yield Case("EOS, id 2, as the last word, and words that are repeated", (to_the_end, to_the_end > 0))
    padded = _ids(draw, 3, 5) * words_first(torch.tensor([4, 2, 3]), 5)
    yield Case("zeros as padding", (padded, words_first(torch.tensor([4, 2, 3]), 5)))
    yield Case("a sentence without words", (_ids(draw, 3, 5), words_first(torch.tensor([3, 0, 5]), 5)), edge=True)
    yield Case("no words at all", (_ids(draw, 2, 3), torch.zeros(2, 3, dtype=torch.bool)), edge=True)
    yield Case("sentences of one word", (_ids(draw, 2, 3), words_first(torch.tensor([1, 1]), 3)), edge=True)
    yield Case("no padding at all", (_ids(draw, 2, 5), torch.ones(2, 5, dtype=torch.bool)), edge=True)
    yield Case("a single position", (_ids(draw, 2, 1), words_first(torch.tensor([1, 0]), 1)), edge=True)
    yield Case("200 positions", (_ids(draw, 2, 200), words_first(torch.tensor([199, 200]), 200)), edge=True)
    odd = _ids(draw, 2, 5)
    odd[:, 3], odd[:, 4] = -100, 2**40 + 1
    yield Case("padding of -100 and of 2⁴⁰ + 1", (odd, words_first(torch.tensor([3, 2]), 5)), edge=True)
