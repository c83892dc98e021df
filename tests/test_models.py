"""Tests of `course_utils.models.serialization` and `course_utils.translation.translate`: a model's folder and who may have made it, and what it says."""

import hashlib
import json
import pickle
from pathlib import Path

import numpy as np
import pytest
import torch
from safetensors.torch import load_file, save, save_file

from course_utils.base.errors import CourseError
from course_utils.data.subwords import EOS, Subwords
from course_utils.models import serialization
from course_utils.models.serialization import load_model, load_pretrained, make_model, pretrained_names, save_model
from course_utils.translation import scores, translate

TEXTS = ["the old dog followed my friend", "the king saw your house", "a bird sang near the river"]
SUBWORDS = Subwords.train(TEXTS, 280)
OPTIONS = {
    "transformer": {"width": 12, "heads": 3, "hidden": 20, "encoder_layers": 1, "decoder_layers": 2, "dropout": 0.3, "norm": "post", "positions": "learned"},
    "attention": {"width": 12, "hidden": 14, "encoder_hidden": 7, "attention": "luong", "score": "general", "input_feeding": True},
    "seq2seq": {"width": 12, "hidden": 14, "encoder_hidden": 7},
}  # fmt: skip
every_kind = pytest.mark.parametrize("kind", OPTIONS)


def model_of(kind="transformer", seed=0, **changes):
    torch.manual_seed(seed)
    return make_model(kind, len(SUBWORDS), OPTIONS[kind] | changes)


def said_by(model):
    """What a model makes of two sentences."""
    source, target = torch.tensor([[5, 6, 7, EOS], [8, EOS, 0, 0]]), torch.tensor([[1, 9, 10], [1, 11, 0]])
    with torch.inference_mode():
        return model.eval()(source, target)


@pytest.fixture
def saved(tmp_path):
    """A model's folder."""
    folder = tmp_path / "model"
    save_model(folder, "transformer", model_of(), SUBWORDS, {"from": "a test"})
    return folder


def card_of(folder):
    return json.loads((folder / "model.json").read_text())


def with_card(folder, **changes):
    """Change model.json, where the checksum is that of the weights unless it is among the changes."""
    weights = (folder / "model.safetensors").read_bytes()
    card = card_of(folder) | {"sha256": hashlib.sha256(weights).hexdigest()} | changes
    (folder / "model.json").write_text(json.dumps(card))
    return folder


# --- saving and loading
@every_kind
def test_a_model_comes_back_as_it_was(tmp_path, kind):
    model = model_of(kind)
    folder = tmp_path / "new" / "folder"
    save_model(folder, kind, model, SUBWORDS, {"from": "a test"})
    found, subwords = load_model(str(folder))
    assert type(found) is type(model) and found.config == model.config and not found.training
    assert torch.equal(said_by(found), said_by(model))
    assert found.readout.weight is (found.embedding.words.weight if kind == "transformer" else found.embedding.weight)
    assert subwords.encode(TEXTS) == SUBWORDS.encode(TEXTS)
    assert card_of(folder)["about"] == {"from": "a test"}
    weights = load_file(folder / "model.safetensors").values()
    assert sum(len(value) == len(SUBWORDS) for value in weights) == 1  # tied weights are kept once


@pytest.mark.parametrize(("of_model", "saved_as"), [(torch.float32, torch.float16), (torch.bfloat16, torch.float32)])
def test_a_model_of_any_precision_comes_back_in_fp32(tmp_path, of_model, saved_as):
    model = model_of().to(of_model)
    save_model(tmp_path, "transformer", model, SUBWORDS, {}, saved_as)
    assert {value.dtype for value in load_file(tmp_path / "model.safetensors").values()} == {saved_as}
    for ours, theirs in zip(load_model(tmp_path)[0].parameters(), model.parameters(), strict=True):
        assert ours.dtype == torch.float32 and torch.equal(ours, theirs.to(saved_as).float())


def test_an_untied_readout_comes_back(tmp_path):
    sizes = {"width": 16, "heads": 2, "hidden": 16, "encoder_layers": 1, "decoder_layers": 1}
    model = make_model("transformer", len(SUBWORDS), {**sizes, "tied": False})
    save_model(tmp_path, "transformer", model, SUBWORDS, {})
    found, _ = load_model(tmp_path)
    assert torch.equal(found.readout.weight, model.readout.weight)
    assert not torch.equal(found.readout.weight, found.embedding.words.weight)


def test_the_same_model_is_the_same_bytes(tmp_path, saved):
    save_model(tmp_path / "again", "transformer", model_of(), SUBWORDS, {"from": "a test"})
    for path in saved.iterdir():
        assert path.read_bytes() == (tmp_path / "again" / path.name).read_bytes()


# --- damaged and foreign folders
@pytest.mark.parametrize("name", ["model.json", "model.safetensors", "subwords.json"])
def test_a_missing_file_is_named(saved, name):
    (saved / name).unlink()
    with pytest.raises(CourseError, match=f"expected a trained model in .*, but {name} is not there: name the folder"):
        load_model(saved)


