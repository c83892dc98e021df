"""A network that recognises what is in photographs, and a captioner of photographs: their stored weights, most of them bytes.

Here: EfficientNet-Lite0, which is EfficientNet (Tan and Le 2019) without squeeze-and-excitation and with ReLU6; weights in bytes; loading. Not here: the
photographs (`data/photographs.py`), and the captioner itself, which is lesson 15's.

Shape letters: B photographs, C channels, Y and X pixels.
"""

import json

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from course_utils.data.photographs import FOLDER

BLOCKS = (  # blocks, kernel, stride of the first block, expansion factor, output channels
    (1, 3, 1, 1, 16),
    (2, 3, 2, 6, 24),
    (2, 5, 2, 6, 40),
    (3, 3, 2, 6, 80),
    (3, 5, 1, 6, 112),
    (4, 5, 2, 6, 192),
    (1, 3, 1, 6, 320),
)
WIDTH = 1280  # of an annotation


class Convolution(nn.Conv2d):
    """A convolution with its batch normalization folded in, padded as in TensorFlow."""

    def forward(self, x: Tensor) -> Tensor:
        """x: B×C×Y×X; for a stride of 2, Y and X are even."""
        (size, _), (stride, _) = self.kernel_size, self.stride
        before = (size - stride) // 2
        after = size - stride - before
        return super().forward(F.pad(x, (before, after, before, after)))


class Block(nn.Module):
    """An inverted residual block: more channels, a convolution of each channel, fewer channels."""

    def __init__(self, inputs, kernel, stride, expansion, outputs):
        super().__init__()
        hidden, self.residual = expansion * inputs, stride == 1 and inputs == outputs
        self.expand = Convolution(inputs, hidden, 1) if expansion > 1 else nn.Identity()
        self.depthwise = Convolution(hidden, hidden, kernel, stride, groups=hidden)
        self.project = Convolution(hidden, outputs, 1)

    def forward(self, x: Tensor) -> Tensor:
        """x: B×C×Y×X."""
        found = self.project(F.relu6(self.depthwise(F.relu6(self.expand(x)))))
        return x + found if self.residual else found


class EfficientNetLite0(nn.Module):
    """Without its last layer, which names one of ImageNet's 1,000 classes."""

    def __init__(self):
        super().__init__()
        self.first, inputs, blocks = Convolution(3, 32, 3, 2), 32, []
        for number, kernel, stride, expansion, outputs in BLOCKS:
            for block in range(number):
                blocks.append(Block(inputs, kernel, stride if block == 0 else 1, expansion, outputs))
                inputs = outputs
        self.blocks, self.last = nn.Sequential(*blocks), Convolution(inputs, WIDTH, 1)

    def forward(self, pixels: Tensor) -> Tensor:
        """Return features: pixels B×3×224×224, from -1 to 1 → B×1280×7×7, from 0 to 6."""
        return F.relu6(self.last(self.blocks(F.relu6(self.first(pixels)))))


def packed(weights: dict[str, Tensor]) -> dict[str, Tensor]:
    """Return weights as they are stored: rows of more than 25 numbers as bytes, with a scale for each row; the rest in half precision."""
    stored = {}
    for name, value in weights.items():
        if value.dim() > 1 and value[0].numel() > 25:
            scale = value.abs().flatten(1).amax(1).clamp(min=1e-9).div(127).view(-1, *[1] * (value.dim() - 1))
            stored[name], stored[f"{name} scale"] = (value / scale).round().to(torch.int8), scale
        else:
            stored[name] = value.half()
    return {name: value.contiguous() for name, value in stored.items()}


def unpacked(stored: dict[str, Tensor]) -> dict[str, Tensor]:
    """Return the weights stored by `packed`, in full precision."""
    names = [name for name in stored if not name.endswith(" scale")]
    return {name: stored[name].float() * stored.get(f"{name} scale", 1.0) for name in names}


def _load(name):
    from safetensors.torch import load_file

    return unpacked(load_file(FOLDER / f"{name}.safetensors"))


def load_network() -> EfficientNetLite0:
    """Return EfficientNet-Lite0, pretrained on ImageNet: pixels B×3×224×224, from -1 to 1 → features B×1280×7×7."""
    network = EfficientNetLite0().eval()
    network.load_state_dict(_load("network"))
    return network.requires_grad_(False)


def load_captioner() -> tuple[dict[str, Tensor], list[str]]:
    """Return the weights of lesson 15's `Captioner` with E = 1280, trained on Flickr8k, and its vocabulary."""
    words = json.loads((FOLDER / "words.json").read_text(encoding="utf-8"))
    return _load("captioner"), words
