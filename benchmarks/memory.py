"""How well a memory network answers, by kind of question and number of hops, where each hop looks, and what each part is for.

    python benchmarks/memory.py [--seeds 5]

Learns from 4,000 stories of a kind (`course_utils/data/stories.py`) and is measured on 1,000 others. Fills memory.csv, which lesson 16
shows. "longer" is the share of right answers on stories with 12 to 20 facts, while stories in training have at most 10; "commonest" is
how often the most frequent answer is right, and "chance" what equal weights give to one fact. three_facts.csv has what two hops still
answer if one of the three facts that an answer needs is hidden from them.
"""

from functools import cache

import torch
import torch.nn.functional as F
from measuring import fill, jobs, read_options, timed

from course_utils.data.stories import KINDS, stories
from course_utils.models.memory import MemoryNetwork, fit, memory_hop, score

STEPS, LINEAR, UNSEEN = 1500, 150, 10_000  # the last is the seed of the stories that nothing learns from
CHAIN = ("who took the object", "the move to the named place", "the move before")  # of "three facts", in their order
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
FACTS = [f"hop{hop}_fact{fact}" for hop in (1, 2, 3) for fact in (1, 2, 3)]
COLUMNS = f"setup kind hops seed steps right longer commonest chance {' '.join(FACTS)} cpu_seconds"


@cache
def draw_stories(kind, seed, number, shortest=2, longest=10):
    return stories(kind, number, seed, shortest, longest)[1]


def hidden_from(setup, stories):
    """Return the stories without what a setup may not read."""
    return stories._replace(question=torch.zeros_like(stories.question)) if setup == "no question" else stories


def trained(setup, kind, hops, seed):
    """Train one network; return it, and the seconds."""
    torch.manual_seed(seed)
    model = MemoryNetwork(hops, **SETUPS.get(setup, {}))
    if setup.endswith("no ReLU"):
        del model.readout[1]  # two linear layers in a row, with as many parameters
    linear, noise = 0 if setup == "no linear start" else LINEAR, 0.1 if setup == "random noise" else 0.0
    learned = hidden_from(setup, draw_stories(kind, seed, 4000))
    _, seconds = timed(fit, model, learned, seed, STEPS, linear_steps=linear, noise=noise)
    return model, seconds


def measure(setup, kind, hops, seed):
    """Train one network; return its row."""
    model, seconds = trained(setup, kind, hops, seed)
    unseen, longer = draw_stories(kind, UNSEEN, 1000), draw_stories(kind, 20_000, 1000, 12, 20)
    found = score(model, hidden_from(setup, unseen))
    weights = [weight for on_facts in found.on_facts for weight in on_facts]
    weights += [float("nan")] * (len(FACTS) - len(weights))
    commonest, chance = unseen.answer.bincount().max().item() / 1000, (1 / unseen.mask.sum(1)).mean().item()
    in_longer = score(model, hidden_from(setup, longer)).right
    return [(STEPS, found.right, in_longer, commonest, chance, *weights, seconds)]


def hide_facts(seed):
    """Train two hops on "three facts"; return a row for each fact, with the right answers if neither hop reads it."""
    model, _ = trained("linear start", "three facts", 2, seed)
    unseen, rows = draw_stories("three facts", UNSEEN, 1000), []
    for fact, name in enumerate(CHAIN):
        hidden = F.one_hot(unseen.support[:, fact], unseen.mask.shape[1]).bool()  # N M
        # hidden in the hop alone: `model` tells the ages of all facts by their mask
        model.hop = lambda u, keys, values, mask, hidden=hidden: memory_hop(u, keys, values, mask & ~hidden)
        rows.append((name, score(model, unseen).right))
    return rows


if __name__ == "__main__":
    seeds = read_options(__doc__, 5).seeds
    fill("memory", COLUMNS, jobs(SHOWN, seeds), measure)
    fill("three_facts", "seed hidden right", jobs([()], seeds), hide_facts)
