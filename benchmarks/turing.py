"""How far a neural Turing machine and an LSTM carry what they have learned, on sequences longer than those of their training.

    python benchmarks/turing.py [--seeds 5]

Each model learns one task (`course_utils/data/sequences.py`): to copy 1 to 10 vectors, to copy them up to five times, to recall the one
after a given one among 2 to 6, or, for models with a memory of 32 places, to copy 1 to 5 ("short", and "parts" for machines
without one of their parts), or, with a memory of 6 places, to keep two vectors to the end while one to four
short copies are asked for in between ("series"; its "length" is the number of these copies). "computer" is the differentiable
neural computer, and "LSTM, longer" has five times the machine's steps. Fills turing.csv, which lesson 17 shows: "wrong" is the share of
wrong bits, half of them being chance, on 100 sequences of each length in vectors, and "learned_after" the number of steps until the loss
is below 0.05.
"""

import torch
import torch.nn.functional as F
from measuring import fill, jobs, read_options, timed
from torch import nn

from course_utils.data.sequences import BITS, GIVEN, WANTED, Asked, copy, recall, repeat_copy
from course_utils.models.turing import Computer, Machine, Recurrent, fit, loss, wrong_bits


def short_copy(draw, batch=16, shortest=1, longest=5):
    """Copies so short that a lesson can train on them."""
    return copy(draw, batch, shortest, longest)


def series(draw, batch=16, fewest=1, most=4):
    """Two vectors to be kept; then copies of one or two vectors, each with its delimiter and silence; then the two are asked for.

    What is wanted is NaN at steps at which nothing is asked for.
    """

    def silence(length):
        return torch.zeros(batch, length, GIVEN), torch.full((batch, length, WANTED), torch.nan)

    kept, parts = torch.randint(2, (batch, 2, BITS), generator=draw).float(), [silence(2)]
    parts[0][0][:, :, :BITS], parts[0][0][:, :, BITS + 1] = kept, 1.0
    for _ in range(int(torch.randint(fewest, most + 1, (), generator=draw))):
        one = copy(draw, batch, 1, 2)
        length = one.wanted.shape[1]
        one.given[:, length, BITS + 1] = 0.0
        parts.append((one.given, torch.cat([silence(length + 1)[1], one.wanted], 1)))
    end, _ = silence(3)
    end[:, 0, BITS:] = 1.0
    parts.append((end, torch.cat([silence(1)[1], kept], 1)))
    return Asked(*(torch.cat(part, 1) for part in zip(*parts, strict=True)))


def asked_only(model, batch):
    """Return the logits and what is wanted at the steps at which something is asked for."""
    asked = ~batch.wanted.isnan().any(2).any(0)
    return model(batch.given).logits[:, asked], batch.wanted[:, asked]


def series_loss(model, batch):
    return F.binary_cross_entropy_with_logits(*asked_only(model, batch))


@torch.no_grad()
def series_wrong(model, batch):
    logits, wanted = asked_only(model, batch)
    return ((logits > 0) != wanted.bool()).float().mean().item()


