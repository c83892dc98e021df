"""Tests of `course_utils.training`: what a step computes, and that neither kills, stops nor damage cost a run anything.

Runs are tiny, on the generated world. Processes of their own are started only where a test is about them: this file
is also the program that they run.
"""

import contextlib
import dataclasses
import json
import math
import os
import pickle
import random
import shutil
import signal
import socket
import subprocess
import sys
import threading
from pathlib import Path

import numpy as np
import pytest
import sampling
import torch
from hypothesis import given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st
from safetensors.torch import load, load_file, save
from torch.nn import functional as F

from course_utils.base.errors import CourseError
from course_utils.data.pairs import Pairs
from course_utils.data.subwords import BOS, EOS, PAD, Subwords
from course_utils.data.world import generate_translations
from course_utils.models.serialization import load_model, make_model
from course_utils.training import device as devices
from course_utils.training import loop
from course_utils.training.batches import Batches
from course_utils.training.corpus import Corpus
from course_utils.training.loop import Trainer, train
from course_utils.training.optimizer import Optimizer, schedule
from course_utils.training.run_folder import RunError
from course_utils.training.settings import KINDS, Settings, load_preset, make_settings

MODEL = {"width": 16, "heads": 2, "hidden": 32, "encoder_layers": 1, "decoder_layers": 1, "dropout": 0.2}
RECURRENT = {"width": 16, "hidden": 16, "encoder_hidden": 8, "dropout": 0.2}
CPU = torch.device("cpu")


@contextlib.contextmanager
def alike_everywhere():
    """One thread, as sums depend on their number in the last digits; and Ctrl-C is heard, also by a pytest in the background."""
    before = torch.get_num_threads(), signal.signal(signal.SIGINT, signal.default_int_handler)
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before[0])
    signal.signal(signal.SIGINT, before[1])


@pytest.fixture(autouse=True)
def every_test_alike():
    with alike_everywhere():
        yield


# --- runs
def short_settings(**changes) -> Settings:
    """Settings of a run of a second: 12 to 14 steps an epoch."""
    values = {"model": MODEL, "batch_tokens": 128, "epochs": 2.0, "rate": 1e-2, "precision": "fp32"}
    return make_settings({**values, **changes})


PAIRS = generate_translations(120, 1)
CORPUS = Corpus(PAIRS, generate_translations(12, 2), Subwords.words(PAIRS.sources + PAIRS.targets))


def run(settings, folder, **options) -> Trainer:
    return train(settings, folder, CORPUS, device="cpu", **{"show": False, **options})


def trainer_of(folder, corpus=CORPUS, **changes) -> Trainer:
    return Trainer(short_settings(**changes), loop.RunFolder(folder), corpus, CPU)


@contextlib.contextmanager
def acting_after_step(number, act):
    """Within it, `act` is called after step `number` of a run."""
    step = Trainer.step

    def and_act(trainer):
        step(trainer)
        if trainer.progress.step == number:
            act()

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Trainer, "step", and_act)
        yield


def stopped_at(number, settings, folder, **options) -> Trainer:
    """Run to a step and stop there, as Ctrl-C does."""
    with acting_after_step(number, lambda: signal.raise_signal(signal.SIGINT)):
        trainer = run(settings, folder, **options)
    assert trainer.progress.step == number and not trainer.progress.finished
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
    return trainer


def curves(folder):
    """The curves without the column that is about time."""
    rows = [line.split(",") for line in (Path(folder) / "curves.csv").read_text().splitlines()]
    return [row[:3] + row[4:] for row in rows]


def assert_same_run(one, other):
    assert (one / "model.safetensors").read_bytes() == (other / "model.safetensors").read_bytes()
    assert curves(one) == curves(other)
    ours, theirs = load_file(one / "checkpoint.safetensors"), load_file(other / "checkpoint.safetensors")
    assert ours.keys() == theirs.keys()
    assert all(torch.equal(ours[name], theirs[name]) for name in ours)


def environment():
    return os.environ | {"OMP_NUM_THREADS": "1", "PYTHONPATH": str(Path(__file__).parents[1])}


def start(*arguments, **more):
    command = [sys.executable, __file__, *map(str, arguments)]
    return subprocess.Popen(command, env=environment() | more, stdout=subprocess.PIPE, text=True)


# --- stop and resume
RUNS = {
    "fp32": {"precision": "fp32", "average": 0.6},
    "bf16": {"precision": "bf16", "average": 0.6, "stop_on": "loss", "patience": 2, "validate": 0.3},
    "attention": {"kind": "attention", "model": RECURRENT, "accumulate": 2, "epochs": 3.0, "smoothing": 0.0},
    "muon": {"optimizer": "muon", "precision": "bf16", "average": 0.6, "weight_decay": 0.1, "r_drop": 1.0},
    "sgd": {
        "optimizer": "sgd",
        "rate": 0.3,
        "precision": "bf16",
        "batches": "sentences",
        "model": {**MODEL, "tied": False},
    },
}


