"""What feeds the tables and pictures of lesson 10. Not here: its questions and the models that answer them, which the lesson's page builds.

Shape letters: S pairs, F letters asked for, H heads, D width.
"""

import ipywidgets
import torch

from course_utils.data.measured import by_seed, measured
from course_utils.data.recall import KEYS, VALUES
from course_utils.figures import diagrams, plots
from course_utils.figures.tables import table
from course_utils.figures.widgets import explore
from course_utils.models.head_ablation import weights_of_heads
from course_utils.models.seq2seq import make_batch

LETTERS = "abcdefgh"


def draw_two_heads(words, asking, queries, weights, contexts, output):
    """Draw what the two heads of the word at the place `asking` do: queries and contexts 2×d, weights 2×S, output D."""
    numbers = [list(map(_short, part.flatten().tolist())) for part in (queries, *contexts, output)]
    return diagrams.several_heads(words, asking, numbers[0], weights.tolist(), numbers[1:3], numbers[3])


def _short(value):
    return f"{value:.2f}".removesuffix(".00")


@torch.no_grad()
def show_weights(models, question):
    """Draw how much each head looks at each pair of one question, as the page's `draw_questions` returns it; frames mark the pairs asked for."""
    pairs, letters, _, positions = question
    names = [f"{LETTERS[pair // VALUES]}{pair % VALUES + 1}" for pair in pairs[0].tolist()]
    asked = ", ".join(LETTERS[letter % KEYS] for letter in letters[0].tolist())
    panels = list(zip(models.items(), plots.axes(len(models), width=4.6, height=2.6), strict=True))
    for (name, model), ax in panels:
        weights = model(pairs, letters)[1][0, :, 0]  # H S
        marks = [(head, position) for head in range(len(weights)) for position in positions[0].tolist()]
        heads = [f"head {head}" for head in range(len(weights))]
        title = f"{name}, asked for {asked}"
        plots.weights(weights, names, heads, title, ax, "the pairs", "", marked=marks)


def table_of_facts(facts):
    """Show what share of the digits models get right for two facts or for three, by heads, hidden layer and steps of training."""
    setups = [(1, 0), (1, 32), (1, 128)] if facts == 2 else [(1, 32), (4, 32), (1, 128), (4, 128)]
    lengths = [2000] if facts == 2 else [1000, 4000]
    rows = {}
    for heads, units in setups:
        name = f"{'one head' if heads == 1 else 'four heads'}, {f'{units} units' if units else 'no hidden layer'}"
        model = {"facts": facts, "heads": heads, "units": units}
        rows[name] = [by_seed("facts", "right", **model, steps=steps) for steps in lengths]
    caption = "share of digits right, mean and range of three seeds"
    return table(rows, [f"{steps:,} steps" for steps in lengths], digits=2, caption=caption)


def table_of_bleu():
    """Show how many BLEU a translator has with one head, and how many more with several, paired by seed."""
    bleu = {H: measured("translated", "bleu", "epochs", positions="sinusoidal", heads=H)[1] for H in (1, 2, 4, 8)}
    one = [run[0] for run in bleu.pop(1)]
    rows = {"1 head": [f"{run:.1f}" for run in one]}
    for H, runs in bleu.items():
        rows[f"{H} heads, gained"] = [f"{run[0] - alone:+.1f}" for run, alone in zip(runs, one, strict=True)]
    caption = "BLEU after three epochs on captions, and what several heads gain over one"
    return table(rows, [f"seed {seed}" for seed in range(3)], caption=caption)


def explore_heads(model, subwords, sentence):
    """Return an Explorer with sliders for the layer and the head: what each word of a sentence looks at in the encoder."""
    source, given, _ = make_batch(subwords.encode([sentence]), [[]])
    seen, pieces = weights_of_heads(model, source, given), [*subwords.tokens(source[0, :-1].tolist()), "EOS"]

    def head_at(layer, head):
        weights = seen[f"encoder {layer}"][0, head]
        ax = plots.axes(width=8, height=5.4)
        plots.amounts(weights, pieces, pieces, "", ax, "keys: tokens", "queries: tokens", unit="weight")
        before = range(len(pieces) - 1), range(1, len(pieces))  # columns, rows
        ax.plot(*before, "s", color=plots.COLOURS[1], fillstyle="none", markersize=17)
        average = f"the token before gets {weights.diagonal(-1).mean():.2f} on average"
        ax.set_title(f"layer {layer}, head {head}: {average}")
        return f"Encoder, layer {layer}, head {head}: {average}."

    layer, head = (ipywidgets.IntSlider(value=2, min=0, max=most) for most in (2, 3))
    return explore(head_at, layer=layer, head=head)


def show_weight_by_distance():
    """Draw for each head of the encoder the mean weight at each distance, over 300 captions."""
    nearby = {}
    for layer in range(3):
        for head in range(4):
            distances, runs = measured("near", "weight", "distance", attention=f"encoder {layer}", head=head)
            nearby[f"layer {layer}, head {head}"] = runs[0]
    names = [f"{by:+g}" if by else "itself" for by in distances]
    shape = {"xlabel": "distance in tokens", "ylabel": "", "most": 0.5, "unit": "mean weight"}
    plots.amounts(torch.tensor([*nearby.values()]), names, list(nearby), ax=plots.axes(width=6.4, height=5), **shape)


def bleu_lost_by_head():
    """Return the BLEU of the whole translator, and for each of its attentions what it loses without each of the four heads."""
    whole = measured("heads", "bleu", "head", state="on")[1][0][0]
    lost = {}
    for part in ("encoder", "decoder", "source"):
        for layer in range(3):
            left = measured("heads", "bleu", "head", attention=f"{part} {layer}", state="off")[1][0]
            lost[f"{part} {layer}"] = [whole - bleu for bleu in left]
    return whole, lost


def show_lost_bleu(lost):
    """Draw what the translator loses without each head."""
    shape = {"xlabel": "", "ylabel": "attention", "unit": "BLEU lost", "most": 2.5}
    heads = [f"head {head}" for head in range(4)]
    ax = plots.axes(width=5.4, height=4.4)
    plots.amounts(torch.tensor([*lost.values()]), heads, list(lost), "without this head", ax, **shape)
