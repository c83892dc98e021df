"""Makes pages from notebooks: a lesson whose predictions and questions are answered in the page, and exercises with folded hints.

Here: one notebook in, one notebook out, for Sphinx to write. Not here: pages that have no notebook (`contents.py`).
"""

import base64
import io
import json
import re
from collections.abc import Mapping
from html import escape
from pathlib import Path
from types import MappingProxyType

from PIL import Image

from course_utils.base.paths import file_of, number_of
from course_utils.checks import catalogue
from course_utils.checks.judge_answer import judge_answer
from course_utils.checks.question import LETTERS, NumberQuestion, Prediction
from course_utils.checks.report import with_code
from course_utils.figures.alt_text import STAYS_LIGHT, UNSEEN, image

ASKING = re.compile(r'^(?P<what>predict|check|hint|solution|progress|play)\((?:"(?P<id>[^"]+)")?', re.MULTILINE)
IN_COLAB = re.compile(r"\[(?:Open in Colab|!\[Open in Colab\]\([^)]*\))\]\(([^)]*)\)")  # a link or a badge
THUMBNAIL = 560  # pixels: twice a card's width
ON_CARDS = {  # code of the cell whose picture stands for a lesson; for the others, it is the first picture
    "05": "figures.words_right_by_length(",
    "10": "explore_heads(",
    "12": "plots.mask,",
    "13": "draw_own_loop(",
    "14": "model(fields, looks=2)",
    "15": "show_photo_maps(",
    "16": "draw_hops(two_hops",
    "17": "draw_heads(",
    "18": "draw_lines(",
    "19": "show_weights(weights",
    "21": "draw_layers(",
    "22": "draw_weights_of_heads(",
}
SHOWN = ("text/plain", "text/html", "image/png")  # what a notebook stores of an explorer's picture
# How to answer in a notebook, and in a page.
ANSWERING = (
    (re.compile(r"Run a cell to see its question, then [^.]*\."), "They are answered here, in the page."),
    (re.compile(r"Replace the dots in the next cell[^.]*\."), "Write your guess below."),
)


def lesson(root: Path, name: str, moving: Mapping[str, dict] = MappingProxyType({})) -> dict:
    """Return the page of a lesson, as a notebook; `moving` holds what moves in it, by cell id (`slider_frames.of_lesson`)."""
    file, number = file_of("notebooks", name), number_of(name)
    notebook = _read_notebook(root / file)
    known = {one.id: one for one in (*catalogue.questions_of(number), *catalogue.predictions_of(number))}
    cells = []
    for place, cell in enumerate(_without_setup(notebook["cells"])):
        text = "".join(cell["source"])
        if cell["cell_type"] == "markdown":
            for how, here in ANSWERING:
                text = how.sub(here, text)
            cells.append(_markdown(_with_download_line(text, file) if place == 0 else text, cell))
        elif (call := ASKING.search(text)) and call["id"] in known:
            before = text[: call.start()].rstrip()
            if before:  # it is above a prediction in the same cell and has its own outputs
                cells.append(_code(cell | {"id": f"{cell['id']}-before", "source": before}, [], cell["outputs"][:-1]))
            cells.append(_code(cell, ["remove-input"], [_html(_question_html(known[call["id"]], notebook["cells"]))]))
        elif cell["id"] in moving:
            outputs = [_explorer_output(cell["id"], moving[cell["id"]], output) for output in cell["outputs"]]
            cells.append(_code(cell, [], outputs))
        else:
            cells.append(_code(cell, ["hide-input"] if place == 1 else [], cell["outputs"]))
    exercises_below = f"```{{toctree}}\n:hidden:\n\n../{file_of('exercises', name)}\n```"
    cells.append({"cell_type": "markdown", "id": "exercises", "metadata": {}, "source": exercises_below})
    return notebook | {"cells": cells}


