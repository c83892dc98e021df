"""What each ingredient of a Transformer's training is worth: each switched off in turn; and the Transformer against a GRU with attention.

    python benchmarks/ablations.py [--only world translator multi30k equal_time] [--seeds 0 1 2 3 4]

"world" trains Transformers in the generated world, five seeds each, from 1,500 pairs, where the same sentences come again and again, and
some from 20,000; "translator" trains the course's own translator, with the preset for two laptop cores, to its end, five seeds each, 11 to 21
minutes of one core a row, and scores it on the three test sets with beam search; "multi30k" trains the same ones on Multi30k, three seeds
each; "equal_time" trains the Transformer and the GRU of the presets for two laptop cores, for two epochs and two and a half. The rows go to
the tables ablations.csv, recipe.csv and equal_time.csv in course_utils/data/measured_tables; lesson 13 shows the first. What is in them
already is not run again. The other rows take half a minute to four minutes.
"""

import argparse
import tempfile
import time

import torch

from course_utils.data.measured import fill
from course_utils.data.multi30k import load_multi30k
from course_utils.models.files import load_model
from course_utils.training.loop import train
from course_utils.training.settings import Settings, load_preset, make_settings
from course_utils.translation.scores import bleu
from course_utils.translation.translate import translate

ABLATIONS = ("data", "pairs", "changed", "seed", "bleu", "loss", "cpu_seconds")
RECIPE = ("changed", "seed", "test_set", "bleu", "loss", "cpu_seconds")
EQUAL_TIME = ("kind", "optimizer", "seed", "epochs", "parameters", "tokens", "bleu", "cpu_seconds")
EVERYTHING = "nothing"  # what is changed in the row that the others are compared with
CHANGES = {
    EVERYTHING: {},
    "SGD in place of Adam": {"optimizer": "sgd"},
    "Muon in place of Adam": {"optimizer": "muon"},
    "no warm-up": {"warmup": 0.0},
    "no dropout": {"model": {"dropout": 0.0}},
    "no label smoothing": {"smoothing": 0.0},
    "readout not tied": {"model": {"tied": False}},
    "batches of sentences": {"batches": "sentences"},
}
# With seed 0 the best of 0.004, 0.008, 0.016 (Adam), 0.4, 0.8, 1.6 (SGD) and 0.008, 0.016, 0.032 (Muon) in the small world;
# on Multi30k, for four epochs, of 0.004 and 0.008, 0.4 and 0.8, and for Muon, of which 0.007 was tried alone.
RATES = {
    "world": {"adamw": 8e-3, "sgd": 0.8, "muon": 16e-3},
    "multi30k": {"adamw": 8e-3, "sgd": 0.8, "muon": 7e-3},
}
EPOCHS = {("world", 1_500): 53.0, ("world", 20_000): 4.0, ("multi30k", 29_000): 3.0}  # about 450 steps in the world
# The translator's recipe has Muon with a rate of 0.007. What is changed here keeps this rate, but for AdamW, whose rate is the better of 0.002
# and 0.004, tried with seed 0 for two epochs.
RECIPE_CHANGES = {
    EVERYTHING: {},
    "no dropout": {"model": {"dropout": 0.0}},
    "no label smoothing": {"smoothing": 0.0},
    "AdamW in place of Muon": {"optimizer": "adamw", "rate": 2e-3},
    "no warm-up": {"warmup": 0.0},
    "batches of sentences": {"batches": "sentences"},
    "readout not tied": {"model": {"tied": False}},
}
TESTS, ALPHA = ("test_2016_flickr", "test_2017_flickr", "test_2017_mscoco"), 1.2
# As many epochs as took about the same time. The rates are the presets', and for the Transformer with AdamW the better of 0.002 and 0.004 with seed 0.
EQUAL = {
    ("transformer", "muon"): {"epochs": 2.0},
    ("transformer", "adamw"): {"epochs": 2.0, "rate": 2e-3},
    ("attention", "adamw"): {"epochs": 2.5},
}


