"""Train the GPT that ships with the course on Tiny Shakespeare, and compare a smaller one with a GRU and with counts.

    python benchmarks/shakespeare.py [--seeds 3]
    python benchmarks/shakespeare.py --ship

The first command fills shakespeare.csv: a GPT with the four changes and a GRU with as many parameters learn from the same batches, and
an n-gram model counts. The second command also trains the model that ships and writes its folder with its card.
"""

import csv
import io
import json
import math
import time

import torch
import torch.nn.functional as F
from measuring import fill, jobs, read_options, timed

from course_utils.base.files import write
from course_utils.base.paths import PRETRAINED
from course_utils.data.measured import measured_once
from course_utils.data.shakespeare import CHARACTERS, ENDS, load_shakespeare
from course_utils.models.gpt import GPT, Recurrent, bits, fit
from course_utils.models.serialization import load_pretrained, save_model
from course_utils.training.optimizer import Optimizer, schedule
from course_utils.training.run_folder import describe_environment

NAME, V = "gpt-shakespeare", len(CHARACTERS)
COLUMNS = "setup seed parameters bits cpu_seconds"
FOUR = {"norm": "rms", "positions": "rotary", "gated": True, "groups": 2}
LONGEST, BATCH, STEPS = 128, 16, 300  # characters that a model sees, rows of a batch, and steps of the smaller models
RATES = {"GPT": 0.01, "GRU": 0.01}  # for each the better on the validation text, of 0.003 and 0.01, after 150 steps
# Of widths 96 and 128 with four layers, and 128 with six, this had the fewest bits on the validation text after 75 seconds each, at a rate of 0.005;
# with this size 0.01 was better.
SIZES, RATE, MINUTES = {"D": 96, "H": 4, "F": 384, "N": 4}, 0.01, 12


def make(setup):
    """Return an untrained model of the smaller size."""
    if setup == "GRU":
        return Recurrent(V, D=64, hidden=176)
    return GPT(V, D=64, H=4, F=256, N=3, longest=LONGEST, **FOUR)


def windows(ids, step):
    """Return all windows of LONGEST + 1 ids that begin a step apart, B×T+1."""
    return ids.unfold(0, LONGEST + 1, step)


