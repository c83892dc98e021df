"""Photographs that the captioner has not seen: lesson 15's captioner and its code, trained on Flickr8k.

    python benchmarks/flickr8k.py [--folder flickr8k] [--seeds 0 1]
    python benchmarks/flickr8k.py --control

The folder holds the photographs of Flickr8k (Hodosh et al. 2013) in `images`, and its four lists `Flickr8k.token.txt`,
`Flickr_8k.trainImages.txt`, `Flickr_8k.devImages.txt` and `Flickr_8k.testImages.txt`. The first run computes all annotations, half a gigabyte.

Fills course_utils/data/measured_tables/flickr8k.csv. "attention" is the captioner of the page, "mean" gets the mean of a photograph's
annotations in place of each of them. BLEU with five references, in lower case and without punctuation, on the 1,000 photographs of
the test part: greedy, and with beam 5 (the mean log probability of a caption's words decides). Then one word of each greedy caption:
of those that are not in FUNCTION_WORDS, the one with the largest weight on any cell. How probable is it, and is it still the most
probable one, with a square of 96 × 96 pixels covered around this cell, around the cell with its smallest weight, or at random? With
attention and the first seed, the weights are stored for the course, and the captions of the first six test photographs in
flickr8k_captions.csv: by beam search, and the first one by a person. The control, with the stored captioner and the course's own
photographs: is a word lost as often if the largest weight of another word of its caption is covered?
"""

import copy
import csv
import json
import math
import sys
from collections import Counter, defaultdict
from functools import cache
from itertools import permutations
from pathlib import Path
from statistics import fmean

import numpy as np
import sacrebleu
import torch
import torch.nn.functional as F
from measuring import fill, jobs, machine, page, read_options, timed
from PIL import Image
from torch import nn
from torch.utils.data import DataLoader

from course_utils.base.files import write
from course_utils.data import measured
from course_utils.data.photographs import FOLDER, PHOTOGRAPHS, pixels_of, preprocess
from course_utils.data.subwords import BOS, EOS, PAD, UNK
from course_utils.models.captions import Captioner
from course_utils.models.photographs import WIDTH, load_captioner, load_network, packed

COLUMNS = (
    "setup width hidden epochs seed parameters epoch loss greedy1 greedy2 greedy3 greedy4 beam1 beam2 beam3 beam4 cpu_seconds "
    "whole at_the_largest at_the_smallest at_random kept_at_the_largest kept_at_the_smallest kept_at_random"
)
SETTINGS = (64, 128, 6)
RATE, DROPOUT, LONGEST = 2e-3, 0.3, 20
FUNCTION_WORDS = set(
    "a an the this that there is are has and or while as of in on at by for from to with into onto over under through across "
    "up down out off near next his her its their it he she they him them".split()
)


class Flickr8k:
    """The photographs, their annotations in bytes, and their captions."""

    def __init__(self, folder: Path, lesson):
        self.folder, self.captions = folder / "images", defaultdict(list)
        for each in lesson.read_flickr8k(folder / "Flickr8k.token.txt"):
            self.captions[each["image_id"]].append(each["caption"])
        self.parts = {
            part: (folder / f"Flickr_8k.{part}Images.txt").read_text(encoding="utf-8").split()
            for part in ("train", "dev", "test")
        }
        self.rows = {name: row for row, name in enumerate(sum(self.parts.values(), []))}
        stored = folder / "annotations.npy"
        if not stored.is_file():
            np.save(stored, np.concatenate([self._seen(name) for name in self.rows]))
        self.bytes = torch.from_numpy(np.load(stored))
        self.tokenize = lesson.tokenize

    def pixels(self, name):
        with Image.open(self.folder / name) as image:
            return preprocess(torch.tensor(np.array(image.convert("RGB"))))

    def _seen(self, name):
        return annotated(self.pixels(name)).mul(255 / 6).round().byte().numpy()

    def __getitem__(self, name):
        """The annotations of a photograph, L×E."""
        return F.layer_norm(self.bytes[self.rows[name]].float(), (WIDTH,))

    def of(self, part):
        return [{"image_id": name, "caption": text} for name in self.parts[part] for text in self.captions[name]]

    def bleu(self, texts, part):
        """BLEU-1 to BLEU-4."""
        captions = [[" ".join(self.tokenize(text)) for text in self.captions[name]] for name in self.parts[part]]
        found = sacrebleu.corpus_bleu(texts, list(zip(*captions, strict=True)), tokenize="none", force=True)
        logs = [math.log(max(precision, 1e-9) / 100) for precision in found.precisions]
        return [100 * found.bp * math.exp(sum(logs[:n]) / n) for n in range(1, 5)]


network = cache(load_network)


def annotated(pixels):
    """The annotations of photographs, B×L×E, from 0 to 6."""
    return network()(pixels).flatten(2).mT


