"""What the pages of lesson 07 show: the tree of a beam search with two sliders, and the stored measurements by width."""

import ipywidgets
import torch

from course_utils.data.measured import measured, measured_at
from course_utils.figures import plots
from course_utils.figures.tables import table
from course_utils.figures.widgets import explore


def beam_in_the_tree(search, step, vocabulary, probability):
    """Return an Explorer that draws what a beam search keeps in each round, for each width.

    Args:
        search: a function (step, width, longest) → (ended, history), where history has for each round the hypotheses kept, pairs of ids and
            log probability.
        step: the decoder, for `search`.
        vocabulary: the word of each id.
        probability: the probability of each beginning, a tuple of words.
    """

    def draw(width, number):
        _, history = search(step, width, longest=2)
        kept = [tuple(vocabulary[i] for i in ids[1:]) for kept in history[:number] for ids, _ in kept]
        kept = [words for words in kept if words in probability]  # without those that cannot be
        last = [words for words in kept if len(words) == number]
        best = max(last, key=probability.get)
        plots.tree(probability, kept=kept, best=best, title=f"width {width}, round {number}")
        shown = [f"“{' '.join(words)}” with {probability[words]:.2g}" for words in last]
        return f"Kept in round {number}: {', '.join(shown)}."

    width = ipywidgets.IntSlider(value=2, min=1, max=3, description="width")
    number = ipywidgets.IntSlider(value=2, min=1, max=2, description="round")
    return explore(draw, width=width, number=number)


def by_width():
    """Draw BLEU and length against the width, without a penalty and with α = 1; say which widths have the best mean BLEU without one."""
    names = {"bleu": "BLEU", "length": "words of translation / words of reference"}
    for (column, name), ax in zip(names.items(), plots.axes(2, width=5.2, height=3.8), strict=True):
        curves = {}
        for alpha in (0.0, 1.0):
            widths, runs = measured("beams", column, "width", pair="en-fr", alpha=alpha)
            label = "without a penalty" if alpha == 0 else f"α = {alpha:g}"
            curves[label] = torch.tensor(runs)  # seeds widths
        plots.curves(widths, curves, "width of the beam", name, ax=ax)
        ax.set_xscale("log")
        ax.set_xticks(widths, [f"{width:g}" for width in widths])
    widths, runs = measured("beams", "bleu", "width", pair="en-fr", alpha=0.0)
    best = widths[torch.tensor(runs).mean(0).argmax()]
    return "1 or 2" if best < 3 else "3 or 5" if best < 10 else "10 or more"


def table_by_width(widths):
    """Show BLEU, what α = 1 gains, the log probability and the time for these widths: mean [lowest to highest] of the three seeds."""

    def at_widths(column, alpha=0.0):
        return torch.tensor(measured_at("beams", column, "width", widths, pair="en-fr", alpha=alpha))  # widths seeds

    bleu = at_widths("bleu")
    cells = {
        "BLEU": bleu,
        "gained by α = 1": at_widths("bleu", 1.0) - bleu,
        "log probability of a translation": at_widths("log_probability"),
        "seconds for all": at_widths("cpu_seconds"),
    }
    rows = {f"{width}": [column[place] for column in cells.values()] for place, width in enumerate(widths)}
    caption = "1,000 captions, three seeds: mean [lowest to highest]. BLEU and the last two columns are without a penalty; seconds are on one core."
    return table(rows, list(cells), corner="width", digits=1, caption=caption)
