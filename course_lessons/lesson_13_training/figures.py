"""What lesson 13 shows of the course's translator: what it translates, and how its BLEU grew.

The numbers below were measured once with the model that ships, by `python -m course_lessons.lesson_13_training.figures`, a few
seconds on one core. No task is declared here.
"""

import re
from collections import Counter

import torch
from torch import Tensor

from course_utils.data.measured import by_seed, measured, measured_once
from course_utils.data.multi30k import load_multi30k
from course_utils.figures import plots
from course_utils.models.serialization import load_pretrained
from course_utils.translation.translate import translate

NAME = "transformer-en-de"

# The other words that exactly 29 of the captions read in training hold, as "not" does: how each is told in German, and two sentences that are none
# of these captions.
AS_RARE_AS_NOT = {
    "bent": ("beug|bück|gebog", "A boy is bent over a bicycle .", "The woman is bent over a box ."),
    "covering": ("deck", "A girl is covering her face .", "A man is covering a car ."),
    "driver": ("fahrer", "The driver is eating a sandwich .", "A driver is talking to a woman ."),
    "drives": (r"\bfähr", "A woman drives a red car .", "The boy drives a tractor ."),
    "enjoys": ("genie(ß|ss)", "The girl enjoys her lunch .", "A man enjoys a beer ."),
    "evening": ("abend", "A woman is walking in the evening .", "The boys are playing soccer in the evening ."),
    "fallen": ("gefallen|gestürzt|umge", "A girl has fallen in the snow .", "The man has fallen off his horse ."),
    "gentlemen": ("herr|männer", "Three gentlemen are sitting on a bench .", "Two gentlemen are playing chess ."),
    "lab": ("labor|labrador", "A woman is working in a lab .", "The girl is standing in a lab ."),
    "marching": ("marsch", "A group of children is marching .", "Five men are marching in the street ."),
    "overalls": ("overall|latz", "A boy in overalls is eating .", "The woman is wearing overalls ."),
    "robe": ("robe|gewand|mantel", "A woman in a robe is singing .", "The man is wearing a white robe ."),
    "shaking": ("schüttel", "A girl is shaking her head .", "Two women are shaking hands ."),
    "skis": (r"skier|\bski(s|ern)?\b", "A woman is standing on skis .", "The boy is holding his skis ."),
    "softball": ("softball", "A boy is playing softball .", "The girls are playing softball in a park ."),
    "swims": ("schwimm", "A girl swims in a lake .", "The dog swims in a pool ."),
    "wetsuit": ("neopren|tauch", "A girl in a wetsuit is smiling .", "The man is wearing a wetsuit ."),
}
# Of the 29 captions with "not", how many are negative in German: by people, and by the translator.
NEGATIVE_OF_29 = (23, 4)
NEGATIONS = {"nicht", "kein", "keine", "keinen", "ohne"}  # not, no, without


def negative(texts) -> list[str]:
    """Return those of the German texts that hold a negation."""
    return [text for text in texts if NEGATIONS & set(_words(text))]


def sentences_with(word) -> list[str]:
    """Return two new sentences with a word that is as rare as "not"."""
    return [*AS_RARE_AS_NOT[word][1:]]


def tells(word, german) -> bool:
    """Say whether a German text tells one of the words that are as rare as "not"."""
    return bool(re.search(AS_RARE_AS_NOT[word][0], german.lower()))


def captions_with(word) -> int:
    """Return how many of the 29,000 captions that the translator has read contain a word."""
    ((captions,),) = measured_once("caption_words", "captions", text=word)
    return int(captions)


def draw_own_loop():
    """Draw the BLEU on the validation set, after each epoch, of the page's small Transformer and of the course's translator."""
    epochs, ours = measured("own_loop", "bleu", "epoch", test_set="val")
    _, translators = measured("passes", "bleu", "reading")
    lines = {
        "the course's translation model": [scores[: len(epochs)] for scores in translators],
        "this page's small model": ours,
    }
    plots.curves(epochs, lines, "epochs", "BLEU on the validation set")


def draw_losses(plain, careful):
    """Draw the losses of two trainings, each (model, losses of all steps, validation losses), without dropout and weight decay and with both."""
    runs = {"no dropout, no weight decay": plain, "dropout 0.1, weight decay 0.1": careful}
    for ax, (title, (_, losses, validated)) in zip(plots.axes(2), runs.items(), strict=True):
        every = len(losses) // len(validated)
        read = torch.tensor(losses).view(-1, every).mean(1)  # of the steps since the last look
        lines = {"pairs that it reads": read[None], "validation set": torch.tensor(validated)[None]}
        steps = [every * (i + 1) for i in range(len(validated))]
        plots.curves(steps, lines, "step", "loss, nats per word", title, ax)


def recipe_differences() -> dict[str, dict[str, Tensor]]:
    """Return for each change of the recipe the BLEU of five translators less that of the whole recipe with the same seed."""
    whole = by_seed("recipe", "bleu", changed="nothing")
    rows = {}
    for row, change in {
        "no dropout": "no dropout",
        "readout not tied": "readout not tied",
        "no label smoothing": "no label smoothing",
        "no warm-up": "no warm-up",
        "batches at random": "batches of sentences",
    }.items():
        rows[row] = {"a mark for each of five seeds": by_seed("recipe", "bleu", changed=change) - whole}
    return rows


def measure():
    """Measure the numbers above again, and print them."""
    model, subwords = load_pretrained(NAME)
    read = load_multi30k("train")
    held = Counter(word for text in read.sources for word in set(_words(text)))  # in how many captions
    assert {word for word, captions in held.items() if captions == held["not"]} == {"not", *AS_RARE_AS_NOT}
    places = [i for i, source in enumerate(read.sources) if "not" in _words(source)]
    ours = translate(model, subwords, [read.sources[i] for i in places])
    print("not", len(negative([read.targets[i] for i in places])), len(negative(ours)))
    read_words = {tuple(_words(text)) for text in read.sources}
    assert not {tuple(_words(text)) for word in AS_RARE_AS_NOT for text in sentences_with(word)} & read_words


def _words(text):
    return re.findall(r"\w+", text.lower())


if __name__ == "__main__":
    measure()
