"""Task 05.last_state: the state after the last word of each sentence, in a padded batch."""

from operator import sub

import torch

from course_lessons.shared.padding_mistakes import lengths_below, with_garbage, words_first
from course_lessons.shared.partial_credit import EDGE
from course_utils.checks.reference_trace import left_out
from course_utils.checks.running.contract import Case
from course_utils.checks.task import Task, count, sizes

task = Task(
    "05.last_state",
    "the state after the last word",
    arguments=("states B×S×D", "mask B×S"),
    result="last B×D",
    difficulty=2,
    importance=5,
    minutes=10,
    hints=(
        "Each sentence ends at its own position. Use the mask to find out where each sentence's last word is, and return the state at that position.",
        (
            "Take two sentences of 3 and 1 words, padded to 3 positions, with the states 1, 2, 3 and 4, 5, 6 of width 1. The lengths are 3 and 1, so the last words are at "
            "positions 2 and 0, counted from 0. The states there are 3 and 4. The last column would have given 3 and 6, and the 6 is the state after padding."
        ),
        "lengths = the mask summed over the positions, B; last = lengths minus 1; for each sentence b return states[b, last[b]]: with `torch.arange` of B and `last` as indices, one expression does it for all sentences.",
    ),
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
                f"is the state at position {places[0]}"
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


@task.steps
def _(states, mask):
    lengths = yield "the lengths", lambda mask: mask.sum(1), mask
    last = yield "the positions of the last words", sub, lengths, 1
    states = yield "the states at these positions", _at, states, last
    return states


def _at(states, places):
    """The state at a position of each sentence; a position below 0 counts from the end."""
    return states[torch.arange(len(states)), places]


LENGTHS, PLACES, READ = "the lengths", "the positions of the last words", "the states at these positions"
task.changed_each(
    ("last_column", "You use the last column. A short sentence has ended long before, so the state there is what the network computed from padding. Find each sentence's own last word.", {READ: lambda states, places: states[:, -1]}),
    ("one_too_far", "You look one position too far: a sentence of n words ends at position n - 1, since positions are counted from 0. Position n is padding or does not exist.", {PLACES: left_out}),
    ("one_too_early", "You look one position too early, at the second-to-last word. A sentence of n words ends at position n - 1, since positions are counted from 0.", {PLACES: lambda lengths, one: lengths - 2}),
    ("one_too_far_where_there_is_room", "You look one position too far, except where the row ends: a sentence of n words ends at position n - 1, since positions are counted from 0.", {PLACES: lambda lengths, one, *, mask: lengths.clamp(max=mask.shape[1] - 1)}),
    ("longest_for_all", "You use the position of the longest sentence's last word for all sentences. Each sentence has its own length: sum each row of the mask.", {PLACES: lambda lengths, one: (lengths.max() - 1).expand_as(lengths)}),
    ("mean_of_words", "You return the mean of the states at the words. The decoder gets one of them, the state after the last word.", {READ: lambda states, places, *, mask: (states * mask[..., None]).sum(1) / mask.sum(1, keepdim=True)}),
    ("sum_of_words", "You return the sum of the states at the words. The decoder gets one of them, the state after the last word.", {READ: lambda states, places, *, mask: (states * mask[..., None]).sum(1)}),
    ("mean_of_places", "You return the mean of the states at all positions, padding included. The decoder gets one of them, the state after the last word.", {READ: lambda states, places: states.mean(1)}),
    ("sum_of_places", "You return the sum of the states at all positions, padding included. The decoder gets one of them, the state after the last word.", {READ: lambda states, places: states.sum(1)}),
    ("first_state", "You return the first state, which has read one word only. You need the last True of each row; `argmax` of a row of True and False finds the first.", {READ: lambda states, places: states[:, 0]}),
)  # fmt: skip
task.changed(
    "places_taken_for_sentences",
    "`states[lengths - 1]` counts along the first axis, the sentences, and returns whole sentences. Index the sentence first, with `torch.arange` of B, and then the position.",
    {READ: lambda states, places: states[places]},
)


task.changed(
    "zeros_at_the_end",
    "For each sentence that ends before its row does, you return zeros. Zeros at padding do not move the last word to the end of the row: look where it is.",
    {READ: lambda states, places, *, mask: torch.where(mask[:, -1:], states[:, -1], 0.0)},
)
task.changed(
    "every_place_of_every_sentence",
    "`states[:, last]` takes every position from every sentence, which gives B×B×D. Sentence and position belong together in pairs: replace the colon with the indices of the sentences, `torch.arange` of B.",
    {READ: lambda states, places: states[:, places]},
)
task.changed(
    "first_feature_only",
    "You return one feature of each state. `gather` returns as many numbers as its index has: expand the index over all D features with `expand`.",
    {"result": lambda last: last[:, :1]},
)


@task.mistake(
    "You multiply all states except the last one by 0 and add them up. 0 times NaN, and 0 times infinity, is NaN: what comes after the words leaks into your result. Pick the state by its position."
)
def garbage_times_zero(states, mask):
    last = mask & ~torch.nn.functional.pad(mask[:, 1:], (0, 1))
    return (states * last[..., None]).sum(1)
