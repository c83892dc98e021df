"""Grey pictures with glimpses and weights on them: what is drawn lies where it should."""

import matplotlib.pyplot as plt
import pytest
import torch

from course_utils.figures import pictures


@pytest.fixture(autouse=True)
def close_figures():
    yield
    plt.close("all")


def squares(ax):
    """Return corner, width and alpha of each rectangle drawn."""
    return [(*patch.get_xy(), patch.get_width(), patch.get_alpha()) for patch in ax.patches]


def test_a_glimpse_is_drawn_around_its_location():
    pictures.looks(torch.zeros(20, 10), [[0.0, 0.0], [-1.0, 1.0]], size=4, corner=(3, 2))
    ax = plt.gca()
    assert squares(ax) == [(2.5, 7.5, 4, None), (-2.5, 17.5, 4, None), (1.5, 2.5, 8, None)]
    assert [text.get_text() for text in ax.texts] == ["1", "2"]
    assert ax.get_xlim() == (-0.5, 9.5) and ax.get_ylim() == (19.5, -0.5)


def test_looks_centres_coarse_patches_and_numbers_the_squares():
    pictures.looks(torch.zeros(20, 20), [[0.0, 0.0], [0.0, 0.0]], size=4, wider=(8, 20), number=3)
    ax = plt.gca()
    assert squares(ax)[2:] == [(5.5, 5.5, 8, None), (-0.5, -0.5, 20, None)]
    assert [text.get_text() for text in ax.texts] == ["3", "4"]
    (x, y), (other_x, other_y) = (text.get_position() for text in ax.texts)
    assert y == other_y < 7.5 and other_x > x + 2 and ax.get_xlim()[0] < -0.5


def test_weights_colour_their_cells_row_by_row():
    pictures.attended(torch.zeros(6, 6), [0.1, 0.2, 0.4, 0.3], cell=2)
    ax = plt.gca()
    places = [(x, y) for x, y, _, _ in squares(ax)]
    assert places == [(-0.5, -0.5), (2.5, -0.5), (-0.5, 2.5), (-0.5, 2.5), (2.5, 2.5)]  # the marked cell twice
    alphas = [alpha for *_, alpha in squares(ax) if alpha is not None]
    assert alphas == pytest.approx([0.75 * weight for weight in (0.1, 0.2, 0.4, 0.3)])
    assert ax.get_xlabel() == "largest 0.40\non the object 0.40"
