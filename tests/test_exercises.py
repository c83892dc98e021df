"""Every exercise runs from top to bottom before anything is filled in: each cell in one process, as in a kernel.

Not here: the solutions, which nbval runs; the exercises under nbval, which a thorough run tries.
"""

import json
from pathlib import Path

import pytest

from course_utils.learner.sandbox_warnings import sandbox_warnings

EXERCISES = sorted((Path(__file__).parents[1] / "exercises").glob("*.ipynb"))


@pytest.mark.parametrize("path", EXERCISES, ids=lambda path: path.stem)
def test_an_exercise_runs_before_anything_is_filled_in(path, course_folder, shell, capsys, monkeypatch):
    monkeypatch.chdir(path.parent)
    cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
    sources = ["".join(cell["source"]) for cell in cells if cell["cell_type"] == "code"]
    assert len(sources) > 3
    assert list(sandbox_warnings(sources)) == []
    for source in sources:
        result = shell.run_cell(source)
        assert result.success, f"{source}\n{capsys.readouterr().out}"
