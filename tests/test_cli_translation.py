"""Holds `course train`, `translate` and `evaluate` to what they promise, each wrong use to one sentence, and the docs to the settings.

Not here: training itself (`test_training.py`), the search (`test_decoding.py`), the other commands (`test_cli.py`).
"""

import io
import json
import os
import re
import shlex
import shutil
import signal
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
import timeouts
import torch
from repository import ROOT

from course_utils import commands
from course_utils.base.errors import CourseError
from course_utils.commands import _trained
from course_utils.commands import train as train_command
from course_utils.commands import translate as translate_command
from course_utils.data.download import DataError
from course_utils.data.multi30k import load_multi30k
from course_utils.data.pairs import Pairs
from course_utils.data.subwords import BOS, EOS, Subwords
from course_utils.data.world import generate_translations
from course_utils.models import serialization
from course_utils.training import corpus, processes
from course_utils.training import device as devices
from course_utils.training.corpus import load_pairs
from course_utils.training.settings import KINDS, Settings, load_preset, make_settings, preset_names, setting_defaults
from course_utils.translation import out_of_vocabulary, scores, translate

TINY = "--epochs 0.2 --set model.width=16 --set model.hidden=16 --set world.pairs=200 --set batch_tokens=512 --device cpu".split()
posix = pytest.mark.skipif(
    sys.platform == "win32", reason="signals, links and Gloo differ on Windows: run it elsewhere"
)


@pytest.fixture(scope="module")
def runs(tmp_path_factory):
    """A folder in which three tiny models have been trained by the command."""
    folder = tmp_path_factory.mktemp("course")
    kinds = ("seq2seq", "attention --set world.order=reversed", "transformer --set model.longest=40")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        for kind in kinds:
            assert commands.main(["train", *kind.split(), *TINY]) == 0
    return folder


@pytest.fixture(autouse=True)
def here(runs, monkeypatch, tmp_path):
    """Each test in a folder of its own, from which it sees the runs, and no model of the course."""
    monkeypatch.chdir(tmp_path)
    shutil.copytree(runs / "runs", tmp_path / "runs")
    monkeypatch.setattr(serialization, "PRETRAINED", tmp_path / "none")
    for name in ("RANK", "COURSE_DEBUG"):
        monkeypatch.delenv(name, raising=False)
    return tmp_path


@pytest.fixture
def course(capsys, monkeypatch):
    """Run a command; return what it printed. `said` is of stderr; `typed` stands in for what is piped in."""

    def run(*arguments, code=0, typed=b""):
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(typed)))
        capsys.readouterr()
        assert commands.main(list(map(str, arguments))) == code, capsys.readouterr()
        run.printed, run.said = capsys.readouterr()
        return run.printed

    return run


@pytest.fixture
def complaint(course):
    """Run a command that must be refused; return its one sentence."""

    def run(*arguments, **options):
        course(*arguments, code=2, **options)
        (line,) = course.said.splitlines()
        assert line.startswith("course: ") and "Traceback" not in line and "something went wrong" not in line
        return line.removeprefix("course: ")

    return run


def options(*arguments):
    return commands.make_parser().parse_args(["train", *arguments])


ATTENTION = ("--model", "runs/attention-world-1")
SOURCES = "the old dogs near my house followed your quiet friend\n\n  dogs saw\ther \nmy house"


# --- course train
def test_train_takes_a_new_folder_and_says_what_comes_next(course):
    printed = course("train", "attention", *TINY, "--threads", 1)
    first, where, validation, last = printed.splitlines()
    assert re.fullmatch(r"Training attention on the generated world: the CPU, 1 thread, (bf16|fp32)\..*", first)
    assert where == "Run folder: runs/attention-world-2"
    assert re.fullmatch(r"Epoch 0\.2 of 0\.2: loss \d\.\d{3}, BLEU \d+\.\d; 00:00 left\.\n", course.said)
    found = re.fullmatch(r"Validation: loss (\d\.\d{3}) a token, BLEU (\d+\.\d) \(greedy search\)\.", validation)
    assert "`course translate --model runs/attention-world-2`" in last

    model, subwords = serialization.load_model("runs/attention-world-2")
    settings = make_settings(json.loads(Path("runs/attention-world-2/settings.json").read_text()))
    val = load_pairs(settings, "val")
    bleu = scores.bleu(translate.translate(model, subwords, val.sources, 1), val.targets)
    assert 4 < float(found[1]) < 8 and float(found[2]) == round(bleu.score, 1)


def test_settings_are_a_presets_then_the_options_then_each_set():
    laptop = load_preset("attention", "laptop")
    made = train_command._settings(options("attention", "--data", "multi30k", "--set", "model.dropout=0.5"))
    assert made.model == laptop["model"] | {"dropout": 0.5}
    assert (made.data, made.rate, made.epochs) == ("multi30k", laptop["rate"], laptop["epochs"])
    world = load_preset("attention", "world")
    assert train_command._settings(options("attention")) == make_settings({"kind": "attention"} | world)
    chosen = options("transformer", "--preset", "laptop", "--seed", "3", "--pair", "de-fr", "--precision", "fp32",
                     "--set", "seed=4", "--epochs", "0.5", "--set", "world.order=reversed", "--set", "world.pairs=7")  # fmt: skip
    made = train_command._settings(chosen)
    assert (made.data, made.seed, made.pair, made.precision, made.epochs) == ("multi30k", 4, "de-fr", "fp32", 0.5)
    assert made.world == {"order": "reversed", "pairs": 7}


