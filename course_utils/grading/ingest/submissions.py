"""Finds what was handed in and by whom, from files, folders and the roster.

    flat                   alice.ipynb                                  the student is the file's name
    a folder a student     alice/03/queries.ipynb, at any depth         the student is the first folder's name
    Canvas                 lovelaceada_LATE_123_4567_queries.ipynb      the student is the part before the number
    Moodle                 Ada Lovelace_123_assignsubmission_file_/…    the same

With a roster, names are looked up there: by the column `file`, then the student, then Canvas's number in a
column `canvas_id` or `id`, or Moodle's in `id`, and the name. Only a whole name counts: alice_zzz.ipynb is not alice's, since somebody
else may have that name. Nothing is opened here, links are never followed, and two students' work is never merged.
"""

import hashlib
import os
import re
import unicodedata
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

from course_utils.base.errors import CourseError
from course_utils.grading.storage.normalise import comparison_key, displayable, identifier
from course_utils.grading.storage.record import Person

FILES = 100  # of one student that are graded
ENTRIES = 20_000  # files and folders of one student that are looked at
# Files handed in instead of a notebook get a row; tables, settings and logs among them do not.
NO_SUBMISSION = {".csv", ".tsv", ".toml", ".log"}
IGNORED = {"__macosx", "__pycache__", "thumbs.db", "desktop.ini", "icon\r", "timestamp.txt", "readme.md", "readme.txt"}


class SubmissionError(CourseError):
    """One sentence for whoever grades, shown as it is."""


@dataclass(frozen=True)
class Found:
    """One file to be graded, or a student without any."""

    student: str  # identifier, unique in the class
    path: Path  # absolute; the student's folder if there is no file
    file: str  # path below the folder of submissions with "/", fit to be shown; "" if there is none
    note: str = ""  # why there is no file, or what was left out, as a sentence
    # Its bytes, or why it cannot be read; None: not read yet.
    content: bytes | str | None = field(default=None, repr=False)


def find(folder: Path, roster: dict[str, Person] | None = None, skip: Iterable[Path] = ()) -> Iterator[Found]:
    """Find every student's files, students and files in natural order (…_2 before …_10). Raises `SubmissionError`.

    A student has all notebooks found, at most `FILES`, or else one other file, or else one Found without a file.
    Everybody on the roster is included.

    Args:
        folder: the submissions.
        roster: the class, from `read_roster`.
        skip: files and folders that are not submissions, such as the results' folder.
    """
    root = Path(os.path.abspath(folder))
    if root.is_file() and root.suffix == ".ipynb":
        return iter([Found(displayable(root.stem), root, displayable(root.name))])
    if root.is_file():
        raise SubmissionError(f"{folder} is a file: unpack it, and name the folder that holds the notebooks.")
    try:
        with os.scandir(root) as listing:
            entries = [_Entry(e.name, _kind(e)) for e in listing if not _ignored(e.name)]
    except OSError as error:
        raise SubmissionError(
            f"{folder} cannot be listed ({error.strerror}): name the folder of the submissions."
        ) from None
    skipped = {os.path.abspath(path) for path in skip}
    entries = [e for e in entries if os.path.join(root, e.name) not in skipped and _may_be_submission(e, roster)]
    if not entries and not roster:
        raise SubmissionError(f"{folder} holds no submissions: expected notebooks, or a folder for each student.")
    return _in_order(root, _by_student(entries, roster or {}), roster or {}, skipped)


@dataclass(frozen=True)
class _Entry:
    """Something directly below the folder of submissions."""

    name: str
    kind: str  # file, folder, link, other

    @property
    def stem(self):
        return self.name if self.kind == "folder" else os.path.splitext(self.name)[0]


def _kind(entry):
    if entry.is_symlink() or getattr(entry, "is_junction", lambda: False)():
        return "link"
    if entry.is_dir(follow_symlinks=False):
        return "folder"
    return "file" if entry.is_file(follow_symlinks=False) else "other"


def _ignored(name):
    return name.startswith((".", "~$")) or name.lower() in IGNORED


def _may_be_submission(entry, roster):
    return (
        entry.kind == "folder"
        or os.path.splitext(entry.name)[1].lower() not in NO_SUBMISSION
        or entry.stem in (roster or ())
    )


# Who handed it in

# Canvas removes `_123_` from students' names, so the first one is its own; what follows is the file's name, which students choose.
CANVAS = re.compile(r"(?P<who>.+?)_(?P<late>LATE_)?(?P<number>\d{2,})_\d{2,}_", re.S)
# In Moodle, students choose both the name before it and the file's name after it.
MOODLE = re.compile(r"(?P<who>.+?)_(?P<number>\d{2,})_assignsubmission_file", re.S)


