"""Pictures and widgets: they draw what they are given, say it in words, and answer to their controls."""

import ast
import base64
from pathlib import Path

import ipywidgets
import matplotlib

matplotlib.use("agg")
import matplotlib.pyplot as plt
import numpy as np
import pytest
import torch

from course_utils.figures import plots
from course_utils.figures.widgets import explore

NOTEBOOKS = Path(__file__).parents[1] / "notebooks"


@pytest.fixture(autouse=True)
def no_figure_is_left():
    yield
    plt.close("all")


def texts(ax):
    return [text.get_text() for text in ax.texts]


def test_weights_use_a_map_from_zero_to_one_and_name_their_axes():
    plots.weights(torch.tensor([[0.25, 0.75]]), ["a", "b"], ["q"])
    ax = plt.gca()
    assert ax.images[0].get_clim() == (0, 1)
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("keys: words attended", "queries")
    assert texts(ax) == ["0.25", "0.75"]


def test_scores_diverge_around_zero():
    plots.scores(torch.tensor([[-1.0, 3.0]]))
    assert plt.gca().images[0].get_clim() == (-3, 3)


def test_a_mask_marks_what_may_be_attended():
    plots.mask(torch.tensor([[True, False]]))
    assert texts(plt.gca()) == ["●", ""]


