"""The models that ship: small, whole, in half precision, honest about themselves, and able to translate or to continue plays."""

import csv
import hashlib
import json
import math
import re

import pytest
import torch
from safetensors import safe_open
from script_loader import program

from course_utils import commands
from course_utils.base.errors import CourseError
from course_utils.data.download import DataError
from course_utils.data.measured import measured_once
from course_utils.data.multi30k import load_multi30k
from course_utils.data.shakespeare import CHARACTERS, ENDS, load_shakespeare
from course_utils.data.tales import decode, encode
from course_utils.models import serialization
from course_utils.translation.scores import bleu
from course_utils.translation.translate import align, translate

TRANSLATORS = ("attention-en-fr", "seq2seq-en-fr", "transformer-en-de", "transformer-gpu-en-de")
PLAYS = "gpt-shakespeare"
NAMES = (TRANSLATORS[0], PLAYS, *TRANSLATORS[1:])


def test_shipped_models_take_at_most_nineteen_megabytes():
    assert serialization.pretrained_names() == list(NAMES)
    assert serialization.pretrained_names(translators=True) == list(TRANSLATORS)
    assert sum(path.stat().st_size for path in serialization.PRETRAINED.rglob("*") if path.is_file()) <= 19_000_000


@pytest.mark.parametrize("name", NAMES)
def test_the_card_tells_the_truth_about_the_files(name):
    folder = serialization.PRETRAINED / name
    card, about = (folder / "README.md").read_text(encoding="utf-8"), json.loads((folder / "model.json").read_text())
    sha256 = hashlib.sha256((folder / "model.safetensors").read_bytes()).hexdigest()
    assert about["sha256"] == sha256 and sha256 in card
    with safe_open(folder / "model.safetensors", "pt") as weights:
        assert {weights.get_slice(key).get_dtype() for key in weights.keys()} == {"F16"}  # noqa: SIM118
    rows = list(csv.DictReader((folder / "curves.csv").read_text(encoding="utf-8").splitlines()))
    assert int(rows[-1]["step"]) == about["about"]["step"]
    read = f"{about['about']['characters']:,} char" if name == PLAYS else f"{int(rows[-1]['tokens']):,} target tokens"
    assert read in card
    command = "python benchmarks/shakespeare.py" if name == PLAYS else r"course train \w+ --(data multi30k|preset gpu)"
    assert re.search(rf"command\*\*: `{command}", card, re.IGNORECASE)
    for file in folder.glob("*.[jm][sd]*"):
        assert "/tmp" not in file.read_text(encoding="utf-8"), "a path of the machine it was trained on"


@pytest.mark.parametrize("name", TRANSLATORS)
def test_a_shipped_translator_looks_at_the_word_it_translates(name):
    model, subwords = serialization.load_pretrained(name)
    text = "A man in a red shirt is riding a bicycle."
    found = align(model, subwords, text)
    man, bicycle = {"de": ("Mann", "Fahrrad"), "fr": ("homme", "vélo")}[name[-2:]]
    assert man in found.target and any(bicycle in word for word in found.target)
    if name.startswith("seq2seq"):
        assert found.weights is None
    else:
        assert found.source[int(found.weights[found.target.index(man)].argmax())] == "man"
    assert translate(model, subwords, [text, ""])[1] == ""


@pytest.mark.parametrize(
    ("name", "least"),
    [("attention-en-fr", 45), ("seq2seq-en-fr", 25), ("transformer-en-de", 34), ("transformer-gpu-en-de", 37)],
)
def test_bleu_is_near_what_the_card_says(name, least, real_data):
    model, subwords = serialization.load_pretrained(name)
    pairs = load_multi30k("test_2016_flickr", name[-5:])
    assert bleu(translate(model, subwords, pairs.sources[:200], width=2), pairs.targets[:200]).score > least


def test_load_pretrained_refuses_an_unknown_name_in_one_sentence():
    with pytest.raises(
        CourseError,
        match=r"no model 'gpt' ships with the course .did you mean .gpt-shakespeare...: name one of attention-en-fr, gpt-shakespeare, seq2",
    ):
        serialization.load_pretrained("gpt")


# --- the model that continues plays
def test_the_plays_are_three_parts_of_one_text(real_data):
    parts = [load_shakespeare(split) for split in ENDS]
    assert [len(part) for part in parts] == [1_003_854, 55_770, 55_770]
    assert len(torch.cat(parts).unique()) == len(CHARACTERS) == 65
    assert decode(parts[0][:14], CHARACTERS) == "First Citizen:"