@pytest.mark.parametrize("name", sampling.usually(list(RUNS), 2))
def test_stopped_anywhere_and_resumed_equals_never_stopped(tmp_path, name):
    settings = short_settings(**RUNS[name])
    settings = dataclasses.replace(settings, epochs=int(settings.epochs))  # JSON gives back 2 as 2, and we as 2.0
    whole = run(settings, tmp_path / "whole")
    stops = sorted(random.Random(0).sample(range(1, whole.progress.step), 4))
    for number in stops:
        stopped_at(number, settings, tmp_path / "parts", resume=number != stops[0])
    (tmp_path / "parts").rename(tmp_path / "moved")
    run(None, tmp_path / "moved", resume=True)
    assert_same_run(tmp_path / "whole", tmp_path / "moved")


@pytest.mark.parametrize("precision", sampling.usually(["fp32", "bf16"], 1))
def test_killed_at_a_random_step_and_resumed_equals_never_killed(tmp_path, precision):
    changes = {"precision": precision, "epochs": 6.0, "average": 0.9, "stop_on": "loss", "patience": 9}
    whole = run(short_settings(**changes), tmp_path / "whole")
    number = random.randrange(2, whole.progress.step - 9)
    process = start("train", tmp_path / "killed", json.dumps(changes), number)
    assert process.communicate(timeout=600)[0] == "" and process.returncode != 0
    trainer = run(None, tmp_path / "killed", resume=True)
    assert trainer.progress.step == whole.progress.step
    assert_same_run(tmp_path / "whole", tmp_path / "killed")


def train_and_die(folder, changes, number):
    """What the process does that is to be killed: it trains, and soon after a step, in the middle of anything, it dies."""

    def die():
        os.kill(os.getpid(), getattr(signal, "SIGKILL", signal.SIGTERM))

    with acting_after_step(int(number), lambda: threading.Timer(random.random() * 0.05, die).start()):
        run(short_settings(**json.loads(changes)), folder, checkpoint_seconds=0.02)
    print("it lived to see its end")


def test_killed_after_the_last_step_still_gets_its_model(tmp_path, monkeypatch):
    run(short_settings(epochs=1), tmp_path)
    before = (tmp_path / "model.safetensors").read_bytes()
    for name in ("model.safetensors", "model.json", "subwords.json"):
        (tmp_path / name).unlink()
    monkeypatch.setattr(Trainer, "step", None)  # which nobody may call
    trainer = run(None, tmp_path, resume=True)
    assert (tmp_path / "model.safetensors").read_bytes() == before and trainer.progress.finished


def test_a_second_stop_does_not_wait(tmp_path):
    def twice():
        signal.raise_signal(signal.SIGINT)
        signal.raise_signal(signal.SIGINT)

    with pytest.raises(KeyboardInterrupt), acting_after_step(3, twice):
        run(short_settings(), tmp_path, checkpoint_seconds=0)
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
    assert run(None, tmp_path, resume=True).progress.finished


def test_dropout_differs_between_steps_seeds_and_processes(tmp_path, monkeypatch):
    seeds = []
    trainers = [trainer_of(tmp_path / str(seed), seed=seed) for seed in (0, 1)]
    monkeypatch.setattr(torch, "manual_seed", seeds.append)
    for number in (0, 1):
        monkeypatch.setattr(devices, "rank", lambda number=number: number)
        for trainer in trainers:
            trainer.progress.step = 0
            trainer.step()
            trainer.step()
    assert len({seed % 2**32 for seed in seeds}) == 8  # a CPU's generator looks at 32 bits


# --- several processes
PAIR_RUNS = {  # of two processes: changes of settings, and how many batches of an epoch are left for its last step
    "one left": ({"accumulate": 2, "epochs": 6.0}, 1),
    "three left": ({"accumulate": 2, "kind": "attention", "model": {**RECURRENT, "dropout": 0.0}}, 3),
    "bf16": ({"precision": "bf16"}, 1),
    "muon": ({"optimizer": "muon"}, 1),
}


def pair_settings(name):
    """Settings whose epochs have as many batches as the test needs."""
    changes, left = PAIR_RUNS[name]
    changes = {"model": {**MODEL, "dropout": 0.0}, "average": 0.5, **changes}
    sources, targets = (CORPUS.subwords.encode(texts) for texts in (CORPUS.train.sources, CORPUS.train.targets))
    for tokens in range(100, 200):
        batches = Batches(sources, targets, tokens, seed=0)
        if len(batches.epoch(0)) % (2 * changes.get("accumulate", 1)) == left:
            return changes | {"batch_tokens": tokens}
    raise AssertionError("no such batch size")


def train_as_one_of_two(folder):
    """What each of two processes does: several runs, so that both have to start only once."""
    folder = Path(folder)
    with devices.process_group(CPU):
        for name in PAIR_RUNS:
            run(short_settings(**pair_settings(name)), folder / name)
        # With dropout, and without a validation at step 16, where processes ask each other: there is a loss to be kept.
        changes = pair_settings("one left") | {"model": MODEL, "validate": 1.5}
        run(short_settings(**changes), folder / "whole")
        rank = devices.rank()
        with acting_after_step(3, (lambda: signal.raise_signal(signal.SIGINT)) if rank else (lambda: None)):
            trainer = run(short_settings(**changes), folder / "parts")
        assert trainer.progress.step == 16 and not trainer.progress.finished  # the second alone heard Ctrl-C
        run(None, folder / "parts", resume=True, checkpoint_seconds=0)
        with contextlib.suppress(RunError):
            run(short_settings(**changes), folder / "parts")
            raise AssertionError("the folder held a run")
        print("all well", flush=True)


