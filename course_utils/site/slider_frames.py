"""Pictures for the positions of a slider, or for choices, drawn when the site is made, so that they move in a page without a kernel.

Here: which positions, and running a lesson to draw them; what is drawn once is kept in the cache. `page/moving.js` shows them. Not here:
`explore` itself (`figures/widgets.py`).
"""

import base64
import hashlib
import itertools
import json
import math
import os
import re
import tempfile
from pathlib import Path

from course_utils.authoring.execution import CellFailed, execute
from course_utils.base.files import replacing
from course_utils.base.paths import file_of
from course_utils.data.download import cache_folder

MOST = 100  # pictures for one explorer: with several sliders, each then stops at fewer positions
EXPLORER = re.compile(r"^(\w+) = explore\w*\(", re.MULTILINE)
RECIPE = 4  # raise it when the same notebook should give different pictures


def of_lesson(root: Path, name: str, say=print) -> dict[str, dict]:
    """Return for each cell of a lesson with an explorer, by its id, what `record` writes; `say` announces drawing, if needed.

    An explorer that cannot be drawn, for instance without a network, is left out, and `say` says why. The page then shows the picture stored
    in the notebook.
    """
    file = root / file_of("notebooks", name)
    key = hashlib.sha256(f"{RECIPE} {MOST}".encode() + file.read_bytes()).hexdigest()[:16]
    cached = cache_folder() / "site" / f"{name}-{key}.json"
    if not cached.is_file():
        found, why = _draw_explorers(root, file, say)
        if why:
            say(f"Lesson {name} lacks sliders, and its page shows still pictures instead: {why}.")
            return found
        cached.parent.mkdir(parents=True, exist_ok=True)
        with replacing(cached) as draft:
            draft.write_text(json.dumps(found), encoding="utf-8")
    return json.loads(cached.read_text(encoding="utf-8"))


def _draw_explorers(root, file, say):
    """Run a notebook up to its last explorer and draw each explorer at its positions; return the pictures, and why any are missing."""
    import nbformat

    notebook = nbformat.read(file, as_version=4)
    with tempfile.TemporaryDirectory(prefix="course") as folder:
        cells, last, why = [], 0, ""
        for cell in notebook.cells:
            cells.append(cell)
            if cell.cell_type == "code" and (explorer := EXPLORER.search(cell.source)):
                code = f"from course_utils.site.slider_frames import record\nrecord({explorer[1]}, {os.path.join(folder, cell.id)!r})"
                cells.append(nbformat.v4.new_code_cell(code))
                last = len(cells)
        notebook.cells = cells[:last]
        for cell in notebook.cells:  # go on after a failure: the next explorer may need no data
            cell.metadata.tags = [*cell.metadata.get("tags", ()), "raises-exception"]
        if last:
            say(f"running lesson {file.stem} to draw its sliders, which may take two minutes")
            try:
                notebook = execute(notebook, root, "notebooks", timeout=600)
            except CellFailed as failed:
                why = str(failed)
        ids = [cell.id for cell in notebook.cells if os.path.isfile(os.path.join(folder, cell.id))]
        found = {name: json.loads(Path(folder, name).read_text(encoding="utf-8")) for name in ids}
        missing = [cell for cell in notebook.cells if EXPLORER.search(cell.source) and _failure_text([cell])]
        return found, why or (_failure_text(notebook.cells) if missing else "")


def _failure_text(cells):
    """Return a clause on how the first failed cell failed, "" if none failed."""
    for place, cell in enumerate(cells):
        for output in cell.get("outputs", ()):
            if output.output_type == "error":
                return f"cell {place} failed with {output.ename}: {output.evalue.strip().splitlines()[0].rstrip('.')}"
    return ""


def record(explorer, file: str) -> None:
    """Draw an explorer at all positions of its controls and write {"controls": …, "frames": …}; nothing if one has no positions.

    A control is its label, its positions as text, the index of the one that is shown first, and whether it is a choice. A
    frame is an address for an <img> and its sentence; frames come in the order of the positions, the last control's
    changing fastest.
    """
    stops = {name: positions(control) for name, control in explorer.controls.items()}
    if not all(stops.values()):
        return
    stops = thinned(stops, {name: control.value for name, control in explorer.controls.items()})
    frames = [_frame(explorer, dict(zip(stops, values, strict=True))) for values in itertools.product(*stops.values())]
    controls = []
    for name, one in explorer.controls.items():
        choice = hasattr(one, "options")
        names = [str(stop) if choice else format(stop, one.readout_format) for stop in stops[name]]
        controls.append([one.description, names, stops[name].index(one.value), choice])
    Path(file).write_text(json.dumps({"controls": controls, "frames": frames}), encoding="utf-8")


def _frame(explorer, values):
    import matplotlib.pyplot as plt

    from course_utils.figures.drawing import address_of, said
    from course_utils.figures.film import Film
    from course_utils.figures.widgets import picture_of_figure

    drawn = explorer.draw(**values)
    if isinstance(drawn, Film):
        return [address_of(drawn.frame()), said(drawn)]
    picture = picture_of_figure("webp", pil_kwargs={"quality": 80, "method": 4})
    plt.close()
    return [f"data:image/webp;base64,{base64.b64encode(picture).decode()}", drawn]


def positions(control) -> list:
    """Return a choice's options, or the values at which a slider can stop, including its present one; none for other controls."""
    if hasattr(control, "options"):
        return list(control.options)
    if not all(hasattr(control, name) for name in ("min", "max", "step", "value")):
        return []
    steps = round((control.max - control.min) / control.step)
    values = [control.min + i * control.step for i in range(steps + 1)]
    values = [control.base**value for value in values] if hasattr(control, "base") else values
    nearest = min(range(len(values)), key=lambda i: abs(values[i] - control.value))
    return [*values[:nearest], control.value, *values[nearest + 1 :]]


def thinned(stops: dict[str, list], shown: dict) -> dict[str, list]:
    """Return fewer positions, with at most `MOST` combinations; both ends and what is shown first stay."""
    original, stops, left = stops, dict(stops), {name: len(values) for name, values in stops.items()}
    while math.prod(map(len, stops.values())) > MOST:
        longest = max(stops, key=lambda name: len(stops[name]))
        left[longest] -= 1
        values, count = original[longest], max(left[longest], 3)
        places = {round(i * (len(values) - 1) / (count - 1)) for i in range(count)}
        # The one shown first replaces its nearest neighbour between the ends.
        at = values.index(shown[longest])
        inner = [place for place in places if 0 < place < len(values) - 1]
        if at not in places and inner:
            places.discard(min(inner, key=lambda place: abs(place - at)))
        stops[longest] = [values[place] for place in sorted(places | {at})]
    return stops
