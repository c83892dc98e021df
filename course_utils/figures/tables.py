"""Tables of numbers: HTML in a notebook, aligned text elsewhere.

Not here: pictures of a matrix (`plots.py`).
"""

from html import escape

import torch

from course_utils.base.errors import CourseError

SPACE = 1.4  # ems between two columns
RULE = 'style="border-bottom:1.5px solid currentColor"'  # below the head


class Table:
    """What `table` returns: rows of texts, the first row and the first column being headings."""

    def __init__(self, lines, caption, bold=()):
        self.lines, self.caption, self.bold = lines, caption, set(bold)

    def __repr__(self):
        first, *others = (max(map(len, column)) for column in zip(*self.lines, strict=True))
        aligned = [
            "  ".join([name.ljust(first), *(cell.rjust(width) for cell, width in zip(cells, others, strict=True))])
            for name, *cells in self.lines
        ]
        return "\n".join(line.rstrip() for line in [*([self.caption] if self.caption else []), *aligned])

    def _repr_html_(self):
        unbroken = "\N{NO-BREAK SPACE}to\N{NO-BREAK SPACE}"  # so that a line ends before a spread, not inside it
        head, *body = ([escape(cell).replace(" to ", unbroken) for cell in line] for line in self.lines)
        left, right = (f'style="text-align:{side};padding:.3em {SPACE}em .3em 0"' for side in ("left", "right"))
        caption = f"<caption {left}>{escape(self.caption)}</caption>" if self.caption else ""
        corner = f'<th scope="col" {left}>{head[0]}</th>' if head[0] else "<td></td>"
        top = corner + "".join(f'<th scope="col" {right}>{cell}</th>' for cell in head[1:])
        rows = (
            f'<tr><th scope="row" {left}>{name}</th>{"".join(f"<td {right}>{cell}</td>" for cell in cells)}</tr>'
            for name, *cells in map(self._emphasized, body, self.lines[1:])
        )
        return f"<table>{caption}<thead {RULE}><tr>{top}</tr></thead><tbody>{''.join(rows)}</tbody></table>"

    def _emphasized(self, cells, line):
        """Return a row's HTML cells, with those in bold that decide."""
        name, head = line[0], self.lines[0]
        return [f"<b>{cell}</b>" if (name, of) in self.bold else cell for cell, of in zip(cells, head, strict=True)]


def table(rows, columns, corner="", digits=3, caption="", bold=()) -> Table:
    """Show a row for each entry of `rows`, which maps its heading to what is in its cells.

    A row has a cell for each of `columns`: a text, a truth value, a whole number, a decimal number with `digits` digits, or
    several runs, shown as "mean [lowest to highest]". A tensor runs×columns gives each column its runs. `corner` is the
    heading of the headings. `bold` holds pairs (row, column): the cells that decide.

    Raises:
        CourseError: if a row has more or fewer cells than there are columns.
    """
    lines = [[corner, *columns]]
    for name, cells in rows.items():
        if isinstance(cells, torch.Tensor) and cells.ndim == 2:
            cells = cells.T
        if isinstance(cells, str) or len(cells) != len(columns):
            count = "a text" if isinstance(cells, str) else f"{len(cells)} cells"
            raise CourseError(
                f"The row '{name}' has {count}, but the columns are {', '.join(columns)}: give a list with one cell for "
                "each column. Several runs of one column are one cell."
            )
        lines.append([name, *(_cell_text(cell, digits) for cell in cells)])
    return Table([[str(cell) for cell in line] for line in lines], caption, bold)


def _cell_text(cell, digits):
    if isinstance(cell, str):
        return cell
    cell = torch.as_tensor(cell).detach()
    if cell.ndim:
        values = (cell.double().mean(), cell.min(), cell.max())
        mean, low, high = (round(value.item(), digits) + 0.0 for value in values)  # + 0.0 avoids "-0.00"
        return f"{mean:.{digits}f} [{low:.{digits}f} to {high:.{digits}f}]"
    if cell.dtype == torch.bool:
        return "yes" if cell else "no"
    return f"{cell.item():.{digits}f}" if cell.is_floating_point() else f"{cell.item()}"
