"""Task 13.cache_bytes: how much a Transformer's decoder keeps while it writes."""

from operator import add, mul

from course_utils.base.words import count
from course_utils.checks.task import Case, Task

task = Task(
    __name__,
    "how large a cache is",
    arguments=("sentences", "layers", "width", "heads", "source", "written", "bytes_each"),
    result="bytes",
    difficulty=2,
    importance=3,
    minutes=10,
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
