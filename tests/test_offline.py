"""Every lesson runs where no real data can be had, in the generated world or with a random model, and says so in one line.

Not here: lessons on real data, which the build and nbval run.
"""

import re

import jupytext
import nbclient
import pytest
import sampling
from repository import ROOT

from course_utils.base.paths import name_of
from course_utils.data.generated_reviews import generate_reviews

WITH_DATA = [
    path
    for path in sorted(ROOT.glob("course_lessons/*/lesson.py"))
    if re.search("review_file|caption_files|load_captions|file_or_stand_in", path.read_text(encoding="utf-8"))
]


def test_lesson_01_asks_about_words_it_can_draw_without_data():
    (asked,) = re.findall(
        r"Where will (.*) point\?",
        (ROOT / "course_lessons/lesson_01_bag_of_words/lesson.py").read_text(encoding="utf-8"),
    )
    words = re.findall(r'"(\w+)"', asked)
    found = {word for sentence in generate_reviews(2_000, seed=1).sentences for word in sentence}
    assert len(words) == 3 and set(words) <= found


@pytest.mark.parametrize("lesson", sampling.usually(WITH_DATA, 1), ids=name_of)
def test_a_lesson_runs_without_its_data(lesson, tmp_path, monkeypatch):
    monkeypatch.setenv("COURSE_DATA_MIRROR", str(tmp_path / "nothing here"))
    monkeypatch.setenv("COURSE_DATA", str(tmp_path / "kept"))
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    monkeypatch.setenv("COURSE_PROGRESS", "off")
    monkeypatch.delenv("COURSE_REAL_DATA", raising=False)
    notebook = jupytext.read(lesson, fmt="py:percent")
    nbclient.NotebookClient(
        notebook, timeout=300, kernel_name="python3", resources={"metadata": {"path": str(tmp_path)}}
    ).execute()
    outputs = [output for cell in notebook.cells if cell.cell_type == "code" for output in cell.outputs]
    printed = "".join(output.get("text", "") for output in outputs)
    assert len(re.findall("Going on with|STAND-IN", printed)) == 1
    assert not [output for output in outputs if output.get("name") == "stderr"], "nothing warns"
