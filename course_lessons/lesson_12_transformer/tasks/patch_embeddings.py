"""Task 12.patch_embeddings: an image as a sentence of patches, which an encoder can read (Dosovitskiy et al. 2021, equation 1)."""

import torch

from course_utils.checks.reference_trace import left_out
from course_utils.checks.running.contract import Case
from course_utils.checks.task import Task, count, sizes

task = Task(
    "12.patch_embeddings",
    "an image as a sentence",
    arguments=("images B×C×Y×X", "weight D×C×P×P", "bias D", "summary D", "positions 1+N×D"),
    result="vectors B×1+N×D",
    difficulty=3,
    importance=3,
    minutes=20,
    hints=(
        "Split both sides of the image into two axes each: which patch a pixel is in, and where in that patch. Then put the axes in the order that you need, and flatten them only at the end.",
        "Take an image of 2 rows and 4 columns, [[1, 2, 3, 4], [5, 6, 7, 8]], and patches of 2×2 pixels. There are two patches, [[1, 2], [5, 6]] and [[3, 4], [7, 8]]. A weight of [[1, 0], [0, 10]] turns them into 1 + 60 = 61 and 3 + 80 = 83.",
        "patches = images with the axes B, C, rows of patches, P, columns of patches, P, moved to B, rows, columns, C, P, P and flattened to B×N×(C·P·P); words = patches @ weight.flatten(1).T + bias; put `summary` before them, once for each image; add positions.",
    ),
)


@task.cases
def _(draw):
    for size in sizes(B=3, C=2, R=2, Q=5, P=3, D=7):
        images = draw.numbers(size.B, size.C, size.R * size.P, size.Q * size.P)
        weight, N = draw.numbers(size.D, size.C, size.P, size.P), size.R * size.Q
        rest = draw.numbers(size.D), draw.numbers(size.D), draw.numbers(1 + N, size.D)
        name = f"{count(size.B, 'image')} of {count(size.R, 'row')} and {count(size.Q, 'column')} of patches"
        yield Case(name, (images, weight, *rest), size.full)
    for name, C, R, Q, P in (
        ("a single patch", 3, 1, 1, 4),
        ("patches of one pixel", 1, 3, 4, 1),
        ("more rows than columns of patches", 1, 4, 2, 2),
    ):
        images, weight = draw.numbers(2, C, R * P, Q * P), draw.numbers(5, C, P, P)
        yield Case(name, (images, weight, draw.numbers(5), draw.numbers(5), draw.numbers(1 + R * Q, 5)), edge=True)


CUT, PROJECTED, SHIFTED = "the cut image", "the patches times the weight", "the products plus the bias"
JOINED, PLACED = "the summary vector in front", "the sum with the positions"


def _cut(images, weight):
    """Return patches B×R×Q×C×P×P."""
    P = weight.shape[-1]
    B, C, Y, X = images.shape
    return images.reshape(B, C, Y // P, P, X // P, P).permute(0, 2, 4, 1, 3, 5)


def _projected(patches, weight):
    return patches.flatten(1, 2).flatten(2) @ weight.flatten(1).mT


def _joined(vectors, summary):
    return torch.cat([summary.expand(len(vectors), 1, -1), vectors], 1)


@task.steps
def _(images, weight, bias, summary, positions):
    patches = yield CUT, _cut, images, weight
    products = yield PROJECTED, _projected, patches, weight
    vectors = yield SHIFTED, torch.add, products, bias
    joined = yield JOINED, _joined, vectors, summary
    placed = yield PLACED, torch.add, joined, positions
    return placed


def _in_one_view(images, weight):
    """The pixels in their order in memory, cut every P·P numbers of a channel."""
    P = weight.shape[-1]
    B, C, Y, X = images.shape
    return images.reshape(B, C, Y // P, X // P, P, P).permute(0, 2, 3, 1, 4, 5)


task.changed_each(
    ("viewed_at_once", "You cut the pixels in the order in which they are in memory, so a patch contains P·P consecutive pixels instead of a square. Split both sides into two axes each, Y/P×P and X/P×P, and then move them.", {CUT: _in_one_view}),
    ("columns_first", "Your patches are in the wrong order: they go down the columns of the image. Read the image row by row, from left to right.", {CUT: lambda images, weight: _cut(images, weight).transpose(1, 2)}),
    ("patches_turned", "Rows and columns of pixels are swapped inside each patch, so the weight is applied to the wrong pixels.", {CUT: lambda images, weight: _cut(images, weight).mT}),
    ("channels_last", "Your flattened patches have their channels last, while the weight has them first, C×P×P.", {PROJECTED: lambda patches, weight: patches.movedim(3, -1).flatten(1, 2).flatten(2) @ weight.flatten(1).mT}),
    ("no_bias", "The bias of the projection is missing.", {SHIFTED: left_out}),
    ("summary_last", "Your summary vector comes after the patches. It comes first.", {JOINED: lambda vectors, summary: torch.cat([vectors, summary.expand(len(vectors), 1, -1)], 1)}),
    ("no_positions", "The positions are missing: without them, the encoder cannot tell where a patch was.", {PLACED: left_out}),
    ("summary_without_position", "The summary vector gets no position. The first row of `positions` belongs to it.", {PLACED: lambda joined, positions: torch.cat([joined[:, :1], joined[:, 1:] + positions[1:]], 1)}),
    ("positions_from_the_first_patch", "Your positions are shifted: the patches get the rows from 0 on, and the summary vector gets the last one. Row 0 belongs to the summary vector.", {PLACED: lambda joined, positions: joined + positions.roll(1, 0)}),
    ("positions_times_root_of_width", "You multiply the patches' vectors by √D, as lesson 12 does with word vectors. A Vision Transformer does not.", {SHIFTED: lambda products, bias: (products + bias) * len(bias) ** 0.5}),
    ("weights_of_the_mean", "You take the mean over a patch's pixels. Multiply the pixels by the weight and add up the products.", {PROJECTED: lambda patches, weight: _projected(patches, weight) / weight[0].numel()}),
    ("without_the_summary", "You return only the patches, N vectors for each image. The summary vector comes before them, and all of them get positions.", {JOINED: left_out, PLACED: lambda joined, positions: joined + positions[1:]}),
)  # fmt: skip
