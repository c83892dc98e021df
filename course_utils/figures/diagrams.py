"""The course's drawn diagrams: what a mechanism is made of, and what of it is new in a lesson.

Each function returns a `Diagram`, which a notebook shows and which says in words what it shows. Texts may hold *x* for a
variable and _q for a letter below the line; in a box a line may break, and what follows a colon is set smaller.
Not here: how boxes and arrows become a picture (`drawing.py`).
"""

from itertools import groupby

from course_utils.figures.drawing import EDGE, WIDTH, Arrow, Box, Diagram, highlighted, joined, plain

ROWS = {"queries": 48, "keys": 118, "values": 188}  # the middle of each input's row, in pixels from the top
HALF, CHAIN, BELOW = 28, 83, 240  # half a row's height; the middle of what leads to the weights; the residual's line
SHAPES = {"queries": "B T D", "keys": "B S D", "values": "B S E", "scores": "B T S", "context": "B T E"}
ONE_QUERY = {"queries": "D", "keys": "B S D", "values": "B S D", "scores": "B S", "context": "B D"}
AMONG_WORDS = ONE_QUERY | {"queries": "B S D", "scores": "B S S", "context": "B S D"}
WORDS, NARROW_WORDS = "word vectors: *x*₁ *x*₂ *x*₃", "word\nvectors: *x*₁ *x*₂ *x*₃"
EIGHT_SCORES = (
    *("dot", "scaled dot", "content-based", "general"),
    *("additive", "perceptron", "concatenating", "location-based"),
)


def bag_of_words(new=()) -> Diagram:
    """From words to a probability: the vectors' sum, a score, the logistic sigmoid."""
    words, vectors = [], []
    for i, word in enumerate(("not", "really", "great")):
        words.append(Box("words", word, EDGE, 18 + 52 * i, 86, 38, "data"))
        vectors.append(Box("vectors", f"*x*{'₁₂₃'[i]}", 154, 18 + 52 * i, 58, 38, "data"))
    total = Box("sum", "Σ: sum", 266, 18, 70, 142)
    score = Box("score", "score: *w* · *x* + *b*", 402, 60, 104, 58)
    squash = Box("sigmoid", "*σ*: sigmoid", 552, 60, 74, 58)
    chance = Box("probability", "*p*: probability", 656, 60, 84, 58, "data")
    arrows = [joined(word, vector, word.middle) for word, vector in zip(words, vectors, strict=True)]
    arrows += [joined(vector, total, vector.middle) for vector in vectors]
    arrows += [joined(total, score, 89, "*x*", "B D"), joined(score, squash, 89, "", "B"), joined(squash, chance, 89)]
    in_words = (
        "Each of the words not, really and great becomes a vector: x₁, x₂ and x₃. The sum Σ adds the vectors up to one vector x. "
        "From it comes a score, w · x + b, and the sigmoid σ turns the score into the probability p."
    )
    return _diagram("A bag of words", in_words, [*words, *vectors, total, score, squash, chance], arrows, new)


def fixed_attention(new=()) -> Diagram:
    """Attention whose query is one learned vector θ, up to the output layer."""
    score, after = "*x* · *θ*", "output\nlayer"
    return attention(
        "*θ*: learned", WORDS, WORDS, score, then=after, title="Fixed attention", shapes=ONE_QUERY, new=new
    )


def several_attentions(count=2, new=()) -> Diagram:
    """Several fixed attentions over the same words: their contexts are joined end to end for one linear layer."""
    height = 70 * count - 14
    words = Box("words", WORDS, EDGE, 20, 112, height, "data")
    chain = [Box("concatenate", "concatenate", 406, 20, 108, height), Box("linear", "linear\nlayer", 576, 0, 70, 56)]
    chain.append(Box("sigmoid", "*σ*", 690, 0, 50, 50))
    chain = [box._replace(y=20 + (height - box.height) / 2) for box in chain]
    boxes, arrows, sentences = [], [], []
    for i, number in enumerate("₁₂₃₄₅₆₇₈"[:count]):
        boxes.append(Box("attentions", f"attention {i + 1}: *θ*{number}, learned", 178, 20 + 70 * i, 136, 56))
        arrows.append(joined(words, boxes[i], boxes[i].middle, "", "B S D"))
        arrows.append(joined(boxes[i], chain[0], boxes[i].middle, f"context *c*{number}", "B D"))
        sentences.append(f"{plain(boxes[i].text)} gives the context c{number}")
    arrows.append(joined(chain[0], chain[1], words.middle, "", f"B {count}D"))
    arrows.append(joined(chain[1], chain[2], words.middle, "", "B"))
    in_words = (
        f"Each of {count} attentions reads the same {plain(WORDS)}: {', '.join(sentences)}. We concatenate these contexts "
        "into one vector. A linear layer turns it into a score, and σ turns the score into a probability."
    )
    return _diagram("Several attentions", in_words, [words, *boxes, *chain], arrows, new)


def several_heads(words, asking, query, weights, contexts, output, new=()) -> Diagram:
    """Attention with two heads for one word: its query is split, each half attends by itself, and the contexts are merged and projected.

    `asking` is that word's place among the `words`. `query` and `output` hold its numbers as texts, D each, `contexts` those of each head,
    and `weights` what each head gives to each word.
    """
    rows, middle, half = (66, 238), 152, len(query) // 2
    asks = Box("query", f"query: of {words[asking]}\n" + "\n".join(query), EDGE, middle - 62, 76, 124, "data")
    known = Box("known", "keys and values: of all words, split too", 214, middle - 27, 168, 54, "data")
    parts, heads, found = [], [], []
    for h, (y, shares, context) in enumerate(zip(rows, weights, contexts, strict=True)):
        numbers = "\n".join(query[h * half : (h + 1) * half])
        parts.append(Box("split", f"part {h}: {numbers}", 136, y - 36, 60, 72, "data"))
        lines = "\n".join(f"{word} {share:.2f}" for word, share in zip(words, shares, strict=True))
        heads.append(Box("heads", f"head {h}: {lines}", 240, y - 44, 116, 88))
        numbers = "\n".join(context)
        found.append(Box("contexts", f"context {h}: {numbers}", 398, y - 36, 88, 72, "data"))
    merged = "\n".join(number for context in contexts for number in context)
    merge = Box("merge", f"merged: {merged}", 526, middle - 56, 72, 112, "data")
    project = Box("project", "*W*_O", 620, middle - 24, 40, 48)
    result = Box("output", "output: " + "\n".join(output), 680, middle - 56, 60, 112, "data")
    arrows = []
    for y, part, head, context in zip(rows, parts, heads, found, strict=True):
        up = y < middle
        arrows.append(Arrow(((asks.right, middle), (116, middle), (116, y), (part.x, y))))
        arrows += [joined(part, head, y), joined(head, context, y)]
        side = 298
        ends = ((side, known.y), (side, y + 44)) if up else ((side, known.y + known.height), (side, y - 44))
        arrows.append(Arrow(ends))
        arrows.append(Arrow(((context.right, y), (508, y), (508, middle), (merge.x, middle))))
    arrows += [joined(merge, project, middle), joined(project, result, middle)]
    in_words = (
        f"The {plain(asks.text)} is split into {' and '.join(plain(part.text) for part in parts)}. "
        + f"Each head also has its part of the {plain(known.text)}. "
        + " ".join(
            f"With the weights of {plain(head.text)}, it finds {plain(context.text)}."
            for head, context in zip(heads, found, strict=True)
        )
        + f" Side by side, they are {plain(merge.text)}; the matrix W_O makes of them the {plain(result.text)}."
    )
    boxes = [asks, known, *parts, *heads, *found, merge, project, result]
    return _diagram("Split, attend, merge", in_words, boxes, arrows, new)


