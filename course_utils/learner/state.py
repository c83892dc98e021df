"""Keeps what a learner has reached: one small JSON file in the course folder. Judges and shows nothing.

Two notebooks may write at once: every change reads, alters and replaces the file under a lock. A damaged file is
set aside, never overwritten. COURSE_HOME names another folder; COURSE_PROGRESS=off keeps nothing.
"""

import json
import os
from itertools import count
from pathlib import Path

from filelock import FileLock, Timeout

from course_utils.base.files import write
from course_utils.base.places import learners_folder

STATES = ("not attempted", "error", "failed", "passed")
FILE = Path(".course") / "progress.json"
_in_memory = {}  # serves where nothing can or shall be written


def read(say=print):
    """Return what is kept, as {task id: {"state", "passed", "attempts", "hints"}}."""
    if os.environ.get("COURSE_PROGRESS") == "off":
        return dict(_in_memory)
    try:
        return _read(learners_folder() / FILE, say)
    except OSError:  # there, but not to be read just now
        return dict(_in_memory)


def _read(path, say):
    try:
        tasks = json.loads(path.read_text(encoding="utf-8"))["tasks"]
        if not isinstance(tasks, dict) or not all(map(_is_entry, tasks.values())):
            raise ValueError
        return tasks
    except FileNotFoundError:
        return dict(_in_memory)
    except (ValueError, KeyError, TypeError, RecursionError):
        return _set_aside(path, say)


def _is_entry(entry):
    if not isinstance(entry, dict) or entry.get("state", STATES[0]) not in STATES:
        return False
    counts = [entry.get("attempts", 0), entry.get("hints", 0)]
    return isinstance(entry.get("passed", False), bool) and all(isinstance(n, int) and n >= 0 for n in counts)


def _set_aside(path, say):
    names = (path.with_name(f"progress-damaged-{n}.json") for n in count(1))
    aside = next(name for name in names if not name.exists())
    os.replace(path, aside)
    say(f"The file with your progress could not be read. It is kept as {aside.name} beside it; a new one is begun.")
    return {}


def change(task, alter, say=print):
    """Apply `alter` to the task's entry (a dict, empty at first) and keep the result. Returns the entry."""
    path = learners_folder() / FILE
    if os.environ.get("COURSE_PROGRESS") != "off":
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            with FileLock(path.with_suffix(".lock"), timeout=5):
                tasks = _read(path, say)
                entry = tasks.setdefault(task, {})
                alter(entry)
                write(path, json.dumps({"tasks": dict(sorted(tasks.items()))}, indent=1))
            return entry
        except (OSError, Timeout):
            if not _in_memory:
                say(f"Your progress cannot be written to {path.parent}: it is kept only until this notebook closes.")
    entry = _in_memory.setdefault(task, {})
    alter(entry)
    return entry
