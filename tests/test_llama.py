"""The Llama of lesson 22: its parts against PyTorch's, its file, its tokenizer, its cache, and the page's classes against the package's."""

import re
import struct
import sys
import unicodedata
from pathlib import Path
from random import Random
from types import SimpleNamespace

import pytest
import torch
from script_loader import program
from torch import nn
from torch.nn import functional as F

from course_utils.base.errors import CourseError
from course_utils.checks.running.limit import time_limit
from course_utils.data import smollm2
from course_utils.data.download import DataError
from course_utils.data.measured import measured
from course_utils.models import llama


def small(seed=0):
    torch.manual_seed(seed)
    return llama.Llama(V=11, D=24, H=6, G=2, F=10, N=3).eval()


@pytest.fixture
def loaded(real_data):
    return _loaded()


def _loaded(kept=[]):  # noqa: B006
    """The model, loaded once for all tests of this file."""
    if not kept:
        kept.append(llama.load_smollm2())
    return kept[0]


def test_norm_and_attention_are_pytorchs():
    torch.manual_seed(0)
    x, norm, theirs = torch.randn(2, 3, 7), llama.RMSNorm(7), nn.RMSNorm(7, eps=1e-5)
    norm.weight.data = theirs.weight.data = torch.rand(7)
    assert torch.allclose(norm(x), theirs(x), atol=1e-6)
    q, k, v = torch.randn(2, 6, 5, 4), torch.randn(2, 2, 5, 4), torch.randn(2, 2, 5, 4)
    context, weights = llama.grouped_attention(q, k, v)
    each = [part.repeat_interleave(3, 1) for part in (k, v)]
    assert torch.allclose(context, F.scaled_dot_product_attention(q, *each, is_causal=True), atol=1e-6)
    assert torch.allclose(weights.sum(-1), torch.ones(2, 6, 5)) and weights.triu(1).count_nonzero() == 0


@pytest.mark.parametrize("pieces", [(7,), (1,) * 7, (3, 1, 3)])
@torch.no_grad()
def test_cached_logits_are_the_same_however_the_text_is_cut(pieces):
    model, ids = small(), torch.randint(11, (2, 7), generator=torch.Generator().manual_seed(0))
    caches = model.new_caches()
    parts = [model(part, caches) for part in ids.split(pieces, 1)]
    assert torch.allclose(torch.cat(parts, 1), model(ids), atol=1e-5)
    assert caches[0]["k"].shape == (2, 2, 7, 4)


def test_no_logits_depend_on_later_ids():
    model, ids = small(), torch.arange(8)[None]
    changed = torch.where(torch.arange(8) < 5, ids, 10 - ids)
    same = model(ids)[:, :5] - model(changed)[:, :5]
    assert same.abs().max() < 1e-6


def test_sizes_and_ids_that_do_not_fit_are_said():
    with pytest.raises(CourseError, match="the width 10 must be a multiple of the heads 4"):
        llama.Llama(V=5, D=10, H=4, G=2, F=3, N=1)
    with pytest.raises(CourseError, match="the ids must lie between 0 and 10"):
        small()(torch.tensor([[11]]))
    with pytest.raises(CourseError, match="weights of the kind Q2_K cannot be read"):
        llama.unpack(torch.zeros(1, 20, dtype=torch.uint8), "Q2_K")


def _text(words):
    return struct.pack("<Q", len(words)) + words.encode()


GGUF, FACT = b"GGUF" + struct.pack("<I", 3), _text("llama.x")
LIES = {
    "text": b"no such file" * 100,
    "empty": b"",
    "many tensors": GGUF + struct.pack("<QQ", 10**15, 0) + bytes(1000),
    "many facts": GGUF + struct.pack("<QQ", 0, 10**15) + bytes(1000),
    "a long list of numbers": GGUF + struct.pack("<QQ", 0, 1) + FACT + struct.pack("<IIQ", 9, 4, 10**15) + bytes(1000),
    "a long list of texts": GGUF + struct.pack("<QQ", 0, 1) + FACT + struct.pack("<IIQ", 9, 8, 10**15) + bytes(1000),
    "a long name": GGUF + struct.pack("<QQ", 0, 1) + struct.pack("<Q", 10**15) + bytes(1000),
}


@pytest.mark.parametrize("content", LIES.values(), ids=LIES)
def test_a_model_file_that_lies_is_refused_at_once(tmp_path, content):
    (tmp_path / "a.gguf").write_bytes(content)
    with pytest.raises(DataError, match="cannot be read as a Llama model in GGUF format"), time_limit(5):
        llama.load_smollm2(tmp_path / "a.gguf")


