"""What a learner reads after a check: as HTML in a notebook, as plain text elsewhere. Judges nothing.

The sentence that helps comes first, then what was expected and what arrived, then the input, folded if it is large.
HTML uses inline styles only (JupyterLab drops others from outputs it does not trust), takes its text colour from the theme,
and says in words whatever a colour or a symbol says.
"""

from collections.abc import Iterable
from dataclasses import replace
from html import escape
from itertools import product

import torch

from course_utils.base import trees
from course_utils.base.ascii_fallback import printable
from course_utils.checks.compare import DIGITS, Finding, close, describe, digits_apart, number, shape
from course_utils.checks.running.contract import Candidate, Case, Failure, Stream
from course_utils.checks.task import Mistake, Task

COLOURS = {"passed": "#2e9e4f", "failed": "#d9534f", "error": "#d9534f", "not attempted": "#8a8a8a"}
SYMBOLS = {"passed": "✓", "failed": "✗", "error": "✗", "not attempted": "○"}
TABLE_AT_MOST = 8  # rows and columns of a matrix shown
MATRICES_AT_MOST = 3
LIST_AT_MOST = 8
NAN_AT_MOST = 3  # places named in text
LINED_UP_AT_MOST = 1000  # numbers of a tensor whose columns line up with those beside it
TEXT_AT_MOST = 64  # numbers of a tensor written out as text
SMALL = 32  # numbers and words of an input that is not folded
LEFT_IN_TEXT = 16  # the same, if the input is larger than SMALL
PRINTED = "Printed while your function ran"  # by the function, or by PyTorch as a warning
NOTHING_YET = "There is nothing to check yet. Write your answer where the exercise has `raise NotImplementedError`, run that cell, then run this one again."
PLACEHOLDER_LEFT = (
    "Your code is there, but so is the exercise's placeholder `raise NotImplementedError`, and your function reaches it. "
    "Delete that line, make sure that your function returns its result, run the cell, then run this one again."
)