def test_load_model_refuses_a_folder_without_a_model(tmp_path):
    (tmp_path / "file").touch()
    for folder in (tmp_path, tmp_path / "nothing", tmp_path / "file"):
        with pytest.raises(CourseError, match="but model.json is not there"):
            load_model(folder)


@pytest.mark.parametrize("damage", [lambda b: b[:-1], lambda b: b"", lambda b: b[:-5] + b"wrong", lambda b: b + b"\0"])
def test_damaged_weights_are_told(saved, damage):
    weights = saved / "model.safetensors"
    weights.write_bytes(damage(weights.read_bytes()))
    with pytest.raises(CourseError, match="is not what model.json says it is .another checksum.: copy both anew"):
        load_model(saved)


@pytest.mark.parametrize(
    "content", [b"", b"{", b"[]", b"{}", b'"model"', b"\xff\xfe\x00", b"[" * 100_000, b'{"kind": 1}']
)
def test_a_card_that_is_none_is_told(saved, content):
    (saved / "model.json").write_bytes(content)
    with pytest.raises(CourseError, match="model.json can't be read as a model of this course"):
        load_model(saved)


@pytest.mark.parametrize(
    "changes",
    [
        {"kind": "lstm"},
        {"kind": ["transformer"]},
        {"kind": "attention"},
        {"config": {}},
        {"config": {"vocabulary": "many"}},
        {"config": {"vocabulary": len(SUBWORDS), **OPTIONS["transformer"], "width": 24}},
        {"config": {"vocabulary": len(SUBWORDS), **OPTIONS["transformer"], "encoder_layers": 2}},
        {"config": {"vocabulary": len(SUBWORDS), **OPTIONS["transformer"], "decoder_layers": 1}},
        {"config": {"vocabulary": len(SUBWORDS), **OPTIONS["transformer"], "heads": 0}},
        {"config": {"vocabulary": len(SUBWORDS), **OPTIONS["transformer"], "colour": "red"}},
    ],
    ids=str,
)
def test_a_card_of_another_model_is_told(saved, changes):
    with pytest.raises(CourseError, match="the weights in .* do not fit the model that model.json describes"):
        load_model(with_card(saved, **changes))


@pytest.mark.parametrize(
    ("option", "value"),
    [("encoder_layers", 201), ("decoder_layers", 10**6), ("longest", 8193), ("longest", 1e9), ("width", 4098)],
)
def test_a_card_that_asks_for_a_huge_model_is_told_at_once(saved, option, value):
    with_card(saved, config=card_of(saved)["config"] | {option: value})
    with pytest.raises(CourseError, match=rf"model\.json asks for {option} [\d,.]+: at most [\d,]+ are made"):
        load_model(saved)
    with pytest.raises(CourseError, match=f"a model of kind transformer can't be made with {option} "):
        make_model("transformer", len(SUBWORDS), {option: value})


@pytest.mark.parametrize("changes", [{"hidden": 10**5, "encoder_layers": 200}, {"vocabulary": 10**9}], ids=str)
def test_load_model_builds_nothing_much_larger_than_its_weights(saved, changes, monkeypatch):
    made, register = [], torch.nn.Module.register_parameter

    def register_and_count(module, name, parameter):
        register(module, name, parameter)
        made.append(0 if parameter is None else parameter.numel())

    monkeypatch.setattr(torch.nn.Module, "register_parameter", register_and_count)
    with_card(saved, config=card_of(saved)["config"] | changes)
    with pytest.raises(CourseError, match="the weights in .* do not fit the model that model.json describes"):
        load_model(saved)
    assert sum(made) <= 3 * sum(value.numel() for value in load_file(saved / "model.safetensors").values())


@pytest.mark.parametrize("weights", [b"", b"not safetensors", save({"weight": torch.zeros(2)}), save({})])
def test_foreign_weights_are_told(saved, weights):
    (saved / "model.safetensors").write_bytes(weights)
    with pytest.raises(CourseError, match="the weights in .* do not fit the model"):
        load_model(with_card(saved))


def test_a_weight_too_few_or_too_many_is_told(saved):
    weights = load_file(saved / "model.safetensors")
    first = next(iter(weights))
    for changed in ({k: v for k, v in weights.items() if k != first}, weights | {"more": torch.zeros(1)}):
        save_file(changed, saved / "model.safetensors")
        with pytest.raises(CourseError, match="the weights in .* do not fit the model"):
            load_model(with_card(saved))


def test_foreign_subwords_are_told(saved):
    Subwords.words(TEXTS).save(saved / "subwords.json")
    with pytest.raises(CourseError, match=r"subwords.json has \d+ subwords, and the model \d+: copy both anew"):
        load_model(saved)
    (saved / "subwords.json").write_text("{}")
    with pytest.raises(CourseError, match="subwords.json to hold a vocabulary"):
        load_model(saved)


