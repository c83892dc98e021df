"""What the lesson's pictures and tables are drawn from: digits with looks on them, and stored measurements. No task is declared here."""

import ipywidgets
import torch

from course_utils.data.digit_fields import digit_fields
from course_utils.data.measured import by_seed, measured, measured_once
from course_utils.figures import pictures, plots
from course_utils.figures.tables import table
from course_utils.figures.widgets import explore
from course_utils.models import glimpses as ram

NOWHERE = torch.zeros(0, 2)  # no location: only the digit is marked
SETUPS = {  # what the table calls it, and what the table of measurements calls it
    "one look": "learned, 1 glimpse",
    "two looks": "learned, 2 glimpses",
    "two looks, no reward for looking": "no reward for looking",
    "two looks, patch 0 alone": "one patch",
    "four looks": "learned, 4 glimpses",
    "reads all pixels": "convolutional",
}


def show_digits(fields, labels, corners, number=5):
    """Draw the first fields, with a dashed box around each digit."""
    for i, ax in enumerate(plots.axes(number, width=2.2, height=2.4)):
        pictures.looks(fields[i], NOWHERE, 8, corners[i], f"field {i}: a {labels[i]}", ax)


def show_looks(fields, labels, corners, looks, number=5):
    """Draw the first fields with both looks of a model: patch 0 of each, and patch 1 of the first."""
    for i, ax in enumerate(plots.axes(number, width=2.2, height=2.4)):
        answer = looks.logits[i].argmax().item()
        title = f"a {labels[i]}, read as {answer}"
        pictures.looks(fields[i], looks.locations[i], 8, corners[i], title, ax, (16,))


def explore_glimpse(field, box):
    """Return an Explorer that moves a glimpse of two patches over a field."""

    def draw(x, y):
        axes = plots.axes(3, width=2.6, height=2.8)
        pictures.looks(field, [(x, y)], 8, box, "the field", axes[0], (16,))
        patches = ram.glimpse(field[None], torch.tensor([[x, y]]), 8, 2)[0]
        for k, patch in enumerate(patches):
            pictures.picture(patch, f"patch {k}: {8 * 2**k} pixels wide", axes[k + 1], pictures.SQUARES[k])
        top, left = ram.corner(torch.tensor([[x, y]]), *field.shape, 8)
        rows, columns = (8 - (start - at).abs().item() for start, at in zip((top, left), box, strict=True))
        return f"At ({x:.2f}, {y:.2f}) patch 0 holds {max(rows, 0) * max(columns, 0)} of the 64 pixels in the box."

    x, y = (ipywidgets.FloatSlider(value=0.0, min=-1, max=1, step=0.05) for _ in "xy")
    return explore(draw, x=x, y=y)


def show_following(models, fields, corners):
    """Draw for each model the x of its second look against the x of the digit's centre; the titles also give the correlation for y."""
    digit = (corners.flip(1) + 4) / 24 * 2 - 1  # N 2
    for (name, model), ax in zip(models.items(), plots.axes(3, width=3.6, height=3.6), strict=True):
        with torch.no_grad():
            look = model(fields, 2).locations[:, 1]  # N 2
        x, y = (torch.corrcoef(torch.stack(pair))[0, 1] for pair in zip(digit.T, look.T, strict=True))
        ax.plot([-0.75, 0.75], [-0.75, 0.75], color="0.6", linewidth=1)
        ax.scatter(digit[:, 0], look[:, 0], s=6, alpha=0.5)
        ax.set(xlabel="x of the digit's centre", ylabel="x of the second look", ylim=(-1.05, 1.05))
        ax.set_title(f"{name}\ncorrelation {x:.2f} for x, {y:.2f} for y")


def compare_five_seeds():
    """Return a table of right answers and last looks that hit, for five seeds of each setup."""
    rows = {}
    for name, setup in SETUPS.items():
        (right,) = measured_once("glimpses", "right", setup=setup)
        looks = setup != "convolutional"
        rows[name] = [right, measured_once("glimpses", "in_box", setup=setup)[0] if looks else "-"]
    return table(rows, ["right answers", "last look hits"], corner="mean [lowest to highest]", digits=2)


def show_looks_among_clutter(i):
    """Draw where the model of seed 0 looks on field i, one of its first eight; return a table of how often each look is the first to hit."""
    draw = torch.Generator().manual_seed(10_000)
    fields, labels, corners = digit_fields(1000, side=32, clutter=4, draw=draw, part="test")
    x, y, answer = (measured("looks", column, "look", field=i)[1][0] for column in ("x", "y", "answer"))
    titles = [f"field {i}: a {labels[i]}", "", "", f"read as {answer[0]:.0f}"]
    for t, ax in enumerate(plots.axes(4, width=2.2, height=2.4)):
        pictures.looks(fields[i], [(x[t], y[t])], 8, corners[i], titles[t], ax, (16,), number=t + 1)
    looks, first = measured("found", "first", "look")  # seeds × looks
    _, elsewhere = measured("found", "first_elsewhere", "look")
    rows = {"its own looks": torch.tensor(first), "looks of another field": torch.tensor(elsewhere)}
    four, all_pixels = (
        by_seed("glimpses", "right", setup=f"clutter, {kind}").mean() for kind in ("4 glimpses", "convolutional")
    )
    caption = (
        f"Mean of five seeds. Right answers among clutter: {four:.2f} with four looks, {all_pixels:.2f} from all pixels"
    )
    return table(rows, [f"look {t:.0f}" for t in looks], corner="first to hit", digits=2, caption=caption)
