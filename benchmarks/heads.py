"""What each head of the shipped Transformer looks at, and what it is worth.

    python benchmarks/heads.py

The rows go to two tables in course_utils/data/measured_tables, which lesson 10 draws; what is in them already is not run again.

    near.csv        the mean weight that each head of its encoder gives to places at a distance, over captions of the validation set
    heads.csv       BLEU of transformer-en-de on test_2016_flickr with greedy search, with a head switched off, and with it alone in its attention
"""

import argparse

import torch

from course_utils.data.measured import append, known
from course_utils.data.multi30k import load_multi30k
from course_utils.models.files import load_pretrained
from course_utils.models.heads import attentions, switched_off, weights_of_heads
from course_utils.models.seq2seq import make_batch
from course_utils.translation.scores import bleu
from course_utils.translation.search import translate_all

CAPTIONS, DISTANCES, NEAR = 300, (-2, -1, 0, 1, 2), ("attention", "head", "distance", "seed", "weight")
SWITCHED = ("attention", "head", "state", "seed", "bleu")  # state: off, alone, or on for the whole model


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
    argparse.ArgumentParser(description=__doc__.split("\n")[0]).parse_args()
    torch.set_num_threads(1)
    if not known("near", NEAR, "head"):
        append("near", list(near()))
    for row in switched(known("heads", SWITCHED, "attention", "head", "state")):
        append("heads", [row])
        print(*row, flush=True)


if __name__ == "__main__":
    main()
