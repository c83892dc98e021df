"""The tables of lesson 13: what the lesson says of them holds for every seed, and the program that writes them still does."""

import pytest
from programs import program

from course_utils.data.measured import measured


def bleu(data, pairs, changed):
    """The BLEU of each seed, with one thing changed."""
    _, runs = measured("ablations", "bleu", "pairs", data=data, pairs=pairs, changed=changed)
    return [run[0] for run in runs]


def test_every_row_has_all_its_seeds():
    changes = program("ablations").CHANGES
    for data, pairs, seeds in (("world", 1500, 5), ("multi30k", 29000, 3)):
        assert [len(bleu(data, pairs, changed)) for changed in changes] == [seeds] * len(changes)
    assert [len(bleu("world", 20000, changed)) for changed in ("nothing", "no dropout")] == [5, 5]


def test_dropout_helps_with_few_sentences_and_not_with_many():
    assert min(bleu("world", 1500, "nothing")) > max(bleu("world", 1500, "no dropout")) + 3
    assert min(bleu("world", 20000, "nothing")) < max(bleu("world", 20000, "no dropout"))


def test_with_few_sentences_each_of_these_matters_more_than_the_seed():
    plain = bleu("world", 1500, "nothing")
    for changed in ("SGD in place of Adam", "no label smoothing"):
        assert max(bleu("world", 1500, changed)) < min(plain)
    for changed in ("Muon in place of Adam", "batches of sentences"):
        assert min(bleu("world", 1500, changed)) > max(plain) + 2
    for changed in ("no warm-up", "readout not tied"):
        assert min(bleu("world", 1500, changed)) < max(plain)


def test_on_multi30k_what_costs_much_in_the_small_world_need_not():
    plain = bleu("multi30k", 29000, "nothing")
    assert max(plain) - min(plain) > 5  # between seeds
    assert max(bleu("multi30k", 29000, "SGD in place of Adam")) < min(plain)
    for changed in ("Muon in place of Adam", "batches of sentences", "readout not tied"):
        assert min(bleu("multi30k", 29000, changed)) > max(plain)
    assert min(bleu("multi30k", 29000, "no dropout")) >= max(plain)


def test_in_the_same_time_the_transformer_with_muon_is_better_than_the_gru_and_as_large():
    def column(name, kind, optimizer):
        _, runs = measured("equal_time", name, "epochs", kind=kind, optimizer=optimizer)
        assert len(runs) == 3
        return [run[0] for run in runs]

    ours, adam, theirs = ("transformer", "muon"), ("transformer", "adamw"), ("attention", "adamw")
    assert min(column("bleu", *ours)) > max(column("bleu", *theirs)) + 2
    assert min(column("bleu", *ours)) > max(column("bleu", *adam)) + 2
    assert max(column("cpu_seconds", *ours)) < min(column("cpu_seconds", *theirs))
    assert column("parameters", *ours)[0] == pytest.approx(column("parameters", *theirs)[0], rel=0.01)


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
