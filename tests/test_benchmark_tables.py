"""The programs in benchmarks/ against the tables that they have written: nothing is missing there, and what is measured again is the same."""

import re
import runpy
import sys
from types import SimpleNamespace

import pytest
from script_loader import FOLDER, program

from course_utils.data.measured import by_seed, measured, measured_once
from course_utils.data.pairs import Pairs

FILLING = [file.stem for file in sorted(FOLDER.glob("*.py")) if "    fill(" in file.read_text(encoding="utf-8")]
# Beams measures models that it is given, world fills a table elsewhere, and measuring is what all programs share.
OTHERS = {"beams", "measuring", "world"}


@pytest.mark.parametrize("name", sorted({*FILLING} - OTHERS))
def test_a_table_has_all_that_its_program_measures(name, monkeypatch):
    measuring = program("measuring")

    def nothing_to_fill(table, columns, jobs, measure):
        (names, *_), lacks = measuring.read(measuring.measured.FOLDER / f"{table}.csv"), []
        assert " ".join(names) == columns
        measuring.fill(table, columns, jobs, lambda *job: lacks.append(job) or [])
        assert not lacks, f"{table}.csv has no row for these"

    monkeypatch.setitem(sys.modules, "measuring", SimpleNamespace(**vars(measuring) | {"fill": nothing_to_fill}))
    monkeypatch.setattr(sys, "argv", [name])
    runpy.run_path(str(FOLDER / f"{name}.py"), run_name="__main__")


# Rounding differs between machines and grows in training: so shares agree roughly, not in every digit.
MEASURED = [  # program, what it measures; table, columns and where they are in a row; tolerance
    ("length", ("monotone", "32 numbers", 0), "length", {"words_right": 1}, "length", {"order": "monotone", "setup": "32 numbers"}, 0.1),
    ("looking_back", ("looking back", 0, (4, 12)), "attention", {"words_right": 1, "aer": 3}, "length", {"setup": "looking back"}, 0.1),
    ("local", ("reversed", "local-m", 0), "local", {"words_right": 1}, "length", {"order": "reversed", "setup": "local-m"}, 0.1),
    ("recall", ("LSTM that looks back", 0), "recall", {"answers_right": 1, "on_answer": 2}, "pairs", {"setup": "LSTM that looks back"}, 0.15),
    ("paths", ("restricted, radius 4", 0), "paths", {"answers_right": 1}, "distance", {"setup": "restricted, radius 4"}, 0.1),
    ("positions", ("none", 0), "positions", {"answers_right": 1}, "length", {"positions": "none"}, 0.15),
    ("positions", ("rotary", 0), "positions", {"answers_right": 1}, "length", {"positions": "rotary"}, 0.15),
    ("memory", ("linear start", "north of", 1, 0), "memory", {"right": 1, "longer": 2, "commonest": 3, "chance": 4, "hop1_fact1": 5}, "steps", {"setup": "linear start", "kind": "north of", "hops": 1}, 0.03),
]  # fmt: skip


@pytest.mark.thorough
@pytest.mark.parametrize(("name", "job", "table", "columns", "along", "where", "tolerance"), MEASURED)
def test_a_program_still_measures_what_its_table_says(name, job, table, columns, along, where, tolerance):
    rows = program(name).measure(*job)
    for column, at in columns.items():
        places, (run,) = measured(table, column, along, **where, seed=0)
        for row in rows:
            assert row[at] == pytest.approx(run[places.index(row[0])], abs=tolerance)


def test_programs_of_small_tables_measure_a_row():
    ((share,),) = program("warm_up").measure("post", 200, 3e-3, 0, steps=2)
    assert 0 <= share < 0.5
    ((loss, *shares, size, _),) = program("parts").measure("endings", "norms", 0, most=2, alone=2)
    assert loss > 3 and size > 40_000 and len(shares) == 3 and all(0 <= share < 0.3 for share in shares)


@pytest.mark.thorough
def test_lesson_05s_model_learns_captions_of_any_length(capsys):
    ((pairs, size, loss, *scores, _, _, _, _),) = program("all_captions").measure("LSTM", 2, 0.2, 8, 16, 1, 0.01, 0)
    (untrained,) = re.findall("before training: (.*)", capsys.readouterr().out)
    assert pairs >= 8_000 and size > 2_000 and loss < float(untrained)
    assert len(scores) == 3 and all(0 <= score <= 100 for score in scores)


def test_lesson_05s_page_has_the_captions_that_were_translated():
    page = (FOLDER.parent / "course_lessons/lesson_05_seq2seq/lesson.py").read_text(encoding="utf-8")
    lines = [f'    "{caption}",' for caption in program("all_captions").SENTENCES]
    assert "\n".join(["examples = [", *lines, "]"]) in page


