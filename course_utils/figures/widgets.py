"""Pictures that respond to a slider. They use only ipywidgets, so they work in JupyterLab, Colab and VS Code.

`explore` shows the picture for the controls' first values as a plain image wherever no kernel runs.
"""

import base64
import io
from html import escape

import ipywidgets
import matplotlib.pyplot as plt

from course_utils.figures.alt_text import ground_of, image


class Explorer(ipywidgets.VBox):
    """Controls above a picture and the sentence that describes it. `controls`, `picture` and `sentence` are its parts.

    The sentence is also the picture's alternative text, and is announced when it changes. `png` and `words` are what is shown now.
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
        self.words = self.draw(**{name: control.value for name, control in self.controls.items()})
        buffer = io.BytesIO()
        plt.gcf().savefig(buffer, format="png")
        self.ground = ground_of(plt.gcf())
        plt.close()  # so that the notebook does not show it twice
        self.png = buffer.getvalue()
        self.picture.value = image(self.png, self.words, self.ground)
        self.sentence.value = f'<div role="status">{escape(self.words)}</div>'

    def _repr_mimebundle_(self, **kwargs):
        """Return the widget, together with the picture and the sentence in case no kernel runs."""
        bundle = super()._repr_mimebundle_(**kwargs)
        data = bundle[0] if isinstance(bundle, tuple) else bundle
        data = {**data, "image/png": base64.b64encode(self.png).decode(), "text/plain": self.words}
        return data, self.ground


def explore(draw, **controls):
    """Return an Explorer: `draw(**values)` draws one figure with matplotlib and returns a sentence about what it shows.

    Args:
        draw: called with each control's value by name, at first and after every change.
        controls: ipywidgets controls by name, such as temperature=ipywidgets.FloatLogSlider(…).
    """
    return Explorer(draw, controls)
