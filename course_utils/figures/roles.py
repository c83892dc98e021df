"""How each role of attention looks in every picture: one colour, one shape and one letter, in all lessons and on the site.

A word or a plain vector is a grey box, a query a purple chip with a point, a key an amber chip with a notch that the
point fits into, a value a pale green pill, a context the same pill filled in; a weight is blue, on one scale from 0 to 1.
Take the colour away, and the shape still says which role it is.
"""

from dataclasses import dataclass

INK, GREY, LINE = "#1f2328", "#59636e", "#8c959f"
POINT = 9  # pixels: how far a query's point reaches out, and a key's notch in


@dataclass(frozen=True)
class Role:
    """The look of a role: the colour of its edge and its letters, what fills it, and the colour of text on that."""

    colour: str
    fill: str
    text: str = INK


ROLES = {
    "word": Role(LINE, "#f6f8fa"),
    "query": Role("#9c3587", "#f8e4f3"),
    "key": Role("#9a5f00", "#fdefcf"),
    "value": Role("#00795a", "#d8f3e8"),
    "context": Role("#00795a", "#00795a", "#ffffff"),
    "weight": Role("#0b6fa4", "#cfe6f5"),
}
# The colours of the weights 0 and 1; those between lie on the line from one to the other.
WEIGHTS = ("#ffffff", ROLES["weight"].colour)


def colour_of(role: str) -> str:
    """Return the colour of a role's letters; that of plain text for a word and for anything without a role."""
    return INK if role in ("", "word") else ROLES[role].colour


def outline(role: str, x: float, y: float, width: float, height: float) -> str:
    """Return the path data of a role's shape in this rectangle, as for `<path d="…"/>`."""
    right, bottom, middle = x + width, y + height, y + height / 2
    if role == "query":
        return f"M{x:g} {y:g}H{right - POINT:g}L{right:g} {middle:g}L{right - POINT:g} {bottom:g}H{x:g}Z"
    if role == "key":
        return f"M{x:g} {y:g}H{right:g}V{bottom:g}H{x:g}L{x + POINT:g} {middle:g}Z"
    round_ = height / 2 if role in ("value", "context") else 5
    arc = f"A{round_:g} {round_:g} 0 0 1"
    return (
        f"M{x + round_:g} {y:g}H{right - round_:g}{arc} {right:g} {y + round_:g}V{bottom - round_:g}"
        f"{arc} {right - round_:g} {bottom:g}H{x + round_:g}{arc} {x:g} {bottom - round_:g}V{y + round_:g}"
        f"{arc} {x + round_:g} {y:g}Z"
    )
