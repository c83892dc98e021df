"""Tests of the data for translation: Multi30k, subwords, and the generated world's truth.

Subwords are trained on generated texts, so that no test needs the network. Only the tests of Multi30k itself need its
files.
"""

import doctest
import gzip
import hashlib
import json
import os
import re
import subprocess
import sys
import time
import unicodedata
from collections import Counter

import numpy as np
import pytest
import timeouts
from hypothesis import example, given, settings
from hypothesis import strategies as st

from course_utils.base.errors import CourseError
from course_utils.data import download, world
from course_utils.data.download import DataError
from course_utils.data.multi30k import load_multi30k
from course_utils.data.pairs import Pairs
from course_utils.data.subwords import BOS, EOS, PAD, UNK, Subwords, subwords_for
from course_utils.data.world import ORDERS, World
from course_utils.data.world import generate_translations as generate


# --- pairs
def test_pairs_say_what_does_not_match():
    assert len(Pairs(["a", "b"], ["c", "d"])) == 2
    with pytest.raises(CourseError, match="2 sources came with 1 targets"):
        Pairs(["a", "b"], ["c"])
    with pytest.raises(CourseError, match="1 sources came with 0 alignments"):
        Pairs(["a"], ["b"], [])


# --- Multi30k
def test_lines_become_single_spaced_texts_and_empty_ones_stay(monkeypatch, tmp_path):
    english, german = "A man .\n\nTwo  dogs\u2028run. \n", "Ein\u00a0Mann .\n Zwei Hunde\tlaufen.\n\n"
    registry = {}
    (tmp_path / "multi30k").mkdir()
    for language, text in {"en": english, "de": german, "fr": "c\n"}.items():
        content = gzip.compress(text.encode())
        (tmp_path / "multi30k" / f"val.{language}.gz").write_bytes(content)
        registry[f"multi30k/val.{language}.gz"] = ("", hashlib.sha256(content).hexdigest())
    monkeypatch.setattr(download, "REGISTRY", registry)
    monkeypatch.setenv("COURSE_DATA_MIRROR", str(tmp_path))
    pairs = load_multi30k("val")
    assert pairs.sources == ["A man .", "", "Two dogs run."]
    assert pairs.targets == ["Ein Mann .", "Zwei Hunde laufen.", ""]
    assert pairs.alignments is None
    turned = load_multi30k("val", "de-en")
    assert (turned.sources, turned.targets) == (pairs.targets, pairs.sources)
    with pytest.raises(DataError, match=r"val\.en\.gz as in val\.fr\.gz, but they have 3 and 1"):
        load_multi30k("val", "en-fr")


def test_an_unknown_pair_or_split_is_refused():
    for pair in ("de", "en-en", "en-cs", "EN-DE", "en_de"):
        with pytest.raises(CourseError, match=f"pair must be one of en-de, en-fr, .*fr-de, not '{pair}'"):
            load_multi30k("val", pair)
    with pytest.raises(CourseError, match="split must be one of train, val, test_2016_flickr.* not 'test'"):
        load_multi30k("test")


SIZES = {"train": 29000, "val": 1014, "test_2016_flickr": 1000, "test_2017_flickr": 1000, "test_2017_mscoco": 461}


@pytest.mark.parametrize("pair", ["en-de", "fr-de"])
@pytest.mark.parametrize("split", SIZES)
def test_multi30k_has_its_known_sizes_and_aligned_sentences(real_data, split, pair):
    pairs = load_multi30k(split, pair)
    assert len(pairs) == len(pairs.targets) == SIZES[split]
    assert all(text and text == " ".join(text.split()) for text in pairs.sources + pairs.targets)
    # Translations of each other: long ones have long ones beside them, which a shift by one line would end.
    sources, targets = ([len(text) for text in side] for side in (pairs.sources, pairs.targets))
    assert np.corrcoef(sources, targets)[0, 1] > 0.6 > np.corrcoef(sources[1:], targets[:-1])[0, 1]