def settings_of(data: str, pairs: int, changed: str, seed: int) -> Settings:
    """Return the settings of a row of ablations.csv."""
    change, epochs = dict(CHANGES[changed]), EPOCHS[data, pairs]
    preset = load_preset("transformer", "world")
    model = {**preset["model"], "dropout": 0.1, **change.pop("model", {})}
    values = {**preset, "data": data, "model": model, "epochs": epochs, "validate": epochs, "seed": seed, **change}
    if data == "world":
        values["world"] = {"pairs": pairs}
    return make_settings({**values, "rate": RATES[data][values.get("optimizer", "adamw")]})


def trained(settings: Settings):
    """Train one model; return its trainer and the seconds of CPU time."""
    began = time.process_time()
    with tempfile.TemporaryDirectory() as folder:
        trainer = train(settings, f"{folder}/run", device="cpu", show=False)
    return trainer, round(time.process_time() - began, 1)


def ablation(data, pairs, changed, seed):
    """Train one model; return its row."""
    trainer, seconds = trained(settings_of(data, pairs, changed, seed))
    end = trainer.curves[-1]
    return [(data, pairs, changed, seed, end["val_bleu"], end["val_loss"], seconds)]


def recipe(changed, seed):
    """Train the course's translator with one thing changed; return a row for each test set."""
    change, preset = dict(RECIPE_CHANGES[changed]), load_preset("transformer", "laptop")
    model = {**preset["model"], **change.pop("model", {})}
    settings = make_settings({**preset, **change, "model": model, "validate": preset["epochs"], "seed": seed})
    began = time.process_time()
    with tempfile.TemporaryDirectory() as folder:
        trainer = train(settings, f"{folder}/run", device="cpu", show=False)
        seconds, loss = round(time.process_time() - began, 1), trainer.curves[-1]["val_loss"]
        translator = load_model(f"{folder}/run")
    rows = []
    for test_set in TESTS:
        pairs = load_multi30k(test_set, "en-de")
        found = bleu(translate(*translator, pairs.sources, width=5, alpha=ALPHA), pairs.targets)
        rows.append((changed, seed, test_set, round(found.score, 2), loss, seconds))
    return rows


def equal_time(kind, optimizer, seed):
    """Train one model with its preset for fewer epochs; return its row."""
    changes = {**EQUAL[kind, optimizer], "kind": kind, "optimizer": optimizer, "seed": seed}
    changes["validate"] = changes["epochs"]
    trainer, seconds = trained(make_settings({**load_preset(kind, "laptop"), **changes}))
    end, size = trainer.curves[-1], sum(p.numel() for p in trainer.model.parameters())
    return [(kind, optimizer, seed, changes["epochs"], size, end["tokens"], end["val_bleu"], seconds)]


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parts = ("world", "translator", "multi30k", "equal_time")
    parser.add_argument("--only", nargs="+", choices=parts, default=parts, help="which parts")
    parser.add_argument("--seeds", type=int, nargs="+", default=range(5), help="which seeds; on Multi30k those below 3")
    options = parser.parse_args()
    torch.set_num_threads(1)
    if "world" in options.only:
        setups = [("world", 1_500, changed) for changed in CHANGES]
        setups += [("world", 20_000, changed) for changed in (EVERYTHING, "no dropout")]
        fill("ablations", ABLATIONS, ((*setup, seed) for seed in options.seeds for setup in setups), ablation)
    if "translator" in options.only:
        fill("recipe", RECIPE, ((changed, seed) for seed in options.seeds for changed in RECIPE_CHANGES), recipe)
    some = [seed for seed in options.seeds if seed < 3]
    if "equal_time" in options.only and some:
        fill("equal_time", EQUAL_TIME, ((*setup, seed) for seed in some for setup in EQUAL), equal_time)
    if "multi30k" in options.only and some:
        jobs = (("multi30k", 29_000, changed, seed) for seed in some for changed in CHANGES)
        fill("ablations", ABLATIONS, jobs, ablation)


if __name__ == "__main__":
    main()