class Report:
    """The verdict on an answer, and the parts of what is said about it.

    `state` is "not attempted", "error", "failed" or "passed". `kind` is what is wrong first: type, shape, finite, value, gradient,
    side effect or error. `mistake` is the name of the mistake that was recognised; `relation` is the sentence on how any other
    value is related to the right one. Each of these may be None.
    `message` is said first: the `remark` if there is one; else `altered`, that the answer alters an input, and the `diagnosis`, a mistake,
    two mistakes or a relation; else what is wrong first, and the broken `properties`.
    `borrowed` names the course's own functions that a correct answer calls but its exercise does not offer. `values_right`:
    only a gradient or a side effect is wrong. `only_edges`: ordinary inputs are not affected. `hazard`: a correct answer goes wrong on
    an input that no lesson builds.
    """

    def __init__(
        self,
        task: Task,
        state: str,
        finding: Finding | None = None,
        case: Case | None = None,
        failure: Failure | None = None,
        printed: str = "",
        mistake: Mistake | None = None,
        properties: tuple[str, ...] = (),
        altered: str = "",
        remark: str | None = None,
        borrowed: tuple[str, ...] = (),
        values_right: bool = False,
        only_edges: bool = False,
        hazard: bool = False,
    ) -> None:
        self.task, self.state, self.case, self.failure, self.printed = task.id, state, case, failure, printed
        self.kind = finding.kind if finding else None
        self.mistake = mistake.name if mistake else None
        self.altered, self.diagnosis = altered, mistake.sentence if mistake else ""
        self.values_right, self.only_edges, self.hazard = values_right or state == "passed", only_edges, hazard
        self.relation: str | None = None
        self.borrowed, self.properties = borrowed, properties
        self.note = ""  # one line below the report, such as where to find the next hint
        self._title, self._names, self._finding, self._shown_at = task.title, task.names, finding, None
        if state == "not attempted":
            remark = PLACEHOLDER_LEFT if failure else NOTHING_YET
        elif state == "passed":
            remark = remark or "Right, on every input it was tried on."
        self.remark = remark

    @property
    def message(self) -> str:
        """What is said first."""
        return self.remark or self.altered + self.diagnosis or " ".join((self._finding.text, *self.properties))

    @property
    def shows_values(self) -> bool:
        """Whether the value itself is wrong, so that it is shown next to the expected one."""
        return self._finding is not None and self._finding.expected is not None

    def _sentences(self):
        """Return the message and, below a diagnosis, what is wrong first; that the input is altered is said once."""
        if not self._finding or not self.diagnosis or self._finding.text in self.message:
            return [self.message]
        finding = replace(self._finding, altered="") if self.altered else self._finding
        return [self.message, f"First thing wrong ({self.kind}): {finding.text}"]

    def __str__(self) -> str:
        lines = [headline(self.task, self._title, self.state), *self._sentences()]
        if self._finding:
            lines += [f"{label}:\n{text}" for label, text in self._facts_as_text()]
        return printable("\n".join([*lines, *([self.note] if self.note else [])]))

    def __repr__(self) -> str:
        return str(self)

    def _facts_as_text(self):
        """Return the facts behind the message, as (label, plain text)."""
        if self.failure and self.failure.source:
            marked = [f"{'->' if here else '  '} {n:3} {text}" for n, text, here in self.failure.source]
            yield f"In {self.failure.function}", "\n".join(marked)
        if self.shows_values:
            yield from in_text(self._finding.expected, self._finding.received)
        if self.case:
            at_most = TEXT_AT_MOST if self._input_size() <= SMALL else LEFT_IN_TEXT
            lines = [f"{name} = {_value_text(value, at_most=at_most)}" for name, value in self._inputs()]
            yield (f"Input ({self.case.name})", "\n".join(lines)) if lines else ("Input", self.case.name)
        if self.printed:
            yield PRINTED, self.printed

    def _inputs(self):
        """Yield each argument with its name; for a dict or list of tensors, each tensor with its own."""
        for place, arg in enumerate(self.case.args):
            if isinstance(arg, Candidate):
                continue  # the case's name says all that may be said about it
            if isinstance(arg, Stream):
                yield from ((f"{self._names[place]}(), call {n}", value) for n, value in enumerate(arg.values, 1))
                continue
            yield from ((trees.path_text(self._names, path), part) for path, part in trees.parts(arg, (place,)))

    def _input_size(self):
        """Return how many numbers and words the arguments have together."""
        return sum(
            value.numel() if isinstance(value, torch.Tensor) else len(_value_text(value).split())
            for _, value in self._inputs()
        )

    def _repr_html_(self):
        parts = [f"<p style='margin:.4em 0'>{with_code(sentence)}</p>" for sentence in self._sentences()]
        if self._finding:
            parts += self._facts_as_html()
        if self.note:
            parts.append(f"<div style='opacity:.8'>{with_code(self.note)}</div>")
        return printable(framed(self.task, self._title, self.state, parts))

    def _facts_as_html(self):
        if self.failure and self.failure.source:
            rows = (
                f"<span style='background:rgba(217,83,79,.25)'>→ {n:3} {escape(text)}</span>"
                if here
                else f"  {n:3} {escape(text)}"
                for n, text, here in self.failure.source
            )
            yield f"<div>In <code>{escape(self.failure.function)}</code>:</div>{_pre(chr(10).join(rows))}"
        if self.shows_values:
            yield side_by_side(self._finding.expected, self._finding.received)
        if self.case:
            inputs = "".join(_value_html(name, arg) for name, arg in self._inputs())
            small = self._input_size() <= SMALL
            begin, large = ("<details open>", "") if small else ("<details>", " (open to see it)")
            told = f"An input that shows it: {escape(self.case.name)}"
            yield (
                f"{begin}<summary style='cursor:pointer'>{told}{large}</summary>{_row(inputs)}</details>"
                if inputs
                else f"<div>{told}</div>"
            )
        if self.printed:
            yield f"<div>{PRINTED}:</div>{_pre(escape(self.printed))}"

    def _ipython_display_(self):
        """Show once per cell: `check` shows the report, so it is not shown again as the cell's last value."""
        from IPython import get_ipython
        from IPython.display import display

        cell = getattr(get_ipython(), "execution_count", None)
        if cell != self._shown_at:
            self._shown_at = cell
            display({"text/html": self._repr_html_(), "text/plain": str(self)}, raw=True)


def side_by_side(expected: object, *received: object) -> str:
    """Return the HTML of two values side by side, with differences marked in the second; of the first alone if there is no second."""
    digits = _digits(expected, *received) if received else DIGITS
    telling = _nan_or_wrong(*received, against=expected) if received else None
    wide = _cell_width(expected, *received, digits=digits) if received else 0
    values = [_value_html("received", value, expected, digits, telling, wide) for value in received]
    return _row("".join([_value_html("expected", expected, None, digits, telling, wide), *values]))


