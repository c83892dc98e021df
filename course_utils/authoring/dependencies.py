"""What the outputs of a notebook depend on, cell by cell: the code so far, and the parts of the package that it reaches. Runs nothing but git.

A part is a function, a class or a constant; a cell depends on those that it imports and on those that these name in turn. Comments,
docstrings and formatting do not count, nor do the sentences of a task that no output shows: rewording one retrains nothing.
"""

import ast
import re
import subprocess
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property, lru_cache
from pathlib import Path

from course_utils.authoring.execution import OWN_MACHINE
from course_utils.authoring.notebook_builder import checksum
from course_utils.authoring.sources import Cell, Target
from course_utils.base.docstrings import has_docstring, without_docstrings
from course_utils.base.imports import PACKAGE, PACKAGES, module_file, runs_something, source_module
from course_utils.base.paths import LESSONS, QUESTIONS, folder_of
from course_utils.checks.task_text import SHARED, sections

LEARNER = f"{PACKAGE}.learner.notebook"  # `check` and the like: the package loads them by name, as they load tasks
QUESTION, REPORT = f"{PACKAGE}.checks.question", f"{PACKAGE}.checks.report"  # how each is shown
ASKS = re.compile(r"\b(check|predict|reveal)\(")
TASK = re.compile(r"""["'](\d\d)\.(\w+)["']""")
SECTION = re.compile(r"^## \d\d\.(\w+)(.*?)(?=^## |\Z)", re.MULTILINE | re.DOTALL)  # of a file of questions
TABLES = {"measured", "measured_once", "measured_at", "by_seed"}  # called with the name of a measured table
WITHOUT_EFFECT = set("cache cached_property contextmanager dataclass lru_cache no_grad property total_ordering".split())
SENTENCE = re.compile(r"[A-Z`].*[.?!:]", re.DOTALL)
WINDOW = 4  # words: a sentence counts as shown if this many of its words follow one another in an output


@dataclass(frozen=True)
class Part:
    """A statement at the top level of a module: its code, the sentences cut out of it, and what it names."""

    code: str
    sentences: tuple[str, ...]
    uses: frozenset[tuple]


class Module:
    """A module of the package, in parts. `effects` are the parts that do something on import."""

    def __init__(self, path: Path, package: tuple[str, ...], text: str, with_sentences: bool):
        self.path, self.package = path, package
        self.defined, self.imported, self.effects = {}, {}, []
        tree = ast.parse(text)
        for node in tree.body[has_docstring(tree) :]:
            self.imported |= _bound_by_imports(node, package)
            if isinstance(node, ast.Import | ast.ImportFrom):
                continue
            names = _names_defined(node)
            part = _part(node, package, with_sentences)
            for name in names:
                self.defined.setdefault(name, []).append(part)
            if not names:
                self.effects.append(part)

    @cached_property
    def parts(self):
        return [*self.effects, *(part for parts in self.defined.values() for part in parts)]