class Writer:
    """Writes captions with a captioner, a step at a time."""

    def __init__(self, model, vocabulary, mean):
        self.model, self.vocabulary, self.mean = model, vocabulary, mean

    def seen(self, a):
        """What the captioner gets of annotations B×L×E."""
        return a.mean(1, keepdim=True).expand_as(a) if self.mean else a

    def start(self, photographs):
        """Return annotations, keys and state for a list of L×E."""
        a = self.seen(torch.stack(photographs))
        return a, self.model.look.key(a), self.model.first(a)

    def step(self, a, keys, state, words):
        """Return the log probabilities of the next words, B×V, the weights, B×L, and the next state."""
        output, state = self.model.step(a, keys, state, self.model.embedding(words))
        output.logits[:, [PAD, BOS, UNK]] = -math.inf
        return output.logits.log_softmax(-1), output.weights, state

    @torch.no_grad()
    def greedy(self, photographs):
        """Return the numbers of the words of each caption, and the weights for each, T×L."""
        written = []
        for first in range(0, len(photographs), 100):
            a, keys, state = self.start(photographs[first : first + 100])
            words, steps = torch.full((len(a),), BOS), []
            for _ in range(LONGEST):
                scores, weights, state = self.step(a, keys, state, words)
                words = scores.argmax(-1)
                steps.append((words, weights))
            numbers, weights = (torch.stack(part, 1) for part in zip(*steps, strict=True))
            for row, alpha in zip(numbers.tolist(), weights, strict=True):
                length = row.index(EOS) if EOS in row else LONGEST
                written.append((row[:length], alpha[:length]))
        return written

    @torch.no_grad()
    def beam(self, photograph, width=5):
        """Return the words of the caption with the largest mean log probability."""
        a, keys, state = self.start([photograph])
        rows, totals, finished = torch.full((1, 1), BOS), torch.zeros(1), []
        for length in range(1, LONGEST + 1):
            wide = [each.expand(len(rows), *each.shape[1:]) for each in (a, keys)]
            scores, _, state = self.step(*wide, state, rows[:, -1])
            totals, best = (totals[:, None] + scores).flatten().topk(width)
            parents, words = best // scores.shape[1], best % scores.shape[1]
            rows, state = torch.cat([rows[parents], words[:, None]], 1), tuple(part[parents] for part in state)
            ended = words == EOS
            finished += [(total / length, row) for total, row in zip(totals[ended].tolist(), rows[ended], strict=True)]
            rows, totals, state = rows[~ended], totals[~ended], tuple(part[~ended] for part in state)
            if len(rows) == 0:
                break
        finished += [(total / LONGEST, row) for total, row in zip(totals.tolist(), rows, strict=True)]
        _, row = max(finished, key=lambda pair: pair[0])
        return [number for number in row[1:].tolist() if number != EOS]

    @torch.no_grad()
    def probability(self, photograph, words, place):
        """Return how probable the word at a place is after those before it, and whether it is the most probable one."""
        a, keys, state = self.start([photograph])
        for word in [BOS, *words[:place]]:
            scores, _, state = self.step(a, keys, state, torch.tensor([word]))
        return scores[0, words[place]].exp().item(), scores.argmax().item() == words[place]

    def text(self, numbers):
        return " ".join(self.vocabulary[number] for number in numbers)


def square(cell):
    """Return the top row and the left column of the 3 × 3 cells around a cell, or as near to it as they fit."""
    return tuple(min(max(each, 1), 5) - 1 for each in divmod(int(cell), 7))


def covered(pixels, cell):
    """Cover 96 × 96 pixels with the mean colour, around a cell or as near to it as the whole square fits."""
    changed = pixels.clone()
    top, left = (32 * each for each in square(cell))
    changed[:, :, top : top + 96, left : left + 96] = pixels.mean((2, 3), keepdim=True)
    return changed


def effect_of_covers(writer, data, written, seed):
    """Return means over photographs: the probability of a word, whole and covered, and how often it stays the most probable one, covered."""
    rows, draw = [], torch.Generator().manual_seed(seed)
    for name, (words, weights) in zip(data.parts["test"], written, strict=True):
        largest = weights.amax(1)
        largest[[writer.vocabulary[word] in FUNCTION_WORDS for word in words]] = -1.0
        if len(words) == 0 or largest.max() < 0:
            continue
        place, pixels = largest.argmax().item(), data.pixels(name)
        cells = weights[place].argmax(), weights[place].argmin(), torch.randint(49, (), generator=draw)
        versions = annotated(torch.cat([pixels, *(covered(pixels, cell.item()) for cell in cells)]))
        found = [writer.probability(each, words, place) for each in F.layer_norm(versions, (WIDTH,))]
        rows.append([*(probability for probability, _ in found), *(kept for _, kept in found[1:])])
    print(f"{len(rows)} words", flush=True)
    return torch.tensor(rows).mean(0).tolist()


