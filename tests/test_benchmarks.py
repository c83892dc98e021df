"""What the programs in benchmarks/ count and measure: speed itself is not tested, but what it is a share of, and that they run."""

import importlib
import sys
from argparse import Namespace

import pytest
import torch
from repository import ROOT
from torch.utils.flop_counter import FlopCounterMode

from course_utils.base.environment import tomllib
from course_utils.models.transformer import Transformer
from course_utils.training.batches import Batches

ROWS = [[5] * length for length in range(3, 20)], [[6] * length for length in range(4, 21)]


@pytest.fixture
def programs(monkeypatch):
    """The folder of the programs, as one that runs there finds the others; forgotten afterwards."""
    monkeypatch.syspath_prepend(ROOT / "benchmarks")
    yield importlib.import_module
    for name in ("training", "decoding", "gpu", "gpu_decoding", "measuring"):
        sys.modules.pop(name, None)


def test_a_table_is_filled_where_it_has_nothing_yet(programs, monkeypatch, tmp_path, capsys):
    measuring = programs("measuring")
    monkeypatch.setattr(measuring.measured, "FOLDER", tmp_path)
    asked = []

    def measure(setup, seed):
        asked.append((setup, seed))
        return [(length, 1 / (length + seed), "") for length in (3, 4)]

    columns = "setup seed length share aer"
    measuring.fill("rain", columns, measuring.jobs(["a, b", "c"], range(1)), measure)
    assert capsys.readouterr().out.startswith("a, b 0 [[3, 0.3333, '']")
    measuring.fill("rain", columns, measuring.jobs(["a, b", "c"], range(2), {"c": 1}), measure)
    assert asked == [("a, b", 0), ("c", 0), ("a, b", 1)]
    lines = (tmp_path / "rain.csv").read_bytes().decode().split("\n")
    assert lines[:3] == ["setup,seed,length,share,aer", '"a, b",0,3,0.3333,', '"a, b",0,4,0.25,'] and len(lines) == 8
    assert measuring.measured.by_seed("rain", "share", setup="a, b", length=4).tolist() == pytest.approx([0.25, 0.2])


@pytest.mark.parametrize(
    ("seeds", "given", "found"),
    [(5, "", range(5)), (5, "--seeds 2", range(2)), ([0, 1], "", [0, 1]), ([0, 1], "--seeds 4 3", [4, 3])],
)
def test_seeds_are_how_many_or_which_ones(programs, monkeypatch, seeds, given, found):
    monkeypatch.setattr(sys, "argv", ["program", *given.split(), "--only", "x"])
    options = programs("measuring").read_options("What it does.\n\nMore.", seeds, only={"nargs": "+"})
    assert (options.seeds, options.only) == (found, ["x"])


def test_operations_are_as_many_as_pytorch_counts(programs):
    training = programs("training")
    batches = Batches(*ROWS, 128, 0)
    batch = batches.read(batches.epoch(0)[0])
    model = Transformer(50, width=32, heads=4, hidden=64, encoder_layers=2, decoder_layers=3)
    step = training.course_step(model, torch.float32, "adamw")
    with FlopCounterMode(display=False) as counted:
        step(batch)
    # PyTorch's counter misses products that are written into a given tensor, of which the loss has one.
    assert training.products(model, batch) == pytest.approx(counted.get_total_flops(), rel=0.01)


@pytest.mark.thorough
def test_training_on_a_gpu_is_measured_on_a_cpu_too(programs, monkeypatch, capsys):
    gpu = programs("gpu")
    kinds = [gpu.TUTORIAL, gpu.Kind("buckets", "bf16"), gpu.Kind("course", "tf32"), gpu.Kind("course, written", "bf16")]
    monkeypatch.setattr(gpu, "KINDS", kinds)
    monkeypatch.setitem(gpu.SIZES, "small", gpu.Size(16, 32, 1, 2))
    options = Namespace(quick=True, tokens=64, only=None)
    before = torch.get_float32_matmul_precision()
    try:
        found = gpu.measure("small", ROWS, 10, options, torch.device("cpu"))
    finally:
        torch.set_float32_matmul_precision(before)
    assert sorted(row[1:4] for row in found) == sorted([*kind, number] for kind in kinds for number in (0, 1))
    assert all(row[4] > 0 for row in found)  # tokens a second
    assert all((row[5] > 0) == row[1].startswith("course") for row in found)  # share of the limit
    lines = capsys.readouterr().out.splitlines()
    assert [line for line in lines if line.startswith("tutorial, fp32")][0].split()[5] == "1.00x"
    options.only = ["course, tf32"]
    found = gpu.measure("small", ROWS, 10, options, torch.device("cpu"))
    assert {tuple(row[1:3]) for row in found} == {("tutorial", "fp32"), ("course", "tf32")}
    assert "limit in bf16" not in capsys.readouterr().out


@pytest.mark.thorough
def test_translating_on_a_gpu_is_measured_on_a_cpu_too(programs, capsys):
    decoding = programs("gpu_decoding")
    model = Transformer(10, width=16, heads=2, hidden=32, encoder_layers=1, decoder_layers=1)
    found = decoding.measure(model, ROWS[0], [1, 4], [1, 2], 2, torch.device("cpu"))
    ways = [
        [name, beam, batch, turn] for name in ("fp32", "bf16") for beam in (1, 2) for batch in (1, 4) for turn in (1, 2)
    ]
    assert sorted(row[:4] for row in found) == sorted(ways)
    assert all(row[4] > 0 for row in found)  # sentences a second
    ratios = [line.split()[-2] for line in capsys.readouterr().out.splitlines() if ", 1 at a time" in line]
    assert ratios == ["1.0x"] * 4


def test_the_list_of_faults_still_fits_the_code():
    listed = tomllib.loads((ROOT / "benchmarks" / "faults.toml").read_text(encoding="utf-8"))["fault"]
    assert len({fault["name"] for fault in listed}) == len(listed) >= 60
    assert all(set(fault) == {"name", "origin", "package", "what", "test", "edit"} for fault in listed)
    edits = [edit for fault in listed for edit in fault["edit"]]
    gone = [edit for edit in edits if (ROOT / edit["file"]).read_text(encoding="utf-8").count(edit["old"]) != 1]
    assert len(gone) < 4, f"these no longer fit: replace them in benchmarks/faults.toml\n{gone}"
    assert all(edit["old"] != edit["new"] for edit in edits)