@pytest.mark.thorough
def test_subwords_of_multi30k_are_lossless_and_fast(real_data):
    pairs = load_multi30k("train")
    texts = pairs.sources + pairs.targets
    subwords = Subwords.train(texts, 4000)
    assert len(subwords) == 4000
    start = time.process_time()
    rows = subwords.encode(texts)
    assert time.process_time() - start < 10  # 1.2 s where it was measured
    start = time.process_time()
    assert subwords.decode(rows) == texts
    assert time.process_time() - start < 2  # 0.1 s
    assert not any(UNK in row for row in rows)
    assert sum(map(len, rows)) / sum(len(text.split()) for text in texts) < 1.45  # 1.38: most words are whole
    assert subwords.tokens(rows[29000])[:6] == ["▁Zwei", "▁junge", "▁weiße", "▁Männer", "▁sind", "▁im"]


# --- subwords
CORPUS = generate(1500, 1, vocabulary=150)
TEXTS = CORPUS.sources + CORPUS.targets + ["Größe, naïve; l'homme (déjà) 3.5%! 東京"] * 300
SUBWORDS = Subwords.train(TEXTS, 900)
ASSIGNED = st.text(st.characters(exclude_categories=("Cs", "Cn")))  # Python and the library may know different Unicodes


@settings(max_examples=100, deadline=None)
@given(ASSIGNED)
@example("A man, (50) can't — or won't — say: 'l'été'.")
@example("<pad> <bos> <eos> <unk> <eos> ")
@example(" a  b ")
@example("▁Ġ ▁ e\u0301 🎉👩\u200d🚀 \x00\x85\xa0")
def test_subwords_give_back_any_text(text):
    (row,) = SUBWORDS.encode([text])
    assert SUBWORDS.decode([row]) == [unicodedata.normalize("NFC", text)]
    assert all(UNK < token < len(SUBWORDS) for token in row) and (text or row == [])


def test_decode_ends_at_eos_and_drops_pad_and_bos():
    (row, sign) = SUBWORDS.encode(["the dogs slept", "🎉"])
    assert SUBWORDS.decode([[BOS, *row, EOS, *row, PAD], [EOS], [], [PAD, PAD]]) == ["the dogs slept", "", "", ""]
    assert SUBWORDS.decode([[PAD, *row]]) == ["the dogs slept"]
    assert len(sign) > 2 and SUBWORDS.decode([sign[:-1]]) == ["\ufffd"]  # half a character is replaced


def test_subwords_are_joint_and_frequent_words_are_whole():
    assert len(SUBWORDS) == 900
    rows = SUBWORDS.encode(["my dogs", "kremil Größe, naïve"])
    assert [SUBWORDS.tokens(row) for row in rows] == [["▁my", "▁dogs"], ["▁kremil", "▁Größe", ",", "▁naïve"]]
    assert SUBWORDS.tokens([PAD, BOS, EOS, UNK]) == ["<pad>", "<bos>", "<eos>", "<unk>"]
    assert SUBWORDS.tokens(SUBWORDS.encode(["ж"])[0]) == ["▁", "\\xd0", "\\xb6"]


@settings(max_examples=100, deadline=None)
@given(st.lists(ASSIGNED.map(lambda text: "".join(text.split())).filter(bool), min_size=1))
def test_word_of_says_which_word_each_subword_is_in(words):
    words = unicodedata.normalize("NFC", " ".join(words)).split(" ")
    (row,) = SUBWORDS.encode([" ".join(words)])
    places = SUBWORDS.word_of([BOS, *row, EOS, PAD])
    assert (places[0], places[-2:]) == (-1, [-1, -1])
    assert len(places) == len(row) + 3
    for place, word in enumerate(words):
        piece = [token for token, at in zip(row, places[1:-2], strict=True) if at == place]
        assert SUBWORDS.decode([piece]) == [word]
    assert set(places[1:-2]) == set(range(len(words)))


def test_word_of_counts_spaces_to_the_following_or_last_word():
    (row,) = SUBWORDS.encode(["  my  dogs "])
    assert "".join(SUBWORDS.tokens(row)) == "▁▁▁my▁▁dogs▁"
    by_word = dict.fromkeys(SUBWORDS.word_of(row), "")
    for token, place in zip(SUBWORDS.tokens(row), SUBWORDS.word_of(row), strict=True):
        by_word[place] += token
    assert by_word == {0: "▁▁▁my", 1: "▁▁dogs▁"}
    assert SUBWORDS.word_of([]) == []


