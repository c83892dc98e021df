"""What a learner writes for a person to read: answers in words, and requests to look again. Both are in text cells.

    **Answer to 03.why_three:** A word asks with one vector and …
    **Look again at 03.attention:** My answer is right, since …

A cell that begins so belongs to what it names, and so do the text cells below it, up to code or a heading.
"""

import hashlib
import re
from collections.abc import Iterable
from dataclasses import dataclass

from course_utils.base.texts import clean, cut
from course_utils.grading.keeping.record import TO_BE_READ, Verdict

TEXT_AT_MOST = 4000  # characters of an answer that are kept
REQUEST_AT_MOST = 400  # characters of a request
ANSWERS, REQUESTS = 40, 12  # of a notebook
ALIKE_FROM = 80  # characters: shorter answers may well be written twice
ANSWER, REQUEST = "Answer to", "Look again at"
BEGIN = re.compile(rf"[\s*_>]*({ANSWER}|{REQUEST})\s+[`*]*(\d\d\.\w{{1,60}})[`*_:\s]*", re.IGNORECASE)
PLACE = "Write here, in place of this sentence."


@dataclass(frozen=True)
class Written:
    """A question that a person reads the answer to. A class's grading treats it as a task: hence what stands without a value."""

    id: str  # "03.why_three"
    text: str
    points: float = 1

    partial = {}  # noqa: RUF012
    mistakes = candidates = hints = ()

    @property
    def title(self) -> str:
        """A few words, for tables."""
        return "an answer in words"

    def cells(self) -> list[dict]:
        """Return the two text cells that are handed out: the question, and the place for the answer."""
        worth = f"{self.points:g} point{'s' * (self.points != 1)}"
        prompt = f"## {self.id}\n\nAn answer in words, {worth}. Your instructor reads it.\n\n{self.text.strip()}"
        name = self.id.replace(".", "-")
        return [
            {"cell_type": "markdown", "id": f"{name}-question", "metadata": {}, "source": prompt},
            {
                "cell_type": "markdown",
                "id": f"{name}-answer",
                "metadata": {},
                "source": f"**{ANSWER} {self.id}:**\n\n{PLACE}",
            },
        ]


def in_words(cells: Iterable[tuple[str, str]]) -> tuple[tuple[Verdict, ...], tuple[str, ...]]:
    """Return a Verdict for each answer in words, still to be read, and the requests as "03.attention: My answer is …".

    Args:
        cells: (kind, text) of each cell of a notebook, in order.
    """
    found, kind, name = {}, "", ""  # {("answer to", "03.why_three"): what is there}
    for cell, text in cells:
        begin = BEGIN.match(text) if cell == "markdown" else None
        if begin:
            kind, name, text = begin[1].lower(), begin[2], text[begin.end() :]
        elif cell != "markdown" or text.lstrip().startswith("#"):
            kind = ""
        if kind:
            found.setdefault((kind, name), []).append(text.replace(PLACE, "").strip(" \n\t*_"))
    texts = {key: "\n\n".join(filter(None, parts)) for key, parts in found.items()}
    answers = [_verdict(name, text) for (kind, name), text in texts.items() if kind == ANSWER.lower() and text]
    again = [f"{name}: {text or 'without a reason'}" for (kind, name), text in texts.items() if kind == REQUEST.lower()]
    return tuple(answers[:ANSWERS]), tuple(cut(clean(text), REQUEST_AT_MOST) for text in again[:REQUESTS])


def _verdict(name, text):
    words = " ".join(text.lower().split())
    alike = hashlib.sha256(words.encode(errors="replace")).hexdigest()[:16] if len(words) >= ALIKE_FROM else ""
    return Verdict(name, TO_BE_READ, code=cut(text, TEXT_AT_MOST), fingerprint=alike)
