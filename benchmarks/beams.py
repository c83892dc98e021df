"""What a wider beam does for real translations, and what a decoder's own errors do to what follows them.

    python benchmarks/beams.py [RUN ...]

The runs are trained translators that differ in their seed alone. Without any, only the second table is measured. The rows go to the
tables in course_utils/data/measured_tables, which lesson 07 draws; what is in them already is not run again.

    beams.csv      BLEU on test_2016_flickr, length against the reference's, mean log probability and CPU seconds, by width and alpha
    exposure.csv   the share of right words at each place of twelve, after the right words, after one wrong word among them, and after the
                   model's own (lesson 05's model)
"""

import argparse
import json
import time
from pathlib import Path

import torch

from course_utils.data.measured import append, known
from course_utils.data.multi30k import load_multi30k
from course_utils.data.small_world import small_world
from course_utils.data.subwords import EOS
from course_utils.models.files import load_model
from course_utils.models.seq2seq import Seq2Seq, fit, make_batch
from course_utils.translation.scores import bleu
from course_utils.translation.search import translate_all

WIDTHS, ALPHAS, SENTENCES = (1, 2, 3, 5, 10, 20, 50), (0.0, 1.0), 1000
COLUMNS = {
    "beams": ("pair", "seed", "alpha", "width", "bleu", "length", "log_probability", "cpu_seconds"),
    "exposure": ("fed", "seed", "place", "right"),
}


def beams(run):
    """Yield a row for each alpha and width that is not in the table yet."""
    settings = json.loads((run / "settings.json").read_text(encoding="utf-8"))
    pair, seed = settings["pair"], str(settings["seed"])
    model, subwords = load_model(run)
    pairs = load_multi30k("test_2016_flickr", pair)
    sources = subwords.encode(pairs.sources[:SENTENCES])
    references = pairs.targets[:SENTENCES]
    words = sum(map(len, subwords.encode(references)))
    done = known("beams", COLUMNS["beams"], *COLUMNS["beams"][:4])
    for alpha in ALPHAS:
        for width in WIDTHS:
            if (pair, seed, str(alpha), str(width)) in done:
                continue
            began = time.process_time()
            found = translate_all(model, sources, width, alpha)
            seconds = time.process_time() - began
            score = bleu(subwords.decode([one.tokens for one in found]), references).score
            length = sum(len(one.tokens) for one in found) / words
            log_p = sum(one.log_probability for one in found) / len(found)
            yield pair, seed, alpha, width, round(score, 2), round(length, 4), round(log_p, 4), round(seconds, 1)


ONE_WRONG = 4  # the place of the wrong word


def exposure(seed, length=12):
    """Yield, for each place, the share of words that are right after the right words, after one wrong word among them, and after the model's own.

    The wrong word is the most probable one that is not right. A place counts where the right translation has a word. After right words and
    after the wrong one, no word can be left out; in the model's own translation a word left out shifts all later ones.
    """
    learn, test = small_world(20_000, 1000 + seed), small_world(400, 7, shortest=length, longest=length)
    torch.manual_seed(seed)
    model = Seq2Seq(len(learn.words))
    fit(model, *learn.ids(), seed)
    source, given, wanted = make_batch(*test.ids())
    with torch.no_grad():
        logits = model(source, given)
        after_right = logits.argmax(-1)
        others = logits[:, ONE_WRONG - 1].scatter(1, wanted[:, ONE_WRONG - 1 : ONE_WRONG], -torch.inf)
        given[:, ONE_WRONG] = others.argmax(-1)  # what is given at a place is the word before it, BOS first
        after_one_wrong = model(source, given).argmax(-1)
    after_own = torch.zeros_like(wanted)
    for row, found in enumerate(translate_all(model, test.ids()[0], width=1, longest=wanted.shape[1])):
        tokens = torch.tensor(found.tokens[: wanted.shape[1]])
        after_own[row, : len(tokens)] = tokens
    for fed, said in (("right words", after_right), ("one wrong word", after_one_wrong), ("own words", after_own)):
        for place in range(length):
            word = wanted[:, place] > EOS
            yield fed, seed, place + 1, round((said == wanted)[word, place].float().mean().item(), 4)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("runs", nargs="*", type=Path)
    options = parser.parse_args()
    torch.set_num_threads(1)
    measured = {seed for (seed,) in known("exposure", COLUMNS["exposure"], "seed")}
    for seed in range(5):
        if str(seed) not in measured:
            append("exposure", list(exposure(seed)))
    for run in options.runs:
        for row in beams(run):
            append("beams", [row])
            print(*row, flush=True)


if __name__ == "__main__":
    main()
