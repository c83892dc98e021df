"""What each head of the shipped Transformer looks at, and what it is worth.

    python benchmarks/heads.py

Fills two tables, which lesson 10 draws:

near.csv        the mean weight that each head of its encoder gives to places at a distance, over captions of the validation set
heads.csv       BLEU of transformer-en-de on test_2016_flickr with greedy search, with a head switched off, and with it alone in its attention
"""

from functools import cache, partial

from measuring import fill, read_options

from course_utils.data.multi30k import load_multi30k
from course_utils.models.head_ablation import attentions, switched_off, weights_of_heads
from course_utils.models.seq2seq import make_batch
from course_utils.models.serialization import load_pretrained
from course_utils.translation.scores import bleu
from course_utils.translation.search import translate_all

CAPTIONS, DISTANCES, NEAR = 300, (-2, -1, 0, 1, 2), "attention head distance seed weight"
SWITCHED = "attention head state seed bleu"  # state: off, alone, or on for the whole model

translator = cache(partial(load_pretrained, "transformer-en-de"))


@cache
def weights_and_words():
    """Return the weights of all heads over the captions, and where they have words, B×T."""
    model, subwords = translator()
    sources = subwords.encode(load_multi30k("val").sources[:CAPTIONS])
    source, given, _ = make_batch(sources, [[]] * len(sources))
    return weights_of_heads(model, source, given), source != 0


def near(name, head, distance, seed):
    """Return the row of a head and a distance: its mean weight over the places that are there."""
    weights, words = weights_and_words()
    at = weights[name][:, head].diagonal(distance, 1, 2)  # B T, less the distance
    there = words[:, max(0, -distance) : words.shape[1] - max(0, distance)]
    seen = words[:, max(0, distance) : words.shape[1] - max(0, -distance)]
    return [(at[there & seen].mean().item(),)]


def switched(name, head, state, seed):
    """Return the row of a head: BLEU of greedy translations without it, or with it alone of its attention's."""
    model, subwords = translator()
    pairs = load_multi30k("test_2016_flickr")
    if state == "on":
        found = translate_all(model, subwords.encode(pairs.sources), width=1)
    else:
        others = [head] if state == "off" else [h for h in range(attentions(model)[name].heads) if h != head]
        with switched_off(model, name, *others):
            found = translate_all(model, subwords.encode(pairs.sources), width=1)
    return [(round(bleu(subwords.decode([one.tokens for one in found]), pairs.targets).score, 2),)]


if __name__ == "__main__":
    read_options(__doc__)
    parts = {name: range(module.heads) for name, module in attentions(translator()[0]).items()}
    encoder = [(name, head) for name, heads in parts.items() if name.startswith("encoder") for head in heads]
    fill("near", NEAR, [(*of, distance, 1) for of in encoder for distance in DISTANCES], near)
    both = [(name, head, state, 1) for name, heads in parts.items() for head in heads for state in ("off", "alone")]
    fill("heads", SWITCHED, [("all", 0, "on", 1), *both], switched)
