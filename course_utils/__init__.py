"""The course's package. What a notebook needs first: `check`, `hint`, `solution`, `progress`.

The names are loaded on first use, so that `import course_utils` costs next to nothing.
"""

from importlib import import_module

__all__ = ["check", "hint", "progress", "solution"]


def __getattr__(name):
    if name in __all__:
        return getattr(import_module("course_utils.checks.notebook"), name)
    raise AttributeError(f"course_utils has no '{name}'; it offers {', '.join(__all__)}")
