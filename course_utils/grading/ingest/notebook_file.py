"""Reads a learner's notebook as text: its cells, the lesson it is for, where a task is defined. All commands use it.

Nothing here compiles, parses as Python, imports or executes what a learner wrote: cells are searched with patterns that
take linear time. Cells are passed on for a sandbox to run (`sandbox_client`).
"""

import builtins
import hashlib
import json
import keyword
import math
import os
import re
import stat
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from difflib import SequenceMatcher
from functools import lru_cache, partial
from pathlib import Path

from course_utils.grading.ingest.written_answers import in_words
from course_utils.grading.storage.record import Verdict

LARGEST = 20_000_000  # bytes of a file
BRACKETS = 500_000  # [ and { in a file: lists and objects cost the most memory and time in JSON, up to 232 bytes each
CELLS = 2_000
CELL = 200_000  # characters of a cell: a longer one holds data, not an answer; it is left out, the others are run
CODE = 500_000  # characters of all code cells together
REMARKS = 10  # on what was left out
LEXED = 20_000  # characters of a definition that a fingerprint reads token by token
NAMES = 200  # functions among which a renamed one is looked for
SIMILAR = 0.6  # at least this similar, a name may be another one renamed: attn and attention reach 0.62


class Unreadable(Exception):
    """One sentence for the gradebook: what was expected, what arrived, what to do."""


@dataclass(frozen=True)
class Notebook:
    """A notebook's code, as text."""

    cells: tuple[str, ...]  # their code, numbered as in JupyterLab: "" for text and for a cell left out
    lesson: str  # "03", "" if unknown
    remarks: tuple[str, ...] = ()  # on what was left out
    in_words: tuple[Verdict, ...] = ()  # answers that a person reads
    requests: tuple[str, ...] = ()  # to look again at a task
    titled: tuple[tuple[str, str], ...] = ()  # (id, text) of the text cells that begin with a heading
    in_texts: frozenset[str] = frozenset()  # functions and classes in the other text cells; a prompt may show one


def read_notebook(path: Path, known: dict[str, list[str]], largest: int = LARGEST) -> Notebook:
    """Read a notebook file. Raises `Unreadable`.

    The costliest 20 MB of hostile JSON takes about 0.5 GB and 2 s; without the limit `BRACKETS` it would take 1 GB and 20 s.

    Args:
        path: the file. Links are not followed.
        known: the tasks' function names by lesson, such as {"03": ["padding_mask", …]}.
        largest: the most bytes that a file may have.
    """
    return parse_notebook(read_bytes(path, largest), known, Path(path).name)


def parse_notebook(data: bytes, known: dict[str, list[str]], name: str) -> Notebook:
    """Return the notebook in a file's bytes, whose `name` may tell the lesson. Raises `Unreadable`."""
    return notebook_in(parse(data), known, name)


def notebook_in(plain: object, known: dict[str, list[str]], name: str) -> Notebook:
    """Return what grading sees in the plain values that `parse` gives; `name` is the file's. Raises `Unreadable`."""
    all_cells = list(cells_of(plain))
    cells, remarks = _code_cells(all_cells)
    answers, requests = in_words(all_cells)
    lesson, is_named = _lesson(plain, all_cells, cells, known, name)
    remarks += _of_other_lessons(cells, known, lesson, is_named)
    return Notebook(cells, lesson, remarks, answers, requests, tuple(_titled(all_cells)), _in_texts(all_cells))


def read_own(path: Path) -> object:
    """Return the plain values of one's own notebook, of any size and through links. Raises `Unreadable`."""
    return parse(read_bytes(Path(path).resolve(), math.inf), own=True)


# From a path to bytes

FOLDER = "This is a folder with the name of a notebook: hand in the .ipynb file itself."