def exercises(root: Path, name: str, solutions: bool) -> dict:
    """Return the page of a lesson's exercises, as a notebook; with one solution for each task, or without any."""
    notebook = _read_notebook(root / file_of("exercises", name))
    facts = {task.id: task for task in catalogue.tasks_of(number_of(name))}
    stored, cells, first = catalogue.solutions(), [], next(iter(facts.values()), None)
    shown = _without_setup(notebook["cells"])
    for place, cell in enumerate(shown):
        text = "".join(cell["source"])
        call = ASKING.search(text) if cell["cell_type"] == "code" else None
        if cell["cell_type"] == "markdown":
            text = _with_download_line(text, file_of("exercises", name)) if place == 0 else text
            cells.append(_markdown(text, cell))
        elif call and call["id"] in facts and call["what"] == "check":
            task = facts[call["id"]]
            cells.append(_markdown(_folded_hints(task, stored.get(task.id) if solutions else None), cell))
            if task is first:
                reports = _example_reports(task, "".join(shown[1]["source"]), stored[task.id])
                # Sphinx leaves out a cell without a source.
                made = cell | {"id": f"{cell['id']}-reports", "source": "# what a check says"}
                cells.append(_code(made, ["remove-input"], [_html(reports)]))
        elif not call:
            cells.append(_code(cell, ["hide-input"] if place == 1 else [], []))
    return notebook | {"cells": cells}


def card_picture(root: Path, name: str) -> str:
    """Return the picture that stands for a lesson, small, as HTML; "" if it has none."""
    cells, quoted = _read_notebook(root / file_of("notebooks", name))["cells"], ON_CARDS.get(number_of(name), "")
    outputs = [("".join(cell["source"]), output) for cell in cells for output in cell.get("outputs", ())]
    pictures = [(code, output) for code, output in outputs if "image/png" in output.get("data", ())]
    if not pictures:
        return ""
    found = next((output for code, output in pictures if quoted in code), pictures[0][1])
    drawn = Image.open(io.BytesIO(base64.b64decode("".join(found["data"]["image/png"]))))
    drawn.thumbnail((THUMBNAIL, THUMBNAIL))
    small = io.BytesIO()
    drawn.save(small, "webp", quality=80)
    keeps = f' class="{STAYS_LIGHT}"' if "needs_background" in found["metadata"] else ""
    source = base64.b64encode(small.getvalue()).decode()
    return f'<img alt=""{keeps} width="{drawn.width}" height="{drawn.height}" src="data:image/webp;base64,{source}">'


def _read_notebook(path):
    return json.loads(path.read_text(encoding="utf-8"))


def _without_setup(cells):
    """Return the cells without the one that finds the package: a page does not need it."""
    return [cell for cell in cells if "setup" not in cell["metadata"].get("tags", ())]


def _markdown(text, cell):
    return {"cell_type": "markdown", "id": cell["id"], "metadata": {}, "source": text}


def _code(cell, tags, outputs):
    metadata = {"tags": [*cell["metadata"].get("tags", ()), *tags]}
    if pictures := [output["metadata"] for output in outputs if "image/png" in output.get("data", ())]:
        # Sphinx takes one setting for all pictures of a cell.
        image = {"alt": " ".join(picture["image/png"]["alt"] for picture in pictures)}
        if any("needs_background" in picture for picture in pictures):
            image["classes"] = STAYS_LIGHT
        metadata["mystnb"] = {"image": image}
    return cell | {"metadata": metadata, "outputs": outputs}


def _html(html):
    return {"output_type": "display_data", "metadata": {}, "data": {"text/html": html}}


def _with_download_line(text, file):
    """Return a page's text with a line below its title instead of the link to Colab. It says how to change and run the code."""
    found = IN_COLAB.search(text)
    colab = f'<a href="{found[1]}">open it in Colab</a>, which needs a Google account, or ' if found else ""
    line = (
        f'This page is a notebook, too. To change and run it, {colab}<a href="../download/{file}" download>download it</a> '
        'for JupyterLab, which needs <a href="../docs/setup.html">the course on your computer</a>.'
    )
    title, _, rest = IN_COLAB.sub("", text).partition("\n")
    return f'{title}\n\n<p class="course-open">{line}</p>\n{rest}'