def weights_that_matter(folder):
    """A model's weights without what is added to all keys: it changes no softmax, and its gradient is rounding alone."""
    weights = load_file(folder / "model.safetensors")
    return {name: value[MODEL["width"] :] if "key_value.bias" in name else value for name, value in weights.items()}


@pytest.mark.thorough
def test_two_processes_equal_one_with_twice_the_batches_a_step(tmp_path):
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = str(free.getsockname()[1])
    shared = {"MASTER_ADDR": "127.0.0.1", "MASTER_PORT": port, "WORLD_SIZE": "2"}
    pair = [start("pair", tmp_path / "two", RANK=str(r), LOCAL_RANK=str(r), **shared) for r in range(2)]
    try:
        said = [process.communicate(timeout=600)[0] for process in pair]
    finally:
        for process in pair:
            process.kill()
    assert said == ["all well\n"] * 2

    for name in PAIR_RUNS:
        changes = pair_settings(name)
        run(short_settings(**changes | {"accumulate": 2 * changes.get("accumulate", 1)}), tmp_path / "one" / name)
        one, two = (weights_that_matter(tmp_path / n / name) for n in ("one", "two"))
        torch.testing.assert_close(two, one, rtol=0, atol=1e-5 if name != "bf16" else 0.01)
        for ours, theirs in zip(curves(tmp_path / "two" / name)[1:], curves(tmp_path / "one" / name)[1:], strict=True):
            assert ours[:4] == theirs[:4]
            assert float(ours[4]) == pytest.approx(float(theirs[4]), abs=1.5e-4 if name != "bf16" else 0.02)
            assert float(ours[5]) == pytest.approx(float(theirs[5]), abs=1.5e-4 if name != "bf16" else 0.02)
        assert json.loads((tmp_path / "two" / name / "environment.json").read_text())["processes"] == 2

    assert_same_run(tmp_path / "two" / "whole", tmp_path / "two" / "parts")
    (tmp_path / "two" / "parts" / "model.safetensors").unlink()
    with pytest.raises(RunError, match="had 2 processes and now has 1"):
        run(None, tmp_path / "two" / "parts", resume=True)


# --- a step
def test_gradients_of_several_batches_equal_those_of_a_large_one(tmp_path):
    trainer = trainer_of(tmp_path, accumulate=3, model={**MODEL, "dropout": 0.0})
    group = trainer.group(0)
    sizes = [trainer.batches.target_tokens(places) for places in group]
    assert len(group) == 3 and len(set(sizes)) == 3

    whole = trainer.batches.read(np.concatenate(group))
    wanted = torch.full(whole.given.shape, PAD).flatten().index_copy_(0, whole.places, whole.wanted)
    logits = trainer.model(whole.source, whole.given).flatten(0, 1)
    loss = F.cross_entropy(logits, wanted, ignore_index=PAD, label_smoothing=0.1)
    parameters = dict(trainer.model.named_parameters())
    expected = dict(zip(parameters, torch.autograd.grad(loss, parameters.values()), strict=True))

    trainer.optimizer.step = lambda rate: None
    trainer.step()
    torch.testing.assert_close({name: p.grad for name, p in parameters.items()}, expected, rtol=1e-4, atol=1e-6)
    assert trainer.loss.item() / sum(sizes) == pytest.approx(loss.item(), rel=1e-5)
    assert trainer.progress.tokens == sum(sizes)


@pytest.mark.parametrize("kind, model", [(kind, MODEL if kind == "transformer" else RECURRENT) for kind in KINDS])
def test_every_weight_gets_a_gradient(tmp_path, kind, model):
    """Or DDP waits for it forever."""
    trainer = trainer_of(tmp_path, kind=kind, model=model)
    trainer.optimizer.step = lambda rate: None
    trainer.step()
    assert all(p.grad is not None for p in trainer.model.parameters())


@pytest.mark.thorough
@pytest.mark.filterwarnings("ignore:The .grad attribute of a Tensor that is not a leaf")  # torch.compile's own
def test_a_compiled_model_learns_the_same(tmp_path, monkeypatch):
    """Through torch.compile's graphs, run as they are: to make code of them takes a compiler and a minute."""
    plain = torch.compile
    monkeypatch.setattr(torch, "compile", lambda *given, **more: plain(*given, **more, backend="eager"))
    ways = [trainer_of(tmp_path / str(way), compile=way, precision="fp32") for way in (False, True)]
    for trainer in ways:
        trainer.step()
    assert ways[1].objective.features is not ways[1].model.features
    for one, other in zip(*(trainer.model.parameters() for trainer in ways), strict=True):
        torch.testing.assert_close(one, other, rtol=0, atol=1e-5)


def test_the_loss_in_the_curves_is_that_of_each_token(tmp_path, monkeypatch):
    seen = []
    forward = loop.Objective.forward

    def watched(objective, batch):
        loss = forward(objective, batch)
        if objective.training and objective.smoothing:
            seen.append((loss.item(), len(batch.wanted)))
        return loss

    monkeypatch.setattr(loop.Objective, "forward", watched)
    trainer = run(short_settings(accumulate=2), tmp_path)
    half = len(seen) // 2
    for row, part in zip(trainer.curves, (seen[:half], seen[half:]), strict=True):
        losses, tokens = map(sum, zip(*part, strict=True))
        assert row["loss"] == pytest.approx(losses / tokens, abs=1e-4)
    assert trainer.curves[-1]["tokens"] == sum(tokens for _, tokens in seen)