def read_bytes(path: Path, largest: int = LARGEST) -> bytes:
    """Return the bytes of an ordinary file that is not a link. Raises `Unreadable`."""
    flags = os.O_RDONLY
    for name in ("O_NOFOLLOW", "O_NONBLOCK", "O_CLOEXEC", "O_BINARY"):  # which of them exist depends on the system
        flags |= getattr(os, name, 0)
    try:
        if os.path.islink(path):  # O_NOFOLLOW's error says something else, and Windows has none
            raise Unreadable("This is a link to another place, which is not followed: hand in the notebook itself.")
        descriptor = os.open(path, flags)
    except OSError as error:
        if os.path.isdir(path):
            raise Unreadable(FOLDER) from None
        raise Unreadable(f"The file could not be opened ({error.strerror}): hand it in again.") from None
    except ValueError:  # a NUL in the name
        raise Unreadable("The file's name cannot be opened: rename it and hand it in again.") from None
    try:
        status = os.fstat(descriptor)
        if stat.S_ISDIR(status.st_mode):
            raise Unreadable(FOLDER)
        if not stat.S_ISREG(status.st_mode):
            raise Unreadable("This is no ordinary file but a pipe, socket or device: hand in the .ipynb file itself.")
        with open(descriptor, "rb", closefd=False) as file:
            data = b"" if status.st_size > largest else file.read(status.st_size + 1)
    except OSError as error:
        raise Unreadable(f"The file could not be read ({error.strerror}): hand it in again.") from None
    finally:
        os.close(descriptor)
    must_fit(max(status.st_size, len(data)), largest)
    return data


def must_fit(size: int, largest: int = LARGEST) -> None:
    """Raise `Unreadable` for a file that is too large."""
    if size > largest:
        raise Unreadable(
            f"The file has {size / 1e6:.1f} MB, at most {largest / 1e6:g} MB are read: clear the outputs "
            "(Edit, Clear Outputs of All Cells), make pasted pictures smaller, save and hand it in again."
        )


# From bytes to JSON

# What else people hand in as .ipynb, by its first bytes.
OTHER_FILES = (
    (b"PK\x03\x04", "a ZIP archive or an office document"),
    (b"PK\x05\x06", "an empty ZIP archive"),
    (b"%PDF", "a PDF document"),
    (b"\x1f\x8b", "a gzip archive"),
    (b"7z\xbc\xaf", "a 7-Zip archive"),
    (b"Rar!", "a RAR archive"),
    (b"\x89PNG", "a picture"),
    (b"\xff\xd8\xff", "a picture"),
    (b"\x7fELF", "a program"),
    (b"MZ", "a program"),
    (b"{\\rtf", "a text document (RTF)"),
    (b"version https://git-lfs", "a placeholder of Git LFS"),
)
MARKUP = re.compile(r"\s*<(?:\?xml|!--|!doctype|html|head|body|div|script)\b", re.I)
PYTHON = re.compile(r"^(?:import|from|def|class|async def) +\w|^#!|^@\w|^\w+ *=|^print\(", re.M)
CONFLICT = re.compile(r"^(?:<{7}|>{7}) ", re.M)
INVALID = re.compile("[\x00\ud800-\udfff]")


def parse(data: bytes, own: bool = False) -> object:
    """Return the JSON of a file as plain values. Raises `Unreadable`.

    What is handed in may come from anybody and must not cost much: lists have a limit, and fractions and long numbers are left out.
    One's own file is read in full.
    """
    _refuse_other_files(data)
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise Unreadable(
            f"Line {line} holds a byte that is not UTF-8, as notebooks are: save it as UTF-8 in a text editor, and hand it in again."
        ) from None
    if not own and data.count(b"[") + data.count(b"{") > BRACKETS:
        raise Unreadable(
            f"The file holds more than {BRACKETS:,} lists: clear the outputs "
            "(Edit, Clear Outputs of All Cells), save and hand it in again."
        )
    try:
        return json.loads(text, **(ALL_NUMBERS if own else FEW_NUMBERS))
    except json.JSONDecodeError as error:
        raise Unreadable(_why_not_json(text, error)) from None
    except RecursionError:
        raise Unreadable(
            "The file holds lists within lists, far deeper than a notebook: hand in the notebook as JupyterLab saves it."
        ) from None


def _whole(text, digits):
    return int(text) if len(text) < digits else 0  # hundreds of thousands of digits would take minutes


def _nothing(text):
    """Stand in for every fraction and NaN: no cell needs one."""
    return


