"""Task 05.best_share: what an encoder's one vector lets the best of all decoders translate. The encoders are made here."""

from collections import Counter, defaultdict
from operator import truediv

import torch
import torch.nn.functional as F

from course_utils.checks.running.contract import Candidate, Case
from course_utils.checks.task import Task

WORDS = 7  # ids run from 0 to 6
TARGETS = ("ein Hund", "Ein Hund", "zwei Hunde", "zwei Kinder", "ein Ball")


def _vectors(seed, width=3):
    """A vector of whole numbers for each word, all different."""
    numbers = torch.randperm(97, generator=torch.Generator().manual_seed(seed))[: WORDS * width]
    return numbers.reshape(WORDS, width).float()


ENCODERS = {
    "the sum of the words' vectors": lambda sentence: _vectors(1)[sentence].sum(0),
    "the vector of the last word": lambda sentence: _vectors(2)[sentence[-1]],
    "the vectors of the first and the last word": lambda sentence: _vectors(3)[sentence[[0, -1]]].flatten(),
    "a place for each word": lambda sentence: F.pad(1.0 + sentence, (0, 9 - len(sentence))),
    "the number of words": lambda sentence: torch.tensor([float(len(sentence)), 1.0]),
    "the same vector for every sentence": lambda sentence: torch.ones(4),
    "a place for each word, with numbers that differ by a millionth": lambda sentence: 1 + ENCODERS["a place for each word"](sentence) / 2**20,
    "a zero, with a minus sign for the word 0": lambda sentence: 0.0 * (sentence[-1:] - 1.0),
}  # fmt: skip
SIGNED_ZERO = len(ENCODERS) - 1


def _checked(encoder):
    def encode(sentence):
        if not isinstance(sentence, torch.Tensor) or sentence.dim() != 1 or not len(sentence):
            raise ValueError("a tensor with the ids of one sentence is expected")
        return encoder(sentence.long())

    return encode


task = Task(
    "05.best_share",
    "the best accuracy that one vector allows",
    arguments=("encode", "sentences", "targets"),
    result="share",
    candidates=tuple(map(_checked, ENCODERS.values())),
    suspects=False,
    difficulty=3,
    importance=5,
    minutes=20,
    hints=(
        "A decoder writes the same translation for all sentences with the same vector. Which translation is right most often?",
        'Take four sentences whose vectors are [1], [1], [1] and [2], with the targets "a", "b", "b" and "a". For [1], the best decoder writes "b" and is right '
        '2 times out of 3; for [2], it writes "a" and is right. In all, this is 3 of 4 sentences: 0.75.',
        "Collect the targets in a dict of lists, with tuple(encode(sentence).tolist()) as the key. For each list, count how often its most frequent target "
        "occurs. Add up these counts and divide by the number of sentences.",
    ),
)


@task.cases
def _(draw):
    for key, name in list(enumerate(ENCODERS))[:SIGNED_ZERO]:
        for n in (5, 11):
            sentences = [draw.whole(0, 3, int(length)) for length in draw.whole(1, 4, n)]
            words = draw.whole(0, len(TARGETS), n).tolist()
            yield Case(f"{name}, {n} sentences", (Candidate(key), sentences, [TARGETS[i] for i in words]))
    a, b, c = draw.distinct(3, 0, WORDS).tolist()
    swapped = [torch.tensor(ids) for ids in ([a, b], [b, a], [a, c], [c, a], [c])]
    meaning = ["ein Hund", "Ein Hund", "ein Ball", "ein Ball", "ein Kind"]
    for key in (0, 2, 6):
        yield Case(f"{list(ENCODERS)[key]}, words in two orders", (Candidate(key), swapped, meaning))
    often = [torch.tensor(ids) for ids in ([a, b], [a, b], [a, b], [c, b], [c])]
    means = ["ein Hund", "ein Hund", "ein Hund", "ein Kind", "ein Kind"]
    yield Case("the vector of the last word, a sentence that occurs three times", (Candidate(1), often, means))
    yield Case(
        "the same vector for every sentence, one sentence", (Candidate(5), [torch.tensor([c])], ["ein Ball"]), edge=True
    )
    zeros = [torch.tensor([0]), torch.tensor([1]), torch.tensor([2])]
    yield Case("0.0 and -0.0", (Candidate(SIGNED_ZERO), zeros, ["ein Hund", "ein Kind", "ein Ball"]), edge=True)


def _grouped(vectors, targets):
    """The targets that go with each different vector, in a list of lists."""
    groups = defaultdict(list)
    for vector, target in zip(vectors, targets, strict=True):
        groups[vector].append(target)
    return list(groups.values())


def _most(group):
    return max(Counter(group).values())


@task.property
def a_share_is_between_0_and_1(case, value):
    """No share is larger than 1, or below 0."""
    return None if 0 <= float(value) <= 1 else "A share lies between 0 and 1."


@task.property
def each_group_has_its_best_translation(case, value):
    """What a decoder can get right is what is most frequent in each group."""
    key, sentences, targets = case.args
    encode = task.candidate(key.key)
    groups = _grouped([tuple(encode(sentence).tolist()) for sentence in sentences], targets)
    right = [_most(group) for group in groups]
    if abs(float(value) - sum(right) / len(targets)) < 1e-6:
        return None
    if len(groups) == len(targets):
        return "Here no two sentences get the same vector, so all of them can be right."
    if len(groups) == 1:
        return f"Here all sentences get the same vector, and {right[0]} of {len(targets)} can be right."
    parts = ", ".join(f"{n} of {len(group)}" for n, group in zip(right, groups, strict=True))
    return f"Here the sentences get {len(groups)} different vectors. Among the sentences with each vector, this many can be right: {parts}."


GROUPS, RIGHT, SHARE = "the targets of each vector", "the correct sentences by group", "the share"


