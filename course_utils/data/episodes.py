"""Small tasks that are new each time, so that only what is learned within an episode helps: characters with new labels.

Here: the tasks. Not here: the model that learns from them (`models/snail.py`).

Shape letters: B episodes, T steps.
"""

from typing import NamedTuple

import torch
from torch import Tensor

from course_utils.base.errors import CourseError
from course_utils.data.digit_fields import SIDE, digits

WAYS = 5  # classes in an episode
KINDS = ("upright", "turned", "joined", "held out")  # of characters
PARTS = ("all", "train", "test")  # of the pictures


class Episodes(NamedTuple):
    """Pictures B×T×64 with values from 0 to 1, their labels B×T, and how often the class of each was shown before, B×T."""

    pictures: Tensor
    labels: Tensor
    before: Tensor


def character_episodes(number: int, kind: str, draw: torch.Generator, steps=26, part="all") -> Episodes:
    """Return episodes of five classes with new labels, 0 to 4; each step shows a character of one class, in different handwriting.

    Args:
        kind: "upright": the digits 0 to 4, five classes in all; "turned": these digits, turned or mirrored in one of eight ways, 40 classes;
            "joined": two of these 40, cut along a line and joined, with different pairs in the "test" part; "held out": the digits 5
            to 9, which no other kind has.
        draw: the random generator.
        part: of the pictures that the characters are made from: "test", every fourth one; "train", the others; "all", both.

    Raises:
        CourseError: for an unknown kind or part.
    """
    if kind not in KINDS:
        raise CourseError(f"characters are of the kinds {', '.join(KINDS)}; there is no {kind!r}")
    if part not in PARTS:
        raise CourseError(f"the parts of the pictures are {', '.join(PARTS)}; there is no {part!r}")
    which = torch.randint(WAYS, (number, steps), generator=draw)  # B T: of the five classes
    labels = torch.rand(number, WAYS, generator=draw).argsort(-1).gather(1, which)
    same = labels[:, :, None] == labels[:, None, :]  # B T T
    before = same.tril(-1).sum(-1)
    if kind in ("upright", "held out"):
        shown = _digit_pictures(which + (WAYS if kind == "held out" else 0), draw, part)
    else:
        form = torch.rand(number, 40, generator=draw).argsort(-1)[:, :WAYS]  # B 5: of each class
        shown = _form_pictures(form.gather(1, which), draw, part)
    if kind == "joined":
        side = _side_of_a_line(number, draw).gather(1, which[..., None, None].expand_as(shown))
        # how far after its form each class's other form is, B 5: an even number, but odd in the test part
        further = 2 * torch.randint(20, (number, WAYS), generator=draw) + (part == "test")
        other = ((form + further) % 40).gather(1, which)  # B T
        shown = torch.where(side, shown, _form_pictures(other, draw, part))
    return Episodes(shown.flatten(2), labels, before)


def _digit_pictures(wanted, draw, part):
    """Return a picture of each wanted digit B×T: B×T×8×8."""
    pictures, of = digits()
    if part != "all":
        ours = (torch.arange(len(of)) % 4 == 0) == (part == "test")
        pictures, of = pictures[ours], of[ours]
    own = [(of == digit).nonzero()[:, 0] for digit in range(10)]
    counts = torch.tensor([len(rows) for rows in own])[wanted]
    places = (torch.rand(wanted.shape, generator=draw) * counts).long()
    return pictures[torch.nn.utils.rnn.pad_sequence(own, batch_first=True)[wanted, places]]


def _form_pictures(form, draw, part):
    """Return a picture of each of 40 forms B×T, a digit in quarter turns, mirrored from way 4 on: B×T×8×8."""
    shown, way = _digit_pictures(form // 8, draw, part), form % 8
    for turn in range(8):
        here = way == turn
        shown[here] = torch.rot90(shown[here].flip(-1) if turn >= 4 else shown[here], turn % 4, (-2, -1))
    return shown


def _side_of_a_line(number, draw):
    """For each of five classes, True on one side of a line: B×5×8×8."""
    angle = 2 * torch.pi * torch.rand(number, WAYS, 1, 1, generator=draw)
    place = torch.arange(SIDE) - (SIDE - 1) / 2
    return angle.cos() * place[:, None] + angle.sin() * place > 1.5 * torch.randn(number, WAYS, 1, 1, generator=draw)


def nearest(episodes: Episodes) -> Tensor:
    """Return the label of the nearest earlier picture (Euclidean distance), B×T; at the first step it is meaningless."""
    T = episodes.labels.shape[1]
    distances = torch.cdist(episodes.pictures, episodes.pictures)
    later = ~torch.ones(T, T, dtype=torch.bool).tril(-1)
    return episodes.labels.gather(1, distances.masked_fill(later, float("inf")).argmin(-1))


def most_frequent(episodes: Episodes) -> Tensor:
    """The most frequent label before each step, B×T; the smallest if there are several, and 0 at the first step."""
    labels = torch.nn.functional.one_hot(episodes.labels, WAYS)
    return (labels.cumsum(1) - labels).argmax(-1)
