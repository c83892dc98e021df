"""Task 22.encode: the tokens of a word by byte-pair encoding, from the merges in the order in which they were learned."""

from course_utils.checks.running.contract import Case
from course_utils.checks.task import Task

task = Task(
    "22.encode",
    "a word into tokens",
    arguments=("word", "merges"),
    result="tokens",
    difficulty=2,
    importance=4,
    minutes=20,
    hints=(
        "A text is encoded in the same steps in which the merges were learned: start from single characters and apply one merge after the other, everywhere in the word.",
        "Take the word aab and 2 merges, first (a, b), then (a, ab). The 3 characters are a, a, b. The first merge joins the last 2, which gives a, ab. The second joins these, and 1 token is left, aab. With the merges in the opposite order, (a, ab) would find nothing to join, and a, ab would remain.",
        "tokens = the characters of the word; for each pair of merges: a new list; go through the tokens from the left; if two neighbours are the pair, append both joined and skip the second; otherwise append the token; the new list replaces the old one.",
    ),
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
    yield Case("no merges", ("not", []), edge=True)
    yield Case("an empty word", ("", MERGES[:2]), edge=True)


def _joined(tokens, pair, from_the_right=False, once=False):
    if from_the_right:
        return [token[::-1] for token in _joined([t[::-1] for t in tokens[::-1]], (pair[1][::-1], pair[0][::-1]))][::-1]
    made, i = [], 0
    while i < len(tokens):
        both = (*tokens[i : i + 2],) == tuple(pair) and not (once and len(made) < i)
        made.append("".join(tokens[i : i + 2]) if both else tokens[i])
        i += 2 if both else 1
    return made


def _merged(word, merges, **how):
    tokens = list(word)
    for pair in merges:
        tokens = _joined(tokens, pair, **how)
    return tokens


@task.oracle
def _(word, merges):
    return _merged(word, merges)


@task.mistake(
    "You apply the merges from the last one to the first. They were learned in order, and later ones build on earlier ones: start with the first."
)
def last_first(word, merges):
    return _merged(word, merges[::-1])


@task.mistake("Each merge is applied once in the word. Apply it wherever its two tokens are neighbours.")
def once_each(word, merges):
    return _merged(word, merges, once=True)


@task.mistake(
    "You go through the tokens from the right. If the same token occurs three times in a row, the first two should be joined: go from the left."
)
def from_the_right(word, merges):
    return _merged(word, merges, from_the_right=True)


@task.mistake(
    "You cut the longest known token from the beginning of the word, again and again. That is a different algorithm: byte-pair encoding applies the merges in the order in which they were learned, and may end with different tokens."
)
def longest_first(word, merges):
    known, tokens = {*word, *("".join(pair) for pair in merges)}, []
    while word:
        size = max(size for size in range(1, len(word) + 1) if word[:size] in known)
        tokens.append(word[:size])
        word = word[size:]
    return tokens


@task.mistake(
    "You return the characters: no merge has been applied. Keep the result of a merge, because the next one works on it."
)
def characters(word, merges):
    return list(word)


@task.mistake(
    "Every merge is applied to the characters of the word, and you return the last result. Each merge works on the result of the previous one."
)
def on_characters_each_time(word, merges):
    tokens = list(word)
    for pair in merges:
        tokens = _joined(list(word), pair)
    return tokens


@task.mistake("You compare only the joined text, so you merge tokens that are not the pair: (a, ab) is not (aa, b).")
def by_joined_text(word, merges):
    tokens = list(word)
    for pair in merges:
        made, i = [], 0
        while i < len(tokens):
            both = "".join(tokens[i : i + 2]) == "".join(pair) and i + 1 < len(tokens)
            made.append("".join(tokens[i : i + 2]) if both else tokens[i])
            i += 2 if both else 1
        tokens = made
    return tokens


@task.mistake("The last token is missing from your result. Does a slice or a range end one too early?")
def last_lost(word, merges):
    return _merged(word, merges)[:-1]


@task.mistake("You return the tokens as one string. Return a list of strings.")
def as_text(word, merges):
    return "".join(_merged(word, merges))


@task.mistake("You return how many tokens there are. Return the tokens themselves, as a list of strings.")
def counted(word, merges):
    return len(_merged(word, merges))


@task.mistake("After a merge, its second token is still there. Skip it: both tokens have become one.")
def second_not_skipped(word, merges):
    tokens = list(word)
    for pair in merges:
        pairs = zip(tokens, [*tokens[1:], ""], strict=True)
        tokens = [one + other if (one, other) == tuple(pair) else one for one, other in pairs]
    return tokens
