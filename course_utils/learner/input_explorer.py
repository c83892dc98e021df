"""Shows the input on which an answer failed as editable text, next to the expected and the received value.

Uses only ipywidgets, so it works in JupyterLab, Colab and VS Code. Stores nothing: what is tried here does not count as an attempt.
Inputs are written and read by `tensor_text`.
"""

from dataclasses import replace
from html import escape

import ipywidgets

from course_utils.base import trees
from course_utils.base.ascii_fallback import printable
from course_utils.base.errors import CourseError
from course_utils.checks.judge_answer import compare_on
from course_utils.checks.report import in_text, side_by_side, with_code
from course_utils.checks.running.isolated_state import warnings_stay_warnings
from course_utils.learner.tensor_text import check_shapes, from_text, is_writable, to_text

HOW = "Change a number and see what your function returns then. Each line is a row; you may add or remove rows and columns, too."
RIGHT = "✓ For this input your function is right."
STYLE = "<style>.course-play textarea {font-family: monospace; white-space: pre}</style>"


def can_explore(task, report) -> bool:
    """Return whether the input that a report shows can be written as text and changed."""
    case = report.case
    return case is not None and not (task.module or task.candidates or case.raises) and is_writable(case.args)


class InputExplorer(ipywidgets.VBox):
    """`fields` holds a text area for each argument by its name; `message` is the verdict shown now, `shown` the values below it."""

    def __init__(self, task, answer, case):
        """Begin with a case. `answer()` returns the function to call, so that a newer version is used."""
        self.task, self.answer, self.case = task, answer, case
        named = [(trees.path_text(task.names, path), leaf) for path, leaf in trees.paths(case.args)]
        self.fields = {name: _field(name, to_text(leaf)) for name, leaf in named if leaf is not None}
        self.first = {name: field.value for name, field in self.fields.items()}
        for field in self.fields.values():
            field.observe(self.update, names="value")
        back = ipywidgets.Button(description="Put the first input back", layout={"width": "max-content"})
        back.on_click(self.put_back)
        self.verdict, self.values = ipywidgets.HTML(), ipywidgets.HTML()
        left = ipywidgets.VBox([*self.fields.values(), back])
        right = ipywidgets.VBox([self.verdict, self.values], layout={"max_width": "45em"})
        both = ipywidgets.HBox([left, right], layout={"flex_flow": "row wrap", "grid_gap": "1.5em"})
        super().__init__(
            [
                ipywidgets.HTML(
                    f"{STYLE}<div>{escape(f'The check of {task.id} failed on this input: {case.name}. {HOW}')}</div>"
                ),
                both,
            ]
        )
        self.add_class("course-play")
        self.message, self.shown = "", ()
        self.update()

    def put_back(self, button=None):
        """Restore the first input in all fields."""
        for name, field in self.fields.items():
            field.value = self.first[name]

    def update(self, change=None):
        """Recompute for what the fields say now. Text that cannot be read changes only the verdict."""
        try:
            args = self.read()
            with warnings_stay_warnings():
                right, received, finding = compare_on(self.task, self.answer(), replace(self.case, args=args))
        except CourseError as problem:
            self._say(f"{problem} Until then you see what came before." if self.shown else str(problem))
            return
        self.shown = (right.value,) if received.status != "value" else (right.value, received.value)
        if finding and finding.expected is not None:  # may be a gradient
            self.shown = finding.expected, finding.received
        self.values.value = printable(side_by_side(*self.shown))
        self._say(f"✗ {finding.text}" if finding else RIGHT)

    def read(self):
        """Return the arguments written in the fields. Raises `CourseError`, which says what is wrong with them."""

        def value(path, leaf):
            name = trees.path_text(self.task.names, path)
            return leaf if leaf is None else from_text(self.fields[name].value, leaf, name)

        values = iter([value(path, leaf) for path, leaf in trees.paths(self.case.args)])
        args = trees.map_leaves(lambda leaf: next(values), self.case.args)
        check_shapes(self.task, args)
        return args

    def _say(self, sentence):
        self.message = printable(sentence)
        self.verdict.value = f'<div role="status">{with_code(self.message)}</div>'

    def _repr_mimebundle_(self, **kwargs):
        """Return the widget, along with its content as text for programs without widgets."""
        bundle = super()._repr_mimebundle_(**kwargs)
        data = bundle[0] if isinstance(bundle, tuple) else bundle
        inputs = [f"{name}:\n{field.value}" for name, field in self.fields.items()]
        values = [f"{label}:\n{text}" for label, text in in_text(*self.shown)] if self.shown else []
        return {**data, "text/plain": "\n".join([*inputs, *values, self.message])}


def _field(name, text):
    lines = text.split("\n")
    wide = max(map(len, lines)) + len(name) + 8
    return ipywidgets.Textarea(
        text,
        description=name,
        rows=len(lines) + 1,
        style={"description_width": "initial"},
        layout={"width": f"{max(wide, 24)}ch", "max_width": "100%"},
    )