def test_whole_words_can_be_a_vocabulary():
    words = Subwords.words(["the cat and the dog .", "dog and the"])
    assert words.tokens(list(range(len(words)))) == "<pad> <bos> <eos> <unk> the and dog . cat".split()
    rows = words.encode(["the bird and cat", "", "<eos> <pad>", "dog."])
    assert rows == [[4, UNK, 5, 8], [], [UNK, UNK], [UNK]]
    assert words.decode([[BOS, *rows[0], EOS, 4]]) == ["the <unk> and cat"]
    assert words.word_of([BOS, *rows[0], EOS, PAD]) == [-1, 0, 1, 2, 3, -1, -1]
    world_words = Subwords.words(CORPUS.sources + CORPUS.targets)
    assert world_words.decode(world_words.encode(CORPUS.targets)) == CORPUS.targets


def test_a_size_without_room_for_the_bytes_is_refused():
    with pytest.raises(CourseError, match="size must be at least 260, .* not 259"):
        Subwords.train(["a b"], 259)
    assert len(Subwords.train([], 260)) == 260


@pytest.mark.parametrize("subwords", [SUBWORDS, Subwords.words(TEXTS)], ids=["subwords", "words"])
def test_saved_and_loaded_is_the_same(subwords, tmp_path):
    subwords.save(tmp_path / "one.json")
    loaded = Subwords.load(tmp_path / "one.json")
    loaded.save(tmp_path / "two.json")
    assert (tmp_path / "one.json").read_bytes() == (tmp_path / "two.json").read_bytes()
    assert len(loaded) == len(subwords)
    rows = subwords.encode(TEXTS)
    assert loaded.encode(TEXTS) == rows
    assert loaded.decode(rows) == subwords.decode(rows) == TEXTS
    assert loaded.tokens(rows[0]) == subwords.tokens(rows[0])
    assert loaded.word_of(rows[0]) == subwords.word_of(rows[0])


def foreign_files():
    """Return contents that are no vocabulary of ours, by what is wrong with them."""
    from tokenizers import Tokenizer, models

    text, words = SUBWORDS.tokenizer.to_str(), Subwords.words(TEXTS).tokenizer.to_str()
    plain = {"single_word": False, "lstrip": False, "rstrip": False, "normalized": False, "special": True}
    broken = {"continuing_subword_prefix": "\x1b[31m" * 3}

    def changed(change):
        content = json.loads(text)
        change(content)
        return json.dumps(content).encode()

    return {
        "empty": b"",
        "cut off": text.encode()[:-100],
        "not a text": b"\xff\x00",
        "a list": b"[]",
        "an object": b"{}",
        "a BERT": Tokenizer(models.WordPiece(unk_token="[UNK]")).to_str().encode(),
        "a plain BPE": Tokenizer(models.BPE()).to_str().encode(),
        "other steps": changed(lambda content: content.update(pre_tokenizer={"type": "Whitespace"})),
        "added tokens": changed(lambda content: content["added_tokens"].append(plain | {"id": 900, "content": "dog"})),
        "other specials": changed(lambda content: content["model"]["vocab"].update({"<pad> ": BOS, "<bos> ": PAD})),
        "a setting over which the library breaks down": changed(lambda content: content["model"].update(broken)),
        "no word for the unknown": words.replace('"unk_token":"<unk> "', '"unk_token":""').encode(),
        "a gap": changed(lambda content: content["model"]["vocab"].update({"Ġthe": 1000})),
    }


@pytest.mark.parametrize("name", foreign_files())
def test_a_file_that_is_no_vocabulary_is_refused(name, tmp_path):
    file = tmp_path / "vocabulary.json"
    file.write_bytes(foreign_files()[name])
    with pytest.raises(CourseError, match=r"vocabulary\.json to hold a vocabulary .*: copy it anew, or") as caught:
        Subwords.load(file)
    assert "\n" not in str(caught.value)
    with pytest.raises(FileNotFoundError):
        Subwords.load(tmp_path / "missing.json")


_TRAIN = """
import hashlib, os, sys
from course_utils.data.subwords import Subwords
from course_utils.data.world import generate_translations
assert "tokenizers" not in sys.modules  # what the first lessons import does not wait for it
pairs = generate_translations(1500, 1, vocabulary=150)
subwords = Subwords.train(pairs.sources + pairs.targets, 600)
print(hashlib.sha256(subwords.tokenizer.to_str().encode()).hexdigest())
if os.name == "posix":  # as a data loader does
    assert os.environ["TOKENIZERS_PARALLELISM"] == "false"  # else some versions of the library warn
    rows, child = subwords.encode(pairs.sources), os.fork()
    if not child:
        os._exit(subwords.encode(pairs.sources) != rows)
    assert os.waitpid(child, 0)[1] == 0
"""