@pytest.mark.parametrize(
    "text, value",
    [
        ("2e-3", 0.002), ("64", 64), ("true", True), ("[0.9, 0.99]", [0.9, 0.99]), ('"64"', "64"), ("reversed", "reversed"),
        (" verb-last ", "verb-last"), ("", ""), ("1\nx = 2", "1\nx = 2"), ("a=b", "a=b"),
    ],
)  # fmt: skip
def test_values_are_read_as_toml_or_as_they_stand(text, value):
    changes = {}
    train_command._change(changes, f"model.x={text}")
    assert changes == {"model": {"x": value}}
    assert type(changes["model"]["x"]) is type(value)


@pytest.mark.parametrize("fast", [True, False])
def test_train_goes_on_in_fp32_and_says_so_where_bf16_is_slow(course, monkeypatch, fast):
    monkeypatch.setattr(devices, "cpu_is_fast_in_bf16", lambda: fast)
    printed = course("train", "seq2seq", *TINY, "--run", "a run")
    assert "Run folder: a run\n" in printed and "course translate --model 'a run'`" in printed
    assert ("not faster in bf16, so the run goes on in fp32" in printed) is not fast
    precision = "bf16" if fast else "fp32"
    assert f"thread{'s' * (torch.get_num_threads() > 1)}, {precision}." in printed
    assert json.loads(Path("a run/environment.json").read_text())["precision"] == precision


@pytest.mark.parametrize(
    "data, named, everywhere, taken",
    [
        ("world", "", "", [1]),  # its tensors are so small that more threads wait for each other
        ("world", "", "2", []),
        ("world", "--threads 3", "2", [3]),
        ("multi30k", "", "", []),
        ("multi30k", "--threads 3", "", [3]),
    ],
)
def test_train_chooses_its_number_of_threads(monkeypatch, data, named, everywhere, taken):
    set_to = []
    monkeypatch.setattr(torch, "set_num_threads", set_to.append)
    monkeypatch.setattr("course_utils.training.loop.train", lambda *given, **more: SimpleNamespace())
    monkeypatch.setattr(train_command, "_say_how_it_ended", lambda *given: 0)
    monkeypatch.setenv("OMP_NUM_THREADS", everywhere)
    if not everywhere:
        monkeypatch.delenv("OMP_NUM_THREADS")
    train_command._train_here(options("seq2seq", "--data", data, *named.split()))
    assert set_to == taken


def train_elsewhere(*arguments, ctrl_c=False):
    """Run `course train` as a group that a terminal's Ctrl-C reaches as a whole, after its first validation; return code, stdout and stderr."""
    command = [sys.executable, "-m", "course_utils", "train", *map(str, arguments)]
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "OMP_NUM_THREADS": "1", "PYTHONUNBUFFERED": "1"}
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    process, deadline = subprocess.Popen(command, env=environment, start_new_session=True, **pipes), time.monotonic()
    while ctrl_c and not Path("a run/curves.csv").exists():
        assert process.poll() is None and time.monotonic() - deadline < timeouts.SECONDS
        time.sleep(0.05)
    if ctrl_c:
        os.killpg(process.pid, signal.SIGINT)
    return process.wait(timeout=timeouts.SECONDS), *process.communicate()


LONG = [*TINY[2:], "--epochs", 60, "--set", "validate=10", "--run", "a run"]


@pytest.mark.thorough
@posix
def test_ctrl_c_ends_a_run_that_resume_takes_up(course, complaint, here):
    code, printed, said = train_elsewhere("transformer", *LONG, ctrl_c=True)
    assert code == 130 and all(line.startswith("Epoch ") for line in said.splitlines())
    stopped = re.search(r"Stopped after step (\d+) of (\d+)\. `course train --resume 'a run'` goes on\.", printed)
    assert 0 < int(stopped[1]) < int(stopped[2])

    assert "`course train --resume 'a run'` goes on" in complaint("translate", "--model", "a run")
    assert "leave out --epochs" in complaint("train", "--resume", "a run", "--epochs", 1)
    assert "leave out --set" in complaint("train", "--resume", "a run", "--set", "rate=1")
    assert "leave out the kind of model" in complaint("train", "seq2seq", "--resume", "a run")
    assert "Validation: loss" in course("train", "--resume", "a run", "--device", "cpu")
    assert (here / "a run" / "model.json").exists()


@pytest.mark.thorough
@posix
def test_ctrl_c_stops_all_processes_and_resume_starts_as_many(here):
    code, printed, said = train_elsewhere("transformer", *LONG, "--processes", 2, ctrl_c=True)
    assert code == 130 and all(line.startswith("Epoch ") for line in said.splitlines())
    assert printed.count("Run folder: a run\n") == 1
    assert "the generated world: 2 processes, each on the CPU, 1 thread, " in printed
    assert len(re.findall(r"Stopped after step \d+ of \d+\. `course train --resume 'a run'` goes on\.", printed)) == 1
    assert processes.how_many(None, "cpu", "a run") == 2
    code, printed, said = train_elsewhere("--resume", "a run", "--device", "cpu")  # as many as before
    assert (code, printed.count("Validation: ")) == (0, 1) and said.count("Epoch 60 of 60: ") == 1


