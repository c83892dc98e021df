"""What the page of lesson 06 calls and does not show: reading in both directions, frames around known links, and the window for sentences of
one's own.

Not here: what the page is about, its attention and its decoders.
"""

import ipywidgets
import torch
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence

from course_utils.figures import plots
from course_utils.figures.widgets import explore
from course_utils.translation.scores import common_words
from course_utils.translation.translate import align


def read_both_ways(gru, vectors, mask):
    """Read sentences from both ends, without their padding.

    Packing keeps the padding out: else the direction that reads from right to left would begin with it.

    Args:
        gru: a bidirectional GRU whose states have the width H/2 in each direction.
        vectors: B×S×D, the words.
        mask: B×S, True at words, which come first.

    Returns:
        h: B×S×H, at each word the states of both directions side by side, zeros at padding.
        s: B×H, the last state of each direction, side by side.
    """
    packed = pack_padded_sequence(vectors, mask.sum(1), batch_first=True, enforce_sorted=False)
    states, last = gru(packed)
    h, _ = pad_packed_sequence(states, batch_first=True, total_length=mask.shape[1])
    return h, torch.cat([*last], -1)


def frames_of_common_words(written, right, links):
    """Return where the weights should lie: for each word of the longest list that both translations have in this order, (row, source word).

    Args:
        written: the words of the model's translation, one for each row.
        right: the words of the right translation.
        links: pairs (source word, word of the right translation).
    """
    source_word = {target: source for source, target in links}
    return [(row, source_word[target]) for row, target in common_words(written, right)]


def translation_window(model, subwords, text):
    """Return an Explorer: a field for an English sentence, its translation, and where the model looks at each word."""

    def translated(text):
        found = align(model, subwords, text, width=2)
        if found.weights is None:
            plots.axes(width=3, height=1).axis("off")
            return "Type an English sentence."
        plots.weights(found.weights, found.source, found.target, xlabel="English", ylabel="French")
        return f"“{text}” becomes “{' '.join(found.target)}”."

    return explore(translated, text=ipywidgets.Text(value=text, description="English"))
