"""What the course requires of lessons and solutions, as far as a program can check it, with all the limits.

Reads the .py sources and, if they are built, the outputs in the .ipynb. build.py checks whether a built file is up to
date, and ruff how Python code is written.
"""

import ast
import json
import re
from pathlib import Path
from statistics import median

from course_utils.authoring.execution import OWN_MACHINE
from course_utils.authoring.headers import lesson_facts
from course_utils.authoring.notebook_builder import REVEALS
from course_utils.authoring.prose_habits import too_many_habits
from course_utils.authoring.sources import CHECK, TASK_HEADING, Cell, begins_in_header, has_answer, read_source
from course_utils.base.errors import CourseError
from course_utils.base.paths import LESSONS, file_of, number_of, source_of, sources_in

CELLS = 20, 52  # of a lesson, without predictions, the questions at its end, and the set-up cell that the build inserts
QUESTION = re.compile(r"""check\(["']\d\d\.q\d+["'], \.\.\.\)""")
PREDICTION = re.compile(r"""predict\(["']\d\d\.\w+["'], \.\.\.\)""")
MAX_CODE_LINES = 25  # of one cell; blank lines and comments don't count
MAX_MEDIAN_CODE_LINES = 10
MAX_COLUMNS = 88  # of a line of code: as many as a page shows without cutting it
MAX_SENTENCE = 32  # words
MAX_BRACKET = 12  # words: a bracket holds a reference or a remark, not a second result
MAX_PERHAPS = 2  # in a lesson
WORDS_A_MINUTE, LINES_A_MINUTE = 150, 12  # of a reader
MINUTES_A_FIGURE, MINUTES_A_GUESS = 1.5, 2  # a guess is a prediction or a question
MINUTES_OFF = 10  # between what a lesson says and this estimate
RECAP_LINES = (3, 5)
MIN_COMPARED = 3  # cells whose output is compared with the stored one
TASKS = (1, 12)  # of a lesson

DOCSTRING = ("Args:", "Returns:", "Example:")  # of a stub, after its first sentence
COMPARED = "nbval-check-output"
AN_ADDRESS = re.compile(r"<[^<>\n]* at 0x\w+>")  # an object as Python writes it
# float32 keeps at most seven digits after the point, and processors differ in the last of them and in the size of a rounding error.
LAST_DIGITS = re.compile(r"-?\d+\.\d{7,}(?:e[-+]?\d+)?|-?\d+(?:\.\d+)?e-(?:0[6-9]|[1-9]\d)|\b0(?:\.0+)?e[-+]00")
ASKS = re.compile(r"\?|\b(before you run|guess|predict|work out|move the slider|look for)\b", re.IGNORECASE)
BANNED = re.compile(r"\b(simply|obviously|just)\b|!", re.IGNORECASE)

# Markdown that is not prose. Each piece is replaced by its line ends, so that line numbers stay correct.
NOT_PROSE = re.compile(
    r"^ *(```|~~~).*?^ *\1"  # a block of code
    r"|(`+)(?!`)(?:(?!\n\n).)+?(?<!`)\2(?!`)"  # a code span
    r"|\$\$.*?\$\$|\\begin\{(\w+\*?)\}.*?\\end\{\3\}|(?<![\\$])\$[^$\n]+\$"  # an equation
    r"|!\[[^\]]*\]\([^)]*\)"  # a picture
    r"|(?<=\])\([^)]*\)"  # the address of a link
    r"|<!--.*?-->|</?\w[^>\n]*>",  # html
    re.MULTILINE | re.DOTALL,
)
ROW = re.compile(r"^ *\|[^\n]*", re.MULTILINE)  # of a table, which is prose without sentences
DOCUMENTS = ("README.md", "CONTRIBUTING.md", "docs/*.md", f"{LESSONS}/*/questions.md")


def lint(root: Path) -> list[str]:
    """Return what breaks the rules, a sentence each, in the order of files and lines."""
    root, sentences = Path(root), []
    for folder, rules in (("notebooks", LESSON_RULES), ("solutions", SOLUTION_RULES)):
        for lesson in sources_in(root, folder):
            name = source_of(folder, lesson)
            try:
                cells = read_source(root, name)
            except CourseError as problem:
                sentences.append(str(problem))
                continue
            built = _built_outputs(root / file_of(folder, lesson), cells)
            found = [breach for rule in rules for breach in rule(lesson, cells, built)]
            if folder == "notebooks":
                found += _minutes_stated(lesson_facts(root, number_of(lesson)).reading, minutes(cells))
            for line, message in sorted(found, key=lambda breach: breach[0]):
                sentences.append(f"{name}, line {line}: {message}" if line else f"{name}: {message}")
    for file in sorted(file for pattern in DOCUMENTS for file in root.glob(pattern)):
        if sentence := too_many_habits([(1, prose(file.read_text(encoding="utf-8"), tables=True))]):
            sentences.append(f"{file.relative_to(root)}: {sentence}")
    return sentences


