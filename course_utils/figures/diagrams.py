"""The course's drawn diagrams: the parts of a mechanism, and which of them are new in a lesson.

Each function returns a `Diagram`, which a notebook shows and which describes itself in words. `new` names the parts
to highlight. In a text, *x* is a variable and _q a subscript. A box may have line breaks, and what follows a colon is
smaller. To add a diagram, copy one: `addressing` is all rows and columns, and `soft_and_hard`
also has arrows around its boxes.
Not here: where rows and arrows go (`layout.py`), how boxes become a picture (`drawing.py`).
"""

from itertools import groupby, pairwise

from course_utils.figures.drawing import EDGE, WIDTH, Diagram, plain
from course_utils.figures.layout import INSIDE, Sketch, columns_of, row

ROLES = ("queries", "keys", "values")
SHAPES = {"queries": "B T D", "keys": "B S D", "values": "B S E", "scores": "B T S", "context": "B T E"}
AMONG_WORDS = SHAPES | {"queries": "B S D", "values": "B S D", "scores": "B S S", "context": "B S D"}
NARROW_WORDS = "word\nvectors: *x*₁ *x*₂ *x*₃"
CAUSAL, CROSS, LLAMA = "causal\nself-attention", "attention\nto the source", "causal attention,\nrotary, 8 groups"
PAPER_NAMES = (  # in Figure 1 of Vaswani et al. (2017): a name, and where its middle is in `transformer`
    *(("Inputs", 51, 38), ("Input Embedding,\nPositional Encoding", 138, -46), ("Multi-Head\nAttention", 272, -134)),
    *(("Feed Forward", 398, -126), ("N×", 488, -88), ("Outputs\n(shifted right)", 116, 304)),
    *(("Output Embedding,\nPositional Encoding", 138, 210), ("Masked Multi-Head\nAttention", 272, 124)),
    *(("Multi-Head\nAttention", 446, 124), ("Feed Forward", 536, 134), ("N×", 614, 167)),
    *(("Linear, Softmax", 690, 218), ("Output\nProbabilities", 650, 304)),
)
Q, K, V, DOT = "queries: *Q*", "keys: *K*", "values: *V*", "*q* · *k*"
EIGHT_SCORES = "dot, scaled dot, content-based, general, additive, perceptron, concatenating, location-based".split(
    ", "
)


def bag_of_words(new=()) -> Diagram:
    """From words to a probability: the sum of their vectors, a score, the logistic sigmoid."""
    draw = Sketch("A bag of words", new)
    words = [draw.data("words", word, 86) for word in ("not", "really", "great")]
    vectors = [draw.data("vectors", f"*x*{number}", 58) for number in "₁₂₃"]
    total, score = draw.step("sum", "Σ: sum", 70, 142), draw.step("score", "score: *w* · sum + *b*", 112)
    squash, chance = draw.step("sigmoid", "*σ*: sigmoid"), draw.data("probability", "*p*: probability", 92)
    row(words, vectors, total, score, squash, chance)
    draw.chain(words, vectors, total, score, squash, chance, words=["", "", "sum"], shapes=["", "", "B D", "B"])
    return draw.diagram("""Each of the words not, really and great becomes a vector: x₁, x₂ and x₃. The sum Σ adds the
        vectors up to one vector, the sum. From it comes a score, w · sum + b, and the sigmoid σ turns the score into the
        probability p.""")


def several_heads(words, asking, query, weights, contexts, output, new=()) -> Diagram:
    """Attention with two heads for one word: its query is split, each half attends by itself, the contexts are merged.

    `asking` is that word's place in `words`. `query` and `output` hold its numbers as texts, D each, `contexts`
    those of each head, and `weights` each head's weights for the words.
    """
    draw, half = Sketch("Split, attend, merge", new), len(query) // 2
    asks = draw.data("query", _box_text(f"query: of {words[asking]}", query), 76)
    known = draw.data("known", "keys and values: of all words, split too", 168, 54)
    parts = [draw.data("split", _box_text(f"part {h}:", query[h * half : (h + 1) * half]), 60, 72) for h in (0, 1)]
    shares = [[f"{word} {share:.2f}" for word, share in zip(words, each, strict=True)] for each in weights]
    heads = [draw.step("heads", _box_text(f"head {h}:", shares[h]), 116, 88) for h in (0, 1)]
    found = [draw.data("contexts", _box_text(f"context {h}:", contexts[h]), 88, 72) for h in (0, 1)]
    merge = draw.data("merge", _box_text("merged:", [number for context in contexts for number in context]), 72)
    project, result = draw.step("project", "*W*_O", 40, 48), draw.data("output", _box_text("output:", output), 60)
    columns = [[boxes[0], between, boxes[1]] for boxes, between in ((parts, None), (heads, known), (found, None))]
    row(asks, *columns, merge, project, result, height=260)
    draw.chain(asks, parts, heads, found, merge, project, result)
    draw.chain(known, heads)
    finds = [f"With the weights of {plain(heads[h].text)}, it finds {plain(found[h].text)}." for h in (0, 1)]
    return draw.diagram(f"""The {plain(asks.text)} is split into {" and ".join(plain(part.text) for part in parts)}.
        Each head also has its part of the {plain(known.text)}. {" ".join(finds)} Side by side, they are
        {plain(merge.text)}; the matrix W_O makes of them the {plain(result.text)}.""")