@pytest.mark.thorough
@posix
def test_train_prints_an_error_of_every_process_only_once(here):
    before = sorted(Path("runs").iterdir())
    code, _, said = train_elsewhere("seq2seq", *TINY, "--set", "world.order=mars", "--processes", 2)
    assert code == 2 and re.fullmatch(r"course: order must be one of .*, not 'mars'\n", said)
    assert sorted(Path("runs").iterdir()) == before


def test_train_starts_a_process_per_gpu_unless_told_otherwise(monkeypatch):
    assert processes.how_many(None, "auto") == 1 or torch.cuda.device_count() > 1
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    monkeypatch.setattr(torch.cuda, "device_count", lambda: 8)
    assert [processes.how_many(None, device) for device in ("auto", "cuda", "cuda:1", "cpu")] == [8, 8, 1, 1]
    assert [processes.how_many(3, device) for device in ("auto", "cuda", "cpu")] == [3, 3, 3]
    assert processes.how_many(None, "auto", "no such run") == 8
    with pytest.raises(CourseError, match="2 processes need a device each, and cuda:1 is one"):
        processes.how_many(2, "cuda:1")
    monkeypatch.setenv("RANK", "0")
    assert processes.how_many(None, "auto") == 1
    with pytest.raises(CourseError, match="leave out --processes, or torchrun"):
        processes.how_many(2, "auto")


# --- course translate
def test_translate_writes_one_line_for_each_line(course, monkeypatch):
    model, subwords = serialization.load_model("runs/attention-world-1")
    texts = [" ".join(line.split()) for line in SOURCES.split("\n")]
    expected = translate.translate(model, subwords, texts)
    assert expected[1] == "" and all(expected[row] for row in (0, 2, 3))
    for typed in (SOURCES, f"{SOURCES}\n", "\ufeff" + SOURCES.replace("\n", "\r\n")):
        assert course("translate", *ATTENTION, typed=typed.encode()) == "".join(f"{line}\n" for line in expected)
        assert course.said == ""
    monkeypatch.setattr(translate_command, "CHUNK", 3)
    Path("lines.txt").write_text(SOURCES)
    assert course("translate", *ATTENTION, "lines.txt").splitlines() == expected
    for name, value in (("width", 1), ("alpha", 0)):
        lines = course("translate", *ATTENTION, f"--{name}", value, "lines.txt").splitlines()
        assert lines == translate.translate(model, subwords, texts, **{name: value})
    assert course("translate", *ATTENTION, typed=b"") == ""


def stranger(folder, about=None, **config):
    """A folder with an untrained model, as somebody else may have made it; returns what it might say."""
    subwords = Subwords.words(["\x1b[2J\x1b[31mred\x07 b\u202e end"])
    sizes = {"width": 8, "heads": 2, "hidden": 8, "encoder_layers": 1, "decoder_layers": 1}
    model = serialization.make_model("transformer", len(subwords), sizes)
    serialization.save_model(folder, "transformer", model, subwords, about)
    card = json.loads((folder / "model.json").read_text())
    (folder / "model.json").write_text(json.dumps(card | {"config": card["config"] | config}))
    return subwords.decode([[4, 5, 6]])[0]


@pytest.mark.parametrize("about", [None, ["x"], {"settings": None}, {"settings": "\x1b[31m"}])
def test_text_from_a_strangers_model_never_moves_the_terminal(course, here, monkeypatch, about):
    said = stranger(here / "theirs", about)
    alignment = translate.Alignment(["a\x1b[1m"], ["\x1b[31mred", "c\nd"], np.full((2, 1), 0.5))
    monkeypatch.setattr(translate, "translate", lambda model, subwords, texts, **more: [f"{said}\nx"] * len(texts))
    monkeypatch.setattr(translate, "align", lambda *given, **more: alignment)
    plain = " ".join(sorted(re.sub("[\x1b\x07\u202e]", "\ufffd", said).split()))
    lines = course("translate", "--model", "theirs", typed=b"x\ny\n").splitlines()
    assert [" ".join(sorted(line.removesuffix(" x").split())) for line in lines] == [plain, plain]
    drawn = course("translate", "--model", "theirs", "--show", typed=b"x\n")
    assert "\ufffd[31mred" in drawn and not set(drawn) & set("\x1b\x07\u202e")
    assert len(drawn.rstrip().splitlines()) == 4  # the translation, one word of the source, two of the translation


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"world": {"vocabulary": 10**9}}, "vocabulary must be at least 40 words and at most 100,000"),
        ({"world": {"longest": 10**9}}, "expected 1 <= shortest <= longest <= 1,000"),
        ({"world": {"\x1b[31m": 1}}, r"there is no setting 'world.\x1b[31m'"),
        ({"world": 3}, "the setting world must be a table"),
        ({"data": ["\x1b[31m"]}, r"the setting data must be a word such as world, not ['\x1b[31m']"),
        ({"data": "multi30k", "pair": "../../etc"}, "pair must be one of en-de"),
    ],
)
def test_evaluate_refuses_bad_settings_of_a_strangers_model(complaint, here, settings, words):
    stranger(here / "theirs", {"settings": {"data": "world"} | settings})
    assert words in complaint("evaluate", "--model", "theirs")


def test_words_are_separated_by_single_spaces():
    Path("lines.txt").write_bytes("\ufeffthe\t old\u00a0dogs \r\n \n\ufeffx\x0by".encode())
    assert list(_trained.lines("lines.txt")) == ["the old dogs", "", "\ufeffx y"]


