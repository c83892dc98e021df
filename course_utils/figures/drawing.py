"""Draws boxes and arrows as SVG, in the one style of the course's diagrams.

Not here: which boxes a mechanism has (`diagrams.py`), where they are (`layout.py`), plots of numbers (`plots.py`).
"""

import base64
import hashlib
import re
from dataclasses import dataclass
from html import escape
from math import hypot

from course_utils.figures.roles import POINT, ROLES, outline

WIDTH, EDGE, LINE = 760, 20, 18  # pixels: a diagram's width, its margin, from one line of a box to the next
SHORT = 110  # an arrow no longer than this has its words at its middle, a longer one near its start

FONT = '-apple-system, "Segoe UI", "Noto Sans", "DejaVu Sans", Helvetica, Arial, sans-serif'
STYLE = """\
    ID .panel { fill: #ffffff; stroke: #d0d7de }
    ID text { font-family: FONT; font-size: 14px; fill: #1f2328 }
    ID .first { font-weight: 600 }
    ID .math { font-family: "STIX Two Text", Cambria, "Times New Roman", "Liberation Serif", "DejaVu Serif", serif; font-style: italic; font-size: 1.12em }
    ID .sub { font-size: 0.7em }
    ID .small { font-size: 13px }
    ID .shape { font-size: 12px; fill: #59636e }
    ID .box { stroke-width: 1.5 }
    ID .data .box { fill: #f6f8fa; stroke: #8c959f }
    ID .frame .box { fill: none; stroke: #6e7781; stroke-dasharray: 5 4 }
    ID .note .box { fill: none; stroke: none }
    ID .note text { font-weight: 400; font-style: italic; font-size: 13px; fill: #59636e }
    ID .step .box { fill: #ffffff; stroke: #424a53 }
    ID .new .box { stroke-width: 3 }
    ID .step.new .box, ID .data.new .box { stroke: #1f2328 }
    ID .badge { fill: #1f2328 }
    ID .way { fill: none; stroke: #59636e; stroke-width: 1.8 }
    ID .tip { fill: #59636e }
    ID .new .way { stroke: #1f2328; stroke-width: 3 }
    ID .new .tip { fill: #1f2328 }
    ID .dashed { stroke-dasharray: 5 4; stroke-width: 1.3 }
ROLES
    ID text.tag { font-size: 12px; font-weight: 600; fill: #ffffff }"""
ROLE_OF = {"queries": "query", "query": "query", "keys": "key", "values": "value", "context": "context"}
ROLE_OF_WORDS = ROLE_OF | {"*q*": "query", "*k*": "key", "*v*": "value", "weights": "weight"}  # at an arrow


@dataclass
class Box:
    """A box: its names, its text, its corner and size, and whether it holds data, is a step, notes a name, or frames other boxes."""

    name: str  # by which a lesson highlights it; several are separated by spaces
    text: str
    x: float
    y: float
    width: float
    height: float
    kind: str = "step"
    new: bool = False

    @property
    def look(self):
        """The role whose colour and shape the box has, if its names say one role, else its kind."""
        roles = [ROLE_OF[name] for name in self.name.split() if name in ROLE_OF]
        return roles[0] if len(roles) == 1 and self.kind != "frame" else self.kind

    @property
    def right(self):
        return self.x + self.width

    @property
    def bottom(self):
        return self.y + self.height

    @property
    def centre(self):
        return self.x + self.width / 2

    @property
    def middle(self):
        return self.y + self.height / 2

    def at(self, centre, middle):
        """Centre the box on this point, and return it."""
        self.x, self.y = centre - self.width / 2, middle - self.height / 2
        return self

    def span(self, top, bottom):
        """Make the box reach from one height to another."""
        self.y, self.height = top, bottom - top


@dataclass
class Arrow:
    """An arrow along its points, with words above its first part and the shape of what flows below."""

    points: tuple[tuple[float, float], ...]
    words: str = ""
    shape: str = ""
    name: str = ""
    role: str = ""  # of what flows, if its name does not say it
    new: bool = False
    dashed: bool = False  # a line without a tip, which relates two boxes
    stream: bool = False  # a thick line, along which vectors pass from layer to layer


class Diagram:
    """A drawn diagram. A notebook shows it as a picture with its description as alternative text."""

    def __init__(self, title, description, boxes, arrows):
        self.title, self.description, self.boxes, self.arrows = title, description, boxes, arrows
        self.svg = _svg(title, description, boxes, arrows)

    def _repr_mimebundle_(self, include=None, exclude=None):
        return as_image(self)


def as_image(picture, svg: str = "") -> dict[str, str]:
    """Return what a notebook shows of a picture with `svg`, `title` and `description`: an <img>, and the words alone.

    An <img>, because pages that show stored notebooks remove an <svg> from HTML, or its style. `svg` replaces the picture's own.
    """
    shown = f'<img width="{WIDTH}" alt="{escape(said(picture))}" src="{address_of(svg or picture.svg)}">'
    return {"text/html": shown, "text/plain": said(picture)}


def said(picture) -> str:
    """Return in words what a picture with a `title` and a `description` shows."""
    return f"{picture.title}. {picture.description}"


def address_of(svg: str) -> str:
    """Return an SVG as an address for an <img>."""
    return f"data:image/svg+xml;base64,{base64.b64encode(svg.encode()).decode()}"


def plain(text: str) -> str:
    """Return a box's text for a sentence: without markup, and with what follows its colon in brackets."""
    name, _, note = text.replace("*", "").replace("\n", " ").partition(": ")
    return f"{name} ({note})" if note else name