def self_attention(new=()) -> Diagram:
    """Attention of a sentence's words to one another, with learned projections and a residual connection."""
    words, title = NARROW_WORDS, "Self-attention"
    return attention(words, words, words, projected=True, title=title, shapes=AMONG_WORDS, new=new)


def same_words(names, words, projections, scores, weights, contexts, new=()) -> Diagram:
    """Self-attention in numbers: one matrix of words, a row for each of three `names`, gives queries, keys and values.

    `words`, `contexts` and the three `projections` are T×d, `scores` and `weights` T×T.
    """
    tall, rows = 88, dict(zip("QKV", (64, 162, 260), strict=True))
    read = Box("words", "*X*: " + _named(names, words), EDGE, rows["K"] - 50, 108, 100, "data")
    matrices = [Box("projections", f"*W*_{letter}", 160, y - 20, 44, 40) for letter, y in rows.items()]
    made = [
        Box(role, f"*{letter}*: " + _named(names, matrix), 228, rows[letter] - tall / 2, 100, tall, "data")
        for role, letter, matrix in zip(ROWS, rows, projections, strict=True)
    ]
    queries, keys, values = made
    middle, across = (rows["Q"] + rows["K"]) / 2, "*Q K*ᵀ / √*d*: "
    height = rows["K"] - rows["Q"] + tall
    score = Box("scores", across + "\n".join(map(_short, scores)), 352, middle - height / 2, 106, height)
    attend = Box("weights", "softmax: " + "\n".join(_listed(row, 2) for row in weights), 486, middle - 50, 128, 100)
    top = attend.y
    total = Box("contexts", "contexts: " + _named(names, contexts), 642, top, 98, rows["V"] + tall / 2 - top)
    arrows = []
    for matrix, result in zip(matrices, made, strict=True):
        y = matrix.middle
        bend = () if y == read.middle else ((144, read.middle), (144, y))
        arrows += [Arrow(((read.right, read.middle), *bend, (matrix.x, y))), joined(matrix, result, y)]
    arrows += [joined(queries, score, queries.middle), joined(keys, score, keys.middle)]
    arrows += [joined(score, attend, middle), joined(attend, total, middle), joined(values, total, values.middle)]
    in_words = (
        f"Everything comes from one matrix, {plain(read.text)}, a row for each word. The matrices W_Q, W_K and W_V make of it the queries, {plain(queries.text)}, the keys, "
        f"{plain(keys.text)}, and the values, {plain(values.text)}. Queries and keys give the scores, {plain(score.text)}; their {plain(attend.text)} are the weights, "
        f"and the sums of the values with these weights are the {plain(total.text)}."
    )
    boxes = [read, *matrices, *made, score, attend, total]
    return _diagram("Queries, keys and values of the same words", in_words, boxes, arrows, new)


def _named(names, rows):
    return "\n".join(f"{name} {_short(row)}" for name, row in zip(names, rows, strict=True))


def _short(numbers):
    return ", ".join(f"{number:.2g}".replace("-", "−") for number in numbers.tolist())


def positions(new=()) -> Diagram:
    """Self-attention, and the two points at which it can be told the order: added to the words, or by turning queries and keys."""
    low, high = ROWS["queries"] - HALF, ROWS["values"] + HALF
    words = Box("words", "word\nvectors", EDGE, low, 70, high - low, "data")
    added = Box("added", "either\nadd a\nposition", 112, low, 76, high - low)
    matrices = {role: Box("projections", f"*W*_{role[0]}", 212, y - 20, 40, 40) for role, y in ROWS.items()}
    turns = {role: Box("turned", "or turn: by position", 278, ROWS[role] - 26, 84, 52) for role in ("queries", "keys")}
    score = Box("score", "score: *q* · *k*", 392, low, 60, ROWS["keys"] + HALF - low)
    softmax = Box("softmax", "softmax", 474, CHAIN - 24, 70, 48)
    total = Box("sum", "weighted\nsum", 566, CHAIN - 24, 82, high - CHAIN + 24)
    context = Box("context", "context", 668, total.middle - 24, 72, 48, "data")
    arrows = [joined(words, added, (low + high) / 2)]
    arrows += [joined(added, matrices[role], y) for role, y in ROWS.items()]
    for role, turn in turns.items():
        arrows += [joined(matrices[role], turn, ROWS[role]), joined(turn, score, ROWS[role], f"*{role[0]}*")]
    arrows.append(joined(matrices["values"], total, ROWS["values"], "*v*"))
    arrows += [joined(score, softmax, CHAIN), joined(softmax, total, CHAIN), joined(total, context, total.middle)]
    in_words = (
        "Self-attention: three matrices, W_q, W_k and W_v, make queries q, keys k and values v of the word vectors. The score, q · k, and the softmax give weights, "
        "and the weighted sum of the values is the context. Positions can come in at two points: we either add a position to each word vector, before the matrices, "
        "or turn each query and each key, by position, after the matrices; then the values stay as they are."
    )
    boxes = [words, added, *matrices.values(), *turns.values(), score, softmax, total, context]
    return _diagram("Where positions come in", in_words, boxes, arrows, new)


