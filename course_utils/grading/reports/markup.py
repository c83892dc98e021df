"""The pages' templates, and ways to write into them what is not ours.

Each page is one file that opens offline, in light and dark, without JavaScript; its policy forbids scripts and network.
Whatever a template writes is cleaned and escaped, wherever it comes from; `line` and `sentence` also cut it.
"""

import base64
import hashlib
import re
from importlib import resources

from jinja2 import Environment, PackageLoader, StrictUndefined, Template
from markupsafe import Markup

from course_utils.base.sanitise import clean, cut, one_line
from course_utils.base.words import count
from course_utils.checks import report
from course_utils.grading.reports.exports import file_name
from course_utils.grading.reports.sentences import (
    NOTHING,
    fitted,
    hint,
    number,
    on_task,
    on_the_whole,
    passed_in_words,
    points_in_words,
)
from course_utils.grading.reports.statistics import standing
from course_utils.grading.storage.record import READ, TO_BE_READ, Points, Verdict

STYLE = resources.files("course_utils.grading.reports").joinpath("pages.css").read_text(encoding="utf-8")
STYLE_HASH = base64.b64encode(hashlib.sha256(STYLE.encode()).digest()).decode()
POLICY = f"default-src 'none'; style-src 'sha256-{STYLE_HASH}'; base-uri 'none'; form-action 'none'"
SIGNS = {**report.SYMBOLS, "missing": "○", "not run": "–", TO_BE_READ: "…", READ: "✗", NOTHING: "○"}
LINE_AT_MOST = 120


def template(name: str) -> Template:
    """Return a template of a page, such as "class.html"."""
    return _templates.get_template(name)


def line(text: str, at_most: int = LINE_AT_MOST) -> str:
    """Return a text of unknown origin on one line."""
    return cut(one_line(text), at_most)


def sentence(text: str) -> Markup:
    """Return a sentence of unknown origin, with `…` as code."""
    return with_code(fitted(text))


def with_code(text: str) -> Markup:
    """Return a text, with `…` as code."""
    return Markup(report.with_code(text))


def anchor(*words: str) -> str:
    """Return an id for a place on a page."""
    return "-".join(re.sub("[^A-Za-z0-9_]", "-", word) for word in words)


def css_class(verdict: Verdict, points: Points) -> str:
    """Return the class that colours a verdict."""
    found = standing(verdict, points)
    return "none" if found == "absent" else found


def sign(verdict: Verdict, points: Points) -> str:
    """Return the sign for a verdict's state; whoever writes it also gives the state in words."""
    return "◐" if standing(verdict, points) == "partly" else SIGNS.get(verdict.state, "–")


_templates = Environment(
    loader=PackageLoader("course_utils.grading.reports"),
    autoescape=True,
    finalize=lambda value: clean(value) if type(value) is str else value,
    undefined=StrictUndefined,
    trim_blocks=True,
    lstrip_blocks=True,
    keep_trailing_newline=True,
)
_templates.filters |= {
    **{f.__name__: f for f in (anchor, count, file_name, line, number, points_in_words, sentence, with_code)},
    "percent": "{:.0%}".format,
    "thousands": "{:,}".format,
}
_templates.globals |= {f.__name__: f for f in (anchor, css_class, hint, on_task, on_the_whole, passed_in_words, sign)}
_templates.globals |= {"POLICY": Markup(POLICY), "STYLE": Markup(STYLE)}
