"""Task 05.reverse_source: each sentence backwards, while padding stays after it."""

from operator import sub

import torch

from course_lessons.shared.padding_mistakes import lengths_below, words_first
from course_lessons.shared.partial_credit import EDGE, SIDE_EFFECT
from course_utils.checks.running.contract import Case
from course_utils.checks.task import Task, count, sizes

task = Task(
    "05.reverse_source",
    "each sentence backwards, padding after it",
    arguments=("source B×S", "mask B×S"),
    result="reversed B×S",
    difficulty=2,
    importance=3,
    minutes=15,
    hints=(
        "Only the words move, and each sentence has as many words as its row of the mask has True values. Whatever comes after them stays where it is.",
        (
            "Take the row 5, 6, 7, 0, 9 with the mask True, True, True, False, False. It has 3 words. Position 0 gets the word from position 3 - 1 - 0 = 2, which is 7; position 1 gets "
            "6; position 2 gets 5. The 0 and the 9 are padding and stay: 7, 6, 5, 0, 9. If the whole row were reversed, it would be 9, 0, 7, 6, 5 and begin with padding."
        ),
        "lengths = the mask summed over the positions, B×1; positions = 0 … S - 1; where each position reads from: lengths - 1 - positions if the mask is True, the position itself otherwise; "
        "gather source along the positions from there.",
    ),
    partial=EDGE
    | SIDE_EFFECT
    | {
        "empty_row_turned_round": (0.5, "right in every row that holds a word."),
    },
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


@task.steps
def _(source, mask):
    own = torch.arange(source.shape[1]).expand_as(source)
    lengths = yield "the lengths", lambda mask: mask.sum(1, keepdim=True), mask
    left = yield "the positions from the end", sub, lengths, own
    mirrored = yield "the mirrored positions", sub, left, 1
    stay = lambda mirrored, own: torch.where(mirrored < 0, own, mirrored)  # noqa: E731
    places = yield "the positions to read from", stay, mirrored, own
    read = yield "the words read there", lambda source, places: source.gather(1, places), source, places
    return read


LENGTHS, PLACES = "the lengths", "the positions to read from"
task.changed(
    "whole_rows",
    "You reverse whole rows, so the encoder reads padding first and the words are at the end, where the mask is False. Only the words should move.",
    {"result": lambda words, *, source: source.flip(1)},
)
task.changed(
    "sentences_reversed",
    "You reverse the order of the sentences. Reverse the words within each sentence.",
    {"result": lambda words, *, source: source.flip(0)},
)
task.changed(
    "last_word_stays",
    "The last word of each sentence stays where it is: you reverse one position too few. A sentence of n words has the positions 0 to n - 1, and a last word such as EOS is reversed along with the others.",
    {LENGTHS: lambda mask, *, right: right(mask) - 1},
)
task.changed(
    "one_too_many",
    "You reverse one position too many, so a sentence begins with the padding after it. A sentence of n words has the positions 0 to n - 1.",
    {LENGTHS: lambda mask, *, right: (right(mask) + 1).clamp(max=mask.shape[1])},
)
task.changed(
    "read_from_one_too_far",
    "Position p reads from position n - p, where n is the number of words, and so the first position reads the padding after the sentence, or nothing. Positions are counted from 0: where should the first one read from?",
    {PLACES: lambda mirrored, own: torch.where(mirrored < 0, own, mirrored + 1)},
)
for name, sentence, kept in (
    ("read_from_one_too_far_kept_inside", "in a full row, the first and the second position read the same word", lambda mirrored, own: (mirrored + 1).clamp(max=own.shape[1] - 1)),
    ("read_from_one_too_far_wrapped", "in a full row, the first word stays where it is", lambda mirrored, own: (mirrored + 1) % own.shape[1]),
):  # fmt: skip
    task.changed(
        name,
        f"Position p reads from position n - p, where n is the number of words: the first position reads the padding after the sentence, and {sentence}. Positions are counted from 0: where should the first one read from?",
        {PLACES: lambda mirrored, own, kept=kept: torch.where(mirrored < 0, own, kept(mirrored, own))},
    )
task.changed(
    "padding_first",
    "The words are reversed but come after the padding. They belong at the front, and the padding stays where it is.",
    {
        "result": lambda words, *, source, mask: torch.stack(
            [torch.cat([row[~real], row[real].flip(0)]) for row, real in zip(source, mask, strict=True)]
        )
    },
)
task.changed(
    "padding_set_to_0",
    "The words are right, but you write 0 after them. What is at a False position stays where it is, whatever its id.",
    {"result": lambda words, *, mask: words * mask},
)
task.changed(
    "length_by_ids",
    "Each sentence has as many positions reversed as it has ids other than 0. The mask says how many words there are: a word may have the id 0, and padding any other.",
    {LENGTHS: lambda mask, *, source: (source != 0).sum(1, keepdim=True)},
)
task.changed(
    "padding_overwritten",
    "The words are right, but at the False positions the first word is repeated: there, the position to read from would be below 0. What is at a False position stays where it is.",
    {PLACES: lambda mirrored, own: mirrored.clamp(min=0)},
)
task.changed(
    "padding_reversed_too",
    "The words are reversed, and so is the padding after them. What is at False positions stays where it is.",
    {PLACES: lambda mirrored, own: mirrored % own.shape[1]},
)
task.changed(
    "empty_row_turned_round",
    "A row without words is reversed as a whole. If n = 0, a slice that goes backwards from position n - 1 begins at position -1, the last one. Nothing should change in such a row.",
    {LENGTHS: lambda mask, *, right: torch.where(mask.any(1, keepdim=True), right(mask), mask.shape[1])},
)
