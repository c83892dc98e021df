"""How well a memory network answers, by kind of question and number of hops, where each hop looks, and what each part is for.

    python benchmarks/memory.py [--seeds 5]

Trains on 4,000 stories of a kind (`course_utils/data/stories.py`) and measures on 1,000 others. "longer" is the share of right answers on
stories with 12 to 20 facts, while stories in training have at most 10; "commonest" is how often the most frequent answer is right, and
"chance" what equal weights give to one fact. The rows go to the table memory.csv in course_utils/data/measured_tables, which lesson 16
shows; what is in it already is not run again.
"""

import argparse
import time
from functools import cache

import torch

from course_utils.data.measured import fill
from course_utils.data.stories import KINDS, stories
from course_utils.models.memory import MemoryNetwork, fit, score

STEPS, LINEAR = 1500, 150
SETUPS = {  # what a network is made with
    "no order": {"order": False},
    "no age": {"age": False},
    "hidden layer": {"hidden": 64},
    "hidden layer, no ReLU": {"hidden": 64},
}
SHOWN = [("linear start", kind, hops) for kind in KINDS for hops in (1, 2, 3)]
SHOWN += [("no linear start", "two facts", hops) for hops in (2, 3)]
SHOWN += [("no question", kind, 2) for kind in KINDS]
SHOWN += [("no order", "north of", hops) for hops in (1, 2, 3)] + [("no order", "two facts", 2)]
SHOWN += [("no age", "one fact", 2), ("no age", "two facts", 2)]
SHOWN += [(setup, "yes or no", 1) for setup in ("hidden layer", "hidden layer, no ReLU")]
SHOWN += [("random noise", "two facts", 3)]
FACTS = tuple(f"hop{hop}_fact{fact}" for hop in (1, 2, 3) for fact in (1, 2, 3))
COLUMNS = ("setup", "kind", "hops", "seed", "steps", "right", "longer", "commonest", "chance", *FACTS, "cpu_seconds")


@cache
def told(kind, seed, number, shortest=2, longest=10):
    return stories(kind, number, seed, shortest, longest)[1]


def hidden_from(setup, stories):
    """Return the stories without what a setup may not read."""
    return stories._replace(question=torch.zeros_like(stories.question)) if setup == "no question" else stories


def measure(setup, kind, hops, seed):
    """Train one network; return its row."""
    torch.manual_seed(seed)
    model, began = MemoryNetwork(hops, **SETUPS.get(setup, {})), time.process_time()
    if setup.endswith("no ReLU"):
        del model.readout[1]  # two linear layers in a row, with as many parameters
    linear, noise = 0 if setup == "no linear start" else LINEAR, 0.1 if setup == "random noise" else 0.0
    fit(model, hidden_from(setup, told(kind, seed, 4000)), seed, STEPS, linear_steps=linear, noise=noise)
    seconds = time.process_time() - began
    unseen, longer = told(kind, 10_000, 1000), told(kind, 20_000, 1000, 12, 20)
    found = score(model, hidden_from(setup, unseen))
    weights = [round(weight, 4) for on_facts in found.on_facts for weight in on_facts]
    weights += [float("nan")] * (len(FACTS) - len(weights))
    commonest, chance = unseen.answer.bincount().max().item() / 1000, (1 / unseen.mask.sum(1)).mean().item()
    others = (found.right, score(model, hidden_from(setup, longer)).right, commonest, chance)
    return [(setup, kind, hops, seed, STEPS, *(round(value, 4) for value in others), *weights, round(seconds, 1))]


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--seeds", type=int, default=5)
    options = parser.parse_args()
    torch.set_num_threads(1)
    fill("memory", COLUMNS, ((*shown, seed) for seed in range(options.seeds) for shown in SHOWN), measure)


if __name__ == "__main__":
    main()
