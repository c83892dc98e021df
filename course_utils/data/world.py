"""A generated world of translation: two simplified languages, made from a seed, whose truth is known.

The source looks like English. Sentences can have any number of words; longer ones have longer noun phrases, more
phrases, and from 11 words on more clauses:

    sentence = clause [conjunction clause] ...           "while", "because", ...
    clause   = [adverb] subject [phrase] verb [object] [phrase] ...     or, for one word, a noun
    subject, object = [determiner] [adjective] ... noun
    phrase   = preposition [determiner] [adjective] ... noun

The target's words are invented, and the translation is a function of the source, given by four rules:

1. Dictionary. A word has one translation: usually one word. A share `fertility` of the nouns, adjectives and verbs
   become two, always the same ones ("dog": "smadu gleno"), and the same share of determiners and adverbs vanishes
   ("the" first): with 0.2, of 100 running words 17 become two and 3 vanish. With 0 each becomes one.
2. Agreement. A noun has a gender, which the source doesn't show, and a number. Its ending shows both: -o, plural -i, for
   one gender, -a, plural -e, for the other. An adjective takes the ending of its noun, a verb that of its subject, the
   first noun of the clause, however many words are between them: -or, -ir, -ar, -er. With `agreement=False` adjectives
   always end in -o and verbs in -or.
3. Order. "monotone": as in the source. "verb-last": each clause's verb goes to the end of its clause, as in German
   subordinate clauses. "reversed": the whole sentence from its last word to its first.
4. Links. A target word is linked to the one source word that it comes from; what vanishes has no link.

A worked example; translate numbers words from 0, and a link is (source word, target word):

>>> world = World(order="verb-last")
>>> target, links = world.translate("the old dogs near my house followed your quiet friend".split())
>>> " ".join(target)
'kluru spudi smadu gleni dravun kremil bruda kilil poro vuvo derir'
>>> links
[(1, 0), (1, 1), (2, 2), (2, 3), (3, 4), (4, 5), (5, 6), (7, 7), (8, 8), (9, 9), (6, 10)]

"the" vanishes; "old" and "dogs" become two words each, and end in -i because "dogs" is plural; "followed" moves from place 6
to the end and ends in -ir because of "dogs", with "house" in between.

All words of a kind are equally likely wherever one is drawn, so that none can be guessed from those around it.

Here: the grammar, its dictionary and its truth. Not here: `Pairs` (`pairs.py`), texts as numbers (`subwords.py`).
"""

import functools
import itertools
import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from course_utils.base.errors import CourseError
from course_utils.data.pairs import Pairs

ORDERS = ("monotone", "verb-last", "reversed")
LONGEST_CLAUSE = 10  # words; longer sentences have several clauses
SMALLEST_VOCABULARY, LARGEST_VOCABULARY = 40, 100_000
LONGEST = 1_000  # words of a sentence

# The source's words; a vocabulary above 200 also has invented ones. Nouns add an "s" in the plural;
# verbs are in the past, where English shows no number, and go with and without an object.
_BASE = {
    "determiner": "the my your our their",
    "preposition": "near under behind with beside above below after",
    "conjunction": "and but while because",
    "noun": (
        "dog boy girl house friend teacher river garden horse tree doctor king queen bird farmer street window table "
        "letter song train ship cook painter sailor neighbor mountain forest road bridge market school cat flower "
        "singer driver writer lamp stone door cloud star island hunter guest village"
    ),
    "adjective": (
        "old young small big quiet happy tall clever brave kind hungry tired strange famous gentle proud lazy noisy "
        "rich poor green red white dark bright cold warm soft heavy new strong honest calm pretty slow busy"
    ),
    "verb": (
        "saw followed painted helped called watched visited carried pushed pulled washed moved heard knew remembered "
        "forgot left cleaned greeted answered asked taught met fed drew lifted caught touched fought kissed hugged "
        "trusted praised cheered warned guarded guided served saved stopped turned chased admired feared obeyed "
        "thanked doubted noticed ignored"
    ),
    "adverb": "today yesterday often suddenly slowly again always then sometimes",
}
_SUFFIXES = {"noun": "et", "adjective": "ish", "verb": "ed", "adverb": "ly"}  # of invented source words

# A target word is a stem and an ending. If there are four, they show gender and number: 2 × gender + plural.
_ENDINGS = {
    "noun": ("o", "i", "a", "e"),
    "adjective": ("o", "i", "a", "e"),
    "verb": ("or", "ir", "ar", "er"),
    "determiner": ("il",) * 4,
    "preposition": ("un",) * 4,
    "conjunction": ("ut",) * 4,
    "adverb": ("em",) * 4,
}
_FIRST_OF_TWO = "u"
_ONSETS = "b br d dr f fl g gl gr k kl kr l m n p pl pr r s sk sl sm sp st t tr v".split()
_VOWELS = "a e i o u".split()
_CODAS = "d l m n r s v".split()
_STRIDE = 611_953  # a prime: its multiples visit all combinations, and neighbours look different
_MAY_VANISH = ("determiner", "adverb")
_MAY_DOUBLE = ("noun", "adjective", "verb")