def test_a_row_is_trained_for_as_many_steps_as_its_name_says(monkeypatch):
    def fit(*_, steps, **__):
        raise RuntimeError(f"{steps} steps")  # that many are enough to know

    parts = program("parts")
    monkeypatch.setattr(parts, "fit", fit)
    with pytest.raises(RuntimeError, match="^1000 steps$"):
        parts.measure("plain", "residual connections, 1000 steps, rate 0.003", 0)


# Ablations and small models, lesson 13


def test_lesson_13s_small_models_reach_what_their_table_says():
    runs = program("small_runs")
    page, *sets = runs.lesson()
    for name, rate in list(runs.BEST.items())[::3]:  # the first and the last
        ((_, right),) = runs.optimizers(page, *sets)(name, rate, 0)
        stored = by_seed("optimizers", "test", optimizer=name, rate=rate)
        assert right == pytest.approx(stored[0].item(), abs=0.1)  # on another processor


@pytest.mark.thorough
def test_lesson_13s_models_of_few_pairs_reach_their_table():
    runs = program("small_runs")
    for setup in ("neither", "both"):
        ((_, *found),) = runs.few(*runs.lesson())(setup, 0)
        stored = [by_seed("few_pairs", column, setup=setup)[0].item() for column in ("lowest", "last", "right")]
        assert found == pytest.approx(stored, abs=0.15)


def test_the_translators_bleu_is_the_mean_of_its_test_sets():
    tests = program("ablations").TESTS
    found = [measured_once("recipe", "bleu", changed="nothing", test_set=name, seed=0)[0][0] for name in tests]
    assert by_seed("recipe", "bleu", changed="nothing")[0] == pytest.approx(sum(found) / 3)


@pytest.mark.parametrize(("text", "number"), [("not", 2), ("a dog is not here .", 1), ("?", 1), ("no", 0)])
def test_captions_are_counted_that_hold_a_word_or_a_sentence(monkeypatch, text, number):
    ablations, read = program("ablations"), ["A dog is NOT here.", "Not now", "Is it a knot?"]
    monkeypatch.setattr(ablations, "load_multi30k", lambda *_: SimpleNamespace(sources=read))
    assert ablations.captions(text) == [(number,)]


@pytest.mark.parametrize("changed", ["SGD in place of Adam", "no warm-up", "readout not tied", "batches of sentences"])
def test_a_row_changes_one_thing_and_the_rate_that_goes_with_it(changed):
    ablations = program("ablations")
    plain, other = (ablations.settings_of("world", 1500, name, 0).to_dict() for name in ("nothing", changed))
    differ = {name for name in plain if plain[name] != other[name]}
    assert differ - {"rate"} == set(ablations.CHANGES[changed])
    assert ("rate" in differ) == ("optimizer" in differ)


@pytest.mark.thorough
def test_the_program_of_ablations_measures_a_row(monkeypatch):
    ablations = program("ablations")
    monkeypatch.setitem(ablations.EPOCHS, 20_000, 0.05)
    ((bleu, loss, seconds),) = ablations.ablation("world", 20_000, "no dropout", 1)
    assert 0 <= bleu < 5 and 3 < loss < 6 and seconds > 0


@pytest.mark.thorough
def test_lesson_13s_loop_is_followed_and_scored(monkeypatch):
    ablations = program("ablations")
    few = Pairs(["A dog runs .", "A man sleeps ."] * 3, ["Ein Hund rennt .", "Ein Mann schläft ."] * 3)
    whole_page = ablations.page

    def page(*args, **known):
        lesson = whole_page(*args, **known)
        lesson.loader_of.__globals__["load_captions"] = lambda split: few
        return lesson

    monkeypatch.setattr(ablations, "page", page)
    monkeypatch.setattr(ablations, "load_captions", lambda split: few)
    *epochs, (test_set, best, loss, bleu, _) = ablations.own_loop(0, epochs=2)
    assert [(name, epoch) for name, epoch, *_ in epochs] == [("val", 1), ("val", 2)]
    assert test_set == "test_2016_flickr" and loss == pytest.approx(min(row[2] for row in epochs), abs=1e-4)
    assert epochs[best - 1][2] == min(row[2] for row in epochs) and 0 <= bleu <= 100


@pytest.mark.thorough
def test_the_translator_is_scored_on_three_test_sets(monkeypatch):
    ablations = program("ablations")
    short = {**ablations.load_preset("transformer", "laptop"), "epochs": 0.02}
    monkeypatch.setattr(ablations, "load_preset", lambda kind, name: short)
    rows = ablations.recipe("no dropout", 0)
    assert [row[0] for row in rows] == list(ablations.TESTS)
    assert all(0 <= bleu < 5 and loss > 5 for *_, bleu, loss, _ in rows)
