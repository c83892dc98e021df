"""The course's package. What a notebook needs first: `check`, `hint`, `solution`, `play`, `progress`, `predict`, `reveal`, `doctor`.

The names are loaded on first use, so that `import course_utils` costs next to nothing.
"""

from importlib import import_module

_FROM = {
    "check": "course_utils.learner.notebook",
    "doctor": "course_utils.commands.doctor",
    "hint": "course_utils.learner.notebook",
    "play": "course_utils.learner.notebook",
    "predict": "course_utils.learner.notebook",
    "progress": "course_utils.learner.notebook",
    "reveal": "course_utils.learner.notebook",
    "solution": "course_utils.learner.notebook",
}
__all__ = list(_FROM)  # noqa: PLE0604


def __getattr__(name):
    if name in _FROM:
        return getattr(import_module(_FROM[name]), name)
    raise AttributeError(f"course_utils has no '{name}'; it offers {', '.join(_FROM)}")
