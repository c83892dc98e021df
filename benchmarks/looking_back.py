"""Translation with attention in the small generated world: what comes out right, and whether attention lies where it should.

    python benchmarks/looking_back.py [--seeds 5]

Trains the translators of lesson 06 as lesson 05 trains its own: the same pairs, batches and steps. Those that look back have half its
rate, which leaves the attention of Bahdanau's decoder nearer to the true links. Fills four tables, which lessons 04 and 06 show:

attention.csv   the share of right words and sentences, and the alignment error rate, for sentences of each length
in_order.csv    the words that are right at their position, and those that are right and in the right order, in long sentences
scores.csv      the same for each of the eight scores in Bahdanau's decoder, at two lengths
projected.csv   the dot product, divided by √D, and that of learned projections: what comes out right, and how large the largest weight is
"""

from itertools import product

import torch
from measuring import fill, jobs, read_options, timed

from course_utils.data.small_world import small_world
from course_utils.models.alignment import ATTENTIONS, Attention, parameter
from course_utils.models.attention import SCORES
from course_utils.models.recurrent import RecurrentTranslator
from course_utils.models.seq2seq import fit
from course_utils.translation.scores import alignment_error_rate, exact_shares, share_in_order
from course_utils.translation.translate import align_pairs, translate

COLUMNS = "order setup seed length words_right sentences_right aer cpu_seconds"
LENGTHS, LENGTHS_OF_SCORES = (1, 2, 3, 4, 5, 6, 7, 8, 10, 12, 14, 16, 20), (12, 16)
COLUMNS_IN_ORDER, LONG = "order setup seed length words_right words_in_order", (12, 14, 16, 20)
COLUMNS_OF_PROJECTED = "setup seed length words_right aer largest_weight cpu_seconds"
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


def model_of(order, arguments, seed):
    """Train one model; return it and the seconds that this took."""
    learn = small_world(PAIRS, 1000 + seed, order)
    torch.manual_seed(seed)
    model = RecurrentTranslator(len(learn.words), **SIZES, **arguments)
    rate = RATE if arguments.get("attention") != "none" else 2 * RATE
    _, seconds = timed(fit, model, *learn.ids(), seed, STEPS, rate=rate)
    return model, seconds


def to_test(order, length):
    """Return the pairs that models are tested with at a length."""
    return small_world(TESTED, 7, order, shortest=length, longest=length)


def trained(order, arguments, lengths, seed):
    """Train one model; yield for each length: the length, the shares of right words and sentences, AER, seconds, and its weights."""
    model, seconds = model_of(order, arguments, seed)
    for length in lengths:
        test = to_test(order, length)
        sentences, words = exact_shares(translate(model, test.words, test.sources, width=1), test.targets)
        weights = [pair.weights for pair in align_pairs(model, test.words, test.sources, test.targets)]
        aer = "" if weights[0] is None else alignment_error_rate(weights, test.links)
        yield length, words, sentences, aer, seconds, weights


def measure(order, setup, seed, lengths=LENGTHS):
    """Train one model; return a row for each length."""
    return [row for *row, _ in trained(order, SETUPS[setup], lengths, seed)]


def measure_in_order(order, setup, seed, lengths=LONG):
    """Train one model; return for each length the words that are right at their position, and those in the right order."""
    model, _ = model_of(order, SETUPS[setup], seed)
    rows = []
    for length in lengths:
        test = to_test(order, length)
        written = translate(model, test.words, test.sources, width=1)
        rows.append((length, exact_shares(written, test.targets)[1], share_in_order(written, test.targets)))
    return rows


def measure_score(order, score, seed):
    """Train one model with a score; return a row for each length."""
    return [row for *row, _ in trained(order, {"score": score}, LENGTHS_OF_SCORES, seed)]


def largest_weights(score, seed):
    """Train one model; return its rows for projected.csv. Those of 12 words are in scores.csv for the first two scores."""
    ATTENTIONS[Projected.name] = Projected
    lengths = LENGTHS_OF_SCORES if score == Projected.name else (16,)
    rows = []
    for length, words, _, aer, seconds, weights in trained("verb-last", {"score": score}, lengths, seed):
        rows.append((length, words, aer, sum(float(of.max(-1).mean()) for of in weights) / len(weights), seconds))
    return rows


if __name__ == "__main__":
    seeds = read_options(__doc__, 5).seeds
    fill("attention", COLUMNS, jobs(product(("monotone", "verb-last"), SETUPS), seeds), measure)
    fill("in_order", COLUMNS_IN_ORDER, jobs(product(("verb-last",), SETUPS), seeds), measure_in_order)
    fill("scores", COLUMNS, jobs(product(("verb-last",), SCORES), seeds), measure_score)
    fill("projected", COLUMNS_OF_PROJECTED, jobs(("dot", "scaled_dot", Projected.name), seeds), largest_weights)