def _built_outputs(path: Path, cells: list[Cell]) -> list[list[dict]] | None:
    """Return each cell's stored outputs, or None if the notebook isn't built from these cells."""
    try:
        built = json.loads(path.read_text(encoding="utf-8"))["cells"]
        built = [cell for cell in built[1:] if "setup" not in cell["metadata"].get("tags", [])]  # without the header
        if begins_in_header(cells):
            built.insert(0, {"cell_type": "markdown"})
        same = [cell["cell_type"] for cell in built] == [cell.kind for cell in cells]
        return [cell.get("outputs", []) for cell in built] if same else None
    except (OSError, ValueError, KeyError, TypeError):
        return None


def prose(markdown: str, tables: bool = False) -> str:
    """Return the text that is read as sentences, and tables on request, with the lines kept in place."""
    text = NOT_PROSE.sub(lambda match: " " + "\n" * match.group().count("\n"), markdown)
    return text if tables else ROW.sub("", text)


def _code_lines(cell):
    lines = (line.strip() for line in cell.text.split("\n"))
    return sum(1 for line in lines if line and not line.startswith("#"))


def _within(count, limits):
    """Return what is wrong with a count, e.g. "at least 3", or None."""
    low, high = limits
    return f"at least {low}" if count < low else f"at most {high}" if count > high else None


def _markdown_before(cells, place):
    """Return the markdown cells between a cell and the code cell before it."""
    start = place
    while start and cells[start - 1].kind == "markdown":
        start -= 1
    return cells[start:place]


def _is_markdown(cells, place):
    return 0 <= place < len(cells) and cells[place].kind == "markdown"


# Rules: each takes the lesson's name, its cells and their built outputs, and yields (line or 0, message).


def _counts(name, cells, built):
    count = len(cells) + (not begins_in_header(cells))  # with the header that the build adds
    questions = sum(bool(QUESTION.fullmatch(cell.text.strip())) for cell in cells)
    count -= questions + bool(questions)  # and without the recap, which they separate from the text before it
    count -= sum(bool(PREDICTION.fullmatch(cell.text.strip())) for cell in cells)
    if limit := _within(count, CELLS):
        yield 0, f"has {count} cells, {limit}"
    compared = sum(COMPARED in cell.metadata.get("tags", []) for cell in cells)
    if compared < MIN_COMPARED:
        yield 0, f"has {compared} cells tagged {COMPARED}, at least {MIN_COMPARED}"


def _code_length(name, cells, built):
    lengths = [(cell, _code_lines(cell)) for cell in cells if cell.kind == "code"]
    for cell, length in lengths:
        if length > MAX_CODE_LINES:
            yield cell.line, f"code cell has {length} lines, at most {MAX_CODE_LINES}"
    middle = median([length for _, length in lengths] or [0])
    if middle > MAX_MEDIAN_CODE_LINES:
        yield 0, f"code cells have {middle:g} lines in the median, at most {MAX_MEDIAN_CODE_LINES}"


def _plain_code(name, cells, built):
    """One statement per line, and each simple enough for a beginner."""
    for cell in cells:
        if cell.kind != "code":
            continue
        for line, text in enumerate(cell.text.split("\n"), cell.line):
            if len(text) > MAX_COLUMNS:
                yield line, f"a line of code has {len(text)} columns, at most {MAX_COLUMNS}"
        for node in ast.walk(ast.parse(cell.text)):
            if isinstance(node, (ast.expr, ast.stmt)) and (breach := _too_clever(node)):
                yield cell.line + node.lineno - 1, breach


COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)


def _too_clever(node):
    """Return what would make a reader stop at a node, or None."""
    targets = getattr(node, "targets", [getattr(node, "target", None)])
    if any(isinstance(part, ast.Tuple) for target in targets for part in getattr(target, "elts", ())):
        return "nested unpacking: give the parts names on lines of their own"
    if isinstance(node, ast.Assign) and isinstance(node.value, ast.Tuple) and isinstance(targets[0], ast.Tuple):
        return "two assignments in one: write a line for each"
    if isinstance(node, ast.NamedExpr):
        return "an assignment within an expression: write it on a line of its own"
    if isinstance(node, COMPREHENSIONS) and sum(isinstance(inner, COMPREHENSIONS) for inner in ast.walk(node)) > 1:
        return "a comprehension inside a comprehension: name the inner one, or write a loop"
    return None


