"""How far a neural Turing machine and an LSTM carry what they have learned, on sequences longer than those of their training.

    python benchmarks/turing.py [--seeds 5]

Each model learns one task (`course_utils/data/sequences.py`): to copy 1 to 10 vectors, to copy them up to five times, to recall the one
after a given one among 2 to 6, or, for models with a memory of 32 places, to copy 1 to 5 ("short"). "computer" is the differentiable
neural computer, and "LSTM, longer" has five times the machine's steps. "wrong" is the share of wrong bits, half of them being chance, on 100 sequences of each length: in
vectors. "learned_after" is the number of steps until the loss is below 0.05. The rows go to the table turing.csv in
course_utils/data/measured_tables, which lesson 17 shows; what is in it already is not run again.
"""

import argparse
import time

import torch

from course_utils.data.measured import fill
from course_utils.data.sequences import GIVEN, WANTED, copy, recall, repeat_copy
from course_utils.models.turing import Computer, Machine, Recurrent, fit, wrong_bits


def short_copy(draw, batch=16, shortest=1, longest=5):
    """Copies so short that a lesson can train on them."""
    return copy(draw, batch, shortest, longest)


TASKS = {  # what is trained on, steps, lengths of the test
    "copy": (copy, 1200, (5, 10, 15, 20, 30, 40)),
    "repeat": (repeat_copy, 1200, (5, 10, 15, 20)),
    "recall": (recall, 2000, (2, 4, 6, 8, 10, 12)),
    "short": (short_copy, 800, (5, 10, 15, 20)),
}
LEARNED = 0.05  # nats for each bit, the mean of 50 steps; ln 2 = 0.69 if nothing is known
LSTMS = {"LSTM": 2, "LSTM, longer": 5}  # how many times the machine's steps they train
SETUPS = {"machine": {}, "no shifts": {"moves": False}}
COMPUTERS = {"computer": {}, "computer, no links": {"links": False}}
SHOWN = [(setup, task) for task in ("copy", "repeat", "recall") for setup in ("machine", "LSTM")]
SHOWN += [("no shifts", "copy")]
SHOWN += [(setup, "short") for setup in (*COMPUTERS, "machine")]
SHOWN += [("LSTM, longer", "copy")]
FEWER = {"LSTM, longer": 3}  # seeds of what takes long
COLUMNS = ("setup", "task", "seed", "length", "steps", "learned_after", "last_loss", "wrong", "cpu_seconds")


def measure(setup, task, seed):
    """Train one model; return a row for each length."""
    draw_batch, steps, lengths = TASKS[task]
    torch.manual_seed(seed)
    if setup in LSTMS:
        model, steps, rate = Recurrent(GIVEN, WANTED), LSTMS[setup] * steps, 3e-3  # at 1e-2 it does worse
    elif setup in COMPUTERS:
        model, rate = Computer(GIVEN, WANTED, **COMPUTERS[setup]), 1e-2
    else:
        places = 32 if task == "short" else 64
        model, rate = Machine(GIVEN, WANTED, places, **SETUPS[setup]), 2e-2 if task == "short" else 1e-2
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
    jobs = [(*shown, seed) for shown in SHOWN for seed in range(min(options.seeds, FEWER.get(shown[0], options.seeds)))]
    fill("turing", COLUMNS, jobs, measure)


if __name__ == "__main__":
    main()