def self_attention(new=()) -> Diagram:
    """Attention of a sentence's words to one another, with learned projections and a residual connection."""
    words, title = NARROW_WORDS, "Self-attention"
    return attention(words, words, words, title=title, shapes=AMONG_WORDS, new=new)


def positions(new=()) -> Diagram:
    """Self-attention, and where positions can come in: added to the words, or by rotating queries and keys."""
    draw, tall = Sketch("Where positions come in", new), 196
    words = draw.data("words", "word\nvectors", 72, tall)
    added = draw.step("added", "either\nadd a\nposition", 76, tall)
    matrices = [draw.step("projections", f"*W*_{letter}", 40, 40) for letter in "QKV"]
    turns = [draw.step("turned", "or turn: by position", 84, 52) for _ in "qk"]
    score, softmax = draw.step("score", "score: *q* · *k*", 60), draw.step("softmax", "softmax", 70)
    total, context = draw.step("sum", "weighted\nsum", 82), draw.data("context", "context")
    row(words, added, matrices, [*turns, None], score, softmax, total, context, height=tall)
    score.span(0, turns[1].bottom + 2)
    softmax.at(softmax.centre, score.middle)
    total.span(softmax.y, tall)
    context.at(context.centre, total.middle)
    draw.chain(words, added, matrices, [*turns, total], words=["", "", ["", "", "*v*"]])
    draw.chain(turns, score, words=[["*q*", "*k*"]])
    draw.chain(score, softmax, total, context)
    return draw.diagram("""Self-attention: three matrices, W_Q, W_K and W_V, make queries q, keys k and values v of the
        word vectors. The score, q · k, and the softmax give weights, and the weighted sum of the values is the context.
        Positions can come in at two points: we either add a position to each word vector, before the matrices, or turn
        each query and each key, by position, after the matrices; then the values stay as they are.""")


