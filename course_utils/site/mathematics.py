"""An extension of Sphinx that writes formulas as MathML, which browsers draw themselves: no script or font is needed.

Docutils makes MathML from LaTeX. Here: what it does not know, rewritten as what it does.
"""

import re

from docutils.utils.math import MathError
from docutils.utils.math.latex2mathml import tex2mathml

# \big and \Big are removed, since brackets in MathML grow by themselves, as is \textstyle, which docutils accepts only at a formula's beginning.
REPLACED = (
    (re.compile(r"\\([bB]igg?|textstyle)(?![a-zA-Z])"), ""),
    (re.compile(r"\\dots(?![a-zA-Z])|…"), r"\\ldots "),
    (re.compile(r"(\\(?:exp|log|ln|sin|cos|tanh))\s+(?=[a-zA-Z\\])"), r"\1\\,"),
)  # a space after a function's name
# Docutils puts the index of a letter with a hat below the letter: join hat and letter first, then add the index.
MARKS = re.compile(r"[)\]’”]*[.,:;?!]?")  # what stays with the formula before it
HAT = re.compile(r"<munderover>\s*(<mi>[^<]*</mi>)(.*?)(<mo [^>]*>[^<]*</mo>)\s*</munderover>", re.DOTALL)


def mathml(formula: str, is_block: bool) -> str:
    """Return a formula in LaTeX as MathML. Raises docutils' `MathError` for an unknown command."""
    for known, replacement in REPLACED:
        formula = known.sub(replacement, formula)
    return HAT.sub(r'<msub><mover accent="true">\1\3</mover>\2</msub>', tex2mathml(formula, as_block=is_block))


def _write(translator, node, is_block):
    from docutils import nodes

    try:
        html = mathml(node.astext(), is_block)
    except MathError as error:
        from sphinx.util import logging

        logging.getLogger(__name__).warning("a formula can't be written: %s", error, location=node)
        html = f"<code>{translator.encode(node.astext())}</code>"
    if is_block:
        html = f'<div class="course-formula" tabindex="0">{html}</div>'
    elif mark := node.get("mark"):
        html = f'<span class="course-kept">{html}{translator.encode(mark)}</span>'
    translator.body.append(html)
    raise nodes.SkipNode


def keep_marks(app, doctree, name) -> None:
    """Attach to each formula in a sentence the punctuation mark after it, so that no line begins with a colon alone."""
    from docutils import nodes

    for formula in [*doctree.findall(nodes.math)]:
        place = formula.parent.index(formula) + 1
        after = formula.parent[place : place + 1]
        mark = MARKS.match(after[0])[0] if after and isinstance(after[0], nodes.Text) else ""
        if mark:
            formula["mark"] = mark
            formula.parent[place] = nodes.Text(after[0][len(mark) :])


def setup(app):
    """Offer the renderer to Sphinx as "mathml"."""
    app.add_html_math_renderer(
        "mathml",
        (lambda translator, node: _write(translator, node, False), None),
        (lambda translator, node: _write(translator, node, True), None),
    )
    app.connect("doctree-resolved", keep_marks)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
