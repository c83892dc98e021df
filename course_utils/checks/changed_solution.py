"""Changes a solution as a learner might have: `old -> new` replaces a piece of its code, `name := value` an argument. Runs nothing.

    scores.softmax(-1) -> scores.softmax(1)      an expression, wherever it is
    self.norm1(_) -> _                           `_`, or a name that begins with it, matches any expression, the same on both sides
    x = self.norm(x) -> pass                     a statement, by one or several, separated by ;
    key_padding_mask=_ -> pass                   an assignment or a keyword argument
    mask := ~mask                                an argument, before anything else happens; None stays None

All changes of a mistake are made at once, to the original solution.
"""

import ast
import builtins
import re
import symtable
from collections.abc import Iterable
from difflib import SequenceMatcher
from functools import cache

from course_utils.base.docstrings import without_docstrings
from course_utils.base.errors import CourseError
from course_utils.base.words import did_you_mean

NEAREST = 3  # lines of the solution shown for a change that matches nothing
ARROW, ASSIGNS = " -> ", re.compile(r"([A-Za-z]\w*) := (.+)")


def changed(solution: str, changes: list[str], imports: str = "") -> str:
    """Return the source of a solution with some changes made, without docstrings or comments, below the imports that it uses.

    Args:
        solution: a function or a class, perhaps with others above it.
        changes: as shown above.
        imports: lines of imports; only those it uses are kept.

    Raises `CourseError` for a change that cannot be read or matches nothing.
    """
    tree = ast.parse(_without_docstrings(solution))
    patterns, arguments = [], []
    for change in changes:
        old, arrow, new = change.partition(ARROW)
        if arrow:
            before, after = _parse(old, change)[0], _parse(new, change)
            patterns += [(before, after, change), *_of_keyword(before, after, change)]
        elif match := ASSIGNS.fullmatch(change):
            arguments.append((match[1], _parse(match[2], change)[0], change))
        else:
            raise CourseError(f"`{change}` is not a change: write `old -> new`, or `name := value` for an argument")
    replacing = _Replacing(patterns)
    tree = replacing.visit(tree)
    if unused := [change for *_, change in patterns if change not in replacing.used]:
        wanted = unused[0].partition(ARROW)[0]
        raise CourseError(f"nothing in the solution matches `{wanted}`{_nearest_lines(wanted, solution)}")
    _assign(tree, arguments)
    names = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}
    needed = [line for line, imported in _imports(imports) if names & imported]
    return ast.unparse(ast.Module(body=[*needed, *tree.body], type_ignores=[])) + "\n"


@cache
def _without_docstrings(solution):
    return ast.unparse(without_docstrings(ast.parse(solution)))


def _nearest_lines(wanted, solution):
    """Return which lines of a solution come nearest to a piece of code, in words: those with the most similar statement or expression."""
    likeness = {}  # by the number of a line
    lines = _without_docstrings(solution).splitlines()
    for node in ast.walk(ast.parse("\n".join(lines))):
        if isinstance(node, (ast.expr, ast.stmt)) and not hasattr(node, "body"):
            alike = SequenceMatcher(None, wanted, ast.unparse(node), autojunk=False).ratio()
            likeness[node.lineno] = max(alike, likeness.get(node.lineno, 0))
    nearest = sorted(likeness, key=likeness.get, reverse=True)[:NEAREST]
    return (
        f". Nearest to it: {', '.join(dict.fromkeys(f'`{lines[number - 1].strip()}`' for number in sorted(nearest)))}"
    )


@cache
def _imports(source):
    """Return each line of imports, parsed, with the names it defines."""
    return [
        (line, {alias.asname or alias.name.partition(".")[0] for alias in line.names})
        for line in ast.parse(source).body
    ]


def refuse_undefined(source: str, known: Iterable[str] = ()) -> None:
    """Raise `CourseError` for a name that a changed solution uses but neither it nor Python nor `known` defines."""
    tables = [symtable.symtable(source, "<solution>", "exec")]
    for table in tables:
        tables += table.get_children()
    symbols = [symbol for table in tables for symbol in table.get_symbols()]
    used = {symbol.get_name() for symbol in symbols if symbol.is_global() and symbol.is_referenced()}
    local = {symbol.get_name() for symbol in symbols if symbol.is_local()}
    of_module = {
        symbol.get_name() for symbol in tables[0].get_symbols() if symbol.is_assigned() or symbol.is_imported()
    }
    if unknown := sorted(used - of_module - {*known, *dir(builtins)}):
        raise CourseError(f"`{unknown[0]}` is not defined{did_you_mean(unknown[0], sorted(local))}")


