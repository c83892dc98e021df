"""The tables of lesson 13: what the lesson says of them holds for every seed, and the program that writes them still does."""

import pytest
from programs import program

from course_utils.data.measured import measured_once


def bleu(data, pairs, changed):
    """The BLEU of each seed, with one thing changed, in the order of the seeds: the rows of a table may have another one."""
    seeds, runs = measured_once("ablations", "seed", "bleu", data=data, pairs=pairs, changed=changed)
    assert len(set(seeds)) == len(seeds)
    return [run for _, run in sorted(zip(seeds, runs, strict=True))]


def test_every_row_has_all_its_seeds():
    changes = program("ablations").CHANGES
    for data, pairs, seeds in (("world", 1500, 5), ("multi30k", 29000, 3)):
        assert [len(bleu(data, pairs, changed)) for changed in changes] == [seeds] * len(changes)
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
    for data, pairs in (("world", 1500), ("multi30k", 29000)):
        assert gained(data, pairs, "SGD in place of Adam")[1] < -1
        for changed in ("Muon in place of Adam", "batches of sentences"):
            assert gained(data, pairs, changed)[0] > 1
    assert gained("world", 1500, "no label smoothing")[1] < -3
    assert gained("multi30k", 29000, "no dropout")[0] > 1
    assert gained("multi30k", 29000, "readout not tied")[0] > 0.5
    for data, pairs, changed in (
        ("world", 1500, "no warm-up"),
        ("world", 1500, "readout not tied"),
        ("multi30k", 29000, "no warm-up"),
        ("multi30k", 29000, "no label smoothing"),
    ):
        low, high = gained(data, pairs, changed)
        assert low < 0 < high


def test_on_multi30k_every_change_gains_most_with_the_seed_whose_plain_run_is_the_worst():
    plain = bleu("multi30k", 29000, "nothing")
    assert plain[0] < min(plain[1:]) - 4
    for changed in program("ablations").CHANGES.keys() - {"nothing"}:
        gains = [other - own for other, own in zip(bleu("multi30k", 29000, changed), plain, strict=True)]
        assert gains[0] == max(gains)


def test_the_optimizer_moves_the_transformer_from_below_the_gru_to_above_it():
    def column(name, kind, optimizer):
        (found,) = measured_once("equal_time", name, kind=kind, optimizer=optimizer)
        assert len(found) == 3
        return found

    muon, adam, gru = ("transformer", "muon"), ("transformer", "adamw"), ("attention", "adamw")
    assert min(column("bleu", *muon)) > max(column("bleu", *gru)) + 2
    assert max(column("bleu", *adam)) < min(column("bleu", *gru)) - 5
    assert column("parameters", *muon)[0] == pytest.approx(column("parameters", *gru)[0], rel=0.01)
    assert min(column("tokens", *gru)) / max(column("tokens", *adam)) == pytest.approx(1.25, abs=0.01)


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
    monkeypatch.setitem(ablations.EPOCHS, ("world", 20_000), 0.05)
    ((*job, bleu, loss, seconds),) = ablations.ablation("world", 20_000, "no dropout", 1)
    assert job == ["world", 20_000, "no dropout", 1]
    assert 0 <= bleu < 5 and 3 < loss < 6 and seconds > 0


@pytest.mark.thorough
def test_the_translator_is_scored_on_three_test_sets(monkeypatch):
    ablations = program("ablations")
    short = {**ablations.load_preset("transformer", "laptop"), "epochs": 0.02}
    monkeypatch.setattr(ablations, "load_preset", lambda kind, name: short)
    rows = ablations.recipe("no dropout", 0)
    assert [row[:3] for row in rows] == [("no dropout", 0, name) for name in ablations.TESTS]
    assert all(0 <= bleu < 5 and loss > 5 for *_, bleu, loss, _ in rows)