def _plain_prose(name, cells, built):
    """Sentences short enough to be read once, and brackets without second results."""
    text = [(cell, prose(cell.text)) for cell in cells if cell.kind == "markdown"]
    for cell, sentence in ((cell, sentence) for cell, words in text for sentence in _sentences(words)):
        if (words := len(sentence.split())) > MAX_SENTENCE:
            yield cell.line, f"a sentence has {words} words, at most {MAX_SENTENCE}: {sentence.strip()[:60]}…"
        for bracket in re.findall(r"\(([^()]*)\)", sentence):
            if (words := len(bracket.split())) > MAX_BRACKET:
                yield cell.line, f"a bracket has {words} words, at most {MAX_BRACKET}: ({bracket[:50]}…"
    if (count := sum(len(re.findall(r"\bperhaps\b", words, re.IGNORECASE)) for _, words in text)) > MAX_PERHAPS:
        yield 0, f'has {count} times "perhaps", at most {MAX_PERHAPS}'


def _sentences(words):
    """Return the sentences of a text; each heading and list item begins a new one."""
    lines = re.split(r"\n\s*\n|\n(?=\s*[-*#>])", words)
    return [sentence for line in lines for sentence in re.split(r"(?<=[.?:])\s+(?=[A-Z\"“*$(])", line)]


def minutes(cells: list[Cell]) -> float:
    """Return how long a lesson takes a reader, estimated from its words, lines of code, figures, predictions and questions."""
    code = [cell for cell in cells if cell.kind == "code"]
    guesses = sum(bool(QUESTION.fullmatch(cell.text.strip()) or PREDICTION.search(cell.text)) for cell in code)
    figures = sum(bool(re.search(r"\b(plots|diagrams|pictures|widgets)\.", cell.text)) for cell in code)
    words = [re.findall(r"\w+(?:['’-]\w+)*", prose(cell.text)) for cell in cells if cell.kind == "markdown"]
    reading = sum(map(len, words)) / WORDS_A_MINUTE
    lines = sum(map(_code_lines, code)) / LINES_A_MINUTE
    return reading + lines + MINUTES_A_FIGURE * figures + MINUTES_A_GUESS * guesses


def _minutes_stated(stated, likely):
    if abs(stated - likely) > MINUTES_OFF:
        yield 0, f"says {stated} minutes, and {likely:.0f} are likely: mend `reading` in the lesson's __init__.py"


def _banned_words(name, cells, built):
    for cell in cells:
        if cell.kind == "markdown":
            for line, text in enumerate(prose(cell.text).split("\n"), cell.line):
                for match in BANNED.finditer(text):
                    yield line, f'"{match.group()}" in prose: leave it out'


def _habits(name, cells, built):
    text = [(cell.line, prose(cell.text, tables=True)) for cell in cells if cell.kind == "markdown"]
    if sentence := too_many_habits(text):
        yield 0, sentence


def _ending(name, cells, built):
    last = cells[-1] if cells and cells[-1].kind == "markdown" else Cell("markdown", "", 0, {})
    lines = _recap(last.text)
    if lines is None:
        yield last.line, "the last cell has no recap: a heading or bold **Recap**"
    elif limit := _within(lines, RECAP_LINES):
        yield last.line, f"the recap has {lines} lines, {limit}"
    link = f"../{file_of('exercises', name)}"
    if f"]({link})" not in last.text:
        yield last.line, f"the last cell has no link to {link}"
    if not re.search(r"\*\*Next[:.]?\*\*.*\?", last.text, re.DOTALL):
        yield last.line, "the last cell has no **Next** with a question"


def _recap(text):
    """Return how many lines, or list items, the recap has; None without one."""
    begin = re.search(r"^(#+ *|\*\*)Recap\b[^\n*]*(\*\*)?", text, re.MULTILINE)
    if not begin:
        return None
    body = re.split(r"^#|\*\*Next|^.*\.\./exercises/", text[begin.end() :], flags=re.MULTILINE)[0]
    lines = [line for line in body.split("\n") if line.strip()]
    return sum(bool(re.match(r" *([-*+]|\d+\.) ", line)) for line in lines) or len(lines)


def _pictures(name, cells, built):
    for place, outputs in enumerate(built or []):
        if not any(key.startswith("image/") for output in outputs for key in output.get("data", {})):
            continue
        first = place
        while first and cells[first - 1].kind == "code":  # a prediction, or functions that the picture uses
            first -= 1
        if not any(ASKS.search(cell.text) for cell in _markdown_before(cells, first)):
            yield cells[place].line, "the text before a picture has no question, and does not ask for a guess"
        if not _is_markdown(cells, place + 1):
            yield cells[place].line, "a picture has no text right after it that says what it shows"
        if COMPARED in cells[place].metadata.get("tags", ()):
            yield cells[place].line, f"a picture is not compared: draw it in a cell without {COMPARED}"


