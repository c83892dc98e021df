"""Where every head of a Transformer looks, one word at a time: a table that responds to the keyboard, even in an export without a kernel.

Here: the table for the first word, and its style. `every_head.js` makes it interactive, with `attention_table.js`, which the web pages also use.
Without scripts the first table stays.
Not here: how the weights are found (`models/head_ablation.py`), pictures of one head (`plots.py`).

Shape letters: B sentences, H heads, T words that attend, S words attended to.
"""

import json
from html import escape
from pathlib import Path

from course_utils.base.errors import CourseError

SCRIPT, SHARED = Path(__file__).with_suffix(".js"), Path(__file__).with_name("attention_table.js")
STYLE = """
.course-heads { max-width: 100%; overflow-x: auto; container-type: inline-size }
.course-heads fieldset { border: 0; padding: 0; margin: 0 0 .6em }
.course-heads legend { float: left; font-size: 1em; margin: 0 .8em 0 0; width: auto }
.course-heads label { display: inline-block; margin-right: .8em; white-space: nowrap }
.course-heads table { border-collapse: collapse; margin: .4em 0 }
.course-heads caption { caption-side: top; text-align: left; color: inherit; position: sticky; left: 0; max-width: 100cqi }
.course-heads th, .course-heads td { padding: .1em .4em; white-space: nowrap }
.course-heads thead th { writing-mode: vertical-rl; font-weight: normal; text-align: right }
.course-heads tbody th { text-align: left; font-weight: normal }
.course-heads tbody td { min-width: 2.1em; text-align: center; background: rgba(56, 139, 253, calc(var(--weight) * .6)) }
.course-heads tr.chosen th { font-weight: bold; text-decoration: underline }
@container (max-width: 30em) {
  .course-heads table { font-size: .8em }
  .course-heads th, .course-heads tbody td { padding: .1em; min-width: 1.7em }
}
"""


class EveryHead:
    """What `every_head` returns. `attentions` maps the title of each kind of attention to its words and weights."""

    def __init__(self, attentions, asking):
        self.attentions, self.asking = attentions, asking

    def rows(self) -> tuple[str, list[str], dict[str, list[int]]]:
        """Return what is shown at first: a sentence about it, the words attended to, and each head's weights on them."""
        title, (one, *_) = next(iter(self.attentions)), self.attentions.values()
        sentence = f"{title}: where each head looks from “{one['asks'][self.asking]}”, in hundredths"
        return sentence, one["asked"], {name: weights[self.asking] for name, weights in one["heads"].items()}

    def __repr__(self):
        sentence, words, rows = self.rows()
        looks = [f"{name}: {words[row.index(max(row))]} {max(row)}" for name, row in rows.items()]
        return "\n".join([f"{sentence}, most of all:", *looks])

    def _repr_html_(self):
        sentence, words, rows = self.rows()
        top = "".join(f'<th scope="col">{escape(word)}</th>' for word in words)
        body = "".join(
            f'<tr><th scope="row">{name}</th>{"".join(map(_cell_html, weights))}</tr>' for name, weights in rows.items()
        )
        data = json.dumps({"attentions": self.attentions, "asking": self.asking}, ensure_ascii=False)
        shared, script = (file.read_text(encoding="utf-8") for file in (SHARED, SCRIPT))
        script = script.replace("DATA", data.replace("<", "\\u003c"))
        script = f"(function () {{\nconst root = document.currentScript.parentElement;\n{shared}{script}}})();"
        return (
            f'<div class="course-heads"><style>{STYLE}</style><table><caption role="status">{escape(sentence)}</caption>'
            f"<thead><tr><td></td>{top}</tr></thead><tbody>{body}</tbody></table><script>{script}</script></div>"
        )


def every_head(seen, source, target, asking=0) -> EveryHead:
    """Show, for a chosen word, how much every head of every layer attends to each word.

    Args:
        seen: the weights 1×H×T×S of a Transformer's attention layers, by names such as "encoder 0", "decoder 0" and
            "source 0", as `models.head_ablation.weights_of_heads` returns them.
        source, target: the words that the encoder and the decoder read.
        asking: the place in the target of the word that is chosen at first.

    Raises:
        CourseError: if the words do not fit the weights, or `asking` is not a place in the target.
    """
    kinds = {
        "decoder to the source": ("source", target, source),
        "decoder to itself": ("decoder", target, target),
        "encoder to itself": ("encoder", source, source),
    }
    attentions = {}
    for title, (kind, queries, keys) in kinds.items():
        heads = {}
        for name, weights in seen.items():
            if not name.startswith(kind):
                continue
            if weights.shape[2:] != (len(queries), len(keys)):
                raise CourseError(
                    f"{name} has weights for {weights.shape[2]} words that ask and {weights.shape[3]} that are asked, "
                    f"but {len(queries)} and {len(keys)} words are given: give those that the model has read"
                )
            for head, rows in enumerate(weights[0]):
                heads[f"layer {name.split()[1]}, head {head}"] = (100 * rows).round().int().tolist()
        attentions[title] = {"asks": list(queries), "asked": list(keys), "heads": heads}
    if not 0 <= asking < len(target):
        raise CourseError(f"asking must be a place from 0 to {len(target) - 1}, not {asking}")
    return EveryHead(attentions, asking)


def _cell_html(weight):
    return f'<td style="--weight: {weight / 100:g}">{weight if weight >= 5 else ""}</td>'
