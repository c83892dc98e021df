"""What the page of lesson 05 only draws: the two networks and their one vector, a growing sentence, maps, and what was measured beforehand.

The measurements come from `benchmarks/length.py`, which trains the model of the page five times for each setup.
"""

import torch

from course_utils.data.measured import measured
from course_utils.data.subwords import BOS, EOS, PAD
from course_utils.figures import plots
from course_utils.figures.film import Film, column, line, number, words
from course_utils.figures.roles import GREY, ROLES
from course_utils.figures.tables import table

SIGNS = {PAD: "padding", BOS: "BOS", EOS: "EOS"}
LENGTHS = (1, 2, 3, 4, 5, 6, 7, 8, 10, 12, 14, 16)  # those that were measured
STEPS = {  # the two panels of `whole_sentences_right`: what their lines are called, and what the table calls them
    "after 600 steps": {
        "64 dimensions": "as it is",
        "128 dimensions": "128 numbers",
        "32 dimensions": "32 numbers",
        "64, plain cells": "tanh cells",
    },
    "after 2,400 steps": {
        "64 dimensions": "four times as long",
        "128 dimensions": "128 numbers, four times as long",
    },
}
WRONG = "#b42343"
ENCODER, VECTOR, DECODER = "value", "context", "query"  # the colours that their states have from lesson 03 on
CELL, TALL, TOP, READ = 50, 24, 124, 258  # pixels: of an entry, and where states and words are
SHOWN = 4  # entries of a state
DOOR, FIRST = 308, 400  # pixels: the middle of the vector and of the decoder's first state


def batch_in_words(words, source, given, wanted):
    """Return a table of what a batch holds at each position: the vocabulary, and source B×S, given B×T, wanted B×T."""
    tokens = words.tokens([*range(len(words))])
    rows, most = {}, max(source.shape[1], wanted.shape[1])
    for name, ids in (("source", source), ("given", given), ("wanted", wanted)):
        for b, row in enumerate(ids.tolist()):
            texts = [SIGNS.get(one, tokens[one]) for one in row]
            rows[f"{name}, sentence {b + 1}"] = texts + [""] * (most - len(texts))
    return table(rows, [f"position {t}" for t in range(most)], corner="a batch of two")


def two_networks(source, written):
    """Still: the encoder reads the words of a source, the decoder writes words, and one vector is all that passes between them."""
    film = Film("All that the decoder learns about the sentence passes through one vector", 304, 6)
    blank = [None] * SHOWN
    _draw_encoder(film, [*source, "EOS"], [blank] * (len(source) + 1), blank, 0, 0)
    for t, word in enumerate([*written, "EOS"]):
        x = _decoder_x(t, len(written) + 1)
        _draw_decoder_step(film, x, ["BOS", *written][t], blank, 0)
        film.add(_word(x, 66, word))
    film.description = (
        f"The encoder reads {', '.join(source)}, EOS, one word after the other; each state, a column of cells, is passed on "
        "to the next. A wall with a single gap separates it from the decoder: only the last state passes. The decoder "
        f"starts with it, reads {', '.join(['BOS', *written])} and writes {', '.join([*written, 'EOS'])}."
    )
    return film


