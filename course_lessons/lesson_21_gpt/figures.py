"""What lesson 21 shows of an induction head and of stored GPTs that read changed tales. No task is declared here."""

from course_utils.data.measured import by_seed
from course_utils.figures import plots
from course_utils.figures.tables import table


def copying_in_retold_tales():
    """Return a table of the bits that five stored GPTs need per letter to copy at a second mention, in tales as they are and changed ones."""
    changes = {  # the names in the stored table, and what the page calls them
        "nothing": "nothing",
        "another letter before it at the first mention": "a different letter before the one to copy",
    }
    rows = {shown: [by_seed("retold", "to_copy", change=change)] for change, shown in changes.items()}
    return table(rows, ["bits per letter to copy, second mention only"], corner="what is changed", digits=2)


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
