"""Self-attention with and without learned projections, on the reviews of lesson 03: how soon each model learns "not".

    python benchmarks/projections.py [--seeds 5]

Trains the model of lesson 03's page as the page does, for more epochs, at more learning rates and with other matrices replaced by
nn.Identity. Fills projections.csv, which lesson 03 shows: the share of the four cases that a model gets right, by the matrices that are learned.
"""

import torch
from measuring import fill, read_options
from torch import nn

from course_utils.data.generated_reviews import four_cases, generate_reviews
from course_utils.models.sentiment import SelfAttention, build_vocabulary, correct, encode, train

COLUMNS = "matrices rate epochs seed right"
# The matrices that stay; "shared" is one matrix for queries and keys.
MATRICES = {
    "none": (),
    "value": ("value",),
    "shared": ("query", "key"),
    "query": ("query",),
    "key": ("key",),
    "all three": ("query", "key", "value"),
}
EPOCHS, RATE, OTHER_RATES = (15, 40, 75), 0.05, (0.02, 0.1, 0.2)


def model_with(matrices, vocabulary_size):
    """Return the page's model with nn.Identity instead of the other matrices."""
    model = SelfAttention(vocabulary_size)
    for part in {"query", "key", "value"} - set(MATRICES[matrices]):
        setattr(model, part, nn.Identity())  # the word's own vector
    if matrices == "shared":
        model.key = model.query
    return model


def measure(matrices, rate, epochs, seed):
    """Return the share of the test reviews that one model gets right."""
    learn, test = generate_reviews(2000, seed=0), four_cases(250, seed=1)
    vocabulary = build_vocabulary(learn.sentences)
    torch.manual_seed(seed)
    model = model_with(matrices, len(vocabulary))
    settings = {"epochs": epochs, "batch": 64, "rate": rate, "weight_decay": 0.01}
    train(model, *encode(learn.sentences, vocabulary), learn.labels, seed, **settings)
    right = correct(model, *encode(test.sentences, vocabulary), test.labels)
    return [(right.float().mean().item(),)]


if __name__ == "__main__":
    seeds = read_options(__doc__, seeds=5).seeds
    setups = [(matrices, RATE, epochs) for matrices in MATRICES for epochs in EPOCHS]
    setups += [("none", rate, epochs) for rate in OTHER_RATES for epochs in EPOCHS]
    fill("projections", COLUMNS, [(*setup, seed) for setup in setups for seed in seeds], measure)
