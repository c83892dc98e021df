"""Questions whose answer is a letter or a number, and predictions, which are never wrong. Shows and stores nothing.

They are written in a lesson's `questions.md`, which `question_file.py` reads.
"""

import random
import re
from collections.abc import Mapping
from dataclasses import dataclass
from hashlib import sha256
from types import SimpleNamespace

LETTERS = "abcdefgh"


@dataclass(frozen=True)
class Answered:
    """What is said about an answer. `state` is "not attempted", "failed" or "passed"; `chosen` the wrong option's text, or ""."""

    state: str
    message: str
    chosen: str = ""


@dataclass(frozen=True)
class _AnyQuestion:
    """What both kinds of question have. Grading treats a question as a task: hence `points` and what follows."""

    id: str
    title: str  # a few words, for tables
    text: str
    points: int = 1

    partial = {}  # noqa: RUF012
    candidates = hints = ()


@dataclass(frozen=True)
class Question(_AnyQuestion):
    """A question with options, each a pair: what it says, and why that is right or wrong.

    Their order comes from a seed, so that neighbours see the same options under different letters.
    """

    right: tuple[str, str] = ()
    wrong: tuple[tuple[str, str], ...] = ()

    @property
    def mistakes(self) -> list[SimpleNamespace]:
        """The wrong options, as a task's named mistakes."""
        return [SimpleNamespace(name=text, sentence=sentence) for text, sentence in self.wrong]

    def options(self, seed: int) -> list[tuple[str, str]]:
        """Return [(letter, what it says), …] in a seed's order."""
        texts = [self.right[0], *(text for text, _ in self.wrong)]
        random.Random(sha256(f"{self.id} {seed}".encode()).digest()).shuffle(texts)
        return list(zip(LETTERS, texts, strict=False))

    def judge(self, answer: object, seed: int) -> Answered:
        """Judge a letter, with the options in the order of a seed."""
        options = dict(self.options(seed))
        letters = f"one of the letters {LETTERS[0]} to {LETTERS[len(options) - 1]}"
        if answer is None or answer is ... or isinstance(answer, str) and not answer.strip():
            return Answered("not attempted", f'Replace the dots with {letters}: `check("{self.id}", "…")`.')
        letter = self._letter_of(answer, options)
        if letter not in options:
            return Answered(
                "not attempted",
                f'The answer should be {letters} in quotes, as in `check("{self.id}", "…")`, not {shown(answer)}.',
            )
        text = options[letter]
        if text == self.right[0]:
            return Answered("passed", f"{letter}) is right. {self.right[1]}")
        return Answered("failed", f"{letter}) is not right. {dict(self.wrong)[text]}", text)

    @staticmethod
    def _letter_of(answer, options):
        """Return the letter meant by a letter or an option's text, with its letter or alone; None for what is no text."""
        if not isinstance(answer, str):
            return None
        bare = lambda text: " ".join(text.replace("`", "").split()).strip(" .()").lower()  # noqa: E731
        spellings = {bare(spelt): letter for letter, text in options.items() for spelt in (text, f"{letter}) {text}")}
        return spellings.get(bare(answer), bare(answer))


