"""Measurements that take longer than a lesson may: each a table in `measured_tables`, written by a program in `benchmarks`.

length.csv      benchmarks/length.py    right words against the length of a sentence, through one vector
"""

import csv
from pathlib import Path

from course_utils.base.errors import CourseError

FOLDER = Path(__file__).with_name("measured_tables")


def measured(table: str, value: str, along: str, **where) -> tuple[list[float], list[list[float]]]:
    """Return what was measured along a column: its values in order, and for each seed the numbers measured there.

    Args:
        table: the table's name, such as "length".
        value: the column that was measured.
        along: the column that it was measured against.
        where: what other columns must hold, such as order="monotone".

    Raises:
        CourseError: for a table or column that is not there, or where nothing fits.
    """
    path = FOLDER / f"{table}.csv"
    if not path.is_file():
        raise CourseError(
            f"there is no table {table!r}: there are {', '.join(sorted(p.stem for p in FOLDER.glob('*.csv')))}"
        )
    with path.open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    if unknown := [name for name in (value, along, *where) if name not in rows[0]]:
        raise CourseError(f"the table {table!r} has no column {unknown[0]!r}: it has {', '.join(rows[0])}")
    rows = [row for row in rows if all(row[name] == str(wanted) for name, wanted in where.items())]
    if not rows:
        raise CourseError(f"nothing in the table {table!r} has {', '.join(f'{k} = {v}' for k, v in where.items())}")
    runs = {}
    for row in rows:
        runs.setdefault(row["seed"], {})[float(row[along])] = float(row[value])
    places = sorted(next(iter(runs.values())))
    return places, [[run[place] for place in places] for run in runs.values()]