def test_translate_answers_each_line_at_once_in_a_terminal(monkeypatch, capsys):
    lines, heard = iter([b"dogs saw\n", b"\n", b"dogs\n"]), []

    class Keyboard:
        def readline(self):
            heard.append(capsys.readouterr())
            return next(lines, b"")

    monkeypatch.setattr(sys, "stdin", SimpleNamespace(buffer=Keyboard(), isatty=lambda: True))
    assert commands.main(["translate", *ATTENTION]) == 0
    assert [answers.out.count("\n") for answers in heard] == [0, 1, 1, 1]
    assert "Ctrl-D" in heard[0].err and all(answers.err.endswith("> ") for answers in heard)


def test_translate_uses_the_courses_model_where_none_is_named(course, complaint, here, monkeypatch, runs):
    assert "no model was named: name one of runs/attention-world-1, runs/seq2seq-world-1" in complaint("translate")
    shutil.copytree("runs/attention-world-1", here / "shipped" / "transformer-en-de")
    monkeypatch.setattr(serialization, "PRETRAINED", here / "shipped")
    expected = course("translate", *ATTENTION, typed=SOURCES.encode())
    assert course("translate", typed=SOURCES.encode()) == expected
    assert course("translate", "--model", "transformer-en-de", typed=SOURCES.encode()) == expected
    assert "name one of transformer-en-de, runs/attention-world-1" in complaint("translate", "--model", "none")


def test_translate_names_words_that_the_model_hardly_ever_read(course, monkeypatch):
    monkeypatch.setattr(serialization, "PRETRAINED", out_of_vocabulary.PRETRAINED)
    typed = b"A dog runs in the snow.\nTWO DOGS play in the snow.\n" + 4 * b"The asdf is here.\n"
    course("translate", "--width", 1, typed=typed)
    first, made_up, *_, third, rest = course.said.splitlines()
    assert first.startswith("line 2: The model has hardly ever read these words ") and "TWO, DOGS" in first
    assert "\nTry: Two dogs play in the snow.\n" in course.said
    assert made_up.startswith("line 2: ") and "never read them: TOG, DOS." in made_up
    assert third.startswith("line 4: ") and "has hardly ever read: asdf." in third
    assert rest == "Further lines with such warnings: 5-6."
    course("translate", *ATTENTION, typed=b"The asdf is here.\n")  # it has learned from no captions
    assert course.said == ""


def test_caption_words_are_those_that_translators_learned_from():
    try:
        captions = load_multi30k("train", "en-de").sources
    except DataError as error:
        pytest.skip(f"needs Multi30k: {error}")
    words = out_of_vocabulary
    read, by_form = Counter(re.findall(r"[^\W\d_]+|\d+|[^\w\s]", "\n".join(captions))), Counter()
    for word, times in read.items():
        by_form[word if word.isupper() and len(word) > 1 else word.lower()] += times
    assert words.caption_words() == {word for word, times in by_form.items() if times >= words.LEAST}
    for language in ("de", "fr"):
        targets = "\n".join(load_multi30k("train", f"en-{language}").targets)
        assert words.target_words(language) == {word.lower() for word in words.LETTERS.findall(targets)}
    lengths = [len(re.findall(r"[^\W\d_]+(?:'[^\W\d_]+)*|\d+", caption)) for caption in captions]
    assert sum(length < words.FEW for length in lengths) == 3 and len(captions) == 29_000
    counts = {kind: sum(bool(found.search(text)) for text in captions) for kind, found in words.TALK.items()}
    assert counts == {"negation": 142, "person": 70, "question": 7}
    assert all(f"only {count} " in words.SENTENCES[kind] for kind, count in counts.items())


@pytest.mark.parametrize(
    ("text", "translation", "parts"),
    [
        ("hello", "Ein Band macht eine Person.", ["very short"]),
        ("I love you", "Ein Webuder Jugendlicher.", ["only 70 speak of I, you or we", "Webuder"]),
        ("A man is not eating.", "Ein Mann isst Noti.", ["say the opposite", "Noti"]),
        ("no dogs are running.", "Hunde laufen.", ["say the opposite"]),
        ("A street with no cars.", "Eine Straße mit Autos.", ["say the opposite"]),
        ("A woman without glasses", "Eine Frau mit freiem Oberkörper", ["say the opposite"]),
        ("There is no one in the park.", "Im Park ist eine Person.", ["say the opposite"]),
        ("A man ties a knot.", "Ein Mann.", ["has hardly ever read: knot."]),
        ("12 people in 1999", "2 Personen in 19995.", ["numbers: 1999."]),
        ("Two dogs play in the snow.", "Zwei Hunde spielen im Schnee.", []),
        ("Two snowboarders play with a dog.", "Zwei Snowboarder spielen mit einem Hund.", []),
        ("A boy near the Boston flag", "Ein Junge nahe der Boston-Flagge", []),
        ("A man’s dog isn’t here.", "Der Hund eines Mannes ist da.", ["say the opposite", "read: isn't."]),
        ("A man & a woman <3 a dog", "Ein Mann und eine Frau.", ["has hardly ever read: <."]),
        ("A man 👍🏽 smiles at a dog.", "Ein Mann lächelt einen Hund an.", ["never read emoji or symbols such as 👍,"]),
        ("A dog runs 🐶", "Ein Hund rennt.", ["never read emoji or symbols such as 🐶,"]),
        ("The Boston Terrier near the U.S. flag plays with a dog.", "", []),
        ("A dog moons a theorem.", "Ein Hund.", ["has hardly ever read: moons, theorem."]),
        ("", "", []),
    ],
)
def test_warnings_name_what_may_be_translated_badly(text, translation, parts):
    warnings = out_of_vocabulary.warnings_of(text, translation, "de")
    assert len(warnings) == len(parts) and all(part in warning for part, warning in zip(parts, warnings, strict=True))


