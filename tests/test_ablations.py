"""The tables of lesson 13: what the lesson says of them holds for every seed, and the program that writes them still does."""

from types import SimpleNamespace

import pytest
from programs import program

from course_utils.data.measured import by_seed, measured_once


def bleu(data, pairs, changed):
    """The BLEU of each seed, with one thing changed, in the order of the seeds: the rows of a table may have another one."""
    seeds, runs = measured_once("ablations", "seed", "bleu", data=data, pairs=pairs, changed=changed)
    assert len(set(seeds)) == len(seeds)
    return [run for _, run in sorted(zip(seeds, runs, strict=True))]


def test_every_row_has_all_its_seeds():
    changes = program("ablations").CHANGES
    assert [len(bleu("world", 1500, changed)) for changed in changes] == [5] * len(changes)
    assert [len(bleu("world", 20000, changed)) for changed in ("nothing", "no dropout")] == [5, 5]


def gained(data, pairs, changed):
    """What a change gains in BLEU, seed by seed: the least and the most."""
    pairwise = zip(bleu(data, pairs, changed), bleu(data, pairs, "nothing"), strict=True)
    found = [other - plain for other, plain in pairwise]
    return min(found), max(found)


def test_dropout_helps_with_few_sentences_and_harms_with_many_though_the_ranges_overlap():
    assert gained("world", 1500, "no dropout")[1] < -7
    assert gained("world", 20000, "no dropout")[0] >= 3
    assert max(bleu("world", 20000, "nothing")) > min(bleu("world", 20000, "no dropout")) + 4


def test_all_seeds_agree_on_some_changes_and_not_on_others():
    assert gained("world", 1500, "SGD in place of Adam")[1] < -3
    for changed in ("Muon in place of Adam", "batches of sentences"):
        assert gained("world", 1500, changed)[0] > 4
    assert gained("world", 1500, "no label smoothing")[1] < -3
    for changed in ("no warm-up", "readout not tied"):
        low, high = gained("world", 1500, changed)
        assert low < 0 < high


def test_the_translator_has_every_change_with_each_of_its_seeds():
    changes = program("ablations").RECIPE_CHANGES
    for test_set in program("ablations").TESTS:
        seeds = [set(measured_once("recipe", "seed", changed=changed, test_set=test_set)[0]) for changed in changes]
        assert 0 in seeds[0] and all(other <= seeds[0] for other in seeds)


def test_the_translators_bleu_is_the_mean_of_its_test_sets():
    found = [
        measured_once("recipe", "bleu", changed="nothing", test_set=name, seed=0) for name in program("ablations").TESTS
    ]
    assert by_seed("recipe", "bleu", changed="nothing")[0] == pytest.approx(sum(one for ((one,),) in found) / 3)


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
def test_the_program_measures_a_row(monkeypatch):
    ablations = program("ablations")
    monkeypatch.setitem(ablations.EPOCHS, 20_000, 0.05)
    ((bleu, loss, seconds),) = ablations.ablation("world", 20_000, "no dropout", 1)
    assert 0 <= bleu < 5 and 3 < loss < 6 and seconds > 0


@pytest.mark.thorough
def test_the_translator_is_scored_on_three_test_sets(monkeypatch):
    ablations = program("ablations")
    short = {**ablations.load_preset("transformer", "laptop"), "epochs": 0.02}
    monkeypatch.setattr(ablations, "load_preset", lambda kind, name: short)
    rows = ablations.recipe("no dropout", 0)
    assert [row[0] for row in rows] == list(ablations.TESTS)
    assert all(0 <= bleu < 5 and loss > 5 for *_, bleu, loss, _ in rows)
