"""What the page of lesson 16 only shows: where the hops look in a story, what an answer follows, and what was measured beforehand.

The measurements come from `benchmarks/memory.py`, which trains the network of the page five times for each setup.

Shape letters: N stories, M facts, K hops.
"""

import torch
from torch.nn import functional as F

from course_utils.data.measured import by_seed
from course_utils.data.stories import ANSWERS, Stories, encode, most_visited, trails
from course_utils.figures import plots
from course_utils.figures.tables import table
from course_utils.models.memory import score

FACTS = ("a take, if it is the last", "a drop, if it is the last", "where that person was")
GUESSING = "the most frequent answer"


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
    caption = f"the network names a place to which most moves lead in {sum(voted) / len(voted):.2f} of its answers"
    return table(rows, ["right answers"], digits=2, caption=caption)


@torch.no_grad()
def draw_what_is_followed(networks, texts, asked):
    """Draw what networks say in the stories in which the person who took the thing is elsewhere: `networks` maps a row to a list."""
    person_at, marks = trails(texts).person_at, {}
    fails = person_at != asked.answer  # N
    for row, some in networks.items():
        answers = [network(asked.facts, asked.mask, asked.question).logits.argmax(-1)[fails] for network in some]
        marks[row] = {
            name: [(said == place[fails]).float().mean().item() for said in answers]
            for name, place in (("right answers", asked.answer), ("the person's last place", person_at))
        }
    plots.dots(marks, f"share of answers; {fails.sum()} stories, three networks")


def _last_move_elsewhere(story):
    """Return the place of the last move of whoever took the thing that does not lead to the place named in a question of "three facts"."""
    _, thing, place = (part.split()[0] for part in story.question.split("the "))
    facts = [fact.split() for fact in story.facts]
    (taker,) = {words[0] for words in facts if words[1] == "took" and words[-1] == thing}
    return [words[-1] for words in facts if words[0] == taker and words[1] == "went" and words[-1] != place][-1]


def each_fact_taken_away(network, texts, asked):
    """Return a table for "three facts": the mean weight of each of two hops on each fact, and the share right if no hop reads it."""
    measured, whole_hop, rows = score(network, asked), network.hop, {}
    weights = torch.tensor(measured.on_facts)  # hops, facts
    for number, name in enumerate(("who took the thing", "the move to the named place", "the move before")):
        taken = F.one_hot(asked.support[:, number], asked.mask.shape[1]).bool()  # N M

        def hop(question, memory, output, mask, taken=taken):
            return whole_hop(question, memory, output, mask & ~taken)

        network.hop = hop
        rows[name] = [*weights[:, number], score(network, asked).right]
    network.hop = whole_hop
    columns = ["weight of hop 1", "weight of hop 2", "right answers without it"]
    rule = sum(_last_move_elsewhere(story) == story.answer for story in texts) / len(texts)
    caption = f"right answers with all facts: {measured.right:.2f}, by the last move that does not lead to the named place: {rule:.2f}"
    return table(rows, columns, "fact", 2, caption)


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
