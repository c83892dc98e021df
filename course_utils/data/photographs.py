"""The photographs of lesson 15 and their captions. `photographs/README.md` says where they come from."""

import json
from pathlib import Path

import torch
import torch.nn.functional as F
from torch import Tensor

FOLDER = Path(__file__).with_name("photographs")
CAPTION_FILE = FOLDER / "captions.json"  # in the format of MS COCO's captions_train2017.json


def read_captions() -> dict[str, str]:
    """Return the caption of each photograph, in plain words, by the name of its file without `.jpg`."""
    stored = json.loads(CAPTION_FILE.read_text(encoding="utf-8"))
    names = {image["id"]: Path(image["file_name"]).stem for image in stored["images"]}
    return {names[each["image_id"]]: each["caption"].lower().rstrip(".") for each in stored["annotations"]}


PHOTOGRAPHS = list(read_captions())


def preprocess(image: Tensor) -> Tensor:
    """Return an image, Y×X×3 numbers from 0 to 255, as the network reads it: the square in its middle, 1×3×224×224."""
    rows, columns, _ = image.shape
    side = min(rows, columns)
    top, left = (rows - side) // 2, (columns - side) // 2
    square = image[top : top + side, left : left + side]
    channels = square.permute(2, 0, 1).unsqueeze(0).float()
    return (F.interpolate(channels, (224, 224), mode="bilinear", antialias=True) - 127) / 128


def pixels_of(name: str) -> Tensor:
    """Return a photograph of the course as the network reads it, 1×3×224×224."""
    import matplotlib.pyplot as plt

    return preprocess(torch.tensor(plt.imread(FOLDER / f"{name}.jpg")))
