"""Task 06.copy_unknown: source words that are copied where a translator knows no word."""

import torch

from course_lessons.shared.partial_credit import EDGE, SIDE_EFFECT
from course_utils.checks.running.contract import Case
from course_utils.checks.task import Task

TARGET = ("vuvi", "kovor", "glodil", "smadu", "gleni", "pamor", "lanu", "tavo", "flima")
SOURCE = ("Ada", "friends", "called", "our", "dogs", "Rosa", "old", "house", "Emil", "near", "small", "boys", "Otto", "and", "painted", "young", "girls")  # fmt: skip
UNKNOWN = "<unk>"

task = Task(
    "06.copy_unknown",
    "words that the model does not know",
    arguments=("words", "weights T×S", "source"),
    result="translation",
    difficulty=1,
    importance=3,
    minutes=5,
    hints=(
        "Each row of the weights belongs to one word of the translation, and each column to one word of the source. Which row belongs to the unknown word, and which column of this row do you need?",
        'Take the source "Otto called dogs" and the translation "<unk> smadu kovor". The first word is unknown, so we need the first row. Let it be (0.7, 0.1, 0.2). Its largest weight, 0.7, is at position 0, where the source has "Otto", so the translation becomes "Otto smadu kovor".',
        'For each position t and its word: if the word is "<unk>", use the source word at the position of the largest weight in row t; otherwise keep the word.',
    ),
    partial=EDGE | SIDE_EFFECT,
)


def _drawn(draw, T, S, unknown):
    """T words, so many of which are unknown, weights without ties, and S source words."""
    words = [TARGET[i] for i in draw.whole(0, len(TARGET), T)]
    for t in draw.distinct(T, 0, T)[:unknown].tolist():
        words[t] = UNKNOWN
    weights = torch.stack([draw.distinct(S, 1, S + 7) for _ in range(T)]).float()
    source = [SOURCE[i] for i in draw.distinct(len(SOURCE), 0, len(SOURCE))[:S]]
    return words, weights / weights.sum(1, keepdim=True), source


@task.property
def the_right_word_is_copied(case, value):
    """Which source word belongs to the first unknown word that is wrong."""
    words, weights, source = case.args
    for t, (word, copied) in enumerate(zip(words, value, strict=True)):
        if word != UNKNOWN and copied != word:
            return f"Word {t} is “{word}”, which is known and stays as it is; yours is “{copied}”."
        column = int(weights[t].argmax())
        if word == UNKNOWN and copied != source[column] and len(source) < 8:
            row = ", ".join(f"{weight:.3g}" for weight in weights[t].tolist())
            return f"Word {t} is unknown, and row {t} of the weights is {row}. The largest is at position {column}, counted from 0, where the source has “{source[column]}”; yours is “{copied}”."
    return None


@task.cases
def _(draw):
    for T, S, unknown in ((2, 3, 1), (3, 2, 1), (3, 5, 2), (5, 3, 2), (5, 7, 2), (11, 13, 3)):
        yield Case(f"{T} words from {S}, {unknown} of them unknown", _drawn(draw, T, S, unknown))
    yield Case("as many words as source words", _drawn(draw, 5, 5, 3))
    yield Case("every word unknown", _drawn(draw, 3, 5, 3))
    yield Case("no word unknown", _drawn(draw, 5, 5, 0))
    words, weights, source = _drawn(draw, 5, 3, 2)
    yield Case("unknown words that look at the same source word", (words, weights[:1].expand(5, 3).clone(), source))
    words, _, source = _drawn(draw, 3, 4, 3)
    level = torch.tensor([[0.25, 0.25, 0.25, 0.25], [0.1, 0.4, 0.4, 0.1], [0.1, 0.2, 0.35, 0.35]])
    yield Case("weights that are equal", (words, level, source), edge=True)
    yield Case("one unknown word from one", ([UNKNOWN], torch.ones(1, 1), ["Ada"]), edge=True)
    yield Case("200 words from 17", _drawn(draw, 200, 17, 30), edge=True)


POSITIONS, TRANSLATION = "the positions of the largest weights", "the translation"


@task.steps
def _(words, weights, source):
    positions = yield POSITIONS, lambda weights: weights.argmax(1).tolist(), weights
    translation = yield TRANSLATION, lambda words, positions: _replaced(words, positions, source), words, positions
    return translation


def _replaced(words, positions, source, replace=lambda t, word: word == UNKNOWN):
    return [source[positions[t]] if replace(t, word) else word for t, word in enumerate(words)]


def _counted(words, positions, *, source):
    """The first unknown word gets what row 0 looks at, the second one what row 1 looks at."""
    left = iter(positions)
    return [source[next(left)] if word == UNKNOWN else word for word in words]


def _first_only(words, positions, *, source):
    return _replaced(words, positions, source, lambda t, word: word == UNKNOWN and UNKNOWN not in words[:t])


task.changed_each(
    ("same_position", "You copy the source word at the same position as the unknown word. Word order changes in a translation: use the position of the largest weight in row t.", {POSITIONS: lambda weights: list(range(len(weights)))}),
    ("columns", "You look for the largest weight of each column, which belongs to a word of the source. Each row belongs to a word of the translation: look along the rows, with `argmax(1)`.", {POSITIONS: lambda weights: weights.argmax(0).tolist()}),
    ("unknown_words_counted", "You use row 0 for the first unknown word, row 1 for the second and so on. Row t belongs to position t of the translation: count all words, not only the unknown ones.", {TRANSLATION: _counted}),
    ("smallest_weight", "You copy the source word with the smallest weight. Copy the one with the largest weight: `argmax`, not `argmin`.", {POSITIONS: lambda weights: weights.argmin(1).tolist()}),
    ("row_after", "You use the row of the next word. Row t belongs to word t itself: both are counted from 0.", {POSITIONS: lambda weights, *, right: right(weights.roll(-1, 0))}),
    ("row_after_and_none_for_the_last", "You use row t + 1 for word t, and the last word has no such row. Row t belongs to word t itself: both are counted from 0.", {POSITIONS: lambda weights, *, right: right(weights)[1:]}),
    ("row_after_or_the_last", "You use row t + 1 for word t, and the last word's own row for that word. Row t belongs to word t itself: both are counted from 0.", {POSITIONS: lambda weights, *, right: right(torch.cat([weights[1:], weights[-1:]]))}),
    ("row_before", "You use the row of the previous word. Row t belongs to word t itself: it says where the decoder looked before it wrote this word.", {POSITIONS: lambda weights, *, right: right(weights.roll(1, 0))}),
    ("last_of_equals", "If several source words share the largest weight, you copy the last of them. Copy the first.", {POSITIONS: lambda weights: (weights.shape[1] - 1 - weights.flip(1).argmax(1)).tolist()}),
    ("every_word", "You replace every word with a source word. The words that the model knows stay: replace only `<unk>`.", {TRANSLATION: lambda words, positions, *, source: [source[s] for s in positions]}),
    ("whole_table", "You look for the largest of all weights. `weights.argmax()` searches the whole table and returns a single index. Each unknown word has its own row: look for the largest weight in row t.", {POSITIONS: lambda weights: [int(weights.argmax())] * len(weights)}),
    ("first_unknown_only", "Only the first unknown word is replaced, the one that `words.index` finds. Go through all positions.", {TRANSLATION: _first_only}),
)  # fmt: skip
