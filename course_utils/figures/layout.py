"""Lays out a diagram: boxes in rows, columns within a row, and arrows that find their way from box to box.

A `Sketch` collects boxes and arrows, `row` places boxes, and `Sketch.diagram` makes the picture. Heights may start
anywhere: the finished diagram moves everything to its upper edge.
Not here: which boxes a mechanism has (`diagrams.py`), how they become a picture (`drawing.py`).
"""

from itertools import pairwise, zip_longest

from course_utils.base.errors import CourseError
from course_utils.figures.drawing import EDGE, LINE, WIDTH, Arrow, Box, Diagram, plain

INSIDE, BETWEEN = WIDTH - 2 * EDGE, 14  # pixels: the width that a row fills, between boxes in a column
OVERLAP = 20  # boxes that share this much height or width are joined by a straight arrow


class Sketch:
    """The boxes and arrows of a diagram in the making; a box is as large as its text unless given a size."""

    def __init__(self, title, new=()):
        self.title, self.new, self.boxes, self.arrows = title, new, [], []

    def step(self, name, text, width=None, height=None, kind="step") -> Box:
        """Add a box for something computed; a diagram's `new` highlights it by its name."""
        lines = text.replace("*", "").replace(": ", "\n").split("\n")
        width, height = width or 16 + 8 * max(map(len, lines)), height or max(48, 20 + LINE * len(lines))
        self.boxes.append(Box(name, text, EDGE, 0, width, height, kind))
        return self.boxes[-1]

    def data(self, name, text, width=None, height=None) -> Box:
        """Add a box for something read, kept or returned."""
        return self.step(name, text, width, height, "data")

    def note(self, text) -> Box:
        """Add words in italics without an edge, such as another name for what they are beside."""
        lines = text.split("\n")
        return self.step("", text, 12 + 7.2 * max(map(len, lines)), LINE * len(lines), "note")

    def frame(self, boxes, room=12) -> Box:
        """Add a dashed frame around boxes."""
        x, y = min(box.x for box in boxes) - room, min(box.y for box in boxes) - room
        right, bottom = max(box.right for box in boxes) + room, max(box.bottom for box in boxes) + room
        self.boxes.append(Box("", "", x, y, right - x, bottom - y, "frame"))
        return self.boxes[-1]

    def arrow(self, start, end, words="", shape="", *, at=None, over=None, **looks):
        """Add an arrow from one box to another.

        It is straight if they are side by side or one above the other, and runs `at` this height or x. Otherwise it
        bends twice between them. `over` is the height at which it passes what is in between. It leaves or enters a box
        that reaches this height at the side; for any other box it bends above or below it.
        """
        self.path(*_arrow_points(start, end, at, over), words=words, shape=shape, **looks)

    def chain(self, *boxes, words=(), shapes=()):
        """Add an arrow from each box to the next, with its words above and its shape below.

        A list instead of a box is a column: arrows lead from list to list in parallel, and between a list and a box
        for each entry of the list. None in a list has no arrow.
        """
        for (here, there), *texts in zip_longest(pairwise(boxes), words, shapes, fillvalue=""):
            for start, end, *own in _side_by_side(here, there, *texts):
                if start and end:
                    self.arrow(start, end, *own)

    def path(self, *points, **looks):
        """Add an arrow along points, for a path that the layout does not find."""
        self.arrows.append(Arrow(tuple(dict.fromkeys(points)), **looks))

    def diagram(self, description) -> Diagram:
        """Return the picture with its description, which may have line breaks, and with what is new marked."""
        parts = [*self.boxes, *self.arrows]
        known = {name for part in parts for name in part.name.split()}
        if isinstance(self.new, str) or not known.issuperset(self.new):
            expected = f"new must be a list of parts of this diagram ({', '.join(sorted(known))})"
            raise CourseError(f"{expected}, not {self.new!r}.")
        heights = [box.y for box in self.boxes]
        heights += [y - 12 * bool(arrow.words) for arrow in self.arrows for _, y in arrow.points]  # words are above it
        down = EDGE - min(heights)
        for box in self.boxes:
            box.y += down
        for arrow in self.arrows:
            arrow.points = tuple((x, y + down) for x, y in arrow.points)
        for part in parts:
            part.new = bool(set(part.name.split()) & set(self.new))
        texts = [box.text for box in self.boxes if box.new] + [
            arrow.words for arrow in self.arrows if arrow.new and arrow.words
        ]
        description = " ".join(description.split())
        description += f" New here: {', '.join(map(plain, texts))}." if texts else ""
        return Diagram(self.title, description, self.boxes, self.arrows)


def row(*parts, x=EDGE, y=0, height=None, gap=None):
    """Place boxes side by side from x, each in the middle of the row, whose upper edge is at y.

    A list among the parts is a column: its boxes share the row's height equally, and None leaves a place empty.
    `gap` is the space between parts, or a list of these spaces; without it the row is as wide as the diagram.
    """
    columns = [part if isinstance(part, list) else [part] for part in parts]
    filled = [[box for box in column if box] for column in columns]
    widths = [max(box.width for box in boxes) for boxes in filled]
    tallest = [max(box.height for box in boxes) for boxes in filled]
    height = height or max(
        len(column) * (tall + BETWEEN) - BETWEEN for column, tall in zip(columns, tallest, strict=True)
    )
    if gap is None:
        gap = (WIDTH - EDGE - x - sum(widths)) / max(len(parts) - 1, 1)
    gaps = gap if isinstance(gap, list) else [gap] * len(parts)
    for column, width, space in zip_longest(columns, widths, gaps, fillvalue=0):
        share = (height + BETWEEN) / len(column)
        for place, box in enumerate(column):
            if box:
                box.at(x + width / 2, y + share * place + (share - BETWEEN) / 2)
        x += width + space


def columns_of(*rows):
    """Return the columns of rows of boxes, which must be of the same length."""
    return [list(column) for column in zip(*rows, strict=True)]


def _side_by_side(*values):
    """Return the entries of lists in parallel; a value that is not a list goes with each of them."""
    count = max([len(value) for value in values if isinstance(value, list)], default=1)
    return zip(*(value if isinstance(value, list) else [value] * count for value in values), strict=True)


def _arrow_points(start, end, at, over):
    """Return the points of an arrow from one box to another."""
    if over is not None:
        return *_exit_points(start, end, over), *reversed(_exit_points(end, start, over))
    top, bottom = max(start.y, end.y), min(start.bottom, end.bottom)
    left, right = max(start.x, end.x), min(start.right, end.right)
    if bottom - top >= OVERLAP:
        y = (top + bottom) / 2 if at is None else at
        return ((start.right, y), (end.x, y)) if start.x < end.x else ((start.x, y), (end.right, y))
    if right - left >= OVERLAP:
        x = (left + right) / 2 if at is None else at
        return ((x, start.bottom), (x, end.y)) if start.y < end.y else ((x, start.y), (x, end.bottom))
    bend = (start.right + end.x) / 2 if at is None else at
    return (start.right, start.middle), (bend, start.middle), (bend, end.middle), (end.x, end.middle)


def _exit_points(box, other, over):
    """Return where an arrow at the height `over` leaves a box on its way to another."""
    if box.y < over < box.bottom:
        return [(box.right if box.centre < other.centre else box.x, over)]
    return [(box.centre, box.y if over < box.y else box.bottom), (box.centre, over)]