@dataclass(frozen=True)
class _Platform:
    """Who handed it in, as a learning platform wrote it into a name."""

    who: str
    number: str
    name: str  # of the platform
    late: bool = False  # whether it marks the submission as late; it never says when it was handed in


def _platform(name):
    """Return what Canvas or Moodle says in a name; None if neither does, or if it can be read in two ways."""
    canvas, moodle = CANVAS.match(name), MOODLE.match(name)
    if moodle and not canvas and name.count("_assignsubmission_file") == 1:
        return _Platform(moodle["who"], moodle["number"], "Moodle")
    if canvas and "_assignsubmission_" not in name:
        return _Platform(canvas["who"], canvas["number"], "Canvas", canvas["late"] is not None)
    return None


def canvas_id(file: str) -> str:
    """Return Canvas's number for the student, from the name of a submission; "" if there is none."""
    platform = _platform(file.split("/")[0])
    return platform.number if platform and platform.name == "Canvas" else ""


def marked_late(file: str) -> bool:
    """Return whether Canvas has marked a submission as late, as in lovelaceada_LATE_123_4567_queries.ipynb."""
    platform = _platform(file.split("/")[0])
    return platform is not None and platform.late


def _by_student(entries, roster):
    """Return {student: entries}. Different names or numbers go to different students, even if the names look alike when shown."""
    known, platform_of = RosterIndex(roster), {entry: _platform(entry.name) for entry in entries}
    platforms, by_path = set(filter(None, platform_of.values())), {entry: known.by_path(entry) for entry in entries}
    handed_in_by_path = set(by_path.values())
    spelt = {entry: known.by_spelling(entry) for entry in entries if by_path[entry] is None}
    alone = Counter(spelt.values())
    # Another spelling is a student's if it is the only one and no entry has exactly the student's name.
    by_path |= {e: s for e, s in spelt.items() if alone[s] == 1 and s not in handed_in_by_path}
    handed_in_by_path |= set(by_path.values())
    # The numbers that share a name, and those that lead to a student on the roster.
    sharing, claims = defaultdict(set), defaultdict(set)
    for platform in platforms:
        sharing[_letters(platform.who)].add(platform.number)
        claims[known.student_of(platform)].add(platform.number)
    # By the student on the roster, by a platform's name and number, or by the entry's own name.
    raw = defaultdict(list)
    for entry in entries:
        platform, student = platform_of[entry], by_path[entry]
        if student is None and platform:
            named = known.student_of(platform)
            alone = len(claims[named]) == 1 and named not in handed_in_by_path
            student = named if known.by_number(platform) or alone else None
        if student is not None:
            raw["roster", student].append(entry)
        elif platform:
            several = len(sharing[_letters(platform.who)]) > 1
            whole = f"{platform.who}_{platform.number}" if several else platform.who
            raw["platform", whole, platform.number].append(entry)
        else:
            raw["path", entry.stem].append(entry)
    taken, students = set(roster), {}
    for key in sorted(raw, key=lambda key: (key[0] != "roster", displayable(key[1]) != key[1], key[1:], key[0])):
        student = key[1] if key[0] == "roster" else _unique(key, taken)
        taken.add(student)
        students[student] = raw[key]
    return students


def _unique(key, taken):
    """Return a key's name, fit to be shown and different from those already taken."""
    shown = displayable(key[1]).strip() or "\ufffd"  # a table keeps no blanks around a name
    if shown not in taken:
        return shown
    mark = hashlib.sha256("\0".join(key[1:]).encode("utf-8", "surrogateescape")).hexdigest()
    return next(name for n in range(8, 65) if (name := f"{shown} [{mark[:n]}]") not in taken)