def test_a_rare_capital_at_the_start_of_a_text_becomes_small(monkeypatch):
    monkeypatch.setattr(serialization, "PRETRAINED", out_of_vocabulary.PRETRAINED)
    _, subwords = serialization.load_pretrained("transformer-en-de")
    assert out_of_vocabulary.small_start("Outside a building", subwords) == "outside a building"
    for text in ("Two dogs", "Boston", "TWO dogs", ""):
        assert out_of_vocabulary.small_start(text, subwords) == text


def test_an_alignment_is_drawn_as_text():
    weights = np.array([[0.9, 0.06, 0.0], [0.04, 0.3, 0.5], [0, 1, 0]])
    drawn = translate_command.draw(translate.Alignment("the red dog".split(), "le chien rouge".split(), weights))
    assert drawn.splitlines() == [
        "      the",
        "      │ red",
        "      │ │ dog",
        "le    ██░░",
        "chien   ▒▒▓▓",
        "rouge   ██",
    ]
    assert translate_command.draw(translate.Alignment(["dog"], [], None)) == ""


@pytest.mark.parametrize("words, letters", [(1, 1), (12, 8), (39, 5), (44, 3), (60, 40), (130, 100)])
def test_a_drawing_fits_a_terminal_and_holds_every_word_once(words, letters):
    source = [f"{word:a>{letters}}" for word in range(words)]
    drawn = translate_command.draw(translate.Alignment(source, source, np.eye(words)))
    assert max(map(len, drawn.splitlines())) <= 100
    assert drawn.count("██") == words
    steps = [line.split()[-1] for line in drawn.splitlines() if line.startswith("  ") and "█" not in line]
    assert steps == [translate_command._cut(word) for word in source]
    for block in drawn.split("\n\n"):  # what a column's word is above is its own row
        lines = block.splitlines()
        for line in (line for line in lines if "██" in line):
            (step,) = [above for above in lines if "█" not in above and above.find(line.split()[0]) == line.find("██")]
            assert step.split()[-1] == line.split()[0]


def test_show_draws_under_each_translation(course):
    plain = course("translate", *ATTENTION, typed=SOURCES.encode()).splitlines()
    blocks = course("translate", *ATTENTION, "--show", typed=SOURCES.encode())
    assert translate_command.LEGEND in course.said
    model, subwords = serialization.load_model("runs/attention-world-1")
    expected = ""
    for text, line in zip(SOURCES.split("\n"), plain, strict=True):
        drawn = translate_command.draw(translate.align(model, subwords, text)) + "\n\n" if text else ""
        expected += f"{line}\n{drawn}"
    assert blocks == expected
    assert re.search("[░▒▓█]", blocks)


def test_a_picture_is_of_the_first_line_with_words(course, monkeypatch):
    def saved(found, file):
        drawn.append(found.source)
        save(found, file)

    drawn, save = [], translate_command.save_picture
    monkeypatch.setattr(translate_command, "save_picture", saved)
    typed = b"\nit costs $^$ or $6\nmy house\n"
    assert len(course("translate", *ATTENTION, "--picture", "a.png", typed=typed).splitlines()) == 3
    course("translate", *ATTENTION, "--picture", "a.SVG", "--show", typed=typed)
    assert drawn == ["it costs $^$ or $6".split()] * 2
    assert Path("a.png").read_bytes().startswith(b"\x89PNG")
    assert "<svg" in Path("a.SVG").read_text()


# --- course evaluate
def gold(split, first=None, **world):
    """The pairs of a generated world that the command measures, or only the first of them."""
    pairs = generate_translations(*corpus.WORLD_PAIRS[split], **world)
    return Pairs(pairs.sources[:first], pairs.targets[:first], pairs.alignments[:first])


def test_evaluate_measures_what_the_model_was_trained_on(course, monkeypatch):
    pairs = gold("test", 50, order="reversed")
    asked = {("reversed", "test"): pairs}
    monkeypatch.setattr(corpus, "load_pairs", lambda settings, split: asked[settings.world["order"], split])
    printed = course("evaluate", *ATTENTION, "--output", "out.txt", "--width", 2, "--alpha", 0.5, "--device", "cpu")
    model, subwords = serialization.load_model("runs/attention-world-1")
    translations = translate.translate(model, subwords, pairs.sources, 2, 0.5)
    assert Path("out.txt").read_text() == "".join(f"{line}\n" for line in translations)
    assert "test: 50 sentences\n" in printed
    assert re.search(r"  \d+\.\d s of CPU time, width 2, alpha 0\.5; .*, \d+ thread", printed)
    for name, score in (("BLEU", scores.bleu), ("chrF", scores.chrf)):
        found = score(translations, pairs.targets)
        assert f"  {name} {found.score:.2f}  {found.signature}\n" in printed
    sentences, words = scores.exact_shares(translations, pairs.targets)
    assert f"exactly right: {100 * sentences:.1f} % of the sentences, {100 * words:.1f} % of the words\n" in printed
    found = [one.weights for one in translate.align_pairs(model, subwords, pairs.sources, pairs.targets)]
    assert f"alignment error rate {scores.alignment_error_rate(found, pairs.alignments):.3f}" in printed