ALL_NUMBERS = {"parse_int": partial(_whole, digits=4000)}  # Python reads no more
FEW_NUMBERS = {"parse_int": partial(_whole, digits=9), "parse_float": _nothing, "parse_constant": _nothing}


def _refuse_other_files(data):
    if not data.strip():
        raise Unreadable("The file is empty: save the notebook in JupyterLab and hand it in again.")
    if not data.strip(b"\0"):
        raise Unreadable(
            "The file holds zeros only, as after a disk that was full: save the notebook and hand it in again."
        )
    if data.startswith((b"\xff\xfe", b"\xfe\xff")) or data[1:2] == b"\0" or data[:1] == b"\0":
        raise Unreadable(
            "The file is saved as UTF-16, notebooks are UTF-8: save it as UTF-8 in a text editor, and hand it in again."
        )
    for start, what in OTHER_FILES:
        if data.startswith(start):
            raise Unreadable(f"This is {what}, not a notebook: hand in the .ipynb file as JupyterLab saves it.")


def open_conflict(text: str) -> str:
    """Return a sentence about the first merge marker that Git left in a text; "" if there is none."""
    conflict = CONFLICT.search(text)
    if conflict is None:
        return ""
    line = text.count("\n", 0, conflict.start()) + 1
    return f"Line {line} holds a mark of Git (`{conflict.group().strip()}`): two versions were merged and the conflict is still open."


def line_it_breaks_off_at(text: str) -> int:
    """Return the line at which a notebook's text breaks off, as when a disk is full; 0 if it is whole or not a notebook."""
    try:
        json.loads(text)
    except json.JSONDecodeError as error:
        return error.lineno if text.lstrip().startswith("{") and _breaks_off(text, error) else 0
    except (ValueError, RecursionError):
        return 0
    return 0


def _breaks_off(text, error):
    return error.pos >= len(text.rstrip()) or error.msg.startswith("Unterminated string")


def _why_not_json(text, error):
    if conflict := open_conflict(text):
        return f"{conflict} Choose one of them, see that JupyterLab opens it, and hand it in again."
    if MARKUP.match(text):
        return (
            "This is a web page (HTML), not a notebook: hand in the .ipynb file, not what a browser shows or exports."
        )
    if not text.lstrip().startswith(("{", "[")):
        what = "Python code" if PYTHON.search(text[:2000]) else "text"
        return f"This is {what}, not a notebook: hand in the .ipynb file as JupyterLab saves it."
    if _breaks_off(text, error):
        return f"The file breaks off in the middle, at line {error.lineno}: save the notebook and hand it in again."
    reason = error.msg[0].lower() + error.msg[1:]
    return f"The file is not the JSON of a notebook: line {error.lineno}, {reason}. Save it in JupyterLab and hand it in again."


# From JSON to cells


def _code_cells(all_cells):
    """Return the source of each code cell, "" for each other cell, and remarks on what was left out."""
    cells, remarks = [], []
    for cell in all_cells:
        if cell["cell_type"] != "code":
            cells.append("")
            continue
        try:
            text = _code(cell["source"])
            if sum(map(len, cells)) + len(text) > CODE:
                raise Unreadable(f"with those above it has more than {CODE:,} characters, which is all that is run.")
            cells.append(text)
        except Unreadable as error:
            cells.append("")
            remarks.append(f"Cell {len(cells)} was left out: {error}")
    if not any(cell["cell_type"] == "code" for cell in all_cells):
        remarks.append("The notebook holds no code cell.")
    if len(remarks) > REMARKS:
        remarks[REMARKS:] = [f"{len(remarks) - REMARKS:,} more cells were left out."]
    return tuple(cells), tuple(remarks)


def cells_of(plain: object) -> Iterator[dict]:
    """Yield each cell, in the form of today's notebooks: its source is a text, or None if it is not one. Raises `Unreadable`.

    Anything that is not a cell becomes a code cell without a source, so that it gets a remark.
    """
    lists, source_of_code = _lists_of_cells(plain)
    for cell in (cell for cells in lists for cell in cells):
        if isinstance(cell, dict):
            kind = cell.get("cell_type")
            source = cell.get(source_of_code if kind == "code" else "source", "")
            yield cell | {"cell_type": kind, "source": _joined(source, nbformat_3=source_of_code == "input")}
        else:
            yield {"cell_type": "code", "source": None}


