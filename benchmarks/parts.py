"""What each part of a Transformer is for: the model of lesson 12, trained without one of its parts.

    python benchmarks/parts.py [--seeds 0 1 2 3 4]

Reads the model, and what it means to take a part out, from the lesson's page, so that the table is about no other model. Fills parts.csv,
which the lesson shows, in about ten seconds a row. Three more comparisons are in it: with GRUs that look back at the source, the translator
that the course ships for lesson 06, at three rates each; of models without residual connections, at a lower rate and for longer,
with small weights at the start and with large ones; and of six layers with norms and without, each with small weights and with large ones,
at the same lower rate.

In the world "plain" verbs go to the end, as in lesson 06. In "endings" words of the target also end as the gender and the number of a noun ask.
"""

import math

import torch
from measuring import fill, jobs, page, read_options, timed

from course_utils.data.small_world import SMALL, SmallPairs, small_world
from course_utils.data.subwords import Subwords
from course_utils.data.world import generate_translations
from course_utils.models.custom_transformer import share_right
from course_utils.models.recurrent import RecurrentTranslator
from course_utils.models.seq2seq import fit, make_batch
from course_utils.translation.scores import exact_shares
from course_utils.translation.translate import translate as search

COLUMNS = "world part seed loss given_right written_right alone_right parameters cpu_seconds"
SIZES = (20_000, 1), (300, 2)  # how many pairs, and their seed
NOTHING = "nothing"
PARTS = (
    *("feed-forward networks", "norms", "residual connections", "attention to the source"),
    *("positions", "causal mask", "source mask"),
)
DEEPER = "feed-forward networks, with three layers"  # in place of two, so that there are about as many parameters as in the whole
COPYING = "causal mask and attention to the source"  # so that the next word can only be copied from where it stands
TAKEN_OUT = {DEEPER: PARTS[:1], COPYING: ("causal mask", "attention to the source")}
WHOLE, RIVAL = "Transformer", "GRUs with attention"  # with a state as wide as that of lesson 06's page
TRIED = [(part, 200, rate) for part in (WHOLE, RIVAL) for rate in (0.003, 0.01, 0.03)]
TRIED.append((WHOLE, 240, 0.01))  # a fifth longer
NO_RESIDUALS, LARGER = "residual connections", "residual connections, large weights"
TRIED += [(part, 1000, rate) for rate in (0.003,) for part in (NO_RESIDUALS, LARGER)]  # longer
TRIED = {f"{part}, {steps} steps, rate {rate}": (steps, rate) for part, steps, rate in TRIED}
TAKEN_OUT |= {name: (part,) for name in TRIED for part in PARTS if name.startswith(part)}
DEEP = {
    f"{part}, six layers, {weights} weights": (part, weights)
    for part in (NOTHING, "norms")
    for weights in ("small", "large")
}
SETUPS = [("plain", part) for part in (NOTHING, *PARTS, COPYING, DEEPER)]
SETUPS += [("endings", part) for part in (NOTHING, *PARTS[:2], DEEPER)]
SETUPS += [("plain", part) for part in (*TRIED, *DEEP)]
FEWER = dict.fromkeys((*TRIED, *DEEP), 3)  # seeds of these
STEPS, RATE, ALONE = 300, 1e-2, 100  # of training; sentences that are also translated one at a time


def pairs_of(world):
    """Return the pairs to learn from, and those to test with."""
    if world == "plain":
        return [small_world(number, seed, order="verb-last") for number, seed in SIZES]
    lengths, grammar = {"shortest": 1, "longest": 12}, SMALL | {"agreement": True}
    found = [generate_translations(number, seed, order="verb-last", **lengths, **grammar) for number, seed in SIZES]
    words = Subwords.words([text for pairs in found for text in (*pairs.sources, *pairs.targets)])
    return [SmallPairs(pairs.sources, pairs.targets, words, pairs.alignments) for pairs in found]


def measure(world, part, seed, most=math.inf, alone=ALONE):
    """Train one model without a part, for `most` steps at most; return its row: the loss of the last 20 steps, and shares of right words."""
    pairs, test = pairs_of(world)
    lesson, recurrent = page("12_transformer", pairs=pairs), part.startswith(RIVAL)
    torch.manual_seed(seed)
    if recurrent:
        model = RecurrentTranslator(len(pairs.words), width=32, hidden=64, encoder_hidden=32, dropout=0.0)
    elif part in DEEP:
        model = lesson.untrained(*DEEP[part], seed, N=6)
    else:
        model = lesson.Transformer(len(pairs.words), N=3 if part == DEEPER else 2)
        for taken in TAKEN_OUT.get(part, (part,)):
            lesson.take_out(model, taken)
        if part.startswith(LARGER):
            lesson.enlarge(model)

    def translate(texts):
        if recurrent:
            return search(model, test.words, texts, width=1)
        return lesson.translate(model, test.words, texts, longest=40)

    steps, rate = TRIED.get(part, (200, 3e-3) if part in DEEP else (STEPS, RATE))
    losses, seconds = timed(fit, model, *pairs.ids(), seed=seed, steps=min(steps, most), rate=rate)
    written = translate(test.sources)
    single = [translate([text])[0] for text in test.sources[:alone]]
    shares = (
        share_right(model, *make_batch(*test.ids())),
        exact_shares(written, test.targets)[1],
        exact_shares(single, test.targets[:alone])[1],
    )
    loss, size = sum(losses[-20:]) / len(losses[-20:]), sum(p.numel() for p in model.parameters())
    return [(loss, *shares, size, seconds)]


if __name__ == "__main__":
    fill("parts", COLUMNS, jobs(SETUPS, read_options(__doc__, [0, 1, 2, 3, 4]).seeds, FEWER), measure)