def one_vector(vocabulary, source, given, h, s, p):
    """Film: the page's model at work on one sentence, in its own numbers.

    Args:
        source, given: what the encoder and the decoder read, S and T ids.
        h, s: their states, S×H and T×H.
        p: the probabilities of the next word, T×V.
    """
    tokens = vocabulary.tokens([*range(len(vocabulary))])
    names = [[SIGNS.get(one, tokens[one]) for one in row.tolist()] for row in (source, given)]
    film, begun, step = Film("The model translates through one vector", 304, 12), 0.6 * len(h) + 0.8, 6 / len(s)
    _draw_encoder(film, names[0], h.tolist(), h[-1].tolist(), 0.6, begun - 0.5)
    best = []
    for t, (word, state) in enumerate(zip(names[1], s.tolist(), strict=True)):
        x, now = _decoder_x(t, len(s)), begun + 0.5 + step * t
        _draw_decoder_step(film, x, word, state, now)
        largest = [(SIGNS.get(i, tokens[i]), p[t, i].item()) for i in p[t].topk(3).indices.tolist()]
        film.add("".join(_draw_bar(x, 48 + 17 * row, *one, row == 0) for row, one in enumerate(largest)), now + 0.7)
        best.append(", ".join(f"{name} {number(share)}" for name, share in largest if share >= plots.SHOWN))
        if t + 1 < len(s):  # the word written is the next one read
            turn, way = READ + 14, f"M{x + 49:g} 56V{READ + 14}"
            way = f'<path d="{way}" stroke="{GREY}" stroke-width="1.5" stroke-dasharray="3 3"/>'
            film.add(way + line(x + 49, turn, _decoder_x(t + 1, len(s)) - 29, turn, width=1.5), now + 1.2)
    film.add(words(600, 26, "probabilities of the next word", 14, "weight", True), begun + 1.2)
    after = [f"after {word}: {shares}" for word, shares in zip(names[1], best, strict=True)]
    film.description = (
        f"The encoder reads {', '.join(names[0])}; each state is shown with {SHOWN} of its {h.shape[1]} entries. The last one "
        f"passes through the gap in the wall. Probabilities of the next word: {'; '.join(after)}."
    )
    return film


def _decoder_x(t, T):
    return FIRST + min(98, 392 / T) * t


def _draw_encoder(film, read, states, vector, step, passes):
    """Add the encoder's words and states, one every `step` seconds, the wall, and, at `passes`, the vector in its gap."""
    film.add(words(135, 26, "encoder", 16, ENCODER, True) + words(135, 46, "reads the source", 13, fill=GREY))
    film.add(words(FIRST - 26, 26, "decoder", 16, DECODER, True, "start"))
    for y, tall, texts in ((12, 98, ("the one", "vector")), (238, 54, ("only 64", "numbers"))):
        wall = f'<rect x="{DOOR - 38}" y="{y}" width="76" height="{tall}" rx="4" fill="#d0d7de"/>'
        film.add(
            wall + "".join(words(DOOR, y + tall / 2 - 3 + 16 * i, text, 13, bold=True) for i, text in enumerate(texts))
        )
    pitch = min(62, 248 / len(read))
    for i, (word, state) in enumerate(zip(read, states, strict=True)):
        x, now = 42 + pitch * i, step * i + 0.2 * bool(step)
        film.add(_word(x, READ, word) + line(x, READ - 2, x, TOP + TALL * SHOWN + 18), now)
        if i:
            film.add(line(x - pitch + CELL / 2, 172, x - CELL / 2, 172), now)
        film.add(_cells(x, state, ENCODER), now + 0.3 * bool(step))
    last = 42 + pitch * (len(read) - 1)
    film.add(line(last + CELL / 2, 172, DOOR - CELL / 2, 172), passes)
    film.add(_cells(DOOR, vector, VECTOR), passes, None, f"{last - DOOR:g},0" if step else "")


def _draw_decoder_step(film, x, word, state, now):
    """Add what the decoder reads at a step and the state that it computes."""
    before = DOOR if x == FIRST else x - 98
    film.add(_word(x, READ, word) + line(x, READ - 2, x, TOP + TALL * SHOWN + 18), now)
    film.add(line(before + CELL / 2, 172, x - CELL / 2, 172) + _cells(x, state, DECODER), now + 0.3 * bool(now))
    film.add(line(x, TOP - 2, x, 103), now + 0.7 * bool(now))


def _draw_bar(x, y, name, share, is_first):
    """A word's probability as a bar beside its name."""
    wide = max(50 * share, 1.5)
    drawn = words(x - 8, y + 11, name, 12, bold=is_first, anchor="end")
    drawn += f'<rect x="{x - 4:g}" y="{y}" width="{wide:.1f}" height="13" fill="{ROLES["weight"].colour}"/>'
    if share < plots.SHOWN:
        return drawn
    inside = wide > 28
    place, fill = (x - 1 + wide - 6, "#ffffff") if inside else (x + wide - 1, None)
    return drawn + words(place, y + 11, number(share), 11, "weight", True, "end" if inside else "start", fill)


def _word(x, y, text):
    """A word in its box around x."""
    wide, look = max(40, 8 * len(text) + 8), ROLES["word"]
    box = f'<rect x="{x - wide / 2:g}" y="{y}" width="{wide}" height="28" rx="5" fill="{look.fill}" stroke="{look.colour}"/>'
    return box + words(x, y + 19, text, 13, bold=True)