def control():
    """Return means over pairs of words of a caption of the course's photographs: is the first kept, with its own largest weight covered and with that of the second?

    Function words and pairs with the same square do not count. Also returned: the number of pairs, how many of all share their largest
    weight, how many there are, and the mean weight in a word's square.
    """
    parameters, vocabulary = load_captioner()
    model = Captioner(len(vocabulary), WIDTH, 64, 128)
    model.load_state_dict(parameters)
    writer, kept, inside, same = Writer(model.eval(), vocabulary, mean=False), [], [], []
    for pixels in map(pixels_of, PHOTOGRAPHS):
        (words, weights), *_ = writer.greedy([F.layer_norm(annotated(pixels), (WIDTH,))[0]])
        places = [i for i, word in enumerate(words) if vocabulary[word] not in FUNCTION_WORDS]
        cells = {i: weights[i].argmax().item() for i in places}
        hidden = {i: F.layer_norm(annotated(covered(pixels, cells[i])), (WIDTH,))[0] for i in places}
        for i in places:
            top, left = square(cells[i])
            inside.append(weights[i].view(7, 7)[top : top + 3, left : left + 3].sum().item())
        for i, j in permutations(places, 2):
            same.append(cells[i] == cells[j])
            if square(cells[i]) != square(cells[j]):
                kept.append([writer.probability(hidden[of], words, i)[1] for of in (i, j)])
    return [*torch.tensor(kept).float().mean(0).tolist(), len(kept), sum(same), len(same), fmean(inside)]


def store_captions(writer, data):
    """Write what the captioner and a person say about the first six test photographs."""
    names = data.parts["test"][:6]
    rows = [(name, writer.text(writer.beam(data[name])), data.captions[name][0]) for name in names]
    with (measured.FOLDER / "flickr8k_captions.csv").open("w", encoding="utf-8", newline="") as file:
        csv.writer(file, lineterminator="\n").writerows([("photograph", "written", "by_a_person"), *rows])


def train(writer, data, lesson, epochs, seed):
    """Train the page's way; return the best epoch and its loss, by BLEU-4 on the development part. The model gets its weights."""
    model, captions = writer.model, data.of("train")
    examples = lesson.CaptionDataset(captions, data)
    lengths = [(row, data.tokenize(each["caption"])) for row, each in enumerate(captions)]
    loader = DataLoader(
        page("05_seq2seq").batches_by_length(lengths),
        batch_size=None,
        shuffle=True,
        generator=torch.Generator().manual_seed(seed),
        collate_fn=lambda batch: lesson.collate([examples[row] for row, _ in batch]),
    )
    optimizer = torch.optim.Adam(model.parameters(), lr=RATE)
    schedule = torch.optim.lr_scheduler.LinearLR(optimizer, 1.0, 0.05, total_iters=epochs * len(loader))
    best, photographs = (-1.0,), [data[name] for name in data.parts["dev"]]
    for epoch in range(1, epochs + 1):
        losses = []
        for a, given, wanted in loader:
            loss = lesson.word_loss(model(F.dropout(writer.seen(a), DROPOUT), given), wanted)
            optimizer.zero_grad()
            loss.backward()
            nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            optimizer.step()
            schedule.step()
            losses.append(loss.item())
        score = data.bleu([writer.text(words) for words, _ in writer.greedy(photographs)], "dev")[3]
        print(f"epoch {epoch}: loss {fmean(losses):.2f}, BLEU-4 {score:.1f} on the development part", flush=True)
        if score > best[0]:
            best = score, epoch, fmean(losses), copy.deepcopy(model.state_dict())
    _, epoch, loss, weights = best
    model.load_state_dict(weights)
    return epoch, loss


def measure(setup, width, hidden, epochs, seed):
    """Train a captioner; return one row."""
    numbers = {}
    lesson = page("15_captions", number_of=numbers)
    data = Flickr8k(folder, lesson)
    counts = Counter(word for each in data.of("train") for word in lesson.tokenize(each["caption"]))
    vocabulary = ["PAD", "BOS", "EOS", "UNK", *sorted(word for word, count in counts.items() if count >= 5)]
    numbers.update((word, number) for number, word in enumerate(vocabulary))
    torch.manual_seed(seed)
    model = Captioner(len(vocabulary), WIDTH, width, hidden)
    writer = Writer(model, vocabulary, setup == "mean")
    (epoch, loss), seconds = timed(train, writer, data, lesson, epochs, seed)
    photographs = [data[name] for name in data.parts["test"]]
    written = writer.greedy(photographs)
    greedy = data.bleu([writer.text(words) for words, _ in written], "test")
    beam = data.bleu([writer.text(writer.beam(each)) for each in photographs], "test")
    covers = [""] * 7 if writer.mean else effect_of_covers(writer, data, written, seed)
    if setup == "attention" and seed == 0:
        from safetensors.torch import save

        model.readout.bias.data[[PAD, BOS, UNK]] = -1e4  # whoever loads the captioner need not think of them
        write(FOLDER / "captioner.safetensors", save(packed(model.state_dict())))
        write(FOLDER / "words.json", json.dumps(vocabulary) + "\n")
        store_captions(writer, data)
    size = sum(parameter.numel() for parameter in model.parameters())
    return [[size, epoch, loss, *greedy, *beam, seconds, *covers]]


if __name__ == "__main__":
    options = read_options(__doc__, [0, 1], folder={"type": Path, "default": Path("flickr8k")}, control=False)
    if options.control:
        sys.exit(print(*control()))
    folder = options.folder
    fill("flickr8k", COLUMNS, jobs([("attention", *SETTINGS), ("mean", *SETTINGS)], options.seeds), measure)
    print(machine())