class Bomb:
    """What touches a file when it is unpickled."""

    def __init__(self, path):
        self.path = path

    def __reduce__(self):
        return Path.touch, (self.path,)


@pytest.mark.parametrize("name", ["model.json", "model.safetensors", "subwords.json"])
@pytest.mark.parametrize("dump", [pickle.dump, torch.save])
def test_load_model_unpickles_nothing(saved, name, dump):
    exploded = saved / "exploded"
    with open(saved / name, "wb") as file:
        dump(Bomb(exploded), file)
    if name == "model.safetensors":
        with_card(saved)
    with pytest.raises(CourseError, match="copy|train"):
        load_model(saved)
    assert not exploded.exists()
    pickle.loads(pickle.dumps(Bomb(exploded)))
    assert exploded.exists()  # so it was a bomb


def test_a_path_is_no_name_of_a_pretrained_model():
    with pytest.raises(CourseError, match="no model '../models' ships"):
        load_pretrained("../models")


def test_a_pretrained_model_is_loaded_by_name(saved, monkeypatch):
    monkeypatch.setattr(serialization, "PRETRAINED", saved.parent)
    assert pretrained_names() == ["model"]
    assert torch.equal(said_by(load_pretrained("model")[0]), said_by(model_of()))


@pytest.mark.parametrize("kind, options, word", [
    ("transformer", {"widht": 3}, "widht"), ("transformer", {"width": "12"}, "str"), ("transformer", {"hidden": 2**62}, "overflow"),
    ("attention", {"vocabulary": 3}, "vocabulary"), ("seq2seq", {"hidden": None}, "None"),
])  # fmt: skip
def test_options_that_do_not_fit_are_told(kind, options, word):
    with pytest.raises(CourseError, match=rf"a model of kind {kind} can't be made of these settings \(.*{word}"):
        make_model(kind, 10, OPTIONS[kind] | options)


@pytest.mark.parametrize("name, least", [("heads", 1), ("width", 1), ("decoder_layers", 1), ("encoder_layers", 0)])
def test_sizes_too_small_are_told(name, least):
    with pytest.raises(CourseError, match=f"^{name} must be at least {least}, not {least - 1}$"):
        make_model("transformer", 10, OPTIONS["transformer"] | {name: least - 1})


def test_make_model_refuses_an_unknown_kind():
    with pytest.raises(CourseError, match="kind must be one of seq2seq, attention, transformer, gpt, not 'rnn'"):
        make_model("rnn", 10, {})


# --- translating
@every_kind
def test_translations_stand_where_their_sources_stood(kind):
    model = model_of(kind).double().eval()  # so that no rounding decides between two words
    texts = [TEXTS[0], "", TEXTS[1], "dog"]
    for width in (1, 3):
        together = translate.translate(model, SUBWORDS, texts, width)
        assert together == [translate.translate(model, SUBWORDS, [text], width)[0] for text in texts]
        assert together[1] == ""
    assert translate.translate(model, SUBWORDS, []) == []


@every_kind
def test_an_alignment_has_the_words_of_both_sides(kind):
    found = translate.align(model_of(kind).eval(), SUBWORDS, TEXTS[0], width=2)
    assert found.source == TEXTS[0].split()
    assert (
        " ".join(found.target).split() == translate.translate(model_of(kind).eval(), SUBWORDS, [TEXTS[0]], 2)[0].split()
    )
    if kind == "seq2seq":
        assert found.weights is None
        return
    assert found.weights.shape == (len(found.target), 6)
    assert (found.weights >= 0).all() and (found.weights.sum(1) <= 1 + 1e-6).all() and (found.weights.sum(1) > 0).all()


@every_kind
def test_an_empty_text_has_no_alignment(kind):
    assert translate.align(model_of(kind).eval(), SUBWORDS, "") == translate.Alignment([], [], None)


def test_bleu_and_chrf_give_known_scores_and_signatures():
    perfect = scores.bleu(TEXTS, TEXTS)
    assert perfect.score == pytest.approx(100)
    assert {"case:mixed", "tok:13a", "nrefs:1", "smooth:exp"} <= set(perfect.signature.split("|"))
    assert scores.bleu([text.upper() for text in TEXTS], TEXTS).score < 1  # cased
    assert scores.bleu([""] * 3, TEXTS).score == 0
    letters = scores.chrf(TEXTS, TEXTS)
    assert letters.score == pytest.approx(100) and {"case:mixed", "nc:6", "nw:0"} <= set(letters.signature.split("|"))
    assert 0 < scores.chrf(["the dog"] * 3, TEXTS).score < 100


def test_bleu_equals_a_value_computed_by_hand():
    """Papineni et al. 2002: the geometric mean of 1- to 4-gram precisions, times the penalty for being short."""
    score = scores.bleu(["the king saw your house today"], ["the king saw your old house today there"]).score
    precisions = 6 / 6, 4 / 5, 2 / 4, 1 / 3
    assert score == pytest.approx(100 * np.exp(1 - 8 / 6) * np.prod(precisions) ** 0.25, abs=1e-6)
