"""Moving pictures of attention in its own numbers: one SVG without JavaScript, moved by CSS, also inside an <img>.

`Film` collects pieces of SVG, each with the second at which it appears (and goes); `words`, `chip`, `vector`, `bar` and
`line` make the pieces, in the colours and shapes of `roles.py`. Lay out the last frame first: it is the picture that
print and a reader who prefers no motion see, and where the film rests. It begins with the first frame, plays once, and
stays: a film that starts over distracts from the text, and one that begins with its end gives away what it shows.
Not here: diagrams of boxes and arrows (`diagrams.py`), plots (`plots.py`).
"""

import re
from html import escape
from itertools import groupby

from course_utils.figures.drawing import FONT, as_image
from course_utils.figures.roles import GREY, POINT, ROLES, colour_of, outline

FADE, HOLD = 0.4, 1.5  # seconds: to appear or go; the first frame, before anything moves
WIDTH, LEFT, HEAD = 760, 18, 34  # pixels: of the picture, before its title, of the strip with the title
ON_BAR = 6  # pixels: from a bar's top to its number
SUBSCRIPTS = str.maketrans("0123456789", "₀₁₂₃₄₅₆₇₈₉")


def number(x, digits: int = 2) -> str:
    """Return a number as text, with a true minus sign and without a minus zero."""
    return f"{round(float(x), digits) + 0.0:.{digits}f}".replace("-", "−")


def bracketed(x, digits: int = 2) -> str:
    """Return a number as text, in brackets if it is negative, for a sum or a product."""
    return f"({number(x, digits)})" if round(float(x), digits) < 0 else number(x, digits)


def words(x, y, text, size=15, role="", bold=False, anchor="middle", fill=None) -> str:
    """Return a line of text at x, in a role's colour; in the text, [role:part] sets a part in the colour of its role."""
    style = f'font-size="{size}" fill="{fill or colour_of(role)}" text-anchor="{anchor}"' + ' font-weight="650"' * bold
    part = r'<tspan font-weight="650" fill="%s">\2</tspan>'
    text = re.sub(r"\[(\w+):(.*?)\]", lambda found: found.expand(part % colour_of(found[1])), escape(text))
    return f'<text x="{x:g}" y="{y:g}" {style}>{text}</text>'


def chip(x, y, text, role, width=60, height=34, size=15, bold=True, opacity=1.0) -> str:
    """Return a role's shape with its upper left corner at (x, y) and a text in it; `opacity` fades what fills it."""
    look = ROLES[role]
    middle = x + width / 2 + POINT / 2 * ((role == "key") - (role == "query"))
    shape = f'd="{outline(role, x, y, width, height)}" fill="{look.fill}" fill-opacity="{opacity:g}"'
    fill = look.text if role == "context" else None
    drawn = f'<path {shape} stroke="{look.colour}" stroke-width="1.5"/>'
    return drawn + words(
        x + width / 2 if not text else middle, y + height / 2 + size * 0.36, text, size, "", bold, fill=fill
    )


def vector(x, y, numbers, role, width=48, height=32, more=True, digits=2, size=14) -> str:
    """Return a vector as a row of cells in its role's shape, upper left corner at (x, y); `more` marks that it goes on."""
    look, end = ROLES[role], 8 if role != "word" else 0  # room for the shape's ends
    wide = width * len(numbers) + 2 * end
    drawn = [chip(x, y, "", role, wide, height)]
    for i, entry in enumerate(numbers):
        left = x + end + i * width
        if i:
            colour = look.text if role == "context" else look.colour
            drawn.append(f'<path d="M{left:g} {y:g}V{y + height:g}" stroke="{colour}" stroke-opacity="0.5"/>')
        drawn.append(words(left + width / 2, y + height / 2 + 5, number(entry, digits), size, fill=look.text))
    return "".join(drawn) + (words(x + wide + 13, y + height / 2 + 5, "⋯", 16, fill=GREY) if more else "")


def column(x, y, numbers, role, width=62, height=30, digits=2, size=14, opacity=1.0) -> str:
    """Return a vector as a column of cells, upper left corner at (x, y), filled in its role's colour as far as `opacity`; None is an empty cell."""
    look, drawn = ROLES[role], []
    edge = look.text if role == "context" else look.colour
    for i, entry in enumerate(numbers):
        top = y + i * height
        place = f'x="{x:g}" y="{top:g}" width="{width:g}" height="{height:g}"'
        drawn.append(f'<rect {place} fill="#ffffff" stroke="{edge}" stroke-width="1.5"/>')
        drawn.append(f'<rect {place} fill="{look.fill}" fill-opacity="{opacity:.2f}"/>')
        if entry is not None:
            drawn.append(words(x + width / 2, top + height / 2 + 5, number(entry, digits), size, fill=look.text))
    return "".join(drawn)


def bar(x, base, weight, tall=44, width=50) -> str:
    """Return a weight as a bar around x that stands on `base` and is `tall` pixels high at 1."""
    high, look = height_of(weight, tall), ROLES["weight"]
    return f'<rect x="{x - width / 2:g}" y="{base - high:.1f}" width="{width:g}" height="{high:.1f}" fill="{look.colour}"/>'


