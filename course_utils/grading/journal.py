"""The journal of a grading: a line of JSON for each result, only ever added to. Kill anything at any time and go on.

The first line says what holds for all: the seed, when grading began, which locks were on. A line that was cut off in
the middle, by a kill or a full disk, is dropped when the journal is opened; what it held is graded again.
"""

import json
import os
from datetime import datetime, timezone
from pathlib import Path

from filelock import FileLock, Timeout

from course_utils.grading.record import Result

NAME = "journal.jsonl"
VERSION = 1


class JournalError(Exception):
    """One sentence for whoever grades, shown as it is."""


class Journal:
    """Results by key, on disk; in memory only where each stands. A context manager, for one process at a time.

    Args:
        folder: the folder of results, made where there is none.
    """

    def __init__(self, folder: Path):
        self.folder, self._path, self._places = Path(folder), Path(folder) / NAME, {}
        self.header = {}

    def __enter__(self):
        self.folder.mkdir(parents=True, exist_ok=True)
        self._lock = FileLock(self.folder / "journal.lock", timeout=0.1)
        try:
            self._lock.acquire()
        except Timeout:
            raise JournalError(
                f"{self.folder} is being written by another grading: wait for it, or name another --out."
            ) from None
        self._file = open(self._path, "a+b")  # noqa: SIM115
        try:
            self._read()
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_):
        self._file.close()
        self._lock.release()

    def _read(self):
        self._file.seek(0)
        good = 0
        for line in self._file:
            if not line.endswith(b"\n"):
                break
            try:
                plain = json.loads(line)
                if "journal" in plain:
                    self.header = plain
                else:
                    self._places[bytes.fromhex(plain["key"])] = good
            except (ValueError, KeyError, TypeError):
                raise JournalError(
                    f"{self._path} holds a line that is no result (at byte {good}): move it away, or name another --out."
                ) from None
            good += len(line)
        if good == 0 and self._file.tell() > 0:
            raise JournalError(f"{self._path} is not a journal: move it away, or name another --out.")
        self._file.truncate(good)
        self._end = good

    def begin(self, seed: int, layers: str) -> None:
        """Write the header, where there is none yet or it says something else."""
        if (self.header.get("seed"), self.header.get("layers")) == (seed, layers):
            return
        began = self.header.get("began") or datetime.now(timezone.utc).replace(microsecond=0).isoformat()
        self.header = {"journal": VERSION, "seed": seed, "began": began, "layers": layers}
        self._append(self.header)

    @property
    def began(self) -> datetime:
        """When grading began, with its time zone."""
        return datetime.fromisoformat(self.header["began"])

    def add(self, result: Result) -> None:
        """Keep a result; it is in the operating system's hands when this returns."""
        self._places[bytes.fromhex(result.key)] = self._end
        self._append(result.to_json())

    def _append(self, plain):
        line = json.dumps(plain, separators=(",", ":")).encode() + b"\n"
        try:
            self._file.write(line)
            self._file.flush()
        except OSError as error:
            raise JournalError(
                f"{self._path} cannot be written ({error.strerror}): make room, and run the same command again."
            ) from None
        self._end += len(line)

    def sync(self) -> None:
        """Wait until the disk has it all."""
        os.fsync(self._file.fileno())

    def __contains__(self, key: str) -> bool:
        return bytes.fromhex(key) in self._places

    def __len__(self) -> int:
        return len(self._places)

    def __getitem__(self, key: str) -> Result:
        self._file.seek(self._places[bytes.fromhex(key)])
        return Result.from_json(json.loads(self._file.readline()))
