"""What the page of lesson 06 only draws: frames around known links, and the window for the reader's own sentences."""

import ipywidgets

from course_utils.figures import plots
from course_utils.figures.widgets import explore
from course_utils.translation.scores import common_words
from course_utils.translation.translate import align


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
