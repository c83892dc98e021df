"""The frame of a page and the ways to write into it what is not ours.

Each page is one file that opens offline, in light and dark, without JavaScript; its policy forbids scripts and network.
Whatever came from a submission or a roster is written by `line`, `sentence`, `block` or `link`, which clean and escape it.
"""

import base64
import hashlib
import re
from html import escape
from importlib import resources

from course_utils.checks.report import SYMBOLS, with_code
from course_utils.grading.keeping.record import READ, TO_BE_READ, Points, Verdict
from course_utils.grading.keeping.texts import clean, cut
from course_utils.grading.writing.results import NOTHING, TEXT_AT_MOST, file_name
from course_utils.grading.writing.tally import standing

STYLE = resources.files("course_utils.grading.writing").joinpath("pages.css").read_text(encoding="utf-8")
STYLE_HASH = base64.b64encode(hashlib.sha256(STYLE.encode()).digest()).decode()
POLICY = f"default-src 'none'; style-src 'sha256-{STYLE_HASH}'; base-uri 'none'; form-action 'none'"
SIGNS = {**SYMBOLS, "missing": "○", "not run": "–", TO_BE_READ: "…", READ: "✗", NOTHING: "○"}
LINE_AT_MOST = 120


def page(title: str, body: str, wide: bool = False) -> str:
    """Return a whole page; `title` is escaped here, `body` is markup."""
    return (
        "<!doctype html>\n<html lang='en'><head><meta charset='utf-8'>"
        f'<meta http-equiv="Content-Security-Policy" content="{POLICY}">'
        "<meta name='viewport' content='width=device-width, initial-scale=1'>"
        "<meta name='color-scheme' content='light dark'><meta name='referrer' content='no-referrer'>"
        f"<title>{line(title)}</title><style>{STYLE}</style></head>\n"
        f"<body{' class=wide' if wide else ''}>{body}</body></html>\n"
    )


def line(text: str, at_most: int = LINE_AT_MOST) -> str:
    """Return a text of unknown origin on one line, escaped."""
    return escape(cut(" ".join(clean(text).split()), at_most))


def sentence(text: str) -> str:
    """Return a sentence of unknown origin, escaped, with `…` as code."""
    return with_code(cut(clean(text), TEXT_AT_MOST))


def block(code: str) -> str:
    """Return code of unknown origin, escaped, in a block that scrolls, also by keyboard."""
    return f"<pre tabindex='0'><code>{escape(clean(code))}</code></pre>"


def passage(text: str) -> str:
    """Return a text of unknown origin as it was written, its lines kept, escaped."""
    return f"<blockquote>{escape(clean(text))}</blockquote>"


def link(who: tuple[str, str], folder: str = "feedback/") -> str:
    """Return a link to the feedback page of a student, given as (identifier, name)."""
    student, name = who
    shown = f"<bdi>{line(student)}</bdi>"
    if name and name != student:
        shown = f"<bdi>{line(name)}</bdi> ({shown})"
    return f"<a href='{folder}{file_name(student)}.html'>{shown}</a>"


def anchor(*words: str) -> str:
    """Return an id for a place on a page."""
    return "-".join(re.sub("[^A-Za-z0-9_]", "-", word) for word in words)


def css_class(verdict: Verdict, points: Points) -> str:
    """Return the class that colours a verdict."""
    found = standing(verdict, points)
    return "none" if found == "absent" else found


def sign(verdict: Verdict, points: Points) -> str:
    """Return the sign for a verdict's state; whoever writes it says the state in words too."""
    mark = "◐" if standing(verdict, points) == "partly" else SIGNS.get(verdict.state, "–")
    return f"<span class='sign' aria-hidden='true'>{mark}</span>"


def state(verdict: Verdict, points: Points) -> str:
    """Return a verdict's state, by sign and in words."""
    return f"{sign(verdict, points)} {line(verdict.state)}"


def count(n: int, noun: str) -> str:
    """Return such as "1 student", "10,000 students"."""
    return f"{n:,} {noun}{'s' * (n != 1)}"