def test_empty_rows_of_a_mask_are_seen():
    plots.mask(torch.zeros(2, 3, dtype=torch.bool))
    ax = plt.gca()
    ax.figure.canvas.draw()
    pixels = np.asarray(ax.figure.canvas.buffer_rgba())[::-1, :, :3]  # from the bottom up, as the axes are
    left, below, wide, tall = (round(side) for side in ax.bbox.bounds)
    column = pixels[below + 5 : below + tall - 5, left + wide // 2]
    assert (column.max(1) < 200).any(), "no line between the two rows"


def test_a_zero_among_differences_is_dark_and_a_small_difference_is_none():
    plots.differences(torch.tensor([[0.0, -0.25], [1e-7, 0.003]]), ["a", "b"], ["c", "d"])
    ax = plt.gca()
    assert texts(ax) == ["0", "0.25", "0", "0.003"]
    assert ax.images[0].get_array().tolist() == [[1, 0], [1, 0]]
    assert [text.get_color() for text in ax.texts] == ["white", "black", "white", "black"]


def test_lines_can_be_told_apart_without_colour():
    plots.curves([1, 2], {name: torch.rand(3, 2) for name in "abcdef"}, "x", "y")
    lines = plt.gca().get_lines()
    assert len({(line.get_linestyle(), line.get_marker()) for line in lines}) >= 5
    assert len({line.get_marker() for line in lines}) == 6


def test_bars_stand_at_the_mean_and_show_every_run():
    plots.bars({"a": [0.5, 0.7]}, "accuracy", lines={"chance": 0.5})
    ax = plt.gca()
    assert ax.patches[0].get_height() == pytest.approx(0.6)
    assert list(ax.get_lines()[0].get_ydata()) == pytest.approx([0.5, 0.7])
    assert "chance" in texts(ax)


def test_a_predicted_value_is_a_mark_at_its_own_bar():
    plots.bars({"a": [0.5], "b": [0.7]}, "accuracy", expected={"b": 0.75})
    ax = plt.gca()
    (marks,) = ax.collections
    (((left, low), (right, high)),) = marks.get_segments()
    assert 0.5 < left < 1 < right < 1.5 and low == high == 0.75
    assert [text.get_text() for text in plt.gcf().legends[0].get_texts()] == ["predicted"]
    (number,) = (text for text in ax.texts if text.get_text() == "0.700")
    assert number.get_position()[1] > 0.75, "the mark crosses the number"


def test_bars_without_a_prediction_have_no_legend():
    plots.bars({"a": [0.5]}, "accuracy")
    assert not plt.gcf().legends and not plt.gca().collections


def test_names_in_a_scatter_stand_beside_their_dots_and_not_upon_each_other():
    close = torch.tensor([0.0, 0.001, 0.002, 0.5, -0.5])
    plots.scatter(close, close, "cosine", "log-odds", {0: "fun", 1: "great", 2: "powerful", 4: "dull"})
    ax = plt.gca()
    names = [text for text in ax.texts if text.get_text()]
    ax.figure.canvas.draw()
    spaces = [text.get_window_extent() for text in names]
    assert not any(a.overlaps(b) for i, a in enumerate(spaces) for b in spaces[:i])
    assert [text.xy[0] for text in names] == pytest.approx([0.0, 0.001, 0.002, -0.5])
    plain, named = ax.get_lines()[2:]
    assert len(plain.get_xdata()) == 1 and len(named.get_xdata()) == 4
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("cosine", "log-odds")


def test_an_explorer_draws_again_when_a_control_moves():
    def draw(height):
        plt.figure(figsize=(1, 1))
        plt.bar([0], [height])
        plt.ylim(0, 10)
        return f"The bar has height {height:.0f}."

    box = explore(draw, height=ipywidgets.FloatSlider(value=3, min=0, max=10))
    before = bytes(box.picture.value)
    assert box.sentence.value == "The bar has height 3." and before.startswith(b"\x89PNG")
    box.controls["height"].value = 7
    assert box.sentence.value == "The bar has height 7." and bytes(box.picture.value) != before
    assert not plt.get_fignums(), "no figure is left for the notebook to show twice"


def test_an_explorer_has_a_picture_and_words_where_no_kernel_runs():
    box = explore(lambda x: (plt.figure(), f"x is {x}.")[1], x=ipywidgets.IntSlider(value=2))
    bundle = box._repr_mimebundle_()
    assert base64.b64decode(bundle["image/png"]) == box.picture.value
    assert bundle["text/plain"] == "x is 2."
    assert "application/vnd.jupyter.widget-view+json" in bundle


def explorers(path):
    """The code of a lesson, and the names of its explorers."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    calls = [n for n in tree.body if isinstance(n, ast.Assign) and isinstance(n.value, ast.Call)]
    return tree, [n.targets[0].id for n in calls if getattr(n.value.func, "id", "") == "explore"]


WITH_WIDGETS = [path for path in sorted(NOTEBOOKS.glob("[0-9]*.py")) if explorers(path)[1]]


@pytest.mark.parametrize("path", WITH_WIDGETS, ids=lambda p: p.stem)
def test_every_widget_of_a_lesson_answers_to_every_control(path, monkeypatch):
    """Runs the lesson up to its last explorer, training left out, then moves each control to each end."""
    tree, names = explorers(path)
    monkeypatch.setattr("course_utils.models.sentiment.train", lambda *args, **options: [])
    monkeypatch.setenv("COURSE_PROGRESS", "off")
    targets = [getattr(n, "targets", [None])[0] for n in tree.body]
    last = max(i for i, target in enumerate(targets) if getattr(target, "id", "") == names[-1])
    space = {}
    exec(compile(ast.Module(tree.body[: last + 1], []), str(path), "exec"), space)
    for name in names:
        box = space[name]
        for control in box.controls.values():
            seen = {shown(box)}
            for value in ends(control):
                control.value = value
                seen.add(shown(box))
                assert box.sentence.value.endswith(".")
            assert len(seen) > 1, f"{name} does not answer to {control.description}"
            control.value = ends(control)[0]


def shown(box):
    return bytes(box.picture.value), box.sentence.value


def test_lessons_have_widgets():
    assert len(WITH_WIDGETS) >= 4


def ends(control):
    if isinstance(control, ipywidgets.Dropdown):
        return [option[1] if isinstance(option, tuple) else option for option in control.options]
    if isinstance(control, ipywidgets.FloatLogSlider):
        return [control.base**control.min, control.base**control.max]
    return [control.min, control.max]
