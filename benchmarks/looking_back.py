"""Translation with attention in the small generated world: what comes out right, and whether attention lies where it should.

    python benchmarks/looking_back.py [--seeds 5]

Trains the translators of lesson 06 once for each order of words, setup and seed, as lesson 05 trains its own: the same pairs, batches
and steps. Those that look back have half its rate, which leaves the attention of Bahdanau's decoder nearer to the true links. The rows go to the tables in course_utils/data/measured_tables, which the lesson draws; what is in them already is not run
again.

    attention.csv   the share of right words and sentences, and the alignment error rate, for sentences of each length
    scores.csv      the same for each of the eight scores in Bahdanau's decoder, at two lengths
    projected.csv   the dot product, divided by √D, and that of learned projections: what comes out right, and how large the largest weight is
"""

import argparse
import time

import torch

from course_utils.data.measured import append, fill, known
from course_utils.data.small_world import small_world
from course_utils.models.alignment import ATTENTIONS, Attention, parameter
from course_utils.models.attention import SCORES
from course_utils.models.recurrent import RecurrentTranslator
from course_utils.models.seq2seq import fit
from course_utils.translation.scores import alignment_error_rate, exact_shares
from course_utils.translation.translate import align_pairs, translate

COLUMNS = ("order", "setup", "seed", "length", "words_right", "sentences_right", "aer", "cpu_seconds")
LENGTHS, LENGTHS_OF_SCORES = (1, 2, 3, 4, 5, 6, 7, 8, 10, 12, 14, 16, 20), (12, 16)
COLUMNS_OF_PROJECTED = ("setup", "seed", "length", "words_right", "aer", "largest_weight", "cpu_seconds")
PAIRS, TESTED, STEPS, RATE = 20_000, 200, 600, 5e-3
SIZES = {"width": 32, "hidden": 64, "encoder_hidden": 32, "dropout": 0.0}
SETUPS = {
    "one vector": {"attention": "none"},
    "Bahdanau": {"attention": "bahdanau"},
    "Luong": {"attention": "luong", "score": "general", "input_feeding": True},
}


class Projected(Attention):
    """(W_q s)ᵀ (W_k h) / √H: the scaled dot product of learned projections, as in the Transformer."""

    name = "projected"

    def __init__(self, state, annotation, longest):
        super().__init__(state, annotation, longest)
        self.of_state, self.of_annotation = parameter(state, state), parameter(state, annotation)

    def keys(self, annotations):
        return annotations @ self.of_annotation.T / self.state**0.5

    def scores(self, query, keys):
        return (query @ self.of_state.T) @ keys.mT


def largest_weights(score, seed):
    """Train one model; return its row for projected.csv."""
    ((row, weights),) = _measured("verb-last", score, {"score": score}, (16,), seed)
    _, _, _, length, words, _, aer, seconds = row
    largest = sum(float(of.max(-1).mean()) for of in weights) / len(weights)
    return [(score, seed, length, words, aer, round(largest, 4), seconds)]


def measure(order, setup, arguments, lengths, seed):
    """Train one model; return its rows."""
    return [row for row, _ in _measured(order, setup, arguments, lengths, seed)]


def _measured(order, setup, arguments, lengths, seed):
    learn = small_world(PAIRS, 1000 + seed, order)
    torch.manual_seed(seed)
    model = RecurrentTranslator(len(learn.words), **SIZES, **arguments)
    began = time.process_time()
    fit(model, *learn.ids(), seed, STEPS, rate=RATE if arguments.get("attention") != "none" else 2 * RATE)
    seconds = round(time.process_time() - began, 1)
    rows = []
    for length in lengths:
        test = small_world(TESTED, 7, order, shortest=length, longest=length)
        sentences, words = exact_shares(translate(model, test.words, test.sources, width=1), test.targets)
        weights = [pair.weights for pair in align_pairs(model, test.words, test.sources, test.targets)]
        aer = "" if weights[0] is None else round(alignment_error_rate(weights, test.links), 4)
        rows.append(((order, setup, seed, length, round(words, 4), round(sentences, 4), aer, seconds), weights))
    return rows


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--seeds", type=int, default=5)
    options = parser.parse_args()
    torch.set_num_threads(1)
    work = [("attention", order, *setup, LENGTHS) for order in ("monotone", "verb-last") for setup in SETUPS.items()]
    work += [("scores", "verb-last", score, {"score": score}, LENGTHS_OF_SCORES) for score in SCORES]
    ATTENTIONS[Projected.name] = Projected
    done = {table: known(table, COLUMNS, "order", "setup", "seed") for table in ("attention", "scores")}
    for seed in range(options.seeds):
        for table, order, setup, arguments, lengths in work:
            if (order, setup, str(seed)) not in done[table]:
                rows = measure(order, setup, arguments, lengths, seed)
                append(table, rows)
                told = {row[3]: (row[4], row[6]) for row in rows}
                print(f"{order}, {setup}, seed {seed}: {rows[0][-1]} s, {told}", flush=True)
    jobs = [(setup, seed) for seed in range(options.seeds) for setup in ("dot", "scaled_dot", Projected.name)]
    fill("projected", COLUMNS_OF_PROJECTED, jobs, largest_weights)


if __name__ == "__main__":
    main()
