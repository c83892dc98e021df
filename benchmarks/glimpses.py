"""How well a model with glimpses finds and reads a digit, by the number of glimpses, and what becomes of it without each part.

    python benchmarks/glimpses.py [--seeds 5] [--only "looks anywhere"]

Trains each setup once for each seed, on fields of 32×32 pixels (`course_utils/data/digit_fields.py`). The rows go to the table
glimpses.csv in course_utils/data/measured_tables, which lesson 14 shows; what is in it already is not run again.

The tables looks.csv and found.csv are of a model that takes four glimpses among clutter: where they look in the first eight of the 1,000
fields on which they are measured, and by look, how often it lies in the digit's box, and how often it is the first that does.
"""

import argparse
import time
from functools import partial

import torch

from course_utils.data.digit_fields import digit_fields
from course_utils.data.measured import append, fill, known
from course_utils.models.glimpses import (
    RecurrentAttentionModel,
    convolutional,
    evaluate,
    fit,
    fit_convolutional,
    hybrid_loss,
    in_box,
)

SIDE = 32
LOOKS, FOUND = ("seed", "field", "answer", "look", "x", "y"), ("seed", "look", "in_box", "first")
COLUMNS = ("setup", "seed", "clutter", "steps", "right", "in_box", "cpu_seconds")


class Anywhere(RecurrentAttentionModel):
    """Looks anywhere, whatever it has seen."""

    def aim(self, state):
        return 2 * torch.rand(len(state), 2) - 1


class Apart(RecurrentAttentionModel):
    """Its location network reads the state, but does not teach it."""

    def aim(self, state):
        return super().aim(state.detach())


def no_reward(logits, label, log_probability, reward, baseline):
    return hybrid_loss(logits, label, torch.zeros_like(log_probability), reward, baseline)


def no_baseline(logits, label, log_probability, reward, baseline):
    return hybrid_loss(logits, label, log_probability, reward, torch.zeros_like(baseline))


def right_or_wrong(logits, label, log_probability, reward, baseline):
    return hybrid_loss(logits, label, log_probability, (logits.argmax(-1) == label).float(), baseline)


TWO = {"glimpses": 2, "steps": 5000}
SETUPS = {  # the class of the model, clutter, what `fit` is told
    "learned, 1 glimpse": (RecurrentAttentionModel, 0, TWO | {"glimpses": 1}),
    "learned, 2 glimpses": (RecurrentAttentionModel, 0, TWO),
    "learned, 3 glimpses": (RecurrentAttentionModel, 0, TWO | {"glimpses": 3}),
    "learned, 4 glimpses": (RecurrentAttentionModel, 0, TWO | {"glimpses": 4}),
    "looks anywhere": (Anywhere, 0, TWO),
    "no reward for looking": (RecurrentAttentionModel, 0, TWO | {"loss": no_reward}),
    "no baseline": (RecurrentAttentionModel, 0, TWO | {"loss": no_baseline}),
    "reward 1 or 0": (RecurrentAttentionModel, 0, TWO | {"loss": right_or_wrong}),
    "narrow from the start": (RecurrentAttentionModel, 0, TWO | {"spread": (0.1, 0.1)}),
    "no gradient to the state": (Apart, 0, TWO),
    "one patch": (partial(RecurrentAttentionModel, scales=1), 0, TWO),
    "convolutional": (convolutional, 0, {"steps": 1000}),
    "clutter, 4 glimpses": (RecurrentAttentionModel, 4, TWO | {"glimpses": 4}),
    "clutter, convolutional": (convolutional, 4, {"steps": 2000}),
}


def measure(setup, seed):
    """Train one model; return its row."""
    make, clutter, told = SETUPS[setup]
    torch.manual_seed(seed)
    model = make()
    began = time.process_time()
    if make is convolutional:
        fit_convolutional(model, SIDE, clutter, seed, **told)
        fields, labels, _ = digit_fields(1000, SIDE, clutter, torch.Generator().manual_seed(10_000), "test")
        with torch.no_grad():
            right, in_box = (model(fields[:, None]).argmax(-1) == labels).float().mean().item(), ""
    else:
        fit(model, SIDE, clutter, seed=seed, **told)
        right, in_box = evaluate(model, SIDE, clutter, told["glimpses"])
        in_box = round(in_box, 4)
    return [(setup, seed, clutter, told["steps"], round(right, 4), in_box, round(time.process_time() - began, 1))]


def looks_among_clutter(seed):
    """Train one model; return where it looks in a few fields, and how often each look finds the digit."""
    torch.manual_seed(seed)
    model = RecurrentAttentionModel()
    fit(model, SIDE, 4, seed=seed, **SETUPS["clutter, 4 glimpses"][2])
    fields, _, boxes = digit_fields(1000, SIDE, 4, torch.Generator().manual_seed(10_000), "test")
    with torch.no_grad():
        seen = model(fields, 4)
    answers, there = (
        seen.logits.argmax(-1).tolist(),
        torch.stack([in_box(l, boxes, SIDE) for l in seen.locations.unbind(1)]),
    )
    first = there & (there.cumsum(0) == 1)  # looks × fields
    found = [(seed, t + 1, *(round(one[t].float().mean().item(), 4) for one in (there, first))) for t in range(4)]
    places = seen.locations[:8].tolist()
    return [
        (seed, i, answers[i], t + 1, round(x, 3), round(y, 3)) for i in range(8) for t, (x, y) in enumerate(places[i])
    ], found


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--only", nargs="+", default=list(SETUPS), help="setups, all unless told")
    options = parser.parse_args()
    torch.set_num_threads(1)
    fill("glimpses", COLUMNS, ((setup, seed) for seed in range(options.seeds) for setup in options.only), measure)
    done = known("looks", LOOKS, "seed"), known("found", FOUND, "seed")
    if not all(done):
        for table, rows in zip(("looks", "found"), looks_among_clutter(seed=0), strict=True):
            append(table, rows)


if __name__ == "__main__":
    main()
