"""Associative recall by recurrent networks, with and without attention to their own past.

    python benchmarks/recall.py [--seeds 5]

They learn from sequences of 1 to 8 pairs (`course_utils/data/recall.py`). Fills recall.csv.
"""

import torch
from measuring import fill, jobs, read_options, timed

from course_utils.data.recall import recall
from course_utils.models.intra_attention import LSTM, LSTMN, LookingBack, Recaller, fit

COLUMNS = "setup seed pairs answers_right on_answer cpu_seconds"
SETUPS = {  # layer, width of its states, training steps
    "LSTM": (LSTM, 32, 2000),
    "LSTM, twice as wide": (LSTM, 64, 2000),
    "LSTM that looks back": (LookingBack, 32, 2000),
    "LSTMN": (LSTMN, 32, 2000),
    "LSTMN, three times as long": (LSTMN, 32, 6000),
}
TESTED = 500


def measure(setup, seed):
    """Train one model; return a row for each number of pairs."""
    layer, hidden, steps = SETUPS[setup]
    torch.manual_seed(seed)
    model = Recaller(layer, hidden=hidden)
    _, seconds = timed(fit, model, seed, steps)
    rows = []
    for pairs in range(1, 9):
        tokens, answers, places = recall(TESTED, pairs, torch.Generator().manual_seed(10_000))
        with torch.no_grad():
            logits, weights = model(tokens)
        right = (logits.argmax(-1) == answers).double().mean().item()
        on_answer = "" if weights is None else weights[:, -pairs:].gather(2, places[..., None]).mean().item()
        rows.append((pairs, right, on_answer, seconds))
    return rows


if __name__ == "__main__":
    fill("recall", COLUMNS, jobs(SETUPS, read_options(__doc__, 5).seeds), measure)
