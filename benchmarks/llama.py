"""What SmolLM2-135M-Instruct, in the course's class, makes of reviews, and what each of its heads is needed for.

    python benchmarks/llama.py

Needs the model and SST-2 (`course data smollm2 sst2`). Fills, in about ten minutes on one quiet core,

    sst2_llama.csv   share of SST-2's test reviews that are right by comparing " positive" and " negative", with four sets of examples:
                     300 drawn ones ("all") and all 383 with a negation ("negated"); "seed" is the number of the set. The threshold is 0, or the
                     median of 100 validation reviews, without their labels
    sst2_trained.csv the same for the sum of word vectors and for self-attention (lessons 01 and 03), trained on the 6,920 training reviews
    one_head.csv     40 random tokens, repeated, with each of the 270 heads switched off: nats per token the second time, and of prose
"""

from functools import cache

import torch
from measuring import fill, jobs, read_options
from torch.nn.functional import cross_entropy

from course_utils.data.sst2 import load_sst2
from course_utils.models import llama, sentiment

EXAMPLES = [
    [("a moving story, full of warmth", 1), ("dull from the first minute to the last", 0), ("never boring", 1), ("not worth your time", 0)],
    [("not worth your time", 0), ("never boring", 1), ("dull from the first minute to the last", 0), ("a moving story, full of warmth", 1)],
    [("a delight", 1), ("a waste of time", 0), ("funny and clever", 1), ("slow and predictable", 0)],
    [("one of the finest films of the year, with a wonderful cast", 1), ("the plot makes no sense and the jokes fall flat", 0), ("you will not regret seeing it", 1), ("a dreary, overlong mess", 0)],
]  # fmt: skip
LABELS = (" negative", " positive")
KINDS = {"sum": sentiment.SumOfWords, "attention": sentiment.SelfAttention}


def scores(model, tokenizer, examples, reviews, batch=32):
    """Return log p(" positive") - log p(" negative") for each review. The examples are read once; their cache serves all reviews."""
    shown = "\n\n".join(f"Review: {text}\nSentiment:{LABELS[label]}" for text, label in examples)
    before, after = (
        tokenizer.encode(shown).ids,
        [tokenizer.encode(f"\n\nReview: {text}\nSentiment:").ids for text in reviews],
    )
    labels = [tokenizer.encode(label).ids[0] for label in LABELS]
    cache = model.new_cache()
    model(torch.tensor([before]), cache)
    found = torch.empty(len(reviews))
    by_length = {}
    for i, ids in enumerate(after):
        by_length.setdefault(len(ids), []).append(i)
    for group in by_length.values():  # of equal length, so that nothing is padded
        for chunk in (group[at : at + batch] for at in range(0, len(group), batch)):
            own = [[part.expand(len(chunk), -1, -1, -1) for part in layer] for layer in cache]
            x = model(torch.tensor([after[i] for i in chunk]), own)[:, -1, labels]  # B 2
            found[chunk] = x[:, 1] - x[:, 0]
    return found


def measure_sst2(reviews, seed):
    """Return how many reviews there are, and what share is right: at threshold 0, at the median of others, and of each label."""
    places = groups[reviews]
    found = scores(model, tokenizer, EXAMPLES[seed], [texts["test"][i] for i in places])
    median = scores(model, tokenizer, EXAMPLES[seed], [texts["dev"][i] for i in others]).median()
    labels = splits["test"].labels[places].bool()
    right = [((found > threshold) == labels).float() for threshold in (0.0, median)]
    sides = right[1][labels].mean().item(), right[1][~labels].mean().item()
    return [(len(places), *(each.mean().item() for each in right), *sides)]


def measure_trained(kind, reviews, seed):
    """Return the weight decay and the share of these reviews that is right."""
    decay, right = trained_on_sst2(kind, seed)
    return [(decay, right[groups[reviews]].mean().item())]


@cache
def trained_on_sst2(kind, seed):
    """Train a model of lessons 01 to 03 on SST-2; return the weight decay that is best for the validation reviews, and which test reviews are right."""
    train = splits["train"]
    vocabulary = sentiment.build_vocabulary(train.sentences)
    ids = {name: sentiment.encode(split.sentences, vocabulary) for name, split in splits.items()}
    tried = {}
    for decay in (0.03, 0.3, 3.0):
        torch.manual_seed(seed)
        made = KINDS[kind](len(vocabulary), width=16)
        sentiment.train(made, *ids["train"], train.labels, seed, weight_decay=decay)
        shares = {name: sentiment.correct(made, *ids[name], splits[name].labels).float() for name in ("dev", "test")}
        tried[shares["dev"].mean().item()] = decay, shares["test"]
    return tried[max(tried)]


def measure_head(layer, head, seed):
    draw = torch.Generator().manual_seed(seed)
    once = torch.randint(1000, 20_000, (2, 40), generator=draw)
    rows = torch.cat([torch.ones(2, 1, dtype=torch.long), once, once], dim=1)
    prose = torch.tensor([tokenizer.encode(llama.PROSE).ids])
    W_O = model.layers[layer].attention.f.W_O.weight
    columns = slice(64 * head, 64 * head + 64) if head >= 0 else slice(0, 0)  # -1: no head
    kept = W_O[:, columns].clone()
    W_O[:, columns] = 0
    nats = [cross_entropy(model(ids[:, :-1]).mT, ids[:, 1:], reduction="none") for ids in (rows, prose)]
    W_O[:, columns] = kept
    return [(nats[0][:, 41:].mean().item(), nats[1].mean().item())]


if __name__ == "__main__":
    read_options(__doc__)
    model, tokenizer, _ = llama.load_smollm2()
    splits = {name: load_sst2(name) for name in ("train", "dev", "test")}
    texts = {name: [" ".join(words) for words in split.sentences] for name, split in splits.items()}
    draw = torch.Generator().manual_seed(0)
    drawn = torch.randperm(len(splits["test"]), generator=draw)[:300].tolist()
    groups = {"all": drawn, "negated": splits["test"].negated.nonzero().flatten().tolist()}
    others = torch.randperm(len(splits["dev"]), generator=draw)[:100].tolist()
    trained = jobs([(kind, reviews) for kind in KINDS for reviews in groups], range(3))
    fill("sst2_trained", "model reviews seed decay right", trained, measure_trained)
    with torch.no_grad():
        columns = "reviews seed count right right_by_median positive_right negative_right"
        fill("sst2_llama", columns, jobs(list(groups), range(len(EXAMPLES))), measure_sst2)
        heads = [(0, -1), *((layer, head) for layer in range(30) for head in range(9))]
        fill("one_head", "layer head seed second_copy prose", jobs(heads, range(1)), measure_head)