def _svg(title, description, boxes, arrows):
    height = round(max(box.bottom for box in boxes) + EDGE)
    height = max([height] + [round(y) + EDGE for arrow in arrows for _, y in arrow.points])
    content = [*map(_arrow_svg, arrows), *map(_box_svg, boxes)]
    name = "d" + hashlib.sha256("".join([title, description, *content]).encode()).hexdigest()[:8]
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" id="{name}" viewBox="0 0 {WIDTH} {height}" width="{WIDTH}" '
        f'height="{height}" role="img" aria-labelledby="{name}-title {name}-words">',
        f'  <title id="{name}-title">{escape(title, quote=False)}</title>',
        f'  <desc id="{name}-words">{escape(description, quote=False)}</desc>',
        f"  <style>\n{_style(name)}\n  </style>",
        f'  <rect class="panel" x="0.5" y="0.5" width="{WIDTH - 1}" height="{height - 1}" rx="8"/>',
        *content,
        "</svg>",
    ]
    return "\n".join(lines) + "\n"


def _style(name):
    roles = [
        f"    ID .{role} .box {{ fill: {look.fill}; stroke: {look.colour} }}\n"
        f"    ID .{role} text {{ fill: {look.text} }}\n    ID text.{role} {{ fill: {look.colour} }}\n"
        f"    ID .{role} .way {{ stroke: {look.colour} }}\n    ID .{role} .tip {{ fill: {look.colour} }}"
        for role, look in ROLES.items()
        if role in ROLE_OF_WORDS.values()
    ]
    return STYLE.replace("FONT", FONT).replace("ROLES", "\n".join(roles)).replace("ID", f"#{name}")


def _box_svg(box):
    name, _, note = box.text.partition(": ")
    lines = [(line, "first") for line in name.split("\n")] + [(line, "small") for line in note.split("\n") if line]
    aside = POINT / 2 * ((box.look == "key") - (box.look == "query"))  # from the point, or the notch
    middle, top = box.centre + aside, box.middle - (len(lines) - 1) * LINE / 2 + 5
    texts = [_text_svg(middle, top + LINE * i, line, kind) for i, (line, kind) in enumerate(lines) if line]
    if box.look in ROLES:
        shown = f'    <path class="box" d="{outline(box.look, box.x, box.y, box.width, box.height)}"/>'
    else:
        shown = f'    <rect class="box" {_place_attributes(box.x, box.y, box.width, box.height)} rx="8"/>'
    badge = _badge_svg(box.x + min(8, box.width / 2 - 17), box.y - 9) if box.new and box.width > 34 else []
    return "\n".join([f'  <g class="{box.look}{" new" * box.new}">', shown, *texts, *badge, "  </g>"])


def _badge_svg(x, y):
    """Return the badge for what is new, which does not rely on colour."""
    box = f'    <rect class="badge" {_place_attributes(x, y, 34, 17)} rx="8.5"/>'
    return [box, _text_svg(x + 17, y + 12.5, "new", "tag")]


def _arrow_svg(arrow):
    path = "M" + "L".join(f"{_coordinate(x)} {_coordinate(y)}" for x, y in arrow.points)
    wide = ' style="stroke-width: 5"' * arrow.stream
    drawn = [f'    <path class="way{" dashed" * arrow.dashed}"{wide} d="{path}"/>']
    if not arrow.dashed:
        drawn.append(_tip_svg(*arrow.points[-2:]))
    (x, y), (next_x, _) = arrow.points[1:3] if len(arrow.points) > 2 else arrow.points
    near = len(arrow.points) == 2 and next_x - x > SHORT  # a long straight arrow crosses the picture
    middle = x + 24 if near else (x + next_x - 6) / 2
    if arrow.words:
        kind = f"small {ROLE_OF_WORDS[arrow.words]}" if arrow.words in ROLE_OF_WORDS else "small"
        drawn.append(_text_svg(middle, y - 7, arrow.words, kind))
    if arrow.shape:
        drawn.append(_text_svg(middle, y + 17, arrow.shape, "shape"))
    if arrow.new:
        drawn += _badge_svg(middle - 120, y - 8.5)
    role = arrow.role or ROLE_OF.get(arrow.name)
    return "\n".join([f'  <g class="arrow{f" {role}" if role else ""}{" new" * arrow.new}">', *drawn, "  </g>"])


def _tip_svg(before, end):
    """Return the head of an arrow from `before` to `end`."""
    across, down = end[0] - before[0], end[1] - before[1]
    far = hypot(across, down)
    across, down = across / far, down / far
    back, side = (end[0] - 8 * across, end[1] - 8 * down), 4.5 if abs(across) > abs(down) else -4.5
    corners = (end, *((back[0] - by * down, back[1] + by * across) for by in (side, -side)))
    return f'    <path class="tip" d="M{"L".join(f"{_coordinate(x)} {_coordinate(y)}" for x, y in corners)}Z"/>'


def _text_svg(x, y, text, kind):
    """Return a line of text around x: *x* is set as a variable, and the word after a _ as a subscript."""
    text = re.sub(r"\*([^*]+)\*", r'<tspan class="math">\1</tspan>', escape(text, quote=False))
    text = re.sub(r"_(\w+)", r'<tspan class="math sub" dy="4">\1</tspan><tspan dy="-4">&#8203;</tspan>', text)
    return f'    <text class="{kind}" x="{_coordinate(x)}" y="{_coordinate(y)}" text-anchor="middle">{text}</text>'


def _place_attributes(x, y, width, height):
    return f'x="{_coordinate(x)}" y="{_coordinate(y)}" width="{_coordinate(width)}" height="{_coordinate(height)}"'


def _coordinate(value):
    return f"{value:.1f}".removesuffix(".0")
