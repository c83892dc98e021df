"""Translation with attention in the small generated world: what comes out right, and whether attention lies where it should.

    python benchmarks/looking_back.py [--seeds 5]

Trains the translators of lesson 06, whose classes are read from its page, as lesson 05 trains its own: the same pairs, batches and steps.
Those that look back have half its rate, which leaves their attention nearer to the true links. Fills three tables, which lessons 04 and 06
show:

attention.csv   for sentences of each length: the share of words that are right at their position, and in the right order; the alignment
                error rate, and the same where a neighbour of the right word counts, too
scores.csv      what comes out right with each of the eight scores in the course's own decoder, and the alignment error rate, at two lengths
projected.csv   the dot product, divided by √D, and that of learned projections, and the cosine times 8: what comes out right, and how
                large the largest weight is
"""

from functools import cache
from itertools import product

import torch
from measuring import fill, jobs, page, read_options, timed

from course_utils.data.small_world import small_world
from course_utils.models.alignment import ATTENTIONS, Attention, ContentBased, parameter
from course_utils.models.attention import SCORES
from course_utils.models.recurrent import RecurrentTranslator
from course_utils.models.seq2seq import fit, make_batch
from course_utils.translation.scores import alignment_error_rate, exact_shares, share_in_order
from course_utils.translation.translate import align_pairs, translate

COLUMNS = "setup seed length words_right words_in_order aer aer_near cpu_seconds"
LENGTHS = (1, 2, 3, 4, 5, 6, 7, 8, 10, 12, 14, 16, 20)
COLUMNS_OF_SCORES, LENGTHS_OF_SCORES = "order setup seed length words_right sentences_right aer cpu_seconds", (12, 16)
COLUMNS_OF_PROJECTED = "setup seed length words_right aer largest_weight cpu_seconds"
PAIRS, TESTED, STEPS, RATE = 20_000, 200, 600, 5e-3
SIZES = {"width": 32, "hidden": 64, "encoder_hidden": 32, "dropout": 0.0}
SETUPS = {
    "one vector": 2 * RATE,
    "looking back": RATE,
    "after the step": RATE,
    "looking back, longer pairs": RATE,
}  # each with the rate that it learns with
LONGEST = {"looking back, longer pairs": 20}  # source words that a pair to learn from may have, where it is not 12


@cache
def classes():
    """Return the models of lesson 06 by the names of SETUPS: one that looks back at a single vector, the class of its page, and Luong's."""
    looking_back = page("06_seq2seq_attention").LookingBack

    class OneVector(looking_back):
        """Has the encoder's last states as its only annotation, so that each context is this vector."""

        def encode(self, source):
            s, _, mask = super().encode(source)
            return s, s[:, None], mask[:, :1]

    class AfterTheStep(looking_back):
        """Looks back after its step, as Luong et al. 2015 do; its cell does not read the context."""

        def __init__(self, V, D=32, H=64):
            super().__init__(V, D, H)
            self.decoder = torch.nn.GRUCell(D, H)

        def decode(self, given, s, h, mask):
            vectors, logits, weights = self.embedding(given), [], []
            for t in range(given.shape[1]):
                s = self.decoder(vectors[:, t], s)  # B H
                c, a = self.attention(s, h, mask)  # B H, B S
                logits.append(self.readout(torch.cat([s, c], -1)))  # B V
                weights.append(a)
            return torch.stack(logits, 1), s, torch.stack(weights, 1)  # B T V, B H, B T S

    found = {"one vector": OneVector, "looking back": looking_back, "after the step": AfterTheStep}
    return found | {"looking back, longer pairs": looking_back}


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


class LargerCosine(ContentBased):
    """8 times the cosine of s and h: Graves et al. 2014 multiply it, too, with a number of the network's own choice."""

    name = "content_based_times_8"

    def scores(self, query, keys):
        return 8 * super().scores(query, keys)


FURTHER = {kind.name: kind for kind in (Projected, LargerCosine)}


