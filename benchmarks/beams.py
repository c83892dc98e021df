"""What a wider beam does for real translations.

    python benchmarks/beams.py RUN ...

The runs are trained translators that differ in their seed alone. The rows go to course_utils/data/measured_tables/beams.csv, which lesson 07
draws: BLEU on test_2016_flickr, length against the reference's, mean log probability and CPU seconds, by width and alpha. What is in it
already is not run again.
"""

import argparse
import json
import time
from pathlib import Path

import torch

from course_utils.data.measured import append, known
from course_utils.data.multi30k import load_multi30k
from course_utils.models.files import load_model
from course_utils.translation.scores import bleu
from course_utils.translation.search import translate_all

WIDTHS, ALPHAS, SENTENCES = (1, 2, 3, 5, 10, 20, 50), (0.0, 1.0), 1000
COLUMNS = ("pair", "seed", "alpha", "width", "bleu", "length", "log_probability", "cpu_seconds")


def beams(run):
    """Yield a row for each alpha and width that is not in the table yet."""
    settings = json.loads((run / "settings.json").read_text(encoding="utf-8"))
    pair, seed = settings["pair"], str(settings["seed"])
    model, subwords = load_model(run)
    pairs = load_multi30k("test_2016_flickr", pair)
    sources = subwords.encode(pairs.sources[:SENTENCES])
    references = pairs.targets[:SENTENCES]
    words = sum(map(len, subwords.encode(references)))
    done = known("beams", COLUMNS, *COLUMNS[:4])
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


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("runs", nargs="+", type=Path)
    options = parser.parse_args()
    torch.set_num_threads(1)
    for run in options.runs:
        for row in beams(run):
            append("beams", [row])
            print(*row, flush=True)


if __name__ == "__main__":
    main()
