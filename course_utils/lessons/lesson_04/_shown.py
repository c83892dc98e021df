"""What only lesson 04 shows: a drawing, a slider for the width, the scores in trained translators, and how long scores take.

No task is declared here, and nothing is trained (`_learning.py`).
"""

import ipywidgets
import torch

from course_utils.data.measured import measured_once
from course_utils.figures import diagrams, plots
from course_utils.figures.widgets import explore
from course_utils.lessons.shared.timing import seconds
from course_utils.models.attention import SCORES


def where_the_score_stands():
    """Draw attention with its score opened into the eight choices."""
    return diagrams.attention(
        queries="states: *s*",
        keys="hidden states: *h*",
        values="hidden states: *h*",
        score="*score*(*s*, *h*)",
        choices=diagrams.EIGHT_SCORES,
        shapes=diagrams.SHAPES | {"keys": "B S E"},
        new=["score"],
    )


def weights_by_width(queries=500, keys=16, widest=1024):
    """Return an Explorer with a slider for the width: the sorted weights of random keys, a mean over random queries, not divided and divided by √D."""

    def draw(width):
        generator = torch.Generator().manual_seed(width)
        state = torch.randn(queries, 1, width, generator=generator)  # B T D
        hidden = torch.randn(queries, keys, width, generator=generator)  # B S D
        scores = (state @ hidden.mT)[:, 0]  # B S
        panels = {"not divided": scores, "divided by √D": scores / width**0.5}
        most = []
        for (title, divided), ax in zip(panels.items(), plots.axes(2, width=4.4, height=3.0), strict=True):
            weights = divided.softmax(-1).sort(descending=True).values.mean(0)  # S
            ax.bar(range(1, keys + 1), weights.numpy(), color=plots.COLOURS[0])
            ax.set(xlabel="from the largest weight to the smallest", ylabel="weight, mean", ylim=(0, 1))
            ax.set(title=f"D = {width}, {title}", xticks=[1, keys // 2, keys])
            most.append(f"{weights[0]:.2f} if {title}")
        return f"At width {width}, the largest of {keys} weights is on average {most[0]}, and {most[1]}."

    widths = [2**k for k in range(1, widest.bit_length())]
    return explore(draw, width=ipywidgets.SelectionSlider(options=widths, value=64, description="width D"))


def words_right_in_translators():
    """Return for each of the eight scores, and two more, the shares of right words of five trained translators, in sentences of 12 words."""
    rows = {}
    for score in SCORES:
        (rows[score],) = measured_once("scores", "words_right", order="verb-last", setup=score, length=12)
    for name, setup in (("projected", "projected"), ("8 · content_based", "content_based_times_8")):
        (rows[name],) = measured_once("projected", "words_right", setup=setup, length=12)
    return rows


def costs(T, S, D):
    """Return for five scores, and one of them without its tanh, the multiplications and the time of T states and S hidden states, with D = E = A, as multiples of the dot product's."""
    multiplications = {
        "dot": T * S * D,
        "general": T * D * D + T * S * D,
        "projected": T * D * D + S * D * D + T * S * D,
        "perceptron": T * D * D + S * D * D + T * S * D,
        "without its tanh": T * D * D + S * D * D + T * S * D,
        "additive": T * S * 2 * D * D + T * S * D,
    }
    of_two = [(D, D), (D, D)]
    learned = {
        "general": of_two[:1],
        "projected": of_two,
        "perceptron": [*of_two, (D,)],
        "without its tanh": [*of_two, (D,)],
        "additive": [(D, 2 * D), (D,)],
    }
    functions = SCORES | {
        "projected": lambda s, h, A, B: SCORES["scaled_dot"](s @ A, h @ B),
        "without its tanh": lambda s, h, W, U, v: ((s @ W.T)[:, :, None] + (h @ U.T)[:, None]) @ v,
    }
    state, hidden = torch.randn(1, T, D), torch.randn(1, S, D)
    arguments = {name: [state, hidden, *map(torch.randn, learned.get(name, []))] for name in multiplications}
    turns = [{name: seconds(functions[name], *given) for name, given in arguments.items()} for _ in range(9)]
    best = {name: min(turn[name] for turn in turns) for name in arguments}  # a busy moment hits all alike
    return {name: [n / multiplications["dot"], best[name] / best["dot"]] for name, n in multiplications.items()}
