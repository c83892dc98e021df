"""Attention in a window, in the small generated world: where it suffices, and where it does not; and a decoder without any.

    python benchmarks/local.py [--seeds 5]

Luong's decoder learns from sentences of 1 to 12 words as lesson 06's does. Fills local.csv, which lesson 08 draws: the share of words
that are most probable after the right words before them. A window that moves by one place with each word of the target needs the
word's place, which a search over hypotheses does not pass on.
"""

from itertools import product

import torch
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
        away = torch.arange(scores.shape[-1]) - self.centre(query, memory["mask"])[..., None]  # B T S
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


SETUPS = {"global": General, "local-m": LocalMonotone, "local-p": LocalPredictive, "none": Nothing}


def measure(order, setup, seed):
    """Train one model; return a row for each length."""
    learn = small_world(PAIRS, 1000 + seed, order)
    torch.manual_seed(seed)
    model = RecurrentTranslator(
        len(learn.words), width=32, hidden=64, encoder_hidden=32, dropout=0.0, attention="luong", score="general"
    )
    if SETUPS[setup] is not General:
        model.decoder.attention = SETUPS[setup](64, 64, 100)
    _, seconds = timed(fit, model, *learn.ids(), seed, STEPS, rate=RATE)
    rows = []
    for length in LENGTHS:
        source, given, wanted = make_batch(*small_world(TESTED, 7, order, shortest=length, longest=length).ids())
        with torch.no_grad():
            right = (model(source, given).argmax(-1) == wanted)[wanted != PAD].double().mean().item()
        rows.append((length, right, seconds))
    return rows


if __name__ == "__main__":
    fill("local", COLUMNS, jobs(product(ORDERS, SETUPS), read_options(__doc__, 5).seeds), measure)