def _lists_of_cells(plain):
    """Return the lists of cells, and the key that holds the source of code."""
    if not isinstance(plain, dict):
        raise Unreadable(
            f"A notebook is a JSON object with cells, this file holds {_named(plain)}: hand in the notebook."
        )
    if "cells" in plain and "worksheets" in plain:  # nbformat 3 shows one of them, nbformat 4 the other
        raise Unreadable(
            "The file holds its cells twice, in `cells` and in `worksheets`, and Jupyter shows one of the two only: "
            "open it in JupyterLab, see that your answers are there, save and hand it in again."
        )
    if "cells" in plain:
        lists, source_of_code = [plain["cells"]], "source"
    elif isinstance(plain.get("worksheets"), list):  # nbformat 3 and before
        lists = [sheet.get("cells") if isinstance(sheet, dict) else None for sheet in plain["worksheets"]]
        source_of_code = "input"
    else:
        raise Unreadable(
            "This JSON file has no cells, so it is no notebook: hand in the .ipynb file as JupyterLab saves it."
        )
    wrong = next((cells for cells in lists if not isinstance(cells, list)), ())
    if wrong != ():
        raise Unreadable(
            f"A notebook's cells are a list, here they are {_named(wrong)}: save it in JupyterLab and hand it in again."
        )
    if sum(map(len, lists)) > CELLS:
        raise Unreadable(
            f"The notebook has {sum(map(len, lists)):,} cells, at most {CELLS:,} are graded: "
            "hand in the lesson's notebook with your answers."
        )
    return lists, source_of_code


def _titled(cells):
    """Yield (id, text) of each text cell that begins with a heading; Colab keeps the id elsewhere, older notebooks have none."""
    for cell in cells:
        text, metadata = cell.get("source") or "", cell.get("metadata")
        if cell.get("cell_type") == "markdown" and text.startswith("#"):
            name = cell.get("id") or (metadata.get("id") if isinstance(metadata, dict) else None)
            yield name if isinstance(name, str) else "", text


def _in_texts(cells):
    texts = [cell["source"] or "" for cell in cells if cell["cell_type"] != "code"]
    return frozenset(name for text in texts if not text.startswith("#") for name in FUNCTION.findall(text))


def _joined(source, nbformat_3):
    """Return a list of lines as one text. In nbformat 3 the lines may lack their ends."""
    if isinstance(source, list) and all(isinstance(line, str) for line in source):
        have_ends = any(line.endswith("\n") for line in source[:-1])
        return ("\n" if nbformat_3 and not have_ends else "").join(source)
    return source if isinstance(source, str) else None


def _code(source):
    if source is None:
        raise Unreadable("its source is not text.")
    if len(source) > CELL:
        raise Unreadable(f"it has {len(source):,} characters, at most {CELL:,} are run.")
    return INVALID.sub("\ufffd", source.replace("\r\n", "\n").replace("\r", "\n"))


def _named(value):
    names = {dict: "an object", list: "a list", str: "a text", bool: "true or false", int: "a number"}
    return names.get(type(value), "null or a number")


# Which lesson

CHECKED = re.compile(r"""\bcheck\(\s*["'](\w{1,9})\.(\w{1,80})["']""")
CHECK = re.compile(r"""\bcheck\(\s*["'](\w{1,9})\.""")
# What a check is given under a name other than the task's is already an answer.
GIVEN = re.compile(r"""\bcheck\(\s*["']\d\d\.\w{1,80}["']\s*,\s*(\w{1,80})\s*[,)]""")
TITLE = re.compile(r"#[ \t]+(?:Lesson[ \t]+)?(\d\d)\b", re.I)
FUNCTION = re.compile(r"^(?:async[ \t]+def|def|class)[ \t]+(\w{1,80})", re.M)
DEFINED = re.compile(r"[ \t]*(?:async[ \t]+def|def|class)[ \t]+(\w{1,80})|[ \t]*(\w{1,80})[ \t]*(?::[^=\n]*)?=(?!=)")
# What begins a block whose names belong to the notebook: all but functions and classes.
BLOCK = re.compile(r"[ \t]*(?:with|async|if|elif|else|for|while|try|except|finally|match|case)\b")
PROMPT = re.compile(r"^(?:>>>|\.\.\.)(?: |$)", re.M)


