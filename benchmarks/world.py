"""Six models in the generated world, where the truth is known: accuracy against length, and attention against gold links.

    python benchmarks/world.py [--seeds 5] [--models context bahdanau ...] [--order verb-last]

Each model is trained once a seed and tested on sentences of each length, trained lengths and longer ones. A row of
benchmarks/world.csv is one model, seed and length; what is in the table already is not run again. Prints the mean
over seeds, with minimum and maximum.
"""

import argparse
import csv
import statistics
import tempfile
import time
from pathlib import Path

import torch

from course_utils.data.pairs import Pairs
from course_utils.data.subwords import BOS, Subwords
from course_utils.data.world import generate_translations
from course_utils.training.batches import pad
from course_utils.training.corpus import Corpus
from course_utils.training.loop import train
from course_utils.training.settings import Settings
from course_utils.translation.scores import alignment_error_rate
from course_utils.translation.search import translate_all

TABLE = Path(__file__).with_name("world.csv")
COLUMNS = (
    "order",
    "model",
    "seed",
    "length",
    "word_accuracy",
    "sentence_accuracy",
    "alignment_error_rate",
    "cpu_seconds",
)
LENGTHS = (2, 4, 6, 8, 10, 12, 14, 16, 20, 24)  # of the source in words; training ends at LONGEST
LONGEST, TRAINED, TESTED = 16, 20_000, 100  # words; pairs to train on; pairs tested of each length
GRU = {"width": 64, "hidden": 128, "encoder_hidden": 64, "dropout": 0.0}
TRANSFORMER = {"width": 64, "heads": 4, "hidden": 256, "encoder_layers": 2, "decoder_layers": 2, "dropout": 0.0}
MODELS = {  # name -> kind, model's settings, how the source is read
    "context vector": ("seq2seq", GRU, lambda words: words),
    "reversed source": ("seq2seq", GRU, lambda words: words[::-1]),
    "doubled source": ("seq2seq", GRU, lambda words: words + words),
    "Bahdanau": ("attention", GRU | {"attention": "bahdanau"}, lambda words: words),
    "Luong": ("attention", GRU | {"attention": "luong", "score": "general"}, lambda words: words),
    "Transformer": ("transformer", TRANSFORMER, lambda words: words),
}


def pairs_of(number, seed, shortest, longest, order, read):
    """Pairs of the world whose sources are read in the model's way; their links stay those of the words in order."""
    pairs = generate_translations(number, seed, shortest=shortest, longest=longest, order=order)
    return Pairs([" ".join(read(text.split())) for text in pairs.sources], pairs.targets, pairs.alignments)


def trained(name, seed, order, epochs):
    """Train a model; return it with its subwords and the CPU seconds it took."""
    kind, options, read = MODELS[name]
    pairs = pairs_of(TRAINED, 1000 + seed, 1, LONGEST, order, read)
    corpus = Corpus(pairs, pairs_of(200, 1, 1, LONGEST, order, read), Subwords.words(pairs.sources + pairs.targets))
    settings = Settings(
        kind, model=options, epochs=epochs, rate=4e-3, smoothing=0.0, validate=epochs, seed=seed, batch_tokens=1024
    )
    start = time.process_time()
    with tempfile.TemporaryDirectory() as run:
        trainer = train(settings, run, corpus, show=False)
    return trainer.model, trainer.subwords, time.process_time() - start


def tested(name, model, subwords, length, order):
    """Return the shares of right words and right sentences, and the alignment error rate or None."""
    pairs = pairs_of(TESTED, 2, length, length, order, MODELS[name][2])
    sources, targets = subwords.encode(pairs.sources), subwords.encode(pairs.targets)
    found = [translation.tokens for translation in translate_all(model, sources, width=1)]
    right = sum(a == b for got, wanted in zip(found, targets, strict=True) for a, b in zip(got, wanted, strict=False))
    words = sum(max(len(got), len(wanted)) for got, wanted in zip(found, targets, strict=True))
    exact = sum(got == wanted for got, wanted in zip(found, targets, strict=True)) / len(targets)
    if name not in ("Bahdanau", "Luong", "Transformer"):
        return right / words, exact, None
    with torch.inference_mode():
        seen = model.attention(pad([[*row, 2] for row in sources]), pad([[BOS, *row] for row in targets]))
    weights = [
        rows[: len(target), : len(source)].numpy() for rows, target, source in zip(seen, targets, sources, strict=True)
    ]
    return right / words, exact, alignment_error_rate(weights, pairs.alignments)


def read_table():
    return list(csv.DictReader(TABLE.open(encoding="utf-8"))) if TABLE.exists() else []


def add(rows):
    new = not TABLE.exists()
    with TABLE.open("a", encoding="utf-8", newline="") as file:
        table = csv.DictWriter(file, COLUMNS, lineterminator="\n")
        if new:
            table.writeheader()
        table.writerows(rows)


def summary(order):
    """Print a line a model and measure, a column a length."""
    rows = [row for row in read_table() if row["order"] == order]
    for measure in ("word_accuracy", "sentence_accuracy", "alignment_error_rate"):
        print(
            f"\n{measure} (mean, least and most over seeds), order {order}\n{'length':16}"
            + "".join(f"{n:>15}" for n in LENGTHS)
        )
        for name in MODELS:
            cells = []
            for length in LENGTHS:
                values = [
                    float(r[measure]) for r in rows if r["model"] == name and int(r["length"]) == length and r[measure]
                ]
                cells.append(f"{statistics.mean(values):.2f} {min(values):.2f}-{max(values):.2f}" if values else "")
            if any(cells):
                print(f"{name:16}" + "".join(f"{cell:>15}" for cell in cells))


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--models", nargs="*", choices=MODELS, default=list(MODELS))
    parser.add_argument("--order", default="verb-last")
    parser.add_argument("--epochs", type=float, default=6)
    options = parser.parse_args()
    torch.set_num_threads(1)
    for seed in range(options.seeds):
        for name in options.models:
            if any(
                (row["order"], row["model"], row["seed"]) == (options.order, name, str(seed)) for row in read_table()
            ):
                continue
            model, subwords, seconds = trained(name, seed, options.order, options.epochs)
            rows = []
            for length in LENGTHS:
                words, sentences, errors = tested(name, model, subwords, length, options.order)
                errors = "" if errors is None else round(errors, 4)
                rows.append(
                    dict(
                        zip(
                            COLUMNS,
                            (options.order, name, seed, length, round(words, 4), sentences, errors, round(seconds)),
                            strict=True,
                        )
                    )
                )
            add(rows)
            print(
                f"{name}, seed {seed}: {seconds:.0f} s, words right at length {LONGEST}: {rows[LENGTHS.index(LONGEST)]['word_accuracy']:.2f}",
                flush=True,
            )
    summary(options.order)


if __name__ == "__main__":
    main()
