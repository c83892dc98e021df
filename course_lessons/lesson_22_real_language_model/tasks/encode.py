"""Task 22.encode: the tokens of a word by byte-pair encoding, from the merges in the order in which they were learned."""

from itertools import accumulate

from course_utils.checks.compare import describe
from course_utils.checks.task import Case, Task

task = Task(
    __name__,
    "a word into tokens",
    arguments=("word", "merges"),
    result="tokens",
    difficulty=2,
    importance=4,
    minutes=20,
)

MERGES = [
    ("n", "o"),
    ("no", "t"),
    ("a", "t"),
    ("g", "r"),
    ("gr", "e"),
    ("gre", "at"),
    ("o", "o"),
    ("not", "h"),
    ("l", "l"),
]
WORDS = ("not", "great", "nothing", "goat", "noon", "ooooo", "llama", "g", "greatest", "onto")
LETTERS = "abno"


def _drawn(draw):
    """Return merges of two or more levels and a word, all drawn."""
    tokens, merges = list(LETTERS), []
    for _ in range(5):
        i, j = (int(draw.whole(0, len(tokens))) for _ in range(2))
        if tokens[i] + tokens[j] not in tokens:  # no token is made in two ways
            merges.append((tokens[i], tokens[j]))
            tokens.append(tokens[i] + tokens[j])
    length = int(draw.whole(6, 13))
    return "".join(LETTERS[int(i)] for i in draw.whole(0, len(LETTERS), length)), merges


@task.cases
def _(draw):
    for number in range(8):
        word = "".join(WORDS[int(i)] for i in draw.distinct(2, 0, len(WORDS)))
        kept = [merge for merge in MERGES if number or len(merge[0] + merge[1]) < 4]
        yield Case(f"two words as one, number {number + 1}", (word, kept))
    for number in range(12):
        yield Case(f"a drawn word, number {number + 1}", _drawn(draw))
    x, y, z = (chr(97 + int(i)) for i in draw.distinct(3, 0, 26))
    many = int(draw.whole(5, 10))
    yield Case("the same letter many times", (many * x, [(x, x), (2 * x, x), (2 * x, 2 * x)]))
    yield Case("a pair that other merges break up", (x + y + z + x + y, [(y, z), (x, y), (x + y, z)]))
    yield Case("parts of a pair, split elsewhere", (x + y + 3 * x + y, [(y, x), (x, y), (2 * x, y)]))
    yield Case("a long merge before a short one", (x + y + z + x, [(x, y), (x + y, z), (z, x)]))
    yield Case("a word that a merge spells, but only from other parts", (x + y + z, [(x, y), (y, z), (x, y + z)]))
    # The space belongs to the word, and neither capitals nor accents nor marks are like other characters.
    yield Case("a space at the beginning", (f" {x}{y} ", [(" ", x), (x, y), (f" {x}", y)]))
    yield Case("two words with a space between them", (f"{x}{y} {x}{y}", [(x, y), (" ", x), (" ", x + y)]))
    X, Y = x.upper(), y.upper()
    yield Case("capitals", (X + y + x + y + X + Y, [(x, y), (X, y), (X + y, x)]))
    accents = "éñçüøß"
    a, b = (accents[int(i)] for i in draw.distinct(2, 0, len(accents)))
    yield Case("accents", (x + a + b + a + x, [(a, b), (x, a), (a, x)]))
    yield Case("marks and digits", (f"{x}.{y}'2+2.{x}", [("'", "2"), (".", x), ("2", "+"), ("+", "2"), ("2+", "2")]))
    yield Case("no merges", ("not", []), edge=True)
    yield Case("an empty word", ("", MERGES[:2]), edge=True)


def _joined(word, merges):
    """Return the tokens, and which merge joins what is on both sides of a place in the word, by place."""
    tokens, joins = list(word), {}
    for number, pair in enumerate(merges):
        made, i = [], 0
        while i < len(tokens):
            both = tokens[i : i + 2] == list(pair)
            if both:
                joins[len("".join(made) + tokens[i])] = number
            made.append("".join(tokens[i : i + 2]) if both else tokens[i])
            i += 2 if both else 1
        tokens = made
    return tokens, joins


@task.oracle
def _(word, merges):
    return _joined(word, merges)[0]


@task.property
def the_tokens_spell_the_word(case, value):
    """Which characters are lost, added or changed; else where the first two tokens are joined or kept apart that should not be."""
    word, merges = case.args
    if not isinstance(value, (list, tuple)):
        return None
    for token in value:
        if not isinstance(token, str):
            return f"Your list contains {describe(token)}. Each token is a string, and a joined one contains the text of both."
    if "".join(value) != word:
        space = ", and a space is a character, too" if " " in word else ""
        return f"Joined, your tokens spell {''.join(value)!r}, but the word is {word!r}: merges lose, add and change no character{space}."
    right, joins = _joined(word, merges)
    ends, wanted = (set(accumulate(map(len, tokens))) for tokens in (value, right))
    if ends == wanted:
        return (
            "Your list contains an empty string. A token has at least one character." if list(value) != right else None
        )
    place = min(ends ^ wanted)
    before, after = word[:place], word[place:]
    if place in joins:
        merge = merges[joins[place]]
        return f"In {word!r}, your tokens are apart between {before!r} and {after!r}. Merge {joins[place] + 1} of {len(merges)}, {merge!r}, joins them there: merges are applied one after the other, each from left to right to what the previous ones have left."
    return f"In {word!r}, one of your tokens goes on from {before!r} to {after!r}. No merge joins these: when its turn comes, its two tokens are not neighbours there. Apply the merges one after the other, each from left to right."


def in_pieces(tokens):
    """Take the place of the tokens: cut at their spaces, which are lost."""
    return [piece for token in tokens for piece in token.split()]


def wherever_a_pair_stands(word, merges):
    """Return what comes of joining the first pair of neighbours that any merge has, again and again."""
    tokens = list(word)
    while found := [i for i in range(len(tokens) - 1) if (tokens[i], tokens[i + 1]) in merges]:
        tokens[found[0] : found[0] + 2] = ["".join(tokens[found[0] : found[0] + 2])]
    return tokens


@task.mistake()
def longest_first(word, merges):
    known, tokens = {*word, *("".join(pair) for pair in merges)}, []
    while word:
        size = max(size for size in range(1, len(word) + 1) if word[:size] in known)
        tokens.append(word[:size])
        word = word[size:]
    return tokens
