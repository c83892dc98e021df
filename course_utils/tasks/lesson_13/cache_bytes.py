"""Task 13.cache_bytes: how much a Transformer's decoder keeps while it writes."""

from operator import add, mul

from course_utils.checks.running.contract import Case
from course_utils.checks.task import Task

task = Task(
    "13.cache_bytes",
    "how large a cache is",
    arguments=("sentences", "layers", "width", "heads", "source", "written", "bytes_each"),
    result="bytes",
    difficulty=2,
    importance=3,
    minutes=10,
    hints=(
        "Go through one decoder layer. It has two attentions. Which vectors does each of them need again at the next step, and of which words? Then ask what several heads change: each has its own keys, but how wide are they?",
        (
            "Take one sentence, one layer of width 6 with 2 heads, 4 source tokens and 3 written ones, 4 bytes for each number. In its attention to what is written, a head keeps a key and a value of width 6 / 2 = 3 for each of 3 words: 18 numbers, and both heads keep 36. "
            "In the attention to the source both heads keep 2·6·4 = 48. That makes 84 numbers, or 336 bytes."
        ),
        "tokens = source plus written; numbers for each token = keys and values, so 2 times width, and that for each layer; times the sentences; times bytes_each.",
    ),
)


@task.cases
def _(draw):
    for sizes in ((1, 1, 6, 2, 4, 3), (3, 1, 6, 2, 4, 3), (1, 5, 6, 2, 4, 3), (1, 1, 12, 3, 7, 2), (2, 3, 20, 5, 7, 9)):
        sentences, layers, width, heads, source, written = sizes
        each = (2, 4)[int(draw.whole(0, 2))]
        source, written = source + int(draw.whole(0, 3)), written + 10 * int(draw.whole(0, 3))
        name = (
            f"{sentences} × {source} source tokens, {written} written, {layers} layers of width {width}, {heads} heads"
        )
        yield Case(name, (sentences, layers, width, heads, source, written, each))
    longer = 100 + int(draw.whole(0, 50))
    yield Case("a long text after a short source", (2, 3, 14, 7, 5, longer, 4))
    yield Case("a short text after a long source", (2, 3, 14, 7, longer, 5, 2))
    yield Case("numbers of 8 bytes", (3, 2, 15, 5, 6, 4 + longer, 8))
    yield Case("a single head", (2, 3, 10, 1, 4, 7, 4), edge=True)
    yield Case("heads of width 1", (2, 3, 5, 5, 4, 7, 4), edge=True)
    yield Case("nothing is written yet", (2, 3, 10, 5, 4, 0, 4), edge=True)
    yield Case("the paper's base model, 100 sentences", (100, 6, 512, 8, 30, 31, 2), edge=True)


@task.oracle
def _(sentences, layers, width, heads, source, written, bytes_each):
    total = 0
    for tokens in (source, written):  # the two attentions of a layer
        for _vector in ("key", "value"):
            total += sentences * layers * tokens * width * bytes_each
    return total


@task.steps
def _(sentences, layers, width, heads, source, written, bytes_each):
    tokens = yield "the tokens of source and target", add, source, written
    vectors = yield "the keys and values of a layer", mul, 2, tokens
    in_layer = yield "the numbers of a layer", mul, vectors, width
    of_sentence = yield "the numbers of all layers", mul, in_layer, layers
    numbers = yield "the numbers of all sentences", mul, of_sentence, sentences
    size = yield "the bytes", mul, numbers, bytes_each
    return size


def _wrong(name, sentence, function):
    def mistaken(sentences, layers, width, heads, source, written, bytes_each):
        return function(sentences, layers, width, heads, source, written, bytes_each)

    task.mistake(sentence, name)(mistaken)


_wrong(
    "keys_alone",
    "You count one vector for each token and attention. An attention needs the key and the value of each token.",
    lambda B, L, D, H, S, t, b: B * L * D * (S + t) * b,
)
_wrong(
    "queries_too",
    "You count three vectors for each token, perhaps the query, too. A query is used at its own step alone; keys and values are needed again.",
    lambda B, L, D, H, S, t, b: 3 * B * L * D * (S + t) * b,
)
_wrong(
    "one_layer",
    "You count a single layer. Each layer of the decoder has keys and values of its own.",
    lambda B, L, D, H, S, t, b: 2 * B * D * (S + t) * b,
)
_wrong(
    "one_sentence",
    "You count a single sentence. Each sentence has keys and values of its own.",
    lambda B, L, D, H, S, t, b: 2 * L * D * (S + t) * b,
)
_wrong(
    "written_alone",
    "The source is missing. Each layer also attends to the source, and needs the keys and values of all source tokens at every step.",
    lambda B, L, D, H, S, t, b: 2 * B * L * D * t * b,
)
_wrong(
    "source_alone",
    "What has been written is missing. Each layer attends to the words written so far, and needs their keys and values at every step.",
    lambda B, L, D, H, S, t, b: 2 * B * L * D * S * b,
)
_wrong(
    "source_once",
    "You count the keys and values of the source once for all layers. Each layer makes its own from the memory.",
    lambda B, L, D, H, S, t, b: 2 * B * D * (S + L * t) * b,
)
_wrong(
    "memory_alone",
    "For the source you count the memory, one vector for each token. What each layer needs at every step are the keys and values that it has made of the memory.",
    lambda B, L, D, H, S, t, b: B * D * (S + 2 * L * t) * b,
)
_wrong(
    "times_the_heads",
    "You multiply by the number of heads. A head's keys are only width / heads wide, so all heads together keep `width` numbers for a key.",
    lambda B, L, D, H, S, t, b: 2 * B * L * D * H * (S + t) * b,
)
_wrong(
    "one_head",
    "You count a single head, of width / heads. All heads have keys and values, which together are `width` wide.",
    lambda B, L, D, H, S, t, b: 2 * B * L * (D // H) * (S + t) * b,
)
_wrong(
    "numbers_counted",
    "You count the numbers. Each of them takes `bytes_each` bytes.",
    lambda B, L, D, H, S, t, b: 2 * B * L * D * (S + t),
)
_wrong(
    "width_squared",
    "You square the width. A key has `width` numbers; it is the weights that make it which have width².",
    lambda B, L, D, H, S, t, b: 2 * B * L * D**2 * (S + t) * b,
)
_wrong(
    "pairs_of_tokens",
    "You multiply source and written tokens. Keys and values belong to single tokens: add the two.",
    lambda B, L, D, H, S, t, b: 2 * B * L * D * S * t * b,
)
_wrong(
    "next_word_too",
    "You count one written token more. The cache holds those that the decoder has read so far, and `written` says how many these are.",
    lambda B, L, D, H, S, t, b: 2 * B * L * D * (S + t + 1) * b,
)