# --- batches
def rows_like_multi30k(number, seed=0):
    """Rows of ids as long as captions and their translations in 4,000 subwords."""
    draw = np.random.default_rng(seed)
    sources = np.clip(np.exp(draw.normal(2.6, 0.32, number)), 4, 60).round().astype(int)
    targets = np.clip(sources + draw.normal(0, 2.2, number), 2, 60).round().astype(int)
    return ([[7] * length for length in lengths] for lengths in (sources, targets))


def share_of_padding(by):
    batches = Batches(*rows_like_multi30k(10_000), tokens=2048, seed=0, by=by)
    sides = [side for places in batches.epoch(0) for side in batches.read(places)[:2]]
    return sum((side == PAD).sum().item() for side in sides) / sum(side.numel() for side in sides)


def test_batches_hold_little_padding_unless_lengths_are_mixed():
    assert share_of_padding("tokens") < 0.07 and share_of_padding("sentences") > 0.3


@pytest.mark.parametrize("by", ["tokens", "sentences"])
def test_the_order_of_batches_follows_from_seed_and_epoch(by):
    rows = [list(side) for side in rows_like_multi30k(500)]
    orders = [
        [tuple(places) for places in Batches(*rows, tokens=256, seed=seed, by=by).epoch(epoch)]
        for seed, epoch in ((0, 0), (0, 1), (1, 0), (1, 1), (0, 0))
    ]
    assert orders[0] == orders[4]
    assert len({tuple(order) for order in orders[:4]}) == 4
    assert set(orders[0]) != set(orders[1])  # not only in another order: other sentences share a batch
    assert {len(order) for order in orders} == {len(orders[0])}  # or an epoch had not always as many steps


@hypothesis_settings(max_examples=60, deadline=None)
@given(
    st.lists(st.tuples(st.integers(0, 15), st.integers(0, 15)), min_size=1, max_size=40),
    st.integers(16, 60),
    st.integers(0, 5),
    st.sampled_from(["tokens", "sentences"]),
)
def test_batches_of_any_lengths_hold_each_pair_once(lengths, tokens, epoch, by):
    sources, targets = ([[5 + i] * length for i, length in enumerate(side)] for side in zip(*lengths, strict=True))
    batches = Batches(sources, targets, tokens, seed=0, by=by)
    seen, order = [], batches.epoch(epoch)
    assert len(order) == len(Batches(sources, targets, tokens, seed=0).epoch(epoch))
    if by == "sentences":  # equally many of any length
        assert max(map(len, order)) - min(map(len, order)) <= 1
    for places in order:
        batch = batches.read(places)
        assert by == "sentences" or max(batch.source.numel(), batch.given.numel()) <= tokens
        assert batch.source.dtype == batch.given.dtype == batch.wanted.dtype == torch.int64
        assert len(batch.wanted) == batches.target_tokens(places)
        wanted = torch.zeros_like(batch.given).flatten().index_copy_(0, batch.places, batch.wanted).view_as(batch.given)
        for place, source, given_, said in zip(places, batch.source, batch.given, wanted, strict=True):
            assert source[source != PAD].tolist() == [*sources[place], EOS]
            assert given_[given_ != PAD].tolist() == [BOS, *targets[place]]
            assert said[said != PAD].tolist() == [*targets[place], EOS]
            seen.append(place)
    assert sorted(seen) == list(range(len(lengths)))


def test_sentences_too_long_are_told_before_the_first_step(tmp_path):
    with pytest.raises(CourseError, match="a sentence has 31 tokens, and a batch holds 31"):
        Batches([[5] * 3], [[5] * 31], 31, 0)
    assert len(Batches([[5] * 3], [[5] * 31], 32, 0).epoch(0)) == 1  # with EOS the batch is full
    with pytest.raises(CourseError, match="there is no pair"):
        Batches([], [], 31, 0)
    long = Pairs(["the dog"], [" ".join(CORPUS.train.targets * 2)])
    for corpus in (Corpus(long, CORPUS.val, CORPUS.subwords), Corpus(CORPUS.train, long, CORPUS.subwords)):
        with pytest.raises(CourseError, match="a sentence has .* tokens, and a batch holds 128"):
            train(short_settings(), tmp_path / "run", corpus, device="cpu", show=False)
        assert not (tmp_path / "run").exists()


# --- schedules and optimizer
def test_the_linear_schedule_rises_and_falls_in_equal_steps():
    shares = [schedule("linear", step, 100, 10) for step in range(100)]
    up, down = [step / 10 for step in range(1, 11)], [step / 91 for step in range(90, 0, -1)]  # a step further it is 0
    assert shares == pytest.approx(up + down) and schedule("linear", 0, 1, 1) == 1


def test_the_schedule_of_the_paper_equals_its_formula():
    width, warmup = 512, 4000
    peak = (width * warmup) ** -0.5
    for step in (1, 2, 1000, 3999, 4000, 4001, 100_000):  # from 1, as in the paper
        formula = width**-0.5 * min(step**-0.5, step * warmup**-1.5)
        assert peak * schedule("paper", step - 1, 100_000, warmup) == pytest.approx(formula)
    assert load_preset("transformer", "paper")["rate"] == pytest.approx(peak, rel=0.01)


