"""Task 13.token_batches: sentences of like length put into batches that hold so many tokens at most, with their padding."""

from course_lessons.shared.partial_credit import SIDE_EFFECT
from course_utils.checks.task import Case, Task

UNCHECKED = (0.75, "correct if each sentence fits into a batch.")

task = Task(
    __name__,
    "batches counted in tokens",
    arguments=("lengths", "limit"),
    result="batches",
    difficulty=2,
    importance=3,
    minutes=20,
    partial=SIDE_EFFECT
    | {
        "too_long_alone": UNCHECKED,
        "too_long_left_out": UNCHECKED,
        "empty_batch_for_no_sentences": (0.75, "correct if there is a sentence."),
        "stops_without_sentences": (0.75, "correct if there is a sentence."),
    },
)


def _flat(value):
    return [i for batch in value for i in batch] if all(isinstance(batch, (list, tuple)) for batch in value) else None


@task.property
def each_sentence_is_in_one_batch(case, value):
    """Every index once."""
    found, n = _flat(value), len(case.args[0])
    if case.raises or found is None or any(type(i) is not int for i in found):
        return None
    missing = [i for i in range(n) if i not in found]
    if missing and all(0 <= i < n for i in found):
        return f"Sentence {missing[0]} is missing from the batches. Each sentence should be in one."
    twice = [i for i in found if found.count(i) > 1]
    if twice:
        return f"Sentence {twice[0]} appears {found.count(twice[0])} times. Each sentence should be in one batch."
    return None


@task.property
def equal_sentences_stay_in_order(case, value):
    """A sort that is not stable is right but for ties."""
    lengths, found = case.args[0], _flat(value)
    if case.raises or found is None or [lengths[i] for i in found if i in range(len(lengths))] != sorted(lengths):
        return None
    for a, b in zip(found, found[1:], strict=False):
        if lengths[a] == lengths[b] and a > b:
            return f"Sentences {b} and {a} have the same length, and {a} comes first in yours. They should stay in the order given: `sorted` keeps it, `torch.sort` and numpy only if you ask for a stable sort."
    return None


@task.property
def no_batch_is_above_the_limit(case, value):
    """Sentences times the longest."""
    lengths, limit = case.args
    found = _flat(value)
    if case.raises or found is None or any(type(i) is not int or not 0 <= i < len(lengths) for i in found):
        return None
    for batch in value:
        longest = max((lengths[i] for i in batch), default=0)
        if len(batch) * longest > limit:
            return f"Your batch {list(batch)} has {len(batch)} sentences, the longest of which has {longest} tokens: with padding that is {len(batch) * longest}, above the limit of {limit}."
    return None


@task.cases
def _(draw):
    shift = int(draw.whole(0, 3))
    yield Case("3 sentences", ([3 + shift, 2, 3 + shift], 2 * (3 + shift)))
    short = int(draw.whole(1, 5))
    yield Case("batches that are full to the last token", ([2 * short, short] * 3, 4 * short))
    yield Case("lengths that rise", ([1, 2, 3, 4, 5, 6, 7], 12 + shift))
    yield Case("sentences of the same length", ([5] * 7, 16 + shift))
    for n, limit in ((7, 13), (11, 23), (17, 30), (40, 64)):
        lengths = draw.whole(1, 12, n).tolist()
        yield Case(f"{n} sentences, at most {limit} tokens", (lengths, max(limit, max(lengths) + 1)))
    mixed = [[2, 2, 2, 2, 2, 2, 3, 9][i] for i in draw.distinct(8, 0, 8).tolist()]
    yield Case("one long sentence among short ones", (mixed, 10 + shift % 2))
    mixed = [[1, 1, 1, 1, 1, 3, 3][i] for i in draw.distinct(7, 0, 7).tolist()]
    yield Case("short ones that fill a batch", (mixed, 5))
    yield Case("a limit for all in one batch", (draw.whole(1, 9, 7).tolist(), 100))
    yield Case("no sentence", ([], 10), edge=True)
    yield Case("a single sentence", ([5 + shift], 10), edge=True)
    yield Case("a sentence as long as the limit", ([3, 10, 4, 10], 10), edge=True)
    yield Case("a limit of one token", ([1, 1, 1], 1), edge=True)
    yield Case("200 sentences", (draw.whole(1, 60, 200).tolist(), 250), edge=True)
    yield Case("a sentence above the limit", ([3, 11, 4], 10), edge=True, raises="ValueError")
    yield Case("a single sentence, above the limit", ([7], 6), edge=True, raises="ValueError")


def _refuse(lengths, limit):
    if max(lengths, default=0) > limit:
        raise ValueError("a sentence is longer than a batch")


def _sorted(lengths):
    return sorted(range(len(lengths)), key=lambda i: lengths[i])
