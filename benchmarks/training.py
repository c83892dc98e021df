"""How fast the Transformer trains on one core, against nn.Transformer; how much of the machine it uses, and memory.

    python benchmarks/training.py [--rounds 7] [--seconds 6] [--quick]

All models have width 256, 8 heads (torch's default, and that of its translation tutorial), feed-forward 1,024 and 3 + 3
layers, and learn the same 4,000 joint subwords of Multi30k en-de:

    tutorial   nn.Transformer as PyTorch's tutorial on translation trains it: post-norm, fp32, dropout 0.1, two
               embeddings and a Linear generator, shuffled batches of 128 sentences padded to the longest,
               CrossEntropyLoss(ignore_index), Adam. (The tutorial's own width is 512, its feed-forward 512.)
    buckets    the same, in the course's batches: 2,048 tokens of sentences of like length
    bf16       the same, in these batches and with the course's optimizer: bf16 weights with fp32 masters
    course     course_utils.models.transformer in the loop of `course train`, with AdamW like the others
    muon       the same with Muon, as the presets train it, which learns more from each token

They take turns in one process. A turn lasts some seconds of CPU time and counts the target's tokens, EOS included and
padding not. The lines give minimum, median and maximum over the rounds, and ratios within a round. Dividing matrices'
floating-point operations by the time gives the share of the machine's limit, which is measured in the same rounds.
The course's setting of the C library's allocator (`keep_freed_memory`) is on for all. Memory is measured in processes of
their own. Exits 1 when a promise is broken: 8 times the tutorial, 3.5 times buckets, 45 % of the limit at width 256. The promises are for
processors with AVX-512 alone: where there is AMX, its limit is so high that products of this size reach a quarter of it.
"""

import argparse
import math
import resource
import statistics
import subprocess
import sys
import time

import numpy as np
import torch
from measuring import machine, read_options, spread
from torch import nn

from course_utils.data.download import DataError
from course_utils.data.multi30k import load_multi30k
from course_utils.data.subwords import PAD, Subwords, subwords_for
from course_utils.data.world import generate_translations
from course_utils.models.minimal import sinusoidal_positions
from course_utils.models.transformer import Transformer
from course_utils.training.batches import Batch, Batches
from course_utils.training.device import choose_precision, keep_freed_memory
from course_utils.training.loop import Objective
from course_utils.training.optimizer import Optimizer

VOCABULARY, WIDTH, HEADS, HIDDEN, LAYERS = 4000, 256, 8, 1024, 3
NAMES = ("tutorial", "buckets", "bf16", "course")
OVER_TUTORIAL, OVER_BUCKETS, LIMIT_SHARE = 8.0, 3.5, 0.45  # promised


class TutorialModel(nn.Module):
    """The model of PyTorch's tutorial "Language Translation with nn.Transformer", batch first."""

    def __init__(
        self, vocabulary: int, width: int = WIDTH, heads: int = HEADS, hidden: int = HIDDEN, layers: int = LAYERS
    ):
        super().__init__()
        self.source, self.target = nn.Embedding(vocabulary, width), nn.Embedding(vocabulary, width)
        self.register_buffer("positions", sinusoidal_positions(512, width))
        self.dropout = nn.Dropout(0.1)
        self.transformer = nn.Transformer(width, heads, layers, layers, hidden, 0.1, batch_first=True)
        self.generator = nn.Linear(width, vocabulary)
        for parameter in self.parameters():
            if parameter.dim() > 1:
                nn.init.xavier_uniform_(parameter)

    def embed(self, words: nn.Embedding, tokens: torch.Tensor) -> torch.Tensor:
        return self.dropout(words(tokens) * math.sqrt(words.embedding_dim) + self.positions[: tokens.shape[1]])

    def forward(self, source: torch.Tensor, target: torch.Tensor) -> torch.Tensor:
        T, S = target.shape[1], source.shape[1]
        future = target.new_ones(T, T, dtype=torch.bool).triu(1)  # torch's masks are True where nothing may be attended
        features = self.transformer(
            self.embed(self.source, source), self.embed(self.target, target),
            src_mask=source.new_zeros(S, S, dtype=torch.bool), tgt_mask=future,
            src_key_padding_mask=source == PAD, tgt_key_padding_mask=target == PAD, memory_key_padding_mask=source == PAD,
        )  # fmt: skip
        return self.generator(features)


