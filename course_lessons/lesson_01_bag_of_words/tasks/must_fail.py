"""Task 01.must_fail: is there a proof among these sentences that no linear score can get them all right?"""

from collections import Counter
from itertools import combinations, product
from itertools import combinations_with_replacement as with_replacement

from course_utils.checks.running.contract import Case
from course_utils.checks.task import Task

OPINIONS = ("good", "great", "fine", "fun", "lovely", "warm", "bad", "dull", "poor", "awful", "weak", "cold")
OTHERS = ("film", "plot", "cast", "the", "this", "dogs", "people", "ending")

task = Task(
    "01.must_fail",
    "where a linear score must fail",
    arguments=("sentences", "labels"),
    result="verdict",
    difficulty=3,
    importance=5,
    minutes=20,
    hints=(
        "A score is a sum over words, plus the bias. Add the scores of two positive sentences: which words does the result count, and what is its sign? Do the same with two "
        "negative sentences. When do the two results contradict each other?",
        'Take "good" and "not bad", both positive, and "bad" and "not good", both negative. The first two have 3 words together: good 1, not 1, '
        "bad 1. So do the other two: bad 1, not 1, good 1. The counts are equal, so both pairs have the same total score, which cannot be both above 0 and below 0.",
        "For every pair of positive sentences, including a sentence paired with itself, count the words of both together. Do the same for the negative sentences. Return whether "
        "any positive count equals any negative count.",
    ),
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
    for n in (5, 7):
        few = _words(draw, OPINIONS, 3)
        sentences = [[few[i] for i in draw.whole(0, 3, int(length))] for length in draw.whole(1, 4, n)]
        labels = [bool(label) for label in draw.whole(0, 2, n)]
        yield Case(f"{n} random sentences", (sentences, labels))
    yield Case("only positive sentences", ([[good], [fair, a]], [True, True]))
    yield Case("no sentence", ([], []), edge=True)


@task.property
def a_proof_is_one_and_nothing_else_is(case, value):
    """Four sentences show that there is a proof."""
    sides = _sides(*case.args)
    proof = next(
        (pairs for pairs in _pairs_of(sides) if Counter(sum(pairs[0], [])) == Counter(sum(pairs[1], []))), None
    )
    if proof and value is False:
        positive, negative = map(_quoted, proof)
        return f"Here is a proof, because both sides contain the same words: {positive} on the positive side, {negative} on the negative side."
    if not proof and value is True:
        return "Here no two positive sentences together contain the same words as two negative sentences, each word equally often."
    return None


def _pairs_of(sides):
    return product(*(with_replacement(side, 2) for side in sides))


def _quoted(pair):
    first, second = (f"“{' '.join(sentence)}”" for sentence in pair)
    return f"{first} twice" if first == second else f"{first} and {second}"


@task.steps
def _(sentences, labels):
    sides = yield "the positive and the negative sentences", _sides, sentences, labels
    pairs = yield PAIRS, lambda sides: [list(with_replacement(side, 2)) for side in sides], sides
    counts = yield COUNTED, of_each(Counter), pairs
    proof = yield "whether two are equal", lambda counts: any(a == b for a, b in product(*counts)), counts
    return proof


def _sides(sentences, labels):
    return [[s for s, label in zip(sentences, labels, strict=True) if bool(label) is side] for side in (True, False)]


def of_each(pair):
    """A function of the pairs of each side, which looks at the words of each pair together."""
    return lambda pairs: [[pair(a + b) for a, b in side] for side in pairs]


PAIRS, COUNTED = "the pairs of each side", "their words counted"
task.changed_each(
    ("always_true", "Your function returns True for all sentences that the check tries, even where there is no proof.", {"result": lambda proof: True}),
    ("always_false", "Your function returns False for all sentences that the check tries, even where there is a proof.", {"result": lambda proof: False}),
    ("lengths_only", "You compare only how many words there are. They have to be the same words, each equally often.", {COUNTED: of_each(len)}),
    ("sets_of_words", "You compare which words occur, but not how often. A sum adds a word's vector as often as the word occurs, so count the words.", {COUNTED: of_each(set)}),
    ("in_their_order", "You compare the words in order, but a sum ignores the order: compare how often each word occurs, for example with a Counter or a sorted list.", {COUNTED: of_each(list)}),
    ("never_twice", "You never use a sentence twice. Two sentences with different labels and the same words in a different order are a proof on their own: use each of them twice.", {PAIRS: lambda sides: [list(combinations(side, 2)) for side in sides]}),
    ("single_sentences", "You compare single sentences. That finds two sentences with the same words in a different order, but no pairs: the proof from an opinion and its negation needs two positive and two negative sentences.", {PAIRS: lambda sides: [[(s, []) for s in side] for side in sides]}),
    ("all_at_once", "You compare the words of all positive sentences with the words of all negative sentences. Two of each are enough for a contradiction, whatever the other sentences are.", {PAIRS: lambda sides: [[(sum(side, []), [])] * bool(side) for side in sides]}),
)  # fmt: skip


@task.mistake(
    "You use a sentence twice on both sides or on neither. One positive sentence used twice may contain the same words as two different negative sentences, and "
    "vice versa: allow repetition on each side independently."
)
def both_twice_or_both_different(sentences, labels):
    return task.wrong("never_twice")(sentences, labels) or task.wrong("single_sentences")(sentences, labels)


@task.mistake(
    "You ignore the labels. Two pairs with the same words contradict each other only if one pair is positive and the other negative."
)
def labels_unused(sentences, labels):
    words = [Counter(a + b) for a, b in with_replacement(sentences, 2)]
    return any(a == b for a, b in combinations(words, 2))
