"""Brings a new version of a notebook's cells into a learner's copy of an older one. Reads and writes no file.

What the learner has changed or added stays, whatever the new version holds; everything else follows the new version.
"""

import ast
import re
import secrets
from dataclasses import dataclass
from difflib import SequenceMatcher

from course_utils.authoring.sources import CHECK, TASK_HEADING
from course_utils.workspace.copies import cell_digest, fresh

ASKED = re.compile(r"""^(check|predict)\(\s*["']([\w.]+)["']""", re.MULTILINE)
DEFINED = re.compile(r"^(?:def|class)\s+(\w+)", re.MULTILINE)
STUB = "NotImplementedError"
RUN = ("outputs", "execution_count")
COURSES = "-course"  # ends the id of the course's version of a cell, above a note
NOTE = (
    "**You and the course have both changed this cell.** The course's new version is above this note, and yours is below. "
    "Run All runs both: take over what you need, then delete this note and the cell that you do not want."
)
NOTE_ON_TEXT = NOTE.replace("Run All runs both: take", "Take")
LINES = 100  # of a text that is searched for one place where lines were added
NEW_STUB = (
    "**The course has changed this task since you answered it.** Your answer is below, as it was. This is where the task begins now:\n\n"
    "```python\n{}\n```\n\nCompare the two, then delete this note."
)

UNTOUCHED_NOTE = re.compile(re.escape(NEW_STUB).replace(r"\{\}", ".*"), re.DOTALL)
DELETED = "**The course has deleted this cell, which you had changed.** Yours is below, as it was: delete what you do not need."
NOTES = ("both changed this cell", "has changed this task", "has deleted this cell")  # words that identify each kind


@dataclass(frozen=True)
class Merged:
    """The resulting cells, and what was done."""

    cells: list[dict]
    added: int  # cells that are new or replace an older version
    removed: int  # cells that the course no longer has, or has in a different version
    kept: int  # cells that the learner changed or added, not counting notes from earlier updates
    reread: tuple[str, ...]  # the tasks that changed after the learner answered them
    notes: dict[str, int]  # how many of each of `NOTES` are in the notebook now, including those from earlier updates

    @property
    def brings_something(self) -> bool:
        """Whether the new version changes anything in the copy."""
        return bool(self.added or self.removed or self.reread)


def merge(own: list[dict], base: dict[str, str], new: list[dict]) -> Merged:
    """Return the learner's cells with the new version merged in.

    Args:
        own: the learner's cells.
        base: what they were copied from, {id: digest}, in its order.
        new: the cells of the course's notebook as it is today.
    """
    own = _with_ids(_without_old_versions(own, base, {cell["id"] for cell in new}), base)
    untouched = [base.get(cell["id"]) == cell_digest(cell) for cell in own]
    by_id = {cell["id"]: cell for cell in new}
    answers = _places_taken([cell for cell, as_it_was in zip(own, untouched, strict=True) if not as_it_was], new, own)
    replaced = _replaced(own, base, new)
    joined = _joined_texts(own, base, by_id, replaced)
    result, gone = [], set()
    for cell, as_it_was in zip(own, untouched, strict=True):
        if cell["id"] in answers:  # an answer to what the new version asks in other words
            asks = by_id[answers[cell["id"]]]
            if STUB in asks["source"] and asks["id"] not in base and cell_digest(asks) != cell_digest(cell):
                if result and UNTOUCHED_NOTE.fullmatch(result[-1]["source"]):
                    result.pop()  # an earlier update's note about a previous version
                result.append(_note(NEW_STUB.format(asks["source"])))
            result.append(cell | {"id": asks["id"]})
        elif cell["id"] in joined:
            result.append(cell | joined[cell["id"]])
        elif as_it_was and cell["id"] in by_id:
            result.append(fresh(by_id[cell["id"]]) | {key: cell[key] for key in RUN if key in cell})
        else:
            if not as_it_was and cell["id"] in base and cell["id"] not in {*by_id, *replaced.values()}:
                result.append(_note(DELETED))
            result.append(cell)
            gone |= {cell["id"]} if as_it_was else set()
    added = _insert(new, base, result, gone, replaced)
    result = _in_order([cell for cell in result if cell["id"] not in gone], own, base, new)
    result = _with_notes(result, replaced)
    kept = untouched.count(False) - sum(_notes_in(own).values())
    return Merged(
        result, added + len(joined), len(gone) + len(joined), kept, _to_reread(new, base, result), _notes_in(result)
    )