def on_bar(x, base, weight, tall=44, digits=2, size=14) -> str:
    """Return a weight as a number above its bar, which has the same x, base and height at 1."""
    return words(x, base - height_of(weight, tall) - ON_BAR, number(weight, digits), size, "weight", bold=True)


def height_of(weight, tall=44) -> float:
    """Return how high a weight's bar is, `tall` pixels at 1; a weight of 0 can be seen, too."""
    return max(tall * float(weight), 1.5)


def line(x, y, to_x, to_y, role="", width=2.0, tip=True) -> str:
    """Return a straight arrow in a role's colour, or a line without a tip."""
    colour, across = ROLES[role].colour if role else GREY, abs(to_x - x) > abs(to_y - y)
    sign = 1 if (to_x - x if across else to_y - y) > 0 else -1
    back = [(-8 * sign, -4.5), (-8 * sign, 4.5)] if across else [(-4.5, -8 * sign), (4.5, -8 * sign)]
    head = " ".join(f"{to_x + dx:g},{to_y + dy:g}" for dx, dy in [(0, 0), *back])
    drawn = f'<path d="M{x:g} {y:g}L{to_x:g} {to_y:g}" stroke="{colour}" stroke-width="{width:g}"/>'
    return drawn + f'<path d="M{head}Z" fill="{colour}"/>' * tip


MOTIONS = """\
@keyframes appear { from { opacity: 0 } to { opacity: 1 } }
@keyframes grow { from { opacity: 0; transform: scaleY(0) } to { opacity: 1 } }
@keyframes slide { from { opacity: 0; transform: var(--from) } to { opacity: 1 } }
@keyframes go { from { opacity: 1 } to { opacity: 0 } }
@media (prefers-reduced-motion: reduce), print { .m { animation: none !important } }"""


class Film:
    """Pieces of SVG in time. A notebook shows it moving; `frame(second)` is the still at that second, `frame()` the last one.

    Args:
        title: the finding, as a sentence.
        height: in pixels.
        seconds: when the last frame is reached; nothing moves after it.
        told: the second at which the title is written above the picture; None: at the end.
    """

    def __init__(self, title: str, height: float, seconds: float, told: float | None = None):
        self.title, self.height, self.seconds, self.pieces, self.description = title, height, seconds, [], ""
        self.told = seconds if told is None else told

    def add(self, svg: str, start=0.0, end=None, how="") -> None:
        """Show a piece from the second `start` to `end` (None: for good). `how`: "grow", or "dx,dy", from where it slides."""
        self.pieces.append((start, end, how, svg))

    def frame(self, second=None) -> str:
        """Return the still at this second as an SVG."""
        second = self.seconds if second is None else second
        return self._page(
            [svg for start, end, _, svg in self._timed() if start <= second and (end is None or second < end)]
        )

    def _timed(self):
        """Return all pieces, with the title last."""
        title = words(LEFT, 2 - HEAD / 4, self.title, 17, bold=True, anchor="start")
        return [*self.pieces, (self.told, None, "", title)]

    @property
    def svg(self) -> str:
        """The film as one SVG."""
        groups, style = [], []
        for i, (timing, pieces) in enumerate(groupby(self._timed(), lambda piece: piece[:3])):
            inside = "".join(piece[3] for piece in pieces)
            if timing == (0.0, None, ""):
                groups.append(inside)
                continue
            unseen = ' opacity="0"' * (timing[1] is not None)  # in the last frame
            groups.append(f'<g class="m k{i}"{unseen}>{inside}</g>')
            style.append(f".k{i} {{ {self._motion(*timing)} }}")
        return self._page(groups, "\n".join([*style, MOTIONS]) if style else "")

    def _motion(self, start, end, how):
        """Return what moves a piece, as CSS. One that is there from the beginning only goes."""
        name, slow = ("grow" if how == "grow" else "slide" if how else "appear"), FADE * (2 if how else 1)
        comes = [f"{name} {slow:g}s {HOLD + start:g}s both"] if start > 0 or how else []
        goes = [f"go {FADE * 0.6:g}s {HOLD + end:g}s {'forwards' if comes else 'both'}"] if end is not None else []
        moves = f"animation: {', '.join(comes + goes)}"
        if how == "grow":
            return f"{moves}; transform-box: fill-box; transform-origin: bottom"
        return f"{moves}; --from: translate({', '.join(f'{part}px' for part in how.split(','))})" if how else moves

    def _page(self, pieces, style=""):
        tall = self.height + HEAD
        return (
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 {-HEAD} {WIDTH} {tall:g}" width="{WIDTH}" '
            f'height="{tall:g}" role="img"><title>{escape(self.title)}</title>'
            f"<desc>{escape(self.description)}</desc><style>text {{ font-family: {FONT} }} {style}</style>"
            f'<rect x="0.5" y="{0.5 - HEAD:g}" width="{WIDTH - 1}" height="{tall - 1:g}" rx="8" fill="#ffffff" '
            f'stroke="#d0d7de"/>{"".join(pieces)}</svg>\n'
        )

    def _repr_mimebundle_(self, include=None, exclude=None):
        return as_image(self)
