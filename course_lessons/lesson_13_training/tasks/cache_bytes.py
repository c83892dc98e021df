"""Task 13.cache_bytes: how much a Transformer's decoder keeps while it writes."""

from operator import add, mul

from course_utils.checks.reference_trace import left_out
from course_utils.checks.running.contract import Case
from course_utils.checks.task import Task, count

task = Task(
    "13.cache_bytes",
    "how large a cache is",
    arguments=("sentences", "layers", "width", "heads", "source", "written", "bytes_each"),
    result="bytes",
    difficulty=2,
    importance=3,
    minutes=10,
    hints=(
        "Go through one decoder layer, which has two attention sub-layers. Which vectors does each of them need again at the next step, and for which words? Then ask what several heads change: each head has its own keys, but how wide are they?",
        (
            "Take one sentence, one layer of width 6 with 2 heads, 4 source tokens, 3 written tokens and 4 bytes per number. For attention to what is written, each head stores a key and a value of width 6 / 2 = 3 for each of 3 words: 18 numbers, or 36 for both heads. "
            "For attention to the source, the two heads store 2·6·4 = 48. In total, this makes 84 numbers, or 336 bytes."
        ),
        "tokens = source plus written; numbers per token = 2 times width, for keys and values, in each layer; multiply all this by the number of layers, the sentences and bytes_each.",
    ),
)


@task.cases
def _(draw):
    for sizes in ((1, 1, 6, 2, 4, 3), (3, 1, 6, 2, 4, 3), (1, 5, 6, 2, 4, 3), (1, 1, 12, 3, 7, 2), (2, 3, 20, 5, 7, 9)):
        sentences, layers, width, heads, source, written = sizes
        each = (2, 4)[int(draw.whole(0, 2))]
        source, written = source + int(draw.whole(0, 3)), written + 10 * int(draw.whole(0, 3))
        name = f"{sentences} × {source} source tokens, {written} written, {count(layers, 'layer')} of width {width}, {heads} heads"
        yield Case(name, (sentences, layers, width, heads, source, written, each))
    longer = 100 + int(draw.whole(0, 50))
    yield Case("a long text after a short source", (2, 3, 14, 7, 5, longer, 4))
    yield Case("a short text after a long source", (2, 3, 14, 7, longer, 5, 2))
    yield Case("numbers of 8 bytes", (3, 2, 15, 5, 6, 4 + longer, 8))
    yield Case("a single head", (2, 3, 10, 1, 4, 7, 4), edge=True)
    yield Case("heads of width 1", (2, 3, 5, 5, 4, 7, 4), edge=True)
    yield Case("nothing is written yet", (2, 3, 10, 5, 4, 0, 4), edge=True)
    yield Case("the paper's base model, 100 sentences", (100, 6, 512, 8, 30, 31, 2), edge=True)


@task.steps
def _(sentences, layers, width, heads, source, written, bytes_each):
    tokens = yield "all tokens", add, source, written
    vectors = yield "the keys and values", mul, 2, tokens
    in_layer = yield "the numbers of a layer", mul, vectors, width
    of_sentence = yield "the numbers of all layers", mul, in_layer, layers
    numbers = yield "the numbers of all sentences", mul, of_sentence, sentences
    size = yield "the bytes", mul, numbers, bytes_each
    return size


TOKENS, LAYERS = "all tokens", "the numbers of all layers"
PAIRS = "the keys and values"

task.changed_each(
    ("keys_alone", "You count one vector for each token and attention layer. Attention needs both the key and the value of each token.", {PAIRS: lambda two, tokens: tokens}),
    ("queries_too", "You count three vectors for each token, perhaps including the query. A query is used only at its own step.", {PAIRS: lambda two, tokens: 3 * tokens}),
    ("one_layer", "You count a single layer. Each layer of the decoder has its own keys and values.", {LAYERS: left_out}),
    ("one_sentence", "You count a single sentence. Each sentence has its own keys and values.", {"the numbers of all sentences": left_out}),
    ("written_alone", "The source is missing. Each layer also attends to it, and needs the keys and values of all its tokens at every step.", {TOKENS: lambda source, written: written}),
    ("source_alone", "What has been written is missing. Each layer attends to it, and needs the keys and values of all its tokens at every step.", {TOKENS: left_out}),
    ("times_the_heads", "You multiply by the number of heads. A head's keys are width / heads wide, so all heads together keep `width` numbers for a key.", {"width": lambda width, *, heads: width * heads}),
    ("one_head", "You count a single head, of width / heads. Every head has keys and values, which together are `width` wide.", {"width": lambda width, *, heads: width // heads}),
    ("numbers_counted", "You count the numbers. Each of them takes up `bytes_each` bytes.", {"the bytes": left_out}),
    ("next_word_too", "You count one written token too many. The cache contains the tokens that the decoder has read so far, and `written` is their number.", {"written": lambda written: written + 1}),
    ("source_once", "You count the keys and values of the source once for all layers. Each layer computes its own from the memory.", {TOKENS: lambda source, written, *, layers: source + layers * written, LAYERS: left_out}),
)  # fmt: skip
task.changed(
    "memory_alone",
    "For the source you count the memory, one vector for each token. At every step, each layer needs the keys and values that it has computed from the memory.",
    {PAIRS: lambda two, tokens, *, source, written, layers: source + 2 * layers * written, LAYERS: left_out},
)
