"""Keeps a learner's progress in one small JSON file in the course folder. Judges and shows nothing.

Two notebooks may write at once: every change reads, alters and replaces the file under a lock. A damaged file is
set aside, never overwritten. `save` and `load` carry it to another computer. COURSE_HOME names another folder; COURSE_PROGRESS=off keeps nothing.
"""

import hashlib
import json
import os
import re
import secrets
from itertools import count
from pathlib import Path

from filelock import FileLock, Timeout

from course_utils.base.errors import CourseError
from course_utils.base.files import write
from course_utils.base.paths import learners_folder

STATES = ("not attempted", "error", "failed", "passed")
FIELDS = ("state", "passed", "attempts", "hints")  # of an entry
FILE = Path(".course") / "progress.json"
LARGEST = 1_000_000  # bytes of a file to load
ID = re.compile(r"\d\d\.\w{1,80}")
DAMAGE = (ValueError, KeyError, TypeError, AttributeError, RecursionError)  # what reading a damaged file may raise
_in_memory = {}  # used if nothing can or should be written
_unwritable = set()  # folders the learner was warned about
_new_seed = secrets.randbits(31)  # for a learner without one


def read(say=print):
    """Return the entries of tasks and questions, as {id: {"state", "passed", "attempts", "hints"}}."""
    if os.environ.get("COURSE_PROGRESS") == "off":
        return dict(_in_memory)
    try:
        return _read_file(learners_folder() / FILE, say)["tasks"]
    except OSError:  # it exists but cannot be read just now
        return dict(_in_memory)


def _read_file(path, say):
    """Return {"seed": the seed that shuffles this learner's questions, "tasks": what `read` returns}."""
    try:
        return _parse(path.read_bytes())
    except FileNotFoundError:
        return {"seed": _new_seed, "tasks": dict(_in_memory)}
    except DAMAGE:
        return _set_aside(path, say)


def _parse(data):
    """Return the progress in a file's bytes, even with a byte order mark or in UTF-16. Raises one of DAMAGE if there is none."""
    saved = json.loads(data)
    tasks, seed = saved["tasks"], saved.get("seed", _new_seed)
    if type(seed) is not int or not isinstance(tasks, dict) or not all(map(_is_entry, tasks.values())):
        raise ValueError
    return {"seed": seed, "tasks": tasks}


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


def save(path):
    """Write all progress to a file that can be taken elsewhere. Raises `CourseError` if a file of that name holds something else."""
    path = Path(path)
    if path.exists():
        _read_saved(path)
    try:
        saved = {"seed": seed(), "tasks": dict(sorted(read().items()))}
        write(path, json.dumps(saved, indent=1))
    except OSError as error:
        raise CourseError(f"{path} cannot be written ({error.strerror}): name a file in another folder.") from None


def load(path, say=print):
    """Add the progress in such a file to the progress here; for each task the better counts. Raises `CourseError`."""
    loaded = _read_saved(Path(path))

    def add(tasks):
        for task, entry in loaded["tasks"].items():
            tasks[task] = _merge(tasks.get(task, {}), entry)

    if os.environ.get("COURSE_PROGRESS") == "off" or _change_file(add, say, loaded["seed"]) is None:
        add(_in_memory)


def _read_saved(path):
    """Return a file's progress, known fields only. Raises `CourseError` if it has none."""
    try:
        with open(path, "rb") as file:
            data = file.read(LARGEST + 1)
        if len(data) > LARGEST:
            raise ValueError
        saved = _parse(data)
        if not 0 <= saved["seed"] < 2**63 or not all(map(ID.fullmatch, saved["tasks"])):
            raise ValueError
        tasks = {
            task: {field: entry[field] for field in FIELDS if field in entry} for task, entry in saved["tasks"].items()
        }
        return {"seed": saved["seed"], "tasks": tasks}
    except OSError as error:
        raise CourseError(
            f"{path} cannot be read ({error.strerror}): name the file that `progress(save=...)` has written, beside this notebook or with its folder."
        ) from None
    except DAMAGE:
        raise CourseError(
            f"{path} holds something else than progress that `progress(save=...)` has written: name another file. Nothing was changed."
        ) from None


def _merge(mine, other):
    """Return the entry with the better state and the larger counts."""
    better = {**other, **mine}
    for field, rank in (("state", STATES.index), ("passed", bool), ("attempts", int), ("hints", int)):
        if found := [entry[field] for entry in (mine, other) if field in entry]:
            better[field] = max(found, key=rank)
    return better


def answer_digest(cell: str) -> str:
    """Return a digest of the cell that defined an answer, which shows whether it has changed since its check."""
    indent = re.match(r"\n*([ \t]*)", cell)[1]  # of the first line, which the kernel removes
    text = re.sub(rf"^{indent}", "", cell, flags=re.MULTILINE) if indent else cell
    return hashlib.sha256(text.strip().encode(errors="replace")).hexdigest()[:16]


def seed(say=print):
    """Return the seed that shuffles this learner's questions; always 0 if no progress is kept."""
    if os.environ.get("COURSE_PROGRESS") == "off":
        return 0
    saved = _change_file(lambda tasks: None, say)
    return saved["seed"] if saved else _new_seed


def change(task, alter, say=print):
    """Apply `alter` to the task's entry (a dict, empty at first) and keep the result. Returns the entry."""
    saved = (
        _change_file(lambda tasks: alter(tasks.setdefault(task, {})), say)
        if os.environ.get("COURSE_PROGRESS") != "off"
        else None
    )
    if saved:
        return saved["tasks"][task]
    entry = _in_memory.setdefault(task, {})
    alter(entry)
    return entry


def _change_file(alter, say, seed=None):
    """Alter the tasks in the file; return its new content, None if it cannot be written. `seed` is used if it has no tasks yet."""
    place = "the notebook's folder"
    try:
        path = learners_folder() / FILE
        place = path.parent
        path.parent.mkdir(parents=True, exist_ok=True)
        with FileLock(path.with_suffix(".lock"), timeout=5):
            saved = _read_file(path, say)
            if seed is not None and not saved["tasks"]:
                saved["seed"] = seed
            alter(saved["tasks"])
            write(path, json.dumps({**saved, "tasks": dict(sorted(saved["tasks"].items()))}, indent=1))
        return saved
    except (OSError, Timeout):
        if place not in _unwritable:
            _unwritable.add(place)
            say(f"Your progress cannot be written to {place}: it is kept only until this notebook closes.")
        return None
