"""Associative recall by recurrent networks, with and without attention to their own past.

    python benchmarks/recall.py [--seeds 5]

Trains each setup once for each seed, on sequences of 1 to 8 pairs (`course_utils/data/recall.py`). The rows go to the table
recall.csv in course_utils/data/measured_tables; what is in it already is not run again.
"""

import argparse
import time

import torch

from course_utils.data.measured import fill
from course_utils.data.recall import recall
from course_utils.models.intra_attention import LSTM, LSTMN, LookingBack, Recaller, fit

COLUMNS = ("setup", "seed", "pairs", "answers_right", "on_answer", "cpu_seconds")
SETUPS = {  # layer, width of its states, training steps
    "LSTM": (LSTM, 32, 2000),
    "LSTM, twice as wide": (LSTM, 64, 2000),
    "LSTM that looks back": (LookingBack, 32, 2000),
    "LSTMN": (LSTMN, 32, 2000),
    "LSTMN, three times as long": (LSTMN, 32, 6000),
}
TESTED = 500


def measure(setup, seed):
    """Train one model; return its rows."""
    layer, hidden, steps = SETUPS[setup]
    torch.manual_seed(seed)
    model = Recaller(layer, hidden=hidden)
    began = time.process_time()
    fit(model, seed, steps)
    seconds = round(time.process_time() - began, 1)
    rows = []
    for pairs in range(1, 9):
        tokens, answers, places = recall(TESTED, pairs, torch.Generator().manual_seed(10_000))
        with torch.no_grad():
            logits, weights = model(tokens)
        right = (logits.argmax(-1) == answers).double().mean().item()
        on_answer = ""
        if weights is not None:
            on_answer = round(weights[:, -pairs:].gather(2, places[..., None]).mean().item(), 4)
        rows.append((setup, seed, pairs, round(right, 4), on_answer, seconds))
    return rows


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--seeds", type=int, default=5)
    options = parser.parse_args()
    torch.set_num_threads(1)
    jobs = ((setup, seed) for seed in range(options.seeds) for setup in SETUPS)
    fill("recall", COLUMNS, jobs, measure)


if __name__ == "__main__":
    main()
