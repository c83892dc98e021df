"""How fast a GPU translates: by the number of sentences in a batch, the width of the beam and the format of numbers.

    python benchmarks/gpu_decoding.py [--model RUN] [--rounds 5] [--batches 1 4 16 64 256 512] [--beams 1 5] [--device cuda]
                                      [--quick] [--out FILE]

The model in the folder RUN, or else the Transformer that ships with the course, translates Multi30k's test set, in fp32 and bf16;
small batches translate as many of its sentences as make 8 batches. All ways take turns in one process, which is timed by the
clock, from one wait for the GPU to the next. Lines give sentences a second (minimum, median and maximum over the rounds),
the median of the ratios to the first of the batches within a round, and the most memory that tensors took. FILE gets one row for
each turn.

On a CPU (`--device cpu`) it runs, too, so that it can be tried: memory is left out there.
"""

import argparse
import copy
import statistics
import sys
import time
from typing import NamedTuple

import torch
from gpu import save, wait
from measuring import machine, spread
from training import load_pairs

from course_utils.models.serialization import load_model, load_pretrained
from course_utils.training.device import choose_device
from course_utils.translation.search import translate_all

BATCHES = 8  # in one turn, at most: one sentence at a time the whole test set would take minutes


class Way(NamedTuple):
    """How sentences are translated."""

    format: str
    beam: int
    batch: int


def turn(model, rows: list[list[int]], way: Way, device: torch.device) -> tuple[float, float]:
    """Translate some sentences in one way: sentences a second, and the most MB that tensors took; NaN where this is not known."""
    rows = rows[: BATCHES * way.batch]
    if device.type == "cuda":
        torch.cuda.reset_peak_memory_stats(device)
    wait(device)
    start = time.perf_counter()
    translate_all(model, rows, way.beam, batch=way.batch)
    wait(device)
    speed = len(rows) / (time.perf_counter() - start)
    return speed, torch.cuda.max_memory_allocated(device) / 2**20 if device.type == "cuda" else float("nan")


def measure(model, rows: list[list[int]], batches, beams, rounds: int, device: torch.device) -> list[list]:
    """Let all ways take turns; print their lines, and return one row for each turn."""
    models = {name: copy.deepcopy(model).to(device, dtype) for name, dtype in (("fp32", torch.float32), ("bf16", torch.bfloat16))}  # fmt: skip
    ways = [Way(name, beam, batch) for name in models for beam in beams for batch in batches]
    found = []
    for number in range(rounds + 1):
        for way in ways:
            came = turn(models[way.format], rows, way, device)
            if number:  # the first time is slower
                found.append([*way, number, *came])

    print(f"{'':32} {'sentences a second':>32} {'batch ' + str(batches[0]):>10} {'MB':>8}")
    for way in ways:
        mine = [row for row in found if row[:3] == [*way]]
        first = [row for row in found if row[:3] == [*way[:2], batches[0]]]
        times = statistics.median(a[4] / b[4] for a, b in zip(mine, first, strict=True))
        name = f"{way.format}, beam {way.beam}, {way.batch} at a time"
        print(
            f"{name:32} {spread([row[4] for row in mine], '10,.1f')} {times:9.1f}x {max(row[5] for row in mine):8,.0f}"
        )
    return found


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--model", metavar="RUN", help="the folder of a trained model, if not the shipped one")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--batches", type=int, nargs="+", default=[1, 4, 16, 64, 256, 512])
    parser.add_argument("--beams", type=int, nargs="+", default=[1, 5])
    parser.add_argument("--device", default="cuda", help="cuda, cuda:N or cpu")
    parser.add_argument("--quick", action="store_true", help="one round and few sentences, to see that it works")
    parser.add_argument("--out", help="a csv file for the single turns")
    options = parser.parse_args()
    device = choose_device(options.device)
    print(machine(device))
    _, test, _ = load_pairs()
    model, subwords = load_model(options.model) if options.model else load_pretrained("transformer-en-de")
    rows = subwords.encode(test.sources[: 32 if options.quick else None])
    found = measure(model, rows, options.batches, options.beams, 1 if options.quick else options.rounds, device)
    if options.out:
        save(options.out, ["format", "beam", "batch", "round", "sentences_a_second", "memory_mb"], found)


if __name__ == "__main__":
    sys.exit(main())