@torch.no_grad()
def held_out_bits(model, ids):
    """Return the mean bits per character of ids, each read after 64 to 127 others; the first 64 are only read."""
    total, rows = 0.0, windows(ids, LONGEST // 2)
    for part in rows.split(64):
        logits = model(part[:, :-1])[:, LONGEST // 2 :]  # B T/2 V
        total += F.cross_entropy(logits.flatten(0, 1), part[:, LONGEST // 2 + 1 :].flatten(), reduction="sum").item()
    return total / math.log(2) / (len(rows) * LONGEST / 2)


def counts(seen, asked):
    """Return how often each code that is asked for has been seen."""
    codes, number = seen.unique(return_counts=True)
    place = torch.searchsorted(codes, asked).clamp(max=len(codes) - 1)
    return torch.where(codes[place] == asked, number[place], 0)


def code_of(ids, k):
    """Return for each character from the tenth on the k before it as one whole number."""
    return sum((V**j * ids[9 - j : len(ids) - 1 - j] for j in range(k)), torch.zeros(len(ids) - 10, dtype=torch.long))


def ngram_bits(train, ids, strength, most=9):
    """Return for k = 0 … most the bits per character of lesson 21's n-gram model, and how many counts it keeps."""
    p, found, kept = torch.full((len(ids) - 10,), 1 / V).double(), [], 0
    for k in range(most + 1):
        before, asked = code_of(train, k), code_of(ids, k)
        both = before * V + train[10:]
        p = (counts(both, asked * V + ids[10:]) + strength * p) / (counts(before, asked) + strength)
        kept += len(both.unique())
        found.append((-p[LONGEST // 2 - 10 :].log2().mean().item(), kept))
    return found


def count():
    """Choose the order and the strength on the validation text; return how many counts the best keeps, and its bits of the test text."""
    train, val, test = map(load_shakespeare, ("train", "val", "test"))
    found = {(k, s): needed for s in (4, 16, 64, 256) for k, (needed, _) in enumerate(ngram_bits(train, val, s))}
    k, strength = min(found, key=found.get)
    print(f"{k} characters, strength {strength}")
    needed, kept = ngram_bits(train, test, strength)[k]
    return kept, needed


def measure(setup, seed):
    """Train one of the smaller models, or count; return its row."""
    if setup == "n-gram":
        found, seconds = timed(count)
        return [(*found, seconds)]
    torch.manual_seed(seed)
    model = make(setup)
    _, seconds = timed(fit, model, windows(load_shakespeare("train"), 1), seed, STEPS, rate=RATES[setup])
    needed = held_out_bits(model, load_shakespeare("test"))
    return [(sum(p.numel() for p in model.parameters()), needed, seconds)]


def train_shipped(config=SIZES, minutes=MINUTES, rate=RATE, seed=0, every=1 / 5):
    """Train for so many minutes of CPU time with Muon; return the model and its curve: step, CPU seconds, loss and bits of the validation text."""
    rows, val = windows(load_shakespeare("train"), 1), load_shakespeare("val")
    torch.manual_seed(seed)
    model, draw = GPT(V, longest=LONGEST, **config, **FOUR), torch.Generator().manual_seed(seed)
    optimizer = Optimizer(model, (0.9, 0.95), weight_decay=0.1, clip=1.0, kind="muon")
    curve, losses, used, step, due = [], [], 0.0, 0, every
    while used < 60 * minutes:
        began, done = time.process_time(), used / 60 / minutes
        loss = bits(model, rows[torch.randint(len(rows), (BATCH,), generator=draw)]).mean()
        loss.backward()
        optimizer.step(rate * schedule("linear", int(1000 * done), 1000, 20))
        losses.append(loss.item())
        used, step = used + time.process_time() - began, step + 1
        if used >= 60 * minutes * due:
            curve.append((step, round(used, 1), sum(losses) / len(losses), held_out_bits(model, val)))
            print(*curve[-1], flush=True)
            losses, due = [], due + every
    return model, curve


def ship(model, curve):
    """Write the folder of the model that ships, with its curve and without its card; return its row."""
    step, seconds, _, val_bits = curve[-1]
    about = {"step": step, "characters": step * BATCH * LONGEST, "cpu_seconds": seconds, "val_bits": round(val_bits, 4)}
    about["environment"] = describe_environment(torch.device("cpu"), torch.float32)
    about["environment"]["command"] = "python benchmarks/shakespeare.py --ship"
    save_model(PRETRAINED / NAME, "gpt", model, CHARACTERS, about, torch.float16)
    lines = io.StringIO()
    csv.writer(lines, lineterminator="\n").writerows(
        [
            ("step", "cpu_seconds", "loss", "val_bits"),
            *((*row[:2], round(row[2], 4), round(row[3], 4)) for row in curve),
        ]
    )
    write(PRETRAINED / NAME / "curves.csv", lines.getvalue().encode())
    found = held_out_bits(load_pretrained(NAME)[0], load_shakespeare("test"))
    return [(sum(p.numel() for p in model.parameters()), found, seconds)]


def card():
    """Return the card of the model that ships, as Markdown."""
    written = json.loads((PRETRAINED / NAME / "model.json").read_text(encoding="utf-8"))
    about, environment = written["about"], written["about"]["environment"]
    rows = []
    for setup, what in {NAME: "this model", "GPT": "a smaller one", "GRU": "a GRU", "n-gram": "counts"}.items():
        parameters, found, used = measured_once("shakespeare", "parameters", "bits", "cpu_seconds", setup=setup)
        spread = f" ({min(found):.2f}-{max(found):.2f})" if len(found) > 1 else ""
        mean = sum(found) / len(found)
        rows.append(
            f"| {what} | {int(parameters[0]):,} | {len(found)} | {mean:.2f}{spread} | {sum(used) / len(used):.0f} |"
        )
    return f"""# {NAME}

A decoder-only Transformer with RMSNorm, rotary positions, SwiGLU and grouped queries, which continues plays character by character:
`load_pretrained("{NAME}")` returns it with the characters that it reads. For lesson 21. It has read nothing but plays by Shakespeare.

- **Made of**: {", ".join(f"{key} {value}" for key, value in written["config"].items())}.
- **Trained on**: the first {ENDS["train"][1]:,} characters of Tiny Shakespeare (Karpathy 2015), which is in the public domain.
- **Command**: `{environment["command"]}`
- **Machine**: {environment["threads"]} thread(s) of a CPU ({environment["cpu"]}), {environment["precision"]}, torch {environment["torch"]}, Python {environment["python"]}; {about["cpu_seconds"] / 60:.1f} minutes of
  CPU time, {about["characters"]:,} characters, {about["step"]:,} steps. Curves: `curves.csv`.
- **Weights**: half precision, safetensors, SHA-256 `{written["sha256"]}`.

Width and depth were chosen on the validation text, {ENDS["val"][1] - ENDS["val"][0]:,} characters, of which the model needs {about["val_bits"]:.2f} bits each. These are bits per
character of the test text, the last {ENDS["test"][1] - ENDS["test"][0]:,}, each read after 64 to 127 others. The smaller GPT and the GRU learned from the same batches.

| model | parameters, or counts | seeds | bits per character | CPU seconds |
| --- | --- | --- | --- | --- |
{chr(10).join(rows)}
"""


if __name__ == "__main__":
    options = read_options(__doc__, 3, ship=False)
    fill("shakespeare", COLUMNS, [("n-gram", 0), *jobs(RATES, options.seeds)], measure)
    if options.ship:
        fill("shakespeare", COLUMNS, [(NAME, 0)], lambda *_: ship(*train_shipped()))
        write(PRETRAINED / NAME / "README.md", card().encode())  # it quotes the table
