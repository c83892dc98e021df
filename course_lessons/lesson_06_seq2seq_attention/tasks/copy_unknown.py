"""Task 06.copy_unknown: source words that are copied where a translator knows no word."""

import torch

from course_lessons.shared.partial_credit import EDGE, SIDE_EFFECT
from course_utils.checks.task import Case, Task

TARGET = ("vuvi", "kovor", "glodil", "smadu", "gleni", "pamor", "lanu", "tavo", "flima")
SOURCE = ("Ada", "friends", "called", "our", "dogs", "Rosa", "old", "house", "Emil", "near", "small", "boys", "Otto", "and", "painted", "young", "girls")  # fmt: skip
UNKNOWN = "<unk>"
KNOWN = (
    "<unk>s",
    "unk",
    "<UNK>",
    "funk",
    "<s>",
    ".",
    "24",
    "don't",
    "St.",
    "Ada",
)  # words like any other, however they look

task = Task(
    __name__,
    "words that the model does not know",
    arguments=("words", "weights T×S", "source"),
    result="translation",
    difficulty=1,
    importance=3,
    minutes=5,
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
    for begin in (0, 5):
        known = [KNOWN[begin + i] for i in draw.distinct(5, 0, 5)]
        words, weights, source = _drawn(draw, 6, 5, 0)
        yield Case("known words that look unusual", ([*known[:3], UNKNOWN, *known[3:]], weights, source))
    first, second = (SOURCE[i] for i in draw.distinct(2, 0, len(SOURCE)))
    shared = torch.tensor([[0.3, 0.4, 0.3], [0.5, 0.3, 0.2], [0.2, 0.3, 0.5]])
    yield Case("a source word that comes twice", ([UNKNOWN] * 3, shared, [first, second, first]))
    _, weights, _ = _drawn(draw, 3, 4, 0)
    yield Case(
        "source words with marks", ([UNKNOWN, TARGET[0], UNKNOWN], weights, ["O'Hara", "St.", "Jean-Luc", "24."])
    )
    words, weights, source = _drawn(draw, 3, 3, 2)
    source[int(weights[words.index(UNKNOWN)].argmax())] = UNKNOWN
    yield Case("<unk> as a source word", (words, weights, source), edge=True)
    words, _, source = _drawn(draw, 3, 4, 3)
    level = torch.tensor([[0.25, 0.25, 0.25, 0.25], [0.1, 0.4, 0.4, 0.1], [0.1, 0.2, 0.35, 0.35]])
    yield Case("weights that are equal", (words, level, source), edge=True)
    yield Case("one unknown word from one", ([UNKNOWN], torch.ones(1, 1), ["Ada"]), edge=True)
    yield Case("200 words from 17", _drawn(draw, 200, 17, 30), edge=True)