def in_text(expected: object, *received: object) -> list[tuple[str, str]]:
    """Return the same as plain text: (label, text) for each value."""
    digits = _digits(expected, *received) if received else DIGITS
    return [
        (label, _value_text(value, digits))
        for label, value in zip(("Expected", "Received"), (expected, *received), strict=False)
    ]


def headline(id: str, title: str, state: str) -> str:
    """Return a report's first line."""
    return f"{SYMBOLS[state]} {id} – {title}: {state}"


def framed(id: str, title: str, state: str, parts: Iterable[str]) -> str:
    """Return a report's HTML: its heading, with the symbol in the colour of its state, and its parts below."""
    colour = COLOURS[state]
    symbol, words = escape(headline(id, title, state)).split(" ", 1)
    line = f"<div><strong><span aria-hidden='true' style='color:{colour}'>{symbol}</span> {words}</strong></div>"
    style = f"border-left:4px solid {colour};padding:.3em 0 .3em .9em;margin:.3em 0"
    return f"<div role='group' aria-label='Check of {id}: {state}' style='{style}'>{line}{''.join(parts)}</div>"


def with_code(text: str) -> str:
    """Return the escaped text with `…` spans as code."""
    pieces = escape(text).split("`")
    return "".join(f"<code>{piece}</code>" if i % 2 else piece for i, piece in enumerate(pieces))


def _pre(text):
    return f"<pre style='margin:.3em 0;overflow-x:auto;font-family:monospace'>{text}</pre>"


def _row(cells):
    return f"<div style='display:flex;flex-wrap:wrap;gap:1.5em;margin:.4em 0'>{cells}</div>"


def _cell_width(expected, received, digits):
    """Return how many characters wide the cells of two tensors of one shape are, so that their columns line up; else 0."""
    if not _same_shape(received, expected) or expected.numel() > LINED_UP_AT_MOST:
        return 0
    numbers = [*expected.flatten(), *received.flatten()]
    return max((len(number(x, digits)) for x in numbers), default=0) + len("≠ ")


def _value_html(name, value, against=None, digits=None, telling=None, wide=0):
    """Return a value under its name: tensors as tables, matrix by matrix, the rest as text. A table's cells are at least `wide` characters wide.

    Above three axes, each matrix has its place in the others above it. Of a large tensor, the matrices, rows and columns where `telling` is True most often are shown; without it, those with NaN.
    """
    if isinstance(value, torch.Tensor) and value.dim() and value.numel():
        telling = value != value if telling is None or telling.shape != value.shape else telling
        matrices, telling = _matrices(value), _matrices(telling)
        others = _matrices(against) if _same_shape(value, against) else [None] * len(matrices)
        chosen = _most_marked(telling.sum((1, 2)), MATRICES_AT_MOST)
        if len(chosen) < len(matrices):
            chosen = [place for place in chosen if telling[place].any()] or chosen
        places, named = _places(value), value.dim() > 3
        tables = "".join(
            named * f"<div>{places[n]}</div>" + _table(matrices[n], others[n], digits or DIGITS, telling[n], wide)
            for n in chosen
        )
        cut = f", shown: {', '.join(places[n] for n in chosen)}" if len(chosen) < len(matrices) else ""
        return f"<div><div>{escape(name)}, shape {shape(value)}{cut}</div>{tables}</div>"
    return f"<div><div>{escape(name)}</div>{_pre(escape(_value_text(value, digits)))}</div>"


def _matrices(tensor):
    return tensor.reshape(-1, *tensor.shape[-2:]) if tensor.dim() > 2 else tensor.reshape(1, -1, tensor.shape[-1])


def _places(tensor):
    """Return the place of each matrix of a tensor in its first axes: [0, 1] for the second head of the first sentence."""
    return [f"[{', '.join(map(str, place))}]" for place in product(*map(range, tensor.shape[:-2]))]


def _most_marked(telling, at_most):
    """Return the indices to show, in order: the most informative ones, and the first of equally informative ones."""
    counts = telling.tolist()
    places = sorted(range(len(counts)), key=lambda place: -counts[place])
    return sorted(places[:at_most])


def _nan_or_wrong(received, against):
    """Return where an incorrect tensor is NaN or, if it has no NaN, where it differs; None if it cannot be compared."""
    if not _same_shape(received, against):
        return None
    nan = received != received
    return nan if nan.any() else ~close(against, received)


def _same_shape(value, against):
    return isinstance(against, torch.Tensor) and isinstance(value, torch.Tensor) and against.shape == value.shape


