"""Random inputs for a task, beside its own cases: drawn by the names of its arguments and the letters of their shapes.

A size runs from 1 to 6, so that two of them may coincide, and some numbers are exactly 0. What a name says to every task stands
in BY_NAME below. What one task alone needs is in its file in `alternative_solutions/`, as functions of the `draw` made here:

    SIZES = {"D": lambda draw: 2 * draw.randint(1, 3)}              what a letter stands for
    INPUTS = {"k": lambda draw: draw.randint(1, draw.size("N"))}    what an argument is
    def inputs(draw): ...                                           all arguments, where each depends on the others
"""

import random
from math import prod

import torch
from alternative_solutions import HELD


def can_be_drawn(task):
    """Whether inputs can be drawn for a task: for one about candidates, where its file says what is in their place."""
    return not task.candidates or bool({"INPUTS", "inputs"} & {*HELD[task.id]})


def cases_of(task, times):
    """Return how many cases are drawn where so many are wanted: fewer where the task's file says that each takes long."""
    return min(times, HELD[task.id].get("MOST_CASES", times))


class Draw(random.Random):
    """Random numbers, as in the standard library, and tensors whose shapes are given in letters: "…×S", "3·H×(D+E)"."""

    def inputs(self, task):
        """Args for a task: of new sizes, each time it is called."""
        held, self._sizes = HELD[task.id], {}
        self._own_sizes, own = held.get("SIZES", {}), held.get("INPUTS", {})
        self._leading = [self.randint(1, 3) for _ in range(self.randint(0, 2))]
        self.generator = torch.Generator().manual_seed(self.randint(0, 10**9))
        if "inputs" in held:
            return held["inputs"](self)
        named = [argument.partition(" ")[::2] for argument in task.arguments]
        return tuple(own[name](self) if name in own else self._by_name(name, letters) for name, letters in named)

    def _by_name(self, name, letters):
        return BY_NAME.get(name, Draw.numbers)(self, letters)

    def size(self, letter):
        """What a letter stands for, the same in all shapes of these inputs."""
        if letter not in self._sizes:
            self._sizes[letter] = self._own_sizes.get(letter, lambda draw: draw.randint(1, 6))(self)
        return self._sizes[letter]

    def shape(self, letters):
        """The lengths of the axes, of which "…" stands for none, one or two."""
        axes = letters.split("×") if letters else []
        return [n for axis in axes for n in (self._leading if axis == "…" else [self._length(axis)])]

    def _length(self, axis):
        products = [term.split("·") for term in axis.strip("()").split("+")]
        return sum(prod(int(n) if n.isdigit() else self.size(n) for n in factors) for factors in products)

    def between(self, letters, low, high):
        """Numbers spread evenly from `low` to `high`."""
        return low + (high - low) * torch.rand(self.shape(letters), generator=self.generator)

    def numbers(self, letters, zeros=0.1):
        """Numbers spread near 0, closely or widely, with this share of exact zeros."""
        numbers = torch.randn(self.shape(letters), generator=self.generator) * self.choice([0.5, 1, 3])
        return numbers.masked_fill(self.between(letters, 0, 1) < zeros, 0.0)

    def whole(self, letters, low, high):
        """Whole numbers from `low` up to but not `high`."""
        return torch.randint(low, high, self.shape(letters), generator=self.generator)

    def probabilities(self, letters, zeros=0.0):
        """Rows that sum to 1, with about this share of exact zeros."""
        numbers = self.numbers(letters, 0)
        left_out = self.between(letters, 0, 1) < zeros
        left_out[:, self.randrange(numbers.shape[1])] = False
        return numbers.masked_fill(left_out, -torch.inf).softmax(-1)

    def mask(self, letters):
        """Truth values, few or most of them true; in a row there may be none."""
        return self.between(letters, 0, 1) < self.choice([0.2, 0.5, 0.9])

    def words_first(self, least):
        """A mask B×S in which so many words at least stand first in each row, and padding behind them."""
        counts = torch.randint(least, self.size("S") + 1, (self.size("B"), 1), generator=self.generator)
        return torch.arange(self.size("S")) < counts

    def weights(self, module):
        """Numbers for the parameters of a module, by their names."""
        return {name: torch.randn(p.shape, generator=self.generator) for name, p in module.named_parameters()}

    def decoder(self):
        """A function from ids to the log probabilities of V ids behind them, always the same for the same ids."""
        V, seed = self.size("V"), self.randint(0, 10**9)

        def step(prefix):
            generator = torch.Generator().manual_seed(hash((seed, *prefix)) % 2**40)
            return torch.randn(V, generator=generator, dtype=torch.float64).log_softmax(0)

        return step


BY_NAME = {  # from the draw and the letters of the argument's shape; any other name stands for numbers
    "mask": Draw.mask,
    "target": lambda draw, letters: draw.whole(letters, 0, draw.size("V")),
    "chosen": lambda draw, letters: draw.whole(letters, 0, draw.size("N")),
    "lengths": lambda draw, letters: draw.whole(letters, 0, 7),
    "location": lambda draw, letters: draw.between(letters, -0.95, 0.95),
    "bos": lambda draw, _: draw.randint(0, 9),
    "dilation": lambda draw, _: draw.randint(1, 7),
    "eps": lambda draw, _: draw.choice([1e-5, 0.1, 1.0]),
    "heads": lambda draw, _: draw.choice([n for n in range(1, 7) if draw.size("D") % n == 0]),
    "length": lambda draw, _: draw.randint(1, 40),
    "size": lambda draw, _: draw.randint(1, 8),
    "step": lambda draw, _: draw.randint(1, 30),
    "temperature": lambda draw, _: draw.choice([0.3, 1.0, 2.5]),
    "width": lambda draw, _: 2 * draw.randint(1, 6),
}
