"""Task 05.last_state: the state after the last word of each sentence, in a padded batch."""

import torch

from course_lessons.shared.padding import lengths_below, with_garbage, words_first
from course_lessons.shared.partial_credit import EDGE
from course_utils.base.words import count
from course_utils.checks.task import Case, Task, sizes

task = Task(
    __name__,
    "the state after the last word",
    arguments=("states B×S×D", "mask B×S"),
    result="last B×D",
    difficulty=2,
    importance=5,
    minutes=10,
    partial=EDGE,
)


@task.property
def each_state_is_from_the_last_place(case, value):
    """Which position a state is from, and from which one it should be."""
    states, mask = case.args
    for b, (row, n) in enumerate(zip(states, mask.sum(1).tolist(), strict=True)):
        same = ((row - value[b]).abs() <= 1e-5).all(-1)
        if not same[n - 1]:
            places = same.nonzero().flatten().tolist()
            what = (
                f"has the same numbers here as the state at position {places[0]}"
                if len(places) == 1
                else "matches no single position"
                if not places
                else "is a different one"
            )
            return f"Sentence {b} has {count(n, 'word')}, so its last state is at position {n - 1}, counted from 0; yours {what}."
    return None


@task.cases
def _(draw):
    for size in sizes(B=3, S=5, D=7):
        mask = words_first(lengths_below(draw, size.B, size.S), size.S)
        name = f"{count(size.B, 'sentence')}, padded to {size.S} positions, states of width {size.D}"
        yield Case(name, (draw.numbers(size.B, size.S, size.D), mask), size.full)
    yield Case("5 sentences, the first of which fills its row", (draw.numbers(5, 7, 3), draw.lengths_mask(5, 7)))
    mask = words_first(lengths_below(draw, 3, 5), 5)
    zeros = (draw.numbers(3, 5, 7) * mask[..., None], mask)
    yield Case("zeros after the words", zeros)
    yield Case("as many sentences as positions", (draw.numbers(3, 3, 2), words_first(torch.tensor([2, 3, 1]), 3)))
    one_word = torch.ones(3, dtype=torch.long)
    yield Case("sentences of one word", (draw.numbers(3, 5, 2), words_first(one_word, 5)), True, edge=True)
    yield Case("a single position", (draw.numbers(2, 1, 3), words_first(one_word[:2], 1)), edge=True)
    no_padding = torch.ones(2, 3, dtype=torch.bool)
    yield Case("sentences without padding", (draw.numbers(2, 3, 5), no_padding), edge=True)
    long = words_first(torch.tensor([199, 200, 1]), 200)
    yield Case("200 positions", (draw.numbers(3, 200, 2), long), edge=True)
    mask = words_first(lengths_below(draw, 3, 5), 5)
    behind = with_garbage(draw.numbers(3, 5, 7), mask)
    yield Case("NaN and infinity after the words", (behind, mask), True, hazard=True)
    yield Case("numbers of 1e30", (1e30 * draw.numbers(3, 5, 7), mask), hazard=True)


def _at(states, places):
    """The state at a position of each sentence; a position below 0 counts from the end."""
    return states[torch.arange(len(states)), places]
