"""How well a model with glimpses finds and reads a digit, by the number of glimpses, and what becomes of it without each part.

    python benchmarks/glimpses.py [--seeds 5] [--only "looks anywhere"]

The fields have 32×32 pixels (`course_utils/data/digit_fields.py`). Fills three tables, which lesson 14 shows:

glimpses.csv         each setup, on 1,000 fields
looks.csv, found.csv the setup "clutter, 4 glimpses": where the model of seed 0 looks in the first eight of these fields; and for each
                     seed and look, how often the look lies in the digit's box, how often it is the first that does, and how often it
                     would be the first if the looks of one field were laid over the next field
"""

from functools import cache, partial

import torch
from measuring import fill, jobs, read_options, timed

from course_utils.data.digit_fields import digit_fields
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
COLUMNS = "setup seed clutter steps right in_box cpu_seconds"


class Anywhere(RecurrentAttentionModel):
    """Looks anywhere, whatever it has seen."""

    def aim(self, state):
        return 2 * torch.rand(len(state), 2) - 1


def no_reward(logits, label, log_probability, reward, baseline):
    return hybrid_loss(logits, label, torch.zeros_like(log_probability), reward, baseline)


def no_baseline(logits, label, log_probability, reward, baseline):
    return hybrid_loss(logits, label, log_probability, reward, torch.zeros_like(baseline))


TWO = {"looks": 2, "steps": 5000}
FOUR = TWO | {"looks": 4}
SETUPS = {  # the class of the model, clutter, what `fit` is told
    "learned, 1 glimpse": (RecurrentAttentionModel, 0, TWO | {"looks": 1}),
    "learned, 2 glimpses": (RecurrentAttentionModel, 0, TWO),
    "learned, 4 glimpses": (RecurrentAttentionModel, 0, FOUR),
    "looks anywhere": (Anywhere, 0, TWO),
    "no reward for looking": (RecurrentAttentionModel, 0, TWO | {"loss": no_reward}),
    "no baseline": (RecurrentAttentionModel, 0, TWO | {"loss": no_baseline}),
    "one patch": (partial(RecurrentAttentionModel, scales=1), 0, TWO),
    "convolutional": (convolutional, 0, {"steps": 1000}),
    "clutter, 4 glimpses": (RecurrentAttentionModel, 4, FOUR),
    "clutter, convolutional": (convolutional, 4, {"steps": 2000}),
}


@cache
def trained(setup, seed):
    """Return the model of a setup: all tables are about the same one."""
    make, clutter, told = SETUPS[setup]
    torch.manual_seed(seed)
    model = make()
    if make is convolutional:
        fit_convolutional(model, SIDE, clutter, seed, **told)
    else:
        fit(model, SIDE, clutter, seed=seed, **told)
    return model


def test_fields(clutter):
    """Return the 1,000 fields of the test, the right answers and where the digits are."""
    return digit_fields(1000, SIDE, clutter, torch.Generator().manual_seed(10_000), "test")


def measure(setup, seed):
    """Train one model; return its row: the share of right answers, and that of last looks in the digit's box, if it looks."""
    make, clutter, told = SETUPS[setup]
    model, seconds = timed(trained, setup, seed)
    if make is not convolutional:
        return [(clutter, told["steps"], *evaluate(model, SIDE, clutter, told["looks"]), seconds)]
    fields, labels, _ = test_fields(clutter)
    with torch.no_grad():
        right = (model(fields[:, None]).argmax(-1) == labels).float().mean().item()
    return [(clutter, told["steps"], right, "", seconds)]


def among_clutter(seed):
    """Return a model's answers and looks in the fields of the test, and where the digits are."""
    fields, _, boxes = test_fields(4)
    with torch.no_grad():
        seen = trained("clutter, 4 glimpses", seed)(fields, 4)
    return seen.logits.argmax(-1).tolist(), seen.locations, boxes


def looks(seed):
    """Return where the model looks in eight fields, and what it answers."""
    answers, places, _ = among_clutter(seed)
    return [
        (i, answers[i], t, round(x, 3), round(y, 3)) for i in range(8) for t, (x, y) in enumerate(places[i].tolist(), 1)
    ]


def found(seed):
    """Return how often each look finds the digit, how often it is the first, and how often it is if it comes from the field before."""
    _, places, boxes = among_clutter(seed)
    there, elsewhere = (
        torch.stack([in_box(look, boxes, SIDE) for look in own.unbind(1)]) for own in (places, places.roll(1, 0))
    )  # looks × fields
    first, first_elsewhere = (hits & (hits.cumsum(0) == 1) for hits in (there, elsewhere))
    return [(t + 1, *(one[t].float().mean().item() for one in (there, first, first_elsewhere))) for t in range(4)]


if __name__ == "__main__":
    options = read_options(__doc__, 5, only={"nargs": "+", "choices": SETUPS, "default": list(SETUPS)})
    fill("glimpses", COLUMNS, jobs(options.only, options.seeds), measure)
    fill("looks", "seed field answer look x y", [(0,)], looks)
    fill("found", "seed look in_box first first_elsewhere", [(seed,) for seed in options.seeds], found)
