"""An extension of Sphinx that writes the sentences of each page into a script, which the search quotes from.

Here: what is quoted, section by section. Not here: how the search shows it (`page/search.js`), and which pages it finds (Sphinx).
"""

import json
import re
from pathlib import Path

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


def setup(app):
    """Make Sphinx write a script for each page that it writes."""
    app.connect("html-page-context", _write)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
