"""How fast a GPU trains the Transformer: by format of numbers, way to attend and compilation, against nn.Transformer.

    python benchmarks/gpu.py [--rounds 5] [--seconds 4] [--tokens 16384] [--device cuda] [--sizes SIZE ...] [--only NAME ...]
                             [--quick] [--out FILE]

Two sizes, both on Multi30k en-de in 4,000 joint subwords: `small`, as in benchmarks/training.py, has width 256 and 3 + 3
layers; `base` is that of Vaswani et al. 2017 (table 3): width 512, feed-forward 2,048, 6 + 6 layers. At each size:

    tutorial           nn.Transformer as PyTorch's tutorial on translation trains it: see benchmarks/training.py
    buckets            the same, in the course's batches
    course             course_utils.models.transformer in the loop of `course train`, with AdamW; scaled_dot_product_attention
    course, written    the same, with the two products and the softmax of attention one after the other
    course, compiled   the same as course, by torch.compile

in fp32; in tf32, fp32 whose products keep ten binary digits; and in bf16 with fp32 masters (the tutorial has none of it). They take
turns in one process; a turn lasts some seconds by the clock, from one wait for the GPU to the next, and reads its batches itself, as
training does. Lines give target tokens a second (minimum, median, maximum over the rounds), the median of the ratios to
the tutorial in fp32 within a round, the share of the machine's limit for products of that format, measured in the same
rounds, and the most memory that tensors took while this model was the only one. FILE gets one row for each turn. `--only` names the lines to measure, such
as "course, tf32"; the tutorial in fp32 is always one of them.

On a CPU (`--device cpu`) it runs, too, so that it can be tried: memory is left out there.
"""

import argparse
import csv
import functools
import statistics
import sys
import time
from typing import NamedTuple
from unittest import mock

import torch
from measuring import machine, spread
from training import TutorialBatches, TutorialModel, course_step, load_rows, products, tutorial_step

from course_utils.models import transformer
from course_utils.training.batches import Batches
from course_utils.training.device import choose_device


class Size(NamedTuple):
    width: int
    hidden: int
    layers: int
    heads: int = 8


class Kind(NamedTuple):
    """What is measured: which program, and in which format its products are computed."""

    program: str
    format: str


SIZES = {"small": Size(256, 1024, 3), "base": Size(512, 2048, 6)}
TUTORIAL = Kind("tutorial", "fp32")
KINDS = [TUTORIAL, Kind("tutorial", "tf32")] + [
    Kind(program, number)
    for program in ("buckets", "course", "course, written", "course, compiled")
    for number in ("fp32", "tf32", "bf16")
]
WRITTEN = functools.partial(transformer.attend, need_weights=True)  # by which a GPU goes step by step, too


def set_format(name: str) -> None:
    """Let fp32 products be computed as fp32 or as tf32."""
    torch.set_float32_matmul_precision("high" if name == "tf32" else "highest")


class Contender:
    """A model with its batches, trained for some seconds at a time."""

    def __init__(self, kind: Kind, size: Size, rows: tuple, vocabulary: int, tokens: int, device: torch.device):
        torch.manual_seed(0)
        self.kind, self.device = kind, device
        self.batches = TutorialBatches(*rows, 128, 0) if kind.program == "tutorial" else Batches(*rows, tokens, 0)
        self.stream = (places for epoch in range(10**6) for places in self.batches.epoch(epoch))
        dtype = torch.bfloat16 if kind.format == "bf16" else torch.float32
        width, hidden, layers, heads = size
        if kind.program.startswith("course"):
            self.model = transformer.Transformer(vocabulary, width, heads, hidden, layers, layers).to(device)
            self._step = course_step(self.model, dtype, "adamw", compiled=kind.program == "course, compiled")
            return
        self.model = TutorialModel(vocabulary, width, heads, hidden, layers).to(device)
        self._step = tutorial_step(self.model, dtype if kind.format == "bf16" else None)

    def step(self, places) -> tuple[int, int]:
        """Train on one batch: its target tokens, and the operations of its matrix products."""
        batch = self.batches.read(places)
        attend = WRITTEN if self.kind.program == "course, written" else transformer.attend
        with mock.patch.object(transformer, "attend", attend):
            self._step(batch.to(self.device))
        return len(batch.wanted), products(self.model, batch)

    def turn(self, seconds: float) -> tuple[float, float]:
        """Train for at least so many seconds: target tokens and matrix operations a second."""
        set_format(self.kind.format)
        tokens = operations = 0
        wait(self.device)
        start = time.perf_counter()
        while time.perf_counter() - start < seconds:
            more = self.step(next(self.stream))
            tokens, operations = tokens + more[0], operations + more[1]
        wait(self.device)
        took = time.perf_counter() - start
        return tokens / took, operations / took

    def memory(self) -> float:
        """Train on the longest sentences; the most MB that tensors took meanwhile. NaN where this is not known."""
        set_format(self.kind.format)
        by_length = sorted(self.batches.epoch(0), key=lambda places: -self.batches.lengths[places].max())
        for places in by_length[:3]:
            self.step(places)
        return torch.cuda.max_memory_allocated(self.device) / 2**20 if self.device.type == "cuda" else float("nan")