class Reached:
    """The parts of the package, and the measured tables, that code reaches; grows with each piece of code."""

    def __init__(self, root: Path):
        self.root, self.parts, self.tables = root, {}, set()

    @property
    def files(self) -> set[Path]:
        return {path for path, _ in self.parts} | self.tables

    def add(self, uses: Iterable[tuple]) -> list:
        """Follow what code uses; return the files and parts not reached before, in a fixed order."""
        before, waiting = set(self.parts) | self.tables, [(None, use) for use in uses]
        while waiting:
            module, use = waiting.pop()
            for path, part in self._found(module, use):
                key = (path, part.code)
                if key not in self.parts:
                    self.parts[key] = part
                    waiting += [(path, further) for further in part.uses]
        new = [(path, self.parts[path, code]) for path, code in self.parts.keys() - before]
        tables = [(path, path.read_text(encoding="utf-8")) for path in self.tables - before]
        return sorted(new, key=lambda found: (found[0], found[1].code)) + sorted(tables)

    def changed(self) -> list[str]:
        """Return "file (names)" for everything reached that differs from git's last commit; [] if there is no commit."""
        found = []
        for name in _git(self.root, "diff", "--name-only", "--relative", "HEAD").splitlines():
            path = self.root / name
            if path in self.tables or path in self.files and path.suffix == ".md":
                found.append(name)
            elif path in self.files:
                committed = _parse(self.root, path, _git(self.root, "show", f"HEAD:./{name}"))
                known = {part.code for part in committed.parts}
                new = {part.code for file, part in self.parts.items() if file[0] == path} - known
                names = [each for each, parts in self._module(path).defined.items() if new & {p.code for p in parts}]
                found += [f"{name} ({', '.join(names)})" if names else name] if new else []
        return found

    def _found(self, path, use):
        """Yield the parts that a use names: ("name", its dotted name in the module at path), ("from", module, name or "*"), ("table", name),
        ("question", lesson, its name or "*"), ("told", module of a task or of what tasks share).
        """
        kind, *rest = use
        if kind == "question":
            yield from self._questions(*rest)
        elif kind == "told":
            yield from self._text_of_task(*rest)
        elif kind == "table":
            table = self.root / f"{PACKAGE}/data/measured_tables/{rest[0]}.csv"
            self.tables |= {table} if table.is_file() else set()
        elif kind == "from":
            yield from self._from(*rest)
        elif path is not None:
            yield from self._named(self._module(path), rest[0].split("."))

    def _questions(self, number, name):
        """Yield a part for each question and prediction of a lesson that `name` means; its sentences count only if they are shown."""
        path = self.root / folder_of(self.root, number) / QUESTIONS
        if path.is_file():
            for heading, text in SECTION.findall(path.read_text(encoding="utf-8")):
                if name in ("*", heading):
                    pieces = re.split(r"\n(?=[-\n]|  >)", text)
                    short = [each for each in pieces if len(re.findall(r"\w+", each)) < WINDOW]  # too short to find
                    code = repr([heading, re.findall(r"^- \[.\]", text, re.MULTILINE), short])
                    yield path, Part(code, tuple(pieces), frozenset())

    def _text_of_task(self, module):
        """Yield a part for each hint and mistake in the Markdown file of a task, or of a shared one, and for what it takes from shared ones."""
        path = self.root / f"{module.replace('.', '/')}.md"
        if path.is_file():
            for section in sections(path.read_text(encoding="utf-8")):
                yield path, Part(repr([section.heading, section.changes]), section.paragraphs, frozenset())
                if match := SHARED.fullmatch(section.heading):
                    yield from self._text_of_task(f"{LESSONS}.shared.{match[1]}")

    def _named(self, module, dotted):
        name, *further = dotted
        if name in module.defined:
            yield from ((module.path, part) for part in [*module.defined[name], *module.effects])
        elif name in module.imported:
            base, attribute = module.imported[name]
            yield from self._from(base, ".".join([*([attribute] if attribute else []), *further]) or "*")

    def _from(self, base, name):
        """Yield what `from base import name` reaches; the name may be dotted, and "*" is a whole module."""
        first, _, rest = name.partition(".")
        path = self._file(base)
        module = self._module(path) if path else None
        if module and (first in module.defined or first in module.imported):
            yield from self._above(base)
            yield from self._named(module, name.split("."))
        elif first != "*" and self._file(f"{base}.{first}"):
            yield from self._from(f"{base}.{first}", rest or "*")
        elif module:
            yield from self._above(base)
            yield from ((path, part) for part in module.parts)
            for each in module.imported.values() if name == "*" else ():
                yield from self._from(each[0], each[1] or "*")

    def _above(self, base):
        """Yield what the `__init__.py` files above a module do on import."""
        parts = base.split(".")
        for length in range(1, len(parts)):
            face = self.root.joinpath(*parts[:length], "__init__.py")
            if face.is_file() and runs_something(face.read_text(encoding="utf-8")):
                yield from ((face, part) for part in self._module(face).effects)

    def _file(self, dotted):
        return module_file(self.root, dotted) if dotted.split(".")[0] in PACKAGES else None

    def _module(self, path):
        written = path.stat()
        return _module(self.root, path, written.st_mtime_ns, written.st_size)