def test_a_model_file_with_false_sizes_is_refused_at_once(tmp_path):
    whole = smollm2._write_stand_in().read_bytes()
    place = whole.index(b"llama.block_count") + len(b"llama.block_count") + 4
    (tmp_path / "a.gguf").write_bytes(whole[:place] + struct.pack("<I", 10**8) + whole[place + 4 :])
    with pytest.raises(DataError, match="it says that it has 100,000,000 layers, and it has 30"), time_limit(20):
        llama.load_smollm2(tmp_path / "a.gguf")
    (tmp_path / "a.gguf").write_bytes(whole[: len(whole) // 2])
    with pytest.raises(DataError, match="it ends earlier than it says"), time_limit(20):
        llama.load_smollm2(tmp_path / "a.gguf")
    assert len(llama.load_smollm2(smollm2._write_stand_in()).model.layers) == 30


def test_blocks_are_unpacked_as_by_the_library_gguf():
    import gguf

    draw = torch.Generator().manual_seed(0)
    numbers = torch.randn(6, 64, generator=draw).numpy()
    for kind in ("Q4_1", "Q8_0"):
        type_ = gguf.GGMLQuantizationType[kind]
        packed = gguf.quantize(numbers, type_)
        assert torch.equal(llama.unpack(torch.tensor(packed), kind), torch.tensor(gguf.dequantize(packed, type_)))


def test_the_page_defines_the_same_model():
    sys.path.insert(0, str(Path(__file__).parents[1] / "benchmarks"))
    page = program("measuring").page("22_real_language_model")
    torch.manual_seed(0)
    theirs = page.Llama(V=11, D=24, H=6, G=2, F=10, N=3)
    ours, ids = small(), torch.arange(9)[None]
    assert theirs.state_dict().keys() == ours.state_dict().keys()
    theirs.load_state_dict(ours.state_dict())
    caches = [{} for _ in range(3)], ours.new_caches()
    for part in (ids[:, :6], ids[:, 6:]):
        torch.testing.assert_close(theirs(part, caches[0]), ours(part, caches[1]))
    torch.testing.assert_close(theirs(ids), ours(ids))
    theirs(ids).sum().backward()
    ours(ids).sum().backward()
    for one, other in zip(theirs.parameters(), ours.parameters(), strict=True):
        torch.testing.assert_close(one.grad, other.grad)
    blocks = torch.randint(256, (5, 20), dtype=torch.uint8)
    blocks[:, :4] = torch.tensor([0.5, -1.0], dtype=torch.float16).view(torch.uint8)
    assert torch.equal(page.unpack(blocks), llama.unpack(blocks, "Q4_1"))


def test_a_random_model_stands_in_for_a_missing_file_and_says_so(tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("COURSE_DATA_MIRROR", str(tmp_path))
    monkeypatch.delenv("COURSE_REAL_DATA", raising=False)
    model, tokenizer, facts = llama.load_smollm2(smollm2.file_or_stand_in())
    assert capsys.readouterr().out.startswith("STAND-IN: a small model with random weights")
    ids = tokenizer.encode("<|im_start|>user\nWhy? 12 €").ids
    assert ids[0] == 1 and tokenizer.decode(ids, skip_special_tokens=False) == "<|im_start|>user\nWhy? 12 €"
    assert model(torch.tensor([ids])).isfinite().all() and len(model.layers) == 30
    monkeypatch.setenv("COURSE_REAL_DATA", "1")
    with pytest.raises(CourseError, match="it is not there"):
        smollm2.file_or_stand_in()


SMALL = {"embedding_length": 24, "attention.head_count": 6, "feed_forward_length": 10, "block_count": 2}


def write_gguf(path, facts, model, half=False):
    """Write a small model as a GGUF file: `facts` change or, by None, remove what the file says."""
    from gguf import GGUFWriter

    tokens = [*"abcdefghij", "ab"]
    said = {f"llama.{name}": size for name, size in SMALL.items()} | facts
    file, names = GGUFWriter(path, said.pop("general.architecture", "llama")), {v: k for k, v in llama.NAMES.items()}
    for name, value in said.items():
        if value is not None:
            {int: file.add_uint32, float: file.add_float32, str: file.add_string}[type(value)](name, value)
    file.add_token_list(tokens)
    file.add_token_merges(["a b"])
    for name, values in model.state_dict().items():
        for ours in sorted(names, key=len, reverse=True):  # norms of sub-layers before the last one
            if f"{ours}." in f"{name}.":
                name = name.replace(ours, names[ours], 1)
                break
        name = name.replace("layers.", "blk.")
        file.add_tensor(name, values.half().numpy() if half else values.numpy())
    file.write_header_to_file()
    file.write_kv_data_to_file()
    file.write_tensors_to_file()
    file.close()
    return path


def model_of(tied=True, G=6, theta=1e4, eps=1e-5):
    torch.manual_seed(1)
    return llama.Llama(V=11, D=24, H=6, G=G, F=10, N=2, theta=theta, eps=eps, tied=tied)


@pytest.mark.parametrize("half", [False, True])
@pytest.mark.parametrize("sizes", [{}, {"tied": False}, {"G": 2, "theta": 500.0, "eps": 1e-3}])
@torch.no_grad()
def test_a_file_that_leaves_out_optional_facts_is_read(sizes, half, tmp_path):
    names = {ours: f"llama.{name}" for name, ours in llama.OPTIONAL_SIZES.items()}
    facts = {names[name]: value for name, value in sizes.items() if name in names}
    model, ids = model_of(**sizes), torch.arange(11)[None]
    found = llama.load_smollm2(write_gguf(tmp_path / "one.gguf", facts, model, half))
    torch.testing.assert_close(found.model(ids), model(ids), atol=0.01 if half else 1e-5, rtol=0.01 if half else 1e-5)
    assert found.tokenizer.encode("ab").ids == [10]


@pytest.mark.parametrize(
    "facts, sentence",
    [
        ({"llama.block_count": None}, "the file does not say llama.block_count"),
        ({"llama.block_count": 10**8}, "it says that it has 100,000,000 layers, and it has 2"),
        ({"llama.rope.dimension_count": 2}, "it must be a head's width, 4"),
        ({"llama.rope.scaling.type": "linear"}, "only 'none' can be read"),
        ({"tokenizer.ggml.model": "llama"}, "tokenizer.ggml.model = 'llama', and only 'gpt2' can be read"),
        ({"general.architecture": "qwen2"}, "general.architecture = 'qwen2', and only 'llama' can be read"),
        ({"llama.feed_forward_length": 9}, "must have the shape"),
        ({"llama.block_count": 1}, "it says that it has 1 layers, and it has 2"),
    ],
)
def test_a_file_of_another_model_is_refused_with_a_sentence(facts, sentence, tmp_path):
    with pytest.raises(CourseError, match=re.escape(sentence)):
        llama.load_smollm2(write_gguf(tmp_path / "one.gguf", facts, model_of()))


def test_a_file_with_other_weights_is_refused_with_a_sentence(tmp_path):
    for change, sentence in ((torch.nn.Linear(2, 2), "the file has weights"), (None, "the file lacks the weights")):
        model = model_of()
        model.norm = change
        with pytest.raises(CourseError, match=sentence):
            llama.load_smollm2(write_gguf(tmp_path / "one.gguf", {}, model))


def test_a_file_that_is_not_gguf_is_refused_with_a_sentence(tmp_path):
    (tmp_path / "one.gguf").write_bytes(bytes(64))
    with pytest.raises(CourseError, match="cannot be read as a Llama model in GGUF format"):
        llama.load_smollm2(tmp_path / "one.gguf")


def test_the_page_says_that_a_prompt_is_empty():
    page = program("measuring").page("22_real_language_model", tokenizer=SimpleNamespace(encode=_no_tokens))
    with pytest.raises(AssertionError, match="the prompt is empty"):
        page.write("", cached=False)


def _no_tokens(text):
    return SimpleNamespace(ids=[])


# With the file


@torch.no_grad()
@pytest.mark.thorough
def test_the_model_writes_what_the_top_of_the_page_shows(loaded):
    page = Path(__file__).parents[1] / "course_lessons/lesson_22_real_language_model/lesson.py"
    (shown,) = re.findall(r"# ```text\n(.*?)# ```\n", page.read_text(encoding="utf-8"), re.DOTALL)
    *prompt, answer = [line.removeprefix("# ") for line in shown.splitlines()]
    ids = loaded.tokenizer.encode("\n".join([*prompt, ""])).ids
    length = len(ids)
    while ids[-1] != loaded.tokenizer.token_to_id("<|im_end|>"):
        ids.append(loaded.model(torch.tensor([ids]))[0, -1].argmax().item())
    assert loaded.tokenizer.decode(ids[length:], skip_special_tokens=False) == answer


@torch.no_grad()
def test_the_logits_are_those_of_transformers(loaded):
    assert sum(weights.numel() for weights in loaded.model.parameters()) == 134_515_008
    for number, text in enumerate(program("llama").TEXTS):
        logits = loaded.model(torch.tensor([loaded.tokenizer.encode(text).ids]))[0, -1]
        tokens, (wanted,) = measured("llama_logits", "logit", "token", text=number)
        assert len(wanted) == 20
        assert (logits[torch.tensor(tokens).long()] - torch.tensor(wanted)).abs().max() < 1e-3
        assert logits.argmax().item() == tokens[wanted.index(max(wanted))]


PLAIN = [*range(33, 127), *range(161, 173), *range(174, 256)]
BYTES = {b: chr(b) for b in PLAIN} | {b: chr(256 + i) for i, b in enumerate(b for b in range(256) if b not in PLAIN)}
WORD = re.compile(r"'(?:s|t|re|ve|m|ll|d)| ?[^\W\d_]+| ?(?:[^\s\w]|_)+|\s+(?!\S)|\s+")


def pieces_of(text):
    """GPT-2's pattern, with each digit by itself, in the standard library alone."""
    run = ""
    for letter in text:
        if unicodedata.category(letter)[0] == "N":
            yield from WORD.findall(run)
            yield letter
            run = ""
        else:
            run += letter
    yield from WORD.findall(run)


def tokens_of(text, rank):
    """Byte-pair encoding in the standard library alone."""
    for piece in pieces_of(text):
        parts = [BYTES[byte] for byte in piece.encode()]
        while pairs := [pair for pair in zip(parts, parts[1:], strict=False) if pair in rank]:
            best, joined = min(pairs, key=rank.get), []
            for part in parts:
                if joined and (joined[-1], part) == best:
                    joined[-1] += part
                else:
                    joined.append(part)
            parts = joined
        yield from parts


def test_tokens_are_those_of_another_implementation(loaded):
    from course_utils.data.multi30k import load_multi30k

    rank = {tuple(merge.split(" ")): i for i, merge in enumerate(loaded.facts["tokenizer.ggml.merges"])}
    ids = {token: i for i, token in enumerate(loaded.facts["tokenizer.ggml.tokens"])}
    code = (Path(llama.__file__).read_text(encoding="utf-8") + Path(__file__).read_text(encoding="utf-8")).splitlines()
    draw = Random(0)  # what neither captions nor code has: scripts, emoji, digits and blanks, side by side
    odd = [
        "a",
        "B",
        " ",
        "  ",
        "\t",
        "\n",
        "7",
        "12",
        "٣",
        "Ⅳ",
        "²",
        "🙂",
        "👩‍👧",
        "汉字",
        "ñ",
        "€",
        "_",
        "'s",
        "n't",
        "'ll",
        "-",
        "...",
    ]
    mixed = ["".join(draw.choices(odd, k=12)) for _ in range(250)]
    pairs = [load_multi30k("val", pair) for pair in ("en-de", "fr-de")]
    captions = [text for pair in pairs for texts in (pair.sources, pair.targets) for text in texts[:150]]
    lines = [*mixed, *captions, *(line for line in code if line)][:1000]
    assert len(lines) == 1000
    for line in lines:
        line = line.replace("<|", "< |")  # marks are tokens of their own
        found = loaded.tokenizer.encode(line)
        assert found.ids == [ids[token] for token in tokens_of(line, rank)], line
        assert loaded.tokenizer.decode(found.ids) == line


@pytest.mark.thorough
@torch.no_grad()
def test_transformers_computes_the_same_and_writes_the_same(loaded):
    compared = program("llama")
    theirs = compared.as_transformers(loaded.model)
    for text in compared.TEXTS:
        ids = torch.tensor([loaded.tokenizer.encode(text).ids])
        reference = theirs(ids, attention_mask=torch.ones_like(ids)).logits
        caches = loaded.model.new_caches()
        cached = torch.cat([loaded.model(each, caches) for each in ids.split(1, 1)], 1)
        assert (reference - loaded.model(ids)).abs().max() < 1e-3 and (reference - cached).abs().max() < 1e-3
        made = compared.generate(theirs, ids, 50)
        logits = loaded.model(made)[0, ids.shape[1] - 1 : -1]  # 50 V
        best = logits.topk(2).values
        clear = best[:, 0] - best[:, 1] > 1e-3  # a near tie may be decided otherwise
        assert (logits.argmax(-1) == made[0, ids.shape[1] :])[clear].all()