def wait(device: torch.device) -> None:
    """Wait until the GPU has done all that it was given; a CPU has at once."""
    if device.type == "cuda":
        torch.cuda.synchronize(device)


def save(path: str, names: list[str], rows: list[list]) -> None:
    """Write single turns to a csv file."""
    with open(path, "w", newline="", encoding="utf-8") as file:
        csv.writer(file, lineterminator="\n").writerows([names, *rows])


def limit(number: str, seconds: float, device: torch.device) -> float:
    """Matrix operations a second in a product of two large matrices of this format."""
    set_format(number)
    side, dtype = 8192 if device.type == "cuda" else 512, torch.bfloat16 if number == "bf16" else torch.float32
    one, other = (torch.randn(side, side, device=device).to(dtype) for _ in range(2))
    one @ other
    wait(device)
    count, start = 0, time.perf_counter()
    while time.perf_counter() - start < seconds:
        for _ in range(10):
            one @ other
        wait(device)
        count += 10
    return count * 2 * side**3 / (time.perf_counter() - start)


def measure_memory(kinds, *arguments, device) -> dict[Kind, float]:
    """Return the most memory in MB that each kind took by itself."""
    most = {}
    for kind in kinds:
        if device.type == "cuda":
            torch.cuda.empty_cache()
            torch.cuda.reset_peak_memory_stats(device)
        most[kind] = Contender(kind, *arguments, device).memory()
    return most


def measure(name: str, rows: tuple, vocabulary: int, options, device: torch.device) -> list[list]:
    """Let all kinds of one size take turns; print their lines, and return one row for each turn."""
    rounds, seconds = (2, 0.2) if options.quick else (options.rounds, options.seconds)
    arguments = (SIZES[name], rows, vocabulary, options.tokens)
    kinds = [kind for kind in KINDS if kind == TUTORIAL or not options.only or ", ".join(kind) in options.only]
    most = measure_memory(kinds, *arguments, device=device)
    contenders = {kind: Contender(kind, *arguments, device) for kind in kinds}
    for contender in contenders.values():
        contender.turn(seconds)  # the first steps are slower, and torch.compile compiles
    found = []
    for number in range(rounds):
        limits = {form: limit(form, seconds / 4, device) for form in ("fp32", "tf32", "bf16")}
        for kind in kinds[number % len(kinds) :] + kinds[: number % len(kinds)]:
            tokens, operations = contenders[kind].turn(seconds)
            found.append(
                [name, *kind, number, tokens, operations / limits[kind.format], limits[kind.format], most[kind]]
            )

    print(f"\n{name}: {SIZES[name]}, batches of {options.tokens} tokens")
    print(f"{'':28} {'tokens a second':>32} {'tutorial':>9} {'limit':>7} {'MB':>8}")
    for kind in kinds:
        mine = sorted((row for row in found if row[1:3] == [*kind]), key=lambda row: row[3])
        first = sorted((row for row in found if row[1:3] == [*TUTORIAL]), key=lambda row: row[3])
        times = statistics.median(a[4] / b[4] for a, b in zip(mine, first, strict=True))
        share = statistics.median(row[5] for row in mine)
        shown = f"{share:7.1%}" if kind.program.startswith("course") else f"{'':7}"
        speeds = spread([row[4] for row in mine])
        print(f"{kind.program + ', ' + kind.format:28} {speeds} {times:8.2f}x {shown} {most[kind]:8,.0f}")
    for number in dict.fromkeys(kind.format for kind in kinds):
        print(
            f"limit in {number}, 10⁹ operations a second: {spread([row[6] / 1e9 for row in found if row[2] == number])}"
        )
    return found


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--seconds", type=float, default=4.0, help="a turn, by the clock")
    parser.add_argument("--tokens", type=int, default=16384, help="the most ids of a batch, of either language")
    parser.add_argument("--device", default="cuda", help="cuda, cuda:N or cpu")
    parser.add_argument("--sizes", nargs="+", choices=SIZES, default=list(SIZES))
    names = [", ".join(kind) for kind in KINDS]
    parser.add_argument("--only", nargs="+", choices=names, metavar="NAME", help=f"of {'; '.join(names)}")
    parser.add_argument("--quick", action="store_true", help="two short rounds, to see that it works")
    parser.add_argument("--out", help="a csv file for the single turns")
    options = parser.parse_args()
    device = choose_device(options.device)
    torch._dynamo.config.recompile_limit = 100  # the compiled models share their code, and each format has its own
    print(machine(device))
    rows, vocabulary = load_rows()
    names = ["size", "program", "format", "round", "tokens_a_second", "share_of_limit", "limit", "memory_mb"]
    found = []
    for name in options.sizes:
        found += measure(name, rows, vocabulary, options, device)
        if options.out:
            save(options.out, names, found)  # after each size, as compiling the next can take minutes


if __name__ == "__main__":
    sys.exit(main())
