"""Finds docstrings in a syntax tree and removes them."""

import ast


def has_docstring(node: ast.AST) -> bool:
    """Return whether a module, class or function begins with a docstring; False for any other node."""
    documented = isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef)
    first = node.body[0] if documented and node.body else None
    return isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant) and isinstance(first.value.value, str)


def without_docstrings(tree: ast.AST, inside: bool = False) -> ast.AST:
    """Return the tree without docstrings; inside=True: only without those of its functions and classes, as a cell shows a string that it ends in."""
    for node in ast.walk(tree):
        if has_docstring(node) and not (inside and isinstance(node, ast.Module)):
            node.body = node.body[1:] or [ast.Pass()]
    return tree
