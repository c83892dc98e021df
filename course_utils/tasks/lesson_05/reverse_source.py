"""Task 05.reverse_source: each sentence backwards, while padding stays behind it."""

from operator import sub

import torch

from course_utils.checks.running.contract import Case
from course_utils.checks.task import Task, count, sizes
from course_utils.tasks.lesson_05._padded import lengths_below, words_first
from course_utils.tasks.shares import EDGE, SIDE_EFFECT

task = Task(
    "05.reverse_source",
    "each sentence backwards, padding behind it",
    arguments=("source B×S", "mask B×S"),
    result="reversed B×S",
    difficulty=2,
    importance=3,
    minutes=15,
    hints=(
        "Only the words change places, and each sentence has as many words as its row of the mask has True values. What comes after them stays where it is.",
        (
            "Take the row 5, 6, 7, 0, 9 with the mask True, True, True, False, False. It has 3 words. Position 0 gets the word from position 3 - 1 - 0 = 2, which is 7; position 1 gets "
            "6; position 2 gets 5. The 0 and the 9 are padding and stay: 7, 6, 5, 0, 9. If the whole row were reversed, it would be 9, 0, 7, 6, 5, and begin with padding."
        ),
        "lengths = the mask summed over the places, B×1; places = 0 … S - 1; from where each place reads: lengths - 1 - places where the mask is True, else the place itself; "
        "gather source along the places from there.",
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


@task.cases
def _(draw):
    yield Case("3 words, padded to 5 places", (_ids(draw, 1, 5), words_first(torch.tensor([3]), 5)))
    for size in sizes(B=3, S=7):
        B, S = size.B, size.S if size.full else size.S + 1
        lengths = 1 + lengths_below(draw, B, S - 1)  # a sentence of one word says nothing
        yield Case(f"{count(B, 'sentence')}, padded to {S} places", (_ids(draw, B, S), words_first(lengths, S)))
    with_zeros = _ids(draw, 3, 7)
    with_zeros[0, 1], with_zeros[1, 0] = 0, 0
    yield Case("words whose id is 0", (with_zeros, words_first(torch.tensor([4, 5, 3]), 7)))
    yield Case("as many sentences as places", (_ids(draw, 5, 5), words_first(1 + draw.distinct(5, 0, 5), 5)))
    padded = _ids(draw, 3, 5) * words_first(torch.tensor([4, 2, 3]), 5)
    yield Case("zeros as padding", (padded, words_first(torch.tensor([4, 2, 3]), 5)))
    yield Case("a sentence without words", (_ids(draw, 3, 5), words_first(torch.tensor([3, 0, 5]), 5)), edge=True)
    yield Case("no words at all", (_ids(draw, 2, 3), torch.zeros(2, 3, dtype=torch.bool)), edge=True)
    yield Case("sentences of one word", (_ids(draw, 2, 3), words_first(torch.tensor([1, 1]), 3)), edge=True)
    yield Case("no padding at all", (_ids(draw, 2, 5), torch.ones(2, 5, dtype=torch.bool)), edge=True)
    yield Case("a single place", (_ids(draw, 2, 1), words_first(torch.tensor([1, 0]), 1)), edge=True)
    yield Case("200 places", (_ids(draw, 2, 200), words_first(torch.tensor([199, 200]), 200)), edge=True)
    odd = _ids(draw, 2, 5)
    odd[:, 3], odd[:, 4] = -100, 2**40 + 1
    yield Case("padding of -100 and of 2⁴⁰ + 1", (odd, words_first(torch.tensor([3, 2]), 5)), edge=True)


@task.oracle
def _(source, mask):
    rows = [
        [*row[:n][::-1], *row[n:]] for row, n in zip(source.tolist(), [sum(row) for row in mask.tolist()], strict=True)
    ]
    return torch.tensor(rows, dtype=source.dtype)


@task.steps
def _(source, mask):
    lengths = yield "the lengths", lambda mask: mask.sum(1, keepdim=True), mask
    left = yield "the lengths less the places", sub, lengths, torch.arange(source.shape[1])
    places = yield "the places to read from", sub, left, 1
    read = yield "the words read there", lambda source, places: source.gather(1, places.clamp(min=0)), source, places
    kept = yield "the words, with padding as it was", lambda read, mask: torch.where(mask, read, source), read, mask
    return kept


def _turned(source, lengths):
    """Each row with so many of its first places in reverse order."""
    places = torch.arange(source.shape[1]).expand_as(source)
    return source.gather(1, torch.where(places < lengths[:, None], lengths[:, None] - 1 - places, places))


@task.mistake(
    "You turn the whole rows round, so the encoder reads padding first and the words stand at the end, where the mask is False. Only the words should change places."
)
def whole_rows(source, mask):
    return source.flip(1)


@task.mistake("You reverse the order of the sentences. It is the words within each sentence that change places.")
def sentences_reversed(source, mask):
    return source.flip(0)


@task.mistake(
    "You reverse the order of the sentences, and each row as well. Only the words within each sentence should change places."
)
def both_reversed(source, mask):
    return source.flip(0, 1)


@task.mistake(
    "You reverse all words of the batch as one list, so they move from sentence to sentence. Each sentence keeps its own words."
)
def all_words_together(source, mask):
    return source.masked_scatter(mask, source[mask].flip(0))


@task.mistake("Nothing has changed places: you return the source as it came.")
def not_reversed(source, mask):
    return source


@task.mistake(
    "You reverse as many places in every row as the longest sentence has words. Each sentence has a length of its own."
)
def length_of_the_longest(source, mask):
    lengths = mask.sum(1)
    return _turned(source, lengths.max().expand_as(lengths))


@task.mistake(
    "You reverse as many places in every row as the first sentence has words. Each sentence has a length of its own."
)
def length_of_the_first(source, mask):
    lengths = mask.sum(1)
    return _turned(source, lengths[:1].expand_as(lengths))


@task.mistake(
    "The last word of each sentence stays where it is: you reverse one place too few. A sentence of n words holds the places 0 to n - 1, and a last word such as EOS is reversed with the others."
)
def last_word_stays(source, mask):
    return _turned(source, mask.sum(1) - 1)


@task.mistake(
    "The first word of each sentence stays where it is, and only those behind it are reversed. It goes to the place of the last word."
)
def first_word_stays(source, mask):
    rest = _turned(source[:, 1:], (mask.sum(1) - 1).clamp(min=0))
    return torch.cat([source[:, :1], rest], 1)


@task.mistake(
    "You reverse one place too many, so a sentence begins with the padding behind it. A sentence of n words holds the places 0 to n - 1."
)
def one_too_many(source, mask):
    return _turned(source, (mask.sum(1) + 1).clamp(max=source.shape[1]))


@task.mistake(
    "Place p reads from place n - p, where n is the number of words, and so the first place reads the padding behind the sentence, or nothing. Places are counted from 0: what is the first "
    "one to read from?"
)
def read_from_one_too_far(source, mask):
    places, lengths = torch.arange(source.shape[1]), mask.sum(1, keepdim=True)
    return source.gather(1, torch.where(mask, lengths - places, places))


@task.mistake(
    "The words are right, but you write 0 at the places behind them. What stands there should stay, whatever it is: padding need not be 0."
)
def padding_set_to_zero(source, mask):
    return _turned(source, mask.sum(1)) * mask


@task.mistake(
    "You take every id but 0 for a word, and 0 for padding. The mask says what a word is: a word may have the id 0, and padding any other."
)
def words_by_their_id(source, mask):
    rows = []
    for row in source:
        words = row != 0
        turned = row.clone()
        turned[words] = row[words].flip(0)
        rows.append(turned)
    return torch.stack(rows)


@task.mistake(
    "Each sentence has as many places reversed as it has ids other than 0. The mask says how many words there are: a word may have the id 0, and padding any other."
)
def length_by_ids(source, mask):
    return _turned(source, (source != 0).sum(1))


@task.mistake(
    "The words are right, but at the False places stands the first word: there, the place to read from would be below 0. What stands at a False place stays where it is."
)
def padding_overwritten(source, mask):
    places = mask.sum(1, keepdim=True) - 1 - torch.arange(source.shape[1])
    return source.gather(1, places.clamp(min=0))


@task.mistake(
    "You turn the whole row round and take from it at the places of words. With padding behind a sentence, its words then stand at the end of the turned row, not at the beginning. Reverse the words alone."
)
def words_of_turned_rows(source, mask):
    return torch.where(mask, source.flip(1), source)


@task.mistake("You turn round the padding and leave the words as they are: the mask is True at the words.")
def padding_reversed(source, mask):
    rows = [torch.cat([row[:n], row[n:].flip(0)]) for row, n in zip(source, mask.sum(1).tolist(), strict=True)]
    return torch.stack(rows)


@task.mistake(
    "The words are reversed, and so is the padding behind them. What stands at False places stays where it is."
)
def padding_reversed_too(source, mask):
    rows = [torch.cat([row[:n].flip(0), row[n:].flip(0)]) for row, n in zip(source, mask.sum(1).tolist(), strict=True)]
    return torch.stack(rows)


@task.mistake(
    "A row without words is turned round whole. Where n = 0, a slice that goes backwards from place n - 1 begins at place -1, the last one. Nothing should change in such a row."
)
def empty_row_turned_round(source, mask):
    lengths = mask.sum(1)
    return _turned(source, torch.where(lengths == 0, source.shape[1], lengths))


@task.mistake(
    "You tell padding by the id 0, and put zeros at the end. An id of 0 may be a word, and padding may have any id: the mask says where words are, and padding stays as it is."
)
def padding_told_by_zero(source, mask):
    rows = [[word for word in row if word][::-1] for row in source.tolist()]
    return torch.tensor([row + [0] * (source.shape[1] - len(row)) for row in rows], dtype=source.dtype)


@task.mistake(
    "You count from the end of the longest sentence of the batch, so in a shorter one padding comes first and words get lost. Each sentence has a length of its own, the sum of its row of the mask."
)
def from_the_end_of_the_longest(source, mask):
    places = torch.arange(source.shape[1]).expand_as(source)
    return source.gather(1, torch.where(mask, mask.sum(1).max() - 1 - places, places))
