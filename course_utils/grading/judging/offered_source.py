"""The source of the functions that a task offers, to be sent into the sandbox: those functions, what they call, and nothing else."""

import ast
import dis
import types
from collections.abc import Iterator
from functools import cache
from pathlib import Path

from course_utils.grading.sandbox.policy import PACKAGE
from course_utils.grading.sandbox.stand_ins import WITHHELD_PACKAGES

LEFT = tuple(f"{PACKAGE.name}.{package}." for package in WITHHELD_PACKAGES)  # whose modules are not in the sandbox


@cache
def sources(offers: tuple[str, ...]) -> dict[str, str]:
    """Return {"models.attention": its source} of what is offered, each module after those that it imports from.

    Args:
        offers: as a Task has them: "models.attention.dot", or a module, "models.attention".
    """
    wanted = {}  # {module: the names needed from it}
    for offer in offers:
        module, name = _module_and_name(offer)
        _add_names(
            module, {name} if name else {each for one in _statements(module) for each in _bound_names(one)}, wanted
        )
    return {module: _text_of_names(module, names) for module, names in wanted.items()}


def file_of(offer: str) -> Path:
    """Return the file that holds what is offered."""
    return _file(_module_and_name(offer)[0])


def _module_and_name(offer):
    """Return the module of an offer and the function in it; "" if the whole module is offered."""
    return (offer, "") if _file(offer).is_file() else offer.rpartition(".")[::2]


def _file(module):
    return PACKAGE.joinpath(*module.split(".")).with_suffix(".py")


@cache
def _text(module):
    return _file(module).read_text(encoding="utf-8")


@cache
def _statements(module):
    return ast.parse(_text(module)).body


def _add_names(module, names, wanted):
    """Add what is needed from a module, and first what that needs from others."""
    needed, waiting = set(), set(names)
    while waiting:
        name = waiting.pop()
        needed.add(name)
        for statement in _statements(module):
            if name in _bound_names(statement):
                waiting |= _used_names(statement) - needed
                if isinstance(statement, ast.ImportFrom) and f"{statement.module}.".startswith(LEFT):
                    original = {alias.asname or alias.name: alias.name for alias in statement.names}[name]
                    _add_names(statement.module.removeprefix(f"{PACKAGE.name}."), {original}, wanted)
    wanted[module] = wanted.pop(module, set()) | needed  # now after what it needs


def _text_of_names(module, names):
    """Return a module's text with the lines of all other statements blank, so that line numbers stay the same."""
    lines, shown = _text(module).splitlines(), set()
    for statement in _statements(module):
        if names & set(_bound_names(statement)):
            first = min([statement.lineno, *(each.lineno for each in getattr(statement, "decorator_list", ()))])
            shown |= set(range(first - 1, statement.end_lineno))
    return "\n".join(line if place in shown else "" for place, line in enumerate(lines))


def _bound_names(statement) -> list[str]:
    """Return the names that a module's top-level statement binds."""
    if isinstance(statement, (ast.FunctionDef, ast.ClassDef)):
        return [statement.name]
    if isinstance(statement, (ast.Import, ast.ImportFrom)):
        return [alias.asname or alias.name.partition(".")[0] for alias in statement.names]
    return [node.id for node in ast.walk(statement) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)]


def _used_names(statement) -> set[str]:
    """Return the module's names that a statement reads, from its bytecode: no local names, no attributes."""
    if isinstance(statement, (ast.Import, ast.ImportFrom)):
        return set()
    code = compile(ast.Module([statement], []), "", "exec", dont_inherit=True)
    loads = (
        step for part in _code_objects(code) for step in dis.get_instructions(part) if step.opname.startswith("LOAD")
    )
    return {step.argval for step in loads if "GLOBAL" in step.opname or "NAME" in step.opname}


def _code_objects(code) -> Iterator[types.CodeType]:
    yield code
    for const in code.co_consts:
        if isinstance(const, types.CodeType):
            yield from _code_objects(const)
