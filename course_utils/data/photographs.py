"""Photographs with captions, and what a network pretrained on ImageNet computes from them. `photographs/README.md` says where both come from; `benchmarks/photographs.py` computed the annotations."""

import json
from pathlib import Path
from typing import NamedTuple

import torch
import torch.nn.functional as F
from torch import Tensor

FOLDER = Path(__file__).with_name("photographs")
SIDE, MIDDLE, SCALE = 224, 127.0, 128.0  # pixels in a row; the network reads x as (x - MIDDLE) / SCALE
MOST = 6.0  # of what is in an annotation, as its last layer is a ReLU6; stored as a byte
CAPTION_FILE = FOLDER / "captions.json"  # in the form of MS COCO's captions_train2017.json
COVERED = {  # a photograph, and the corners of a rectangle in it: left, top, right, bottom
    "spoon": ("coffee", (122, 36, 190, 188)),
    "camera": ("photographer", (106, 50, 152, 88)),
    "cup": ("coffee", (32, 4, 176, 132)),
}
NEW, NEW_BY = "china.jpg", "danielbuechele, CC BY 2.0, cropped"  # a photograph that scikit-learn has
NEW_TITLE = "a new photograph"


def read_captions() -> dict[str, str]:
    """Return the caption of each photograph, in plain words, by the name of its file without `.jpg`."""
    stored = json.loads(CAPTION_FILE.read_text(encoding="utf-8"))
    names = {image["id"]: Path(image["file_name"]).stem for image in stored["images"]}
    return {names[each["image_id"]]: each["caption"].lower().rstrip(".") for each in stored["annotations"]}


CAPTIONS = read_captions()


class Photographs(NamedTuple):
    """N photographs, each in a square."""

    titles: list[str]
    images: Tensor  # N Y X 3, from 0 to 255
    annotations: Tensor  # N L E


def preprocess(image: Tensor) -> Tensor:
    """Return an image, Y×X×3 numbers from 0 to 255, as the network reads it: the square in its middle, 1×3×224×224."""
    rows, columns, _ = image.shape
    side = min(rows, columns)
    top, left = (rows - side) // 2, (columns - side) // 2
    square = image[top : top + side, left : left + side]
    channels = square.permute(2, 0, 1).unsqueeze(0).float()
    return (F.interpolate(channels, (SIDE, SIDE), mode="bilinear", antialias=True) - MIDDLE) / SCALE


def known_pixels() -> dict[str, Tensor]:
    """The photographs with captions, each 1×3×224×224."""
    import matplotlib.pyplot as plt

    return {name: preprocess(torch.tensor(plt.imread(FOLDER / f"{name}.jpg"))) for name in CAPTIONS}


def other_pixels() -> dict[str, Tensor]:
    """Photographs with a part covered by the mean colour, and a new one, each 1×3×224×224."""
    from sklearn.datasets import load_sample_image

    known, others = known_pixels(), {}
    for part, (name, (left, top, right, bottom)) in COVERED.items():
        pixels = known[name].clone()
        pixels[:, :, top:bottom, left:right] = pixels.mean((2, 3), keepdim=True)
        others[f"{part} covered"] = pixels
    return others | {NEW_TITLE: preprocess(torch.tensor(load_sample_image(NEW)))}


def load_photographs() -> tuple[Photographs, Photographs]:
    """Return eight photographs in the order of CAPTIONS, then three of them with a part covered and a new one, with their L = 49 annotations of dimension E = 1,280."""
    from safetensors.torch import load_file

    stored = load_file(FOLDER / "annotations.safetensors")
    return _with_annotations(known_pixels(), stored), _with_annotations(other_pixels(), stored)


def _with_annotations(pixels, stored):
    images = torch.cat(list(pixels.values())).mul(SCALE).add(MIDDLE).round().clamp(0, 255)
    annotations = torch.stack([stored[title] for title in pixels]).float().mul(MOST / 255)
    return Photographs(list(pixels), images.permute(0, 2, 3, 1).byte(), annotations)
