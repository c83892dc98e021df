"""How well a model with glimpses finds and reads a digit, by the number of glimpses, and what becomes of it without each part.

    python benchmarks/glimpses.py [--seeds 5] [--only "looks anywhere"]

Trains each setup once for each seed, on fields of 32×32 pixels (`course_utils/data/digit_fields.py`). The rows go to the table
glimpses.csv in course_utils/data/measured_tables, which lesson 14 shows; what is in it already is not run again.
"""

import argparse
import time
from functools import partial

import torch

from course_utils.data.digit_fields import digit_fields
from course_utils.data.measured import fill
from course_utils.models.glimpses import (
    RecurrentAttentionModel,
    convolutional,
    evaluate,
    fit,
    fit_convolutional,
    hybrid_loss,
)

SIDE = 32
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


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--only", nargs="+", default=list(SETUPS), help="setups, all unless told")
    options = parser.parse_args()
    torch.set_num_threads(1)
    fill("glimpses", COLUMNS, ((setup, seed) for seed in range(options.seeds) for setup in options.only), measure)


if __name__ == "__main__":
    main()