@dataclass(frozen=True)
class NumberQuestion(_AnyQuestion):
    """A question whose answer is a number. `wrong` says why a likely wrong number is wrong, `otherwise` what to say about others."""

    answer: float = 0.0
    tolerance: float = 0.0
    why: str = ""
    wrong: Mapping[float, str] = ()
    otherwise: str = ""

    @property
    def mistakes(self) -> list[SimpleNamespace]:
        """The foreseen wrong numbers, as a task's named mistakes."""
        return [SimpleNamespace(name=f"{number:g}", sentence=sentence) for number, sentence in dict(self.wrong).items()]

    def options(self, seed: int) -> list:
        """Return no options: there are none."""
        return []

    def judge(self, answer: object, seed: int = 0) -> Answered:
        """Judge a number."""
        if answer is None or answer is ... or isinstance(answer, str) and not answer.strip():
            return Answered("not attempted", f'Replace the dots with a number: `check("{self.id}", 0.5)`.')
        number = self._in_thousands(answer) or as_number(answer)
        if number is None:
            return Answered(
                "not attempted", f'The answer should be a number, as in `check("{self.id}", 0.5)`, not {shown(answer)}.'
            )
        near = lambda wanted: abs(number - wanted) <= self.tolerance + 1e-9 * abs(wanted)  # noqa: E731
        if near(self.answer):
            return Answered("passed", f"{number:g} is right. {self.why}")
        for wrong, sentence in dict(self.wrong).items():
            if near(wrong):
                return Answered("failed", f"{number:g} is not right. {sentence}", f"{wrong:g}")
        return Answered("failed", f"{number:g} is not right. {self.otherwise}".rstrip())

    def _in_thousands(self, answer):
        """Return the number that a text such as "12,288" stands for; 0 for other texts, and if no thousands are asked for."""
        grouped = isinstance(answer, str) and re.fullmatch(r"[1-9]\d{0,2}([,. ']\d{3})+", answer.strip())
        return float(re.sub(r"\D", "", answer)) if grouped and self.answer >= 1000 else 0


@dataclass(frozen=True)
class Prediction:
    """What a reader guesses before a cell shows it: a number, or one of the `choices`. `why` explains the result.

    If the text says "from 0 to 1", no other number is accepted.
    """

    id: str
    text: str
    why: str
    choices: tuple[str, ...] = ()

    def read(self, guess: object) -> float | str | None:
        """Return the guess as it is stored: a number or one of the choices; None if it is neither."""
        if self.choices:
            found = [
                choice for choice in self.choices if isinstance(guess, str) and _letters(choice) == _letters(guess)
            ]
            return found[0] if found else None
        number = as_number(guess)
        if number is not None and isinstance(guess, str) and "%" in guess and "of 100" in self.text:
            number *= 100
        return None if number is not None and self._is_share and not -1e-6 <= number <= 1 + 1e-6 else number

    @property
    def _is_share(self):
        return "from 0 to 1" in self.text

    def wanted(self) -> str:
        """Return what a guess looks like, in words."""
        if self.choices:
            return f"one of {', '.join(f'`{choice!r}`' for choice in self.choices)}"
        return f"a number{self._is_share * ' from 0 to 1'}"

    def compare(self, guess: float | str | None, value: float | str) -> str:
        """Return how far a guess, or None, was from the result."""
        shown = f"{value}" if self.choices else f"{value:.4g}"
        if guess is None:
            return f"Answer: {shown}. {self.why}"
        if self.choices:
            comparison = "as you said" if guess == value else f"and you said {guess}"
            return f"Answer: {shown}, {comparison}. {self.why}"
        off = guess - value
        if abs(off) <= 0.005 * max(1, abs(value)):
            return f"Answer: {shown}, and you said {guess:g}: good guess. {self.why}"
        return f"Answer: {shown}, and you said {guess:g}: {abs(off):.4g} too {'high' if off > 0 else 'low'}. {self.why}"


def _letters(text):
    """Return a text without what does not tell choices apart: capitals, hyphens, underscores and spaces."""
    return re.sub(r"[\s_-]+", "", text).lower()


def as_number(value: object) -> float | None:
    """Return a number, whether Python's, numpy's, a tensor or a text, as a float; None for anything else."""
    if isinstance(value, bool) or value is None or value is ...:
        return None
    try:
        number = _in_figures(value) if isinstance(value, str) else float(value)
    except (ArithmeticError, AttributeError, RuntimeError, TypeError, ValueError):
        return None
    return number if number == number and abs(number) != float("inf") else None


def _in_figures(text):
    """Return the number that a text such as "0,4", "2/5" or "40%" stands for. Raises ValueError or ZeroDivisionError."""
    above, _, below = text.replace(",", ".").strip().removesuffix("%").partition("/")
    return float(above) / float(below if "/" in text else 1) / (100 if "%" in text else 1)


def shown(answer: object) -> str:
    try:
        text = repr(answer) if isinstance(answer, (str, int, float)) else f"an object of type {type(answer).__name__}"
    except ValueError:  # Python does not write out more than a few thousand digits
        text = "a huge number"
    return text if len(text) <= 40 else f"{text[:40]}…"
