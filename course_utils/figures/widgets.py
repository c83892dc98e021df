"""Pictures that respond to a slider or a choice. They use only ipywidgets, so they work in JupyterLab, Colab and VS Code.

`explore` shows the picture for the controls' first values as a plain image wherever no kernel runs.
"""

import base64
import io
from html import escape

import ipywidgets
import matplotlib.pyplot as plt

from course_utils.figures.alt_text import UNSEEN, ground_of, image
from course_utils.figures.drawing import as_image
from course_utils.figures.film import Film


class Explorer(ipywidgets.VBox):
    """Controls above a picture and the sentence that describes it. `controls`, `picture` and `sentence` are its parts.

    The sentence is also the picture's alternative text, and is announced when it changes. `shown` is what a notebook
    stores of the picture, by MIME type, and `words` is the sentence.
    """

    def __init__(self, draw, controls):
        self.draw, self.controls = draw, controls
        self.picture, self.sentence = ipywidgets.HTML(), ipywidgets.HTML()
        for name, control in controls.items():
            control.description = control.description or name
            control.style = {"description_width": "initial"}
            control.observe(self.update, names="value")
        super().__init__([*controls.values(), self.picture, self.sentence])
        self.update()

    def update(self, change=None):
        """Draw for the controls' current values."""
        drawn = self.draw(**{name: control.value for name, control in self.controls.items()})
        if isinstance(drawn, Film):
            self.shown, self.metadata, unseen = (
                as_image(drawn, drawn.frame()),
                {},
                f' style="{UNSEEN}"',
            )  # the film says it
            self.picture.value = self.shown["text/html"]
        else:
            png, self.metadata, unseen = picture_of_figure("png"), ground_of(plt.gcf()), ""
            plt.close()  # so that the notebook does not show it twice
            self.shown = {"image/png": base64.b64encode(png).decode(), "text/plain": drawn}
            self.picture.value = image(png, drawn, self.metadata)
        self.words = self.shown["text/plain"]
        self.sentence.value = f'<div role="status"{unseen}>{escape(self.words)}</div>'

    def _repr_mimebundle_(self, **kwargs):
        """Return the widget, together with the picture and the sentence in case no kernel runs."""
        bundle = super()._repr_mimebundle_(**kwargs)
        data = bundle[0] if isinstance(bundle, tuple) else bundle
        return {**data, **self.shown}, self.metadata


def picture_of_figure(kind: str, **options) -> bytes:
    """Return matplotlib's current figure as a file of this kind."""
    file = io.BytesIO()
    plt.gcf().savefig(file, format=kind, **options)
    return file.getvalue()


def explore(draw, **controls):
    """Return an Explorer: `draw(**values)` returns a `Film`, or draws with matplotlib and returns a sentence on what it shows.

    Args:
        draw: called with each control's value by name, at first and after every change.
        controls: ipywidgets controls by name, such as temperature=ipywidgets.FloatLogSlider(…). Of a film, which moves with
            them, its last frame is shown.
    """
    return Explorer(draw, controls)
