"""What each ingredient of a Transformer's training is worth: each switched off in turn; and how often the translator has read some words.

    python benchmarks/ablations.py [--only world heart translator passes page words] [--seeds 0 1 2 3 4]

Fills six tables, which lesson 13 shows:

ablations.csv       "world": Transformers in the generated world, from 1,500 pairs, where the same sentences come again and again, and some
                    from 20,000, half a minute to four minutes a row
by_heart.csv        "heart": those from 1,500 pairs with dropout and without, on the sentences that they have read and on new ones
recipe.csv          "translator": the course's own translator, with the preset for two laptop cores, to its end, 11 to 21 minutes of one
                    core a row, on the three test sets with beam search, and the translator with GRUs beside it
passes.csv          "passes": the translator that ships, trained once more and tested after each pass over its captions, half an hour of one
                    core: on the validation set, and on as many captions that it reads
own_loop.csv        "page": the small Transformer that lesson 13's page trains on the captions with its own loop: the loss on the validation set after
                    each epoch and the greedy BLEU, and both on a test set for the weights kept, ten minutes of one core
caption_words.csv   "words": how many of the training captions hold a word or a sentence
"""

import re
import tempfile
from dataclasses import replace

import torch
from measuring import fill, jobs, page, read_options, timed

from course_utils.data.loading import load_captions
from course_utils.data.multi30k import load_multi30k
from course_utils.data.pairs import Pairs
from course_utils.models.serialization import load_model, load_pretrained
from course_utils.models.transformer import Transformer
from course_utils.training.corpus import load_pairs
from course_utils.training.device import choose_device
from course_utils.training.loop import Trainer, make_batches, train
from course_utils.training.run_folder import RunFolder
from course_utils.training.settings import Settings, load_preset, make_settings
from course_utils.translation.scores import bleu
from course_utils.translation.translate import translate

BY_HEART = "changed seed bleu bleu_read"
OWN_LOOP = "seed test_set epoch loss bleu cpu_seconds"
PASSES = "seed reading step rate loss loss_read bleu bleu_read"
ABLATIONS = "data pairs changed seed bleu loss cpu_seconds"
RECIPE = "changed seed test_set bleu loss cpu_seconds"
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
# With seed 0 the best of 0.004, 0.008, 0.016 (Adam), 0.4, 0.8, 1.6 (SGD) and 0.008, 0.016, 0.032 (Muon).
RATES = {"adamw": 8e-3, "sgd": 0.8, "muon": 16e-3}
EPOCHS = {1_500: 53.0, 20_000: 4.0}  # about 450 steps
# The translator's recipe has Muon with a rate of 0.007. What is changed here keeps this rate, but for AdamW, whose rate is the better of 0.002
# and 0.004, tried with seed 0 for two epochs.
GRUS = "GRUs with attention"  # another translator of the course's, with its own preset and a width of 256, for the same test sets
RECIPE_CHANGES = {
    EVERYTHING: {},
    "no dropout": {"model": {"dropout": 0.0}},
    "no label smoothing": {"smoothing": 0.0},
    "AdamW in place of Muon": {"optimizer": "adamw", "rate": 2e-3},
    "no warm-up": {"warmup": 0.0},
    "batches of sentences": {"batches": "sentences"},
    "readout not tied": {"model": {"tied": False}},
    GRUS: {"model": {"width": 256}},
}
TESTS, ALPHA = ("test_2016_flickr", "test_2017_flickr", "test_2017_mscoco"), 1.2
TEXTS = ("dogs", "wears", "elephants", "elephant", "not", "?", "was", "need")
TEXTS += (
    "Two dogs are running on the beach .",
    "The man who wears a red hat is sleeping .",
    "Seven elephants are reading a newspaper .",
    "A dog is not running on the beach .",
    "A man that is not wearing a shirt is brushing his teeth .",
    "Is the dog running ?",
    "How was your day ?",
    "Attention is all you need .",
)
WORD = r"\w+|\?"


def settings_of(data: str, pairs: int, changed: str, seed: int) -> Settings:
    """Return the settings of a row of ablations.csv."""
    change, epochs = dict(CHANGES[changed]), EPOCHS[pairs]
    preset = load_preset("transformer", "world")
    model = {**preset["model"], "dropout": 0.1, **change.pop("model", {})}
    values = {**preset, "data": data, "model": model, "epochs": epochs, "validate": epochs, "seed": seed, **change}
    return make_settings({**values, "world": {"pairs": pairs}, "rate": RATES[values.get("optimizer", "adamw")]})


def trained(settings: Settings):
    """Train one model; return its last scores on the validation set, the model with its subwords, and the seconds of CPU time."""
    with tempfile.TemporaryDirectory() as folder:
        trainer, seconds = timed(train, settings, f"{folder}/run", device="cpu", show=False)
        return trainer.curves[-1], load_model(f"{folder}/run"), seconds


def ablation(data, pairs, changed, seed):
    """Train one model; return its row."""
    end, _, seconds = trained(settings_of(data, pairs, changed, seed))
    return [(end["val_bleu"], end["val_loss"], seconds)]


