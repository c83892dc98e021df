"""Finds names that an answer uses and no cell of its notebook defines: only the learner's kernel knows them, grading does not.

It reads the text of cells and runs nothing.
"""

import ast
import builtins
import symtable
from collections.abc import Iterator, Sequence

OF_NOTEBOOKS = {"get_ipython", "display", "In", "Out", "_", "__", "___", "__name__", "__file__", "__doc__"}


def as_python(cell: str) -> str:
    """Return a cell's code as the notebook runs it: magics, prompts and indentation are turned into Python."""
    from IPython.core.inputtransformer2 import TransformerManager

    return TransformerManager().transform_cell(cell)


def defined_names(cell: str) -> set[str] | None:
    """Return the names that a cell defines or imports; None if that is unknown: it imports `*` or is not Python."""
    try:
        code = as_python(cell)
        imports = (node for node in ast.walk(ast.parse(code)) if isinstance(node, ast.ImportFrom))
        if any(name.name == "*" for node in imports for name in node.names):
            return None
        return set(_defined(symtable.symtable(code, "cell", "exec")))
    except (SyntaxError, ValueError, RecursionError):
        return None


def undefined_names(answer: str, defined: Sequence[set[str] | None]) -> list[str]:
    """Return the names that an answer uses but that are neither built in nor defined in the given cells, in alphabetical order.

    Args:
        answer: the source of a function or a class.
        defined: what each cell defines. If that is unknown for one of them, [] is returned.
    """
    if None in defined:
        return []
    try:
        used = set(_used(symtable.symtable(answer, "answer", "exec")))
    except (SyntaxError, ValueError, RecursionError):
        return []
    return sorted(used.difference(OF_NOTEBOOKS, dir(builtins), *defined))


def _used(table: symtable.SymbolTable, outermost: bool = True) -> Iterator[str]:
    """Yield the global names that a piece of code, including what is nested in it, refers to."""
    for symbol in table.get_symbols():
        if symbol.is_referenced() and (not symbol.is_assigned() if outermost else symbol.is_global()):
            yield symbol.get_name()
    for child in table.get_children():
        yield from _used(child, outermost=False)


def _defined(table: symtable.SymbolTable, outermost: bool = True) -> Iterator[str]:
    """Yield the global names that a piece of code defines."""
    for symbol in table.get_symbols():
        bound = symbol.is_assigned() or symbol.is_imported()
        if bound and (outermost or symbol.is_declared_global()):
            yield symbol.get_name()
    for child in table.get_children():
        yield from _defined(child, outermost=False)