Links = list[tuple[int, int]]


@dataclass(frozen=True)
class World:
    """Two languages and the rules between them, fixed by the arguments, whatever the seed of the sentences.

    `vocabulary` counts the source's words, singular and plural apart. Raises `CourseError` for an order not in ORDERS, a
    vocabulary below 40 or above 100,000, or a fertility outside 0 to 1.
    """

    order: str = "verb-last"
    vocabulary: int = 100
    fertility: float = 0.2
    agreement: bool = True

    def __post_init__(self):
        if self.order not in ORDERS:
            raise CourseError(f"order must be one of {', '.join(ORDERS)}, not {self.order!r}")
        if not SMALLEST_VOCABULARY <= self.vocabulary <= LARGEST_VOCABULARY:
            raise CourseError(
                f"vocabulary must be at least {SMALLEST_VOCABULARY} words and at most {LARGEST_VOCABULARY:,}, not {self.vocabulary:,}"
            )
        if not 0 <= self.fertility <= 1:
            raise CourseError(f"fertility is a share: it must lie between 0 and 1, not be {self.fertility}")

    def words(self) -> dict[str, list[str]]:
        """Return the source's words by kind; nouns in pairs, singular and plural."""
        words = {}
        for word, entry in _dictionary(self.vocabulary, self.fertility).items():
            words.setdefault(entry.kind, []).append(word)
        return words

    def translate(self, words: list[str]) -> tuple[list[str], Links]:
        """Return the translation and its links (source place, target place), in the target's order.

        Any sequence of the source's words has one: an adjective without a noun after it, or a verb without a subject,
        ends as with a noun in -o. Raises `CourseError` for an unknown word.
        """
        dictionary = _dictionary(self.vocabulary, self.fertility)
        try:
            entries = [dictionary[word] for word in words]
        except KeyError as error:
            raise CourseError(f"{error} is no word of this world: take those of World.words()") from None
        forms = _forms(entries) if self.agreement else [entry.form for entry in entries]
        target, links = [], []
        for place in _target_order(entries, self.order):
            for word in entries[place].translations[forms[place]]:
                links.append((place, len(target)))
                target.append(word)
        return target, links


def generate_translations(
    number: int,
    seed: int,
    *,
    shortest: int = 4,
    longest: int = 12,
    order: str = "verb-last",
    vocabulary: int = 100,
    fertility: float = 0.2,
    agreement: bool = True,
) -> Pairs:
    """Return pairs of shortest to longest source words, each length equally likely; the rest describes the `World`.

    The same on every machine for the same arguments; a different `number` shortens or continues the same list. Raises
    `CourseError` for bounds that no sentence can meet, and as `World` does.
    """
    if not 1 <= shortest <= longest <= LONGEST:
        raise CourseError(
            f"expected 1 <= shortest <= longest <= {LONGEST:,}, as words of a sentence, not {shortest:,} and {longest:,}"
        )
    world = World(order, vocabulary, fertility, agreement)
    words, draw = world.words(), random.Random(seed).random
    pairs = Pairs([], [], [])
    for _ in range(number):
        source = _draw_sentence(draw, words, shortest + int(draw() * (longest - shortest + 1)))
        target, links = world.translate(source)
        pairs.sources.append(" ".join(source))
        pairs.targets.append(" ".join(target))
        pairs.alignments.append(links)
    return pairs


# --- the source's grammar. Python promises only for random() that its numbers stay the same from version to version.
Draw = Callable[[], float]
Words = dict[str, list[str]]


def _draw_sentence(draw: Draw, words: Words, length: int) -> list[str]:
    """Draw a sentence of exactly this many words: clauses of at most ten."""
    sentence = []
    while length > LONGEST_CLAUSE:
        size = min(4 + int(draw() * 7), length - 3)  # what is left has at least a conjunction, a noun and a verb
        sentence += [*_draw_clause(draw, words, size), _pick(draw, words["conjunction"])]
        length -= size + 1
    return sentence + _draw_clause(draw, words, length)


def _draw_clause(draw: Draw, words: Words, length: int) -> list[str]:
    if length == 1:
        return [_pick(draw, words["noun"])]
    left = length - 1  # without the verb
    clause = [_pick(draw, words["adverb"])] if left > 1 and draw() < 0.25 else []
    left -= len(clause)
    size = min(left, 1 + int(draw() * 4))
    clause += _draw_noun_phrase(draw, words, size)
    left -= size
    if left > 1 and draw() < 0.3:
        size = min(left, 2 + int(draw() * 4))
        clause += _draw_phrase(draw, words, size)
        left -= size
    clause.append(_pick(draw, words["verb"]))
    if left == 1 or (left and draw() < 0.6):
        size = _leave_not_one(left, 1 + int(draw() * 4))
        clause += _draw_noun_phrase(draw, words, size)
        left -= size
    while left:
        size = _leave_not_one(left, 2 + int(draw() * 4))
        clause += _draw_phrase(draw, words, size)
        left -= size
    return clause


