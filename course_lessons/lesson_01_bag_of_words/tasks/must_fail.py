"""Task 01.must_fail: is there a proof among these sentences that no linear score can get them all right?"""

from collections import Counter
from itertools import combinations, combinations_with_replacement, product
from unicodedata import normalize

from course_utils.checks.task import Case, Task

OPINIONS = ("good", "great", "fine", "fun", "lovely", "warm", "bad", "dull", "poor", "awful", "weak", "cold")
OTHERS = ("film", "plot", "cast", "the", "this", "dogs", "people", "ending")

task = Task(
    __name__,
    "where a linear score must fail",
    arguments=("sentences", "labels"),
    result="verdict",
    difficulty=3,
    importance=5,
    minutes=20,
)


def _words(draw, words, n):
    return [words[i] for i in draw.distinct(n, 0, len(words))]


@task.cases
def _(draw):
    good, bad, fair, odd = _words(draw, OPINIONS, 4)
    a, b, c, d = _words(draw, OTHERS, 4)
    yield Case(
        "an opinion and its negation", ([[good], ["not", good], [bad], ["not", bad]], [True, False, False, True])
    )
    yield Case(
        "an opinion and its negation, among other sentences",
        ([[a, good], [fair], ["not", good, a], [bad], ["not", bad], [odd]], [True, True, False, False, True, False]),
    )
    yield Case("one of the four sentences is missing", ([[good], ["not", good], ["not", bad]], [True, False, True]))
    yield Case(
        "two sentences with the same words in a different order",
        ([[a, "bite", b], [b, "bite", a], [good]], [True, False, True]),
    )
    yield Case(
        "the same words on both sides, in a different order",
        ([[a, "bite", b], [c, good], [b, "bite", a], [good, c]], [True, True, False, False]),
    )
    yield Case(
        "two positive sentences with the same words", ([[a, "bite", b], [b, "bite", a], [bad]], [True, True, False])
    )
    yield Case(
        "only opinions", ([[good], [bad], [fair], [odd], [a, good], [bad, b]], [True, False, True, False, True, False])
    )
    yield Case(
        "the same words, but not equally often",
        ([["very", "very", good], [bad], ["very", good], [bad, bad]], [True, True, False, False]),
    )
    yield Case(
        "pairs whose sentences differ in length", ([[a, good, b], [c], [c, b, a], [good]], [True, True, False, False])
    )
    yield Case(
        "one positive sentence used twice against two negative sentences",
        ([[good, bad], [good, good], [bad, bad]], [True, False, False]),
    )
    yield Case("a sentence that is positive and negative", ([[a, good], [bad], [a, good]], [True, True, False]))
    yield Case(
        "two positive sentences against one negative sentence used twice",
        ([[d, d], [good, good], [good, d]], [True, True, False]),
    )
    yield Case(
        "as many words, but different words", ([[good, a], [fair, b], [bad, a], [odd, b]], [True, True, False, False])
    )
    yield Case(
        "one positive and three negative sentences, but no pairs",
        ([[a, b], [c], [a, c], [b]], [True, False, False, False]),
    )
    split = (("at", "one", "a", "tone"), ("as", "cent", "a", "scent"), ("an", "ice", "a", "nice"))
    first, second, third, fourth = split[int(draw.whole(0, 3))]
    yield Case(
        "the same letters, but different words",
        ([[first], [second], [c], [third], [fourth]], [True, True, True, False, False]),
    )
    yield Case("a word with and without a capital letter", ([[a, good.capitalize()], [good, a]], [True, False]))
    yield Case("a word with and without a mark", ([[a, good], [f"{good}!", a]], [True, False]))
    yield Case("a sentence with and without a mark at its end", ([[a, good, "!"], [good, a]], [False, True]))
    yield Case("a word with and without an accent", ([["café", good], [good, "cafe"]], [True, False]))
    yield Case("a word in the singular and in the plural", ([["plot", good], [good, "plots"]], [False, True]))
    for n in (5, 7):
        few = _words(draw, OPINIONS, 3)
        sentences = [[few[i] for i in draw.whole(0, 3, int(length))] for length in draw.whole(1, 4, n)]
        labels = [bool(label) for label in draw.whole(0, 2, n)]
        yield Case(f"{n} random sentences", (sentences, labels))
    yield Case("only positive sentences", ([[good], [fair, a]], [True, True]))
    yield Case("a sentence without words", ([[], [a, good], [a], [good]], [True, True, False, False]), edge=True)
    yield Case("no sentence", ([], []), edge=True)


@task.property
def a_proof_is_one_and_nothing_else_is(case, value):
    """Four sentences show that there is a proof."""
    sides = _sides(*case.args)
    proof = next(
        (pairs for pairs in product(*_pairs(sides)) if Counter(sum(pairs[0], [])) == Counter(sum(pairs[1], []))), None
    )
    if proof and value is False:
        positive, negative = map(_quoted, proof)
        return f"Here is a proof, because both sides contain the same words: {positive} on the positive side, {negative} on the negative side."
    if not proof and value is True:
        return f"Here no two positive sentences together contain the same words as two negative sentences, each word equally often. {_confused(case.args[0])}".strip()
    return None


def _confused(sentences):
    """Say which words look alike here, so that they may have been taken for the same, and which are no more than a mark."""
    words = sorted({word for sentence in sentences for word in sentence})
    for first, second in combinations(words, 2):
        if _letters(first) == _letters(second) or len(first) > 2 and second.startswith(first):
            return f"“{first}” and “{second}” are different words: compare words as they are."
    return next((f"“{word}” counts as a word, too: leave none out." for word in words if not _letters(word)), "")


def _letters(word):
    """Return the letters of a word without accents, in lower case."""
    return "".join(filter(str.isalpha, normalize("NFKD", word).encode("ascii", "ignore").decode().lower()))


def _quoted(pair):
    first, second = (f"“{' '.join(sentence)}”" if sentence else "a sentence without words" for sentence in pair)
    return f"{first} twice" if first == second else f"{first} and {second}"


def _sides(sentences, labels):
    return [[s for s, label in zip(sentences, labels, strict=True) if bool(label) is side] for side in (True, False)]


def _pairs(sides):
    return [list(combinations_with_replacement(side, 2)) for side in sides]