def _question_html(one, cells=()):
    """Return the HTML of a question or a prediction, which one of the cells answers; `page/asked.js` brings it to life."""
    if isinstance(one, Prediction):
        share = "from 0 to 1" in one.text
        facts = {"kind": "prediction", "choices": one.choices, "isShare": share, "answer": _revealed_value(one, cells)}
    else:
        facts = _number(one) if isinstance(one, NumberQuestion) else _options(one)
    title = getattr(one, "title", "Your prediction")
    return (
        f'<div class="course-asked" id="asked-{one.id}"><p><strong>{with_code(title)}</strong> {with_code(one.text)}</p>'
        f"{_unanswerable(facts)}{_facts_html(facts | {'id': one.id})}</div>"
    )


def _unanswerable(facts):
    """Return what a browser without scripts shows: the options, and why none can be chosen."""
    texts = [text for text, *_ in facts["options"]] if facts["kind"] == "options" else facts.get("choices", ())
    options = "".join(f"<li>{with_code(text)}</li>" for text in texts)
    listed = f'<ol type="a">{options}</ol>' if options else ""
    return f"<noscript>{listed}<p>To answer here, switch JavaScript on.</p></noscript>"


def _revealed_value(prediction, cells):
    """Return the result as a cell has shown it; None if no cell has."""
    for cell in cells:
        for output in cell.get("outputs", ()) if f'reveal("{prediction.id}"' in "".join(cell["source"]) else ():
            text = "".join(output.get("data", {}).get("text/plain", ""))
            if text.endswith(prediction.why):
                return text.removeprefix("Answer: ").removesuffix(f". {prediction.why}")
    return None


def _facts_html(facts):
    """Return facts as HTML for a page's scripts to read."""
    data = json.dumps(facts, ensure_ascii=False).replace("<", "\\u003c")
    return f'<script type="application/json">{data}</script>'


def _explorer_output(cell_id, moves, output):
    """Return an explorer's output with its controls, as HTML; `page/moving.js` moves it."""
    data = {kind: "".join(part) for kind, part in output.get("data", {}).items() if kind in SHOWN}
    if "text/plain" not in data or len(data) == 1:
        return output
    picture = data.get("text/html") or image(
        base64.b64decode(data["image/png"]), data["text/plain"], output["metadata"]
    )
    facts = {"controls": moves["controls"], "script": f"../_static/moving/{cell_id}.js", "name": cell_id}
    unseen = f' style="{UNSEEN}"' if "text/html" in data else ""  # a film says it in the picture
    shown = f'{picture}<p role="status"{unseen}>{escape(data["text/plain"])}</p>'
    return _html(f'<div class="course-moving">{_facts_html(facts)}{shown}</div>')


def _options(one):
    explanations = dict([one.right, *one.wrong])
    options = [[text, explanations[text], text == one.right[0]] for _, text in one.options(0)]
    return {"kind": "options", "letters": LETTERS, "options": options}


def _number(one):
    return {
        "kind": "number", "answer": one.answer, "tolerance": one.tolerance, "why": one.why, "otherwise": one.otherwise,
        "wrong": list(dict(one.wrong).items()),
    }  # fmt: skip


def _folded_hints(task, solution):
    """Return a task's hints, and a solution if there is one, each folded."""
    parts = [(f"Hint {n}", hint) for n, hint in enumerate(task.hints, 1)]
    parts += [("One solution", f"```python\n{solution}\n```")] if solution else []
    return "\n\n".join(f"<details>\n<summary>{title}</summary>\n\n{text}\n\n</details>" for title, text in parts)


def _example_reports(task, imports, solution):
    """Return what the check says about a named mistake and about a solution, as HTML. `imports`: code that the solution needs."""
    names = {}
    exec(imports, names)
    exec(solution, names)
    of_mistakes = (judge_answer(task, mistake.function) for mistake in task.mistakes)
    wrong = next(report for report in of_mistakes if report.state == "failed" and report.mistake)
    right = judge_answer(task, names[task.answer_name])
    return (
        "<div class='course-reports'><p>In the notebook, a cell below your answer checks it. It says of one wrong answer:</p>"
        f"{wrong._repr_html_()}<p>It says of a correct one:</p>{right._repr_html_()}</div>"
    )