def to_learn(seed, longest=12):
    """Return the pairs that a model learns from."""
    return small_world(PAIRS, 1000 + seed, "verb-last", longest=longest)


def to_test(length):
    """Return the pairs that models are tested with at a length."""
    return small_world(TESTED, 7, "verb-last", shortest=length, longest=length)


@torch.no_grad()
def written(model, test, longest=40):
    """Return translations of the sources, with the most probable word at each step."""
    source, y, _ = make_batch(test.words.encode(test.sources), [[]] * len(test.sources))  # B S, B 1
    s, h, mask = model.encode(source)
    words = []
    for _ in range(longest):
        logits, s, _ = model.decode(y, s, h, mask)  # B 1 V, B H
        y = logits.argmax(-1)  # B 1
        words.append(y)
    return test.words.decode(torch.cat(words, 1).tolist())


@torch.no_grad()
def distances(model, test):
    """Return for each target word how many words the largest weight is away from the right source word, given the right words before it."""
    source, given, _ = make_batch(*test.ids())  # B S, B T
    *_, weights = model.decode(given, *model.encode(source))  # B T S
    found = []
    for of_pair, text, links in zip(weights, test.sources, test.links, strict=True):
        looks = of_pair[:, : len(text.split())].argmax(-1).tolist()  # T, not at EOS
        found += [abs(looks[target] - word) for word, target in links]
    return torch.tensor(found)


def measure(setup, seed, lengths=LENGTHS):
    """Train one model; return a row for each length. Each target word has one link, so the AER is the share of wrong ones."""
    learn = to_learn(seed, LONGEST.get(setup, 12))
    torch.manual_seed(seed)
    model = classes()[setup](len(learn.words))
    _, seconds = timed(fit, model, *learn.ids(), seed, STEPS, rate=SETUPS[setup])
    rows = []
    for length in lengths:
        test = to_test(length)
        translations = written(model, test)
        shares = exact_shares(translations, test.targets)[1], share_in_order(translations, test.targets)
        away = None if setup == "one vector" else distances(model, test)
        aers = ("", "") if away is None else ((away > most).float().mean().item() for most in (0, 1))
        rows.append((length, *shares, *aers, seconds))
    return rows


def trained(arguments, lengths, seed):
    """Train the course's own translator; yield for each length: the length, the shares of right words and sentences, AER, seconds, weights."""
    learn = to_learn(seed)
    torch.manual_seed(seed)
    model = RecurrentTranslator(len(learn.words), **SIZES, **arguments)
    _, seconds = timed(fit, model, *learn.ids(), seed, STEPS, rate=RATE)
    for length in lengths:
        test = to_test(length)
        sentences, words = exact_shares(translate(model, test.words, test.sources, width=1), test.targets)
        weights = [pair.weights for pair in align_pairs(model, test.words, test.sources, test.targets)]
        yield length, words, sentences, alignment_error_rate(weights, test.links), seconds, weights


def measure_score(order, score, seed):
    """Train one model with a score; return a row for each length."""
    return [row for *row, _ in trained({"score": score}, LENGTHS_OF_SCORES, seed)]


def largest_weights(score, seed):
    """Train one model; return its rows for projected.csv. Those of 12 words are in scores.csv for the scores that it holds."""
    ATTENTIONS.update(FURTHER)
    lengths = LENGTHS_OF_SCORES if score in FURTHER else (16,)
    rows = []
    for length, words, _, aer, seconds, weights in trained({"score": score}, lengths, seed):
        rows.append((length, words, aer, sum(float(of.max(-1).mean()) for of in weights) / len(weights), seconds))
    return rows


if __name__ == "__main__":
    seeds = read_options(__doc__, 5).seeds
    fill("attention", COLUMNS, jobs(SETUPS, seeds, dict.fromkeys(SETUPS, 3)), measure)
    fill("scores", COLUMNS_OF_SCORES, jobs(product(("verb-last",), SCORES), seeds), measure_score)
    fill("projected", COLUMNS_OF_PROJECTED, jobs(("dot", "scaled_dot", *FURTHER), seeds), largest_weights)