def test_equal_texts_give_the_same_vocabulary_in_every_process():
    here = Subwords.train(CORPUS.sources + CORPUS.targets, 600)
    sha256 = hashlib.sha256(here.tokenizer.to_str().encode()).hexdigest()
    command = [sys.executable, "-c", _TRAIN]
    environment = {name: value for name, value in os.environ.items() if name != "TOKENIZERS_PARALLELISM"}
    alone = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=timeouts.SECONDS)
    assert alone.stdout.strip() == sha256 and "tokenizers" not in alone.stderr, alone.stderr


@pytest.fixture
def trainings(monkeypatch, tmp_path):
    """Count trainings, with an empty cache; more room in the cache's folder than a test needs."""
    counted, train = [], Subwords.train
    monkeypatch.setattr(Subwords, "train", lambda texts, size: counted.append(size) or train(texts, size))
    monkeypatch.setenv("COURSE_DATA", str(tmp_path / "cache"))
    return counted


def test_subwords_are_trained_once_and_replace_a_damaged_cache(trainings, tmp_path):
    first = subwords_for("toy", TEXTS, 400).encode(TEXTS)
    assert subwords_for("toy", list(TEXTS), 400).encode(TEXTS) == first and trainings == [400]
    (file,) = (tmp_path / "cache").rglob("*.*")
    assert file.parent.name == "subwords" and file.name.startswith("toy-400-")
    whole = file.read_bytes()
    file.write_bytes(whole[:1000])
    assert subwords_for("toy", TEXTS, 400).encode(TEXTS) == first and file.read_bytes() == whole
    subwords_for("toy", TEXTS, 401)
    subwords_for("toy", TEXTS[:-1], 400)
    subwords_for("toy", [TEXTS[0] + TEXTS[1], *TEXTS[2:]], 400)
    assert trainings == [400, 400, 401, 400, 400]


def test_an_unwritable_cache_costs_only_time(trainings, tmp_path):
    (tmp_path / "cache").write_text("a file where the folder should be")
    assert [len(subwords_for("toy", TEXTS, 400)) for _ in range(2)] == trainings == [400, 400]


# --- the generated world
WORLDS = st.builds(
    World,
    order=st.sampled_from(ORDERS),
    vocabulary=st.integers(40, 400),
    fertility=st.sampled_from([0.0, 0.2, 0.5, 1.0]),
    agreement=st.booleans(),
)


def kinds(one: World) -> dict[str, str]:
    return {word: kind for kind, words in one.words().items() for word in words}


def groups(links, places) -> list[list[int]]:
    """Return for each of so many source places the target places that are linked with it."""
    return [[target for source, target in links if source == place] for place in range(places)]


def clauses(source: list[str], kind_of: dict[str, str]) -> list[list[int]]:
    starts = [0] + [place for place, word in enumerate(source) if place and kind_of[word] == "conjunction"]
    return [list(range(a, b)) for a, b in zip(starts, [*starts[1:], len(source)], strict=True)]


def test_the_worked_example_of_the_docstring_is_right():
    result = doctest.testmod(world)
    assert result.attempted >= 4 and result.failed == 0