def test_a_run_follows_its_schedule(tmp_path):
    trainer = run(short_settings(warmup=0.25, rate=0.5e-2), tmp_path)
    warmup = round(0.25 * trainer.steps)
    assert trainer.rate(warmup - 1) == 0.5e-2
    assert trainer.rate(trainer.steps - 1) == pytest.approx(0.5e-2 / (trainer.steps + 1 - warmup))
    assert trainer.optimizer.base.param_groups[0]["lr"] == trainer.curves[-1]["rate"]


@pytest.mark.parametrize("kind", ["adamw", "sgd"])
@pytest.mark.parametrize("dtype", [torch.float64, torch.bfloat16])
def test_adamw_and_sgd_equal_their_formulas(dtype, kind):
    """Two equal weights, step after step, by hand: AdamW as in Loshchilov & Hutter 2019, algorithm 2; SGD keeps nine tenths of its momentum."""
    model = torch.nn.Linear(1, 1).to(dtype)
    for parameter in model.parameters():
        parameter.data.fill_(0.75)
    optimizer = Optimizer(model, (0.9, 0.98), weight_decay=0.1, clip=0.5, kind=kind)
    weight, mean, square, momentum = 0.75, 0.0, 0.0, 0.0
    for step, gradient in enumerate((0.25, -4.0, 1 / 128), 1):  # which bf16 holds exactly
        for parameter in model.parameters():
            parameter.grad = torch.full_like(parameter, gradient)
        norm = optimizer.step(0.1).item()
        assert norm == pytest.approx(2**0.5 * abs(gradient))
        clipped = gradient * min(1, 0.5 / norm)
        mean, square = 0.9 * mean + 0.1 * clipped, 0.98 * square + 0.02 * clipped**2
        momentum = 0.9 * momentum + clipped + 0.1 * weight
        adam = 0.1 * weight + mean / (1 - 0.9**step) / (math.sqrt(square / (1 - 0.98**step)) + 1e-9)
        weight -= 0.1 * (adam if kind == "adamw" else momentum)
        assert optimizer.masters["weight"].item() == pytest.approx(weight, rel=1e-5)  # clipping divides by norm + 1e-6
        assert torch.equal(model.weight, optimizer.masters["weight"].to(dtype))  # of which bf16 holds three digits


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
@pytest.mark.skipif(not hasattr(torch.optim, "Muon"), reason="needs torch 2.9")
def test_muon_equals_torch(dtype):
    """Up to rounding: torch's multiplies in bf16 only."""
    ours, theirs = (make_model("transformer", 41, MODEL) for _ in range(2))
    theirs.load_state_dict(ours.state_dict())
    ours.to(dtype)
    optimizer = Optimizer(ours, (0.9, 0.98), weight_decay=0.1, clip=1e9, kind="muon")
    left_out = {"embedding.words.weight", *(name for name, p in theirs.named_parameters() if p.dim() == 1)}
    parameters = dict(theirs.named_parameters())
    assert set(parameters) - set(optimizer.momenta) == left_out
    muon = torch.optim.Muon([parameters[name] for name in optimizer.momenta], weight_decay=0.1, momentum=0.95, adjust_lr_fn="match_rms_adamw")  # fmt: skip
    before = {name: master.detach().clone() for name, master in optimizer.masters.items()}
    for name in optimizer.momenta:  # the masters began as what bf16 holds
        parameters[name].data.copy_(before[name])
    for step in range(8):
        draw = torch.Generator().manual_seed(step)
        for one, other in zip(ours.parameters(), theirs.parameters(), strict=True):
            one.grad = torch.randn(one.shape, generator=draw).to(dtype)
            other.grad = one.grad.float()
        muon.param_groups[0]["lr"] = rate = 1e-2 / (step + 1)
        muon.step()
        optimizer.step(rate)
    for name in optimizer.momenta:
        way, theirs_way = optimizer.masters[name] - before[name], parameters[name] - before[name]
        assert (way - theirs_way).norm() < 0.08 * theirs_way.norm(), name


def test_muon_leaves_tables_to_adamw():
    for kind, settings in (("transformer", MODEL | {"positions": "learned"}), ("attention", RECURRENT)):
        model = make_model(kind, 41, settings)
        taken = Optimizer(model, (0.9, 0.98), 0.0, 1.0, kind="muon").momenta
        assert all(model.get_parameter(name).dim() == 2 for name in taken)
        assert len(taken) > 5
        assert not [name for name in taken if "embedding" in name or "position" in name or "readout" in name]


@pytest.mark.parametrize("kind, kept", [("adamw", "exp_avg"), ("muon", "momentum"), ("sgd", "momentum_buffer")])
def test_optimizer_takes_back_only_what_fits(kind, kept):
    torch.manual_seed(3)
    model = torch.nn.Sequential(torch.nn.Linear(5, 7), torch.nn.Linear(7, 3)).bfloat16()
    optimizer = Optimizer(model, (0.9, 0.98), 0.0, 1.0, kind)
    for parameter in model.parameters():
        parameter.grad = torch.ones_like(parameter)
    optimizer.step(0.1)
    state = {name: value.clone() for name, value in optimizer.state().items()}
    with pytest.raises(CourseError, match=r"0.bias must be shaped \[7\], not \[1\]"):
        optimizer.load(state | {"weight.0.bias": torch.zeros(1)})  # which copy_ would take
    with pytest.raises(KeyError):
        optimizer.load({name: value for name, value in state.items() if name != f"{kept}.1.weight"})