TASKS = {  # what is trained on, steps, lengths of the test
    "copy": (copy, 1200, (5, 10, 15, 20, 30, 40)),
    "repeat": (repeat_copy, 1200, (5, 10, 15, 20)),
    "recall": (recall, 2000, (2, 4, 6, 8, 10, 12)),
    "short": (short_copy, 800, (5, 10, 15, 20)),
    "parts": (short_copy, 450, (5, 10)),
    "parts, longer": (short_copy, 1200, (5, 10)),
    "series": (series, 700, (4, 16)),
}
LEARNED = 0.05  # nats for each bit, the mean of 50 steps; ln 2 = 0.69 if nothing is known
LSTMS = {"LSTM": 2, "LSTM, longer": 5}  # how many times the machine's steps they train
SETUPS = {"machine": {}, "no shifts": {"moves": False}, "no shifts, random memory": {"moves": False}}
GATE, GAMMA = -5, -1  # where these commands stand
FIXED = {"no content": (GATE, -1e9), "no old weights": (GATE, 1e9), "no sharpening": (GAMMA, -1e9)}
COMPUTERS = {"computer": {}, "computer, no links": {"links": False}}
SHOWN = [(setup, task) for task in ("copy", "repeat", "recall") for setup in ("machine", "LSTM")]
SHOWN += [("no shifts", "copy")]
SHOWN += [(setup, "short") for setup in (*COMPUTERS, "machine")]
SHOWN += [("LSTM, longer", "copy")]
SHOWN += [(setup, "parts") for setup in ("machine", "no shifts", *FIXED, "no shifts, random memory")]
SHOWN += [(setup, "parts, longer") for setup in ("machine", "no shifts", "no content")]
SHOWN += [(setup, "series") for setup in ("machine", "computer")]
PLACES = {"short": 32, "parts": 32, "parts, longer": 32, "series": 6}
FEWER = {"LSTM, longer": 3, "series": 3}  # seeds of what takes long
COLUMNS = "setup task seed length steps learned_after last_loss wrong cpu_seconds"


def fit_late(model, draw_batch, seed, steps, rate, loss_of):
    """Train a model at a rate that falls in the last third of the steps only."""
    draw, losses = torch.Generator().manual_seed(seed), []
    adam = torch.optim.Adam(model.parameters(), lr=rate)
    late = torch.optim.lr_scheduler.LambdaLR(adam, lambda step: min(1, 3 * (1 - step / steps)))
    for _ in range(steps):
        now = loss_of(model, draw_batch(draw))
        adam.zero_grad()
        now.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        adam.step()
        late.step()
        losses.append(now.item())
    return losses


class Fixed(Machine):
    """A machine with one of the controller's commands fixed: which one, and its number before it is brought into its range."""

    def __init__(self, command, number, *sizes):
        super().__init__(*sizes)
        self.command, self.number = command, number

    def address(self, memory, previous, commands):
        commands = commands.clone()
        commands[..., self.command] = self.number
        return super().address(memory, previous, commands)


def measure(setup, task, seed):
    """Train one model; return a row for each length."""
    draw_batch, steps, lengths = TASKS[task]
    torch.manual_seed(seed)
    if setup in LSTMS:
        model, steps, rate = Recurrent(GIVEN, WANTED), LSTMS[setup] * steps, 3e-3  # at 1e-2 it does worse
    elif setup in COMPUTERS:
        model, rate = Computer(GIVEN, WANTED, PLACES[task], **COMPUTERS[setup]), 1e-2
    else:
        places, rate = PLACES.get(task, 64), 2e-2 if task in PLACES else 1e-2
        model = (
            Fixed(*FIXED[setup], GIVEN, WANTED, places)
            if setup in FIXED
            else Machine(GIVEN, WANTED, places, **SETUPS[setup])
        )
        if setup == "no shifts, random memory":
            model.start = torch.randn(model.start.shape)
    to_lower = series_loss if task == "series" else loss
    train = fit_late if task in ("parts", "parts, longer", "series") else fit
    losses, seconds = timed(train, model, draw_batch, seed, steps, rate, loss_of=to_lower)
    means = [sum(losses[i : i + 50]) / 50 for i in range(0, steps, 50)]
    learned = next((50 * i for i, mean in enumerate(means, 1) if mean < LEARNED), float("nan"))
    rows = []
    for length in lengths:
        tests = [draw_batch(torch.Generator().manual_seed(1000 + i), 20, length, length) for i in range(5)]
        found = sum((series_wrong if task == "series" else wrong_bits)(model, test) for test in tests) / 5
        rows.append((length, steps, learned, means[-1], found, seconds))
    return rows


if __name__ == "__main__":
    fill("turing", COLUMNS, jobs(SHOWN, read_options(__doc__, 5).seeds, FEWER), measure)
