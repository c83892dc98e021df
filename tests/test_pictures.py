"""Pictures and widgets: they draw what they are given, say it in words, and answer to their controls."""

import ast
import base64
import json
from html import escape
from pathlib import Path
from types import SimpleNamespace

import ipywidgets
import matplotlib

matplotlib.use("agg")
import matplotlib.pyplot as plt
import numpy as np
import pytest
import torch

from course_utils.base.paths import name_of
from course_utils.figures import alt_text, pictures, plots
from course_utils.figures.drawing import address_of
from course_utils.figures.film import Film, words
from course_utils.figures.widgets import explore
from course_utils.site import pages

LESSONS = Path(__file__).parents[1] / "course_lessons"


def texts(ax):
    return [text.get_text() for text in ax.texts]


def test_pictures_side_by_side_are_never_too_small_to_read():
    panel = torch.eye(2), ["a", "b"], ["q", "r"]
    for count, rows in ((2, 1), (3, 1), (4, 2), (5, 2)):
        plots.side_by_side(plots.weights, {f"panel {i}": panel for i in range(count)})
        figure = plt.gcf()
        assert len(figure.axes) == count and len({ax.get_subplotspec().rowspan.start for ax in figure.axes}) == rows
        assert figure.get_size_inches()[0] <= plots.WIDEST


def test_a_square_of_colour_has_no_edge():
    plots.colours(torch.eye(3), ["red", "green", "blue"])
    assert not any(spine.get_visible() for ax in plt.gcf().axes for spine in ax.spines.values())


def test_weights_use_a_map_from_zero_to_one_and_name_their_axes():
    plots.weights(torch.tensor([[0.25, torch.nan, 0.75]]), ["a", "b", "c"], ["q"])
    ax = plt.gca()
    assert ax.images[0].get_clim() == (0, 1)
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("keys: words looked at", "queries")
    assert texts(ax) == ["0.25", "0.75"]  # what is not a number stays blank
    plots.weights(torch.eye(3), marked=[(0, 0), (2, 1)])
    frames = [frame.get_xy() for frame in plt.gca().patches]
    assert [(round(x), round(y)) for x, y in frames] == [(0, 0), (1, 2)]


def test_weights_say_once_why_cells_hold_no_number():
    plots.weights(torch.tensor([[0.96, 0.04]]))
    assert texts(plt.gca()) == ["0.96", "", plots.BLANK]
    plots.weights(torch.tensor([[0.5, 0.5]]))
    assert plots.BLANK not in texts(plt.gca())
    plots.side_by_side(plots.weights, {name: (torch.eye(2), None, None) for name in "ab"})
    assert sum(texts(ax).count(plots.BLANK) for ax in plt.gcf().axes) == 1
    plots.weights(torch.eye(20))  # too many cells for numbers
    assert texts(plt.gca()) == []


def test_lines_have_names_at_their_ends_or_a_legend():
    plots.curves([1, 2], {"low": [[0.0, 0.1]], "high": [[0.5, 0.9]]}, "x", "y")
    ax = plt.gca()
    assert texts(ax) == ["low", "high"] and not ax.get_legend()
    assert [tuple(round(float(x), 4) for x in name.xy) for name in ax.texts] == [(2, 0.1), (2, 0.9)]
    assert [name.get_color() for name in ax.texts] == [line.get_color() for line in ax.get_lines()]
    assert "Marked" not in alt_text.describe(ax.figure)
    for runs in ({"low": [[0.0, 0.1]], "high": [[0.5, 0.11]]}, {"a name too long for a line": [[0.0, 0.1]]}):
        plots.curves([1, 2], runs, "x", "y")
        assert texts(plt.gca()) == [] and plt.gca().get_legend()