# --- averaging and early stopping
def test_the_average_is_the_mean_of_the_last_weights(tmp_path, monkeypatch):
    seen = []
    add = loop.add_to_average

    def watched(average, weights, *place):
        seen.append({name: weight.detach().clone() for name, weight in weights.items()})
        add(average, weights, *place)

    monkeypatch.setattr(loop, "add_to_average", watched)
    trainer = run(short_settings(average=0.25, precision="bf16"), tmp_path)
    last = sum(step > 0.75 * trainer.steps for step in range(1, trainer.steps + 1))
    assert trainer.progress.averaged == last > 3
    model, _ = load_model(tmp_path)
    for name, parameter in model.named_parameters():
        mean = torch.stack([weights[name] for weights in seen[-last:]]).mean(0)
        torch.testing.assert_close(parameter.detach(), mean, rtol=1e-5, atol=1e-6)


def test_a_long_run_averages_only_some_of_its_weights(tmp_path, monkeypatch):
    monkeypatch.setattr(loop, "AVERAGED", 5)
    trainer = run(short_settings(average=0.9), tmp_path)
    assert 5 <= trainer.progress.averaged <= 8


@pytest.mark.parametrize("watched", ["loss", "bleu"])
def test_early_stopping_stops_and_keeps_the_best(tmp_path, monkeypatch, watched):
    losses, bleus = [5.0, 4.0, 4.5, 3.0, 3.1, 3.2, 0.0], [1.0, 5.0, 3.0, 7.0, 7.0, 2.0, 100.0]
    results, weights = iter(zip(losses, bleus, strict=True)), []

    def measure(trainer):
        weights.append({name: master.detach().clone() for name, master in trainer.optimizer.masters.items()})
        return next(results)

    monkeypatch.setattr(Trainer, "measure", measure)
    stopped_at(26, short_settings(stop_on=watched, patience=2, validate=0.5, epochs=9.0), tmp_path)
    assert len(weights) == 4  # the best is behind it
    trainer = run(None, tmp_path, resume=True)
    assert len(trainer.curves) == 6 and trainer.progress.finished and trainer.progress.step < trainer.steps
    model, _ = load_model(tmp_path)
    for name, parameter in model.named_parameters():
        assert torch.equal(parameter, weights[3][name])
        assert torch.equal(trainer.model.get_parameter(name), weights[3][name])


def test_a_run_without_early_stopping_goes_on(tmp_path, monkeypatch):
    values = iter(range(1, 7))
    monkeypatch.setattr(Trainer, "measure", lambda trainer: (float(next(values)), 0.0))
    trainer = run(short_settings(validate=0.5, epochs=3.0, patience=1), tmp_path)
    assert trainer.progress.step == trainer.steps and len(trainer.curves) == 6


# --- the folder of a run
def test_the_folder_tells_the_run_and_takes_no_other(tmp_path):
    trainer = run(short_settings(epochs=1), tmp_path)
    before = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
    kept = "checkpoint.safetensors curves.csv environment.json model.json model.safetensors settings.json subwords.json"
    assert sorted(before) == kept.split()
    assert make_settings(json.loads(before["settings.json"])) == short_settings(epochs=1)
    about = json.loads(before["environment.json"])
    assert about["precision"] == "fp32" and about["torch"] == torch.__version__ and about["processes"] == 1
    header, *rows = curves(tmp_path)
    assert header == ["step", "epoch", "tokens", "rate", "loss", "val_loss", "val_bleu"]
    assert len(rows) == 1 and int(rows[0][0]) == trainer.steps
    with pytest.raises(RunError, match="already holds a run: resume it with --resume, or name another folder"):
        run(short_settings(epochs=2), tmp_path)
    assert before == {path.name: path.read_bytes() for path in tmp_path.iterdir()}


@pytest.mark.parametrize("precision", ["fp32", "bf16"])
def test_the_trainer_holds_the_model_that_is_in_the_folder(tmp_path, precision):
    trainer = run(short_settings(epochs=1, precision=precision), tmp_path)
    model, subwords = load_model(tmp_path)
    source, target = torch.tensor([[5, 6, EOS]]), torch.tensor([[BOS, 7, 8, 9]])
    assert torch.equal(model(source, target), trainer.model(source, target))
    assert len(subwords) == len(trainer.subwords)


def test_a_run_learns(tmp_path):
    trainer = run(short_settings(epochs=4.0, validate=4.0), tmp_path)
    assert trainer.curves[-1]["val_loss"] < math.log(len(trainer.subwords)) - 0.5  # which is that of guessing


def test_a_folder_that_cannot_be_used_is_refused(tmp_path):
    (tmp_path / "file").write_text("not a folder")
    for folder in (tmp_path / "file", tmp_path / "file" / "run"):
        with pytest.raises(RunError, match=r"can't be written \(.+\): .* name another folder"):
            run(short_settings(), folder)
        refuse_to_resume(folder, ".")
    refuse_to_resume(tmp_path / "nothing", "there is no run in")
    assert not (tmp_path / "nothing").exists()


@pytest.fixture(scope="module")
def stopped(tmp_path_factory):
    """A run that was stopped at step 5, to be copied."""
    folder = tmp_path_factory.mktemp("stopped") / "run"
    with alike_everywhere():
        stopped_at(5, short_settings(), folder)
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def copied(files, folder, **changed):
    """A folder with these files, some of them with another content or, where that is None, left out."""
    folder.mkdir()
    for name, content in (files | changed).items():
        if content is not None:
            (folder / name).write_bytes(content)
    return folder


