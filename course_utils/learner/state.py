"""Keeps what a learner has reached: one small JSON file in the course folder. Judges and shows nothing.

Two notebooks may write at once: every change reads, alters and replaces the file under a lock. A damaged file is
set aside, never overwritten. COURSE_HOME names another folder; COURSE_PROGRESS=off keeps nothing.
"""

import json
import os
import secrets
from itertools import count
from pathlib import Path

from filelock import FileLock, Timeout

from course_utils.base.files import write
from course_utils.base.places import learners_folder

STATES = ("not attempted", "error", "failed", "passed")
FILE = Path(".course") / "progress.json"
_in_memory = {}  # serves where nothing can or shall be written
_new_seed = secrets.randbits(31)  # for who has none yet


def read(say=print):
    """Return what is kept, as {id: {"state", "passed", "attempts", "hints"}} for tasks and questions, {id: {"guess"}} for predictions."""
    if os.environ.get("COURSE_PROGRESS") == "off":
        return dict(_in_memory)
    try:
        return _read(learners_folder() / FILE, say)["tasks"]
    except OSError:  # there, but not to be read just now
        return dict(_in_memory)


def _read(path, say):
    """Return {"seed": the number that this learner's questions are shuffled by, "tasks": what `read` returns}."""
    try:
        kept = json.loads(path.read_text(encoding="utf-8"))
        tasks, seed = kept["tasks"], kept.get("seed", _new_seed)
        if type(seed) is not int or not isinstance(tasks, dict) or not all(map(_is_entry, tasks.values())):
            raise ValueError
        return {"seed": seed, "tasks": tasks}
    except FileNotFoundError:
        return {"seed": _new_seed, "tasks": dict(_in_memory)}
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
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
    say(
        f"The file with your progress could not be read. It is kept as {aside.name} beside it, and a new one is started."
    )
    return {"seed": _new_seed, "tasks": {}}


def seed(say=print):
    """Return the number that this learner's questions are shuffled by; always 0 where no progress is kept."""
    if os.environ.get("COURSE_PROGRESS") == "off":
        return 0
    kept = _changed(lambda tasks: None, say)
    return kept["seed"] if kept else _new_seed


def change(task, alter, say=print):
    """Apply `alter` to the task's entry (a dict, empty at first) and keep the result. Returns the entry."""
    kept = (
        _changed(lambda tasks: alter(tasks.setdefault(task, {})), say)
        if os.environ.get("COURSE_PROGRESS") != "off"
        else None
    )
    if kept:
        return kept["tasks"][task]
    entry = _in_memory.setdefault(task, {})
    alter(entry)
    return entry


def _changed(alter, say):
    """Alter the tasks in the file; return all that is in it then, None where it cannot be written."""
    path = learners_folder() / FILE
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with FileLock(path.with_suffix(".lock"), timeout=5):
            kept = _read(path, say)
            alter(kept["tasks"])
            write(path, json.dumps({**kept, "tasks": dict(sorted(kept["tasks"].items()))}, indent=1))
        return kept
    except (OSError, Timeout):
        if not _in_memory:
            say(f"Your progress cannot be written to {path.parent}: it is kept only until this notebook closes.")
        return None
