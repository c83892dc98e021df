"""Tables: what is in their cells, their headings for those who hear them, and that plain text is aligned."""

from xml.etree import ElementTree

import pytest
import torch

from course_utils.base.errors import CourseError
from course_utils.figures.tables import table


def test_each_kind_of_cell_is_written_in_its_own_way():
    shown = table({"a": [0.25, 3, True, "none", [0.5, 1.0]]}, ["decimal", "whole", "truth", "text", "runs"], digits=2)
    assert shown.lines[1] == ["a", "0.25", "3", "yes", "none", "0.75 [0.50 to 1.00]"]


def test_runs_by_columns_give_each_column_its_mean_and_spread():
    shown = table({"sum": torch.tensor([[0.0, 1.0], [0.5, 1.0]])}, ["first", "second"], digits=1)
    assert shown.lines[1] == ["sum", "0.2 [0.0 to 0.5]", "1.0 [1.0 to 1.0]"]


def test_numbers_of_a_tensor_are_a_cell_each():
    assert table({"a": torch.tensor([1, 2])}, ["x", "y"]).lines[1] == ["a", "1", "2"]
    assert table({"a": torch.tensor([True, False])}, ["x", "y"]).lines[1] == ["a", "yes", "no"]
    assert table({"a": [torch.tensor(0.5, requires_grad=True)]}, ["x"]).lines[1] == ["a", "0.500"]


def test_plain_text_is_aligned():
    shown = table({"sum": [0.5, 10], "attention": [0.75, 9]}, ["accuracy", "n"], corner="model", caption="Two models")
    assert repr(shown).split("\n") == [
        "Two models",
        "model      accuracy   n",
        "sum           0.500  10",
        "attention     0.750   9",
    ]


def test_html_has_headings_for_rows_and_columns_and_is_safe():
    shown = table({"x < y": [1.0]}, ["a & b"], corner="name", caption="What <is> less")
    root = ElementTree.fromstring(shown._repr_html_())
    assert [(th.text, th.get("scope")) for th in root.iter("th")] == [
        ("name", "col"),
        ("a & b", "col"),
        ("x < y", "row"),
    ]
    assert root.find("caption").text == "What <is> less" and [td.text for td in root.iter("td")] == ["1.000"]


def test_the_heading_of_a_table_has_no_empty_cell():
    root = ElementTree.fromstring(table({"a": [1.0]}, ["x"])._repr_html_())
    assert [th.text for th in root.iter("th")] == ["x", "a"] and len(root.findall(".//tr/*")) == 4


def test_a_spread_is_not_broken_over_two_lines():
    assert "0.750 [0.500\u00a0to\u00a01.000]" in table({"a": [[0.5, 1.0]]}, ["x"])._repr_html_()


@pytest.mark.parametrize(
    ("cells", "said"),
    [
        ([1.0, 2.0], "has 2 cells, but the columns are x: give a list"),
        ("abc", "has a text"),
        (torch.ones(5), "has 5 cells"),
    ],
)
def test_a_row_of_another_length_is_refused(cells, said):
    with pytest.raises(CourseError, match=said):
        table({"a": cells}, ["x"])


def test_a_table_has_space_a_rule_and_one_bold_number():
    shown = table({"a": [1.0, 2.0], "b": [3.0, 4.0]}, ["x", "y"], digits=0, bold=[("b", "x")])
    html = shown._repr_html_()
    assert html.count("<b>") == 1 and "<b>3</b>" in html and "<b>" not in repr(shown)
    root = ElementTree.fromstring(html)
    assert "border-bottom" in root.find("thead").get("style")
    assert all("padding:" in cell.get("style") for cell in root.iter("td") if cell.text)