def _outputs(name, cells, built):
    for cell, outputs in zip(cells, built or [], strict=False):
        for output in outputs:
            if output.get("output_type") == "error":
                yield cell.line, f"the built notebook shows an error: {output.get('ename')}"
            if output.get("name") == "stderr":
                yield cell.line, "the built notebook shows text on stderr: mend what warns"
            if found := AN_ADDRESS.search("".join(output.get("data", {}).get("text/plain", ""))):
                yield (
                    cell.line,
                    f"the built notebook shows {found.group()}: end the cell with something that a reader can use",
                )
        own = OWN_MACHINE in cell.metadata.get("tags", ())
        if cell.kind == "code" and not outputs and not own and (why := _should_show(cell.text)):
            yield cell.line, f"code cell {why} but shows nothing"


def _last_digits(name, cells, built):
    """What is compared with the stored output must be the same on every processor."""
    for cell, outputs in zip(cells, built or [], strict=False):
        if COMPARED in cell.metadata.get("tags", ()):
            shown = [output.get("text") or output.get("data", {}).get("text/plain", "") for output in outputs]
            for number in LAST_DIGITS.findall("\n".join("".join(text) for text in shown)):
                yield (
                    cell.line,
                    f"a compared output shows {number}, which depends on the processor: round it, or say what it is below",
                )


def _given_away(name, cells, built):
    """JupyterLab shows the first line of a folded output."""
    for cell, outputs in zip(cells, built or [], strict=False):
        if REVEALS in cell.metadata.get("tags", ()) and outputs:
            text = outputs[0].get("text") or outputs[0].get("data", {}).get("text/plain", "")
            first = "".join(text).split("\n")[0]
            if not first or re.search(r"\d", first):
                yield cell.line, f"the first line of a folded output stays in sight, and may hold no number: {first!r}"


def _should_show(code):
    """Return why a cell should have an output, or None."""
    statements = ast.parse(code).body
    if any(_calls(statement, "print") for statement in statements):
        return "prints"
    if any(_calls(statement, "plots") for statement in statements):
        return "draws"
    last = statements[-1] if statements else None
    if not isinstance(last, ast.Expr) or _only_sets(last.value):
        return None
    after = code.split("\n")[last.end_lineno - 1].encode()[last.end_col_offset :]
    return None if after.lstrip().startswith(b";") else "ends in an expression"


def _only_sets(node):
    """Return whether an expression is called for its effect: torch.manual_seed(0), torch.set_printoptions(...)."""
    function = node.func if isinstance(node, ast.Call) else None
    return isinstance(function, ast.Attribute) and (function.attr.startswith("set_") or function.attr == "manual_seed")


def _calls(node, name):
    """Return whether running this node calls `name(...)` or `name.something(...)`; what a function would do once called doesn't count."""
    if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)):
        return False
    if isinstance(node, ast.Call):
        called = node.func.value if isinstance(node.func, ast.Attribute) else node.func
        if isinstance(called, ast.Name) and called.id == name:
            return True
    return any(_calls(child, name) for child in ast.iter_child_nodes(node))


def _tasks(name, cells, built):
    places = [place for place, cell in enumerate(cells) if has_answer(cell)]
    if limit := _within(len(places), TASKS):
        yield 0, f"has {len(places)} tasks, {limit}"
    for place in places:
        cell = cells[place]
        if not (_is_markdown(cells, place - 1) and TASK_HEADING.match(cells[place - 1].text)):
            yield (
                cell.line,
                "the task has no markdown cell right before it that begins with `## ` and its id, such as `## 02.softmax`",
            )
        if missing := _parts_missing(cell.text):
            yield cell.line, f"the task's docstring lacks {', '.join(missing)} as lines of their own"
        following = cells[place + 1] if place + 1 < len(cells) else None
        if not following or following.kind != "code" or not CHECK.search(following.text):
            yield cell.line, "the task has no check cell right under it"


def _parts_missing(code):
    """Return the parts that the docstring of a stub's function or class lacks."""
    defined = (ast.FunctionDef, ast.ClassDef)
    texts = [ast.get_docstring(node) or "" for node in ast.parse(code).body if isinstance(node, defined)]
    return [part for part in DOCSTRING if not any(f"\n{part}\n" in text for text in texts)]


LESSON_RULES = (
    _counts,
    _code_length,
    _plain_code,
    _plain_prose,
    _banned_words,
    _habits,
    _ending,
    _pictures,
    _outputs,
    _last_digits,
    _given_away,
)
SOLUTION_RULES = (_banned_words, _habits, _outputs, _tasks)
