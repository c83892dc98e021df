"""An extension of Sphinx that writes the sentences of each page into a script, which the search quotes from.

Here: what is quoted, section by section, and that a term leads first to where it is defined. Not here: how the search shows it
(`page/search.js`), and which other pages it finds (Sphinx).
"""

import json
import re
from pathlib import Path

DEFINED = "course-defined"  # class of a term where it is defined
SENTENCE = re.compile(r"(?<=[.?!])\s+(?=[A-Z])")


def sections(doctree) -> list[list]:
    """Return [anchor, sentences] for each section of a page; a line of Python counts as a sentence, one of JavaScript does not."""
    from docutils import nodes

    found = []
    for section in doctree.findall(nodes.section):
        texts = []
        for part in (part for part in section.children if not isinstance(part, nodes.section)):
            for block in part.findall(lambda node: isinstance(node, nodes.title | nodes.paragraph | nodes.term)):
                texts += SENTENCE.split(_plain_text(block))
            for block in part.findall(
                lambda node: isinstance(node, nodes.literal_block) and node.get("language") not in ("js", "javascript")
            ):
                texts += filter(None, map(str.strip, block.astext().splitlines()))
        found.append([section["ids"][0], texts])
    return found


def _plain_text(block):
    """Return the text of a block without the HTML in it, such as the tags of a term."""
    from docutils import nodes

    block = block.deepcopy()
    for tag in list(block.findall(nodes.raw)):
        tag.parent.remove(tag)
    return " ".join(block.astext().split())


def _write(app, page, template, context, doctree):
    if doctree is None:  # the search itself
        return
    file = Path(app.outdir) / f"texts/{page}.js"
    file.parent.mkdir(parents=True, exist_ok=True)
    texts = json.dumps(sections(doctree), ensure_ascii=False)
    file.write_text(f"window.COURSE_TEXTS[{page!r}] = {texts};\n", encoding="utf-8")


def _index_terms(app, doctree):
    """Enter each term that a page defines into Sphinx's index, with the section in which it does."""
    from docutils import nodes
    from sphinx import addnodes

    for tag in list(doctree.findall(nodes.raw)):
        if DEFINED not in tag.astext():
            continue
        section, place = tag, tag.parent.index(tag)
        while not isinstance(section, nodes.section):
            section = section.parent
        term = next(filter(None, (part.astext().strip() for part in tag.parent[place + 1 :]))).lower()
        section.append(addnodes.index(entries=[("single", term, section["ids"][0], "main", None)]))


def setup(app):
    """Make Sphinx write a script for each page that it writes, and index the terms."""
    app.connect("doctree-read", _index_terms)
    app.connect("html-page-context", _write)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
