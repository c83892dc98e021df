"""What the page of lesson 05 only shows: a batch in words, a translation word by word, and what was measured beforehand.

The measurements come from `benchmarks/length.py`, which trains the model of the page five times for each setup.
"""

import torch

from course_utils.data.measured import by_seed, measured, measured_at, read_rows
from course_utils.data.subwords import BOS, EOS, PAD
from course_utils.figures import plots
from course_utils.figures.tables import table

SIGNS = {PAD: "padding", BOS: "BOS", EOS: "EOS"}
LENGTHS = (1, 2, 3, 4, 5, 6, 7, 8, 10, 12, 14, 16)  # those that were measured
SETUPS = {
    "64 dimensions, 600 steps": "as it is",
    "32 dimensions, 600 steps": "32 numbers",
    "128 dimensions, 600 steps": "128 numbers",
    "64 dimensions, 2,400 steps": "four times as long",
    "128 dimensions, 2,400 steps": "128 numbers, four times as long",
    "64 dimensions, 600 steps, plain cells": "tanh cells",
    "the same at the rate 0.003": "tanh cells, rate 0.003",
}
WRONG = "#d1495b"


def batch_in_words(words, source, given, wanted):
    """Return a table of what a batch holds at each position: the vocabulary, and source B×S, given B×T, wanted B×T."""
    tokens = words.tokens([*range(len(words))])
    rows, most = {}, max(source.shape[1], wanted.shape[1])
    for name, ids in (("source", source), ("given", given), ("wanted", wanted)):
        for b, row in enumerate(ids.tolist()):
            texts = [SIGNS.get(one, tokens[one]) for one in row]
            rows[f"{name}, sentence {b + 1}"] = texts + [""] * (most - len(texts))
    return table(rows, [f"position {t}" for t in range(most)], corner="a batch of two")


def draw_translations(sources, rights, written):
    """Draw the written translation of each source in a row, wrong words in red frames, and the right one of the last below.

    Print how many are right.
    """
    ax = plots.axes(width=10.5, height=0.6 + 0.32 * len(sources))
    columns = max(14, *(len(translation.split()) for translation in written))
    ax.set(xlim=(-1.6, columns - 0.4), ylim=(len(sources) + 1, -1.4))
    ax.axis("off")
    counts = []
    for row, (source, right, translation) in enumerate(zip(sources, rights, written, strict=True)):
        ax.text(-0.9, row, len(source.split()), ha="right", va="center", weight="bold")
        wanted, words = right.split(), translation.split()
        hits = [t < len(wanted) and wanted[t] == word for t, word in enumerate(words)]
        counts.append(f"{sum(hits)} of {max(len(wanted), len(words))}")
        for t, (word, hit) in enumerate(zip(words, hits, strict=True)):
            frame = None if hit else {"boxstyle": "square,pad=0.1", "edgecolor": WRONG, "facecolor": "none"}
            ax.text(t, row, word, ha="center", va="center", color="black" if hit else WRONG, bbox=frame)
    ax.text(-0.9, -1, "source words", ha="right", va="center", weight="bold")
    ax.text(-0.35, -1, "translation", ha="left", va="center", weight="bold")
    ax.text(-0.9, len(sources) + 0.3, "right", ha="right", va="center", weight="bold", color="0.4")
    for t, word in enumerate(rights[-1].split()):
        ax.text(t, len(sources) + 0.3, word, ha="center", va="center", color="0.4")
    print(f"Right words of the translations, row by row: {', '.join(counts)}.")


def draw_shares_by_length(words_right, sentences_right):
    """Draw the shares of one model, each a dictionary from length to share, as dots on those of the five measured models."""
    across = plots.axes(2, width=4.6, height=3.4)
    for ax, name, own in zip(across, ("words", "sentences"), (words_right, sentences_right), strict=True):
        five = {"five models": torch.tensor(_five(f"{name}_right", "as it is"))}
        label = {"words": "words", "sentences": "whole sentences"}[name]
        plots.curves(LENGTHS, five, "words of the source", f"share of {label} right", ax=ax)
        shares = [own[length] for length in LENGTHS]
        ax.plot(LENGTHS, shares, "D", color=WRONG, markersize=5, label="your model")
        ax.axvline(12, color="0.6", linestyle=":")
        ax.set_ylim(-0.03, 1.05)
        ax.legend(edgecolor="none", framealpha=0.85)


def whole_sentences_right(lengths):
    """Return a table: the share of whole sentences right in each setup, for these lengths."""
    rows = {
        name: measured_at("length", "sentences_right", "length", lengths, order="monotone", setup=setup)
        for name, setup in SETUPS.items()
    }
    columns = [f"{length} words" for length in lengths]
    return table(rows, columns, corner="share of whole sentences right, five seeds", digits=2)


def with_all_captions(captions, in_german, your_run):
    """Print the translations of the page's model and of larger ones, trained on all captions, and return a table of them.

    `your_run` has the page's pairs, parameters, minutes, BLEU, and BLEU with the next caption's translation.
    """
    stored = read_rows("all_captions")
    for caption, german, column in zip(captions, in_german, ("guitar", "snow", "bench"), strict=True):
        print(f"{caption}\n    short captions:             {german}")
        for row in stored:
            print(f"    all captions, {row['cell'] + ',':5} seed {row['seed']}: {row[column]}")
    pairs, parameters, *yours = your_run
    columns = {"short captions, your run": [f"{pairs:,}", f"{parameters:,}", "1", *yours, "", ""]}
    for cell in dict.fromkeys(row["cell"] for row in stored):
        runs = [row for row in stored if row["cell"] == cell]
        sizes = [f"{int(runs[0][size]):,}" for size in ("pairs", "parameters")]
        found = (
            by_seed("all_captions", column, cell=cell)
            for column in ("cpu_seconds", "bleu_of_short", "bleu", "bleu_of_others")
        )
        seconds, short, every, others = (x if len(x) > 1 else x.item() for x in found)
        name = f"all captions, {runs[0]['layers']}-layer {cell}"
        columns[name] = [*sizes, f"{len(runs)}", seconds / 60, short, "", every, others]
    rows = [
        "pairs for training",
        "parameters",
        "seeds",
        "minutes of CPU time in training",
        "BLEU on short test captions",
        "short ones, with the next one's translation",
        "BLEU on all test captions",
        "all, with the next one's translation",
    ]
    cells = zip(*columns.values(), strict=True)
    return table(dict(zip(rows, cells, strict=True)), [*columns], corner="trained on", digits=1)


def _five(column, setup):
    """What five models got right at each of LENGTHS: a list for each seed."""
    lengths, runs = measured("length", column, "length", order="monotone", setup=setup)
    assert tuple(lengths) == LENGTHS
    return runs