@settings(max_examples=80, deadline=None)
@given(WORLDS, st.data())
def test_a_world_translates_any_sequence_of_words_with_links(one, draw):
    kind_of = kinds(one)
    source = draw.draw(st.lists(st.sampled_from(sorted(kind_of)), max_size=30))
    target, links = one.translate(source)
    assert [place for _, place in links] == list(range(len(target)))
    fertilities = [len(group) for group in groups(links, len(source))]
    for word, fertility in zip(source, fertilities, strict=True):
        alone, _ = one.translate([word])
        assert len(alone) == fertility  # decided by the word, whatever is around it
        assert fertility in ({0, 1} if kind_of[word] in ("determiner", "adverb") else {1, 2})
        if kind_of[word] in ("preposition", "conjunction") or one.fertility == 0:
            assert fertility == 1
    # The order of the source words, told again.
    order = list(dict.fromkeys(source for source, _ in links))
    if one.order == "monotone":
        assert order == sorted(order)
    elif one.order == "reversed":
        assert order == sorted(order, reverse=True)
    else:
        expected = []
        for clause in clauses(source, kind_of):
            verbs = [place for place in clause if kind_of[source[place]] == "verb"]
            expected += [place for place in clause if place not in verbs] + verbs
        assert order == [place for place in expected if fertilities[place]]
    # And two words of one stay together, in the dictionary's order.
    for group in groups(links, len(source)):
        assert group == list(range(group[0], group[0] + len(group))) if group else True


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("agreement", [True, False])
def test_agreement_shows_in_the_endings_of_each_clause(order, agreement):
    one = World(order=order, agreement=agreement)
    kind_of = kinds(one)
    pairs = generate(1500, 3, longest=30, order=order, agreement=agreement)
    seen, distances = Counter(), Counter()
    for source, target, links in zip(pairs.sources, pairs.targets, pairs.alignments, strict=True):
        source, target = source.split(), target.split()
        last = [target[group[-1]] if group else "" for group in groups(links, len(source))]
        for clause in clauses(source, kind_of):
            nouns = [place for place in clause if kind_of[source[place]] == "noun"]
            for place in nouns:
                assert last[place][-1] in ("ie" if source[place].endswith("s") else "oa")
            for place in clause:
                kind = kind_of[source[place]]
                if kind == "adjective":
                    noun = next(at for at in nouns if at > place)
                    assert last[place][-1] == (last[noun][-1] if agreement else "o")
                elif kind == "verb":
                    assert last[place][-2:] == (last[nouns[0]][-1] if agreement else "o") + "r"
                    seen[last[place][-2:]] += 1
                    distances[place - nouns[0]] += 1
    assert set(seen) == ({"or", "ir", "ar", "er"} if agreement else {"or"})
    assert distances[1] > 500  # next to each other
    assert sum(distances[far] for far in range(3, 10)) > 300  # and far


@settings(max_examples=30, deadline=None)
@given(WORLDS)
def test_each_word_has_one_sense(one):
    kind_of = kinds(one)
    assert len(kind_of) == one.vocabulary
    assert all(words for words in one.words().values())
    owner = {}
    for word, kind in kind_of.items():
        lemma = word.removesuffix("s") if kind == "noun" else word
        for noun in one.words()["noun"][:4]:  # both genders and numbers
            target, links = one.translate([word, noun, one.words()["verb"][0]])
            for source, place in links:
                if source == 0:
                    assert owner.setdefault(target[place], lemma) == lemma
    assert set(owner).isdisjoint(kind_of)
    assert all(word.isascii() and word.isalpha() and word.islower() for word in [*owner, *kind_of])


def test_gender_is_not_seen_in_the_source_and_is_fair():
    one = World(vocabulary=200, fertility=0)
    endings = Counter(one.translate([noun])[0][0][-1] for noun in one.words()["noun"])
    assert set(endings) == set("oiae")
    assert endings["o"] == endings["i"] and endings["a"] == endings["e"]
    assert abs(endings["o"] - endings["a"]) <= 1


def test_a_larger_fertility_adds_to_the_words_of_a_smaller_one():
    chosen = {}
    for share in (0, 0.2, 0.5, 1):
        one = World(vocabulary=300, fertility=share)
        counts = {word: len(one.translate([word])[0]) for word in kinds(one)}
        chosen[share] = {word for word, count in counts.items() if count != 1}
        for kind, words in one.words().items():
            fixed = kind in ("preposition", "conjunction")
            received = len(chosen[share].intersection(words)) / len(words)
            assert received == pytest.approx(0 if fixed else share, abs=0.11)
    assert chosen[0] == set()
    assert chosen[0.2] < chosen[0.5] < chosen[1]
    assert "the" in chosen[0.2]
    # What is not chosen is translated alike.
    few, many = World(fertility=0.2), World(fertility=0.5)
    both = [word for word in kinds(few) if word not in chosen[0.5]]
    assert few.translate(both[:20])[0] == many.translate(both[:20])[0]