def attention(
    queries="queries: *Q*",
    keys="keys: *K*",
    values="values: *V*",
    score="*q* · *k*",
    *,
    choices=(),
    projected=False,
    then="",
    title="Attention",
    shapes=SHAPES,
    new=(),
) -> Diagram:
    """Attention from its three inputs to the context; inputs with the same text are one box.

    `choices` are the functions that can be in the score's place. `projected` puts the matrices W_q, W_k and W_v behind
    the inputs and a residual connection around it all. `then` is what reads the context. `new` names parts to highlight.
    """
    top = 52 + 44 * -(-len(choices) // 4) if choices else 0
    inputs = _inputs((queries, keys, values), top, 78 if projected else 118)
    read = _matrices(top) if projected else inputs
    steps = _steps(read["keys"].right + (46 if projected else 44), top, score, then, projected)
    opened, dashes = _opened(choices, steps[0])
    arrows = _into(inputs, read, steps, top, shapes, projected) + _onward(inputs, steps, top, shapes)
    boxes = [*dict.fromkeys([*inputs.values(), *read.values()]), *steps, *opened]
    return _diagram(title, _in_words(inputs, steps, choices, shapes, projected), boxes, dashes + arrows, new)


def paths(new=()) -> Diagram:
    """The way from the first to the last of eight words in four kinds of layers, with its length."""
    words, wide, step, tall, rise = 8, 30, 43, 22, 40
    ways = {  # by the panel's name: its note, its corner, and the columns that the way passes, from row to row
        "self-attention": ("1 layer", EDGE, 20, [[0], [7]]),
        "recurrent": ("8 steps in one layer", 395, 20, [[0], [*range(8)]]),
        "convolution": ("3 layers, gaps 1, 2 and 4", EDGE, 178, [[0], [1], [3], [7]]),
        "restricted, radius 2": ("4 layers", 395, 178, [[0], [2], [4], [6], [7]]),
    }
    boxes, arrows = [], []
    for name, (note, left, top, columns) in ways.items():
        boxes.append(Box(name.split(",")[0], f"{name}: {note}", left, top, step * words - 13, 46, "data"))
        low = top + (128 if top == 20 else 250)  # the bottom of the row of words
        for row, passed in enumerate(columns):
            y = low - tall - rise * row
            for i in range(words):
                text = "" if row else str(i + 1)
                boxes.append(Box("", text, left + step * i, y, wide, tall, "step" if i in passed else "data"))
            xs = [left + step * i + wide / 2 for i in passed]
            if row:
                start, bend = left + step * columns[row - 1][-1] + wide / 2, y + tall + (rise - tall) / 2
                bends = () if start == xs[0] else ((start, bend), (xs[0], bend))
                arrows.append(Arrow(((start, y + rise), *bends, (xs[0], y + tall))))
            arrows += [Arrow(((x + wide / 2, y + tall / 2), (x + step - wide / 2, y + tall / 2))) for x in xs[:-1]]
    notes = "; ".join(f"{name} ({note})" for name, (note, *_) in ways.items())
    in_words = (
        f"The shortest way from the first to the last of the words 1 2 3 4 5 6 7 8 is marked in four kinds of layers: {notes}. Self-attention goes there at once. The recurrent layer hands it "
        "on from word to word. A convolution of two words, each with a gap that doubles, passes the words 2 and 4. Restricted self-attention passes the words 3, 5 and 7."
    )
    return _diagram("Four ways from the first to the last word", in_words, boxes, arrows, new)


def seq2seq(
    source=("the", "dog", "barks", "EOS"), target=("le", "chien", "aboie"), states=(), chances=(), new=()
) -> Diagram:
    """An encoder reads the source word by word, one vector passes on, and a decoder writes: each reads the word it wrote before.

    `states` gives each cell some numbers of its state, the encoder's cells first; `chances` gives each written word a probability.
    """
    written, inputs = [*target, "EOS"], ["BOS", *target]
    columns = len(source) + len(written)
    inside = ["\n".join(f"{value:.2f}" for value in state).replace("-", "−") for state in states] or ["cell"] * columns
    below = [f": {chance:.2f}" for chance in chances] or [""] * len(written)
    step = (WIDTH - 2 * EDGE - 96) / columns
    wide = step - 14
    tall = 46 if chances else 32
    top, row, low = 18 + tall / 2, 72 + tall, 146 + tall  # the middle of what is written, of the cells, of what is read
    xs = [EDGE + 7 + step * i + (96 if i >= len(source) else 0) for i in range(columns)]
    cells = [
        Box("encoder" if i < len(source) else "decoder", text, x, row - 24, wide, 48)
        for i, (x, text) in enumerate(zip(xs, inside, strict=True))
    ]
    read = [
        Box("source" if i < len(source) else "given", word, x, low - 16, wide, 32, "data")
        for i, (x, word) in enumerate(zip(xs, [*source, *inputs], strict=True))
    ]
    outputs = [
        Box("target", word + chance, x, top - tall / 2, wide, tall, "data")
        for x, word, chance in zip(xs[len(source) :], written, below, strict=True)
    ]
    context = Box("context", "one\nvector", xs[len(source)] - 96, row - 30, 76, 60, "data")
    arrows = [_upward(below, cell) for below, cell in zip(read, cells, strict=True)]
    arrows += [_upward(cell, above) for cell, above in zip(cells[len(source) :], outputs, strict=True)]
    chain = [*cells[: len(source)], context, *cells[len(source) :]]
    arrows += [joined(a, b, row) for a, b in zip(chain, chain[1:], strict=False)]
    in_words = (
        f"The encoder's cells read {', '.join(source)}, one word after the other; each passes its state on to the next cell. The last state is "
        f"one vector. It is the first state of the decoder's cells, which read {', '.join(inputs)} and write {', '.join(written)}."
    )
    if states:
        in_words += (
            f" In the cells are numbers of their states: {'; '.join(text.replace(chr(10), ', ') for text in inside)}."
        )
    if chances:
        in_words += f" The words are written with the probabilities {', '.join(f'{chance:.2f}' for chance in chances)}."
    return _diagram("Seq2Seq", in_words, [*cells, *read, *outputs, context], arrows, new)


def looking_back(
    source=("the", "dog", "barks", "EOS"),
    given="le",
    output="chien",
    state="",
    states=(),
    weights=(),
    context="",
    new=(),
) -> Diagram:
    """One step of a decoder that looks back: the state before it is the query to all that the encoder says of the source.

    `state`, `states` and `context` are the numbers that these stand for, as texts, and `weights` what attention gives to each of `states`.
    """
    step, high, row, low = 86, 126, 206, 276  # from word to word; the middle of annotations, cells, and what is read
    end = max(EDGE + step * len(source) - 12, 220)
    xs = [EDGE + step * i for i in range(len(source))]
    cells = [Box("encoder", "cells", x, row - 24, step - 12, 48) for x in xs]
    read = [Box("source", word, x, low - 16, step - 12, 32, "data") for x, word in zip(xs, source, strict=True)]
    names = [f"*h*{'₀₁₂₃₄₅₆₇₈₉'[i + 1]}" for i in range(len(source))]
    if states:
        names = [
            f"{name} = {value}: *a* = {weight:.2f}" for name, value, weight in zip(names, states, weights, strict=True)
        ]
    tall = 46 if states else 32
    states = [
        Box("annotations", name, x, high - tall / 2, step - 12, tall, "data") for name, x in zip(names, xs, strict=True)
    ]
    look = Box("attention", "attention: score, normalise, sum", EDGE, 32, end - EDGE, 50)
    query = f"query: *s*₁ = {state}" if state else "query: *s*₁"
    before = Box("query", query, end + 62, row - 27, 76 if state else 66, 54, "data")
    cell = Box("decoder", "cell", before.right + 70, row - 24, 74, 48)
    word = Box("given", given, cell.x, low - 16, 74, 32, "data")
    written = Box("target", output, cell.right + 28, row - 16, WIDTH - EDGE - cell.right - 28, 32, "data")
    arrows = [_upward(a, b) for a, b in (*zip(read, cells, strict=True), *zip(cells, states, strict=True))]
    arrows += [Arrow(((x + (step - 12) / 2, high - tall / 2), (x + (step - 12) / 2, look.y + look.height))) for x in xs]
    arrows += [joined(a, b, row - 9) for a, b in zip(cells, cells[1:], strict=False)]  # both ways
    arrows += [Arrow(((b.x, row + 9), (a.right, row + 9))) for a, b in zip(cells, cells[1:], strict=False)]
    up, over = before.x + before.width / 2, cell.x + cell.width / 2
    arrows.append(Arrow(((up, before.y), (up, 70), (look.right, 70))))
    words = f"context {context}".strip()
    arrows.append(Arrow(((look.right, 44), (over, 44), (over, cell.y)), words, name="context"))
    out = written.x + written.width / 2
    arrows.append(Arrow(((over, 44), (out, 44), (out, written.y))))
    arrows += [joined(before, cell, row), joined(cell, written, row), _upward(word, cell)]
    in_words = (
        f"The encoder's cells read {', '.join(source)} in both directions and say of each word {', '.join(plain(h.text) for h in states)}. The "
        f"attention (score, normalise, sum) compares all of these with the {plain(query)}, which is the decoder's state, and returns the {words}. The "
        f"decoder's next cell reads {given}, that state and the context; the word {output} comes from its new state and the context."
    )
    boxes = [*cells, *read, *states, look, before, cell, word, written]
    return _diagram("A decoder that looks back", in_words, boxes, arrows, new)


def soft_and_hard(new=()) -> Diagram:
    """From scores to what is read, softly and by a draw, and what comes back to the scores from each."""
    top, middle, bottom = 78, 124, 170
    scores = Box("scores", "scores *z*", EDGE, middle - 24, 100, 48, "data")
    softmax = Box("softmax", "softmax: *p*", 176, middle - 24, 100, 48)
    total = Box("sum", "weighted sum: *p*_1 *v*_1 + … + *p*_S *v*_S", 340, top - 27, 172, 54)
    draw = Box("draw", "draw *k*: with probability *p*_k", 340, bottom - 27, 172, 54)
    soft = Box("soft", "soft attention: a mean of all", 576, top - 27, 164, 54, "data")
    hard = Box("hard", "hard attention: *v*_k, with reward *R*_k", 576, bottom - 27, 164, 54, "data")
    arrows = [joined(scores, softmax, middle)]
    arrows += [
        Arrow(((softmax.right, middle), (308, middle), (308, box.middle), (box.x, box.middle))) for box in (total, draw)
    ]
    arrows += [joined(total, soft, top), joined(draw, hard, bottom)]
    end, back = soft.x + soft.width / 2, scores.x + scores.width / 2
    above, below = top - 42, bottom + 48
    words = "a gradient, by PyTorch"
    arrows.append(Arrow(((end, soft.y), (end, above), (back, above), (back, scores.y)), words, name="gradient"))
    points = ((end, hard.y + hard.height), (end, below), (back, below), (back, scores.y + scores.height))
    arrows.append(Arrow(points, "an estimate from *k* and *R*_k", name="estimate"))
    in_words = (
        "The scores z become weights by a softmax (p). Above, soft attention (a mean of all) reads a weighted sum of the values (p_1 v_1 + … + p_S v_S), and PyTorch sends "
        "a gradient back to the scores. Below, a draw k (with probability p_k) picks one position, and hard attention (v_k, with reward R_k) reads the value there "
        "alone. No gradient passes the draw: an estimate from k and R_k comes back to the scores."
    )
    return _diagram("Soft and hard attention", in_words, [scores, softmax, total, draw, soft, hard], arrows, new)


def transformer(new=()) -> Diagram:
    """The whole Transformer: the encoder above, the decoder below, the residual stream of each as a line, and the three attentions beside it."""
    encoder, memory, arrows = _stack("source", [("encoder", "self-attention")], 134, ("memory", "memory"))
    steps = [("causal", "causal\nself-attention"), ("cross", "attention\nto the source")]
    decoder, out, more = _stack("target\nso far", steps, 390, ("readout", "readout: next word"))
    cross = next(box for box in decoder if box.name == "cross")
    down, over = memory.x + memory.width / 2, cross.x + cross.width / 2
    way = ((down, memory.y + memory.height), (down, 236), (over, 236), (over, cross.y))
    arrows = [*arrows, *more, Arrow(way, "keys and values", name="memory")]
    in_words = (
        "Above, the words of the source get an embedding + positions. A thick line leads on through N layers: one residual stream. Beside it are self-attention and feed-forward: "
        "each reads the stream through its norm, f(norm(x)), and at a + its result is added to the stream. A norm follows the last layer, and the result is the memory. "
        "Below, the words of the target so far get an embedding + positions, too. Their residual stream leads through N layers of causal self-attention, attention to the source "
        "and feed-forward, each f(norm(x)), added at a +, and again to a norm after the last. The attention to the source takes its keys and values from the memory. "
        "The readout gives probabilities of the next word."
    )
    return _diagram("The Transformer", in_words, [*encoder, memory, *decoder, out], arrows, new)


def transformer_calls(written=(), new=()) -> Diagram:
    """The Transformer as the calls of lesson 12's code, one after the other, a frame around what N layers repeat: blue where they are `written`, marked where `new`, else grey."""
    ends = ("embedding", "embed", 58), ("norm", "norm", 48)
    between = (("self-attention", "self-attention", 118), ("feed-forward", "feed-forward", 108))
    causal, cross = ("causal", "causal\nself-attention", 118), ("cross", "attention\nto the source", 112)
    rows = {
        "source": (ends[0], between, ends[1], ("memory", "memory", 72)),
        "target\nso far": (ends[0], (causal, cross, *between[1:]), ends[1], ("readout", "readout", 72)),
    }
    boxes, arrows, named, gap = [], [], {}, 20
    for y, (read, (first, layer, norm, last)) in zip((34, 164), rows.items(), strict=True):
        before, x = Box("input", read, EDGE, y, 62, 50, "data"), EDGE + 62 + gap
        boxes.append(before)
        for name, text, width in (first, *layer, norm, last):
            x += 8 * (name == layer[0][0])
            box = named[name] = Box(name, text, x, y, width, 50, "step" if name in {*written, *new} else "data")
            arrows.append(joined(before, box, box.middle))
            before, x = box, box.right + gap + 8 * (name == layer[-1][0])
            boxes.append(box)
        start, end = named[layer[0][0]].x - 8, named["feed-forward"].right + 8
        frame = Box("", "", start, y - 14, end - start, 92, "frame")
        kind = "step" if "layers" in {*written, *new} else "data"
        named["layers"] = Box("layers", "*N* such layers", end - 136, y + 61, 124, 34, kind)  # on the frame's border
        boxes += [frame, named["layers"]]
    memory, cross = named["memory"], named["cross"]
    down, over = memory.x + memory.width / 2, cross.x + cross.width / 2
    way = ((down, memory.y + 50), (down, 141), (over, 141), (over, cross.y))
    arrows.append(Arrow(way))
    in_words = (
        "In the upper row the source passes through embed; through self-attention and feed-forward, framed as one of N such layers; and through a norm, which gives the memory. "
        "In the lower row the target so far passes through embed; through causal self-attention, attention to the source, which also reads the memory, and feed-forward, "
        "framed as one of N such layers, too; and through a norm and the readout."
    )
    if written:
        in_words += f" Written before: {', '.join(plain(named[name].text) for name in written)}."
    return _diagram("The Transformer, call by call", in_words, boxes, arrows, new)


def cached(given=("BOS", "Zwei", "junge", "Männer"), output="spielen", new=()) -> Diagram:
    """One step of a decoder without a cache, which projects all words again, and with one, which projects the newest and keeps the others."""
    step, wide, left, last, numbers = 92, 78, EDGE + 96, len(given) - 1, "₁₂₃₄₅₆₇₈₉"
    boxes, arrows, ways = [], [], {}
    for top, title in ((24, "without\na cache"), (226, "with\na cache")):
        kept = last if top > 24 else 0  # the words whose keys and values are there already
        look = Box("attention", "attention", left, top, step * last + wide, 40)
        pairs = []
        for i, word in enumerate(given):
            x, n = left + step * i, numbers[i]
            text = f"*k*{n}, *v*{n}" if i < kept else f"*q*{n}, *k*{n}, *v*{n}"
            pairs.append(Box("kept" if i < kept else "projected", text, x, top + 74, wide, 40, "data"))
            if i >= kept:
                boxes.append(Box("given", word, x, top + 148, wide, 32, "data"))
                arrows.append(_upward(boxes[-1], pairs[-1]))
        if kept:
            across = step * (kept - 1) + wide
            boxes.append(Box("", "", left - 6, top + 62, across + 12, 118, "frame"))
            boxes.append(Box("cache", "cache", left, top + 140, across, 32, "data"))
        count = len(given) - kept
        rest = Box("rest", f"feed-forward: for {count} word{'s' * (count > 1)}", look.right + 30, top - 5, 118, 50)
        written = Box("target", output, rest.right + 28, top + 4, 84, 32, "data")
        arrows += [
            *(_upward(pair, look) for pair in pairs),
            joined(look, rest, top + 20),
            joined(rest, written, top + 20),
        ]
        boxes += [Box("", title, EDGE, top + 70, 76, 48, "data"), look, *pairs, rest, written]
        ways[title] = "; ".join(plain(pair.text) for pair in pairs), plain(rest.text)
    (again, all_of_them), (pairs, one) = ways.values()
    in_words = (
        f"A step that reads {', '.join(given)} and writes {output}. In the upper row, without a cache, every word is projected to a query, a key and a value: {again}. "
        f"The attention sees all of them, then comes the {all_of_them}. In the lower row, with a cache, the keys and values of the words before {given[-1]} "
        f"are kept, and these words are not read again: of {pairs}, the last alone is computed. The {one} follows."
    )
    return _diagram("A step without a cache and with one", in_words, boxes, arrows, new)


def sublayers(new=()) -> Diagram:
    """A function with its residual connection and its norm: post-norm above, pre-norm below."""
    sizes = {"norm": (96, 48), "+": (28, 28), "*f*: attention, or feed-forward": (210, 56)}
    norm, plus, function = sizes
    boxes, arrows = [], []
    for name, order, y in (("post", (function, plus, norm), 56), ("pre", (norm, function, plus), 184)):
        row, x = [Box(name, "*x*", 140, y - 20, 44, 40, "data")], 220
        for text in order:
            width, height = sizes[text]
            row.append(Box(name, text, x, y - height / 2, width, height))
            x += width + 36
        row.append(Box(name, "result", x, y - 20, 72, 40, "data"))
        arrows += [joined(a, b, y) for a, b in zip(row, row[1:], strict=False)]
        start, across = row[0].x + row[0].width / 2, next(box.x for box in row if box.text == plus) + 14
        bends = ((start, y + 20), (start, y + 52), (across, y + 52), (across, y + 14))
        arrows.append(Arrow(bends, "residual connection", name=name))
        boxes += [Box(name, f"{name}-norm", EDGE, y - 20, 96, 40, "frame"), *row]
    in_words = (
        "Above, post-norm: x goes through f (attention, or feed-forward), a residual connection leads past f to a +, which adds x, and a norm follows; "
        "what comes out is the result. Below, pre-norm: x goes through a norm and then through f (attention, or feed-forward); the residual "
        "connection leads past both to a +, which adds x, and its sum is the result."
    )
    return _diagram("Where the norm goes", in_words, boxes, arrows, new)


def decoder_only(new=()) -> Diagram:
    """The decoder of a Transformer without a source: what GPT and the models after it are made of."""
    boxes, out, arrows = _stack(
        "text\nso far", [("causal", "causal\nself-attention")], 134, ("readout", "readout: next letter")
    )
    in_words = (
        "The characters of the text so far get an embedding + positions. A thick line leads on through N layers: one residual stream. Beside it are causal self-attention and feed-forward: "
        "each reads the stream through its norm, f(norm(x)), and at a + its result is added to the stream. A norm follows the last layer. The readout gives logits of the next letter."
    )
    return _diagram("A decoder without a source", in_words, [*boxes, out], arrows, new)


def recurrent_attention(new=()) -> Diagram:
    """The recurrent attention model: a sensor sees a small part of the picture, a state remembers it and says where to look next."""
    middle, low = 78, 198
    picture = Box("picture", "picture", EDGE, middle - 24, 72, 48, "data")
    sensor = Box("sensor", "sensor: patches", 132, middle - 27, 84, 54)
    what = Box("glimpse", "glimpse\nnetwork: what, where", 258, middle - 36, 104, 72)
    core = Box("core", "core: state *h*_t", 412, middle - 31, 92, 62)
    action = Box("action", "action\nnetwork", 554, middle - 28, 76, 56)
    answer = Box("answer", "answer", 672, middle - 20, 68, 40, "data")
    location = Box("location", "next\nlocation: drawn near *μ*", 132, low - 36, 178, 72, "data")
    aim = Box("aim", "location\nnetwork: mean *μ*", 412, low - 36, 92, 72)
    chain = [picture, sensor, what, core, action, answer]
    shapes = ("", "B P", "B D", "B D", "B V")
    arrows = [joined(a, b, middle, "", shape) for a, b, shape in zip(chain, chain[1:], shapes, strict=False)]
    down, at, aside = core.x + core.width / 2, sensor.x + sensor.width / 2, location.right - 24
    arrows.append(Arrow(((down, core.y + core.height), (down, aim.y))))
    arrows.append(Arrow(((aim.x, low), (location.right, low)), "", "B 2"))
    arrows.append(Arrow(((at, location.y), (at, sensor.y + sensor.height))))
    arrows.append(Arrow(((aside, location.y), (aside, what.y + what.height))))
    left, right, above = core.x + 24, core.right - 24, core.y - 27
    over = ((right, core.y), (right, above), (left, above), (left, core.y))
    arrows.append(Arrow(over))
    in_words = (
        "The sensor cuts patches out of the picture around a location. The glimpse network joins what, where: what is seen, and where it is. "
        "The core takes this up into its state h_t, and passes it on to itself for the next glimpse. The location network gives a mean μ, and the next "
        "location is drawn near μ. It goes back to the sensor and to the glimpse network. After the last glimpse the action network gives the answer."
    )
    boxes = [*chain, aim, location]
    return _diagram("The recurrent attention model", in_words, boxes, arrows, new)


def memory_hops(hops=2, new=()) -> Diagram:
    """A memory network: each hop compares the question with one memory of the facts, reads the next one, and adds what it has read."""
    high, low, step = 104, 216, 470 / hops  # the middle of the memories and of the hops; from hop to hop
    facts = Box("facts", "facts: a vector of each, by every embedding", EDGE, 18, WIDTH - 2 * EDGE, 40, "data")
    question = Box("question", "question: *u*₀", EDGE, low - 24, 92, 48, "data")
    xs = [EDGE + 140 + step * i for i in range(hops)]
    chain = [Box("hop", f"hop {i + 1}: attend, add", x, low - 28, step - 64, 56) for i, x in enumerate(xs)]
    readout = Box("readout", "readout", xs[-1] + step, low - 24, WIDTH - EDGE - xs[-1] - step, 48)
    roles = [
        "keys of hop 1",
        *(f"values of hop {i}, keys of hop {i + 1}" for i in range(1, hops)),
        f"values of hop {hops}",
    ]
    ends = [xs[0] + 38, *(x - 32 for x in xs[1:]), xs[-1] + step - 102]  # the middle of each memory
    widths = [112, *[204] * (hops - 1), 112]
    memories = [
        Box("memories", f"*M*{'⁰¹²³⁴⁵'[i]}: {role}", x - width / 2, high - 24, width, 48, "data")
        for i, (role, x, width) in enumerate(zip(roles, ends, widths, strict=True))
    ]
    arrows = [Arrow(((x, facts.y + facts.height), (x, high - 24))) for x in ends]
    for i, hop in enumerate(chain):
        arrows += [
            Arrow(((x, high + 24), (x, hop.y)))
            for x in (hop.x + (38 if i == 0 else 28), hop.right - (38 if i == hops - 1 else 28))
        ]
    row = [question, *chain, readout]
    names = ["", *(f"*u*{'₀₁₂₃₄₅'[i + 1]}" for i in range(hops))]
    arrows += [joined(a, b, low, name) for a, b, name in zip(row, row[1:], names, strict=False)]
    in_words = (
        f"There are {hops + 1} memories of the facts (a vector of each, by every embedding): {', '.join(plain(m.text) for m in memories)}. The question becomes u₀. "
        f"In each of {hops} hops (attend, add), the question so far is compared with one memory, the keys; what is read from the next memory, the "
        "values, is added to it. The readout turns the last sum into an answer."
    )
    return _diagram("A memory network", in_words, [facts, *memories, *row], arrows, new)


def captioner(new=()) -> Diagram:
    """One step of a captioner: attention over the cells of a picture, a gate, and an LSTM that reads what passes."""
    cells = Box("annotations", "annotations: one per cell", EDGE, 20, 116, 72, "data")
    state = Box("state", "state: before a word", EDGE, 128, 116, 80, "data")
    score = Box("score", "perceptron: softmax", 176, 48, 108, 52)
    total = Box("sum", "weighted\nsum", 348, 20, 86, 80)
    times = Box("times", "×", 472, 44, 32, 32)
    gate = Box("gate", "gate: *β*, 0 to 1", 444, 128, 88, 52)
    word = Box("word", "previous word", 410, 232, 122, 36, "data")
    cell = Box("LSTM", "LSTM", 592, 44, 58, 224)
    after = Box("after", "new\nstate", 678, 148, 62, 48, "data")
    logits = Box("logits", "next\nword", 678, 48, 62, 52, "data")
    arrows = [joined(cells, total, 32, "values"), joined(cells, score, 88, "keys"), joined(score, total, 76, "weights")]
    arrows += [Arrow(((state.right, 140), (230, 140), (230, 100))), joined(state, gate, 160)]
    arrows += [joined(total, times, 60), Arrow(((488, 128), (488, 76))), joined(times, cell, 60, "context")]
    arrows += [joined(state, cell, 200), joined(word, cell, 250), joined(cell, after, 172)]
    arrows += [Arrow(((709, 148), (709, 100))), Arrow(((580, 60), (580, 24), (709, 24), (709, 48)))]
    arrows += [Arrow(((562, 250), (562, 284), (750, 284), (750, 74), (740, 74)))]
    in_words = (
        f"The {plain(state.text)} is compared with the {plain(cells.text)} by a {plain(score.text)}; these weights make the weighted sum of the values, which are "
        f"the annotations again. From the state also comes a {plain(gate.text)}. The weighted sum × the gate is the context. "
        "An LSTM makes the new state of the state, the context and the previous word. New state, context and previous word give the next word."
    )
    boxes = [cells, state, score, total, times, gate, word, cell, after, logits]
    return _diagram("Show, Attend and Tell", in_words, boxes, arrows, new)


def turing_machine(new=()) -> Diagram:
    """A neural Turing machine: a controller, and two heads that write to a memory and read it."""
    high, middle, low = 52, 142, 228
    inputs = Box("given", "given: now", EDGE, high - 26, 92, 52, "data")
    controller = Box("controller", "controller: an LSTM", 222, high - 26, 336, 52)
    output = Box("said", "output: now", WIDTH - EDGE - 92, high - 26, 92, 52, "data")
    write = Box("write", "write head: weights *w*, erase *e*, add *a*", 222, middle - 26, 200, 52)
    read = Box("read", "read head: weights *w*", 438, middle - 26, 120, 52)
    memory = Box("memory", "memory *M*: *N* positions", 222, low - 26, 336, 52, "data")
    down, up = write.x + write.width / 2, read.x + read.width / 2
    steers = up - 30
    arrows = [joined(inputs, controller, high), joined(controller, output, high)]
    arrows += [Arrow(((down, high + 26), (down, middle - 26))), Arrow(((down, middle + 26), (down, low - 26)))]
    arrows += [Arrow(((steers, high + 26), (steers, middle - 26))), Arrow(((up, low - 26), (up, middle + 26)))]
    arrows.append(Arrow(((up + 30, middle - 26), (up + 30, high + 26))))
    out = output.x + output.width / 2
    arrows.append(Arrow(((read.right, middle - 16), (out, middle - 16), (out, high + 26))))
    for side, away in ((write.x, -1), (read.right, 1)):
        start, far = side + 8 * away, side + 78 * away
        loop = ((side, middle + 18), (start, middle + 18), (far, middle + 18), (far, middle - 4), (side, middle - 4))
        arrows.append(Arrow(loop, "old *w*"))
    in_words = (
        "At each step the controller, an LSTM, gets what is given now and what was read before. It steers two heads, and each also gets its old w, from the step before. "
        "The write head (weights w, erase e, add a) changes some of the N positions of the memory M. Then the read head (weights w, its own) reads; "
        "what it reads goes to the output now, and back to the controller for the next step."
    )
    return _diagram("A neural Turing machine", in_words, [inputs, controller, output, write, read, memory], arrows, new)


def addressing(new=()) -> Diagram:
    """The four steps from what a controller says to the weights of a head."""
    above = ("key *k*,\nstrength *β*", "gate *g*", "kernel *s*", "sharpness *γ*")
    names, step, high, middle, low = ("content", "gate", "shift", "sharpen"), 154, 48, 134, 218
    boxes = [Box(name, name, EDGE + step * i, middle - 26, 108, 52) for i, name in enumerate(names)]
    end = Box("weights", "weights *w*", EDGE + step * 4, middle - 22, WIDTH - 2 * EDGE - step * 4, 44, "data")
    results = ("*w*_c", "*w*_g", "*w̃*", "*w*")
    arrows = [joined(*pair, middle, words) for *pair, words in zip(boxes, [*boxes[1:], end], results, strict=True)]
    inputs = [
        Box("said", text, box.x, high - 28, box.width, 56, "data") for text, box in zip(above, boxes, strict=True)
    ]
    arrows += [Arrow(((over.x + 54, over.y + 56), (over.x + 54, middle - 26))) for over in inputs]
    for text, box in zip(("memory *M*", "old weights\n*w*_before"), boxes, strict=False):
        inputs.append(Box("there", text, box.x, low - 22, box.width, 44, "data"))
        arrows.append(_upward(inputs[-1], box))
    in_words = (
        "The controller says key k, strength β, gate g, kernel s and sharpness γ. First come weights by content, w_c: the memory M is compared with the key. "
        "The gate mixes them with the old weights w_before, which gives w_g. The shift moves these along the positions by the kernel, which gives w̃, and sharpening "
        "them by γ gives the weights w of the head."
    )
    return _diagram("Where a head goes", in_words, [*boxes, end, *inputs], arrows, new)


def best_experts(scores, gates, new=()) -> Diagram:
    """How an input asks its best experts: scores and gates, N each; an expert with a gate of 0 is not asked."""
    tall, step, asked = 46, 56, [gate > 0 for gate in gates.tolist()]
    height = step * len(asked) - 10
    middle = 20 + height / 2
    read = Box("input", "input: *x*", EDGE, middle - 28, 76, 56, "data")
    keep = Box("best", f"softmax: of the\nlargest {sum(asked)}", 282, 20, 110, height)
    total = Box("sum", "weighted\nsum", 656, 20, 84, height)
    boxes, arrows, sentences = [read, keep, total], [], []
    for i, used in enumerate(asked):
        y = 20 + step * i + tall / 2
        score = Box("scores", f"score {i + 1}: {_listed(scores[i : i + 1])}", 142, y - tall / 2, 98, tall, "data")
        gate = Box("gates", f"gate {i + 1}: {_listed(gates[i : i + 1], 2)}", 434, y - tall / 2, 78, tall, "data")
        name = f"expert {i + 1}" if used else f"expert {i + 1}: not asked"
        expert = Box("experts", name, 546, y - tall / 2, 84, tall, "step" if used else "frame")
        boxes += [score, gate, expert]
        bend = () if y == read.middle else ((119, read.middle), (119, y))
        arrows.append(Arrow(((read.right, read.middle), *bend, (score.x, y))))
        arrows += [joined(score, keep, y), joined(keep, gate, y)]
        if used:
            arrows += [joined(gate, expert, y), joined(expert, total, y)]
        verb = "is asked" if used else "is not asked, and learns nothing"
        sentences.append(f"{plain(score.text)} gives {plain(gate.text)}, so expert {i + 1} {verb}")
    in_words = (
        f"The gate reads the {plain(read.text)} and gives each expert a score. The {plain(keep.text)} scores makes gates of them: {'; '.join(sentences)}. "
        "The answer is the weighted sum."
    )
    return _diagram("Asking the best experts", in_words, boxes, arrows, new)


def switch_layer(new=()) -> Diagram:
    """A Transformer's layer with a switch in the place of its feed-forward network: a token goes to one of three experts."""
    middle, over, under = 114, 26, 214
    chain = [Box("token", "token", EDGE, middle - 24, 58, 48, "data")]
    chain.append(Box("attention", "attention: *x* + *f*(norm(*x*))", 94, middle - 34, 116, 68))
    chain += [Box("norm", "norm", 236, middle - 24, 50, 48), Box("gate", "gate: softmax", 304, middle - 24, 80, 48)]
    experts = [Box("experts", f"expert {i + 1}", 424, middle - 70 + 50 * i, 88, 40, "frame") for i in range(3)]
    asked = experts[1]._replace(kind="step")
    chain += [asked, Box("factor", "× *p*₂", 546, middle - 20, 50, 40), Box("plus", "+", 624, middle - 14, 28, 28)]
    chain.append(Box("result", "result", 676, middle - 24, 64, 48, "data"))
    gate, factor, plus = chain[3], chain[5], chain[6]
    up, down, fork = gate.x + gate.width / 2, factor.x + factor.width / 2, 223
    around = ((up, gate.y), (up, over), (down, over), (down, factor.y))
    past, into = (
        ((fork, middle), (fork, under), (plus.x + 14, under), (plus.x + 14, plus.y + 28)),
        "residual connection",
    )
    arrows = [joined(a, b, middle) for a, b in zip(chain, chain[1:], strict=False)]
    arrows += [Arrow(around, "*p*₂, the largest"), Arrow(past, into, name="residual")]
    in_words = (
        "A token goes through attention, x + f(norm(x)), as before. Then come a norm and the gate, a softmax over expert 1, expert 2 and expert 3. The token goes to expert 2 alone, "
        "whose probability p₂ is the largest, and what the expert gives is multiplied by it (× p₂). A residual connection leads past all this to a +; the sum is the result."
    )
    return _diagram("A layer with a switch", in_words, [*chain, experts[0], experts[2]], arrows, new)


def _listed(numbers, digits=1):
    return ", ".join(f"{number:.{digits}f}".replace("-", "−") for number in numbers.tolist())


def allocation(usage, weights, new=()) -> Diagram:
    """How a weight of 1 is given away, the freest position first: usage and weights of each position, in their order."""
    step, left, y = (WIDTH - 2 * EDGE + 50) / (len(usage) + 2), 1.0, 50
    boxes, arrows, sentences = [Box("all", "weight: 1", EDGE, y - 26, step - 50, 52, "data")], [], []
    for place in sorted(range(len(usage)), key=usage.__getitem__):
        x = EDGE + step * (len(sentences) + 1)
        box = Box("positions", f"position {place}: usage {usage[place]:.2f}", x, y - 26, step - 50, 52)
        takes = Box("takes", f"takes: {weights[place]:.2f}", x, y + 58, step - 50, 52, "data")
        arrows += [
            joined(boxes[-1], box, y, f"{left:.2f}"),
            Arrow(((x + step / 2 - 25, y + 26), (x + step / 2 - 25, y + 58))),
        ]
        left -= weights[place]
        sentences.append(f"{plain(box.text)} {plain(takes.text)} and leaves {left:.2f}")
        boxes = [*boxes[:-1], takes, boxes[-1], box]
    end = Box("rest", f"not written: {left:.2f}", WIDTH - EDGE - step + 50, y - 26, step - 50, 52, "data")
    arrows.append(joined(boxes[-1], end, y, f"{left:.2f}"))
    in_words = (
        f"A weight (1) is given away, the freest position first: {'; '.join(sentences)}. The rest is {plain(end.text)}."
    )
    return _diagram("Allocation", in_words, [*boxes, end], arrows, new)


def links(link, held, new=()) -> Diagram:
    """Positions of a memory with what each has held, and an arrow from one to the position written right after it: link N×N, rows written last."""
    step, y, depth = (WIDTH - 2 * EDGE + 60) / len(held), 46, 0
    boxes = [
        Box("positions", f"position {i}: {text}", EDGE + step * i, y - 26, step - 60, 52, "data")
        for i, text in enumerate(held)
    ]
    arrows, sentences = [], []
    for i, row in enumerate(link):
        for j, value in enumerate(row):
            if value > 0:
                start, end = (boxes[k].x + boxes[k].width / 2 + by for k, by in ((j, 24), (i, -24)))
                depth += 34
                points = ((start, y + 26), (start, y + 26 + depth), (end, y + 26 + depth), (end, y + 26))
                words = f"*L* = {value:.2f}"
                arrows.append(Arrow(points, words, name="links"))
                sentences.append(f"position {i} was written right after position {j} (L = {value:.2f})")
    in_words = f"The positions of a memory: {', '.join(plain(box.text) for box in boxes)}. An arrow leads to what was written next: {'; '.join(sentences)}."
    return _diagram("Links", in_words, boxes, arrows, new)


def three_parts(new=()) -> Diagram:
    """Attention as a score, a normaliser and a memory, and what lesson 20 puts in each one's place."""
    over, row, under, lowest = 26, 92, 186, 268
    given = Box("given", "query, keys,\nvalues", EDGE, row - 30, 110, 60, "data")
    score = Box("score", "score: *q* · *k* / √*D*", 158, row - 30, 128, 60)
    normaliser = Box("normaliser", "normaliser: softmax", 342, row - 30, 116, 60)
    memory = Box("memory", "memory: all keys\nand values", 522, row - 34, 116, 68)
    context = Box("context", "context", 668, row - 24, 72, 48, "data")
    places = (
        ("alibi", "ALiBi: score −\nslope × distance", score, 122, 148),
        ("sparsemax", "sparsemax: score − τ,\nor 0 if that is less", normaliser, 306, 138),
        ("delta", "delta rule: a matrix\nthat is overwritten", memory, 480, 146),
    )
    whole = Box(
        "linear",
        "linear attention: *φ*(*q*) · *φ*(*k*), divided by its sum; two sums in place of all keys and values",
        122,
        lowest - 24,
        534,
        48,
        "data",
    )
    chain, boxes, arrows = [given, score, normaliser, memory, context], [], []
    for name, text, part, x, width in places:
        boxes.append(Box(name, text, x, under - 32, width, 64, "data"))
        at = part.x + part.width / 2 - 10
        arrows.append(Arrow(((at, part.y + part.height), (at, under - 32)), dashed=True))
        aside = part.right - 6
        arrows.append(Arrow(((aside, part.y + part.height), (aside, whole.y)), dashed=True))
    boxes.append(whole)
    arrows += [
        joined(a, b, row, name) for a, b, name in zip(chain, chain[1:], ("", "scores", "weights", ""), strict=False)
    ]
    left, right = given.x + given.width / 2, memory.x + memory.width / 2
    arrows.append(Arrow(((left, given.y), (left, over), (right, over), (right, memory.y))))
    in_words = (
        "First come query, keys, values. They lead to the score (q · k / √D); the scores to the normaliser (softmax); its weights read the memory (all keys and values), "
        "into which keys and values go; what is read is the context. In the place of the score there can be ALiBi (score − slope × distance), of the normaliser sparsemax "
        "(score − τ, or 0 if that is less), of the memory the delta rule (a matrix that is overwritten), and in the place of all three linear attention (φ(q) · φ(k), divided by its sum; two sums in place of all keys and values)."
    )
    return _diagram("Three parts of an attention", in_words, [*chain, *boxes], arrows, new)


def snail(new=()) -> Diagram:
    """SNAIL in four steps: a convolution joins each step with the one before it, and attention weighs all steps so far."""
    width, gap, high, middle, low = 136, 16, 24, 116, 224
    read = ("A, no label", "B, label of A", "C, label of B", "A, label of C")
    joint = ("A", "B; A and its label", "C; B and its label", "A; C and its label")
    xs = [EDGE + (width + gap) * step for step in range(4)]
    given = [
        Box("read", f"step {t}: {text}", x, low, width, 54, "data")
        for t, (x, text) in enumerate(zip(xs, read, strict=True))
    ]
    after = [Box("convolution", f"*z*{'₀₁₂₃'[t]}: {text}", xs[t], middle, width, 54) for t, text in enumerate(joint)]
    attention = Box("attention", "attention of step 3: to all steps so far", EDGE, high, xs[-1] + width - EDGE, 50)
    answer = Box(
        "answer", "answer: label of A", attention.right + 26, high, WIDTH - EDGE - attention.right - 26, 50, "data"
    )
    arrows, turn = [joined(attention, answer, high + 25)], (middle + 54 + low) / 2
    for step, x in enumerate(x + width / 2 for x in xs):
        arrows.append(Arrow(((x, low), (x, middle + 54))))
        arrows.append(Arrow(((x, middle), (x, high + 50)), stream=step == 1))
        if step:
            back = x - width - gap + 34
            arrows.append(Arrow(((back, low), (back, turn), (x - 34, turn), (x - 34, middle + 54))))
    in_words = (
        "Four steps read a picture and the label before: step 0 reads A, no label; step 1 B, label of A; step 2 C, label of B; step 3 A, label of C. "
        "A convolution joins each step with the one before it: z₀ holds A, z₁ B; A and its label, z₂ C; B and its label, z₃ A; C and its label. "
        "The attention of step 3 goes to all steps so far. It finds A at z₁ (thick arrow), and so the answer is the label of A."
    )
    return _diagram("SNAIL", in_words, [*given, *after, attention, answer], arrows, new)


def _stack(read, attentions, middle, last):
    """Return the boxes of one side of a Transformer with pre-norm, from what it reads to the last norm; what comes last; and the arrows between.

    At the height `middle` its residual stream passes below its functions, which read it and add to it.
    """
    first = Box("input", read, EDGE, middle - 24, 62, 48, "data")
    embedding = Box("embedding", "embedding: + positions", 94, middle - 24, 98, 48)
    x, functions, pluses, arrows = 214, [], [], []
    for name, text in [*attentions, ("feed-forward", "feed-forward")]:
        function = Box(name, f"{text}: *f*(norm(*x*))", x, middle - 100, 116, 64)
        plus = Box("+", "+", x + 82, middle - 12, 24, 24)
        arrows.append(Arrow(((x + 22, middle), (x + 22, middle - 36))))
        arrows.append(Arrow(((x + 94, middle - 36), (x + 94, middle - 12))))
        functions.append(function)
        pluses.append(plus)
        x += 116 + 10
    frame = Box("", "", 204, middle - 112, x - 204, 184, "frame")
    count = Box("layers", "*N* layers: one residual stream", frame.x + 10, middle + 20, frame.width - 20, 44, "data")
    norm = Box("norm", "norm", frame.right + 12, middle - 20, 48, 40)
    end = Box(*last, norm.right + 12, middle - 24, 76, 48, "data" if last[0] == "memory" else "step")
    stream = Arrow(((embedding.right, middle), (norm.x, middle)), stream=True)
    ways = [joined(first, embedding, middle), stream, joined(norm, end, middle), *arrows]
    return [first, embedding, *functions, *pluses, frame, count, norm], end, ways


def _upward(start, end):
    """Return a straight arrow from one box to the one above it."""
    x = start.x + start.width / 2
    return Arrow(((x, start.y), (x, end.y + end.height)))


def _inputs(texts, top, width):
    """Return a box for each input by its role; neighbours with the same text share one."""
    found = {}
    for text, group in groupby(zip(ROWS, texts, strict=True), key=lambda pair: pair[1]):
        roles = [role for role, _ in group]
        first, last = ROWS[roles[0]] - HALF, ROWS[roles[-1]] + HALF
        found |= dict.fromkeys(roles, Box(" ".join(roles), text, EDGE, top + first, width, last - first, "data"))
    return found


def _matrices(top):
    """Return the box of a learned matrix for each input."""
    return {role: Box("projections", f"*W*_{role[0]}", 122, top + ROWS[role] - 22, 44, 44) for role in ROWS}


def _steps(x, top, score, then, projected):
    """Return the boxes from the score to what reads the context, in their order from the left."""
    outer, inner = (ROWS["queries"] - HALF, ROWS["keys"] + HALF), (CHAIN - 24, CHAIN + 24)
    parts = [
        ("score", f"score: {score}", 72, 56, *outer),
        ("mask", "mask", 54, 18, *inner),
        ("softmax", "softmax", 74, 62, *inner),
    ]
    parts.append(("sum", "weighted\nsum", 82, 60, inner[0], ROWS["values"] + HALF))
    boxes = []
    for name, text, width, gap, first, last in parts:
        boxes.append(Box(name, text, x, top + first, width, last - first))
        x += width + gap
    if projected:
        boxes.append(Box("residual", "+", x, boxes[-1].middle - 14, 28, 28))
    else:
        boxes.append(Box("then", then or "context", x, boxes[-1].middle - 28, 70, 56, "step" if then else "data"))
    return boxes


def _opened(choices, score):
    """Return boxes for what can be in the score's place, above it, and the lines that open the score's box."""
    if not choices:
        return [], []
    rows, width = -(-len(choices) // 4), (WIDTH - 2 * EDGE - 5 * 12) / 4
    frame = Box("", "", EDGE, 20, WIDTH - 2 * EDGE, 12 + 44 * rows, "frame")
    boxes = [frame]
    for i, text in enumerate(choices):
        boxes.append(Box("choices", text, EDGE + 12 + (width + 12) * (i % 4), 32 + 44 * (i // 4), width, 32))
    ends = ((frame.x, score.x), (frame.right, score.right))
    return boxes, [Arrow(((a, frame.y + frame.height), (b, score.y)), dashed=True) for a, b in ends]


def _into(inputs, read, steps, top, shapes, projected):
    """Return the arrows from the inputs, through the matrices if there are any, to the score and to the weighted sum."""
    arrows = []
    for role, end in zip(ROWS, (steps[0], steps[0], steps[3]), strict=True):
        y = top + ROWS[role]
        if projected:
            arrows.append(joined(inputs[role], read[role], y))
        arrows.append(joined(read[role], end, y, f"*{role[0]}*" * projected, shapes[role]))
    return arrows


def _onward(inputs, steps, top, shapes):
    """Return the arrows from the score to the right, and the residual connection where there is one."""
    score, mask, softmax, total, last = steps
    chain, middle = top + CHAIN, total.middle
    arrows = [joined(score, mask, chain, "scores", shapes["scores"]), joined(mask, softmax, chain)]
    arrows.append(joined(softmax, total, chain, "weights", shapes["scores"]))
    arrows.append(joined(total, last, middle, "" if last.kind == "data" else "context", shapes["context"]))
    if last.kind == "step":
        arrows.append(Arrow(((last.right, middle), (WIDTH - EDGE + 6, middle))))
    if last.name == "residual":
        source, plus = inputs["queries"], last
        start, across = (source.x + source.width / 2, source.y + source.height), plus.x + plus.width / 2
        bends = ((start[0], top + BELOW), (across, top + BELOW), (across, plus.y + plus.height))
        arrows.append(Arrow((start, *bends), "residual connection", name="residual"))
    return arrows


def _in_words(inputs, steps, choices, shapes, projected):
    queries, keys, values = (_the(plain(box.text)) for box in inputs.values())
    texts = [f"The {plain(steps[0].text)} compares {queries} with {keys}."]
    if projected:
        texts = [f"Three learned matrices read {keys}: W_q makes the queries q, W_k the keys k and W_v the values v."]
        texts.append(f"The {plain(steps[0].text)} compares the queries with the keys.")
    if choices:
        texts.append(f"In the place of the score there can be any of these: {', '.join(choices)}.")
    summed = "the values" if projected else "the same vectors" if keys == values else values
    texts.append("The mask closes what may not be attended, and the softmax turns the scores into weights.")
    texts.append(f"The weighted sum of {summed}, with these weights, is the context.")
    if projected:
        texts.append(f"A residual connection leads past all this to a +, which adds {keys} to the context.")
    elif steps[-1].kind == "step":
        texts.append(f"The context goes to the {plain(steps[-1].text)}.")
    return " ".join([*texts, "Shapes:", ", ".join(f"{name} {shape}" for name, shape in shapes.items()) + "."])


def _the(text):
    return text if text[1:2] in ("", " ", "_") else f"the {text}"  # a symbol has no article


def _diagram(title, in_words, boxes, arrows, new):
    boxes, arrows = highlighted(boxes, arrows, new)
    names = [plain(box.text) for box in boxes if box.new] + [plain(arrow.words) for arrow in arrows if arrow.new]
    if names:
        in_words += f" New here: {', '.join(names)}."
    return Diagram(title, in_words, boxes, arrows)