@task.steps
def _(encode, sentences, targets):
    groups = yield GROUPS, _grouped, [tuple(encode(sentence).tolist()) for sentence in sentences], targets
    right = yield RIGHT, lambda groups: [_most(group) for group in groups], groups
    share = yield SHARE, truediv, sum(right), len(sentences)
    return share


task.changed(
    "one_for_each_vector",
    "You count one sentence as right for each different vector. If several sentences share a vector and also a target, all of them are right: count how often the most frequent target occurs.",
    {RIGHT: lambda groups: [1 for _ in groups]},
)
task.changed(
    "pure_groups_only",
    "You count only the groups in which all sentences have the same target. In a mixed group, the decoder writes the most frequent target and is right for that part of the group.",
    {RIGHT: lambda groups: [len(group) for group in groups if len({*group}) == 1]},
)
task.changed(
    "mean_of_groups",
    "You average over the vectors. A vector shared by many sentences counts once for each of them: add up the correct sentences and divide once by the number of all sentences.",
    {
        RIGHT: lambda groups: [_most(group) / len(group) for group in groups],
        SHARE: lambda total, n, *, done: total / len(done[GROUPS]),
    },
)
task.changed_each(
    ("divided_by_vectors", "You divide by the number of different vectors. The share is of all sentences.", {SHARE: lambda total, n, *, done: total / len(done[GROUPS])}),
    ("not_divided", "This is the number of sentences that can be right. Divide it by the number of all sentences.", {SHARE: lambda total, n: float(total)}),
    ("whole_division", "`//` drops the remainder, so every share below 1 becomes 0: write `/`.", {SHARE: lambda total, n: total // n}),
    ("the_other_part", "This is the share of the sentences that no decoder can get right. Return the share of the others.", {SHARE: lambda total, n: 1 - total / n}),
    ("first_of_each", "You use the first target of each group as the decoder's translation. The best decoder writes the most frequent target of the group.", {RIGHT: lambda groups: [group.count(group[0]) for group in groups]}),
    ("last_of_each", "You use the last target of each group as the decoder's translation, as in a dict in which each new target replaces the previous one. The best decoder writes the most frequent target of the group.", {RIGHT: lambda groups: [group.count(group[-1]) for group in groups]}),
    ("different_targets", "You count each pair of a vector and a target once. A decoder writes one translation for each vector: count how often the most frequent target occurs.", {RIGHT: lambda groups: [len({*group}) for group in groups]}),
    ("pure_groups_once", "You count each group in which all sentences have the same target once, and ignore the others. Count sentences: for each group, how often its most frequent target occurs.", {RIGHT: lambda groups: [1 for group in groups if len({*group}) == 1]}),
    ("alone_with_its_vector", "You count the sentences whose vector no other sentence has. If several share a vector, the decoder is right for those with the most frequent target.", {RIGHT: lambda groups: [1 for group in groups if len(group) == 1]}),
    ("largest_group_alone", "You count only one group. The decoder translates all sentences: add up the correct ones of every group.", {RIGHT: lambda groups: [max(map(_most, groups))]}),
    ("by_chance", "In each group, you count what a decoder that chooses at random gets right on average. The best decoder writes the most frequent target of the group.", {RIGHT: lambda groups: [len(group) / len({*group}) for group in groups]}),
    ("targets_as_keys", "You collect the vectors of each target. It should be the other way round: the decoder is given a vector and chooses a target for it. Collect the targets of each vector.", {GROUPS: lambda vectors, targets: _grouped(targets, vectors)}),
    ("capitals_unheeded", "You treat targets as equal that differ in capital letters. Compare them as they are.", {GROUPS: lambda vectors, targets: _grouped(vectors, map(str.lower, targets))}),
    ("sums_compared", "You compare the sum, or the mean, of each vector's entries. Vectors are the same if all their entries are.", {GROUPS: lambda vectors, targets: _grouped(map(sum, vectors), targets)}),
    ("first_numbers_compared", "You compare the first entry of each vector. Vectors are the same if all their entries are.", {GROUPS: lambda vectors, targets: _grouped([vector[0] for vector in vectors], targets)}),
    ("encoder_unused", "You compare the sentences themselves. The decoder does not see them: it is given what `encode` returns for each.", {GROUPS: lambda vectors, targets, *, sentences: _grouped([tuple(sentence.tolist()) for sentence in sentences], targets)}),
)  # fmt: skip

task.changed(
    "nearly_equal",
    "You treat vectors as the same if their entries are nearly equal. `str` shows four decimals of a tensor's entries, and rounding or `torch.allclose` ignores small differences. All entries have to be equal: compare them as they are, in `tuple(vector.tolist())`.",
    {GROUPS: lambda vectors, targets: _grouped([tuple(round(number, 4) for number in v) for v in vectors], targets)},
)
task.changed(
    "no_two_alike",
    "Your share is always 1, as if no two vectors were the same. That happens if tensors are the keys of a dict, which finds a tensor only if it is the very same object. Make a key from the entries: `tuple(vector.tolist())`.",
    {GROUPS: lambda vectors, targets: _grouped(range(len(vectors)), targets)},
)
task.changed(
    "sign_of_zero",
    "You treat 0.0 and -0.0 as different, because their text and bytes differ. They are equal: compare the numbers themselves, in `tuple(vector.tolist())`.",
    {GROUPS: lambda vectors, targets: _grouped(map(str, vectors), targets)},
)


@task.mistake("You count each different sentence once. A sentence that occurs several times counts each time.")
def different_sentences(encode, sentences, targets):
    once = {tuple(sentence.tolist()): pair for sentence, *pair in zip(sentences, sentences, targets, strict=True)}
    return task.oracle_function(encode, *zip(*once.values(), strict=True))