def refuse_to_resume(folder, words, corpus=CORPUS, **options):
    with pytest.raises(RunError, match=words):
        train(None, folder, corpus, device="cpu", resume=True, show=False, **options)


class Bomb:
    """What makes a file when it is unpickled."""

    def __reduce__(self):
        return Path.touch, (Path("exploded"),)


DAMAGES = {
    "truncated": lambda content: content[:-100],
    "half a header": lambda content: content[:50],
    "empty": lambda content: b"",
    "random": lambda content: random.Random(0).randbytes(5000),
    "pickled": lambda content: pickle.dumps(Bomb()),
    "of another format": lambda content: save({"weight": torch.zeros(3)}),
    "of another state": lambda content: save(load(content), {"state": json.dumps([1, 2])}),
}


@pytest.mark.parametrize("damage", DAMAGES)
def test_a_damaged_checkpoint_is_told_and_left_alone(tmp_path, stopped, damage, monkeypatch):
    monkeypatch.chdir(tmp_path)
    damaged = {"checkpoint.safetensors": DAMAGES[damage](stopped["checkpoint.safetensors"])}
    folder = copied(stopped, tmp_path / "run", **damaged)
    refuse_to_resume(folder, "is damaged or no checkpoint of this course: delete it to begin at step 0")
    assert {path.name: path.read_bytes() for path in folder.iterdir()} == stopped | damaged
    assert not Path("exploded").exists()


def test_a_run_without_its_checkpoint_begins_again(tmp_path, stopped):
    folder = copied(stopped, tmp_path / "run", **{"checkpoint.safetensors": None})
    assert run(None, folder, resume=True).progress.finished


@pytest.mark.parametrize("other", ["settings", "data"])
def test_the_checkpoint_of_another_run_is_told(tmp_path, stopped, other):
    folder, corpus = copied(stopped, tmp_path / "run"), CORPUS
    if other == "settings":
        stopped_at(3, short_settings(seed=1), tmp_path / "other")
        shutil.copy(tmp_path / "other" / "checkpoint.safetensors", folder)
    else:
        turned = Pairs(CORPUS.train.sources, CORPUS.train.targets[1:] + CORPUS.train.targets[:1])
        corpus = Corpus(turned, CORPUS.val, CORPUS.subwords)
    refuse_to_resume(folder, "belongs to another run, or to other settings or data", corpus)


def test_a_checkpoint_without_all_tensors_is_told(tmp_path, stopped):
    folder = copied(stopped, tmp_path / "run")
    found = loop.RunFolder(folder)
    tensors, state = found.load_checkpoint()
    found.save_checkpoint({name: value for name, value in tensors.items() if "encoder" not in name}, state)
    refuse_to_resume(folder, "lacks part of the run's state")


@pytest.mark.parametrize("name", ["settings.json", "environment.json"])
@pytest.mark.parametrize("content", [b"{", b"[1]", b'"text"', b"\xff\xfe"])
def test_damaged_json_is_told(tmp_path, stopped, name, content):
    refuse_to_resume(copied(stopped, tmp_path / "run", **{name: content}), f"{name} can't be read")


@contextlib.contextmanager
def files_of_at_most(size):
    """Let the system refuse to write more, as a full disk does: after a part."""
    resource = pytest.importorskip("resource")
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


