"""How fast the recurrent translator trains, against a step-by-step decoder as tutorials write it, on one core.

    python benchmarks/recurrent.py [--repeats 5] [--batches 4] [--width 256] [--hidden 256] [--encoder-hidden 128]

Both train on Multi30k, English to German, with 4,000 subwords, and have the same widths. The step-by-step decoder is
that of bentrevett's third lesson (github.com/bentrevett/pytorch-seq2seq): fp32, shuffled batches of 128, the state
repeated beside each annotation, one call of nn.GRU and one readout over the vocabulary each step. That readout sees
state, context and word, so is three times as wide as ours; "narrow" is the same decoder with our readout. Ours runs
in bf16 where that is faster, on batches of like length.

Prints minimum, median and maximum of target tokens, without padding, a second of CPU time; a training step is all of
loss, gradients, clipping and optimizer. Exits 1 when the medians fall short of the course's promise: 15 times.
"""

import itertools
import random
import statistics
import sys
import time

import torch
from measuring import machine, read_options, spread
from torch import nn
from torch.nn import functional as F

from course_utils.data.multi30k import load_multi30k
from course_utils.data.subwords import BOS, EOS, PAD, subwords_for
from course_utils.models.recurrent import RecurrentTranslator
from course_utils.training.batches import Batches, pad
from course_utils.training.device import choose_precision, keep_freed_memory
from course_utils.training.loss import smoothed_loss
from course_utils.training.optimizer import Optimizer

PROMISED = 15
VOCABULARY, TOKENS, ROWS = 4000, 4096, 128  # of a bucketed batch, and sentences of a shuffled one


class StepByStep(nn.Module):
    """Encoder, attention and decoder as in the tutorial, with its names; `narrow` is not in it."""

    def __init__(self, vocabulary, width, hidden, encoder_hidden, narrow):
        super().__init__()
        self.source, self.target = nn.Embedding(vocabulary, width), nn.Embedding(vocabulary, width)
        self.encoder = nn.GRU(width, encoder_hidden, bidirectional=True, batch_first=True)
        self.fc = nn.Linear(2 * encoder_hidden, hidden)
        self.attn = nn.Linear(2 * encoder_hidden + hidden, hidden)
        self.v = nn.Linear(hidden, 1, bias=False)
        self.rnn = nn.GRU(width + 2 * encoder_hidden, hidden, batch_first=True)
        seen = hidden + 2 * encoder_hidden + width
        narrow_readout = [nn.Linear(seen, width), nn.Tanh(), nn.Linear(width, vocabulary)]
        self.fc_out = nn.Sequential(*narrow_readout) if narrow else nn.Linear(seen, vocabulary)
        self.dropout = nn.Dropout(0.2)

    def forward(self, source, target):
        outputs, last = self.encoder(self.dropout(self.source(source)))
        hidden = torch.tanh(self.fc(torch.cat([last[0], last[1]], 1)))
        logits = torch.zeros(*target.shape, self.source.num_embeddings)
        for t in range(target.shape[1]):
            embedded = self.dropout(self.target(target[:, t : t + 1]))
            repeated = hidden[:, None].repeat(1, outputs.shape[1], 1)
            energy = torch.tanh(self.attn(torch.cat([repeated, outputs], 2)))
            scores = self.v(energy).squeeze(2).masked_fill(source == PAD, -1e10)
            context = scores.softmax(1)[:, None] @ outputs
            output, state = self.rnn(torch.cat([embedded, context], 2), hidden[None])
            hidden = state[0]
            logits[:, t] = self.fc_out(torch.cat([output, context, embedded], 2)).squeeze(1)
        return logits


def train_tutorial(model, sources, targets):
    """Train on endless shuffled batches; after each step yield its number of tokens."""
    optimizer, shuffle = torch.optim.Adam(model.parameters()), random.Random(0)
    while True:
        order = shuffle.sample(range(len(sources)), len(sources))
        for start in range(0, len(order) - ROWS, ROWS):
            rows = order[start : start + ROWS]
            source = pad([[*sources[i], EOS] for i in rows])
            target = pad([[BOS, *targets[i], EOS] for i in rows])
            logits, wanted = model(source, target[:, :-1]), target[:, 1:]
            loss = F.cross_entropy(logits.flatten(0, 1), wanted.flatten(), ignore_index=PAD)
            optimizer.zero_grad()
            loss.backward()
            nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            optimizer.step()
            yield int((wanted != PAD).sum())


def train_ours(model, sources, targets):
    """Train on endless bucketed batches; after each step yield its number of tokens."""
    batches, optimizer = Batches(sources, targets, TOKENS, seed=0), Optimizer(model, (0.9, 0.98), 0.0, 1.0)
    for epoch in itertools.count():
        for places in batches.epoch(epoch):
            batch = batches.read(places)
            features = model.features(batch.source, batch.given).flatten(0, 1).index_select(0, batch.places)
            (smoothed_loss(features, model.readout.weight, batch.wanted, 0.1) / len(batch.wanted)).backward()
            optimizer.step(1e-3)
            yield len(batch.wanted)


def tokens_a_second(steps, number):
    start, tokens = time.process_time(), sum(itertools.islice(steps, number))
    return tokens / (time.process_time() - start)


def main():
    options = read_options(__doc__, repeats=5, batches=4, width=256, hidden=256, encoder_hidden=128)
    torch.manual_seed(0)
    keep_freed_memory()
    dtype = choose_precision("auto", torch.device("cpu"))
    print(f"{machine()}, one thread; ours in {dtype}")
    pairs = load_multi30k("train", "en-de")
    subwords = subwords_for("multi30k-en-de", pairs.sources + pairs.targets, VOCABULARY)
    texts = subwords.encode(pairs.sources), subwords.encode(pairs.targets)
    widths = options.width, options.hidden, options.encoder_hidden
    models = {
        "step by step": StepByStep(len(subwords), *widths, narrow=False),
        "step by step, narrow": StepByStep(len(subwords), *widths, narrow=True),
        "ours": RecurrentTranslator(len(subwords), *widths).to(dtype),
    }
    runs = {name: (train_ours if name == "ours" else train_tutorial)(model, *texts) for name, model in models.items()}
    rates = {name: [] for name in models}
    for repeat in range(options.repeats + 1):
        for name, run in runs.items():
            rate = tokens_a_second(run, options.batches * (5 if name == "ours" else 1))
            if repeat:  # the first is for warming up
                rates[name].append(rate)
    print(f"{'tokens a second of CPU time':24} parameters     min  median     max")
    for name, model in models.items():
        size = sum(parameter.numel() for parameter in model.parameters())
        print(f"{name:27} {size:10,} {spread(rates[name], '7.0f')}")
    medians = {name: statistics.median(values) for name, values in rates.items()}
    ratios = [medians["ours"] / medians[name] for name in ("step by step", "step by step, narrow")]
    print(f"ours is {ratios[0]:.1f} times as fast (promised {PROMISED}), {ratios[1]:.1f} times with the narrow readout")
    return int(ratios[0] < PROMISED)


if __name__ == "__main__":
    sys.exit(main())
