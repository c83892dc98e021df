"""The only walker over nested values: dicts, lists and tuples, to any depth; anything else is a leaf.

Here: applying a function to all leaves, listing them with the paths to them, comparing two trees leaf by leaf. Not here: which leaves are allowed
(`checks.running.contract`), or how close two numbers must be (`checks.compare`).
"""

from collections.abc import Callable, Iterator

from torch import Tensor


def map_leaves(function: Callable, tree):
    """Return the tree with each leaf replaced by function(leaf); the keys of dicts stay."""
    if isinstance(tree, dict):
        return {key: map_leaves(function, branch) for key, branch in tree.items()}
    if isinstance(tree, (list, tuple)):
        return type(tree)([map_leaves(function, branch) for branch in tree])
    return function(tree)


def map_tensors(function: Callable[[Tensor], Tensor], tree):
    """Return the tree with each tensor replaced by function(tensor)."""
    return map_leaves(lambda leaf: function(leaf) if isinstance(leaf, Tensor) else leaf, tree)


def leaves(tree, deepest: int | None = None) -> Iterator:
    """Yield the leaves, from left to right. Raises `ValueError` if one is inside more than `deepest` containers."""
    if not isinstance(tree, (dict, list, tuple)):
        yield tree
    elif deepest == 0:
        raise ValueError("there are too many containers inside one another")
    else:
        for branch in tree.values() if isinstance(tree, dict) else tree:
            yield from leaves(branch, None if deepest is None else deepest - 1)


def tensors(tree, deepest: int | None = None) -> list[Tensor]:
    """Return the tensors among the leaves; `deepest` and exceptions are as in `leaves`."""
    return [leaf for leaf in leaves(tree, deepest) if isinstance(leaf, Tensor)]


def paths(tree, path: tuple = ()) -> Iterator[tuple[tuple, object]]:
    """Yield (path, leaf) for each leaf, from left to right: the path holds the keys and positions that lead to it."""
    if not isinstance(tree, (dict, list, tuple)):
        yield path, tree
    else:
        for step, branch in tree.items() if isinstance(tree, dict) else enumerate(tree):
            yield from paths(branch, (*path, step))


def parts(tree, path: tuple = ()) -> Iterator[tuple[tuple, object]]:
    """Yield (path, part) as `paths` does, but keep a container without tensors whole."""
    if not tensors(tree) or isinstance(tree, Tensor):
        yield path, tree
    else:
        for step, branch in tree.items() if isinstance(tree, dict) else enumerate(tree):
            yield from parts(branch, (*path, step))


def at(tree, path: tuple):
    """Return what is at the end of a path. Raises `KeyError`, `IndexError` or `TypeError` if there is nothing."""
    for step in path:
        tree = tree[step]
    return tree


def path_text(names, path: tuple) -> str:
    """Return a path as written in Python, its first step by its name: `weights['out']`, `memories[1]`."""
    return names[path[0]] + "".join(f"[{step!r}]" for step in path[1:])


def alike(same: Callable, a, b) -> bool:
    """Return whether two trees branch alike and same(leaf, leaf) holds for each pair; a list counts as a tuple."""
    if isinstance(a, dict) and isinstance(b, dict):
        return a.keys() == b.keys() and all(alike(same, a[key], b[key]) for key in a)
    if isinstance(a, (list, tuple)) and isinstance(b, (list, tuple)):
        return len(a) == len(b) and all(alike(same, x, y) for x, y in zip(a, b, strict=True))
    containers = (dict, list, tuple)
    return not isinstance(a, containers) and not isinstance(b, containers) and same(a, b)
