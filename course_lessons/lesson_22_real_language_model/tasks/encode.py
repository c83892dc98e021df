"""Task 22.encode: the tokens of a word by byte-pair encoding, from the merges in the order in which they were learned."""

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
    yield Case("no merges", ("not", []), edge=True)
    yield Case("an empty word", ("", MERGES[:2]), edge=True)


@task.oracle
def _(word, merges):
    tokens = list(word)
    for pair in merges:
        made, i = [], 0
        while i < len(tokens):
            both = tokens[i : i + 2] == list(pair)
            made.append("".join(tokens[i : i + 2]) if both else tokens[i])
            i += 2 if both else 1
        tokens = made
    return tokens


@task.mistake()
def longest_first(word, merges):
    known, tokens = {*word, *("".join(pair) for pair in merges)}, []
    while word:
        size = max(size for size in range(1, len(word) + 1) if word[:size] in known)
        tokens.append(word[:size])
        word = word[size:]
    return tokens
