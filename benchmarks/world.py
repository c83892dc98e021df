"""Six models in the generated world, where the truth is known: accuracy against length, and attention against gold links.

    python benchmarks/world.py [--seeds 5] [--models "context vector" Bahdanau ...] [--order verb-last] [--epochs 6]

Each model is trained once a seed and tested on sentences of each length, trained lengths and longer ones. Fills world.csv beside this
file, a row for one model, seed and length. Prints the mean over seeds, with minimum and maximum.
"""

import statistics
import tempfile
from pathlib import Path

import torch
from measuring import fill, jobs, read, read_options, timed

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
COLUMNS = "order model seed length word_accuracy sentence_accuracy alignment_error_rate cpu_seconds"
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
    with tempfile.TemporaryDirectory() as run:
        trainer, seconds = timed(train, settings, run, corpus, show=False)
    return trainer.model, trainer.subwords, round(seconds)


def tested(name, model, subwords, length, order):
    """Return the shares of right words and right sentences, and the alignment error rate or nothing."""
    pairs = pairs_of(TESTED, 2, length, length, order, MODELS[name][2])
    sources, targets = subwords.encode(pairs.sources), subwords.encode(pairs.targets)
    found = [translation.tokens for translation in translate_all(model, sources, width=1)]
    right = sum(a == b for got, wanted in zip(found, targets, strict=True) for a, b in zip(got, wanted, strict=False))
    words = sum(max(len(got), len(wanted)) for got, wanted in zip(found, targets, strict=True))
    exact = sum(got == wanted for got, wanted in zip(found, targets, strict=True)) / len(targets)
    if name not in ("Bahdanau", "Luong", "Transformer"):
        return right / words, exact, ""
    with torch.inference_mode():
        seen = model.attention(pad([[*row, 2] for row in sources]), pad([[BOS, *row] for row in targets]))
    weights = [
        rows[: len(target), : len(source)].numpy() for rows, target, source in zip(seen, targets, sources, strict=True)
    ]
    return right / words, exact, alignment_error_rate(weights, pairs.alignments)


def summary(order):
    """Print a line a model and measure, a column a length."""
    rows = [row for row in read(TABLE) if row["order"] == order]
    for measure in ("word_accuracy", "sentence_accuracy", "alignment_error_rate"):
        print(f"\n{measure} (mean, least and most over seeds), order {order}\n{'length':16}", end="")
        print("".join(f"{n:>15}" for n in LENGTHS))
        for name in MODELS:
            cells = []
            for length in LENGTHS:
                of = [row for row in rows if (row["model"], row["length"]) == (name, str(length))]
                values = [float(row[measure]) for row in of if row[measure]]
                cells.append(f"{statistics.mean(values):.2f} {min(values):.2f}-{max(values):.2f}" if values else "")
            if any(cells):
                print(f"{name:16}" + "".join(f"{cell:>15}" for cell in cells))


if __name__ == "__main__":
    models = {"nargs": "*", "choices": MODELS, "default": list(MODELS)}
    options = read_options(__doc__, 5, models=models, order="verb-last", epochs=6.0)

    def measure(order, name, seed):
        """Train one model; return a row for each length."""
        model, subwords, seconds = trained(name, seed, order, options.epochs)
        return [(length, *tested(name, model, subwords, length, order), seconds) for length in LENGTHS]

    fill(TABLE, COLUMNS, jobs([(options.order, name) for name in options.models], options.seeds), measure)
    summary(options.order)