def _cells(x, state, role):
    """The first entries of a state as a column around x, and a sign that there are more; empty cells if they are None."""
    cells = column(x - CELL / 2, TOP, state[:SHOWN], role, CELL, TALL, size=13)
    return cells + words(x, TOP + TALL * SHOWN + 13, "⋮", 13, fill=GREY)


def one_word_learned(vocabulary, after, wanted):
    """Draw a word's probability and those of some others; `after` maps a number of steps to V probabilities, `wanted` is the word's id."""
    tokens, look = vocabulary.tokens([*range(len(vocabulary))]), ROLES["weight"]
    others = [i for i in after[max(after)].topk(6).indices.tolist() if i != wanted][:5]
    shown = [int(wanted), *others]
    names = [SIGNS.get(i, tokens[i]) for i in shown]
    across = plots.axes(len(after), width=3.4, height=2.4)
    for ax, (steps, p) in zip(across, after.items(), strict=True):
        shares = p[shown].tolist()
        ax.barh(names, shares, color=[look.colour, *["0.78"] * 5])
        ax.text(shares[0] + 0.02, 0, f"p = {number(shares[0], 3)}", va="center", color=look.colour, weight="bold")
        ax.set(xlim=(0, 1.4), xticks=(0, 0.5, 1), xlabel="probability", ylim=(5.6, -0.6))
        title = f"after {steps} steps" if steps else "before training"
        ax.set_title(f"{title}:  −ln p = {number(-p[wanted].log(), 2)}")
        ax.tick_params(axis="y", length=0)
        ax.spines["bottom"].set_bounds(0, 1)


def growing(sources, rights, written, vectors):
    """Film: a sentence grows while its vector, N×H, stays as long; a row for each translation, with frames around wrong words.

    Print how many words are right.
    """
    most = max(14, *(len(translation.split()) for translation in written))
    film, pitch = Film("The sentence grows, its vector does not", 64 + 26 * (len(sources) + 1), 10), 604 / most
    film.add(words(5, 26, "words", 12, bold=True, anchor="start") + words(94, 26, "the vector", 13, VECTOR, True))
    film.add(words(150, 26, "translation", 13, bold=True, anchor="start"))
    counts = []
    for row, (source, right, translation) in enumerate(zip(sources, rights, written, strict=True)):
        y, now, wanted = 40 + 26 * row, 0.6 * row, right.split()
        hits = [t < len(wanted) and wanted[t] == word for t, word in enumerate(translation.split())]
        counts.append(f"{sum(hits)} of {max(len(wanted), len(hits))}")
        drawn = words(24, y + 14, str(len(source.split())), 13, bold=True) + _strip(46, y, vectors[row])
        for t, (word, hit) in enumerate(zip(translation.split(), hits, strict=True)):
            x = 148 + pitch * (t + 0.5)
            if not hit:
                frame = f'x="{x - pitch / 2 + 1:.1f}" y="{y - 1}" width="{pitch - 2:.1f}" height="20" fill="none"'
                drawn += f'<rect {frame} stroke="{WRONG}" stroke-dasharray="3 2"/>'
            drawn += words(x, y + 14, word, 11, fill=None if hit else WRONG)
        film.add(drawn, now)
    y, most_words = 44 + 26 * len(sources), len(sources[-1].split())
    film.add(words(138, y + 14, f"right, {most_words} words:", 12, bold=True, anchor="end", fill=GREY))
    for t, word in enumerate(rights[-1].split()):
        film.add(words(148 + pitch * (t + 0.5), y + 14, word, 11.5, fill=GREY))
    lengths = [len(source.split()) for source in sources]
    film.description = " ".join(
        f"{length} words: {count} words of the translation are right."
        for length, count in zip(lengths, counts, strict=True)
    )
    print(f"Right words of the translations, row by row: {', '.join(counts)}.")
    return film


