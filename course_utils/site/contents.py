"""Makes the pages that have no notebook: the first page, the translator, the glossary, and the documents that are in docs/.

Here: texts, made from facts. Not here: pages of notebooks (`pages.py`), and how pages become HTML (`build.py`).
"""

import json
import re
from functools import partial
from html import escape
from pathlib import Path

from course_utils.base.paths import number_of
from course_utils.checks import catalogue
from course_utils.models.serialization import load_pretrained
from course_utils.site.pages import card_picture
from course_utils.site.search_index import DEFINED
from course_utils.site.titles import TITLES
from course_utils.translation.search import translate_all

PAGE = Path(__file__).parent / "page"  # what runs in a reader's browser
DOCUMENTS = ("paths", "setup", "instructors", "large-classes", "measurements", "translators")
TRANSLATING = (
    "models/transformer-en-de",
    "models/words",
    "subwords",
    "transformer",
    "recurrent",
    "translator",
)  # scripts, in this order
EXAMPLE, SHOWN = "A young girl in a red dress is playing with a big black dog.", "noir"  # on the first page
BESIDE = ("attention-en-fr", "seq2seq-en-fr")  # models that are loaded after the first translation
TERM = re.compile(r"\*\*([^*\n]{2,40}?)\*\*")
PAPER = re.compile(r"\b(?!In |Since |By )([A-Z][\w-]+(?: (?:and|&) [A-Z][\w-]+| et al\.)?),? \(?((?:19|20)\d\d)\b")
SENTENCE = re.compile(r"(?<=[.?!])\s+(?=[A-Z*$])")
ENTRY = re.compile(r"^- \*\*(.+?)\*\*(?:, (\w+))?(?: \((.+?)\))?: (.+)$", re.MULTILINE)  # of docs/glossary.md
GLOSSED = re.compile(r'<a href="glossary\.html#([^"]+)">([^<]+)</a>')


def first_page(root: Path, names: list[str]) -> str:
    """Return the first page: what attention is, a translation that shows it, the lessons, and for whom they are."""
    readme = (root / "README.md").read_text(encoding="utf-8")
    heading, what = _readme_section(readme, "# ").split("\n", 1)
    who = _readme_section(readme, "## Who it is for")
    description, aim, *_ = SENTENCE.split(" ".join(what.split()))
    lessons = "\n".join(_lesson_card(root, name) for name in names)
    return (
        f'---\nmyst:\n  html_meta:\n    description: "{description}"\n---\n\n'
        f"{heading}\n\n{description} {aim}\n\n{_attention_html()}\n\n"
        f'<p class="course-begin"><a href="notebooks/{names[0]}.html">Begin with lesson {number_of(names[0])}</a> '
        '<a href="translator.html#french">Translate a sentence of your own</a> '
        '<a href="docs/paths.html">Choose a path</a></p>\n\n'
        f'## The lessons\n\n<ol class="course-lessons">\n{lessons}\n</ol>\n\n'
        f"{who} You can read and answer everything here, and this browser keeps your answers. To change the code and do the exercises, "
        "[set the course up](docs/setup.md) on your own computer. To teach with it, [run a class](docs/instructors.md). To look something "
        "up, there are a [glossary](glossary.md) and the [papers](papers.md).\n"
    )


def _lesson_card(root, name):
    """Return a lesson's entry on the first page, as HTML: its picture, title and question, its time, and the reader's progress."""
    number = number_of(name)
    one, count = catalogue.lessons()[number], len(catalogue.questions_of(number))
    return (
        f'<li>{card_picture(root, name)}<a href="notebooks/{name}.html"><b>{number} {escape(one.title)}</b> '
        f"<span>{escape(one.question)}</span></a> <p><span>{one.reading} minutes</span> "
        f'<span class="course-progress" data-lesson="{number}" data-of="{count}">{count} questions</span></p></li>'
    )


def _attention_html() -> str:
    """Return a translation in which each word shows what the model looked at, as HTML; `page/looking.js` brings it to life."""
    model, subwords = load_pretrained("attention-en-fr")
    rows = subwords.encode([EXAMPLE])
    (found,) = translate_all(model, rows, width=1, weights=True)
    source, target = ([token.strip("▁") for token in subwords.tokens(ids)] for ids in (rows[0], found.tokens))
    weights = [[round(weight, 3) for weight in row[: len(source)]] for row in found.weights.tolist()]
    shown = weights[target.index(SHOWN)]  # even if no script runs
    words = " ".join(
        f'<span style="--weight: {weight}">{escape(word)}</span>' for word, weight in zip(source, shown, strict=True)
    )
    buttons = " ".join(
        f'<button type="button" aria-pressed="{str(word == SHOWN).lower()}">{escape(word)}</button>' for word in target
    )
    return f"""\
<figure class="course-looking">
<p lang="en">{words}</p>
<svg aria-hidden="true"></svg>
<p lang="fr">{buttons}</p>
<figcaption>To write “{SHOWN}”, the translator gives “{source[shown.index(max(shown))]}” a weight of {max(shown):.2f}.</figcaption>
<script type="application/json">{json.dumps(weights)}</script>
</figure>"""


