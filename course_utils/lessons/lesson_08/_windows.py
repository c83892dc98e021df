"""What a translator gets right with a window, as measured, and where a trained local-p looks.

Here: what feeds two tables and a picture of the lesson, and the two windows as a translator's attention. Not here: the program behind the
tables (`benchmarks/local.py`), which trains with these windows. No task is declared here.

Shape letters: B sentences, T target length, S source length, H width of a state.
"""

import torch

from course_utils.data.measured import by_seed
from course_utils.data.small_world import small_world
from course_utils.figures import plots
from course_utils.models.alignment import General, parameter
from course_utils.models.attention import masked_softmax
from course_utils.models.recurrent import RecurrentTranslator
from course_utils.models.seq2seq import fit, make_batch

WINDOW, TESTED, LENGTHS = 2, 200, (12, 20)
KINDS = {"global": "global", "local-m": "local-m", "local-p": "local-p", "no attention": "none"}


def words_right(order):
    """Return, for each kind of attention, the shares of words that are right in sentences of 12 words and of 20, of five seeds each."""
    rows = {}
    for name, setup in KINDS.items():
        where = {"order": order, "setup": setup}
        rows[name] = [by_seed("local", "words_right", length=n, **where) for n in LENGTHS]
    return rows


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
        """Return S · σ(vᵀ tanh(W s)), equation 9: B×T. They stay in `centres`."""
        self.centres = mask.sum(-1) * torch.sigmoid(torch.tanh(query @ self.centre_weight.T) @ self.v)
        return self.centres

    def gaussian(self, away):
        """Return exp(-away² / 2σ²) with σ = WINDOW / 2, equation 10."""
        return torch.exp(-(away**2) / (2 * (WINDOW / 2) ** 2))


def train_local_p(seed=0, steps=300):
    """Return a translator with local-p, trained on monotone sentences of at most 12 words of the small world."""
    learn = small_world(20_000, 1000 + seed)
    torch.manual_seed(seed)
    model = RecurrentTranslator(
        len(learn.words), width=32, hidden=64, encoder_hidden=32, dropout=0.0, attention="luong", score="general"
    )
    model.decoder.attention = LocalPredictive(64, 64, 100)
    fit(model, *learn.ids(), seed, steps, rate=5e-3)
    return model


@torch.no_grad()
def centres(model, length):
    """Return two means over 200 new sentences for each word of the translation: its source word's position, and the centre.

    Only the first words are counted, up to the shortest translation, so that each mean is over the same sentences.
    """
    pairs = small_world(TESTED, 7, shortest=length, longest=length)
    source, given, _ = make_batch(*pairs.ids())
    model(source, given)
    places = torch.full(given.shape, torch.nan)  # B T
    for row, links in enumerate(pairs.links):
        for place, word in links:
            places[row, word] = place
    shortest = min(len(text.split()) for text in pairs.targets)
    right, found = places[:, :shortest], model.decoder.attention.centres[:, :shortest]
    return {"right source word": right.nanmean(0)[None], "centre of local-p": found.mean(0)[None]}  # 1 T


def plot_centres(model, lengths):
    """Draw the centres of a model beside the positions of the right source words, a panel for each length of a sentence."""
    for length, ax in zip(lengths, plots.axes(len(lengths), width=4.4, height=3.4), strict=True):
        curves = centres(model, length)
        positions = range(curves["centre of local-p"].shape[1])
        labels = "position in the translation", "position in the source"
        plots.curves(positions, curves, *labels, title=f"sentences of {length} words", ax=ax, legend="upper left")
        ax.set(ylim=(0, 20), yticks=range(0, 21, 5))