def _without_old_versions(cells, base, new):
    """Return the cells without outdated versions of the course's that an earlier update put above the learner's, and without their notes."""
    ids, kept, skip = {cell["id"] for cell in cells}, [], False
    for cell in cells:
        name = str(cell["id"]).removesuffix(COURSES)
        if name != cell["id"] and name in ids - new and base.get(name) == cell_digest(cell):
            skip = True
        elif not (skip and cell["source"].startswith((NOTE, NOTE_ON_TEXT))):
            kept.append(cell)
            skip = False
    return kept


def _with_ids(cells, base):
    """Return the cells with unique ids; a cell that has lost its id is recognised by its text."""
    used = {cell["id"] for cell in cells}
    lost, seen, named = {text: name for name, text in base.items() if name not in used}, set(), []
    for cell in cells:
        name = cell["id"]
        if name not in base:
            name = lost.pop(cell_digest(cell), name)
        if (kept := str(name).removesuffix(COURSES)) in base and kept not in used:
            name = kept  # of two versions, the course's is left, perhaps with a change
        if name is None or name in seen:
            name = secrets.token_hex(6)
        seen.add(name)
        named.append(cell | {"id": name})
    return named


def _places_taken(written, new, own):
    """Return {id of a cell that the learner wrote: id of the new cell that it replaces}; of several, the last counts.

    The learner's cell answers what the new cell asks, or has the same text.
    """
    here = {cell["id"] for cell in own}
    asking = {key: cell for cell in new if cell["id"] not in here for key in asked(cell)}
    pairs = [(cell, key, asking[key]) for cell in written for key in answered(cell) if key in asking]
    found = {
        asks["id"]: cell["id"] for cell, key, asks in pairs if key[0] == "def" or _alike_but_for_guesses(cell, asks)
    }
    same = {cell_digest(cell): cell["id"] for cell in new if cell["id"] not in here}  # the course made the same change
    found |= {same[cell_digest(cell)]: cell["id"] for cell in written if cell_digest(cell) in same}
    return {own: its for its, own in found.items()}


def _alike_but_for_guesses(cell, asks):
    """Return whether a course cell, without its calls of `check` and `predict`, is empty or the same as the learner's."""
    try:
        others = [ast.unparse(_without_guesses(ast.parse(each["source"]))) for each in (asks, cell)]
    except SyntaxError:  # a guess that is not Python yet
        return len(asks["source"].strip().split("\n")) == 1
    return others[0] in ("", others[1])


def _without_guesses(tree):
    """Return a cell's code without its calls of `check` and `predict`."""
    names = ("check", "predict")
    tree.body = [
        node
        for node in tree.body
        if not (
            isinstance(node, ast.Expr) and isinstance(node.value, ast.Call) and ast.unparse(node.value.func) in names
        )
    ]
    return tree


def answered(cell: dict) -> list[tuple[str, str]]:
    """Return what a learner's cell may be an answer to, in the form of `asked`."""
    return [*asked(cell), *(("def", name) for name in DEFINED.findall(cell["source"]))]


def asked(cell: dict) -> list[tuple[str, str]]:
    """Return what a cell asks of the learner: to define what is still a stub, or to replace dots."""
    if cell["cell_type"] != "code":
        return []
    stubs = [("def", name) for name in DEFINED.findall(cell["source"])] if STUB in cell["source"] else []
    return stubs + ASKED.findall(cell["source"])