def test_the_shares_that_the_docstring_names_are_right():
    pairs = generate(5000, 1)
    both = zip(pairs.sources, pairs.alignments, strict=True)
    counts = Counter(len(group) for text, links in both for group in groups(links, len(text.split())))
    assert counts[2] / counts.total() == pytest.approx(0.17, abs=0.01)
    assert counts[0] / counts.total() == pytest.approx(0.03, abs=0.005)


@settings(max_examples=60, deadline=None)
@given(st.integers(1, 60), st.integers(0, 60), st.integers(0, 2**32), st.sampled_from([40, 100, 300]))
def test_sentences_have_the_lengths_that_were_asked_for(shortest, more, seed, vocabulary):
    pairs = generate(20, seed, shortest=shortest, longest=shortest + more, vocabulary=vocabulary)
    assert len(pairs) == len(pairs.targets) == len(pairs.alignments) == 20
    kind_of = kinds(World(vocabulary=vocabulary))
    for text in pairs.sources:
        source = text.split(" ")
        assert shortest <= len(source) <= shortest + more
        for clause in clauses(source, kind_of):
            told = "".join(LETTERS[kind_of[source[place]]] for place in clause)
            assert CLAUSE.fullmatch(told) or told == "n" and len(source) == 1, told
            assert len(told.removeprefix("&")) <= world.LONGEST_CLAUSE
            for at in range(1, len(told)):
                assert told[at - 1 : at + 1] != "aa" or source[clause[at]] != source[clause[at - 1]]


KINDS = ("determiner", "adjective", "noun", "preposition", "verb", "adverb", "conjunction")
LETTERS = dict(zip(KINDS, "danpvt&", strict=True))
CLAUSE = re.compile("&?t?d?a*n(pd?a*n)?v(d?a*n)?(pd?a*n)*")


def test_all_lengths_and_words_are_equally_likely():
    pairs = generate(18_000, 5, shortest=4, longest=12)
    lengths = Counter(len(text.split()) for text in pairs.sources)
    assert set(lengths) == set(range(4, 13))
    assert 1800 < min(lengths.values()) <= max(lengths.values()) < 2200  # 2,000 expected
    words = Counter(word for text in pairs.sources for word in text.split())
    for kind in World().words().values():
        counts = [words[word] for word in kind]
        assert max(counts) < 1.2 * min(counts)


def test_the_same_seed_gives_the_same_pairs_and_another_others():
    first, same, longer, other = generate(200, 1), generate(200, 1), generate(300, 1), generate(200, 2)
    assert (first.sources, first.targets, first.alignments) == (same.sources, same.targets, same.alignments)
    assert longer.sources[:200] == first.sources
    assert set(first.sources).isdisjoint(other.sources)
    # The same on every machine and version, as long as the grammar is.
    assert first.sources[1] == "old horses left letters"
    assert first.targets[1] == "kluru spudi soni nivu vimi bavir"
    assert first.alignments[1] == [(0, 0), (0, 1), (1, 2), (3, 3), (3, 4), (2, 5)]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"order": "verb_last"}, "order must be one of monotone, verb-last, reversed, not 'verb_last'"),
        ({"vocabulary": 39}, "vocabulary must be at least 40 words and at most 100,000, not 39"),
        ({"vocabulary": 10**9}, "vocabulary must be at least 40 words and at most 100,000, not 1,000,000,000"),
        ({"fertility": 1.1}, "fertility is a share: it must lie between 0 and 1, not be 1.1"),
        ({"fertility": float("nan")}, "fertility is a share"),
        ({"shortest": 0}, "expected 1 <= shortest <= longest <= 1,000, as words of a sentence, not 0 and 12"),
        ({"longest": 10**8}, "not 4 and 100,000,000"),
        ({"shortest": 13}, "not 13 and 12"),
    ],
)
def test_impossible_arguments_are_refused(arguments, message):
    with pytest.raises(CourseError, match=message):
        generate(10, 0, **arguments)


def test_an_unknown_word_is_refused():
    with pytest.raises(CourseError, match=r"'zebra' is no word of this world: take those of World\.words"):
        World().translate(["my", "zebra"])


def test_default_words_are_english_and_large_worlds_are_quick():
    for kind, words in World(vocabulary=200).words().items():
        singulars = words[::2] if kind == "noun" else words
        assert set(singulars) <= set(world._BASE[kind].split())
    start = time.process_time()
    assert len(kinds(World(vocabulary=20_001))) == 20_001
    assert time.process_time() - start < 5