def attention(
    queries=Q,
    keys=K,
    values=V,
    score=DOT,
    *,
    choices=(),
    masked=True,
    context="context",
    then="",
    title="Attention",
    shapes=SHAPES,
    new=(),
) -> Diagram:
    """Attention from its three inputs to the context; inputs with the same text are one box.

    If all three are the same, the matrices W_q, W_k and W_v come after them, and a residual connection bypasses
    everything. `choices` are functions that can replace the score, `context` is another name for the context, and
    `then` is what reads it.
    """
    texts, projected = dict(zip(ROLES, (queries, keys, values), strict=True)), queries == keys == values
    draw, wide, inputs = Sketch(title, new), 78 if projected else 118, {}
    for text, group in groupby(texts, texts.get):
        roles = [*group]
        box = draw.data(" ".join(roles), text, wide, 70 * len(roles) - 14)
        row(box, y=70 * ROLES.index(roles[0]))
        inputs |= dict.fromkeys(roles, box)
    read = [*inputs.values()]
    if projected:
        read = [draw.step("projections", f"*W*_{role[0]}", 44, 44) for role in ROLES]
        row(read, x=EDGE + wide + 24, height=196)
        draw.chain([*inputs.values()], read)
    compare, mask = draw.step("score", f"score: {score}", 72, 126), [draw.step("mask", "mask", 54)] if masked else []
    softmax, total = draw.step("softmax", "softmax", 74), draw.step("sum", "weighted\nsum", 82)
    reads = ("then" if then else "then context", then or context, 70, 56, "step" if then else "data")
    last = draw.step("residual", "+", 28, 28) if projected else draw.step(*reads)
    row(compare, *mask, softmax, total, last, x=read[1].right + 45, gap=[56, 18, 62, 60] if masked else [74, 62, 60])
    total.span(softmax.y, 196)
    last.at(last.centre, total.middle)
    if choices:
        boxes = [draw.step("choices", text, (INSIDE - 60) / 4, 32) for text in choices]
        row(*(boxes[i::4] for i in range(4)), x=EDGE + 12, y=-40 - 46 * -(-len(choices) // 4), gap=12)
        frame = draw.frame(boxes)
        draw.path((frame.x, frame.bottom), (compare.x, compare.y), dashed=True)
        draw.path((frame.right, frame.bottom), (compare.right, compare.y), dashed=True)
    for role, start, end, y in zip(ROLES, read, (compare, compare, total), (28, 98, 168), strict=True):
        draw.arrow(start, end, f"*{role[0]}*" * projected, shapes[role], at=y)
    words = ["scores", *[""] * masked, "weights", context if projected or then else ""]
    between = [shapes["scores"], *[""] * masked, shapes["scores"], shapes["context"]]
    draw.chain(compare, *mask, softmax, total, last, words=words, shapes=between)
    if projected or then:
        draw.path((last.right, last.middle), (WIDTH - EDGE + 6, last.middle))
    if projected:
        draw.arrow(inputs["queries"], last, "residual connection", over=220, name="residual")
    return draw.diagram(_attention_in_words(inputs, compare, masked, context, then, choices, shapes, projected))


def _attention_in_words(inputs, score, masked, context, then, choices, shapes, projected):
    queries, keys, values = (_with_article(plain(box.text)) for box in inputs.values())
    texts = [f"The {plain(score.text)} compares {queries} with {keys}."]
    if projected:
        texts = [f"Three learned matrices read {keys}: W_q makes the queries q, W_k the keys k and W_v the values v."]
        texts.append(f"The {plain(score.text)} compares the queries with the keys.")
    if choices:
        texts.append(f"In the place of the score there can be any of these: {', '.join(choices)}.")
    summed = "the values" if projected else "the same vectors" if keys == values else values
    mask = "The mask closes what may not be attended, and the" if masked else "The"
    texts.append(f"{mask} softmax turns the scores into weights.")
    texts.append(f"The weighted sum of {summed}, with these weights, is the {plain(context)}.")
    if projected:
        texts.append(f"A residual connection leads past all this to a +, which adds {keys} to the context.")
    elif then:
        texts.append(f"The {plain(context)} goes to the {plain(then)}.")
    return " ".join([*texts, "Shapes:", ", ".join(f"{name} {shape}" for name, shape in shapes.items()) + "."])


def _with_article(text):
    return text if text[1:2] in ("", " ", "_") else f"the {text}"  # a symbol has no article


def paths(new=()) -> Diagram:
    """The way from the first to the last of eight words in four kinds of layers, with its length."""
    draw, right = Sketch("Four ways from the first to the last word", new), 395
    ways = {  # by the panel's name: its note, its corner, its words' upper edge, and the columns passed from row to row
        "self-attention": ("1 layer", EDGE, 0, 106, [[0], [7]]),
        "recurrent": ("8 steps in one layer", right, 0, 106, [[0], [*range(8)]]),
        "convolution": ("3 layers, gaps 1, 2 and 4", EDGE, 158, 386, [[0], [1], [3], [7]]),
        "restricted, radius 2": ("4 layers", right, 158, 386, [[0], [2], [4], [6], [7]]),
    }
    for name, (note, x, top, bottom, columns) in ways.items():
        row(draw.data(name.split(",")[0], f"{name}: {note}", 331, 46), x=x, y=top, gap=0)
        before = None
        for level, passed in enumerate(columns):
            texts = [""] * 8 if level else "12345678"
            boxes = [draw.step("", text, 30, 22, "step" if i in passed else "data") for i, text in enumerate(texts)]
            row(*boxes, x=x, y=bottom - 40 * level, gap=13)
            draw.chain(*(boxes[i] for i in passed))
            if before:
                draw.arrow(before, boxes[passed[0]], over=before.y - 9)
            before = boxes[passed[-1]]
    notes = "; ".join(f"{name} ({note})" for name, (note, *_) in ways.items())
    return draw.diagram(f"""The shortest way from the first to the last of the words 1 2 3 4 5 6 7 8 is marked in four
        kinds of layers: {notes}. Self-attention goes there at once. The recurrent layer hands it on from word to word.
        A convolution of two words, each with a gap that doubles, passes the words 2 and 4. Restricted self-attention
        passes the words 3, 5 and 7.""")


def looking_back(source, given, output, new=(), after=False) -> Diagram:
    """One step of a decoder that looks back, before its step or after it: its state is the query to all the annotations."""
    title = "A decoder that looks back" + " after its step" * after
    draw, wide, height = Sketch(title, new), 74, 200
    states = [draw.data("annotations", f"*h*{'₁₂₃₄₅₆₇₈₉'[i]}", wide, 32) for i in range(len(source))]
    cells = [draw.step("encoder", "cells", wide, 48) for _ in source]
    read = [draw.data("source", word, wide, 32) for word in source]
    row(*columns_of(states, cells, read), height=height, gap=12)
    look = draw.step("attention", "attention: score, normalise, sum", max(cells[-1].right - EDGE, 200), 50)
    look.at(EDGE + look.width / 2, -40)
    query, cell = (
        draw.data("query", "query: *s*₂" if after else "query: *s*₁", 66, 54),
        draw.step("decoder", "cell", wide, 48),
    )
    word, written = draw.data("given", given, wide, 32), draw.data("target", output, wide, 32)
    readout, x = draw.step("readout", "readout", wide, 48), look.right + 40
    steps = [draw.data("state", "*s*₁", 40, 32), cell, query] if after else [query, cell]
    columns = [[None, step, word if step is cell else None] for step in (*steps, readout, written)]
    row(*columns, x=x, height=height)
    draw.chain(read, cells, states, look)
    for left, right in pairwise(cells):
        draw.arrow(left, right, at=left.middle - 9)
        draw.arrow(right, left, at=left.middle + 9)
    draw.arrow(query, look, over=look.middle + 13)
    draw.arrow(look, readout, "context" * after, over=look.middle - 13, role="context", name="context" * after)
    if not after:
        draw.arrow(look, cell, "context", over=look.middle - 13, name="context")
    draw.chain(*steps, readout, written, words=["", "" if after else "*s*₂"])
    draw.arrow(word, cell)
    reads = f"{given} and the state s₁" if after else f"{given}, that state and the context"
    return draw.diagram(f"""The encoder's cells read {", ".join(source)} in both directions and say of each word
        {", ".join(plain(state.text) for state in states)}. The attention (score, normalise, sum) compares all of these
        with the {plain(query.text)}, which is the decoder's state{" after the step" * after}, and returns the
        context. The decoder's next cell reads {reads}. The readout makes the word {output} of the cell's new state s₂ and
        the context.""")


def soft_and_hard(new=()) -> Diagram:
    """From scores to what is read, softly or by a draw, and what each sends back to the scores."""
    draw = Sketch("Soft and hard attention", new)
    scores, softmax = draw.data("scores", "scores *z*", 100, 48), draw.step("softmax", "softmax: *p*", 100)
    total = draw.step("sum", "weighted sum: *p*_1 *v*_1 + … + *p*_S *v*_S", 172)
    pick = draw.step("draw", "draw *k*: with probability *p*_k", 172)
    soft = draw.data("soft", "soft attention: a mean of all", 164)
    hard = draw.data("hard", "hard attention: *v*_k, with reward *R*_k", 164)
    row(scores, softmax, [total, pick], [soft, hard], height=170)
    draw.chain(scores, softmax, [total, pick], [soft, hard])
    draw.arrow(soft, scores, "a gradient, by PyTorch", over=soft.y - 15, name="gradient")
    draw.arrow(hard, scores, "an estimate from *k* and *R*_k", over=hard.bottom + 21, name="estimate")
    return draw.diagram("""The scores z become weights by a softmax (p). Above, soft attention (a mean of all) reads a
        weighted sum of the values (p_1 v_1 + … + p_S v_S), and PyTorch sends a gradient back to the scores. Below, a
        draw k (with probability p_k) picks one position, and hard attention (v_k, with reward R_k) reads the value
        there alone. No gradient passes the draw: an estimate from k and R_k comes back to the scores.""")


def transformer(new=(), paper_names=False) -> Diagram:
    """The whole Transformer: encoder above, decoder below, their residual streams as lines, attention layers beside them.

    With `paper_names`, the names in Figure 1 of Vaswani et al. (2017) are in italics beside the parts, unless some are new:
    there is no room for both names and badges.
    """
    draw = Sketch("The Transformer, with the names of the paper" if paper_names else "The Transformer", new)
    memory, readout = draw.data("memory", "memory", 76), draw.step("readout", "readout: next word", 76, 48)
    _draw_stack(draw, "source", {"encoder": "self-attention"}, 0, memory)
    _, cross, _ = _draw_stack(draw, "target\nso far", {"causal": CAUSAL, "cross": CROSS}, 256, readout)
    draw.arrow(memory, cross, "keys and values", over=102, name="memory")
    target = next(box for box in draw.boxes if box.text == "target\nso far")
    draw.arrow(readout, target, "the next word is appended", over=356, name="readout")
    names = PAPER_NAMES if paper_names and not new else ()
    for text, centre, middle in names:
        draw.note(text).at(centre, middle)
    of_paper = ", ".join(plain(text) for text, *_ in names)
    return draw.diagram(f"""Above, the words of the source get an embedding + positions. A thick line leads on through N
        layers: one residual stream. Beside it are self-attention and feed-forward: each reads the stream through its
        norm, f(norm(x)), and at a + its result is added to the stream. A norm follows the last layer, and the result is
        the memory. Below, the words of the target so far get an embedding + positions, too. Their residual stream leads
        through N layers of causal self-attention, attention to the source and feed-forward, each f(norm(x)), added at a
        +, and again to a norm after the last. The attention to the source takes its keys and values from the memory.
        The readout gives probabilities of the next word. An arrow leads from it back to the target so far: the next
        word is appended.{f" The paper's names, from left to right, above and below: {of_paper}." * bool(names)}""")


def decoder_only(new=(), llama=False) -> Diagram:
    """The decoder of a Transformer without a source: a small GPT, or Llama 3 8B with modern parts."""
    draw = Sketch("Llama 3 8B" if llama else "A decoder without a source", new)
    readout = draw.step("readout", "readout: next piece" if llama else "readout: next character", 104, 48)
    if llama:
        _draw_stack(draw, "text\nso far", {"causal": LLAMA}, 0, readout, "SwiGLU", "RMSNorm", "embedding")
        return draw.diagram("""The pieces of the text so far get an embedding. A thick line leads on through N layers: one
            residual stream. Beside it are causal attention, rotary, 8 groups, and SwiGLU: each reads the stream through
            its RMSNorm, f(RMSNorm(x)), and at a + its result is added to the stream. An RMSNorm follows the last layer.
            The readout gives logits of the next piece.""")
    _draw_stack(draw, "text\nso far", {"causal": CAUSAL}, 0, readout)
    text = next(box for box in draw.boxes if box.text == "text\nso far")
    draw.arrow(readout, text, "the next character is appended", over=100)
    return draw.diagram("""The characters of the text so far get an embedding + positions. A thick line leads on through
        N layers: one residual stream. Beside it are causal self-attention and feed-forward: each reads the stream
        through its norm, f(norm(x)), and at a + its result is added to the stream. A norm follows the last layer. The
        readout gives logits of the next character. An arrow leads from it back to the text so far: the next character
        is appended.""")


def _draw_stack(
    draw, read, attentions, middle, last, feed_forward="feed-forward", norm="norm", embedding="embedding: + positions"
):
    """Draw one side of a Transformer with pre-norm, from what it reads to the box `last`; return its functions' boxes.

    Its residual stream runs at the height `middle`, below its functions, which read it and add to it.
    """
    first, embedding = draw.data("input", read, 62, 48), draw.step("embedding", embedding, 98, 48)
    row(first, embedding, y=middle - 24, gap=12)
    texts = attentions | {"feed-forward": feed_forward}
    wider = 22 if norm == "RMSNorm" else 0
    functions = [draw.step(name, f"{text}: *f*({norm}(*x*))", 116 + wider, 64) for name, text in texts.items()]
    row(*functions, x=214, y=middle - 100, gap=10)
    for function in functions:
        draw.path((function.x + 22, middle), (function.x + 22, function.bottom))
        draw.arrow(function, draw.step("+", "+", 24, 24).at(function.right - 22, middle))
    count = draw.data("layers", "*N* layers: one residual stream", functions[-1].right - 214, 44)
    row(count, x=214, y=middle + 20)
    norm = draw.step("norm", norm, 48 + 2 * wider, 40)
    row(norm, last, x=draw.frame([*functions, count], 10).right + 12, y=middle - 24, gap=12)
    draw.arrow(embedding, norm, stream=True)
    draw.chain([first, norm], [embedding, last])
    return functions


def sublayers(new=()) -> Diagram:
    """A function with its residual connection and its norm: post-norm above, pre-norm below."""
    draw = Sketch("Where the norm goes", new)
    for name, y in (("post", 0), ("pre", 128)):
        label, x = draw.step(name, f"{name}-norm", 96, 40, "frame"), draw.data(name, "*x*", 44, 40)
        function, plus = draw.step(name, "*f*: attention, or feed-forward", 210), draw.step(name, "+", 28, 28)
        norm, result = draw.step(name, "norm", 96, 48), draw.data(name, "result", 72, 40)
        order = (function, plus, norm) if name == "post" else (norm, function, plus)
        row(label, x, *order, result, y=y)
        draw.chain(x, *order, result)
        draw.arrow(x, plus, "residual connection", over=y + 80, name=name)
    return draw.diagram("""Above, post-norm: x goes through f (attention, or feed-forward), a residual connection leads
        past f to a +, which adds x, and a norm follows; what comes out is the result. Below, pre-norm: x goes through a
        norm and then through f (attention, or feed-forward); the residual connection leads past both to a +, which adds
        x, and its sum is the result.""")


def recurrent_attention(new=()) -> Diagram:
    """The recurrent attention model: a sensor sees a part of a picture, a state remembers it and says where to look."""
    draw = Sketch("The recurrent attention model", new)
    picture, sensor = draw.data("picture", "picture"), draw.step("sensor", "sensor: patches", 84)
    what = draw.step("glimpse", "glimpse\nnetwork: what, where", 104)
    core, action = draw.step("core", "core: state *h*_t", 92, 62), draw.step("action", "action\nnetwork", 76)
    aim, answer = draw.step("aim", "location\nnetwork: mean *μ*", 92), draw.data("answer", "answer", 68, 40)
    location = draw.data("location", "next\nlocation: drawn near *μ*", sensor.width)
    row([picture, None], [sensor, location], [what, None], [core, aim], [action, None], [answer, None], height=226)
    location.width = 178  # so that it is also below the glimpse network
    draw.chain(picture, sensor, what, core, action, answer, shapes=["", "B P", "B D", "B D", "B V"])
    draw.chain(core, aim, location, [sensor, what], shapes=["", "B 2"])
    left, right, above = core.x + 24, core.right - 24, core.y - 27
    draw.path((right, core.y), (right, above), (left, above), (left, core.y))
    return draw.diagram("""The sensor cuts patches out of the picture around a location. The glimpse network joins what,
        where: what is seen, and where it is. The core takes this up into its state h_t, and passes it on to itself for
        the next glimpse. The location network gives a mean μ, and the next location is drawn near μ. It goes back to
        the sensor and to the glimpse network. After the last glimpse the action network gives the answer.""")


def memory_hops(new=()) -> Diagram:
    """A memory network: each hop compares the question with a memory of the facts, and adds what it reads."""
    draw = Sketch("A memory network", new)
    facts = draw.data("facts", "facts: each embedding makes one vector of every fact", INSIDE, 40)
    question, readout = draw.data("question", "question: *u*", 92), draw.step("readout", "readout", 110)
    hops = [draw.step("hop", f"hop {i}: attend, add", 171) for i in (1, 2)]
    first, last = draw.data("memories", "*M*⁰: keys of hop 1", 112), draw.data("memories", "*M*²: values of hop 2", 112)
    between = draw.data("memories", "*M*¹: values of hop 1, keys of hop 2", 204)
    row(question, *hops, readout, y=170)
    row(first, between, last, x=hops[0].x - 18, y=62, gap=4)
    draw.chain(facts, [first, between, last])
    draw.arrow(first, hops[0], at=first.centre)
    draw.chain(between, hops)
    draw.arrow(last, hops[1], at=last.centre)
    draw.chain(question, *hops, readout, words=["", "*u*′", "*u*″"])
    return draw.diagram("""The facts: each embedding makes one vector of every fact, M⁰ (keys of hop 1), M¹ (values of hop 1,
        keys of hop 2) or M² (values of hop 2). The question becomes u. In each of 2 hops (attend, add), the question so far is compared with one memory, the keys; what is read from the next memory, the values,
        is added to it. The readout turns the last sum into an answer.""")


def captioner(new=()) -> Diagram:
    """One step of a captioner: attention over the cells of a picture, a gate, and an LSTM that reads what passes."""
    draw = Sketch("Show, Attend and Tell", new)
    cells = draw.data("annotations", "annotations: one per cell", 116, 72)
    state, after = draw.data("state", "state: before a word", 116, 80), draw.data("after", "new\nstate", 62, 48)
    score, total = draw.step("score", "perceptron: softmax", 108, 52), draw.step("sum", "weighted\nsum", 86, 80)
    times, gate = draw.step("times", "×", 32, 32), draw.step("gate", "gate: *β*, 0 to 1", 88, 48)
    word, cell = draw.data("word", "previous word", 122, 36), draw.step("LSTM", "LSTM", 54, 230)
    logits = draw.data("logits", "next\nword", 62)
    columns = [cells, state, None], [score, None, None], [total, None, None], [times, gate, word]
    row(*columns, cell, [logits, after, None], height=264, gap=[44, 62, 4, 36, 26])
    score.at(score.centre, total.bottom - 24)
    draw.arrow(cells, total, "values", at=cells.y + 12)
    draw.arrow(cells, score, "keys", at=cells.bottom - 6)
    draw.arrow(score, total, "weights", at=score.middle)
    draw.arrow(state, score, over=state.y + 12)
    draw.arrow(state, cell, at=state.bottom - 6)
    draw.chain(state, gate, times)
    draw.chain(total, times, cell, words=["", "context"])
    draw.chain(word, cell, after, logits)
    fork, above, below, right = cell.x - 10, cell.y - 22, cell.bottom + 16, logits.right + 10
    draw.path((fork, times.middle), (fork, above), (logits.centre, above), (logits.centre, logits.y))
    around = (fork, below), (right, below), (right, logits.middle), (logits.right, logits.middle)
    draw.path((fork, word.middle), *around)
    return draw.diagram("""The state (before a word) is compared with the annotations (one per cell) by a perceptron
        (softmax); these weights make the weighted sum of the values, which are the annotations again. From the state
        also comes a gate (β, 0 to 1). The weighted sum × the gate is the context. An LSTM makes the new state of the
        state, the context and the previous word. New state, context and previous word give the next word.""")


def turing_machine(new=()) -> Diagram:
    """A neural Turing machine: a controller, and two heads that write to a memory and read it."""
    draw = Sketch("A neural Turing machine", new)
    given, output = draw.data("given", "given: now", 92), draw.data("said", "output: now", 92)
    controller = draw.step("controller", "controller: an LSTM", 336)
    write = draw.step("write", "write head: weights *w*, erase *e*, add *a*", 200)
    read = draw.step("read", "read head: weights *w*", 120)
    memory = draw.data("memory", "memory *M*: *N* positions", 336)
    row(given, controller, output)
    row(write, read, x=controller.x, y=90, gap=16)
    row(memory, x=controller.x, y=180)
    draw.chain(given, controller, output)
    draw.chain(controller, write, memory, read)
    draw.arrow(controller, read, at=read.centre - 30)
    draw.arrow(read, controller, at=read.centre + 30)
    draw.arrow(read, output, over=read.y + 10)
    for side, away in ((write.x, -1), (read.right, 1)):
        start, far, low, high = side + 8 * away, side + 78 * away, read.middle + 18, read.middle - 4
        draw.path((side, low), (start, low), (far, low), (far, high), (side, high), words="old *w*")
    return draw.diagram("""At each step the controller, an LSTM, gets what is given now and what was read before. It
        steers two heads, and each also gets its old w, from the step before. The write head (weights w, erase e, add a)
        changes some of the N positions of the memory M. Then the read head (weights w, its own) reads; what it reads
        goes to the output now, and back to the controller for the next step.""")


def addressing(new=()) -> Diagram:
    """The four steps from a controller's commands to the weights of a head."""
    draw = Sketch("Where a head goes", new)
    texts = ("key *k*,\nstrength *β*", "gate *g*", "kernel *s*", "sharpness *γ*")
    said = [draw.data("said", text, 108, 56) for text in texts]
    steps = [draw.step(name, name, 108) for name in ("content", "gate", "shift", "sharpen")]
    there = [draw.data("there", text, 108) for text in ("memory *M*", "old weights\n*w*_before")]
    weights = draw.data("weights", "weights *w*", 100)
    row(*columns_of(said, steps, [*there, None, None]), [None, weights, None], height=244)
    draw.chain(*steps, weights, words=["*w*_c", "*w*_g", "*w̃*", "*w*"])
    draw.chain(said, steps)
    draw.chain(there, steps[:2])
    return draw.diagram("""The controller says key k, strength β, gate g, kernel s and sharpness γ. First come weights
        by content, w_c: the memory M is compared with the key. The gate mixes them with the old weights w_before, which
        gives w_g. The shift moves these along the positions by the kernel, which gives w̃, and sharpening them by γ
        gives the weights w of the head.""")


def best_experts(scores, weights, new=()) -> Diagram:
    """How an input asks its best experts: scores and weights, N each; experts with a weight of 0 are not asked."""
    draw, points, shares, experts, sentences = Sketch("Asking the best experts", new), [], [], [], []
    for i, (score, weight) in enumerate(zip(scores, weights, strict=True), 1):
        points.append(draw.data("scores", f"score {i}: {score:.1f}".replace("-", "−"), 98, 46))
        shares.append(draw.data("weights", f"weight {i}: {weight:.2f}", 88, 46))
        text, kind = (f"expert {i}", "step") if weight > 0 else (f"expert {i}: not asked", "frame")
        experts.append(draw.step("experts", text, 98, 46, kind))
        verb = "is asked" if weight > 0 else "is not asked, and learns nothing"
        sentences.append(f"{plain(points[-1].text)} gives {plain(shares[-1].text)}, so expert {i} {verb}")
    used = [i for i, expert in enumerate(experts) if expert.kind == "step"]
    tall, empty = 60 * len(experts) - 14, [None] * len(experts)
    read, total = draw.data("input", "input: *x*", 76, 46), draw.step("sum", "weighted\nsum", 84, 2 * tall + 14)
    keep = draw.step("best", f"softmax: of the\nlargest {len(used)}", 110, tall)
    row(read, points + experts, [keep, None], shares + empty, total)
    draw.chain(read, points, keep, shares)
    for i in used:
        draw.chain(read, experts[i], total)
        draw.arrow(shares[i], total)
    return draw.diagram(f"""The gate reads the {plain(read.text)} and gives each expert a score. The {plain(keep.text)}
        scores makes weights of them: {"; ".join(sentences)}. The experts that are asked read the input, too. The answer
        is the weighted sum of what they give.""")


def switch_layer(new=()) -> Diagram:
    """A Transformer's layer with a switch of three experts instead of its feed-forward network."""
    draw = Sketch("A layer with a switch", new)
    token, attend = draw.data("token", "token"), draw.step("attention", "attention: *x* + *f*(norm(*x*))", 116, 68)
    norm, gate = draw.step("norm", "norm", 50), draw.step("gate", "gate: softmax", 80, 48)
    experts = [draw.step("experts", f"expert {i}", 88, 40, "step" if i == 2 else "frame") for i in (1, 2, 3)]
    factor, plus = draw.step("factor", "× *p*₂", 50, 40), draw.step("plus", "+", 28, 28)
    result = draw.data("result", "result")
    row(token, attend, norm, [gate, *experts, None], factor, plus, result)
    draw.chain(token, attend, norm, experts[1], factor, plus, result)
    draw.arrow(norm, gate)
    draw.arrow(gate, factor, "*p*₂", over=gate.middle)
    fork, under = (attend.right + norm.x) / 2, experts[2].bottom + 30
    way = (fork, plus.middle), (fork, under), (plus.centre, under), (plus.centre, plus.bottom)
    draw.path(*way, words="residual connection", name="residual")
    return draw.diagram("""A token goes through attention, x + f(norm(x)), and a norm, as before. The gate reads it, and
        a softmax gives a probability to expert 1, expert 2 and expert 3. Here p₂ is the largest, so expert 2 alone reads
        the token, and what it gives is multiplied by this probability (× p₂). A residual connection leads past all
        this to a +; the sum is the result.""")


def three_parts(new=()) -> Diagram:
    """Attention as a score, a normaliser and a memory, and what lesson 20 replaces each with."""
    draw = Sketch("Three parts of an attention", new)
    given, context = draw.data("given", "query, keys,\nvalues", 110), draw.data("context", "context")
    score = draw.step("score", "score: *q* · *k* / √*D*", 128)
    memory = draw.step("memory", "memory: all keys\nand values", 116, 68)
    normaliser = draw.step("normaliser", "normaliser: softmax", 116)
    row(given, score, normaliser, memory, context, gap=[28, 56, 64, 30])
    in_all = "linear attention: *φ*(*q*) · *φ*(*k*), divided by its sum; two sums instead of all keys and values"
    without = "delta rule: no scores and no weights; *q* reads a matrix that is overwritten"
    linear = draw.data("linear", in_all, 534, 48).at(WIDTH / 2 + 9, 210)
    delta = draw.data("delta", without, 534, 48).at(WIDTH / 2 + 9, 278)
    places = (
        (score, "alibi", "ALiBi: score −\nslope × distance", 148),
        (normaliser, "sparsemax", "sparsemax: score − τ,\nor 0 if that is less", 138),
    )
    for part, *instead in places:
        draw.arrow(part, draw.data(*instead, 64).at(part.centre - 26, 128), at=part.centre - 10, dashed=True)
    for part in (score, normaliser, memory):
        draw.arrow(part, linear, at=part.right - 6, dashed=True)
        draw.arrow(linear, delta, at=part.right - 6, dashed=True)
    draw.chain(given, score, normaliser, memory, context, words=["", "scores", "weights"])
    draw.arrow(given, memory, over=-32)
    return draw.diagram("""First come query, keys, values. They lead to the score (q · k / √D); the scores to the
        normaliser (softmax); its weights read the memory (all keys and values), into which keys and values go; what is
        read is the context. In the place of the score there can be ALiBi (score − slope × distance), of the normaliser
        sparsemax (score − τ, or 0 if that is less). In the place of all three there can be linear attention (φ(q) ·
        φ(k), divided by its sum; two sums instead of all keys and values), or the delta rule (no scores and no
        weights; q reads a matrix that is overwritten).""")


def snail(new=()) -> Diagram:
    """SNAIL in four steps: a convolution joins each step with the one before it, and attention weighs all of them."""
    draw, width = Sketch("SNAIL", new), 136
    texts = ("A, no label", "B, label of A", "C, label of B", "A, label of C")
    read = [draw.data("read", f"step {t}: {text}", width, 54) for t, text in enumerate(texts)]
    texts = ("A", "B; A and its label", "C; B and its label", "A; C and its label")
    joint = [draw.step("convolution", f"*z*{'₀₁₂₃'[t]}: {text}", width, 54) for t, text in enumerate(texts)]
    row(*columns_of(joint, read), y=72, height=202, gap=16)
    attend = draw.step("attention", "attention of step 3: to all steps so far", joint[3].right - EDGE, 50)
    answer = draw.data("answer", "answer: label of A", 102, 50)
    row(attend, answer)
    draw.chain(read, joint)
    draw.chain([joint[0], *joint[2:]], attend, answer)
    draw.arrow(joint[1], attend, stream=True)
    low, turn, high = read[0].y, (read[0].y + joint[0].bottom) / 2, joint[0].bottom
    for before, now in pairwise(box.centre for box in read):
        draw.path((before + 34, low), (before + 34, turn), (now - 34, turn), (now - 34, high))
    return draw.diagram("""Four steps read a picture and the label before: step 0 reads A, no label; step 1 B, label of
        A; step 2 C, label of B; step 3 A, label of C. A convolution joins each step with the one before it: z₀ holds A,
        z₁ B; A and its label, z₂ C; B and its label, z₃ A; C and its label. The attention of step 3 goes to all steps
        so far. It finds A at z₁ (thick arrow), and so the answer is the label of A.""")


def _box_text(first, others):
    return "\n".join([first, *others]).replace(":\n", ": ")