def _replaced(own, base, new):
    """Return {id of a new cell: id of the copy's cell that it has replaced in the course}, as far as order and texts show."""
    old = [cell for cell in own if cell["id"] in base]
    order = [[cell["id"] for cell in cells] for cells in (old, new)]
    found = {}
    for kind, start, end, new_start, new_end in SequenceMatcher(None, *order, autojunk=False).get_opcodes():
        if kind != "replace":
            continue
        before, after = old[start:end], new[new_start:new_end]
        pairs = zip(before, after, strict=True) if len(before) == len(after) else _most_alike(before, after)
        found |= {other["id"]: one["id"] for one, other in pairs if one["cell_type"] == other["cell_type"]}
    return found


def _most_alike(before, after):
    """Yield pairs of cells with similar texts, each cell at most once."""
    left = list(after)
    for one in before:
        ratios = [SequenceMatcher(None, one["source"], other["source"], autojunk=False).ratio() for other in left]
        if ratios and max(ratios) > 0.5:
            yield one, left.pop(ratios.index(max(ratios)))


def _joined_texts(own, base, new, replaced):
    """Return {id of a text cell: its new id and source}, if what the learner added to the old text has a place in the new one."""
    here, found = {cell["id"] for cell in own}, {}
    replacing = {old: name for name, old in replaced.items() if name not in here}
    for cell in own:
        if cell["cell_type"] == "markdown" and cell["id"] in replacing and base[cell["id"]] != cell_digest(cell):
            name = replacing[cell["id"]]
            if text := _joined(cell, base[cell["id"]], new[name]["source"].split("\n")):
                found[cell["id"]] = {"id": name, "source": text}
    return found


def _joined(cell, known, new):
    """Return a new text with the lines that the learner added in one place of the old one; "" if the place is unclear.

    Args:
        cell: the learner's cell.
        known: the digest of the cell's original text.
        new: the lines of the course's new text.
    """
    lines = cell["source"].replace("\r\n", "\n").split("\n")
    if len(lines) > LINES:
        return ""
    for start in range(len(lines)):
        for end in range(len(lines), start, -1):
            old = lines[:start] + lines[end:]
            if cell_digest(cell | {"source": "\n".join(old)}) == known:
                place = _place_in(old, new, start)
                return "" if place is None else "\n".join(_put(lines[start:end], old, start, new, place))
    return ""


def _place_in(old, new, start):
    """Return the place in the new lines that matches one in the old ones: beside the same line, or at the same end; else None."""
    before, after = ([n for n in part if old[n].strip()] for part in (range(start), range(start, len(old))))
    if not before or not after:
        return len(new) if before else 0
    blocks = SequenceMatcher(None, old, new, autojunk=False).get_matching_blocks()
    same = {block.a + n: block.b + n for block in blocks for n in range(block.size)}
    return same[before[-1]] + 1 if before[-1] in same else same.get(after[0])


def _put(added, old, start, new, place):
    """Return the new lines with the added ones at a place, set off by blank lines as in the old text."""
    text = "\n".join(added).strip("\n").split("\n")
    if place and new[place - 1].strip() and not (added[0].strip() and start and old[start - 1].strip()):
        text = ["", *text]
    if new[place:] and new[place].strip() and not (added[-1].strip() and old[start:] and old[start].strip()):
        text = [*text, ""]
    return [*new[:place], *text, *new[place:]]


