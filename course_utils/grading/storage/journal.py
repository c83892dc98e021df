"""The journal of a grading: a line of JSON for each result, append-only. Kill anything at any time and carry on.

A header, of which the last counts, says what holds for all: the seed, when grading began, the locks, the lessons that count. A line cut off in
the middle, by a kill or a full disk, is dropped when the journal is opened; what it held is graded again.
"""

import json
import os
from collections.abc import Sequence
from contextlib import contextmanager
from datetime import datetime, timezone
from pathlib import Path

from filelock import FileLock, Timeout

from course_utils.base.errors import CourseError
from course_utils.base.files import must_be_ordinary
from course_utils.grading.storage.record import Result

NAME, LOCK = "journal.jsonl", "journal.lock"
VERSION = 1
BEGINNING = b'{"journal":'  # of the first line
GAVE_UP = "Grading it ended the grader's own process"  # begins the problem of a result that is tried again next time
LONGEST = 2**24  # bytes of a line that is read; what is written is far shorter, see `Result.fitted`


class JournalError(CourseError):
    """One sentence for whoever grades, shown as it is."""


class Journal:
    """Results by key, on disk; only their positions are in memory. A context manager, for one process at a time.

    Args:
        folder: the folder of results, created if missing.
    """

    def __init__(self, folder: Path):
        self.folder, self._path, self._places = Path(folder), Path(folder) / NAME, {}
        self.header = {}

    def __enter__(self):
        with cannot_write(self.folder):
            self.folder.mkdir(parents=True, exist_ok=True)
            self._refuse_links()
            self._lock = FileLock(self.folder / LOCK, timeout=0.1)
            try:
                self._lock.acquire()
            except Timeout:
                raise JournalError(
                    f"{self.folder} is being written by another grading: wait for it, or name another --out."
                ) from None
            try:
                if self._path.exists():
                    must_be_ordinary(self._path)
                self._file = open(self._path, "a+b", buffering=0)  # noqa: SIM115
            except BaseException:
                self._lock.release()
                raise
        try:
            self._index_results()
            self._reader = open(self._path, "rb")  # noqa: SIM115
        except BaseException:
            self._file.close()
            self._lock.release()
            raise
        return self

    def __exit__(self, *_):
        self._reader.close()
        self._file.close()
        self._lock.release()

    def _refuse_links(self):
        for path in (self._path, self.folder / LOCK):
            if path.is_symlink():  # it may lead anywhere
                raise JournalError(
                    f"{path} is a link, which is not written through: remove it, or choose another --out."
                )

    def _index_results(self):
        """Find the position of each result, and cut off an unfinished last line."""
        good = 0
        with open(self._path, "rb") as file:
            while (line := file.readline(LONGEST)).endswith(b"\n"):
                try:
                    self._index_line(json.loads(line), good)
                except (ValueError, KeyError, TypeError, RecursionError):
                    raise self._foreign_error(good) from None
                good += len(line)
        if len(line) == LONGEST or (good == 0 and not (line.startswith(BEGINNING) or BEGINNING.startswith(line))):
            raise self._foreign_error(good)
        if line:
            with cannot_write(self._path):
                self._file.truncate(good)
        self._end = good

    def _index_line(self, plain, place):
        if place == 0 and plain["journal"] != VERSION:
            raise JournalError(
                f"{self._path} was written by another version of the course: grade with that, or name another --out."
            )
        if "journal" in plain:
            datetime.fromisoformat(plain["began"])
            lessons = plain.get("lessons", [])
            if type(plain["seed"]) is not int or not all(isinstance(lesson, str) for lesson in lessons):
                raise TypeError
            self.header = plain
        elif not (result := Result.from_json(plain)).problem.startswith(GAVE_UP):
            self._places[bytes.fromhex(result.key)] = place

    def _foreign_error(self, place):
        return JournalError(
            f"{self._path} holds something else than a grading's results (at byte {place:,}): move it away, or name "
            "another --out."
        )

    def begin(self, seed: int, layers: str, lessons: Sequence[str] = ()) -> None:
        """Write the header if there is none yet or it has changed."""
        began = self.header.get("began") or datetime.now(timezone.utc).replace(microsecond=0).isoformat()
        header = {"journal": VERSION, "seed": seed, "began": began, "layers": layers, "lessons": list(lessons)}
        if header != self.header:
            self._append(json.dumps(header, separators=(",", ":")).encode() + b"\n")
            self.header = header

    @property
    def began(self) -> datetime:
        """When grading began, with its time zone."""
        return datetime.fromisoformat(self.header["began"])

    def add(self, result: Result) -> None:
        """Keep a result; it is in the operating system's hands when this returns. A second one with the same key is dropped."""
        key, place = bytes.fromhex(result.key), self._end
        if key not in self._places:
            self._append(result.fitted().line())
            self._places[key] = place

    def _append(self, line):
        with cannot_write(self._path):
            left = memoryview(line)
            while left:
                left = left[self._file.write(left) :]
        self._end += len(line)

    def sync(self) -> None:
        """Wait until everything is on disk."""
        with cannot_write(self._path):
            os.fsync(self._file.fileno())

    def __contains__(self, key: str) -> bool:
        return bytes.fromhex(key) in self._places

    def __len__(self) -> int:
        return len(self._places)

    def __getitem__(self, key: str) -> Result:
        self._reader.seek(self._places[bytes.fromhex(key)])
        return Result.from_json(json.loads(self._reader.readline()))


@contextmanager
def cannot_write(path: Path):
    """Turn an OSError from writing there into a sentence that says what to do."""
    try:
        yield
    except OSError as error:
        raise JournalError(
            f"{error.filename or path} cannot be written ({error.strerror}): make room or name another --out, and run "
            "the same command again."
        ) from None
