"""What a model can do that knows its words' places in one way or another, and what without.

    python benchmarks/positions.py [--seeds 5] [--translators 3]

Fills three tables, which lessons 10 and 11 show:

positions.csv    small models that learn from texts of 2 to 12 words (`course_utils/models/positions.py`), tried on longer ones, too
places.csv       the same for texts of 24 words, by the place of the answer
translated.csv   Transformers on Multi30k with sinusoidal positions, with learned ones, and with none, and with other numbers of heads
"""

import tempfile

import torch
from measuring import fill, jobs, read_options, timed

from course_utils.data.multi30k import load_multi30k
from course_utils.data.recall import recall_next
from course_utils.models.positions import KINDS, NextWord, fit, share_right
from course_utils.models.serialization import load_model
from course_utils.training.loop import train
from course_utils.training.settings import load_preset, make_settings
from course_utils.translation.scores import bleu
from course_utils.translation.translate import translate

COLUMNS = "positions seed length answers_right cpu_seconds"
PLACES = "positions seed place answers_right"
TRANSLATED = "positions heads seed epochs bleu"
EPOCHS = 3
LENGTHS = (2, 4, 6, 8, 10, 12, 14, 16, 20, 24, 28, 32)
LONG, TEXTS = 24, 4000  # words of the texts that are told by place, and how many of them


def measure(positions, seed):
    """Train one model; return a row for each length."""
    model, seconds = timed(trained, positions, seed)
    return [(length, share_right(model, length), seconds) for length in LENGTHS]


def trained(positions, seed):
    """Return a model that has learned from short texts."""
    torch.manual_seed(seed)
    model = NextWord(positions)
    fit(model, seed)
    return model


def by_place(positions, seed):
    """Train one model; return rows that say how often it is right where the answer stands at a place, from 1 to `LONG` - 1."""
    words, answers = recall_next(TEXTS, LONG, torch.Generator().manual_seed(10_000))
    places = (words[:, :-1] == answers[:, None]).int().argmax(1)  # B
    model = trained(positions, seed)
    with torch.no_grad():
        right = (model(words).argmax(-1) == answers).double()  # B
    return [(place, right[places == place].mean().item()) for place in range(1, LONG)]


def translated(positions, heads, seed):
    """Train one Transformer of the preset's width and layers for fewer epochs; return its row."""
    preset = load_preset("transformer", "laptop")
    sizes = {**preset["model"], "positions": positions, "heads": heads}
    settings = make_settings({**preset, "model": sizes, "epochs": EPOCHS, "validate": EPOCHS, "seed": seed})
    with tempfile.TemporaryDirectory() as folder:
        train(settings, f"{folder}/run", device="cpu", show=False)
        model, subwords = load_model(f"{folder}/run")
    pairs = load_multi30k("test_2016_flickr")
    found = bleu(translate(model, subwords, pairs.sources), pairs.targets)
    return [(EPOCHS, round(found.score, 2))]


if __name__ == "__main__":
    options = read_options(__doc__, 5, translators=3)
    fill("positions", COLUMNS, jobs(KINDS, options.seeds), measure)
    fill("places", PLACES, jobs(("rotary", "sinusoidal", "learned"), options.seeds), by_place)
    kinds = [("sinusoidal", 4), ("none", 4), ("learned", 4), ("sinusoidal", 1), ("sinusoidal", 2), ("sinusoidal", 8)]
    fill("translated", TRANSLATED, jobs(kinds, range(options.translators)), translated)