class TutorialBatches(Batches):
    """Shuffled sentences, 128 in each batch, padded to the longest."""

    def epoch(self, number: int) -> list[np.ndarray]:
        order = np.random.default_rng((self.seed, number)).permutation(len(self.lengths))
        return np.array_split(order, range(128, len(order), 128))


def tutorial_step(model, dtype=None):
    """One training step as in the tutorial; with a dtype, in that and with the course's Optimizer."""
    loss_of = nn.CrossEntropyLoss(ignore_index=PAD)
    if dtype:
        optimizer = Optimizer(model.to(dtype), (0.9, 0.98), weight_decay=0.0, clip=1.0)
    else:
        optimizer = torch.optim.Adam(model.parameters(), lr=1e-4, betas=(0.9, 0.98), eps=1e-9)

    def step(batch: Batch):
        wanted = torch.full_like(batch.given, PAD).flatten().index_copy_(0, batch.places, batch.wanted)
        loss = loss_of(model(batch.source, batch.given).flatten(0, 1), wanted)
        if dtype:
            loss.backward()
            optimizer.step(1e-4)
        else:
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()

    return step


def course_step(model, dtype, kind, compiled=False):
    """One training step as in `training/loop.py`, without accumulation."""
    objective = Objective(model.to(dtype), 0.1, compiled)
    optimizer = Optimizer(model, (0.9, 0.98), weight_decay=0.0, clip=1.0, kind=kind)

    def step(batch: Batch):
        (objective(batch) / len(batch.wanted)).backward()
        optimizer.step(1e-4)

    return step