def _readme_section(text, heading):
    """Return a section of the README, from its heading to its picture or the next heading."""
    start = text.index(heading)
    return re.split(r"\n(?=## |<picture>)", text[start:])[0].strip()


def translator(terms: str) -> str:
    """Return the page with the translator, with links to those terms of the glossary that the site's lessons have."""
    html = (PAGE / "translator.html").read_text(encoding="utf-8")
    html = GLOSSED.sub(lambda link: link[0] if f'id="{link[1]}"' in terms else link[2], html)
    code = "\n".join((PAGE / f"{name}.js").read_text(encoding="utf-8") for name in ("transformer", "recurrent"))
    scripts = "".join(f'<script src="_static/{name}.js"></script>' for name in TRANSLATING)
    beside = "".join(f'<script src="_static/models/{name}.js" async></script>' for name in BESIDE)
    return (
        "# Translate a sentence\n\nThree models of the course run in your browser. They have learned from 29,000 captions of photos and translate "
        "any other text badly.\n\n"
        f"```{{raw}} html\n{html}\n```\n\n"
        "## What runs here\n\n"
        "The Transformer is the model of [lesson 12](notebooks/12_transformer.ipynb), trained as in "
        "[lesson 13](notebooks/13_training.ipynb). Each step of its decoder writes the most probable subword; with beam search, it gets a "
        "BLEU score of 37.6 for the test captions of 2016. The recurrent networks are the models of "
        "[lesson 05](notebooks/05_seq2seq.ipynb) and, with attention, of [lesson 06](notebooks/06_seq2seq_attention.ipynb). "
        "The captions are those of [Multi30k](https://github.com/multi30k/dataset) (Elliott et al. 2016). The data set states no licence, and its English captions are offered for "
        "research and teaching: use the models likewise.\n\n"
        "This is the whole forward pass of the three models, in plain JavaScript. It computes what PyTorch computes for the same weights.\n\n"
        f'<details class="course-code">\n<summary>Show the code</summary>\n\n```javascript\n{code}\n```\n\n</details>\n\n'
        f"```{{raw}} html\n{scripts}{beside}\n```\n"
    )


def glossary(text: str, lessons: dict[str, dict]) -> str:
    """Return the glossary, with links to the lessons that set each term in bold, and link these lessons to it.

    Args:
        text: docs/glossary.md. An entry names a term, perhaps its abbreviation, and in brackets another form of it.
        lessons: each lesson's page by its file, changed here: each term becomes a link to its entry, which links back to the first of them.
    """
    entries = ENTRY.findall(text)
    anchors = {form.lower(): _anchor(term) for term, short, other, _ in entries for form in (term, short, other)}
    meanings = {_anchor(term): escape(meaning[0].upper() + meaning[1:]) for term, _, _, meaning in entries}
    linked = {}

    def link(match, file):
        anchor = anchors.get(match[1].lower())
        if anchor is None:
            return match[0]
        files = linked.setdefault(anchor, [])
        kind = "course-term" if files else f"course-term {DEFINED}"
        place = "" if file in files else f' id="{anchor}"'
        files += [file] if place else []
        return f'<a class="{kind}" href="../glossary.html#{anchor}" data-meaning="{meanings[anchor]}"{place}>{match[0]}</a>'

    for file, cell in _text_cells(lessons):
        cell["source"] = TERM.sub(partial(link, file=file), cell["source"])

    def entry(match):
        term, short, _, meaning = match.groups()
        back = ", ".join(_link_back(file, _anchor(term)) for file in linked.get(_anchor(term), ()))
        head = f'<span class="{DEFINED}" id="{_anchor(term)}">{term}</span>{f", {short}" if short else ""}'
        return f"{head}\n: {meaning[0].upper()}{meaning[1:]}{f' ({back})' if back else ''}\n"

    return ENTRY.sub(entry, text)


def _anchor(term):
    return f"term-{re.sub(r'[^a-z0-9]+', '-', term.lower())}"


def _link_back(file, anchor):
    return f'<a href="{file.removesuffix(".ipynb")}.html#{anchor}">lesson {number_of(file)}</a>'


def papers(lessons: dict[str, dict]) -> str:
    """Return the papers that lessons name by authors and year, each with where to read it and with these lessons."""
    found = {}
    for file, cell in _text_cells(lessons):
        for who, year in PAPER.findall(cell["source"]):
            found.setdefault(f"{who} {year}", []).append(file)
    entries = (f"- {paper}: {_title_links(paper)}{_lesson_links(files)}\n" for paper, files in sorted(found.items()))
    return "# Papers\n\nEach paper that a lesson names, by its authors, and the lessons that do.\n\n" + "".join(entries)


def _title_links(paper):
    """Return the titles of what these authors published in this year, each as a link."""
    return "".join(
        f"[{title}]({address if '/' in address else f'https://arxiv.org/abs/{address}'}), "
        for title, address in TITLES.get(paper, {}).items()
    )


def _text_cells(lessons):
    """Yield each lesson's file with each of its text cells, except for the header, which is the first cell."""
    for file, page in lessons.items():
        yield from ((file, cell) for cell in page["cells"][1:] if cell["cell_type"] == "markdown")


def _lesson_links(files):
    return ", ".join(f"[lesson {number_of(file)}]({file})" for file in dict.fromkeys(files))