def _parse(code, change):
    """Return a piece of code as a list of its statements or its one expression. An `if` or a loop may follow a `;`."""
    try:
        body = ast.parse(code.strip()).body
    except SyntaxError as error:
        try:
            body = [statement for part in code.split("; ") for statement in ast.parse(part.strip()).body]
        except SyntaxError:
            raise CourseError(f"`{code.strip()}` in `{change}` is not Python ({error.msg})") from None
    if not body:
        raise CourseError(f"`{change}` has nothing on one side: write `pass` to leave a statement out")
    return [body[0].value] if len(body) == 1 and isinstance(body[0], ast.Expr) else body


def _of_keyword(before, after, change):
    """Yield the pattern for a keyword argument, if an assignment to a name could mean one."""
    plain = [part for part in after if isinstance(part, ast.Assign) and isinstance(part.targets[0], ast.Name)]
    if isinstance(before, ast.Assign) and isinstance(before.targets[0], ast.Name):
        made = [ast.keyword(part.targets[0].id, part.value) for part in plain]
        yield ast.keyword(before.targets[0].id, before.value), made, change


def _assign(tree, arguments):
    """Make the function, or the class's `forward`, begin with new values for arguments, all at once; None stays None."""
    if not arguments:
        return
    functions = [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)]
    last = tree.body[-1]
    own = last if isinstance(last, ast.FunctionDef) else next((f for f in functions if f.name == "forward"), None)
    known = [argument.arg for argument in own.args.args + own.args.kwonlyargs] if own else []
    for name, _, change in arguments:
        if name not in known:
            raise CourseError(f"`{change}` changes no argument: the arguments are {', '.join(known)}")
    names = ", ".join(name for name, *_ in arguments)
    values = ", ".join(f"{name} if {name} is None else {ast.unparse(value)}" for name, value, _ in arguments)
    own.body.insert(0, ast.parse(f"{names} = {values}").body[0])


class _Replacing(ast.NodeTransformer):
    def __init__(self, patterns):
        self.patterns, self.used = patterns, set()
        self.kinds = {type(old) for old, *_ in patterns} | {ast.Expr}
        self.wild = any(_is_wildcard(old) for old, *_ in patterns)

    def visit(self, node):
        for old, new, change in self.patterns if type(node) in self.kinds or self.wild else ():
            bound, assigned = {}, isinstance(getattr(node, "ctx", None), ast.Store)
            of_statement = isinstance(node, ast.Expr) and any(isinstance(part, ast.stmt) for part in new)
            if not assigned and matches(old, node.value if of_statement else node, bound):
                self.used.add(change)
                inside = {name: self.visit(part) for name, part in bound.items()}
                made = [_filled(part, inside) for part in new]
                if isinstance(node, ast.keyword):
                    return made
                if isinstance(node, ast.stmt):
                    return [ast.Expr(part) if isinstance(part, ast.expr) else part for part in made]
                if isinstance(node, ast.expr) and isinstance(made[0], ast.stmt):
                    raise CourseError(f"`{change}` replaces part of a line with a statement")
                return made[0] if made else None
        return super().generic_visit(node)


def _filled(part, bound):
    """Return a copy of a piece of code with names replaced by what they stand for."""
    if isinstance(part, list):
        return [_filled(each, bound) for each in part]
    if not isinstance(part, ast.AST):
        return part
    if isinstance(part, ast.Name) and part.id in bound:
        return _filled(bound[part.id], {})
    made = type(part)(**{field: _filled(value, bound) for field, value in ast.iter_fields(part)})
    return ast.copy_location(made, part)  # for ast.unparse, which needs the line of an assignment


def _is_wildcard(pattern):
    return isinstance(pattern, ast.Name) and pattern.id.startswith("_")


def matches(pattern, node, bound):
    """Return whether a node matches a pattern; what the names that begin with `_` stand for is put into `bound`."""
    if _is_wildcard(pattern) and isinstance(node, ast.expr):
        return ast.dump(bound.setdefault(pattern.id, node)) == ast.dump(node)
    if type(pattern) is not type(node):
        return False
    if isinstance(pattern, ast.AST):
        fields = [field for field in pattern._fields if field not in ("ctx", "type_comment", "type_params")]
        return all(matches(getattr(pattern, field, None), getattr(node, field, None), bound) for field in fields)
    if isinstance(pattern, list):
        return len(pattern) == len(node) and all(matches(p, n, bound) for p, n in zip(pattern, node, strict=True))
    return pattern == node
