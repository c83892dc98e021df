"""What goes wrong where rows are multiplied by a weight and put through a sigmoid: the sentences, and the sigmoid that overflows."""

SIGMOID_OVERFLOWS = "For a large score, exp(z) / (1 + exp(z)) is infinity divided by infinity. Use torch.sigmoid, which handles scores of any size."


def overflowing_sigmoid(z):
    """Take the place of a sigmoid: by hand, as exp(z) / (1 + exp(z))."""
    e = z.exp()
    return e / (1 + e)


SIGMOID_GRADIENT = (
    "The values are right, but for a score far below 0, exp(-z) is infinite, and the gradient of 1 / (1 + exp(-z)) is NaN there. Use torch.sigmoid, "
    "whose gradient is correct for scores of any size."
)


def sigmoid_by_hand(z):
    """Take the place of a sigmoid: right values, and a gradient that is NaN for scores far below 0."""
    return 1 / (1 + (-z).exp())


def product_turned(rows, shape, written, where):
    """Say that the factors are in the wrong order: `rows`, of this shape with D last, should come first; what is written runs only `where`."""
    return (
        "The two factors are in the wrong order. In a matrix product the axis that disappears is the last one on the left. "
        f"Here that is D, so `{rows}` ({shape}) comes first. `{written}` runs only {where}, and may then give an incorrect result."
    )