def test_a_model_without_attention_has_no_alignment_error_rate(course, monkeypatch):
    few = gold("val", 20)
    monkeypatch.setattr(corpus, "load_pairs", lambda *_: few)
    assert "alignment error" not in course("evaluate", "--model", "runs/seq2seq-world-1", "--split", "val", "test")
    assert course.printed.count("20 sentences") == course.printed.count("exactly right") == 2


def test_lines_of_a_file_are_measured_without_a_model(course, complaint):
    Path("right.txt").write_text("\n".join(gold("val").targets))
    lines = ("--hypotheses", "right.txt")
    printed = course("evaluate", "--data", "world", "--split", "val", *lines)
    assert "BLEU 100.00" in printed and "chrF 100.00" in printed
    assert "exactly right: 100.0 % of the sentences, 100.0 % of the words" in printed
    assert "CPU" not in printed and "alignment" not in printed
    printed = course("evaluate", *ATTENTION, "--split", "val", *lines)  # the model has another world
    assert "exactly right: 0." in printed and "alignment" not in printed
    sentence = "right.txt has 500 lines, and test 1,000 sentences: give one line for each"
    assert sentence in complaint("evaluate", "--data", "world", *lines)


def test_the_options_choose_other_data(course, monkeypatch):
    asked = []

    def load_pairs(settings, split):
        asked.append((settings.data, settings.pair, split))
        return Pairs(["dogs"], ["smadu gleni"])

    monkeypatch.setattr(corpus, "load_pairs", load_pairs)
    Path("one.txt").write_text("smadu gleni\n")
    lines = ("--hypotheses", "one.txt")
    course("evaluate", *lines)
    course("evaluate", *lines, "--pair", "de-fr", "--split", "test_2017_mscoco")
    course("evaluate", *ATTENTION, *lines, "--data", "multi30k")
    card = json.loads(Path("runs/attention-world-1/model.json").read_text())
    shutil.copytree("runs/attention-world-1", "captions")
    card["about"]["settings"] |= {"data": "multi30k", "pair": "fr-en"}
    Path("captions/model.json").write_text(json.dumps(card))
    course("evaluate", "--model", "captions")
    splits = ["test_2016_flickr", "test_2017_mscoco", "test_2016_flickr", "test_2016_flickr"]
    assert asked == [("multi30k", *one) for one in zip(["en-de", "de-fr", "en-de", "fr-en"], splits, strict=True)]


# --- one sentence each
@pytest.mark.parametrize(
    "command, words",
    [
        ("train", "expected a kind of model (seq2seq, attention, transformer)"),
        ("train atention", "not 'atention' (did you mean \"attention\"?)"),
        ("train fly", "kind must be one of seq2seq, attention, transformer, not 'fly'"),
        ("train attention --preset gpu", "there is no preset 'gpu' for attention: name one of laptop, world"),
        ("train attention --data mars", "data must be one of world, multi30k, not 'mars'"),
        ("train attention --data multi30k --pair en-xx", "pair must be one of en-de"),
        ("train attention --set rate.peak=1", "there is no setting 'rate.peak': the settings are kind"),
        ("train attention --set width=64", "'width' (perhaps model.width is meant): the settings are kind"),
        ("train attention --set modle.width=64", "'modle.width' (perhaps model.width is meant): the settings are kind"),
        ("train attention --set model.rate=1", "'model.rate' (perhaps rate is meant): the settings are model.width"),
        ("train seq2seq --set model.attention=luong", "there is no setting 'model.attention': the settings are model"),
        ("train attention --set model.width=abc", "model.width must be a whole number such as 256, not 'abc'"),
        ("train attention --set model.dropout=x", "the setting model.dropout must be a number such as 0.2, not 'x'"),
        ("train transformer --set model.tied=5", "the setting model.tied must be true or false, not 5"),
        ("train transformer --set model.norm=3", "the setting model.norm must be a word such as pre, not 3"),
        ("train transformer --set model=3", "model must be a table, of which you name one setting at a time"),
        ("train transformer --set kind=[1]", "kind must be one of seq2seq, attention, transformer, not [1]"),
        ("train attention --set rate", "--set expects NAME=VALUE, such as rate=2e-3 or model.width=64, not 'rate'"),
        ("train attention --set world.planets=9", "no setting 'world.planets': the settings are world.pairs, world"),
        ("train transformer --set world.pairs=9 --set model.width=30", "30 is not one of 4"),
        ("train transformer --set world.pairs=9 --set batch_tokens=4", "a sentence has"),
        ("train transformer --precision fp8", "precision must be one of auto, fp32, bf16, not 'fp8'"),
        ("train transformer --device cuda", "device cuda was named, but this machine has 0 GPUs"),
        ("train transformer --seed one", "invalid int value: 'one'"),
        ("train transformer --threads 0", "expected a whole number of at least 1, not '0'"),
        ("train --resume none", "there is no run in none: name the folder of one, or start it without --resume"),
        ("train seq2seq --run runs/seq2seq-world-1 --set world.pairs=9", "already holds a run: resume it"),
        ("train seq2seq --run file/run --set world.pairs=9", "json can't be written (Not a directory)"),
        ("translate --model none", "there is no model 'none', neither a folder nor one of the course: name one of"),
        ("translate --model .", "expected a trained model in ., but model.json is not there"),
        ("translate --model damaged", "is not what model.json says it is (another checksum)"),
        ("translate --model runs/seq2seq-world-1 --show", "this model has no attention to draw: leave out --show"),
        ("translate --model runs/seq2seq-world-1 --picture a.png", "this model has no attention to draw"),
        ("translate --model none --picture a.gif", "--picture expects a file that ends in .png or .svg, not 'a.gif'"),
        ("translate --model runs/attention-world-1 --picture none/a.png file", "cannot use none/a.png: No such file"),
        ("translate --model runs/attention-world-1 --picture a.png", "a.png was not drawn: expected a line with words"),
        ("translate --model runs/attention-world-1 none.txt", "cannot use none.txt: No such file or directory"),
        ("translate --model runs/attention-world-1 .", "cannot use .: Is a directory"),
        (
            "translate --model runs/attention-world-1 'A dog.'",
            "'A dog.' is not a file: to translate a sentence, pipe it",
        ),
        ("translate --model runs/attention-world-1 --width 0", "expected a whole number of at least 1, not '0'"),
        ("translate --model runs/attention-world-1 --alpha nan", "expected a number of at least 0, not 'nan'"),
        ("evaluate --model runs/attention-world-1 --split train2", "must be one of train, val, test, not 'train2'"),
        ("evaluate --data multi30k --pair en-en --hypotheses file", "pair must be one of en-de"),
        ("evaluate --hypotheses file --split val test", "are files of one split, not of 2: name one split"),
    ],
)
@pytest.mark.skipif(torch.cuda.is_available(), reason="some sentences are about a machine without a GPU")
def test_misused_translation_commands_fail_in_one_sentence(complaint, here, monkeypatch, command, words):
    monkeypatch.setattr(devices, "cpu_is_fast_in_bf16", lambda: False)
    Path("file").write_text("dogs\n")
    shutil.copytree("runs/attention-world-1", "damaged")
    weights = Path("damaged/model.safetensors")
    weights.write_bytes(weights.read_bytes()[:-3] + b"ups")
    before = sorted((here / "runs").iterdir())
    assert words in complaint(*shlex.split(command))
    assert sorted((here / "runs").iterdir()) == before  # no folder is left of a run that could not begin


