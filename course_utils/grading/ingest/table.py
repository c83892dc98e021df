"""Reads an instructor's tables: CSV, separated by commas, semicolons or tabs, in UTF-8 or Excel's UTF-16.

Reading is strict: a quote that is not closed would swallow the rows below it, and with them another student's marks.
"""

import csv
import io
import re
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

from course_utils.base.errors import CourseError
from course_utils.base.files import must_be_ordinary
from course_utils.base.sanitise import cut
from course_utils.grading.storage.normalise import identifier

LARGEST = 50_000_000  # bytes
COLUMNS_AT_MOST = 1000
Row = tuple[int, dict[str, str]]  # the line, and {name: field}
ROWS_NAMED = 10  # that are wrong, in one message
DELIMITERS = ",;\t"
HOW_TO_QUOTE = (
    "A field that holds a comma, a quote or a line break must begin and end with a quote, and each quote inside it must be "
    'written twice, as in "She said ""yes"", at last".'
)


class TableError(CourseError):
    """One sentence for whoever grades, shown as it is."""


def table(
    path: Path, what: str, is_row: Callable[[dict], bool] | None = None
) -> tuple[list[str], Iterator[tuple[int, dict[str, str]]]]:
    """Return the names in a table's first line and an iterator over (line, {name: stripped field}) of the rows that are not empty.

    Args:
        path: the file.
        what: its name in messages, such as "The roster".
        is_row: says whether the fields of a line inside a quoted text look like a row of this table; if left out, as many fields as
            in the first line do.

    Raises:
        TableError: the file cannot be read, or a row has an unclosed quote, more fields than the header or another separator, or
            has swallowed the next one.
    """
    rows, delimiter = _rows(path, what)
    names = next(rows, (0, []))[1]
    if len(names) > COLUMNS_AT_MOST:
        raise TableError(
            f"{what} {path} has {len(names):,} columns, at most {COLUMNS_AT_MOST:,} are read: is it the right file?"
        )
    header = [identifier(name) for name in names]
    return header, _by_column(path, header, rows, delimiter, is_row or (lambda fields: len(fields) >= len(header) > 1))


def take_all(rows: Iterable[Row], take: Callable[[int, dict], None]) -> None:
    """Call take(line, fields) for each row. Raises one error for all rows that are wrong, with a line of text for each."""
    errors = []
    try:
        for line, fields in rows:
            try:
                take(line, fields)
            except CourseError as error:
                errors.append(error)
    except CourseError as error:  # the rows below cannot be read
        errors.append(error)
    raise_all(errors)


def raise_all(errors: list[CourseError]) -> None:
    """Raise one error, of the first one's type, that says what all of them say; nothing if there are none."""
    if errors:
        more = [f"{len(errors) - ROWS_NAMED:,} more rows are wrong."] if len(errors) > ROWS_NAMED else []
        raise type(errors[0])("\n".join([*map(str, errors[:ROWS_NAMED]), *more])) from None


def _rows(path, what):
    """Return an iterator over (first line, fields) of each row, and the delimiter."""
    text = _text(path, what)
    first = text.partition("\n")[0]
    named = re.match(r"sep=(.)\s*$", first, re.I)  # a line that Excel understands
    unquoted = re.sub('"[^"]*"', "", first)
    delimiter = named[1] if named else max(DELIMITERS, key=unquoted.count)
    # `strict` refuses a quote that is never closed, or only by the next row's; blanks before a quote are not text.
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True, skipinitialspace=True)

    def rows():
        while True:
            line = reader.line_num + 1
            try:
                row = next(reader, None)
            except csv.Error as error:
                raise TableError(
                    f"{path}, line {line}: the row that begins here has a field with an opening quote and no closing quote "
                    f"at its end ({error}). {HOW_TO_QUOTE}"
                ) from None
            if row is None:
                return
            if not (named and line == 1):
                yield line, [field.strip() for field in row]

    return rows(), delimiter


def _by_column(path, header, rows, delimiter, is_row):
    for line, row in rows:
        where = f"{path}, line {line}"
        if len(row) > len(header) and any(row[len(header) :]):
            raise TableError(
                f"{where}: {len(row)} fields where the header has {len(header)}: quote a field that holds a comma."
            )
        if len(row) == 1 < len(header) and re.search(f"[{DELIMITERS.replace(delimiter, '')}]", row[0]):
            raise TableError(
                f"{where}: one field where the header has {len(header)}, {cut(row[0], 60)!r}: separate the fields of every row "
                f"by {delimiter!r}, as in the header."
            )
        texts = (text for field in row for text in re.split(r"\r\n?|\n", field)[1:])
        for number, inside in enumerate(texts, line + 1):
            cells = [cell.strip('" ') for cell in inside.split(delimiter)]
            if is_row(dict(zip(header, cells, strict=False))):  # not shown: it may be another student's
                raise TableError(
                    f"{where}: a quoted field of this row goes on over line {number}, which looks like another row. Close "
                    f"its quote before that; if it is part of the field, write the field on one line. {HOW_TO_QUOTE}"
                )
        copied = [field.lower() for field in row] == [name.lower() for name in header]  # the header, copied with rows
        if any(row) and not copied:
            yield line, dict(zip(header, [*row, *[""] * len(header)], strict=False))


def _text(path, what):
    try:
        must_be_ordinary(path)
        with open(path, "rb") as file:
            data = file.read(LARGEST + 1)
    except OSError as error:
        raise TableError(f"{what} {path} cannot be read ({error.strerror}).") from None
    if len(data) > LARGEST:
        raise TableError(f"{what} {path} has more than {LARGEST // 10**6} MB: is it the right file?")
    try:
        text = data.decode("utf-16" if data[:2] in (b"\xff\xfe", b"\xfe\xff") else "utf-8")
    except UnicodeDecodeError:
        raise TableError(f"{what} {path} is not UTF-8: save it as CSV UTF-8.") from None
    if "\0" in text:
        line = text.count("\n", 0, text.index("\0")) + 1
        raise TableError(f"{what} {path} is no table: line {line} holds a zero byte. Save it as CSV UTF-8.")
    return text.replace("\ufeff", "")  # byte order marks, even where one file was copied below another


def records(
    path: Path, what: str, columns: tuple[str, ...], is_row: Callable[[dict], bool] | None = None
) -> Iterator[tuple[int, dict[str, str]]]:
    """Yield (line, {column: field}) of a table as `table` reads it; its first line names some of the columns, including the first."""

    def lower(fields):
        return dict.fromkeys(columns, "") | {name.lower(): field for name, field in fields.items()}

    header, rows = table(path, what, is_row and (lambda fields: is_row(lower(fields))))
    header = [name.lower() for name in header]
    odd = next((name for name in header if name not in columns or header.count(name) > 1), "")
    if columns[0] not in header or odd:
        names = ", ".join(filter(None, header)) or "nothing"
        raise TableError(
            f"{path}: its first line must name columns of {', '.join(columns)}, each once, it holds {names}."[:500]
        )
    for line, fields in rows:
        yield line, lower(fields)
