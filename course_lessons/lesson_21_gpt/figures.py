"""What lesson 21 shows of an induction head and of heads that copy in GPTs. No task is declared here."""

import torch
from matplotlib.patches import Rectangle

from course_utils.data.measured import read_rows
from course_utils.data.tales import decode
from course_utils.figures import plots
from course_utils.figures.tables import table


def draw_looks_from_second_capital(model, ids):
    """Draw where each head of a GPT looks from the second capital of a row, T+1 ids, with a frame on the letter after the first one."""
    text = decode(ids.tolist())
    first, again = [place for place, character in enumerate(text) if character.isupper()][:2]
    with torch.no_grad():
        model(ids[None, : again + 1])
    heads = [layer.attention.f.weights[0, :, -1] for layer in model.layers]  # H T, for each layer
    names = [f"{i}.{h}" for i, of_layer in enumerate(heads) for h in range(len(of_layer))]
    shown = [{" ": "␣", "\n": "⏎"}.get(character, character) for character in text[: again + 1]]
    ax, query = plots.axes(width=10, height=3.4), f"heads, query “{text[again]}”"
    plots.weights(torch.cat(heads), shown, names, "", ax, "keys: characters", query)
    frame = Rectangle((first + 0.53, -0.47), 0.94, len(names) - 0.06, fill=False, color=plots.COLOURS[1], linewidth=2)
    ax.add_patch(frame)
    ax.set_xticks(range(len(shown)), shown, rotation=0, ha="center", fontsize=9)


def copying_heads():
    """Return a table of the copying head of each of five stored GPTs: where it looks, and the bits for the letter to copy, with changes and switched off."""
    found = {change: [] for change in ("nothing", "another capital before it", 'without "there"', "switched off")}
    for row in read_rows("copying_heads"):
        if row["change"] in found:
            found[row["change"]].append(row)
    told, capital, moved, off = found.values()
    rows = {
        "head": [row["head"] for row in told],
        "its weight on the letter to copy": _column(told, "weight"),
        "with a different capital": _column(capital, "weight"),
        "with everything moved": _column(moved, "weight"),
        "bits for this letter": _column(told, "bits"),
        "bits with a different capital": _column(capital, "bits"),
        "bits with everything moved": _column(moved, "bits"),
        "bits with the head switched off": _column(off, "bits"),
    }
    return table(rows, [f"seed {row['seed']}" for row in told], corner="five GPTs", digits=2)


def _column(rows, name):
    return [float(row[name]) for row in rows]


def draw_layers(model, words):
    """Draw the weights of both layers for one text, T words, with frames on the word before and on the word to copy."""
    labels, last = [str(word) for word in words.tolist()], len(words) - 1
    first = words[:-1].tolist().index(words[-1])
    frames = [(t, t - 1) for t in range(1, last + 1)], [(last, first + 1)]
    model(words[None])
    for i, ax in enumerate(plots.axes(2, width=4.6, height=4)):
        weights = model.layers[i].weights[0, 0].detach()
        plots.weights(
            weights,
            labels,
            labels,
            f"{('first', 'second')[i]} layer",
            ax,
            "keys: words",
            "queries: words",
            marked=frames[i],
        )
