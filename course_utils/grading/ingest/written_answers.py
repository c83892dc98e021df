"""What a learner writes for a person to read: answers in words, and requests to look again. Both are in text cells.

    **Answer to 03.why_three:** A word asks with one vector and …
    **Look again at 03.attention:** My answer is right, since …

A cell that begins like this belongs to what it names, as do the text cells below it, up to code or a heading. Their pictures
belong to it, too, whether attached to the cell, as in JupyterLab and VS Code, or written into its text, as in Colab.
"""

import base64
import binascii
import hashlib
import re
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from urllib.parse import unquote

from course_utils.base.sanitise import clean, cut
from course_utils.base.words import count
from course_utils.grading.storage.record import TO_BE_READ, Verdict

TEXT_AT_MOST = 4000  # characters of an answer that are kept
REQUEST_AT_MOST = 400  # characters of a request
ANSWERS, REQUESTS = 40, 12  # of a notebook
ALIKE_FROM = 80  # characters: shorter answers may well be written twice
ANSWER, REQUEST = "Answer to", "Look again at"
BEGIN = re.compile(rf"[\s*_>]*({ANSWER}|{REQUEST})\s+[`*]*(\d\d\.\w{{1,60}})[`*_:\s]*", re.IGNORECASE)
PLACE = "Write here, in place of this sentence."
IN_TEXT = re.compile(r"data:image/[\w.+-]{1,60};base64,([A-Za-z0-9+/=]*)")
ATTACHED = re.compile(r"""attachment:((?:[^\s()"'<>]|\([^\s()"'<>]{0,200}\)){1,300})""")


@dataclass(frozen=True)
class Written:
    """A question whose answer a person reads. Grading treats it as a task, hence the empty attributes."""

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
        worth = count(float(self.points), "point")
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


def in_words(cells: Iterable[dict]) -> tuple[tuple[Verdict, ...], tuple[str, ...]]:
    """Return a Verdict for each answer in words, still to be read, and the requests as "03.attention: My answer is …".

    Args:
        cells: of a notebook, in order, as `notebook_file.cells_of` gives them.
    """
    parts, seen = {}, Counter()
    for key, text, cell in _cells_with_owner(cells):
        parts.setdefault(key, []).append(text.replace(PLACE, "").strip(" \n\t*_"))
        seen[key] += sum(1 for _ in _encoded_pictures(cell))
    texts = {key: "\n\n".join(filter(None, of_key)) for key, of_key in parts.items()}
    answers = [_verdict(key[1], text, seen[key]) for key, text in texts.items() if key[0] == ANSWER.lower() and text]
    again = [f"{name}: {text or 'without a reason'}" for (kind, name), text in texts.items() if kind == REQUEST.lower()]
    return tuple(answers[:ANSWERS]), tuple(cut(text, REQUEST_AT_MOST) for text in again[:REQUESTS])


def pictures(cells: Iterable[dict], question: str) -> list[bytes]:
    """Return what should be the pictures in the answer to a question; nobody has checked yet that they are."""
    return [
        picture
        for key, _, cell in _cells_with_owner(cells)
        if key == (ANSWER.lower(), question)
        for picture in map(_picture_bytes, _encoded_pictures(cell))
    ]


def _cells_with_owner(cells) -> Iterator[tuple[tuple[str, str], str, dict]]:
    """Yield each text cell that belongs to something, as (("answer to", "03.why_three"), its text, the cell)."""
    kind, name = "", ""
    for cell in cells:
        is_text = cell["cell_type"] == "markdown"
        text = clean(IN_TEXT.sub("a picture", cell["source"] or "")) if is_text else ""
        if begin := BEGIN.match(text):
            kind, name, text = begin[1].lower(), begin[2], text[begin.end() :]
        elif not is_text or text.lstrip().startswith("#"):
            kind = ""
        if kind:
            yield (kind, name), text, cell


def _encoded_pictures(cell):
    """Yield each picture that a text cell shows, in base 64."""
    yield from IN_TEXT.findall(cell["source"] or "")
    for name in dict.fromkeys(map(unquote, ATTACHED.findall(cell["source"] or ""))):
        bundle = cell["attachments"].get(name) if isinstance(cell.get("attachments"), dict) else None
        yield next(iter(bundle.values()), "") if isinstance(bundle, dict) else ""


def _picture_bytes(text):
    try:
        return base64.b64decode("".join("".join(text).split()), validate=True)
    except (binascii.Error, TypeError, ValueError):
        return b""


def _verdict(name, text, pictures):
    words = " ".join(text.lower().split())
    alike = hashlib.sha256(words.encode()).hexdigest()[:16] if len(words) >= ALIKE_FROM else ""
    return Verdict(name, TO_BE_READ, code=cut(text, TEXT_AT_MOST), fingerprint=alike, pictures=pictures)
