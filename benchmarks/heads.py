"""One head against several, and what each head of the shipped Transformer is worth.

    python benchmarks/heads.py [--seeds 5]

The rows go to five tables in course_utils/data/measured_tables, which lesson 10 draws; what is in them already is not run again.

    two_facts.csv   the share of right answers to questions for two facts at once, by the number of heads
    changed.csv     the same with two heads and one thing changed, after a short training at a high rate and after the other tables' longer one
    behind.csv      the same with one head, by the width of the hidden layer behind it, 0 for none; and the larger and the smaller of the two pairs' weights
    near.csv        the mean weight that each head of its encoder gives to places at a distance, over captions of the validation set
    heads.csv       BLEU of transformer-en-de on test_2016_flickr with greedy search, with a head switched off, and with it alone in its attention
"""

import argparse

import torch
from torch import nn

from course_utils.data.measured import append, fill, known
from course_utils.data.multi30k import load_multi30k
from course_utils.data.recall import recall_two
from course_utils.models.files import load_pretrained
from course_utils.models.heads import TwoFacts, attentions, fit, switched_off, weights_of_heads
from course_utils.models.seq2seq import make_batch
from course_utils.models.transformer import MultiHeadAttention, attend
from course_utils.translation.scores import bleu
from course_utils.translation.search import translate_all

HEADS, PAIRS, TESTED = (1, 2, 8), 4, 1000
TWO_FACTS = ("heads", "seed", "pairs", "answers_right")
CHANGED, TRAININGS = ("change", "steps", "rate", "seed", "answers_right"), ((500, 0.02), (2000, 0.005))
BEHIND = ("hidden", "seed", "answers_right", "larger_weight", "smaller_weight")
CAPTIONS, DISTANCES, NEAR = 300, (-2, -1, 0, 1, 2), ("attention", "head", "distance", "seed", "weight")
SWITCHED = ("attention", "head", "state", "seed", "bleu")  # state: off, alone, or on for the whole model


def of_head_0(x):
    """Give all heads B×H×… what the first one has."""
    return x[:, :1].expand_as(x)


CHANGES = {  # of queries, keys and values
    "nothing": lambda q, k, v: (q, k, v),
    "scores of head 0 for all": lambda q, k, v: (of_head_0(q), of_head_0(k), v),
    "queries of head 0 for all": lambda q, k, v: (of_head_0(q), k, v),
    "keys of head 0 for all": lambda q, k, v: (q, of_head_0(k), v),
    "values of head 0 for all": lambda q, k, v: (q, k, of_head_0(v)),
    "no scaling": lambda q, k, v: (q * q.shape[-1] ** 0.5, k, v),  # the scores will be divided by the same
    "no W_O": lambda q, k, v: (q, k, v),
}


class Changed(MultiHeadAttention):
    """Several heads, with something done to their queries, keys and values."""

    def __init__(self, width, heads, change):
        super().__init__(width, heads)
        self.change = CHANGES[change]
        if change == "no W_O":
            self.output = nn.Identity()

    def forward(self, x, keys_values, mask=None, need_weights=False):
        """Attend as the unchanged module does."""
        (query,) = self.split(self.query(x), 1)
        context, weights = attend(*self.change(query, *keys_values), mask, need_weights=need_weights)
        return self.output(context.transpose(1, 2).flatten(2)), weights


def changed(change, steps, rate, seed):
    """Train one model with two heads that differs in one thing from that of `two_facts` with the same seed; return its row."""
    torch.manual_seed(seed)
    model = TwoFacts(2)
    attention = Changed(model.readout.in_features, 2, change)
    attention.load_state_dict(model.attention.state_dict(), strict=False)  # without W^O, its weights are left over
    model.attention = attention
    fit(model, seed, steps=steps, rate=rate, pairs=PAIRS)
    return [(change, steps, rate, seed, round(tried(model)[0], 4))]


def two_facts(heads, seed):
    """Train one model; return its rows."""
    torch.manual_seed(seed)
    model = TwoFacts(heads)
    fit(model, seed, pairs=PAIRS)
    return [(heads, seed, PAIRS, round(tried(model)[0], 4))]


def behind(hidden, seed):
    """Train one model with one head and a hidden layer behind it; return its row."""
    torch.manual_seed(seed)
    model = TwoFacts(1, hidden=hidden)
    fit(model, seed, pairs=PAIRS)
    return [(hidden, seed, *(round(each, 4) for each in tried(model)))]


@torch.no_grad()
def tried(model):
    """Return the share of right answers, and the mean weights that the first head gives to the pair asked for which gets more, and to the other one."""
    tokens, answers, places = recall_two(TESTED, PAIRS, torch.Generator().manual_seed(10_000))
    logits, weights = model(tokens)
    on_both = weights[:, 0].gather(1, places).double()  # N 2
    right = (logits.argmax(-1) == answers).double()
    return right.mean().item(), on_both.amax(1).mean().item(), on_both.amin(1).mean().item()


def near():
    """Yield a row for each head of the encoder and each distance: its mean weight over the places that are there."""
    model, subwords = load_pretrained("transformer-en-de")
    sources = subwords.encode(load_multi30k("val").sources[:CAPTIONS])
    source, given, _ = make_batch(sources, [[]] * len(sources))
    words = source != 0  # B T
    for name, weights in weights_of_heads(model, source, given).items():
        for head in range(weights.shape[1]) if name.startswith("encoder") else ():
            for distance in DISTANCES:
                at = weights[:, head].diagonal(distance, 1, 2)  # B T, less the distance
                there = words[:, max(0, -distance) : words.shape[1] - max(0, distance)]
                seen = words[:, max(0, distance) : words.shape[1] - max(0, -distance)]
                yield (name, head, distance, 1, round(at[there & seen].mean().item(), 4))


def score(model, subwords, pairs):
    """Return BLEU of a model's greedy translations."""
    found = translate_all(model, subwords.encode(pairs.sources), width=1)
    return round(bleu(subwords.decode([one.tokens for one in found]), pairs.targets).score, 2)


def switched(done):
    """Yield a row for each head that is not in the table yet: without it, and with it alone of its attention's."""
    model, subwords = load_pretrained("transformer-en-de")
    pairs = load_multi30k("test_2016_flickr")
    if ("all", "0", "on") not in done:
        yield ("all", 0, "on", 1, score(model, subwords, pairs))
    for name, module in attentions(model).items():
        for head in range(module.heads):
            for state in ("off", "alone"):
                if (name, str(head), state) not in done:
                    others = [head] if state == "off" else [h for h in range(module.heads) if h != head]
                    with switched_off(model, name, *others):
                        yield (name, head, state, 1, score(model, subwords, pairs))


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--seeds", type=int, default=5)
    options = parser.parse_args()
    torch.set_num_threads(1)
    fill("two_facts", TWO_FACTS, ((heads, seed) for seed in range(options.seeds) for heads in HEADS), two_facts)
    jobs = ((one, *training, seed) for seed in range(options.seeds) for training in TRAININGS for one in CHANGES)
    fill("changed", CHANGED, jobs, changed)
    fill("behind", BEHIND, ((hidden, seed) for seed in range(options.seeds) for hidden in (0, 32)), behind)
    if not known("near", NEAR, "head"):
        append("near", list(near()))
    for row in switched(known("heads", SWITCHED, "attention", "head", "state")):
        append("heads", [row])
        print(*row, flush=True)


if __name__ == "__main__":
    main()
