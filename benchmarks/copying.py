"""How many machines of lesson 17's page learn to copy, whole and without a part, and how far they go then.

    python benchmarks/copying.py [--seeds 10]

"No content" counts all positions as alike, "gate 0" lets no weights by content in, "no shift" keeps every weight where it is. Trains the page's own machine as the page does. Fills copying.csv, which lesson 17 shows: "wrong" is the share of wrong bits, half of them
being chance, on 50 sequences of each length in vectors, with as many positions of the memory as "positions" says. "last_loss" is the
mean of the last 50 steps.
"""

from measuring import fill, jobs, page, read_options, timed

LENGTHS = {5: 32, 10: 32, 20: 32, 40: 128, 80: 128}  # and the positions that the memory has for them
COLUMNS = "setup seed length positions last_loss wrong cpu_seconds"


def measure(setup, seed):
    """Train one machine; return a row for each length."""
    lesson = page("17_neural_turing_machines", H=64, W=16)
    address = {
        "whole": lesson.address,
        "no shift": lesson.address_without_shift,
        "no content": lesson.address_without_content,
        "gate 0": lesson.address_without_gate,
    }[setup]
    (machine, losses), seconds = timed(lesson.trained, address, seed)
    last = sum(losses[-50:]) / 50
    return [(n, N, last, lesson.wrong_share(machine, n, N), seconds) for n, N in LENGTHS.items()]


if __name__ == "__main__":
    fill(
        "copying",
        COLUMNS,
        jobs(("whole", "no content", "gate 0", "no shift"), read_options(__doc__, 10).seeds),
        measure,
    )
