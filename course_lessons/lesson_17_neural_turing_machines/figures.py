"""What lesson 17 only draws: the task, the heads of trained machines, and stored measurements. No task is declared here.

Not here: the machine, which is on the lesson's page and in `models/turing.py`.
"""

import torch.nn.functional as F

from course_utils.data.measured import by_seed
from course_utils.data.sequences import BITS, GIVEN, WANTED
from course_utils.figures import plots
from course_utils.figures.tables import table
from course_utils.models import turing

LEARNED = 0.2  # a machine with fewer wrong bits at ten vectors has learned to copy


def draw_copy(example):
    """Draw what is given and what is wanted in the first sequence of a batch, a dot for each 1."""
    rows = [*(f"bit {i + 1}" for i in range(BITS)), "delimiter"]
    given = example.given[0, :, : len(rows)]  # T 7
    silent = len(given) - example.wanted.shape[1]  # steps at which no answer is wanted
    wanted = F.pad(example.wanted[0], (0, 0, silent, 0))  # T 6
    across = plots.axes(2, width=4.4, height=2.8)
    for ax, title, bits in zip(across, ("given", "wanted"), (given, wanted), strict=True):
        plots.mask(bits.T > 0, None, rows[: bits.shape[1]], title, ax, xlabel="step", ylabel="")


def draw_steps(*weights):
    """Draw a head's weights, each 1×N, as bars: the old ones, and those after each of the four steps."""
    names = ("old weights", "content", "gate", "shift", "sharpen")
    across = plots.axes(len(names), width=1.9, height=2.2)
    for ax, name, row in zip(across, names, weights, strict=True):
        ax.bar(range(row.shape[1]), row[0].tolist(), color=plots.COLOURS[0])
        ax.set(title=name, xlabel="position", ylim=(0, 1), xticks=range(row.shape[1]))
    across[0].set_ylabel("weight")


def draw_heads(machine, sequence):
    """Draw the weights of both heads of a machine while it copies one sequence."""
    _, reads, writes = machine(sequence.given)
    plots.heads({"write head": writes[0], "read head": reads[0]}, line=sequence.wanted.shape[1])


def ten_seeds():
    """Draw the share of wrong bits at ten vectors, whole and without each part, a mark for each seed; return a table of both lengths."""
    setups = {
        "the whole machine": "whole",
        "without the content": "no content",
        "gate 0": "gate 0",
        "without the shift": "no shift",
    }
    ten, forty = (
        {name: by_seed("copying", "wrong", setup=setup, length=n) for name, setup in setups.items()} for n in (10, 40)
    )
    marks = {name: {"a mark for each of ten seeds": wrong} for name, wrong in ten.items()}
    plots.dots(marks, "share of wrong bits, 10 vectors", xlim=(-0.03, 0.55))
    rows = {name: [int((ten[name] < LEARNED).sum()), ten[name].mean(), forty[name].mean()] for name in setups}
    return table(rows, ["seeds that learn", "wrong, 10 vectors", "wrong, 40 vectors"], digits=2)


def draw_machine_and_lstm():
    """Draw how many bits machines and LSTMs have wrong, by length; return a table of what else differs."""
    label = "share of wrong bits; a mark for each seed; guessing gets half of them wrong"
    wrong = {
        f"{n} vectors": {
            name: by_seed("turing", "wrong", setup=setup, task="copy", length=n).tolist()
            for name, setup in (("machine", "machine"), ("LSTM", "LSTM, longer"))
        }
        for n in (10, 20, 40)
    }
    plots.dots(wrong, label, xlim=(-0.03, 0.55))
    machine, lstm = turing.Machine(GIVEN, WANTED), turing.Recurrent(GIVEN, WANTED)
    rows = {
        "machine": [_parameters(machine), "128 + 1024", 1200, 5],
        "LSTM": [_parameters(lstm), "512 + 0", 6000, 3],
    }
    return table(rows, ["parameters", "numbers in state + memory", "training steps", "seeds"])


def _parameters(model):
    return sum(parameter.numel() for parameter in model.parameters())
