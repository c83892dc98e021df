"""Tests of the lowest layer, `course_utils.base`: trees, files, places, imports."""

import os
import stat
import time
from types import SimpleNamespace

import IPython
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from course_utils.base import progress_bar, trees
from course_utils.base.errors import CourseError
from course_utils.base.files import opened, replacing, write
from course_utils.base.imports import closure, imported
from course_utils.base.paths import chosen, number_of
from course_utils.models.train_model import train_model

LEAVES = st.none() | st.booleans() | st.integers() | st.text(max_size=3)
LISTS = lambda inner: st.lists(inner, max_size=3)  # noqa: E731
DICTS = lambda inner: st.dictionaries(st.text(max_size=2), inner, max_size=3)  # noqa: E731
TREES = st.recursive(LEAVES, lambda inner: LISTS(inner) | LISTS(inner).map(tuple) | DICTS(inner), max_leaves=12)


@given(TREES)
def test_a_tree_keeps_its_form_and_its_leaves(tree):
    assert trees.map_leaves(lambda leaf: leaf, tree) == tree
    assert list(trees.leaves(trees.map_leaves(lambda leaf: [leaf], tree))) == list(trees.leaves(tree))
    assert trees.alike(lambda a, b: a is b or a == b, tree, tree)
    assert list(trees.leaves(tree, 99)) == list(trees.leaves(tree))


def test_trees_that_branch_otherwise_are_not_alike():
    same = lambda a, b: True  # noqa: E731
    assert trees.alike(same, [1, (2, {"a": 3})], (4, [5, {"a": 6}]))
    for a, b in (([1], [1, 2]), ({"a": 1}, {"b": 1}), ([1], 1), ({"a": 1}, [1])):
        assert not trees.alike(same, a, b)


def test_tensors_are_found_and_changed_at_any_depth():
    tree = {"weights": [torch.ones(2), ("name", torch.zeros(1))]}
    assert [tensor.tolist() for tensor in trees.tensors(tree)] == [[1, 1], [0]]
    changed = trees.map_tensors(lambda tensor: tensor + 1, tree)
    assert changed["weights"][1][0] == "name" and changed["weights"][1][1].tolist() == [1]
    with pytest.raises(ValueError, match="inside one another"):
        list(trees.leaves([[[[1]]]], 3))


def test_a_file_is_written_whole_or_not_at_all(tmp_path):
    file = tmp_path / "file"
    assert write(file, "ä") and file.read_bytes() == "ä".encode() and not write(file, "ä".encode())
    with pytest.raises(KeyError), opened(file) as half:
        half.write("half")
        raise KeyError
    with pytest.raises(KeyError), replacing(file) as draft:
        draft.write_bytes(b"half")
        raise KeyError
    assert [(path.name, path.read_text(encoding="utf-8")) for path in tmp_path.iterdir()] == [("file", "ä")]


@pytest.mark.skipif(os.name == "nt", reason="rights are another thing there")
def test_write_leaves_its_file_readable_by_others(tmp_path):
    write(tmp_path / "file", b"x")
    (tmp_path / "plain").write_bytes(b"x")
    assert stat.S_IMODE((tmp_path / "file").stat().st_mode) == stat.S_IMODE((tmp_path / "plain").stat().st_mode)


def test_a_lesson_is_known_by_all_its_names():
    known = ["01_sums", "03_queries"]
    for text in ("3", "03", "03_queries", "notebooks/03_queries.ipynb", "exercises/03_queries_exercises.ipynb"):
        assert chosen([text], known) == ["03_queries"] and chosen([text], ["01", "03"]) == ["03"]
        assert number_of(text) == "03"
    assert chosen(["3", "1", "03"], known) == known
    assert chosen(["3"], ["03_queries", "03_queries-Copy1"]) == ["03_queries"]
    with pytest.raises(CourseError, match="there is no lesson '7' with tasks: the lessons are 01_sums, 03_queries"):
        chosen(["7"], known, " with tasks")


def test_closure_follows_imports_and_skips_files_beside_them(tmp_path):
    room = tmp_path / "course_utils" / "room"
    room.mkdir(parents=True)
    (tmp_path / "course_utils" / "__init__.py").write_text('"""Only words."""\n')
    (room / "__init__.py").write_text("x = 1\n")
    (room / "one.py").write_text("def f():\n    from . import two\n")
    (room / "two.py").write_text("import course_utils.room.one\n")  # a circle ends, too
    (room / "beside.py").write_text("")
    found = closure(tmp_path, imported(tmp_path, "from course_utils.room.one import f\nimport torch"))
    assert {path.name for path in found} == {"__init__.py", "one.py", "two.py"}
    assert len([path for path in found if path.name == "__init__.py"]) == 1
    for line in (
        "import course_utils.room.two",
        "from course_utils.room import two",
        "from course_utils.room.two import x",
    ):
        assert room / "two.py" in imported(tmp_path, line)
    assert imported(tmp_path, "this is no Python") == set()


def test_a_log_gets_a_line_now_and_then(monkeypatch, capsys):
    clock = iter([0.0, 9.0, 11.0, 20.0, 22.0])
    monkeypatch.setattr(progress_bar.time, "monotonic", lambda: next(clock))
    with progress_bar.shown_steps("Graded", "files", 1_234) as step:
        for _ in range(4):
            step()
    said = "Graded 2 of 1,234 files in 11 seconds.\nGraded 4 of 1,234 files in 22 seconds.\n"
    assert capsys.readouterr().err == said


def test_a_terminal_gets_a_bar(monkeypatch, capsys):
    monkeypatch.setattr("sys.stderr.isatty", lambda: True, raising=False)
    with progress_bar.shown_steps("Graded", "files", 2) as step:
        step()
        step()
    assert "Graded: 100%" in capsys.readouterr().err


# A bar for training


def trained(shell, monkeypatch, capsys, seconds):
    """What a training of three steps, each of so many seconds, writes in a notebook with this shell, and its losses."""
    monkeypatch.setattr(IPython, "get_ipython", lambda: shell)
    monkeypatch.setattr(progress_bar, "PATIENCE", 0.05)
    torch.manual_seed(0)
    model = torch.nn.Linear(2, 1)

    def batch_loss(draw):
        time.sleep(seconds)
        return model(torch.rand(4, 2, generator=draw)).square().mean()

    losses = train_model(model, batch_loss, seed=0, steps=3, rate=0.1)
    return capsys.readouterr().out, losses


def test_a_long_training_run_shows_a_bar_only_in_a_notebook(monkeypatch, capsys):
    first, second = (SimpleNamespace(kernel=object(), execution_count=count) for count in (1, 2))
    shown, losses = trained(first, monkeypatch, capsys, 0.15)
    assert "/3 [" in shown and shown.endswith("\r")  # nothing of it is left to see
    assert "/3 [" in trained(first, monkeypatch, capsys, 0.0)[0]  # the cell has computed for long
    assert trained(second, monkeypatch, capsys, 0.0)[0] == ""
    for shell in (None, SimpleNamespace()):
        assert trained(shell, monkeypatch, capsys, 0.15)[0] == ""
    assert trained(first, monkeypatch, capsys, 0.15)[1] == losses
