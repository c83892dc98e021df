"""Differences between measured runs are taken seed by seed, in whatever order a table has its rows."""

import importlib
import random

import pytest

from course_utils.data import measured
from course_utils.models import attention_report


def figures(name):
    return importlib.import_module(f"course_lessons.{name}.figures")


DIFFERENCES = {
    "balance": lambda: figures("lesson_18_mixture_of_experts").ways_to_balance()._repr_html_(),
    "translators": lambda: figures("lesson_18_mixture_of_experts").compare_layers()._repr_html_(),
    "variants": lambda: str(attention_report.Report("mine", {}, {"once": [[0.5, 0.4, 0.3], [0.6, 0.5, 0.4]]})),
}


@pytest.mark.parametrize("table", DIFFERENCES)
def test_the_order_of_the_rows_changes_no_difference(table, monkeypatch, tmp_path):
    names, *rows = (measured.FOLDER / f"{table}.csv").read_text(encoding="utf-8").splitlines()
    expected = DIFFERENCES[table]()
    random.Random(0).shuffle(rows)
    (tmp_path / f"{table}.csv").write_text("\n".join([names, *rows]), encoding="utf-8")
    monkeypatch.setattr(measured, "FOLDER", tmp_path)
    assert DIFFERENCES[table]() == expected
