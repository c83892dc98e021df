"""What a wider beam does for real translations.

    python benchmarks/beams.py RUN ...

The runs are trained translators that differ in their seed alone. Fills beams.csv, which lesson 07 draws: BLEU on test_2016_flickr, the length
ratio in words that BLEU's brevity penalty is computed from, mean log probability and CPU seconds, by width and alpha.
"""

import json
from pathlib import Path

from measuring import fill, read_options, timed
from sacrebleu.metrics import BLEU

from course_utils.data.multi30k import load_multi30k
from course_utils.models.serialization import load_model
from course_utils.translation.search import translate_all

WIDTHS, ALPHAS, SENTENCES = (1, 2, 3, 5, 10, 20, 50), (0.0, 1.0), 1000
COLUMNS = "pair seed alpha width bleu length log_probability cpu_seconds"


def fill_from(run):
    """Measure a trained translator with each alpha and width."""
    settings = json.loads((run / "settings.json").read_text(encoding="utf-8"))
    model, subwords = load_model(run)
    pairs = load_multi30k("test_2016_flickr", settings["pair"])
    sources, references = subwords.encode(pairs.sources[:SENTENCES]), pairs.targets[:SENTENCES]

    def measure(pair, seed, alpha, width):
        found, seconds = timed(translate_all, model, sources, width, alpha)
        bleu = BLEU().corpus_score(subwords.decode([one.tokens for one in found]), [references])
        log_probability = sum(one.log_probability for one in found) / len(found)
        return [(round(bleu.score, 2), bleu.ratio, log_probability, seconds)]

    jobs = [(settings["pair"], settings["seed"], alpha, width) for alpha in ALPHAS for width in WIDTHS]
    fill("beams", COLUMNS, jobs, measure)


if __name__ == "__main__":
    for run in read_options(__doc__, runs={"nargs": "+", "type": Path}).runs:
        fill_from(run)