def _lesson(plain, all_cells, cells, known, name):
    """Return the lesson and whether it is named: stamped on the notebook, in its title or in its file's name.

    The first of these counts of which the notebook checks or defines a task; else the lesson of which it checks the most tasks, or defines them.
    """
    checks = Counter(lesson for cell in cells for lesson in CHECK.findall(cell) if lesson in known)
    defined = frozenset().union(*(names for _, names in _outlines(cells)))
    tasks = +Counter({lesson: len(defined.intersection(names)) for lesson, names in known.items()})
    title = next((found[1] for _, text in _titled(all_cells) if (found := TITLE.match(text))), "")
    stamp = _stamp(plain) if isinstance(_stamp(plain), str) else ""
    named = [lesson for lesson in (stamp, title, name[:2]) if lesson in known]
    with_tasks = next((lesson for lesson in named if lesson in checks or lesson in tasks), "")
    if with_tasks or named and (not checks and stamp in known or not (checks or tasks)):
        return with_tasks or named[0], True
    votes = checks or tasks
    most = max(votes.values(), default=0)
    return next((lesson for lesson in sorted(votes) if votes[lesson] == most), ""), False


def _of_other_lessons(cells, known, lesson, is_named):
    """Return the remark on tasks of other lessons that the notebook checks, or, if no lesson is named, answers; or none."""
    found = {pair for cell in cells for pair in CHECKED.findall(cell)}
    if not is_named:  # otherwise a function of this name may well be one that the answers call
        defined = {name for _, names in _outlines(cells) for name in names} - {*known.get(lesson, ())}
        owners = {name: [number for number in known if name in known[number]] for name in defined}
        found |= {(of[0], name) for name, of in owners.items() if len(of) == 1 and fingerprint(definition(cells, name))}
    others = sorted({number for number, name in found if name in known.get(number, ()) and number != lesson})
    if not lesson or not others:
        return ()
    which = f"lesson{'s' * (len(others) > 1)} {', '.join(others)}"
    return (
        f"The notebook also holds tasks of {which}. Only those of lesson {lesson} count: hand in a notebook for each lesson.",
    )


def _stamp(plain):
    value = plain
    for key in ("metadata", "course", "lesson"):
        value = value.get(key) if isinstance(value, dict) else None
    return value


# Definitions, found by patterns

# A string of any kind. An unclosed one ends with its line or with the cell: an alternative that has begun
# always matches, so that nothing is read twice.
STRING = r"""(?:
            \"{3} [^"\\]* (?:(?:\\(?:.|\Z)|"(?!""))[^"\\]*)* (?:"{3}|\Z)
          | '{3} [^'\\]* (?:(?:\\(?:.|\Z)|'(?!''))[^'\\]*)* (?:'{3}|\Z)
          | " [^"\\\n]* (?:\\(?:.|\Z)[^"\\\n]*)* "?
          | ' [^'\\\n]* (?:\\(?:.|\Z)[^'\\\n]*)* '?
      )"""
OPAQUE = re.compile(rf"{STRING} | \#[^\n]*", re.VERBOSE | re.DOTALL)
TOKEN = re.compile(
    rf"""(?P<string>[rRbBuUfF]{{0,2}}{STRING}) | (?P<comment>\#[^\n]*) | (?P<word>\w+)
      | (?P<line>\n) | (?P<joined>\\\n) | (?P<blank>[^\S\n]+) | (?P<sign>.)""",
    re.VERBOSE | re.DOTALL,
)
SEVERAL_LINES = ('"""', "'''", "\\\n")  # what begins or continues a string over several lines


