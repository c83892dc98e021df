"""What lesson 13 shows of the course's translator: how well it translates captions.

The numbers below were measured once with the model that ships, by `python -m course_utils.lessons.lesson_13._translator`, half a
minute on one core. No task is declared here.
"""

import re
from collections import Counter

from torch import Tensor

from course_utils.data.measured import by_seed, measured, measured_once
from course_utils.data.multi30k import load_multi30k
from course_utils.figures import plots
from course_utils.models.files import load_pretrained
from course_utils.translation.scores import bleu
from course_utils.translation.translate import translate

NAME = "transformer-en-de"

# The 1,000 captions of test_2017_flickr by how many of the captions read in training hold their rarest word: how many there are, the BLEU of their
# translations, and the words of a caption in the mean.
BY_RAREST_WORD = {
    "none": [154, 21.0, 12.4],
    "1 to 9 captions": [343, 25.2, 10.8],
    "10 to 99 captions": [411, 33.1, 10.0],
    "100 or more": [92, 44.7, 9.0],
}
# The other words that exactly 29 of the captions read in training hold, as "not" does, and how each is told in German.
AS_RARE_AS_NOT = {
    "bent": "beug|bück|gebog",
    "covering": "deck",
    "driver": "fahrer",
    "drives": r"\bfähr",
    "enjoys": "genie(ß|ss)",
    "evening": "abend",
    "fallen": "gefallen|gestürzt|umge",
    "gentlemen": "herr|männer",
    "lab": "labor|labrador",
    "marching": "marsch",
    "overalls": "overall|latz",
    "robe": "robe|gewand|mantel",
    "shaking": "schüttel",
    "skis": r"skier|\bski(s|ern)?\b",
    "softball": "softball",
    "swims": "schwimm",
    "wetsuit": "neopren|tauch",
}
# Of 29 captions each, how many are negative in German where the English holds "not", by a person and by the translator; and how many
# tell the word where it holds one of these others: "fallen", which the translator tells least often, and the mean of all 17.
OF_29 = {"not": [23, 4], "fallen": [16, 4], "17 other words, mean": [24.4, 22.1]}
NEGATIONS = {"nicht", "kein", "keine", "keinen", "ohne"}  # not, no, without


def negative(texts) -> list[str]:
    """Return those of the German texts that hold a negation."""
    return [text for text in texts if NEGATIONS & set(_words(text))]


def captions_with(word) -> int:
    """Return how many of the 29,000 captions that the translator has read contain a word."""
    ((captions,),) = measured_once("caption_words", "captions", text=word)
    return int(captions)


def draw_passes():
    """Draw the loss and the BLEU of the translator that ships after each pass over its captions: on these, and on new ones."""
    for ax, (ylabel, column) in zip(plots.axes(2), {"loss": "loss", "BLEU": "bleu"}.items(), strict=True):
        lines = {}
        for label, name in {"captions that it reads": f"{column}_read", "new captions": column}.items():
            readings, lines[label] = measured("passes", name, "reading")
        plots.curves(readings, lines, "times that it has read its captions", ylabel, ax=ax)


def recipe_differences() -> dict[str, dict[str, Tensor]]:
    """Return for each change of the recipe the BLEU of five translators less that of the whole recipe with the same seed."""
    whole = by_seed("recipe", "bleu", changed="nothing")
    rows = {}
    for row, change in {
        "no dropout": "no dropout",
        "Adam in place of Muon": "AdamW in place of Muon",  # its decay is 0
        "readout not tied": "readout not tied",
        "no label smoothing": "no label smoothing",
        "no warm-up": "no warm-up",
        "batches at random": "batches of sentences",
    }.items():
        rows[row] = {"a mark for each of five seeds": by_seed("recipe", "bleu", changed=change) - whole}
    return rows


def by_heart() -> dict[str, list[Tensor]]:
    """Return the mean BLEU of small models on the sentences that they have read 53 times, and on new ones, with dropout and without."""
    rows = {}
    for row, changed in {"with dropout": "nothing", "without dropout": "no dropout"}.items():
        rows[row] = [by_seed("by_heart", column, changed=changed).mean() for column in ("bleu_read", "bleu")]
    return rows


def measure():
    """Measure the numbers above again, and print them."""
    model, subwords = load_pretrained(NAME)
    read, pairs = load_multi30k("train"), load_multi30k("test_2017_flickr")
    held = Counter(word for text in read.sources for word in set(_words(text)))  # in how many captions
    written = translate(model, subwords, pairs.sources)
    rows = list(zip(pairs.sources, written, pairs.targets, strict=True))
    for least, most in ((0, 0), (1, 9), (10, 99), (100, len(read.sources))):
        found = [row for row in rows if least <= min(held[word] for word in _words(row[0])) <= most]
        length = sum(len(row[0].split()) for row in found) / len(found)
        print(least, most, len(found), bleu([row[1] for row in found], [row[2] for row in found]).score, length)
    assert {word for word, captions in held.items() if captions == held["not"]} == {"not", *AS_RARE_AS_NOT}
    for word, stems in {"not": rf"\b({'|'.join(NEGATIONS)})\b", **AS_RARE_AS_NOT}.items():
        places = [i for i, source in enumerate(read.sources) if word in _words(source)]
        sources = [read.sources[i] for i in places]
        by_all = [[read.targets[i] for i in places], translate(model, subwords, sources)]
        print(word, [sum(bool(re.search(stems, text.lower())) for text in texts) for texts in by_all])
    print("word for word:", sum(german == right for _, german, right in rows))


def _words(text):
    return re.findall(r"\w+", text.lower())


if __name__ == "__main__":
    measure()
