"""Task 05.best_share: what an encoder's one vector lets the best of all decoders translate. The encoders are made here."""

from collections import Counter, defaultdict
from itertools import combinations
from operator import truediv
from unicodedata import normalize

import torch
import torch.nn.functional as F

from course_utils.checks.task import Candidate, Case, Task

WORDS = 7  # ids run from 0 to 6
TARGETS = ("ein Hund", "Ein Hund", "zwei Hunde", "zwei Kinder", "ein Ball")
ALIKE = {  # translations that are different, however much they look alike
    "the same words in another order": ("Kinder sehen Hunde", "Hunde sehen Kinder"),
    "with and without a mark": ("ein Hund", "ein Hund."),
    "with and without a space": ("ein Fuß ball", "ein Fußball"),
    "with one space and with two": ("ein Hund", "ein  Hund"),
    "with and without an umlaut": ("schon alt", "schön alt"),
    "with ß and with ss": ("die Maße", "die Masse"),
    "a word once and twice": ("sehr alt", "sehr sehr alt"),
}


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
    "the first word less the last": lambda sentence: 1.0 * sentence[:1] - sentence[-1:],
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
    __name__,
    "the best accuracy that one vector allows",
    arguments=("encode", "sentences", "targets"),
    result="share",
    candidates=tuple(map(_checked, ENCODERS.values())),
    suspects=False,
    difficulty=3,
    importance=5,
    minutes=20,
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
    for key in (0, 2, 6, 7):
        yield Case(f"{list(ENCODERS)[key]}, words in two orders", (Candidate(key), swapped, meaning))
    for name, pair in ALIKE.items():
        three = [(*pair, "ein Ball")[i] for i in draw.distinct(3, 0, 3)]
        yield Case(
            f"the same vector for every sentence, translations {name}", (Candidate(5), swapped[:3], three), edge=True
        )
    nothing = ["", "ein Ball", ""] if draw.whole(0, 2) else ["ein Ball", "", ""]
    yield Case(
        "the same vector for every sentence, translations without words",
        (Candidate(5), swapped[:3], nothing),
        edge=True,
    )
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


def _letters(target):
    """The letters that a translation consists of, without accents and capitals."""
    return frozenset(filter(str.isalpha, normalize("NFKD", target.casefold()).encode("ascii", "ignore").decode()))


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
    alike = [pair for pair in combinations(sorted(set(targets)), 2) if len({*map(_letters, pair)}) == 1]
    if alike and float(value) > sum(right) / len(targets):
        first, second = alike[0]
        return f"“{first}” and “{second}” are different translations: compare them as they are."
    if len(groups) == len(targets):
        return "Here no two sentences get the same vector, so all of them can be right."
    if len(groups) == 1:
        return f"Here all sentences get the same vector, and {right[0]} of {len(targets)} can be right."
    parts = ", ".join(f"{n} of {len(group)}" for n, group in zip(right, groups, strict=True))
    return f"Here the sentences get {len(groups)} different vectors. Among the sentences with each vector, this many can be right: {parts}."


@task.steps
def _(encode, sentences, targets):
    vectors = [tuple(encode(sentence).tolist()) for sentence in sentences]
    groups = yield "the targets of each vector", _grouped, vectors, targets
    right = yield "the correct sentences by group", lambda groups: [_most(group) for group in groups], groups
    share = yield "the share", truediv, sum(right), len(sentences)
    return share
