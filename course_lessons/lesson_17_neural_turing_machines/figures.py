"""What lesson 17 only draws: the task, the heads of trained machines, and stored measurements. No task is declared here.

Not here: the machine, which stands on the lesson's page and in `models/turing.py`.
"""

import torch.nn.functional as F

from course_utils.data.measured import by_seed
from course_utils.data.sequences import BITS, GIVEN, WANTED
from course_utils.figures import plots
from course_utils.figures.tables import table
from course_utils.models import turing


def draw_copy(example):
    """Draw what is given and what is wanted in the first sequence of a batch, a dot for each 1."""
    rows = [*(f"bit {i + 1}" for i in range(BITS)), "delimiter"]
    given = example.given[0, :, : len(rows)]  # T 7
    silent = len(given) - example.wanted.shape[1]  # steps at which no answer is wanted
    wanted = F.pad(example.wanted[0], (0, 0, silent, 0))  # T 6
    across = plots.axes(2, width=4.4, height=2.8)
    for ax, title, bits in zip(across, ("given", "wanted"), (given, wanted), strict=True):
        plots.mask(bits.T > 0, None, rows[: bits.shape[1]], title, ax, xlabel="step", ylabel="")


def draw_heads(machine, sequence):
    """Draw the weights of both heads of a machine while it copies one sequence."""
    output = machine(sequence.given)
    heads = {"write head": output.writes[0], "read head": output.reads[0]}
    plots.heads(heads, line=sequence.wanted.shape[1])


def five_seeds():
    """Return a table of the share of wrong bits at ten vectors, whole and without the shift or the content: a column for each seed."""
    setups = {"the whole machine": "machine", "without the shift": "no shifts", "without the content": "no content"}
    trained = [(name, setup, "parts") for name, setup in setups.items()]
    trained.insert(2, ("without the shift, positions differ", "no shifts, random memory", "parts"))
    trained += [(f"{name}, 1,200 steps", setup, "parts, longer") for name, setup in setups.items()]
    rows = {
        name: by_seed("turing", "wrong", setup=setup, task=task, length=10).tolist() for name, setup, task in trained
    }
    return table(rows, [f"seed {n}" for n in range(5)], corner="wrong bits, 10 vectors", digits=2)


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