@posix
def test_runs_that_cannot_be_made_leave_one_sentence(complaint, here):
    (here / "runs").rename("others")
    (here / "runs").symlink_to(here / "nowhere")
    assert re.search(r"cannot use runs(/seq2seq-world-1)?: File exists", complaint("train", "seq2seq", *TINY))


def test_a_line_that_is_not_utf8_is_named(complaint):
    Path("latin.txt").write_bytes("dogs\nM\xe4nner\n".encode("latin-1"))
    assert "line 2 of latin.txt is not UTF-8 text" in complaint("translate", *ATTENTION, "latin.txt")
    assert "line 1 of standard input is not UTF-8" in complaint("translate", *ATTENTION, typed=b"\xff\xfe")


@pytest.mark.parametrize("chunk", [1, 2, 256])
def test_translate_names_and_skips_only_the_line_too_long(course, monkeypatch, chunk):
    monkeypatch.setattr(translate_command, "CHUNK", chunk)
    model = ("--model", "runs/transformer-world-1")
    expected = course("translate", *model, typed=b"dogs\n\nmy house\n\ndogs\n")
    typed = b"dogs\n\nmy house\n" + b"dog " * 40 + b"\ndogs\n"
    assert course("translate", *model, typed=typed, code=2) == expected
    problem, end = course.said.splitlines()
    assert problem.startswith("line 4: a sentence may have at most 40 tokens, not 41: shorten it")
    assert end == "course: not translated, and empty in the output: line 4"


# --- what the commands compute
def test_alignment_error_rate_equals_values_computed_by_hand():
    # What they say: (1, 0), (0, 1), (1, 2) and (0, 0).
    weights = [np.array([[0.1, 0.9], [0.6, 0.4], [0.2, 0.8]]), np.array([[1.0]])]
    links = [[(1, 0), (1, 1), (1, 2)], [(0, 0), (0, 0)]]
    assert scores.alignment_error_rate(weights, links) == pytest.approx(1 - (3 + 3) / (4 + 4))
    assert scores.alignment_error_rate(weights, [[], []]) == 1
    assert scores.alignment_error_rate(weights[:1], [[(1, 0), (0, 1)]]) == pytest.approx(1 - 2 * 2 / (3 + 2))
    assert scores.alignment_error_rate(weights[1:], [[(0, 0)]]) == 0
    with pytest.raises(CourseError, match="no target word and no link"):
        scores.alignment_error_rate([], [])
    with pytest.raises(ValueError):
        scores.alignment_error_rate(weights, links[:1])


def test_exact_shares_counts_right_sentences_and_words():
    assert scores.exact_shares(["a b c", "d e"], ["a b c", "d e"]) == (1, 1)
    assert scores.exact_shares(["a b c", "d x"], ["a b c", "d e"]) == (1 / 2, 4 / 5)
    assert scores.exact_shares(["a b", "a b c d", ""], ["a b c", "a b c", "a"]) == (0, 5 / 8)
    assert scores.exact_shares([], []) == (0, 0)


def test_share_in_order_counts_the_words_after_a_missing_one():
    assert scores.share_in_order(["b c d e"], ["a b c d e"]) == 4 / 5
    assert scores.share_in_order(["a x c b", "a"], ["a b c", "a"]) == 3 / 5  # a c or a b, and a
    assert scores.share_in_order(["a b a b"], ["b a"]) == 2 / 4
    assert scores.share_in_order(["", "a"], ["a b", ""]) == 0 == scores.share_in_order([], [])