def _digits(expected, received):
    if isinstance(expected, float) and isinstance(received, (int, float)):
        expected, received = torch.tensor([expected, received], dtype=torch.float64)[:, None]
    return digits_apart(expected, received) if _same_shape(received, expected) else DIGITS


def _table(matrix, against, digits, telling, wide):
    """Return a matrix as a table; a number that differs from `against` is shaded by how far off it is, and marked ≠.

    If not all rows are shown, each has its index in front; likewise above columns.
    """
    rows, columns = _most_marked(telling.sum(1), TABLE_AT_MOST), _most_marked(telling.sum(0), TABLE_AT_MOST)
    fewer_rows, fewer_columns = len(rows) < matrix.shape[0], len(columns) < matrix.shape[1]
    off = None if against is None else (matrix.double() - against.double()).abs()
    right = None if against is None else close(against, matrix)
    worst = 0 if off is None else off[off.isfinite()].max().item() if off.isfinite().any() else 1

    width = f";min-width:{wide}ch;font-variant-numeric:tabular-nums" if wide else ""

    def cell(i, j):
        text, style = number(matrix[i, j], digits), f"padding:.1em .5em;text-align:right{width}"
        if right is not None and not right[i, j]:
            strength = (off[i, j].item() / worst if worst else 1) if off[i, j].isfinite() else 1
            text, style = f"≠ {text}", f"{style};background:rgba(217,83,79,{0.15 + 0.45 * strength:.2f})"
        return f"<td style='{style}'>{text}</td>"

    def place(n, scope):
        return f"<th scope='{scope}' style='padding:.1em .5em;text-align:right;font-weight:normal;font-style:italic'>{n}</th>"

    corner = "<td></td>" if fewer_rows else ""
    head = f"<tr>{corner}{''.join(place(j, 'col') for j in columns)}</tr>" if fewer_columns else ""
    body = "".join(
        f"<tr>{place(i, 'row') if fewer_rows else ''}{''.join(cell(i, j) for j in columns)}</tr>" for i in rows
    )
    words = [f"{len(rows)} of {matrix.shape[0]} rows"] if fewer_rows else []
    words += [f"{len(columns)} of {matrix.shape[1]} columns"] if fewer_columns else []
    cut = f"<div>({' and '.join(words)})</div>" if words else ""
    return f"<table style='border-collapse:collapse;margin:.2em 0'>{head}{body}</table>{cut}"


def _value_text(value, digits=None, at_most=TEXT_AT_MOST):
    """Return a plain value as short text; a tensor of more than `at_most` numbers by its shape and where it is NaN.

    Without `digits`, as for an input, a float is written in full.
    """
    if isinstance(value, float) and digits:
        return f"{value:.{digits}g}"
    if isinstance(value, torch.Tensor):
        digits = digits or DIGITS
        if value.dim() == 0:
            return number(value, digits)
        if value.numel() <= at_most:
            return _tensor_text(value, digits)
        nan = (value != value).nonzero()
        places = [*map(str, nan[:NAN_AT_MOST].tolist()), *["…"] * (len(nan) > NAN_AT_MOST)]
        return f"a tensor of shape {shape(value)}" + (f", NaN at {', '.join(places)}" if places else "")
    if isinstance(value, dict):
        entries = [f"{k!r}: {_value_text(v, digits)}" for k, v in list(value.items())[:LIST_AT_MOST]]
        return "{" + ", ".join(entries) + (", …" if len(value) > LIST_AT_MOST else "") + "}"
    if isinstance(value, (tuple, list)):
        entries = [_value_text(v, digits) for v in value[:LIST_AT_MOST]] + ["…"] * (len(value) > LIST_AT_MOST)
        return f"({', '.join(entries)})" if isinstance(value, tuple) else f"[{', '.join(entries)}]"
    return repr(value) if value is None or isinstance(value, (bool, int, float, str)) else _object_text(value)


def _object_text(value):
    """Return an Opaque by its type's name; a Candidate as such."""
    return f"<{type(value).__name__.lower()}>" if not hasattr(value, "name") else describe(value)


def _tensor_text(tensor, digits):
    if tensor.dim() == 1:
        return "[" + ", ".join(number(v, digits) for v in tensor) + "]"
    if tensor.dim() > 3:
        matrices = zip(_places(tensor), _matrices(tensor), strict=True)
        lines = (f"  {place} {_tensor_text(matrix, digits)}" for place, matrix in matrices)
        return "\n".join([f"a tensor of shape {shape(tensor)}:", *lines])
    return "[" + ", ".join(_tensor_text(row, digits) for row in tensor) + "]"