@lru_cache(maxsize=4)
def _outlines(cells):
    """Return, for each cell, its code with multi-line strings blanked out, and {name: the lines where its definitions begin}."""
    bare = tuple(map(_bare, cells))
    return tuple((code, _defined_in(code)) for code in bare)


def _defined_in(code):
    """Return {name: lines} of what a cell defines at its left edge or inside blocks such as `with`, `if` and `try`."""
    found, outside, depth, opens = {}, 0, 0, False  # outside: the indentation of lines in no function or class
    for line, text in enumerate(code.split("\n")):
        if not text.strip() or text.lstrip().startswith("#"):
            continue
        match, indent, continued = DEFINED.match(text), _indent(text), depth > 0
        depth = max(0, depth + sum(map(_opens, OPAQUE.sub("", text))))
        if continued and not (match and match[1] and not indent):  # an unclosed bracket hides no function below it
            continue
        outside, opens = (indent, False) if opens or indent < outside else (outside, False)
        if indent == outside:
            if match:
                found.setdefault(match[1] or match[2], []).append(line)
            opens = BLOCK.match(text) is not None
    return found


def _indent(text):
    return len(text) - len(text.lstrip())


def _as_run(code):
    """Return a cell without what notebooks ignore: the indentation of its first line, and the prompts of a session."""
    if indent := code[: len(code) - len(code.lstrip())].rpartition("\n")[2]:
        code = "\n".join(line.removeprefix(indent) for line in code.split("\n"))
    return PROMPT.sub("", code) if code.lstrip().startswith(">>>") else code


def _bare(code):
    code = _as_run(code)
    if not any(mark in code for mark in SEVERAL_LINES):
        return code
    parts, end = [], 0
    for match in OPAQUE.finditer(code):
        if "\n" in match.group():
            parts += [code[end : match.start()], "\n" * match.group().count("\n")]
            end = match.end()
    return "".join([*parts, code[end:]])


def definitions(cells: tuple[str, ...], name: str) -> list[int]:
    """Return which cells define a name: by def, class or assignment at the start of a line."""
    return [place for place, (_, names) in enumerate(_outlines(tuple(cells))) if name in names]


def last_check(cells: tuple[str, ...], task: str, name: str) -> tuple[int, str]:
    """Return the last cell that checks a task, and the name of what it passes to `check`; (-1, name) if none does.

    Args:
        task: its id, such as "03.attention".
        name: of its answer.
    """
    call = re.compile(
        rf"""^[^#\n]*\bcheck\(\s*(?:["']{re.escape(task)}["']\s*(?:,\s*(\w{{1,80}})\s*[,)])?|({name})\s*[,)])""", re.M
    )
    for place in reversed(range(len(cells))):
        if found := call.findall(_outlines(tuple(cells))[place][0]):
            return place, next(filter(None, found[-1]), name)
    return -1, name


def definition(cells: tuple[str, ...], name: str, at_most: int = 4000, last: int = CELLS) -> str:
    """Return the source of a name's last definition in the cells up to `last`, with its decorators; "" if there is none."""
    found = [place for place in definitions(cells, name) if place <= last]
    if not found:
        return ""
    bare, lines_of = _outlines(tuple(cells))[found[-1]]
    lines, bare, first = _as_run(cells[found[-1]]).split("\n"), bare.split("\n"), lines_of[name][-1]
    inside, end = _indent(bare[first]), first + 1
    while first and bare[first - 1].lstrip().startswith("@"):
        first -= 1
    while end < len(bare) and (not bare[end].strip() or _indent(bare[end]) > inside or bare[end].lstrip()[0] in ")]}#"):
        end += 1
    while not lines[end - 1].strip() or bare[end - 1].lstrip().startswith("#") and _indent(bare[end - 1]) <= inside:
        end -= 1  # blank lines and comments after it belong to what follows
    text = "\n".join(line[min(inside, _indent(line)) :] for line in lines[first:end])
    return text if len(text) <= at_most else text[: at_most - 1] + "…"


