"""Shares of the points that many tasks give alike, for `Task(partial=…)`: each says what is right all the same."""

EDGE = {"edge": (0.5, "right on every ordinary input, wrong on an unusual one.")}
GRADIENT = {"gradient": (0.5, "every value is right, but its gradient is not.")}
SIDE_EFFECT = {"side effect": (0.75, "the result is right, but an argument is altered.")}
USUAL = EDGE | GRADIENT | SIDE_EFFECT