@lru_cache(maxsize=4096)
def _module(root, path, *written):
    """Return a module; `written`, its time of writing and its size, tells whether it is still the same."""
    return _parse(root, path, path.read_text(encoding="utf-8"))


def _parse(root, path, text):
    package = path.parent.relative_to(root).parts
    with_sentences = path.relative_to(root).as_posix().startswith(f"{LESSONS}/")
    return Module(path, package, text, with_sentences)


def _git(root, *words):
    try:
        done = subprocess.run(["git", *words], cwd=root, capture_output=True, text=True, encoding="utf-8")
    except OSError:  # there is no git
        return ""
    return "" if done.returncode else done.stdout


def chain(root: Path, target: Target, cells: list[Cell], outputs: Iterable[dict]) -> tuple[list[str], Reached]:
    """Return a checksum for each code cell of everything its output depends on, and the parts of the package that the cells reach.

    Args:
        cells: of the notebook to be built.
        outputs: of the existing notebook; they decide which sentences of tasks count.
    """
    reached, sums, shown = Reached(root), [""], _windows(outputs)
    for cell in (cell for cell in cells if cell.kind == "code"):
        code, uses = _of_cell(root, target, cell)
        new = [_told(root, path, part, shown) for path, part in reached.add(uses)]
        sums.append(checksum([sums[-1], code, new])[:8])
    return sums[1:], reached


def _told(root, path, part, shown):
    if isinstance(part, str):
        return [path.name, part]
    counting = [sentence for sentence in part.sentences if _windows_of(sentence) & shown]
    return [path.relative_to(root).as_posix(), part.code, counting]


def _of_cell(root, target, cell):
    """Return the part of a cell's code that counts, and what it uses of the package: nothing if its output is not stored."""
    try:
        tree = ast.parse(cell.text)
    except SyntaxError:  # a magic of IPython
        return cell.text, set()
    code = [_dump(without_docstrings(tree, inside=True)), cell.text.rstrip().endswith(";")]
    if OWN_MACHINE in cell.metadata.get("tags", ()):
        return code, set()
    uses = {use for use in _uses(tree, ()) if use[0] != "name"}
    return code, uses | set(_asked(root, target, cell.text))


def _asked(root, target, text):
    """Return the uses that a cell's output depends on if it checks an answer, asks for a guess or reveals a result; else []."""
    if not ASKS.search(text):
        return []
    ids = TASK.findall(text)
    tasks = {each: _module_of(root, each[0], f"tasks/{each[1]}") for each in ids}
    tasks = {each: name for each, name in tasks.items() if (root / f"{name.replace('.', '/')}.py").is_file()}
    if ids and (target.folder == "solutions" or not tasks):  # in solutions, tests ensure that every answer is right
        questions = [each for each in ids if each not in tasks]
        shown = [QUESTION, REPORT] if questions else [REPORT]
        return [*map(_all_of, shown), *(("question", *each) for each in questions)]
    of_lesson = sorted((root / folder_of(root, target.number)).glob("tasks/*.py"))  # if a cell names no task
    named = [*tasks.values()] or [_module_of(root, target.number, f"tasks/{path.stem}") for path in of_lesson]
    found = [*map(_all_of, (LEARNER, *named)), *(("told", name) for name in named)]
    return found if tasks else [*found, ("question", target.number, "*")]


def _all_of(module):
    return "from", module, "*"


def _module_of(root, number, name):
    return f"{folder_of(root, number)}/{name}".replace("/", ".")


# Reading statements