def by_exec(cells: tuple[str, ...], name: str) -> str:
    """Return the end of a sentence about a name that no cell defines but a text that `exec` may run; "" if none names it."""
    if definitions(cells, name):
        return ""
    found = any(re.search(r"\bexec\s*\(|\brun_cell\s*\(", cell) and re.search(rf"\b{name}\b", cell) for cell in cells)
    return (
        "is made by `exec` from a text. It counts if it runs, but nobody can read it there: write it as code."
        if found
        else ""
    )


def likely_rename(cells: tuple[str, ...], name: str, taken: list[str]) -> str:
    """Return the function or class whose name is most like this one and which is no task's answer; "" if none is close."""
    known = {name, *taken, *(given for cell in cells for given in GIVEN.findall(cell))}
    others = dict.fromkeys(n for code, _ in _outlines(tuple(cells)) for n in FUNCTION.findall(code) if n not in known)
    ratios = {other: _likeness(_spelt(other), _spelt(name)) for other in list(others)[-NAMES:]}
    best = max(ratios, key=ratios.get, default="")
    return best if best and ratios[best] >= SIMILAR else ""


def _likeness(a, b):
    """Return from 0 to 1; at least SIMILAR if one name contains the other."""
    ratio = SequenceMatcher(None, a, b, autojunk=False).ratio()
    return max(ratio, SIMILAR) if min(len(a), len(b)) >= 3 and (a in b or b in a) else ratio


def _spelt(name):
    return name.lower().replace("_", "")


# Fingerprints


LIBRARIES = ("torch", "np", "numpy", "F", "nn", "functional", "math", "Tensor", "einsum", "softmax", "self", "Counter")
NAMES_OF_OTHERS = frozenset((*keyword.kwlist, *dir(builtins), *LIBRARIES))
STUB = re.compile(r"(?:raise NotImplementedError(?: \( [^()]*\))?|pass|\. \. \.|return(?: None)?)?(?: ;)?")
ENDS_HERE = re.compile(r"[^\S\n]*(?:#[^\n]*)?(?:\n|\Z)")


def fingerprint(code: str) -> str:
    """Return 16 hexadecimal digits, the same for code that differs only in layout and in its own names.

    Layout is comments, docstrings, blanks and line breaks. Its own names are all that are not keywords, built-ins,
    libraries or attributes.

    "" if there is no answer: nothing at all, or a function of only `raise NotImplementedError`, `pass`, `...` or `return None`.
    """
    tokens = _tokens(code[:LEXED])
    if not tokens or _is_stub(tokens):
        return ""
    return hashlib.sha256("\0".join([*_without_names(tokens), code[LEXED:]]).encode(errors="replace")).hexdigest()[:16]


def _without_names(tokens):
    """Yield the tokens, with names that an author chose replaced by numbers in order of appearance."""
    numbers, before = {}, ""
    for token in tokens:
        chosen = token.isidentifier() and before != "." and token not in NAMES_OF_OTHERS
        yield f"#{numbers.setdefault(token, len(numbers))}" if chosen else token
        before = token


def _tokens(code):
    """Return names, numbers, signs and strings, without layout, comments and strings on their own, such as docstrings."""
    tokens, depth, fresh = [], 0, True  # fresh: at the start of a line that continues no other
    for match in TOKEN.finditer(code):
        kind, text = match.lastgroup, match.group()
        if kind in ("blank", "comment"):
            continue
        alone = kind == "string" and fresh and depth <= 0 and ENDS_HERE.match(code, match.end())
        fresh = kind == "line" and depth <= 0
        if kind in ("string", "word", "sign") and not alone:
            tokens.append(text)
            depth += _opens(text)
    return tokens


def _opens(token):
    return {"(": 1, "[": 1, "{": 1, ")": -1, "]": -1, "}": -1}.get(token, 0)


def _is_stub(tokens):
    """Return whether no answer follows a function's header, up to the first colon outside brackets; in a class, its last function's."""
    if "def" not in tokens:
        return False
    if "class" in tokens[: tokens.index("def")]:
        tokens = tokens[len(tokens) - 1 - tokens[::-1].index("def") :]
    depth = 0
    for place, token in enumerate(tokens):
        depth += _opens(token)
        if token == ":" and depth == 0:
            return STUB.fullmatch(" ".join(tokens[place + 1 :])) is not None
    return True
