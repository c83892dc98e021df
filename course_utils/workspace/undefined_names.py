"""Finds the names that an answer uses and no cell of its notebook defines: they are in the kernel only, and not where a class is graded.

Read from the text of cells. Nothing is run.
"""

import ast
import builtins
import symtable
from collections.abc import Iterable, Iterator

OF_NOTEBOOKS = {"get_ipython", "display", "In", "Out", "_", "__", "___", "__name__", "__file__", "__doc__"}


def undefined_names(answer: str, cells: Iterable[str]) -> list[str]:
    """Return the names that an answer uses and that none of the cells defines or imports, in alphabetical order.

    Where a cell imports `*`, nobody can tell, and there are none.

    Args:
        answer: the source of a function or a class.
        cells: the code of all cells, in which what is no Python is left out.
    """
    from IPython.core.inputtransformer2 import TransformerManager

    defined = OF_NOTEBOOKS | set(dir(builtins))
    try:
        used = set(_used(symtable.symtable(answer, "answer", "exec")))
        for cell in cells:
            code = TransformerManager().transform_cell(cell)
            if any(
                "*" in (name.name for name in node.names)
                for node in ast.walk(ast.parse(code))
                if isinstance(node, ast.ImportFrom)
            ):
                return []
            defined.update(_defined(symtable.symtable(code, "cell", "exec")))
    except (SyntaxError, ValueError, RecursionError):
        return []
    return sorted(used - defined)


def _used(table: symtable.SymbolTable, outermost: bool = True) -> Iterator[str]:
    """Give the names of the module that a piece of code and what is nested in it refer to."""
    for symbol in table.get_symbols():
        if symbol.is_referenced() and (not symbol.is_assigned() if outermost else symbol.is_global()):
            yield symbol.get_name()
    for child in table.get_children():
        yield from _used(child, outermost=False)


def _defined(table: symtable.SymbolTable, outermost: bool = True) -> Iterator[str]:
    """Give the names of the module that a piece of code defines."""
    for symbol in table.get_symbols():
        bound = symbol.is_assigned() or symbol.is_imported()
        if bound and (outermost or symbol.is_declared_global()):
            yield symbol.get_name()
    for child in table.get_children():
        yield from _defined(child, outermost=False)