class Contender:
    """A model with its batches, trained for some seconds at a time."""

    def __init__(self, name: str, rows: tuple, vocabulary: int, dtype: torch.dtype, width: int = WIDTH):
        torch.manual_seed(0)
        self.batches = TutorialBatches(*rows, 128, 0) if name == "tutorial" else Batches(*rows, 2048, 0)
        self.stream = (places for epoch in range(10**6) for places in self.batches.epoch(epoch))
        if name in ("course", "muon"):
            self.model = Transformer(vocabulary, width, HEADS * width // WIDTH, 4 * width, LAYERS, LAYERS)
            self.step = course_step(self.model, dtype, "muon" if name == "muon" else "adamw")
            return
        self.model = TutorialModel(vocabulary)
        self.step = tutorial_step(self.model, dtype if name == "bf16" else None)

    def turn(self, seconds: float) -> tuple[float, float]:
        """Train for at least so many seconds of CPU time: target tokens and matrix operations a second of it."""
        tokens = operations = 0
        start = time.process_time()
        while (took := time.process_time() - start) < seconds:
            batch = self.batches.read(next(self.stream))
            self.step(batch)
            tokens, operations = tokens + len(batch.wanted), operations + products(self.model, batch)
        return tokens / took, operations / took


def products(model: nn.Module, batch: Batch) -> int:
    """Additions and multiplications in the matrix products of one step of the course's model: forward, and twice that backward."""
    if not isinstance(model, Transformer):
        return 0
    (B, S), T, config = batch.source.shape, batch.given.shape[1], model.config
    D, F, V = config["width"], config["hidden"], config["vocabulary"]
    encoder = S * (4 * D * D + 2 * D * F) + 2 * S * S * D
    decoder = T * (6 * D * D + 2 * D * F) + S * 2 * D * D + 2 * T * T * D + 2 * T * S * D
    layers = config["encoder_layers"] * encoder + config["decoder_layers"] * decoder
    return 2 * 3 * (B * layers + len(batch.wanted) * D * V)


def limit(dtype: torch.dtype, seconds: float) -> float:
    """Matrix operations a second of CPU time, of a product as large as those of a training step."""
    one, other = torch.randn(2048, 1024).to(dtype), torch.randn(1024, 1024).to(dtype)
    count, start = 0, time.process_time()
    while (took := time.process_time() - start) < seconds:
        one @ other
        count += 1
    return count * 2 * 2048 * 1024 * 1024 / took


def load_pairs():
    """Multi30k's pairs for training and for the test with their subwords, or pairs of the generated world where it can't be had."""
    try:
        train, test = load_multi30k("train"), load_multi30k("test_2016_flickr")
        return train, test, subwords_for("multi30k-de-en", train.sources + train.targets, VOCABULARY)
    except DataError as error:
        print(f"Going on with the generated world, whose numbers are not those of the course. {error}")
        train, test = generate_translations(20_000, 1), generate_translations(1000, 3)
        return train, test, Subwords.words(train.sources + train.targets)


def load_rows():
    """The pairs for training in subwords, and how many subwords there are."""
    train, _, subwords = load_pairs()
    return (subwords.encode(train.sources), subwords.encode(train.targets)), len(subwords)


def resident(name: str, dtype: torch.dtype) -> None:
    """Print the peak of resident memory in MB before and after some steps, the longest sentences among them."""
    rows, vocabulary = load_rows()
    contender, unit = Contender(name, rows, vocabulary, dtype), 2**20 if sys.platform == "darwin" else 2**10
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / unit
    by_length = sorted(contender.batches.epoch(0), key=lambda places: -contender.batches.lengths[places].max())
    for places in by_length[:12]:
        contender.step(contender.batches.read(places))
    print(before, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / unit)


def main():
    memory_of = {"choices": NAMES, "help": argparse.SUPPRESS}
    options = read_options(__doc__, rounds=7, seconds=6.0, quick=False, memory_of=memory_of)
    rounds, seconds = (2, 1.0) if options.quick else (options.rounds, options.seconds)
    keep_freed_memory()
    dtype = choose_precision("auto", torch.device("cpu"))
    if options.memory_of:
        return resident(options.memory_of, dtype)

    print(machine())
    if dtype != torch.bfloat16:
        print("This CPU is not faster in bf16: the course trains in fp32, and so does the line bf16.")
    # First, as on Linux a child process counts its parent's peak as its own.
    for name in NAMES:
        command = [sys.executable, __file__, "--memory-of", name]
        before, peak = map(
            float, subprocess.run(command, capture_output=True, text=True, check=True).stdout.split()[-2:]
        )
        print(f"{'peak of resident memory, ' + name:36} {peak:10,.0f} MB, of which {before:,.0f} before the first step")
    rows, vocabulary = load_rows()
    contenders = {name: Contender(name, rows, vocabulary, dtype) for name in NAMES}
    contenders["muon"] = Contender("muon", rows, vocabulary, dtype)
    for name in ("course", "muon"):
        contenders[f"{name}, width 128"] = Contender(name, rows, vocabulary, dtype, width=128)
    for contender in contenders.values():
        contender.turn(seconds / 4)  # the first steps are slower
    speeds, shares = {name: [] for name in contenders}, {name: [] for name in contenders}
    limits = []
    for number in range(rounds):
        before = limit(dtype, seconds / 12)
        order = list(contenders)[number % len(contenders) :] + list(contenders)[: number % len(contenders)]
        operations = {}
        for name in order:
            tokens, operations[name] = contenders[name].turn(seconds)
            speeds[name].append(tokens)
        limits.append((before + limit(dtype, seconds / 12)) / 2)
        for name in order:
            shares[name].append(operations[name] / limits[-1])

    print(f"{'target tokens a second of CPU time':36}        min     median        max")
    for name in contenders:
        print(f"{name:36} {spread(speeds[name])}")
    ratios = {}
    for name in NAMES[:-1]:
        ratios[name] = [ours / theirs for ours, theirs in zip(speeds["course"], speeds[name], strict=True)]
        print(f"{'course over ' + name:36} {spread(ratios[name], '10.2f')}")
    print(f"{'limit, 10⁹ operations a second':36} {spread([value / 1e9 for value in limits])}")
    for name in ("muon", "muon, width 128"):
        slower = [
            with_it / without
            for with_it, without in zip(speeds[name], speeds[name.replace("muon", "course")], strict=True)
        ]
        print(f"{name + ' over course':36} {spread(slower, '10.2f')}")
    for name in ("course", "course, width 128"):
        print(f"{'share of it, ' + name:36} {spread(shares[name], '10.1%')}")
    tutorial, buckets, share = (statistics.median(x) for x in (ratios["tutorial"], ratios["buckets"], shares["course"]))
    print(f"course over tutorial {tutorial:.1f} (promised {OVER_TUTORIAL}), over buckets {buckets:.1f} (promised {OVER_BUCKETS}), ", end="")  # fmt: skip
    print(f"share of the limit {share:.0%} (promised {LIMIT_SHARE:.0%})")
    if torch.cpu._is_amx_tile_supported():
        print("This processor has AMX, for which nothing is promised.")
        return 0
    return int(tutorial < OVER_TUTORIAL or buckets < OVER_BUCKETS or share < LIMIT_SHARE)


if __name__ == "__main__":
    sys.exit(main())
