"""What the page of lesson 16 only shows: where the hops look in a story, what an answer follows, and what was measured beforehand.

The measurements come from `benchmarks/memory.py`, which trains the network of the page five times for each setup.

Shape letters: N stories, M facts, K hops.
"""

import torch

from course_utils.data.measured import by_seed
from course_utils.data.stories import ANSWERS, Stories, encode, most_visited, stories, trails
from course_utils.figures import plots
from course_utils.figures.tables import table
from course_utils.models.memory import score

FACTS = ("a take, if it is the last", "a drop, if it is the last", "where that person was")
GUESSING = "always the most frequent answer"


def draw_position_encoding(encoding, words):
    """Draw the weights J×D of the position encoding, with a row for each word."""
    ax = plots.axes(width=6.4, height=3.4)
    plots.weights(encoding, range(1, encoding.shape[1] + 1), words, ax=ax, xlabel="feature d", ylabel="word j")
    ax.tick_params(axis="x", rotation=0)


def draw_hops(network, facts, question, support=()):
    """Draw how much each hop looks at each fact, with frames at the facts of `support`, counted from 1; return a sentence."""
    with torch.no_grad():
        answered = network(*encode(facts, question, width=5))  # five words, as in training
    answer = ANSWERS[answered.logits.argmax()]
    return plots.reading(answered.weights[0], facts, question, answer, [number - 1 for number in support])


def mean_weights(network, texts, asked):
    """Return a table of the mean weight of each hop on the two facts that the answers to "two facts" rest on; the first is a take or a drop."""
    measured, dropped, rows = score(network, asked), trails(texts).dropped, {}
    split = [Stories(*(part[which] for part in asked)) for which in (~dropped, dropped)]
    of_take, of_drop = (score(network, some).on_facts for some in split)
    for k, weights in enumerate(measured.on_facts):
        rows[f"hop {k + 1}"] = [of_take[k][0], of_drop[k][0], weights[1]]
    rows["equal weights"] = [(1 / some.mask.sum(1)).mean() for some in (*split, asked)]
    caption = f"right answers to {len(asked.answer):,} new questions: {measured.right:.2f}"
    return table(rows, FACTS, corner="mean weight on the fact", digits=2, caption=caption)


def compare_with_votes(network, texts, asked):
    """Return a table of right answers: the network's, those of the place to which most moves lead, and those of one fixed place."""
    with torch.no_grad():
        answers = network(asked.facts, asked.mask, asked.question).logits.argmax(-1)
    visited = most_visited(texts)  # of each story, the place to which most moves lead, or several
    votes = [(story.answer in places) / len(places) for story, places in zip(texts, visited, strict=True)]
    voted = [ANSWERS[answer] in places for answer, places in zip(answers, visited, strict=True)]
    rows = {
        "the network with one hop": [score(network, asked).right],
        "always the place to which most moves lead": [sum(votes) / len(votes)],
        "always the same place": [asked.answer.bincount().max() / len(asked.answer)],
    }
    share = sum(voted) / len(voted)
    caption = f"share of the network's answers that name a place to which most moves lead: {share:.2f}"
    return table(rows, ["right answers"], digits=2, caption=caption)


@torch.no_grad()
def draw_what_is_followed(networks, texts, asked):
    """Draw what networks say in the stories in which the person who took the object is elsewhere: `networks` maps a row to a list."""
    person_at, marks = trails(texts).person_at, {}
    fails = person_at != asked.answer  # N
    for row, some in networks.items():
        answers = [network(asked.facts, asked.mask, asked.question).logits.argmax(-1)[fails] for network in some]
        marks[row] = {
            name: [(said == place[fails]).float().mean().item() for said in answers]
            for name, place in (("right answers", asked.answer), ("the person's last place", person_at))
        }
    plots.dots(marks, f"share of answers; {fails.sum()} stories, three networks")


def _where_taken(story):
    """Return the place at which the thing of a question of "three facts" was last taken."""
    thing = story.question.split()[3]
    facts = [fact.split() for fact in story.facts]
    *_, (taken, taker) = [(n, words[0]) for n, words in enumerate(facts) if words[1] == "took" and words[-1] == thing]
    return [words[-1] for words in facts[:taken] if words[0] == taker and words[1] == "went"][-1]


def each_fact_hidden():
    """Return a table for "three facts": the weight of each of two hops on each fact, and the share right if neither hop reads it."""
    rows = {}
    for number, name in enumerate(("who took the object", "the move to the named place", "the move before"), 1):
        weights = [_stored("linear start", "three facts", 2, f"hop{hop}_fact{number}") for hop in (1, 2)]
        rows[name] = [*weights, by_seed("three_facts", "right", hidden=name)]
    texts, _ = stories("three facts", number=1000, seed=10_000)  # those of the measurement
    taken = sum(_where_taken(story) == story.answer for story in texts) / len(texts)
    right = _stored("linear start", "three facts", 2).mean()
    caption = f"five networks, right with all facts: {right:.2f}; stories whose answer is where the object was taken: {taken:.2f}"
    return table(rows, ["weight of hop 1", "weight of hop 2", "right without it"], "fact", 2, caption)


def compare_readouts():
    """Return a table of right answers to "yes or no" with one hop and three readouts, five networks each."""
    setups = {
        "one matrix": "linear start",
        "two matrices": "hidden layer, no ReLU",
        "two matrices with a ReLU between them": "hidden layer",
    }
    rows = {name: [_stored(setup, "yes or no", 1)] for name, setup in setups.items()}
    return table(rows, ["right answers of five networks"], "readout, one hop", 2)


def _stored(setup, kind, hops, value="right"):
    return by_seed("memory", value, setup=setup, kind=kind, hops=hops)


def right_by_kind(kinds):
    """Return the share of right answers of five networks for each kind of question, with one, two and three hops."""
    names = {1: "1 hop", 2: "2 hops", 3: "3 hops"}
    return {kind: {name: _stored("linear start", kind, hops) for hops, name in names.items()} for kind in kinds}


def draw_by_kind(right):
    """Draw what `right_by_kind` returns."""
    levels = [_most_frequent(kind) for kind in right]
    plots.dots(right, "right answers, after 1,500 steps; five networks each", guess=(GUESSING, levels))


def _most_frequent(kind):
    return _stored("linear start", kind, 2, "commonest").mean().item()
