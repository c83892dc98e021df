"""The models that ship: small, whole, in half precision, honest about themselves, and able to translate."""

import csv
import hashlib
import json
import os
import re
from pathlib import Path

import pytest
from safetensors import safe_open

from course_utils.base.errors import CourseError
from course_utils.data.multi30k import load_multi30k
from course_utils.models import files
from course_utils.translation.scores import bleu
from course_utils.translation.translate import align, translate

BESIDE = Path(__file__).resolve().parents[2] / "shared" / "data"
MIRROR = os.environ.get("COURSE_DATA_MIRROR") or (str(BESIDE) if BESIDE.is_dir() else None)
NAMES = ("attention-en-de", "attention-en-fr", "transformer-en-de")


def test_all_ship_in_eleven_megabytes():
    assert files.pretrained_names() == list(NAMES)
    assert sum(path.stat().st_size for path in files.PRETRAINED.rglob("*") if path.is_file()) <= 11_000_000


@pytest.mark.parametrize("name", NAMES)
def test_the_card_tells_the_truth_about_the_files(name):
    folder = files.PRETRAINED / name
    card, about = (folder / "README.md").read_text(encoding="utf-8"), json.loads((folder / "model.json").read_text())
    sha256 = hashlib.sha256((folder / "model.safetensors").read_bytes()).hexdigest()
    assert about["sha256"] == sha256 and sha256 in card
    with safe_open(folder / "model.safetensors", "pt") as weights:
        assert {weights.get_slice(key).get_dtype() for key in weights.keys()} == {"F16"}  # noqa: SIM118
    rows = list(csv.DictReader((folder / "curves.csv").read_text(encoding="utf-8").splitlines()))
    assert int(rows[-1]["step"]) == about["about"]["step"]
    assert f"{int(rows[-1]['tokens']):,} target tokens" in card
    assert re.search(r"command\*\*: `course train \w+ --data multi30k", card, re.IGNORECASE)
    for file in folder.glob("*.[jm][sd]*"):
        assert "/tmp" not in file.read_text(encoding="utf-8"), "a path of the machine it was trained on"


@pytest.mark.parametrize("name", NAMES)
def test_it_translates_and_looks_at_the_word_it_translates(name):
    model, subwords = files.load_pretrained(name)
    text = "A man in a red shirt is riding a bicycle."
    found = align(model, subwords, text)
    man, bicycle = {"de": ("Mann", "Fahrrad"), "fr": ("homme", "vélo")}[name[-2:]]
    assert man in found.target and any(bicycle in word for word in found.target)
    assert found.source[int(found.weights[found.target.index(man)].argmax())] == "man"
    assert translate(model, subwords, [text, ""])[1] == ""


@pytest.mark.parametrize(
    ("name", "least"), [("attention-en-de", 30), ("attention-en-fr", 45), ("transformer-en-de", 34)]
)
def test_bleu_is_near_what_the_card_says(name, least, monkeypatch):
    if MIRROR is None:
        pytest.skip(
            "the BLEU of the models that ship is not tested: name a mirror that has Multi30k in COURSE_DATA_MIRROR"
        )
    monkeypatch.setenv("COURSE_DATA_MIRROR", MIRROR)
    model, subwords = files.load_pretrained(name)
    pairs = load_multi30k("test_2016_flickr", name[-5:])
    assert bleu(translate(model, subwords, pairs.sources[:200], width=2), pairs.targets[:200]).score > least


def test_another_name_is_refused_in_one_sentence():
    with pytest.raises(
        CourseError, match=r"no model 'gpt' ships with the course: name one of attention-en-de, attention-en-fr, tr"
    ):
        files.load_pretrained("gpt")
