"""Pictures and widgets: they draw what they are given, say it in words, and answer to their controls."""

import ast
import base64
from pathlib import Path

import ipywidgets
import matplotlib

matplotlib.use("agg")
import matplotlib.pyplot as plt
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