def _insert(new, base, result, gone, replaced):
    """Insert each new cell before the learner's version of what it replaces, else after the nearest cell that precedes it; return how many.

    A cell that is gone marks the place of its replacement, so that this does not slip above a cell that the learner added before it.
    """
    order, added = [cell["id"] for cell in new], 0
    for number, cell in enumerate(new):
        there = [one["id"] for one in result]
        if cell["id"] in base or cell["id"] in there:
            continue
        place = next((there.index(name) + 1 for name in reversed(order[:number]) if name in there), 0)
        end = next((at for at, name in enumerate(there) if at >= place and name in order), len(there))
        if (old := replaced.get(cell["id"])) in there:
            place = max(place, there.index(old) + 1) if old in gone else there.index(old)
        elif cell["cell_type"] == "markdown" and cell["source"].startswith("#"):
            place = end  # a new section goes after what the learner has added to the one before
        else:
            place = next((at + 1 for at in range(place, end) if there[at] in gone), place)
        result.insert(place, fresh(cell))
        added += 1
    return added


def _in_order(result, own, base, new):
    """Return the course's cells in the order of the new version, each followed by the learner's; as they are if the learner has moved any."""
    names = [cell["id"] for cell in own if cell["id"] in base]
    if names != [name for name in base if name in names]:
        return result
    order = {cell["id"]: place for place, cell in enumerate(new)}
    parts = [[]]
    for cell in result:
        if cell["id"] in order:
            parts.append([])
        parts[-1].append(cell)
    first, *others = parts
    return [*first, *(cell for part in sorted(others, key=lambda part: order[part[0]["id"]]) for cell in part)]


def _with_notes(result, replaced):
    """Return the cells with a note before the learner's version of each that the course has replaced.

    The learner's version gets the new cell's id, so that the next update knows what it is a version of; the new cell is an extra one.
    """
    there = {cell["id"] for cell in result}
    new_of = {old: new for new, old in replaced.items() if {new, old} <= there}
    ids = new_of | {new: f"{new}{COURSES}" for new in new_of.values()}
    noted = []
    for cell in result:
        if cell["id"] in new_of:
            course = next(one for one in result if one["id"] == new_of[cell["id"]])
            note = NOTE if cell["cell_type"] == "code" else NOTE_ON_TEXT
            noted.append(_note(f"{note}\n\n{_difference(course, cell)}"))
        noted.append(cell | {"id": ids.get(cell["id"], cell["id"])})
    return noted


def _difference(course, own):
    """Say in which lines of the learner's version of a cell the two differ."""
    lines = own["source"].splitlines()
    blocks = SequenceMatcher(None, course["source"].splitlines(), lines, autojunk=False).get_matching_blocks()
    same = {block.b + n for block in blocks for n in range(block.size)}
    numbers = [str(n + 1) for n in range(len(lines)) if n not in same]
    if not numbers:
        return "Yours lacks lines that the course's has."
    return f"Yours differs in line{'s' * (len(numbers) > 1)} {', '.join(numbers[:8])}{', …' * (len(numbers) > 8)}."


def _note(text):
    return {"cell_type": "markdown", "id": secrets.token_hex(6), "metadata": {}, "source": text}


def _notes_in(cells):
    texts = [cell["source"] for cell in cells if cell["cell_type"] == "markdown"]
    return {note: sum(text.startswith("**") and note in text.split("\n")[0] for text in texts) for note in NOTES}


def _to_reread(new, base, result):
    """Return the tasks whose prompt or stub has changed and whose stub the learner has filled in."""
    stubs = {}  # the cells that belong to a task: its prompt, its stub
    for cell, following in zip(new, [*new[1:], None], strict=True):
        if heading := TASK_HEADING.match(cell["source"]):
            stubs.setdefault(heading[1], []).append(cell)
        checked = CHECK.search(following["source"]) if following and STUB in cell["source"] else None
        if checked:
            stubs.setdefault(checked[1], []).append(cell)
    own = {cell["id"]: cell for cell in result}
    changed = [task for task, cells in stubs.items() if any(cell["id"] not in base for cell in cells)]
    return tuple(task for task in changed if _is_answered(stubs[task][-1], own))


def _is_answered(stub, own):
    return stub["id"] in own and cell_digest(own[stub["id"]]) != cell_digest(stub)