def by_heart(changed, seed):
    """Train one model on 1,500 pairs; return its BLEU on new sentences, and on those that it has read."""
    settings = settings_of("world", 1_500, changed, seed)
    end, translator, _ = trained(settings)
    read = load_pairs(settings, "train")
    found = bleu(translate(*translator, read.sources, width=1), read.targets)
    return [(end["val_bleu"], round(found.score, 2))]


def recipe(changed, seed):
    """Train the course's translator with one thing changed, or the one with GRUs; return a row for each test set."""
    kind = "attention" if changed == GRUS else "transformer"
    change, preset = dict(RECIPE_CHANGES[changed]), load_preset(kind, "laptop")
    model = {**preset["model"], **change.pop("model", {})}
    values = {**preset, **change, "kind": kind, "model": model, "validate": preset["epochs"], "seed": seed}
    end, translator, seconds = trained(make_settings(values))
    rows = []
    for test_set in TESTS:
        pairs = load_multi30k(test_set, "en-de")
        found = bleu(translate(*translator, pairs.sources, width=5, alpha=ALPHA), pairs.targets)
        rows.append((test_set, round(found.score, 2), end["val_loss"], seconds))
    return rows


class Followed(Trainer):
    """A trainer that tests the model also on the first captions that it reads, as many as the validation set has."""

    of_read = ()  # their loss and BLEU, of each validation

    def measure(self):
        """Return the validation set's loss and BLEU, and keep those of the captions that are read."""
        found, corpus, batches = super().measure(), self.corpus, self.val_batches
        number = len(corpus.val.sources)
        read = Pairs(corpus.train.sources[:number], corpus.train.targets[:number])
        self.corpus = replace(corpus, val=read)
        self.val_batches = make_batches(read, self.subwords, self.settings, seed=0)
        self.of_read = [*self.of_read, super().measure()]
        self.corpus, self.val_batches = corpus, batches
        return found


def passes(seed):
    """Train the course's translator; return a row for each pass over its captions."""
    settings = make_settings(
        {**load_preset("transformer", "laptop"), "kind": "transformer", "validate": 1.0, "seed": seed}
    )
    with tempfile.TemporaryDirectory() as folder:
        trainer = Followed(settings, RunFolder(f"{folder}/run"), None, choose_device("cpu"))
        trainer.run(checkpoint_seconds=600.0, show=False)
    return [
        (reading, row["step"], row["rate"], row["val_loss"], loss, row["val_bleu"], found)
        for reading, (row, (loss, found)) in enumerate(zip(trainer.curves, trainer.of_read, strict=True), 1)
    ]


def own_loop(seed, epochs=6):
    """Train the small Transformer of lesson 13's page as the page does, but for longer; return a row for each epoch, and one for the test set."""
    _, subwords = load_pretrained("transformer-en-de")
    lesson, found = page("13_training", tokenizer=subwords.tokenizer, device="cpu"), []
    torch.manual_seed(seed)
    model = Transformer(len(subwords), 64, 4, 128, 1, 1, dropout=0.1)

    def score(split):
        texts = load_captions(split)
        return round(bleu(translate(model, subwords, texts.sources, width=1), texts.targets).score, 2)

    class Followed(lesson.BestWeights):
        def look(self):
            super().look()
            model.eval()
            found.append(score("val"))
            model.train()

    lesson.train_on_captions.__globals__["BestWeights"] = Followed
    every = len(lesson.loader_of("train"))
    losses, seconds = timed(lesson.train_on_captions, model, epochs * every, every)
    rows = [("val", epoch, *row, seconds) for epoch, row in enumerate(zip(losses, found, strict=True), 1)]
    with torch.no_grad():
        loss = lesson.mean_loss(model, lesson.loader_of("test")).item()
    return [*rows, ("test_2016_flickr", losses.index(min(losses)) + 1, loss, score("test"), seconds)]


def captions(text):
    """Count the English captions that the translator reads in training and that hold a word or a sentence; return its row."""

    def words(sentence):
        return f" {' '.join(re.findall(WORD, sentence.lower()))} "

    held = words(text)
    return [(sum(held in words(source) for source in load_multi30k("train", "en-de").sources),)]


if __name__ == "__main__":
    parts = ("world", "heart", "translator", "passes", "page", "words")
    options = read_options(
        __doc__, [0, 1, 2, 3, 4], only={"nargs": "+", "choices": parts, "default": parts, "help": "parts"}
    )
    if "world" in options.only:
        setups = [("world", 1_500, changed) for changed in CHANGES]
        setups += [("world", 20_000, changed) for changed in (EVERYTHING, "no dropout")]
        fill("ablations", ABLATIONS, jobs(setups, options.seeds), ablation)
    if "heart" in options.only:
        read = {EVERYTHING: 3, "no dropout": 3}  # by how many seeds
        fill("by_heart", BY_HEART, jobs(read, options.seeds, read), by_heart)
    if "translator" in options.only:
        fill("recipe", RECIPE, jobs(RECIPE_CHANGES, options.seeds, {GRUS: 3}), recipe)
    if "passes" in options.only:
        fill("passes", PASSES, [(1,)], passes)  # the seed of the translator that ships
    if "page" in options.only:
        fill("own_loop", OWN_LOOP, [(0,)], own_loop)
    if "words" in options.only:
        fill("caption_words", "text captions", [(text,) for text in TEXTS], captions)
