"""Reads what an instructor has written as a table: CSV, separated by commas, semicolons or tabs, in UTF-8 or Excel's UTF-16."""

import csv
import io
import re
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from course_utils.base.errors import CourseError

LARGEST = 50_000_000  # bytes


class TableError(CourseError):
    """One sentence for whoever grades, shown as it is."""


def rows_of(path: Path, what: str) -> Iterator[tuple[int, list[str]]]:
    """Give (line, fields without blanks around them) of a table. Raises `TableError`, which begins with `what` it is."""
    try:
        with open(path, "rb") as file:
            data = file.read(LARGEST + 1)
    except OSError as error:
        raise TableError(f"{what} {path} cannot be read ({error.strerror}).") from None
    if len(data) > LARGEST:
        raise TableError(f"{what} {path} has more than {LARGEST // 10**6} MB: is it the right file?")
    try:
        text = data.decode("utf-16" if data[:2] in (b"\xff\xfe", b"\xfe\xff") else "utf-8-sig")
    except UnicodeDecodeError:
        raise TableError(f"{what} {path} is not UTF-8: save it as CSV UTF-8.") from None
    first = text.partition("\n")[0]
    skip = re.match(r"sep=(.)\s*$", first, re.I)  # a line that Excel understands
    delimiter = skip[1] if skip else max(",;\t", key=first.count)
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter)
    try:
        for row in reader:
            if not (skip and reader.line_num == 1):
                yield reader.line_num, [field.strip() for field in row]
    except csv.Error as error:
        raise TableError(f"{path}, line {reader.line_num}: {error}.") from None


def records(path: Path, what: str, columns: tuple[str, ...]) -> Iterator[tuple[int, dict[str, str]]]:
    """Give (line, {column: field}) of a table whose first line names some of the columns, the first of them among these."""
    rows = rows_of(path, what)
    header = [name.lower() for name in next(rows, (0, []))[1]]
    odd = next((name for name in header if name not in columns or header.count(name) > 1), "")
    if columns[0] not in header or odd:
        names = ", ".join(filter(None, header)) or "nothing"
        raise TableError(
            f"{path}: its first line must name columns of {', '.join(columns)}, each once, it holds {names}."[:500]
        )
    for line, fields in by_column(path, header, rows):
        yield line, dict.fromkeys(columns, "") | fields


def by_column(path: Path, header: Sequence[str], rows: Iterable[tuple[int, list[str]]]) -> Iterator[tuple[int, dict]]:
    """Give (line, {column: field}) of each row that holds anything. Raises `TableError` for one that is longer than the header."""
    for line, row in rows:
        if len(row) > len(header) and any(row[len(header) :]):
            raise TableError(
                f"{path}, line {line}: {len(row)} fields where the header has {len(header)}: quote a field that holds a comma."
            )
        if any(row):
            yield line, dict(zip(header, [*row, *[""] * len(header)], strict=False))