class RosterIndex:
    """The roster, looked up by whatever a file's name may say."""

    def __init__(self, roster):
        self.roster = roster
        self.files = unambiguous((displayable(p.other.get("file", "").split("/")[0]), s) for s, p in roster.items())
        spelt = {comparison_key(s): s for s in roster}
        self.spellings = (
            unambiguous(
                (comparison_key(file), s) for file, s in self.files.items() if comparison_key(file) not in spelt
            )
            | spelt
        )
        self.numbers = {
            "Canvas": unambiguous((_other(p, "canvas_id") or _other(p, "id"), s) for s, p in roster.items()),
            "Moodle": unambiguous((_other(p, "id"), s) for s, p in roster.items()),
        }
        exact = [(spelt, s) for s, p in roster.items() for spelt in {_letters(s), _letters(p.name)}]
        borne = {spelt for spelt, _ in exact}  # exactly somebody's: such a name belongs to nobody else
        turned = [(spelt, s) for s, p in roster.items() for spelt in _turned(p) - borne]
        self.names = unambiguous(exact + turned)

    def student_of(self, platform):
        """Return the student whom number and name identify, or one of them; None if they identify two."""
        number, name = self.by_number(platform), self.names.get(_letters(platform.who))
        if name and not number and platform.name == "Canvas" and _other(self.roster[name], "canvas_id"):
            return None  # whoever has this name has a different number
        return None if number and name and number != name else number or name

    def by_number(self, platform):
        return self.numbers[platform.name].get(platform.number)

    def by_path(self, entry):
        """Return the student whom an entry's whole name identifies, with or without its extension; or None."""
        for name in (displayable(entry.name), displayable(entry.stem)):
            if student := self.files.get(name) or (name if name in self.roster else None):
                return student
        return None

    def by_spelling(self, entry):
        """Return the student whom a name identifies, ignoring invisible characters, blanks and the case of e-mail addresses; or None."""
        return next(filter(None, (self.spellings.get(comparison_key(name)) for name in (entry.name, entry.stem))), None)

    def resembled(self, student):
        """Return whom a name not on the roster may belong to: the longest identifier that it begins with, else the one with that name; or ""."""
        for end in range(len(student) - 1, 0, -1):
            if not student[end].isalnum() and student[:end] in self.roster:
                return student[:end]
        return self.names.get(_letters(student), "")


def unambiguous(pairs):
    """Return a dict of the pairs whose key is not empty and leads to one student only."""
    found = defaultdict(set)
    for key, student in pairs:
        found[key].add(student)
    return {key: next(iter(students)) for key, students in found.items() if key and len(students) == 1}


def _other(person, column):
    return next((value for name, value in person.other.items() if name.lower() == column), "")


def _turned(person):
    """Return the letters of a name with its words rotated: platforms write the last name first or last."""
    words = person.name.replace(",", " ").split()
    return {_letters("".join(words[i:] + words[:i])) for i in range(len(words))}


def _letters(text):
    """Return a text's letters, digits and their marks: in Hindi or Thai, vowels are marks."""
    text = unicodedata.normalize("NFKC", identifier(text))
    return "".join(c for c in text if c.isalnum() or unicodedata.category(c)[0] == "M").lower()


def natural(text: str) -> list:
    """Return a sorting key that compares numbers as numbers: q2 before q10."""
    parts = re.split(r"([0-9]{1,18})", text)
    return [(int(part), "") if i % 2 else (-1, part.lower()) for i, part in enumerate(parts) if part] + [(-2, text)]


# Which files


def _in_order(root, students, roster, skipped):
    for student in sorted({**roster, **students}, key=natural):
        notebooks, others, notes = [], [], []
        for entry in students.get(student, ()):
            for path, kind in _below(os.path.join(root, entry.name), entry.kind, skipped, notes):
                if kind == "link":
                    notes.append(
                        f"{displayable(os.path.basename(path))} is a link, which is not followed: hand in the file itself."
                    )
                else:
                    is_notebook = path.lower().endswith(".ipynb") and kind != "folder"
                    (notebooks if is_notebook else others).append(path)
        if len(notebooks) > FILES:
            notes.append(f"{len(notebooks)} notebooks were handed in; the last {FILES} are graded.")
        order = lambda path: natural(os.path.splitext(os.path.relpath(path, root))[0])  # noqa: E731
        chosen = sorted(notebooks, key=order)[-FILES:] or sorted(others, key=order)[:1]
        note = " ".join(notes[:3])
        for path in chosen:
            yield Found(student, Path(path), displayable(os.path.relpath(path, root).replace(os.sep, "/")), note)
        if not chosen:
            where = students.get(student)
            nothing = "The folder holds no notebook." if where else "Nothing was handed in."
            yield Found(student, root / where[0].name if where else root, "", note or nothing)


def _below(path, kind, skipped, notes):
    """Return (path, kind) of what can be handed in, here and below; a folder only if it has a notebook's name."""
    waiting, found, seen = [(path, kind)], [], 0
    while waiting:
        path, kind = waiting.pop()
        if path in skipped:
            continue
        if kind != "folder" or path.lower().endswith(".ipynb"):
            found.append((path, kind))
        if kind != "folder":
            continue
        try:
            with os.scandir(path) as listing:
                for entry in listing:
                    seen += 1
                    if seen > ENTRIES:  # which ones come first depends on the order in which this disk lists them
                        notes.append(f"More than {ENTRIES:,} files were handed in: hand in the notebooks alone.")
                        return []
                    if not _ignored(entry.name):
                        waiting.append((entry.path, _kind(entry)))
        except OSError as error:
            notes.append(f"A folder could not be listed ({error.strerror}).")
    return found
