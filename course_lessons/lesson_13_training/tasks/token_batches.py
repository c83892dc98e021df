"""Task 13.token_batches: sentences of like length put into batches that hold so many tokens at most, with their padding."""

from operator import ge, gt

from course_lessons.shared.partial_credit import SIDE_EFFECT
from course_utils.checks.reference_trace import left_out
from course_utils.checks.running.contract import Case
from course_utils.checks.task import Task

UNCHECKED = (0.75, "correct if each sentence fits into a batch.")

task = Task(
    "13.token_batches",
    "batches counted in tokens",
    arguments=("lengths", "limit"),
    result="batches",
    difficulty=2,
    importance=3,
    minutes=20,
    hints=(
        "A batch is a rectangle: each sentence takes up as many positions as the longest one. If you go through the sentences from the shortest to the longest, the one that you are about to add is always the longest so far, so you know at once how large the batch would become with it.",
        (
            "Take the lengths [4, 2, 3, 2] and a limit of 8. From shortest to longest, the sentences are 1, 3, 2, 0: sentences 1 and 3 have the same length and stay in order. Sentence 1 alone takes up 1·2 = 2 positions; with sentence 3, the batch takes up 2·2 = 4. With sentence 2, it would take up 3·3 = 9, which is above 8 although there are only 7 words, so the batch [1, 3] is closed. "
            "Sentence 2 alone takes up 3 positions, and with sentence 0 it is 2·4 = 8, which is allowed. The batches are [[1, 3], [2, 0]]."
        ),
        "order = the indices, sorted by their lengths. batches = an empty list, batch = an empty list. For each i in order: if its length is above limit, raise ValueError; if batch is not empty and (sentences in batch + 1) times the length of i is above limit, append batch to batches and begin a new one; append i to batch. At the end, append the last batch to batches if it is not empty.",
    ),
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
    return (
        f"Sentence {twice[0]} appears {found.count(twice[0])} times. Each sentence should be in one batch."
        if twice
        else None
    )


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


@task.steps
def _(lengths, limit):
    yield "the search for long sentences", _refuse, lengths, limit
    order = yield "the sorted sentences", _sorted, lengths
    batches, batch = [], []
    for i in order:
        together = [lengths[j] for j in [*batch, i]]
        tokens = yield "the tokens of a batch", lambda those: len(those) * max(those), together
        closed = yield "the comparison with the limit", gt, tokens, limit
        if batch and closed:
            batches.append(batch)
            batch = yield "the new batch", lambda i: [i], i
        else:
            batch = [*batch, i]
    return [*batches, batch] if batch else batches


def _refuse(lengths, limit):
    if max(lengths, default=0) > limit:
        raise ValueError("a sentence is longer than a batch")


def _sorted(lengths):
    return sorted(range(len(lengths)), key=lambda i: lengths[i])


# How full a batch may be

TOKENS, CLOSED = "the tokens of a batch", "the comparison with the limit"
task.changed_each(
    ("words_counted", "You add up the lengths of the sentences in a batch. Padding also takes up positions: multiply the number of sentences by the length of the longest.", {TOKENS: sum}),
    ("limit_excluded", "You close a batch that would contain exactly as many tokens as the limit. A full batch is allowed: close it only when one more sentence would exceed the limit.", {CLOSED: ge}),
    ("longest_of_the_old_batch", "You multiply by the longest sentence that is already in the batch. The one that you want to add may be longer, and then all others are padded to its length.", {TOKENS: lambda those: len(those) * max(those[:-1], default=0)}),
    ("one_sentence_too_many", "You count the sentences that are in the batch without the one that you want to add, so batches may exceed the limit by one sentence. Add 1.", {TOKENS: lambda those: (len(those) - 1) * max(those)}),
)  # fmt: skip


task.changed(
    "old_batch_alone",
    "You check whether the current batch exceeds the limit and add the next sentence without checking. First compute how large the batch would be with it.",
    {TOKENS: lambda those: (len(those) - 1) * max(those[:-1], default=0)},
)


# In which order

ORDER = "the sorted sentences"
task.changed(
    "not_sorted",
    "Your sentences are in the order given. First sort them by length, the shortest first: sentences of similar length then share a batch, and there is little padding.",
    {ORDER: lambda lengths: range(len(lengths))},
)
task.changed(
    "longest_first",
    "Your batches start with the longest sentences. Start with the shortest.",
    {ORDER: lambda lengths: sorted(range(len(lengths)), key=lambda i: -lengths[i])},
)
task.changed(
    "ties_turned",
    "Sentences of the same length are in reverse order. They should stay in the order given: sort only by length, because `sorted` leaves equal ones in their order.",
    {ORDER: lambda lengths: sorted(range(len(lengths)), key=lambda i: (lengths[i], -i))},
)
task.changed(
    "sentence_lost_at_the_border",
    "The sentence that no longer fits is lost: it should be the first in the new batch.",
    {"the new batch": lambda i: []},
)


# What is returned

task.changed_each(
    ("last_batch_forgotten", "The last batch is missing: whatever is left after the last sentence is also a batch.", {"result": lambda batches: batches[:-1]}),
    ("first_batch_alone", "You return only the first batch. A `return` inside the loop ends it: return all batches after it.", {"result": lambda batches: batches[:1]}),
    ("same_list_emptied", "You empty a batch after appending it, but the list holds that very batch, so `clear` and `del` also change it there. Begin a new list with `batch = []`.", {"result": lambda batches: [batches[-1]] * len(batches)}),
    ("empty_batch_for_no_sentences", "If there are no sentences, you return an empty batch, [[]]. Without sentences there is no batch: return an empty list.", {"result": lambda batches: batches or [[]]}),
)  # fmt: skip
task.changed(
    "lengths_returned",
    "You return the lengths of the sentences. Return their indices: their places in `lengths`, counted from 0.",
    {"result": lambda batches, *, lengths: [[lengths[i] for i in batch] for batch in batches]},
)
task.changed(
    "first_of_each_length",
    "You look for each sentence by its length, and `lengths.index` always finds the first one of that length, so others are lost. Sort the indices themselves.",
    {"result": lambda batches, *, lengths: [[lengths.index(lengths[i]) for i in batch] for batch in batches]},
)
task.changed(
    "places_after_sorting",
    "You return the positions of the sentences after sorting: 0, 1, 2 and so on. Return where they are in `lengths`: sort the indices, not the lengths.",
    {"lengths": sorted},
)


# Sentences that are too long, and none at all

REFUSED = "the search for long sentences"
RAISE = "No batch can hold it: raise ValueError."
task.changed_each(
    ("too_long_alone", f"A sentence that is longer than the limit gets its own batch, above the limit. {RAISE}", {REFUSED: left_out}),
    ("too_long_left_out", f"A sentence that is longer than the limit is silently left out. {RAISE}", {REFUSED: left_out, ORDER: lambda lengths, *, limit: [i for i in _sorted(lengths) if lengths[i] <= limit]}),
    ("as_long_as_the_limit_refused", "You reject a sentence that is exactly as long as the limit. It fits by itself: raise ValueError only for longer ones.", {REFUSED: lambda lengths, limit: _refuse(lengths, limit - 1)}),
)  # fmt: skip
task.changed(
    "stops_without_sentences",
    "Your function fails if there is no sentence: `max`, `min` and the entry [0] of an empty list raise an error. Return an empty list in that case.",
    {REFUSED: lambda lengths, limit: _refuse([max(lengths)], limit)},
)