def test_load_shakespeare_without_plays_fails_in_one_sentence(monkeypatch, tmp_path):
    monkeypatch.setenv("COURSE_DATA_MIRROR", str(tmp_path))
    with pytest.raises(DataError, match=r"Expected shakespeare/input.txt in the mirror folder .*, but it is not there"):
        load_shakespeare("val")
    with pytest.raises(CourseError, match="split must be one of train, val, test, not 'dev'"):
        load_shakespeare("dev")


def test_the_play_model_needs_as_few_bits_as_its_card_says(real_data):
    plays, folder = program("shakespeare"), serialization.PRETRAINED / PLAYS
    (measured,) = measured_once("shakespeare", "bits", setup=PLAYS)[0]
    assert f"| 1 | {measured:.2f} |" in (folder / "README.md").read_text(encoding="utf-8")
    assert plays.card() == (folder / "README.md").read_text(encoding="utf-8")
    model, characters = serialization.load_pretrained(PLAYS)
    assert characters == CHARACTERS
    assert plays.held_out_bits(model, load_shakespeare("test")) == pytest.approx(measured, abs=0.002)


def test_the_play_model_continues_a_play_with_words_of_the_text(real_data):
    model, characters = serialization.load_pretrained(PLAYS)
    ids, draw = encode("\nROMEO:\n", characters)[None], torch.Generator().manual_seed(0)
    with torch.no_grad():
        while ids.shape[1] < 128:
            p = (model(ids)[0, -1] / 0.7).softmax(-1)
            ids = torch.cat([ids, torch.multinomial(p, 1, generator=draw)[None]], 1)
    known = set(re.findall("[a-z]+", decode(load_shakespeare("train"), characters).lower()))
    words = re.findall("[a-z]+", decode(ids[0, 8:], characters).lower())[:-1]
    assert len(words) > 10 and sum(word in known for word in words) > 0.8 * len(words)


def test_bits_are_of_characters_that_are_read_after_64_others():
    plays = program("shakespeare")

    class Knows(torch.nn.Module):  # says evenly after few characters, and the right one after 64
        def forward(self, ids):
            logits = torch.zeros(*ids.shape, plays.V)
            logits[:, 64:] = 100 * torch.nn.functional.one_hot((ids[:, 64:] + 1) % plays.V, plays.V)
            return logits

    ids = torch.arange(400) % plays.V
    assert plays.held_out_bits(Knows(), ids) == pytest.approx(0, abs=1e-6)
    assert plays.held_out_bits(lambda ids: torch.zeros(*ids.shape, plays.V), ids) == pytest.approx(math.log2(plays.V))


def test_counts_are_those_of_the_formula():
    """Two characters in turn: after one k long enough, only the strength of what was never counted is left open."""
    plays = program("shakespeare")
    ids = torch.arange(400) % 2
    found = plays.ngram_bits(ids, ids[:100], 2, most=1)
    p = (195 + 2 / 65) / (390 + 2)  # of each of the two, without looking back
    assert found[0] == (pytest.approx(-math.log2(p)), 2)
    assert found[1] == (pytest.approx(-math.log2((195 + 2 * p) / 197), abs=1e-4), 4)


def test_the_table_of_plays_is_the_programs():
    plays, sizes = program("shakespeare"), {}
    for setup in plays.RATES:
        (sizes[setup], *_), found = measured_once("shakespeare", "parameters", "bits", setup=setup)
        assert sizes[setup] == sum(p.numel() for p in plays.make(setup).parameters()) and len(found) >= 3
    assert max(sizes.values()) < 1.05 * min(sizes.values())


def test_translate_refuses_the_play_model(capsys):
    assert commands.main(["translate", "--model", PLAYS]) == 2
    said = capsys.readouterr().err
    assert "translates nothing: name one that does, such as attention-en-fr" in said and said.count("\n") == 1


def test_characters_that_do_not_fit_are_told(tmp_path):
    for name in ("model.json", "model.safetensors"):
        (tmp_path / name).write_bytes((serialization.PRETRAINED / PLAYS / name).read_bytes())
    card = json.loads((tmp_path / "model.json").read_text(encoding="utf-8"))
    (tmp_path / "model.json").write_text(json.dumps(card | {"characters": CHARACTERS[1:]}), encoding="utf-8")
    with pytest.raises(CourseError, match="model.json has 64 characters, and the model 65: copy both anew"):
        serialization.load_model(tmp_path)