def test_a_mask_marks_what_may_be_attended_and_shows_empty_rows():
    plots.mask(torch.tensor([[True, False]]))
    assert texts(plt.gca()) == ["●", ""]
    plots.mask(torch.zeros(2, 3, dtype=torch.bool))
    ax = plt.gca()
    ax.figure.canvas.draw()
    pixels = np.asarray(ax.figure.canvas.buffer_rgba())[::-1, :, :3]  # from the bottom up, as the axes are
    left, below, wide, tall = (round(side) for side in ax.bbox.bounds)
    column = pixels[below + 5 : below + tall - 5, left + wide // 2]
    assert (column.max(1) < 200).any(), "no line between the two rows"


def test_choices_have_a_colour_and_a_number_and_are_told_by_row():
    plots.choices([[0, 0, 2], [1, 1, 1]], "who answers", xlabel="word", ylabel="language")
    ax = plt.gca()
    assert texts(ax) == ["1", "1", "3", "2", "2", "2"]
    said = alt_text.describe(ax.figure)
    assert said.startswith("A grid of choices, “who answers”") and "language" in said
    assert said.endswith("Row 1: mostly 1, in 2 of 3 columns. Row 2: mostly 2, in 3 of 3 columns.")


def test_differences_draws_zeros_and_tiny_differences_dark():
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


def test_bars_show_the_mean_every_run_and_the_prediction():
    plots.bars({"a": [0.5, 0.7]}, "accuracy")
    ax = plt.gca()
    assert ax.patches[0].get_height() == pytest.approx(0.6)
    assert list(ax.get_lines()[0].get_ydata()) == pytest.approx([0.5, 0.7])
    assert not plt.gcf().legends and not ax.collections
    plots.bars({"a": [0.5], "b": [0.7]}, "accuracy", expected={"b": 0.75})
    ax = plt.gca()
    (marks,) = ax.collections
    (((left, low), (right, high)),) = marks.get_segments()
    assert 0.5 < left < 1 < right < 1.5 and low == high == 0.75
    assert [text.get_text() for text in plt.gcf().legends[0].get_texts()] == ["expected"]
    (number,) = (text for text in ax.texts if text.get_text() == "0.700")
    assert number.get_position()[1] > 0.75, "the mark crosses the number"


def test_names_in_a_scatter_stand_beside_dots_without_overlap():
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
    before = box.shown["image/png"]
    assert box.words == "The bar has height 3." and base64.b64decode(before).startswith(b"\x89PNG")
    box.controls["height"].value = 7
    assert box.words == "The bar has height 7." and box.shown["image/png"] != before
    assert 'alt="The bar has height 7."' in box.picture.value, "who cannot see the picture is told what it shows now"
    assert box.sentence.value == '<div role="status">The bar has height 7.</div>', "a change is announced"
    assert not plt.get_fignums(), "no figure is left for the notebook to show twice"


def test_an_explorer_without_a_kernel_has_a_picture_and_words():
    box = explore(lambda x: (plt.figure(), f"x is {x}.")[1], x=ipywidgets.IntSlider(value=2))
    bundle, metadata = box._repr_mimebundle_()
    assert metadata == {}
    assert base64.b64decode(bundle["image/png"]).startswith(b"\x89PNG") and bundle["text/plain"] == "x is 2."
    assert "application/vnd.jupyter.widget-view+json" in bundle
    box = explore(lambda x: (plots.colours(COLOURED, ["red", "green"]), "Two.")[1], x=ipywidgets.IntSlider(value=2))
    assert 'class="jp-needs-light-background"' in box.picture.value  # colours are kept in dark mode
    assert box._repr_mimebundle_()[1] == LIGHT


def test_an_explorer_of_a_film_shows_its_last_frame():
    def draw(x):
        film = Film(f"x is {x}", 40, 6)
        film.add(words(20, 20, str(x)), 1.0, 2.0)
        film.add(words(20, 20, str(2 * x)), 2.0)
        film.description = f"Twice x is {2 * x}."
        return film

    box = explore(draw, x=ipywidgets.Dropdown(options=[1, 4]))
    assert address_of(draw(1).frame()) in box.picture.value and ">2</text>" in draw(1).frame()
    box.controls["x"].value = 4
    bundle, metadata = box._repr_mimebundle_()
    assert address_of(draw(4).frame()) in bundle["text/html"] and metadata == {}
    assert bundle["text/plain"] == box.words == "x is 4. Twice x is 8." and "image/png" not in bundle
    assert 'style="position:absolute' in box.sentence.value and "Twice x is 8." in box.sentence.value, (
        "read aloud alone"
    )


def explorers(path):
    """The code of a lesson, and the names of its explorers."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    calls = [n for n in tree.body if isinstance(n, ast.Assign) and isinstance(n.value, ast.Call)]
    return tree, [n.targets[0].id for n in calls if getattr(n.value.func, "id", "") == "explore"]


WITH_WIDGETS = [path for path in sorted(LESSONS.glob("*/lesson.py")) if explorers(path)[1]]
SLOW = ("01", "15", "19")  # lessons whose pictures take half a minute


def test_lessons_have_widgets():
    assert len(WITH_WIDGETS) > len(SLOW)


@pytest.mark.parametrize(
    "path",
    [pytest.param(path, marks=pytest.mark.thorough) if name_of(path)[:2] in SLOW else path for path in WITH_WIDGETS],
    ids=name_of,
)
def test_every_widget_of_a_lesson_answers_to_every_control(path, monkeypatch):
    """Runs the lesson up to its last explorer, training left out, then moves each control to each end."""
    tree, names = explorers(path)
    monkeypatch.setattr("course_utils.models.sentiment.train", lambda *args, **options: [])
    monkeypatch.setattr("course_utils.models.seq2seq.fit", lambda *args, steps=600, **options: [0.0] * steps)
    for untrained in ("captions.fit", "captions.Encoder.fit", "memory.fit", "turing.fit", "snail.fit_characters"):
        monkeypatch.setattr(f"course_utils.models.{untrained}", lambda *args, **options: [])
    trained = SimpleNamespace(curves=[{"val_bleu": 0.0}], progress=SimpleNamespace(seconds=0.0))
    monkeypatch.setattr("course_utils.training.loop.train", lambda *args, **options: trained)
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
                assert box.words.endswith(".")
            assert len(seen) > 1, f"{name} does not answer to {control.description}"
            control.value = ends(control)[0]


def shown(box):
    return box.picture.value, box.words


def ends(control):
    if hasattr(control, "options"):
        return [option[1] if isinstance(option, tuple) else option for option in control.options]
    if isinstance(control, ipywidgets.Text):
        return ["", "dogs"]
    return [control.min, control.max]


def draw_grid():
    plots.weights(torch.tensor([[0.25, 0.75], [1, 0]]), ["not", "great"], ["θ₁", "θ₂"], title="two queries")


def draw_two_panels():
    for ax, name in zip(plots.axes(2), ("red", "green"), strict=True):
        ax.imshow([[[float(name == "red"), float(name == "green"), 0.0]]])
        ax.set(title=name, xticks=[], yticks=[])


IN_WORDS = [
    (draw_grid, ["“two queries”", "columns: keys: words looked at", "Row θ₁: not 0.25, great 0.75."]),
    (lambda: plots.amounts([[0.5, 9.0]], "ab", "q", "lost", most=9.0, unit="BLEU"), ["“lost”", "Row q: a 0.5, b 9."]),
    (lambda: plots.weights(0.5 * torch.eye(9), "abcdefghi"), ["Row 8: the largest is 0.5, at i."]),
    (lambda: plots.mask(torch.ones(9, 9).tril() - torch.eye(9), "abcdefghi"), ["Row 0: 0 everywhere.", "1 at a, b, "]),
    (lambda: plots.amounts(torch.arange(200.0).reshape(20, 10)), ["20 rows and 10 columns of numbers from 0 to 199."]),
    (lambda: plots.bars({"a": [0.5, 0.7]}, "accuracy"), [": accuracy", "a 0.6."]),
    (
        lambda: plots.dots({"a": {"b": [0.5, 0.25], "c": []}}, "share"),
        ["; across: share. a, b: 0.25 to 0.50. a, c: none."],
    ),
    (lambda: plots.polarity([0.5, -0.25], ["great", "dull"]), ["dull -0.25, great 0.5."]),
    (lambda: plots.curves([1, 2], {"dot": [[1, 4], [3, 4]]}, "width D", "variance"), ["dot: 2 at 1, 4 at 2."]),
    (lambda: plots.curves(range(99), {"dot": [range(99)]}, "x", "y"), ["dot: 0 at 0, 24 at 24, 49 at 49, 74 at"]),
    (lambda: plots.scatter([1.0, 2.0], [0.25, -0.5], "x", "y", {1: "dull"}), ["dull near (2, -0.5)"]),
    (lambda: plots.weights(torch.tensor([[0.25, torch.nan, 0.75]]), ["the", "not", "end"]), ["the 0.25, end 0.75"]),
    (lambda: plots.directions(torch.eye(2), ["great", "dull"]), ["great near (1.09, 0), dull near (0, 1.09)."]),
    (lambda: plots.dial({"query": 3.0, "key": 1.0}, "two hands"), ["“two hands”", "Marked: query, key."]),
    (draw_two_panels, ["Panel 1 of 2: A grid, “red”. It is one colour: red 1, green 0, blue 0. Panel 2 of 2: "]),
    (lambda: plt.plot([1, 2], [3, 4]), ["Lines. 3 at 1, 4 at 2."]),
    (lambda: (plt.plot([0, 1], [3, 4]), plt.xticks([0, 1], ["0.1", "3"])), ["3 at 0.1, 4 at 3."]),
    (lambda: plt.plot([1, 2, 3], [3, float("nan"), 4]), ["Lines. 3 at 1, 4 at 3."]),
    (lambda: plt.scatter([1, 2, 3], [3, 4, 5]), ["3 points."]),
    (lambda: plt.plot(["a", "b"], [1, 3]), ["1 at 0, 3 at 1."]),
    (lambda: plots.weights(torch.tensor([[1e-9, 1 - 1e-9]]), ["a", "b"], ["q"]), ["Row q: a 0, b 1."]),
    (lambda: plots.curves([1, 2], {"D": [[1e-4, 4]]}, "x", "y", log=True), ["D: 0.0001 at 1, 4 at 2."]),
    (
        lambda: plots.curves([1, 1024], {"a_b": [[1, 1023.7]], "$x_1$": [[1, 2]]}, "", ""),
        ["a_b: 1 at 1, 1024 at 1024. x1: 1"],
    ),
    (lambda: plt.figure(), ["An empty picture."]),
]


@pytest.mark.parametrize(("draw", "parts"), IN_WORDS, ids=range(len(IN_WORDS)))
def test_a_picture_is_told_in_words(draw, parts):
    draw()
    told = alt_text.describe(plt.gcf())
    assert told.endswith(".") and not [part for part in parts if part not in told], told


def test_a_notebook_shows_a_picture_with_its_words(shell):
    alt_text.attach()
    draw_grid()
    data, metadata = shell.display_formatter.format(plt.gcf())
    plt.close("all")
    plt.figure()
    assert "text/plain" in shell.display_formatter.format(plt.gcf())[0]  # one without anything in it is shown, too
    told = metadata["image/png"]["alt"]
    assert "Row θ₁: not 0.25, great 0.75." in told and data["text/plain"] == told
    assert f'alt="{escape(told)}"' in data["text/html"] and data["image/png"] in data["text/html"]
    assert base64.b64decode(data["image/png"]).startswith(b"\x89PNG")


COLOURED = torch.tensor([[1.0, 0.0, 0.0], [0.0, 0.8, 0.0]])
LIGHT = {"needs_background": "light"}


@pytest.mark.parametrize(
    ("draw", "ground"),
    [
        (lambda: plots.colours(COLOURED, ["red", "green"]), LIGHT),
        (lambda: pictures.picture(torch.rand(8, 8)), LIGHT),
        (lambda: plt.imshow(np.zeros((4, 4, 3))), LIGHT),
        (lambda: pictures.attended(torch.rand(25, 25)), {}),
        (draw_grid, {}),
        (lambda: plt.plot([1, 2]), {}),
    ],
    ids=["colours", "digit", "photograph", "scene", "weights", "lines"],
)
def test_a_picture_that_shows_colours_keeps_them_in_dark_mode(draw, ground):
    """JupyterLab makes a class of the metadata of a PNG; in HTML the picture bears it already."""
    draw()
    data, metadata = alt_text.bundle(plt.gcf())
    del metadata["image/png"]
    assert metadata == ground
    assert ('class="jp-needs-light-background"' in data["text/html"]) == bool(ground)


def test_a_page_learns_a_pictures_words_and_if_its_colours_stay(tmp_path):
    output = {"output_type": "display_data", "data": {"image/png": "", "text/plain": ""}}
    words = {"image/png": {"alt": "Lines."}}
    code = {"cell_type": "code", "metadata": {}, "source": "1"}
    cells = [
        {"cell_type": "markdown", "id": "title", "metadata": {}, "source": "# Colours"},
        code | {"id": "mix", "outputs": [output | {"metadata": words | LIGHT}]},
        code | {"id": "weights", "outputs": [output | {"metadata": words}]},
    ]
    file = tmp_path / "notebooks" / "00_colours.ipynb"
    file.parent.mkdir()
    file.write_text(json.dumps({"cells": cells}), encoding="utf-8")
    _, mix, weights, *_ = pages.lesson(tmp_path, "00_colours")["cells"]
    assert mix["metadata"]["mystnb"] == {"image": {"alt": "Lines.", "classes": "jp-needs-light-background"}}
    assert weights["metadata"]["mystnb"] == {"image": {"alt": "Lines."}}


def test_a_picture_that_cannot_be_told_is_shown_all_the_same(monkeypatch):
    monkeypatch.setattr(alt_text, "describe", lambda figure: 1 / 0)
    plt.plot([1, 2])
    data, _ = alt_text.bundle(plt.gcf())
    assert data["image/png"] and 'alt="A picture."' in data["text/html"]
    assert 'alt="a &lt; b &quot;c&quot;"' in alt_text.image(bytes(24), 'a < b "c"', {})


def test_an_axis_of_whole_numbers_has_ticks_at_whole_numbers():
    plots.curves([1, 2, 3, 4], {"one": torch.rand(2, 4)}, "words", "right")
    assert all(tick == round(tick) for tick in plt.gca().get_xticks())
    plots.curves([0.1, 0.2, 0.3], {"one": torch.rand(2, 3)}, "share", "right")
    assert any(tick != round(tick) for tick in plt.gca().get_xticks())


def test_a_tree_bears_both_probabilities_and_fills_what_is_kept():
    probabilities = {("a",): 0.5, ("the",): 0.4, ("a", "dog"): 0.2, ("the", "dog"): 0.36, ("the", "cat"): 0.04}
    plots.tree(probabilities, kept=[("the",), ("the", "dog")])
    ax = plt.gca()
    texts = {text.get_text(): text for text in ax.texts}
    assert {"a  0.5", "the  0.4", "dog  0.2", "dog  0.36", "cat  0.04", "0.5", "0.4", "0.9", "0.1"} == set(texts)
    filled = [name for name, text in texts.items() if text.get_color() == "white"]
    assert filled == ["the  0.4", "dog  0.36"]
    assert sum(line.get_linestyle() == "-" for line in ax.get_lines()) == 2
    heights = [texts[name].get_position()[1] for name in ("dog  0.2", "dog  0.36", "cat  0.04")]
    assert heights == [0, 1, 2] and texts["the  0.4"].get_position() == (1, 1.5)
    plots.tree(probabilities, kept=[("the",), ("the", "dog")], best=("the", "dog"))
    colours = {text.get_text(): text.get_bbox_patch().get_facecolor() for text in plt.gca().texts}
    assert colours["dog  0.36"] not in (colours["the  0.4"], colours["dog  0.2"])


def test_ranked_dots_stand_in_their_order_with_their_values():
    plots.ranked(["first", "second"], [-1.0, -2.5], "log probability", "kept")
    ax = plt.gca()
    assert [label.get_text() for label in ax.get_yticklabels()] == ["first", "second"] and ax.yaxis_inverted()
    assert [text.get_text().strip() for text in ax.texts] == ["-1.00", "-2.50"]