def _leave_not_one(left: int, size: int) -> int:
    """Return the size, at most what is left; one more if a single word would be left, too little for a phrase."""
    return left if size >= left - 1 else size


def _draw_phrase(draw: Draw, words: Words, size: int) -> list[str]:
    return [_pick(draw, words["preposition"]), *_draw_noun_phrase(draw, words, size - 1)]


def _draw_noun_phrase(draw: Draw, words: Words, size: int) -> list[str]:
    phrase = [_pick(draw, words["determiner"])] if size > 1 and draw() < 0.6 else []
    while len(phrase) < size - 1:
        adjective = _pick(draw, words["adjective"])
        phrase += [adjective] * (adjective not in phrase)  # up to four in a row, and even the smallest world has four
    return [*phrase, _pick(draw, words["noun"])]


def _pick(draw: Draw, choices: list[str]) -> str:
    return choices[int(draw() * len(choices))]


# --- the rules
@dataclass(frozen=True)
class _Entry:
    kind: str
    form: int  # a noun's own: 2 × gender + plural; 0 for the others
    translations: list[tuple[str, ...]]  # the target's words, none to two, in each of the four forms


def _forms(entries: list[_Entry]) -> list[int]:
    """Return each word's form by rule 2."""
    forms, form = [0] * len(entries), 0
    for place in reversed(range(len(entries))):  # backwards, because an adjective's noun is the next one
        if entries[place].kind == "noun":
            form = entries[place].form
        forms[place] = form
    for clause in _clauses(entries):
        subject = next((entries[place].form for place in clause if entries[place].kind == "noun"), 0)
        for place in clause:
            if entries[place].kind == "verb":
                forms[place] = subject
    return forms


def _target_order(entries: list[_Entry], order: str) -> Iterator[int]:
    """Return the places of the source's words in the target's order, by rule 3."""
    places = range(len(entries))
    if order != "verb-last":
        return iter(places if order == "monotone" else reversed(places))
    clauses = _clauses(entries)
    return itertools.chain.from_iterable(sorted(c, key=lambda place: entries[place].kind == "verb") for c in clauses)


def _clauses(entries: list[_Entry]) -> list[list[int]]:
    """Return the places of each clause; a conjunction opens one."""
    clauses = [[]]
    for place, entry in enumerate(entries):
        if entry.kind == "conjunction":
            clauses.append([])
        clauses[-1].append(place)
    return clauses


# --- the dictionary
@functools.cache
def _dictionary(vocabulary: int, fertility: float) -> dict[str, _Entry]:
    words = _source_words(vocabulary)
    source = {form for kind in words.values() for word in kind for form in (word, f"{word}s")}
    endings = {_FIRST_OF_TWO, *itertools.chain(*_ENDINGS.values())}
    stems = (stem for stem in _stems() if not any(stem + ending in source for ending in endings))
    dictionary = {}
    for kind, singulars in words.items():
        for row, word in enumerate(singulars):
            # The golden ratio's multiples are spread evenly: whatever the share, these are the words of that share.
            is_chosen = row * 0.6180339887498949 % 1 < fertility
            first, stem = next(stems) + _FIRST_OF_TWO, next(stems)
            translations = [(stem + ending,) for ending in _ENDINGS[kind]]
            if is_chosen and kind in _MAY_VANISH:
                translations = [()] * 4
            elif is_chosen and kind in _MAY_DOUBLE:
                translations = [(first, *last) for last in translations]
            gender = row % 2 if kind == "noun" else 0
            dictionary[word] = _Entry(kind, 2 * gender, translations)
            if kind == "noun":
                dictionary[f"{word}s"] = _Entry(kind, 2 * gender + 1, translations)
    return dictionary


def _source_words(vocabulary: int) -> dict[str, list[str]]:
    """Divide the vocabulary among the kinds, half of it for nouns; return their words, only the singulars of nouns."""
    words = {kind: listed.split() for kind, listed in _BASE.items()}
    taken = set(itertools.chain(*words.values()))
    content = vocabulary - sum(len(words[kind]) for kind in words if kind not in _SUFFIXES)
    sizes = {"noun": content // 4, "adjective": content // 5, "adverb": content // 20}
    sizes["verb"] = content - 2 * sizes["noun"] - sizes["adjective"] - sizes["adverb"]
    for kind, size in sizes.items():
        invented = (stem + _SUFFIXES[kind] for stem in _stems())
        new = (word for word in invented if word not in taken)
        words[kind] = list(itertools.islice(itertools.chain(words[kind], new), size))
    return words


def _stems() -> Iterator[str]:
    """Return pronounceable syllables, then pairs of them, and so on, without end and each once."""
    for syllables in itertools.count(1):
        number = (len(_ONSETS) * len(_VOWELS)) ** syllables * len(_CODAS)
        for row in range(number):
            code, stem = row * _STRIDE % number, ""
            for choices in [_ONSETS, _VOWELS] * syllables + [_CODAS]:
                code, choice = divmod(code, len(choices))
                stem += choices[choice]
            yield stem