def _part(node, package, with_sentences):
    sentences = []
    uses = frozenset(_uses(node, package))
    tree = without_docstrings(node)
    if with_sentences:
        tree = _Cut(sentences).visit(tree)
    return Part(_dump(tree), tuple(sentences), uses)


def _dump(node):
    """Return a tree as text, the same in every version of Python, unlike `ast.dump`."""
    if isinstance(node, list):
        return f"[{' '.join(map(_dump, node))}]"
    if not isinstance(node, ast.AST):
        return repr(node)
    fields = [(name, value) for name, value in ast.iter_fields(node) if value not in (None, [])]
    return f"{type(node).__name__}({' '.join(f'{name}={_dump(value)}' for name, value in sorted(fields))})"


class _Cut(ast.NodeTransformer):
    """Cuts the sentences out of a statement, so that what is left is code."""

    def __init__(self, sentences):
        self.sentences = sentences

    def visit_Constant(self, node):
        text = node.value
        if not (isinstance(text, str) and SENTENCE.fullmatch(text) and len(text.split()) >= WINDOW):
            return node
        self.sentences.append(text)
        return ast.Constant(value="")


def _names_defined(node):
    """Return the names that a statement only defines; none for one that does something on import."""
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
        return [node.name] if all(_decorator(each) in WITHOUT_EFFECT for each in node.decorator_list) else []
    targets = node.targets if isinstance(node, ast.Assign) else [node.target] if isinstance(node, ast.AnnAssign) else []
    names = [each for target in targets for each in (target.elts if isinstance(target, ast.Tuple) else [target])]
    return [each.id for each in names] if all(isinstance(each, ast.Name) for each in names) else []


def _decorator(node):
    node = node.func if isinstance(node, ast.Call) else node
    return node.attr if isinstance(node, ast.Attribute) else getattr(node, "id", None)


def _uses(tree, package):
    """Yield what a tree names: ("name", dotted), ("from", module, name), ("table", name)."""
    inner = set()  # the beginnings of longer chains of attributes
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute):
            inner.add(id(node.value))
        if isinstance(node, ast.Name | ast.Attribute) and id(node) not in inner and (dotted := _dotted(node)):
            yield "name", dotted
        elif isinstance(node, ast.Call) and _decorator(node) in TABLES:
            yield from (("table", name.value) for name in node.args[:1] if isinstance(name, ast.Constant))
        elif _imports(node):
            yield from (("from", base, name or "*") for base, name in _bound_by_imports(node, package).values())


def _dotted(node):
    """Return "a.b.c" for a chain of attributes that begins with a name, else nothing."""
    names = []
    while isinstance(node, ast.Attribute):
        names.append(node.attr)
        node = node.value
    return ".".join([node.id, *reversed(names)]) if isinstance(node, ast.Name) else ""


def _imports(node):
    return isinstance(node, ast.Import | ast.ImportFrom)


def _bound_by_imports(tree, package):
    """Return {name: (module, its attribute or None)} for the imports from the package in a tree."""
    bound = {}
    for node in filter(_imports, ast.walk(tree)):
        if isinstance(node, ast.Import):
            for alias in node.names:
                known = alias.asname or alias.name.partition(".")[0]
                bound[known] = (alias.name if alias.asname else known, None)
            continue
        base = source_module(node, package)
        bound |= {alias.asname or alias.name: (base, alias.name) for alias in node.names}
    return {name: found for name, found in bound.items() if found[0].split(".")[0] in PACKAGES}


# Which sentences are shown


def _windows(outputs):
    """Return all runs of words that outputs show."""
    texts = []
    for output in outputs:
        data = output.get("data", {})
        texts += [
            output.get("text", ""),
            *(data.get(kind, "") for kind in ("text/plain", "text/html", "text/markdown")),
        ]
    return {window for text in texts for window in _windows_of(re.sub(r"<[^>]*>", " ", "".join(text)))}


def _windows_of(text):
    words = re.findall(r"\w+", text)
    return {tuple(words[place : place + WINDOW]) for place in range(len(words) - WINDOW + 1)}