def untrained(kind, subwords):
    torch.manual_seed(1)
    return serialization.make_model(kind, len(subwords), {"width": 16, "hidden": 16}).eval()


@pytest.mark.parametrize("kind", ["attention", "transformer"])
def test_align_gives_the_attention_of_the_translation_itself(kind):
    pairs = generate_translations(20, 5)
    subwords = Subwords.words(pairs.sources + pairs.targets)
    model = untrained(kind, subwords)
    found = [translate.align(model, subwords, text, width=1) for text in pairs.sources]
    found = [one for one in found if one.weights is not None]
    assert len(found) > 3
    sides = ([" ".join(words) for words in side] for side in list(zip(*found, strict=True))[:2])
    for one, other in zip(found, translate.align_pairs(model, subwords, *sides), strict=True):
        assert (one.source, one.target) == (other.source, other.target)
        np.testing.assert_allclose(one.weights, other.weights, atol=1e-5)


def test_align_averages_query_subwords_and_sums_key_subwords():
    pairs = generate_translations(70, 5)
    subwords = Subwords.train(pairs.sources + pairs.targets, 300)
    model = untrained("attention", subwords)
    for found in translate.align_pairs(model, subwords, pairs.sources, pairs.targets):
        source_row, target_row = subwords.encode([" ".join(found.source), " ".join(found.target)])
        with torch.no_grad():
            (expected,) = model.attention(torch.tensor([[*source_row, EOS]]), torch.tensor([[BOS, *target_row]]))
        rows, columns = (torch.tensor(subwords.word_of(row)) for row in (target_row, source_row))
        t, s = len(found.target) - 1, len(found.source) // 2
        by_hand = expected[: len(rows), : len(columns)][rows == t][:, columns == s].sum(1).mean().item()
        assert found.weights.shape == (len(found.target), len(found.source))
        assert found.weights[t, s] == pytest.approx(by_hand, abs=1e-5)


def test_aligning_leaves_the_model_as_it_was():
    _, subwords = serialization.load_model("runs/attention-world-1")
    model = untrained("attention", subwords).train()
    assert model.dropout.p
    first = translate.align_pairs(model, subwords, ["the  dogs saw"], ["smadu gleni"])
    assert model.training
    model.eval()
    (again,) = translate.align_pairs(model, subwords, ["the dogs saw"], ["smadu gleni"])
    assert first[0].source == ["the", "dogs", "saw"]
    assert np.array_equal(first[0].weights, again.weights)
    seq2seq, subwords = serialization.load_model("runs/seq2seq-world-1")
    assert translate.align_pairs(seq2seq, subwords, ["dogs"], ["smadu"])[0].weights is None


# --- docs and presets


def page(name):
    return (ROOT / name).read_text(encoding="utf-8")


def test_the_settings_in_the_docs_are_there():
    text = page("docs/translators.md") + page("docs/measurements.md")
    lines = [line for block in re.findall(r"```sh\n(.*?)```", text, re.S) for line in block.splitlines()]
    lines += [line.replace("\n", " ") for line in re.findall(r"`([^`]+)`", re.sub(r"```.*?```", "", text, flags=re.S))]
    lines = [line for line in lines if re.search(r"\b(course|course_utils) train \S", line)]
    lines += [f"course train transformer {change}" for change in re.findall("`(--set .*?)`", text)]
    assert len(lines) > 10
    for line in lines:
        words = shlex.split(line, comments=True)
        words = words[words.index("course_utils" if "course_utils" in words else "course") + 1 :]  # as torchrun has it
        chosen = commands.make_parser().parse_args(words)
        if not chosen.resume:
            train_command._settings(chosen)


def test_the_help_names_every_setting():
    text = train_command.SETTINGS
    for kind, begin, table in (
        ("transformer", "a transformer", "model"),
        ("seq2seq", "seq2seq and attention", "model"),
        ("seq2seq", "the generated world", "world"),
    ):
        listed = re.search(rf"[Oo]f {begin}: {table}\.([\w,\s]*)", text)[1].replace("\n", " ").split(", ")
        known = (name.split(".") for name in setting_defaults(kind) if "." in name)
        assert listed == [name for of, name in known if of == table]
    more = setting_defaults("attention").keys() - setting_defaults("seq2seq").keys()
    assert more == {"model.attention"} and "of attention\nalso model.attention" in text
    shown = next(group for group in commands.make_parser()._subparsers._group_actions).choices["train"].format_help()
    assert all(name in shown for name in vars(Settings()))


def test_the_docs_name_every_preset_with_its_kinds():
    named = set()
    for preset, kinds in re.findall(r"^\| `(\w+)`[^|]*\|[^|]*\| ([^|]*) \|", page("docs/translators.md"), re.M):
        named |= {(kind, preset) for kind in (KINDS if kinds == "all" else re.findall(r"`(\w+)`", kinds))}
    assert named == {(kind, preset) for kind in KINDS for preset in preset_names(kind)}


@pytest.mark.parametrize("kind", KINDS)
def test_every_preset_makes_a_model(kind):
    for preset in preset_names(kind):
        settings = train_command._settings(options(kind, "--preset", preset))
        with torch.device("meta"):
            serialization.make_model(kind, 100, settings.model)
    assert load_preset(kind, "world")["data"] == "world"
