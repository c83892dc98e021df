"""Attention in a window, in the small generated world: where it suffices, and where it does not; and a decoder without any.

    python benchmarks/local.py [--seeds 5]

Luong's decoder learns from sentences of 1 to 12 words as lesson 06's does. Fills two tables, which lesson 08 shows:

local.csv     the share of words that are most probable after the right words before them. A window that moves by one place with each word
              of the target needs the word's place, which a search over hypotheses does not pass on
centres.csv   where the window that is predicted stands for each word of the target, and where the word of the source stands
"""

from itertools import product

import torch
import torch.nn.functional as F
from measuring import fill, jobs, read_options, timed

from course_utils.data.small_world import small_world
from course_utils.data.subwords import PAD
from course_utils.models.alignment import General, parameter
from course_utils.models.attention import masked_softmax
from course_utils.models.recurrent import RecurrentTranslator
from course_utils.models.seq2seq import fit, make_batch

COLUMNS = "order setup seed length words_right cpu_seconds"
ORDERS, LENGTHS = ("monotone", "verb-last", "reversed"), (2, 4, 6, 8, 10, 12, 16, 20)
PAIRS, STEPS, RATE = 20_000, 600, 5e-3
WINDOW, TESTED = 2, 200


class LocalMonotone(General):
    """Luong's score over the places that are at most WINDOW from the target's own place (Luong et al. 2015, section 3.2, local-m)."""

    def centre(self, query, mask):
        """Return the places of the targets: queries B×T×H → 1×T."""
        return torch.arange(query.shape[1])[None]

    def forward(self, query, memory):
        """Attend to what `prepare` returned: queries B×T×H → contexts B×T×E, weights B×T×S."""
        scores = self.scores(query, memory["keys"])  # B T S
        self.centres = self.centre(query, memory["mask"])  # B T
        away = torch.arange(scores.shape[-1]) - self.centres[..., None]  # B T S
        weights = masked_softmax(scores, memory["mask"] & (away.abs() <= WINDOW)) * self.gaussian(away)
        return weights @ memory["values"], weights

    def gaussian(self, away):
        """Return what the weights are multiplied by: 1."""
        return 1.0


class LocalPredictive(LocalMonotone):
    """The same around a place that the state predicts, with weights that fall from there (section 3.2, local-p)."""

    def __init__(self, state, annotation, longest):
        super().__init__(state, annotation, longest)
        self.centre_weight, self.v = parameter(state, state), parameter(state)

    def centre(self, query, mask):
        """Return S · σ(vᵀ tanh(W s)), equation 9: B×T."""
        return mask.sum(-1) * torch.sigmoid(torch.tanh(query @ self.centre_weight.T) @ self.v)

    def gaussian(self, away):
        """Return exp(-away² / 2σ²) with σ = WINDOW / 2, equation 10."""
        return torch.exp(-(away**2) / (2 * (WINDOW / 2) ** 2))


class Nothing(General):
    """No attention: contexts of zeros, so that the decoder has its first state, made of the whole source, and the words before."""

    def forward(self, query, memory):
        """Return zeros: queries B×T×H → contexts B×T×E, weights B×T×S."""
        weights = query.new_zeros(*query.shape[:2], memory["values"].shape[1])
        return weights @ memory["values"], weights


class LargestAlone(General):
    """Reads only the value with the largest weight."""

    def forward(self, query, memory):
        """Attend to what `prepare` returned: queries B×T×H → contexts B×T×E, weights B×T×S, each a 1 among zeros."""
        _, weights = super().forward(query, memory)
        weights = F.one_hot(weights.argmax(-1), weights.shape[-1]).to(weights.dtype)  # B T S
        return weights @ memory["values"], weights


SETUPS = {"global": General, "local-m": LocalMonotone, "local-p": LocalPredictive, "none": Nothing}
LARGEST = "global, largest weight alone"  # learns as "global", and is tested with LargestAlone


def trained(order, setup, seed):
    """Return a model, and the seconds that its training took."""
    learn = small_world(PAIRS, 1000 + seed, order)
    torch.manual_seed(seed)
    model = RecurrentTranslator(
        len(learn.words), width=32, hidden=64, encoder_hidden=32, dropout=0.0, attention="luong", score="general"
    )
    if SETUPS[setup] is not General:
        model.decoder.attention = SETUPS[setup](64, 64, 100)
    _, seconds = timed(fit, model, *learn.ids(), seed, STEPS, rate=RATE)
    return model, seconds


def to_test(order, length):
    """Return the pairs that models are tested with at a length."""
    return small_world(TESTED, 7, order, shortest=length, longest=length)


def measure(order, setup, seed):
    """Train one model; return a row for each length."""
    model, seconds = trained(order, "global" if setup == LARGEST else setup, seed)
    if setup == LARGEST:
        learned = model.decoder.attention.state_dict()
        model.decoder.attention = LargestAlone(64, 64, 100)
        model.decoder.attention.load_state_dict(learned)
    rows = []
    for length in LENGTHS:
        source, given, wanted = make_batch(*to_test(order, length).ids())
        with torch.no_grad():
            right = (model(source, given).argmax(-1) == wanted)[wanted != PAD].double().mean().item()
        rows.append((length, right, seconds))
    return rows


def centres(order, seed):
    """Train local-p; return a row for each length and place in the target that at least a tenth of the pairs have: means over the pairs."""
    model, seconds = trained(order, "local-p", seed)
    rows = []
    for length in (12, 20):
        test = to_test(order, length)
        source, given, _ = make_batch(*test.ids())  # B S, B T
        with torch.no_grad():
            model(source, given)
        found = {}
        for of_pair, links in zip(model.decoder.attention.centres.tolist(), test.links, strict=True):
            for place, word in links:
                found.setdefault(word, []).append((of_pair[word], place))
        for word in sorted(found):
            if len(found[word]) >= TESTED / 10:
                rows.append((length, word, *torch.tensor(found[word]).float().mean(0).tolist(), seconds))
    return rows


if __name__ == "__main__":
    seeds = read_options(__doc__, 5).seeds
    fill("local", COLUMNS, jobs(product(ORDERS, [*SETUPS, LARGEST]), seeds), measure)
    fill("centres", "order seed length word centre place cpu_seconds", jobs(["monotone"], seeds), centres)