def test_a_full_disk_costs_no_checkpoint(tmp_path, stopped, monkeypatch):
    def full(*args, **options):
        raise OSError(28, "No space left on device")

    folder = copied(stopped, tmp_path / "run")
    cannot = r"checkpoint.safetensors can't be written \(.+\): what was there before is intact"
    with files_of_at_most(len(stopped["checkpoint.safetensors"]) * 9 // 10):  # the seconds in it vary in length
        refuse_to_resume(folder, cannot, checkpoint_seconds=0)
    assert {path.name: path.read_bytes() for path in folder.iterdir()} == stopped  # also nothing half-written
    with monkeypatch.context() as patch:
        patch.setattr("course_utils.training.run_folder.save_model", full)
        refuse_to_resume(folder, r"model.safetensors can't be written \(No space left on device\)")
    run(None, folder, resume=True)
    run(short_settings(), tmp_path / "whole")
    assert_same_run(folder, tmp_path / "whole")


def test_a_resumed_run_can_replace_the_checkpoint_that_it_read(tmp_path, stopped):
    """Tensors that are the file itself would change or vanish with it."""
    folder = copied(stopped, tmp_path / "run")
    tensors, _ = loop.RunFolder(folder).load_checkpoint()
    before = {name: value.clone() for name, value in tensors.items()}
    with open(folder / "checkpoint.safetensors", "r+b") as file:
        file.write(b"\0" * len(stopped["checkpoint.safetensors"]))
    assert all(torch.equal(tensors[name], before[name]) for name in before)


# --- numbers, devices, memory
NOT_FINITE = "the loss is not a finite number any more"


def test_a_loss_that_is_no_number_ends_the_run(tmp_path):
    with pytest.raises(RunError, match=rf"{NOT_FINITE} at step \d+: start anew with a lower rate than"):
        run(short_settings(rate=1e25), tmp_path)


def test_weights_not_finite_after_the_last_step_end_the_run(tmp_path):
    """The training loss was one before it: only validation sees them."""

    def spoil():
        with torch.no_grad():
            next(iter(trainer.optimizer.masters.values())).fill_(math.nan)

    trainer = trainer_of(tmp_path, epochs=1)
    with acting_after_step(trainer.steps, spoil), pytest.raises(RunError, match=NOT_FINITE):
        trainer.run(checkpoint_seconds=60, show=False)


@pytest.mark.parametrize("name", ["cuda", "cuda:7", "gpu", "meta", "cuda:x", ""])
def test_a_device_that_is_not_there_is_told(tmp_path, monkeypatch, name):
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    absent = f"device {name} was named, but this machine has 0 GPUs .* name cpu or auto"
    wrong = "device must be auto, cpu, cuda or cuda:N, not"
    with pytest.raises(CourseError, match=absent if name in ("cuda", "cuda:7") else wrong):
        train(short_settings(), tmp_path / "run", CORPUS, device=name, show=False)
    assert not (tmp_path / "run").exists()
    assert devices.choose_device("auto") == CPU


@pytest.mark.parametrize("fast, precision", [(True, "bf16"), (False, "fp32")])
def test_a_cpu_without_bf16_computes_in_fp32_and_says_so(tmp_path, monkeypatch, fast, precision):
    monkeypatch.setattr(devices, "cpu_is_fast_in_bf16", lambda: fast)
    settings = short_settings(precision="auto", epochs=1)
    trainer = stopped_at(3, settings, tmp_path)
    assert json.loads((tmp_path / "environment.json").read_text())["precision"] == precision
    assert trainer.precision == {"bf16": torch.bfloat16, "fp32": torch.float32}[precision]
    assert {p.dtype for p in trainer.model.parameters()} == {trainer.precision}
    monkeypatch.setattr(devices, "cpu_is_fast_in_bf16", lambda: not fast)  # a resumed run stays what it was
    assert run(None, tmp_path, resume=True).precision == trainer.precision
    assert load_model(tmp_path)[0].readout.weight.dtype == torch.float32


@pytest.mark.parametrize("version, expected", [((7, 5), "float32"), ((8, 0), "bfloat16"), ((9, 0), "bfloat16")])
def test_a_gpu_that_emulates_bf16_computes_in_fp32(monkeypatch, version, expected):
    monkeypatch.setattr(torch.cuda, "get_device_capability", lambda device: version)
    assert devices.choose_precision("auto", torch.device("cuda", 0)) == getattr(torch, expected)


def test_memory_is_kept_only_where_the_c_library_can(monkeypatch):
    devices.keep_freed_memory()
    monkeypatch.setattr("platform.libc_ver", lambda: ("", ""))
    monkeypatch.setattr("ctypes.CDLL", None)  # which nobody may call
    devices.keep_freed_memory()


# --- settings


@pytest.mark.parametrize(
    "values, message",
    [
        ({"epoch": 3}, r"there is no setting 'epoch' \(perhaps epochs is meant\): the settings are kind"),
        ({"epochs": "3"}, "the setting epochs must be a number such as 1.0, not '3'"),
        ({"epochs": math.inf}, "epochs and validate must be finite"),
        ({"epochs": math.nan}, "epochs must be more than 0"),
        ({"accumulate": True}, "the setting accumulate must be a whole number such as 1, not True"),
        ({"compile": 1}, "the setting compile must be true or false, not 1"),
        ({"batches": "words"}, "batches must be one of tokens, sentences, not 'words'"),
        ({"optimizer": "adam"}, "optimizer must be one of adamw, muon, sgd, not 'adam'"),
        ({"accumulate": 0}, "accumulate must be more than 0"),
        ({"betas": [0.9]}, "the setting betas must be two numbers"),
        ({"betas": ["0.9", None]}, "the setting betas must be two numbers"),
        ({"betas": [0.9, 1]}, "betas must be at least 0 and less than 1"),
        ({"weight_decay": -0.1}, "weight_decay must be at least 0"),
        ({"r_drop": -1.0}, "r_drop must be at least 0"),
        ({"model": {"widht": 18}}, r"there is no setting 'model.widht' \(perhaps model.width is meant\)"),
        ({"world": {"ordering": "reversed"}}, r"there is no setting 'world.ordering' \(perhaps world.order is meant\)"),
        ({"smoothing": 1.0}, "smoothing must be at least 0 and less than 1"),
        ({"stop_on": "wer"}, "stop_on must be one of never, loss, bleu"),
        ({"seed": -1}, "seed must be at least 0"),
        ({"seed": 2**32}, "seed must be at least 0 and less than"),
    ],
)
def test_settings_say_what_does_not_fit(values, message):
    with pytest.raises(CourseError, match=message):
        make_settings(values)


def test_a_model_that_cannot_be_makes_no_folder(tmp_path):
    refused = "the width must be a multiple of the number of heads, and 18 is not one of 4"
    with pytest.raises(CourseError, match=refused):
        run(short_settings(model={"width": 18, "heads": 4}), tmp_path / "run")
    assert not (tmp_path / "run").exists()


if __name__ == "__main__":
    torch.set_num_threads(1)
    {"train": train_and_die, "pair": train_as_one_of_two}[sys.argv[1]](*sys.argv[2:])
