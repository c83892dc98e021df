"""What the pages of lesson 18 show: pictures and tables that only look at models or at stored measurements. No task is declared here.

Letters: B inputs, N experts.
"""

import torch
import torch.nn.functional as F

from course_utils.data.measured import by_seed
from course_utils.data.regimes import LANGUAGES, WORDS
from course_utils.figures import diagrams, plots
from course_utils.figures.tables import table
from course_utils.models.experts import Translator, mix

BALANCED = ("nothing", "balance loss", "offsets", "norm", "fixed gate")
LAYERS = {  # the stored runs of a translator, and what its layer is made with
    "8 experts": ("8 experts", {"experts": 8}),
    "8 experts, k = 2": ("8 experts, k = 2", {"experts": 8, "k": 2}),
    "one network": ("no experts", {}),
    "one wide network": ("8 times as wide", {"hidden": 256}),
    "8 experts, no balance loss": ("8 experts, no balance", {"experts": 8}),
}


def draw_mixture():
    """Return the drawing of a mixture as attention: N experts, an input of width D, outputs of width E."""
    parts = ("input: *x*", "rows of *W*", "outputs: *o*_i (*x*)", "dot")
    shapes = {"queries": "B D", "keys": "N D", "values": "B N E", "scores": "B N", "context": "B E"}
    return diagrams.attention(*parts, masked=False, context="answer: *y*", title="A mixture of experts", shapes=shapes)


@torch.no_grad()
def draw_lines(mixtures, points):
    """Draw what the three experts of each mixture answer, and their weighted sum, over the points."""
    x = torch.linspace(-3, 3, 121)[:, None]
    for ax, (name, mixture) in zip(plots.axes(len(mixtures), width=4, height=3), mixtures.items(), strict=True):
        outputs, gates = mixture(x)  # B N 1, B N
        ax.scatter(points.x[:300], points.y[:300], s=6, color="0.7")
        for i, (colour, dash, _) in enumerate(plots.LOOKS[:3]):
            asked = gates.argmax(1) == i  # B
            ax.plot(x, outputs[:, i], color=colour, linestyle=dash, linewidth=1, alpha=0.5)
            ax.fill_between(x[:, 0], -5, 3, where=asked, color=colour, alpha=0.12, linewidth=0)
            largest = outputs[:, i].where(asked[:, None], torch.nan)
            ax.plot(x, largest, color=colour, linestyle=dash, linewidth=3, label=f"expert {i + 1}")
        ax.plot(x, mix(outputs, gates), color="black", linewidth=1, label="weighted sum")
        ax.set(xlabel="x", ylabel="y", title=name, ylim=(-5, 3))
        ax.legend(loc="lower center", ncols=2, fontsize=9, edgecolor="none")


def errors_on_lines():
    """Return a table of errors over 20 seeds: of the weighted sum, and of the expert with the largest weight alone."""
    rows = {
        name: torch.stack([by_seed("lines", "error", setup=name), by_seed("lines", "best_error", setup=name)], 1)
        for name in ("work together", "compete")
    }
    columns = ["weighted sum", "largest weight alone"]
    return table(rows, columns, digits=2, caption="Squared error on new points: mean of 20 seeds [lowest to highest]")


@torch.no_grad()
def draw_choices(models):
    """Draw which expert each switch asks, for 16 words of eight languages."""
    languages = torch.arange(8).repeat_interleave(16)
    words = 8 + torch.arange(16).repeat(8)
    x = F.one_hot(torch.stack([languages, words], 1), 8 + WORDS).sum(1).float()
    for ax, (name, model) in zip(plots.axes(len(models), width=5, height=3.2), models.items(), strict=True):
        _, _, chosen = model(x)
        plots.choices(chosen.view(8, 16), name, ax, "word", "language")


def ways_to_balance():
    """Return a table of ten seeds: experts with work, right words, and these minus the right words without any balancing."""
    rows = {}
    for setup in BALANCED:
        used, right = by_seed("balance", "used", setup=setup), by_seed("balance", "right", setup=setup)
        rows["no second loss" if setup == "nothing" else setup] = [
            f"{int(used.min())} to {int(used.max())}",
            right,
            right - by_seed("balance", "right", setup="nothing"),
        ]
    columns = ["experts with work", "right words", "gain over no second loss"]
    return table(rows, columns, digits=2, caption="Mean of ten seeds [lowest to highest], differences by seed")


def compare_layers():
    """Return a table of what each layer costs, and of the words that a translator with it gets right."""
    rows = {}
    right_of_experts = by_seed("translators", "right", setup="8 experts")
    for name, (setup, made) in LAYERS.items():
        layer = Translator(LANGUAGES, WORDS, **made).layer.feed_forward
        parameters = sum(p.numel() for p in layer.parameters())
        work = 2 * 32 * made.get("hidden", 32) * made.get("k", 1) + 32 * made.get("experts", 0)
        right, busiest = (by_seed("translators", value, setup=setup) for value in ("right", "most_used"))
        rows[name] = [parameters, work, right, right - right_of_experts, busiest if "experts" in made else "all"]
    columns = [
        "parameters",
        "multiplications per token",
        "right words",
        "minus those of 8 experts",
        "busiest expert's share of choices",
    ]
    caption = "Mean of five seeds [lowest to highest] after 1,200 steps, differences by seed"
    return table(rows, columns, digits=2, caption=caption)
