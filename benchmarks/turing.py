"""How far a neural Turing machine and an LSTM carry what they have learned, on sequences longer than those of their training.

    python benchmarks/turing.py [--seeds 5]

Each model learns one task (`course_utils/data/sequences.py`): to copy 1 to 10 vectors, to copy them up to five times, or to recall the one
after a given one among 2 to 6. "wrong" is the share of wrong bits, half of them being chance, on 100 sequences of each length: in
vectors. "learned_after" is the number of steps until the loss is below 0.05. The rows go to the table turing.csv in
course_utils/data/measured_tables, which lesson 17 shows; what is in it already is not run again.
"""

import argparse
import time

import torch

from course_utils.data.measured import fill
from course_utils.data.sequences import GIVEN, WANTED, copy, recall, repeat_copy
from course_utils.models.turing import Machine, Recurrent, fit, wrong_bits

TASKS = {  # what is trained on, steps, lengths of the test
    "copy": (copy, 1200, (5, 10, 15, 20, 30, 40)),
    "repeat": (repeat_copy, 1200, (5, 10, 15, 20)),
    "recall": (recall, 2000, (2, 4, 6, 8, 10, 12)),
}
LEARNED = 0.05  # nats for each bit, the mean of 50 steps; ln 2 = 0.69 if nothing is known
SETUPS = {
    "machine": {},
    "no shifts": {"moves": False},
    "random memory": {"blank": False},
}
SHOWN = [(setup, task) for task in TASKS for setup in ("machine", "LSTM")]
SHOWN += [("no shifts", "copy"), ("random memory", "copy")]
COLUMNS = ("setup", "task", "seed", "length", "steps", "learned_after", "last_loss", "wrong", "cpu_seconds")


def measure(setup, task, seed):
    """Train one model; return a row for each length."""
    draw_batch, steps, lengths = TASKS[task]
    torch.manual_seed(seed)
    if setup == "LSTM":
        model, steps, rate = Recurrent(GIVEN, WANTED), 2 * steps, 3e-3  # at 1e-2 it does worse
    else:
        model, rate = Machine(GIVEN, WANTED, **SETUPS[setup]), 1e-2
    began = time.process_time()
    losses = fit(model, draw_batch, seed, steps, rate)
    seconds, means = round(time.process_time() - began, 1), [sum(losses[i : i + 50]) / 50 for i in range(0, steps, 50)]
    learned = next((50 * i for i, mean in enumerate(means, 1) if mean < LEARNED), float("nan"))
    rows = []
    for length in lengths:
        tests = [draw_batch(torch.Generator().manual_seed(1000 + i), 20, length, length) for i in range(5)]
        found = sum(wrong_bits(model, test) for test in tests) / 5
        rows.append((setup, task, seed, length, steps, learned, round(means[-1], 4), round(found, 4), seconds))
    return rows


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--seeds", type=int, default=5)
    options = parser.parse_args()
    torch.set_num_threads(1)
    fill("turing", COLUMNS, ((*shown, seed) for seed in range(options.seeds) for shown in SHOWN), measure)


if __name__ == "__main__":
    main()
