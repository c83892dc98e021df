"""What lesson 19 draws: an episode as a row of pictures, and where a step looks in it; and how much weight finds the right label."""

import torch

from course_utils.data.digit_fields import SIDE
from course_utils.figures import pictures, plots

LETTERS = "abcde"  # of the labels 0 to 4


def show_episode(episode, steps):
    """Draw the first steps of an episode, each picture below its label, and the last one below a question mark."""
    for t, ax in enumerate(plots.axes(steps, width=1.5, height=1.8)):
        title = f"label {LETTERS[episode.labels[0, t]]}" if t < steps - 1 else "label?"
        pictures.picture(episode.pictures[0, t].view(SIDE, SIDE), title, ax)
        ax.images[0].set_interpolation("bicubic")  # smoothed for our eyes


def show_weights(weights, answers, episode, step):
    """Draw how much a step looks at each label of an episode, weights 1×T×T, and its answer, 1×T; return a sentence on it.

    A label is read one step after its picture, so the weight drawn below a picture is that of the next step.
    """
    labels = [LETTERS[label] for label in episode.labels[0]]
    ax = plots.axes(1, 1.4 + 0.7 * step, 2.1)
    right = [t for t in range(step) if labels[t] == labels[step]]
    on_labels = weights[0, step, 1 : step + 1]
    plots.weights(on_labels[None], None, ["weight"], "", ax, "label", "", [(0, t) for t in right])
    places = [*range(step), step + 0.4]  # the last picture apart, as its label is asked for
    for t, place in enumerate(places):
        picture = episode.pictures[0, t].view(SIDE, SIDE).numpy()
        ax.imshow(picture, "gray", extent=(place - 0.48, place + 0.48, -0.55, -1.51), interpolation="bicubic")
    answer = LETTERS[answers[0, step]]
    ax.set_xticks(places, [*labels[:step], f"SNAIL: {answer}"])
    ax.set(xlim=(-0.5, step + 0.9), ylim=(0.5, -1.6))
    share = on_labels[right].sum().item()
    said = f"At step {step} the right label is {labels[step]}, and SNAIL says {answer}."
    return f"{said} The right label has {share:.2f} of the weight."


def weight_on_right(weights, episodes):
    """The mean weight, of weights B×T×T, that lies on the right label where its class was shown once before."""
    labels = episodes.labels
    same = (labels[:, :, None] == labels[:, None]).tril(-1)  # B T T: pictures of the class before
    read = torch.cat([torch.zeros_like(same[..., :1]), same[..., :-1]], dim=-1)  # B T T: a label is read one step later
    return (weights * read).sum(-1)[episodes.before == 1].mean().item()