def _strip(x, y, vector):
    """All entries of a vector, from −1 (white) to 1 (green), as a strip of narrow cells."""
    levels = ((vector.clamp(-1, 1) + 1) * 4).round().int().tolist()
    drawn = [f'<rect x="{x}" y="{y}" width="{1.5 * len(levels):g}" height="18" fill="#ffffff" stroke="{GREY}"/>']
    for level in sorted(set(levels) - {0}):
        path = "".join(f"M{x + 1.5 * i:g} {y}h1.5v18h-1.5z" for i, one in enumerate(levels) if one == level)
        drawn.append(f'<path d="{path}" fill="{ROLES[VECTOR].colour}" fill-opacity="{level / 8:g}"/>')
    return "".join(drawn)


def maps(projections, sentences):
    """Draw sentences of three words as dots, a row for each projection (name to N×2), a column for each word that gives the colour."""
    figure, rows = plots.plt.subplots(len(projections), 3, figsize=(10, 3 * len(projections)), squeeze=False)
    for across, (name, places) in zip(rows, projections.items(), strict=True):
        for position, ax in enumerate(across):
            read = [sentence.split()[position] for sentence in sentences]
            kinds = sorted(set(read))
            ax.scatter(*places.T, c=[kinds.index(word) for word in read], cmap="tab10", s=7)
            ax.set(xticks=[], yticks=[], title=f"coloured by word {position + 1}" if ax in rows[0] else "")
            ax.set_ylabel(name if position == 0 else "")
            if position == 0:
                _write_groups(ax, places, read)


def _write_groups(ax, places, read):
    """Write each word above the dots that it begins; words whose dots lie in one place share a line."""
    span, lines = (places.max(0) - places.min(0)).max(), []  # lines: the middle, the top, the words
    for kind in sorted(set(read)):
        group = places[[word == kind for word in read]]
        middle, top = group.mean(0), group[:, 1].max()
        near = next((line for line in lines if abs(line[0] - middle).max() < 0.1 * span), None)
        if near:
            near[1], near[2] = max(near[1], top), f"{near[2]}, {kind}"
        else:
            lines.append([middle, top, kind])
    for (x, _), top, text in lines:
        ax.text(x, top + 0.01 * span, text, ha="center", va="bottom", weight="bold", fontsize=10)
    ax.margins(0.1)


def words_right_by_length(words_right):
    """Draw the share of words right of one model, a dictionary from length to share, on that of the five measured models."""
    ax = plots.axes(width=6.4, height=3.4)
    five = {"five models, lowest to highest": torch.tensor(_five("words_right", "as it is"))}
    plots.curves(LENGTHS, five, "words of the source", "share of words right", ax=ax, legend="upper right")
    _add_own(ax, words_right)
    ax.legend(loc="upper right", edgecolor="none", framealpha=0.85)


def whole_sentences_right(sentences_right):
    """Draw the share of whole sentences right by length, a band of five models for each setup, and of one model, a dictionary."""
    across = plots.axes(2, width=5, height=3.8)
    for ax, (title, setups) in zip(across, STEPS.items(), strict=True):
        runs = {name: torch.tensor(_five("sentences_right", setup)) for name, setup in setups.items()}
        before = {"64, after 600 steps": torch.tensor(_five("sentences_right", "as it is")).mean(0)}
        theory = before if ax is across[1] else None
        label = "share of whole sentences right"
        plots.curves(LENGTHS, runs, "words of the source", label, title, ax, theory=theory, legend="upper right")
        if ax is across[0]:
            _add_own(ax, sentences_right)
        ax.legend(loc="upper right", edgecolor="none", framealpha=0.85, fontsize=9)
        ax.set(ylim=(-0.03, 1.75), yticks=[0, 0.2, 0.4, 0.6, 0.8, 1])  # room for the legend


def _add_own(ax, shares):
    """Add the dots of the reader's own model and a line at the longest sentences in training."""
    ax.plot(LENGTHS, [shares[length] for length in LENGTHS], "D", color="black", markersize=4, label="your model")
    ax.axvline(12, color="0.6", linestyle=":", label="longest in training")
    ax.set(ylim=(-0.03, 1.05), xticks=[*range(2, 17, 2)])


def _five(column, setup):
    """What five models got right at each of LENGTHS: a list for each seed."""
    lengths, runs = measured("length", column, "length", order="monotone", setup=setup)
    assert tuple(lengths) == LENGTHS
    return runs
